#ifndef DLOCK_WATCH_H
#define DLOCK_WATCH_H

#include <poll.h>
#include <stdbool.h>

#include "process.h"

/* A set of descriptors that a caller polls as one: an epoll set, if the system has epoll. The set may change while a
 * caller polls it. A zeroed watch is closed. */
typedef struct {
	int fd;
	dlock_process process; /* the owner, because children of a fork share the set; 0: it is closed */
	/* The set may contain a descriptor that was closed here but is open in a child: it cannot be removed. */
	bool is_spoiled;
	struct dlock_watched *watched;
	int count, room;
} dlock_watch;

/* Sets what is polled from now on: begin, add each descriptor (a repeated one adds events), finish. The last call
 * returns the descriptor of the set, which stays the same until dlock_watch_renew(). -1: the system has no epoll, or no
 * memory or descriptor left. */
void dlock_watch_begin(dlock_watch *watch);
void dlock_watch_add(dlock_watch *watch, int fd, short events);
int dlock_watch_finish(dlock_watch *watch);

/* Says that no caller polls the set now, so its descriptor may change. A spoiled set is closed. */
void dlock_watch_renew(dlock_watch *watch);

void dlock_watch_end(dlock_watch *watch);

#endif

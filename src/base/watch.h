#ifndef DLOCK_WATCH_H
#define DLOCK_WATCH_H

#include <poll.h>
#include <stdbool.h>

#include "process.h"

/* Several descriptors that can be polled as one: an epoll set, where the system has that. What is polled may change
 * while a caller polls it. A zeroed one is closed. */
typedef struct {
	int fd;
	dlock_process process; /* whose it is: a set is shared with the children of a fork; 0: it is closed */
	bool is_spoiled; /* a descriptor that was closed here may be in it, kept open by a child, and cannot be removed */
	struct dlock_watched *watched;
	int count, room;
} dlock_watch;

/* What is polled from now on: begin, add each of them (twice is once), finish. Returns the descriptor of the set; -1:
 * there is none, since the system has no such sets, or no memory or descriptor left. It stays the same until
 * dlock_watch_renew(). */
void dlock_watch_begin(dlock_watch *watch);
void dlock_watch_add(dlock_watch *watch, int fd, short events);
int dlock_watch_finish(dlock_watch *watch);

/* No caller polls it now: it may get another descriptor if it has to. */
void dlock_watch_renew(dlock_watch *watch);

void dlock_watch_end(dlock_watch *watch);

#endif

#ifndef RELAY_H
#define RELAY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A stretch of network before a server, in a thread of its own: it can be slow, and it can stop a connection at a word,
 * lose the answer to it, or lead to another server. */
typedef struct {
	int port;
	_Atomic int server_port;    /* where new connections go */
	_Atomic int cut;            /* 1: all connections are closed, and this is 0 again */
	_Atomic int delay_ms;       /* for each answer */
	_Atomic(const char *)
		stop; /* what was sent with this word in it, and all after it, waits until this is NULL again */
	_Atomic int stopped;        /* the number of connections that wait */
	_Atomic int held;           /* the number of pieces of what was sent over them */
	_Atomic(const char *) swallow; /* what answers the next that has this word in it is dropped, and all after it */
	_Atomic int swallowed;      /* the number of connections whose answers were dropped: closed when this is set to 0 */
	_Atomic int running, ending;
	int listener;
	pthread_t thread;
} relay;

void relay_start(relay *relay, int server_port);
void relay_end(relay *relay);

/* For eventually(): a connection is stopped, or has had an answer dropped. */
bool is_stopped(void *relay);
bool has_swallowed(void *relay);

#endif

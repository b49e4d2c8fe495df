#ifndef RELAY_H
#define RELAY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A stretch of network before a server, in its own thread. It can be slow, stop a connection at a word, lose the answer
 * to that word, or lead to another server. */
typedef struct {
	int port;
	_Atomic int server_port;    /* where new connections go */
	_Atomic int cut;            /* 1: the relay closes all connections, and sets this to 0 */
	_Atomic int delay_ms;       /* for each answer */
	_Atomic(const char *) stop; /* bytes with this word, and all after them, wait until this is NULL again */
	_Atomic int stopped;        /* the number of connections that wait */
	_Atomic int held;           /* how often bytes that arrived over them were held back */
	_Atomic(const char *) swallow; /* the answer to the next bytes with this word, and all after it, is dropped */
	_Atomic int swallowed;      /* the number of connections that lost answers; setting it to 0 closes them */
	_Atomic int hangs_up;       /* 1: a client whose bytes wait, or whose answer is lost, finds its connection closed */
	_Atomic int running, ending;
	int listener;
	pthread_t thread;
} relay;

void relay_start(relay *relay, int server_port);
void relay_end(relay *relay);

/* For eventually(): a connection is stopped, or has lost an answer. */
bool is_stopped(void *relay);
bool has_swallowed(void *relay);

#endif

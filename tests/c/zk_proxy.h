#ifndef ZK_PROXY_H
#define ZK_PROXY_H

/* A TCP proxy between the client library and a real server, in its own thread. It breaks what a test asks it to. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROXY_PAIRS = 16, OP_DELETE = 2, OP_SYNC = 9, OP_MULTI = 14, OP_CREATE2 = 15 };

typedef enum {
	PROXY_PASS,
	PROXY_HOLD,       /* nothing moves */
	PROXY_HOLD_AFTER, /* the next request of type `op` passes, then nothing moves (PROXY_HOLD) */
	PROXY_CUT,        /* connections are closed, new ones as soon as they are made */
	PROXY_LOSE,       /* the next request of type `op` is lost and the connection cut; then all passes again */
	PROXY_LOSE_EACH,  /* each such request, until another mode is set */
	PROXY_LOSE_REPLY, /* the next request of type `op` is executed, but instead of the reply the connection is cut */
	PROXY_ALTER       /* the next response with `word` has `byte` set at `offset` from it; then all passes again */
} proxy_mode;

typedef struct {
	unsigned char head[12]; /* length, number, type; of a response: length, number, part of the zxid */
	size_t at;
	bool greeted; /* the first message is the handshake, which is different */
} proxy_parser;

typedef struct {
	int listener, port, upstream;
	atomic_int mode, op, cuts, refused, requests;
	atomic_int session_ms; /* replaces the session timeout that a client asks for; 0: it does not */
	atomic_bool stop;
	const char *word; /* these three are set before the mode */
	size_t offset;
	unsigned char byte;
	pthread_t thread;
	int fds[PROXY_PAIRS][2];
	proxy_parser parsers[PROXY_PAIRS][2];
	int32_t unheard[PROXY_PAIRS]; /* the number of the request whose reply is to be lost; 0: none */
} proxy;

void proxy_start(proxy *p, int upstream);
void proxy_stop(proxy *p);

#endif

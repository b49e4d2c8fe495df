#ifndef MEMCACHED_SERVER_H
#define MEMCACHED_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../src/lock/operations.h"
#include "../../src/memcached/backend.h"

/* Real memcached processes on free ports, and clients of them. The processes do not outlive the test. */
typedef struct {
	pid_t pid; /* 0: not running */
	int port;
	const char *const *options;
} memcached_server;

/* Options as on the command line, NULL-terminated; NULL for none. Ends the test if no server can be started. */
void memcached_start(memcached_server *server, const char *const *options);
void memcached_kill(memcached_server *server);
void memcached_restart(memcached_server *server); /* on the same port, empty */

/* memcached_freeze() returns when the server is stopped. The system still accepts connections and bytes for it. */
void memcached_freeze(const memcached_server *server);
void memcached_thaw(const memcached_server *server);

/* Starts a child that thaws the server once a request waits for it. */
pid_t memcached_thaw_when_asked(const memcached_server *server);

/* The server's answer to these lines, valid until the next call. */
const char *memcached_ask(const memcached_server *server, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The value of a key, or ""; the seconds that are left, -1: no end, -2: no key; the CAS, or 0. */
const char *memcached_value(const memcached_server *server, const char *key);
long memcached_left(const memcached_server *server, const char *key);
unsigned long long memcached_cas(const memcached_server *server, const char *key);

/* The seconds that are left, and the time of the answer within 50 ms. */
long memcached_left_at(const memcached_server *server, const char *key, dlock_nanos *at);

/* Starts a child that answers the first bytes of each connection with `first`, and later bytes with `next`. */
pid_t memcached_peer(int *port, const char *first, const char *next);

/* A client of a test: a pool and a back end, as a process has them. */
typedef struct {
	dlock_net_pool *pool;
	dlock_backend *backend;
	dlock_error error;
} memcached_client;

#define MEMCACHED_PREFIX "Lock:"

/* A client that waits ten minutes for an answer, and one that waits so long. */
memcached_client memcached_client_new(int port);
memcached_client memcached_client_at(int port, int read_timeout_ms);

/* A client that knows the server's clock: it has read it first while the server ran. Only then does it notice that the
 * server stood still (server_clock.h). */
memcached_client memcached_client_in_time(int port);

void memcached_client_free(memcached_client *client);
void memcached_client_drain(memcached_client *client); /* for a minute at most */

dlock_claim *memcached_claim_on(memcached_client *client, const char *resource, int ttl_ms);
dlock_status memcached_acquire(memcached_client *client, dlock_claim *claim, int timeout_ms);

/* Acquires the resource within that time by a new claim, and releases it. */
bool memcached_passes(memcached_client *client, const char *resource, int timeout_ms);

void memcached_digest(const char *text, size_t len, char hex[64 + 1]);

#endif

#ifndef MEMCACHED_SERVER_H
#define MEMCACHED_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../src/lock/operations.h"
#include "../../src/memcached/backend.h"

/* Real memcached processes of the test's own, on free ports, and clients of them. They do not outlive the test. */
typedef struct {
	pid_t pid; /* 0: not running */
	int port;
	const char *const *options;
} memcached_server;

/* Options as on the command line, NULL-terminated; NULL for none. Exits the test when there is no server to be had. */
void memcached_start(memcached_server *server, const char *const *options);
void memcached_kill(memcached_server *server);
void memcached_restart(memcached_server *server); /* on the same port, empty */

/* Stopped when it returns, but the system still takes connections and bytes for it. */
void memcached_freeze(const memcached_server *server);
void memcached_thaw(const memcached_server *server);

/* What it answers to these lines, good until the next call. */
const char *memcached_ask(const memcached_server *server, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Of a key: the value, or ""; the seconds that are left, -1 for ever, -2 without a key; the CAS, or 0. */
const char *memcached_value(const memcached_server *server, const char *key);
long memcached_left(const memcached_server *server, const char *key);
unsigned long long memcached_cas(const memcached_server *server, const char *key);

/* A child that answers each connection's first bytes with `first`, and all others with `next`. */
pid_t memcached_peer(int *port, const char *first, const char *next);

/* What a test works with: a pool and a back end, as a process has them. */
typedef struct {
	dlock_net_pool *pool;
	dlock_backend *backend;
	dlock_error error;
} memcached_client;

#define MEMCACHED_PREFIX "Lock:"

memcached_client memcached_client_at(int port, int read_timeout_ms);
void memcached_client_free(memcached_client *client);
void memcached_client_drain(memcached_client *client); /* for two seconds at most */

dlock_claim *memcached_claim_on(memcached_client *client, const char *resource, int ttl_ms);
dlock_status memcached_acquire(memcached_client *client, dlock_claim *claim, int timeout_ms);

/* Acquires a lock of its own within that time, and releases it. */
bool memcached_passes(memcached_client *client, const char *resource, int timeout_ms);

void memcached_digest(const char *text, size_t len, char hex[64 + 1]);

#endif

#ifndef ZK_CLIENT_H
#define ZK_CLIENT_H

#define THREADED
#include <zookeeper/zookeeper.h>

#include "../../src/zookeeper/lock/backend.h"
#include "../../src/lock/operations.h"

/* A client in a test of the ZooKeeper back end: a pool and a back end, as in a process. */
typedef struct {
	dlock_zk_pool *pool;
	dlock_backend *backend;
	dlock_error error;
} client;

extern const char *zk_hosts; /* the server */
extern int zk_port;
extern char zk_root[64];               /* this program's root node */
extern zhandle_t *zk_observer;         /* looks at the server in its own session */
extern dlock_nanos zk_session_timeout; /* for clients that are created later */
extern dlock_loop zk_loop;             /* of all clients */

/* Called before all tests, before each test, and after all tests. zk_begin() reads HOST:PORT from the arguments. HOST
 * must be 127.0.0.1, because a test's proxy connects to it. */
void zk_begin(int argc, char **argv);
void zk_reset(void);
void zk_end(void);

/* End the observer's session and begin a new one, for tests that fork while no session may exist. */
void zk_unobserve(void);
void zk_observe(void);

client client_at(const char *hosts, const char *under, const char *auth);
client client_new(void);
void client_free(client *c);

dlock_claim *claim_on(client *c, const char *name);

/* A claim on several resources, each with a name of one letter. */
dlock_claim *claim_on_several(client *c, const char *letters);

/* Waits for `ms` at most; negative: without limit. Prints errors. */
dlock_status acquire(client *c, dlock_claim *claim, int ms);

/* Acquires and releases the resource. Tries again until both succeed, for a minute at most. */
bool passes(client *c, const char *name, int ms);

/* Also frees the claim. */
dlock_status release(client *c, dlock_claim *claim);

/* Lets the session's thread probe the session, and look for the nodes of its claims, at once. */
void probe_now(const dlock_claim *claim);

/* The number of nodes below the resource's node; -1: that does not exist. */
int children(const char *name);
/* The transaction that created the resource's node, which the server deletes when it is empty. 0: there is none. */
int64_t made_at(const char *name);

/* Waits until `number` nodes are below the resource's node, for 30 s at most. If none is left, the server
 * removes the resource's node, maybe at once. */
bool settles_at(const char *name, int number);

/* Forks after a pause. If a thread of the library held a mutex of the C library or ASAN during the fork, the mutex
 * would stay locked in the child. These tests do not test that. */
pid_t fork_calmly(void);

#endif

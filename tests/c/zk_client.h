#ifndef ZK_CLIENT_H
#define ZK_CLIENT_H

#define THREADED
#include <zookeeper/zookeeper.h>

#include "../../src/zookeeper/lock/backend.h"
#include "../../src/lock/operations.h"

/* What a test of the ZooKeeper back end works with: a pool and a back end, as a process has them. */
typedef struct {
	dlock_zk_pool *pool;
	dlock_backend *backend;
	dlock_error error;
} client;

extern const char *zk_hosts; /* the server */
extern int zk_port;
extern char zk_root[64];               /* this program's own */
extern zhandle_t *zk_observer;         /* sees what is on the server, by a session of its own */
extern dlock_nanos zk_session_timeout; /* of the clients to come */
extern dlock_loop zk_loop;             /* of all clients */

/* To be called before the tests, before each, and after them. The first takes HOST:PORT from the arguments. HOST must
 * be 127.0.0.1, since a test's proxy goes there. */
void zk_begin(int argc, char **argv);
void zk_reset(void);
void zk_end(void);

/* Its session ends, a new one begins: for a session that must not be there during a fork. */
void zk_unobserve(void);
void zk_observe(void);

client client_at(const char *hosts, const char *under, const char *auth);
client client_new(void);
client client_that_stays(void); /* its session outlasts a busy machine */
void client_free(client *c);

dlock_claim *claim_on(client *c, const char *name);

/* On several: names of one letter. */
dlock_claim *claim_on_several(client *c, const char *letters);

/* Waits for `ms` at most; negative: for ever. Prints errors. */
dlock_status acquire(client *c, dlock_claim *claim, int ms);

/* Frees it, too. */
dlock_status release(client *c, dlock_claim *claim);

dlock_claim_state look(dlock_claim *claim);

/* Waits for it, for ten seconds. */
bool becomes(dlock_claim *claim, dlock_claim_state state);

/* How many nodes there are below the resource, -1: not even that. */
int children(const char *name);
/* When the resource's node was made, which is deleted where it is empty. 0: there is none. */
int64_t made_at(const char *name);

/* Waits until there are `number` nodes, for ten seconds. Where none is left the server removes the container, which may
 * be at once. */
bool settles_at(const char *name, int number);

/* A fork while a thread of the library holds locks leaves them locked in the child. That is
 * the C library's business (and ASAN's), not what is tested here. */
pid_t fork_calmly(void);

#endif

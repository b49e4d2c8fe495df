#ifndef REDIS_CLIENT_H
#define REDIS_CLIENT_H

#include "../../src/redis/redlock/quorum.h"
#include "../../src/redis/lock/service.h"
#include "../../src/redis/lock/wait.h"
#include "../../src/redis/route/topology.h"
#include "../../src/lock/operations.h"
#include "relay.h"
#include "servers.h"

/* What a test of the Redis back ends works with: a pool and a back end, as a process has them. */
typedef struct {
	dlock_pool *pool; /* on the heap, since a client is passed by value and its back end keeps the address */
	dlock_backend *backend;
	dlock_error error;
} client;

#define PREFIX "Lock:"

/* Shorter than the defaults, but by far longer than a server needs. */
#define CONNECT_TIMEOUT (2 * DLOCK_SECOND)
#define READ_TIMEOUT    (2 * DLOCK_SECOND)

dlock_endpoint *test_server_at(const char *dsn);

client client_at(const char *dsn);
client client_of(const test_server *server, dlock_nanos read_timeout);
client client_quorum_at(const char *const *dsns, int count);
client client_quorum(const test_server *servers, int count, dlock_nanos read_timeout);

/* The same with a restart guard; without it the test's servers, which were just started, vote as any other. */
client client_guarded_at(const char *const *dsns, int count, dlock_nanos guard);
client client_guarded(const test_server *servers, int count, dlock_nanos read_timeout, dlock_nanos guard);

/* Starts a relay before the server; a DSN that leads there, good until the next call. */
const char *dsn_by_relay(relay *relay, const test_server *server, const char *options);

/* Of these servers, `relayed` of them from `first` on by relays, which are started. */
client client_by_relays(
	const test_server *servers, int count, relay *relays, int first, int relayed, const char *options);
client client_guarded_by_relays(const test_server *servers, int count, relay *relays, int first, int relayed,
	const char *options, dlock_nanos guard);

void client_free(client *client);

/* Lets what is under way end, for two seconds at most. */
void client_drain(client *client);

/* Polls the connection until the call is answered, or has failed. */
void conn_await(dlock_conn *conn, const dlock_call *call);

/* Asks where the masters are, until `until`. */
/* Has the server that answered no connection any more? On a busy machine another one is asked, too. */
bool closes_at_once(const dlock_pool *pool);
dlock_status discover_until(dlock_pool *pool, dlock_topology *topology, dlock_nanos until, dlock_error *error);

/* The n-th of its connections, in the order of the servers. */
dlock_conn *client_conn(const client *client, int n);

dlock_claim *claim_on(client *client, const char *resource, int ttl_ms);

/* Waits so long at most; negative: for ever. Remarks upon errors. */
dlock_status acquire(client *client, dlock_claim *claim, int timeout_ms);
dlock_status release(client *client, dlock_claim *claim);
dlock_status extend(client *client, dlock_claim *claim, int ttl_ms);

/* Releases and frees. */
bool let_go(client *client, dlock_claim *claim);

/* Acquires a lock of its own within that time, and releases it. */
bool passes(client *client, const char *resource, int timeout_ms);

/* Has the server know all scripts and the client a connection. */
bool warm(client *client);

/* Time left in ms as memory knows it; 0 where it is not held. */
long left_ms(dlock_claim *claim);
dlock_claim_state look(dlock_claim *claim);

/* The last error has this word, names that server and shows no password. */
#define SECRET "s3cr3t"
bool explains(const client *client, const char *label, const char *word);

/* Does the server have it for this claim, for nobody? */
bool has(test_server *server, const dlock_claim *claim);
bool has_nobody(test_server *server, const char *resource);
bool eventually_nobody(test_server *server, const char *resource);
bool eventually_fenced(test_server *server); /* an acquire was executed there */

/* A master's epoch is settled, as if it had long been so, for a guard in ms; on replicas, too. */
void settle_epoch(test_server *master, int guard, int replicas);

/* And is known to have all leases at this moment; clocks differ by so many ms. */
void settle_known_epoch(test_server *master, int guard, int replicas, int skew);

#endif

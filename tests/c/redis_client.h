#ifndef REDIS_CLIENT_H
#define REDIS_CLIENT_H

#include "../../src/redis/redlock/quorum.h"
#include "../../src/redis/lock/service.h"
#include "../../src/redis/lock/wait.h"
#include "../../src/redis/route/topology.h"
#include "../../src/lock/operations.h"
#include "relay.h"
#include "servers.h"

/* A client in a test of the Redis back ends: a pool and a back end, as in a process. */
typedef struct {
	dlock_pool *pool; /* on the heap, because a client is passed by value and its back end keeps the address */
	dlock_backend *backend;
	dlock_error error;
} client;

#define PREFIX "Lock:"

/* Longer than the defaults: no test waits for their end, however busy the machine is. */
#define CONNECT_TIMEOUT (60 * DLOCK_SECOND)
#define READ_TIMEOUT    (60 * DLOCK_SECOND)

dlock_endpoint *test_server_at(const char *dsn);

client client_at(const char *dsn);
client client_of(const test_server *server, dlock_nanos read_timeout);
client client_quorum_at(const char *const *dsns, int count);
client client_quorum(const test_server *servers, int count, dlock_nanos read_timeout);

/* The same with a restart guard. Without it the test's servers may vote, although they have just started. */
client client_guarded_at(const char *const *dsns, int count, dlock_nanos guard);
client client_guarded(const test_server *servers, int count, dlock_nanos read_timeout, dlock_nanos guard);

/* Starts a relay before the server. Returns a DSN that leads to the relay, valid until the next call. */
const char *dsn_by_relay(relay *relay, const test_server *server, const char *options);

/* Reaches `relayed` of these servers, from `first` on, through relays that the call starts. */
client client_by_relays(
	const test_server *servers, int count, relay *relays, int first, int relayed, const char *options);
client client_guarded_by_relays(const test_server *servers, int count, relay *relays, int first, int relayed,
	const char *options, dlock_nanos guard);

void client_free(client *client);

/* Waits until the requests under way have ended, for two seconds at most. */
void client_drain(client *client);

/* Waits until all requests have been answered, or have failed. */
void client_settle(client *client);

/* Lets the client wait only so long for answers over its connections of now; 0: as long as the DSN says. */
void client_hurry(client *client, int ms);

/* Polls the connection until the call is answered, or has failed. */
void conn_await(dlock_conn *conn, const dlock_call *call);

/* Has the pool closed the connection to the server that answered? A busy machine may ask another server, too. */
bool closes_at_once(const dlock_pool *pool);

/* Asks where the masters are, until `until`. */
dlock_status discover_until(dlock_pool *pool, dlock_topology *topology, dlock_nanos until, dlock_error *error);

/* The n-th connection of the client, in the order of the servers. */
dlock_conn *client_conn(const client *client, int n);

dlock_claim *claim_on(client *client, const char *resource, int ttl_ms);

/* A negative timeout waits without limit. If a call fails, client->error has the message. */
dlock_status acquire(client *client, dlock_claim *claim, int timeout_ms);
dlock_status release(client *client, dlock_claim *claim);
dlock_status extend(client *client, dlock_claim *claim, int ttl_ms);

/* Releases and frees the claim. */
bool let_go(client *client, dlock_claim *claim);

/* Acquires the resource within that time by a new claim, and releases it. */
bool passes(client *client, const char *resource, int timeout_ms);

/* After it the server knows the scripts and the client is connected. */
bool warm(client *client);

/* Time left in ms, without asking the server; 0 if the claim does not hold. */
long left_ms(dlock_claim *claim);

/* Does the last error contain the word, name that server and show no password? */
#define SECRET "s3cr3t"
bool explains(const client *client, const char *label, const char *word);

/* Is the resource locked on the server by this claim? Is it free, now or within five seconds? */
bool has(test_server *server, const dlock_claim *claim);
bool has_nobody(test_server *server, const char *resource);
bool eventually_nobody(test_server *server, const char *resource);
bool eventually_fenced(test_server *server); /* the server has executed an acquire */

/* A server hands over to a waiter whose last sign of life is at most 3 s old, and a waiter relies on a grant that lasts
 * for another second. If a process stood still in between, the waiter looks later and acquires the lock then. */
#define GRANTED_IN_TIME (1900 * DLOCK_MS)

/* The waiters for this pool of permits, or this stock, count as alive for ten minutes, not for 3 s. */
void keep_waiters(test_server *server, const char *key);

/* Settles a master's epoch for a guard in ms, and waits until its replicas have it. */
void settle_epoch(test_server *master, int guard, int replicas);

/* The same for an epoch that has all leases of this moment. Clocks differ by `skew` ms. */
void settle_known_epoch(test_server *master, int guard, int replicas, int skew);

/* Lets the guard of the open epoch be over, now or after `ms`. False: no epoch waits for its guard. */
bool end_guard(test_server *master);
bool end_guard_in(test_server *master, int ms);

#endif

#ifndef PAIR_H
#define PAIR_H

#include "redis_client.h"

/* A Redis master and its replica at one stable address, as in a managed service. The replica confirms. */

/* In ms: no guard and no lease ends while a test runs, unless the test ends it. SHORT_GUARD: for a guard that ends by
 * itself, and for servers that have to be up for longer. */
enum { GUARD = 60000, LEASE = 59900, SHORT_GUARD = 1000 };

/* The same for a DSN. */
#define GUARD_OPTION "guard=60"
#define SHORT_GUARD_OPTION "guard=1"

typedef struct {
	test_server servers[2];
	test_server *master, *replica;
	relay endpoint; /* leads to the master */
} pair;

/* The options of each of the two servers. */
extern const char *const pair_options[];

void pair_start(pair *pair);

/* Empties the servers, and waits until they are in step. The master stays the master, and its epoch has not begun. */
void pair_reset(pair *pair);

/* Settles the master's epoch, as if it had been settled for long. The replica has it then. */
void pair_settle(pair *pair);

/* Promotes the replica: the address leads there, and connections to the old master are closed. If the old master runs,
 * it becomes the replica. */
void pair_fail_over(pair *pair);

/* Waits until they are in step. */
bool pair_is_in_step(pair *pair);

/* pair_client() uses the stable address. `options` follow "?replicas=1&". */
client client_replicated_at(const char *dsn);
client pair_client(pair *pair, const char *options);

/* A client asks replicas to confirm a write within a second (WAIT). If it failed and took so long, a process may have
 * stood still: the test may call it again, MOST_CALLS times in all. */
enum { MOST_CALLS = 10 };
bool may_be_held_up(dlock_status status, dlock_nanos since);

/* Acquires; meanwhile things may stand still. */
enum { LONG_WAIT = 60000 }; /* ms */
bool acquires(client *client, dlock_claim *claim);

/* The same for calls that have no time limit of their own. An attach takes a new claim for each call. */
dlock_status extend_again(client *client, dlock_claim *claim, int ttl_ms);
dlock_status attach_again(client *client, dlock_claim **claim, const char *token);

/* Tries once to acquire. Is that refused because the epoch is not settled? */
bool is_refused(client *client, const char *resource);

/* The waiters for a lock, with this key, count as alive for ten minutes, or until their next sign of life. */
void keep_lock_waiters(test_server *master, const char *key);

/* The server's time, and when the guard of its open epoch ends by it, in ms; 0: no epoch waits for its guard. */
long long server_now_ms(test_server *server);
long long guard_end_ms(test_server *master);

/* Is the lock refused, and is the guard longer than `guard` from `since` on? Afterwards the guard is over, and locks
 * are granted. */
bool waits_for_guard(client *client, test_server *master, const char *resource, long long since, int guard);

/* Acquires the lock and releases it before the guard is over: each attempt begins with a whole guard. */
bool passes_at_once(client *client, test_server *master, const char *resource);

#endif

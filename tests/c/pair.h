#ifndef PAIR_H
#define PAIR_H

#include "redis_client.h"

/* A Redis master and its replica at one stable address, as in a managed service. The replica confirms. */

enum { GUARD = 2000, LEASE = 1900 }; /* ms; long enough for a busy machine */
#define GUARD_TEXT "2" /* the same in s, for a DSN */

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

/* Settles the master's epoch, as if it had been settled for long. */
void pair_settle(pair *pair);

/* Promotes the replica: the address leads there, and connections to the old master are closed. If the old master runs,
 * it becomes the replica. */
void pair_fail_over(pair *pair);

/* Waits until they are in step. */
bool pair_is_in_step(pair *pair);

/* pair_client() uses the stable address. `options` follow "?replicas=1&". */
client client_replicated_at(const char *dsn);
client pair_client(pair *pair, const char *options);

/* Acquires the resource within five seconds by a new claim, and releases it. Returns the ms from `since` to the
 * acquisition; -1: that failed. */
long first_lock_ms(client *client, const char *resource, dlock_nanos since);

/* Tries once to acquire. Is that refused because the epoch is not settled? */
bool is_refused(client *client, const char *resource);

#endif

#ifndef PAIR_H
#define PAIR_H

#include "redis_client.h"

/* Two Redis servers, a master and its replica, at one stable address, as a managed service has them: one replica
 * confirms. */

enum { GUARD = 2000, LEASE = 1900 }; /* ms; with room for a machine that does other things as well */
#define GUARD_TEXT "2" /* the same, for a DSN */

typedef struct {
	test_server servers[2];
	test_server *master, *replica;
	relay endpoint; /* leads to the master */
} pair;

/* Of such a server. */
extern const char *const pair_options[];

void pair_start(pair *pair);

/* Empty and in step, with the server that has been it as the master, in an epoch that has not begun. */
void pair_reset(pair *pair);

/* Its epoch is settled, as if it had long been so. */
void pair_settle(pair *pair);

/* The replica is the master now, and the address leads there; connections to the other are closed. With the other as
 * its replica. */
void pair_fail_over(pair *pair);

/* They are in step. */
bool pair_is_in_step(pair *pair);

/* By the stable address. `options` go on after "?replicas=1&…". */
client client_replicated_at(const char *dsn);
client pair_client(pair *pair, const char *options);

/* Acquires a lock of its own within five seconds, and releases it. From `since` in ms; -1: not acquired. */
long first_lock_ms(client *client, const char *resource, dlock_nanos since);

/* Once: has it been refused because the epoch is not settled? */
bool is_refused(client *client, const char *resource);

#endif

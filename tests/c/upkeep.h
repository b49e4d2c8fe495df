#ifndef UPKEEP_H
#define UPKEEP_H

#include <stdatomic.h>

#include "../../src/lock/renewal.h"
#include "redis_client.h"

/* Functions for tests of the renewal thread. */

/* A held claim that the thread looks after, and how often its loss was reported. */
typedef struct {
	dlock_claim *claim;
	_Atomic int losses;
} ward;

/* Acquires the lock and begins renewal; if that fails, the test exits. `soon_ms` > 0: the holder relies on only so much
 * of the lease, as after a handover. So the first renewal is due after a third of that. */
void ward_begin(ward *ward, client *client, const char *resource, int ttl_ms, int soon_ms, dlock_upkeep upkeep);

/* Renewal without limit, with or without reports of losses. */
#define RENEW_AND_TELL(ward) ((dlock_upkeep) { .renew = true, .lost = count_loss, .context = (ward) })
#define RENEW ((dlock_upkeep) { .renew = true })
void count_loss(void *ward);

/* Lets the thread renew the lease at once. */
void renew_now(dlock_claim *claim);

/* Waits until the request for a renewal is under way. */
bool eventually_renewing(dlock_claim *claim);

/* Lets renewals request this lease time, and wait for answers no longer than it allows. */
void request_ttl(dlock_claim *claim, int ttl_ms);

/* Lets the time on which the holder relies be over. */
void let_expire(dlock_claim *claim);

/* Waits until `count` more renewals were answered (or failed) than `before`. */
bool renewed_since(unsigned long before, unsigned long count);
bool failed_since(unsigned long before, unsigned long count);
unsigned long renewals(void);

/* Lets the thread renew the lease at once, and waits for the answer. */
bool renews(dlock_claim *claim);

bool eventually_lost(ward *ward);

/* The number of threads of this process. */
bool eventually_threads(int count); /* a joined thread stays in /proc for a moment */

/* Loads the scripts of a lease, so that the server knows them and no request is sent twice. */
void know_scripts(test_server *server);

/* Resets the servers, and loads the scripts again. */
void reset_knowing(test_server *servers, int count);

/* By how much the deadline is later than the server's, in ms; 0 or less: it is right. */
long overreach_ms(test_server *server, const dlock_claim *claim);

#endif

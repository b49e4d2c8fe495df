#ifndef UPKEEP_H
#define UPKEEP_H

#include <stdatomic.h>

#include "../../src/lock/renewal.h"
#include "redis_client.h"

/* What tests of the renewal thread have in common. */

/* A held claim that the thread looks after, and how often its loss was told. */
typedef struct {
	dlock_claim *claim;
	_Atomic int losses;
} ward;

/* Acquires and begins; exits the test when that fails. `soon_ms` > 0: so much of the lease is believed to be left, as
 * after a hand-over, so that the first renewal is due after a third of that. */
void ward_begin(ward *ward, client *client, const char *resource, int ttl_ms, int soon_ms, dlock_upkeep upkeep);

/* With renewal without limit, and told of losses, or not. */
#define RENEW_AND_TELL(ward) ((dlock_upkeep) { .renew = true, .lost = count_loss, .context = (ward) })
#define RENEW ((dlock_upkeep) { .renew = true })
void count_loss(void *ward);

/* Due at a third of the time that is now believed to be left. */
void make_due(dlock_claim *claim, int left_ms);

/* Waits until `count` more renewals were answered than `before`; five seconds at most. */
bool renewed_since(unsigned long before, unsigned long count);
bool failed_since(unsigned long before, unsigned long count);
unsigned long renewals(void);

bool eventually_lost(ward *ward);
bool eventually_in_state(dlock_claim *claim, dlock_claim_state state);

/* Of this process. */
bool eventually_threads(int count); /* one that was joined is still in /proc for a moment */

/* The server knows all that the thread says, so that nothing is said twice. */
void know_scripts(test_server *server);

/* Empty but for that. */
void reset_knowing(test_server *servers, int count);

/* A long reach of the deadline beyond what the server has, in ms; 0 or less where all is well. */
long overreach_ms(test_server *server, const dlock_claim *claim);

#endif

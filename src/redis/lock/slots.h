#ifndef DLOCK_REDIS_SLOTS_H
#define DLOCK_REDIS_SLOTS_H

#include "service.h"

/* Several locks at once that lie in more than one hash slot of a cluster, of which no script can see more than one. Such
 * a claim has a part for each slot: a claim of the same back end for the names there, with the same token, which is
 * acquired, kept and given back as any other. What is here says in which order, and when all together count. */

typedef struct dlock_slots dlock_slots;

/* NULL when out of memory. Its parts are made by acquire(). */
dlock_slots *dlock_slots_new(dlock_claim *claim);

/* What was being acquired is given back, without waiting. */
void dlock_slots_free(dlock_slots *slots);

/* As those of a back end (lock/backend.h). */
dlock_status dlock_slots_acquire(dlock_slots *slots, const dlock_wait *wait, dlock_error *error);
dlock_status dlock_slots_extend(dlock_slots *slots, dlock_nanos ttl, dlock_error *error);
dlock_status dlock_slots_release(dlock_slots *slots, dlock_error *error);
void dlock_slots_abandon(dlock_slots *slots);

/* slots_round.c: of the rounds of all parts. */
dlock_renewal_round *dlock_slots_new_round(const dlock_slots *slots);

/* For that. */
int dlock_slots_count(const dlock_slots *slots);
const dlock_claim *dlock_slots_part(const dlock_slots *slots, int i);

#endif

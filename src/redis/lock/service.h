#ifndef DLOCK_REDIS_SERVICE_H
#define DLOCK_REDIS_SERVICE_H

#include "../../lock/claim.h"
#include "../request/keys.h"
#include "epoch.h"
#include "keep.h"
#include "kinds.h"
#include "wait.h"

/* The back end for locks, and for semaphores and read/write locks, on Redis: one server, or a service whose master is
 * wherever Sentinels or a cluster have it, with or without replicas that confirm what is granted. What is said about
 * a lock and about permits is in kinds.h. */

/* `prefix` is put before each resource to make its lock's key. With service->replicas a lock survives a fail-over
 * (docs/fail-over.md). `legacy`: of one server that older code locks on, too. NULL when out of memory. */
dlock_backend *dlock_lock_new(
	dlock_pool *pool, dlock_endpoint *service, const char *prefix, size_t prefix_len, bool legacy);

/* A claim has permits of its resource's pool, claim->permits of them, all at once. They are granted in the order in
 * which they were asked for, handed over by a release to all first waiters that they are enough for, and taken back
 * from holders whose lease is over when a client needs them (permits_pool.lua). `capacity`: the permits of each
 * pool, DLOCK_PERMITS_ALL for a read/write lock, where a reader takes one and a writer all of them; `fifo`: readers and
 * writers take turns in the order of asking, otherwise their phases alternate. */
dlock_backend *dlock_permits_new(dlock_pool *pool, dlock_endpoint *service, const char *prefix, size_t prefix_len,
	int64_t capacity, bool fifo);

/* ---- for acquire.c ---- */

typedef struct {
	dlock_backend base;
	const dlock_kind *kind;
	const dlock_keeping *keeping;
	dlock_endpoint *service;
	dlock_masters masters;
	dlock_inbox *inbox; /* lent with masters.conn */
	dlock_epoch_rule guard;  /* where replicas confirm */
	dlock_key_builder *keys;
	bool fifo;
} dlock_service;

/* Of a claim whose resources lie in more than one hash slot of a cluster, of which no script can see more than one: it
 * has a part for each slot, a claim of the same back end for the names there, with the same token, which is acquired,
 * kept and given back as any other. */
typedef struct dlock_slots dlock_slots;

typedef struct {
	dlock_claim base;
	struct dlock_asking *asking; /* while it is being acquired; NULL: it is not */
	int64_t ticket, number;      /* of its waits, over all of them */
	dlock_several_keys *several; /* of more than one resource */
	dlock_slots *slots;          /* of resources in more than one hash slot; then all else here is its parts' */
	bool is_part;                /* of such a claim: what is in one slot */
	bool may_become_reader;      /* by a downgrade without an answer, or sent twice, that may be executed late */
} dlock_service_claim;

static inline dlock_service *dlock_service_of(const dlock_claim *claim)
{
	return (dlock_service *) claim->backend;
}

/* What is said about what the claim is for. */
static inline const dlock_kind *dlock_service_kind(const dlock_claim *claim)
{
	return claim->count > 1 ? &dlock_several_locks : dlock_service_of(claim)->kind;
}

/* Before any other question about a claim. False: out of memory. */
bool dlock_service_prepare(dlock_claim *claim);

/* May another server than the one that was asked be the master, now or later? Then what has ended by the holder's clock
 * stays lost. */
static inline bool dlock_service_fails_over(const dlock_service *service)
{
	return service->masters.replicas > 0 || service->service->discovery != DLOCK_ENDPOINT_FIXED;
}

/* Valid until the next keys of the same service. */
dlock_subject dlock_service_subject(const dlock_claim *claim);
/* NULL: nothing is to be looked at once more, behind a WAIT. */
dlock_call *dlock_service_unchanged(const dlock_claim *claim, const char *old);
void dlock_service_begin_epoch(dlock_epoch *epoch, const dlock_claim *claim, dlock_nanos until, dlock_error *error);

/* Gives back what it has, and leaves the queue where it waits, without waiting for an answer. Where the master has
 * moved meanwhile, it is left to the lease time. */
void dlock_service_give_back(const dlock_claim *claim, dlock_nanos now);

/* acquire.c: acquire() and dispose() of a back end. What it has begun is over after dispose(). */
dlock_status dlock_service_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);
void dlock_service_dispose(dlock_claim *claim);
const dlock_waiter *dlock_service_waiter(const dlock_claim *claim);

/* The same in parts: between them the waiter is stepped until it comes to a status. NULL: out of memory. */
dlock_waiter *dlock_service_begin_asking(dlock_claim *claim);
void dlock_service_end_asking(dlock_claim *claim, dlock_status status, dlock_nanos now);

/* extend() and release() in parts, between which the task is stepped. */
typedef struct {
	dlock_claim *claim;
	dlock_kept_lease lease;
	dlock_keep keep;
	dlock_nanos ttl, begun;
	dlock_error *error;
} dlock_extending;

void dlock_extending_begin(dlock_extending *own, dlock_claim *claim, dlock_nanos ttl, dlock_error *error);
dlock_status dlock_extending_step(void *extending, dlock_loop *loop, dlock_nanos now);
void dlock_extending_end(dlock_extending *own, dlock_status status);

typedef struct {
	dlock_task task;
	dlock_claim *claim;
	dlock_route route;
	dlock_kept_lease lease;
	int64_t answer;
	int dropped; /* of several locks */
	dlock_status said, confirmed, worst;
} dlock_releasing;

void dlock_releasing_begin(dlock_releasing *own, dlock_claim *claim, dlock_error *error);
dlock_status dlock_releasing_step(void *releasing, dlock_loop *loop, dlock_nanos now);
void dlock_releasing_end(dlock_releasing *own, dlock_status status);

/* slots.c: in which order the parts of a claim are acquired, and when all together count. NULL when out of memory. */
dlock_slots *dlock_slots_new(dlock_claim *claim);

/* What is being acquired is given back, without waiting. */
void dlock_slots_free(dlock_slots *slots);

/* As those of a back end. */
dlock_status dlock_slots_acquire(dlock_slots *slots, const dlock_wait *wait, dlock_error *error);
dlock_status dlock_slots_extend(dlock_slots *slots, dlock_nanos ttl, dlock_error *error);
dlock_status dlock_slots_release(dlock_slots *slots, dlock_error *error);
void dlock_slots_abandon(dlock_slots *slots);

/* Once it has been acquired. */
int dlock_slots_count(const dlock_slots *slots);
const dlock_claim *dlock_slots_part(const dlock_slots *slots, int i);

/* slots_round.c: new_round() of a back end. */
dlock_renewal_round *dlock_slots_new_round(const dlock_slots *slots);

/* inspect.c: inspect(), list() and break_claim() of a back end. */
dlock_status dlock_service_inspect(dlock_backend *backend, const char *resource, size_t len, int most,
	dlock_inspection *out, dlock_error *error);
dlock_status dlock_service_list(dlock_backend *backend, int most, dlock_listing *out, dlock_error *error);
dlock_status dlock_service_list_all(dlock_backend *backend, int most, dlock_listing *out, dlock_error *error);
dlock_status dlock_service_break(dlock_backend *backend, const char *resource, size_t len, const dlock_break *how,
	dlock_nanos *left, dlock_error *error);

#endif

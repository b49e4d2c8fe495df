#ifndef DLOCK_REDIS_SERVICE_H
#define DLOCK_REDIS_SERVICE_H

#include "../../lock/claim.h"
#include "../request/keys.h"
#include "epoch.h"
#include "keep.h"
#include "kinds.h"
#include "wait.h"

/* The back end for locks, semaphores and read/write locks on Redis. It uses one server, or a service whose master
 * Sentinels or a cluster name, with or without replicas that confirm grants. kinds.h has the requests about locks and
 * about permits. */

/* A back end for locks, whose keys are `prefix` and the resource. With service->replicas, a lock survives a failover
 * (docs/fail-over.md). `legacy`: older code uses the locks of this one server, too. NULL when out of memory. */
dlock_backend *dlock_lock_new(
	dlock_pool *pool, dlock_endpoint *service, const char *prefix, size_t prefix_len, bool legacy);

/* A back end for permits. A claim acquires claim->permits permits of its resource's pool, all at once. The server
 * grants them in the order in which claims ask. A release hands them over to all first waiters for which they are
 * enough. The server reclaims those of expired leases when a client needs them (permits_pool.lua). `capacity`: the
 * permits of each pool; DLOCK_PERMITS_ALL for a read/write lock, in which a reader holds one and a writer all. `fifo`:
 * readers and writers are granted in the order in which they ask; otherwise their phases alternate. NULL when out of
 * memory. */
dlock_backend *dlock_permits_new(dlock_pool *pool, dlock_endpoint *service, const char *prefix, size_t prefix_len,
	int64_t capacity, bool fifo);

/* ---- shared by the files of this back end ---- */

typedef struct {
	dlock_backend base;
	const dlock_kind *kind;
	const dlock_keeping *keeping;
	dlock_endpoint *service;
	dlock_masters masters;
	dlock_inbox *inbox; /* the pool lends it with masters.conn */
	dlock_epoch_rule guard;  /* if replicas confirm */
	dlock_key_builder *keys;
	bool fifo;
} dlock_service;

/* A claim whose resources lie in several hash slots of a cluster. No script can use more than one slot, so the claim
 * has a part for each. A part is a claim of the same back end for the names in its slot, with the same token. It is
 * acquired, kept and released like any other claim. */
typedef struct dlock_slots dlock_slots;

typedef struct {
	dlock_claim base;
	struct dlock_asking *asking; /* while the claim is being acquired; otherwise NULL */
	int64_t ticket, number;      /* of all its waits together */
	dlock_several_keys *several; /* the keys, if it has several resources or is a part */
	dlock_slots *slots;          /* NULL unless it is in several slots; then its parts use the other members */
	bool is_part;                /* it is such a part */
	bool may_become_reader;      /* an unanswered or repeated downgrade may be executed late */
} dlock_service_claim;

static inline dlock_service *dlock_service_of(const dlock_claim *claim)
{
	return (dlock_service *) claim->backend;
}

/* The requests for what the claim is for. */
static inline const dlock_kind *dlock_service_kind(const dlock_claim *claim)
{
	return claim->count > 1 ? &dlock_several_locks : dlock_service_of(claim)->kind;
}

/* To be called before any request for a claim. False: out of memory. */
bool dlock_service_prepare(dlock_claim *claim);

/* May another server than the one that was asked be the master, now or later? If so, a lease that has expired by the
 * holder's clock stays lost. */
static inline bool dlock_service_fails_over(const dlock_service *service)
{
	return service->masters.replicas > 0 || service->service->discovery != DLOCK_ENDPOINT_FIXED;
}

/* Its keys are valid until the same service builds other keys. */
dlock_subject dlock_service_subject(const dlock_claim *claim);
/* What is sent after the WAIT to look at the grant once more; NULL: nothing. */
dlock_call *dlock_service_unchanged(const dlock_claim *claim, const char *old);
void dlock_service_begin_epoch(dlock_epoch *epoch, const dlock_claim *claim, dlock_nanos until, dlock_error *error);

/* Releases what the claim holds, and leaves the queue if it waits, without waiting for an answer. If the master has
 * moved meanwhile, the lease expires by itself. */
void dlock_service_give_back(const dlock_claim *claim, dlock_nanos now);

/* acquire.c: acquire() and dispose() of a back end. After dispose(), nothing that the claim has begun goes on. */
dlock_status dlock_service_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);
void dlock_service_dispose(dlock_claim *claim);
const dlock_waiter *dlock_service_waiter(const dlock_claim *claim);

/* The same in two parts: between them, the caller steps the waiter until it returns a status. NULL: out of memory. */
dlock_waiter *dlock_service_begin_asking(dlock_claim *claim);
void dlock_service_end_asking(dlock_claim *claim, dlock_status status, dlock_nanos now);

/* extend() and release() in parts: between begin and end, the caller steps the task until it returns a status. */
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
	int dropped; /* how many of several locks were dropped */
	dlock_status said, confirmed, worst;
} dlock_releasing;

void dlock_releasing_begin(dlock_releasing *own, dlock_claim *claim, dlock_error *error);
dlock_status dlock_releasing_step(void *releasing, dlock_loop *loop, dlock_nanos now);
void dlock_releasing_end(dlock_releasing *own, dlock_status status);

/* slots.c: in which order a claim acquires its parts, and when all of them count. NULL when out of memory. */
dlock_slots *dlock_slots_new(dlock_claim *claim);

/* Frees the parts, and releases what is being acquired, without waiting. */
void dlock_slots_free(dlock_slots *slots);

/* These work like the operations of a back end. */
dlock_status dlock_slots_acquire(dlock_slots *slots, const dlock_wait *wait, dlock_error *error);
dlock_status dlock_slots_extend(dlock_slots *slots, dlock_nanos ttl, dlock_error *error);
dlock_status dlock_slots_release(dlock_slots *slots, dlock_error *error);
void dlock_slots_abandon(dlock_slots *slots);

/* The parts of an acquired claim. */
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

#include "service.h"

#include <stdlib.h>
#include <string.h>

#include "../../lock/operations.h"
#include "../../lock/renewal.h"

/* Several locks at once that lie in several slots of a cluster. The client asks all slots at once first, and no part
 * queues: if all locks are free, that is one round trip. If one slot refuses, the client releases the other parts and
 * begins again: with the slots in ascending order, one after the other. It waits in a slot's queue while it holds the
 * earlier ones, which the renewal thread keeps. A client that waits for a slot holds no later one, so there is no
 * cycle. Within a slot, tickets prevent a cycle.
 *
 * Each slot counts its own fencing tokens. The claim's token is the largest that its parts were granted. Before the
 * claim counts, each slot raises its fence to that token, and replicas confirm it. So the token is greater than those
 * of all earlier holders of one of the locks, and less than those of all later ones. The same request finds out whether
 * a part was lost meanwhile.
 *
 * The claim's deadline is that of the part that ends first. */

typedef struct {
	int first, count; /* its names: `count` from names[first] on */
	dlock_claim *claim; /* NULL: none yet */
	dlock_waiter *waiter; /* while the part is being acquired */
	dlock_status said; /* DLOCK_PENDING: something is under way */
	dlock_error error;
	dlock_task task; /* raises the fence of its slot */
	dlock_route route;
	dlock_extending extending;
	dlock_releasing releasing;
} slot_part;

struct dlock_slots {
	dlock_claim *whole;
	dlock_task task, ordered;
	dlock_nanos begun, deadline;
	dlock_nanos until; /* how long raising the fences is of use */
	dlock_nanos next;  /* when the pause ends */
	dlock_error error;
	bool is_strand;
	bool tries_again; /* what has failed may end by itself */
	int at;           /* the part that it asks for now */
	dlock_status said, waited;
	dlock_name names[DLOCK_SEVERAL_MAX]; /* sorted by slot */
	int count;
	slot_part parts[];
};

int dlock_slots_count(const dlock_slots *slots)
{
	return slots->count;
}

const dlock_claim *dlock_slots_part(const dlock_slots *slots, int i)
{
	return slots->parts[i].claim;
}

static const dlock_service *service_of(const dlock_slots *own)
{
	return dlock_service_of(own->whole);
}

static dlock_loop *loop_of(const dlock_slots *own)
{
	return dlock_pool_loop(service_of(own)->masters.pool);
}

/* ---- slots and parts ---- */

typedef struct {
	int slot, name;
} placed;

static int compare_places(const void *a, const void *b)
{
	const placed *one = a, *other = b;

	return one->slot != other->slot ? one->slot - other->slot : one->name - other->name;
}

dlock_slots *dlock_slots_new(dlock_claim *claim)
{
	placed places[DLOCK_SEVERAL_MAX];
	int count = 0;

	for (int i = 0; i < claim->count; i++) {
		places[i] = (placed) { dlock_key_builder_slot_of(dlock_service_of(claim)->keys, claim->names[i]), i };
	}
	qsort(places, (size_t) claim->count, sizeof *places, compare_places);
	for (int i = 0; i < claim->count; i++) {
		count += i == 0 || places[i].slot != places[i - 1].slot;
	}
	dlock_slots *slots = calloc(1, sizeof *slots + (size_t) count * sizeof *slots->parts);
	if (!slots) {
		return NULL;
	}
	slots->whole = claim;
	for (int i = 0; i < claim->count; i++) {
		if (i == 0 || places[i].slot != places[i - 1].slot) {
			slots->parts[slots->count++].first = i;
		}
		slots->parts[slots->count - 1].count++;
		slots->names[i] = claim->names[places[i].name];
	}
	return slots;
}

static bool make_part(dlock_slots *own, slot_part *part)
{
	const dlock_claim *whole = own->whole;

	part->claim = dlock_claim_new_of(
		whole->backend, own->names + part->first, part->count, whole->ttl, whole->token, &own->error);
	if (part->claim) {
		((dlock_service_claim *) part->claim)->is_part = true;
		part->claim->description = dlock_description_retain(whole->description);
	}
	return part->claim;
}

static bool make_parts(dlock_slots *own)
{
	for (int i = 0; i < own->count; i++) {
		if (!make_part(own, &own->parts[i])) {
			return false;
		}
	}
	return true;
}

/* With `gives_back`, releases what the parts hold, or may hold. */
static void drop_parts(dlock_slots *own, bool gives_back)
{
	for (int i = 0; i < own->count; i++) {
		slot_part *part = &own->parts[i];
		if (!part->claim) {
			continue;
		}
		if (dlock_claim_is_mine(part->claim)) {
			dlock_route_cancel(&part->route);
		}
		dlock_route_end(&part->route);
		part->task.at = 0;
		if (gives_back) {
			dlock_claim_abandon(part->claim);
		}
		dlock_claim_free(part->claim);
		part->claim = NULL;
	}
	own->ordered.at = 0;
}

void dlock_slots_free(dlock_slots *own)
{
	drop_parts(own, own->whole->state == DLOCK_CLAIM_NEW || own->whole->state == DLOCK_CLAIM_WAITING);
	free(own);
}

void dlock_slots_abandon(dlock_slots *own)
{
	for (int i = 0; i < own->count; i++) {
		if (own->parts[i].claim) {
			dlock_claim_abandon(own->parts[i].claim);
		}
	}
}

/* The earliest deadline of the first `count` parts. */
static dlock_nanos first_end(const dlock_slots *own, int count)
{
	dlock_nanos first = DLOCK_FOREVER;

	for (int i = 0; i < count; i++) {
		dlock_nanos deadline = atomic_load(&own->parts[i].claim->deadline);
		first = dlock_earlier(deadline, first);
	}
	return first;
}

/* ---- acquiring one part ---- */

static void begin_part(dlock_slots *own, slot_part *part, dlock_nanos over_since)
{
	part->waiter = dlock_service_begin_asking(part->claim);
	part->said = part->waiter ? DLOCK_PENDING : dlock_out_of_memory(&part->error);
	if (part->waiter) {
		part->waiter->error = &part->error;
		part->waiter->is_strand = own->is_strand;
		part->waiter->over_since = over_since;
	}
}

static dlock_status step_part(slot_part *part, dlock_nanos deadline, dlock_loop *loop, dlock_nanos now)
{
	if (part->said == DLOCK_PENDING) {
		part->waiter->deadline = deadline;
		part->said = dlock_waiter_step(part->waiter, loop, now);
		if (part->said != DLOCK_PENDING) {
			dlock_service_end_asking(part->claim, part->said, now);
		}
	}
	return part->said;
}

/* ---- all parts at once ---- */

/* The parts have no time to wait, so none of them queues. */
static void begin_all(dlock_slots *own, dlock_nanos now)
{
	own->begun = now;
	own->tries_again = false;
	own->said = make_parts(own) ? DLOCK_OK : DLOCK_FAILED;
	for (int i = 0; i < own->count && own->said == DLOCK_OK; i++) {
		begin_part(own, &own->parts[i], now);
	}
}

/* What the parts' outcomes are together: pending if one is, otherwise failed if one has, otherwise refused if one
 * was. */
static dlock_status sum_up(const dlock_slots *own)
{
	dlock_status sum = DLOCK_OK;

	for (int i = 0; i < own->count; i++) {
		dlock_status said = own->parts[i].said;
		sum = said > sum ? said : sum;
	}
	return sum;
}

static dlock_status ask_all(dlock_slots *own, dlock_loop *loop, dlock_nanos now)
{
	for (int i = 0; i < own->count; i++) {
		step_part(&own->parts[i], own->begun, loop, now);
	}
	return sum_up(own);
}

static void take_all(dlock_slots *own)
{
	own->tries_again = own->said == DLOCK_TIMEOUT || own->said == DLOCK_CONNECTION;
	for (int i = 0; i < own->count; i++) {
		own->whole->waited |= own->parts[i].said == DLOCK_TIMEOUT;
	}
}

/* ---- one part after the other ---- */

/* All slots share one answer's time beyond the deadline. */
static void begin_next(dlock_slots *own, dlock_nanos now)
{
	slot_part *part = &own->parts[own->at];

	if (now < dlock_after(own->deadline, service_of(own)->service->read_timeout)) {
		begin_part(own, part, own->deadline == DLOCK_FOREVER ? 0 : own->deadline);
	} else {
		part->said = DLOCK_TIMEOUT;
	}
}

/* DLOCK_LOST: an earlier part has expired. */
static dlock_status wait_in_slot(dlock_slots *own, dlock_loop *loop, dlock_nanos now)
{
	return dlock_loop_is_time(loop, first_end(own, own->at), now) ? DLOCK_LOST
		: step_part(&own->parts[own->at], own->deadline, loop, now);
}

/* Renews the part while the claim waits for the next ones. */
static dlock_status keep_part(dlock_slots *own)
{
	static const dlock_upkeep upkeep = { .renew = true };
	slot_part *part = &own->parts[own->at];

	part->said = own->at + 1 == own->count ? DLOCK_OK : dlock_renewal_begin(part->claim, &upkeep, &part->error);
	return part->said;
}

static dlock_status take_in_order(dlock_slots *own, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->ordered);
	for (own->at = 0; own->at < own->count; own->at++) {
		begin_next(own, now);
		DLOCK_JOIN(&own->ordered, own->waited, wait_in_slot(own, loop, now));
		own->waited = own->waited == DLOCK_OK ? keep_part(own) : own->waited;
		if (own->waited != DLOCK_OK) {
			break;
		}
	}
	own->tries_again = own->waited == DLOCK_LOST;
	DLOCK_END(&own->ordered);
	return own->waited;
}

/* ---- the fencing token ---- */

static int64_t largest_token(const dlock_slots *own)
{
	int64_t largest = 0;

	for (int i = 0; i < own->count; i++) {
		int64_t token = own->parts[i].claim->fencing_token;
		largest = token > largest ? token : largest;
	}
	return largest;
}

static void begin_raising(dlock_slots *own, dlock_nanos now)
{
	dlock_nanos end = own->deadline == DLOCK_FOREVER || own->deadline > now ? now : own->deadline;

	end = end < own->begun ? own->begun : end;
	own->until = dlock_after(end, service_of(own)->service->read_timeout);
	end = first_end(own, own->count);
	own->until = dlock_earlier(end, own->until);
	for (int i = 0; i < own->count; i++) {
		own->parts[i].said = DLOCK_PENDING;
	}
}

static void ask_to_raise(const dlock_slots *own, slot_part *part)
{
	dlock_subject subject = dlock_service_subject(part->claim);
	const dlock_several_keys *several = subject.keys.several;

	dlock_route_begin(&part->route, &service_of(own)->masters, subject.keys.slot, &part->error);
	part->route.until = own->until;
	dlock_route_send(&part->route,
		dlock_request_several_raise(
			several->keys, several->count, part->claim->token, largest_token(own), subject.replicated),
		NULL);
}

static void read_raised(slot_part *part)
{
	dlock_response response;

	if (part->said == DLOCK_OK) {
		part->said = dlock_read_integer(part->route.call, part->route.conn, &response, &part->error);
	}
}

static dlock_status raise_one(dlock_slots *own, slot_part *part, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&part->task);
	ask_to_raise(own, part);
	DLOCK_JOIN(&part->task, part->said, dlock_route_step(&part->route, loop, now));
	read_raised(part);
	if (part->said == DLOCK_OK) {
		DLOCK_JOIN(&part->task, part->said, dlock_route_confirm(&part->route, loop, now));
	}
	DLOCK_END(&part->task);
	return part->said;
}

static dlock_status raise_all(dlock_slots *own, dlock_loop *loop, dlock_nanos now)
{
	for (int i = 0; i < own->count; i++) {
		if (own->parts[i].said == DLOCK_PENDING) {
			raise_one(own, &own->parts[i], loop, now);
		}
	}
	return sum_up(own);
}

/* A lease time that one part asked for without an answer counts for the whole claim. */
static void note_unacknowledged(dlock_slots *own)
{
	for (int i = 0; i < own->count; i++) {
		dlock_nanos ttl = own->parts[i].claim->unacknowledged_ttl;
		if (ttl > 0) {
			dlock_claim_add_unacknowledged_ttl(own->whole, ttl);
		}
	}
}

static void count_on(dlock_slots *own, dlock_nanos deadline)
{
	dlock_claim *whole = own->whole;

	whole->fencing_token = largest_token(own);
	whole->deadline = deadline;
	memcpy(whole->token, own->parts[0].claim->token, sizeof whole->token);
	note_unacknowledged(own);
	for (int i = 0; i < own->count; i++) {
		dlock_claim *part = own->parts[i].claim;
		dlock_renewal_stop(part); /* what is under way ends with the lease */
		part->fencing_token = whole->fencing_token;
		whole->received |= part->received;
	}
	dlock_claim_move(whole, DLOCK_CLAIM_HELD);
}

static void take_raised(dlock_slots *own, dlock_nanos now)
{
	dlock_nanos end = first_end(own, own->count);
	bool is_transient = true;

	for (int i = 0; i < own->count; i++) {
		slot_part *part = &own->parts[i];
		is_transient &= part->said != DLOCK_CONNECTION || part->route.transient;
		dlock_route_end(&part->route);
	}
	own->said = now >= end ? DLOCK_LOST : own->said; /* if a part has expired, no other outcome counts */
	own->tries_again = own->said == DLOCK_LOST || (own->said == DLOCK_CONNECTION && is_transient);
	if (own->said == DLOCK_OK) {
		count_on(own, end);
	}
}

/* ---- the whole claim ---- */

/* The pause between two attempts, unless a server has refused the first of them. */
#define PAUSE (50 * DLOCK_MS)
#define PAUSE_JITTER 50 /* ms */

static bool goes_on(const dlock_slots *own, dlock_nanos now)
{
	return own->said != DLOCK_OK && own->tries_again && now < own->deadline;
}

/* A released token is not used again, because the release may be late. False: the claim cannot go on. */
static bool begin_again(dlock_slots *own, dlock_nanos now)
{
	bool refused = own->said == DLOCK_TIMEOUT;

	own->next = refused ? now : now + PAUSE + dlock_jitter(PAUSE_JITTER) * DLOCK_MS;
	drop_parts(own, true);
	dlock_claim_move(own->whole, DLOCK_CLAIM_WAITING);
	if (dlock_claim_renew_token(own->whole, &own->error) == DLOCK_OK && make_parts(own)) {
		return true;
	}
	own->said = DLOCK_FAILED;
	return false;
}

static bool is_pause_over(const dlock_slots *own, dlock_loop *loop, dlock_nanos now)
{
	dlock_loop_lend(loop);
	return dlock_loop_is_time(loop, dlock_earlier(own->next, own->deadline), now);
}

static dlock_status acquire_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	dlock_slots *own = task;

	DLOCK_BEGIN(&own->task);
	begin_all(own, now);
	if (own->said == DLOCK_OK) {
		DLOCK_JOIN(&own->task, own->said, ask_all(own, loop, now));
		take_all(own);
	}
	for (;;) {
		if (own->said == DLOCK_OK) {
			begin_raising(own, now);
			DLOCK_JOIN(&own->task, own->said, raise_all(own, loop, now));
			take_raised(own, now);
		}
		if (!goes_on(own, now) || !begin_again(own, now)) {
			break;
		}
		DLOCK_AWAIT(&own->task, is_pause_over(own, loop, now));
		DLOCK_JOIN(&own->task, own->said, take_in_order(own, loop, now));
	}
	DLOCK_END(&own->task);
	return own->said;
}

/* Says why the claim was not acquired. */
static void explain(const dlock_slots *own, dlock_error *error)
{
	*error = own->error;
	for (int i = 0; i < own->count; i++) {
		const slot_part *part = &own->parts[i];
		if (!part->claim) {
			continue;
		}
		own->whole->explained |= part->said == DLOCK_TIMEOUT && part->claim->explained;
		own->whole->guarded |= part->claim->guarded;
		if (part->said == own->said && (part->said != DLOCK_TIMEOUT || part->claim->explained)) {
			*error = part->error;
		}
	}
}

dlock_status dlock_slots_acquire(dlock_slots *own, const dlock_wait *wait, dlock_error *error)
{
	own->deadline = wait->deadline;
	own->is_strand = wait->suspend;
	dlock_status status = dlock_loop_run(loop_of(own), acquire_step, own, DLOCK_FOREVER, wait);
	if (status != DLOCK_OK && status != DLOCK_INTERRUPTED) {
		explain(own, error);
		drop_parts(own, true);
		if (own->whole->state == DLOCK_CLAIM_WAITING) {
			dlock_claim_move(own->whole, DLOCK_CLAIM_NEW);
		}
	}
	return status == DLOCK_LOST ? DLOCK_TIMEOUT : status;
}

/* ---- while they are held ---- */

typedef struct {
	dlock_slots *slots;
	bool releases;
} asking;

static dlock_status step_all(void *task, dlock_loop *loop, dlock_nanos now)
{
	const asking *own = task;
	bool pending = false;

	for (int i = 0; i < own->slots->count; i++) {
		slot_part *part = &own->slots->parts[i];
		if (part->said == DLOCK_PENDING) {
			part->said = own->releases ? dlock_releasing_step(&part->releasing, loop, now)
									   : dlock_extending_step(&part->extending, loop, now);
		}
		pending |= part->said == DLOCK_PENDING;
	}
	return pending ? DLOCK_PENDING : DLOCK_OK;
}

/* What the servers say about all parts: lost if one is, otherwise unknown if one is. */
static dlock_status outcome(const dlock_slots *own, dlock_error *error)
{
	const slot_part *worst = &own->parts[0];

	for (int i = 0; i < own->count; i++) {
		const slot_part *part = &own->parts[i];
		if (worst->said != DLOCK_LOST && part->said != DLOCK_OK) {
			worst = part;
		}
	}
	if (worst->said != DLOCK_OK) {
		*error = worst->error;
	}
	return worst->said;
}

dlock_status dlock_slots_extend(dlock_slots *own, dlock_nanos ttl, dlock_error *error)
{
	dlock_claim *whole = own->whole;
	asking asking = { own, false };

	for (int i = 0; i < own->count; i++) {
		slot_part *part = &own->parts[i];
		part->claim->deadline = atomic_load(&whole->deadline); /* the renewal thread has moved only the whole claim's */
		part->said = DLOCK_PENDING;
		dlock_extending_begin(&part->extending, part->claim, ttl, &part->error);
	}
	dlock_loop_run(loop_of(own), step_all, &asking, DLOCK_FOREVER, NULL);
	for (int i = 0; i < own->count; i++) {
		dlock_extending_end(&own->parts[i].extending, own->parts[i].said);
	}
	dlock_status status = outcome(own, error);
	note_unacknowledged(own);
	if (status != DLOCK_LOST && !dlock_claim_expire_if_due(whole)) {
		whole->deadline = first_end(own, own->count);
	}
	if (status == DLOCK_OK) {
		whole->ttl = ttl;
		dlock_claim_move(whole, DLOCK_CLAIM_HELD);
	}
	return status;
}

dlock_status dlock_slots_release(dlock_slots *own, dlock_error *error)
{
	asking asking = { own, true };

	for (int i = 0; i < own->count; i++) {
		slot_part *part = &own->parts[i];
		dlock_renewal_end(part->claim, true);
		part->said = DLOCK_PENDING;
		dlock_releasing_begin(&part->releasing, part->claim, &part->error);
	}
	dlock_loop_run(loop_of(own), step_all, &asking, DLOCK_FOREVER, NULL);
	for (int i = 0; i < own->count; i++) {
		slot_part *part = &own->parts[i];
		dlock_releasing_end(&part->releasing, part->said);
		dlock_claim_move(part->claim, part->said == DLOCK_OK ? DLOCK_CLAIM_RELEASED : DLOCK_CLAIM_LOST);
		own->whole->handed_over |= part->claim->handed_over;
	}
	return outcome(own, error);
}

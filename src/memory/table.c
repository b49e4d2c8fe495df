#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "room.h"

typedef struct holder {
	struct holder *next;
	char token[DLOCK_TOKEN_MAX + 1];
	dlock_nanos deadline;
	int64_t permits;
} holder;

typedef struct {
	dlock_memory_entry entry;
	holder *holders; /* settle() removes holders whose leases have expired */
	int64_t used;
	dlock_memory_waiter *waiters; /* in the order of arrival */
	uint64_t tickets;             /* the last ticket */
	uint64_t phase;               /* readers with a ticket up to this one come before writers */
} pool;

/* ---- pools ---- */

static void drop(pool *own, holder **at)
{
	holder *gone = *at;

	*at = gone->next;
	own->used -= gone->permits;
	if (gone->permits >= DLOCK_PERMITS_ALL) {
		own->phase = own->tickets;
	}
	free(gone);
}

static void settle(pool *own)
{
	for (holder **at = &own->holders; *at;) {
		if (dlock_now() < (*at)->deadline) {
			at = &(*at)->next;
		} else {
			drop(own, at);
		}
	}
}

/* Returns the pool as of now, or NULL. */
static pool *find(const dlock_memory_room *room, dlock_memory_name name)
{
	pool *own = dlock_memory_entry_of(&room->pools, name.text, name.len);

	if (own) {
		settle(own);
	}
	return own;
}

/* Frees pools without holders and waiters, once there are as many pools as buckets, so that enough calls share the
 * cost. */
static void sweep(dlock_memory_map *pools)
{
	if (pools->count < pools->bucket_count) {
		return;
	}
	for (pool *own = dlock_memory_next(pools, NULL), *next; own; own = next) {
		next = dlock_memory_next(pools, &own->entry);
		settle(own);
		if (!own->holders && !own->waiters) {
			dlock_memory_remove(pools, &own->entry);
			dlock_memory_free(&own->entry);
		}
	}
}

/* False: a pool is missing. */
static bool find_all(const dlock_memory_room *room, dlock_memory_names names, pool **pools)
{
	bool good = true;

	for (int i = 0; i < names.count; i++) {
		pools[i] = find(room, names.name[i]);
		good = good && pools[i];
	}
	return good;
}

static bool find_or_make(dlock_memory_room *room, dlock_memory_names names, pool **pools)
{
	bool good = find_all(room, names, pools);

	if (good) {
		return true;
	}
	sweep(&room->pools); /* it may free pools that were found */
	find_all(room, names, pools);
	good = true;
	for (int i = 0; i < names.count; i++) {
		const dlock_memory_name *name = &names.name[i];
		pools[i] = pools[i] ? pools[i] : dlock_memory_add(&room->pools, name->text, name->len, sizeof **pools);
		good = good && pools[i];
	}
	return good;
}

/* Returns the place of a holder; NULL: the token holds nothing. */
static holder **held_by(pool *own, const char *token)
{
	for (holder **at = own ? &own->holders : NULL; at && *at; at = &(*at)->next) {
		if (!strcmp((*at)->token, token)) {
			return at;
		}
	}
	return NULL;
}

static dlock_nanos first_end(const pool *own)
{
	dlock_nanos first = DLOCK_FOREVER;

	for (const holder *it = own->holders; it; it = it->next) {
		first = dlock_earlier(it->deadline, first);
	}
	return first;
}

/* ---- turns ---- */

static bool fits(const pool *own, const dlock_memory_demand *demand)
{
	return own->used + demand->permits <= demand->capacity;
}

typedef enum { ANY_WAITER, READERS, READERS_OF_THE_PHASE, WRITERS } group;

static const dlock_memory_waiter *first_present(const pool *own)
{
	const dlock_memory_waiter *it = own->waiters;

	while (it && it->away) {
		it = it->next;
	}
	return it;
}

/* Does it wait for several locks without being first in each of their queues? */
static bool is_asleep(const dlock_memory_waiter *waiter)
{
	bool is_first = true;

	for (int i = 0; waiter->count > 1 && is_first && i < waiter->count; i++) {
		is_first = first_present(waiter->all[i].pool) == &waiter->all[i];
	}
	return !is_first;
}

/* `asking` itself is not passed, even if it sleeps. */
static bool is_in(
	const pool *own, const dlock_memory_waiter *waiter, group group, const dlock_memory_waiter *asking)
{
	if (waiter->away || (waiter != asking && is_asleep(waiter))) {
		return false;
	}
	switch (group) {
	case WRITERS:
		return waiter->demand.in_phases;
	case READERS:
		return !waiter->demand.in_phases;
	case READERS_OF_THE_PHASE:
		return !waiter->demand.in_phases && waiter->ticket <= own->phase;
	default:
		return true;
	}
}

static const dlock_memory_waiter *first_in(
	const pool *own, const dlock_memory_waiter *from, group group, const dlock_memory_waiter *asking)
{
	while (from && !is_in(own, from, group, asking)) {
		from = from->next;
	}
	return from;
}

/* The group that has the turn. */
static group group_of(const pool *own)
{
	return !first_in(own, own->waiters, WRITERS, NULL)            ? ANY_WAITER
		: first_in(own, own->waiters, READERS_OF_THE_PHASE, NULL) ? READERS_OF_THE_PHASE
																  : WRITERS;
}

/* Returns the first waiter whose permits are free. A waiter with a higher capacity passes waiters that a lower one
 * blocks. NULL: none; then `*blocked` is the highest capacity of the group, and only a higher one passes. */
static const dlock_memory_waiter *first_waiter(
	const pool *own, int64_t *blocked, const dlock_memory_waiter *asking)
{
	group group = group_of(own);

	*blocked = 0;
	for (const dlock_memory_waiter *it = first_in(own, own->waiters, group, asking); it;
		 it = first_in(own, it->next, group, asking)) {
		if (it->demand.capacity > *blocked && fits(own, &it->demand)) {
			return it;
		}
		*blocked = it->demand.capacity > *blocked ? it->demand.capacity : *blocked;
	}
	return NULL;
}

/* If no waiter is next, wakes the waiters for several locks: all their locks may be free. */
static const dlock_memory_waiter *wake_first(const pool *own)
{
	int64_t blocked;
	const dlock_memory_waiter *first = first_waiter(own, &blocked, NULL);

	if (first) {
		dlock_wakeup_send(&first->wakeup);
	}
	for (const dlock_memory_waiter *it = first ? NULL : own->waiters; it; it = it->next) {
		if (it->count > 1) {
			dlock_wakeup_send(&it->wakeup);
		}
	}
	return first;
}

static bool has_turn(const pool *own, const dlock_memory_demand *demand, const dlock_memory_waiter *waiter)
{
	int64_t blocked;
	const dlock_memory_waiter *first = first_waiter(own, &blocked, waiter);

	return waiter ? first == waiter : !first && demand->capacity > blocked && fits(own, demand);
}

static holder *new_holder(pool *own, const char *token, int64_t permits, dlock_nanos deadline)
{
	holder *it = malloc(sizeof *it);

	if (it) {
		*it = (holder){ .next = own->holders, .deadline = deadline, .permits = permits };
		strcpy(it->token, token);
		own->holders = it;
		own->used += permits;
	}
	return it;
}

/* Does the caller have its turn in all pools? Otherwise sets `*next_try`. */
static bool has_turns(pool *const *pools, int count, const dlock_memory_demand *demand,
	const dlock_memory_waiter *waiter, dlock_nanos *next_try)
{
	bool good = true;

	*next_try = count == 1 ? first_end(pools[0]) : 0;
	for (int i = 0; i < count; i++) {
		dlock_nanos end = count > 1 && pools[i]->holders ? first_end(pools[i]) : 0;
		*next_try = end > *next_try ? end : *next_try;
		good = good && has_turn(pools[i], demand, waiter ? &waiter[i] : NULL);
	}
	*next_try = *next_try > 0 ? *next_try : DLOCK_FOREVER;
	return good;
}

/* False: out of memory. */
static bool add_holders(pool *const *pools, int count, const char *token, int64_t permits, dlock_nanos deadline)
{
	for (int i = 0; i < count; i++) {
		if (!new_holder(pools[i], token, permits, deadline)) {
			while (i-- > 0) {
				drop(pools[i], &pools[i]->holders);
			}
			return false;
		}
	}
	return true;
}

dlock_memory_result dlock_memory_take(dlock_memory_names names, const char *token, dlock_nanos ttl,
	const dlock_memory_demand *demand, const dlock_memory_waiter *waiter, int64_t *fencing_token, dlock_nanos *deadline,
	dlock_nanos *next_try)
{
	dlock_memory_result result = DLOCK_MEMORY_NO_MEMORY;
	dlock_memory_room *room = dlock_memory_enter();
	pool *pools[DLOCK_SEVERAL_MAX];
	bool good = find_or_make(room, names, pools);

	*deadline = dlock_after(dlock_now(), ttl);
	if (good && !has_turns(pools, names.count, demand, waiter, next_try)) {
		result = DLOCK_MEMORY_REFUSED;
	} else if (good && add_holders(pools, names.count, token, demand->permits, *deadline)) {
		*fencing_token = dlock_memory_next_token(room);
		result = DLOCK_MEMORY_TAKEN;
	}
	dlock_memory_leave_room();
	return result;
}

/* Appends the waiter, or puts it first if it upgrades. */
static void append(pool *own, dlock_memory_waiter *waiter, const dlock_memory_waiter *all, int count)
{
	dlock_memory_waiter **end = &own->waiters;

	while (*end && !waiter->demand.upgrades) {
		end = &(*end)->next;
	}
	waiter->next = *end;
	waiter->away = false;
	waiter->ticket = ++own->tickets;
	waiter->all = all;
	waiter->count = count;
	waiter->pool = own;
	*end = waiter;
}

dlock_memory_result dlock_memory_queue(dlock_memory_names names, dlock_memory_waiter *waiter)
{
	pool *pools[DLOCK_SEVERAL_MAX];
	bool good = find_or_make(dlock_memory_enter(), names, pools);
	bool second = good && waiter->demand.upgrades && pools[0]->waiters && pools[0]->waiters->demand.upgrades;

	for (int i = 0; good && !second && i < names.count; i++) {
		append(pools[i], &waiter[i], waiter, names.count);
	}
	dlock_memory_leave_room();
	return second ? DLOCK_MEMORY_REFUSED : good ? DLOCK_MEMORY_TAKEN : DLOCK_MEMORY_NO_MEMORY;
}

/* The event that woke this waiter may be meant for the next one, and sleeping waiters may now be first. */
static void wake_all_first(pool *const *pools, int count)
{
	for (int i = 0; i < count; i++) {
		if (pools[i]) {
			wake_first(pools[i]);
		}
	}
}

void dlock_memory_step_aside(dlock_memory_names names, dlock_memory_waiter *waiter, bool away)
{
	pool *pools[DLOCK_SEVERAL_MAX];

	find_all(dlock_memory_enter(), names, pools);
	for (int i = 0; i < names.count; i++) {
		waiter[i].away = away;
	}
	wake_all_first(pools, names.count);
	dlock_memory_leave_room();
}

static bool take_out(pool *own, const dlock_memory_waiter *waiter)
{
	dlock_memory_waiter **at = own ? &own->waiters : NULL;

	while (at && *at && *at != waiter) {
		at = &(*at)->next;
	}
	if (!at || !*at) {
		return false;
	}
	*at = waiter->next;
	return true;
}

void dlock_memory_leave(dlock_memory_names names, dlock_memory_waiter *waiter)
{
	pool *pools[DLOCK_SEVERAL_MAX];

	find_all(dlock_memory_enter(), names, pools);
	for (int i = 0; i < names.count; i++) {
		pools[i] = take_out(pools[i], &waiter[i]) ? pools[i] : NULL;
	}
	wake_all_first(pools, names.count); /* the next waiter may have its turn, or find permits left */
	dlock_memory_leave_room();
}

/* ---- held permits ---- */

/* Does the token hold all of them? One lost lock loses them all. */
static bool holds_all(pool *const *pools, int count, const char *token)
{
	bool held = true;

	for (int i = 0; i < count && held; i++) {
		held = held_by(pools[i], token) != NULL;
	}
	return held;
}

static void extend_one(pool *own, holder *held, dlock_nanos end, bool may_shorten, dlock_nanos *deadline)
{
	held->deadline = may_shorten || end > held->deadline ? end : held->deadline;
	*deadline = held->deadline < *deadline ? held->deadline : *deadline;
	for (const dlock_memory_waiter *it = own->waiters; it; it = it->next) { /* they sleep until a lease expires */
		dlock_wakeup_send(&it->wakeup);
	}
}

bool dlock_memory_extend(
	dlock_memory_names names, const char *token, dlock_nanos ttl, bool may_shorten, dlock_nanos *deadline)
{
	pool *pools[DLOCK_SEVERAL_MAX];

	find_all(dlock_memory_enter(), names, pools);
	bool held = holds_all(pools, names.count, token);
	dlock_nanos end = dlock_after(dlock_now(), ttl);
	*deadline = DLOCK_FOREVER;
	for (int i = 0; held && i < names.count; i++) {
		extend_one(pools[i], *held_by(pools[i], token), end, may_shorten, deadline);
	}
	dlock_memory_leave_room();
	return held;
}

bool dlock_memory_find(dlock_memory_names names, const char *token, dlock_nanos *deadline)
{
	pool *pools[DLOCK_SEVERAL_MAX];

	find_all(dlock_memory_enter(), names, pools);
	bool held = holds_all(pools, names.count, token);
	if (held) {
		*deadline = (*held_by(pools[0], token))->deadline;
	}
	dlock_memory_leave_room();
	return held;
}

bool dlock_memory_exchange(dlock_memory_names names, const char *token, const char *other, int64_t *fencing_token,
	int64_t *permits, dlock_nanos *deadline)
{
	dlock_memory_room *room = dlock_memory_enter();
	pool *pools[DLOCK_SEVERAL_MAX];
	bool held = find_all(room, names, pools) && holds_all(pools, names.count, token);

	for (int i = 0; held && i < names.count; i++) {
		holder *it = *held_by(pools[i], token);
		strcpy(it->token, other);
		*permits = it->permits;
		*deadline = it->deadline;
	}
	if (held) {
		*fencing_token = dlock_memory_next_token(room);
	}
	dlock_memory_leave_room();
	return held;
}

bool dlock_memory_release(dlock_memory_names names, const char *token, bool *handed_over)
{
	pool *pools[DLOCK_SEVERAL_MAX];

	*handed_over = false;
	find_all(dlock_memory_enter(), names, pools);
	bool held = holds_all(pools, names.count, token);
	for (int i = 0; i < names.count; i++) {
		holder **at = held_by(pools[i], token);
		if (at) {
			drop(pools[i], at);
		}
	}
	for (int i = 0; i < names.count; i++) {
		*handed_over |= pools[i] && wake_first(pools[i]) != NULL;
	}
	dlock_memory_leave_room();
	return held;
}

static dlock_nanos extend_to(holder *held, dlock_nanos ttl)
{
	dlock_nanos end = dlock_after(dlock_now(), ttl);

	held->deadline = end > held->deadline ? end : held->deadline;
	return held->deadline;
}

dlock_memory_result dlock_memory_upgrade(dlock_memory_name name, const char *token, const char *rest, dlock_nanos ttl,
	bool *held, int64_t *fencing_token, dlock_nanos *deadline)
{
	dlock_memory_room *room = dlock_memory_enter();
	pool *own = find(room, name);
	holder **others = rest ? held_by(own, rest) : NULL;
	int64_t blocked;

	if (others) {
		drop(own, others);
	}
	holder **at = held_by(own, token);
	*held = at != NULL;
	/* A waiter that a downgrade has admitted is a reader, even before it wakes. */
	bool good = at && own->used == (*at)->permits && (others || !first_waiter(own, &blocked, NULL));
	if (good) {
		own->used = (*at)->permits = DLOCK_PERMITS_ALL;
		*deadline = extend_to(*at, ttl);
		*fencing_token = dlock_memory_next_token(room);
	} else if (others) {
		wake_first(own);
	}
	dlock_memory_leave_room();
	return good ? DLOCK_MEMORY_TAKEN : DLOCK_MEMORY_REFUSED;
}

bool dlock_memory_downgrade(dlock_memory_name name, const char *token, dlock_nanos ttl, dlock_nanos *deadline)
{
	pool *own = find(dlock_memory_enter(), name);
	holder **at = held_by(own, token);
	bool held = at != NULL;

	if (held && (*at)->permits >= DLOCK_PERMITS_ALL) {
		own->used -= (*at)->permits - 1;
		(*at)->permits = 1;
		own->phase = own->tickets;
	}
	if (held) {
		*deadline = extend_to(*at, ttl);
		/* Some waiters now read beside it; the rest sleep until its lease expires. */
		for (const dlock_memory_waiter *it = own->waiters; it; it = it->next) {
			dlock_wakeup_send(&it->wakeup);
		}
	}
	dlock_memory_leave_room();
	return held;
}

int64_t dlock_memory_used(dlock_memory_name name)
{
	pool *own = find(dlock_memory_enter(), name);
	int64_t used = own ? own->used : 0;

	dlock_memory_leave_room();
	return used;
}

/* ---- inspections ---- */

static bool add(dlock_inspection *out, bool holds, const char *token, int64_t permits, dlock_nanos remaining)
{
	char id[DLOCK_TOKEN_ID_LEN + 1];
	dlock_party *party = dlock_inspection_add(out, holds, id, dlock_token_id(token, id) ? strlen(id) : 0);

	if (party) {
		party->permits = permits;
		party->remaining = remaining;
	}
	return party != NULL;
}

static bool look(const pool *own, int most, dlock_inspection *out)
{
	bool good = true;

	out->at = dlock_time_of_day();
	for (const holder *it = own ? own->holders : NULL; good && it; it = it->next) {
		out->holding++;
		good = add(out, true, it->token, it->permits, it->deadline - dlock_now());
	}
	for (const dlock_memory_waiter *it = own ? own->waiters : NULL; good && it; it = it->next) {
		good = out->waiting++ >= most || add(out, false, it->token, it->demand.permits, -1);
	}
	return good;
}

bool dlock_memory_inspect(dlock_memory_name name, int most, dlock_inspection *out)
{
	bool good = look(find(dlock_memory_enter(), name), most, out);

	dlock_memory_leave_room();
	return good;
}

bool dlock_memory_list(dlock_memory_name begins, dlock_listing *out)
{
	const dlock_memory_map *pools = &dlock_memory_enter()->pools;
	bool good = true;

	for (pool *own = dlock_memory_next(pools, NULL); good && own; own = dlock_memory_next(pools, &own->entry)) {
		const dlock_memory_entry *entry = &own->entry;
		if (entry->len > begins.len && memcmp(entry->name, begins.text, begins.len) == 0) {
			settle(own);
			dlock_listed *one = dlock_listing_add(out, entry->name + begins.len, entry->len - begins.len);
			good = one && look(own, 1, &one->inspection);
		}
	}
	dlock_memory_leave_room();
	return good;
}

/* The token of a broken lock; no claim has it. */
#define BROKEN "broken"

bool dlock_memory_break(dlock_memory_name name, const dlock_break *how, dlock_nanos *left)
{
	pool *own = find(dlock_memory_enter(), name);
	char id[DLOCK_TOKEN_ID_LEN + 1] = "";
	holder **at = own ? &own->holders : NULL;

	while (at && *at && !(dlock_token_id((*at)->token, id) && !strcmp(id, how->id))) {
		at = &(*at)->next;
	}
	bool is_holder = at && *at;
	if (is_holder && how->now) {
		*left = 0;
		drop(own, at);
		wake_first(own);
	} else if (is_holder) {
		*left = (*at)->deadline - dlock_now();
		strcpy((*at)->token, BROKEN);
	}
	dlock_memory_leave_room();
	return is_holder;
}

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
	holder *holders; /* what has ended is gone: settle() */
	int64_t used;
	dlock_memory_waiter *waiters; /* in the order of arrival */
	uint64_t tickets;             /* the last one */
	uint64_t phase;               /* readers that came no later are before writers */
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

/* As it is now. */
static pool *find(const dlock_memory_room *room, dlock_memory_name name)
{
	pool *own = dlock_memory_entry_of(&room->pools, name.text, name.len);

	if (own) {
		settle(own);
	}
	return own;
}

/* Frees what nobody holds or waits for, where there is one for each bucket: so that there are calls enough to pay for
 * it. */
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

static pool *find_or_make(dlock_memory_room *room, dlock_memory_name name)
{
	pool *own = find(room, name);

	if (!own) {
		sweep(&room->pools);
		own = dlock_memory_add(&room->pools, name.text, name.len, sizeof *own);
	}
	return own;
}

/* The place of a holder; NULL: the token has none. */
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
		first = it->deadline < first ? it->deadline : first;
	}
	return first;
}

/* ---- turns ---- */

static bool fits(const pool *own, const dlock_memory_demand *demand)
{
	return own->used + demand->permits <= demand->capacity;
}

typedef enum { ANYBODY, READERS, READERS_OF_THE_PHASE, WRITERS } group;

static bool is_in(const pool *own, const dlock_memory_waiter *waiter, group group)
{
	if (waiter->away) {
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

static const dlock_memory_waiter *first_in(const pool *own, const dlock_memory_waiter *from, group group)
{
	while (from && !is_in(own, from, group)) {
		from = from->next;
	}
	return from;
}

/* Whose turn it is. */
static group group_of(const pool *own)
{
	return !first_in(own, own->waiters, WRITERS)                  ? ANYBODY
		: first_in(own, own->waiters, READERS_OF_THE_PHASE) ? READERS_OF_THE_PHASE
															: WRITERS;
}

/* The first who is given what it wants. One that asks with a higher capacity passes those that wait for less to be in
 * use. NULL: nobody; `*blocked` is the highest capacity of those that are passed by nobody of theirs then. */
static const dlock_memory_waiter *first_waiter(const pool *own, int64_t *blocked)
{
	group group = group_of(own);

	*blocked = 0;
	for (const dlock_memory_waiter *it = first_in(own, own->waiters, group); it; it = first_in(own, it->next, group)) {
		if (it->demand.capacity > *blocked && fits(own, &it->demand)) {
			return it;
		}
		*blocked = it->demand.capacity > *blocked ? it->demand.capacity : *blocked;
	}
	return NULL;
}

static const dlock_memory_waiter *wake_first(const pool *own)
{
	int64_t blocked;
	const dlock_memory_waiter *first = first_waiter(own, &blocked);

	if (first) {
		dlock_wakeup_send(&first->wakeup);
	}
	return first;
}

static bool has_turn(const pool *own, const dlock_memory_demand *demand, const dlock_memory_waiter *waiter)
{
	int64_t blocked;
	const dlock_memory_waiter *first = first_waiter(own, &blocked);

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

dlock_memory_result dlock_memory_take(dlock_memory_name name, const char *token, dlock_nanos ttl,
	const dlock_memory_demand *demand, const dlock_memory_waiter *waiter, int64_t *fencing_token, dlock_nanos *deadline,
	dlock_nanos *next_try)
{
	dlock_memory_result result = DLOCK_MEMORY_NO_MEMORY;
	dlock_memory_room *room = dlock_memory_enter();
	pool *own = find_or_make(room, name);

	if (own && !has_turn(own, demand, waiter)) {
		*next_try = first_end(own);
		result = DLOCK_MEMORY_REFUSED;
	} else if (own && new_holder(own, token, demand->permits, dlock_after(dlock_now(), ttl))) {
		*deadline = own->holders->deadline;
		*fencing_token = dlock_memory_next_token(room);
		result = DLOCK_MEMORY_TAKEN;
	}
	dlock_memory_leave_room();
	return result;
}

bool dlock_memory_queue(dlock_memory_name name, dlock_memory_waiter *waiter)
{
	pool *own = find_or_make(dlock_memory_enter(), name);

	if (own) {
		dlock_memory_waiter **end = &own->waiters;
		while (*end) {
			end = &(*end)->next;
		}
		waiter->next = NULL;
		waiter->away = false;
		waiter->ticket = ++own->tickets;
		*end = waiter;
	}
	dlock_memory_leave_room();
	return own != NULL;
}

void dlock_memory_step_aside(dlock_memory_name name, dlock_memory_waiter *waiter, bool away)
{
	pool *own = find(dlock_memory_enter(), name);

	waiter->away = away;
	if (own) {
		wake_first(own); /* what has woken this one may be for the next */
	}
	dlock_memory_leave_room();
}

void dlock_memory_leave(dlock_memory_name name, dlock_memory_waiter *waiter)
{
	pool *own = find(dlock_memory_enter(), name);
	dlock_memory_waiter **at = own ? &own->waiters : NULL;

	while (at && *at && *at != waiter) {
		at = &(*at)->next;
	}
	if (at && *at) {
		*at = waiter->next;
		wake_first(own); /* it may be its turn, or there is something left for it */
	}
	dlock_memory_leave_room();
}

/* ---- what is held ---- */

bool dlock_memory_extend(
	dlock_memory_name name, const char *token, dlock_nanos ttl, bool may_shorten, dlock_nanos *deadline)
{
	pool *own = find(dlock_memory_enter(), name);
	holder **at = held_by(own, token);

	if (at) {
		dlock_nanos end = dlock_after(dlock_now(), ttl);
		(*at)->deadline = may_shorten || end > (*at)->deadline ? end : (*at)->deadline;
		*deadline = (*at)->deadline;
		for (const dlock_memory_waiter *it = own->waiters; it; it = it->next) { /* that look when it ends */
			dlock_wakeup_send(&it->wakeup);
		}
	}
	dlock_memory_leave_room();
	return at != NULL;
}

bool dlock_memory_find(dlock_memory_name name, const char *token, dlock_nanos *deadline)
{
	holder **at = held_by(find(dlock_memory_enter(), name), token);

	if (at) {
		*deadline = (*at)->deadline;
	}
	dlock_memory_leave_room();
	return at != NULL;
}

bool dlock_memory_exchange(dlock_memory_name name, const char *token, const char *other, int64_t *fencing_token,
	int64_t *permits, dlock_nanos *deadline)
{
	dlock_memory_room *room = dlock_memory_enter();
	holder **at = held_by(find(room, name), token);

	if (at) {
		strcpy((*at)->token, other);
		*fencing_token = dlock_memory_next_token(room);
		*permits = (*at)->permits;
		*deadline = (*at)->deadline;
	}
	dlock_memory_leave_room();
	return at != NULL;
}

bool dlock_memory_release(dlock_memory_name name, const char *token, bool *handed_over)
{
	pool *own = find(dlock_memory_enter(), name);
	holder **at = held_by(own, token);

	if (at) {
		drop(own, at);
		*handed_over = wake_first(own) != NULL;
	}
	dlock_memory_leave_room();
	return at != NULL;
}

int64_t dlock_memory_used(dlock_memory_name name)
{
	pool *own = find(dlock_memory_enter(), name);
	int64_t used = own ? own->used : 0;

	dlock_memory_leave_room();
	return used;
}

/* ---- for those who look ---- */

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

bool dlock_memory_inspect(dlock_memory_name name, int most, dlock_inspection *out)
{
	const pool *own = find(dlock_memory_enter(), name);
	bool good = true;

	out->at = dlock_time_of_day();
	for (const holder *it = own ? own->holders : NULL; good && it; it = it->next) {
		out->holding++;
		good = add(out, true, it->token, it->permits, it->deadline - dlock_now());
	}
	for (const dlock_memory_waiter *it = own ? own->waiters : NULL; good && it; it = it->next) {
		good = out->waiting++ >= most || add(out, false, it->token, it->demand.permits, -1);
	}
	dlock_memory_leave_room();
	return good;
}

/* What no claim has for its token. */
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

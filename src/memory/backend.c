#include "backend.h"

#include <stdlib.h>
#include <string.h>

#include "../lock/claim.h"
#include "../lock/renewer.h"
#include "table.h"

typedef struct {
	dlock_backend base;
	bool fifo; /* writers wait in the order of arrival */
} memory_backend; /* the prefix of `base` is the table, a zero byte and the prefix of the locks */

typedef struct {
	dlock_claim base;
	dlock_memory_name *keys; /* the names of its pools; NULL: not made */
	dlock_memory_waiter *waiters; /* one for each pool */
	bool queued;
} memory_claim;

static memory_backend *backend_of(const dlock_claim *claim)
{
	return (memory_backend *) claim->backend;
}

static dlock_memory_names names_of(const dlock_claim *base)
{
	return (dlock_memory_names) { ((const memory_claim *) base)->keys, base->count };
}

static dlock_memory_demand demand_of(const dlock_claim *claim)
{
	bool upgrades = claim->permits == DLOCK_PERMITS_ALL - 1 && claim->backend->capacity == DLOCK_PERMITS_ALL;

	return (dlock_memory_demand) { .permits = claim->permits,
		.capacity = claim->backend->capacity,
		.upgrades = upgrades,
		.in_phases = (upgrades || claim->permits >= DLOCK_PERMITS_ALL) && !backend_of(claim)->fifo };
}

static dlock_status have_keys(memory_claim *claim, dlock_error *error)
{
	const dlock_claim *base = &claim->base;
	const dlock_backend *backend = base->backend;
	size_t count = (size_t) base->count, bytes = count * backend->prefix.len;

	for (int i = 0; i < base->count; i++) {
		bytes += base->names[i].len;
	}
	if (!claim->keys) {
		claim->waiters = calloc(1, count * (sizeof *claim->waiters + sizeof *claim->keys) + bytes);
	}
	if (!claim->waiters) {
		return dlock_out_of_memory(error);
	}
	claim->keys = (dlock_memory_name *) (claim->waiters + count);
	char *room = (char *) (claim->keys + count);
	for (int i = 0; i < base->count; i++) {
		claim->keys[i] = (dlock_memory_name) { room, backend->prefix.len + base->names[i].len };
		memcpy(room, backend->prefix.text, backend->prefix.len);
		memcpy(room + backend->prefix.len, base->names[i].text, base->names[i].len);
		room += claim->keys[i].len;
	}
	return DLOCK_OK;
}

/* ---- acquire ---- */

static void leave(memory_claim *claim)
{
	if (claim->queued) {
		dlock_memory_leave(names_of(&claim->base), claim->waiters);
		dlock_wakeup_close(&claim->waiters->wakeup);
		dlock_watch_end(&claim->waiters->watch);
		claim->queued = false;
	}
}

static dlock_status queue(memory_claim *claim, dlock_error *error)
{
	if (claim->queued) {
		return DLOCK_OK;
	}
	dlock_wakeup wakeup;
	if (!dlock_wakeup_open(&wakeup)) {
		return dlock_fail(error, DLOCK_FAILED, "No descriptor is left to wait with");
	}
	for (int i = 0; i < claim->base.count; i++) {
		claim->waiters[i].wakeup = wakeup;
		claim->waiters[i].demand = demand_of(&claim->base);
		claim->waiters[i].token = claim->base.token;
	}
	dlock_memory_result result = dlock_memory_queue(names_of(&claim->base), claim->waiters);
	if (result != DLOCK_MEMORY_TAKEN) {
		dlock_wakeup_close(&wakeup);
		return result == DLOCK_MEMORY_REFUSED ? DLOCK_DEADLOCK : dlock_out_of_memory(error);
	}
	claim->queued = true;
	return DLOCK_OK;
}

/* Waits until there is a reason to try again. */
static dlock_status wait_for_turn(memory_claim *claim, dlock_nanos next_try, const dlock_wait *wait)
{
	dlock_memory_waiter *waiter = claim->waiters;
	dlock_nanos until = dlock_earlier(next_try, wait->deadline);
	int woken = dlock_wait_bell(&waiter->wakeup, until, wait, &waiter->watch);

	if (woken != DLOCK_WAIT_INTERRUPTED) {
		dlock_wakeup_clear(&waiter->wakeup);
	}
	return woken == DLOCK_WAIT_INTERRUPTED ? DLOCK_INTERRUPTED : DLOCK_OK;
}

static dlock_status acquire(dlock_claim *base, const dlock_wait *wait, dlock_error *error)
{
	memory_claim *claim = (memory_claim *) base;
	dlock_status status = have_keys(claim, error);
	dlock_memory_demand demand = demand_of(base);

	if (claim->queued) {
		dlock_memory_step_aside(names_of(base), claim->waiters, false);
	}
	while (status == DLOCK_OK) {
		dlock_nanos deadline, next_try;
		bool last = wait->deadline != DLOCK_FOREVER && dlock_now() >= wait->deadline;
		switch (dlock_memory_take(names_of(base), base->token, base->ttl, &demand,
			claim->queued ? claim->waiters : NULL, &base->fencing_token, &deadline, &next_try)) {
		case DLOCK_MEMORY_TAKEN:
			leave(claim);
			base->deadline = deadline;
			dlock_claim_move(base, DLOCK_CLAIM_HELD);
			base->received = base->waited;
			return DLOCK_OK;
		case DLOCK_MEMORY_NO_MEMORY:
			status = dlock_out_of_memory(error);
			break;
		case DLOCK_MEMORY_REFUSED:
			if (last) {
				status = DLOCK_TIMEOUT;
			} else if (!claim->queued) { /* then try again: it may have become free in between */
				base->waited = true;
				dlock_claim_move(base, DLOCK_CLAIM_WAITING);
				status = queue(claim, error);
			} else {
				status = wait_for_turn(claim, next_try, wait);
			}
		}
	}
	if (status == DLOCK_INTERRUPTED) {
		dlock_memory_step_aside(names_of(base), claim->waiters, true);
	} else {
		leave(claim);
		dlock_claim_move(base, DLOCK_CLAIM_NEW);
	}
	return status;
}

/* ---- while it is held ---- */

static dlock_status lost(const dlock_claim *claim, dlock_error *error)
{
	return dlock_fail(error, DLOCK_LOST, "The lock \"%s\" was lost: its lease time is over",
		dlock_claim_name(claim).text);
}

static dlock_status attach(dlock_claim *claim, const char *token, dlock_error *error)
{
	dlock_nanos deadline;
	dlock_status status = have_keys((memory_claim *) claim, error);

	if (status != DLOCK_OK) {
		return status;
	}
	if (!dlock_memory_exchange(
			names_of(claim), token, claim->token, &claim->fencing_token, &claim->permits, &deadline)) {
		return dlock_claim_came_late(claim, error);
	}
	claim->deadline = deadline;
	dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	return DLOCK_OK;
}

static dlock_status extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	dlock_nanos deadline;

	if (!dlock_memory_extend(names_of(claim), claim->token, ttl, true, &deadline)) {
		return lost(claim, error);
	}
	claim->ttl = ttl;
	claim->deadline = deadline;
	return DLOCK_OK;
}

static dlock_status check(dlock_claim *claim, dlock_error *error)
{
	dlock_nanos deadline;

	if (!dlock_memory_find(names_of(claim), claim->token, &deadline)) {
		return lost(claim, error);
	}
	claim->deadline = deadline;
	dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	return DLOCK_OK;
}

static dlock_status upgrade(dlock_claim *claim, const char *rest, dlock_error *error)
{
	dlock_nanos deadline;
	bool held;
	dlock_memory_result result = dlock_memory_upgrade(
		*names_of(claim).name, claim->token, rest, claim->ttl, &held, &claim->fencing_token, &deadline);

	if (result != DLOCK_MEMORY_TAKEN) {
		return held ? DLOCK_TIMEOUT : lost(claim, error);
	}
	claim->deadline = deadline;
	claim->permits = DLOCK_PERMITS_ALL;
	return DLOCK_OK;
}

static dlock_status downgrade(dlock_claim *claim, dlock_error *error)
{
	dlock_nanos deadline;

	if (!dlock_memory_downgrade(*names_of(claim).name, claim->token, claim->ttl, &deadline)) {
		return lost(claim, error);
	}
	claim->deadline = deadline;
	claim->permits = 1;
	return DLOCK_OK;
}

static dlock_status release(dlock_claim *claim, dlock_error *error)
{
	return dlock_memory_release(names_of(claim), claim->token, &claim->handed_over) ? DLOCK_OK : lost(claim, error);
}

static void abandon(dlock_claim *base)
{
	memory_claim *claim = (memory_claim *) base;
	bool handed_over;

	leave(claim);
	if (claim->keys) {
		dlock_memory_release(names_of(base), base->token, &handed_over);
	}
}

/* ---- renewal ---- */

/* A round that begin() decides, because it waits for no server. */
typedef struct {
	dlock_renewal_round base;
	dlock_round_result result;
	char token[DLOCK_TOKEN_MAX + 1];
	dlock_memory_names names;
	dlock_memory_name keys[];
} memory_round;

static void begin_round(dlock_renewal_round *base, dlock_renewer *renewer, dlock_nanos ttl, bool extends)
{
	memory_round *round = (memory_round *) base;
	dlock_nanos deadline;
	bool ours = extends ? dlock_memory_extend(round->names, round->token, ttl, false, &deadline)
						: dlock_memory_find(round->names, round->token, &deadline);

	(void) renewer;
	round->result = ours ? DLOCK_ROUND_KEPT : DLOCK_ROUND_GONE;
}

static dlock_round_result round_result(const dlock_renewal_round *round)
{
	return ((const memory_round *) round)->result;
}

static void free_round(dlock_renewal_round *round)
{
	free(round);
}

static void give_back(dlock_renewal_round *base)
{
	memory_round *round = (memory_round *) base;
	bool handed_over;

	dlock_memory_release(round->names, round->token, &handed_over);
}

static const dlock_renewal_round_ops round_ops = {
	.give_back = give_back,
	.begin = begin_round,
	.result = round_result,
	.free = free_round,
};

static struct dlock_renewal_round *new_round(const dlock_claim *base)
{
	const memory_claim *claim = (const memory_claim *) base;
	size_t size = 0;

	for (int i = 0; i < base->count; i++) {
		size += sizeof *claim->keys + claim->keys[i].len;
	}
	memory_round *round = calloc(1, sizeof *round + size);
	if (!round) {
		return NULL;
	}
	char *room = (char *) (round->keys + base->count);
	round->base.ops = &round_ops;
	strcpy(round->token, base->token);
	round->names = (dlock_memory_names) { round->keys, base->count };
	for (int i = 0; i < base->count; i++) {
		round->keys[i] = (dlock_memory_name) { memcpy(room, claim->keys[i].text, claim->keys[i].len),
			claim->keys[i].len };
		room += claim->keys[i].len;
	}
	return &round->base;
}

/* ---- the rest ---- */

static dlock_status count(
	dlock_backend *backend, const char *resource, size_t len, int64_t *used, dlock_error *error)
{
	char *key = dlock_backend_name(backend, resource, len);

	if (!key) {
		return dlock_out_of_memory(error);
	}
	*used = dlock_memory_used((dlock_memory_name) { key, backend->prefix.len + len });
	free(key);
	return DLOCK_OK;
}

static dlock_status locked(dlock_backend *backend, const char *resource, size_t len, bool *locked, dlock_error *error)
{
	int64_t used = 0;
	dlock_status status = count(backend, resource, len, &used, error);

	*locked = used > 0;
	return status;
}

/* 0 if claims of a higher capacity hold more permits than this capacity. */
static dlock_status available(
	dlock_backend *backend, const char *resource, size_t len, int64_t *permits, dlock_error *error)
{
	int64_t used = 0;
	dlock_status status = count(backend, resource, len, &used, error);

	*permits = used < backend->capacity ? backend->capacity - used : 0;
	return status;
}

static dlock_status inspect(dlock_backend *backend, const char *resource, size_t len, int most, dlock_inspection *out,
	dlock_error *error)
{
	char *key = dlock_backend_name(backend, resource, len);
	bool good = key && dlock_memory_inspect((dlock_memory_name) { key, backend->prefix.len + len }, most, out);

	free(key);
	return good ? DLOCK_OK : dlock_out_of_memory(error);
}

static dlock_status list(dlock_backend *backend, int most, dlock_listing *out, dlock_error *error)
{
	if (!dlock_memory_list((dlock_memory_name) { backend->prefix.text, backend->prefix.len }, out)) {
		return dlock_out_of_memory(error);
	}
	dlock_listing_sort(out, most);
	return DLOCK_OK;
}

static dlock_status break_claim(dlock_backend *backend, const char *resource, size_t len, const dlock_break *how,
	dlock_nanos *left, dlock_error *error)
{
	char *key = dlock_backend_name(backend, resource, len);

	if (!key) {
		return dlock_out_of_memory(error);
	}
	bool done = dlock_memory_break((dlock_memory_name) { key, backend->prefix.len + len }, how, left);
	free(key);
	return done ? DLOCK_OK : DLOCK_LOST;
}

/* A wait that began in a parent process is in no queue of this process. */
static void dispose(dlock_claim *base)
{
	memory_claim *claim = (memory_claim *) base;

	leave(claim);
	free(claim->waiters);
}

static const dlock_backend_ops ops = {
	.name = "memory",
	.claim_size = sizeof(memory_claim),
	.detachable = true,
	.acquire = acquire,
	.attach = attach,
	.extend = extend,
	.check = check,
	.upgrade = upgrade,
	.downgrade = downgrade,
	.release = release,
	.abandon = abandon,
	.new_round = new_round,
	.locked = locked,
	.inspect = inspect,
	.list = list,
	.break_claim = break_claim,
	.available = available,
	.dispose = dispose,
};

dlock_backend *dlock_memory_new(
	const char *table, const char *prefix, size_t prefix_len, int64_t capacity, bool fifo)
{
	size_t table_len = strlen(table) + 1;
	char *begins = malloc(table_len + prefix_len);
	memory_backend *backend = NULL;

	if (begins) {
		memcpy(begins, table, table_len);
		memcpy(begins + table_len, prefix, prefix_len);
		backend = dlock_backend_new(&ops, sizeof *backend, begins, table_len + prefix_len);
		free(begins);
	}
	if (!backend) {
		return NULL;
	}
	backend->base.capacity = capacity;
	backend->fifo = fifo;
	return &backend->base;
}

#include "claim.h"

#include <stdlib.h>
#include <string.h>

#include "../base/debug.h"

int dlock_name_compare(const void *a, const void *b)
{
	const dlock_name *one = a, *other = b;
	int order = memcmp(one->text, other->text, one->len < other->len ? one->len : other->len);

	return order != 0 ? order : (one->len > other->len) - (one->len < other->len);
}

/* Joins the names of several resources. */
#define COMMA ", "

/* Copies the names, and joins them to one text for messages. */
static void set_names(dlock_claim *claim, dlock_name *room, const dlock_name *names, int count)
{
	char *out = (char *) (room + count);

	claim->names = room;
	claim->count = count;
	claim->resource = out;
	for (int i = 0; i < count; i++) {
		memcpy(out, COMMA, i > 0 ? strlen(COMMA) : 0);
		out += i > 0 ? strlen(COMMA) : 0;
		room[i] = (dlock_name) { memcpy(out, names[i].text, names[i].len), names[i].len };
		out += names[i].len;
	}
	claim->resource_len = (size_t) (out - claim->resource);
}

dlock_claim *dlock_claim_new_of(dlock_backend *backend, const dlock_name *names, int count, dlock_nanos ttl,
	const char *token, dlock_error *error)
{
	size_t size = (backend->ops->claim_size + sizeof(dlock_name) - 1) / sizeof(dlock_name) * sizeof(dlock_name);
	size_t len = 0;

	for (int i = 0; i < count; i++) {
		len += names[i].len + strlen(COMMA);
	}
	dlock_claim *claim = calloc(1, size + (size_t) count * sizeof *names + len + 1);
	if (!claim) {
		dlock_out_of_memory(error);
		return NULL;
	}
	claim->backend = backend;
	if (token) {
		memcpy(claim->token, token, strlen(token));
	} else if (dlock_claim_renew_token(claim, error) != DLOCK_OK) {
		free(claim);
		return NULL;
	}
	claim->process = dlock_process_current();
	claim->ttl = ttl;
	claim->permits = 1;
	set_names(claim, (dlock_name *) ((char *) claim + size), names, count);
	backend->references++;
	return claim;
}

dlock_claim *dlock_claim_new(dlock_backend *backend, const char *resource, size_t resource_len, dlock_nanos ttl,
	const char *token, dlock_error *error)
{
	return dlock_claim_new_of(backend, &(dlock_name) { resource, resource_len }, 1, ttl, token, error);
}

dlock_status dlock_claim_renew_token(dlock_claim *claim, dlock_error *error)
{
	size_t len = claim->backend->legacy ? sizeof DLOCK_TOKEN_LEGACY - 1 : 0;

	memcpy(claim->token, DLOCK_TOKEN_LEGACY, len);
	return dlock_token(claim->token + len) ? DLOCK_OK
		: dlock_fail(error, DLOCK_FAILED, "The system gave no random bytes for a token");
}

dlock_shown dlock_claim_name(const dlock_claim *claim)
{
	return dlock_show(claim->resource, claim->resource_len);
}

bool dlock_claim_is_mine(const dlock_claim *claim)
{
	return claim->process == dlock_process_current();
}

bool dlock_claim_is_for(const dlock_claim *claim, dlock_backend *backend, const char *resource, size_t resource_len)
{
	bool is_for = false;

	for (int i = 0; !is_for && i < claim->count && claim->backend->ops == backend->ops; i++) {
		is_for = dlock_backend_is_same_lock(
			claim->backend, claim->names[i], backend, (dlock_name) { resource, resource_len });
	}
	return is_for;
}

/* ---- state ---- */

/* A move leads from a row to each column that is true. An acquisition may return to NEW from WAITING. A claim that was
 * held never becomes NEW again. LOST and RELEASED are final. */
static const bool moves[][DLOCK_CLAIM_RELEASED + 1] = {
	/*                             NEW    WAITING HELD  UNCERTAIN LOST  RELEASED */
	[DLOCK_CLAIM_NEW]       = { true,  true,  true,  false, false, true },
	[DLOCK_CLAIM_WAITING]   = { true,  true,  true,  false, false, true },
	[DLOCK_CLAIM_HELD]      = { false, false, true,  true,  true,  true },
	[DLOCK_CLAIM_UNCERTAIN] = { false, false, true,  true,  true,  true },
	[DLOCK_CLAIM_LOST]      = { false, false, false, false, true,  false },
	[DLOCK_CLAIM_RELEASED]  = { false, false, false, false, false, true },
};

bool dlock_claim_may_move(dlock_claim_state from, dlock_claim_state to)
{
	return moves[from][to];
}

void dlock_claim_move(dlock_claim *claim, dlock_claim_state to)
{
	dlock_assert(dlock_claim_may_move(claim->state, to));
	claim->state = to;
}

bool dlock_claim_is_held(const dlock_claim *claim)
{
	return claim->state == DLOCK_CLAIM_HELD || claim->state == DLOCK_CLAIM_UNCERTAIN;
}

dlock_claim_state dlock_claim_refresh(dlock_claim *claim, dlock_nanos *remaining)
{
	*remaining = 0;
	if (!dlock_claim_is_held(claim)) {
		return claim->state;
	}
	if (!dlock_claim_is_mine(claim)) {
		return DLOCK_CLAIM_LOST;
	}
	if (claim->backend->ops->refresh) {
		claim->backend->ops->refresh(claim);
		if (!dlock_claim_is_held(claim)) {
			return claim->state;
		}
	}
	/* The state stays HELD after expiry: a release must still try to delete a key that may be left on the server. */
	dlock_nanos deadline = dlock_claim_expire_if_due(claim) ? DLOCK_OVER : atomic_load(&claim->deadline),
				now = dlock_now();
	if (deadline <= now) {
		return DLOCK_CLAIM_LOST;
	}
	*remaining = deadline - now;
	return atomic_load(&claim->uncertain) ? DLOCK_CLAIM_UNCERTAIN : claim->state;
}

dlock_status dlock_claim_came_late(const dlock_claim *claim, dlock_error *error)
{
	return dlock_fail(error, DLOCK_LOST,
		"The handle of the lock \"%s\" is no longer valid: it was already attached, or its lease was released "
		"or has expired",
		dlock_claim_name(claim).text);
}

/* ---- deadline ---- */

bool dlock_claim_expire_if_due(dlock_claim *claim)
{
	dlock_nanos deadline = atomic_load(&claim->deadline);

	while (deadline != DLOCK_OVER && dlock_now() >= deadline) {
		if (atomic_compare_exchange_strong(&claim->deadline, &deadline, DLOCK_OVER)) {
			return true;
		}
	}
	return deadline == DLOCK_OVER;
}

/* Compares and sets, because the claim's owner may find the lease expired after this function has read the old
 * deadline. A deadline that passed before any thread found it expired may still move: the lease continued. */
static bool set_deadline(dlock_claim *claim, dlock_nanos to, bool earlier)
{
	dlock_nanos deadline = atomic_load(&claim->deadline);

	while (deadline != DLOCK_OVER) {
		if ((to < deadline && !earlier) || atomic_compare_exchange_strong(&claim->deadline, &deadline, to)) {
			return true;
		}
	}
	return false;
}

bool dlock_claim_move_deadline(dlock_claim *claim, dlock_nanos deadline)
{
	return set_deadline(claim, deadline, true);
}

bool dlock_claim_raise_deadline(dlock_claim *claim, dlock_nanos deadline)
{
	return set_deadline(claim, deadline, false);
}

/* ---- requests without an answer ---- */

void dlock_claim_add_unacknowledged_ttl(dlock_claim *claim, dlock_nanos ttl)
{
	if (claim->unacknowledged_ttl == 0 || ttl < claim->unacknowledged_ttl) {
		claim->unacknowledged_ttl = ttl;
	}
}

dlock_nanos dlock_claim_guaranteed_ttl(const dlock_claim *claim, dlock_nanos ttl)
{
	return claim->unacknowledged_ttl > 0 && claim->unacknowledged_ttl < ttl ? claim->unacknowledged_ttl : ttl;
}

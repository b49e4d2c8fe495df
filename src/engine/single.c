#include "../redis/exchange.h"
#include "redis.h"

#include <stdlib.h>
#include <string.h>

/* One Redis server. See lua/ for what is said to it. */

typedef struct {
	dlock_engine base;
	dlock_conn *conn; /* the pool's */
	size_t prefix_len;
	char key[]; /* prefix, and behind it the resource of the moment */
} single_engine;

typedef struct {
	dlock_claim base;
	unsigned attempts;
	dlock_nanos retry_at; /* when the pause that an interruption cut short would have ended */
} single_claim;

static dlock_key key_of(single_engine *engine, const char *resource, size_t len)
{
	memcpy(engine->key + engine->prefix_len, resource, len);
	return (dlock_key) { engine->key, engine->prefix_len + len };
}

static single_engine *engine_of(const dlock_claim *claim)
{
	return (single_engine *) claim->engine;
}

static dlock_key claim_key(const dlock_claim *claim)
{
	return key_of(engine_of(claim), claim->resource, claim->resource_len);
}

static bool is_settled(void *call)
{
	return ((dlock_call *) call)->state != DLOCK_CALL_PENDING;
}

/* One round trip. The call is the caller's to release. */
static void ask(single_engine *engine, dlock_call *call)
{
	if (call && dlock_conn_send(engine->conn, call)) {
		dlock_exchange(&engine->conn, 1, DLOCK_FOREVER, is_settled, call);
	}
}

/* Releases without waiting. It goes out before anything that is said on this connection later. */
static void give_back(const dlock_claim *claim)
{
	dlock_call *call = dlock_call_give_back(claim_key(claim), claim->token);

	if (call) {
		dlock_call_use_source(call); /* nobody may be there to hear that the server does not know the script */
		dlock_call_to_background(call, dlock_after(dlock_now(), claim->ttl));
		dlock_conn_send(engine_of(claim)->conn, call);
		dlock_call_release(call);
	}
}

/* ---- acquire ---- */

/* DLOCK_TIMEOUT: it is someone else's, for *pttl ms at most. */
static dlock_status attempt(single_claim *claim, int64_t *pttl, dlock_error *error)
{
	dlock_claim *base = &claim->base;
	single_engine *engine = engine_of(base);
	dlock_call *call = dlock_call_acquire(claim_key(base), base->token, base->ttl, 0);
	dlock_status status;

	ask(engine, call);
	int acquired = dlock_call_acquired(call, engine->conn, pttl, error);
	if (acquired < 0) {
		/* The outcome is unknown: a late success must not lock everyone out until the ttl. */
		if (call && call->sent) {
			give_back(base);
		}
		status = DLOCK_CONNECTION;
	} else if (acquired == 0) {
		status = DLOCK_TIMEOUT;
	} else {
		base->deadline = call->sent_at + base->ttl - dlock_drift(base->ttl);
		base->fencing_token = *pttl;
		if (dlock_now() < base->deadline) {
			base->state = DLOCK_CLAIM_HELD;
			status = DLOCK_OK;
		} else {
			/* It took longer than the lease lasts. A token that is given back is not used again: should the release
			 * be late, on a connection given up meanwhile, it must not hit the next attempt. */
			give_back(base);
			*pttl = 0;
			status = dlock_token(base->token) ? DLOCK_TIMEOUT : dlock_fail(error, DLOCK_FAILED, "No random bytes");
		}
	}
	dlock_call_release(call);
	return status;
}

static dlock_status single_acquire(dlock_claim *base, const dlock_wait *wait, dlock_error *error)
{
	single_claim *claim = (single_claim *) base;
	int64_t pttl = 0;

	for (;;) {
		if (claim->retry_at && dlock_wait_poll(NULL, 0, claim->retry_at, wait) == DLOCK_WAIT_INTERRUPTED) {
			return DLOCK_INTERRUPTED;
		}
		bool last = dlock_now() >= wait->deadline;
		dlock_status status = attempt(claim, &pttl, error);
		if (status != DLOCK_TIMEOUT || last) {
			return status;
		}
		base->waited = true;
		claim->retry_at = dlock_after(dlock_now(), dlock_backoff(claim->attempts++, 100 * DLOCK_MS, pttl));
		if (claim->retry_at > wait->deadline) {
			claim->retry_at = wait->deadline;
		}
	}
}

/* ---- while it is held ---- */

static dlock_status single_extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	single_engine *engine = engine_of(claim);
	dlock_call *call = dlock_call_extend(claim_key(claim), claim->token, ttl);

	ask(engine, call);
	int64_t extended = dlock_call_integer(call, engine->conn, error);
	dlock_nanos deadline = extended == 1 ? call->sent_at + ttl - dlock_drift(ttl) : 0;
	/* A shorter lease that may have been set must be believed even without an answer. */
	if (extended < 0 && call && call->sent && call->sent_at + ttl - dlock_drift(ttl) < claim->deadline) {
		claim->deadline = call->sent_at + ttl - dlock_drift(ttl);
	}
	dlock_call_release(call);
	if (extended < 0) {
		return DLOCK_CONNECTION;
	}
	if (extended == 0) {
		return dlock_fail(error, DLOCK_LOST, "The lock \"%.100s\" was lost: the server has it for someone else, or for nobody",
			claim->resource);
	}
	claim->ttl = ttl;
	claim->deadline = deadline;
	claim->state = DLOCK_CLAIM_HELD;
	return DLOCK_OK;
}

static dlock_status single_check(dlock_claim *claim, dlock_error *error)
{
	single_engine *engine = engine_of(claim);
	dlock_call *call = dlock_call_check(claim_key(claim), claim->token);

	ask(engine, call);
	int64_t pttl = dlock_call_integer(call, engine->conn, error);
	if (pttl > 0) {
		dlock_nanos left = pttl * DLOCK_MS;
		claim->deadline = call->sent_at + left - dlock_drift(left);
		claim->state = DLOCK_CLAIM_HELD;
	}
	dlock_call_release(call);
	if (pttl == 0) {
		return dlock_fail(error, DLOCK_LOST, "The lock \"%.100s\" is not this lease's on the server", claim->resource);
	}
	return pttl < 0 ? DLOCK_CONNECTION : DLOCK_OK;
}

static dlock_status single_release(dlock_claim *claim, dlock_error *error)
{
	single_engine *engine = engine_of(claim);
	dlock_call *call = dlock_call_give_back(claim_key(claim), claim->token);

	ask(engine, call);
	int64_t released = dlock_call_integer(call, engine->conn, error);
	dlock_call_release(call);
	if (released < 0) {
		give_back(claim);
		return DLOCK_CONNECTION;
	}
	return released > 0 ? DLOCK_OK : dlock_fail(error, DLOCK_LOST, "The lock \"%.100s\" had been lost", claim->resource);
}

static void single_abandon(dlock_claim *claim)
{
	give_back(claim);
}

static dlock_status single_locked(dlock_engine *base, const char *resource, size_t len, bool *locked, dlock_error *error)
{
	single_engine *engine = (single_engine *) base;
	dlock_key key = key_of(engine, resource, len);
	dlock_arg args[] = { DLOCK_ARG("EXISTS"), { key.text, key.len } };
	dlock_call *call = dlock_call_command(args, 2);

	ask(engine, call);
	int64_t exists = dlock_call_integer(call, engine->conn, error);
	dlock_call_release(call);
	*locked = exists > 0;
	return exists < 0 ? DLOCK_CONNECTION : DLOCK_OK;
}

static void single_destroy(dlock_engine *base)
{
	free(base);
}

static const dlock_engine_ops single_ops = {
	.name = "single",
	.claim_size = sizeof(single_claim),
	.acquire = single_acquire,
	.extend = single_extend,
	.check = single_check,
	.release = single_release,
	.abandon = single_abandon,
	.locked = single_locked,
	.destroy = single_destroy,
};

dlock_engine *dlock_single_new(dlock_pool *pool, dlock_server *server, const char *prefix, size_t prefix_len)
{
	single_engine *engine = calloc(1, sizeof *engine + prefix_len + DLOCK_RESOURCE_MAX);

	if (!engine) {
		return NULL;
	}
	dlock_engine_init(&engine->base, &single_ops);
	engine->conn = dlock_pool_conn(pool, server);
	engine->prefix_len = prefix_len;
	memcpy(engine->key, prefix, prefix_len);
	if (!engine->conn) {
		free(engine);
		return NULL;
	}
	return &engine->base;
}

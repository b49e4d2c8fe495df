#include "backend.h"

#include <stdlib.h>
#include <string.h>

#include "lock.h"

/* Stands for any ticket that the token has. */
#define ANY_TICKET (-1)

/* How often attach() asks whether a transaction that relies on the last holder has ended. */
#define LOOK_AGAIN (50 * DLOCK_MS)

static bool have_name(dlock_db_claim *claim)
{
	const dlock_backend *backend = claim->base.backend;

	if (!claim->name) {
		claim->name = dlock_backend_name(backend, claim->base.resource, claim->base.resource_len);
		claim->name_len = backend->prefix.len + claim->base.resource_len;
	}
	return claim->name;
}

dlock_db_call *dlock_db_claim_call(const dlock_claim *base, dlock_db_function function, const char *token)
{
	const dlock_db_claim *claim = (const dlock_db_claim *) base;

	return claim->name ? dlock_db_call_new(function, claim->name, claim->name_len, token) : NULL;
}

dlock_db_call *dlock_db_resource_call(
	const dlock_db_backend *backend, dlock_db_function function, const char *resource, size_t len, const char *token)
{
	char *name = dlock_backend_name(&backend->base, resource, len);
	dlock_db_call *call = name ? dlock_db_call_new(function, name, backend->base.prefix.len + len, token) : NULL;

	free(name);
	return call;
}

/* ---- without waiting for the answer ---- */

static void call_without_waiting(dlock_claim *claim, dlock_db_call *call, dlock_nanos useful_until, bool stray)
{
	const dlock_db_backend *backend = dlock_db_backend_of(claim);

	dlock_db_call_in_background(backend->pool, backend->session, call, useful_until, stray);
}

void dlock_db_give_back(dlock_claim *base)
{
	dlock_db_claim *claim = (dlock_db_claim *) base;
	dlock_db_call *call = dlock_db_claim_call(base, DLOCK_DB_RELEASE, base->token);

	if (call) {
		call->numbers[0] = claim->ticket > 0 ? claim->ticket : claim->waiter ? ANY_TICKET : 0;
		call_without_waiting(base, call, dlock_after(dlock_now(), base->ttl), claim->stray);
	}
	claim->ticket = 0;
}

static void abandon(dlock_claim *claim)
{
	if (claim->state != DLOCK_CLAIM_NEW) {
		dlock_db_give_back(claim);
	}
	if (((dlock_db_claim *) claim)->waiter) {
		((dlock_db_claim *) claim)->ticket = 0;
	}
	dlock_db_end_waiter(claim);
}

static void top_up(dlock_claim *claim)
{
	dlock_db_call *call = dlock_db_claim_call(claim, DLOCK_DB_EXTEND, claim->token);

	if (call) {
		call->numbers[0] = dlock_db_ms(claim->ttl);
		call_without_waiting(claim, call, atomic_load(&claim->deadline), false);
	}
}

/* ---- waiting for the answer ---- */

dlock_status dlock_db_ask(
	const dlock_db_backend *backend, dlock_db_question *question, dlock_db_call *call, dlock_error *error)
{
	dlock_db_question_begin(question, backend->session, call);
	dlock_net_pool_catch_up(backend->pool);
	dlock_status status = dlock_loop_run(
		dlock_net_pool_loop(backend->pool), dlock_db_question_step, question, DLOCK_FOREVER, NULL);
	if (status != DLOCK_OK) {
		dlock_db_question_explain(question, error);
	}
	return status;
}

static void set_deadline(dlock_claim *claim, dlock_nanos sent_at, dlock_nanos ttl)
{
	dlock_nanos guaranteed = dlock_claim_guaranteed_ttl(claim, ttl);

	claim->deadline = sent_at + guaranteed - dlock_drift(guaranteed);
	dlock_claim_move(claim, DLOCK_CLAIM_HELD);
}

static dlock_status extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	dlock_db_question question = { .call = NULL };
	dlock_db_call *call = dlock_db_claim_call(claim, DLOCK_DB_EXTEND, claim->token);
	dlock_nanos begun = dlock_now();

	if (call) {
		call->numbers[0] = dlock_db_ms(ttl);
		call->numbers[1] = 1;
	}
	dlock_status status = dlock_db_ask(dlock_db_backend_of(claim), &question, call, error);
	if (status == DLOCK_OK && call->answer[0] == 0) {
		status = dlock_fail(error, DLOCK_LOST,
			"The lock \"%s\" was lost: its row was deleted or belongs to another client",
			dlock_claim_name(claim).text);
	} else if (status == DLOCK_OK) {
		set_deadline(claim, call->sent_at, ttl);
		claim->ttl = ttl;
	} else if (dlock_db_question_may_run_later(&question) && begun + ttl - dlock_drift(ttl) < claim->deadline) {
		/* The database may have set a shorter lease, so the holder must believe it even without an answer. */
		claim->deadline = begun + ttl - dlock_drift(ttl);
	}
	if (dlock_db_question_may_run_later(&question)) {
		dlock_claim_add_unacknowledged_ttl(claim, ttl);
	}
	dlock_db_question_end(&question);
	return status;
}

static dlock_status check(dlock_claim *claim, dlock_error *error)
{
	dlock_db_question question = { .call = NULL };
	dlock_db_call *call = dlock_db_claim_call(claim, DLOCK_DB_LEFT, claim->token);
	dlock_status status = dlock_db_ask(dlock_db_backend_of(claim), &question, call, error);

	if (status == DLOCK_OK && call->answer[0] < 0) {
		status = dlock_fail(error, DLOCK_LOST, "The database no longer holds the lock \"%s\" for this lease",
			dlock_claim_name(claim).text);
	} else if (status == DLOCK_OK) {
		set_deadline(claim, call->sent_at, dlock_db_time(call->answer[0], DLOCK_MS));
	}
	dlock_db_question_end(&question);
	return status;
}

static dlock_status release(dlock_claim *claim, dlock_error *error)
{
	dlock_db_question question = { .call = NULL };
	dlock_db_call *call = dlock_db_claim_call(claim, DLOCK_DB_RELEASE, claim->token);
	dlock_status status = dlock_db_ask(dlock_db_backend_of(claim), &question, call, error);
	bool once_more = status != DLOCK_OK || ((const dlock_db_claim *) claim)->stray;

	if (status == DLOCK_OK && call->answer[0] > 0) {
		claim->handed_over = call->answer[0] > 1;
	} else if (status == DLOCK_OK && question.repeated && dlock_now() < atomic_load(&claim->deadline)) {
		/* The first call released it; its answer was lost. */
	} else if (status == DLOCK_OK) {
		status = dlock_fail(error, DLOCK_LOST, "The lock \"%s\" had been lost", dlock_claim_name(claim).text);
	}
	if (once_more) {
		dlock_db_give_back(claim);
	}
	dlock_db_question_end(&question);
	return status;
}

/* ---- handles ---- */

static dlock_db_call *exchange_call(const dlock_claim *claim, const char *token, const char *old)
{
	dlock_db_call *call = dlock_db_claim_call(claim, DLOCK_DB_EXCHANGE, token);

	if (call) {
		strcpy(call->other, old);
		call->numbers[0] = dlock_db_ms(dlock_db_guard(claim));
	}
	return call;
}

static dlock_status take_exchange(dlock_claim *claim, const dlock_db_call *call, dlock_error *error)
{
	const dlock_db_session *session = dlock_db_backend_of(claim)->session;
	dlock_nanos left = dlock_db_time(call->answer[0], DLOCK_MS);

	switch (call->answer[0]) {
	case DLOCK_DB_NOT_OURS:
		return dlock_claim_came_late(claim, error);
	case DLOCK_DB_NOT_YET:
		return dlock_fail(error, DLOCK_CONNECTION,
			"The lock \"%s\" cannot be attached yet: a transaction that relies on its holder has not ended",
			dlock_claim_name(claim).text);
	case DLOCK_DB_NOT_SETTLED:
		return dlock_fail(error, DLOCK_CONNECTION,
			"%s at %s crashed or was replaced: no lock is attached until its guard has ended", session->client->name,
			session->base.server->label);
	default:
		claim->fencing_token = call->answer[1];
		claim->deadline = call->sent_at + left - dlock_drift(left);
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
		return DLOCK_OK;
	}
}

static dlock_status attach(dlock_claim *claim, const char *token, dlock_error *error)
{
	const dlock_db_backend *backend = dlock_db_backend_of(claim);
	dlock_db_question question = { .call = NULL };
	dlock_nanos until = dlock_after(dlock_now(), backend->session->base.server->read_timeout);
	dlock_status status;
	bool again;

	if (!have_name((dlock_db_claim *) claim)) {
		return dlock_out_of_memory(error);
	}
	do {
		dlock_db_call *call = exchange_call(claim, claim->token, token);
		status = dlock_db_ask(backend, &question, call, error);
		again = status == DLOCK_OK && call->answer[0] == DLOCK_DB_NOT_YET && dlock_now() < until;
		if (again) {
			dlock_loop_pause(dlock_net_pool_loop(backend->pool), dlock_now() + LOOK_AGAIN, NULL);
		} else if (status == DLOCK_OK) {
			status = take_exchange(claim, call, error);
		} else if (dlock_db_question_may_run_later(&question)) {
			call_without_waiting(
				claim, exchange_call(claim, token, claim->token), dlock_after(dlock_now(), claim->ttl), false);
		}
	} while (again);
	dlock_db_question_end(&question);
	return status;
}

/* ---- the rest ---- */

static dlock_status acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	return have_name((dlock_db_claim *) claim) ? dlock_db_acquire(claim, wait, error) : dlock_out_of_memory(error);
}

static dlock_status locked(dlock_backend *base, const char *resource, size_t len, bool *locked, dlock_error *error)
{
	const dlock_db_backend *backend = (const dlock_db_backend *) base;
	dlock_db_question question = { .call = NULL };
	dlock_db_call *call = dlock_db_resource_call(backend, DLOCK_DB_LEFT, resource, len, "");
	dlock_status status = dlock_db_ask(backend, &question, call, error);

	*locked = status == DLOCK_OK && call->answer[0] >= 0;
	dlock_db_question_end(&question);
	return status;
}

static bool is_same(const dlock_backend *a, const dlock_backend *b)
{
	const dlock_db_backend *one = (const dlock_db_backend *) a, *other = (const dlock_db_backend *) b;

	return dlock_endpoint_is_same(one->session->base.server, other->session->base.server);
}

static struct dlock_renewal_round *new_round(const dlock_claim *base)
{
	const dlock_db_claim *claim = (const dlock_db_claim *) base;

	return dlock_db_round_new(
		dlock_db_backend_of(base)->session->base.server, claim->name, claim->name_len, claim->base.token,
		claim->base.description);
}

static void dispose(dlock_claim *claim)
{
	dlock_db_end_waiter(claim);
	free(((dlock_db_claim *) claim)->name);
}

#define COMMON                                                                                                         \
	.claim_size = sizeof(dlock_db_claim), .detachable = true, .acquire = acquire, .attach = attach, .extend = extend,  \
	.check = check, .release = release, .abandon = abandon, .top_up = top_up, .new_round = new_round,                  \
	.is_same = is_same, .inspect = dlock_db_inspect, .list = dlock_db_list, .break_claim = dlock_db_break,             \
	.locked = locked, .dispose = dispose

#define ONE_ONLY                                                                                                       \
	.one_only = "must be one name in a database; for several at once lock their rows in one transaction, or use "      \
				"DistributedLock on Redis"

static const dlock_backend_ops postgresql_ops = { .name = "pgsql", ONE_ONLY, COMMON };
static const dlock_backend_ops mysql_ops = { .name = "mysql", ONE_ONLY, COMMON };

dlock_backend *dlock_db_new(dlock_net_pool *pool, dlock_endpoint *server, const char *prefix, size_t prefix_len)
{
	const dlock_backend_ops *ops = server->kind == DLOCK_ENDPOINT_MYSQL ? &mysql_ops : &postgresql_ops;
	dlock_db_backend *backend = dlock_backend_new(ops, sizeof *backend, prefix, prefix_len);

	if (!backend) {
		return NULL;
	}
	backend->base.ttls = (dlock_ttl_range) { DLOCK_TTL_MIN, server->guard, true };
	backend->pool = pool;
	backend->session = dlock_db_session_of(pool, server, DLOCK_FOREVER);
	if (!backend->session) {
		free(backend);
		return NULL;
	}
	return &backend->base;
}

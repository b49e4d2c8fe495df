#include "single.h"

#include "../../lock/renewal.h"
#include "../wire/pool_source.h"
#include "renewal_round.h"
#include "waiting.h"

#include <stdlib.h>
#include <string.h>

/* One Redis server. The scripts in lua/ decide which claim gets the lock, and which one it is handed over to. This file
 * decides how long their outcome may be relied upon, and what to do where it is unknown. docs/how-it-works.md and
 * docs/hand-over.md have the protocol, tests/models/handover.pml checks it. */

typedef struct {
	dlock_backend base;
	dlock_loop *loop;
	dlock_conn *conn;   /* the pool's, as the inbox */
	dlock_inbox *inbox; /* not connected before a claim waits */
	dlock_key_builder *keys;
} single_backend;

typedef struct {
	dlock_claim base;
	int64_t ticket;         /* keeps its position in the queue; 0: none yet */
	int64_t number;         /* of the last request */
	dlock_nanos next_look;  /* when to look again without having been notified */
	dlock_nanos refused_at; /* when the last request that was refused was sent, for the first time */
} single_claim;

static single_backend *backend_of(const dlock_claim *claim)
{
	return (single_backend *) claim->backend;
}

static dlock_keys claim_keys(const dlock_claim *claim)
{
	return dlock_key_builder_keys(backend_of(claim)->keys, claim->resource, claim->resource_len);
}

static bool is_settled(void *call)
{
	return ((dlock_call *) call)->state != DLOCK_CALL_PENDING;
}

/* One round trip. The call is the caller's to release. */
static void ask(single_backend *backend, dlock_call *call)
{
	if (call && dlock_conn_send(backend->conn, call)) {
		dlock_loop_await(backend->loop, is_settled, call, DLOCK_FOREVER);
	}
}

/* May it be executed yet, once or again? Then it may be so after others that follow it over another connection. */
static bool may_run_later(const dlock_call *call)
{
	return call->sent && (call->state != DLOCK_CALL_ANSWERED || call->repeated);
}

/* Releases, and leaves the queue, without waiting. It goes out before anything that is sent on this connection
 * later. */
static void single_abandon(dlock_claim *claim)
{
	dlock_conn_send_background(backend_of(claim)->conn,
		dlock_request_release(claim_keys(claim), claim->token, true, claim->token, claim->state == DLOCK_CLAIM_WAITING),
		dlock_after(dlock_now(), claim->ttl));
}

static void single_top_up(dlock_claim *claim)
{
	dlock_conn_send_background(backend_of(claim)->conn,
		dlock_request_renew(claim_keys(claim), claim->token, claim->ttl), atomic_load(&claim->deadline));
}

/* ---- acquire ---- */

/* When an attempt took longer than the lease lasts, in ms. */
#define TRY_AGAIN 20

/* DLOCK_TIMEOUT: it took longer than the lease lasts. */
static dlock_status accept_lease(
	single_claim *claim, const dlock_call *call, dlock_response *response, dlock_error *error)
{
	dlock_claim *base = &claim->base;

	base->deadline = call->sent_at + base->ttl - dlock_drift(base->ttl);
	base->fencing_token = response->fencing_token;
	if (dlock_now() < base->deadline) {
		dlock_claim_move(base, DLOCK_CLAIM_HELD);
		return DLOCK_OK;
	}
	/* A token that was released is not used again: should the release be late, on a connection that was replaced
	 * meanwhile, it must not hit the next attempt. */
	single_abandon(base);
	dlock_claim_move(base, DLOCK_CLAIM_NEW);
	claim->ticket = 0;
	*response = (dlock_response) { .pttl = TRY_AGAIN };
	return dlock_claim_renew_token(base, error) == DLOCK_OK ? DLOCK_TIMEOUT : DLOCK_FAILED;
}

/* Was the fence counted on from where this connection has seen it? The answer may have come over another one, whose
 * server has come back with older data; or somebody has set the fence. docs/how-it-works.md has the reasoning,
 * tests/models/counting.pml checks it. */
static bool is_counted_on(const dlock_conn *conn, int64_t fencing_token)
{
	return conn->fence > 0 && fencing_token > conn->fence;
}

/* One request. The call is the caller's to release. */
static dlock_call *ask_for_lock(
	single_claim *claim, bool queue, bool may_count, dlock_status *status, dlock_response *response, dlock_error *error)
{
	dlock_claim *base = &claim->base;
	single_backend *backend = backend_of(base);
	dlock_attempt attempt = { .token = base->token,
		.ttl = base->ttl,
		.may_count = may_count,
		.grant = true,
		.inbox = queue ? backend->inbox : NULL,
		.ticket = claim->ticket,
		.number = ++claim->number,
		.legacy = backend->base.legacy,
		.unnotified = queue && !dlock_inbox_can_notify(backend->inbox) };
	dlock_call *call = dlock_request_acquire(claim_keys(base), &attempt);

	if (queue) {
		dlock_inbox_try_publishing(backend->inbox, backend->conn);
	}
	ask(backend, call);
	dlock_inbox_update(backend->inbox);
	*status = dlock_read_acquire(call, backend->conn, response, error);
	/* Executed once more, it finds its own token and sets its lease time: whether it was given the lock, or has it from
	 * somebody else by then. */
	if (call && may_run_later(call)) {
		dlock_claim_add_unacknowledged_ttl(base, base->ttl);
	}
	return call;
}

/* DLOCK_TIMEOUT: it is someone else's. With `queue` the claim is in the queue then. */
static dlock_status attempt(single_claim *claim, bool queue, dlock_response *response, dlock_error *error)
{
	dlock_claim *base = &claim->base;
	single_backend *backend = backend_of(base);
	bool may_count = !queue && backend->conn->fence > 0;
	bool has_key = false;
	dlock_status status;

	if (queue) {
		dlock_claim_move(base, DLOCK_CLAIM_WAITING);
	}
	dlock_call *call = ask_for_lock(claim, queue, may_count, &status, response, error);
	if (may_count && dlock_request_has_acquired(call) && !is_counted_on(backend->conn, response->fencing_token)) {
		has_key = true;
		dlock_call_release(call);
		call = ask_for_lock(claim, queue, false, &status, response, error);
	}
	if (status == DLOCK_OK) {
		if (backend->conn->state == DLOCK_CONN_READY) {
			backend->conn->fence = response->fencing_token;
		}
		status = accept_lease(claim, call, response, error);
	} else if (status == DLOCK_LOST) {
		base->received = false;
		/* It was in the queue and had been removed: the server found no subscriber of the inbox, even if that is open
		 * here. */
		if (queue && claim->ticket && response->new_in_queue) {
			dlock_inbox_discard(backend->inbox);
		}
		if (queue) {
			claim->ticket = response->ticket;
			claim->refused_at = call->first_sent_at;
		}
		status = DLOCK_TIMEOUT;
	} else {
		/* The outcome is unknown: a late success must not lock everyone out until the ttl. */
		if (has_key || dlock_request_may_take_effect(call) || base->state == DLOCK_CLAIM_WAITING) {
			single_abandon(base);
		}
		dlock_claim_move(base, DLOCK_CLAIM_NEW);
	}
	dlock_call_release(call);
	return status;
}

/* Out of time. DLOCK_OK: it was granted in that instant, and can be acquired. */
static dlock_status leave_queue(single_claim *claim, dlock_error *error)
{
	single_backend *backend = backend_of(&claim->base);
	dlock_call *call = dlock_request_leave(claim_keys(&claim->base), claim->base.token, true);
	dlock_response response;

	ask(backend, call);
	dlock_status status = dlock_read_integer(call, backend->conn, &response, error);
	dlock_call_release(call);
	if (status == DLOCK_CONNECTION) {
		single_abandon(&claim->base);
	}
	dlock_claim_move(&claim->base, DLOCK_CLAIM_NEW);
	return status == DLOCK_LOST ? DLOCK_TIMEOUT : status;
}

/* A grant is accepted without asking again when at least this much of it is left for sure. */
#define GRANT_LEFT DLOCK_SECOND

/* A grant that names the last request was made after that was refused: so it lasts, by this process' own clock, at
 * least as long from the sending of that request, whatever the server's clock says and however late the message is
 * read. (From its first sending: if its connection broke and it was sent again, it may have been refused before.) One
 * that names an earlier request may have run out meanwhile. The full lease time is left to the renewal thread: most
 * locks are released before. */
static bool accept_grant(single_claim *claim, const dlock_grant *grant)
{
	dlock_claim *base = &claim->base;
	dlock_nanos deadline = claim->refused_at + DLOCK_GRANT_TTL - dlock_drift(DLOCK_GRANT_TTL);

	if (base->ttl < DLOCK_GRANT_TTL || !dlock_is_fencing_token(grant->fencing_token)
			|| grant->number != claim->number || dlock_now() + GRANT_LEFT > deadline) {
		return false;
	}
	base->deadline = deadline;
	base->short_lease = true;
	base->fencing_token = grant->fencing_token;
	dlock_claim_move(base, DLOCK_CLAIM_HELD);
	return true;
}

/* Sleeps until there is a reason to try again: the inbox broke, or it is time to look, or the claim was notified. Where
 * there can be no inbox, until it is time to look. DLOCK_OK: it holds the lock already. */
static dlock_status wait_for_turn(single_claim *claim, const dlock_wait *wait)
{
	dlock_grant grant;
	dlock_inbox *inbox = backend_of(&claim->base)->inbox;
	dlock_nanos until = claim->next_look < wait->deadline ? claim->next_look : wait->deadline;

	while (dlock_inbox_is_open(inbox) || inbox->refused) {
		if (dlock_inbox_take(inbox, claim->base.token, &grant)) {
			claim->base.received = true;
			return accept_grant(claim, &grant) ? DLOCK_OK : DLOCK_TIMEOUT;
		}
		int woken = dlock_inboxes_wait(backend_of(&claim->base)->loop, &inbox, 1, until, wait);
		if (woken <= 0) {
			return woken == DLOCK_WAIT_INTERRUPTED ? DLOCK_INTERRUPTED : DLOCK_TIMEOUT;
		}
	}
	return DLOCK_TIMEOUT;
}

static dlock_status single_acquire(dlock_claim *base, const dlock_wait *wait, dlock_error *error)
{
	single_claim *claim = (single_claim *) base;
	single_backend *backend = backend_of(base);
	dlock_response response;

	for (;;) {
		bool last = wait->deadline != DLOCK_FOREVER && dlock_now() >= wait->deadline;
		if (last && base->state == DLOCK_CLAIM_WAITING) {
			dlock_status left = leave_queue(claim, error);
			if (left != DLOCK_OK) {
				return left;
			}
		}
		if (!last && base->waited && !backend->inbox->refused
				&& dlock_inboxes_open(backend->loop, &backend->inbox, 1, 1) == 0 && !backend->inbox->refused) {
			if (base->state == DLOCK_CLAIM_WAITING) {
				single_abandon(base);
				dlock_claim_move(base, DLOCK_CLAIM_NEW);
			}
			*error = backend->inbox->conn->error;
			return DLOCK_CONNECTION;
		}
		if (!last && base->waited && dlock_now() >= wait->deadline) {
			continue; /* to open the inbox took the rest of its time */
		}
		bool queue = !last && dlock_inbox_is_open(backend->inbox) && (base->waited || backend->inbox->expected);
		dlock_status status = attempt(claim, queue, &response, error);
		if (!base->waited) {
			backend->inbox->expected = status == DLOCK_TIMEOUT;
		}
		if (status != DLOCK_TIMEOUT || last) {
			return status;
		}
		base->waited = true;
		if (queue || backend->inbox->refused) {
			claim->next_look = !dlock_inbox_can_notify(backend->inbox)
				? dlock_next_look_unnotified(&response, base->ttl)
				: backend->base.legacy ? dlock_next_look_legacy(&response, base->ttl)
									   : dlock_next_look(&response, base->ttl);
			status = wait_for_turn(claim, wait);
			if (status != DLOCK_TIMEOUT) {
				return status;
			}
		}
	}
}

/* ---- attach ---- */

/* What was asked for with the old token without an answer, a shorter lease time perhaps, does not matter any more: when
 * the exchange was executed, it finds another token. */
static dlock_status single_attach(dlock_claim *claim, const char *token, dlock_error *error)
{
	single_backend *backend = backend_of(claim);
	dlock_call *call = dlock_request_exchange(claim_keys(claim), token, claim->token, 0);
	dlock_response response;

	ask(backend, call);
	dlock_status status = dlock_read_exchange(call, backend->conn, &response, error);
	if (status == DLOCK_OK) {
		dlock_nanos left = dlock_lease_left(response.pttl);
		claim->deadline = call->sent_at + left - dlock_drift(left);
		claim->fencing_token = response.fencing_token;
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	} else if (status == DLOCK_CONNECTION && dlock_request_may_take_effect(call)) {
		/* The outcome is unknown. The exchange is not sent again, so that it is not executed after this. */
		dlock_conn_send_background(backend->conn, dlock_request_exchange_back(claim_keys(claim), token, claim->token),
			dlock_after(dlock_now(), claim->ttl));
	}
	dlock_call_release(call);
	return status == DLOCK_LOST ? dlock_claim_came_late(claim, error) : status;
}

/* ---- while it is held ---- */

static dlock_status single_extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	single_backend *backend = backend_of(claim);
	dlock_call *call = dlock_request_extend(claim_keys(claim), claim->token, ttl);
	dlock_response response;

	ask(backend, call);
	dlock_status status = dlock_read_integer(call, backend->conn, &response, error);
	if (status == DLOCK_OK) {
		dlock_nanos guaranteed = dlock_claim_guaranteed_ttl(claim, ttl);
		claim->ttl = ttl;
		claim->deadline = call->sent_at + guaranteed - dlock_drift(guaranteed);
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	} else if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The lock \"%s\" was lost: the server has it for someone else, or for nobody",
			dlock_claim_name(claim).text);
	} else if (call && call->sent && call->first_sent_at + ttl - dlock_drift(ttl) < claim->deadline) {
		/* A shorter lease that may have been set must be believed even without an answer. */
		claim->deadline = call->first_sent_at + ttl - dlock_drift(ttl);
	}
	if (call && may_run_later(call)) {
		dlock_claim_add_unacknowledged_ttl(claim, ttl);
	}
	dlock_call_release(call);
	return status;
}

static dlock_status single_check(dlock_claim *claim, dlock_error *error)
{
	single_backend *backend = backend_of(claim);
	dlock_call *call = dlock_request_check(claim_keys(claim), claim->token);
	dlock_response response;

	ask(backend, call);
	dlock_status status = dlock_read_integer(call, backend->conn, &response, error);
	if (status == DLOCK_OK) {
		dlock_nanos left = dlock_claim_guaranteed_ttl(claim, dlock_lease_left(response.value));
		claim->deadline = call->sent_at + left - dlock_drift(left);
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	} else if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The lock \"%s\" is not this lease's on the server",
			dlock_claim_name(claim).text);
	}
	dlock_call_release(call);
	return status;
}

static dlock_status single_release(dlock_claim *claim, dlock_error *error)
{
	single_backend *backend = backend_of(claim);
	dlock_call *call = dlock_request_release(claim_keys(claim), claim->token, true, NULL, false);
	dlock_response response;

	ask(backend, call);
	dlock_status status = dlock_read_integer(call, backend->conn, &response, error);
	if (status == DLOCK_OK) {
		claim->handed_over = response.value > 1;
	} else if (status == DLOCK_LOST && call->repeated) {
		status =
			DLOCK_OK; /* by the first sending, the answer to which was lost with a connection that had been alive */
	} else if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The lock \"%s\" had been lost", dlock_claim_name(claim).text);
	} else {
		single_abandon(claim);
	}
	dlock_call_release(call);
	return status;
}

static dlock_status single_locked(
	dlock_backend *base, const char *resource, size_t len, bool *locked, dlock_error *error)
{
	single_backend *backend = (single_backend *) base;
	dlock_arg args[] = { DLOCK_ARG("EXISTS"), dlock_key_builder_keys(backend->keys, resource, len).lock };
	dlock_call *call = dlock_call_command(args, 2);
	dlock_response response;

	ask(backend, call);
	dlock_status status = dlock_read_integer(call, backend->conn, &response, error);
	dlock_call_release(call);
	*locked = status == DLOCK_OK;
	return status == DLOCK_LOST ? DLOCK_OK : status;
}

static dlock_renewal_round *single_new_round(const dlock_claim *claim)
{
	return dlock_redis_round_new(claim, &backend_of(claim)->conn->server, 1, 1, claim_keys(claim).lock);
}

static const char *single_refuse(const dlock_backend *backend, const char *resource, size_t len)
{
	return dlock_key_builder_refuse(((const single_backend *) backend)->keys, resource, len);
}

static bool single_is_same(const dlock_claim *claim, dlock_backend *backend, const char *resource, size_t len)
{
	single_backend *ours = backend_of(claim), *other = (single_backend *) backend;

	return dlock_server_is_same(ours->conn->server, other->conn->server)
		&& dlock_key_builder_is_same(ours->keys, claim->resource, claim->resource_len, other->keys, resource, len);
}

static void single_destroy(dlock_backend *base)
{
	single_backend *backend = (single_backend *) base;

	dlock_pool_return(backend->conn, backend->inbox);
	free(backend->keys);
	free(backend);
}

static const dlock_backend_ops single_ops = {
	.name = "single",
	.claim_size = sizeof(single_claim),
	.detachable = true,
	.legacy_tokens = true,
	.refuse = single_refuse,
	.acquire = single_acquire,
	.attach = single_attach,
	.extend = single_extend,
	.check = single_check,
	.release = single_release,
	.abandon = single_abandon,
	.top_up = single_top_up,
	.new_round = single_new_round,
	.is_same = single_is_same,
	.locked = single_locked,
	.destroy = single_destroy,
};

dlock_backend *dlock_single_new(
	dlock_pool *pool, dlock_server *server, const char *prefix, size_t prefix_len, bool legacy)
{
	single_backend *backend = calloc(1, sizeof *backend);

	if (!backend) {
		return NULL;
	}
	dlock_backend_init(&backend->base, &single_ops, prefix, prefix_len);
	backend->base.legacy = legacy;
	backend->loop = dlock_pool_loop(pool);
	backend->keys = dlock_key_builder_new(prefix, prefix_len, DLOCK_RESOURCE_MAX);
	if (!backend->keys || !dlock_pool_lend(pool, server, &backend->conn, &backend->inbox)) {
		single_destroy(&backend->base);
		return NULL;
	}
	return &backend->base;
}

#include "exchange.h"
#include "renewal_round.h"
#include "requests.h"

#include <stdlib.h>
#include <string.h>

/* One Redis server. See lua/ for what is said to it: a lock is handed over from its holder to the first in the queue. */

typedef struct {
	dlock_backend base;
	dlock_conn *conn;   /* the pool's, as the inbox */
	dlock_inbox *inbox; /* not connected before somebody waits */
	dlock_key_builder *keys;
} single_backend;

typedef struct {
	dlock_claim base;
	int64_t ticket;    /* keeps its place in the queue; 0: none yet */
	int64_t number;    /* of the last request */
	dlock_nanos look;  /* when to look again without having been told */
	dlock_nanos asked; /* when the last request that was answered by a refusal was sent, for the first time */
	dlock_call *taking_up; /* on its way: the extension of a grant to the full lease; NULL: none */
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
		dlock_exchange(&backend->conn, 1, DLOCK_FOREVER, is_settled, call);
	}
}

/* May it be executed yet, once or again? Then it may be so behind others that follow it over another connection. */
static bool is_unacknowledged(const dlock_call *call)
{
	return call->sent && (call->state != DLOCK_CALL_ANSWERED || call->repeated);
}

/* Releases, and leaves the queue, without waiting. It goes out before anything that is said on this connection later. */
static void give_back(dlock_claim *claim)
{
	dlock_conn_send_background(backend_of(claim)->conn, dlock_call_give_back(claim_keys(claim), claim->token, true, claim->token,
		claim->state == DLOCK_CLAIM_WAITING), dlock_after(dlock_now(), claim->ttl));
}

/* ---- acquire ---- */

/* When an attempt took longer than the lease lasts, in ms. */
#define TRY_AGAIN 20

/* DLOCK_TIMEOUT: it is someone else's. With `queue` the claim is in the queue then. */
static dlock_status attempt(single_claim *claim, bool queue, dlock_answer *answer, dlock_error *error)
{
	dlock_claim *base = &claim->base;
	single_backend *backend = backend_of(base);
	dlock_request request = { .token = base->token, .ttl = base->ttl, .grant = true, .waiter = base->token,
		.inbox = queue ? backend->inbox : NULL, .ticket = claim->ticket, .number = ++claim->number,
		.legacy = backend->base.legacy };
	dlock_call *call = dlock_call_acquire(claim_keys(base), &request);
	dlock_status status = DLOCK_TIMEOUT;

	if (queue) {
		dlock_claim_move(base, DLOCK_CLAIM_WAITING);
	}
	ask(backend, call);
	int acquired = dlock_call_acquired(call, backend->conn, answer, error);
	if (acquired > 0) {
		base->deadline = call->sent_at + base->ttl - dlock_drift(base->ttl);
		base->fencing_token = answer->fencing_token;
		if (is_unacknowledged(call)) {
			dlock_claim_add_unacknowledged_ttl(base, base->ttl);
		}
		if (dlock_now() < base->deadline) {
			dlock_claim_move(base, DLOCK_CLAIM_HELD);
			status = DLOCK_OK;
		} else {
			/* It took longer than the lease lasts. A token that is given back is not used again: should the release
			 * be late, on a connection given up meanwhile, it must not hit the next attempt. */
			give_back(base);
			dlock_claim_move(base, DLOCK_CLAIM_NEW);
			claim->ticket = 0;
			*answer = (dlock_answer) { .pttl = TRY_AGAIN };
			if (dlock_claim_renew_token(base, error) != DLOCK_OK) {
				status = DLOCK_FAILED;
			}
		}
	} else if (acquired < 0) {
		/* The outcome is unknown: a late success must not lock everyone out until the ttl. */
		if (dlock_call_may_count(call) || base->state == DLOCK_CLAIM_WAITING) {
			give_back(base);
		}
		dlock_claim_move(base, DLOCK_CLAIM_NEW);
		status = DLOCK_CONNECTION;
	} else if (queue) {
		/* It was in the queue and is not any more: the server found nobody at the inbox, whatever it looks like here. */
		if (claim->ticket && answer->new_in_queue) {
			dlock_inbox_discard(backend->inbox);
		}
		claim->ticket = answer->ticket;
		claim->asked = call->first_sent_at;
	}
	dlock_call_release(call);
	return status;
}

/* Out of time. DLOCK_OK: it was granted in that instant, and is there to be taken up. */
static dlock_status leave(single_claim *claim, dlock_error *error)
{
	single_backend *backend = backend_of(&claim->base);
	dlock_call *call = dlock_call_leave(claim_keys(&claim->base), claim->base.token, true);

	ask(backend, call);
	int64_t granted = dlock_call_integer(call, backend->conn, error);
	dlock_call_release(call);
	if (granted < 0) {
		give_back(&claim->base);
	}
	dlock_claim_move(&claim->base, DLOCK_CLAIM_NEW);
	return granted < 0 ? DLOCK_CONNECTION : granted > 0 ? DLOCK_OK : DLOCK_TIMEOUT;
}

static void drop_taking_up(single_claim *claim)
{
	dlock_call *call = claim->taking_up;

	if (call && !is_unacknowledged(call)) {
		claim->base.unacknowledged_ttl = 0; /* which it was since take_up() */
	} else if (call) {
		dlock_call_cancel(call);
	}
	dlock_call_release(call);
	claim->taking_up = NULL;
}

/* A grant is worth taking up without asking again when at least so much of it is left for sure. */
#define GRANT_LEFT DLOCK_SECOND

/* A grant that names the last request was made after that was refused: so it lasts, by this process' own clock, at least as
 * long from the sending of that request, whatever the server's clock says and however late the message is read. (From its first
 * sending: where its connection broke and it was sent again, it may have been refused before.) One that names an earlier
 * request may have run out meanwhile. The full lease is asked for at once, but not waited for. */
static bool take_up(single_claim *claim, const dlock_grant *grant)
{
	dlock_claim *base = &claim->base;
	dlock_nanos deadline = claim->asked + DLOCK_GRANT_TTL - dlock_drift(DLOCK_GRANT_TTL);

	if (!dlock_is_fencing_token(grant->fencing_token) || grant->number != claim->number || dlock_now() + GRANT_LEFT > deadline) {
		return false;
	}
	claim->taking_up = dlock_call_extend(claim_keys(base), base->token, base->ttl);
	if (!claim->taking_up) {
		return false;
	}
	dlock_call_use_source(claim->taking_up); /* whether the server knows the script may be heard much later */
	if (!dlock_conn_send(backend_of(base)->conn, claim->taking_up) || !claim->taking_up->sent) {
		dlock_call_cancel(claim->taking_up); /* the connection is gone: asking again makes a new one */
		drop_taking_up(claim);
		return false;
	}
	/* A shorter lease counts as soon as it may have been set. */
	dlock_nanos extended = claim->taking_up->sent_at + base->ttl - dlock_drift(base->ttl);
	base->deadline = extended < deadline ? extended : deadline;
	dlock_claim_add_unacknowledged_ttl(base, base->ttl);
	base->fencing_token = grant->fencing_token;
	dlock_claim_move(base, DLOCK_CLAIM_HELD);
	base->received = true;
	return true;
}

/* Has the full lease been given meanwhile? */
static void single_look(dlock_claim *base)
{
	single_claim *claim = (single_claim *) base;
	dlock_error error;

	if (!claim->taking_up) {
		return;
	}
	dlock_conn_peek(backend_of(base)->conn);
	if (claim->taking_up->state == DLOCK_CALL_PENDING) {
		return;
	}
	int64_t extended = dlock_call_integer(claim->taking_up, backend_of(base)->conn, &error);
	if (extended > 0) {
		dlock_claim_raise_deadline(base, claim->taking_up->sent_at + base->ttl - dlock_drift(base->ttl));
	} else if (extended == 0) {
		dlock_claim_move(base, DLOCK_CLAIM_LOST);
	}
	drop_taking_up(claim);
}

/* Sleeps until there is a reason to try again: the inbox broke, or it is time to look, or the claim was told. DLOCK_OK: it
 * holds the lock already. */
static dlock_status wait_for_turn(single_claim *claim, const dlock_wait *wait)
{
	dlock_grant grant;
	dlock_inbox *inbox = backend_of(&claim->base)->inbox;
	dlock_nanos until = claim->look < wait->deadline ? claim->look : wait->deadline;

	while (dlock_inbox_is_open(inbox)) {
		if (dlock_inbox_take(inbox, claim->base.token, &grant)) {
			return take_up(claim, &grant) ? DLOCK_OK : DLOCK_TIMEOUT;
		}
		int woken = dlock_inboxes_wait(&inbox, 1, until, wait);
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
	dlock_answer answer;

	for (;;) {
		bool last = wait->deadline != DLOCK_FOREVER && dlock_now() >= wait->deadline;
		if (last && base->state == DLOCK_CLAIM_WAITING) {
			dlock_status left = leave(claim, error);
			if (left != DLOCK_OK) {
				return left;
			}
		}
		if (!last && base->waited && dlock_inboxes_open(&backend->inbox, 1, 1) == 0) {
			if (base->state == DLOCK_CLAIM_WAITING) {
				give_back(base);
				dlock_claim_move(base, DLOCK_CLAIM_NEW);
			}
			*error = backend->inbox->conn->error;
			return DLOCK_CONNECTION;
		}
		bool queue = !last && dlock_inbox_is_open(backend->inbox);
		dlock_status status = attempt(claim, queue, &answer, error);
		if (status != DLOCK_TIMEOUT || last) {
			return status;
		}
		base->waited = true;
		if (queue) {
			claim->look = backend->base.legacy ? dlock_next_look_legacy(&answer) : dlock_next_look(&answer);
			status = wait_for_turn(claim, wait);
			if (status != DLOCK_TIMEOUT) {
				return status;
			}
		}
	}
}

/* ---- attach ---- */

/* What was asked for with the old token without an answer, a shorter lease time perhaps, does not matter any more: when the
 * exchange was executed, it finds another token. */
static dlock_status single_attach(dlock_claim *claim, const char *token, dlock_error *error)
{
	single_backend *backend = backend_of(claim);
	dlock_call *call = dlock_call_exchange(claim_keys(claim), token, claim->token, 0);
	dlock_answer answer;

	ask(backend, call);
	int exchanged = dlock_call_exchanged(call, backend->conn, &answer, error);
	if (exchanged > 0) {
		dlock_nanos left = dlock_lease_left(answer.pttl);
		claim->deadline = call->sent_at + left - dlock_drift(left);
		claim->fencing_token = answer.fencing_token;
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	} else if (exchanged < 0 && dlock_call_may_count(call)) {
		/* The outcome is unknown. The exchange is not sent again, so that it is not executed after this. */
		dlock_conn_send_background(backend->conn, dlock_call_exchange_back(claim_keys(claim), token, claim->token),
			dlock_after(dlock_now(), claim->ttl));
	}
	dlock_call_release(call);
	return exchanged > 0 ? DLOCK_OK : exchanged < 0 ? DLOCK_CONNECTION : dlock_claim_came_late(claim, error);
}

/* ---- while it is held ---- */

static dlock_status single_extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	single_backend *backend = backend_of(claim);
	dlock_call *call = dlock_call_extend(claim_keys(claim), claim->token, ttl);

	ask(backend, call);
	drop_taking_up((single_claim *) claim);
	int64_t extended = dlock_call_integer(call, backend->conn, error);
	dlock_nanos sure = dlock_claim_guaranteed_ttl(claim, ttl), deadline = extended == 1 ? call->sent_at + sure - dlock_drift(sure) : 0;
	/* A shorter lease that may have been set must be believed even without an answer. */
	if (extended < 0 && call && call->sent && call->first_sent_at + ttl - dlock_drift(ttl) < claim->deadline) {
		claim->deadline = call->first_sent_at + ttl - dlock_drift(ttl);
	}
	if (call && is_unacknowledged(call)) {
		dlock_claim_add_unacknowledged_ttl(claim, ttl);
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
	dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	return DLOCK_OK;
}

static dlock_status single_check(dlock_claim *claim, dlock_error *error)
{
	single_backend *backend = backend_of(claim);
	dlock_call *call = dlock_call_check(claim_keys(claim), claim->token);

	ask(backend, call);
	drop_taking_up((single_claim *) claim);
	int64_t pttl = dlock_call_integer(call, backend->conn, error);
	if (pttl > 0) {
		dlock_nanos left = dlock_claim_guaranteed_ttl(claim, dlock_lease_left(pttl));
		claim->deadline = call->sent_at + left - dlock_drift(left);
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	}
	dlock_call_release(call);
	if (pttl == 0) {
		return dlock_fail(error, DLOCK_LOST, "The lock \"%.100s\" is not this lease's on the server", claim->resource);
	}
	return pttl < 0 ? DLOCK_CONNECTION : DLOCK_OK;
}

static dlock_status single_release(dlock_claim *claim, dlock_error *error)
{
	single_backend *backend = backend_of(claim);
	dlock_call *call = dlock_call_give_back(claim_keys(claim), claim->token, true, NULL, false);

	ask(backend, call);
	int64_t released = dlock_call_integer(call, backend->conn, error);
	if (released == 0 && call->repeated) {
		released = 1; /* by the first sending, the answer to which was lost with a connection that had been alive */
	}
	dlock_call_release(call);
	if (released < 0) {
		give_back(claim);
		return DLOCK_CONNECTION;
	}
	claim->handed_over = released > 1;
	return released > 0 ? DLOCK_OK : dlock_fail(error, DLOCK_LOST, "The lock \"%.100s\" had been lost", claim->resource);
}

static dlock_status single_locked(dlock_backend *base, const char *resource, size_t len, bool *locked, dlock_error *error)
{
	single_backend *backend = (single_backend *) base;
	dlock_arg args[] = { DLOCK_ARG("EXISTS"), dlock_key_builder_keys(backend->keys, resource, len).lock };
	dlock_call *call = dlock_call_command(args, 2);

	ask(backend, call);
	int64_t exists = dlock_call_integer(call, backend->conn, error);
	dlock_call_release(call);
	*locked = exists > 0;
	return exists < 0 ? DLOCK_CONNECTION : DLOCK_OK;
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

	return dlock_is_same_key(ours->keys, claim, other->keys, resource, len) && dlock_server_is_same(ours->conn->server, other->conn->server);
}

static void single_dispose(dlock_claim *claim)
{
	drop_taking_up((single_claim *) claim);
}

static void single_destroy(dlock_backend *base)
{
	free(((single_backend *) base)->keys);
	free(base);
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
	.abandon = give_back,
	.look = single_look,
	.new_round = single_new_round,
	.is_same = single_is_same,
	.locked = single_locked,
	.dispose = single_dispose,
	.destroy = single_destroy,
};

dlock_backend *dlock_single_new(dlock_pool *pool, dlock_server *server, const char *prefix, size_t prefix_len, bool legacy)
{
	single_backend *backend = calloc(1, sizeof *backend);

	if (!backend) {
		return NULL;
	}
	dlock_backend_init(&backend->base, &single_ops);
	backend->base.legacy = legacy;
	backend->conn = dlock_pool_conn(pool, server);
	backend->inbox = dlock_pool_inbox(pool, server);
	backend->keys = dlock_key_builder_new(prefix, prefix_len, DLOCK_RESOURCE_MAX);
	if (!backend->conn || !backend->inbox || !backend->keys) {
		single_destroy(&backend->base);
		return NULL;
	}
	return &backend->base;
}

#include "replicated.h"

#include "../lock/renewal.h"
#include "delivery.h"
#include "replicated_requests.h"
#include "replicated_round.h"
#include "waiting.h"

#include <stdlib.h>
#include <string.h>

/* Redis servers that fail over. The scripts grant in a settled era only (lua/era.lua), and this file believes what enough replicas have confirmed:
 * whatever is promoted then, at least one of those that could confirm another lock knows this one. docs/fail-over.md has the protocol and its
 * reasons; models/failover.pml and models/failover/ check it. Waiting is that of single.c, but that a hand-over is confirmed like any other acquire. */

typedef struct {
	dlock_backend base;
	dlock_server *service;
	dlock_route route;
	dlock_nanos guard;
	dlock_key_builder *keys;
} replicated_backend;

typedef struct {
	dlock_claim base;
	int64_t ticket;        /* keeps its position in the queue, on whichever server; 0: none yet */
	int64_t number;        /* of the last request */
	dlock_nanos next_look; /* when to look again without having been notified */
	dlock_inbox *inbox;    /* of the master where it waits */
	const dlock_server *queued_at; /* whose queue it is in; only compared, or used as long as its connection is */
} replicated_claim;

static replicated_backend *backend_of(const dlock_claim *claim)
{
	return (replicated_backend *) claim->backend;
}

static dlock_keys claim_keys(const dlock_claim *claim)
{
	return dlock_key_builder_keys(backend_of(claim)->keys, claim->resource, claim->resource_len);
}

/* The connection to the slot's master as far as it is known; NULL: not known. */
static dlock_conn *conn_of(const replicated_backend *backend, int slot)
{
	dlock_server *master = dlock_topology_master(backend->route.topology, slot);

	return master ? dlock_pool_capped_conn(backend->route.pool, master, backend->route.timeout_cap) : NULL;
}

/* Releases, and leaves the queue, without waiting. Where the master has moved meanwhile, it is left to the lease time. */
static void replicated_abandon(dlock_claim *claim)
{
	dlock_keys keys = claim_keys(claim);
	dlock_conn *conn = conn_of(backend_of(claim), keys.slot);

	if (conn) {
		dlock_conn_send_background(conn, dlock_request_release(keys, claim->token, true, claim->token, claim->state == DLOCK_CLAIM_WAITING),
			dlock_after(dlock_now(), claim->ttl));
	}
}

/* Something of the claim may be executed later than what follows: a token that was released is not used again. Its place in the queue goes with its
 * ticket. */
static dlock_status begin_again(replicated_claim *claim, dlock_error *error)
{
	replicated_abandon(&claim->base);
	dlock_claim_move(&claim->base, DLOCK_CLAIM_NEW);
	return dlock_claim_renew_token(&claim->base, error);
}

/* ---- acquire ---- */

/* Tells the server that the era may settle. DLOCK_LOST: not so. */
static dlock_status tell_settled(const replicated_backend *backend, dlock_keys keys, dlock_era *era, const dlock_era *with,
	dlock_delivery *delivery, dlock_error *error)
{
	dlock_route once = backend->route;
	dlock_delivery settling;
	dlock_response response;

	once.replicas = 0; /* where it is lost with the master, so is the era */
	dlock_status status = dlock_deliver(&settling, &once, keys.slot, dlock_request_settle(keys, era, backend->guard, with), error);
	if (status == DLOCK_OK) {
		status = dlock_read_integer(settling.call, settling.conn, &response, error);
	}
	if (status == DLOCK_OK) {
		era->left = response.value;
	}
	delivery->transient = settling.transient;
	dlock_delivery_end(&settling);
	return status;
}

static dlock_status confirm_and_settle(const replicated_backend *backend, dlock_delivery *delivery, dlock_keys keys, dlock_era *era,
	dlock_error *error)
{
	dlock_status status = dlock_delivery_confirm(delivery, &backend->route, error);

	return status == DLOCK_OK ? tell_settled(backend, keys, era, NULL, delivery, error) : status;
}

/* In a cluster: with the first slot of the same master, so that all its slots settle together, and a lock whose slot was never used waits for nobody.
 * DLOCK_LOST: not so. */
static dlock_status settle_with_first(const replicated_backend *backend, dlock_delivery *delivery, int slot, dlock_era *era, dlock_error *error)
{
	const dlock_server *master = delivery->conn->server;
	int first = dlock_topology_first_slot(backend->route.topology, master);
	dlock_delivery looking;

	if (first < 0 || first == slot || era->settles[1] == '\0') {
		return DLOCK_LOST;
	}
	dlock_call *look = dlock_request_look(dlock_key_builder_slot(backend->keys, first), backend->guard);
	dlock_status status = dlock_deliver(&looking, &backend->route, first, look, error);
	dlock_era with = dlock_read_era(looking.call);
	if (status == DLOCK_OK && with.unsettled && with.left < 0) {
		status = confirm_and_settle(backend, &looking, dlock_key_builder_slot(backend->keys, first), &with, error);
		with.waited = backend->guard / DLOCK_MS;
	}
	if (status == DLOCK_OK && (!with.replid || strcmp(with.replid, era->replid) || strcmp(looking.conn->server->key, master->key))) {
		status = DLOCK_LOST;
	}
	if (status == DLOCK_OK) {
		status = tell_settled(backend, dlock_key_builder_slot(backend->keys, slot), era, &with, &looking, error);
	}
	delivery->transient = looking.transient;
	dlock_delivery_end(&looking);
	return status;
}

/* Replicas have the opening of the era, or not. From when it counts is for the server to say. */
static dlock_status settle(const replicated_backend *backend, dlock_delivery *delivery, int slot, dlock_era *era, dlock_error *error)
{
	dlock_status status = settle_with_first(backend, delivery, slot, era, error);

	if (status == DLOCK_LOST) {
		status = confirm_and_settle(backend, delivery, dlock_key_builder_slot(backend->keys, slot), era, error);
	}
	return status == DLOCK_LOST ? DLOCK_OK : status; /* somebody else has told it */
}

/* When it took longer than the lease lasts, or the era was not confirmed, in ms. */
#define TRY_AGAIN 20

/* DLOCK_TIMEOUT: it took longer than the lease lasts. */
static dlock_status accept_lease(replicated_claim *claim, dlock_delivery *delivery, dlock_response *response, dlock_error *error)
{
	dlock_claim *base = &claim->base;
	dlock_status status = dlock_delivery_confirm(delivery, &backend_of(base)->route, error);

	if (status != DLOCK_OK) {
		return status;
	}
	base->deadline = delivery->call->sent_at + base->ttl - dlock_drift(base->ttl);
	base->fencing_token = response->fencing_token;
	if (dlock_now() < base->deadline) {
		dlock_claim_move(base, DLOCK_CLAIM_HELD);
		return DLOCK_OK;
	}
	*response = (dlock_response) { .pttl = TRY_AGAIN };
	return begin_again(claim, error) == DLOCK_OK ? DLOCK_TIMEOUT : DLOCK_FAILED;
}

static dlock_call *acquire_call(replicated_claim *claim, dlock_keys keys, bool queue)
{
	dlock_claim *base = &claim->base;
	replicated_backend *backend = backend_of(base);
	dlock_attempt attempt = { .token = base->token, .ttl = base->ttl, .grant = true, .inbox = queue ? claim->inbox : NULL,
		.ticket = claim->ticket, .number = ++claim->number };

	return backend->route.replicas > 0 ? dlock_request_acquire_replicated(keys, &attempt, backend->guard) : dlock_request_acquire(keys, &attempt);
}

/* It is someone else's, or nobody gets it yet. */
static dlock_status refused(replicated_claim *claim, dlock_delivery *delivery, dlock_keys keys, bool queue, dlock_response *response,
	dlock_error *error)
{
	replicated_backend *backend = backend_of(&claim->base);
	dlock_era era = dlock_read_era(delivery->call);

	if (queue && claim->ticket && response->new_in_queue && claim->queued_at == delivery->conn->server) {
		dlock_inbox_discard(claim->inbox); /* it was in the queue and had been removed: its messages do not arrive */
	}
	if (queue) {
		claim->ticket = response->ticket;
		claim->queued_at = delivery->conn->server;
	}
	if (era.unsettled && era.left < 0) {
		dlock_status status = settle(backend, delivery, keys.slot, &era, error);
		if (status != DLOCK_OK) {
			return status;
		}
		response->pttl = era.left < 0 ? TRY_AGAIN : era.left;
	}
	claim->base.explained = era.unsettled;
	if (era.unsettled) {
		dlock_explain_era(delivery->conn, era.left, backend->guard, error);
	}
	return DLOCK_TIMEOUT;
}

/* DLOCK_TIMEOUT: not now. With `queue` the claim is in the queue then. DLOCK_CONNECTION with `transient`: another time, perhaps. */
static dlock_status attempt(replicated_claim *claim, bool queue, dlock_response *response, bool *transient, dlock_error *error)
{
	dlock_claim *base = &claim->base;
	dlock_keys keys = claim_keys(base);
	dlock_delivery delivery;

	if (queue) {
		dlock_claim_move(base, DLOCK_CLAIM_WAITING);
	}
	dlock_status status = dlock_deliver(&delivery, &backend_of(base)->route, keys.slot, acquire_call(claim, keys, queue), error);
	if (status == DLOCK_OK) {
		status = dlock_read_acquire(delivery.call, delivery.conn, response, error);
		if (status == DLOCK_OK) {
			status = accept_lease(claim, &delivery, response, error);
		} else if (status == DLOCK_LOST) {
			base->received = false;
			status = refused(claim, &delivery, keys, queue, response, error);
		}
	}
	/* Executed once more, it finds its own token and sets its lease time. */
	if (delivery.call && (delivery.repeated || (delivery.call->sent && (delivery.call->state != DLOCK_CALL_ANSWERED || delivery.call->repeated)))) {
		dlock_claim_add_unacknowledged_ttl(base, base->ttl);
	}
	*transient = status == DLOCK_CONNECTION && delivery.transient;
	if (status == DLOCK_CONNECTION && delivery.call && (delivery.repeated || dlock_request_may_take_effect(delivery.call)
			|| base->state == DLOCK_CLAIM_WAITING)) {
		dlock_error other;
		status = begin_again(claim, &other) == DLOCK_OK ? DLOCK_CONNECTION : DLOCK_FAILED;
		*error = status == DLOCK_FAILED ? other : *error;
	} else if (status == DLOCK_CONNECTION) {
		dlock_claim_move(base, DLOCK_CLAIM_NEW);
	}
	dlock_delivery_end(&delivery);
	return status;
}

/* Out of time. DLOCK_OK: it was granted in that instant, and can be acquired. */
static dlock_status leave_queue(replicated_claim *claim, dlock_error *error)
{
	dlock_keys keys = claim_keys(&claim->base);
	dlock_route route = backend_of(&claim->base)->route;
	dlock_delivery delivery;
	dlock_response response;

	route.replicas = 0;
	dlock_status status = dlock_deliver(&delivery, &route, keys.slot, dlock_request_leave(keys, claim->base.token, true), error);
	if (status == DLOCK_OK) {
		status = dlock_read_integer(delivery.call, delivery.conn, &response, error);
	}
	if (status == DLOCK_CONNECTION) {
		replicated_abandon(&claim->base);
	}
	dlock_delivery_end(&delivery);
	dlock_claim_move(&claim->base, DLOCK_CLAIM_NEW);
	return status == DLOCK_OK ? DLOCK_OK : DLOCK_TIMEOUT;
}

/* Sleeps until there is a reason to try again: the inbox broke, or it is time to look, or the claim was notified. What comes with a notification is
 * but a hint: the server may have been replaced since. */
static dlock_status wait_for_turn(replicated_claim *claim, const dlock_wait *wait)
{
	dlock_grant grant;
	dlock_nanos until = claim->next_look < wait->deadline ? claim->next_look : wait->deadline;

	while (dlock_inbox_is_open(claim->inbox)) {
		if (dlock_inbox_take(claim->inbox, claim->base.token, &grant)) {
			claim->base.received = true;
			return DLOCK_TIMEOUT;
		}
		int woken = dlock_inboxes_wait(&claim->inbox, 1, until, wait);
		if (woken <= 0) {
			return woken == DLOCK_WAIT_INTERRUPTED ? DLOCK_INTERRUPTED : DLOCK_TIMEOUT;
		}
	}
	return DLOCK_TIMEOUT;
}

/* A server that fails over, a slot that moves: how long until the next attempt. */
#define PAUSE (50 * DLOCK_MS)
#define PAUSE_JITTER 50 /* ms */

static dlock_status pause_attempts(const dlock_wait *wait)
{
	dlock_nanos until = dlock_now() + PAUSE + dlock_jitter(PAUSE_JITTER) * DLOCK_MS;

	until = until < wait->deadline ? until : wait->deadline;
	return dlock_wait_poll(NULL, 0, until, wait) == DLOCK_WAIT_INTERRUPTED ? DLOCK_INTERRUPTED : DLOCK_TIMEOUT;
}

/* Where the claim waits: at the slot's master. False: it cannot be told there. */
static bool open_inbox(replicated_claim *claim, dlock_error *error)
{
	replicated_backend *backend = backend_of(&claim->base);
	dlock_server *master = dlock_topology_master(backend->route.topology, claim_keys(&claim->base).slot);

	claim->inbox = master ? dlock_pool_inbox(backend->route.pool, master) : NULL;
	if (!claim->inbox) {
		dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: its master is not known", backend->service->label);
		return false;
	}
	if (dlock_inboxes_open(&claim->inbox, 1, 1) == 0) {
		*error = claim->inbox->conn->error;
		return false;
	}
	return true;
}

/* What may end by itself, a fail-over or a slot that moves, is waited for as a holder is. */
static bool may_end(const replicated_backend *backend, bool transient)
{
	return transient && (backend->service->discovery != DLOCK_SERVER_FIXED || backend->route.replicas > 0);
}

/* The server that has it in its queue is not the one where its inbox is: it was replaced meanwhile. */
static bool queues_elsewhere(const replicated_claim *claim)
{
	return claim->queued_at && strcmp(claim->queued_at->key, claim->inbox->conn->server->key);
}

static dlock_status replicated_acquire(dlock_claim *base, const dlock_wait *wait, dlock_error *error)
{
	replicated_claim *claim = (replicated_claim *) base;
	dlock_response response;
	bool transient;

	for (;;) {
		bool last = wait->deadline != DLOCK_FOREVER && dlock_now() >= wait->deadline, first = !base->waited;
		if (last && base->state == DLOCK_CLAIM_WAITING && leave_queue(claim, error) != DLOCK_OK) {
			return DLOCK_TIMEOUT;
		}
		bool queue = !last && !first && open_inbox(claim, error);
		dlock_status status = attempt(claim, queue, &response, &transient, error);
		if (last || (status != DLOCK_TIMEOUT && (status != DLOCK_CONNECTION || !may_end(backend_of(base), transient)))) {
			return status;
		}
		base->waited = true;
		if (status == DLOCK_TIMEOUT && (first || (queue && queues_elsewhere(claim)))) {
			continue;
		}
		if (status == DLOCK_TIMEOUT && queue) {
			claim->next_look = dlock_next_look(&response);
			status = wait_for_turn(claim, wait);
		} else {
			status = pause_attempts(wait);
		}
		if (status == DLOCK_INTERRUPTED) {
			return status;
		}
	}
}

/* ---- attach ---- */

/* As in single.c; in a settled era only, since a server that was promoted may not know that the handle was taken up. */
static dlock_status replicated_attach(dlock_claim *claim, const char *token, dlock_error *error)
{
	replicated_backend *backend = backend_of(claim);
	dlock_keys keys = claim_keys(claim);
	dlock_delivery delivery;
	dlock_response response;
	dlock_call *call = backend->route.replicas > 0 ? dlock_request_exchange_replicated(keys, token, claim->token, backend->guard)
		: dlock_request_exchange(keys, token, claim->token, 0);
	dlock_status status = dlock_deliver(&delivery, &backend->route, keys.slot, call, error);
	dlock_era era = dlock_read_era(delivery.call);

	if (status == DLOCK_OK && era.unsettled) {
		status = era.left < 0 ? settle(backend, &delivery, keys.slot, &era, error) : DLOCK_OK;
		if (status == DLOCK_OK) {
			dlock_explain_era(delivery.conn, era.left, backend->guard, error);
		}
		dlock_delivery_end(&delivery);
		return DLOCK_CONNECTION;
	}
	if (status == DLOCK_OK) {
		status = dlock_read_exchange(delivery.call, delivery.conn, &response, error);
	}
	if (status == DLOCK_OK) {
		status = dlock_delivery_confirm(&delivery, &backend->route, error);
	}
	if (status == DLOCK_OK) {
		dlock_nanos left = dlock_lease_left(response.pttl);
		claim->deadline = delivery.call->sent_at + left - dlock_drift(left);
		claim->fencing_token = response.fencing_token;
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	} else if (status == DLOCK_CONNECTION && delivery.conn && (delivery.repeated || dlock_request_may_take_effect(delivery.call))) {
		dlock_conn_send_background(delivery.conn, dlock_request_exchange_back(keys, token, claim->token), dlock_after(dlock_now(), claim->ttl));
	}
	dlock_delivery_end(&delivery);
	return status == DLOCK_LOST ? dlock_claim_came_late(claim, error) : status;
}

/* ---- while it is held ---- */

/* The server has no key: it was failed over to without it, and nobody else can have it before its era is settled; or it is lost. */
static dlock_status restore(replicated_backend *backend, dlock_claim *claim, dlock_keys keys, dlock_nanos ttl, dlock_delivery *delivery,
	dlock_error *error)
{
	dlock_response response;
	bool repeated = delivery->repeated;

	dlock_delivery_end(delivery);
	dlock_status status = dlock_deliver(delivery, &backend->route, keys.slot,
		dlock_request_restore(keys, claim->token, ttl, claim->fencing_token, backend->guard), error);
	delivery->repeated |= repeated;
	return status == DLOCK_OK ? dlock_read_integer(delivery->call, delivery->conn, &response, error) : status;
}

/* That the lock is lost counts only if replicas are there: a master that was replaced would say so, too. */
static dlock_status confirm(const replicated_backend *backend, dlock_status status, dlock_delivery *delivery, dlock_error *error)
{
	if (status != DLOCK_OK && status != DLOCK_LOST) {
		return status;
	}
	return dlock_delivery_confirm(delivery, &backend->route, error) == DLOCK_OK ? status : DLOCK_CONNECTION;
}

static dlock_status keep_at_master(dlock_claim *claim, dlock_keys keys, dlock_nanos ttl, dlock_delivery *delivery, dlock_error *error)
{
	replicated_backend *backend = backend_of(claim);
	dlock_key_state state = DLOCK_KEY_FOREIGN;
	dlock_status status = dlock_deliver(delivery, &backend->route, keys.slot, dlock_request_keep(keys, claim->token, ttl, true), error);

	if (status == DLOCK_OK) {
		status = dlock_read_keep(delivery->call, delivery->conn, &state, error);
	}
	if (status == DLOCK_OK && state != DLOCK_KEY_OWN && backend->route.replicas > 0) {
		status = restore(backend, claim, keys, ttl, delivery, error);
	} else if (status == DLOCK_OK && state != DLOCK_KEY_OWN) {
		status = DLOCK_LOST;
	}
	return confirm(backend, status, delivery, error);
}

/* It was asked without success, and is not the master any more. */
static bool is_replaced(const replicated_backend *backend, int slot, const dlock_delivery *delivery)
{
	const dlock_server *master = dlock_topology_master(backend->route.topology, slot);

	return master && delivery->conn && delivery->call && delivery->transient && strcmp(master->key, delivery->conn->server->key);
}

/* DLOCK_OK: the server has the key for so long, and replicas have confirmed it. */
static dlock_status keep(dlock_claim *claim, dlock_nanos ttl, dlock_delivery *delivery, dlock_error *error)
{
	dlock_keys keys = claim_keys(claim);
	dlock_status status = keep_at_master(claim, keys, ttl, delivery, error);

	if (status == DLOCK_CONNECTION && is_replaced(backend_of(claim), keys.slot, delivery)) {
		dlock_delivery_end(delivery);
		status = keep_at_master(claim, keys, ttl, delivery, error);
		delivery->repeated = true;
	}
	return status;
}

static dlock_status replicated_extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	dlock_delivery delivery;
	dlock_status status = keep(claim, ttl, &delivery, error);
	const dlock_call *call = delivery.call;

	/* What has ended by the holder's clock stays lost: another one may have had the lock on a server that was replaced meanwhile. */
	if (status == DLOCK_OK && !dlock_claim_expire(claim)) {
		dlock_nanos guaranteed = dlock_claim_guaranteed_ttl(claim, ttl);
		claim->ttl = ttl;
		claim->deadline = call->sent_at + guaranteed - dlock_drift(guaranteed);
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	} else if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The lock \"%.100s\" was lost: the server has it for someone else, or for nobody", claim->resource);
	} else if (call && call->sent && call->first_sent_at + ttl - dlock_drift(ttl) < claim->deadline) {
		/* A shorter lease that may have been set must be believed even without an answer. */
		claim->deadline = call->first_sent_at + ttl - dlock_drift(ttl);
	}
	if (call && (delivery.repeated || (call->sent && (call->state != DLOCK_CALL_ANSWERED || call->repeated)))) {
		dlock_claim_add_unacknowledged_ttl(claim, ttl);
	}
	dlock_delivery_end(&delivery);
	return status;
}

/* The time that the key has left proves nothing, as long as replicas have not confirmed it. */
static dlock_status replicated_check(dlock_claim *claim, dlock_error *error)
{
	return replicated_extend(claim, claim->ttl, error);
}

static dlock_status replicated_release(dlock_claim *claim, dlock_error *error)
{
	replicated_backend *backend = backend_of(claim);
	dlock_keys keys = claim_keys(claim);
	dlock_route once = backend->route;
	dlock_delivery delivery;
	dlock_response response;

	once.replicas = 0; /* nobody relies on it */
	dlock_status status = dlock_deliver(&delivery, &once, keys.slot, dlock_request_release(keys, claim->token, true, NULL, false), error);
	if (status == DLOCK_OK) {
		status = dlock_read_integer(delivery.call, delivery.conn, &response, error);
	}
	if (status == DLOCK_OK) {
		claim->handed_over = response.value > 1;
	} else if (status == DLOCK_LOST && (delivery.call->repeated || delivery.repeated)) {
		status = DLOCK_OK; /* by an earlier sending */
	} else if (status == DLOCK_LOST && backend->route.replicas > 0) {
		/* A server that was promoted without the key: until now it was this holder's. It is set for a millisecond. */
		status = confirm(backend, restore(backend, claim, keys, DLOCK_MS, &delivery, error), &delivery, error);
	}
	if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The lock \"%.100s\" had been lost", claim->resource);
	} else if (status != DLOCK_OK) {
		replicated_abandon(claim);
	}
	dlock_delivery_end(&delivery);
	return status;
}

static dlock_status replicated_locked(dlock_backend *base, const char *resource, size_t len, bool *locked, dlock_error *error)
{
	replicated_backend *backend = (replicated_backend *) base;
	dlock_keys keys = dlock_key_builder_keys(backend->keys, resource, len);
	dlock_arg args[] = { DLOCK_ARG("EXISTS"), keys.lock };
	dlock_route once = backend->route;
	dlock_delivery delivery;
	dlock_response response;

	once.replicas = 0;
	dlock_status status = dlock_deliver(&delivery, &once, keys.slot, dlock_call_command(args, 2), error);
	if (status == DLOCK_OK) {
		status = dlock_read_integer(delivery.call, delivery.conn, &response, error);
	}
	dlock_delivery_end(&delivery);
	*locked = status == DLOCK_OK;
	return status == DLOCK_LOST ? DLOCK_OK : status;
}

/* ---- the back end ---- */

static dlock_renewal_round *replicated_new_round(const dlock_claim *claim)
{
	const replicated_backend *backend = backend_of(claim);
	dlock_keys keys = claim_keys(claim);

	return dlock_replicated_round_new(claim, backend->service, dlock_topology_master(backend->route.topology, keys.slot), keys, backend->guard);
}

static const char *replicated_refuse(const dlock_backend *backend, const char *resource, size_t len)
{
	return dlock_key_builder_refuse(((const replicated_backend *) backend)->keys, resource, len);
}

static bool replicated_is_same(const dlock_claim *claim, dlock_backend *backend, const char *resource, size_t len)
{
	replicated_backend *ours = backend_of(claim), *other = (replicated_backend *) backend;

	return dlock_server_is_same(ours->service, other->service)
		&& dlock_key_builder_is_same(ours->keys, claim->resource, claim->resource_len, other->keys, resource, len);
}

static void replicated_destroy(dlock_backend *base)
{
	replicated_backend *backend = (replicated_backend *) base;

	if (backend->service) {
		dlock_server_release(backend->service);
	}
	free(backend->keys);
	free(backend);
}

static const dlock_backend_ops replicated_ops = {
	.name = "replicated",
	.claim_size = sizeof(replicated_claim),
	.detachable = true,
	.refuse = replicated_refuse,
	.acquire = replicated_acquire,
	.attach = replicated_attach,
	.extend = replicated_extend,
	.check = replicated_check,
	.release = replicated_release,
	.abandon = replicated_abandon,
	.new_round = replicated_new_round,
	.is_same = replicated_is_same,
	.locked = replicated_locked,
	.destroy = replicated_destroy,
};

dlock_backend *dlock_replicated_new(dlock_pool *pool, dlock_server *service, const char *prefix, size_t prefix_len)
{
	replicated_backend *backend = calloc(1, sizeof *backend);

	if (!backend) {
		return NULL;
	}
	dlock_backend_init(&backend->base, &replicated_ops);
	backend->service = dlock_server_retain(service);
	backend->route = (dlock_route) { pool, dlock_pool_topology(pool, service), service->replicas, DLOCK_FOREVER };
	backend->guard = service->guard;
	backend->keys = dlock_key_builder_new(prefix, prefix_len, DLOCK_RESOURCE_MAX);
	if (!backend->route.topology || !backend->keys) {
		replicated_destroy(&backend->base);
		return NULL;
	}
	if (dlock_topology_has_slots(backend->route.topology)) {
		dlock_key_builder_use_slots(backend->keys);
	}
	return &backend->base;
}

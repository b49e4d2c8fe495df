#include "service.h"

#include <stdlib.h>
#include <string.h>

#include "late_release.h"

/* What a holder does with its lease, and the back end. If servers fail over, the scripts grant only in a settled epoch
 * (epoch.lua), and this back end relies only on what enough replicas have confirmed. So whichever server is promoted
 * then, at least one of those that could confirm another lock knows this one. docs/fail-over.md has the protocol and
 * its reasons; tests/models/failover.pml and tests/models/failover/ check it. A lone server is a route of one hop that
 * no replica confirms. */

static dlock_slots *slots_of(const dlock_claim *claim)
{
	return ((const dlock_service_claim *) claim)->slots;
}

static bool service_is_spread(const dlock_backend *backend, const dlock_name *names, int count)
{
	const dlock_service *service = (const dlock_service *) backend;
	bool is_spread = false;

	for (int i = 1; i < count && dlock_topology_has_slots(service->masters.topology); i++) {
		is_spread |= dlock_key_builder_slot_of(service->keys, names[i])
			!= dlock_key_builder_slot_of(service->keys, names[0]);
	}
	return is_spread;
}

bool dlock_service_prepare(dlock_claim *base)
{
	dlock_service_claim *claim = (dlock_service_claim *) base;
	bool has_several = base->count > 1 || claim->is_part;

	if (service_is_spread(base->backend, base->names, base->count)) {
		claim->slots = claim->slots ? claim->slots : dlock_slots_new(base);
		return claim->slots;
	}
	if (has_several && !claim->several) {
		claim->several = dlock_key_builder_several(dlock_service_of(base)->keys, base->names, base->count);
	}
	return !has_several || claim->several;
}

static dlock_keys keys_of(const dlock_claim *claim)
{
	dlock_keys keys = dlock_key_builder_keys(
		dlock_service_of(claim)->keys, claim->names[0].text, claim->names[0].len);

	keys.several = ((const dlock_service_claim *) claim)->several;
	return keys;
}

static const dlock_keeping *keeping_by(const dlock_kind *kind, const dlock_endpoint *server)
{
	bool fixed = server->discovery == DLOCK_ENDPOINT_FIXED;

	return server->replicas > 0 ? kind->replicated : fixed ? kind->alone : kind->fails_over;
}

static const dlock_keeping *keeping_of(const dlock_claim *claim)
{
	const dlock_service *service = dlock_service_of(claim);

	return claim->count == 1 ? service->keeping : keeping_by(&dlock_several_locks, service->service);
}

dlock_subject dlock_service_subject(const dlock_claim *claim)
{
	const dlock_service *service = dlock_service_of(claim);

	return (dlock_subject) { .claim = claim,
		.keys = keys_of(claim),
		.guard = service->guard,
		.replicated = service->masters.replicas > 0,
		.fifo = service->fifo,
		.waiter = dlock_service_waiter(claim) };
}

dlock_call *dlock_service_unchanged(const dlock_claim *claim, const char *old)
{
	const dlock_service *service = dlock_service_of(claim);
	dlock_subject subject = dlock_service_subject(claim);

	return subject.replicated && service->guard.resyncs ? dlock_service_kind(claim)->unchanged(&subject, old, false)
														: NULL;
}

static dlock_call *unchanged_again(const void *claim, const char *old, bool final)
{
	dlock_subject subject = dlock_service_subject(claim);

	return dlock_service_kind(claim)->unchanged(&subject, old, final);
}

void dlock_service_begin_epoch(dlock_epoch *epoch, const dlock_claim *claim, dlock_nanos until, dlock_error *error)
{
	const dlock_service *service = dlock_service_of(claim);

	*epoch = (dlock_epoch) { .masters = &service->masters,
		.keys = service->keys,
		.guard = service->guard,
		.slot = dlock_service_subject(claim).keys.slot,
		.until = until,
		.error = error,
		.unchanged = unchanged_again,
		.claim = claim };
}

static dlock_kept_lease kept_lease(const dlock_claim *claim)
{
	return dlock_kept_lease_of(claim, dlock_service_subject(claim).keys, dlock_service_of(claim)->guard.time);
}

static dlock_loop *loop_of(const dlock_service *service)
{
	return dlock_pool_loop(service->masters.pool);
}

/* Begins a route to the claim's master. No replica confirms what goes over it. */
static void begin_plain(dlock_route *route, const dlock_claim *claim, dlock_error *error)
{
	dlock_route_begin(route, &dlock_service_of(claim)->masters, dlock_service_subject(claim).keys.slot, error);
	route->replicas = 0;
}

/* ---- without waiting ---- */

/* The call goes out before anything that is sent over the connection later. */
static void send_background(const dlock_claim *claim, dlock_conn *conn, dlock_call *call, dlock_nanos now)
{
	dlock_conn_send_background(conn, call, dlock_after(now, claim->ttl));
}

void dlock_service_give_back(const dlock_claim *claim, dlock_nanos now)
{
	const dlock_service *service = dlock_service_of(claim);
	dlock_subject subject = dlock_service_subject(claim);
	dlock_conn *conn = dlock_masters_conn(&service->masters, subject.keys.slot);

	if (service->masters.replicas > 0) {
		dlock_release_late(&service->masters, subject.keys.slot, dlock_service_kind(claim)->release(&subject, true),
			dlock_after(now, claim->ttl));
	}
	if (!conn) {
		return;
	}
	send_background(claim, conn, dlock_service_kind(claim)->release(&subject, true), now);
	/* while a slot moves, its master refuses scripts with more than one key */
	if (dlock_topology_has_slots(service->masters.topology)) {
		dlock_kept_lease lease = kept_lease(claim);
		for (int i = 0; i < dlock_kept_count(&lease); i++) {
			dlock_kept_lease one = dlock_kept_one(&lease, i);
			send_background(claim, conn, keeping_of(claim)->drop(&one), now);
		}
	}
}

static void service_abandon(dlock_claim *claim)
{
	if (slots_of(claim)) {
		dlock_slots_abandon(slots_of(claim));
		return;
	}
	dlock_service_give_back(claim, dlock_now());
	dlock_service_dispose(claim);
}

static void service_top_up(dlock_claim *claim)
{
	const dlock_service *service = dlock_service_of(claim);
	dlock_kept_lease lease = kept_lease(claim);
	dlock_conn *conn = dlock_masters_conn(&service->masters, lease.keys.slot);

	if (conn) {
		dlock_conn_send_background(
			conn, keeping_of(claim)->keep(&lease, claim->ttl, false), atomic_load(&claim->deadline));
	}
}

/* What is left of the lease if its key lasts for `pttl` ms. */
static dlock_nanos lease_left(const dlock_claim *claim, int64_t pttl)
{
	dlock_nanos left = dlock_lease_left(pttl);
	dlock_nanos margin = dlock_service_of(claim)->masters.replicas > 0 ? DLOCK_CLOCK_MARGIN : 0;

	return left > margin ? left - margin : 0;
}

/* ---- attach ---- */

typedef struct {
	dlock_task task;
	dlock_claim *claim;
	const char *old;
	dlock_route route;
	dlock_epoch epoch;
	bool again;
	int64_t left; /* ms until the server may grant it, if it has done nothing; -1: it has, or may have */
	dlock_said answer;
	dlock_nanos sent_at, until;
	dlock_status said;
} attaching;

static void ask_for_exchange(attaching *own)
{
	const dlock_service *service = dlock_service_of(own->claim);
	dlock_subject subject = dlock_service_subject(own->claim);

	dlock_route_begin(&own->route, &service->masters, subject.keys.slot, own->epoch.error);
	dlock_route_send(
		&own->route, dlock_service_kind(own->claim)->exchange(&subject, own->old),
		dlock_service_unchanged(own->claim, own->old));
}

/* A promoted server may not know that another process has attached the handle. So the exchange needs a settled epoch.
 * True: the epoch is not settled. */
static bool read_refusal(attaching *own)
{
	own->left = -1;
	own->epoch.state = own->said == DLOCK_OK ? dlock_read_epoch(own->route.call) : (dlock_epoch_state) { 0 };
	return own->epoch.state.open;
}

static void take_settled(attaching *own)
{
	if (own->said == DLOCK_OK) {
		dlock_explain_epoch(own->route.conn, own->epoch.state.left, own->epoch.error);
		own->left = own->route.repeated ? -1 : own->epoch.state.left;
	}
	own->said = DLOCK_CONNECTION;
}

static void read_exchange(attaching *own)
{
	own->sent_at = own->route.call->sent_at;
	own->said = dlock_service_kind(own->claim)->read_exchange(
		own->route.call, own->route.conn, &own->answer, own->epoch.error);
	if (own->said == DLOCK_OK && lease_left(own->claim, own->answer.pttl) == 0) {
		own->said = DLOCK_LOST;
	}
}

static void accept_exchange(attaching *own)
{
	dlock_claim *claim = own->claim;
	dlock_nanos left = lease_left(claim, own->answer.pttl);

	if (own->said != DLOCK_OK) {
		own->said = DLOCK_CONNECTION;
		return;
	}
	claim->deadline = own->sent_at + left - dlock_drift(left);
	claim->fencing_token = own->answer.fencing_token;
	claim->permits = own->answer.permits;
	dlock_claim_move(claim, DLOCK_CLAIM_HELD);
}

/* An unanswered request with the old token, perhaps for a shorter lease time, does no harm. Once the server has
 * executed the exchange, that request finds another token. The exchange is not sent again, so the server does not
 * execute it after this. */
static void undo_exchange(attaching *own, bool refused, dlock_nanos now)
{
	const dlock_service *service = dlock_service_of(own->claim);
	dlock_subject subject = dlock_service_subject(own->claim);
	bool may_be_done = own->route.repeated || (!refused && dlock_request_may_take_effect(own->route.call));

	if (own->said == DLOCK_CONNECTION && own->route.conn && may_be_done) {
		const dlock_kind *kind = dlock_service_kind(own->claim);
		dlock_conn *conn = dlock_masters_conn(&service->masters, subject.keys.slot);
		conn = conn ? conn : own->route.conn;
		send_background(own->claim, conn, kind->exchange_back(&subject, own->old), now);
		if (own->claim->count > 1) { /* if a part was lost meanwhile, that has failed: this releases the rest */
			send_background(own->claim, conn, kind->release(&subject, false), now);
		}
	}
}

static dlock_status attach_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	attaching *own = task;

	DLOCK_BEGIN(&own->task);
	for (own->again = true;; own->again = false) {
		ask_for_exchange(own);
		DLOCK_JOIN(&own->task, own->said, dlock_route_step(&own->route, loop, now));
		if (read_refusal(own)) {
			if (own->epoch.state.left < 0) {
				DLOCK_JOIN(&own->task, own->said, dlock_epoch_settle(&own->epoch, &own->route, loop, now));
			}
			take_settled(own);
			undo_exchange(own, true, now);
		} else {
			if (own->said == DLOCK_OK) {
				read_exchange(own);
			}
			if (own->said == DLOCK_OK) {
				DLOCK_JOIN(&own->task, own->said, dlock_epoch_confirm(&own->epoch, &own->route, loop, now));
				accept_exchange(own);
			}
			undo_exchange(own, false, now);
		}
		dlock_route_end(&own->route);
		if (!own->again || own->left < 0 || own->left > DLOCK_AT_ONCE) {
			break;
		}
		own->until = now + own->left * DLOCK_MS;
		DLOCK_AWAIT(&own->task, dlock_loop_is_time(loop, own->until, now));
	}
	DLOCK_END(&own->task);
	return own->said;
}

static dlock_status service_attach(dlock_claim *claim, const char *token, dlock_error *error)
{
	attaching own = { .claim = claim, .old = token };

	if (!dlock_service_prepare(claim)) {
		return dlock_out_of_memory(error);
	}
	if (slots_of(claim)) {
		return dlock_fail(error, DLOCK_FAILED, "There is no handle of locks in several hash slots");
	}
	dlock_service_begin_epoch(&own.epoch, claim, DLOCK_FOREVER, error);
	own.epoch.old = own.old;
	dlock_status status = dlock_loop_run(loop_of(dlock_service_of(claim)), attach_step, &own, DLOCK_FOREVER, NULL);
	dlock_epoch_end(&own.epoch);
	return status == DLOCK_LOST ? dlock_claim_came_late(claim, error) : status;
}

/* ---- while it is held ---- */

/* Other tasks may be stepped in between, and have asked the key builder for other keys. */
dlock_status dlock_extending_step(void *extending, dlock_loop *loop, dlock_nanos now)
{
	dlock_extending *own = extending;

	own->lease.keys = dlock_service_subject(own->claim).keys;
	return dlock_keep_step(&own->keep, loop, now);
}

/* The claim relies on the guaranteed part of the time only. If the server may fail over, a lease that has expired by
 * the holder's clock stays lost. Another client may have held the lock meanwhile, on a server that was replaced
 * since. */
static void set_deadline(dlock_claim *claim, dlock_nanos sent_at, dlock_nanos ttl)
{
	dlock_nanos guaranteed = dlock_claim_guaranteed_ttl(claim, ttl);

	if (!dlock_service_fails_over(dlock_service_of(claim)) || !dlock_claim_expire_if_due(claim)) {
		claim->deadline = sent_at + guaranteed - dlock_drift(guaranteed);
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	}
}

void dlock_extending_begin(dlock_extending *own, dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	*own = (dlock_extending) { .claim = claim, .lease = kept_lease(claim), .ttl = ttl, .begun = dlock_now(),
		.error = error };
	own->keep = (dlock_keep) { .keeping = keeping_of(claim), .lease = &own->lease, .ttl = ttl, .shortens = true };
	dlock_route_begin(&own->keep.route, &dlock_service_of(claim)->masters, own->lease.keys.slot, error);
}

void dlock_extending_end(dlock_extending *own, dlock_status status)
{
	dlock_claim *claim = own->claim;
	dlock_keep *keep = &own->keep;
	dlock_nanos ttl = own->ttl, begun = own->begun;
	const dlock_call *call = keep->route.call;

	if (status == DLOCK_OK) {
		set_deadline(claim, keep->sent_at, ttl);
		claim->ttl = ttl;
	} else if (status == DLOCK_LOST) {
		dlock_fail(own->error, DLOCK_LOST,
			"The lock \"%s\" was lost: its key was deleted or belongs to another client",
			dlock_claim_name(claim).text);
	} else if (call && (call->sent || keep->route.repeated) && begun + ttl - dlock_drift(ttl) < claim->deadline) {
		/* A server may have set a shorter lease without an answer. So the holder relies on no more than that. */
		claim->deadline = begun + ttl - dlock_drift(ttl);
	}
	if (dlock_route_may_run_later(&keep->route)) {
		dlock_claim_add_unacknowledged_ttl(claim, ttl);
	}
	dlock_route_end(&keep->route);
}

static dlock_status service_extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	dlock_extending own;

	if (slots_of(claim)) {
		return dlock_slots_extend(slots_of(claim), ttl, error);
	}
	dlock_extending_begin(&own, claim, ttl, error);
	dlock_status status = dlock_loop_run(
		loop_of(dlock_service_of(claim)), dlock_extending_step, &own, DLOCK_FOREVER, NULL);
	dlock_extending_end(&own, status);
	return status;
}

static dlock_status service_check(dlock_claim *claim, dlock_error *error)
{
	const dlock_service *service = dlock_service_of(claim);
	dlock_route route;
	int64_t pttl = 0;

	if (service->keeping != service->kind->alone) { /* the time left proves nothing until replicas have confirmed it */
		return service_extend(claim, claim->ttl, error);
	}
	dlock_subject subject = dlock_service_subject(claim);
	begin_plain(&route, claim, error);
	dlock_status status = dlock_route_ask(&route, dlock_service_kind(claim)->check(&subject));
	if (status == DLOCK_OK) {
		status = dlock_service_kind(claim)->read_check(route.call, route.conn, &pttl, error);
		status = status == DLOCK_OK && lease_left(claim, pttl) == 0 ? DLOCK_LOST : status;
	}
	if (status == DLOCK_OK) {
		set_deadline(claim, route.call->sent_at, lease_left(claim, pttl));
	} else if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The server no longer holds the lock \"%s\" for this lease",
			dlock_claim_name(claim).text);
	}
	dlock_route_end(&route);
	return status;
}

/* ---- readers and writers ---- */

static dlock_status was_lost(const dlock_claim *claim, dlock_error *error)
{
	return dlock_fail(error, DLOCK_LOST,
		"The lock \"%s\" was lost: its key was deleted or belongs to another client", dlock_claim_name(claim).text);
}

/* Neither change shortens the lease, so the former deadline remains true. */
static void set_later_deadline(dlock_claim *claim, dlock_nanos sent_at)
{
	dlock_nanos before = claim->deadline;

	set_deadline(claim, sent_at, claim->ttl);
	dlock_claim_raise_deadline(claim, before);
}

typedef struct {
	dlock_task task;
	dlock_claim *claim;
	const char *rest;
	dlock_route route;
	dlock_epoch epoch;
	dlock_permits_response answer;
	dlock_response refusal; /* how long to wait */
	dlock_nanos sent_at, until;
	bool again, gone; /* `gone`: the server does not have the reader any more */
	dlock_status said;
} upgrading;

/* As `old` for unchanged(): if the server reverses the upgrade, the claim is a reader again. */
#define READS_AGAIN "-"

static void ask_for_upgrade(upgrading *own)
{
	const dlock_service *service = dlock_service_of(own->claim);
	dlock_subject subject = dlock_service_subject(own->claim);

	dlock_route_begin(&own->route, &service->masters, subject.keys.slot, own->epoch.error);
	dlock_route_send(&own->route, dlock_service_kind(own->claim)->upgrade(&subject, own->rest),
		dlock_service_unchanged(own->claim, READS_AGAIN));
}

static void read_upgrade(upgrading *own)
{
	if (own->said == DLOCK_OK) {
		own->sent_at = own->route.call->sent_at;
		own->said = dlock_read_permits(own->route.call, own->route.conn, &own->answer, own->epoch.error);
		own->refusal = own->answer.refusal;
		own->gone = own->said == DLOCK_LOST && own->refusal.position != -1;
	}
}

/* Called with the outcome of dlock_epoch_confirm() in `said`. If replicas have not confirmed the upgrade, the server
 * may have the claim as the writer. The claim relies on no more than a reader's permit. */
static void accept_upgrade(upgrading *own)
{
	dlock_claim *claim = own->claim;

	if (own->said == DLOCK_OK) {
		claim->fencing_token = own->answer.fencing_token;
		claim->permits = own->answer.permits;
		set_later_deadline(claim, own->sent_at);
	} else if (own->said == DLOCK_LOST) { /* the server has opened its epoch anew */
		claim->explained = true;
		own->said = DLOCK_TIMEOUT;
	}
}

static dlock_status upgrade_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	upgrading *own = task;

	DLOCK_BEGIN(&own->task);
	for (own->again = true;; own->again = false) {
		ask_for_upgrade(own);
		DLOCK_JOIN(&own->task, own->said, dlock_route_step(&own->route, loop, now));
		read_upgrade(own);
		own->epoch.at_once = false;
		if (own->said == DLOCK_OK) {
			DLOCK_JOIN(&own->task, own->said, dlock_epoch_confirm(&own->epoch, &own->route, loop, now));
			accept_upgrade(own);
		} else if (own->said == DLOCK_LOST && !own->gone) {
			DLOCK_JOIN(&own->task, own->said,
				dlock_epoch_refused(&own->epoch, &own->route, &own->refusal, loop, now));
			own->claim->explained = own->epoch.explained;
		}
		dlock_route_end(&own->route);
		if (!own->again || own->said != DLOCK_TIMEOUT || !own->epoch.at_once) {
			break;
		}
		own->until = now + own->epoch.state.left * DLOCK_MS;
		DLOCK_AWAIT(&own->task, dlock_loop_is_time(loop, own->until, now));
	}
	DLOCK_END(&own->task);
	return own->said;
}

static dlock_status service_upgrade(dlock_claim *claim, const char *rest, dlock_error *error)
{
	upgrading own = { .claim = claim, .rest = rest };

	if (((const dlock_service_claim *) claim)->may_become_reader) {
		return dlock_fail(error, DLOCK_FAILED,
			"An earlier downgrade() of the lock \"%s\" may still reach the server, and others would read: release, "
			"then acquire",
			dlock_claim_name(claim).text);
	}
	claim->explained = false;
	dlock_service_begin_epoch(&own.epoch, claim, DLOCK_FOREVER, error);
	own.epoch.old = READS_AGAIN;
	dlock_status status = dlock_loop_run(loop_of(dlock_service_of(claim)), upgrade_step, &own, DLOCK_FOREVER, NULL);
	dlock_epoch_end(&own.epoch);
	if (status == DLOCK_LOST && dlock_service_subject(claim).replicated) {
		/* The server that says so may have been replaced, or promoted without the lease. Replicas know, and the lease
		 * may be restored. */
		status = service_extend(claim, claim->ttl, error);
		return status == DLOCK_OK ? DLOCK_TIMEOUT : status;
	}
	return status == DLOCK_LOST ? was_lost(claim, error) : status;
}

static dlock_status service_downgrade(dlock_claim *claim, dlock_error *error)
{
	dlock_subject subject = dlock_service_subject(claim);
	dlock_response response;
	dlock_route route;

	begin_plain(&route, claim, error); /* only clients that are granted permits after it rely on it */
	dlock_status status = dlock_route_ask(&route, dlock_service_kind(claim)->downgrade(&subject));
	if (status == DLOCK_OK) {
		status = dlock_read_integer(route.call, route.conn, &response, error);
	}
	if (dlock_route_may_run_later(&route)) {
		((dlock_service_claim *) claim)->may_become_reader = true;
		claim->permits = 1;
	}
	if (status == DLOCK_OK) {
		claim->permits = 1;
		if (!subject.replicated) {
			set_later_deadline(claim, route.call->sent_at);
		}
	}
	dlock_route_end(&route);
	if (status == DLOCK_LOST && subject.replicated) { /* as in an upgrade */
		claim->permits = 1;
		return service_extend(claim, claim->ttl, error);
	}
	return status == DLOCK_LOST ? was_lost(claim, error) : status;
}

/* ---- release ---- */

static void read_release(dlock_releasing *own)
{
	dlock_response response = { .value = 0 };

	if (own->said == DLOCK_OK) {
		own->said = dlock_read_integer(own->route.call, own->route.conn, &response, own->route.error);
	}
	own->answer = response.value;
}

/* While a slot moves, its master refuses scripts with more than one key. */
static bool is_slot_moving(const dlock_releasing *own)
{
	return own->said == DLOCK_CONNECTION && own->route.conn && own->route.call
		&& own->route.call->state == DLOCK_CALL_ANSWERED && own->route.transient
		&& dlock_topology_has_slots(own->route.masters->topology);
}

/* Drops several locks one after the other. */
static void drop_next(dlock_releasing *own)
{
	own->lease = kept_lease(own->claim);
	own->lease = dlock_kept_one(&own->lease, own->dropped);
	dlock_route_send(&own->route, keeping_of(own->claim)->drop(&own->lease), NULL);
}

static void read_dropped(dlock_releasing *own)
{
	read_release(own);
	own->worst = own->dropped == 0 || own->worst == DLOCK_OK || own->said == DLOCK_CONNECTION ? own->said
																								: own->worst;
}

/* Did an earlier sending release the lock? Then its answer was lost with a connection that had been alive. */
static bool was_released_before(const dlock_releasing *own, dlock_nanos now)
{
	return (own->route.call->repeated || own->route.repeated)
		&& (!dlock_service_kind(own->claim)->lasts || now < atomic_load(&own->claim->deadline));
}

/* The server may have been promoted without the lock. The lock was this holder's until now, if no other client can have
 * acquired it. */
static void ask_for_restoring(dlock_releasing *own)
{
	own->lease = kept_lease(own->claim);
	own->route.replicas = own->route.masters->replicas;
	dlock_route_send(&own->route, keeping_of(own->claim)->restore(&own->lease, 0), NULL);
}

dlock_status dlock_releasing_step(void *releasing, dlock_loop *loop, dlock_nanos now)
{
	dlock_releasing *own = releasing;

	DLOCK_BEGIN(&own->task);
	DLOCK_JOIN(&own->task, own->said, dlock_route_step(&own->route, loop, now));
	read_release(own);
	if (is_slot_moving(own)) {
		for (own->dropped = 0; own->dropped < own->claim->count; own->dropped++) {
			drop_next(own);
			DLOCK_JOIN(&own->task, own->said, dlock_route_step(&own->route, loop, now));
			read_dropped(own);
		}
		own->said = own->worst;
	}
	if (own->said == DLOCK_OK) {
		own->claim->handed_over = own->answer > 1;
	} else if (own->said == DLOCK_LOST && was_released_before(own, now)) {
		own->said = DLOCK_OK;
	} else if (own->said == DLOCK_LOST && own->route.masters->replicas > 0) {
		ask_for_restoring(own);
		DLOCK_JOIN(&own->task, own->said, dlock_route_step(&own->route, loop, now));
		read_release(own);
		if (own->said == DLOCK_OK || own->said == DLOCK_LOST) {
			DLOCK_JOIN(&own->task, own->confirmed, dlock_route_confirm(&own->route, loop, now));
			own->said = own->confirmed == DLOCK_OK ? own->said : DLOCK_CONNECTION;
		}
	}
	DLOCK_END(&own->task);
	return own->said;
}

void dlock_releasing_begin(dlock_releasing *own, dlock_claim *claim, dlock_error *error)
{
	dlock_subject subject = dlock_service_subject(claim);

	*own = (dlock_releasing) { .claim = claim };
	begin_plain(&own->route, claim, error); /* no client relies on it */
	dlock_route_send(&own->route, dlock_service_kind(claim)->release(&subject, false), NULL);
}

void dlock_releasing_end(dlock_releasing *own, dlock_status status)
{
	if (status == DLOCK_LOST) {
		dlock_fail(own->route.error, DLOCK_LOST, "The lock \"%s\" had been lost", dlock_claim_name(own->claim).text);
	} else if (status != DLOCK_OK) {
		dlock_service_give_back(own->claim, dlock_now());
	}
	dlock_route_end(&own->route);
}

static dlock_status service_release(dlock_claim *claim, dlock_error *error)
{
	dlock_releasing own;

	if (slots_of(claim)) {
		return dlock_slots_release(slots_of(claim), error);
	}
	dlock_releasing_begin(&own, claim, error);
	dlock_status status = dlock_loop_run(
		loop_of(dlock_service_of(claim)), dlock_releasing_step, &own, DLOCK_FOREVER, NULL);
	dlock_releasing_end(&own, status);
	return status;
}

/* ---- what any process may ask ---- */

static dlock_status count(dlock_backend *backend, const char *resource, size_t len, bool *held, int64_t *available,
	dlock_error *error)
{
	dlock_service *service = (dlock_service *) backend;
	dlock_keys keys = dlock_key_builder_keys(service->keys, resource, len);
	dlock_route route;

	*held = false;
	dlock_route_begin(&route, &service->masters, keys.slot, error);
	route.replicas = 0;
	dlock_status status = dlock_route_ask(&route, service->kind->counts(keys.lock, backend->capacity));
	if (status == DLOCK_OK) {
		status = service->kind->read_counts(route.call, route.conn, held, available, error);
	}
	dlock_route_end(&route);
	return status;
}

static dlock_status service_locked(
	dlock_backend *backend, const char *resource, size_t len, bool *locked, dlock_error *error)
{
	int64_t available;

	return count(backend, resource, len, locked, &available, error);
}

static dlock_status service_available(
	dlock_backend *backend, const char *resource, size_t len, int64_t *available, dlock_error *error)
{
	bool held;

	return count(backend, resource, len, &held, available, error);
}

/* ---- the back end ---- */

static dlock_renewal_round *service_new_round(const dlock_claim *claim)
{
	const dlock_service *service = dlock_service_of(claim);
	bool has_several = claim->count > 1 || ((const dlock_service_claim *) claim)->is_part;
	dlock_several_keys *several = NULL;

	if (slots_of(claim)) {
		return dlock_slots_new_round(slots_of(claim));
	}
	dlock_kept_lease lease = kept_lease(claim);
	if (claim->description && claim->count == 1) {
		lease.keys.held = dlock_key_builder_held(service->keys, lease.keys);
	}
	if (has_several) {
		several = dlock_key_builder_several(service->keys, claim->names, claim->count);
		lease = kept_lease(claim);
		lease.keys.several = several;
	}
	dlock_renewal_round *round = has_several && !several ? NULL : dlock_keep_round_new(keeping_of(claim), &lease,
		service->service, dlock_topology_master(service->masters.topology, lease.keys.slot), claim->description);
	if (!round) {
		free(several);
	}
	return round;
}

static const char *service_refuse(const dlock_backend *backend, const char *resource, size_t len)
{
	return dlock_key_builder_refuse(((const dlock_service *) backend)->keys, resource, len);
}

static bool service_is_same(const dlock_backend *a, const dlock_backend *b)
{
	return dlock_endpoint_is_same(((const dlock_service *) a)->service, ((const dlock_service *) b)->service);
}

static dlock_status service_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	if (!dlock_service_prepare(claim)) {
		return dlock_out_of_memory(error);
	}
	return slots_of(claim) ? dlock_slots_acquire(slots_of(claim), wait, error)
						   : dlock_service_acquire(claim, wait, error);
}

static void service_dispose(dlock_claim *claim)
{
	if (slots_of(claim)) {
		dlock_slots_free(slots_of(claim));
	}
	dlock_service_dispose(claim);
	free(((dlock_service_claim *) claim)->several);
}

static void service_destroy(dlock_backend *backend)
{
	dlock_service *service = (dlock_service *) backend;

	dlock_pool_return(service->masters.conn, service->inbox);
	dlock_endpoint_release(service->service);
	free(service->keys);
	free(service);
}

#define COMMON                                                                                                         \
	.claim_size = sizeof(dlock_service_claim), .detachable = true, .refuse = service_refuse,                           \
	.is_spread = service_is_spread, .acquire = service_acquire, .attach = service_attach,                              \
	.extend = service_extend, .check = service_check, .release = service_release, .abandon = service_abandon,          \
	.top_up = service_top_up, .new_round = service_new_round, .is_same = service_is_same,                              \
	.locked = service_locked, .inspect = dlock_service_inspect, .list = dlock_service_list,                            \
	.list_all = dlock_service_list_all, .break_claim = dlock_service_break, .dispose = service_dispose,                \
	.destroy = service_destroy

static const dlock_backend_ops lone_ops = { .name = "single", .legacy_tokens = true, COMMON };
static const dlock_backend_ops failing_over_ops = { .name = "replicated", COMMON };
static const dlock_backend_ops permits_ops = { .name = "permits", .available = service_available,
	.upgrade = service_upgrade, .downgrade = service_downgrade, COMMON };

static dlock_service *service_new(const dlock_kind *kind, dlock_pool *pool, dlock_endpoint *server, const char *prefix,
	size_t prefix_len)
{
	bool fixed = server->discovery == DLOCK_ENDPOINT_FIXED, fails_over = server->replicas > 0 || !fixed;
	const dlock_backend_ops *ops = kind == &dlock_permits ? &permits_ops : fails_over ? &failing_over_ops : &lone_ops;
	dlock_service *service = dlock_backend_new(ops, sizeof *service, prefix, prefix_len);

	if (!service) {
		return NULL;
	}
	service->kind = kind;
	service->keeping = keeping_by(kind, server);
	service->service = dlock_endpoint_retain(server);
	service->masters = (dlock_masters) { pool, dlock_pool_topology(pool, server), server->replicas, NULL };
	service->guard = (dlock_epoch_rule) { server->guard, server->resync_guard, dlock_endpoint_enough(server) };
	service->keys = dlock_key_builder_new(prefix, prefix_len, DLOCK_RESOURCE_MAX);
	if (!service->masters.topology || !service->keys
		|| (fixed && !dlock_pool_lend(pool, server, &service->masters.conn, &service->inbox))) {
		service_destroy(&service->base);
		return NULL;
	}
	if (dlock_topology_has_slots(service->masters.topology)) {
		dlock_key_builder_use_slots(service->keys);
	}
	if (server->replicas > 0) {
		service->base.ttls = (dlock_ttl_range) { DLOCK_TTL_MIN, server->guard, true };
	}
	return service;
}

dlock_backend *dlock_lock_new(
	dlock_pool *pool, dlock_endpoint *server, const char *prefix, size_t prefix_len, bool legacy)
{
	dlock_service *service = service_new(&dlock_locks, pool, server, prefix, prefix_len);

	if (service) {
		service->base.legacy = legacy && !dlock_service_fails_over(service);
		if (service->base.legacy) {
			service->base.one_only = "must be one name with legacy: true, since older programs know no queue; for "
									 "several at once use another prefix, without legacy";
		}
	}
	return service ? &service->base : NULL;
}

dlock_backend *dlock_permits_new(
	dlock_pool *pool, dlock_endpoint *server, const char *prefix, size_t prefix_len, int64_t capacity, bool fifo)
{
	dlock_service *service = service_new(&dlock_permits, pool, server, prefix, prefix_len);

	if (!service) {
		return NULL;
	}
	service->fifo = fifo;
	service->base.capacity = capacity;
	return &service->base;
}

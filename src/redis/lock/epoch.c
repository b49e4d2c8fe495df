#include "epoch.h"

#include <string.h>

/* In a cluster, the slots of one master settle together with the first of them. So a lock in a slot that was never used
 * does not wait then, and not every slot has to wait for the guard. If both epochs were opened for the same replication
 * id, what the first slot's epoch has waited counts for another slot of the same server. */

/* Tells the server that a slot's epoch may settle, because replicas have confirmed its opening. */
static void begin_telling(dlock_epoch *own, int slot, const dlock_epoch_state *state, const dlock_epoch_state *with)
{
	dlock_keys keys = dlock_key_builder_slot(own->keys, slot);

	dlock_route_begin(&own->telling_route, own->masters, slot, own->error);
	own->telling_route.until = own->until;
	own->telling_route.replicas = 0; /* if it is lost with the master, so is the epoch's state */
	dlock_route_send(&own->telling_route, dlock_request_settle(keys, state, own->guard, with), NULL);
}

/* `settled` becomes DLOCK_LOST if the server has set no time. */
static void take_told(dlock_epoch *own, dlock_route *route, dlock_epoch_state *state)
{
	dlock_response response;

	if (own->settled == DLOCK_OK) {
		own->settled = dlock_read_integer(own->telling_route.call, own->telling_route.conn, &response, own->error);
	}
	if (own->settled == DLOCK_OK) {
		state->left = response.value;
	}
	route->transient = own->telling_route.transient;
	dlock_route_end(&own->telling_route);
}

/* ---- settling at once ---- */

/* What settle_now.lua replies if it has no proof, but has noted how far the clocks are apart. */
enum { CLOCKS_NOTED = 2 };

/* If the nodes have proved nothing, the client asks them again after this time at the earliest. */
#define ASK_AGAIN (500 * DLOCK_MS)

/* Do the data of this epoch continue those of a settled one, or is it settled? Otherwise nodes cannot prove
 * anything. */
static bool may_be_proved(const dlock_epoch_state *state)
{
	const char *seen = state->settles ? strchr(state->settles, '/') : NULL;

	return seen && seen[1];
}

static bool is_known(const dlock_route *route, const dlock_epoch_state *state)
{
	return *state->replid && !strcmp(route->conn->survey.replid, state->replid);
}

static void begin_surveying(dlock_epoch *own, const dlock_route *route)
{
	own->asked = true;
	dlock_surveying_end(&own->surveying);
	own->surveying = (dlock_surveying) { .masters = own->masters, .master = route->conn->server,
		.enough = own->guard.enough, .guard = own->guard.time, .until = own->until };
}

static void begin_proving(dlock_epoch *own, const dlock_route *route, int slot, const dlock_epoch_state *state)
{
	dlock_keys keys = dlock_key_builder_slot(own->keys, slot);

	dlock_route_begin(&own->telling_route, own->masters, slot, own->error);
	own->telling_route.until = own->until;
	own->telling_route.replicas = 0;
	dlock_route_send(
		&own->telling_route, dlock_request_settle_now(keys, state, own->guard, &route->conn->survey), NULL);
}

static void take_proved(dlock_epoch *own, dlock_route *route)
{
	dlock_response response = { .value = 0 };

	if (own->proved == DLOCK_OK) {
		own->proved = dlock_read_integer(own->telling_route.call, own->telling_route.conn, &response, own->error);
	}
	own->noted = own->proved == DLOCK_OK && response.value == CLOCKS_NOTED;
	own->proved = own->noted ? DLOCK_LOST : own->proved;
	route->transient = own->telling_route.transient;
	dlock_route_end(&own->telling_route);
}

/* An earlier survey may be out of date, because a replica may have attached since. So the client asks the nodes again
 * if that survey has proved nothing, or not shown how far the clocks are apart. */
static bool is_to_be_asked_again(
	const dlock_epoch *own, const dlock_route *route, const dlock_epoch_state *state, dlock_nanos now)
{
	return own->proved == DLOCK_LOST && !own->asked
		&& (may_be_proved(state) || (!own->noted && now >= route->conn->survey.at + ASK_AGAIN));
}

/* Surveys the nodes, unless an earlier survey of this epoch is known, and sends the result to the server. DLOCK_LOST:
 * the result does not prove that this server knows all leases. */
static dlock_status prove(dlock_epoch *own, dlock_route *route, int slot, const dlock_epoch_state *state,
	dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->proving);
	own->asked = false;
	do {
		if (own->asked || !is_known(route, state)) {
			begin_surveying(own, route);
			DLOCK_JOIN(&own->proving, own->proved, dlock_surveying_step(&own->surveying, loop, now));
			route->conn->survey = own->surveying.survey;
		}
		own->proved = DLOCK_LOST;
		own->noted = false;
		if (is_known(route, state)) {
			begin_proving(own, route, slot, state);
			DLOCK_JOIN(&own->proving, own->proved, dlock_route_step(&own->telling_route, loop, now));
			take_proved(own, route);
		}
	} while ((own->asked = is_to_be_asked_again(own, route, state, now)));
	DLOCK_END(&own->proving);
	return own->proved;
}

/* ---- settling after the guard ---- */

/* Has the master note in its first slot that this slot has opened an epoch. With `asks`, the master also says when that
 * epoch may settle. False: this slot is the first, or the master has none. */
static bool look_at_first(dlock_epoch *own, const dlock_route *refused, bool asks)
{
	own->first = dlock_topology_first_slot(own->masters->topology, refused->conn->server);
	if (own->first < 0 || own->first == own->slot) {
		return false;
	}
	dlock_keys keys = dlock_key_builder_slot(own->keys, own->first);
	dlock_route_begin(&own->first_route, own->masters, own->first, own->error);
	own->first_route.until = own->until;
	own->first_route.replicas = asks ? own->first_route.replicas : 0; /* another master has its own notes */
	dlock_route_send(&own->first_route, dlock_request_epoch_of(keys, own->guard, own->slot, &own->state, !asks), NULL);
	return true;
}

/* True: the epoch of the first slot has to settle before that of this one. */
static bool read_first_open(dlock_epoch *own)
{
	own->first_state = dlock_read_epoch(own->first_route.call);
	return own->settled == DLOCK_OK && own->first_state.open && own->first_state.left < 0;
}

static bool is_first_the_same(const dlock_epoch *own, const dlock_route *refused)
{
	const char *replid = own->first_state.replid;

	return replid && !strcmp(replid, own->state.replid)
		&& !strcmp(own->first_route.conn->server->key, refused->conn->server->key);
}

/* The guard or the first slot sets the time at which the epoch settles. DLOCK_LOST: another client has set it. */
static dlock_status settle_later(dlock_epoch *own, dlock_route *refused, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->settling);
	own->settled = DLOCK_LOST;
	if (look_at_first(own, refused, true)) {
		DLOCK_JOIN(&own->settling, own->settled, dlock_route_step(&own->first_route, loop, now));
		if (read_first_open(own)) {
			DLOCK_JOIN(&own->settling, own->settled, dlock_route_confirm(&own->first_route, loop, now));
			if (own->settled == DLOCK_OK) {
				begin_telling(own, own->first, &own->first_state, NULL);
				DLOCK_JOIN(&own->settling, own->settled, dlock_route_step(&own->telling_route, loop, now));
				take_told(own, &own->first_route, &own->first_state);
			}
			own->first_state.waited = own->guard.time / DLOCK_MS;
		}
		if (own->settled == DLOCK_OK && !is_first_the_same(own, refused)) {
			own->settled = DLOCK_LOST;
		}
		if (own->settled == DLOCK_OK) {
			begin_telling(own, own->slot, &own->state, &own->first_state);
			DLOCK_JOIN(&own->settling, own->settled, dlock_route_step(&own->telling_route, loop, now));
			take_told(own, &own->first_route, &own->state);
		}
		refused->transient = own->first_route.transient;
		dlock_route_end(&own->first_route);
	}
	if (own->settled == DLOCK_LOST) {
		DLOCK_JOIN(&own->settling, own->settled, dlock_route_confirm(refused, loop, now));
		if (own->settled == DLOCK_OK) {
			begin_telling(own, own->slot, &own->state, NULL);
			DLOCK_JOIN(&own->settling, own->settled, dlock_route_step(&own->telling_route, loop, now));
			take_told(own, refused, &own->state);
		}
	}
	DLOCK_END(&own->settling);
	return own->settled;
}

dlock_status dlock_epoch_settle(dlock_epoch *own, dlock_route *refused, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->whole);
	own->outcome = DLOCK_LOST;
	if (may_be_proved(&own->state)) {
		DLOCK_JOIN(&own->whole, own->outcome, dlock_route_confirm(refused, loop, now));
		if (own->outcome == DLOCK_OK && look_at_first(own, refused, false)) {
			DLOCK_JOIN(&own->whole, own->outcome, dlock_route_step(&own->first_route, loop, now));
			refused->transient = own->first_route.transient;
			dlock_route_end(&own->first_route);
		}
		if (own->outcome == DLOCK_OK) {
			DLOCK_JOIN(&own->whole, own->outcome, prove(own, refused, own->slot, &own->state, loop, now));
		}
		own->state.left = own->outcome == DLOCK_OK ? 0 : own->state.left;
	}
	if (own->outcome == DLOCK_LOST) {
		DLOCK_JOIN(&own->whole, own->outcome, settle_later(own, refused, loop, now));
		if (own->outcome == DLOCK_OK && !may_be_proved(&own->state)) { /* notes how far the clocks are apart */
			DLOCK_JOIN(&own->whole, own->proved, prove(own, refused, own->slot, &own->state, loop, now));
		}
	}
	DLOCK_END(&own->whole);
	return own->outcome == DLOCK_LOST ? DLOCK_OK : own->outcome; /* another client has set the time */
}

/* ---- refusals and grants ---- */

/* The waiter asks again after this time, in ms, if replicas have not confirmed the opening of the epoch. */
#define TRY_AGAIN 20

static bool is_to_be_proved_again(const dlock_epoch *own, const dlock_route *refused, dlock_nanos now)
{
	return own->state.open && own->state.left > 0 && may_be_proved(&own->state)
		&& (!is_known(refused, &own->state) || now >= refused->conn->survey.at + ASK_AGAIN);
}

/* The waiter asks again before the guard ends, if a node will have been up for long enough then. */
static void set_pttl(const dlock_epoch *own, const dlock_route *refused, dlock_response *response)
{
	int64_t ready = is_known(refused, &own->state) && may_be_proved(&own->state) ? refused->conn->survey.ready : -1;
	int64_t left = own->state.left < 0 ? TRY_AGAIN : ready >= 0 && ready < own->state.left ? ready : own->state.left;

	response->pttl = own->settles || left < response->pttl ? left : response->pttl;
}

static dlock_status prove_again(dlock_epoch *own, dlock_route *refused, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->whole);
	refused->conn->survey.replid[0] = '\0';
	DLOCK_JOIN(&own->whole, own->proved, prove(own, refused, own->slot, &own->state, loop, now));
	own->state.left = own->proved == DLOCK_OK ? 0 : own->state.left;
	DLOCK_END(&own->whole);
	return DLOCK_OK;
}

dlock_status dlock_epoch_refused(
	dlock_epoch *own, dlock_route *refused, dlock_response *response, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->task);
	own->state = dlock_read_epoch(refused->call);
	own->at_once = false;
	own->explained = own->state.open;
	own->said = DLOCK_OK;
	own->settles = own->state.open && own->state.left < 0;
	if (own->settles) {
		DLOCK_JOIN(&own->task, own->said, dlock_epoch_settle(own, refused, loop, now));
	} else if (is_to_be_proved_again(own, refused, now)) {
		DLOCK_JOIN(&own->task, own->said, prove_again(own, refused, loop, now));
	}
	if (own->state.open) {
		set_pttl(own, refused, response);
		own->at_once = own->state.left >= 0 && own->state.left <= DLOCK_AT_ONCE;
	}
	DLOCK_END(&own->task);
	if (own->said != DLOCK_OK) {
		own->at_once = own->explained = false;
		return own->said;
	}
	if (own->explained) {
		dlock_explain_epoch(refused->conn, own->state.left, own->error);
	}
	return DLOCK_TIMEOUT;
}

static dlock_status read_unchanged(const dlock_epoch *own, dlock_route *granted)
{
	dlock_response response;
	dlock_status status = dlock_read_integer(granted->call, granted->conn, &response, own->error);

	granted->transient |= status == DLOCK_LOST;
	return status != DLOCK_LOST
		? status
		: dlock_fail(own->error, DLOCK_CONNECTION, "Redis at %s: the lock was gone before it was confirmed",
			granted->conn->server->label);
}

/* Replicas may attach while the client asks the nodes. After this many rounds it asks no more. */
enum { MOST_DOUBTS = 3 };

/* The call is not sent again over another connection. If the server executed it late, it would release what another
 * sending has acquired, and its epoch might settle at once. */
static dlock_call *ask_whether_unchanged(dlock_epoch *own)
{
	dlock_call *call = own->unchanged(own->claim, own->old, own->proved != DLOCK_OK || own->doubts >= MOST_DOUBTS);

	if (call) {
		call->once = true;
		dlock_call_use_source(call); /* or it is sent again if the server does not know the script */
	}
	return call;
}

/* Replicas have attached since the epoch's base: asks the nodes, then asks the server again. If doubts remain, the
 * server releases the grant and opens the epoch anew. */
static dlock_status remove_doubts(dlock_epoch *own, dlock_route *granted, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->whole);
	for (own->doubts = 0; own->said == DLOCK_OK && own->state.left == DLOCK_EPOCH_DOUBTED; own->doubts++) {
		own->proved = DLOCK_LOST;
		if (may_be_proved(&own->state)) {
			DLOCK_JOIN(&own->whole, own->proved, prove(own, granted, own->slot, &own->state, loop, now));
		}
		dlock_route_send(granted, ask_whether_unchanged(own), NULL);
		DLOCK_JOIN(&own->whole, own->said, dlock_route_step(granted, loop, now));
		own->state = own->said == DLOCK_OK ? dlock_read_epoch(granted->call) : own->state;
	}
	DLOCK_END(&own->whole);
	return own->said;
}

dlock_status dlock_epoch_confirm(dlock_epoch *own, dlock_route *granted, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->task);
	own->state = (dlock_epoch_state) { 0 };
	DLOCK_JOIN(&own->task, own->said, dlock_route_confirm(granted, loop, now));
	if (own->said == DLOCK_OK && granted->replicas > 0 && own->guard.resyncs) {
		DLOCK_JOIN(&own->task, own->said, dlock_route_pass_on(granted, loop, now));
		own->state = own->said == DLOCK_OK ? dlock_read_epoch(granted->call) : own->state;
		DLOCK_JOIN(&own->task, own->said, remove_doubts(own, granted, loop, now));
		if (own->said == DLOCK_OK && !own->state.open) {
			own->said = read_unchanged(own, granted);
		} else if (own->said == DLOCK_OK && own->state.left < 0) {
			DLOCK_JOIN(&own->task, own->said, dlock_epoch_settle(own, granted, loop, now));
		}
	}
	DLOCK_END(&own->task);
	if (own->said == DLOCK_OK && own->state.open) {
		dlock_explain_epoch(granted->conn, own->state.left, own->error);
		return DLOCK_LOST;
	}
	return own->said;
}

void dlock_epoch_end(dlock_epoch *own)
{
	dlock_route_end(&own->first_route);
	dlock_route_end(&own->telling_route);
	dlock_surveying_end(&own->surveying);
	own->task.at = own->whole.at = own->settling.at = own->proving.at = 0;
}

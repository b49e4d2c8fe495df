#include "replicated_round.h"

#include <stdlib.h>
#include <string.h>

#include "../route/delivery.h"
#include "renewer.h"

/* What the next round does, by what the last one was answered. */
typedef enum {
	STEP_KEEP,
	STEP_RESTORE /* the server has not got the key, or has it for another: set it again, or have replicas confirm that
					it is lost */
} round_step;

typedef struct {
	dlock_renewal_round base;
	const dlock_keeping *keeping;
	dlock_server *service, *master; /* the master: that was asked last, by the holder or the thread; NULL: none */
	dlock_server *asked;            /* where ASK has led; NULL: nowhere */
	dlock_topology *topology; /* the thread's; NULL: not yet */
	dlock_conn *conn;
	dlock_call *call, *confirmation; /* of the round under way or last decided; NULL: none */
	round_step step, next_step;
	bool is_new; /* nothing was asked yet: the holder may know more than the thread does */
	bool extends;
	bool unsettled; /* a restore was sent that may set the key yet */
	int hurried;    /* rounds in a row that were begun at once */
	bool noted; /* what the answer says of servers and steps was taken in */
	dlock_kept_lease lease; /* its keys are in `text` */
	char text[];
} replicated_round;

static void discard(dlock_call **call)
{
	dlock_call_release(*call);
	*call = NULL;
}

static void forget_server(dlock_server **server)
{
	if (*server) {
		dlock_server_release(*server);
		*server = NULL;
	}
}

static void round_free(dlock_renewal_round *base)
{
	replicated_round *round = (replicated_round *) base;

	discard(&round->call);
	discard(&round->confirmation);
	forget_server(&round->asked);
	forget_server(&round->master);
	dlock_server_release(round->service);
	free(round);
}

static bool is_pending(const dlock_call *call)
{
	return call && call->state == DLOCK_CALL_PENDING;
}

static void cancel(dlock_renewal_round *base)
{
	replicated_round *round = (replicated_round *) base;

	if (is_pending(round->call)) {
		dlock_call_cancel_sending(round->call);
	}
}

/* Who is to be asked: where the thread does not know it yet, the one that was asked last, or that the holder has the
 * lock from. NULL: it is not known. */
static dlock_server *find_server(replicated_round *round)
{
	dlock_server *server = round->asked;

	if (!server) {
		server = dlock_topology_master(round->topology, round->lease.keys.slot);
	}
	if (!server || (round->is_new && round->master && strcmp(server->key, round->master->key))) {
		dlock_topology_ask(round->topology, dlock_now());
		server = round->master;
	}
	return server;
}

static dlock_call *request(const replicated_round *round, dlock_nanos ttl)
{
	return round->step == STEP_RESTORE && round->extends ? round->keeping->restore(&round->lease, ttl)
		: round->keeping->keep(&round->lease, round->extends ? ttl : 0, false);
}

typedef enum { OPEN, YES, NO, MISSING, UNKNOWN } verdict;

/* Of what was asked, by the server alone. */
static verdict answer_of(const replicated_round *round)
{
	dlock_key_state state;
	dlock_response response;
	dlock_error error;

	if (is_pending(round->call)) {
		return OPEN;
	}
	if (!round->call || round->call->state != DLOCK_CALL_ANSWERED) {
		return UNKNOWN;
	}
	if (round->step == STEP_RESTORE && round->extends) {
		dlock_status status = dlock_read_integer(round->call, round->conn, &response, &error);
		return status == DLOCK_OK ? YES : status == DLOCK_LOST ? NO : UNKNOWN;
	}
	if (round->keeping->read_keep(round->call, round->conn, &state, &error) != DLOCK_OK) {
		return UNKNOWN;
	}
	return state == DLOCK_KEY_OWN ? YES : state == DLOCK_KEY_FOREIGN && round->service->replicas == 0 ? NO : MISSING;
}

/* Has the server answered, but too few of its replicas? */
static bool is_unconfirmed(const replicated_round *round)
{
	verdict verdict = answer_of(round);

	return (verdict == YES || verdict == NO) && dlock_delivery_is_behind(round->call, round->confirmation)
		&& !is_pending(round->confirmation)
		&& !dlock_delivery_is_confirmed(round->call, round->confirmation, round->service->replicas);
}

static void begin(dlock_renewal_round *base, dlock_renewer *renewer, dlock_nanos ttl, bool extends)
{
	replicated_round *round = (replicated_round *) base;
	dlock_pool *pool = dlock_redis_renewer_pool(renewer);

	cancel(base);
	bool unconfirmed = round->noted && is_unconfirmed(round);
	discard(&round->call);
	discard(&round->confirmation);
	round->step = round->next_step;
	round->extends = extends;
	round->noted = false;
	round->topology = dlock_pool_topology(pool, round->service);
	if (unconfirmed && round->topology) {
		dlock_topology_ask(round->topology, dlock_now()); /* a master that was replaced may go on without replicas for a while */
	}
	dlock_server *server = round->topology ? find_server(round) : NULL;
	if (!server) {
		return;
	}
	round->is_new = false;
	dlock_server_retain(server);
	forget_server(&round->master);
	round->master = server;
	round->conn = dlock_pool_capped_conn(
		pool, server, dlock_timeout_cap(round->service, extends ? base->within : DLOCK_TTL_MAX));
	round->call = round->conn ? request(round, ttl) : NULL;
	if (round->call) {
		round->confirmation = dlock_redis_renewer_send(
			renewer, round->conn, round->call, round->service->replicas, round->asked != NULL);
		round->unsettled |= round->step == STEP_RESTORE && extends && (round->call->sent || is_pending(round->call));
	}
}

/* A key that is missing may be set again by the next round, or, where nothing more is asked for, go on missing until
 * the lease ends. */
static dlock_round_result result(const dlock_renewal_round *base)
{
	const replicated_round *round = (const replicated_round *) base;
	verdict verdict = answer_of(round);

	switch (verdict) {
	case OPEN:
		return DLOCK_ROUND_OPEN;
	case MISSING:
		return round->service->replicas > 0 ? DLOCK_ROUND_FAILED : DLOCK_ROUND_GONE;
	case NO: /* without replicas, a master that was replaced would say so, too */
	case YES:
		if ((verdict == YES && !round->extends)
			|| dlock_delivery_is_confirmed(round->call, round->confirmation, round->service->replicas)) {
			return verdict == YES ? DLOCK_ROUND_KEPT : DLOCK_ROUND_GONE;
		}
		return is_pending(round->confirmation) ? DLOCK_ROUND_OPEN : DLOCK_ROUND_FAILED;
	default:
		return DLOCK_ROUND_FAILED;
	}
}

/* In a row: two nodes may each take the other for the slot's master. */
enum { MOST_HURRIED = 5 };

/* Will the next round do something else, so that it is worth beginning at once? */
static bool may_know_more(const dlock_renewal_round *base)
{
	const replicated_round *round = (const replicated_round *) base;
	const char *address = NULL;

	if (!round->call || round->call->state != DLOCK_CALL_ANSWERED || round->hurried >= MOST_HURRIED) {
		return false;
	}
	switch (answer_of(round)) {
	case MISSING:
		return round->extends && round->service->replicas > 0;
	case YES:
	case NO: /* the script was not known, and sent as text behind the WAIT */
		return round->confirmation && !dlock_delivery_is_behind(round->call, round->confirmation);
	default:
		return dlock_topology_has_slots(round->topology)
			&& (dlock_delivery_answer(round->call, &address) == DLOCK_ANSWER_MOVED || (address && !round->asked));
	}
}

/* What the answer says of where to ask, and what, the next time. */
static void note(replicated_round *round)
{
	const char *address = NULL;
	bool answered = round->call && round->call->state == DLOCK_CALL_ANSWERED;
	dlock_answer answer = answered ? dlock_delivery_answer(round->call, &address) : DLOCK_ANSWER_REPLICA;
	bool has_slots = round->topology && dlock_topology_has_slots(round->topology);

	round->hurried = may_know_more(&round->base) ? round->hurried + 1 : 0;
	round->noted = true;
	round->next_step = answered && answer_of(round) == MISSING ? STEP_RESTORE : STEP_KEEP;
	forget_server(&round->asked);
	if (answer == DLOCK_ANSWER_MOVED && has_slots) {
		dlock_topology_move(round->topology, round->lease.keys.slot, address, round->master, dlock_now());
	} else if (answer == DLOCK_ANSWER_ASK && has_slots) {
		round->asked = dlock_topology_server_at(round->topology, address, round->master);
	} else if ((answer == DLOCK_ANSWER_REPLICA || answer == DLOCK_ANSWER_UNSERVED) && round->topology) {
		if (answered && answer == DLOCK_ANSWER_REPLICA) {
			dlock_conn_close(round->conn); /* behind its address, there may be another server by now */
		}
		dlock_topology_doubt(round->topology, dlock_now());
	}
}

static bool collect(dlock_renewal_round *base, bool released)
{
	replicated_round *round = (replicated_round *) base;
	bool call = is_pending(round->call) && (round->call->sent || round->call->wanted);
	bool confirmation = is_pending(round->confirmation) && (round->confirmation->sent || round->confirmation->wanted);

	if (!call && !round->noted) {
		/* What was answered after the release may have been executed after it, too. */
		round->unsettled &= released || !round->call || round->call->state != DLOCK_CALL_ANSWERED;
		note(round);
	}
	return call || confirmation;
}

static bool has_calls(const dlock_renewal_round *base)
{
	const replicated_round *round = (const replicated_round *) base;

	return round->call || round->confirmation;
}

static dlock_nanos longest_wait(const dlock_renewal_round *base, dlock_nanos ttl)
{
	const dlock_server *service = ((const replicated_round *) base)->service;
	dlock_nanos cap = dlock_timeout_cap(service, ttl);

	return cap < service->read_timeout ? cap : service->read_timeout;
}

static bool has_unsettled(const dlock_renewal_round *base)
{
	return ((const replicated_round *) base)->unsettled;
}

/* On the same connection, so after the restore, which is not sent again. */
static void roll_back(dlock_renewal_round *base, dlock_nanos ttl, bool over)
{
	replicated_round *round = (replicated_round *) base;

	if (over && round->conn) {
		cancel(base);
		dlock_conn_send_background(round->conn, round->keeping->drop(&round->lease), dlock_after(dlock_now(), ttl));
	}
	round->unsettled = false;
}

static const dlock_renewal_round_ops ops = {
	.renewer = &dlock_redis_renewer_ops,
	.begin = begin,
	.result = result,
	.may_know_more = may_know_more,
	.collect = collect,
	.cancel = cancel,
	.has_calls = has_calls,
	.longest_wait = longest_wait,
	.has_unsettled = has_unsettled,
	.roll_back = roll_back,
	.free = round_free,
};

static dlock_arg keep_key(char **room, dlock_arg key)
{
	dlock_arg kept = { memcpy(*room, key.text, key.len), key.len };

	*room += key.len;
	return kept;
}

dlock_renewal_round *dlock_replicated_round_new(
	const dlock_keeping *keeping, const dlock_kept_lease *lease, dlock_server *service, dlock_server *master)
{
	dlock_keys keys = lease->keys;
	replicated_round *round = calloc(1, sizeof *round + keys.lock.len + keys.fence.len + keys.era.len + 1);

	if (!round) {
		return NULL;
	}
	char *room = round->text;
	round->base.ops = &ops;
	round->base.late_proves_nothing = true;
	round->keeping = keeping;
	round->service = dlock_server_retain(service);
	round->master = master ? dlock_server_retain(master) : NULL;
	round->noted = round->is_new = true;
	round->lease = *lease;
	round->lease.keys.lock = keep_key(&room, keys.lock);
	if (keys.fence.len > 0) {
		round->lease.keys.fence = keep_key(&room, keys.fence);
		round->lease.keys.era = keep_key(&room, keys.era);
	}
	return &round->base;
}

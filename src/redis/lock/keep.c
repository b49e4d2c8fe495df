#include "keep.h"

#include <stdlib.h>
#include <string.h>

#include "renewer.h"

/* A master without the lease's key may have been promoted without it. It grants the lock to no other client before its
 * epoch settles, which takes as long as the longest lease. So until then the holder may set the key again; restore.lua
 * says whether it may. Whatever the server answers counts only once replicas confirm it, because a replaced master
 * would give the same answer. If no replica confirms (`replicas` is 0), a missing key is a lost lease. */

dlock_kept_lease dlock_kept_lease_of(const dlock_claim *claim, dlock_keys keys, dlock_nanos guard)
{
	dlock_kept_lease lease = {
		.fencing_token = claim->fencing_token, .permits = claim->permits, .guard = guard, .keys = keys
	};

	memcpy(lease.token, claim->token, sizeof lease.token);
	return lease;
}

int dlock_kept_count(const dlock_kept_lease *lease)
{
	return lease->keys.several ? lease->keys.several->lock_count : 1;
}

dlock_kept_lease dlock_kept_one(const dlock_kept_lease *lease, int i)
{
	const dlock_several_keys *several = lease->keys.several;
	dlock_kept_lease one = *lease;

	if (several) {
		one.keys.lock = several->locks[i];
		one.keys.held = several->held[i];
	}
	return one;
}

static void send_keep(dlock_keep *own)
{
	own->state = DLOCK_KEY_FOREIGN;
	dlock_route_send(&own->route, own->keeping->keep(own->lease, own->ttl, own->shortens), NULL);
}

static void send_restore(dlock_keep *own)
{
	dlock_route_send(&own->route, own->keeping->restore(own->lease, own->ttl), NULL);
	own->unanswered = own->restoring = true;
}

static void read_keep(dlock_keep *own)
{
	dlock_route *route = &own->route;

	if (own->said == DLOCK_OK) {
		own->sent_at = route->call->sent_at;
		own->unanswered = own->unanswered && route->conn != own->restored_over;
		own->said = own->keeping->read_keep(route->call, route->conn, &own->state, route->error);
	}
	if (own->said == DLOCK_OK && own->state != DLOCK_KEY_OWN && route->replicas == 0) {
		own->said = DLOCK_LOST;
	}
}

static void read_restore(dlock_keep *own)
{
	dlock_route *route = &own->route;
	dlock_response response;

	own->restored_over = route->conn;
	own->restoring = false;
	own->unanswered = !route->call || route->call->state != DLOCK_CALL_ANSWERED;
	if (own->said == DLOCK_OK) {
		own->sent_at = route->call->sent_at;
		own->said = dlock_read_integer(route->call, route->conn, &response, route->error);
	}
}

/* True: the task repeats the keep once, at another master. */
static bool begin_repeat(dlock_keep *own)
{
	return own->said == DLOCK_CONNECTION && own->masters++ == 0 && !own->route.cancelled
		&& dlock_route_is_replaced(&own->route);
}

dlock_status dlock_keep_step(dlock_keep *own, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->task);
	own->masters = 0;
	do {
		send_keep(own);
		DLOCK_JOIN(&own->task, own->said, dlock_route_step(&own->route, loop, now));
		read_keep(own);
		if (own->said == DLOCK_OK && own->state != DLOCK_KEY_OWN) {
			if (own->ttl == 0 || own->route.cancelled) {
				own->said = DLOCK_CONNECTION;
				break;
			}
			send_restore(own);
			DLOCK_JOIN(&own->task, own->said, dlock_route_step(&own->route, loop, now));
			read_restore(own);
		}
		if (own->said == DLOCK_LOST || (own->said == DLOCK_OK && own->ttl > 0)) {
			own->state = own->said == DLOCK_OK ? DLOCK_KEY_OWN : DLOCK_KEY_FOREIGN;
			DLOCK_JOIN(&own->task, own->said, dlock_route_confirm(&own->route, loop, now));
			own->said = own->said != DLOCK_OK ? DLOCK_CONNECTION
				: own->state == DLOCK_KEY_OWN ? DLOCK_OK : DLOCK_LOST;
		}
	} while (begin_repeat(own));
	DLOCK_END(&own->task);
	return own->said;
}

/* ---- for the renewal thread ---- */

typedef struct {
	dlock_renewal_round base;
	/* `master`: as the holder knows it, a hint for the first round; NULL: none, or used */
	dlock_endpoint *service, *master;
	dlock_masters masters;
	dlock_kept_lease lease; /* its keys are in `text` */
	dlock_keep keep;
	dlock_adopted adopted;
	dlock_description *description;
	dlock_conn *lost_over; /* the server that has said that the lease is lost; NULL: none has */
	bool looked_at; /* collect() has seen the outcome of the last keep */
	char text[];
} keep_round;

static keep_round *round_of(const dlock_renewal_round *base)
{
	return (keep_round *) base;
}

/* No caller waits for the answer. */
static void describe(keep_round *round, dlock_nanos now)
{
	dlock_keep *keep = &round->keep;

	if (round->base.since == 0 || !round->description) {
		return;
	}
	for (int i = 0; i < dlock_kept_count(&round->lease); i++) {
		dlock_kept_lease one = dlock_kept_one(&round->lease, i);
		dlock_conn_send_background(keep->route.conn,
			keep->keeping->describe(&one, keep->ttl, round->base.since, round->description),
			dlock_after(now, keep->ttl));
	}
}

static dlock_status step(void *task, dlock_loop *loop, dlock_nanos now)
{
	keep_round *round = task;
	dlock_status status = dlock_keep_step(&round->keep, loop, now);

	if (status == DLOCK_OK) {
		describe(round, now);
	}
	round->lost_over = status == DLOCK_LOST ? round->keep.route.conn : NULL;
	if (status != DLOCK_PENDING) {
		dlock_route_end(&round->keep.route);
	}
	return status;
}

/* Answers may still come, but no task reads them. */
static void drop(keep_round *round)
{
	dlock_keep *keep = &round->keep;

	dlock_loop_forget(&round->adopted);
	keep->restored_over = keep->restoring ? keep->route.conn : keep->restored_over;
	keep->restoring = false;
	dlock_route_cancel(&keep->route);
	dlock_route_end(&keep->route);
	keep->task.at = 0;
}

static void round_free(dlock_renewal_round *base)
{
	keep_round *round = round_of(base);

	drop(round);
	if (round->master) {
		dlock_endpoint_release(round->master);
	}
	dlock_endpoint_release(round->service);
	dlock_description_release(round->description);
	free((void *) round->lease.keys.several);
	free(round);
}

/* A round may use one part in three of the time in which its answer is of use, so that other rounds can follow. */
#define PART 3

static void begin(dlock_renewal_round *base, dlock_renewer *renewer, dlock_nanos ttl, bool extends)
{
	keep_round *round = round_of(base);
	dlock_pool *pool = dlock_redis_renewer_pool(renewer);
	dlock_keep *keep = &round->keep;

	drop(round);
	round->lease.permits = base->permits;
	round->lease.fencing_token = base->fencing_token;
	round->masters = (dlock_masters){ pool, dlock_pool_topology(pool, round->service), round->service->replicas, NULL };
	keep->said = DLOCK_CONNECTION;
	round->looked_at = false;
	if (!round->masters.topology) {
		return;
	}
	*keep = (dlock_keep) {
		.keeping = keep->keeping, .lease = &round->lease, .ttl = extends ? ttl : 0, .unanswered = keep->unanswered,
		.restored_over = keep->unanswered ? keep->restored_over : NULL, .said = DLOCK_PENDING
	};
	dlock_route_begin(&keep->route, &round->masters, round->lease.keys.slot, &pool->unheard);
	keep->route.timeout_cap = dlock_timeout_cap(round->service, extends ? base->within : DLOCK_TTL_MAX);
	keep->route.until = extends ? dlock_after(base->started, base->within / PART) : DLOCK_FOREVER;
	keep->route.hint = round->master;
	round->master = NULL;
	dlock_loop_adopt(dlock_pool_loop(pool), &round->adopted, step, NULL, round);
}

static bool is_under_way(const dlock_renewal_round *base)
{
	return round_of(base)->adopted.loop != NULL;
}

static dlock_round_result result(const dlock_renewal_round *base)
{
	if (is_under_way(base)) {
		return DLOCK_ROUND_OPEN;
	}
	switch (round_of(base)->keep.said) {
	case DLOCK_OK:
		return DLOCK_ROUND_KEPT;
	case DLOCK_LOST:
		return DLOCK_ROUND_GONE;
	default:
		return DLOCK_ROUND_FAILED;
	}
}

static void cancel(dlock_renewal_round *base)
{
	dlock_route_cancel(&round_of(base)->keep.route);
}

static bool collect(dlock_renewal_round *base, bool released)
{
	keep_round *round = round_of(base);

	if (!is_under_way(base) && !round->looked_at) {
		round->looked_at = true;
		/* If the answer came after the release, the server may have executed the restore after it, too. */
		round->keep.unanswered |= released && round->keep.restored_over;
	}
	return is_under_way(base);
}

static dlock_nanos longest_wait(const dlock_renewal_round *base, dlock_nanos ttl)
{
	return dlock_answer_time(round_of(base)->service, ttl);
}

static bool may_yet_repair(const dlock_renewal_round *base)
{
	return round_of(base)->keep.unanswered;
}

/* The drop follows the restore over the same connection, and the restore is not sent again. */
static void roll_back(dlock_renewal_round *base, dlock_nanos ttl, bool over)
{
	keep_round *round = round_of(base);
	dlock_keep *keep = &round->keep;

	if (over && keep->restored_over) {
		drop(round);
		for (int i = 0; i < dlock_kept_count(&round->lease); i++) {
			dlock_kept_lease one = dlock_kept_one(&round->lease, i);
			dlock_conn_send_background(
				keep->restored_over, keep->keeping->drop(&one), dlock_after(dlock_now(), ttl));
		}
	}
	keep->unanswered = false;
}

/* If the locks are in several slots, another slot's server may have said that they are lost. */
static void give_back(dlock_renewal_round *base)
{
	keep_round *round = round_of(base);
	dlock_conn *conn = round->lost_over ? round->lost_over : round->keep.route.conn;

	if (conn && round->lease.keys.several) {
		dlock_conn_send_background(conn, round->keep.keeping->release(&round->lease),
			dlock_after(dlock_now(), round->keep.ttl));
	}
	round->lost_over = NULL;
}

static const dlock_renewal_round_ops ops = {
	.renewer = &dlock_redis_renewer_ops,
	.give_back = give_back,
	.begin = begin,
	.result = result,
	.collect = collect,
	.cancel = cancel,
	.has_calls = is_under_way,
	.longest_wait = longest_wait,
	.may_yet_repair = may_yet_repair,
	.roll_back = roll_back,
	.free = round_free,
};

static dlock_arg copy_key(char **room, dlock_arg key)
{
	dlock_arg kept = { memcpy(*room, key.len > 0 ? key.text : "", key.len), key.len };

	*room += key.len;
	return kept;
}

dlock_renewal_round *dlock_keep_round_new(const dlock_keeping *keeping, const dlock_kept_lease *lease,
	dlock_endpoint *service, dlock_endpoint *master, dlock_description *description)
{
	dlock_keys keys = lease->keys;
	keep_round *round = calloc(1, sizeof *round + keys.lock.len + keys.fence.len + keys.epoch.len + keys.held.len + 1);

	if (!round) {
		return NULL;
	}
	char *room = round->text;
	round->base.ops = &ops;
	round->base.late_proves_nothing = service->discovery != DLOCK_ENDPOINT_FIXED || service->replicas > 0;
	round->service = dlock_endpoint_retain(service);
	round->master = master ? dlock_endpoint_retain(master) : NULL;
	round->keep.keeping = keeping;
	round->lease = *lease;
	round->lease.keys = (dlock_keys) {
		.lock = copy_key(&room, keys.lock), .slot = keys.slot, .several = keys.several
	};
	if (keys.held.len > 0) {
		round->lease.keys.held = copy_key(&room, keys.held);
	}
	round->description = dlock_description_retain(description);
	if (keys.fence.len > 0) {
		round->lease.keys.fence = copy_key(&room, keys.fence);
		round->lease.keys.epoch = copy_key(&room, keys.epoch);
	}
	return &round->base;
}

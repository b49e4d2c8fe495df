#include "renewal.h"

#include <stdlib.h>

#include "../lock/backend.h"
#include "discard.h"

/* A key that changes all the time is left to the next round. */
enum { TRIES = 8 };

typedef struct memcached_round {
	dlock_renewal_round base;
	dlock_endpoint *server;
	dlock_memcached_clock clock; /* as the holder's connection has read it */
	dlock_memcached_item *item;
	dlock_memcached_conn *conn;       /* of the renewer; NULL: none so far */
	dlock_memcached_cas known;        /* of the key, over `conn` */
	dlock_memcached_request *request; /* under way; NULL: none */
	bool extends, cancelled;
	int tries;
	bool asks;                       /* `request` reads the key */
	dlock_nanos ttl;
	dlock_round_result result;
	dlock_adopted adopted;
} memcached_round;

static void ask(memcached_round *round)
{
	dlock_memcached_item *item = round->item;

	round->asks = !round->extends || round->known.cas == 0; /* with CAS 0 memcached would set any holder's key */
	if (round->asks) {
		round->request = dlock_memcached_get(&item->key);
	} else {
		round->request = dlock_memcached_replace(&item->key, round->known.cas, item->token,
			dlock_memcached_item_seconds(item, round->ttl));
	}
	if (!round->request || !round->conn) {
		dlock_memcached_release(round->request);
		round->request = NULL;
		round->result = DLOCK_ROUND_FAILED;
		return;
	}
	if (round->asks) {
		dlock_memcached_send(round->conn, round->request);
	} else {
		atomic_store(&item->renewed, true);
		dlock_memcached_send_over(round->conn, round->request, round->known.opened);
	}
}

static void take_known(memcached_round *round, const dlock_memcached_request *request)
{
	const dlock_memcached_reply *reply = &request->reply;

	if (reply->code != DLOCK_MEMCACHED_VA && reply->code != DLOCK_MEMCACHED_EN) {
		round->result = DLOCK_ROUND_FAILED;
	} else if (!dlock_memcached_is_token(reply, round->item->token)) {
		round->result = DLOCK_ROUND_GONE;
	} else if (reply->cas == 0) {
		round->result = DLOCK_ROUND_FAILED;
	} else {
		round->known = (dlock_memcached_cas) { reply->cas, request->opened };
		if (!round->extends) {
			round->result = DLOCK_ROUND_KEPT;
		} else if (round->cancelled) {
			round->result = DLOCK_ROUND_FAILED;
		} else {
			ask(round);
		}
	}
}

static void ask_again(memcached_round *round)
{
	round->known.cas = 0;
	if (round->cancelled || ++round->tries > TRIES) {
		round->result = DLOCK_ROUND_FAILED;
	} else {
		ask(round);
	}
}

static void take_change(memcached_round *round, const dlock_memcached_request *request)
{
	switch (request->reply.code) {
	case DLOCK_MEMCACHED_HD:
		round->known = (dlock_memcached_cas) { request->reply.cas, request->opened };
		round->base.late = request->late == DLOCK_FOREVER ? 0 : request->late;
		round->result = request->late == DLOCK_FOREVER ? DLOCK_ROUND_FAILED : DLOCK_ROUND_KEPT;
		break;
	case DLOCK_MEMCACHED_NF:
		round->result = DLOCK_ROUND_GONE;
		break;
	/* Another client holds the lock, the holder has changed its key meanwhile, or an answer was lost. */
	case DLOCK_MEMCACHED_EX:
		ask_again(round);
		break;
	default:
		round->result = DLOCK_ROUND_FAILED;
	}
}

/* Reads the replies, and sends the requests that follow from them. */
static dlock_status step(void *task, dlock_loop *loop, dlock_nanos now)
{
	memcached_round *round = task;

	(void) loop;
	(void) now;
	while (round->request && round->request->state != DLOCK_MEMCACHED_PENDING) {
		dlock_memcached_request *request = round->request;
		round->request = NULL;
		if (request->state == DLOCK_MEMCACHED_FAILED && !round->asks
			&& !request->sent) { /* the connection was replaced */
			ask_again(round);
		} else if (request->state == DLOCK_MEMCACHED_FAILED) {
			round->result = DLOCK_ROUND_FAILED;
		} else if (round->asks) {
			take_known(round, request);
		} else {
			take_change(round, request);
		}
		dlock_memcached_release(request);
	}
	return round->request ? DLOCK_PENDING : DLOCK_OK;
}

static void begin(dlock_renewal_round *base, dlock_renewer *renewer, dlock_nanos ttl, bool extends)
{
	memcached_round *round = (memcached_round *) base;
	dlock_net_pool *pool = dlock_pool_renewer_pool(renewer);
	dlock_nanos cap = dlock_timeout_cap(round->server, extends ? ttl - DLOCK_MEMCACHED_MARGIN : DLOCK_FOREVER);
	dlock_memcached_conn *conn = dlock_memcached_conn_of(pool, round->server, cap);

	if (conn && conn->state == DLOCK_MEMCACHED_CLOSED && conn->clock.cas == 0) { /* it has not read the clock itself */
		conn->clock = round->clock;
		dlock_memcached_clock_reconnect(&conn->clock);
	}
	dlock_memcached_release(round->request); /* if it is still under way, its answer no longer counts */
	round->request = NULL;
	if (conn != round->conn) {
		round->conn = conn;
		round->known.cas = 0;
	}
	round->tries = 0;
	round->extends = extends;
	round->cancelled = false;
	round->ttl = ttl;
	round->result = DLOCK_ROUND_OPEN;
	ask(round);
	dlock_loop_adopt(dlock_net_pool_loop(pool), &round->adopted, step, NULL, round);
}

static dlock_round_result result(const dlock_renewal_round *round)
{
	return ((const memcached_round *) round)->result;
}

static void cancel(dlock_renewal_round *round)
{
	((memcached_round *) round)->cancelled = true;
}

static bool has_calls(const dlock_renewal_round *round)
{
	return ((const memcached_round *) round)->adopted.loop != NULL;
}

static void free_round(dlock_renewal_round *base)
{
	memcached_round *round = (memcached_round *) base;

	dlock_loop_forget(&round->adopted);
	dlock_memcached_release(round->request);
	dlock_memcached_item_release(round->item);
	dlock_endpoint_release(round->server);
	free(round);
}

static const dlock_renewal_round_ops round_ops = {
	.renewer = &dlock_pool_renewer_ops,
	.begin = begin,
	.result = result,
	.cancel = cancel,
	.has_calls = has_calls,
	.free = free_round,
};

dlock_renewal_round *dlock_memcached_round_new(const dlock_memcached_conn *conn, dlock_memcached_item *item)
{
	memcached_round *round = calloc(1, sizeof *round);

	if (!round) {
		return NULL;
	}
	round->base.ops = &round_ops;
	round->server = dlock_endpoint_retain(conn->base.server);
	round->clock = conn->clock;
	round->item = dlock_memcached_item_retain(item);
	return &round->base;
}

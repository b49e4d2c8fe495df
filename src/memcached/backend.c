#include "backend.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lock/claim.h"
#include "renewal.h"

/* A lock is a key that a request adds if it does not exist, with the token as its value. Requests change and delete it
 * by its CAS only. So no client changes another client's lock, however late the server executes a request. Source:
 * https://github.com/memcached/memcached/blob/master/doc/protocol.txt, "Meta Commands". */

typedef struct {
	dlock_backend base;
	dlock_net_pool *pool;
	dlock_memcached_conn *conn; /* owned by the pool */
	dlock_memcached_digest *digest;
} memcached_backend;

typedef struct waiter waiter;

typedef struct {
	dlock_claim base;
	dlock_memcached_item *item; /* NULL: not needed so far */
	dlock_memcached_cas known;  /* of the key, while the claim holds it */
	waiter *waiter;             /* NULL: the claim is not being acquired */
	/* The effect of a change is unknown as long as the key has the same CAS. */
	bool change_open;
	dlock_nanos counted_ttl; /* the lease time of the deadline and of renewals; 0: the claim's */
} memcached_claim;

/* A waiter polls after a random pause up to this one, which doubles each time. */
#define FIRST_PAUSE (5 * DLOCK_MS)
#define LONGEST_PAUSE (100 * DLOCK_MS)

/* How often a change is tried if renewals give the key another CAS each time. */
enum { TRIES = 8 };

static memcached_backend *backend_of(const dlock_claim *claim)
{
	return (memcached_backend *) claim->backend;
}

static dlock_memcached_item *item_of(const dlock_claim *claim)
{
	return ((const memcached_claim *) claim)->item;
}

static void make_key(memcached_backend *backend, dlock_memcached_key *key, const char *resource, size_t len)
{
	dlock_memcached_make_key(key, backend->base.prefix.text, backend->base.prefix.len, resource, len, backend->digest);
}

static dlock_status have_item(memcached_claim *claim, dlock_error *error)
{
	memcached_backend *backend = backend_of(&claim->base);

	if (!claim->item) {
		claim->item = dlock_memcached_item_new();
		if (claim->item) {
			make_key(backend, &claim->item->key, claim->base.resource, claim->base.resource_len);
		}
		if (!claim->item || !*claim->item->key.text) {
			return dlock_out_of_memory(error);
		}
	}
	strcpy(claim->item->token, claim->base.token);
	return DLOCK_OK;
}

/* ---- one request and its reply ---- */

static dlock_status no_cas(const memcached_backend *backend, dlock_error *error)
{
	return dlock_fail(error, DLOCK_CONNECTION,
		"memcached at %s gives no CAS, without which a lock cannot be held safely: start it without -C",
		backend->conn->base.server->label);
}

/* A task: one request, or two in a row. */
typedef struct {
	dlock_task task;
	dlock_memcached_conn *conn;
	dlock_memcached_request *first, *second; /* `second` may be NULL */
	unsigned long over; /* the generation of the connection that learned the CAS in `first`; 0: it contains none */
} asking;

static bool is_answered(const asking *own)
{
	const dlock_memcached_request *last = own->second ? own->second : own->first;

	return last->state != DLOCK_MEMCACHED_PENDING || !dlock_memcached_is_busy(own->conn);
}

static dlock_status ask_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	asking *own = task;

	(void) loop;
	(void) now;
	DLOCK_BEGIN(&own->task);
	if (own->over) {
		dlock_memcached_send_over(own->conn, own->first, own->over);
	} else {
		dlock_memcached_send(own->conn, own->first);
	}
	if (own->second) {
		dlock_memcached_send(own->conn, own->second);
	}
	DLOCK_AWAIT(&own->task, is_answered(own));
	DLOCK_END(&own->task);
	return DLOCK_OK;
}

/* Sends the requests, and waits for the reply to the last one. */
static void ask_both(memcached_backend *backend, dlock_memcached_request *first, unsigned long over,
	dlock_memcached_request *second)
{
	asking own = { .conn = backend->conn, .first = first, .second = second, .over = over };

	dlock_net_pool_catch_up(backend->pool);
	dlock_loop_run(dlock_net_pool_loop(backend->pool), ask_step, &own, DLOCK_FOREVER, NULL);
}

static void ask(memcached_backend *backend, dlock_memcached_request *request)
{
	if (request) {
		ask_both(backend, request, 0, NULL);
	}
}

/* The same for a request with a CAS, which that connection has learned. */
static void ask_over(memcached_backend *backend, dlock_memcached_request *request, unsigned long opened)
{
	if (request) {
		ask_both(backend, request, opened, NULL);
	}
}

/* Explains a missing reply, or an error. */
static dlock_status no_reply(
	const memcached_backend *backend, const dlock_memcached_request *request, dlock_error *error)
{
	if (!request) {
		return dlock_out_of_memory(error);
	}
	if (request->state == DLOCK_MEMCACHED_ANSWERED) {
		return dlock_fail(error, DLOCK_CONNECTION, "memcached at %s: %.100s", backend->conn->base.server->label,
			request->reply.code == DLOCK_MEMCACHED_ERROR ? request->reply.value
														 : "a reply that does not belong to the request");
	}
	*error = backend->conn->error;
	return DLOCK_CONNECTION;
}

static bool has_code(const dlock_memcached_request *request, dlock_memcached_code code)
{
	return request && request->state == DLOCK_MEMCACHED_ANSWERED && request->reply.code == code;
}

/* Was it not executed, because the key has another CAS or the connection was replaced? */
static bool has_to_repeat(const dlock_memcached_request *request)
{
	return request
		&& (has_code(request, DLOCK_MEMCACHED_EX) || (request->state == DLOCK_MEMCACHED_FAILED && !request->sent));
}

static dlock_nanos lasting(dlock_nanos ttl)
{
	return ttl - ttl / 100 - DLOCK_MEMCACHED_MARGIN;
}

/* Until when the lease lasts that this request has set. If it is not known how late the clock was, the lease counts as
 * expired. */
static dlock_nanos deadline_of(const dlock_memcached_request *request, dlock_nanos length)
{
	return request->late == DLOCK_FOREVER ? 0 : request->sent_at + length - request->late;
}

/* Deletes the key without waiting, if it is the claim's; with `instead`, sets it to that token. */
static void discard(dlock_claim *claim, const char *instead, dlock_nanos now)
{
	memcached_backend *backend = backend_of(claim);

	if (item_of(claim)) {
		dlock_memcached_discard_key(backend->pool, backend->conn, &item_of(claim)->key, claim->token,
			((memcached_claim *) claim)->known, instead, dlock_after(now, claim->ttl));
	}
}

/* ---- fencing tokens ---- */

static int64_t wall_clock(void)
{
	struct timespec now;

	timespec_get(&now, TIME_UTC);
	return (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* A counter that the server has lost begins with the time in µs, which has grown faster than the counter. */
static dlock_memcached_request *count(void)
{
	return dlock_memcached_count(wall_clock());
}

static dlock_status read_count(
	memcached_backend *backend, const dlock_memcached_request *counted, int64_t *token, dlock_error *error)
{
	bool refused = has_code(counted, DLOCK_MEMCACHED_ERROR) && !strncmp(counted->reply.value, "CLIENT_ERROR", 12);

	if (!has_code(counted, DLOCK_MEMCACHED_VA) && !refused) {
		return no_reply(backend, counted, error);
	}
	*token = refused ? 0 : strtoll(counted->reply.value, NULL, 10);
	if (*token <= 0 || *token == INT64_MAX) {
		return dlock_fail(error, DLOCK_CONNECTION,
			"memcached at %s: the key " DLOCK_MEMCACHED_FENCE " must be a number from 1 to "
			"9223372036854775806, and normally is a time in us: delete it",
			backend->conn->base.server->label);
	}
	return DLOCK_OK;
}

/* ---- acquire ---- */

/* A task. */
struct waiter {
	dlock_task task;
	memcached_claim *claim;
	asking asking;
	dlock_memcached_request *add, *counted; /* of this attempt; NULL: none */
	bool last;  /* the last attempt: the deadline has passed */
	bool again; /* it acquired the lock with an uncertain lease: another attempt follows at once */
	int repeated;
	dlock_nanos deadline, pause, until;
	dlock_error *error;
	dlock_status said;
};

static void end_attempt(waiter *own)
{
	dlock_memcached_conn *conn = backend_of(&own->claim->base)->conn;

	dlock_memcached_cancel(conn, own->add); /* otherwise it could be sent, and set the key, once nothing deletes that */
	dlock_memcached_cancel(conn, own->counted);
	dlock_memcached_release(own->add);
	dlock_memcached_release(own->counted);
	own->add = own->counted = NULL;
}

static void begin_attempt(waiter *own, dlock_nanos now)
{
	memcached_claim *claim = own->claim;

	end_attempt(own);
	own->last = own->deadline != DLOCK_FOREVER && now >= own->deadline;
	own->again = false;
	own->counted = count();
	own->add = own->counted ? dlock_memcached_add(&claim->item->key, claim->base.token,
		dlock_memcached_item_want(claim->item, claim->base.ttl)) : NULL;
	own->asking = (asking) { .conn = backend_of(&claim->base)->conn, .first = own->add, .second = own->counted };
	claim->known.cas = 0;
	dlock_claim_move(&claim->base, DLOCK_CLAIM_WAITING); /* what is sent now has to be undone in any case */
}

/* Discards the key. The next attempt has another token, so that a late deletion spares it. */
static dlock_status discard_and_rename(
	memcached_claim *claim, dlock_status status, dlock_nanos now, dlock_error *error)
{
	discard(&claim->base, NULL, now);
	if (status == DLOCK_TIMEOUT) {
		status = dlock_claim_renew_token(&claim->base, error) == DLOCK_OK ? DLOCK_TIMEOUT : DLOCK_FAILED;
		strcpy(claim->item->token, claim->base.token);
	}
	return status;
}

/* DLOCK_TIMEOUT: the lease has already expired. */
static dlock_status take_lock(waiter *own, dlock_nanos now)
{
	memcached_claim *claim = own->claim;
	dlock_claim *base = &claim->base;
	const dlock_memcached_request *add = own->add;

	claim->known = (dlock_memcached_cas) { add->reply.cas, add->opened };
	claim->change_open = false;
	claim->counted_ttl = 0;
	base->deadline = deadline_of(add, lasting(base->ttl));
	dlock_status status = read_count(backend_of(base), own->counted, &base->fencing_token, own->error);
	if (status == DLOCK_OK && now >= base->deadline) {
		/* If the answer alone took longer than the lease lasts, the next one may, too. */
		own->again = now < add->sent_at + lasting(base->ttl) && own->repeated++ < TRIES - 1;
		status = DLOCK_TIMEOUT;
	}
	if (status == DLOCK_OK) {
		dlock_claim_move(base, DLOCK_CLAIM_HELD);
		return DLOCK_OK;
	}
	return discard_and_rename(claim, status, now, own->error);
}

/* DLOCK_TIMEOUT: another client holds the lock. */
static dlock_status take_attempt(waiter *own, dlock_nanos now)
{
	dlock_claim *base = &own->claim->base;
	memcached_backend *backend = backend_of(base);
	const dlock_memcached_request *add = own->add;
	dlock_status status = DLOCK_TIMEOUT;

	if (has_code(add, DLOCK_MEMCACHED_HD) && add->reply.cas == 0) { /* so the key cannot be deleted safely, either */
		status = no_cas(backend, own->error);
	} else if (has_code(add, DLOCK_MEMCACHED_HD)) {
		status = take_lock(own, now);
	} else if (!has_code(add, DLOCK_MEMCACHED_NS)) {
		status = no_reply(backend, add, own->error);
		if (add && add->sent) { /* a late success must not block all clients until the ttl ends */
			discard(base, NULL, now);
		}
	}
	if (status != DLOCK_OK) {
		dlock_claim_move(base, DLOCK_CLAIM_NEW);
	}
	return status;
}

/* The server does not report a release, so the waiter polls. */
static void plan_pause(waiter *own, dlock_nanos now)
{
	own->claim->base.waited = true;
	own->until = now + (1 + dlock_jitter((uint32_t) (own->pause / DLOCK_US))) * DLOCK_US;
	own->until = dlock_earlier(own->until, own->deadline);
	own->pause = 2 * own->pause < LONGEST_PAUSE ? 2 * own->pause : LONGEST_PAUSE;
}

static bool is_pause_over(const waiter *own, dlock_loop *loop, dlock_nanos now)
{
	dlock_loop_lend(loop);
	return dlock_loop_is_time(loop, own->until, now);
}

static dlock_status acquire_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	waiter *own = task;

	DLOCK_BEGIN(&own->task);
	for (;;) {
		begin_attempt(own, now);
		if (own->add) {
			DLOCK_JOIN(&own->task, own->said, ask_step(&own->asking, loop, now));
		}
		own->said = take_attempt(own, now);
		if (own->said != DLOCK_TIMEOUT || (own->last && !own->again)) {
			break;
		}
		if (own->again) { /* first delete what the attempt has set */
			own->until = now + LONGEST_PAUSE;
			DLOCK_AWAIT(&own->task, dlock_net_pool_is_at_rest(backend_of(&own->claim->base)->pool)
				|| dlock_loop_is_time(loop, own->until, now));
			continue;
		}
		plan_pause(own, now);
		DLOCK_AWAIT(&own->task, is_pause_over(own, loop, now));
	}
	DLOCK_END(&own->task);
	return own->said;
}

static void end_waiter(memcached_claim *claim)
{
	if (claim->waiter) {
		end_attempt(claim->waiter);
		free(claim->waiter);
		claim->waiter = NULL;
	}
}

static waiter *waiter_new(memcached_claim *claim)
{
	waiter *own = calloc(1, sizeof *own);

	if (own) {
		own->claim = claim;
		own->pause = FIRST_PAUSE;
	}
	return own;
}

static dlock_status acquire(dlock_claim *base, const dlock_wait *wait, dlock_error *error)
{
	memcached_claim *claim = (memcached_claim *) base;
	memcached_backend *backend = backend_of(base);
	dlock_status status = have_item(claim, error);

	if (status != DLOCK_OK) {
		return status;
	}
	claim->waiter = claim->waiter ? claim->waiter : waiter_new(claim);
	if (!claim->waiter) {
		return dlock_out_of_memory(error);
	}
	claim->waiter->deadline = wait->deadline;
	claim->waiter->error = error;
	dlock_net_pool_catch_up(backend->pool);
	status = dlock_loop_run(
		dlock_net_pool_loop(backend->pool), acquire_step, claim->waiter, DLOCK_FOREVER, wait);
	if (status != DLOCK_INTERRUPTED) {
		end_waiter(claim);
	}
	return status;
}

/* ---- while it is held ---- */

/* The time that a lease lasts at least, if the server reports `left` seconds of its key. */
static dlock_nanos believed(int64_t left)
{
	return lasting(left < 0 ? dlock_memcached_ttls.most : left * DLOCK_SECOND);
}

/* What a question has found out about a key. */
typedef struct {
	dlock_memcached_cas known;
	int64_t left;      /* seconds; -1: the key never expires */
	dlock_nanos deadline; /* of a lease with so much time left */
} finding;

/* Asks for the value of the key. DLOCK_OK: it is this token. DLOCK_LOST: it is not. */
static dlock_status find(dlock_claim *claim, const char *token, finding *found, dlock_error *error)
{
	memcached_backend *backend = backend_of(claim);
	dlock_memcached_request *request = dlock_memcached_get(&item_of(claim)->key);
	dlock_status status = DLOCK_OK;

	ask(backend, request);
	for (int i = 0; i < TRIES && has_code(request, DLOCK_MEMCACHED_VA) && request->late == DLOCK_FOREVER; i++) {
		dlock_memcached_release(request);
		request = dlock_memcached_get(&item_of(claim)->key);
		ask(backend, request);
	}
	if (!has_code(request, DLOCK_MEMCACHED_VA) && !has_code(request, DLOCK_MEMCACHED_EN)) {
		status = no_reply(backend, request, error);
	} else if (!dlock_memcached_is_token(&request->reply, token)) {
		status = DLOCK_LOST;
	} else if (request->reply.cas == 0) {
		status = no_cas(backend, error);
	} else {
		*found = (finding) { { request->reply.cas, request->opened }, request->reply.left,
			deadline_of(request, believed(request->reply.left)) };
	}
	dlock_memcached_release(request);
	return status;
}

/* Makes a request that changes the key if it has this CAS. It must not be 0: memcached would then change the key of any
 * holder. */
typedef dlock_memcached_request *maker(dlock_memcached_item *item, uint64_t cas, dlock_nanos ttl);

/* Changes the key. If a renewal may have given it another CAS, or if the connection was replaced, it asks for the CAS
 * first. DLOCK_LOST: the key is not the claim's. */
static dlock_status change(
	dlock_claim *claim, maker *make, dlock_nanos ttl, dlock_memcached_request **done, dlock_error *error)
{
	memcached_backend *backend = backend_of(claim);
	dlock_memcached_cas *known = &((memcached_claim *) claim)->known;
	finding found;

	*done = NULL;
	for (int i = 0; i < TRIES; i++) {
		if (atomic_exchange(&item_of(claim)->renewed, false) || known->cas == 0) {
			dlock_status status = find(claim, claim->token, &found, error);
			if (status != DLOCK_OK) {
				return status;
			}
			*known = found.known;
		}
		*done = make(item_of(claim), known->cas, ttl);
		ask_over(backend, *done, known->opened);
		if (has_code(*done, DLOCK_MEMCACHED_HD)) {
			*known = (dlock_memcached_cas) { (*done)->reply.cas, (*done)->opened };
			/* The new CAS makes all earlier requests void. */
			((memcached_claim *) claim)->change_open = (*done)->timed && (*done)->late == DLOCK_FOREVER;
			if (!((memcached_claim *) claim)->change_open) {
				return DLOCK_OK;
			}
		}
		if (has_code(*done, DLOCK_MEMCACHED_NF)) {
			return DLOCK_LOST;
		}
		if (!has_code(*done, DLOCK_MEMCACHED_HD) && !has_to_repeat(*done)) {
			((memcached_claim *) claim)->change_open = true;
			return no_reply(backend, *done, error);
		}
		known->cas = has_code(*done, DLOCK_MEMCACHED_HD) ? known->cas : 0;
		dlock_memcached_release(*done);
		*done = NULL;
	}
	return dlock_fail(error, DLOCK_CONNECTION, "memcached at %s: the key of \"%s\" is changed all the time",
		backend->conn->base.server->label, dlock_claim_name(claim).text);
}

static dlock_memcached_request *make_extension(dlock_memcached_item *item, uint64_t cas, dlock_nanos ttl)
{
	return dlock_memcached_replace(&item->key, cas, item->token, dlock_memcached_item_want(item, ttl));
}

static dlock_memcached_request *make_deletion(dlock_memcached_item *item, uint64_t cas, dlock_nanos ttl)
{
	(void) ttl;
	return dlock_memcached_delete(&item->key, cas);
}

/* Shortens the deadline after an unanswered request for a shorter lease. The server may have set it; if not, renewals
 * request it from now on. It counts from when the longer lease was set, because a server that stands still since then
 * sets it by the clock of that time. */
static void believe_shorter(memcached_claim *claim, dlock_nanos ttl)
{
	dlock_nanos counted = claim->counted_ttl > 0 ? claim->counted_ttl : claim->base.ttl;

	if (ttl < counted && claim->base.deadline != DLOCK_OVER) {
		claim->base.deadline -= lasting(counted) - lasting(ttl);
		claim->counted_ttl = ttl;
		claim->change_open = true;
	}
}

static dlock_status extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	memcached_claim *own = (memcached_claim *) claim;
	dlock_memcached_request *request;
	dlock_status status = change(claim, make_extension, ttl, &request, error);

	if (status == DLOCK_OK) {
		claim->ttl = ttl;
		own->counted_ttl = 0;
		claim->deadline = deadline_of(request, lasting(ttl));
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	} else if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The lock \"%s\" was lost: its key was deleted or belongs to another client",
			dlock_claim_name(claim).text);
	} else if (own->change_open || claim->renewal) {
		believe_shorter(own, ttl);
	}
	dlock_memcached_release(request);
	return status;
}

static dlock_status check(dlock_claim *claim, dlock_error *error)
{
	memcached_claim *own = (memcached_claim *) claim;
	finding found;
	dlock_status status = find(claim, claim->token, &found, error);

	if (status == DLOCK_OK) {
		own->known = found.known;
		/* The server may still set a shorter lease time whose request was not answered. */
		claim->deadline = own->change_open && claim->deadline < found.deadline ? atomic_load(&claim->deadline)
																			 : found.deadline;
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	} else if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The server no longer holds the lock \"%s\" for this lease",
			dlock_claim_name(claim).text);
	}
	return status;
}

static dlock_status release(dlock_claim *claim, dlock_error *error)
{
	dlock_memcached_request *request;
	dlock_status status = change(claim, make_deletion, 0, &request, error);

	if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The lock \"%s\" had been lost", dlock_claim_name(claim).text);
	} else if (status != DLOCK_OK) {
		discard(claim, NULL, dlock_now());
	}
	dlock_memcached_release(request);
	return status;
}

static void abandon(dlock_claim *claim)
{
	if (claim->state != DLOCK_CLAIM_NEW) {
		discard(claim, NULL, dlock_now());
	}
}

/* ---- handles ---- */

static dlock_status no_time_left(dlock_claim *claim, dlock_error *error)
{
	return dlock_fail(error, DLOCK_CONNECTION,
		"memcached at %s answered too late, or its clock is late: the lease of \"%s\" would have no time left; try "
		"again",
		backend_of(claim)->conn->base.server->label, dlock_claim_name(claim).text);
}

/* Replaces the old token by the claim's, by CAS: if several processes try, one succeeds. DLOCK_LOST: the key has
 * another token, or is about to expire. If the key has changed meanwhile, the caller repeats `*done`. */
static dlock_status exchange(dlock_claim *claim, const char *token, dlock_memcached_request **done,
	dlock_memcached_request **counted, int64_t *left, dlock_error *error)
{
	memcached_backend *backend = backend_of(claim);
	finding found;
	dlock_status status = find(claim, token, &found, error);

	if (status != DLOCK_OK) {
		return status;
	}
	if (believed(found.left) <= 0 || found.left < 0) { /* no time would be left; or the key is no lease */
		return DLOCK_LOST;
	}
	if (dlock_now() >= found.deadline) { /* so the handle would be used up for nothing */
		return no_time_left(claim, error);
	}
	*left = found.left;
	*done = dlock_memcached_replace(&item_of(claim)->key, found.known.cas, claim->token,
		dlock_memcached_item_want(item_of(claim), found.left * DLOCK_SECOND));
	*counted = count();
	if (*done && *counted) {
		ask_both(backend, *done, found.known.opened, *counted);
	}
	return has_code(*done, DLOCK_MEMCACHED_HD) ? DLOCK_OK
		: has_code(*done, DLOCK_MEMCACHED_NF)  ? DLOCK_LOST
											   : no_reply(backend, *done, error);
}

static dlock_status attach(dlock_claim *base, const char *token, dlock_error *error)
{
	memcached_claim *claim = (memcached_claim *) base;
	dlock_memcached_request *done = NULL, *counted = NULL;
	int64_t left = 0;
	dlock_status status = have_item(claim, error);

	for (int i = 0; status == DLOCK_OK && i < TRIES; i++) {
		dlock_memcached_release(done);
		dlock_memcached_release(counted);
		done = counted = NULL;
		status = exchange(base, token, &done, &counted, &left, error);
		if (!done || !has_to_repeat(done)) {
			break;
		}
		status = i + 1 < TRIES ? DLOCK_OK : status;
	}
	if (status == DLOCK_OK) {
		status = read_count(backend_of(base), counted, &base->fencing_token, error);
		claim->known = (dlock_memcached_cas) { done->reply.cas, done->opened };
		base->deadline = deadline_of(done, believed(left));
		if (status == DLOCK_OK && dlock_now() >= base->deadline) {
			status = no_time_left(base, error);
		}
		if (status == DLOCK_OK) {
			dlock_claim_move(base, DLOCK_CLAIM_HELD);
		}
	}
	if (status == DLOCK_LOST) {
		dlock_claim_came_late(base, error);
	} else if (status != DLOCK_OK && done && done->sent) {
		discard(base, token, dlock_now());
	}
	dlock_memcached_release(done);
	dlock_memcached_release(counted);
	return status;
}

/* ---- the rest ---- */

static dlock_status locked(dlock_backend *base, const char *resource, size_t len, bool *locked, dlock_error *error)
{
	memcached_backend *backend = (memcached_backend *) base;
	dlock_memcached_key key;
	dlock_status status = DLOCK_OK;

	make_key(backend, &key, resource, len);
	dlock_memcached_request *request = *key.text ? dlock_memcached_get(&key) : NULL;
	ask(backend, request);
	*locked = has_code(request, DLOCK_MEMCACHED_VA);
	if (!*locked && !has_code(request, DLOCK_MEMCACHED_EN)) {
		status = no_reply(backend, request, error);
	}
	dlock_memcached_release(request);
	return status;
}

/* ---- inspections ---- */

#define BROKEN "broken:"

static bool is_broken(const dlock_memcached_reply *reply)
{
	return !strncmp(reply->value, BROKEN, strlen(BROKEN));
}

/* Nothing in the id can release the key. A value that is no token, of another program, is shown as a digest. After a
 * break, the id is that of the broken holder. */
static void id_of(const memcached_backend *backend, const dlock_memcached_reply *reply, char id[64 + 1])
{
	if (is_broken(reply)) {
		snprintf(id, DLOCK_TOKEN_ID_LEN + 1, "%s", reply->value + strlen(BROKEN));
	} else if (!dlock_token_id(reply->value, id)) {
		backend->digest(reply->value, strlen(reply->value), id);
		id[0] = 'x';
		id[DLOCK_TOKEN_ID_LEN] = '\0';
	}
}

static dlock_status add_holder(
	const memcached_backend *backend, const dlock_memcached_reply *reply, dlock_inspection *out, dlock_error *error)
{
	char id[64 + 1];

	id_of(backend, reply, id);
	dlock_party *holder = dlock_inspection_add(out, true, id, strlen(id));
	if (!holder) {
		return dlock_out_of_memory(error);
	}
	out->holding = 1;
	holder->remaining = reply->left >= 0 ? reply->left * DLOCK_SECOND : -1;
	if (is_broken(reply)) {
		const char *by = strrchr(reply->value, ':') + 1;
		dlock_party_break(holder, by, strlen(by));
	}
	return DLOCK_OK;
}

/* Waiters poll, so there is no queue to show. */
static dlock_status inspect(dlock_backend *base, const char *resource, size_t len, int most, dlock_inspection *out,
	dlock_error *error)
{
	memcached_backend *backend = (memcached_backend *) base;
	dlock_memcached_key key;
	dlock_status status = DLOCK_OK;

	(void) most;
	out->at = dlock_time_of_day();
	make_key(backend, &key, resource, len);
	dlock_memcached_request *request = *key.text ? dlock_memcached_get(&key) : NULL;
	ask(backend, request);
	if (has_code(request, DLOCK_MEMCACHED_VA)) {
		status = add_holder(backend, &request->reply, out, error);
	} else if (!has_code(request, DLOCK_MEMCACHED_EN)) {
		status = no_reply(backend, request, error);
	}
	dlock_memcached_release(request);
	return status;
}

/* Sets another value for the remaining time. The server counts whole seconds, so it may last a second longer. */
static dlock_memcached_request *make_break(
	const dlock_memcached_key *key, const dlock_memcached_reply *found, const dlock_break *how)
{
	char value[sizeof BROKEN + DLOCK_TOKEN_ID_LEN + 1 + 64];

	snprintf(value, sizeof value, BROKEN "%.*s:%.64s", DLOCK_TOKEN_ID_LEN, how->id, how->by);
	return how->now ? dlock_memcached_delete(key, found->cas)
					: dlock_memcached_replace(key, found->cas, value, found->left > 0 ? found->left : 1);
}

static dlock_status break_claim(dlock_backend *base, const char *resource, size_t len, const dlock_break *how,
	dlock_nanos *left, dlock_error *error)
{
	memcached_backend *backend = (memcached_backend *) base;
	dlock_memcached_key key;
	char id[64 + 1] = "";
	dlock_status status = DLOCK_LOST;

	make_key(backend, &key, resource, len);
	dlock_memcached_request *found = *key.text ? dlock_memcached_get(&key) : NULL, *request = NULL;
	ask(backend, found);
	if (has_code(found, DLOCK_MEMCACHED_VA)) {
		id_of(backend, &found->reply, id);
	} else if (!has_code(found, DLOCK_MEMCACHED_EN)) {
		status = no_reply(backend, found, error);
	}
	if (!strcmp(id, how->id) && found->reply.left < 0 && !how->now) {
		status = dlock_fail(error, DLOCK_FAILED, "The lock has no lease time, so it would never be free; it can be "
			"given on at once");
	} else if (*id && !strcmp(id, how->id) && is_broken(&found->reply) && !how->now) { /* broken before */
		*left = (found->reply.left + 1) * DLOCK_SECOND;
		status = DLOCK_OK;
	} else if (*id && !strcmp(id, how->id)) {
		request = make_break(&key, &found->reply, how);
		ask_over(backend, request, found->opened);
		*left = how->now ? 0 : (found->reply.left + 1) * DLOCK_SECOND;
		status = has_code(request, DLOCK_MEMCACHED_HD) ? DLOCK_OK
			: has_code(request, DLOCK_MEMCACHED_EX) || has_code(request, DLOCK_MEMCACHED_NF)
			? DLOCK_LOST : no_reply(backend, request, error);
	}
	dlock_memcached_release(found);
	dlock_memcached_release(request);
	return status;
}

static bool is_same(const dlock_backend *a, const dlock_backend *b)
{
	const memcached_backend *one = (const memcached_backend *) a, *other = (const memcached_backend *) b;

	return dlock_endpoint_is_same(one->conn->base.server, other->conn->base.server);
}

static struct dlock_renewal_round *new_round(const dlock_claim *claim)
{
	return dlock_memcached_round_new(backend_of(claim)->conn, item_of(claim));
}

static void dispose(dlock_claim *claim)
{
	end_waiter((memcached_claim *) claim);
	dlock_memcached_item_release(item_of(claim));
}

const dlock_ttl_range dlock_memcached_ttls = { 4 * DLOCK_SECOND, 30 * 24 * 3600 * DLOCK_SECOND, false };

static const dlock_backend_ops ops = {
	.name = "memcached",
	.ttls = &dlock_memcached_ttls,
	.margin = DLOCK_MEMCACHED_MARGIN,
	.claim_size = sizeof(memcached_claim),
	.detachable = true,
	.acquire = acquire,
	.attach = attach,
	.extend = extend,
	.check = check,
	.release = release,
	.abandon = abandon,
	.new_round = new_round,
	.one_only = "must be one name on memcached, which has no queue; for several at once use DistributedLock on Redis, "
				"or one lock for all of them",
	.is_same = is_same,
	.locked = locked,
	.inspect = inspect,
	.break_claim = break_claim,
	.dispose = dispose,
};

dlock_backend *dlock_memcached_new(dlock_net_pool *pool, dlock_endpoint *server, const char *prefix,
	size_t prefix_len, dlock_memcached_digest *digest)
{
	memcached_backend *backend = dlock_backend_new(&ops, sizeof *backend, prefix, prefix_len);

	if (!backend) {
		return NULL;
	}
	backend->pool = pool;
	backend->digest = digest;
	backend->conn = dlock_memcached_conn_of(pool, server, DLOCK_FOREVER);
	if (!backend->conn) {
		free(backend);
		return NULL;
	}
	return &backend->base;
}

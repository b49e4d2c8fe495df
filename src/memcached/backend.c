#include "backend.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lock/claim.h"
#include "renewal.h"

/* The lock is a key that is added if it is not there, with the token as its value, and is changed and deleted by its CAS only: so nobody
 * changes another one's lock, however late a request is executed.
 * Source: https://github.com/memcached/memcached/blob/master/doc/protocol.txt, "Meta Commands". */

typedef struct {
	dlock_backend base;
	dlock_memcached_pool *pool;
	dlock_memcached_conn *conn; /* the pool's */
	dlock_memcached_digest *digest;
	size_t prefix_len;
	char prefix[];
} memcached_backend;

typedef struct {
	dlock_claim base;
	dlock_memcached_item *item; /* NULL: not needed yet */
} memcached_claim;

/* A waiter looks again after a random time up to this one, which doubles each time. */
#define FIRST_PAUSE (5 * DLOCK_MS)
#define LONGEST_PAUSE (100 * DLOCK_MS)

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
	dlock_memcached_make_key(key, backend->prefix, backend->prefix_len, resource, len, backend->digest);
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
			return dlock_fail(error, DLOCK_FAILED, "Out of memory");
		}
	}
	strcpy(claim->item->token, claim->base.token);
	return DLOCK_OK;
}

/* ---- one request and its reply ---- */

/* Sends, and waits for the reply. */
static void ask(memcached_backend *backend, dlock_memcached_request *request)
{
	dlock_memcached_pool_step(backend->pool);
	if (request) {
		dlock_memcached_send(backend->conn, request);
		dlock_memcached_await(backend->conn, request, DLOCK_FOREVER);
	}
}

/* Where there is no reply, or an error: why. */
static dlock_status no_reply(const memcached_backend *backend, const dlock_memcached_request *request, dlock_error *error)
{
	if (!request) {
		return dlock_fail(error, DLOCK_FAILED, "Out of memory");
	}
	if (request->state == DLOCK_MEMCACHED_ANSWERED) {
		return dlock_fail(error, DLOCK_CONNECTION, "memcached at %s: %.100s", backend->conn->server->label, request->reply.value);
	}
	*error = backend->conn->error;
	return DLOCK_CONNECTION;
}

static bool has_code(const dlock_memcached_request *request, dlock_memcached_code code)
{
	return request && request->state == DLOCK_MEMCACHED_ANSWERED && request->reply.code == code;
}

static dlock_nanos lasting(dlock_nanos ttl)
{
	return ttl - ttl / 100 - DLOCK_MEMCACHED_MARGIN;
}

/* Deletes the key if it is the claim's, without waiting. */
static void discard(dlock_claim *claim, const char *instead)
{
	memcached_backend *backend = backend_of(claim);

	if (item_of(claim)) {
		dlock_memcached_discard_key(backend->pool, backend->conn, &item_of(claim)->key, claim->token,
			instead ? 0 : atomic_load(&item_of(claim)->cas), instead, dlock_after(dlock_now(), claim->ttl));
	}
}

/* ---- fencing tokens ---- */

static int64_t wall_clock(void)
{
	struct timespec now;

	timespec_get(&now, TIME_UTC);
	return (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* A counter that the server has lost begins with the time, which has risen by more than the counter. */
static dlock_memcached_request *count(void)
{
	return dlock_memcached_count(wall_clock());
}

static dlock_status read_count(memcached_backend *backend, const dlock_memcached_request *counted, int64_t *token, dlock_error *error)
{
	if (!has_code(counted, DLOCK_MEMCACHED_VA)) {
		return no_reply(backend, counted, error);
	}
	*token = strtoll(counted->reply.value, NULL, 10);
	if (*token <= 0 || *token == INT64_MAX) {
		return dlock_fail(error, DLOCK_CONNECTION, "memcached at %s: the key " DLOCK_MEMCACHED_FENCE " must be a number from 1 to "
			"9223372036854775806, and normally is a time in us: delete it", backend->conn->server->label);
	}
	return DLOCK_OK;
}

/* ---- acquire ---- */

/* What is discarded must not hit the next attempt, which has another token. */
static dlock_status discard_and_rename(memcached_claim *claim, dlock_status status, dlock_error *error)
{
	discard(&claim->base, NULL);
	if (status == DLOCK_TIMEOUT) {
		status = dlock_claim_renew_token(&claim->base, error) == DLOCK_OK ? DLOCK_TIMEOUT : DLOCK_FAILED;
		strcpy(claim->item->token, claim->base.token);
	}
	return status;
}

/* DLOCK_TIMEOUT: somebody has it. */
static dlock_status attempt(memcached_claim *claim, dlock_error *error)
{
	dlock_claim *base = &claim->base;
	memcached_backend *backend = backend_of(base);
	dlock_memcached_request *add = dlock_memcached_add(&claim->item->key, base->token,
		dlock_memcached_item_want(claim->item, base->ttl)), *counted = count();
	dlock_status status = DLOCK_TIMEOUT;

	dlock_memcached_pool_step(backend->pool);
	if (add && counted) {
		dlock_memcached_send(backend->conn, add);
		dlock_memcached_send(backend->conn, counted);
		dlock_memcached_await(backend->conn, counted, DLOCK_FOREVER);
	}
	if (has_code(add, DLOCK_MEMCACHED_HD)) {
		atomic_store(&claim->item->cas, add->reply.cas);
		base->deadline = add->sent_at + lasting(base->ttl);
		status = read_count(backend, counted, &base->fencing_token, error);
		if (status == DLOCK_OK && dlock_now() >= base->deadline) { /* it took longer than the lease lasts */
			status = DLOCK_TIMEOUT;
		}
		if (status == DLOCK_OK) {
			dlock_claim_move(base, DLOCK_CLAIM_HELD);
		} else {
			status = discard_and_rename(claim, status, error);
		}
	} else if (!has_code(add, DLOCK_MEMCACHED_NS)) {
		status = no_reply(backend, add, error);
		if (add && add->sent) { /* a late success must not lock everyone out until the ttl */
			discard(base, NULL);
		}
	}
	dlock_memcached_release(add);
	dlock_memcached_release(counted);
	return status;
}

static dlock_status acquire(dlock_claim *base, const dlock_wait *wait, dlock_error *error)
{
	memcached_claim *claim = (memcached_claim *) base;
	dlock_nanos pause = FIRST_PAUSE;
	dlock_status status = have_item(claim, error);

	while (status == DLOCK_OK) {
		bool last = wait->deadline != DLOCK_FOREVER && dlock_now() >= wait->deadline;
		status = attempt(claim, error);
		if (status != DLOCK_TIMEOUT || last) {
			return status;
		}
		base->waited = true;
		dlock_nanos until = dlock_now() + (1 + dlock_jitter((uint32_t) (pause / DLOCK_US))) * DLOCK_US;
		until = until < wait->deadline ? until : wait->deadline;
		if (dlock_wait_poll(NULL, 0, until, wait) == DLOCK_WAIT_INTERRUPTED) {
			return DLOCK_INTERRUPTED;
		}
		pause = 2 * pause < LONGEST_PAUSE ? 2 * pause : LONGEST_PAUSE;
		status = DLOCK_OK;
	}
	return status;
}

/* ---- while it is held ---- */

/* Asks whose the key is. DLOCK_OK: this token's, and the CAS is known. */
static dlock_status find(dlock_claim *claim, const char *token, dlock_memcached_reply *reply, dlock_nanos *asked, dlock_error *error)
{
	memcached_backend *backend = backend_of(claim);
	dlock_memcached_request *request = dlock_memcached_get(&item_of(claim)->key);
	dlock_status status = DLOCK_OK;

	ask(backend, request);
	if (has_code(request, DLOCK_MEMCACHED_VA) || has_code(request, DLOCK_MEMCACHED_EN)) {
		*reply = request->reply;
		*asked = request->sent_at;
		atomic_store(&item_of(claim)->cas, reply->cas);
		status = dlock_memcached_is_token(reply, token) ? DLOCK_OK : DLOCK_LOST;
	} else {
		status = no_reply(backend, request, error);
	}
	dlock_memcached_release(request);
	return status;
}

/* Changes the key by its CAS; where that has changed, by a renewal perhaps, it is asked for. `make` makes the request. DLOCK_LOST: it
 * is not the claim's. */
typedef dlock_memcached_request *maker(dlock_memcached_item *item, dlock_nanos ttl);

static dlock_status change(dlock_claim *claim, maker *make, dlock_nanos ttl, dlock_memcached_request **done, dlock_error *error)
{
	memcached_backend *backend = backend_of(claim);
	dlock_memcached_reply reply;
	dlock_nanos asked;

	*done = NULL;
	for (;;) {
		if (atomic_load(&item_of(claim)->cas) == 0) { /* without it, the server would change it whoever has it */
			dlock_status status = find(claim, claim->token, &reply, &asked, error);
			if (status != DLOCK_OK) {
				return status;
			}
		}
		*done = make(item_of(claim), ttl);
		ask(backend, *done);
		if (has_code(*done, DLOCK_MEMCACHED_HD)) {
			atomic_store(&item_of(claim)->cas, (*done)->reply.cas);
			return DLOCK_OK;
		}
		if (has_code(*done, DLOCK_MEMCACHED_NF)) {
			return DLOCK_LOST;
		}
		if (!has_code(*done, DLOCK_MEMCACHED_EX)) {
			return no_reply(backend, *done, error);
		}
		dlock_memcached_release(*done);
		*done = NULL;
		atomic_store(&item_of(claim)->cas, 0);
	}
}

static dlock_memcached_request *make_extension(dlock_memcached_item *item, dlock_nanos ttl)
{
	return dlock_memcached_replace(&item->key, atomic_load(&item->cas), item->token, dlock_memcached_item_want(item, ttl));
}

static dlock_memcached_request *make_deletion(dlock_memcached_item *item, dlock_nanos ttl)
{
	(void) ttl;
	return dlock_memcached_delete(&item->key, atomic_load(&item->cas));
}

static dlock_status extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	dlock_memcached_request *request;
	dlock_status status = change(claim, make_extension, ttl, &request, error);

	if (status == DLOCK_OK) {
		claim->ttl = ttl;
		claim->deadline = request->sent_at + lasting(ttl);
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	} else if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The lock \"%.100s\" was lost: the server has it for someone else, or for nobody", claim->resource);
	} else if (request && request->sent && request->sent_at + lasting(ttl) < claim->deadline) {
		/* A shorter lease that may have been set must be believed even without an answer. */
		claim->deadline = request->sent_at + lasting(ttl);
	}
	dlock_memcached_release(request);
	return status;
}

/* What is left of a lease, in the worst case, by what the server says of its key. */
static dlock_nanos believed(int64_t left)
{
	return lasting(left < 0 ? dlock_memcached_ttls.most : left * DLOCK_SECOND);
}

static dlock_status check(dlock_claim *claim, dlock_error *error)
{
	dlock_memcached_reply reply;
	dlock_nanos asked;
	dlock_status status = find(claim, claim->token, &reply, &asked, error);

	if (status == DLOCK_OK) {
		claim->deadline = asked + believed(reply.left);
		dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	} else if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The lock \"%.100s\" is not this lease's on the server", claim->resource);
	}
	return status;
}

static dlock_status release(dlock_claim *claim, dlock_error *error)
{
	dlock_memcached_request *request;
	dlock_status status = change(claim, make_deletion, 0, &request, error);

	if (status == DLOCK_LOST) {
		dlock_fail(error, DLOCK_LOST, "The lock \"%.100s\" had been lost", claim->resource);
	} else if (status != DLOCK_OK) {
		discard(claim, NULL);
	}
	dlock_memcached_release(request);
	return status;
}

static void abandon(dlock_claim *claim)
{
	if (claim->state != DLOCK_CLAIM_NEW) {
		discard(claim, NULL);
	}
}

/* ---- handles ---- */

/* Puts the claim's token in the place of the old one, by CAS, so that of several who try, one succeeds. */
static dlock_status attach(dlock_claim *claim, const char *token, dlock_error *error)
{
	memcached_backend *backend = backend_of(claim);
	dlock_status status = have_item((memcached_claim *) claim, error);
	dlock_memcached_reply reply;
	dlock_nanos asked;

	status = status == DLOCK_OK ? find(claim, token, &reply, &asked, error) : status;
	if (status != DLOCK_OK) {
		return status == DLOCK_LOST ? dlock_claim_came_late(claim, error) : status;
	}
	dlock_memcached_request *request = dlock_memcached_replace(&item_of(claim)->key, reply.cas, claim->token,
		dlock_memcached_item_want(item_of(claim), reply.left > 0 ? reply.left * DLOCK_SECOND : claim->ttl)), *counted = count();
	if (request && counted) {
		dlock_memcached_send(backend->conn, request);
		dlock_memcached_send(backend->conn, counted);
		dlock_memcached_await(backend->conn, counted, DLOCK_FOREVER);
	}
	if (has_code(request, DLOCK_MEMCACHED_HD)) {
		status = read_count(backend, counted, &claim->fencing_token, error);
		atomic_store(&item_of(claim)->cas, request->reply.cas);
		claim->deadline = request->sent_at + believed(reply.left);
		if (status == DLOCK_OK) {
			dlock_claim_move(claim, DLOCK_CLAIM_HELD);
		}
	} else if (has_code(request, DLOCK_MEMCACHED_EX) || has_code(request, DLOCK_MEMCACHED_NF)) {
		status = dlock_claim_came_late(claim, error);
	} else {
		status = no_reply(backend, request, error);
	}
	if (status != DLOCK_OK && status != DLOCK_LOST && request && request->sent) {
		discard(claim, token);
	}
	dlock_memcached_release(request);
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
	dlock_memcached_request *request = dlock_memcached_get(&key);
	ask(backend, request);
	*locked = has_code(request, DLOCK_MEMCACHED_VA);
	if (!*locked && !has_code(request, DLOCK_MEMCACHED_EN)) {
		status = no_reply(backend, request, error);
	}
	dlock_memcached_release(request);
	return status;
}

static bool is_same(const dlock_claim *claim, dlock_backend *backend, const char *resource, size_t len)
{
	memcached_backend *ours = backend_of(claim), *other = (memcached_backend *) backend;
	dlock_memcached_key mine, key;

	make_key(ours, &mine, claim->resource, claim->resource_len);
	make_key(other, &key, resource, len);
	return mine.encoded == key.encoded && !strcmp(mine.text, key.text) && dlock_server_is_same(ours->conn->server, other->conn->server);
}

static struct dlock_renewal_round *new_round(const dlock_claim *claim)
{
	return dlock_memcached_round_new(backend_of(claim)->conn->server, item_of(claim));
}

static void dispose(dlock_claim *claim)
{
	dlock_memcached_item_release(item_of(claim));
}

static void destroy(dlock_backend *backend)
{
	free(backend);
}

const dlock_ttl_range dlock_memcached_ttls = { 4 * DLOCK_SECOND, 30 * 24 * 3600 * DLOCK_SECOND };

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
	.is_same = is_same,
	.locked = locked,
	.dispose = dispose,
	.destroy = destroy,
};

dlock_backend *dlock_memcached_new(dlock_memcached_pool *pool, dlock_server *server, const char *prefix, size_t prefix_len,
	dlock_memcached_digest *digest)
{
	memcached_backend *backend = calloc(1, sizeof *backend + prefix_len);

	if (!backend) {
		return NULL;
	}
	dlock_backend_init(&backend->base, &ops);
	backend->pool = pool;
	backend->digest = digest;
	backend->prefix_len = prefix_len;
	memcpy(backend->prefix, prefix, prefix_len);
	backend->conn = dlock_memcached_pool_conn(pool, server, DLOCK_FOREVER);
	if (!backend->conn) {
		free(backend);
		return NULL;
	}
	return &backend->base;
}

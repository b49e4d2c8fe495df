#include "discard.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	dlock_background base;
	dlock_memcached_conn *conn;
	dlock_memcached_key key;
	char token[DLOCK_TOKEN_MAX + 1], instead[DLOCK_TOKEN_MAX + 1];
	dlock_memcached_cas known; /* if it is not known, the server is asked for it */
	int64_t left; /* seconds that the key had left when the server was asked */
	bool missed;   /* the server reported once that there is no key */
	dlock_memcached_request *request; /* under way or answered; NULL: none */
} discard;

static void send_again(dlock_background *base)
{
	discard *own = (discard *) base;

	if (own->known.cas == 0) {
		own->request = dlock_memcached_get(&own->key);
		if (own->request) {
			dlock_memcached_send(own->conn, own->request);
		}
		return;
	}
	own->request = *own->instead
		? dlock_memcached_replace(&own->key, own->known.cas, own->instead, own->left)
		: dlock_memcached_delete(&own->key, own->known.cas);
	if (own->request) {
		dlock_memcached_send_over(own->conn, own->request, own->known.opened);
	}
}

static bool is_under_way(const dlock_background *base)
{
	const dlock_memcached_request *request = ((const discard *) base)->request;

	return request && request->state == DLOCK_MEMCACHED_PENDING;
}

/* The key may still have the token `instead`, while an earlier request that would change it is under way. Setting it
 * again gives it another CAS, so that the earlier request has no effect. */
static bool is_to_change(const discard *own, const dlock_memcached_reply *reply)
{
	if (*own->instead) {
		return reply->left > 0
			&& (dlock_memcached_is_token(reply, own->token) || dlock_memcached_is_token(reply, own->instead));
	}
	return dlock_memcached_is_token(reply, own->token);
}

static bool goes_on(discard *own, dlock_nanos now)
{
	const dlock_memcached_reply *reply = &own->request->reply;

	if (own->request->state == DLOCK_MEMCACHED_FAILED) {
		bool moved = own->known.cas > 0 && !own->request->sent; /* the connection was replaced */
		own->base.due = moved ? now : own->base.due;
		own->known.cas = 0;
		return true;
	}
	if (own->known.cas > 0 && reply->code == DLOCK_MEMCACHED_EX) { /* a renewal of this process may have changed it */
		own->base.due = now;
		own->known.cas = 0;
		return true;
	}
	if (own->known.cas == 0 && reply->cas > 0 && is_to_change(own, reply)) {
		own->base.due = now;
		own->known = (dlock_memcached_cas) { reply->cas, own->request->opened };
		own->left = reply->left;
		return true;
	}
	/* The server reads its connections in any order: it may still execute a request from a closed connection. */
	bool again = own->known.cas == 0 && reply->code == DLOCK_MEMCACHED_EN && !own->missed;
	own->missed = true;
	return again;
}

static bool take(dlock_background *base, dlock_nanos now)
{
	discard *own = (discard *) base;
	bool again = !own->request || goes_on(own, now);

	dlock_memcached_release(own->request);
	own->request = NULL;
	return again;
}

static void discard_free(dlock_background *base)
{
	dlock_memcached_release(((discard *) base)->request);
	free(base);
}

void dlock_memcached_discard_key(dlock_net_pool *pool, dlock_memcached_conn *conn, const dlock_memcached_key *key,
	const char *token, dlock_memcached_cas known, const char *instead, dlock_nanos useful_until)
{
	static const dlock_background_ops ops = { send_again, is_under_way, take, discard_free };
	discard *own = calloc(1, sizeof *own);

	if (!own) {
		return;
	}
	own->conn = conn;
	own->key = *key;
	strcpy(own->token, token);
	strcpy(own->instead, instead ? instead : "");
	own->known = instead ? (dlock_memcached_cas) { 0 } : known; /* the remaining time is needed, too */
	dlock_net_pool_begin_background(pool, &own->base, &ops, useful_until);
}

#include "stocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../request/keys.h"
#include "../script/slot.h"
#include "../wire/reply.h"
#include "stocks_internal.h"

/* Where replicas confirm (`replicas`), no era is needed, other than for locks (docs/fail-over.md): whether pieces are somebody's is decided again
 * when they are bought, by the server that is the master then. */

/* ---- names ---- */

static bool is_special(unsigned char byte)
{
	return byte <= ' ' || byte == '/' || byte == '%' || byte == 0x7f;
}

static char *encode(char *out, dlock_arg name)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < name.len; i++) {
		unsigned char byte = (unsigned char) name.text[i];
		if (is_special(byte)) {
			*out++ = '%';
			*out++ = digits[byte >> 4];
			*out++ = digits[byte & 15];
		} else {
			*out++ = (char) byte;
		}
	}
	return out;
}

dlock_order_id dlock_stock_order_id(dlock_arg buyer, dlock_arg request)
{
	dlock_order_id id;
	char *out = encode(id.text, buyer);

	*out++ = '/';
	out = encode(out, request);
	*out = '\0';
	return id;
}

dlock_arg dlock_stock_key(dlock_stock *stock, int place, dlock_arg article)
{
	char *key = stock->keys + (size_t) place * (stock->prefix_len + DLOCK_STOCK_NAME_MAX);

	memcpy(key + stock->prefix_len, article.text, article.len);
	return (dlock_arg) { key, stock->prefix_len + article.len };
}

int dlock_stock_slot(const dlock_stock *stock, dlock_arg key)
{
	return dlock_topology_has_slots(stock->masters.topology) ? dlock_slot_of(key.text, key.len) : 0;
}

const char *dlock_stock_refuse(const dlock_stock *stock, dlock_arg article)
{
	if (!dlock_key_is_reserved((dlock_arg) { stock->keys, stock->prefix_len }, article)) {
		return NULL;
	}
	return "must not make a key that dlock keeps for itself: \"dlock:fence\", \"dlock:era\", or one that begins with \"dlock:queue:\", \"dlock:waiters:\", "
		"\"dlock:fence:\" or \"dlock:era:\"";
}

bool dlock_stock_is_together(dlock_stock *stock, const dlock_arg *articles, int count)
{
	int slot = dlock_stock_slot(stock, dlock_stock_key(stock, 0, articles[0]));

	for (int i = 1; i < count; i++) {
		if (dlock_stock_slot(stock, dlock_stock_key(stock, i, articles[i])) != slot) {
			return false;
		}
	}
	return true;
}

dlock_nanos dlock_stock_deadline(const dlock_call *call, int64_t ms)
{
	dlock_nanos left = dlock_lease_left(ms > 0 ? ms : 0);

	return call->sent_at + left - dlock_drift(left);
}

/* ---- reservations that there are ---- */

typedef struct {
	dlock_arg keys[DLOCK_STOCKS_MAX];
	int slot;
} places;

static places places_of(dlock_stock *stock, const dlock_order *order)
{
	places places;

	for (int i = 0; i < order->count; i++) {
		places.keys[i] = dlock_stock_key(stock, i, order->articles[i]);
	}
	places.slot = dlock_stock_slot(stock, places.keys[0]);
	return places;
}

/* Of several calls for one question, only the first may have done what the last did not find to do. */
static bool may_have_run_before(const dlock_stock_question *asked)
{
	return asked->route.repeated || asked->route.call->repeated;
}

/* A reply that was read: yes, or no. Counts only if replicas are there: a master that was replaced would answer, too. */
static dlock_status settle(dlock_stock_question *asked, dlock_arg key, dlock_status status, bool written)
{
	if (status == DLOCK_OK || status == DLOCK_LOST) {
		status = dlock_stock_confirm_answer(asked, key, written) == DLOCK_OK ? status : DLOCK_CONNECTION;
	}
	return status;
}

static dlock_status extend_one(dlock_stock *stock, dlock_arg key, const char *id, dlock_nanos ttl, dlock_stock_answer *answer, dlock_error *error)
{
	dlock_stock_question asked;
	dlock_response response;
	dlock_status status = dlock_stock_ask(&asked, &stock->masters, dlock_stock_slot(stock, key), dlock_request_permits_renew(key, id, ttl, true), error);

	if (status == DLOCK_OK) {
		status = dlock_read_integer(asked.route.call, asked.route.conn, &response, error);
	}
	/* Where more is left than is asked for, nothing is written. */
	status = settle(&asked, key, status, false);
	if (status == DLOCK_OK) {
		*answer = (dlock_stock_answer) { .outcome = DLOCK_STOCK_RESERVED, .deadline = dlock_stock_deadline(asked.route.call, ttl / DLOCK_MS) };
	} else if (status == DLOCK_LOST) {
		*answer = (dlock_stock_answer) { .outcome = DLOCK_STOCK_GONE };
		status = DLOCK_OK;
	}
	dlock_stock_end(&asked);
	return status;
}

/* One after the other: if a part of the reservation is gone, what was extended before ends by itself. */
dlock_status dlock_stock_extend(dlock_stock *stock, const dlock_order *order, dlock_nanos ttl, dlock_stock_answer *answer, dlock_error *error)
{
	dlock_nanos first = DLOCK_FOREVER;

	for (int i = 0; i < order->count; i++) {
		dlock_status status = extend_one(stock, dlock_stock_key(stock, i, order->articles[i]), order->id.text, ttl, answer, error);
		if (status != DLOCK_OK) {
			return status;
		}
		if (answer->outcome != DLOCK_STOCK_RESERVED) {
			answer->article = i;
			return DLOCK_OK;
		}
		first = answer->deadline < first ? answer->deadline : first;
	}
	answer->deadline = first;
	return DLOCK_OK;
}

dlock_status dlock_stock_confirm(dlock_stock *stock, const dlock_order *order, dlock_stock_answer *answer, dlock_error *error)
{
	places at = places_of(stock, order);
	dlock_stock_question asked;
	dlock_confirmation confirmation = DLOCK_CONFIRMED_BEFORE;
	dlock_status status = dlock_stock_ask(&asked, &stock->masters, at.slot, dlock_request_permits_confirm(at.keys, order->count, order->id.text), error);

	*answer = (dlock_stock_answer) { .outcome = DLOCK_STOCK_GONE };
	if (status == DLOCK_OK) {
		status = dlock_read_permits_confirm(asked.route.call, asked.route.conn, &confirmation, &answer->article, error);
	}
	status = settle(&asked, at.keys[0], status, status == DLOCK_OK && confirmation != DLOCK_CONFIRMED_BEFORE);
	if (status == DLOCK_OK) {
		bool before = confirmation == DLOCK_CONFIRMED_BEFORE && !may_have_run_before(&asked);
		answer->outcome = before ? DLOCK_STOCK_BOUGHT : DLOCK_STOCK_RESERVED;
	}
	dlock_stock_end(&asked);
	return status == DLOCK_LOST ? DLOCK_OK : status;
}

/* Nothing was given back by the last of several sendings: by an earlier one, or it had been bought. */
static dlock_status was_bought(const dlock_stock *stock, const places *at, const char *id, bool *bought, dlock_error *error)
{
	char entry[DLOCK_PERMIT_ID_MAX + 2];
	dlock_arg args[] = { DLOCK_ARG("ZSCORE"), at->keys[0], { entry, (size_t) snprintf(entry, sizeof entry, "h%s", id) } };
	dlock_stock_question asked;
	dlock_status status = dlock_stock_ask(&asked, &stock->masters, at->slot, dlock_call_command(args, 3), error);

	if (status == DLOCK_OK) {
		status = dlock_check_reply(asked.route.call, asked.route.conn, error);
	}
	*bought = status == DLOCK_OK && asked.route.call->reply->type == REDIS_REPLY_STRING;
	dlock_stock_end(&asked);
	return status;
}

dlock_status dlock_stock_cancel(dlock_stock *stock, const dlock_order *order, dlock_stock_answer *answer, dlock_error *error)
{
	places at = places_of(stock, order);
	dlock_stock_question asked;
	dlock_response response;
	dlock_permits_attempt attempt = { .id = order->id.text };
	dlock_status status = dlock_stock_ask(&asked, &stock->masters, at.slot,
		dlock_request_permits_release(at.keys, order->count, &attempt), error);

	if (status == DLOCK_OK) {
		status = dlock_read_integer(asked.route.call, asked.route.conn, &response, error);
	}
	status = settle(&asked, at.keys[0], status, status == DLOCK_OK);
	*answer = (dlock_stock_answer) { .outcome = status == DLOCK_OK ? DLOCK_STOCK_RESERVED : DLOCK_STOCK_GONE };
	if (status == DLOCK_LOST) {
		bool bought = true;
		status = may_have_run_before(&asked) ? was_bought(stock, &at, order->id.text, &bought, error) : DLOCK_OK;
		answer->outcome = bought ? DLOCK_STOCK_GONE : DLOCK_STOCK_RESERVED;
	}
	dlock_stock_end(&asked);
	return status;
}

/* ---- stocks ---- */

/* Without a name, a change gets one: so that it can be asked for again where its answer is lost. No other name has a slash. */
static bool name_change(char *out, dlock_arg change)
{
	char token[DLOCK_TOKEN_LEN + 1];

	if (change.len > 0) {
		*encode(out, change) = '\0';
		return true;
	}
	if (!dlock_token(token)) {
		return false;
	}
	sprintf(out, "/%s", token);
	return true;
}

dlock_status dlock_stock_restock(dlock_stock *stock, dlock_arg article, int64_t pieces, dlock_arg change, int64_t *changed, dlock_error *error)
{
	dlock_arg key = dlock_stock_key(stock, 0, article);
	char name[3 * DLOCK_STOCK_NAME_MAX + 1];
	dlock_stock_question asked;

	if (!name_change(name, change)) {
		return dlock_fail(error, DLOCK_FAILED, "The system gave no random bytes");
	}
	dlock_status status = dlock_stock_ask(&asked, &stock->masters, dlock_stock_slot(stock, key), dlock_request_permits_restock(key, pieces, name), error);
	if (status == DLOCK_OK) {
		status = dlock_read_permits_restock(asked.route.call, asked.route.conn, changed, error);
	}
	/* It may have been made before. */
	status = settle(&asked, key, status, false);
	dlock_stock_end(&asked);
	return status;
}

dlock_status dlock_stock_count(dlock_stock *stock, dlock_arg article, dlock_permits_counts *counts, dlock_error *error)
{
	dlock_arg key = dlock_stock_key(stock, 0, article);
	dlock_stock_question asked;

	dlock_status status = dlock_stock_ask(&asked, &stock->masters, dlock_stock_slot(stock, key), dlock_request_permits_counts(key, 0), error);
	if (status == DLOCK_OK) {
		status = dlock_read_permits_counts(asked.route.call, asked.route.conn, counts, error);
	}
	dlock_stock_end(&asked);
	return status;
}

/* ---- of a service ---- */

dlock_stock *dlock_stock_new(dlock_pool *pool, dlock_server *service, const char *prefix, size_t prefix_len)
{
	dlock_stock *stock = calloc(1, sizeof *stock);

	if (!stock) {
		return NULL;
	}
	stock->service = dlock_server_retain(service);
	stock->masters = (dlock_masters) { pool, dlock_pool_topology(pool, service), service->replicas, NULL };
	stock->prefix_len = prefix_len;
	stock->keys = malloc(DLOCK_STOCKS_MAX * (prefix_len + DLOCK_STOCK_NAME_MAX));
	if (!stock->masters.topology || !stock->keys) {
		dlock_stock_free(stock);
		return NULL;
	}
	for (size_t i = 0; i < DLOCK_STOCKS_MAX; i++) {
		memcpy(stock->keys + i * (prefix_len + DLOCK_STOCK_NAME_MAX), prefix, prefix_len);
	}
	return stock;
}

void dlock_stock_free(dlock_stock *stock)
{
	dlock_server_release(stock->service);
	free(stock->keys);
	free(stock);
}

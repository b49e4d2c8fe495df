#include "stocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../request/keys.h"
#include "../script/slot.h"
#include "../wire/reply.h"
#include "question.h"
#include "stocks_internal.h"

/* If replicas confirm (`replicas`), stocks need no epoch, unlike locks (docs/fail-over.md). When an order is confirmed,
 * the server that is the master then decides again whether the units are the buyer's. */

/* ---- names ---- */

dlock_arg dlock_stock_key(dlock_redis_stock *stock, int place, dlock_arg sku)
{
	char *key = stock->keys + (size_t) place * (stock->prefix_len + DLOCK_STOCK_NAME_MAX);

	memcpy(key + stock->prefix_len, sku.text, sku.len);
	return (dlock_arg) { key, stock->prefix_len + sku.len };
}

int dlock_stock_slot(const dlock_redis_stock *stock, dlock_arg key)
{
	return dlock_topology_has_slots(stock->masters.topology) ? dlock_slot_of(key.text, key.len) : 0;
}

static const char *refuse(const dlock_stock *base, dlock_arg sku)
{
	const dlock_redis_stock *stock = (const dlock_redis_stock *) base;

	return dlock_key_refuse((dlock_arg) { stock->keys, stock->prefix_len }, sku);
}

/* In a cluster, products are together only if they share a hash slot. */
static bool is_together(dlock_stock *base, const dlock_arg *skus, int count)
{
	dlock_redis_stock *stock = dlock_redis_stock_of(base);
	int slot = dlock_stock_slot(stock, dlock_stock_key(stock, 0, skus[0]));

	for (int i = 1; i < count; i++) {
		if (dlock_stock_slot(stock, dlock_stock_key(stock, i, skus[i])) != slot) {
			return false;
		}
	}
	return true;
}

void dlock_stock_place(dlock_redis_stock *stock, const dlock_order *order, dlock_order_place *place)
{
	for (int i = 0; i < order->count; i++) {
		place->keys[i] = dlock_stock_key(stock, i, order->skus[i]);
	}
	place->products = dlock_stock_products(order);
	place->slot = dlock_stock_slot(stock, place->keys[0]);
	place->count = order->count;
	place->ref = (dlock_order_ref){ order->id.text, order->generation < 0 ? DLOCK_NO_NUMBER : order->generation,
		place->products.text };
}

dlock_nanos dlock_stock_deadline(const dlock_call *call, int64_t ms)
{
	dlock_nanos left = dlock_lease_left(ms);

	return call->sent_at + left - dlock_drift(left);
}

/* ---- existing orders ---- */

/* What the script of an order replies: 1 if it has done it, 2 if that was done before, `number` ms ago. The caller
 * interprets 2 of a reservation that goes on, and 3. */
typedef struct {
	dlock_order_response response;
	int64_t uncertain;
	bool by_this; /* of 2: an earlier sending of this question has done it */
	dlock_nanos deadline; /* of a reservation, of which `number` ms are left */
} verdict;

/* 3 of a refund: it was made before. */
static dlock_answer_kind kind_of(int result, const dlock_call *call)
{
	bool done = result == 1 || (result == 3 && call->origin != &dlock_scripts[DLOCK_SCRIPT_STOCK_REFUND]);

	return done ? DLOCK_ANSWER_WRITTEN : DLOCK_ANSWER_FOUND;
}

static dlock_status ask_about(
	dlock_redis_stock *stock, const dlock_order_place *place, dlock_call *call, verdict *verdict, dlock_error *error)
{
	dlock_nanos begun = dlock_now();
	dlock_stock_question asked;
	dlock_status status = dlock_stock_ask(&asked, stock, place->keys[0], call, error);

	if (status == DLOCK_OK) {
		status = dlock_read_stock_order(asked.route.call, asked.route.conn, &verdict->response, error);
	}
	if (status == DLOCK_OK) {
		status = dlock_stock_confirm_answer(
			&asked, place->keys[0], kind_of(verdict->response.result, asked.route.call));
	}
	if (status == DLOCK_OK) {
		bool again = asked.route.repeated || asked.route.call->repeated;
		dlock_nanos passed = dlock_now() - begun + DLOCK_MS; /* the server counts whole ms */
		verdict->uncertain = asked.uncertain;
		verdict->by_this = again && verdict->response.number * DLOCK_MS <= passed;
		verdict->deadline = dlock_stock_deadline(asked.route.call, verdict->response.number);
	}
	dlock_stock_end(&asked);
	return status;
}

/* The answer if the script has done nothing. */
static dlock_stock_answer refusal_of(const dlock_order_response *response)
{
	dlock_stock_answer answer = { .outcome = DLOCK_STOCK_REFUSED,
		.reason = response->reason,
		.item = response->item,
		.since = response->number * DLOCK_MS };

	if (response->reason == DLOCK_ORDER_OTHER) {
		answer.outcome = DLOCK_STOCK_CONFLICT;
		answer.other_products = true;
	} else if (response->reason == DLOCK_ORDER_SHORT) {
		answer.outcome = DLOCK_STOCK_SHORT;
	} else if (response->reason == DLOCK_ORDER_NOT_SOLD || response->reason == DLOCK_ORDER_SMALLER) {
		answer.units = response->number;
		answer.since = 0;
	}
	return answer;
}

/* A result of 2 means "before". */
static dlock_stock_answer answer_of(const verdict *verdict)
{
	const dlock_order_response *response = &verdict->response;

	dlock_stock_answer answer = { .outcome = DLOCK_STOCK_DONE, .deadline = verdict->deadline };

	if (response->result == 0) {
		answer = refusal_of(response);
	} else if (response->result == 2) {
		answer.outcome = verdict->by_this ? DLOCK_STOCK_DONE : DLOCK_STOCK_SOLD;
		answer.since = response->number * DLOCK_MS;
	}
	answer.uncertain = verdict->uncertain;
	return answer;
}

/* 2 means that the reservation was so already. */
static dlock_stock_answer going_on(const verdict *verdict)
{
	dlock_stock_answer answer = answer_of(verdict);

	if (verdict->response.result == 2) {
		answer.outcome = DLOCK_STOCK_DONE;
		answer.since = 0;
	}
	return answer;
}

static dlock_status extend(
	dlock_stock *base, const dlock_order *order, dlock_nanos ttl, dlock_stock_answer *answer, dlock_error *error)
{
	dlock_redis_stock *stock = dlock_redis_stock_of(base);
	dlock_order_place place;
	verdict verdict = { 0 };

	dlock_stock_place(stock, order, &place);
	dlock_status status = ask_about(
		stock, &place, dlock_request_stock_extend(place.keys, place.count, &place.ref, ttl), &verdict, error);
	*answer = going_on(&verdict);
	return status;
}

static dlock_status confirm(
	dlock_stock *base, const dlock_order *order, int64_t limit, dlock_stock_answer *answer, dlock_error *error)
{
	dlock_redis_stock *stock = dlock_redis_stock_of(base);
	dlock_order_place place;
	verdict verdict = { 0 };

	dlock_stock_place(stock, order, &place);
	dlock_status status = ask_about(
		stock, &place, dlock_request_stock_confirm(place.keys, place.count, &place.ref, limit), &verdict, error);
	*answer = answer_of(&verdict);
	answer->late = verdict.response.result == 3;
	return status;
}

static dlock_status cancel(
	dlock_stock *base, const dlock_order *order, dlock_stock_answer *answer, dlock_error *error)
{
	dlock_redis_stock *stock = dlock_redis_stock_of(base);
	dlock_order_place place;
	verdict verdict = { 0 };

	dlock_stock_place(stock, order, &place);
	dlock_status status = ask_about(
		stock, &place, dlock_request_stock_cancel(place.keys, place.count, &place.ref), &verdict, error);
	*answer = answer_of(&verdict);
	if (status == DLOCK_OK
		&& verdict.response.result == 3) { /* there is nothing to cancel, now or later */
		*answer = (dlock_stock_answer) { .outcome = DLOCK_STOCK_REFUSED, .reason = DLOCK_ORDER_ENDED };
	}
	return status;
}

static dlock_status refund(dlock_stock *base, const dlock_order *order, bool restock, int64_t units,
	dlock_arg change, dlock_stock_answer *answer, dlock_error *error)
{
	dlock_redis_stock *stock = dlock_redis_stock_of(base);
	char name[3 * DLOCK_STOCK_NAME_MAX + 1];
	dlock_order_place place;
	verdict verdict = { 0 };

	*dlock_stock_encode(name, change) = '\0';
	dlock_stock_place(stock, order, &place);
	dlock_status status = ask_about(stock, &place,
		dlock_request_stock_refund(place.keys, place.count, &place.ref, restock, units, name), &verdict, error);
	*answer = answer_of(&verdict);
	if (status == DLOCK_OK && verdict.response.result == 3) {
		*answer = (dlock_stock_answer) { .outcome = DLOCK_STOCK_SOLD };
	} else if (verdict.response.result == 1) {
		answer->units = verdict.response.number;
	}
	return status;
}

static dlock_status change(
	dlock_stock *base, const dlock_order *order, int64_t limit, dlock_stock_answer *answer, dlock_error *error)
{
	dlock_redis_stock *stock = dlock_redis_stock_of(base);
	dlock_order_place place;
	verdict verdict = { 0 };

	dlock_stock_place(stock, order, &place);
	dlock_status status = ask_about(stock, &place,
		dlock_request_stock_change(place.keys, place.count, &place.ref, limit, order->units), &verdict, error);
	*answer = going_on(&verdict);
	if (answer->outcome == DLOCK_STOCK_REFUSED && answer->reason == DLOCK_ORDER_LIMITED) {
		*answer = (dlock_stock_answer){
			.outcome = DLOCK_STOCK_LIMITED, .item = verdict.response.item, .units = verdict.response.number
		};
	}
	return status;
}

static bool is_there(const dlock_order_status *status, int count)
{
	for (int i = 0; i < count; i++) {
		if (status[i].state != DLOCK_STATE_NONE) {
			return true;
		}
	}
	return false;
}

static dlock_status look(
	dlock_stock *base, const dlock_order *order, dlock_order_status *status, dlock_nanos *now, dlock_error *error)
{
	dlock_redis_stock *stock = dlock_redis_stock_of(base);
	dlock_order_place place;
	dlock_stock_question asked;

	dlock_stock_place(stock, order, &place);
	dlock_status outcome = dlock_stock_ask(
		&asked, stock, place.keys[0], dlock_request_stock_status(place.keys, place.count, place.ref.id), error);
	if (outcome == DLOCK_OK) {
		outcome = dlock_read_stock_status(asked.route.call, asked.route.conn, order->count, status, error);
	}
	if (outcome == DLOCK_OK) {
		*now = asked.route.call->sent_at;
		outcome = dlock_stock_confirm_answer(&asked, place.keys[0],
			is_there(status, order->count) ? DLOCK_ANSWER_FOUND : DLOCK_ANSWER_NOTHING);
	}
	for (int i = 0; i < order->count && outcome == DLOCK_OK; i++) { /* an order of other products is another one */
		if (status[i].state != DLOCK_STATE_NONE && strcmp(status[i].products, place.products.text) != 0) {
			status[i] = (dlock_order_status) { .state = DLOCK_STATE_NONE };
		}
	}
	dlock_stock_end(&asked);
	return outcome;
}

/* ---- stocks ---- */

/* If a change has no name, it is given one, so that it can be repeated if its answer is lost. No other name contains a
 * slash. */
static bool name_change(char *out, dlock_arg change)
{
	char token[DLOCK_TOKEN_PLAIN_LEN + 1];

	if (change.len > 0) {
		*dlock_stock_encode(out, change) = '\0';
		return true;
	}
	if (!dlock_plain_token(token)) {
		return false;
	}
	sprintf(out, "/%s", token);
	return true;
}

static dlock_status restock(dlock_stock *base, dlock_arg sku, int64_t units, dlock_arg change,
	dlock_nanos remember, int64_t *changed, dlock_error *error)
{
	dlock_redis_stock *stock = dlock_redis_stock_of(base);
	dlock_arg key = dlock_stock_key(stock, 0, sku);
	char name[3 * DLOCK_STOCK_NAME_MAX + 1];
	dlock_stock_question asked;

	if (!name_change(name, change)) {
		return dlock_fail(error, DLOCK_FAILED, "The system gave no random bytes");
	}
	if (dlock_stock_begin_lineage(stock, key, error) != DLOCK_OK) {
		return DLOCK_CONNECTION;
	}
	dlock_status status = dlock_stock_ask(&asked, stock, key,
		dlock_request_stock_restock(key, units, name, remember), error);
	if (status == DLOCK_OK) {
		status = dlock_read_stock_restock(asked.route.call, asked.route.conn, changed, error);
	}
	if (status == DLOCK_OK) { /* an earlier sending may have made the change */
		status = dlock_stock_confirm_answer(&asked, key, DLOCK_ANSWER_FOUND);
	}
	dlock_stock_end(&asked);
	return status;
}

/* count() has ended reservations swept for this long at most. A million of them take some ten seconds, once. */
#define LONGEST_SWEEP (60 * DLOCK_SECOND)

/* Counts the stocks of one slot, and asks again until the count is complete. */
static dlock_status count_slot(dlock_redis_stock *stock, const dlock_arg *keys, int count, bool confirmed,
	dlock_stock_counts *counts, dlock_error *error)
{
	dlock_nanos until = dlock_after(dlock_now(), LONGEST_SWEEP);
	dlock_stock_question asked;
	bool unfinished = true;
	dlock_status status = DLOCK_OK;

	while (unfinished && status == DLOCK_OK) {
		status = dlock_stock_ask(&asked, stock, keys[0], dlock_request_stock_counts(keys, count), error);
		if (status == DLOCK_OK) {
			status = dlock_read_stock_counts(asked.route.call, asked.route.conn, count, counts, &unfinished, error);
		}
		if (status == DLOCK_OK && unfinished && dlock_now() >= until) {
			status = dlock_stock_explain_unfinished(asked.route.conn, error);
		}
		if (status == DLOCK_OK && !unfinished) {
			status = dlock_stock_confirm_answer(
				&asked, keys[0], confirmed ? DLOCK_ANSWER_FOUND : DLOCK_ANSWER_ANY);
		}
		for (int i = 0; i < count && status == DLOCK_OK; i++) {
			counts[i].uncertain = asked.uncertain;
		}
		dlock_stock_end(&asked);
	}
	return status;
}

static dlock_status count(dlock_stock *base, const dlock_arg *skus, int count, bool confirmed,
	dlock_stock_counts *counts, dlock_error *error)
{
	dlock_redis_stock *stock = dlock_redis_stock_of(base);
	bool counted[DLOCK_STOCKS_MAX] = { false };

	for (int first = 0; first < count; first++) {
		dlock_arg keys[DLOCK_STOCKS_MAX];
		dlock_stock_counts some[DLOCK_STOCKS_MAX];
		int places[DLOCK_STOCKS_MAX], n = 0, slot = 0;
		for (int i = first; i < count && !counted[first]; i++) {
			dlock_arg key = dlock_stock_key(stock, i, skus[i]);
			if (i == first || (!counted[i] && dlock_stock_slot(stock, key) == slot)) {
				slot = dlock_stock_slot(stock, key);
				places[n] = i;
				keys[n++] = key;
			}
		}
		dlock_status status = n > 0 ? count_slot(stock, keys, n, confirmed, some, error) : DLOCK_OK;
		if (status != DLOCK_OK) {
			return status;
		}
		for (int i = 0; i < n; i++) {
			counts[places[i]] = some[i];
			counted[places[i]] = true;
		}
	}
	return DLOCK_OK;
}

static dlock_status set_sale(
	dlock_stock *base, dlock_arg sku, dlock_sale sale, dlock_sale *is, bool *known, dlock_error *error)
{
	dlock_redis_stock *stock = dlock_redis_stock_of(base);
	dlock_arg key = dlock_stock_key(stock, 0, sku);
	dlock_stock_question asked;
	dlock_response response = { 0 };
	dlock_status status = dlock_stock_ask(
		&asked, stock, key, dlock_request_stock_sale(key, sale), error);

	if (status == DLOCK_OK) {
		status = dlock_read_integer(asked.route.call, asked.route.conn, &response, error);
		status = status == DLOCK_LOST ? DLOCK_OK : status;
	}
	if (status == DLOCK_OK) {
		status = dlock_stock_confirm_answer(&asked, key, DLOCK_ANSWER_FOUND);
	}
	*known = response.value <= DLOCK_SALE_ENDED;
	*is = *known ? (dlock_sale) response.value : DLOCK_SALE_OPEN;
	dlock_stock_end(&asked);
	return status;
}

/* ---- pages of orders ---- */

/* The ranges of stock_pool.lua. */
static const double ranges[] = { [DLOCK_STATE_NONE] = 5e13,
	[DLOCK_STATE_RESERVED] = 1e11,
	[DLOCK_STATE_SOLD] = 1e13,
	[DLOCK_STATE_ENDED] = 2e13,
	[DLOCK_STATE_CANCELLED] = 3e13,
	[DLOCK_STATE_REFUNDED] = 4e13 };

static void name_range(const dlock_stock_query *query, char from[40], char to[40])
{
	bool all = query->state == DLOCK_STATE_NONE;
	double first = all ? ranges[DLOCK_STATE_RESERVED] : ranges[query->state];

	if (query->since > 0 && !all) {
		double since = (query->state == DLOCK_STATE_RESERVED ? 0 : first) + (double) (int64_t) (query->since * 1000);
		first = since > first ? since : first; /* below the range of reservations there are other numbers */
	}
	snprintf(from, 40, "%.0f", first);
	snprintf(to, 40, "%.0f",
		all                                        ? ranges[DLOCK_STATE_NONE]
			: query->state == DLOCK_STATE_RESERVED ? 1e13
												   : ranges[query->state] + 1e13);
}

static void visit_page(const dlock_call *page, int count, dlock_stock_visit *visit, void *context)
{
	for (int i = 0; i < count; i++) {
		dlock_listed_order listed = dlock_read_stock_order_at(page, i);
		if (strchr(listed.id, '/')) {
			visit(context, &listed);
		}
	}
}

static dlock_status list(dlock_stock *base, dlock_arg sku, const dlock_stock_query *query, dlock_stock_visit *visit,
	void *context, dlock_stock_cursor *next, dlock_error *error)
{
	dlock_redis_stock *stock = dlock_redis_stock_of(base);
	dlock_arg key = dlock_stock_key(stock, 0, sku);
	char from[40], to[40];
	const char *number, *id;
	int count;
	dlock_stock_question asked;

	name_range(query, from, to);
	dlock_status status = dlock_stock_ask(&asked, stock, key,
		dlock_request_stock_orders(
			key, query->from ? query->from : from, to, query->after ? query->after : "", query->buyer, query->limit),
		error);
	if (status == DLOCK_OK) {
		status = dlock_read_stock_orders(asked.route.call, asked.route.conn, &count, &number, &id, error);
	}
	if (status == DLOCK_OK) {
		status = dlock_stock_confirm_answer(&asked, key, DLOCK_ANSWER_FOUND);
	}
	if (status == DLOCK_OK) {
		snprintf(next->number, sizeof next->number, "%s", number ? number : "");
		snprintf(next->id, sizeof next->id, "%s", number ? id : "");
		visit_page(asked.route.call, count, visit, context);
	}
	dlock_stock_end(&asked);
	return status;
}

/* ---- the back end ---- */

static void free_stock(dlock_stock *base)
{
	dlock_redis_stock *stock = dlock_redis_stock_of(base);

	dlock_endpoint_release(stock->service);
	free(stock->keys);
	free(stock);
}

static const dlock_stock_ops ops = {
	.free = free_stock,
	.refuse = refuse,
	.is_together = is_together,
	.reserve = dlock_stock_reserve,
	.leave = dlock_stock_leave,
	.give_back = dlock_stock_give_back,
	.extend = extend,
	.confirm = confirm,
	.cancel = cancel,
	.refund = refund,
	.change = change,
	.look = look,
	.restock = restock,
	.count = count,
	.set_sale = set_sale,
	.list = list,
};

dlock_stock *dlock_redis_stock_new(dlock_pool *pool, dlock_endpoint *service, const char *prefix, size_t prefix_len)
{
	dlock_redis_stock *stock = calloc(1, sizeof *stock);

	if (!stock) {
		return NULL;
	}
	stock->base.ops = &ops;
	stock->service = dlock_endpoint_retain(service);
	stock->masters = (dlock_masters) { pool, dlock_pool_topology(pool, service), service->replicas, NULL };
	stock->enough = dlock_endpoint_enough(service);
	stock->prefix_len = prefix_len;
	stock->keys = malloc(DLOCK_STOCK_PLACES * (prefix_len + DLOCK_STOCK_NAME_MAX));
	if (!stock->masters.topology || !stock->keys) {
		free_stock(&stock->base);
		return NULL;
	}
	for (size_t i = 0; i < DLOCK_STOCK_PLACES; i++) {
		memcpy(stock->keys + i * (prefix_len + DLOCK_STOCK_NAME_MAX), prefix, prefix_len);
	}
	return &stock->base;
}

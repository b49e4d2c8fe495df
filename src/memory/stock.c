#include "stock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stock_table.h"

typedef struct {
	dlock_stock base;
	/* The name of a product: the table, a zero byte, the prefix, and the SKU. The first `len` bytes stay. */
	size_t len;
	char name[];
} memory_stock;

/* The products of a question, and the order that it names, as they are now. The caller is in the room. */
typedef struct {
	dlock_memory_room *room;
	int count;
	dlock_memory_product *products[DLOCK_STOCKS_MAX];
	dlock_memory_order *orders[DLOCK_STOCKS_MAX]; /* NULL: no order has this name */
	dlock_products of;
	int64_t now; /* ms */
} place;

static int64_t ms_of(dlock_nanos time)
{
	int64_t ms = time / DLOCK_MS;

	return ms > 0 ? ms : 1;
}

/* Converts ms of dlock_memory_time() to a deadline by dlock_now(). */
static dlock_nanos deadline_of(int64_t ms)
{
	return dlock_after(dlock_now(), ms * DLOCK_MS - dlock_memory_time() * DLOCK_US);
}

/* Allocates nothing for a product that exists: so leave() always finds the product for which a buyer waits. */
static dlock_memory_product *product_of(memory_stock *stock, dlock_memory_room *room, dlock_arg sku)
{
	memcpy(stock->name + stock->len, sku.text, sku.len);
	return dlock_memory_product_of(room, stock->name, stock->len + sku.len);
}

static dlock_status leave_with(dlock_status status, dlock_error *error)
{
	dlock_memory_leave_room();
	return status == DLOCK_FAILED ? dlock_out_of_memory(error) : status;
}

/* Enters the room, which the caller leaves after any status. DLOCK_FAILED: out of memory. */
static dlock_status enter(place *at, dlock_stock *stock, const dlock_order *order)
{
	*at = (place){ .room = dlock_memory_enter(), .count = order->count, .now = dlock_memory_time() / 1000 };
	at->of = dlock_stock_products(order);
	for (int i = 0; i < order->count; i++) {
		at->products[i] = product_of((memory_stock *) stock, at->room, order->skus[i]);
		if (!at->products[i]) {
			return DLOCK_FAILED;
		}
		at->orders[i] = dlock_memory_order_of(at->products[i], order->id.text);
	}
	return DLOCK_OK;
}

/* Wakes the buyers, because they may wait for what has changed. */
static dlock_status leave_changed(const place *at)
{
	for (int i = 0; i < at->count; i++) {
		dlock_memory_tell_all(at->products[i]);
	}
	dlock_memory_leave_room();
	return DLOCK_OK;
}

/* ---- reserve ---- */

static bool is_had(const dlock_memory_order *order)
{
	return order && (order->state == DLOCK_STATE_RESERVED || order->state == DLOCK_STATE_SOLD);
}

static bool is_same(const place *at, const dlock_order *order, int i)
{
	const dlock_memory_order *found = at->orders[i];

	return !strcmp(found->products.text, at->of.text) && found->units == order->units[i];
}

/* Answers a request whose order already has units. False: it has none of some product. */
static bool answer_found(const place *at, const dlock_order *order, dlock_stock_answer *answer)
{
	int had = 0;

	for (int i = 0; i < at->count; i++) {
		if (is_had(at->orders[i])) {
			const dlock_memory_order *found = at->orders[i];
			had++;
			if (!is_same(at, order, i)) {
				*answer = (dlock_stock_answer) { .outcome = DLOCK_STOCK_CONFLICT, .item = i, .units = found->units };
				answer->other_products = strcmp(found->products.text, at->of.text) != 0;
				return true;
			}
		}
	}
	if (had < at->count) {
		return false;
	}
	const dlock_memory_order *found = at->orders[0];
	*answer = (dlock_stock_answer) { .outcome = found->state == DLOCK_STATE_SOLD ? DLOCK_STOCK_SOLD : DLOCK_STOCK_DONE,
		.generation = found->generation,
		.fencing_token = dlock_memory_next_token(at->room) };
	if (found->state == DLOCK_STATE_SOLD) {
		answer->since = (at->now - found->at) * DLOCK_MS;
	} else {
		answer->deadline = deadline_of(found->at);
	}
	return true;
}

static bool is_above_limit(const dlock_memory_product *product, const char *id, int64_t units, int64_t limit)
{
	return limit > 0 && dlock_memory_units_of_buyer(product, id) + units > limit;
}

/* Refuses if the buyer may not have the units, even if they are available. */
static bool answer_refused(const place *at, const dlock_stock_turn *turn, dlock_stock_answer *answer)
{
	const dlock_order *order = turn->order;

	for (int i = 0; i < at->count; i++) {
		const dlock_memory_product *product = at->products[i];
		*answer = (dlock_stock_answer) { .item = i };
		if (!product->known || product->sale != DLOCK_SALE_OPEN) {
			answer->outcome = DLOCK_STOCK_CLOSED;
			answer->is_unknown = !product->known;
			answer->sale = product->sale;
			return true;
		} else if (is_above_limit(product, order->id.text, order->units[i], turn->limit)) {
			answer->outcome = DLOCK_STOCK_LIMITED;
			answer->units = dlock_memory_units_of_buyer(product, order->id.text);
			return true;
		} else if (order->units[i] > product->all - product->sold
			|| (!turn->state && !dlock_memory_has_turn(product, order->units[i], NULL))) {
			return false;
		}
	}
	return false;
}

/* Returns the first product that lacks units for the order now; negative: none does. */
static int lacks(const place *at, const dlock_stock_turn *turn)
{
	for (int i = 0; i < at->count; i++) {
		if (!dlock_memory_has_turn(at->products[i], turn->order->units[i], turn->state)) {
			return i;
		}
	}
	return -1;
}

/* May the missing units become available? `until`: when the buyer looks again. */
static bool may_come(const place *at, const dlock_stock_turn *turn, int item, dlock_nanos *until)
{
	const dlock_memory_product *product = at->products[item];
	int64_t first = dlock_memory_first_end(product);

	for (int i = 0; i < at->count; i++) {
		if (turn->order->units[i] > at->products[i]->all - at->products[i]->sold) {
			return false;
		}
	}
	*until = first >= 0 ? deadline_of(first + 1) : DLOCK_FOREVER;
	return first >= 0 || product->waiting;
}

/* Moves the buyer, with its ticket, to the queue of the product that lacks units. */
static void move(const place *at, dlock_memory_buyer *waits, const dlock_order *order, int item)
{
	if (waits && waits->item != item) {
		dlock_memory_stop_waiting(at->products[waits->item], waits);
		waits->item = item;
		waits->units = order->units[item];
		dlock_memory_wait(at->products[item], waits);
	}
}

/* The generation of the order if it is reserved again: one more than the last of all its products. */
static int next_generation(const place *at)
{
	int generation = -1;

	for (int i = 0; i < at->count; i++) {
		if (at->orders[i] && at->orders[i]->generation > generation) {
			generation = at->orders[i]->generation;
		}
	}
	return (generation + 1) % 64;
}

static dlock_status take(place *at, const dlock_stock_turn *turn, dlock_stock_answer *answer)
{
	int generation = next_generation(at);
	int64_t ends = at->now + ms_of(turn->ttl);

	for (int i = 0; i < at->count; i++) {
		if (!at->orders[i]) {
			at->orders[i] = dlock_memory_add_order(at->products[i], turn->order->id.text);
		}
		if (!at->orders[i]) {
			return DLOCK_FAILED;
		}
	}
	for (int i = 0; i < at->count; i++) {
		dlock_memory_order *order = at->orders[i];
		dlock_memory_set_state(at->products[i], order, DLOCK_STATE_NONE, at->now);
		order->units = turn->order->units[i];
		order->generation = generation;
		order->products = at->of;
		dlock_memory_set_state(at->products[i], order, DLOCK_STATE_RESERVED, ends);
	}
	*answer = (dlock_stock_answer) { .outcome = DLOCK_STOCK_DONE,
		.generation = generation,
		.deadline = deadline_of(ends),
		.fencing_token = dlock_memory_next_token(at->room) };
	return DLOCK_OK;
}

/* Looks once. DLOCK_TIMEOUT: other orders have reserved the units and may lose them. The buyer may wait until
 * `*next_try`. */
static dlock_status try_to_reserve(
	const dlock_stock_turn *turn, dlock_nanos *next_try, dlock_stock_answer *answer, dlock_error *error)
{
	dlock_memory_buyer *waits = turn->state;
	place at;
	dlock_status status = enter(&at, turn->stock, turn->order);

	if (status != DLOCK_OK || answer_found(&at, turn->order, answer)) {
		return leave_with(status, error);
	}
	*answer = (dlock_stock_answer) { .outcome = DLOCK_STOCK_SHORT };
	if ((waits && waits->withdrawn) || answer_refused(&at, turn, answer)) {
		return leave_with(DLOCK_OK, error);
	}
	int item = lacks(&at, turn);
	if (item < 0) {
		status = take(&at, turn, answer);
	} else {
		*answer = (dlock_stock_answer) { .outcome = DLOCK_STOCK_SHORT, .item = item };
		move(&at, waits, turn->order, item);
		status = may_come(&at, turn, item, next_try) ? DLOCK_TIMEOUT : DLOCK_OK;
	}
	return leave_with(status, error);
}

static dlock_status queue(dlock_stock_turn *turn, dlock_error *error)
{
	dlock_memory_buyer *waits = calloc(1, sizeof *waits);
	place at;

	if (!waits || !dlock_wakeup_open(&waits->wakeup)) {
		free(waits);
		return dlock_fail(error, DLOCK_FAILED, "No descriptor is left to wait with");
	}
	waits->id = turn->order->id.text;
	waits->units = turn->order->units[0];
	waits->limit = turn->limit;
	waits->strict = turn->strict;
	dlock_status status = enter(&at, turn->stock, turn->order);
	if (status == DLOCK_OK) {
		waits->ticket = dlock_memory_next_token(at.room);
		dlock_memory_wait(at.products[0], waits);
		turn->state = waits;
	} else {
		dlock_wakeup_close(&waits->wakeup);
		free(waits);
	}
	return leave_with(status, error);
}

static void leave(dlock_stock_turn *turn)
{
	dlock_memory_buyer *waits = turn->state;
	place at;

	if (!waits) {
		return;
	}
	if (enter(&at, turn->stock, turn->order) == DLOCK_OK) {
		dlock_memory_stop_waiting(at.products[waits->item], waits);
	}
	dlock_memory_leave_room();
	dlock_wakeup_close(&waits->wakeup);
	dlock_watch_end(&waits->watch);
	free(waits);
	turn->state = NULL;
}

/* Lets the next buyer have the turn while this one handles a signal. */
static void step_aside(dlock_stock_turn *turn, bool away)
{
	dlock_memory_buyer *waits = turn->state;
	place at;

	if (waits && enter(&at, turn->stock, turn->order) == DLOCK_OK) {
		waits->away = away;
		dlock_memory_tell_all(at.products[waits->item]);
	}
	if (waits) {
		dlock_memory_leave_room();
	}
}

static int wait_for_turn(dlock_memory_buyer *waits, dlock_nanos next_try, const dlock_wait *wait)
{
	dlock_nanos until = dlock_earlier(next_try, wait->deadline);
	int woken = dlock_wait_bell(&waits->wakeup, until, wait, &waits->watch);

	if (woken != DLOCK_WAIT_INTERRUPTED) {
		dlock_wakeup_clear(&waits->wakeup);
	}
	return woken;
}

static dlock_status reserve(
	dlock_stock_turn *turn, const dlock_wait *wait, dlock_stock_answer *answer, dlock_error *error)
{
	dlock_nanos next_try = 0;
	dlock_status status;

	step_aside(turn, false);
	for (;;) {
		bool last = dlock_now() >= wait->deadline;
		status = try_to_reserve(turn, &next_try, answer, error);
		if (status != DLOCK_TIMEOUT || last) {
			break;
		} else if (!turn->state) { /* then look again: units may have become available in between */
			turn->waited = true;
			status = queue(turn, error);
			if (status != DLOCK_OK) {
				break;
			}
		} else if (wait_for_turn(turn->state, next_try, wait) == DLOCK_WAIT_INTERRUPTED) {
			step_aside(turn, true);
			return DLOCK_INTERRUPTED;
		}
	}
	leave(turn);
	return status == DLOCK_TIMEOUT ? DLOCK_OK : status;
}

/* ---- existing orders ---- */

static bool refuse_with(dlock_stock_answer *answer, int item, dlock_order_reason reason, dlock_nanos since)
{
	*answer = (dlock_stock_answer){
		.outcome = DLOCK_STOCK_REFUSED, .reason = reason, .item = item, .since = since
	};
	return true;
}

/* Does the name belong to another order than the question means, or to none? */
static bool is_not_meant(const place *at, const dlock_order *order, int i, dlock_stock_answer *answer)
{
	const dlock_memory_order *found = at->orders[i];

	if (!found) {
		return refuse_with(answer, i, DLOCK_ORDER_UNKNOWN, 0);
	} else if (strcmp(found->products.text, at->of.text) != 0) {
		*answer = (dlock_stock_answer){ .outcome = DLOCK_STOCK_CONFLICT, .item = i, .other_products = true };
		return true;
	} else if (order->generation >= 0 && found->generation != order->generation) {
		return refuse_with(answer, i, DLOCK_ORDER_SUPERSEDED, 0);
	}
	return false;
}

static const dlock_order_reason reasons[] = { [DLOCK_STATE_ENDED] = DLOCK_ORDER_ENDED,
	[DLOCK_STATE_SOLD] = DLOCK_ORDER_SOLD,
	[DLOCK_STATE_CANCELLED] = DLOCK_ORDER_CANCELLED,
	[DLOCK_STATE_REFUNDED] = DLOCK_ORDER_REFUNDED };

/* Refuses if a part of the order is not reserved. False: all of it is. */
static bool is_not_reserved(const place *at, const dlock_order *order, dlock_stock_answer *answer)
{
	for (int i = 0; i < at->count; i++) {
		if (is_not_meant(at, order, i, answer)) {
			return true;
		}
		const dlock_memory_order *found = at->orders[i];
		if (found->state != DLOCK_STATE_RESERVED) {
			return refuse_with(answer, i, reasons[found->state],
				found->state == DLOCK_STATE_SOLD ? 0 : (at->now - found->at) * DLOCK_MS);
		}
	}
	return false;
}

static dlock_status extend(
	dlock_stock *stock, const dlock_order *order, dlock_nanos ttl, dlock_stock_answer *answer, dlock_error *error)
{
	place at;
	dlock_status status = enter(&at, stock, order);

	if (status != DLOCK_OK || is_not_reserved(&at, order, answer)) {
		return leave_with(status, error);
	}
	*answer = (dlock_stock_answer){ .outcome = DLOCK_STOCK_DONE, .deadline = DLOCK_FOREVER };
	for (int i = 0; i < at.count; i++) {
		int64_t ends = at.now + ms_of(ttl);
		ends = ends > at.orders[i]->at ? ends : at.orders[i]->at;
		dlock_memory_set_state(at.products[i], at.orders[i], DLOCK_STATE_RESERVED, ends);
		dlock_nanos deadline = deadline_of(ends);
		answer->deadline = dlock_earlier(deadline, answer->deadline);
	}
	return leave_changed(&at);
}

/* Is it too late to confirm an order that has expired? */
static bool comes_too_late(
	const place *at, const dlock_order *order, int i, int64_t limit, dlock_stock_answer *answer)
{
	const dlock_memory_product *product = at->products[i];
	const dlock_memory_order *found = at->orders[i];
	dlock_nanos since = (at->now - found->at) * DLOCK_MS;

	if (product->sale == DLOCK_SALE_ENDED || found->units > dlock_memory_available(product)) {
		return refuse_with(answer, i, DLOCK_ORDER_ENDED, since);
	} else if (is_above_limit(product, order->id.text, found->units, limit)) {
		return refuse_with(answer, i, DLOCK_ORDER_LIMITED, since);
	}
	return false;
}

static dlock_status confirm(
	dlock_stock *stock, const dlock_order *order, int64_t limit, dlock_stock_answer *answer, dlock_error *error)
{
	place at;
	dlock_status status = enter(&at, stock, order);
	dlock_stock_answer done = { .outcome = DLOCK_STOCK_SOLD };

	for (int i = 0; i < at.count && status == DLOCK_OK; i++) {
		if (is_not_meant(&at, order, i, answer)) {
			return leave_with(DLOCK_OK, error);
		}
		const dlock_memory_order *found = at.orders[i];
		dlock_nanos since = (at.now - found->at) * DLOCK_MS;
		if (found->state == DLOCK_STATE_REFUNDED || found->state == DLOCK_STATE_CANCELLED) {
			refuse_with(answer, i, reasons[found->state], since);
			return leave_with(DLOCK_OK, error);
		} else if (found->state == DLOCK_STATE_ENDED && comes_too_late(&at, order, i, limit, answer)) {
			return leave_with(DLOCK_OK, error);
		}
		done.outcome = found->state == DLOCK_STATE_SOLD ? done.outcome : DLOCK_STOCK_DONE;
		done.late |= found->state == DLOCK_STATE_ENDED;
		done.since = found->state == DLOCK_STATE_SOLD ? since : done.since;
	}
	if (status != DLOCK_OK) {
		return leave_with(status, error);
	}
	for (int i = 0; i < at.count; i++) {
		if (at.orders[i]->state != DLOCK_STATE_SOLD) {
			dlock_memory_set_state(at.products[i], at.orders[i], DLOCK_STATE_SOLD, at.now);
		}
	}
	*answer = done;
	return leave_changed(&at);
}

/* Withdraws the buyers that wait under this name. True: at least one does. */
static bool withdraw(dlock_memory_product *product, const char *id)
{
	bool found = false;

	for (dlock_memory_buyer *it = product->waiting; it; it = it->next) {
		if (!it->withdrawn && !strcmp(it->id, id)) {
			it->withdrawn = found = true;
		}
	}
	return found;
}

/* Also notes an order as cancelled that was never reserved. */
static dlock_status cancel_each(place *at, const dlock_order *order, dlock_stock_answer *answer)
{
	*answer = (dlock_stock_answer){ .outcome = DLOCK_STOCK_SOLD };
	for (int i = 0; i < at->count; i++) {
		bool withdrawn = withdraw(at->products[i], order->id.text);
		if (!at->orders[i]) {
			at->orders[i] = dlock_memory_add_order(at->products[i], order->id.text);
			if (!at->orders[i]) {
				return DLOCK_FAILED;
			}
			at->orders[i]->products = at->of;
			at->orders[i]->units = 1;
		}
		dlock_memory_order *found = at->orders[i];
		if (found->state == DLOCK_STATE_RESERVED || withdrawn) {
			answer->outcome = DLOCK_STOCK_DONE;
		} else if ((found->state == DLOCK_STATE_ENDED || found->state == DLOCK_STATE_NONE)
			&& answer->outcome != DLOCK_STOCK_DONE) {
			refuse_with(answer, 0, DLOCK_ORDER_ENDED, 0);
		} else {
			answer->since = (at->now - found->at) * DLOCK_MS;
		}
		if (found->state != DLOCK_STATE_REFUNDED && (found->state != DLOCK_STATE_CANCELLED || withdrawn)) {
			dlock_memory_set_state(at->products[i], found, DLOCK_STATE_CANCELLED, at->now);
		}
	}
	return DLOCK_OK;
}

static dlock_status cancel(
	dlock_stock *stock, const dlock_order *order, dlock_stock_answer *answer, dlock_error *error)
{
	place at;
	dlock_status status = enter(&at, stock, order);
	bool waits = false; /* does any buyer wait? */

	for (int i = 0; i < at.count && status == DLOCK_OK; i++) {
		waits |= at.products[i]->waiting != NULL;
	}
	for (int i = 0; i < at.count && status == DLOCK_OK; i++) {
		const dlock_memory_order *found = at.orders[i];
		bool may_wait = !found && waits;
		if (!may_wait && is_not_meant(&at, order, i, answer)) {
			return leave_with(DLOCK_OK, error);
		} else if (found && found->state == DLOCK_STATE_SOLD) {
			refuse_with(answer, i, DLOCK_ORDER_SOLD, 0);
			return leave_with(DLOCK_OK, error);
		}
	}
	status = status == DLOCK_OK ? cancel_each(&at, order, answer) : status;
	return status == DLOCK_OK ? leave_changed(&at) : leave_with(status, error);
}

static void give_back(const dlock_stock_turn *turn, const dlock_stock_answer *answer)
{
	dlock_order order = *turn->order;
	dlock_stock_answer cancelled;
	dlock_error error;

	order.generation = answer->generation;
	cancel(turn->stock, &order, &cancelled, &error);
}

/* Adds a change with a new name; false: out of memory. */
static bool note_change(dlock_memory_product *product, const char *name, int64_t units)
{
	dlock_memory_change *change = dlock_memory_add(&product->changes, name, strlen(name), sizeof *change);

	if (change) {
		change->units = units;
	}
	return change;
}

static const dlock_memory_change *change_of(const dlock_memory_product *product, const char *name)
{
	return dlock_memory_entry_of(&product->changes, name, strlen(name));
}

/* Refuses if the order, or this part of it, cannot be refunded. */
static bool is_not_refundable(
	const place *at, const dlock_order *order, int64_t units, bool in_part, dlock_stock_answer *answer)
{
	for (int i = 0; i < at->count; i++) {
		if (is_not_meant(at, order, i, answer)) {
			return true;
		}
		const dlock_memory_order *found = at->orders[i];
		bool refunded = found->state == DLOCK_STATE_REFUNDED && !in_part;
		if (found->state != DLOCK_STATE_SOLD && !refunded) {
			refuse_with(answer, i, DLOCK_ORDER_NOT_SOLD, 0);
			answer->units = found->units;
			return true;
		} else if (units > found->units) {
			refuse_with(answer, i, DLOCK_ORDER_SMALLER, 0);
			answer->units = found->units;
			return true;
		}
	}
	return false;
}

static void refund_one(
	dlock_memory_product *product, dlock_memory_order *order, int64_t now, bool restock, int64_t back)
{
	int64_t left = order->units - back;

	if (left == 0) {
		dlock_memory_set_state(product, order, DLOCK_STATE_REFUNDED, now);
	} else {
		dlock_memory_set_units(product, order, left);
	}
	product->all -= restock ? 0 : back;
}

static dlock_status refund(dlock_stock *stock, const dlock_order *order, bool restock, int64_t units, dlock_arg change,
	dlock_stock_answer *answer, dlock_error *error)
{
	char name[sizeof(dlock_order_id) + 3 * DLOCK_STOCK_NAME_MAX + 2];
	bool in_part = units > 0;
	place at;
	dlock_status status = enter(&at, stock, order);

	*dlock_stock_encode(name + sprintf(name, "%s/", order->id.text), change) = '\0';
	if (status == DLOCK_OK && in_part && change_of(at.products[0], name)) {
		*answer = (dlock_stock_answer){ .outcome = DLOCK_STOCK_SOLD };
		return leave_with(DLOCK_OK, error);
	}
	if (status != DLOCK_OK || is_not_refundable(&at, order, units, in_part, answer)) {
		return leave_with(status, error);
	}
	*answer = (dlock_stock_answer){ .outcome = DLOCK_STOCK_SOLD };
	for (int i = 0; i < at.count; i++) {
		dlock_memory_order *found = at.orders[i];
		if (found->state == DLOCK_STATE_REFUNDED) {
			answer->since = (at.now - found->at) * DLOCK_MS;
			continue;
		}
		int64_t back = in_part ? units : found->units;
		if (in_part && !note_change(at.products[i], name, back)) {
			return leave_with(DLOCK_FAILED, error);
		}
		*answer = (dlock_stock_answer){ .outcome = DLOCK_STOCK_DONE, .units = found->units - back };
		refund_one(at.products[i], found, at.now, restock, back);
	}
	return leave_changed(&at);
}

/* Refuses if the order cannot have these units. */
static bool is_not_changeable(
	const place *at, const dlock_order *order, int64_t limit, dlock_stock_answer *answer)
{
	if (is_not_reserved(at, order, answer)) {
		return true;
	}
	for (int i = 0; i < at->count; i++) {
		const dlock_memory_product *product = at->products[i];
		int64_t more = order->units[i] - at->orders[i]->units;
		if (more > 0 && is_above_limit(product, order->id.text, more, limit)) {
			*answer = (dlock_stock_answer){ .outcome = DLOCK_STOCK_LIMITED,
				.item = i,
				.units = dlock_memory_units_of_buyer(product, order->id.text) };
			return true;
		} else if (more > 0 && !dlock_memory_has_turn(product, more, NULL)) {
			*answer = (dlock_stock_answer){ .outcome = DLOCK_STOCK_SHORT, .item = i };
			return true;
		}
	}
	return false;
}

/* Does the order have these units already? Then it keeps them, even if it has expired or is sold. */
static bool has_units(const place *at, const dlock_order *order, dlock_stock_answer *answer)
{
	for (int i = 0; i < at->count; i++) {
		const dlock_memory_order *found = at->orders[i];
		if (is_not_meant(at, order, i, answer) || found->units != order->units[i]
			|| found->state == DLOCK_STATE_CANCELLED || found->state == DLOCK_STATE_REFUNDED) {
			return false;
		}
	}
	return true;
}

static dlock_status change(
	dlock_stock *stock, const dlock_order *order, int64_t limit, dlock_stock_answer *answer, dlock_error *error)
{
	place at;
	dlock_status status = enter(&at, stock, order);
	bool same = status == DLOCK_OK && has_units(&at, order, answer);

	if (status != DLOCK_OK || (!same && is_not_changeable(&at, order, limit, answer))) {
		return leave_with(status, error);
	}
	*answer = (dlock_stock_answer){ .outcome = DLOCK_STOCK_DONE, .deadline = DLOCK_FOREVER };
	for (int i = 0; i < at.count; i++) {
		if (!same) {
			dlock_memory_set_units(at.products[i], at.orders[i], order->units[i]);
		}
		dlock_nanos deadline = deadline_of(at.orders[i]->at);
		answer->deadline = dlock_earlier(deadline, answer->deadline);
	}
	return leave_changed(&at);
}

/* An order of other products counts as another order. */
static dlock_status look(
	dlock_stock *stock, const dlock_order *order, dlock_order_status *status, dlock_nanos *now, dlock_error *error)
{
	place at;
	dlock_status outcome = enter(&at, stock, order);

	for (int i = 0; i < at.count && outcome == DLOCK_OK; i++) {
		const dlock_memory_order *found = at.orders[i];
		status[i] = (dlock_order_status){ .state = DLOCK_STATE_NONE };
		if (found && !strcmp(found->products.text, at.of.text)) {
			status[i] = (dlock_order_status){ .state = found->state,
				.units = found->units,
				.ms = found->state == DLOCK_STATE_RESERVED ? found->at - at.now : at.now - found->at,
				.at = found->at,
				.generation = found->generation };
		}
	}
	*now = dlock_now();
	return leave_with(outcome, error);
}

/* ---- stocks ---- */

/* By how many units the stock changes if it is to change by `units`. */
static int64_t possible_change(const dlock_memory_product *product, int64_t units)
{
	int64_t least = -dlock_memory_available(product), most = DLOCK_STOCK_MOST_UNITS - product->all;

	return units < least ? least : units > most ? most : units;
}

static dlock_status restock(dlock_stock *stock, dlock_arg sku, int64_t units, dlock_arg change, dlock_nanos remember,
	int64_t *changed, dlock_error *error)
{
	char name[3 * DLOCK_STOCK_NAME_MAX + 1];
	dlock_memory_room *room = dlock_memory_enter();
	dlock_memory_product *product = product_of((memory_stock *) stock, room, sku);

	*dlock_stock_encode(name, change) = '\0';
	if (!product) {
		return leave_with(DLOCK_FAILED, error);
	}
	const dlock_memory_change *made = change.len > 0 ? change_of(product, name) : NULL;
	if (made) {
		*changed = made->units;
		return leave_with(DLOCK_OK, error);
	}
	*changed = possible_change(product, units);
	if (change.len > 0 && !note_change(product, name, *changed)) {
		return leave_with(DLOCK_FAILED, error);
	}
	product->all += *changed;
	product->known = true;
	dlock_memory_set_remember(product, remember > 0 ? ms_of(remember) : INT64_C(86400000));
	dlock_memory_tell_all(product);
	return leave_with(DLOCK_OK, error);
}

static int64_t count_waiting(const dlock_memory_product *product)
{
	int64_t count = 0;

	for (const dlock_memory_buyer *it = product->waiting; it; it = it->next) {
		count += !it->withdrawn;
	}
	return count;
}

static dlock_status count(dlock_stock *stock, const dlock_arg *skus, int count, bool confirmed,
	dlock_stock_counts *counts, dlock_error *error)
{
	dlock_memory_room *room = dlock_memory_enter();

	(void) confirmed;
	for (int i = 0; i < count; i++) {
		const dlock_memory_product *product = product_of((memory_stock *) stock, room, skus[i]);
		if (!product) {
			return leave_with(DLOCK_FAILED, error);
		}
		counts[i] = (dlock_stock_counts){ .known = product->known,
			.sale = product->sale,
			.available = dlock_memory_available(product),
			.reserved = product->reserved,
			.sold = product->sold,
			.waiting = count_waiting(product) };
	}
	return leave_with(DLOCK_OK, error);
}

static dlock_status set_sale(
	dlock_stock *stock, dlock_arg sku, dlock_sale sale, dlock_sale *is, bool *known, dlock_error *error)
{
	dlock_memory_room *room = dlock_memory_enter();
	dlock_memory_product *product = product_of((memory_stock *) stock, room, sku);

	if (!product) {
		return leave_with(DLOCK_FAILED, error);
	}
	if (product->known && product->sale != DLOCK_SALE_ENDED) {
		product->sale = sale;
		dlock_memory_tell_all(product);
	}
	*known = product->known;
	*is = product->sale;
	return leave_with(DLOCK_OK, error);
}

/* ---- pages of orders ---- */

/* Sorts by state, in the order of Redis, and then by time. A cursor is this number and a name. */
static int64_t number_of(const dlock_memory_order *order)
{
	static const int64_t ranges[] = { [DLOCK_STATE_SOLD] = 1, [DLOCK_STATE_ENDED] = 2, [DLOCK_STATE_CANCELLED] = 3,
		[DLOCK_STATE_REFUNDED] = 4 };

	return (order->state == DLOCK_STATE_RESERVED ? 0 : ranges[order->state] * 10000000000000) + order->at;
}

static int compare(const void *one, const void *other)
{
	const dlock_memory_order *a = *(dlock_memory_order *const *) one, *b = *(dlock_memory_order *const *) other;
	int64_t x = number_of(a), y = number_of(b);

	return x < y ? -1 : x > y ? 1 : strcmp(a->entry.name, b->entry.name);
}

static bool is_wanted(const dlock_memory_order *order, const dlock_stock_query *query)
{
	size_t len = strlen(query->buyer);
	int64_t from = query->from ? strtoll(query->from, NULL, 10) : 0;

	return order->state != DLOCK_STATE_NONE && (query->state == DLOCK_STATE_NONE || query->state == order->state)
		&& (len == 0 || (!strncmp(order->entry.name, query->buyer, len) && order->entry.name[len] == '/'))
		&& (query->state == DLOCK_STATE_NONE || order->at >= (int64_t) (query->since * 1000))
		&& (!query->from || number_of(order) > from
			|| (number_of(order) == from && strcmp(order->entry.name, query->after) > 0));
}

/* NULL: out of memory. */
static dlock_memory_order **find_wanted(
	const dlock_memory_product *product, const dlock_stock_query *query, size_t *count)
{
	dlock_memory_order **found = malloc((product->orders.count + 1) * sizeof *found);

	*count = 0;
	for (dlock_memory_order *it = dlock_memory_next(&product->orders, NULL); it && found;
		 it = dlock_memory_next(&product->orders, &it->entry)) {
		if (is_wanted(it, query)) {
			found[(*count)++] = it;
		}
	}
	if (found) {
		qsort(found, *count, sizeof *found, compare);
	}
	return found;
}

static bool copy_page(dlock_listed_order *page, dlock_memory_order *const *found, size_t count)
{
	int64_t now = dlock_memory_time() / 1000;

	for (size_t i = 0; i < count; i++) {
		page[i] = (dlock_listed_order){ .id = strdup(found[i]->entry.name),
			.state = found[i]->state,
			.units = found[i]->units,
			.at = found[i]->at,
			.left = found[i]->at - now };
		if (!page[i].id) {
			return false;
		}
	}
	return true;
}

static void free_page(dlock_listed_order *page, size_t count)
{
	for (size_t i = 0; i < count && page; i++) {
		free((char *) page[i].id);
	}
	free(page);
}

/* Calls the visitor outside the room, because it may do anything. */
static dlock_status list(dlock_stock *stock, dlock_arg sku, const dlock_stock_query *query, dlock_stock_visit *visit,
	void *context, dlock_stock_cursor *next, dlock_error *error)
{
	dlock_memory_product *product = product_of((memory_stock *) stock, dlock_memory_enter(), sku);
	size_t most = (size_t) query->limit, count = 0;
	dlock_memory_order **found = product ? find_wanted(product, query, &count) : NULL;
	dlock_listed_order *page = calloc(most, sizeof *page);

	count = count < most ? count : most;
	bool good = found && page && copy_page(page, found, count);
	*next = (dlock_stock_cursor){ .number = "" };
	if (good && count == most) { /* as on Redis: after a full page there may be more */
		snprintf(next->number, sizeof next->number, "%lld", (long long) number_of(found[count - 1]));
		snprintf(next->id, sizeof next->id, "%s", page[count - 1].id);
	}
	free(found);
	dlock_status status = leave_with(good ? DLOCK_OK : DLOCK_FAILED, error);
	for (size_t i = 0; i < count && good; i++) {
		visit(context, &page[i]);
	}
	free_page(page, count);
	return status;
}

/* ---- the table ---- */

static const char *refuse(const dlock_stock *stock, dlock_arg sku)
{
	(void) stock, (void) sku;
	return NULL;
}

static bool is_together(dlock_stock *stock, const dlock_arg *skus, int count)
{
	(void) stock, (void) skus, (void) count;
	return true;
}

static void free_stock(dlock_stock *stock)
{
	free(stock);
}

static const dlock_stock_ops ops = {
	.free = free_stock,
	.refuse = refuse,
	.is_together = is_together,
	.reserve = reserve,
	.leave = leave,
	.give_back = give_back,
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

dlock_stock *dlock_memory_stock_new(const char *table, const char *prefix, size_t prefix_len)
{
	size_t table_len = strlen(table) + 1;
	memory_stock *stock = calloc(1, sizeof *stock + table_len + prefix_len + DLOCK_STOCK_NAME_MAX);

	if (stock) {
		stock->base.ops = &ops;
		stock->len = table_len + prefix_len;
		memcpy(stock->name, table, table_len);
		memcpy(stock->name + table_len, prefix, prefix_len);
	}
	return (dlock_stock *) stock;
}

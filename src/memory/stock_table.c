#include "stock_table.h"

#include <string.h>

#define DAY INT64_C(86400000)

static int64_t now_ms(void)
{
	return dlock_memory_time() / 1000;
}

/* ---- units ---- */

static bool has_units(dlock_order_state state)
{
	return state == DLOCK_STATE_RESERVED || state == DLOCK_STATE_SOLD;
}

static size_t buyer_len(const char *id)
{
	return (size_t) (strchr(id, '/') - id);
}

/* Without memory the limit of this buyer is not enforced; nothing else depends on the count. */
static void count_for_buyer(dlock_memory_product *product, const char *id, int64_t units)
{
	dlock_memory_change *buyer = dlock_memory_entry_of(&product->buyers, id, buyer_len(id));

	if (!buyer) {
		buyer = dlock_memory_add(&product->buyers, id, buyer_len(id), sizeof *buyer);
	}
	if (buyer) {
		buyer->units += units;
	}
}

int64_t dlock_memory_units_of_buyer(const dlock_memory_product *product, const char *id)
{
	const dlock_memory_change *buyer = dlock_memory_entry_of(&product->buyers, id, buyer_len(id));

	return buyer ? buyer->units : 0;
}

static void count(dlock_memory_product *product, const dlock_memory_order *order, int64_t units)
{
	product->reserved += order->state == DLOCK_STATE_RESERVED ? units : 0;
	product->sold += order->state == DLOCK_STATE_SOLD ? units : 0;
	if (has_units(order->state)) {
		count_for_buyer(product, order->entry.name, units);
	}
}

/* Until when the order keeps its state unless a call changes it. */
static int64_t stays_until(const dlock_memory_product *product, const dlock_memory_order *order)
{
	switch (order->state) {
	case DLOCK_STATE_RESERVED:
		return order->at;
	case DLOCK_STATE_ENDED:
	case DLOCK_STATE_CANCELLED:
		return order->at + product->remember;
	default:
		return INT64_MAX;
	}
}

static void note_next(dlock_memory_product *product, const dlock_memory_order *order)
{
	int64_t until = stays_until(product, order);

	product->next = until < product->next ? until : product->next;
}

void dlock_memory_set_state(
	dlock_memory_product *product, dlock_memory_order *order, dlock_order_state state, int64_t at)
{
	count(product, order, -order->units);
	order->state = state;
	order->at = at;
	count(product, order, order->units);
	note_next(product, order);
}

void dlock_memory_set_units(dlock_memory_product *product, dlock_memory_order *order, int64_t units)
{
	count(product, order, units - order->units);
	order->units = units;
}

/* ---- orders and products ---- */

dlock_memory_order *dlock_memory_order_of(const dlock_memory_product *product, const char *id)
{
	return dlock_memory_entry_of(&product->orders, id, strlen(id) + 1);
}

dlock_memory_order *dlock_memory_add_order(dlock_memory_product *product, const char *id)
{
	return dlock_memory_add(&product->orders, id, strlen(id) + 1, sizeof(dlock_memory_order));
}

/* Ends expired reservations, and forgets orders that are remembered no longer. */
static void settle(dlock_memory_product *product)
{
	int64_t now = now_ms();

	if (now <= product->next) {
		return;
	}
	product->next = INT64_MAX;
	for (dlock_memory_order *it = dlock_memory_next(&product->orders, NULL), *next; it; it = next) {
		next = dlock_memory_next(&product->orders, &it->entry);
		if (it->state == DLOCK_STATE_RESERVED && it->at < now) {
			dlock_memory_set_state(product, it, DLOCK_STATE_ENDED, it->at);
		}
		if (it->state != DLOCK_STATE_RESERVED && stays_until(product, it) < now) {
			dlock_memory_remove(&product->orders, &it->entry);
			dlock_memory_free(&it->entry);
		} else {
			note_next(product, it);
		}
	}
}

void dlock_memory_set_remember(dlock_memory_product *product, int64_t ms)
{
	product->remember = ms;
	product->next = 0;
}

dlock_memory_product *dlock_memory_product_of(dlock_memory_room *room, const char *name, size_t len)
{
	dlock_memory_product *product = dlock_memory_entry_of(&room->products, name, len);

	if (product) {
		settle(product);
		return product;
	}
	product = dlock_memory_add(&room->products, name, len, sizeof *product);
	if (product) {
		dlock_memory_set_remember(product, DAY);
	}
	return product;
}

int64_t dlock_memory_first_end(const dlock_memory_product *product)
{
	int64_t first = -1;

	for (dlock_memory_order *it = dlock_memory_next(&product->orders, NULL); it;
		 it = dlock_memory_next(&product->orders, &it->entry)) {
		if (it->state == DLOCK_STATE_RESERVED && (first < 0 || it->at < first)) {
			first = it->at;
		}
	}
	return first;
}

/* ---- waiting buyers ---- */

/* Would it have its units if they were available? Otherwise it is about to be refused, and blocks no other buyer. */
static bool can_have(const dlock_memory_product *product, const dlock_memory_buyer *buyer)
{
	const dlock_memory_order *order = dlock_memory_order_of(product, buyer->id);

	return !buyer->away && !buyer->withdrawn && product->sale == DLOCK_SALE_OPEN
		&& !(order && has_units(order->state)) && buyer->units <= product->all - product->sold
		&& (buyer->limit <= 0 || dlock_memory_units_of_buyer(product, buyer->id) + buyer->units <= buyer->limit);
}

/* First fit: a buyer that wants more than is available is passed by buyers that want less. No later buyer passes a
 * strict one. */
bool dlock_memory_has_turn(
	const dlock_memory_product *product, int64_t units, const dlock_memory_buyer *buyer)
{
	int64_t available = dlock_memory_available(product);
	int64_t ticket = buyer ? buyer->ticket : INT64_MAX;

	for (const dlock_memory_buyer *it = product->waiting; it && it->ticket < ticket; it = it->next) {
		if (can_have(product, it) && (it->strict || it->units <= available)) {
			return false;
		}
	}
	return units <= available;
}

void dlock_memory_wait(dlock_memory_product *product, dlock_memory_buyer *buyer)
{
	dlock_memory_buyer **end = &product->waiting;

	while (*end && (*end)->ticket < buyer->ticket) {
		end = &(*end)->next;
	}
	buyer->next = *end;
	*end = buyer;
}

void dlock_memory_stop_waiting(dlock_memory_product *product, dlock_memory_buyer *buyer)
{
	dlock_memory_buyer **at = &product->waiting;

	while (*at && *at != buyer) {
		at = &(*at)->next;
	}
	if (*at) {
		*at = buyer->next;
		dlock_memory_tell_all(product);
	}
}

void dlock_memory_tell_all(const dlock_memory_product *product)
{
	for (const dlock_memory_buyer *it = product->waiting; it; it = it->next) {
		dlock_wakeup_send(&it->wakeup);
	}
}

#ifndef DLOCK_MEMORY_STOCK_TABLE_H
#define DLOCK_MEMORY_STOCK_TABLE_H

#include "../base/wakeup.h"
#include "../stock/stock.h"
#include "room.h"

/* The products of this process' stocks, with their orders and the buyers that wait for units. A caller has entered the
 * room (room.h). */

/* Its name is the order's id. */
typedef struct {
	dlock_memory_entry entry;
	dlock_order_state state;
	int64_t at; /* ms of dlock_memory_time(): when a reservation expires; otherwise when the order entered its state */
	int64_t units;
	int generation; /* how often its name was reserved again, modulo 64 */
	dlock_products products;
} dlock_memory_order;

/* A change of the stock, or the refund of a part of an order, by its name. */
typedef struct {
	dlock_memory_entry entry;
	int64_t units;
} dlock_memory_change;

/* A buyer that waits for units of one product. An order of several products waits for one product that it lacks. Its
 * owner keeps the struct from dlock_memory_wait() to dlock_memory_stop_waiting(). */
typedef struct dlock_memory_buyer {
	dlock_wakeup wakeup; /* sent when the buyer should look again */
	dlock_watch watch;   /* used while the buyer is suspended */
	const char *id;
	int64_t ticket;       /* dlock_memory_next_token() at its arrival */
	int item;             /* index of the product of its order for which it waits */
	int64_t units, limit; /* like those of a dlock_stock_turn */
	bool strict, away, withdrawn;
	struct dlock_memory_buyer *next;
} dlock_memory_buyer;

typedef struct {
	dlock_memory_entry entry;
	bool known; /* restock() has been called for it */
	dlock_sale sale;
	int64_t all, reserved, sold;
	int64_t remember; /* ms for which ended and cancelled orders are remembered */
	int64_t next;     /* ms: no reservation expires and no order is forgotten earlier */
	dlock_memory_map orders, changes, buyers; /* buyers: a dlock_memory_change each, with their units */
	dlock_memory_buyer *waiting;              /* in the order of tickets */
} dlock_memory_product;

/* Returns the product as of now: expired reservations hold no units. NULL if out of memory. */
dlock_memory_product *dlock_memory_product_of(dlock_memory_room *room, const char *name, size_t len);

static inline int64_t dlock_memory_available(const dlock_memory_product *product)
{
	return product->all - product->reserved - product->sold;
}

/* When the first reservation expires, in ms; negative: no unit is reserved. */
int64_t dlock_memory_first_end(const dlock_memory_product *product);

/* The first returns NULL if there is no such order, the second if out of memory. */
dlock_memory_order *dlock_memory_order_of(const dlock_memory_product *product, const char *id);
dlock_memory_order *dlock_memory_add_order(dlock_memory_product *product, const char *id);

/* Sets for how many ms ended and cancelled orders are remembered. */
void dlock_memory_set_remember(dlock_memory_product *product, int64_t ms);

/* Moves the order's units to the new state, and notes `at` (ms). */
void dlock_memory_set_state(
	dlock_memory_product *product, dlock_memory_order *order, dlock_order_state state, int64_t at);

/* Changes the units of the order in its state. */
void dlock_memory_set_units(dlock_memory_product *product, dlock_memory_order *order, int64_t units);

/* The units that the buyer of an order has reserved and bought. */
int64_t dlock_memory_units_of_buyer(const dlock_memory_product *product, const char *id);

/* May `buyer` have these units in its turn? NULL: a new buyer, behind the whole queue. */
bool dlock_memory_has_turn(
	const dlock_memory_product *product, int64_t units, const dlock_memory_buyer *buyer);

/* The queue is in the order of tickets. */

void dlock_memory_wait(dlock_memory_product *product, dlock_memory_buyer *buyer);
void dlock_memory_stop_waiting(dlock_memory_product *product, dlock_memory_buyer *buyer);

/* Wakes all waiting buyers, so that they look again. */
void dlock_memory_tell_all(const dlock_memory_product *product);

#endif

#ifndef DLOCK_MEMORY_STOCK_TABLE_H
#define DLOCK_MEMORY_STOCK_TABLE_H

#include "../base/wakeup.h"
#include "../stock/stock.h"
#include "room.h"

/* The products of this process' stocks, with their orders and those that wait for units. Everything here is called in
 * the room (room.h). */

/* Its name is the order's id. */
typedef struct {
	dlock_memory_entry entry;
	dlock_order_state state;
	int64_t at; /* when a reservation ends, or it came to be so: ms of dlock_memory_time() */
	int64_t units;
	int generation; /* how often its name was reserved anew, modulo 64 */
	dlock_products products;
} dlock_memory_order;

/* A change of the stock, or the refund of a part of an order, by its name. */
typedef struct {
	dlock_memory_entry entry;
	int64_t units;
} dlock_memory_change;

/* A waiter for units of one product; an order of several products waits for one that it lacks. Its owner's memory,
 * known from dlock_memory_wait() to dlock_memory_stop_waiting(). */
typedef struct dlock_memory_buyer {
	dlock_wakeup wakeup; /* sent when it should look again */
	dlock_watch watch;   /* while it is suspended */
	const char *id;
	int64_t ticket;       /* when it came */
	int item;             /* the product of its order that it waits for */
	int64_t units, limit; /* as of a dlock_stock_turn */
	bool strict, away, withdrawn;
	struct dlock_memory_buyer *next;
} dlock_memory_buyer;

typedef struct {
	dlock_memory_entry entry;
	bool known; /* something was put in */
	dlock_sale sale;
	int64_t all, reserved, sold;
	int64_t remember; /* ms for which orders are that ended or were cancelled */
	int64_t next;     /* no reservation ends, and no order is to be forgotten, before; in ms */
	dlock_memory_map orders, changes, buyers; /* buyers: a dlock_memory_change each, with the units they have */
	dlock_memory_buyer *waiting;              /* in the order of tickets */
} dlock_memory_product;

/* As it is now: what has ended holds nothing. NULL: out of memory. */
dlock_memory_product *dlock_memory_product_of(dlock_memory_room *room, const char *name, size_t len);

static inline int64_t dlock_memory_available(const dlock_memory_product *product)
{
	return product->all - product->reserved - product->sold;
}

/* When the first reservation ends, in ms; negative: nothing is reserved. */
int64_t dlock_memory_first_end(const dlock_memory_product *product);

/* NULL: there is none. */
dlock_memory_order *dlock_memory_order_of(const dlock_memory_product *product, const char *id);
dlock_memory_order *dlock_memory_add_order(dlock_memory_product *product, const char *id);

/* For how long orders are remembered that ended or were cancelled. */
void dlock_memory_set_remember(dlock_memory_product *product, int64_t ms);

/* Moves its units to where this state has them, and notes when that was. */
void dlock_memory_set_state(
	dlock_memory_product *product, dlock_memory_order *order, dlock_order_state state, int64_t at);

/* The same state with other units. */
void dlock_memory_set_units(dlock_memory_product *product, dlock_memory_order *order, int64_t units);

/* The units that the buyer of an order has reserved and bought. */
int64_t dlock_memory_units_of_buyer(const dlock_memory_product *product, const char *id);

/* May one that comes behind all others, or `buyer`, have these units in its turn? */
bool dlock_memory_has_turn(
	const dlock_memory_product *product, int64_t units, const dlock_memory_buyer *buyer);

/* In the order of tickets. */

void dlock_memory_wait(dlock_memory_product *product, dlock_memory_buyer *buyer);
void dlock_memory_stop_waiting(dlock_memory_product *product, dlock_memory_buyer *buyer);

/* Has all that wait look again. */
void dlock_memory_tell_all(const dlock_memory_product *product);

#endif

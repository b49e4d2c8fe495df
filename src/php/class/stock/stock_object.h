#ifndef DLOCK_PHP_STOCK_OBJECT_H
#define DLOCK_PHP_STOCK_OBJECT_H

#include "php.h"

#include "../../../stock/stock.h"

/* What objects of Dlock\Stock, Dlock\Reservation and Dlock\Order share. */

typedef struct {
	dlock_stock *stock; /* NULL: the constructor did not run */
	dlock_nanos ttl, remember;
	int64_t per_buyer;  /* of each product; 0: any number */
	bool strict;        /* fairness: "fifo" */
	zend_string *servers; /* for var_dump(), without credentials */
	zend_string *prefix;
	zend_object std;
} dlock_stock_object;

static inline dlock_stock_object *dlock_stock_from(zend_object *object)
{
	return (dlock_stock_object *) ((char *) object - offsetof(dlock_stock_object, std));
}

/* An order with the strings that its arguments point to, on PHP's heap. */
typedef struct {
	dlock_order order;
	zend_string *skus[DLOCK_STOCKS_MAX];
	zend_string *buyer, *name;
} dlock_stock_order;

void dlock_stock_order_free(dlock_stock_order *order);

static inline dlock_arg dlock_arg_of(const zend_string *text)
{
	return (dlock_arg) { ZSTR_VAL(text), ZSTR_LEN(text) };
}

/* Each checks one argument; false, or NULL, after an exception that names it. */
bool dlock_stock_check_name(const zend_string *text, uint32_t arg);
bool dlock_stock_check_sku(const dlock_stock_object *stock, const zend_string *sku, uint32_t arg);
/* The order of the arguments $items (1), $buyer (2) and $order (3), which the caller frees. */
dlock_stock_order *dlock_stock_order_from(
	const dlock_stock_object *stock, HashTable *items, zend_string *sku, zend_string *buyer, zend_string *name);
/* Reads units by SKU, of exactly the products of that order, in the sequence of the order. */
bool dlock_stock_units_from(const dlock_stock_order *order, HashTable *items, int64_t units[DLOCK_STOCKS_MAX]);

/* Sets `value` to the `uncertain` of an answer (`since`, in ms) as a Unix time, or to null. Counts it if it is news. */
void dlock_stock_uncertain(zval *value, int64_t since);

/* The units of the order by SKU, as a new array. */
void dlock_stock_items(zval *items, const dlock_stock_order *order);

/* These throw LimitExceededException, OrderConflictException, ReservationExpiredException and UnknownProductException.
 * `outcome`: the end of the message. */
void dlock_stock_throw_limited(
	const dlock_stock_order *order, const dlock_stock_answer *answer, int64_t limit, int64_t asked);
void dlock_stock_throw_conflict(const dlock_stock_order *order, const dlock_stock_answer *answer);
void dlock_stock_throw_expired(const dlock_stock_order *order, const dlock_stock_answer *answer, const char *outcome);
void dlock_stock_throw_unknown(const char *sku);

#endif

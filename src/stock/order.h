#ifndef DLOCK_STOCK_ORDER_H
#define DLOCK_STOCK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/clock.h"
#include "../base/text.h"

/* Orders: their names, their products, and their states. */

enum {
	DLOCK_STOCKS_MAX = 16,      /* the most products of one order */
	DLOCK_STOCK_NAME_MAX = 255, /* the longest name of a product, a buyer, an order or a change, in bytes */
	DLOCK_STOCK_MOST_UNITS = 999999999,
	DLOCK_ORDER_ID_MAX = 3 * DLOCK_STOCK_NAME_MAX + 1 + 3 * DLOCK_STOCK_NAME_MAX
};

/* "buyer/order". A slash, a space and other bytes that the scripts use themselves are written as %XX. */
typedef struct {
	char text[DLOCK_ORDER_ID_MAX + 1];
} dlock_order_id;

dlock_order_id dlock_stock_order_id(dlock_arg buyer, dlock_arg order);

/* Writes one name as an id has it, without a NUL, and returns the end. `out` has room for 3 times its length. */
char *dlock_stock_encode(char *out, dlock_arg name);

/* Decodes a name of an id. Writes at most `len` bytes, and returns their number. */
size_t dlock_stock_decode(const char *text, size_t len, char *out);

/* The order of a question, as the servers name it. */
typedef struct {
	dlock_order_id id;
	int generation; /* negative: the last one of this name */
	int count;      /* of products, each listed once */
	dlock_arg skus[DLOCK_STOCKS_MAX];
	int64_t units[DLOCK_STOCKS_MAX];
} dlock_order;

/* A number of 36 bits, as text, that identifies the set of an order's products in any order; "" for one product. */
typedef struct {
	char text[16];
} dlock_products;

dlock_products dlock_stock_products(const dlock_order *order);

typedef enum {
	DLOCK_STATE_NONE,
	DLOCK_STATE_RESERVED,
	DLOCK_STATE_ENDED,
	DLOCK_STATE_SOLD,
	DLOCK_STATE_CANCELLED,
	DLOCK_STATE_REFUNDED
} dlock_order_state;

typedef struct {
	dlock_order_state state;
	int64_t units, ms; /* `ms`: left of a reservation; otherwise since it entered its state */
	int64_t at;        /* ms by the server's clock: when it expires, or entered its state */
	int generation;
	char products[16];
} dlock_order_status;

/* Why an order cannot be confirmed, cancelled and so on, as the scripts report it. */
typedef enum {
	DLOCK_ORDER_UNKNOWN,
	DLOCK_ORDER_ENDED,
	DLOCK_ORDER_CANCELLED,
	DLOCK_ORDER_REFUNDED,
	DLOCK_ORDER_SUPERSEDED, /* its name was reserved again */
	DLOCK_ORDER_OTHER,      /* it has other products */
	DLOCK_ORDER_LIMITED,
	DLOCK_ORDER_SOLD,
	DLOCK_ORDER_NOT_SOLD,
	DLOCK_ORDER_SMALLER, /* it has fewer units */
	DLOCK_ORDER_SHORT    /* there are not enough units */
} dlock_order_reason;

#endif

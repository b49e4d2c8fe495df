#ifndef DLOCK_STOCK_ORDER_H
#define DLOCK_STOCK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/clock.h"
#include "../base/text.h"

/* Orders: what they are called, what they are for, and how they stand. */

enum {
	DLOCK_STOCKS_MAX = 16,      /* products of one order */
	DLOCK_STOCK_NAME_MAX = 255, /* the longest name of a product, a buyer, an order or a change, in bytes */
	DLOCK_STOCK_MOST_UNITS = 999999999,
	DLOCK_ORDER_ID_MAX = 3 * DLOCK_STOCK_NAME_MAX + 1 + 3 * DLOCK_STOCK_NAME_MAX
};

/* "buyer/order", with %XX for a slash, a space and other bytes that the scripts could not tell from their own. */
typedef struct {
	char text[DLOCK_ORDER_ID_MAX + 1];
} dlock_order_id;

dlock_order_id dlock_stock_order_id(dlock_arg buyer, dlock_arg order);

/* One name as it is in an id; returns its end. */
char *dlock_stock_encode(char *out, dlock_arg name);

/* The name that is encoded from `text` on: its bytes; returns their number. */
size_t dlock_stock_decode(const char *text, size_t len, char *out);

/* What is asked for, and how the name of it is said to the servers. */
typedef struct {
	dlock_order_id id;
	int generation; /* negative: the last, whichever that is */
	int count;      /* of the products, each once */
	dlock_arg skus[DLOCK_STOCKS_MAX];
	int64_t units[DLOCK_STOCKS_MAX];
} dlock_order;

/* Which products those of an order are, whatever the order in which they are named: a number of 36 bits as text; of one
 * product it is empty. */
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
	int64_t units, ms; /* left of a reservation; otherwise since it is so */
	int64_t at;        /* when it ends, or came to be so: ms by the server's clock */
	int generation;
	char products[16];
} dlock_order_status;

/* Why an order cannot be bought, cancelled and so on; as the scripts say it. */
typedef enum {
	DLOCK_ORDER_UNKNOWN,
	DLOCK_ORDER_ENDED,
	DLOCK_ORDER_CANCELLED,
	DLOCK_ORDER_REFUNDED,
	DLOCK_ORDER_SUPERSEDED, /* the name was reserved anew */
	DLOCK_ORDER_OTHER,      /* it has other products */
	DLOCK_ORDER_LIMITED,
	DLOCK_ORDER_SOLD,
	DLOCK_ORDER_NOT_SOLD,
	DLOCK_ORDER_SMALLER, /* it has fewer units */
	DLOCK_ORDER_SHORT    /* there are not enough units */
} dlock_order_reason;

#endif

#ifndef DLOCK_PHP_TURNS_H
#define DLOCK_PHP_TURNS_H

#include "../../base/process.h"
#include "../../stock/stock.h"

/* Waiters for units of a stock. Each leaves its queue when the request ends, even after a fatal error. */

typedef struct dlock_turn {
	dlock_stock_turn turn; /* must be the first member */
	dlock_process process;
	struct dlock_turn *next;
} dlock_turn;

/* NULL when out of memory. */
dlock_turn *dlock_turn_new(void);

/* The turn has its outcome. */
void dlock_turn_free(dlock_turn *turn);

/* The buyer gives up: leaves the queue without waiting for the reply, and frees the turn. */
void dlock_turn_leave(dlock_turn *turn);

/* At the request's end: leaves all queues. */
void dlock_turns_end(void);

#endif

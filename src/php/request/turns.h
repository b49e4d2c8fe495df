#ifndef DLOCK_PHP_TURNS_H
#define DLOCK_PHP_TURNS_H

#include "../../base/process.h"
#include "../../stock/stock.h"

/* Those that wait for units of a stock: what has to leave its queue when the request ends, whatever way it ends. */

typedef struct dlock_turn {
	dlock_stock_turn turn; /* comes first */
	dlock_process process;
	struct dlock_turn *next;
} dlock_turn;

/* NULL when out of memory. */
dlock_turn *dlock_turn_new(void);

/* It has come to something. */
void dlock_turn_free(dlock_turn *turn);

/* The buyer gives up: leaves the queue, without waiting. Freed, too. */
void dlock_turn_leave(dlock_turn *turn);

/* At the request's end: all of them. */
void dlock_turns_end(void);

#endif

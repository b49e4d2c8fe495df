#ifndef DLOCK_REDIS_STOCKS_H
#define DLOCK_REDIS_STOCKS_H

#include "../../lock/backend.h"
#include "../lock/wait.h"
#include "../request/permits_requests.h"
#include "question.h"

/* Stocks of articles: pieces are reserved for a time, then bought or given back. What is decided is decided by the scripts in lua/permits_*.lua. This
 * file sends a question once more whose answer was lost: each of them counts once, by the name that the caller gives it. */

enum {
	DLOCK_STOCK_NAME_MAX = 255, /* the longest name of an article, a buyer, a request or a change, in bytes */
	DLOCK_STOCK_MOST_PIECES = 999999999
};

/* Of one service. */
typedef struct dlock_stock dlock_stock;

/* NULL when out of memory. */
dlock_stock *dlock_stock_new(dlock_pool *pool, dlock_server *service, const char *prefix, size_t prefix_len);
void dlock_stock_free(dlock_stock *stock);

/* NULL, or why there is no stock of that article: what follows the name of the argument. */
const char *dlock_stock_refuse(const dlock_stock *stock, dlock_arg article);

/* Can these be reserved together? In a cluster only where they share a hash slot. */
bool dlock_stock_is_together(dlock_stock *stock, const dlock_arg *articles, int count);

/* ---- reservations ---- */

/* "buyer/request", with %XX for a slash, a space and other bytes that the scripts could not tell from their own. */
typedef struct {
	char text[DLOCK_PERMIT_ID_MAX + 1];
} dlock_order_id;

dlock_order_id dlock_stock_order_id(dlock_arg buyer, dlock_arg request);

/* What is asked for, and how the name of it is said to the servers. */
typedef struct {
	dlock_order_id id;
	int count; /* of the articles, each once */
	dlock_arg articles[DLOCK_STOCKS_MAX];
	int64_t pieces[DLOCK_STOCKS_MAX];
} dlock_order;

typedef enum {
	DLOCK_STOCK_RESERVED,
	DLOCK_STOCK_BOUGHT,  /* this order was bought before */
	DLOCK_STOCK_SHORT,   /* not enough pieces */
	DLOCK_STOCK_LIMITED, /* the buyer would have too many */
	DLOCK_STOCK_GONE     /* there is no such reservation any more */
} dlock_stock_outcome;

typedef struct {
	dlock_stock_outcome outcome;
	int article;           /* that it is about, of SHORT, LIMITED and GONE */
	int64_t pieces[DLOCK_STOCKS_MAX]; /* of a reserve(), where it is RESERVED or BOUGHT: how many these are of each article, which may not be what was asked for */
	int64_t limited_pieces; /* of LIMITED: how many the buyer has */
	int64_t fencing_token; /* of RESERVED */
	dlock_nanos deadline;  /* of RESERVED: until when nobody else gets the pieces */
} dlock_stock_answer;

/* A question that may wait for pieces. The first members are the caller's; the rest is zeroed at first. */
typedef struct {
	dlock_stock *stock;
	const dlock_order *order;
	dlock_nanos ttl;
	int64_t limit; /* the most pieces of one article that the buyer may have; 0: any number */

	dlock_waiter waiter;
	dlock_task task;
	dlock_stock_question asked;
	dlock_permits_response response;
	dlock_status said;
	bool queued;                /* it may be in the queue */
	dlock_stock_answer *answer; /* of the call under way */
} dlock_stock_turn;

/* Reserves all of the order, or nothing. DLOCK_OK: it is answered. DLOCK_CONNECTION: it is not known. Waits until wait->deadline for pieces that others
 * have reserved, where the order is for one article; while it waits, DLOCK_INTERRUPTED: to be called again, or left. */
dlock_status dlock_stock_reserve(dlock_stock_turn *turn, const dlock_wait *wait, dlock_stock_answer *answer, dlock_error *error);

/* After DLOCK_INTERRUPTED: gives up its turn, without waiting. */
void dlock_stock_leave(dlock_stock_turn *turn);

/* At least so much time from now on; never less than before. RESERVED or GONE, which it also is when it was bought. */
dlock_status dlock_stock_extend(dlock_stock *stock, const dlock_order *order, dlock_nanos ttl, dlock_stock_answer *answer, dlock_error *error);

/* Buys. RESERVED: by this call. BOUGHT: it had been before. GONE. */
dlock_status dlock_stock_confirm(dlock_stock *stock, const dlock_order *order, dlock_stock_answer *answer, dlock_error *error);

/* Gives back. RESERVED: it was until now. GONE: there was nothing. */
dlock_status dlock_stock_cancel(dlock_stock *stock, const dlock_order *order, dlock_stock_answer *answer, dlock_error *error);

/* ---- stocks ---- */

/* `change`: the name of a change, which is made once; empty: each call is one. `changed`: by how many pieces. */
dlock_status dlock_stock_restock(dlock_stock *stock, dlock_arg article, int64_t pieces, dlock_arg change, int64_t *changed, dlock_error *error);

dlock_status dlock_stock_count(dlock_stock *stock, dlock_arg article, dlock_permits_counts *counts, dlock_error *error);

#endif

#ifndef DLOCK_DATABASE_CALL_H
#define DLOCK_DATABASE_CALL_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/clock.h"
#include "../base/error.h"
#include "../base/token.h"
#include "../lock/inspection.h"

/* One call of a function in the database, and what became of it. Each is a transaction of its own, and answers
 * with a row of whole numbers. Any of them may be called again where its answer was lost. */

typedef enum {
	DLOCK_DB_ACQUIRE,  /* fencing token or 0, ms until it is worth asking again, ticket, why */
	DLOCK_DB_RELEASE,  /* 0: it is not the token's; 1: it was until now; 2: and a waiter has it */
	DLOCK_DB_EXTEND,   /* 0: it is not the token's; 1: it is */
	DLOCK_DB_LEFT,     /* ms that are left, -1: not the token's, or without holder if that is empty */
	DLOCK_DB_EXCHANGE, /* ms that are left or DLOCK_DB_NOT..., fencing token */
	DLOCK_DB_INSPECT,  /* a text */
	DLOCK_DB_LIST,     /* a text */
	DLOCK_DB_BREAK,    /* ms until it is free, -1: it is not that holder's */
	DLOCK_DB_LISTEN,   /* these two of PostgreSQL: no row */
	DLOCK_DB_UNLISTEN
} dlock_db_function;

/* Why the lock was not acquired. */
enum { DLOCK_DB_HELD = 1, DLOCK_DB_UNSETTLED = 2, DLOCK_DB_RELIED_UPON = 3 };

/* In the place of ms that are left. */
enum { DLOCK_DB_NOT_OURS = -1, DLOCK_DB_NOT_YET = -2, DLOCK_DB_NOT_SETTLED = -3 };

typedef enum { DLOCK_DB_PENDING, DLOCK_DB_ANSWERED, DLOCK_DB_FAILED } dlock_db_state;

enum { DLOCK_DB_MOST_NUMBERS = 4 };

/* Shared by its caller and the session that sends it. */
typedef struct dlock_db_call {
	unsigned references;
	dlock_db_function function;
	dlock_db_state state;
	bool sent;           /* the server may execute it, now or later */
	bool used;           /* the session that it was sent over had answered before: it may have broken since */
	bool transient;      /* it has failed for a reason that may be over soon */
	bool refused;        /* it has failed since the server said so: it was not executed */
	bool seen;           /* all of the answer has come except its end */
	dlock_nanos sent_at; /* just before */
	dlock_nanos sleeps;  /* so much later it may be answered */
	int64_t answer[DLOCK_DB_MOST_NUMBERS];
	char *text;          /* in the place of numbers; NULL: out of memory */
	dlock_error error;   /* why it has failed; names the server */
	struct dlock_db_call *next; /* in the session's queue */

	/* What it is called with, in this order. */
	char token[DLOCK_TOKEN_MAX + 1];
	char other[DLOCK_TOKEN_MAX + 1]; /* the inbox, or another token */
	int64_t numbers[DLOCK_DB_MOST_NUMBERS];
	char said[DLOCK_DESCRIPTION_MAX + 1]; /* "": nothing, or nothing new */
	size_t name_len;
	char name[];
} dlock_db_call;

/* How each is called. */
typedef struct {
	const char *name; /* as it is in the SQL files */
	int texts;        /* of token and other */
	int numbers;
	bool tells; /* by a text */
	bool says;  /* behind the numbers: what the process tells of itself */
} dlock_db_signature;

extern const dlock_db_signature dlock_db_signatures[];

/* NULL when out of memory. */
dlock_db_call *dlock_db_call_new(dlock_db_function function, const char *name, size_t name_len, const char *token);
dlock_db_call *dlock_db_call_retain(dlock_db_call *call);
void dlock_db_call_release(dlock_db_call *call); /* NULL is fine */

/* What the process tells of itself; NULL: nothing. */
void dlock_db_call_say(dlock_db_call *call, const dlock_description *description);

/* In whole ms, no less than it is. */
int64_t dlock_db_ms(dlock_nanos time);

#endif

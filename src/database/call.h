#ifndef DLOCK_DATABASE_CALL_H
#define DLOCK_DATABASE_CALL_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/clock.h"
#include "../base/error.h"
#include "../base/token.h"
#include "../lock/inspection.h"

/* One call of a function in the database, and its outcome. Each call is a transaction of its own. Its answer is a row
 * of whole numbers or a text. If an answer was lost, the call may be repeated. */

typedef enum {
	DLOCK_DB_ACQUIRE,  /* fencing token or 0, ms until it is worth asking again, ticket, why */
	DLOCK_DB_RELEASE,  /* 0: the token did not hold the lock; 1: it did until now; 2: and a waiter holds it now */
	DLOCK_DB_EXTEND,   /* 0: the token does not hold the lock; 1: it does */
	DLOCK_DB_LEFT,     /* ms left, or -1: the token does not hold the lock; an empty token stands for any */
	DLOCK_DB_EXCHANGE, /* ms left or DLOCK_DB_NOT..., fencing token */
	DLOCK_DB_INSPECT,  /* a text */
	DLOCK_DB_LIST,     /* a text */
	DLOCK_DB_BREAK,    /* ms until the lock is free, or -1: that holder does not hold it */
	DLOCK_DB_LISTEN,   /* for PostgreSQL only, like the next: no row */
	DLOCK_DB_UNLISTEN
} dlock_db_function;

/* Why the lock was not acquired. */
enum { DLOCK_DB_HELD = 1, DLOCK_DB_UNSETTLED = 2, DLOCK_DB_RELIED_UPON = 3 };

/* In the place of the ms left. */
enum { DLOCK_DB_NOT_OURS = -1, DLOCK_DB_NOT_YET = -2, DLOCK_DB_NOT_SETTLED = -3 };

typedef enum { DLOCK_DB_PENDING, DLOCK_DB_ANSWERED, DLOCK_DB_FAILED } dlock_db_state;

enum { DLOCK_DB_MOST_NUMBERS = 4 };

/* The caller shares a call with the session that sends it. */
typedef struct dlock_db_call {
	unsigned references;
	dlock_db_function function;
	dlock_db_state state;
	bool sent;           /* the server may execute it, now or later */
	bool used;           /* its connection had carried an answer before, and may have broken after that */
	bool transient;      /* it has failed, for a reason that may end soon */
	bool refused;        /* it has failed because the server refused it: it was not executed */
	bool seen;           /* all of its answer except the end has come */
	dlock_nanos sent_at; /* just before it was sent */
	dlock_nanos sleeps;  /* how long it sleeps in the database before it is answered; numbers[3] has these ms, too */
	int64_t answer[DLOCK_DB_MOST_NUMBERS];
	char *text;          /* an answer that is a text; NULL: out of memory */
	dlock_error error;   /* why it has failed; names the server */
	struct dlock_db_call *next; /* in the session's queue */

	/* The arguments: first `name`, then these in this order. */
	char token[DLOCK_TOKEN_MAX + 1];
	char other[DLOCK_TOKEN_MAX + 1]; /* the inbox, another token, or the operator that breaks the lock */
	int64_t numbers[DLOCK_DB_MOST_NUMBERS];
	char said[DLOCK_DESCRIPTION_MAX + 1]; /* "": nothing, or nothing new */
	size_t name_len;
	char name[];
} dlock_db_call;

/* How each function is called. */
typedef struct {
	const char *name; /* as in the SQL files */
	int texts;        /* how many of `token` and `other` it has */
	int numbers;
	bool tells; /* its answer is a text */
	bool says;  /* behind the numbers: what the process tells of itself */
} dlock_db_signature;

extern const dlock_db_signature dlock_db_signatures[];

/* Makes a call with one reference. Returns NULL if out of memory. */
dlock_db_call *dlock_db_call_new(dlock_db_function function, const char *name, size_t name_len, const char *token);
dlock_db_call *dlock_db_call_retain(dlock_db_call *call);
void dlock_db_call_release(dlock_db_call *call); /* `call` may be NULL */

/* Before the call is sent, for the first time or again: forgets how it failed. */
void dlock_db_call_begin(dlock_db_call *call);

/* Sets what the process tells of itself. `description` NULL: nothing. */
void dlock_db_call_say(dlock_db_call *call, const dlock_description *description);

/* Returns whole milliseconds, rounded up. */
int64_t dlock_db_ms(dlock_nanos time);

/* Converts a time that the database tells, in this unit, to a lease time: from 0 to DLOCK_TTL_MAX. */
dlock_nanos dlock_db_time(int64_t count, dlock_nanos unit);

#endif

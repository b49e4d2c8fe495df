#ifndef DLOCK_REDIS_ARGUMENTS_H
#define DLOCK_REDIS_ARGUMENTS_H

#include "../../lock/inspection.h"
#include "../wire/inbox.h"
#include "../wire/survey.h"
#include "keys.h"

/* What the calls of scripts (requests_lua.h) are made with: structs that several scripts take, and the types of
 * words. */

/* How a claim asks for its lock; see acquire.lua. */
typedef struct {
	const char *token;
	dlock_nanos ttl;
	/* 0: the server's time; DLOCK_NO_NUMBER: the fence may just count on, where the lock is free, without waiters */
	int64_t least_fencing_token;
	bool grant;                  /* the server hands the lock over; otherwise it only notifies the next waiter */
	const char *waiter;       /* NULL or "": the token */
	const dlock_inbox *inbox; /* NULL: do not queue */
	const char *description;  /* what the waiter says about itself; NULL: nothing */
	int64_t ticket;           /* 0: the server's time, where `grant` */
	int64_t number;           /* of the request; comes back with a grant */
	bool legacy;              /* takes over from ended timestamps */
	bool unnotified;          /* looks at intervals, and needs its position for that */
} dlock_attempt;

/* How permits are asked for; see permits_acquire.lua. */
typedef struct {
	const char *id;
	int64_t permits;
	int64_t capacity;         /* of the pool */
	dlock_nanos ttl;
	bool fifo; /* a writer waits in the order of tickets; otherwise phases of readers and writers alternate */
	const dlock_inbox *inbox; /* NULL: do not queue */
	const char *description;  /* the same for all of a wait; NULL: nothing */
	int64_t ticket;           /* 0: none yet */
	int64_t number;           /* of the request; comes back with a grant */
	int64_t own;              /* permits that its process keeps meanwhile, for ever */
} dlock_permits_attempt;

/* How units of one product are asked for; see stock_reserve.lua. */
typedef struct {
	const char *id;
	int64_t units;
	dlock_nanos ttl;
	int64_t limit;            /* the most units for this buyer, reserved and bought; 0: as many as it likes */
	bool strict;              /* no later order passes it */
	const dlock_inbox *inbox; /* NULL: do not queue */
	const char *description;  /* NULL */
	int64_t ticket;           /* 0: none yet */
	int64_t number;           /* of the request */
} dlock_stock_attempt;

/* An order that there is; see stock_confirm.lua. */
typedef struct {
	const char *id;
	int64_t generation;   /* DLOCK_NO_NUMBER: the last */
	const char *products; /* the hash of several products' names; empty: it has one */
} dlock_order_ref;

/* What an epoch waits for, with the server's options. */
typedef struct {
	dlock_nanos time;
	bool resyncs; /* it is opened anew where a replica has attached, and nothing proves that this is harmless */
	int enough;   /* the nodes that know of each lease, if they have been nowhere else (wire/survey.h) */
} dlock_epoch_rule;

/* Of acquire, exchange, unchanged and look: what of the epoch keeps the server from granting. The texts live as long as
 * the call. */
typedef struct {
	bool open;
	int64_t left; /* ms until it is settled; negative: its opening is to be confirmed, then it can be settled. Of look
					 0: it is settled. DLOCK_EPOCH_DOUBTED */
	const char *replid;  /* that it was opened for */
	const char *settles; /* "settles/seen" of epoch.lua */
	int64_t waited;      /* of look: ms; and */
	const char *attached; /* how often replicas have attached until then */
} dlock_epoch_state;

/* Of unchanged: it is settled, replicas have attached since its base, and nothing was done. */
#define DLOCK_EPOCH_DOUBTED (-2)

/* ---- words: what gen-lua.sh makes of the types in the scripts' heads ---- */

/* In place of a number that may be 0. */
#define DLOCK_NO_NUMBER INT64_MIN

#define DLOCK_NOTHING ((dlock_arg) { "", 0 })
#define DLOCK_AS_TEXT(text) dlock_text_arg(text)
#define DLOCK_AS_INBOX(inbox, description) \
	((inbox) ? dlock_inbox_arg(&(dlock_inbox_word) { "" }, inbox, description) : DLOCK_NOTHING)
#define DLOCK_AS_INT(value) dlock_int_arg(&(dlock_number) { "" }, value)
#define DLOCK_AS_COUNT(value) dlock_count_arg(&(dlock_number) { "" }, value)
#define DLOCK_AS_MS(time) dlock_ms_arg(&(dlock_number) { "" }, time)
#define DLOCK_AS_LEASE(time) dlock_lease_arg(&(dlock_number) { "" }, time)
#define DLOCK_SLOTS(keys) dlock_slots_of(keys, &(dlock_slots_key) { "" })
#define DLOCK_SEEN(keys) dlock_seen_of(keys, &(dlock_seen_key) { "" })

static inline dlock_arg dlock_text_arg(const char *text)
{
	return text ? DLOCK_ARG(text) : DLOCK_NOTHING;
}

/* A channel, and behind it what a waiter says about itself. */
typedef struct {
	char text[sizeof((dlock_inbox *) NULL)->channel + 1 + DLOCK_DESCRIPTION_MAX];
} dlock_inbox_word;

static inline dlock_arg dlock_inbox_arg(dlock_inbox_word *out, const dlock_inbox *inbox, const char *description)
{
	size_t len = strlen(inbox->channel), more = description ? strlen(description) : 0;

	if (more == 0) {
		return DLOCK_ARG(inbox->channel);
	}
	more = more < DLOCK_DESCRIPTION_MAX ? more : DLOCK_DESCRIPTION_MAX;
	memcpy(out->text, inbox->channel, len);
	out->text[len++] = ' ';
	memcpy(out->text + len, description, more);
	return (dlock_arg) { out->text, len + more };
}

static inline dlock_arg dlock_int_arg(dlock_number *out, int64_t value)
{
	return value != DLOCK_NO_NUMBER ? dlock_number_arg(out, value) : DLOCK_NOTHING;
}

static inline dlock_arg dlock_count_arg(dlock_number *out, int64_t value)
{
	return value > 0 ? dlock_number_arg(out, value) : DLOCK_NOTHING;
}

/* Redis counts whole milliseconds, and a time of none is another thing than a short one. */
static inline dlock_arg dlock_ms_arg(dlock_number *out, dlock_nanos time)
{
	return dlock_number_arg(out, time > 0 && time < DLOCK_MS ? 1 : time / DLOCK_MS);
}

/* A lease of none would be none at all. */
static inline dlock_arg dlock_lease_arg(dlock_number *out, dlock_nanos time)
{
	return dlock_number_arg(out, time < DLOCK_MS ? 1 : time / DLOCK_MS);
}

/* Behind the first `count` words, `more` numbers, as many as a call has room for; returns how many words there are. */
static inline int dlock_add_ints(
	dlock_arg words[DLOCK_CALL_WORDS], int count, dlock_number *numbers, const int64_t *values, int more)
{
	for (int i = 0; i < more && count < DLOCK_CALL_WORDS; i++) {
		words[count++] = dlock_number_arg(&numbers[i], values[i]);
	}
	return count;
}

#endif

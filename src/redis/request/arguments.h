#ifndef DLOCK_REDIS_ARGUMENTS_H
#define DLOCK_REDIS_ARGUMENTS_H

#include "../../lock/inspection.h"
#include "../wire/inbox.h"
#include "../wire/survey.h"
#include "keys.h"

/* The arguments of script calls (requests_lua.h): structs that several scripts share, and the types of words. */

/* How a claim asks for its lock; see acquire.lua. */
typedef struct {
	const char *token;
	dlock_nanos ttl;
	/* 0: the server's time. DLOCK_NO_NUMBER: if the lock is free and has no waiters, the fence may just count on */
	int64_t least_fencing_token;
	bool grant;               /* the server hands the lock to the next waiter; otherwise it only notifies that waiter */
	const char *waiter;       /* NULL or "": the token */
	const dlock_inbox *inbox; /* NULL: do not queue */
	const char *description;  /* what the waiter says about itself; NULL: nothing */
	int64_t ticket;           /* 0: the server's time, if `grant` */
	int64_t number;           /* the request's number; it comes back with a grant */
	bool legacy;              /* acquires a lock of older code once its timestamp has passed; docs/legacy.md */
	bool unnotified;          /* the waiter looks at intervals, and needs its position for that */
} dlock_attempt;

/* How a claim asks for permits; see permits_acquire.lua. */
typedef struct {
	const char *id;
	int64_t permits;
	int64_t capacity; /* the permits of the pool */
	dlock_nanos ttl;
	/* a writer waits in the order of tickets; otherwise phases of readers and writers alternate */
	bool fifo;
	const dlock_inbox *inbox; /* NULL: do not queue */
	const char *description;  /* the same during a whole wait; NULL: nothing */
	int64_t ticket;           /* 0: none yet */
	int64_t number;           /* the request's number; it comes back with a grant */
	int64_t own;              /* permits of the pool that this thread holds without limit while it waits */
} dlock_permits_attempt;

/* How an order asks for units of one product; see stock_reserve.lua. */
typedef struct {
	const char *id;
	int64_t units;
	dlock_nanos ttl;
	int64_t limit;            /* the most units that this buyer may have, reserved and bought; 0: no limit */
	bool strict;              /* no later order passes this one */
	const dlock_inbox *inbox; /* NULL: do not queue */
	const char *description;  /* always NULL */
	int64_t ticket;           /* 0: none yet */
	int64_t number;           /* the request's number */
} dlock_stock_attempt;

/* An existing order; see stock_confirm.lua. */
typedef struct {
	const char *id;
	int64_t generation;   /* DLOCK_NO_NUMBER: the last one */
	const char *products; /* the hash of the names of several products; empty: the order has one product */
} dlock_order_ref;

/* What an epoch waits for, according to the server's options. */
typedef struct {
	dlock_nanos time;
	bool resyncs; /* a replica that attaches opens the epoch anew, unless the nodes prove that this is harmless */
	int enough;   /* if this many nodes have been nowhere else, one of them knows each lease (wire/survey.h) */
} dlock_epoch_rule;

/* Why the server's epoch keeps it from granting, as acquire, exchange, unchanged and look reply. The texts live as long
 * as the call. */
typedef struct {
	bool open;
	/* ms until the epoch is settled; negative: replicas must confirm its opening first, or DLOCK_EPOCH_DOUBTED; 0, from
	 * look: it is settled */
	int64_t left;
	const char *replid;   /* the replication id that the epoch was opened for */
	const char *settles;  /* "settles/seen" of epoch.lua */
	int64_t waited;       /* from look: the guard that the epoch waits for, in ms */
	const char *attached; /* from look: how often replicas have attached so far */
} dlock_epoch_state;

/* From unchanged: the epoch is settled, but replicas have attached since its base. The script did nothing. */
#define DLOCK_EPOCH_DOUBTED (-2)

/* ---- words: what gen-lua.sh makes of the types in the scripts' heads ---- */

/* "No number", for an argument that may be 0. */
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

/* A channel, followed by what a waiter says about itself. */
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

/* Redis counts whole milliseconds. A short time becomes 1 ms, because 0 ms has another meaning. */
static inline dlock_arg dlock_ms_arg(dlock_number *out, dlock_nanos time)
{
	return dlock_number_arg(out, time > 0 && time < DLOCK_MS ? 1 : time / DLOCK_MS);
}

/* A lease of 0 ms would be no lease, so the shortest is 1 ms. */
static inline dlock_arg dlock_lease_arg(dlock_number *out, dlock_nanos time)
{
	return dlock_number_arg(out, time < DLOCK_MS ? 1 : time / DLOCK_MS);
}

/* Appends up to `more` numbers to the first `count` words, as many as a call has room for. Returns the new number of
 * words. */
static inline int dlock_add_ints(
	dlock_arg words[DLOCK_CALL_WORDS], int count, dlock_number *numbers, const int64_t *values, int more)
{
	for (int i = 0; i < more && count < DLOCK_CALL_WORDS; i++) {
		words[count++] = dlock_number_arg(&numbers[i], values[i]);
	}
	return count;
}

#endif

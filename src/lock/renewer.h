#ifndef DLOCK_LOCK_RENEWER_H
#define DLOCK_LOCK_RENEWER_H

#include <stdbool.h>

#include "../net/loop.h"
#include "../net/pool.h"

/* What a back end provides for the renewal thread (renewal.h), so that the thread knows no server:
 *
 * - a round for each lease, which asks its servers for more time and reads their answers;
 * - a renewer for each kind of server, with the thread's connections, which all rounds of that kind share.
 *
 * Each is the first member of the back end's own struct. Members that are marked as optional may be NULL.
 *
 * The thread calls no function here that waits. It alone calls the functions that send, without the mutex of the
 * leases. A function that is called under that mutex returns at once. */

typedef struct dlock_claim dlock_claim;
typedef struct dlock_renewer dlock_renewer;
typedef struct dlock_renewal_round dlock_renewal_round;

/* ---- connections ---- */

/* Of one kind of server, since the renewer was created. */
typedef struct {
	unsigned long connections, reconnections;
} dlock_renewer_counts;

typedef struct {
	/* The holder of the first lease of this kind calls it. NULL if out of memory. */
	dlock_renewer *(*create)(void);

	/* Optional. The thread calls it before it uses the renewer, whose connections are sources of this loop from then
	 * on. */
	void (*join)(dlock_renewer *renewer, dlock_loop *loop);

	/* Closes the connections, and those of a parent process without sending anything. */
	void (*destroy)(dlock_renewer *renewer);

	/* Optional. The thread calls it in each turn before it ends. DLOCK_PENDING: requests under way are worth a wait. */
	dlock_status (*finish)(dlock_renewer *renewer);

	/* Optional. */
	dlock_renewer_counts (*count)(const dlock_renewer *renewer);
} dlock_renewer_ops;

struct dlock_renewer {
	const dlock_renewer_ops *ops;
	dlock_renewer *next; /* the thread's, like the next member */
	bool joined;
};

/* For servers whose protocols share a pool (net/pool.h). */
extern const dlock_renewer_ops dlock_pool_renewer_ops;

dlock_net_pool *dlock_pool_renewer_pool(dlock_renewer *renewer);

/* ---- one lease ---- */

typedef enum {
	DLOCK_ROUND_OPEN,  /* not decided */
	DLOCK_ROUND_KEPT,  /* enough servers have the lease, and it is the claim's */
	DLOCK_ROUND_GONE,  /* the lease is not the claim's, and cannot become so again */
	DLOCK_ROUND_FAILED /* the outcome is unknown */
} dlock_round_result;

typedef struct {
	/* The connections that begin() needs; NULL: none. */
	const dlock_renewer_ops *renewer;

	/* Asks the servers for the lease time `ttl` from now on, or, without `extends`, whether they have the lease.
	 * Requests of the round before that are unsent stay unsent. */
	void (*begin)(dlock_renewal_round *round, dlock_renewer *renewer, dlock_nanos ttl, bool extends);

	/* Under the mutex. */
	dlock_round_result (*result)(const dlock_renewal_round *round);

	/* Optional, like the next one, and under the mutex: notes which servers may yet execute a request for a shorter
	 * lease time that the holder sent. */
	void (*note_late)(dlock_renewal_round *round, const dlock_claim *claim);

	/* The part of `ttl` that is guaranteed by the answers, if such requests are executed after them. */
	dlock_nanos (*guaranteed)(const dlock_renewal_round *round, dlock_nanos ttl);

	/* Optional: a round that its last answer decides has nothing more to collect. Under the mutex, like the next two.
	 * Reads the answers. Returns true while a request is under way. Once the lease is `released`, an answer no longer
	 * settles a repair. */
	bool (*collect)(dlock_renewal_round *round, bool released);

	/* Optional, like the next two: a round that begin() decides shares nothing and takes no time. A holder waits to
	 * request another lease time: unsent requests stay unsent, and none is repeated. */
	void (*cancel)(dlock_renewal_round *round);

	/* Does it share calls with a connection, even if their time has passed? Then only the thread may free it. */
	bool (*has_calls)(const dlock_renewal_round *round);

	/* The longest time until a request for the lease time `ttl` is answered or has failed. Any thread may call it. */
	dlock_nanos (*longest_wait)(const dlock_renewal_round *round, dlock_nanos ttl);

	/* Optional, like the next three: for rounds that can be `repairable`. Under the mutex: has a server answered that
	 * it lacks the key, without having been sent it since? Such an answer may follow the decision of the round. */
	bool (*has_gaps)(const dlock_renewal_round *round);

	/* Sets the key on these servers again, for `ttl`. */
	void (*repair)(dlock_renewal_round *round, dlock_nanos ttl);

	/* Under the mutex: may a repair still set the key on a server? */
	bool (*may_yet_repair)(const dlock_renewal_round *round);

	/* Undoes such repairs, after the holder has released the lease over other connections. If the lease is not `over`,
	 * it continues elsewhere, and servers on which it may rest keep the key. */
	void (*roll_back)(dlock_renewal_round *round, dlock_nanos ttl, bool over);

	/* Optional, under the mutex: releases the rest of a lease of several locks that is lost. The holder can already see
	 * the loss. */
	void (*give_back)(dlock_renewal_round *round);

	void (*free)(dlock_renewal_round *round);
} dlock_renewal_round_ops;

struct dlock_renewal_round {
	const dlock_renewal_round_ops *ops;
	/* After the deadline, "kept" proves nothing: the key may have returned to a server after another client held the
	 * lock. */
	bool late_proves_nothing;
	/* The lease can be held while servers lack its key, which are then to be repaired. */
	bool repairable;
	/* The lease ends so much earlier than the answer says, because the server's clock was late; 0: it was right. */
	dlock_nanos late;
	/* collect() sets it when a server that was to be repaired has another holder's key. The thread clears it. */
	bool refused;
	/* The list's: µs since 1970, when the lease was acquired, for this round to report to inspections; 0: nothing to
	 * report. */
	int64_t since;
	int64_t permits, fencing_token; /* the list's, for begin() to request: an upgrade may change them */
	dlock_nanos started; /* the thread's: just before begin() */
	/* The list's: for how long the answer is of use. It is the lease time that is requested, or what is left of a short
	 * lease. */
	dlock_nanos within;
};

#endif

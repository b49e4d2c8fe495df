#ifndef DLOCK_LOCK_RENEWER_H
#define DLOCK_LOCK_RENEWER_H

#include <stdbool.h>

#include "../net/loop.h"
#include "../net/pool.h"

/* What a back end gives to the renewal thread (renewal.h), so that this knows no server:
 *
 *   a round for each lease, which asks its servers for more time and reads what they answer;
 *   a renewer for each kind of server: the connections of the thread, which all rounds of that kind share.
 *
 * Each is the first member of the back end's own struct. Members that are marked as optional may be NULL.
 *
 * The thread calls nothing here that waits. What sends is called without the mutex of the leases, and only by the
 * thread; what is said to be called under that mutex must be done in moments. */

typedef struct dlock_renewer dlock_renewer;
typedef struct dlock_renewal_round dlock_renewal_round;

/* ---- connections ---- */

/* Of one kind of server, since the renewer was created. */
typedef struct {
	unsigned long connections, reconnections;
} dlock_renewer_counts;

typedef struct {
	/* Called when the first lease of this kind comes, by its holder. NULL when out of memory. */
	dlock_renewer *(*create)(void);

	/* Optional. By the thread, before it uses it: its connections are a source of this loop from now on. */
	void (*join)(dlock_renewer *renewer, dlock_loop *loop);

	/* Closes the connections; those of a parent process without a word. */
	void (*destroy)(dlock_renewer *renewer);

	/* Optional. In each turn before the thread ends: DLOCK_PENDING while something is under way that is worth the
	 * wait. */
	dlock_status (*finish)(dlock_renewer *renewer);

	/* Optional. */
	dlock_renewer_counts (*count)(const dlock_renewer *renewer);
} dlock_renewer_ops;

struct dlock_renewer {
	const dlock_renewer_ops *ops;
	dlock_renewer *next; /* the thread's, as the next */
	bool joined;
};

/* Of servers whose protocols share a pool (net/pool.h). */
extern const dlock_renewer_ops dlock_pool_renewer_ops;

dlock_net_pool *dlock_pool_renewer_pool(dlock_renewer *renewer);

/* ---- one lease ---- */

typedef enum {
	DLOCK_ROUND_OPEN,  /* not decided yet */
	DLOCK_ROUND_KEPT,  /* the lease is the claim's, on as many servers as it takes */
	DLOCK_ROUND_GONE,  /* it is not, and cannot become it again */
	DLOCK_ROUND_FAILED /* it is not known */
} dlock_round_result;

typedef struct {
	/* The connections that begin() needs; NULL: none. */
	const dlock_renewer_ops *renewer;

	/* Asks the servers for the lease time `ttl` from now on, or, without `extends`, whether they have the lease. What
	 * the round before has not sent yet is not sent any more. */
	void (*begin)(dlock_renewal_round *round, dlock_renewer *renewer, dlock_nanos ttl, bool extends);

	/* Under the mutex. */
	dlock_round_result (*result)(const dlock_renewal_round *round);

	/* Optional: a round that is decided with its last answer has nothing more to collect. Under the mutex, as the next
	 * two. Takes in what was answered. True while anything is under way. Once the lease is `released`, no answer
	 * settles a repair any more. */
	bool (*collect)(dlock_renewal_round *round, bool released);

	/* Optional, as the next two: nothing is shared, and no time taken, by a round that is decided within begin(). The
	 * holder asks for another lease time and waits: what is not sent yet is not to be, and nothing is sent
	 * again. */
	void (*cancel)(dlock_renewal_round *round);

	/* Has it calls that it shares with a connection, even if their time is over? Then only the thread may free it. */
	bool (*has_calls)(const dlock_renewal_round *round);

	/* What asks for the lease time `ttl` is answered, or has failed, within this time. Called by any thread. */
	dlock_nanos (*longest_wait)(const dlock_renewal_round *round, dlock_nanos ttl);

	/* Optional, as the next three: for a round that can be `repairable`. Under the mutex: is there a server that says
	 * that it has not got the key, and was not given it since? It may say so after the round is decided. */
	bool (*has_gaps)(const dlock_renewal_round *round);

	/* Gives these servers the key again. */
	void (*repair)(dlock_renewal_round *round, dlock_nanos ttl);

	/* Under the mutex: may a repair yet set the key somewhere? */
	bool (*may_yet_repair)(const dlock_renewal_round *round);

	/* The holder has released the lease, over other connections: undoes such repairs. Where the lease is not `over`,
	 * but goes on elsewhere, servers that it may rest upon are left alone. */
	void (*roll_back)(dlock_renewal_round *round, dlock_nanos ttl, bool over);

	/* Optional, under the mutex: the lease is gone, and its holder can see that by now. Gives back what is left of it,
	 * where it is of several locks. */
	void (*give_back)(dlock_renewal_round *round);

	void (*free)(dlock_renewal_round *round);
} dlock_renewal_round_ops;

struct dlock_renewal_round {
	const dlock_renewal_round_ops *ops;
	/* Once the deadline has passed, "kept" proves nothing: the key may have been brought to a server after others had
	 * held the lock. */
	bool late_proves_nothing;
	/* The lease can be held while servers lack its key, which are to be given it again. */
	bool repairable;
	/* So much earlier than the answer says the lease ends, by what the server's clock was found to be; 0: it was
	 * right. */
	dlock_nanos late;
	/* Set by collect(): a server that was to be given the key has another holder's. The thread clears it. */
	bool refused;
	int64_t since; /* the list's: those who look are to be told with this round that the lease has been held since then,
					  in µs since 1970; 0: they are not */
	int64_t permits, fencing_token; /* the list's, as begin() is to ask for them: a reader may have become the writer */
	dlock_nanos started; /* the thread's: just before begin() */
	dlock_nanos within;  /* the list's: the answer is of use for so long. The lease time asked for, or what is left of a
							short lease */
};

#endif

#ifndef DLOCK_LOCK_RENEWAL_LIST_H
#define DLOCK_LOCK_RENEWAL_LIST_H

#include <pthread.h>

#include "claim.h"
#include "renewer.h"

/* The leases that the renewal thread looks after: their states, what is due for each, and when. No function here sends
 * or waits; renewal_thread.h does. Callers hold the list's mutex, which is also the thread's. */

typedef enum {
	DLOCK_RENEWAL_IDLE,      /* no request is under way, or its answer no longer counts */
	DLOCK_RENEWAL_CHECKING,  /* a round asks whether the servers have the lease */
	DLOCK_RENEWAL_EXTENDING, /* a round asks for more time */
	/* The last round has confirmed the lease; servers that lack the key are to be repaired. */
	DLOCK_RENEWAL_KEPT,
	/* The holder has ended it: repairs that may come late are rolled back, then it is freed. */
	DLOCK_RENEWAL_ENDED
} dlock_renewal_state;

/* One lease that the thread looks after. */
typedef struct dlock_renewal {
	struct dlock_renewal *previous, *next; /* in the list */
	struct dlock_renewal *next_due;        /* in the thread's own chain */

	/* Under the mutex. */
	dlock_renewal_state state; /* set by dlock_renewal_move() */
	dlock_claim *claim;        /* NULL after the holder has ended it */
	dlock_process process;
	dlock_nanos ttl;
	dlock_nanos due, until;    /* when the servers are asked next; until when it is renewed */
	/* When a short lease would end with its full lease time, which is still to be requested; 0: it is not short, or no
	 * longer. */
	dlock_nanos full;
	int64_t since;         /* when it was acquired, µs since 1970; 0: not reported to the server */
	dlock_nanos described; /* when that was reported last; 0: never */
	void (*lost)(void *context); /* NULL: the loss was reported, or no caller wants to know */
	void *context;
	bool renew;      /* request more time, again and again */
	bool endless;    /* renew it without limit */
	bool paused;     /* the holder asks the servers itself: no round begins */
	bool cancel;     /* the round under way is to end soon, because the holder waits */
	bool over;       /* the lease ended with it; otherwise it continues elsewhere */
	/* A server has refused it, or may have: asked more often, until each server that answers has it, even without
	 * renewal. */
	bool incomplete;

	/* The thread's; a holder may read it while `busy` is false. */
	bool busy; /* a request is to be sent, or is under way */
	enum { DLOCK_SEND_NOTHING, DLOCK_SEND_EXTEND, DLOCK_SEND_CHECK, DLOCK_SEND_REPAIR, DLOCK_SEND_ROLL_BACK } todo;
	dlock_nanos asked_ttl;  /* the longest lease time that may be under way */
	dlock_nanos repair_ttl;
	dlock_renewal_round *round; /* NULL: the servers are never asked */
} dlock_renewal;

typedef struct {
	dlock_renewal *first;
	pthread_cond_t idle; /* signaled when one of them is no longer busy */
	unsigned long renewals, failures;
} dlock_renewal_list;

/* Creates an entry without a round, for a claim that was just acquired. NULL if out of memory. */
dlock_renewal *dlock_renewal_new(dlock_claim *claim);
void dlock_renewal_free(dlock_renewal *renewal);

/* The lease time to request, if the holder's is `ttl`: the shortest one that a server may yet set, unless the round
 * counts such servers itself. */
dlock_nanos dlock_renewal_ttl_to_request(const dlock_renewal *renewal, dlock_nanos ttl);

void dlock_renewal_list_add(dlock_renewal_list *list, dlock_renewal *renewal);
void dlock_renewal_list_remove(dlock_renewal_list *list, dlock_renewal *renewal); /* and frees it */

/* Changes the state: the only function that does. With DLOCK_DEBUG, a move that the table does not allow ends the
 * process. */
void dlock_renewal_move(dlock_renewal *renewal, dlock_renewal_state to);

/* Does the table allow this move? */
bool dlock_renewal_may_move(dlock_renewal_state from, dlock_renewal_state to);

/* Is a round under way whose result counts? */
bool dlock_renewal_is_asking(const dlock_renewal *renewal);

/* Lets the answer to the round under way no longer count. */
void dlock_renewal_discard_answer(dlock_renewal *renewal);

/* When the thread is to look next. The first goes by the lease time alone. The second also regards whether the lease is
 * renewed, and whether servers lack its key. */
dlock_nanos dlock_renewal_next_due(const dlock_renewal *renewal, dlock_nanos now);
dlock_nanos dlock_renewal_next_wake(const dlock_renewal *renewal, dlock_nanos now);

/* Has the holder ended it while a repair may still set the key? */
bool dlock_renewal_has_to_roll_back(const dlock_renewal *renewal);

/* Reads all answers to the leases of this process, updates their claims, and frees the entries that have ended. Returns
 * the chain of entries with something `todo`, and in `wake` the time of the next call. */
dlock_renewal *dlock_renewal_list_scan(dlock_renewal_list *list, dlock_process process, dlock_nanos *wake);

#endif

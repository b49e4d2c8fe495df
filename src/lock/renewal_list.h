#ifndef DLOCK_LOCK_RENEWAL_LIST_H
#define DLOCK_LOCK_RENEWAL_LIST_H

#include <pthread.h>

#include "claim.h"
#include "renewer.h"

/* The leases that the renewal thread looks after, their states, and what is to be done about each of them and when.
 * Nothing here sends or waits: renewal_thread.h does. All of it is used with the list's mutex held, which is the
 * thread's, too. */

typedef enum {
	DLOCK_RENEWAL_IDLE,      /* nothing is asked, or the answer does not count any more */
	DLOCK_RENEWAL_CHECKING,  /* a round asks whether the servers have the lease */
	DLOCK_RENEWAL_EXTENDING, /* a round asks for more time */
	DLOCK_RENEWAL_KEPT, /* the last round has confirmed the lease; servers that lack the key are to be given it again */
	DLOCK_RENEWAL_ENDED /* by its holder: repairs that may come late are rolled back, then it is freed */
} dlock_renewal_state;

/* One lease that is looked after. */
typedef struct dlock_renewal {
	struct dlock_renewal *previous, *next; /* the list */
	struct dlock_renewal *next_due;        /* the thread's own chain */

	/* Under the mutex. */
	dlock_renewal_state state; /* changed by dlock_renewal_move() */
	dlock_claim *claim;        /* NULL once it has ended */
	dlock_process process;
	dlock_nanos ttl;
	dlock_nanos due, until;    /* when it is asked about next; until when it is extended */
	dlock_nanos full; /* of a short lease: when it ends, once its rest has been asked for; 0: it is not short, or not
						 any more */
	int64_t since;         /* when it was acquired, µs since 1970; 0: not reported to the server */
	dlock_nanos described; /* when it was reported last; 0: not yet */
	void (*lost)(void *context); /* NULL: the loss is reported, or no caller is told */
	void *context;
	bool renew;      /* ask for more time, again and again */
	bool endless;    /* without limit */
	bool paused;     /* the holder asks the servers itself: no round begins */
	bool cancel;     /* what is under way is to end soon: the holder waits */
	bool over;       /* the lease has ended with it; otherwise it goes on elsewhere */
	bool incomplete; /* a server has refused it, or may have: looked at more often, until all that answer have it, also
						where it is not renewed */

	/* The thread's; the holder may look at it while it is not busy. */
	bool busy; /* something is to be sent, or under way */
	enum { DLOCK_SEND_NOTHING, DLOCK_SEND_EXTEND, DLOCK_SEND_CHECK, DLOCK_SEND_REPAIR, DLOCK_SEND_ROLL_BACK } todo;
	dlock_nanos asked_ttl;  /* the longest that may be under way */
	dlock_nanos repair_ttl;
	dlock_renewal_round *round; /* NULL: the servers are never asked */
} dlock_renewal;

typedef struct {
	dlock_renewal *first;
	pthread_cond_t idle; /* one of them is not busy any more */
	unsigned long renewals, failures;
} dlock_renewal_list;

/* With a round, where the servers are to be asked. NULL when out of memory. */
dlock_renewal *dlock_renewal_new(dlock_claim *claim, bool asks);
void dlock_renewal_free(dlock_renewal *renewal);

void dlock_renewal_list_add(dlock_renewal_list *list, dlock_renewal *renewal);
void dlock_renewal_list_remove(dlock_renewal_list *list, dlock_renewal *renewal); /* and frees it */

/* The one place where the state changes. Builds with DLOCK_DEBUG end where the move is not in the table. */
void dlock_renewal_move(dlock_renewal *renewal, dlock_renewal_state to);

/* Is it in the table? */
bool dlock_renewal_may_move(dlock_renewal_state from, dlock_renewal_state to);

/* Is a round under way whose result counts? */
bool dlock_renewal_is_asking(const dlock_renewal *renewal);

/* What is asked does not count any more. */
void dlock_renewal_discard_answer(dlock_renewal *renewal);

/* When the thread is to look next, as far as the lease time tells, and where a server lacks the key, or may. */
dlock_nanos dlock_renewal_next_due(const dlock_renewal *renewal, dlock_nanos now);
dlock_nanos dlock_renewal_next_wake(const dlock_renewal *renewal, dlock_nanos now);

/* Has it ended with a repair that may yet set the key? */
bool dlock_renewal_has_to_roll_back(const dlock_renewal *renewal);

/* Takes in all answers to the leases of this process, brings their claims up to date, and frees what has ended. Returns
 * the chain of those for which something is `todo`, and in `wake` when it is to be called next. */
dlock_renewal *dlock_renewal_list_scan(dlock_renewal_list *list, dlock_process process, dlock_nanos *wake);

#endif

#ifndef DLOCK_LOCK_CLAIM_H
#define DLOCK_LOCK_CLAIM_H

#include "backend.h"
#include "inspection.h"

/* A claim is one acquisition of one resource, or of several at once: from the first attempt to the release, its state,
 * and until when it may be relied upon. What its holder can do with it is in operations.h. */

typedef enum {
	DLOCK_CLAIM_NEW,       /* nothing on the servers yet, as far as this claim knows */
	DLOCK_CLAIM_WAITING,   /* an acquire was interrupted or failed; something of it may be on the servers */
	DLOCK_CLAIM_HELD,
	DLOCK_CLAIM_UNCERTAIN, /* held when last heard of, out of touch now, lease time not yet over */
	DLOCK_CLAIM_LOST,
	DLOCK_CLAIM_RELEASED   /* given back, or cancelled */
} dlock_claim_state;

/* The deadline of a lease that is over for good: what has once been found lost by the clock stays lost. */
#define DLOCK_OVER INT64_MIN

/* It belongs to one thread; the renewal thread (renewal.h) touches what is atomic. */
struct dlock_claim {
	dlock_backend *backend;
	dlock_process process;   /* where another one is current, the claim is the parent's and nothing is done for it */
	dlock_claim_state state; /* as last known; dlock_claim_refresh() is the truth now. Changed by dlock_claim_move() */
	dlock_nanos ttl;         /* lease time asked for; 0 where the session is the lease */
	dlock_nanos unacknowledged_ttl; /* the shortest lease time that was asked for without an answer; 0: none */
	_Atomic dlock_nanos deadline; /* the lock may be relied upon until then, on dlock_now()'s clock; or DLOCK_OVER */
	_Atomic bool uncertain;       /* the last request for more time got no answer */
	_Atomic bool short_lease;     /* as short as a grant: its lease time has yet to be asked for */
	struct dlock_renewal *renewal; /* NULL: no thread looks after it */
	int64_t permits; /* that it asks for, all at once: 1, or what is set before acquire(). attach() sets what the lease
						has */
	int64_t own_permits; /* of the same pool, that this thread keeps for ever while it waits */
	int64_t fencing_token;
	char token[DLOCK_TOKEN_MAX + 1];
	bool waited;         /* the lock was not free at once */
	bool explained;      /* with DLOCK_TIMEOUT of acquire() the error says why no client gets it */
	bool guarded;        /* it was refused since its server grants nothing for a while: it has lost leases, perhaps */
	bool received;       /* it was handed over by its holder before */
	bool handed_over;    /* its release handed it over to a waiter */
	bool renewed;        /* a thread asks for more time, or did so where it was detached */
	bool incomplete;     /* one of several servers refused when it was acquired, or may have */
	bool unanswered;     /* one of them had not answered yet */
	_Atomic bool repaired; /* servers may have it that did not when it was acquired */
	dlock_description *description; /* what others are told of its process; NULL: nothing */
	size_t resource_len;
	char *resource; /* 1 to DLOCK_RESOURCE_MAX of any bytes, and a NUL after them; of several: as messages have them */
	int count;      /* of resources: 1 to DLOCK_SEVERAL_MAX */
	dlock_name *names; /* in the order of their bytes, each once */
};

/* A new claim with a fresh token, or NULL with a message. `token` NULL: make one; otherwise take this one, which has a
 * form that the back end takes. */
dlock_claim *dlock_claim_new(dlock_backend *backend, const char *resource, size_t resource_len, dlock_nanos ttl,
	const char *token, dlock_error *error);

/* The same for several resources at once, or one, which are in the order of their bytes, each once. */
dlock_claim *dlock_claim_new_of(dlock_backend *backend, const dlock_name *names, int count, dlock_nanos ttl,
	const char *token, dlock_error *error);

/* As qsort() wants it. */
int dlock_name_compare(const void *a, const void *b);

/* Gives the claim another token. */
dlock_status dlock_claim_renew_token(dlock_claim *claim, dlock_error *error);

/* Is the claim this process' own? */
bool dlock_claim_is_mine(const dlock_claim *claim);

/* Is the claim's lock, or one of its locks, the one that the back end has for the resource? */
bool dlock_claim_is_for(const dlock_claim *claim, dlock_backend *backend, const char *resource, size_t resource_len);

/* The resource, as messages have it. */
dlock_shown dlock_claim_name(const dlock_claim *claim);

/* ---- state ---- */

/* The one place where the state changes. Builds with DLOCK_DEBUG end where the move is not in the table. */
void dlock_claim_move(dlock_claim *claim, dlock_claim_state to);

/* Is it in the table? */
bool dlock_claim_may_move(dlock_claim_state from, dlock_claim_state to);

/* Held or uncertain, as last known. */
bool dlock_claim_is_held(const dlock_claim *claim);

/* State and, where it is held, time left, as memory knows them now: no I/O, never optimistic. */
dlock_claim_state dlock_claim_refresh(dlock_claim *claim, dlock_nanos *remaining);

/* DLOCK_LOST, for a claim that was to take up a lease which is over or another holder's. */
dlock_status dlock_claim_came_late(const dlock_claim *claim, dlock_error *error);

/* ---- deadline ---- */

/* Moves the deadline of a held claim. False when the lease was found over before. */
bool dlock_claim_move_deadline(dlock_claim *claim, dlock_nanos deadline);

/* The same, but never to an earlier time. */
bool dlock_claim_raise_deadline(dlock_claim *claim, dlock_nanos deadline);

/* Is the lease over? Where its deadline has passed, it is so for good from now on. */
bool dlock_claim_expire_if_due(dlock_claim *claim);

/* ---- requests without an answer ---- */

/* A lease time was asked for without an answer, or twice. The request may be executed later than others that follow it:
 * the system or a proxy may still have it, when there is a new connection already. */
void dlock_claim_add_unacknowledged_ttl(dlock_claim *claim, dlock_nanos ttl);

/* The part of a lease time that is guaranteed, counted from a request that the server has executed: if an
 * unacknowledged request is executed after it, the lease lasts no longer than that request has asked for. */
dlock_nanos dlock_claim_guaranteed_ttl(const dlock_claim *claim, dlock_nanos ttl);

#endif

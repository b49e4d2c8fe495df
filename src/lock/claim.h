#ifndef DLOCK_LOCK_CLAIM_H
#define DLOCK_LOCK_CLAIM_H

#include "backend.h"
#include "inspection.h"

/* A claim is one acquisition of one resource, or of several at once, from the first attempt to the release. It knows
 * its state, and until when its holder may rely on it. operations.h has what a holder does with it. */

typedef enum {
	DLOCK_CLAIM_NEW,       /* as far as this claim knows, the servers have nothing of it */
	DLOCK_CLAIM_WAITING,   /* an attempt was interrupted or failed; servers may have something of it */
	DLOCK_CLAIM_HELD,
	DLOCK_CLAIM_UNCERTAIN, /* it was held at the last answer; no server answers now, and its lease has not expired */
	DLOCK_CLAIM_LOST,
	DLOCK_CLAIM_RELEASED   /* released or cancelled */
} dlock_claim_state;

/* The deadline of a lease that has ended for good: a lease that the clock has once found expired stays lost. */
#define DLOCK_OVER INT64_MIN

/* A claim belongs to one thread; the renewal thread (renewal.h) uses its atomic members only. */
struct dlock_claim {
	dlock_backend *backend;
	dlock_process process;   /* in any other process the claim is a parent's, and no operation acts on it */
	dlock_claim_state state; /* as last known, set by dlock_claim_move(); dlock_claim_refresh() returns it as of now */
	dlock_nanos ttl;         /* the lease time that was requested; 0: the session is the lease */
	dlock_nanos unacknowledged_ttl; /* the shortest lease time that was requested and not answered; 0: none */
	_Atomic dlock_nanos deadline; /* its holder may rely on the lock until then, by dlock_now(); or DLOCK_OVER */
	_Atomic bool uncertain;       /* the last request for more time was not answered */
	_Atomic bool short_lease;     /* as short as a grant: the full lease time is still to be requested */
	struct dlock_renewal *renewal; /* NULL: the renewal thread does not look after it */
	/* The permits that it acquires, all at once: 1, or what the caller sets before acquire(). attach() sets those of
	 * the lease. */
	int64_t permits;
	int64_t own_permits; /* of the same pool, which this thread holds without limit while it waits */
	int64_t fencing_token;
	char token[DLOCK_TOKEN_MAX + 1];
	bool waited;         /* the lock was not free at the first attempt */
	bool explained;      /* after DLOCK_TIMEOUT, the error says why no client acquires the lock */
	bool guarded;        /* its server refused it, and grants no lock for a while, because it may have lost leases */
	bool received;       /* its last holder handed it over */
	bool handed_over;    /* its release handed it over to a waiter */
	bool renewed;        /* the thread renews it, or renewed it before it was detached */
	bool incomplete;     /* one of several servers refused it during the acquisition, or probably will */
	bool unanswered;     /* one of several servers had not answered when it was acquired */
	_Atomic bool repaired; /* servers that lacked it when it was acquired may have it now */
	dlock_description *description; /* how its process describes itself in inspections; NULL: not at all */
	size_t resource_len;
	/* 1 to DLOCK_RESOURCE_MAX bytes and a NUL; of several resources, their names as messages show them. */
	char *resource;
	int count;      /* of resources: 1 to DLOCK_SEVERAL_MAX */
	dlock_name *names; /* sorted by their bytes, without duplicates */
};

/* Creates a claim, or returns NULL with a message. `ttl` is the lease time; `token` has a form that the back end
 * accepts, NULL: a new one is made. */
dlock_claim *dlock_claim_new(dlock_backend *backend, const char *resource, size_t resource_len, dlock_nanos ttl,
	const char *token, dlock_error *error);

/* The same for 1 to DLOCK_SEVERAL_MAX resources, sorted by their bytes, without duplicates. */
dlock_claim *dlock_claim_new_of(dlock_backend *backend, const dlock_name *names, int count, dlock_nanos ttl,
	const char *token, dlock_error *error);

/* Compares names by their bytes, for qsort(). */
int dlock_name_compare(const void *a, const void *b);

/* Replaces the claim's token by a new one. DLOCK_OK, or DLOCK_FAILED: the system gave no random bytes. */
dlock_status dlock_claim_renew_token(dlock_claim *claim, dlock_error *error);

/* Does the claim belong to this process? */
bool dlock_claim_is_mine(const dlock_claim *claim);

/* Is one of the claim's locks the lock that the back end has for the resource? */
bool dlock_claim_is_for(const dlock_claim *claim, dlock_backend *backend, const char *resource, size_t resource_len);

/* The resource, as messages show it. */
dlock_shown dlock_claim_name(const dlock_claim *claim);

/* ---- state ---- */

/* Changes the state: the only function that does. With DLOCK_DEBUG, a move that the table does not allow ends the
 * process. */
void dlock_claim_move(dlock_claim *claim, dlock_claim_state to);

/* Does the table allow this move? */
bool dlock_claim_may_move(dlock_claim_state from, dlock_claim_state to);

/* Is it held or uncertain, as last known? */
bool dlock_claim_is_held(const dlock_claim *claim);

/* Returns the state, and in `remaining` the time left of a held lock, from memory: without I/O, and never
 * optimistic. */
dlock_claim_state dlock_claim_refresh(dlock_claim *claim, dlock_nanos *remaining);

/* Sets the error of a claim that was to attach to a lease that has expired or belongs to another holder. Returns
 * DLOCK_LOST. */
dlock_status dlock_claim_came_late(const dlock_claim *claim, dlock_error *error);

/* ---- deadline ---- */

/* Moves the deadline of a held claim. False: the lease was found expired before. */
bool dlock_claim_move_deadline(dlock_claim *claim, dlock_nanos deadline);

/* The same, but never to an earlier time. */
bool dlock_claim_raise_deadline(dlock_claim *claim, dlock_nanos deadline);

/* Has the lease expired? If its deadline has passed, it stays expired from now on. */
bool dlock_claim_expire_if_due(dlock_claim *claim);

/* ---- requests without an answer ---- */

/* Notes a lease time that was requested without an answer, or twice. A server may execute that request after later
 * ones: the system or a proxy may still hold it while a new connection is open. */
void dlock_claim_add_unacknowledged_ttl(dlock_claim *claim, dlock_nanos ttl);

/* The part of `ttl` that is guaranteed after a server has executed a request for it. If the server executes an
 * unacknowledged request after that, the lease lasts only as long as that one asked. */
dlock_nanos dlock_claim_guaranteed_ttl(const dlock_claim *claim, dlock_nanos ttl);

#endif

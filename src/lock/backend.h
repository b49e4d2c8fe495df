#ifndef DLOCK_LOCK_BACKEND_H
#define DLOCK_LOCK_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/atomic.h"
#include "../base/clock.h"
#include "../base/error.h"
#include "../base/process.h"
#include "../base/token.h"
#include "../base/wait.h"

/* A lock back end says how a claim on a resource becomes a held lock on one kind of server, and how it is given back.
 * There are three: one Redis (single.c), a quorum of Redis servers (quorum.c) and ZooKeeper (zookeeper.c).
 *
 * Back ends and their claims belong to one thread. Nothing here allocates Zend memory or calls into PHP. */

/* The longest name of a resource, in bytes. */
#define DLOCK_RESOURCE_MAX 1024

/* The shortest lease time, of which something is left behind what is set aside for clocks (dlock_drift()), and the longest: a year. */
#define DLOCK_TTL_MIN (3 * DLOCK_MS)
#define DLOCK_TTL_MAX (365 * 24 * 3600 * DLOCK_SECOND)

/* The part of a lease that clocks may disagree about: 1 % and 2 ms, as in the Redlock algorithm
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/). */
dlock_nanos dlock_drift(dlock_nanos ttl);

typedef struct dlock_backend dlock_backend;
typedef struct dlock_claim dlock_claim;
struct dlock_renewal;
struct dlock_renewal_round;

typedef enum {
	DLOCK_CLAIM_NEW,      /* nothing on the servers yet, as far as this claim knows */
	DLOCK_CLAIM_WAITING,  /* an acquire was interrupted or failed; something of it may be on the servers */
	DLOCK_CLAIM_HELD,
	DLOCK_CLAIM_UNCERTAIN, /* held when last heard of, out of touch now, lease time not yet over */
	DLOCK_CLAIM_LOST,
	DLOCK_CLAIM_RELEASED
} dlock_claim_state;

/* The deadline of a lease that is over for good: what has once been found lost by the clock stays lost. */
#define DLOCK_OVER INT64_MIN

/* One acquisition of one resource, from the first attempt to the release. It belongs to one thread; the renewal thread
 * (lock/renewal.c) touches what is atomic. */
struct dlock_claim {
	dlock_backend *backend;
	dlock_process process;   /* where another one is current, the claim is the parent's and nothing is done for it */
	dlock_claim_state state; /* as last known; dlock_claim_look() is the truth now */
	dlock_nanos ttl;         /* lease time asked for; 0 where the session is the lease */
	dlock_nanos doubt;       /* the shortest lease time that was asked for without an answer; 0: none. See dlock_claim_sure_of() */
	_Atomic dlock_nanos deadline; /* the lock may be relied upon until then, on dlock_now()'s clock; or DLOCK_OVER */
	_Atomic bool uncertain;       /* the last one who asked for more time got no answer */
	struct dlock_renewal *renewal; /* NULL: no thread looks after it */
	int64_t fencing_token;
	char token[DLOCK_TOKEN_MAX + 1];
	bool waited;         /* the lock was not free at once */
	bool received;       /* it was handed over by its holder before */
	bool handed_over;    /* its release handed it over to a waiter */
	bool renewed;        /* a thread asks for more time, or did so where it was detached */
	bool incomplete;     /* one of several servers refused when it was acquired, or may have */
	bool unheard;        /* one of them had not answered yet */
	_Atomic bool repaired; /* servers may have it that did not when it was acquired */
	size_t resource_len;
	char *resource; /* 1 to DLOCK_RESOURCE_MAX of any bytes; NUL-terminated besides */
};

/* Every function may be called in the claim's own process only (dlock_claim_* below see to that). */
typedef struct {
	const char *name;  /* "single", "quorum", "zookeeper" */
	size_t claim_size; /* sizeof the back end's own claim, whose first member is a dlock_claim */
	bool legacy_tokens; /* takes tokens with and without DLOCK_TOKEN_LEGACY, whichever it makes */

	/* Tries until it is held (DLOCK_OK: state, deadline and fencing_token are set), until wait->deadline (DLOCK_TIMEOUT;
	 * a deadline in the past still tries once), or until interrupted (DLOCK_INTERRUPTED: call again to resume, or abandon).
	 * After any other status nothing of the claim is left on the servers that could be reached. */
	dlock_status (*acquire)(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);

	/* A new lease time from now on. DLOCK_LOST when it is not ours any more. */
	dlock_status (*extend)(dlock_claim *claim, dlock_nanos ttl, dlock_error *error);

	/* Takes up the lease that has this token now, by making it the claim's own token on the servers, for the lease time that is
	 * left: DLOCK_OK (state, deadline and fencing_token are set), or DLOCK_LOST where the lease is not that token's. After any
	 * other status what may have been changed is changed back, without waiting, so that the token can be used again.
	 * NULL: leases of this back end cannot be handed over. */
	dlock_status (*attach)(dlock_claim *claim, const char *token, dlock_error *error);

	/* Asks the servers whether the lock is this claim's: DLOCK_OK (state HELD, deadline as the servers say) or DLOCK_LOST.
	 * NULL: a claim is never asked about. */
	dlock_status (*check)(dlock_claim *claim, dlock_error *error);

	/* Gives the lock back. DLOCK_OK: it was ours until now. DLOCK_LOST: it was not. Otherwise unknown. */
	dlock_status (*release)(dlock_claim *claim, dlock_error *error);

	/* Gives back whatever the claim holds, waits for or may have, without waiting for answers. Never fails; what cannot
	 * be said is left to the lease time or the session. */
	void (*abandon)(dlock_claim *claim);

	/* Refreshes claim->state and claim->deadline from memory, for back ends that hear of a loss from elsewhere. May be NULL. */
	void (*look)(dlock_claim *claim);

	/* What another thread needs to renew the lease (renewer.h), or NULL when out of memory. The member itself is NULL where leases renew
	 * themselves. */
	struct dlock_renewal_round *(*new_round)(const dlock_claim *claim);

	/* For leases that renew themselves: until when this one lasts, asked by any thread; or DLOCK_OVER. */
	dlock_nanos (*bound)(const dlock_claim *claim);

	/* Is what the claim holds the very lock that this back end has for the resource? */
	bool (*is_same)(const dlock_claim *claim, dlock_backend *backend, const char *resource, size_t resource_len);

	/* Is the resource locked by anyone? */
	dlock_status (*locked)(dlock_backend *backend, const char *resource, size_t resource_len, bool *locked, dlock_error *error);

	/* Frees what the claim owns in memory beside itself; says nothing to a server. May be NULL. */
	void (*dispose)(dlock_claim *claim);

	/* Frees the backend. Connections and sessions are the pool's and stay. */
	void (*destroy)(dlock_backend *backend);
} dlock_backend_ops;

/* The first member of each back end's own struct. */
struct dlock_backend {
	const dlock_backend_ops *ops;
	unsigned references; /* of the manager object and of each claim */
	bool legacy;         /* new tokens begin with DLOCK_TOKEN_LEGACY */
};

void dlock_backend_init(dlock_backend *backend, const dlock_backend_ops *ops);
void dlock_backend_release(dlock_backend *backend);

/* Gives the claim another token. */
dlock_status dlock_claim_renew_token(dlock_claim *claim, dlock_error *error);

/* Moves the deadline of a held claim. False when the lease was found over before. */
bool dlock_claim_move_deadline(dlock_claim *claim, dlock_nanos deadline);

/* The same, but never to an earlier time. */
bool dlock_claim_raise_deadline(dlock_claim *claim, dlock_nanos deadline);

/* A lease time was asked for without an answer, or twice. The request may be executed later than others that follow it: the system or
 * a proxy may still have it, when there is a new connection already. */
void dlock_claim_doubt(dlock_claim *claim, dlock_nanos ttl);

/* DLOCK_LOST, for a claim that was to take up a lease which is over, or somebody else's. */
dlock_status dlock_claim_came_late(const dlock_claim *claim, dlock_error *error);

/* So much of a lease time is sure, counted from a request that the server has executed: if a request that is in doubt is executed
 * behind it, the lease goes on for no longer than that one has asked for. */
dlock_nanos dlock_claim_sure_of(const dlock_claim *claim, dlock_nanos ttl);

/* Is the lease over? If its deadline has passed, it is from now on. */
bool dlock_claim_is_over(dlock_claim *claim);

#endif

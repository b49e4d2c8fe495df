#ifndef DLOCK_ENGINE_H
#define DLOCK_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/clock.h"
#include "../base/error.h"
#include "../base/process.h"
#include "../base/token.h"
#include "../base/wait.h"

/* A lock engine says how a claim on a resource becomes a held lock on one kind of server, and how it is given back.
 * There are three: one Redis (single.c), a quorum of Redis servers (quorum.c) and ZooKeeper (zookeeper.c).
 *
 * Engines and their claims belong to one thread. Nothing here allocates Zend memory or calls into PHP. */

/* The longest name of a resource, in bytes. */
#define DLOCK_RESOURCE_MAX 1024

typedef struct dlock_engine dlock_engine;
typedef struct dlock_claim dlock_claim;

typedef enum {
	DLOCK_CLAIM_NEW,      /* nothing on the servers yet, as far as this claim knows */
	DLOCK_CLAIM_WAITING,  /* an acquire was interrupted or failed; something of it may be on the servers */
	DLOCK_CLAIM_HELD,
	DLOCK_CLAIM_UNCERTAIN, /* held when last heard of, out of touch now, lease time not yet over */
	DLOCK_CLAIM_LOST,
	DLOCK_CLAIM_RELEASED
} dlock_claim_state;

/* One acquisition of one resource, from the first attempt to the release. */
struct dlock_claim {
	dlock_engine *engine;
	dlock_process process;   /* where another one is current, the claim is the parent's and nothing is done for it */
	dlock_claim_state state; /* as last known; dlock_claim_look() is the truth now */
	dlock_nanos ttl;         /* lease time asked for; 0 where the session is the lease */
	dlock_nanos deadline;    /* the lock may be relied upon until then, on dlock_now()'s clock */
	int64_t fencing_token;
	char token[DLOCK_TOKEN_MAX + 1];
	bool waited;         /* the lock was not free at once */
	bool owned;          /* an object frees it; otherwise the registry does */
	bool release_at_end; /* with the request; otherwise it is left to its lease time or session */
	bool registered;
	dlock_claim *previous, *next; /* the registry's list */
	size_t resource_len;
	char *resource; /* 1 to DLOCK_RESOURCE_MAX of any bytes; NUL-terminated besides */
};

/* Every function may be called in the claim's own process only (dlock_claim_* below see to that). */
typedef struct {
	const char *name;  /* "single", "quorum", "zookeeper" */
	size_t claim_size; /* sizeof the engine's own claim, whose first member is a dlock_claim */
	bool legacy_tokens; /* takes tokens with and without DLOCK_TOKEN_LEGACY, whichever it makes */

	/* Tries until it is held (DLOCK_OK: state, deadline and fencing_token are set), until wait->deadline (DLOCK_TIMEOUT;
	 * a deadline in the past still tries once), or until interrupted (DLOCK_INTERRUPTED: call again to resume, or abandon).
	 * After any other status nothing of the claim is left on the servers that could be reached. */
	dlock_status (*acquire)(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);

	/* A new lease time from now on. DLOCK_LOST when it is not ours any more. */
	dlock_status (*extend)(dlock_claim *claim, dlock_nanos ttl, dlock_error *error);

	/* Asks the servers whether the lock is this claim's: DLOCK_OK (state HELD, deadline as the servers say) or DLOCK_LOST. */
	dlock_status (*check)(dlock_claim *claim, dlock_error *error);

	/* Gives the lock back. DLOCK_OK: it was ours until now. DLOCK_LOST: it was not. Otherwise unknown. */
	dlock_status (*release)(dlock_claim *claim, dlock_error *error);

	/* Gives back whatever the claim holds, waits for or may have, without waiting for answers. Never fails; what cannot
	 * be said is left to the lease time or the session. */
	void (*abandon)(dlock_claim *claim);

	/* Refreshes claim->state and claim->deadline from memory, for engines that hear of a loss from elsewhere. May be NULL. */
	void (*look)(dlock_claim *claim);

	/* Is the resource locked by anyone? */
	dlock_status (*locked)(dlock_engine *engine, const char *resource, size_t resource_len, bool *locked, dlock_error *error);

	/* Frees what the claim owns in memory beside itself; says nothing to a server. May be NULL. */
	void (*dispose)(dlock_claim *claim);

	/* Frees the engine. Connections and sessions are the pool's and stay. */
	void (*destroy)(dlock_engine *engine);
} dlock_engine_ops;

/* The first member of each engine's own struct. */
struct dlock_engine {
	const dlock_engine_ops *ops;
	unsigned references; /* of the manager object and of each claim */
	bool legacy;         /* new tokens begin with DLOCK_TOKEN_LEGACY */
};

void dlock_engine_init(dlock_engine *engine, const dlock_engine_ops *ops);
void dlock_engine_release(dlock_engine *engine);

/* A new claim with a fresh token, or NULL with a message. `token` NULL: make one; otherwise take this one (attach), which
 * has a form that the engine takes. */
dlock_claim *dlock_claim_new(dlock_engine *engine, const char *resource, size_t resource_len, dlock_nanos ttl,
	const char *token, dlock_error *error);

/* Gives the claim another token. */
dlock_status dlock_claim_renew_token(dlock_claim *claim, dlock_error *error);

/* Is the claim this process' own? */
bool dlock_claim_is_mine(const dlock_claim *claim);

/* State and, where it is held, time left, as memory knows them now: no I/O, never optimistic. */
dlock_claim_state dlock_claim_look(dlock_claim *claim, dlock_nanos *remaining);

/* The engine's operations, with what is the same for all: a foreign process' claim is lost (and abandoned silently),
 * a claim that is not held is not asked about again, the state is kept. */
dlock_status dlock_claim_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);
dlock_status dlock_claim_extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error);
dlock_status dlock_claim_check(dlock_claim *claim, dlock_error *error);
dlock_status dlock_claim_release(dlock_claim *claim, dlock_error *error);
void dlock_claim_abandon(dlock_claim *claim);

/* Frees the claim in memory, without a word to any server: release, abandon or detach first. */
void dlock_claim_free(dlock_claim *claim);

#endif

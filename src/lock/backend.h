#ifndef DLOCK_LOCK_BACKEND_H
#define DLOCK_LOCK_BACKEND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "../base/clock.h"
#include "../base/error.h"
#include "../base/process.h"
#include "../base/text.h"
#include "../base/token.h"
#include "../base/wait.h"
#include "inspection.h"

/* A lock back end says how a claim on a resource becomes a held lock on one kind of server, and how it is given back.
 * Each is a folder beside this one: see CONTRIBUTING.md.
 *
 * Back ends and their claims belong to one thread. Nothing here allocates Zend memory or calls into PHP. */

/* The longest name of a resource, in bytes, and how many one claim may be for. */
#define DLOCK_RESOURCE_MAX 1024
#define DLOCK_SEVERAL_MAX 64

/* A resource's name: any bytes. */
typedef dlock_arg dlock_name;

/* What a writer has, so that no other claim has any. A semaphore's capacity is less. */
#define DLOCK_PERMITS_ALL INT64_C(1000000000)

/* The shortest lease time, of which something is left when dlock_drift() is taken off, and the longest: a year. */
#define DLOCK_TTL_MIN (3 * DLOCK_MS)
#define DLOCK_TTL_MAX (365 * 24 * 3600 * DLOCK_SECOND)

/* The part of a lease that clocks may disagree about: 1 % and 2 ms, as in the Redlock algorithm
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/). */
dlock_nanos dlock_drift(dlock_nanos ttl);

/* The lease times that there can be. */
typedef struct {
	dlock_nanos least, most;
	bool is_guarded; /* `most` is the guard of a server that fails over, which is the user's to set */
} dlock_ttl_range;

#define DLOCK_ANY_TTL ((dlock_ttl_range) { DLOCK_TTL_MIN, DLOCK_TTL_MAX, false })

/* How a lock is taken from its holder. */
typedef struct {
	const char *id; /* of the holder */
	const char *by; /* who does it, for those who look */
	bool now; /* it is given on before the holder can know: a store that compares fencing tokens has to refuse that */
} dlock_break;

typedef struct dlock_backend dlock_backend;
typedef struct dlock_claim dlock_claim;
struct dlock_renewal_round;

/* Every function may be called in the claim's own process only; operations.h sees to that. */
typedef struct {
	const char *name;  /* "single", "quorum", "zookeeper", "memcached", "memory" */
	size_t claim_size; /* sizeof the back end's own claim, whose first member is a dlock_claim */

	/* What leases are like here. */
	bool session_lease; /* the session with the servers is the lease: it has no lease time, is renewed by the session,
						   and ends with the process */
	bool detachable;    /* another process can take up a lease by its token: attach() */
	const dlock_ttl_range *ttls; /* NULL: DLOCK_ANY_TTL */
	/* the part of a lease time, beside dlock_drift(), by which its end may come early on the server */
	dlock_nanos margin;
	/* NULL: a claim may be for several resources at once. Otherwise why not: what follows "Argument #1 ($resource) " */
	const char *one_only;
	bool legacy_tokens; /* takes tokens with and without DLOCK_TOKEN_LEGACY, whichever it makes */

	/* NULL, or why there is no lock for a resource of this name: what follows "Argument #1 ($resource) ". May be NULL:
	 * any name will do. */
	const char *(*refuse)(const dlock_backend *backend, const char *resource, size_t resource_len);
	/* Are these resources in several places, so that a claim of all of them has no one token that another process could
	 * take up? May be NULL: they never are. */
	bool (*is_spread)(const dlock_backend *backend, const dlock_name *names, int count);

	/* Tries until it is held (DLOCK_OK: state, deadline and fencing_token are set), until wait->deadline
	 * (DLOCK_TIMEOUT; a deadline in the past still tries once), or until interrupted (DLOCK_INTERRUPTED: call again to
	 * resume, or abandon), or behind a waiter that waits for claim->own_permits (DLOCK_DEADLOCK). After any other
	 * status nothing of the claim is left on the servers that could be reached. */
	dlock_status (*acquire)(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);

	/* A new lease time from now on. DLOCK_LOST when it is not ours any more. */
	dlock_status (*extend)(dlock_claim *claim, dlock_nanos ttl, dlock_error *error);

	/* Takes up the lease that has this token now, by making it the claim's own token on the servers, for the lease time
	 * that is left: DLOCK_OK (state, deadline and fencing_token are set), or DLOCK_LOST where the lease is not that
	 * token's. After any other status what may have been changed is changed back, without waiting, so that the token
	 * can be used again. NULL where leases are not detachable. */
	dlock_status (*attach)(dlock_claim *claim, const char *token, dlock_error *error);

	/* Asks the servers whether the lock is this claim's: DLOCK_OK (state HELD, deadline as the servers say) or
	 * DLOCK_LOST. NULL: a claim is never asked about. */
	dlock_status (*check)(dlock_claim *claim, dlock_error *error);

	/* A reader becomes the writer, in one step; `rest`: the token of a claim of all other permits, which ends with it;
	 * NULL: there is none. DLOCK_TIMEOUT: others read. And the writer becomes a reader. NULL where that cannot be. */
	dlock_status (*upgrade)(dlock_claim *claim, const char *rest, dlock_error *error);
	dlock_status (*downgrade)(dlock_claim *claim, dlock_error *error);

	/* Gives the lock back. DLOCK_OK: it was ours until now. DLOCK_LOST: it was not. Otherwise unknown. */
	dlock_status (*release)(dlock_claim *claim, dlock_error *error);

	/* Gives back whatever the claim holds, waits for or may have, without waiting for answers. Never fails; what cannot
	 * be said is left to the lease time or the session. */
	void (*abandon)(dlock_claim *claim);

	/* Asks for the lease time of a claim with a short lease, without waiting for the answer. NULL: there are none. */
	void (*top_up)(dlock_claim *claim);

	/* Refreshes claim->state and claim->deadline from memory, for back ends that hear of a loss from elsewhere. May be
	 * NULL. */
	void (*refresh)(dlock_claim *claim);

	/* What another thread needs to renew the lease (renewer.h), or NULL when out of memory. The member itself is NULL
	 * where the session is the lease. */
	struct dlock_renewal_round *(*new_round)(const dlock_claim *claim);

	/* Where the session is the lease: until when it lasts, asked by any thread; or DLOCK_OVER. */
	dlock_nanos (*bound)(const dlock_claim *claim);

	/* Are locks of one name, prefix and resource together, the same lock with both back ends of this kind? NULL: they
	 * are. */
	bool (*is_same)(const dlock_backend *a, const dlock_backend *b);

	/* Is the resource locked by anyone? */
	dlock_status (*locked)(
		dlock_backend *backend, const char *resource, size_t resource_len, bool *locked, dlock_error *error);

	/* The resource's permits that no claim holds now. NULL where there is one. */
	dlock_status (*available)(
		dlock_backend *backend, const char *resource, size_t resource_len, int64_t *permits, dlock_error *error);

	/* Who holds it and who waits, without disturbing them; at most `most` waiters in detail. Adds to an empty
	 * inspection, which the caller ends. This and the next two may be NULL: that is not noted. */
	dlock_status (*inspect)(dlock_backend *backend, const char *resource, size_t resource_len, int most,
		dlock_inspection *out, dlock_error *error);

	/* What is waited for, or has been held for long. */
	dlock_status (*list)(dlock_backend *backend, int most, dlock_listing *out, dlock_error *error);

	/* The same of all that are held, without an index: it looks at all keys. NULL: `list` does so. */
	dlock_status (*list_all)(dlock_backend *backend, int most, dlock_listing *out, dlock_error *error);

	/* Takes the lock from the holder with that id. DLOCK_OK: it is free when `left` is over, and its holder has given
	 * it up by then. DLOCK_LOST, without a message: another client holds it, or none. DLOCK_FAILED: it cannot be
	 * broken in this way. */
	dlock_status (*break_claim)(dlock_backend *backend, const char *resource, size_t resource_len,
		const dlock_break *how, dlock_nanos *left, dlock_error *error);

	/* Frees what the claim owns in memory beside itself; says nothing to a server. May be NULL. */
	void (*dispose)(dlock_claim *claim);

	/* Frees the backend. Connections and sessions are the pool's and stay. NULL: free() does it. */
	void (*destroy)(dlock_backend *backend);
} dlock_backend_ops;

/* The first member of each back end's own struct. */
struct dlock_backend {
	const dlock_backend_ops *ops;
	unsigned references; /* of the manager object and of each claim */
	const char *kind;    /* what handles call its locks: `ops->name`, or what tells apart those of one name */
	bool legacy;         /* new tokens begin with DLOCK_TOKEN_LEGACY */
	dlock_arg prefix;    /* what the names of its locks begin with: any bytes */
	uint64_t prefix_hash; /* where dlock_backend_hash() begins */
	int64_t capacity;    /* of a resource: the permits that there are in all. A lock has 1 */
	dlock_ttl_range ttls; /* those of `ops`, or fewer */
	const char *one_only; /* as that of `ops`, or for a reason of its own */
};

/* The prefix must last as long as the back end. */
void dlock_backend_init(dlock_backend *backend, const dlock_backend_ops *ops, const char *prefix, size_t prefix_len);

/* A back end whose struct has `size` bytes, all zero except its first member, followed by a copy of the prefix. NULL
 * when out of memory. */
void *dlock_backend_new(const dlock_backend_ops *ops, size_t size, const char *prefix, size_t prefix_len);

/* Prefix and resource together, and a NUL; to be freed. NULL when out of memory. */
char *dlock_backend_name(const dlock_backend *backend, const char *resource, size_t resource_len);

/* Are these resources of two back ends of one kind the same lock? */
bool dlock_backend_is_same_lock(const dlock_backend *a, dlock_name a_resource, const dlock_backend *b,
	dlock_name b_resource);

/* The same for all names that are the same lock: of the prefix and the resource. */
uint64_t dlock_backend_hash(const dlock_backend *backend, const char *resource, size_t resource_len);
void dlock_backend_release(dlock_backend *backend);

dlock_ttl_range dlock_backend_ttls(const dlock_backend *backend);

/* The part of a lease time that its holder must not rely on: what clocks may disagree about, and the back end's
 * margin. */
dlock_nanos dlock_set_aside(const dlock_backend *backend, dlock_nanos ttl);

#endif

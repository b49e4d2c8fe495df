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

/* A lock back end acquires, keeps and releases locks on one kind of server. Each back end is a folder beside this one:
 * see CONTRIBUTING.md.
 *
 * A back end and its claims belong to one thread. No function here allocates Zend memory or calls into PHP. */

/* The longest name of a resource, in bytes, and the most resources of one claim. */
#define DLOCK_RESOURCE_MAX 1024
#define DLOCK_SEVERAL_MAX 64

/* The name of a resource: any bytes. */
typedef dlock_arg dlock_name;

/* The permits of a writer. A semaphore has fewer, so no other claim can hold a permit beside a writer. */
#define DLOCK_PERMITS_ALL INT64_C(1000000000)

/* The shortest lease time, of which dlock_drift() leaves something, and the longest: a year. */
#define DLOCK_TTL_MIN (3 * DLOCK_MS)
#define DLOCK_TTL_MAX (365 * 24 * 3600 * DLOCK_SECOND)

/* The part of a lease about which clocks may disagree: 1 % and 2 ms. The Redlock algorithm has the same
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/). */
dlock_nanos dlock_drift(dlock_nanos ttl);

/* The lease times that a back end accepts, both ends included. */
typedef struct {
	dlock_nanos least, most;
	bool is_guarded; /* the user sets `most`: it is the guard of a server that fails over */
} dlock_ttl_range;

#define DLOCK_ANY_TTL ((dlock_ttl_range) { DLOCK_TTL_MIN, DLOCK_TTL_MAX, false })

/* Which holder loses its lock, and how. */
typedef struct {
	const char *id; /* of the holder, as inspections show it */
	const char *by; /* the operator, for inspections to show */
	/* The next holder follows before this holder can know: stores must compare fencing tokens. */
	bool now;
} dlock_break;

typedef struct dlock_backend dlock_backend;
typedef struct dlock_claim dlock_claim;
struct dlock_renewal_round;

/* The operations of a back end. Each is called only in the process of the claim; operations.h ensures that. A member
 * may be NULL if its comment says so. */
typedef struct {
	const char *name;  /* of the back end, for example "single", "quorum" or "memory" */
	size_t claim_size; /* sizeof the back end's own claim struct, which begins with a dlock_claim */

	/* The leases of this back end. */
	/* The session with the servers is the lease: it has no lease time, the session renews it, and it ends with the
	 * process. */
	bool session_lease;
	bool detachable;    /* another process can attach to a lease by its token */
	const dlock_ttl_range *ttls; /* NULL: DLOCK_ANY_TTL */
	/* the server may end a lease so much earlier, in addition to dlock_drift() */
	dlock_nanos margin;
	/* NULL: a claim may be for several resources. Otherwise the reason why not, to follow "Argument #1 ($resource) " */
	const char *one_only;
	bool legacy_tokens; /* accepts tokens with and without DLOCK_TOKEN_LEGACY, whichever kind it makes */

	/* Returns NULL, or the reason why no resource can have this name, to follow "Argument #1 ($resource) ". The member
	 * is NULL if any name will do. */
	const char *(*refuse)(const dlock_backend *backend, const char *resource, size_t resource_len);
	/* Are these resources in several places? A claim of all of them then has several tokens, so no process can attach
	 * to it. NULL: never. */
	bool (*is_spread)(const dlock_backend *backend, const dlock_name *names, int count);

	/* Acquires the claim. Returns
	 * - DLOCK_OK: it is held, and state, deadline and fencing_token are set;
	 * - DLOCK_TIMEOUT at wait->deadline; if that has passed, after one attempt;
	 * - DLOCK_INTERRUPTED: call again to resume, or abandon() the claim;
	 * - DLOCK_DEADLOCK: a waiter in front of it waits for claim->own_permits;
	 * - DLOCK_CONNECTION, DLOCK_QUORUM or DLOCK_FAILED.
	 * Except after DLOCK_OK and DLOCK_INTERRUPTED, no server that could be reached keeps anything of the claim. */
	dlock_status (*acquire)(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);

	/* Sets the lease time to `ttl` from now on. DLOCK_LOST: another client holds the lock, or none. */
	dlock_status (*extend)(dlock_claim *claim, dlock_nanos ttl, dlock_error *error);

	/* Attaches to the lease of `token`, by making the claim's own token its token, for the time that is left. DLOCK_OK:
	 * state, deadline and fencing_token are set. DLOCK_LOST: the lease is not that token's. After any other status it
	 * restores the old token without waiting, so that a caller can try again. NULL: leases are not detachable. */
	dlock_status (*attach)(dlock_claim *claim, const char *token, dlock_error *error);

	/* Asks the servers whether the claim holds the lock. DLOCK_OK: the state is HELD, the deadline as the servers say.
	 * DLOCK_LOST: it does not. NULL: the servers are never asked. */
	dlock_status (*check)(dlock_claim *claim, dlock_error *error);

	/* upgrade() makes a reader the writer in one step. `rest` is the token of a claim of all other permits, which ends
	 * with the call; NULL: there is none. DLOCK_TIMEOUT: other claims read. downgrade() makes the writer a reader.
	 * NULL: this back end has no writers. */
	dlock_status (*upgrade)(dlock_claim *claim, const char *rest, dlock_error *error);
	dlock_status (*downgrade)(dlock_claim *claim, dlock_error *error);

	/* Releases the lock. DLOCK_OK: the claim held it until now. DLOCK_LOST: it did not. After any other status the
	 * outcome is unknown. */
	dlock_status (*release)(dlock_claim *claim, dlock_error *error);

	/* Releases everything that the claim holds, waits for or may hold, without waiting for answers. Never fails: if no
	 * request can be sent, the lease time or the session ends the lock. */
	void (*abandon)(dlock_claim *claim);

	/* Requests the full lease time of a claim with a short lease, without waiting for the answer. NULL: no lease is
	 * short. */
	void (*top_up)(dlock_claim *claim);

	/* Updates claim->state and claim->deadline from memory, if another thread learns of losses. NULL: none does. */
	void (*refresh)(dlock_claim *claim);

	/* Returns a round that lets the renewal thread renew the lease (renewer.h), or NULL if out of memory. The member is
	 * NULL if the session is the lease. */
	struct dlock_renewal_round *(*new_round)(const dlock_claim *claim);

	/* Returns when the session, and so the lease, ends at the earliest, or DLOCK_OVER. Any thread may call it. NULL:
	 * the session is not the lease. */
	dlock_nanos (*bound)(const dlock_claim *claim);

	/* Is a lock of one name (prefix and resource together) the same lock for both back ends of this kind? NULL:
	 * always. */
	bool (*is_same)(const dlock_backend *a, const dlock_backend *b);

	/* Sets `locked` to whether any client holds the resource. */
	dlock_status (*locked)(
		dlock_backend *backend, const char *resource, size_t resource_len, bool *locked, dlock_error *error);

	/* Sets `permits` to the permits of the resource that no claim holds. NULL: a resource has one permit. */
	dlock_status (*available)(
		dlock_backend *backend, const char *resource, size_t resource_len, int64_t *permits, dlock_error *error);

	/* Adds the holders, and at most `most` waiters, to the empty inspection `out`, without disturbing them. The caller
	 * ends `out`. NULL: this back end cannot show them. */
	dlock_status (*inspect)(dlock_backend *backend, const char *resource, size_t resource_len, int most,
		dlock_inspection *out, dlock_error *error);

	/* Adds the locks that clients wait for, or have held for long. NULL: this back end cannot list locks. */
	dlock_status (*list)(dlock_backend *backend, int most, dlock_listing *out, dlock_error *error);

	/* Adds all locks that are held, by looking at all keys instead of an index. NULL: list() does the same. */
	dlock_status (*list_all)(dlock_backend *backend, int most, dlock_listing *out, dlock_error *error);

	/* Breaks the lock of the holder how->id. Returns
	 * - DLOCK_OK: the lock is free after `left`, and its holder stops relying on it before;
	 * - DLOCK_LOST, without a message: another client holds it, or none;
	 * - DLOCK_FAILED: this lock cannot be broken in this way.
	 * NULL: this back end cannot break locks. */
	dlock_status (*break_claim)(dlock_backend *backend, const char *resource, size_t resource_len,
		const dlock_break *how, dlock_nanos *left, dlock_error *error);

	/* Frees the memory that the claim owns besides itself, without telling a server. NULL: it owns none. */
	void (*dispose)(dlock_claim *claim);

	/* Frees the back end. Its connections and sessions belong to the pool and stay. NULL: free() does it. */
	void (*destroy)(dlock_backend *backend);
} dlock_backend_ops;

/* The first member of each back end's own struct. */
struct dlock_backend {
	const dlock_backend_ops *ops;
	unsigned references; /* of the manager object and of each claim */
	const char *kind;    /* names its locks in handles: `ops->name`, or a name for each of its kinds */
	bool legacy;         /* new tokens begin with DLOCK_TOKEN_LEGACY */
	dlock_arg prefix;    /* the names of its locks begin with it: any bytes */
	uint64_t prefix_hash; /* the hash of the prefix, which dlock_backend_hash() continues */
	int64_t capacity;    /* the permits of one resource in all; a lock has 1 */
	dlock_ttl_range ttls; /* those of `ops`, or fewer */
	const char *one_only; /* that of `ops`, or a reason of its own */
};

/* Initializes the members. The caller keeps the prefix for as long as the back end. */
void dlock_backend_init(dlock_backend *backend, const dlock_backend_ops *ops, const char *prefix, size_t prefix_len);

/* Allocates a back end: a struct of `size` bytes, zero except its first member, then a copy of the prefix. NULL if out
 * of memory. */
void *dlock_backend_new(const dlock_backend_ops *ops, size_t size, const char *prefix, size_t prefix_len);

/* Returns the prefix, the resource and a NUL in memory that the caller frees, or NULL if out of memory. */
char *dlock_backend_name(const dlock_backend *backend, const char *resource, size_t resource_len);

/* Are these resources of two back ends of one kind the same lock? */
bool dlock_backend_is_same_lock(const dlock_backend *a, dlock_name a_resource, const dlock_backend *b,
	dlock_name b_resource);

/* Hashes the prefix and the resource. Names of the same lock have the same hash. */
uint64_t dlock_backend_hash(const dlock_backend *backend, const char *resource, size_t resource_len);
/* Drops one reference; the last one frees the back end. */
void dlock_backend_release(dlock_backend *backend);

/* The lease times that the back end accepts. */
dlock_ttl_range dlock_backend_ttls(const dlock_backend *backend);

/* The part of a lease time on which its holder must not rely: the drift of clocks and the back end's margin. */
dlock_nanos dlock_set_aside(const dlock_backend *backend, dlock_nanos ttl);

#endif

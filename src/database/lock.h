#ifndef DLOCK_DATABASE_LOCK_H
#define DLOCK_DATABASE_LOCK_H

#include "../lock/claim.h"
#include "../lock/renewer.h"
#include "background.h"
#include "question.h"

/* What the files of the back end share. */

struct dlock_db_waiter;

typedef struct {
	dlock_backend base;
	dlock_net_pool *pool;
	dlock_db_session *session; /* owned by the pool */
} dlock_db_backend;

typedef struct {
	dlock_claim base;
	char *name; /* prefix and resource */
	size_t name_len;
	int64_t ticket; /* its place in the queue; 0: none */
	bool stray;     /* a request for its lock was not answered: the database may execute it after the release */
	struct dlock_db_waiter *waiter; /* during an acquisition; NULL otherwise */
} dlock_db_claim;

static inline dlock_db_backend *dlock_db_backend_of(const dlock_claim *claim)
{
	return (dlock_db_backend *) claim->backend;
}

/* The guard of the claim's own object, which bounds its lease times. Objects with other guards share its session. */
static inline dlock_nanos dlock_db_guard(const dlock_claim *claim)
{
	return claim->backend->ttls.most;
}

/* Makes a call for the claim's lock. Returns NULL if out of memory. */
dlock_db_call *dlock_db_claim_call(const dlock_claim *claim, dlock_db_function function, const char *token);

/* Sends the call and waits for its answer. The question owns the call from now on; NULL means out of memory. DLOCK_OK:
 * the call has its answer. DLOCK_CONNECTION or DLOCK_FAILED: with a message. The caller ends the question. */
dlock_status dlock_db_ask(
	const dlock_db_backend *backend, dlock_db_question *question, dlock_db_call *call, dlock_error *error);

/* Makes a call about a resource, not about one claim. Returns NULL if out of memory. */
dlock_db_call *dlock_db_resource_call(
	const dlock_db_backend *backend, dlock_db_function function, const char *resource, size_t len, const char *token);

/* Leaves the queue and releases what the claim may hold, without waiting for the answer. */
void dlock_db_give_back(dlock_claim *claim);

/* These implement the back-end interface (lock/backend.h). */
dlock_status dlock_db_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);

dlock_status dlock_db_inspect(dlock_backend *backend, const char *resource, size_t len, int most, dlock_inspection *out,
	dlock_error *error);
dlock_status dlock_db_list(dlock_backend *backend, int most, dlock_listing *out, dlock_error *error);
dlock_status dlock_db_break(dlock_backend *backend, const char *resource, size_t len, const dlock_break *how,
	dlock_nanos *left, dlock_error *error);

/* Ends the waiter. If its attempt was dropped in the middle, releases what that may have acquired. */
void dlock_db_end_waiter(dlock_claim *claim);

/* Makes the round by which the renewal thread renews a lease. `description` tells the database which process holds it,
 * and may be NULL. Returns NULL if out of memory. */
dlock_renewal_round *dlock_db_round_new(dlock_endpoint *server, const char *name, size_t name_len, const char *token,
	dlock_description *description);

#endif

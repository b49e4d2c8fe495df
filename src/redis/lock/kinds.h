#ifndef DLOCK_REDIS_KINDS_H
#define DLOCK_REDIS_KINDS_H

#include "../request/inspect_requests.h"
#include "../request/permits_requests.h"
#include "keep.h"
#include "wait.h"

/* The requests to the master of a slot about a lock, and those about permits. Everything else is the same for both
 * (service.h). The requests differ with the server: a lone one, one that fails over, and one whose replicas confirm
 * what it grants. */

/* What a claim's request is about, at the time when it is made. */
typedef struct {
	const dlock_claim *claim;
	dlock_keys keys;
	dlock_epoch_rule guard;
	bool replicated;            /* replicas confirm what the server grants */
	bool fifo;                  /* of permits: writers wait in the order in which they ask */
	const dlock_waiter *waiter; /* the claim's wait; a zeroed one if it does not wait */
	bool queues, counts;        /* if it is refused, it joins the queue; the script may just increment the fence */
} dlock_subject;

/* What the client reads from a grant, a refusal or an exchange. `pttl`: ms left. */
typedef struct {
	dlock_response refusal;
	int64_t fencing_token, permits, pttl;
} dlock_said;

/* If replicas confirm, a key outlives its lease by this time, because a promoted server expires it by its own clock.
 * settle_now.lua has the number, too. */
#define DLOCK_CLOCK_MARGIN DLOCK_SECOND

/* The requests are NULL when out of memory. The readers return DLOCK_CONNECTION if there is no usable reply. */
typedef struct {
	/* Asks for the lock or the permits. DLOCK_LOST: the server refuses. */
	dlock_call *(*acquire)(const dlock_subject *subject);
	dlock_status (*read_acquire)(const dlock_call *call, const dlock_conn *conn, dlock_said *said, dlock_error *error);

	/* Sent after a WAIT, because replicas may have attached: does the grant still count? `old`: see dlock_epoch.
	 * `final`: if it does not, the server releases it. */
	dlock_call *(*unchanged)(const dlock_subject *subject, const char *old, bool final);

	/* Releases the lock. With `leaves`, a claim that waits also leaves the queue. */
	dlock_call *(*release)(const dlock_subject *subject, bool leaves);

	/* Leaves the queue. A number of more than 0: the server granted the lock in that instant. The claim holds it then
	 * only if leave_grants() is true. */
	dlock_call *(*leave)(const dlock_subject *subject);
	bool (*leave_grants)(const dlock_subject *subject);

	/* The first makes the old token's lease the claim's, the second reverses that. DLOCK_LOST: it is not that
	 * token's. */
	dlock_call *(*exchange)(const dlock_subject *subject, const char *old);
	dlock_call *(*exchange_back)(const dlock_subject *subject, const char *old);
	dlock_status (*read_exchange)(
		const dlock_call *call, const dlock_conn *conn, dlock_said *said, dlock_error *error);

	/* `upgrade` makes a reader the writer. `rest` is the token of a claim that was granted all other permits; NULL:
	 * there is none yet. DLOCK_LOST with position -1: other clients read. `downgrade` makes the writer a reader. Both
	 * are NULL for locks. */
	dlock_call *(*upgrade)(const dlock_subject *subject, const char *rest);
	dlock_call *(*downgrade)(const dlock_subject *subject);

	/* Asks for the ms that are left. DLOCK_LOST: it is not the claim's. */
	dlock_call *(*check)(const dlock_subject *subject);
	dlock_status (*read_check)(const dlock_call *call, const dlock_conn *conn, int64_t *pttl, dlock_error *error);

	/* Asks whether any claim holds it, and how many permits of `capacity` are free. */
	dlock_call *(*counts)(dlock_arg key, int64_t capacity);
	dlock_status (*read_counts)(
		const dlock_call *call, const dlock_conn *conn, bool *held, int64_t *available, dlock_error *error);

	/* For operators; see inspect.c. */
	const char *noun; /* in messages */
	dlock_call *(*inspect)(dlock_keys keys, int most);
	dlock_status (*read_inspection)(
		const dlock_call *call, const dlock_conn *conn, dlock_inspection *out, dlock_error *error);
	dlock_call *(*break_claim)(dlock_keys keys, const char *id, const char *by, bool now);

	/* Grants carry the number of a request modulo this number. */
	int64_t numbers;

	/* Other clients reclaim a lease only after it has expired. So a release that finds nothing proves that it had
	 * expired. */
	bool lasts;

	const dlock_keeping *alone, *fails_over, *replicated;
} dlock_kind;

extern const dlock_kind dlock_locks, dlock_permits;
/* Several locks at once: for claims of a back end whose kind is dlock_locks. */
extern const dlock_kind dlock_several_locks;

#endif

#ifndef DLOCK_REDIS_KINDS_H
#define DLOCK_REDIS_KINDS_H

#include "../request/inspect_requests.h"
#include "../request/permits_requests.h"
#include "keep.h"
#include "wait.h"

/* What is said to the master of a slot about a lock, and what about permits. Everything else is the same for both
 * (service.h). What is said differs with the server: one that is alone, one that fails over, and one whose replicas
 * confirm what it grants. */

/* What a claim says is about itself, as it is when the request is made. */
typedef struct {
	const dlock_claim *claim;
	dlock_keys keys;
	dlock_epoch_rule guard;
	bool replicated;            /* replicas confirm it */
	bool fifo;                  /* of permits: writers wait in the order of asking */
	const dlock_waiter *waiter; /* how it asks for it */
	bool queues, counts;        /* with a place in the queue; the fence may just count on */
} dlock_subject;

/* What is read from a grant, a refusal, an exchange. */
typedef struct {
	dlock_response refusal;
	int64_t fencing_token, permits, pttl;
} dlock_said;

/* A key outlives its lease by so much where replicas confirm: a server that is promoted ends it by its own clock.
 * settle_now.lua has the number, too. */
#define DLOCK_CLOCK_MARGIN DLOCK_SECOND

/* Requests are NULL when out of memory. */
typedef struct {
	/* Asks for it. DLOCK_LOST: refused. */
	dlock_call *(*acquire)(const dlock_subject *subject);
	dlock_status (*read_acquire)(const dlock_call *call, const dlock_conn *conn, dlock_said *said, dlock_error *error);

	/* Behind a WAIT, where replicas attach: is all as it was? `old`: of an exchange; `final`: if not, it is given
	 * back. */
	dlock_call *(*unchanged)(const dlock_subject *subject, const char *old, bool final);

	/* Gives it back; with `leaves` also its place in the queue, where it waits. */
	dlock_call *(*release)(const dlock_subject *subject, bool leaves);

	/* Out of the queue. More than 0: it was granted in that instant; only with `leave_grants` it has it then. */
	dlock_call *(*leave)(const dlock_subject *subject);
	bool (*leave_grants)(const dlock_subject *subject);

	/* The old token's lease becomes the claim's, and back. */
	dlock_call *(*exchange)(const dlock_subject *subject, const char *old);
	dlock_call *(*exchange_back)(const dlock_subject *subject, const char *old);
	dlock_status (*read_exchange)(
		const dlock_call *call, const dlock_conn *conn, dlock_said *said, dlock_error *error);

	/* A reader becomes the writer, with what `rest` has been granted (NULL: nothing yet); the writer becomes a reader.
	 * DLOCK_LOST of the first: position -1 where others read. NULL: of permits only. */
	dlock_call *(*upgrade)(const dlock_subject *subject, const char *rest);
	dlock_call *(*downgrade)(const dlock_subject *subject);

	/* The ms left. */
	dlock_call *(*check)(const dlock_subject *subject);
	dlock_status (*read_check)(const dlock_call *call, const dlock_conn *conn, int64_t *pttl, dlock_error *error);

	/* Is it held? More than 0: yes; and how much of `capacity` is free. */
	dlock_call *(*counts)(dlock_arg key, int64_t capacity);
	dlock_status (*read_counts)(
		const dlock_call *call, const dlock_conn *conn, bool *held, int64_t *available, dlock_error *error);

	/* For those who look. */
	const char *noun; /* what it is called */
	dlock_call *(*inspect)(dlock_keys keys, int most);
	dlock_status (*read_inspection)(
		const dlock_call *call, const dlock_conn *conn, dlock_inspection *out, dlock_error *error);
	dlock_call *(*break_claim)(dlock_keys keys, const char *id, const char *by, bool now);

	/* The numbers of requests that come with grants begin again here. */
	int64_t numbers;

	/* A release that finds nothing proves that the lease was over before: until then no client takes it back. */
	bool lasts;

	const dlock_keeping *alone, *fails_over, *replicated;
} dlock_kind;

extern const dlock_kind dlock_locks, dlock_permits;
/* Several locks at once, of claims of a back end whose kind is dlock_locks. */
extern const dlock_kind dlock_several_locks;

#endif

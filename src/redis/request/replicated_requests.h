#ifndef DLOCK_REDIS_REPLICATED_REQUESTS_H
#define DLOCK_REDIS_REPLICATED_REQUESTS_H

#include "requests.h"

/* requests.h for servers that fail over: what is granted depends on the server's era (lua/era.lua). The guard is in the
 * requests' unit of time. */

/* What an era waits for, with the server's options. */
typedef struct {
	dlock_nanos time;
	bool resyncs; /* it is opened anew where a replica takes a full copy */
} dlock_guard;

dlock_call *dlock_request_acquire_replicated(dlock_keys keys, const dlock_attempt *attempt, dlock_guard guard);

/* Behind the WAIT of an acquire, or of an exchange of that `old` token: is it still the era that it was granted in? */
dlock_call *dlock_request_unchanged(dlock_keys keys, const char *token, const char *old, dlock_guard guard);

/* Of acquire, exchange, unchanged and look: what of the era keeps the server from granting. The texts live as long as
 * the call. */
typedef struct {
	bool unsettled;
	int64_t left; /* ms until it is settled; negative: its opening is to be confirmed, then it can be settled. Of look
					 0: it is settled */
	const char *replid;  /* that it was opened for */
	const char *settles; /* of era.lua */
	int64_t waited;      /* of look: ms; and */
	const char *copies;  /* the full copies until then */
} dlock_era;

/* `with`: what look has told; NULL: by itself. */
dlock_call *dlock_request_settle(dlock_keys keys, const dlock_era *era, dlock_guard guard, const dlock_era *with);
/* Of a cluster, with the keys of a slot. */
dlock_call *dlock_request_look(dlock_keys keys, dlock_guard guard, int slot, const dlock_era *era);

/* A lease time of 0 just asks. `shortens`: also where more is left. */
dlock_call *dlock_request_keep(dlock_keys keys, const char *token, dlock_nanos ttl, bool shortens);
/* A lease time of 0: it is given back, and DLOCK_OK means that it was the holder's until then. */
dlock_call *dlock_request_restore(
	dlock_keys keys, const char *token, dlock_nanos ttl, int64_t fencing_token, dlock_nanos guard);
/* A release with one key. */
dlock_call *dlock_request_drop(dlock_keys keys, const char *token);
dlock_call *dlock_request_exchange_replicated(
	dlock_keys keys, const char *old, const char *new_token, dlock_guard guard);

/* Of acquire, exchange, unchanged and look; not `unsettled` where it is settled, or the call was not answered. */
dlock_era dlock_read_era(const dlock_call *call);

typedef enum { DLOCK_KEY_OWN, DLOCK_KEY_FOREIGN, DLOCK_KEY_MISSING } dlock_key_state;

/* Of keep. DLOCK_OK: the state is known. */
dlock_status dlock_read_keep(
	const dlock_call *call, const dlock_conn *conn, dlock_key_state *state, dlock_error *error);

/* Why nothing is granted for so long, for messages: "... was promoted, restarted or set up, or a replica ...". */
void dlock_explain_era(const dlock_conn *conn, int64_t left, dlock_nanos guard, dlock_error *error);

#endif

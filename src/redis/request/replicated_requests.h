#ifndef DLOCK_REDIS_REPLICATED_REQUESTS_H
#define DLOCK_REDIS_REPLICATED_REQUESTS_H

#include "requests.h"

/* requests.h for servers that fail over: what is granted depends on the server's epoch (epoch.lua). */

/* Of acquire, exchange, unchanged and look; not `open` where it is settled, or the call was not answered. */
dlock_epoch_state dlock_read_epoch(const dlock_call *call);

typedef enum { DLOCK_KEY_OWN, DLOCK_KEY_FOREIGN, DLOCK_KEY_MISSING } dlock_key_state;

/* Of keep. DLOCK_OK: the state is known. */
dlock_status dlock_read_keep(
	const dlock_call *call, const dlock_conn *conn, dlock_key_state *state, dlock_error *error);

/* Why nothing is granted for so long, for messages: "... was promoted, restarted or set up ...". */
void dlock_explain_epoch(const dlock_conn *conn, int64_t left, dlock_error *error);

#endif

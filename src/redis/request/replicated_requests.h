#ifndef DLOCK_REDIS_REPLICATED_REQUESTS_H
#define DLOCK_REDIS_REPLICATED_REQUESTS_H

#include "requests.h"

/* requests.h for servers that fail over: the server's epoch decides what it grants (epoch.lua). */

/* Reads the epoch from the reply to acquire, exchange, unchanged or look. `open` is false if the epoch is settled, or
 * if the call was not answered. */
dlock_epoch_state dlock_read_epoch(const dlock_call *call);

typedef enum { DLOCK_KEY_OWN, DLOCK_KEY_FOREIGN, DLOCK_KEY_MISSING } dlock_key_state;

/* Reads the reply to keep. DLOCK_OK: the state is known. */
dlock_status dlock_read_keep(
	const dlock_call *call, const dlock_conn *conn, dlock_key_state *state, dlock_error *error);

/* Explains in a message why no lock is granted for so long: "... was promoted, restarted or set up ...". */
void dlock_explain_epoch(const dlock_conn *conn, int64_t left, dlock_error *error);

#endif

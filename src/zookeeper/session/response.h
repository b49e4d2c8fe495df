#ifndef DLOCK_ZK_RESPONSE_H
#define DLOCK_ZK_RESPONSE_H

#include "op.h"

/* How the owner waits for responses, and what they mean. `op` may be NULL everywhere: that means out of memory
 * (DLOCK_FAILED). */

/* True if the library responded instead of the server because the connection broke. The server may have executed the
 * request. */
bool dlock_zk_is_loss(int rc);

/* True if it did so because the session has ended. */
bool dlock_zk_is_dead(int rc);

/* Waits for the response, for at most one session timeout. DLOCK_OK: op->rc is the result. DLOCK_CONNECTION: no
 * response came in time, with a message. DLOCK_INTERRUPTED: `wait` ended the wait. */
dlock_status dlock_zk_response(dlock_zk_op *op, const dlock_wait *wait, dlock_error *error);

/* The same for requests that can safely be repeated. DLOCK_OK and *op set: its result is ZOK or ZNONODE. DLOCK_OK and
 * *op NULL: once the session is connected, the caller repeats the request. After any other status *op is NULL. */
dlock_status dlock_zk_response_or_repeat(
	dlock_zk_op **op, const char *path, const dlock_wait *wait, dlock_error *error);

/* Translates an error. DLOCK_OK: the connection or the session is gone, and the caller tries again with another one.
 * DLOCK_CONNECTION: with a message. */
dlock_status dlock_zk_failure(const dlock_zk_session *session, int rc, const char *path, dlock_error *error);

/* Says that no response came within the session timeout, or why there is no connection. Returns DLOCK_CONNECTION. */
dlock_status dlock_zk_no_response(dlock_zk_session *session, dlock_error *error);

#endif

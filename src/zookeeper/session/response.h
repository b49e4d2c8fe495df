#ifndef DLOCK_ZK_RESPONSE_H
#define DLOCK_ZK_RESPONSE_H

#include "op.h"

/* What the owner makes of responses, which it waits for here. `op` may be NULL everywhere: out of memory. */

/* Did the library respond for the server because the connection broke? Then the request may have been executed. */
bool dlock_zk_is_loss(int rc);

/* ... because the session is over? */
bool dlock_zk_is_dead(int rc);

/* Waits for the response, for one session timeout at most. DLOCK_OK: look at op->rc. */
dlock_status dlock_zk_response(dlock_zk_op *op, const dlock_wait *wait, dlock_error *error);

/* The same for requests that can simply be made again. DLOCK_OK and *op set: it is ZOK or ZNONODE. DLOCK_OK and *op
 * NULL: make it again, once the session is connected. Otherwise *op is NULL and there is a message. */
dlock_status dlock_zk_response_or_repeat(
	dlock_zk_op **op, const char *path, const dlock_wait *wait, dlock_error *error);

/* What a response that is an error comes to. DLOCK_OK: the connection or the session is gone; get one and try again. */
dlock_status dlock_zk_failure(const dlock_zk_session *session, int rc, const char *path, dlock_error *error);

dlock_status dlock_zk_no_response(const dlock_zk_session *session, dlock_error *error);

#endif

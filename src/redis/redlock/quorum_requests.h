#ifndef DLOCK_REDIS_QUORUM_REQUESTS_H
#define DLOCK_REDIS_QUORUM_REQUESTS_H

#include "../request/requests.h"

/* What one server is asked about a lock, or about several at once (keys.several). Its answer is for all of them: they
 * are the token's, or not. Each request is NULL when out of memory. */

dlock_call *dlock_quorum_request_acquire(dlock_keys keys, const dlock_attempt *attempt);
dlock_call *dlock_quorum_request_raise(dlock_keys keys, const char *token, int64_t fencing_token);
dlock_call *dlock_quorum_request_check(dlock_keys keys, const char *token);
dlock_call *dlock_quorum_request_extend(dlock_keys keys, const char *token, dlock_nanos ttl);
dlock_call *dlock_quorum_request_renew(dlock_keys keys, const char *token, dlock_nanos ttl);

/* `waiter`: its name in the queue, which is not notified; NULL: any may be. Of several locks, this releases those that
 * are still held. */
dlock_call *dlock_quorum_request_release(dlock_keys keys, const char *token, const char *waiter);
dlock_call *dlock_quorum_request_leave(dlock_keys keys, const char *waiter);

dlock_call *dlock_quorum_request_exchange(
	dlock_keys keys, const char *old, const char *new_token, int64_t least_fencing_token);

dlock_call *dlock_quorum_request_repair(dlock_keys keys, const char *token, dlock_nanos ttl, int64_t fencing_token);
/* For one lock, this uses no other member of `keys` than the lock. */
dlock_call *dlock_quorum_request_undo_repair(dlock_keys keys, const char *token);

#endif

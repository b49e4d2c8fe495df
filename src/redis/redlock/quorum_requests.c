#include "quorum_requests.h"

/* No server here is part of a cluster, so one script may use the keys of several locks. */

dlock_call *dlock_quorum_request_acquire(dlock_keys keys, const dlock_attempt *attempt)
{
	return keys.several ? dlock_request_several_acquire(keys.several->keys, keys.several->count, attempt)
						: dlock_request_acquire(keys, attempt);
}

dlock_call *dlock_quorum_request_raise(dlock_keys keys, const char *token, int64_t fencing_token)
{
	return keys.several
		? dlock_request_several_raise(keys.several->keys, keys.several->count, token, fencing_token, false)
		: dlock_request_raise(keys, token, fencing_token);
}

dlock_call *dlock_quorum_request_check(dlock_keys keys, const char *token)
{
	return keys.several
		? dlock_request_several_keep(keys.several->locks, keys.several->lock_count, token, 0, false)
		: dlock_request_check(keys, token);
}

dlock_call *dlock_quorum_request_extend(dlock_keys keys, const char *token, dlock_nanos ttl)
{
	return keys.several
		? dlock_request_several_keep(keys.several->locks, keys.several->lock_count, token, ttl, true)
		: dlock_request_extend(keys, token, ttl);
}

dlock_call *dlock_quorum_request_renew(dlock_keys keys, const char *token, dlock_nanos ttl)
{
	return keys.several
		? dlock_request_several_keep(keys.several->locks, keys.several->lock_count, token, ttl, false)
		: dlock_request_renew(keys, token, ttl);
}

dlock_call *dlock_quorum_request_release(dlock_keys keys, const char *token, const char *waiter)
{
	return keys.several
		? dlock_request_several_release(keys.several->keys, keys.several->count, token, false, false, waiter)
		: dlock_request_release(keys, token, false, waiter, false);
}

dlock_call *dlock_quorum_request_leave(dlock_keys keys, const char *waiter)
{
	return keys.several ? dlock_request_several_leave(keys.several->keys, keys.several->count, waiter)
						: dlock_request_leave(keys, waiter, false);
}

dlock_call *dlock_quorum_request_exchange(
	dlock_keys keys, const char *old, const char *new_token, int64_t least_fencing_token)
{
	return keys.several ? dlock_request_several_exchange(
							  keys.several->keys, keys.several->count, old, new_token, least_fencing_token)
						: dlock_request_exchange(keys, old, new_token, least_fencing_token);
}

dlock_call *dlock_quorum_request_repair(dlock_keys keys, const char *token, dlock_nanos ttl, int64_t fencing_token)
{
	return keys.several
		? dlock_request_several_repair(keys.several->keys, keys.several->count, token, ttl, fencing_token)
		: dlock_request_repair(keys, token, ttl, fencing_token);
}

dlock_call *dlock_quorum_request_undo_repair(dlock_keys keys, const char *token)
{
	return keys.several ? dlock_quorum_request_release(keys, token, NULL)
						: dlock_request_extend(keys, token, DLOCK_MS);
}

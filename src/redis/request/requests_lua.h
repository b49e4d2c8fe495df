/* Made from the heads of src/redis/script/lua by scripts/gen-lua.sh, which says how: change the scripts there. */

#ifndef DLOCK_REDIS_REQUESTS_LUA_H
#define DLOCK_REDIS_REQUESTS_LUA_H

#include "arguments.h"

/* Each script as a call that is not sent yet; NULL when out of memory. See its file for what it takes, does and
 * replies. */

static inline dlock_call *dlock_request_acquire(dlock_keys keys, const dlock_attempt *attempt)
{
	return dlock_call_script(DLOCK_SCRIPT_ACQUIRE, 4, (dlock_arg[]) { keys.lock, dlock_fence_of(keys), keys.queue,
		keys.waiters, DLOCK_AS_TEXT(attempt->token), DLOCK_AS_LEASE(attempt->ttl),
		DLOCK_AS_INT(attempt->least_fencing_token), DLOCK_AS_TEXT(attempt->grant ? "" : "0"),
		DLOCK_AS_INBOX(attempt->inbox, attempt->description), DLOCK_AS_COUNT(attempt->ticket),
		attempt->inbox ? DLOCK_AS_INT(attempt->number) : DLOCK_NOTHING, DLOCK_AS_TEXT(attempt->waiter),
		DLOCK_AS_TEXT(attempt->legacy ? "1" : ""), DLOCK_AS_TEXT(attempt->unnotified ? "1" : "") }, 14, 6);
}

static inline dlock_call *dlock_request_acquire_replicated(dlock_keys keys, const dlock_attempt *attempt,
		dlock_epoch_rule guard)
{
	return dlock_call_script(DLOCK_SCRIPT_ACQUIRE_REPLICATED, 5, (dlock_arg[]) { keys.lock, dlock_fence_of(keys),
		keys.queue, keys.waiters, dlock_epoch_key(keys), DLOCK_AS_TEXT(attempt->token), DLOCK_AS_LEASE(attempt->ttl),
		DLOCK_AS_MS(guard.time), DLOCK_AS_TEXT(guard.resyncs ? "" : "-"), DLOCK_AS_INBOX(attempt->inbox,
		attempt->description), attempt->inbox ? DLOCK_AS_COUNT(attempt->ticket) : DLOCK_NOTHING,
		attempt->inbox ? DLOCK_AS_INT(attempt->number) : DLOCK_NOTHING }, 12, 8);
}

static inline dlock_call *dlock_request_break(dlock_keys keys, const char *id, const char *by, bool now, bool grant)
{
	return dlock_call_script(DLOCK_SCRIPT_BREAK, 4, (dlock_arg[]) { keys.lock, dlock_fence_of(keys), keys.queue,
		keys.waiters, DLOCK_AS_TEXT(id), DLOCK_AS_TEXT(by), DLOCK_AS_TEXT(now ? "1" : ""),
		DLOCK_AS_TEXT(grant ? "" : "0") }, 8, 7);
}

static inline dlock_call *dlock_request_check(dlock_keys keys, const char *token)
{
	return dlock_call_script(DLOCK_SCRIPT_CHECK, 1, (dlock_arg[]) { keys.lock, DLOCK_AS_TEXT(token) }, 2, 2);
}

static inline dlock_call *dlock_request_describe(dlock_keys keys, const char *id, const char *text, dlock_nanos ttl,
		bool many)
{
	return dlock_call_script(DLOCK_SCRIPT_DESCRIBE, 3, (dlock_arg[]) { keys.lock, keys.held, DLOCK_SEEN(keys),
		DLOCK_AS_TEXT(id), DLOCK_AS_TEXT(text), DLOCK_AS_LEASE(ttl), DLOCK_AS_TEXT(many ? "1" : "") }, 7, 7);
}

static inline dlock_call *dlock_request_drop(dlock_keys keys, const char *token)
{
	return dlock_call_script(DLOCK_SCRIPT_DROP, 1, (dlock_arg[]) { keys.lock, DLOCK_AS_TEXT(token) }, 2, 2);
}

static inline dlock_call *dlock_request_epoch_of(dlock_keys keys, dlock_epoch_rule guard, int64_t slot,
		const dlock_epoch_state *epoch, bool notes)
{
	return dlock_call_script(DLOCK_SCRIPT_EPOCH_OF, 2, (dlock_arg[]) { dlock_epoch_key(keys), DLOCK_SLOTS(keys),
		DLOCK_AS_MS(guard.time), DLOCK_AS_TEXT(guard.resyncs ? "" : "-"), DLOCK_AS_INT(slot),
		DLOCK_AS_TEXT(epoch->settles), DLOCK_AS_TEXT(notes ? "1" : "") }, 7, 6);
}

static inline dlock_call *dlock_request_exchange(dlock_keys keys, const char *old, const char *new_token,
		int64_t least_fencing_token)
{
	return dlock_call_script(DLOCK_SCRIPT_EXCHANGE, 2, (dlock_arg[]) { keys.lock, dlock_fence_of(keys),
		DLOCK_AS_TEXT(old), DLOCK_AS_TEXT(new_token), DLOCK_AS_INT(least_fencing_token) }, 5, 5);
}

static inline dlock_call *dlock_request_exchange_replicated(dlock_keys keys, const char *old, const char *new_token,
		int64_t least_fencing_token, dlock_epoch_rule guard)
{
	return dlock_call_script(DLOCK_SCRIPT_EXCHANGE_REPLICATED, 3, (dlock_arg[]) { keys.lock, dlock_fence_of(keys),
		dlock_epoch_key(keys), DLOCK_AS_TEXT(old), DLOCK_AS_TEXT(new_token), DLOCK_AS_INT(least_fencing_token),
		DLOCK_AS_MS(guard.time), DLOCK_AS_TEXT(guard.resyncs ? "" : "-") }, 8, 7);
}

static inline dlock_call *dlock_request_extend(dlock_keys keys, const char *token, dlock_nanos ttl)
{
	return dlock_call_script(DLOCK_SCRIPT_EXTEND, 1, (dlock_arg[]) { keys.lock, DLOCK_AS_TEXT(token),
		DLOCK_AS_LEASE(ttl) }, 3, 3);
}

static inline dlock_call *dlock_request_inspect(dlock_keys keys, int64_t most)
{
	return dlock_call_script(DLOCK_SCRIPT_INSPECT, 4, (dlock_arg[]) { keys.lock, keys.queue, keys.waiters, keys.held,
		DLOCK_AS_INT(most) }, 5, 5);
}

static inline dlock_call *dlock_request_keep(dlock_keys keys, const char *token, dlock_nanos ttl, bool shortens)
{
	return dlock_call_script(DLOCK_SCRIPT_KEEP, 1, (dlock_arg[]) { keys.lock, DLOCK_AS_TEXT(token), DLOCK_AS_MS(ttl),
		DLOCK_AS_TEXT(shortens ? "1" : "0") }, 4, 4);
}

static inline dlock_call *dlock_request_leave(dlock_keys keys, const char *waiter, bool grant)
{
	return dlock_call_script(DLOCK_SCRIPT_LEAVE, 4, (dlock_arg[]) { keys.lock, dlock_fence_of(keys), keys.queue,
		keys.waiters, DLOCK_AS_TEXT(waiter), DLOCK_AS_TEXT(grant ? "" : "0") }, 6, 5);
}

static inline dlock_call *dlock_request_permits_acquire(dlock_arg pool, const dlock_permits_attempt *attempt)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_ACQUIRE, 1, (dlock_arg[]) { pool, DLOCK_AS_TEXT(attempt->id),
		DLOCK_AS_INT(attempt->permits), DLOCK_AS_COUNT(attempt->capacity), DLOCK_AS_LEASE(attempt->ttl),
		DLOCK_AS_INBOX(attempt->inbox, attempt->description), DLOCK_AS_INT(attempt->ticket),
		DLOCK_AS_INT(attempt->number), DLOCK_AS_TEXT(attempt->fifo ? "1" : ""), DLOCK_AS_COUNT(attempt->own) }, 10, 8);
}

static inline dlock_call *dlock_request_permits_acquire_replicated(dlock_keys keys,
		const dlock_permits_attempt *attempt, dlock_epoch_rule guard)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_ACQUIRE_REPLICATED, 2, (dlock_arg[]) { keys.lock,
		dlock_epoch_key(keys), DLOCK_AS_TEXT(attempt->id), DLOCK_AS_INT(attempt->permits),
		DLOCK_AS_COUNT(attempt->capacity), DLOCK_AS_LEASE(attempt->ttl), DLOCK_AS_INBOX(attempt->inbox,
		attempt->description), DLOCK_AS_INT(attempt->ticket), DLOCK_AS_INT(attempt->number),
		DLOCK_AS_TEXT(attempt->fifo ? "1" : ""), DLOCK_AS_MS(guard.time), DLOCK_AS_TEXT(guard.resyncs ? "" : "-"),
		DLOCK_AS_COUNT(attempt->own) }, 13, 12);
}

static inline dlock_call *dlock_request_permits_break(dlock_arg pool, const char *id, const char *by, bool now)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_BREAK, 1, (dlock_arg[]) { pool, DLOCK_AS_TEXT(id), DLOCK_AS_TEXT(by),
		DLOCK_AS_TEXT(now ? "1" : "") }, 4, 4);
}

static inline dlock_call *dlock_request_permits_check(dlock_arg pool, const char *id)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_CHECK, 1, (dlock_arg[]) { pool, DLOCK_AS_TEXT(id) }, 2, 2);
}

static inline dlock_call *dlock_request_permits_counts(dlock_arg pool, int64_t capacity)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_COUNTS, 1, (dlock_arg[]) { pool, DLOCK_AS_COUNT(capacity) }, 2, 2);
}

static inline dlock_call *dlock_request_permits_downgrade(dlock_arg pool, const char *id, dlock_nanos ttl)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_DOWNGRADE, 1, (dlock_arg[]) { pool, DLOCK_AS_TEXT(id),
		DLOCK_AS_LEASE(ttl) }, 3, 3);
}

static inline dlock_call *dlock_request_permits_downgrade_replicated(dlock_keys keys, const char *id, dlock_nanos ttl,
		dlock_epoch_rule guard)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_DOWNGRADE_REPLICATED, 2, (dlock_arg[]) { keys.lock,
		dlock_epoch_key(keys), DLOCK_AS_TEXT(id), DLOCK_AS_LEASE(ttl), DLOCK_AS_MS(guard.time) }, 5, 5);
}

static inline dlock_call *dlock_request_permits_drop(dlock_arg pool, const char *id)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_DROP, 1, (dlock_arg[]) { pool, DLOCK_AS_TEXT(id) }, 2, 2);
}

static inline dlock_call *dlock_request_permits_exchange(dlock_arg pool, const char *old, const char *new_id)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_EXCHANGE, 1, (dlock_arg[]) { pool, DLOCK_AS_TEXT(old),
		DLOCK_AS_TEXT(new_id) }, 3, 3);
}

static inline dlock_call *dlock_request_permits_exchange_replicated(dlock_keys keys, const char *old,
		const char *new_id, dlock_epoch_rule guard, int64_t capacity)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_EXCHANGE_REPLICATED, 2, (dlock_arg[]) { keys.lock,
		dlock_epoch_key(keys), DLOCK_AS_TEXT(old), DLOCK_AS_TEXT(new_id), DLOCK_AS_MS(guard.time),
		DLOCK_AS_TEXT(guard.resyncs ? "" : "-"), DLOCK_AS_INT(capacity) }, 7, 7);
}

static inline dlock_call *dlock_request_permits_inspect(dlock_keys keys, int64_t most)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_INSPECT, 2, (dlock_arg[]) { keys.lock, keys.held,
		DLOCK_AS_INT(most) }, 3, 3);
}

static inline dlock_call *dlock_request_permits_keep(dlock_arg pool, const char *id, dlock_nanos ttl, bool shortens,
		int64_t permits)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_KEEP, 1, (dlock_arg[]) { pool, DLOCK_AS_TEXT(id), DLOCK_AS_MS(ttl),
		DLOCK_AS_TEXT(shortens ? "1" : "0"), DLOCK_AS_INT(permits) }, 5, 5);
}

static inline dlock_call *dlock_request_permits_leave(dlock_arg pool, const dlock_permits_attempt *attempt)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_LEAVE, 1, (dlock_arg[]) { pool, DLOCK_AS_TEXT(attempt->id),
		DLOCK_AS_INT(attempt->permits), DLOCK_AS_COUNT(attempt->capacity), DLOCK_AS_INBOX(attempt->inbox,
		attempt->description) }, 5, 5);
}

static inline dlock_call *dlock_request_permits_release(dlock_arg pool, const dlock_permits_attempt *attempt)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_RELEASE, 1, (dlock_arg[]) { pool, DLOCK_AS_TEXT(attempt->id),
		attempt->inbox ? DLOCK_AS_INT(attempt->permits) : DLOCK_NOTHING,
		attempt->inbox ? DLOCK_AS_COUNT(attempt->capacity) : DLOCK_NOTHING, DLOCK_AS_INBOX(attempt->inbox,
		attempt->description) }, 5, 2);
}

static inline dlock_call *dlock_request_permits_release_replicated(dlock_keys keys,
		const dlock_permits_attempt *attempt, dlock_epoch_rule guard)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_RELEASE_REPLICATED, 2, (dlock_arg[]) { keys.lock,
		dlock_epoch_key(keys), DLOCK_AS_TEXT(attempt->id), DLOCK_AS_MS(guard.time),
		attempt->inbox ? DLOCK_AS_INT(attempt->permits) : DLOCK_NOTHING,
		attempt->inbox ? DLOCK_AS_COUNT(attempt->capacity) : DLOCK_NOTHING, DLOCK_AS_INBOX(attempt->inbox,
		attempt->description) }, 7, 4);
}

static inline dlock_call *dlock_request_permits_renew(dlock_arg pool, const char *id, dlock_nanos ttl, bool only_longer)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_RENEW, 1, (dlock_arg[]) { pool, DLOCK_AS_TEXT(id),
		DLOCK_AS_LEASE(ttl), DLOCK_AS_TEXT(only_longer ? "1" : "0") }, 4, 4);
}

static inline dlock_call *dlock_request_permits_restore(dlock_keys keys, const char *id, dlock_nanos ttl,
		int64_t fencing_token, dlock_nanos guard, int64_t permits)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_RESTORE, 2, (dlock_arg[]) { keys.lock, dlock_epoch_key(keys),
		DLOCK_AS_TEXT(id), DLOCK_AS_MS(ttl), DLOCK_AS_INT(fencing_token), DLOCK_AS_MS(guard), DLOCK_AS_INT(permits) },
		7, 7);
}

static inline dlock_call *dlock_request_permits_unchanged(dlock_keys keys, const char *id, dlock_epoch_rule guard,
		const char *old, bool final)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_UNCHANGED, 2, (dlock_arg[]) { keys.lock, dlock_epoch_key(keys),
		DLOCK_AS_TEXT(id), DLOCK_AS_MS(guard.time), DLOCK_AS_TEXT(old), DLOCK_AS_TEXT(final ? "1" : "") }, 6, 4);
}

static inline dlock_call *dlock_request_permits_upgrade(dlock_arg pool, const char *id, dlock_nanos ttl,
		const char *rest)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_UPGRADE, 1, (dlock_arg[]) { pool, DLOCK_AS_TEXT(id),
		DLOCK_AS_LEASE(ttl), DLOCK_AS_TEXT(rest) }, 4, 3);
}

static inline dlock_call *dlock_request_permits_upgrade_replicated(dlock_keys keys, const char *id, dlock_nanos ttl,
		const char *rest, dlock_epoch_rule guard)
{
	return dlock_call_script(DLOCK_SCRIPT_PERMITS_UPGRADE_REPLICATED, 2, (dlock_arg[]) { keys.lock,
		dlock_epoch_key(keys), DLOCK_AS_TEXT(id), DLOCK_AS_LEASE(ttl), DLOCK_AS_TEXT(rest), DLOCK_AS_MS(guard.time),
		DLOCK_AS_TEXT(guard.resyncs ? "" : "-") }, 7, 7);
}

static inline dlock_call *dlock_request_raise(dlock_keys keys, const char *token, int64_t fencing_token)
{
	return dlock_call_script(DLOCK_SCRIPT_RAISE, 2, (dlock_arg[]) { keys.lock, dlock_fence_of(keys),
		DLOCK_AS_TEXT(token), DLOCK_AS_INT(fencing_token) }, 4, 4);
}

static inline dlock_call *dlock_request_release(dlock_keys keys, const char *token, bool grant, const char *waiter,
		bool leaves)
{
	return dlock_call_script(DLOCK_SCRIPT_RELEASE, 4, (dlock_arg[]) { keys.lock, dlock_fence_of(keys), keys.queue,
		keys.waiters, DLOCK_AS_TEXT(token), DLOCK_AS_TEXT(grant ? "" : "0"), DLOCK_AS_TEXT(waiter),
		DLOCK_AS_TEXT(leaves ? "1" : "") }, 8, 5);
}

static inline dlock_call *dlock_request_renew(dlock_keys keys, const char *token, dlock_nanos ttl)
{
	return dlock_call_script(DLOCK_SCRIPT_RENEW, 1, (dlock_arg[]) { keys.lock, DLOCK_AS_TEXT(token),
		DLOCK_AS_LEASE(ttl) }, 3, 3);
}

static inline dlock_call *dlock_request_repair(dlock_keys keys, const char *token, dlock_nanos ttl,
		int64_t fencing_token)
{
	return dlock_call_script(DLOCK_SCRIPT_REPAIR, 2, (dlock_arg[]) { keys.lock, dlock_fence_of(keys),
		DLOCK_AS_TEXT(token), DLOCK_AS_LEASE(ttl), DLOCK_AS_INT(fencing_token) }, 5, 5);
}

static inline dlock_call *dlock_request_restore(dlock_keys keys, const char *token, dlock_nanos ttl,
		int64_t fencing_token, dlock_nanos guard)
{
	return dlock_call_script(DLOCK_SCRIPT_RESTORE, 3, (dlock_arg[]) { keys.lock, dlock_fence_of(keys),
		dlock_epoch_key(keys), DLOCK_AS_TEXT(token), DLOCK_AS_MS(ttl), DLOCK_AS_INT(fencing_token),
		DLOCK_AS_MS(guard) }, 7, 7);
}

static inline dlock_call *dlock_request_seen(dlock_arg seen, int64_t most)
{
	return dlock_call_script(DLOCK_SCRIPT_SEEN, 1, (dlock_arg[]) { seen, DLOCK_AS_INT(most) }, 2, 2);
}

static inline dlock_call *dlock_request_settle(dlock_keys keys, const dlock_epoch_state *epoch, dlock_epoch_rule guard,
		const dlock_epoch_state *look)
{
	return dlock_call_script(DLOCK_SCRIPT_SETTLE, 2, (dlock_arg[]) { dlock_fence_of(keys), dlock_epoch_key(keys),
		DLOCK_AS_TEXT(epoch->replid), DLOCK_AS_MS(guard.time), DLOCK_AS_TEXT(epoch->settles),
		look ? DLOCK_AS_INT(look->left) : DLOCK_NOTHING, look ? DLOCK_AS_INT(look->waited) : DLOCK_NOTHING,
		look ? DLOCK_AS_TEXT(look->attached) : DLOCK_NOTHING }, 8, 5);
}

static inline dlock_call *dlock_request_settle_now(dlock_keys keys, const dlock_epoch_state *epoch,
		dlock_epoch_rule guard, const dlock_survey *survey)
{
	return dlock_call_script(DLOCK_SCRIPT_SETTLE_NOW, 2, (dlock_arg[]) { dlock_fence_of(keys), dlock_epoch_key(keys),
		DLOCK_AS_TEXT(epoch->replid), DLOCK_AS_MS(guard.time), DLOCK_AS_TEXT(survey->attached),
		DLOCK_AS_INT(survey->first), DLOCK_AS_INT(survey->skew) }, 7, 7);
}

static inline dlock_call *dlock_request_several_acquire(const dlock_arg *locks, int count, const dlock_attempt *attempt)
{
	return dlock_call_script_on(DLOCK_SCRIPT_SEVERAL_ACQUIRE, locks, count,
		(dlock_arg[]) { DLOCK_AS_TEXT(attempt->token), DLOCK_AS_LEASE(attempt->ttl),
		DLOCK_AS_INT(attempt->least_fencing_token), DLOCK_AS_INBOX(attempt->inbox, attempt->description),
		DLOCK_AS_COUNT(attempt->ticket), attempt->inbox ? DLOCK_AS_INT(attempt->number) : DLOCK_NOTHING,
		DLOCK_AS_TEXT(attempt->grant ? "" : "0"), DLOCK_AS_TEXT(attempt->waiter) }, 8, 2);
}

static inline dlock_call *dlock_request_several_acquire_replicated(const dlock_arg *locks, int count,
		const dlock_attempt *attempt, dlock_epoch_rule guard)
{
	return dlock_call_script_on(DLOCK_SCRIPT_SEVERAL_ACQUIRE_REPLICATED, locks, count,
		(dlock_arg[]) { DLOCK_AS_TEXT(attempt->token), DLOCK_AS_LEASE(attempt->ttl), DLOCK_AS_MS(guard.time),
		DLOCK_AS_TEXT(guard.resyncs ? "" : "-"), DLOCK_AS_INBOX(attempt->inbox, attempt->description),
		attempt->inbox ? DLOCK_AS_COUNT(attempt->ticket) : DLOCK_NOTHING,
		attempt->inbox ? DLOCK_AS_INT(attempt->number) : DLOCK_NOTHING }, 7, 3);
}

static inline dlock_call *dlock_request_several_exchange(const dlock_arg *locks, int count, const char *old,
		const char *new_token, int64_t least_fencing_token)
{
	return dlock_call_script_on(DLOCK_SCRIPT_SEVERAL_EXCHANGE, locks, count, (dlock_arg[]) { DLOCK_AS_TEXT(old),
		DLOCK_AS_TEXT(new_token), DLOCK_AS_INT(least_fencing_token) }, 3, 3);
}

static inline dlock_call *dlock_request_several_exchange_replicated(const dlock_arg *locks, int count, const char *old,
		const char *new_token, int64_t least_fencing_token, dlock_epoch_rule guard)
{
	return dlock_call_script_on(DLOCK_SCRIPT_SEVERAL_EXCHANGE_REPLICATED, locks, count,
		(dlock_arg[]) { DLOCK_AS_TEXT(old), DLOCK_AS_TEXT(new_token), DLOCK_AS_INT(least_fencing_token),
		DLOCK_AS_MS(guard.time), DLOCK_AS_TEXT(guard.resyncs ? "" : "-") }, 5, 4);
}

static inline dlock_call *dlock_request_several_keep(const dlock_arg *locks, int count, const char *token,
		dlock_nanos ttl, bool shortens)
{
	return dlock_call_script_on(DLOCK_SCRIPT_SEVERAL_KEEP, locks, count, (dlock_arg[]) { DLOCK_AS_TEXT(token),
		DLOCK_AS_MS(ttl), DLOCK_AS_TEXT(shortens ? "1" : "") }, 3, 2);
}

static inline dlock_call *dlock_request_several_keep_replicated(const dlock_arg *locks, int count, const char *token,
		dlock_nanos ttl, bool shortens)
{
	return dlock_call_script_on(DLOCK_SCRIPT_SEVERAL_KEEP_REPLICATED, locks, count,
		(dlock_arg[]) { DLOCK_AS_TEXT(token), DLOCK_AS_MS(ttl), DLOCK_AS_TEXT(shortens ? "1" : "0") }, 3, 3);
}

static inline dlock_call *dlock_request_several_leave(const dlock_arg *locks, int count, const char *waiter)
{
	return dlock_call_script_on(DLOCK_SCRIPT_SEVERAL_LEAVE, locks, count, (dlock_arg[]) { DLOCK_AS_TEXT(waiter) }, 1,
		1);
}

static inline dlock_call *dlock_request_several_raise(const dlock_arg *locks, int count, const char *token,
		int64_t fencing_token, bool confirmed)
{
	return dlock_call_script_on(DLOCK_SCRIPT_SEVERAL_RAISE, locks, count, (dlock_arg[]) { DLOCK_AS_TEXT(token),
		DLOCK_AS_INT(fencing_token), DLOCK_AS_TEXT(confirmed ? "1" : "") }, 3, 2);
}

static inline dlock_call *dlock_request_several_release(const dlock_arg *locks, int count, const char *token,
		bool leaves, bool grant, const char *waiter)
{
	return dlock_call_script_on(DLOCK_SCRIPT_SEVERAL_RELEASE, locks, count, (dlock_arg[]) { DLOCK_AS_TEXT(token),
		DLOCK_AS_TEXT(leaves ? "1" : ""), DLOCK_AS_TEXT(grant ? "" : "0"), DLOCK_AS_TEXT(waiter) }, 4, 1);
}

static inline dlock_call *dlock_request_several_repair(const dlock_arg *locks, int count, const char *token,
		dlock_nanos ttl, int64_t fencing_token)
{
	return dlock_call_script_on(DLOCK_SCRIPT_SEVERAL_REPAIR, locks, count, (dlock_arg[]) { DLOCK_AS_TEXT(token),
		DLOCK_AS_LEASE(ttl), DLOCK_AS_INT(fencing_token) }, 3, 3);
}

static inline dlock_call *dlock_request_several_restore(const dlock_arg *locks, int count, const char *token,
		dlock_nanos ttl, int64_t fencing_token, dlock_nanos guard)
{
	return dlock_call_script_on(DLOCK_SCRIPT_SEVERAL_RESTORE, locks, count, (dlock_arg[]) { DLOCK_AS_TEXT(token),
		DLOCK_AS_MS(ttl), DLOCK_AS_INT(fencing_token), DLOCK_AS_MS(guard) }, 4, 4);
}

static inline dlock_call *dlock_request_several_unchanged(const dlock_arg *locks, int count, const char *token,
		dlock_epoch_rule guard, const char *old, bool final)
{
	return dlock_call_script_on(DLOCK_SCRIPT_SEVERAL_UNCHANGED, locks, count, (dlock_arg[]) { DLOCK_AS_TEXT(token),
		DLOCK_AS_MS(guard.time), DLOCK_AS_TEXT(old), DLOCK_AS_TEXT(final ? "1" : "") }, 4, 2);
}

static inline dlock_call *dlock_request_stock_basket(const dlock_arg *stocks, int count,
		const dlock_stock_attempt *attempt, const char *products, const int64_t *units)
{
	dlock_number room[DLOCK_CALL_WORDS];
	dlock_arg words[DLOCK_CALL_WORDS] = { DLOCK_AS_TEXT(attempt->id), DLOCK_AS_LEASE(attempt->ttl),
		DLOCK_AS_COUNT(attempt->limit), DLOCK_AS_INBOX(attempt->inbox, attempt->description),
		DLOCK_AS_INT(attempt->ticket), DLOCK_AS_INT(attempt->number), DLOCK_AS_TEXT(attempt->strict ? "s" : ""),
		DLOCK_AS_TEXT(products) };

	return dlock_call_script_on(DLOCK_SCRIPT_STOCK_BASKET, stocks, count, words, dlock_add_ints(words, 8, room, units,
		count), 8);
}

static inline dlock_call *dlock_request_stock_cancel(const dlock_arg *stocks, int count, const dlock_order_ref *order)
{
	return dlock_call_script_on(DLOCK_SCRIPT_STOCK_CANCEL, stocks, count, (dlock_arg[]) { DLOCK_AS_TEXT(order->id),
		DLOCK_AS_INT(order->generation), DLOCK_AS_TEXT(order->products) }, 3, 3);
}

static inline dlock_call *dlock_request_stock_change(const dlock_arg *stocks, int count, const dlock_order_ref *order,
		int64_t limit, const int64_t *units)
{
	dlock_number room[DLOCK_CALL_WORDS];
	dlock_arg words[DLOCK_CALL_WORDS] = { DLOCK_AS_TEXT(order->id), DLOCK_AS_INT(order->generation),
		DLOCK_AS_TEXT(order->products), DLOCK_AS_COUNT(limit) };

	return dlock_call_script_on(DLOCK_SCRIPT_STOCK_CHANGE, stocks, count, words, dlock_add_ints(words, 4, room, units,
		count), 4);
}

static inline dlock_call *dlock_request_stock_confirm(const dlock_arg *stocks, int count, const dlock_order_ref *order,
		int64_t limit)
{
	return dlock_call_script_on(DLOCK_SCRIPT_STOCK_CONFIRM, stocks, count, (dlock_arg[]) { DLOCK_AS_TEXT(order->id),
		DLOCK_AS_INT(order->generation), DLOCK_AS_TEXT(order->products), DLOCK_AS_COUNT(limit) }, 4, 4);
}

static inline dlock_call *dlock_request_stock_extend(const dlock_arg *stocks, int count, const dlock_order_ref *order,
		dlock_nanos ttl)
{
	return dlock_call_script_on(DLOCK_SCRIPT_STOCK_EXTEND, stocks, count, (dlock_arg[]) { DLOCK_AS_TEXT(order->id),
		DLOCK_AS_INT(order->generation), DLOCK_AS_TEXT(order->products), DLOCK_AS_LEASE(ttl) }, 4, 4);
}

static inline dlock_call *dlock_request_stock_leave(const dlock_arg *stocks, int count,
		const dlock_stock_attempt *attempt, bool several, const int64_t *units)
{
	dlock_number room[DLOCK_CALL_WORDS];
	dlock_arg words[DLOCK_CALL_WORDS] = { DLOCK_AS_TEXT(attempt->id), DLOCK_AS_COUNT(attempt->limit),
		DLOCK_AS_INBOX(attempt->inbox, attempt->description), DLOCK_AS_TEXT(attempt->strict ? "s" : ""),
		DLOCK_AS_TEXT(several ? "m" : "") };

	return dlock_call_script_on(DLOCK_SCRIPT_STOCK_LEAVE, stocks, count, words, dlock_add_ints(words, 5, room, units,
		count), 5);
}

static inline dlock_call *dlock_request_stock_lineage(dlock_arg lineage, int64_t begin, const char *attached,
		const char *nodes, int64_t enough)
{
	return dlock_call_script(DLOCK_SCRIPT_STOCK_LINEAGE, 1, (dlock_arg[]) { lineage, DLOCK_AS_COUNT(begin),
		DLOCK_AS_TEXT(attached), DLOCK_AS_TEXT(nodes), DLOCK_AS_COUNT(enough) }, 5, 1);
}

static inline dlock_call *dlock_request_stock_orders(dlock_arg stock, const char *from, const char *to,
		const char *after, const char *buyer, int64_t limit)
{
	return dlock_call_script(DLOCK_SCRIPT_STOCK_ORDERS, 1, (dlock_arg[]) { stock, DLOCK_AS_TEXT(from),
		DLOCK_AS_TEXT(to), DLOCK_AS_TEXT(after), DLOCK_AS_TEXT(buyer), DLOCK_AS_INT(limit) }, 6, 6);
}

static inline dlock_call *dlock_request_stock_refund(const dlock_arg *stocks, int count, const dlock_order_ref *order,
		bool restock, int64_t units, const char *change)
{
	return dlock_call_script_on(DLOCK_SCRIPT_STOCK_REFUND, stocks, count, (dlock_arg[]) { DLOCK_AS_TEXT(order->id),
		DLOCK_AS_INT(order->generation), DLOCK_AS_TEXT(order->products), DLOCK_AS_TEXT(restock ? "1" : "0"),
		DLOCK_AS_COUNT(units), DLOCK_AS_TEXT(change) }, 6, 6);
}

static inline dlock_call *dlock_request_stock_reserve(dlock_arg stock, const dlock_stock_attempt *attempt)
{
	return dlock_call_script(DLOCK_SCRIPT_STOCK_RESERVE, 1, (dlock_arg[]) { stock, DLOCK_AS_TEXT(attempt->id),
		DLOCK_AS_INT(attempt->units), DLOCK_AS_LEASE(attempt->ttl), DLOCK_AS_COUNT(attempt->limit),
		DLOCK_AS_INBOX(attempt->inbox, attempt->description), DLOCK_AS_COUNT(attempt->ticket),
		attempt->inbox ? DLOCK_AS_INT(attempt->number) : DLOCK_NOTHING,
		attempt->inbox ? DLOCK_AS_TEXT(attempt->strict ? "s" : "") : DLOCK_NOTHING }, 9, 4);
}

static inline dlock_call *dlock_request_stock_restock(dlock_arg stock, int64_t units, const char *change,
		dlock_nanos remember)
{
	return dlock_call_script(DLOCK_SCRIPT_STOCK_RESTOCK, 1, (dlock_arg[]) { stock, DLOCK_AS_INT(units),
		DLOCK_AS_TEXT(change), DLOCK_AS_MS(remember) }, 4, 4);
}

static inline dlock_call *dlock_request_stock_sale(dlock_arg stock, int64_t sale)
{
	return dlock_call_script(DLOCK_SCRIPT_STOCK_SALE, 1, (dlock_arg[]) { stock, DLOCK_AS_INT(sale) }, 2, 2);
}

static inline dlock_call *dlock_request_stock_status(const dlock_arg *stocks, int count, const char *id)
{
	return dlock_call_script_on(DLOCK_SCRIPT_STOCK_STATUS, stocks, count, (dlock_arg[]) { DLOCK_AS_TEXT(id) }, 1, 1);
}

static inline dlock_call *dlock_request_unchanged(dlock_keys keys, const char *token, dlock_epoch_rule guard,
		const char *old, bool final)
{
	return dlock_call_script(DLOCK_SCRIPT_UNCHANGED, 2, (dlock_arg[]) { keys.lock, dlock_epoch_key(keys),
		DLOCK_AS_TEXT(token), DLOCK_AS_MS(guard.time), DLOCK_AS_TEXT(old), DLOCK_AS_TEXT(final ? "1" : "") }, 6, 4);
}

#endif

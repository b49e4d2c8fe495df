#include "permits_replicated_requests.h"

#include <string.h>

static const dlock_arg nothing = { "", 0 };

static dlock_arg time_arg(dlock_number *out, dlock_nanos time)
{
	return dlock_number_arg(out, time > 0 && time < DLOCK_MS ? 1 : time / DLOCK_MS);
}

static dlock_arg era_of(dlock_keys keys)
{
	return keys.era.len > 0 ? keys.era : DLOCK_ARG(DLOCK_ERA_KEY);
}

static dlock_arg copies_arg(dlock_guard guard)
{
	return guard.resyncs ? nothing : DLOCK_ARG("-");
}

dlock_call *dlock_request_permits_replicated(dlock_keys keys, const dlock_permits_attempt *attempt, dlock_guard guard)
{
	dlock_number permits, capacity, ttl, ticket, number, longest;
	dlock_arg args[] = { keys.lock, era_of(keys), DLOCK_ARG(attempt->id), dlock_number_arg(&permits, attempt->permits),
		dlock_number_arg(&capacity, attempt->capacity), time_arg(&ttl, attempt->ttl),
		attempt->inbox ? DLOCK_ARG(attempt->inbox->channel) : nothing, dlock_number_arg(&ticket, attempt->ticket),
		dlock_number_arg(&number, attempt->number), attempt->fifo ? DLOCK_ARG("1") : nothing, time_arg(&longest, guard.time),
		copies_arg(guard) };

	return dlock_call_script(DLOCK_SCRIPT_PERMITS_ACQUIRE_REPLICATED, args, 12);
}

dlock_call *dlock_request_permits_unchanged(dlock_keys keys, const char *id, const char *old, dlock_guard guard)
{
	dlock_number longest;
	dlock_arg args[] = { keys.lock, era_of(keys), DLOCK_ARG(id), time_arg(&longest, guard.time), old ? DLOCK_ARG(old) : nothing };

	return dlock_call_script(DLOCK_SCRIPT_PERMITS_UNCHANGED, args, old ? 5 : 4);
}

dlock_call *dlock_request_permits_release_replicated(dlock_keys keys, const dlock_permits_attempt *attempt, dlock_guard guard)
{
	dlock_number permits, capacity, longest;
	dlock_arg args[] = { keys.lock, era_of(keys), DLOCK_ARG(attempt->id), time_arg(&longest, guard.time), dlock_number_arg(&permits, attempt->permits),
		dlock_number_arg(&capacity, attempt->capacity), attempt->inbox ? DLOCK_ARG(attempt->inbox->channel) : nothing };

	return dlock_call_script(DLOCK_SCRIPT_PERMITS_RELEASE_REPLICATED, args, attempt->inbox ? 7 : 4);
}

dlock_call *dlock_request_permits_keep(dlock_keys keys, const char *id, dlock_nanos ttl, bool shortens)
{
	dlock_number lease;
	dlock_arg args[] = { keys.lock, DLOCK_ARG(id), time_arg(&lease, ttl), DLOCK_ARG(shortens ? "1" : "0") };

	return dlock_call_script(DLOCK_SCRIPT_PERMITS_KEEP, args, 4);
}

dlock_call *dlock_request_permits_restore(dlock_keys keys, const char *id, int64_t permits, dlock_nanos ttl, int64_t fencing_token, dlock_nanos guard)
{
	dlock_number lease, fence, longest, count;
	dlock_arg args[] = { keys.lock, era_of(keys), DLOCK_ARG(id), time_arg(&lease, ttl), dlock_number_arg(&fence, fencing_token),
		time_arg(&longest, guard), dlock_number_arg(&count, permits) };

	return dlock_call_script(DLOCK_SCRIPT_PERMITS_RESTORE, args, 7);
}

dlock_call *dlock_request_permits_drop(dlock_keys keys, const char *id)
{
	dlock_arg args[] = { keys.lock, DLOCK_ARG(id) };

	return dlock_call_script(DLOCK_SCRIPT_PERMITS_DROP, args, 2);
}

dlock_call *dlock_request_permits_exchange_replicated(dlock_keys keys, const char *old, const char *new_id, int64_t capacity, dlock_guard guard)
{
	dlock_number longest, count;
	dlock_arg args[] = { keys.lock, era_of(keys), DLOCK_ARG(old), DLOCK_ARG(new_id), time_arg(&longest, guard.time), copies_arg(guard),
		dlock_number_arg(&count, capacity) };

	return dlock_call_script(DLOCK_SCRIPT_PERMITS_EXCHANGE_REPLICATED, args, 7);
}

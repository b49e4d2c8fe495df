#include "kinds.h"

#include <string.h>

/* The lease time of a key that replicas confirm. A time of 0 only asks, and stays 0. */
static dlock_nanos outlive(dlock_nanos ttl)
{
	return ttl > 0 ? ttl + DLOCK_CLOCK_MARGIN : 0;
}

static dlock_nanos key_ttl(const dlock_subject *subject)
{
	return subject->replicated ? outlive(subject->claim->ttl) : subject->claim->ttl;
}

/* ---- locks ---- */

static dlock_call *ask_lock(const dlock_subject *subject)
{
	const dlock_claim *claim = subject->claim;
	const dlock_waiter *waiter = subject->waiter;
	bool queues = subject->queues;
	dlock_attempt attempt = { .token = claim->token,
		.ttl = key_ttl(subject),
		.least_fencing_token = subject->counts ? DLOCK_NO_NUMBER : 0,
		.grant = true,
		.inbox = queues ? waiter->inbox : NULL,
		.description = dlock_description_text(claim->description),
		.ticket = waiter->ticket,
		.number = waiter->number,
		.legacy = claim->backend->legacy,
		.unnotified = queues && !subject->replicated && !dlock_inbox_can_notify(waiter->inbox) };

	return subject->replicated ? dlock_request_acquire_replicated(subject->keys, &attempt, subject->guard)
							   : dlock_request_acquire(subject->keys, &attempt);
}

static dlock_status read_lock(const dlock_call *call, const dlock_conn *conn, dlock_said *said, dlock_error *error)
{
	dlock_status status = dlock_read_acquire(call, conn, &said->refusal, error);

	said->fencing_token = said->refusal.fencing_token;
	return status;
}

static dlock_call *is_lock_unchanged(const dlock_subject *subject, const char *old, bool final)
{
	return dlock_request_unchanged(subject->keys, subject->claim->token, subject->guard, old, final);
}

static dlock_call *release_lock(const dlock_subject *subject, bool leaves)
{
	const char *token = subject->claim->token;

	return dlock_request_release(
		subject->keys, token, true, leaves ? token : NULL, leaves && subject->claim->state == DLOCK_CLAIM_WAITING);
}

static dlock_call *leave_lock(const dlock_subject *subject)
{
	return dlock_request_leave(subject->keys, subject->claim->token, true);
}

static bool leave_grants_lock(const dlock_subject *subject)
{
	(void) subject;
	return true;
}

static dlock_call *exchange_lock(const dlock_subject *subject, const char *old)
{
	const char *token = subject->claim->token;

	return subject->replicated ? dlock_request_exchange_replicated(subject->keys, old, token, 0, subject->guard)
							   : dlock_request_exchange(subject->keys, old, token, 0);
}

static dlock_call *exchange_lock_back(const dlock_subject *subject, const char *old)
{
	return dlock_request_exchange_back(subject->keys, old, subject->claim->token);
}

static dlock_status read_lock_exchange(
	const dlock_call *call, const dlock_conn *conn, dlock_said *said, dlock_error *error)
{
	dlock_response response;
	dlock_status status = dlock_read_exchange(call, conn, &response, error);

	if (status == DLOCK_OK) {
		*said = (dlock_said) { .fencing_token = response.fencing_token, .permits = 1, .pttl = response.pttl };
	}
	return status;
}

static dlock_call *check_lock(const dlock_subject *subject)
{
	return dlock_request_check(subject->keys, subject->claim->token);
}

static dlock_status read_lock_check(
	const dlock_call *call, const dlock_conn *conn, int64_t *pttl, dlock_error *error)
{
	dlock_response response;
	dlock_status status = dlock_read_integer(call, conn, &response, error);

	*pttl = status == DLOCK_OK ? response.value : 0;
	return status;
}

static dlock_call *count_lock(dlock_arg key, int64_t capacity)
{
	dlock_arg args[] = { DLOCK_ARG("EXISTS"), key };

	(void) capacity;
	return dlock_call_command(args, 2);
}

static dlock_status read_lock_count(
	const dlock_call *call, const dlock_conn *conn, bool *held, int64_t *available, dlock_error *error)
{
	dlock_response response;
	dlock_status status = dlock_read_integer(call, conn, &response, error);

	*held = status == DLOCK_OK;
	*available = *held ? 0 : 1;
	return status == DLOCK_LOST ? DLOCK_OK : status;
}

/* On a lone server, a key that is missing or another's is a lost lease. */
static dlock_call *keep_lock_alone(const dlock_kept_lease *lease, dlock_nanos ttl, bool shortens)
{
	return ttl == 0 ? dlock_request_check(lease->keys, lease->token)
		: shortens ? dlock_request_extend(lease->keys, lease->token, ttl)
				   : dlock_request_renew(lease->keys, lease->token, ttl);
}

static dlock_status read_keep_alone(
	const dlock_call *call, const dlock_conn *conn, dlock_key_state *state, dlock_error *error)
{
	dlock_response response;
	dlock_status status = dlock_read_integer(call, conn, &response, error);

	*state = status == DLOCK_OK ? DLOCK_KEY_OWN : DLOCK_KEY_FOREIGN;
	return status == DLOCK_LOST ? DLOCK_OK : status;
}

static dlock_call *keep_lock(const dlock_kept_lease *lease, dlock_nanos ttl, bool shortens)
{
	return dlock_request_keep(lease->keys, lease->token, ttl, shortens);
}

static dlock_call *restore_lock(const dlock_kept_lease *lease, dlock_nanos ttl)
{
	return dlock_request_restore(lease->keys, lease->token, ttl, lease->fencing_token, lease->guard);
}

static dlock_call *keep_confirmed_lock(const dlock_kept_lease *lease, dlock_nanos ttl, bool shortens)
{
	return keep_lock(lease, outlive(ttl), shortens);
}

static dlock_call *restore_confirmed_lock(const dlock_kept_lease *lease, dlock_nanos ttl)
{
	return restore_lock(lease, outlive(ttl));
}

static dlock_call *drop_lock(const dlock_kept_lease *lease)
{
	return dlock_request_drop(lease->keys, lease->token);
}

static dlock_call *describe_lock(
	const dlock_kept_lease *lease, dlock_nanos ttl, int64_t since, const dlock_description *description)
{
	dlock_holder_text text;
	char id[DLOCK_TOKEN_ID_LEN + 1];

	dlock_write_holder_text(&text, since, lease->fencing_token, description);
	return dlock_token_id(lease->token, id) ? dlock_request_describe(lease->keys, id, text.text, ttl, false) : NULL;
}

static dlock_call *inspect_lock(dlock_keys keys, int most)
{
	return dlock_request_inspect(keys, most);
}

static dlock_call *break_lock(dlock_keys keys, const char *id, const char *by, bool now)
{
	return dlock_request_break(keys, id, by, now, true);
}

static dlock_call *release_rest(const dlock_kept_lease *lease)
{
	return dlock_request_several_release(
		lease->keys.several->keys, lease->keys.several->count, lease->token, false, true, NULL);
}

static const dlock_keeping lock_alone = {
	keep_lock_alone, read_keep_alone, restore_lock, drop_lock, release_rest, describe_lock
};
static const dlock_keeping lock_that_fails_over = {
	keep_lock, dlock_read_keep, restore_lock, drop_lock, release_rest, describe_lock
};
static const dlock_keeping lock_replicated = {
	keep_confirmed_lock, dlock_read_keep, restore_confirmed_lock, drop_lock, release_rest, describe_lock
};

const dlock_kind dlock_locks = {
	.acquire = ask_lock,
	.read_acquire = read_lock,
	.unchanged = is_lock_unchanged,
	.release = release_lock,
	.leave = leave_lock,
	.leave_grants = leave_grants_lock,
	.exchange = exchange_lock,
	.exchange_back = exchange_lock_back,
	.read_exchange = read_lock_exchange,
	.check = check_lock,
	.read_check = read_lock_check,
	.counts = count_lock,
	.read_counts = read_lock_count,
	.noun = "lock",
	.inspect = inspect_lock,
	.read_inspection = dlock_read_inspection,
	.break_claim = break_lock,
	.numbers = INT64_MAX,
	.alone = &lock_alone,
	.fails_over = &lock_that_fails_over,
	.replicated = &lock_replicated,
};

/* ---- several locks at once ---- */

/* The number of keys of a script, which also needs the epoch if replicas confirm. */
static int count_keys(const dlock_several_keys *several, bool replicated)
{
	return several->count + (replicated ? 1 : 0);
}

static dlock_call *ask_several(const dlock_subject *subject)
{
	const dlock_several_keys *several = subject->keys.several;
	const dlock_claim *claim = subject->claim;
	const dlock_waiter *waiter = subject->waiter;
	int count = count_keys(several, subject->replicated);
	dlock_attempt attempt = { .token = claim->token,
		.ttl = key_ttl(subject),
		.least_fencing_token = subject->counts ? DLOCK_NO_NUMBER : 0,
		.grant = true,
		.inbox = subject->queues ? waiter->inbox : NULL,
		.description = dlock_description_text(claim->description),
		.ticket = waiter->ticket,
		.number = waiter->number };

	return subject->replicated
		? dlock_request_several_acquire_replicated(several->keys, count, &attempt, subject->guard)
		: dlock_request_several_acquire(several->keys, count, &attempt);
}

static dlock_call *are_several_unchanged(const dlock_subject *subject, const char *old, bool final)
{
	const dlock_several_keys *several = subject->keys.several;

	return dlock_request_several_unchanged(
		several->keys, count_keys(several, true), subject->claim->token, subject->guard, old, final);
}

static dlock_call *release_several(const dlock_subject *subject, bool leaves)
{
	return dlock_request_several_release(subject->keys.several->keys, subject->keys.several->count,
		subject->claim->token, leaves && subject->claim->state == DLOCK_CLAIM_WAITING, true, NULL);
}

static dlock_call *leave_several(const dlock_subject *subject)
{
	return release_several(subject, true);
}

/* The server never grants several locks to a waiter in a queue: it tells it to ask. */
static bool leave_grants_none(const dlock_subject *subject)
{
	(void) subject;
	return false;
}

static dlock_call *exchange_several(const dlock_subject *subject, const char *old)
{
	const dlock_several_keys *several = subject->keys.several;
	int count = count_keys(several, subject->replicated);
	const char *token = subject->claim->token;

	return subject->replicated
		? dlock_request_several_exchange_replicated(several->keys, count, old, token, 0, subject->guard)
		: dlock_request_several_exchange(several->keys, count, old, token, 0);
}

static dlock_call *exchange_several_back(const dlock_subject *subject, const char *old)
{
	return dlock_request_several_exchange(
		subject->keys.several->keys, subject->keys.several->count, subject->claim->token, old, DLOCK_NO_NUMBER);
}

static dlock_call *check_several(const dlock_subject *subject)
{
	const dlock_several_keys *several = subject->keys.several;

	return dlock_request_several_keep(several->locks, several->lock_count, subject->claim->token, 0, false);
}

static dlock_call *keep_several_alone(const dlock_kept_lease *lease, dlock_nanos ttl, bool shortens)
{
	const dlock_several_keys *several = lease->keys.several;

	return dlock_request_several_keep(several->locks, several->lock_count, lease->token, ttl, shortens);
}

static dlock_call *keep_several(const dlock_kept_lease *lease, dlock_nanos ttl, bool shortens)
{
	const dlock_several_keys *several = lease->keys.several;

	return dlock_request_several_keep_replicated(several->locks, several->lock_count, lease->token, ttl, shortens);
}

static dlock_call *keep_confirmed_several(const dlock_kept_lease *lease, dlock_nanos ttl, bool shortens)
{
	return keep_several(lease, outlive(ttl), shortens);
}

static dlock_call *restore_several(const dlock_kept_lease *lease, dlock_nanos ttl)
{
	const dlock_several_keys *several = lease->keys.several;

	return dlock_request_several_restore(several->keys, count_keys(several, true), lease->token, outlive(ttl),
		lease->fencing_token, lease->guard);
}

static const dlock_keeping several_alone = {
	keep_several_alone, read_keep_alone, NULL, drop_lock, release_rest, describe_lock
};
static const dlock_keeping several_that_fail_over = {
	keep_several, dlock_read_keep, NULL, drop_lock, release_rest, describe_lock
};
static const dlock_keeping several_replicated = {
	keep_confirmed_several, dlock_read_keep, restore_several, drop_lock, release_rest, describe_lock
};

const dlock_kind dlock_several_locks = {
	.acquire = ask_several,
	.read_acquire = read_lock,
	.unchanged = are_several_unchanged,
	.release = release_several,
	.leave = leave_several,
	.leave_grants = leave_grants_none,
	.exchange = exchange_several,
	.exchange_back = exchange_several_back,
	.read_exchange = read_lock_exchange,
	.check = check_several,
	.read_check = read_lock_check,
	.numbers = INT64_MAX,
	.alone = &several_alone,
	.fails_over = &several_that_fail_over,
	.replicated = &several_replicated,
};

/* ---- permits ---- */

/* permits_pool.lua counts signs of life modulo this number. */
#define SIGNS 1000

/* In the queue, a waiter's name is made of its permits, capacity, id, inbox and description. So these stay the same
 * during a wait. */
static dlock_permits_attempt attempt_of(const dlock_subject *subject, bool queues)
{
	const dlock_claim *claim = subject->claim;
	const dlock_waiter *waiter = subject->waiter;

	return (dlock_permits_attempt) { .id = claim->token,
		.permits = claim->permits,
		.capacity = claim->backend->capacity,
		.fifo = subject->fifo,
		.inbox = queues && claim->state == DLOCK_CLAIM_WAITING ? waiter->inbox : NULL,
		.description = dlock_description_text(claim->description),
		.ttl = key_ttl(subject),
		.ticket = waiter->ticket,
		.number = waiter->number,
		.own = claim->own_permits };
}

static dlock_call *ask_permits(const dlock_subject *subject)
{
	dlock_permits_attempt attempt = attempt_of(subject, true);

	return subject->replicated ? dlock_request_permits_acquire_replicated(subject->keys, &attempt, subject->guard)
							   : dlock_request_permits_acquire(subject->keys.lock, &attempt);
}

static dlock_status read_permits(const dlock_call *call, const dlock_conn *conn, dlock_said *said, dlock_error *error)
{
	dlock_permits_response response;
	dlock_status status = dlock_read_permits(call, conn, &response, error);

	if (status == DLOCK_OK) {
		said->fencing_token = response.fencing_token;
	} else if (status == DLOCK_LOST) {
		said->refusal = response.refusal;
	}
	return status;
}

static dlock_call *are_permits_unchanged(const dlock_subject *subject, const char *old, bool final)
{
	return dlock_request_permits_unchanged(subject->keys, subject->claim->token, subject->guard, old, final);
}

static dlock_call *release_permits(const dlock_subject *subject, bool leaves)
{
	dlock_permits_attempt attempt = attempt_of(subject, leaves);

	return subject->replicated ? dlock_request_permits_release_replicated(subject->keys, &attempt, subject->guard)
							   : dlock_request_permits_release(subject->keys.lock, &attempt);
}

static dlock_call *leave_permits(const dlock_subject *subject)
{
	dlock_permits_attempt attempt = attempt_of(subject, true);

	return subject->replicated ? release_permits(subject, true)
							   : dlock_request_permits_leave(subject->keys.lock, &attempt);
}

/* If replicas would have to confirm the permits, there is no time for that, and the server releases them. */
static bool leave_grants_permits(const dlock_subject *subject)
{
	return !subject->replicated;
}

static dlock_call *exchange_permits(const dlock_subject *subject, const char *old)
{
	const dlock_claim *claim = subject->claim;

	return subject->replicated ? dlock_request_permits_exchange_replicated(
			   subject->keys, old, claim->token, subject->guard, claim->backend->capacity)
							   : dlock_request_permits_exchange(subject->keys.lock, old, claim->token);
}

static dlock_call *exchange_permits_back(const dlock_subject *subject, const char *old)
{
	return dlock_request_permits_exchange(subject->keys.lock, subject->claim->token, old);
}

static dlock_status read_permits_exchange(
	const dlock_call *call, const dlock_conn *conn, dlock_said *said, dlock_error *error)
{
	dlock_permits_response response;
	dlock_status status = dlock_read_permits_exchange(call, conn, &response, error);

	if (status == DLOCK_OK) {
		*said = (dlock_said) {
			.fencing_token = response.fencing_token, .permits = response.permits, .pttl = response.pttl
		};
	}
	return status;
}

static dlock_call *upgrade_permits(const dlock_subject *subject, const char *rest)
{
	const dlock_claim *claim = subject->claim;

	return subject->replicated
		? dlock_request_permits_upgrade_replicated(subject->keys, claim->token, claim->ttl, rest, subject->guard)
		: dlock_request_permits_upgrade(subject->keys.lock, claim->token, claim->ttl, rest);
}

static dlock_call *downgrade_permits(const dlock_subject *subject)
{
	const dlock_claim *claim = subject->claim;

	return subject->replicated
		? dlock_request_permits_downgrade_replicated(subject->keys, claim->token, claim->ttl, subject->guard)
		: dlock_request_permits_downgrade(subject->keys.lock, claim->token, claim->ttl);
}

static dlock_call *check_permits(const dlock_subject *subject)
{
	return dlock_request_permits_check(subject->keys.lock, subject->claim->token);
}

static dlock_status read_permits_check(
	const dlock_call *call, const dlock_conn *conn, int64_t *pttl, dlock_error *error)
{
	dlock_permits_response response;
	dlock_status status = dlock_read_permits_check(call, conn, &response, error);

	*pttl = status == DLOCK_OK ? response.pttl : 0;
	return status;
}

static dlock_status read_permits_counts(
	const dlock_call *call, const dlock_conn *conn, bool *held, int64_t *available, dlock_error *error)
{
	dlock_permits_counts counts;
	dlock_status status = dlock_read_permits_counts(call, conn, &counts, error);

	*held = status == DLOCK_OK && counts.held > 0;
	/* counts.available is negative if other clients have asked with a larger capacity. */
	*available = status != DLOCK_OK || counts.available < 0 ? 0
															: counts.available;
	return status;
}

static dlock_call *keep_permits_alone(const dlock_kept_lease *lease, dlock_nanos ttl, bool shortens)
{
	return ttl > 0 ? dlock_request_permits_renew(lease->keys.lock, lease->token, ttl, !shortens)
				   : dlock_request_permits_check(lease->keys.lock, lease->token);
}

static dlock_status read_keep_permits_alone(
	const dlock_call *call, const dlock_conn *conn, dlock_key_state *state, dlock_error *error)
{
	dlock_permits_response response;

	if (!call || call->origin != &dlock_scripts[DLOCK_SCRIPT_PERMITS_CHECK]) {
		return read_keep_alone(call, conn, state, error);
	}
	dlock_status status = dlock_read_permits_check(call, conn, &response, error);
	*state = status == DLOCK_OK ? DLOCK_KEY_OWN : DLOCK_KEY_FOREIGN;
	return status == DLOCK_LOST ? DLOCK_OK : status;
}

static dlock_call *keep_permits(const dlock_kept_lease *lease, dlock_nanos ttl, bool shortens)
{
	return dlock_request_permits_keep(lease->keys.lock, lease->token, outlive(ttl), shortens, lease->permits);
}

static dlock_call *restore_permits(const dlock_kept_lease *lease, dlock_nanos ttl)
{
	return dlock_request_permits_restore(
		lease->keys, lease->token, outlive(ttl), lease->fencing_token, lease->guard, lease->permits);
}

static dlock_call *drop_permits(const dlock_kept_lease *lease)
{
	return dlock_request_permits_drop(lease->keys.lock, lease->token);
}

static dlock_call *describe_permits(
	const dlock_kept_lease *lease, dlock_nanos ttl, int64_t since, const dlock_description *description)
{
	dlock_holder_text text;
	char id[DLOCK_TOKEN_ID_LEN + 1];

	dlock_write_holder_text(&text, since, lease->fencing_token, description);
	return dlock_token_id(lease->token, id) ? dlock_request_describe(lease->keys, id, text.text, ttl, true) : NULL;
}

static dlock_call *inspect_permits(dlock_keys keys, int most)
{
	return dlock_request_permits_inspect(keys, most);
}

static dlock_call *break_permits(dlock_keys keys, const char *id, const char *by, bool now)
{
	return dlock_request_permits_break(keys.lock, id, by, now);
}

static const dlock_keeping permits_alone = {
	keep_permits_alone, read_keep_permits_alone, restore_permits, drop_permits, NULL, describe_permits
};
static const dlock_keeping permits_replicated = {
	keep_permits, dlock_read_keep, restore_permits, drop_permits, NULL, describe_permits
};

const dlock_kind dlock_permits = {
	.acquire = ask_permits,
	.read_acquire = read_permits,
	.unchanged = are_permits_unchanged,
	.release = release_permits,
	.leave = leave_permits,
	.leave_grants = leave_grants_permits,
	.exchange = exchange_permits,
	.exchange_back = exchange_permits_back,
	.read_exchange = read_permits_exchange,
	.upgrade = upgrade_permits,
	.downgrade = downgrade_permits,
	.check = check_permits,
	.read_check = read_permits_check,
	.counts = dlock_request_permits_counts,
	.read_counts = read_permits_counts,
	.noun = "pool of permits",
	.inspect = inspect_permits,
	.read_inspection = dlock_read_permits_inspection,
	.break_claim = break_permits,
	.numbers = SIGNS,
	.lasts = true,
	.alone = &permits_alone,
	.fails_over = &permits_alone,
	.replicated = &permits_replicated,
};

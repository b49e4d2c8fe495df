#include "manager.h"

#include <inttypes.h>

#include "../../lock/renewal.h"
#include "../classes.h"
#include "../description.h"
#include "../request/ending.h"
#include "../request/errors.h"
#include "../globals.h"
#include "../wait/interrupts.h"
#include "../request/loss_signal.h"
#include "../metrics.h"
#include "../probes.h"
#include "../settings.h"
#include "../wait/strand.h"
#include "../request/unkept.h"
#include "arguments.h"

#include "zend_exceptions.h"

static zend_object_handlers handlers;

bool dlock_is_manager(const zend_object *object)
{
	return object->handlers == &handlers;
}

dlock_manager *dlock_manager_this(zval *object)
{
	dlock_manager *manager = dlock_manager_from(Z_OBJ_P(object));

	if (!manager->backend) {
		zend_throw_error(NULL, "%s::__construct() has not been called", ZSTR_VAL(Z_OBJCE_P(object)->name));
		return NULL;
	}
	return manager;
}

bool dlock_check_resource(const dlock_manager *manager, zend_string *resource, uint32_t arg)
{
	if (ZSTR_LEN(resource) == 0 || ZSTR_LEN(resource) > DLOCK_RESOURCE_MAX) {
		zend_argument_value_error(arg, "must be between 1 and %d bytes long", DLOCK_RESOURCE_MAX);
		return false;
	}
	const dlock_backend *backend = manager->backend;
	const char *problem = backend->ops->refuse ? backend->ops->refuse(backend, ZSTR_VAL(resource), ZSTR_LEN(resource))
											   : NULL;
	if (problem) {
		zend_argument_value_error(arg, "%s", problem);
		return false;
	}
	return true;
}

dlock_manager *dlock_manager_with_resource(zend_execute_data *execute_data, zend_string **resource)
{
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(*resource)
	ZEND_PARSE_PARAMETERS_END_EX(return NULL);

	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	return manager && dlock_check_resource(manager, *resource, 1) ? manager : NULL;
}

void dlock_manager_answer(const dlock_manager *manager, dlock_status status, const dlock_error *error, zval *value)
{
	if (status != DLOCK_OK && status != DLOCK_LOST) {
		dlock_throw(status, error, manager->backend);
		return;
	}
	ZVAL_BOOL(value, status == DLOCK_OK);
}

static void discard_held(zval *value)
{
	dlock_hold *hold = Z_PTR_P(value);
	zend_string *key = hold->key;

	dlock_hold_discard(hold);
	zend_string_release(key);
}

static zend_object *manager_create(zend_class_entry *class)
{
	zend_object *object = dlock_class_new(sizeof(dlock_manager), class, &handlers);
	dlock_manager *manager = dlock_manager_from(object);

	manager->permits = 1;
	zend_hash_init(&manager->held, 0, NULL, discard_held, 0);
	return object;
}

static void manager_free(zend_object *object)
{
	dlock_manager *manager = dlock_manager_from(object);

	zend_hash_destroy(&manager->held);
	if (manager->backend) {
		dlock_backend_release(manager->backend);
	}
	if (manager->servers) {
		zend_string_release(manager->servers);
	}
	if (manager->prefix) {
		zend_string_release(manager->prefix);
	}
	zend_object_std_dtor(object);
}

/* What lock() has acquired in this strand. Only lock classes have lock(). */
static void add_held(zval *info, dlock_manager *manager)
{
	zval held;
	zval *value;

	array_init(&held);
	ZEND_HASH_FOREACH_VAL(&manager->held, value) {
		dlock_hold *hold = Z_PTR_P(value);
		const dlock_claim *claim = hold->entry.claim;
		dlock_nanos remaining;
		if (hold->entry.strand == dlock_strand()) {
			dlock_hold_refresh(hold, &remaining);
			add_assoc_double_ex(&held, claim->resource, claim->resource_len, (double) remaining / DLOCK_SECOND);
		}
	} ZEND_HASH_FOREACH_END();
	add_assoc_zval(info, "held", &held);
}

static HashTable *manager_debug_info(zend_object *object, int *is_temporary)
{
	dlock_manager *manager = dlock_manager_from(object);
	bool is_lock = object->ce != dlock_ce_semaphore && object->ce != dlock_ce_read_write_lock_side;
	zval info;

	array_init(&info);
	if (manager->backend) {
		add_assoc_str(&info, "servers", zend_string_copy(manager->servers));
		add_assoc_str(&info, is_lock && dlock_manager_is_session_based(manager) ? "root" : "prefix",
			zend_string_copy(manager->prefix));
		if (!dlock_manager_is_session_based(manager)) {
			add_assoc_double(&info, "ttl", (double) manager->ttl / DLOCK_SECOND);
		}
		add_assoc_double(&info, "timeout", (double) manager->timeout / DLOCK_SECOND);
		if (object->ce == dlock_ce_semaphore) {
			add_assoc_long(&info, "capacity", (zend_long) manager->backend->capacity);
		} else if (object->ce == dlock_ce_read_write_lock_side) {
			add_assoc_string(&info, "side", manager->backend->kind);
		}
	}
	if (manager->reentrant) {
		add_assoc_bool(&info, "reentrant", true);
	}
	if (is_lock) {
		add_held(&info, manager);
	}
	*is_temporary = 1;
	return Z_ARRVAL(info);
}

void dlock_manager_register(zend_class_entry *class)
{
	class->create_object = manager_create;
	dlock_unkept_register(class);
	dlock_class_set_handlers(&handlers, offsetof(dlock_manager, std), manager_free, manager_debug_info);
}

/* ---- constructors ---- */

bool dlock_manager_begin(const dlock_manager *manager)
{
	if (manager->backend) {
		zend_throw_error(NULL, "%s::__construct() has been called already", ZSTR_VAL(manager->std.ce->name));
		return false;
	}
	return dlock_check_settings();
}

bool dlock_manager_configure(dlock_manager *manager, const dlock_options *options)
{
	dlock_nanos otherwise = dlock_from_seconds(DLOCK_G(timeout));
	manager->release_at_end = options->release_is_null ? DLOCK_G(release_on_shutdown) : options->release;
	if (!manager->release_at_end) {
		dlock_ending_watch();
	}
	if (options->ttl_arg) {
		double least = (double) options->ttls.least / (double) DLOCK_SECOND,
			   most = (double) options->ttls.most / (double) DLOCK_SECOND;
		if (options->ttl_is_null && (DLOCK_G(ttl) < least || DLOCK_G(ttl) > most)) { /* its own limits allow it */
			zend_value_error("dlock.ttl must be between %.10g and %.10g seconds on this server%s; or give a $ttl",
				least, most,
				options->ttls.is_guarded ? ", since no lease time may exceed the guard, which its option \"guard\" sets"
										 : "");
			return false;
		}
		if (!dlock_check_ttl(
				options->ttl_is_null ? DLOCK_G(ttl) : options->ttl, options->ttls, options->ttl_arg, &manager->ttl)) {
			return false;
		}
	}
	if (!dlock_check_timeout(
			options->timeout, options->timeout_is_null, otherwise, options->timeout_arg, &manager->timeout)) {
		return false;
	}
	manager->reentrant = options->reentrant;
	manager->renew = options->renew_is_null ? DLOCK_RENEW_WITHOUT_TTL
		: options->renew                    ? DLOCK_RENEW_ALWAYS
											: DLOCK_RENEW_NEVER;
	manager->throw_on_loss = options->on_loss && zend_string_equals_literal(options->on_loss, "throw");
	if (options->on_loss && !manager->throw_on_loss && !zend_string_equals_literal(options->on_loss, "flag")) {
		zend_argument_value_error(options->on_loss_arg, "must be either \"flag\" or \"throw\"");
		return false;
	}
	return true;
}

/* ---- acquiring ---- */

static dlock_metric metric_of(dlock_status status)
{
	switch (status) {
	case DLOCK_OK:
		return DLOCK_METRIC_ACQUIRED;
	case DLOCK_TIMEOUT:
		return DLOCK_METRIC_TIMEOUT;
	case DLOCK_DEADLOCK:
		return DLOCK_METRIC_DEADLOCK;
	case DLOCK_CONNECTION:
		return DLOCK_METRIC_CONNECTION;
	case DLOCK_QUORUM:
		return DLOCK_METRIC_QUORUM;
	default:
		return DLOCK_METRIC_OTHER;
	}
}

/* For the totals of all workers. If the claim did not wait, the time is not worth a look at the clock. */
static void count_for_all(dlock_hold *hold, dlock_nanos start, dlock_status status)
{
	const dlock_claim *claim = hold->entry.claim;

	dlock_hold_count_waiting(hold, false);
	dlock_nanos waited = claim->waited ? dlock_now() - start : 0;
	dlock_metrics_count(hold->metrics, metric_of(status));
	dlock_metrics_waited(hold->metrics, waited);
	DLOCK_PROBE(acquire__done, claim, status, waited);
	if (status == DLOCK_OK && claim->received) {
		dlock_metrics_count(hold->metrics, DLOCK_METRIC_HANDED_OVER);
	}
}

static void count_wait(const dlock_claim *claim, dlock_nanos start, dlock_status status)
{
	dlock_counters *counters = &DLOCK_G(counters);

	if (status == DLOCK_OK) {
		counters->acquisitions++;
		counters->hand_overs_received += claim->received;
	} else if (status == DLOCK_TIMEOUT) {
		counters->timeouts++;
	}
	counters->guard_waits += claim->guarded;
	if (claim->waited) {
		counters->waits++;
		counters->wait_time += dlock_now() - start;
	}
}

/* Passes a lease to the renewal thread if it is to be renewed, or if its loss is to be thrown. It also passes one that
 * is as short as a grant, or that a server refused or has not answered. */
static dlock_status start_renewal(const dlock_manager *manager, dlock_hold *hold, bool renew, dlock_error *error)
{
	dlock_claim *claim = hold->entry.claim;
	dlock_upkeep upkeep = { .renew = renew, .most = dlock_from_seconds(DLOCK_G(max_hold)) };

	hold->throws = manager->throw_on_loss;
	bool throws = dlock_hold_throws(hold);
	if (!renew && !throws) {
		bool needed = claim->incomplete || claim->unanswered || atomic_load(&claim->short_lease);
		bool begun = needed && dlock_renewal_begin(claim, &upkeep, error) == DLOCK_OK;
		/* The lock is held without a thread, too. Only a short lease has to be extended here. */
		return begun || !atomic_load(&claim->short_lease) ? DLOCK_OK : dlock_hold_extend(hold, claim->ttl, error);
	}
	if (throws) {
		upkeep.lost = dlock_loss_signal_raise;
		upkeep.context = dlock_loss_signal_here();
		if (!upkeep.context) {
			return dlock_fail(
				error, DLOCK_FAILED, "Cannot report a loss, because no descriptor is left: %s", strerror(errno));
		}
	}
	return dlock_renewal_begin(claim, &upkeep, error);
}

static bool is_renewed(const dlock_manager *manager, bool ttl_given)
{
	return !dlock_manager_is_session_based(manager)
		&& (manager->renew == DLOCK_RENEW_ALWAYS || (manager->renew == DLOCK_RENEW_WITHOUT_TTL && !ttl_given));
}

/* Handles signals that came meanwhile, before the caller receives the lock. If a handler throws after a method has
 * returned, PHP may lose the returned value: a lock that no code can release. True: a handler has thrown. */
static bool interrupts_throw(dlock_hold *hold)
{
	if (dlock_is_interrupted()) {
		hold->owned = true; /* a handler must not free a lease that ends meanwhile */
		zend_try {
			dlock_run_interrupts();
		} zend_catch { /* a fatal error or a time limit: no object will own it, so the registry frees it */
			hold->owned = false;
			zend_bailout();
		} zend_end_try();
		hold->owned = false;
	}
	return EG(exception) != NULL;
}

dlock_status dlock_manager_start_upkeep(
	const dlock_manager *manager, dlock_hold *hold, bool ttl_given, dlock_error *error)
{
	dlock_status status = start_renewal(manager, hold, is_renewed(manager, ttl_given), error);

	return status == DLOCK_OK && interrupts_throw(hold) ? DLOCK_INTERRUPTED : status;
}

/* Releases now what the caller does not receive. Otherwise the lock would stay for its lease time, and a position in
 * the queue for the session. */
static void give_up(dlock_hold *hold)
{
	hold->release_at_end = true;
	dlock_hold_discard(hold);
}

/* ---- entering once more ---- */

/* The longest requested lease time counts, up to the guard of the object that acquired the lock: the server may not
 * know a longer one. If the lease already has it, no server is asked. DLOCK_LOST is not reported to the caller, so it
 * does not count as told. */
static dlock_status apply_terms(
	const dlock_manager *manager, dlock_hold *hold, const dlock_terms *terms, dlock_error *error)
{
	dlock_claim *claim = hold->entry.claim;
	bool on = dlock_renewal_is_on(claim), renew = on || is_renewed(manager, terms->ttl_given);
	bool ends = renew && dlock_renewal_is_used_up(claim); /* dlock.max_hold ends what is renewed */
	dlock_nanos ttl = dlock_earlier(terms->ttl, dlock_backend_ttls(claim->backend).most), remaining;

	dlock_hold_refresh(hold, &remaining);
	dlock_nanos has = on ? claim->ttl : remaining + dlock_set_aside(claim->backend, ttl);
	if (!dlock_manager_is_session_based(manager) && !ends && ttl > has) {
		dlock_status status = dlock_claim_extend(claim, ttl, error);
		if (status != DLOCK_OK) {
			return status;
		}
	}
	if (renew == on && (!manager->throw_on_loss || dlock_hold_throws(hold))) {
		hold->throws = manager->throw_on_loss;
		return DLOCK_OK;
	}
	return start_renewal(manager, hold, renew, error);
}

/* DLOCK_LOST: the strand holds nothing that it could enter, or has lost it, and that is not to be thrown. */
static dlock_status enter(const dlock_manager *manager, const dlock_resources *resources, const dlock_terms *terms,
	dlock_hold **entered, dlock_error *error)
{
	dlock_registry_entry *entry = dlock_registry_find_reentrant(&DLOCK_G(registry), manager->backend,
		dlock_resource_names(resources), resources->count, dlock_strand());
	if (!entry) {
		return DLOCK_LOST;
	}
	dlock_hold *hold = dlock_hold_enter(dlock_hold_from(entry), manager->backend, manager->release_at_end, error);
	if (!hold) {
		return DLOCK_FAILED;
	}
	hold->is_acquired_now = true;
	dlock_status status = apply_terms(manager, hold, terms, error);
	hold->is_acquired_now = false;
	if (status == DLOCK_LOST && dlock_hold_throws(hold)) { /* the renewal thread no longer looks after the claim */
		dlock_loss_signal_raise(&DLOCK_G(loss_signal));
	}
	if ((status == DLOCK_OK || status == DLOCK_LOST) && interrupts_throw(hold)) {
		status = DLOCK_INTERRUPTED;
	}
	if (status == DLOCK_OK) {
		*entered = hold;
	} else {
		give_up(hold); /* a signal handler may have released all other entries */
	}
	return status;
}

/* ---- waiting ---- */

/* Would a wait for this name be a wait of the strand for itself, without end? If the thread sleeps, claims of all its
 * strands count. */
static bool waits_for_name(const dlock_manager *manager, dlock_name name, int64_t permits, bool sleeps,
	const dlock_claim *waiting, dlock_error *error)
{
	const dlock_claim *claim = dlock_registry_find_endless(&DLOCK_G(registry), manager->backend, name.text, name.len,
		permits, sleeps ? DLOCK_ANY_STRAND : dlock_strand(), waiting);

	if (claim && manager->std.ce == dlock_ce_semaphore) {
		dlock_fail(error, DLOCK_DEADLOCK,
			"This process holds too many permits of the semaphore \"%s\" already, and would wait for itself",
			dlock_show(name.text, name.len).text);
	} else if (claim) {
		dlock_fail(error, DLOCK_DEADLOCK, claim->state == DLOCK_CLAIM_WAITING
			? "This process waits for the lock \"%s\" already, and would wait for itself"
			: "This process holds the lock \"%s\" already, and would wait for itself",
			dlock_show(name.text, name.len).text);
	}
	return claim;
}

/* The same for each of several names. `waiting`: the claim that waits; NULL: there is none yet. */
static bool waits_for_itself(const dlock_manager *manager, const dlock_resources *resources, int64_t permits,
	dlock_wait_limit limit, bool sleeps, const dlock_claim *waiting, dlock_error *error)
{
	bool waits = false;

	for (int i = 0; i < resources->count && !waits && limit.attempts == 0 && limit.timeout > 0; i++) {
		waits = waits_for_name(manager, dlock_resource_names(resources)[i], permits, sleeps, waiting, error);
	}
	return waits;
}

/* If the claim is explained, `error` has the reason. */
static dlock_status report_timeout(
	const dlock_manager *manager, const dlock_claim *claim, double seconds, dlock_error *error)
{
	dlock_error reason = *error;
	const char *text = claim->explained ? ": " : "";

	if (!claim->explained) {
		reason.message[0] = '\0';
	}
	if (manager->std.ce == dlock_ce_semaphore) {
		return dlock_fail(error, DLOCK_TIMEOUT,
			"Could not acquire %" PRId64 " of the %" PRId64 " permits of the semaphore \"%s\" within %g s%s%s",
			claim->permits, manager->backend->capacity, dlock_claim_name(claim).text, seconds, text, reason.message);
	}
	const char *what = claim->count > 1 ? claim->explained ? "were not granted" : "were not all free"
		: claim->explained              ? "was not granted"
										: "was not free";
	return dlock_fail(error, DLOCK_TIMEOUT, "The lock%s \"%s\" %s within %g s%s%s", claim->count > 1 ? "s" : "",
		dlock_claim_name(claim).text, what, seconds, text, reason.message);
}

/* If a waiter ahead in the queue waits for these permits, the claim would wait for itself, too. */
static void note_own_permits(
	const dlock_manager *manager, dlock_claim *claim, dlock_wait_limit limit, bool sleeps)
{
	claim->own_permits = limit.attempts == 0 && limit.timeout > 0 && manager->backend->capacity > 1
		? dlock_registry_count_endless(
			  &DLOCK_G(registry), manager->backend, claim->resource, claim->resource_len,
			  sleeps ? DLOCK_ANY_STRAND : dlock_strand(), claim)
		: 0;
}

static dlock_status report_deadlock(const dlock_claim *claim, dlock_error *error)
{
	return dlock_fail(error, DLOCK_DEADLOCK,
		"This process would wait for itself: it is behind one that waits for what this process holds of \"%s\" already",
		dlock_claim_name(claim).text);
}

static dlock_status wait_for(
	const dlock_manager *manager, dlock_hold *hold, const dlock_resources *resources, dlock_wait_limit limit,
	dlock_error *error)
{
	dlock_claim *claim = hold->entry.claim;
	dlock_nanos start = dlock_now();
	dlock_wait wait = dlock_interruptible(dlock_after(start, limit.timeout));
	dlock_status status;
	bool own = false; /* it waits for itself directly */

	hold->metrics = dlock_metrics_place(manager->backend->kind, claim->resource, claim->resource_len);
	dlock_hold_count_waiting(hold, true);
	DLOCK_PROBE(acquire__start, claim, manager->backend->ops->name, 0);
	note_own_permits(manager, claim, limit, !wait.suspend);
	wait.attempts = limit.attempts;
	wait.pause = limit.pause;
	while ((status = dlock_claim_acquire(claim, &wait, error)) == DLOCK_INTERRUPTED) {
		if (!dlock_strand_is_cancelled()) {
			dlock_run_interrupts();
		}
		if (dlock_strand_is_cancelled()) {
			break;
		}
		dlock_go_on_waiting(&wait);
		if (waits_for_itself(manager, resources, claim->permits, limit, !wait.suspend, claim,
				error)) { /* a handler has acquired it */
			status = DLOCK_DEADLOCK;
			own = true;
			break;
		}
		note_own_permits(manager, claim, limit, !wait.suspend);
	}
	count_wait(claim, start, status);
	count_for_all(hold, start, status);
	if (status == DLOCK_DEADLOCK && !own) {
		return report_deadlock(claim, error);
	}
	return status == DLOCK_TIMEOUT ? report_timeout(manager, claim, (double) limit.timeout / DLOCK_SECOND, error)
								   : status;
}

/* DLOCK_PENDING: the lock was acquired, but lost before its strand resumed, because other strands kept that from
 * running. */
static dlock_status acquire(dlock_manager *manager, const dlock_resources *resources, dlock_terms terms,
	int64_t permits, dlock_wait_limit limit, dlock_hold **acquired, dlock_error *error)
{
	dlock_description *description = dlock_description_here();
	dlock_claim *claim = dlock_claim_new_of(
		manager->backend, dlock_resource_names(resources), resources->count, terms.ttl, NULL, error);
	dlock_hold *hold = dlock_hold_new(claim, manager->release_at_end, error);
	if (!hold) {
		return DLOCK_FAILED;
	}
	bool is_suspended = dlock_strand_suspend();
	dlock_nanos remaining;
	claim->permits = permits;
	claim->description = dlock_description_retain(description);
	hold->is_acquired_now = true;
	hold->entry.reentrant = manager->reentrant && limit.attempts == 0;
	hold->timeout = manager->timeout;
	dlock_registry_add(&DLOCK_G(registry), &hold->entry);
	dlock_status status = wait_for(manager, hold, resources, limit, error);
	if (status == DLOCK_OK && dlock_strand_is_cancelled()) { /* after the lock was granted */
		status = DLOCK_INTERRUPTED;
	}
	if (status == DLOCK_OK && is_suspended && dlock_claim_refresh(claim, &remaining) == DLOCK_CLAIM_LOST) {
		status = DLOCK_PENDING;
	}
	if (status == DLOCK_OK) {
		dlock_hold_count_held(hold);
		status = dlock_manager_start_upkeep(manager, hold, terms.ttl_given, error);
	}
	hold->is_acquired_now = false;
	if (status == DLOCK_OK) {
		*acquired = hold;
		return DLOCK_OK;
	}
	give_up(hold);
	dlock_strand_go_on();
	return status;
}

dlock_status dlock_manager_acquire(dlock_manager *manager, const dlock_resources *resources, dlock_terms terms,
	dlock_wait_limit limit, dlock_hold **acquired, dlock_error *error)
{
	int64_t permits = terms.permits > 0 ? terms.permits : manager->permits;
	dlock_nanos deadline = dlock_after(dlock_now(), limit.timeout);
	dlock_status status = DLOCK_LOST;

	if (manager->reentrant && limit.attempts == 0) {
		status = enter(manager, resources, &terms, acquired, error);
	}
	if (status != DLOCK_LOST) {
		return status;
	}
	if (waits_for_itself(manager, resources, permits, limit, !dlock_strand_suspend(), NULL, error)) {
		return DLOCK_DEADLOCK;
	}
	while ((status = acquire(manager, resources, terms, permits, limit, acquired, error)) == DLOCK_PENDING) {
		dlock_nanos left = deadline == DLOCK_FOREVER ? DLOCK_FOREVER : deadline - dlock_now();
		limit.timeout = left > 0 ? left : 0;
	}
	return status;
}

/* Acquires the other permits with another claim, which is served before all writers. If no thread renews the lease, it
 * waits no longer than the lease lasts. */
static dlock_status wait_for_rest(dlock_hold *hold, dlock_nanos timeout, dlock_error *error)
{
	dlock_claim *claim = hold->entry.claim;
	dlock_manager as = { .backend = claim->backend, .release_at_end = true, .renew = DLOCK_RENEW_NEVER };
	as.std.ce = dlock_ce_read_write_lock_side;
	dlock_resources resources = { .count = 1, .one = claim->names[0] };
	dlock_terms terms = { claim->ttl, true, DLOCK_PERMITS_ALL - 1 };
	dlock_nanos remaining;
	dlock_hold *rest;

	dlock_hold_refresh(hold, &remaining);
	if (!dlock_renewal_is_on(claim) && remaining < timeout) {
		timeout = remaining;
	}
	dlock_status status
		= dlock_manager_acquire(&as, &resources, terms, (dlock_wait_limit) { .timeout = timeout }, &rest, error);
	if (status != DLOCK_OK) {
		return status;
	}
	status = dlock_hold_upgrade(hold, rest->entry.claim->token, error);
	if (status == DLOCK_OK) {
		dlock_hold_free(rest); /* its permits are the writer's now */
	} else {
		dlock_hold_discard(rest);
	}
	return status;
}

dlock_status dlock_manager_upgrade(dlock_hold *hold, dlock_nanos timeout, dlock_error *error)
{
	dlock_nanos deadline = dlock_after(dlock_now(), timeout), left = timeout, remaining;
	dlock_status status = dlock_hold_upgrade(hold, NULL, error);

	while (status == DLOCK_TIMEOUT && left > 0) {
		status = wait_for_rest(hold, left, error);
		left = deadline == DLOCK_FOREVER ? DLOCK_FOREVER : deadline - dlock_now();
		dlock_claim_state state = dlock_hold_refresh(hold, &remaining);
		if (status == DLOCK_TIMEOUT && state != DLOCK_CLAIM_HELD && state != DLOCK_CLAIM_UNCERTAIN) {
			return DLOCK_LOST;
		}
	}
	if (status == DLOCK_TIMEOUT && hold->entry.claim->explained) {
		dlock_error reason = *error;
		dlock_fail(error, DLOCK_TIMEOUT, "The lease of the lock \"%s\" is a reader's as before: %s",
			dlock_claim_name(hold->entry.claim).text, reason.message);
	} else if (status == DLOCK_TIMEOUT) {
		dlock_fail(error, DLOCK_TIMEOUT,
			"The lock \"%s\" was read by others for %g s: the lease is a reader's as before",
			dlock_claim_name(hold->entry.claim).text, (double) timeout / DLOCK_SECOND);
	}
	return status;
}

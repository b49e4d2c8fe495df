#include "common.h"

#include "zend_exceptions.h"

/* What the three lock classes have in common. */

static zend_object_handlers handlers;

dlock_manager *dlock_manager_this(zval *object)
{
	dlock_manager *manager = dlock_manager_from(Z_OBJ_P(object));

	if (!manager->backend) {
		zend_throw_error(NULL, "%s::__construct() has not been called", ZSTR_VAL(Z_OBJCE_P(object)->name));
		return NULL;
	}
	return manager;
}

/* ---- the object ---- */

static void discard_held(zval *value)
{
	dlock_hold_discard(Z_PTR_P(value));
}

static zend_object *manager_create(zend_class_entry *class)
{
	dlock_manager *manager = zend_object_alloc(sizeof *manager, class);

	zend_object_std_init(&manager->std, class);
	object_properties_init(&manager->std, class);
	manager->std.handlers = &handlers;
	zend_hash_init(&manager->held, 0, NULL, discard_held, 0);
	return &manager->std;
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

static bool is_session_based(const dlock_manager *manager)
{
	return manager->ttl == 0;
}

static HashTable *manager_debug_info(zend_object *object, int *is_temporary)
{
	dlock_manager *manager = dlock_manager_from(object);
	zval info, held;
	zend_string *resource;
	zval *hold;

	array_init(&info);
	array_init(&held);
	if (manager->backend) {
		add_assoc_str(&info, "servers", zend_string_copy(manager->servers));
		add_assoc_str(&info, is_session_based(manager) ? "root" : "prefix", zend_string_copy(manager->prefix));
		if (!is_session_based(manager)) {
			add_assoc_double(&info, "ttl", (double) manager->ttl / DLOCK_SECOND);
		}
		add_assoc_double(&info, "timeout", (double) manager->timeout / DLOCK_SECOND);
		ZEND_HASH_FOREACH_STR_KEY_VAL(&manager->held, resource, hold) {
			dlock_nanos remaining;
			dlock_hold_look(Z_PTR_P(hold), &remaining);
			add_assoc_double_ex(&held, ZSTR_VAL(resource), ZSTR_LEN(resource), (double) remaining / DLOCK_SECOND);
		} ZEND_HASH_FOREACH_END();
	}
	add_assoc_zval(&info, "held", &held);
	*is_temporary = 1;
	return Z_ARRVAL(info);
}

void dlock_manager_register(zend_class_entry *class)
{
	class->create_object = manager_create;
	memcpy(&handlers, zend_get_std_object_handlers(), sizeof handlers);
	handlers.offset = offsetof(dlock_manager, std);
	handlers.free_obj = manager_free;
	handlers.clone_obj = NULL;
	handlers.get_debug_info = manager_debug_info;
}

bool dlock_manager_configure(dlock_manager *manager, const dlock_options *options)
{
	if (manager->backend) {
		zend_throw_error(NULL, "%s::__construct() has been called already", ZSTR_VAL(manager->std.ce->name));
		return false;
	}
	if (!dlock_check_settings()) {
		return false;
	}
	dlock_nanos otherwise = (dlock_nanos) (DLOCK_G(timeout) * (double) DLOCK_SECOND);
	manager->release_at_end = options->release_is_null ? DLOCK_G(release_on_shutdown) : options->release;
	if (!manager->release_at_end) {
		dlock_ending_watch();
	}
	if (options->ttl_arg) {
		double ttl = options->ttl_is_null ? DLOCK_G(ttl) : options->ttl;
		if (!dlock_check_ttl(ttl, options->ttl_arg, &manager->ttl)) {
			return false;
		}
	}
	if (!dlock_check_timeout(options->timeout, options->timeout_is_null, otherwise, options->timeout_arg, &manager->timeout)) {
		return false;
	}
	manager->renew = options->renew_is_null ? DLOCK_RENEW_WITHOUT_TTL : options->renew ? DLOCK_RENEW_ALWAYS : DLOCK_RENEW_NEVER;
	manager->throw_on_loss = options->on_loss && zend_string_equals_literal(options->on_loss, "throw");
	if (options->on_loss && !manager->throw_on_loss && !zend_string_equals_literal(options->on_loss, "flag")) {
		zend_argument_value_error(options->on_loss_arg, "must be either \"flag\" or \"throw\"");
		return false;
	}
	return true;
}

/* ---- acquiring and releasing ---- */

static void count_wait(const dlock_claim *claim, dlock_nanos start, dlock_status status)
{
	dlock_counters *counters = &DLOCK_G(counters);

	if (status == DLOCK_OK) {
		counters->acquisitions++;
		counters->hand_overs_received += claim->received;
	} else if (status == DLOCK_TIMEOUT) {
		counters->timeouts++;
	}
	if (claim->waited) {
		counters->waits++;
		counters->wait_time += dlock_now() - start;
	}
}

/* Has the renewal thread look after a lease that is to be renewed, or whose loss is to be thrown, or that some servers refused or may have. */
static dlock_status look_after(const dlock_manager *manager, dlock_hold *hold, bool renew, dlock_error *error)
{
	dlock_claim *claim = hold->entry.claim;
	dlock_upkeep upkeep = { .renew = renew, .most = (dlock_nanos) (DLOCK_G(max_hold) * (double) DLOCK_SECOND) };

	if (!renew && !manager->throw_on_loss) {
		if (DLOCK_CAN_RENEW && (claim->incomplete || claim->unheard)) {
			dlock_renewal_begin(claim, &upkeep, error); /* without it, too, the lock is held */
		}
		return DLOCK_OK;
	}
	if (manager->throw_on_loss) {
		hold->throws = true;
		upkeep.lost = dlock_ring_alarm;
		upkeep.context = dlock_alarm_here();
		if (!upkeep.context) {
			return dlock_fail(error, DLOCK_FAILED, "No descriptor is left, so that a loss could not be told: %s", strerror(errno));
		}
		/* The full lease time of a lock just handed over is heard by this thread only. */
		if (!renew && claim->received && claim->ttl > 0) {
			dlock_status status = dlock_hold_extend(hold, claim->ttl, error);
			if (status != DLOCK_OK) {
				return status;
			}
		}
	}
	return dlock_renewal_begin(claim, &upkeep, error);
}

static bool is_renewed(const dlock_manager *manager, bool ttl_given)
{
	return !is_session_based(manager)
		&& (manager->renew == DLOCK_RENEW_ALWAYS || (manager->renew == DLOCK_RENEW_WITHOUT_TTL && !ttl_given && DLOCK_CAN_RENEW));
}

/* What is acquired or taken up is given to the caller behind this: signals that came meanwhile have been handled. Where a handler throws when a
 * method has returned, PHP may lose what it returned: a lock that nobody could release. True: it has thrown. */
static bool thrown_by_interrupts(dlock_hold *hold)
{
	if (dlock_is_interrupted()) {
		hold->owned = true; /* a lease that ends meanwhile is not to be freed by what a handler does */
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

/* Would the wait be one for this very process, without end? `waiting` is its claim, NULL where it has none yet. */
static bool waits_for_itself(const dlock_manager *manager, zend_string *resource, dlock_patience patience, const dlock_claim *waiting,
	dlock_error *error)
{
	dlock_claim *claim = NULL;

	if (patience.attempts == 0 && patience.timeout > 0) {
		claim = dlock_registry_find_endless(&DLOCK_G(registry), manager->backend, ZSTR_VAL(resource), ZSTR_LEN(resource), waiting);
	}
	if (claim) {
		dlock_fail(error, DLOCK_DEADLOCK, claim->state == DLOCK_CLAIM_WAITING
			? "This process waits for the lock \"%.100s\" already, and would wait for itself"
			: "This process holds the lock \"%.100s\" already, and would wait for itself", ZSTR_VAL(resource));
	}
	return claim;
}

dlock_hold *dlock_manager_acquire(dlock_manager *manager, zend_string *resource, dlock_lease_time time, dlock_patience patience,
	dlock_status *status, dlock_error *error)
{
	dlock_nanos start = dlock_now();
	dlock_wait wait = dlock_interruptible(dlock_after(start, patience.timeout));
	wait.attempts = patience.attempts;
	wait.pause = patience.pause;
	if (waits_for_itself(manager, resource, patience, NULL, error)) {
		*status = DLOCK_DEADLOCK;
		return NULL;
	}
	dlock_claim *claim = dlock_claim_new(manager->backend, ZSTR_VAL(resource), ZSTR_LEN(resource), time.ttl, NULL, error);
	dlock_hold *hold = dlock_hold_new(claim, manager->release_at_end, error);
	if (!hold) {
		*status = DLOCK_FAILED;
		return NULL;
	}
	dlock_registry_add(&DLOCK_G(registry), &hold->entry);
	while ((*status = dlock_claim_acquire(claim, &wait, error)) == DLOCK_INTERRUPTED) {
		dlock_run_interrupts();
		if (EG(exception)) {
			break;
		}
		if (waits_for_itself(manager, resource, patience, claim, error)) { /* since a handler has taken it */
			*status = DLOCK_DEADLOCK;
			break;
		}
		wait.wakeup = dlock_interruptible(wait.deadline).wakeup; /* a handler may have taken the first lease that needs it */
	}
	count_wait(claim, start, *status);
	if (*status == DLOCK_OK) {
		*status = look_after(manager, hold, is_renewed(manager, time.given), error);
	}
	if (*status == DLOCK_OK && !thrown_by_interrupts(hold)) {
		return hold;
	}
	if (*status == DLOCK_TIMEOUT) {
		dlock_fail(error, DLOCK_TIMEOUT, "The lock \"%.100s\" was not free within %g s", claim->resource,
			(double) patience.timeout / DLOCK_SECOND);
	}
	hold->release_at_end = true; /* a lock that nobody was given is not left to its lease time, nor a place in line to the session */
	dlock_hold_discard(hold);
	return NULL;
}

/* ---- lock() and release(), as userland classes have them ---- */

bool dlock_manager_lock(dlock_manager *manager, zend_string *resource, dlock_lease_time time, dlock_nanos timeout)
{
	dlock_status status;
	dlock_error error;
	zval value;
	dlock_hold *hold = dlock_manager_acquire(manager, resource, time, (dlock_patience) { .timeout = timeout }, &status, &error);

	if (!hold) {
		if (status != DLOCK_TIMEOUT && !EG(exception)) {
			dlock_throw(status, &error, manager->backend);
		}
		return false;
	}
	/* One that stands there already was lost, or this one could not have been acquired. */
	ZVAL_PTR(&value, hold);
	zend_hash_update(&manager->held, resource, &value);
	hold->owned = true;
	return true;
}

static dlock_hold *find_held(dlock_manager *manager, zend_string *resource)
{
	zval *value = zend_hash_find(&manager->held, resource);

	return value ? Z_PTR_P(value) : NULL;
}

ZEND_METHOD(DistributedLock, release)
{
	zend_string *resource;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(resource)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	if (!manager || !dlock_check_resource(manager, resource, 1)) {
		RETURN_THROWS();
	}
	dlock_hold *hold = find_held(manager, resource);
	if (!hold) {
		RETURN_FALSE;
	}
	dlock_status status = dlock_hold_release(hold, &error);
	zend_hash_del(&manager->held, resource);
	if (status != DLOCK_OK && status != DLOCK_LOST) {
		dlock_throw(status, &error, manager->backend);
		RETURN_THROWS();
	}
	RETURN_BOOL(status == DLOCK_OK);
}

ZEND_METHOD(DistributedLock, unlockAll)
{
	dlock_error error, problem;
	dlock_status worst = DLOCK_OK;
	zval *value;

	ZEND_PARSE_PARAMETERS_NONE();
	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	if (!manager) {
		RETURN_THROWS();
	}
	ZEND_HASH_FOREACH_VAL(&manager->held, value) {
		dlock_status status = dlock_hold_release(Z_PTR_P(value), &error);
		if (status != DLOCK_OK && (worst == DLOCK_OK || worst == DLOCK_LOST)) {
			worst = status;
			problem = error;
		}
	} ZEND_HASH_FOREACH_END();
	zend_hash_clean(&manager->held);
	if (worst != DLOCK_OK && worst != DLOCK_LOST) {
		dlock_throw(worst, &problem, manager->backend);
		RETURN_THROWS();
	}
	RETURN_BOOL(worst == DLOCK_OK);
}

ZEND_METHOD(DistributedLock, expire)
{
	zend_string *resource;
	double seconds;
	dlock_nanos ttl;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(2, 2)
		Z_PARAM_STR(resource)
		Z_PARAM_DOUBLE(seconds)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	if (!manager || !dlock_check_resource(manager, resource, 1) || !dlock_check_ttl(seconds, 2, &ttl)) {
		RETURN_THROWS();
	}
	dlock_hold *hold = find_held(manager, resource);
	if (hold) {
		dlock_renewal_stop(hold->entry.claim);
	}
	dlock_status status = hold ? dlock_hold_extend(hold, ttl, &error) : DLOCK_LOST;
	if (status != DLOCK_OK && status != DLOCK_LOST) {
		dlock_throw(status, &error, manager->backend);
		RETURN_THROWS();
	}
	RETURN_BOOL(status == DLOCK_OK);
}

ZEND_METHOD(DistributedLock, isLocking)
{
	zend_string *resource;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(resource)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	if (!manager || !dlock_check_resource(manager, resource, 1)) {
		RETURN_THROWS();
	}
	dlock_hold *hold = find_held(manager, resource);
	dlock_status status = hold ? dlock_hold_check(hold, &error) : DLOCK_LOST;
	if (status != DLOCK_OK && status != DLOCK_LOST) {
		dlock_throw(status, &error, manager->backend);
		RETURN_THROWS();
	}
	RETURN_BOOL(status == DLOCK_OK);
}

/* ---- LockManager ---- */

static bool check_ttl(const dlock_manager *manager, double seconds, bool is_null, uint32_t arg, dlock_lease_time *time)
{
	*time = (dlock_lease_time) { manager->ttl, !is_null };
	if (is_null) {
		return true;
	}
	if (is_session_based(manager)) {
		zend_argument_value_error(arg, "must be null: with ZooKeeper the session is the lease");
		return false;
	}
	return dlock_check_ttl(seconds, arg, &time->ttl);
}

ZEND_METHOD(DistributedLock, acquire)
{
	zend_string *resource;
	double timeout = 0, ttl = 0;
	bool no_timeout = true, no_ttl = true;
	dlock_nanos wait;
	dlock_lease_time time;
	dlock_status status;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(1, 3)
		Z_PARAM_STR(resource)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE_OR_NULL(timeout, no_timeout)
		Z_PARAM_DOUBLE_OR_NULL(ttl, no_ttl)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	if (!manager || !dlock_check_resource(manager, resource, 1)
			|| !dlock_check_timeout(timeout, no_timeout, manager->timeout, 2, &wait)
			|| !check_ttl(manager, ttl, no_ttl, 3, &time)) {
		RETURN_THROWS();
	}
	dlock_hold *hold = dlock_manager_acquire(manager, resource, time, (dlock_patience) { .timeout = wait }, &status, &error);
	if (!hold) {
		if (!EG(exception)) {
			dlock_throw(status, &error, manager->backend);
		}
		RETURN_THROWS();
	}
	dlock_lease_create(return_value, hold);
}

ZEND_METHOD(DistributedLock, tryAcquire)
{
	zend_string *resource;
	double timeout = 0, ttl = 0;
	bool no_ttl = true;
	dlock_nanos wait;
	dlock_lease_time time;
	dlock_status status;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(1, 3)
		Z_PARAM_STR(resource)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE(timeout)
		Z_PARAM_DOUBLE_OR_NULL(ttl, no_ttl)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	if (!manager || !dlock_check_resource(manager, resource, 1) || !dlock_check_timeout(timeout, false, 0, 2, &wait)
			|| !check_ttl(manager, ttl, no_ttl, 3, &time)) {
		RETURN_THROWS();
	}
	dlock_hold *hold = dlock_manager_acquire(manager, resource, time, (dlock_patience) { .timeout = wait }, &status, &error);
	if (hold) {
		dlock_lease_create(return_value, hold);
	} else if (status != DLOCK_TIMEOUT && !EG(exception)) {
		dlock_throw(status, &error, manager->backend);
	}
}

/* Releases what a critical section ran under, and throws where it was lost before the section ended. */
static void end_section(zval *lease)
{
	dlock_hold *hold = dlock_lease_hold(lease);
	dlock_nanos remaining;
	dlock_error error;

	if (!hold) { /* handed over inside the section */
		return;
	}
	const dlock_claim *claim = hold->entry.claim;
	dlock_claim_state state = dlock_hold_look(hold, &remaining);
	if (state == DLOCK_CLAIM_RELEASED || !dlock_claim_is_mine(claim)) {
		return;
	}
	/* A release that was not answered is no loss: the lease time was not over when the section ended. */
	bool lost = state == DLOCK_CLAIM_LOST;
	lost = dlock_hold_release(hold, &error) == DLOCK_LOST || lost;
	/* What the section was thrown for this very loss is enough. (Where it was caught, its number may be another exception's by now.) */
	bool told = hold->thrown && EG(exception) && EG(exception)->handle == hold->thrown
		&& dlock_is_lost_exception(EG(exception), claim->resource, DLOCK_LOST_WHILE_HELD);
	/* With an exception pending, the section's or the one below, PHP would lose a signal that came while the server was asked. Without
	 * one, what a handler throws behind this could lose the section's result, which may be a lease. */
	if (!(EG(exception) && zend_is_unwind_exit(EG(exception))) && dlock_is_interrupted()) {
		dlock_run_interrupts();
	}
	if (lost && !told) {
		/* PHP makes the section's own exception, if there is one, the previous of this. */
		dlock_throw_lost(claim->resource, "was lost before its critical section ended");
	}
}

ZEND_METHOD(DistributedLock, synchronized)
{
	zend_string *resource;
	zend_fcall_info call;
	zend_fcall_info_cache cache;
	double timeout = 0, ttl = 0;
	bool no_timeout = true, no_ttl = true;
	dlock_nanos wait;
	dlock_lease_time time;
	dlock_status status;
	dlock_error error;
	zval lease;

	ZEND_PARSE_PARAMETERS_START(2, 4)
		Z_PARAM_STR(resource)
		Z_PARAM_FUNC(call, cache)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE_OR_NULL(timeout, no_timeout)
		Z_PARAM_DOUBLE_OR_NULL(ttl, no_ttl)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	if (!manager || !dlock_check_resource(manager, resource, 1)
			|| !dlock_check_timeout(timeout, no_timeout, manager->timeout, 3, &wait)
			|| !check_ttl(manager, ttl, no_ttl, 4, &time)) {
		RETURN_THROWS();
	}
	/* Of an array that refers to it, a signal handler may take the object away while the lock is waited for. */
	zend_object *callee = cache.object;
	if (callee) {
		GC_ADDREF(callee);
	}
	dlock_hold *hold = dlock_manager_acquire(manager, resource, time, (dlock_patience) { .timeout = wait }, &status, &error);
	if (hold) {
		dlock_lease_create(&lease, hold);
		call.retval = return_value;
		call.params = &lease;
		call.param_count = 1;
		zend_call_function(&call, &cache);
		if (Z_ISREF_P(return_value)) { /* of a section that returns by reference: this method returns a value */
			zend_unwrap_reference(return_value);
		}
		end_section(&lease);
		zval_ptr_dtor(&lease);
	} else if (!EG(exception)) {
		dlock_throw(status, &error, manager->backend);
	}
	if (callee) {
		OBJ_RELEASE(callee);
	}
}

ZEND_METHOD(DistributedLock, attach)
{
	zend_string *handle;
	char token[DLOCK_TOKEN_MAX + 1];
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(handle)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	if (!manager) {
		RETURN_THROWS();
	}
	dlock_claim *claim = dlock_handle_open(handle, manager->backend, token, &error);
	if (!claim) {
		zend_argument_value_error(1, "%s", error.message);
		RETURN_THROWS();
	}
	dlock_hold *hold = dlock_hold_new(claim, manager->release_at_end, &error);
	dlock_status status = hold ? dlock_claim_attach(claim, token, &error) : DLOCK_FAILED;
	if (status != DLOCK_OK) {
		if (hold) {
			dlock_hold_free(hold);
		}
		dlock_throw(status, &error, manager->backend);
		RETURN_THROWS();
	}
	dlock_registry_add(&DLOCK_G(registry), &hold->entry);
	status = look_after(manager, hold, is_renewed(manager, !claim->renewed), &error);
	if (status != DLOCK_OK || thrown_by_interrupts(hold)) {
		dlock_hold_discard(hold);
		if (!EG(exception)) {
			dlock_throw(status, &error, manager->backend);
		}
		RETURN_THROWS();
	}
	dlock_lease_create(return_value, hold);
}

ZEND_METHOD(DistributedLock, isLocked)
{
	zend_string *resource;
	dlock_error error;
	bool locked;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(resource)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	if (!manager || !dlock_check_resource(manager, resource, 1)) {
		RETURN_THROWS();
	}
	dlock_status status = manager->backend->ops->locked(manager->backend, ZSTR_VAL(resource), ZSTR_LEN(resource), &locked, &error);
	if (status != DLOCK_OK) {
		dlock_throw(status, &error, manager->backend);
		RETURN_THROWS();
	}
	RETURN_BOOL(locked);
}

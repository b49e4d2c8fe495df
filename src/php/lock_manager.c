#include "arguments.h"
#include "classes.h"
#include "errors.h"
#include "globals.h"
#include "handle.h"
#include "interrupts.h"
#include "lease.h"
#include "manager_acquire.h"

#include "zend_exceptions.h"

/* Dlock\LockManager's methods, which are the same for the three lock classes. */

static bool check_ttl(const dlock_manager *manager, double seconds, bool is_null, uint32_t arg, dlock_lease_time *time)
{
	*time = (dlock_lease_time) { manager->ttl, !is_null };
	if (is_null) {
		return true;
	}
	if (dlock_manager_is_session_based(manager)) {
		zend_argument_value_error(arg, "must be null: with ZooKeeper the session is the lease");
		return false;
	}
	return dlock_check_ttl(seconds, dlock_backend_ttls(manager->backend), arg, &time->ttl);
}

ZEND_METHOD(DistributedLock, acquire)
{
	zend_string *resource;
	double timeout = 0, ttl = 0;
	bool no_timeout = true, no_ttl = true;
	dlock_nanos wait;
	dlock_lease_time time;
	dlock_hold *hold;
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
	dlock_status status = dlock_manager_acquire(manager, resource, time, (dlock_wait_limit) { .timeout = wait }, &hold, &error);
	if (status != DLOCK_OK) {
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
	dlock_hold *hold;
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
	dlock_status status = dlock_manager_acquire(manager, resource, time, (dlock_wait_limit) { .timeout = wait }, &hold, &error);
	if (status == DLOCK_OK) {
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
	/* Once is enough: the section may have been left by this very loss. (Where that was caught, its number may be another exception's by now.) */
	bool thrown = hold->thrown && EG(exception) && EG(exception)->handle == hold->thrown
		&& dlock_is_lost_exception(EG(exception), claim->resource, DLOCK_LOST_WHILE_HELD);
	/* With an exception pending, the section's or the one below, PHP would lose a signal that came while the server was asked. Without
	 * one, what a handler throws after this could lose the section's result, which may be a lease. */
	if (!(EG(exception) && zend_is_unwind_exit(EG(exception))) && dlock_is_interrupted()) {
		dlock_run_interrupts();
	}
	if (lost && !thrown) {
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
	dlock_hold *hold;
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
	dlock_status status = dlock_manager_acquire(manager, resource, time, (dlock_wait_limit) { .timeout = wait }, &hold, &error);
	if (status == DLOCK_OK) {
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
	status = dlock_manager_keep(manager, hold, !claim->renewed, &error);
	if (status != DLOCK_OK) {
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


#include "../classes.h"
#include "../description.h"
#include "../request/errors.h"
#include "../globals.h"
#include "../request/handle.h"
#include "../wait/interrupts.h"
#include "../metrics.h"
#include "../request/unkept.h"
#include "arguments.h"
#include "lease.h"
#include "manager.h"
#include "resources.h"

#include "zend_exceptions.h"
#include "zend_generators.h"

/* The methods of Dlock\LockManager, which are the same for all lock classes. */

static bool check_ttl(const dlock_manager *manager, double seconds, uint32_t arg, dlock_nanos *ttl)
{
	if (dlock_manager_is_session_based(manager)) {
		zend_argument_value_error(arg, "must be null: with ZooKeeper the session is the lease");
		return false;
	}
	return dlock_check_ttl(seconds, dlock_backend_ttls(manager->backend), arg, ttl);
}

static bool check_permits(const dlock_manager *manager, zend_long permits, uint32_t arg)
{
	if (permits < 1 || permits > manager->backend->capacity) {
		zend_argument_value_error(
			arg, "must be between 1 and " ZEND_LONG_FMT ", the capacity", (zend_long) manager->backend->capacity);
		return false;
	}
	return true;
}

/* The manager of the object, and what the arguments ask for. The caller frees `resources`. NULL after an exception. */
static dlock_manager *check(zval *this, const dlock_acquire_arguments *arguments, dlock_terms *terms, dlock_nanos *wait,
	dlock_resources *resources)
{
	dlock_manager *manager = dlock_manager_this(this);
	bool good = manager
		&& (!arguments->permits_arg || check_permits(manager, arguments->permits, arguments->permits_arg))
		&& dlock_check_timeout(
			arguments->timeout, arguments->timeout_is_null, manager->timeout, arguments->timeout_arg, wait);

	if (!good) {
		return NULL;
	}
	*terms = (dlock_terms) { manager->ttl, !arguments->ttl_is_null, arguments->permits };
	good = (arguments->ttl_is_null || check_ttl(manager, arguments->ttl, arguments->ttl_arg, &terms->ttl))
		&& dlock_resources_read(manager, &arguments->resource, 1, resources);
	return good ? manager : NULL;
}

/* `tries`: at the timeout, null is returned. */
static void acquire(zval *this, const dlock_acquire_arguments *arguments, bool tries, zval *return_value)
{
	dlock_wait_limit limit = { 0 };
	dlock_terms terms;
	dlock_resources resources;
	dlock_hold *hold;
	dlock_error error;
	dlock_manager *manager = check(this, arguments, &terms, &limit.timeout, &resources);

	if (!manager) {
		RETURN_THROWS();
	}
	dlock_status status = dlock_manager_acquire(manager, &resources, terms, limit, &hold, &error);
	if (status == DLOCK_OK) {
		dlock_lease_create(return_value, hold, &resources);
		dlock_warn_if_unkept(hold->entry.claim);
	} else if (!EG(exception) && !(tries && status == DLOCK_TIMEOUT)) {
		dlock_throw(status, &error, manager->backend);
	}
	dlock_resources_free(&resources);
}

void dlock_manager_do_acquire(zval *this, const dlock_acquire_arguments *arguments, zval *return_value)
{
	acquire(this, arguments, false, return_value);
}

void dlock_manager_do_try_acquire(zval *this, const dlock_acquire_arguments *arguments, zval *return_value)
{
	acquire(this, arguments, true, return_value);
}

/* Releases the lock of a critical section, and throws if it was lost before the section ended. */
static void end_section(zval *lease)
{
	dlock_hold *hold = dlock_lease_hold(lease);
	dlock_nanos remaining;
	dlock_error error;

	if (!hold) { /* the section has detached it */
		return;
	}
	const dlock_claim *claim = hold->entry.claim;
	dlock_claim_state state = dlock_hold_refresh(hold, &remaining);
	if (state == DLOCK_CLAIM_RELEASED || !dlock_claim_is_mine(claim)) {
		return;
	}
	/* A release without a reply is no loss: the lease had not expired when the section ended. */
	bool lost = state == DLOCK_CLAIM_LOST;
	lost = dlock_hold_release(hold, &error) == DLOCK_LOST || lost;
	/* A loss is thrown once: this very loss may have ended the section. If the section has caught that exception,
	 * another exception may have its number by now. */
	bool thrown = hold->thrown && EG(exception) && EG(exception)->handle == hold->thrown
		&& dlock_is_lost_exception(EG(exception), claim->resource, claim->resource_len, DLOCK_LOST_WHILE_HELD);
	/* While an exception is pending, the section's or the one below, PHP would lose a signal that came during the
	 * release. Without one, a handler that throws after this could lose the section's result, which may be a lease. */
	if (!(EG(exception) && dlock_is_exit(EG(exception))) && dlock_is_interrupted()) {
		dlock_run_interrupts();
	}
	if (lost && !thrown) {
		/* If the section has thrown an exception, PHP makes it the previous one of this. */
		dlock_throw_lost(claim->resource, claim->resource_len, "was lost before its critical section ended");
	}
}

/* Has the section only begun, so that the rest of it would run without the lock? */
static bool is_unfinished(const zval *result)
{
	if (Z_TYPE_P(result) != IS_OBJECT) {
		return false;
	}
	const zend_class_entry *class = Z_OBJCE_P(result);

	return class == zend_ce_generator || zend_hash_str_exists(&class->function_table, ZEND_STRL("then"))
		|| zend_string_equals_literal_ci(class->name, "Amp\\Future");
}

static void refuse_unfinished(zval *result, const dlock_resources *resources)
{
	dlock_error name;

	dlock_fail(&name, DLOCK_OK, "%s", dlock_resources_show(resources).text);
	zend_argument_type_error(2,
		"must not return a %s, which would run on without the lock \"%s\": finish the work inside the section",
		ZSTR_VAL(Z_OBJCE_P(result)->name), name.message);
	zval_ptr_dtor(result);
	ZVAL_NULL(result);
}

void dlock_manager_do_synchronized(zval *this, const dlock_acquire_arguments *arguments, zend_fcall_info *section,
	zend_fcall_info_cache *cache, zval *return_value)
{
	dlock_wait_limit limit = { 0 };
	dlock_terms terms;
	dlock_resources resources;
	dlock_hold *hold;
	dlock_error error;
	zval lease;
	dlock_manager *manager = check(this, arguments, &terms, &limit.timeout, &resources);

	if (!manager) {
		RETURN_THROWS();
	}
	/* If the callable is an array with a reference to its object, a signal handler may drop the object during the
	 * wait. */
	zend_object *callee = cache->object;
	if (callee) {
		GC_ADDREF(callee);
	}
	dlock_status status = dlock_manager_acquire(manager, &resources, terms, limit, &hold, &error);
	if (status == DLOCK_OK) {
		dlock_lease_create(&lease, hold, &resources);
		section->retval = return_value;
		section->params = &lease;
		section->param_count = 1;
		zend_call_function(section, cache);
		if (Z_ISREF_P(return_value)) { /* the section returns by reference, this method a value */
			zend_unwrap_reference(return_value);
		}
		end_section(&lease);
		zval_ptr_dtor(&lease);
		if (!EG(exception) && is_unfinished(return_value)) {
			refuse_unfinished(return_value, &resources);
		}
	} else if (!EG(exception)) {
		dlock_throw(status, &error, manager->backend);
	}
	dlock_resources_free(&resources);
	if (callee) {
		OBJ_RELEASE(callee);
	}
}

ZEND_METHOD(DistributedLock, acquire)
{
	dlock_acquire_arguments arguments = {
		.timeout_is_null = true, .ttl_is_null = true, .timeout_arg = 2, .ttl_arg = 3
	};

	ZEND_PARSE_PARAMETERS_START(1, 3)
		Z_PARAM_ARRAY_HT_OR_STR(arguments.resource.list, arguments.resource.one)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE_OR_NULL(arguments.timeout, arguments.timeout_is_null)
		Z_PARAM_DOUBLE_OR_NULL(arguments.ttl, arguments.ttl_is_null)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager_do_acquire(ZEND_THIS, &arguments, return_value);
}

ZEND_METHOD(DistributedLock, tryAcquire)
{
	dlock_acquire_arguments arguments = { .ttl_is_null = true, .timeout_arg = 2, .ttl_arg = 3 };

	ZEND_PARSE_PARAMETERS_START(1, 3)
		Z_PARAM_ARRAY_HT_OR_STR(arguments.resource.list, arguments.resource.one)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE(arguments.timeout)
		Z_PARAM_DOUBLE_OR_NULL(arguments.ttl, arguments.ttl_is_null)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager_do_try_acquire(ZEND_THIS, &arguments, return_value);
}

ZEND_METHOD(DistributedLock, synchronized)
{
	dlock_acquire_arguments arguments = {
		.timeout_is_null = true, .ttl_is_null = true, .timeout_arg = 3, .ttl_arg = 4
	};
	zend_fcall_info section;
	zend_fcall_info_cache cache;

	ZEND_PARSE_PARAMETERS_START(2, 4)
		Z_PARAM_ARRAY_HT_OR_STR(arguments.resource.list, arguments.resource.one)
		Z_PARAM_FUNC(section, cache)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE_OR_NULL(arguments.timeout, arguments.timeout_is_null)
		Z_PARAM_DOUBLE_OR_NULL(arguments.ttl, arguments.ttl_is_null)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager_do_synchronized(ZEND_THIS, &arguments, &section, &cache, return_value);
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
	dlock_description *description = dlock_description_here();
	dlock_claim *claim = dlock_handle_open(handle, manager->backend, token, &error);
	if (!claim) {
		zend_argument_value_error(1, "%s", error.message);
		RETURN_THROWS();
	}
	claim->description = dlock_description_retain(description);
	dlock_hold *hold = dlock_hold_new(claim, manager->release_at_end, &error);
	dlock_status status = hold ? dlock_claim_attach(claim, token, &error) : DLOCK_FAILED;
	if (status != DLOCK_OK) {
		if (hold) {
			dlock_hold_free(hold);
		}
		dlock_throw(status, &error, manager->backend);
		RETURN_THROWS();
	}
	hold->metrics = dlock_metrics_place(manager->backend->kind, claim->resource, claim->resource_len);
	hold->entry.reentrant = manager->reentrant;
	hold->timeout = manager->timeout;
	dlock_hold_count_held(hold);
	dlock_registry_add(&DLOCK_G(registry), &hold->entry);
	status = dlock_manager_start_upkeep(manager, hold, !claim->renewed, &error);
	if (status != DLOCK_OK) {
		dlock_hold_discard(hold);
		if (!EG(exception)) {
			dlock_throw(status, &error, manager->backend);
		}
		RETURN_THROWS();
	}
	dlock_resources resources = { claim->count, claim->names[0], claim->names };
	dlock_lease_create(return_value, hold, &resources);
	dlock_warn_if_unkept(claim);
}

ZEND_METHOD(DistributedLock, isLocked)
{
	zend_string *resource;
	dlock_error error;
	bool locked;

	dlock_manager *manager = dlock_manager_with_resource(execute_data, &resource);
	if (!manager) {
		RETURN_THROWS();
	}
	dlock_status status = manager->backend->ops->locked(
		manager->backend, ZSTR_VAL(resource), ZSTR_LEN(resource), &locked, &error);
	if (status != DLOCK_OK) {
		dlock_throw(status, &error, manager->backend);
		RETURN_THROWS();
	}
	RETURN_BOOL(locked);
}

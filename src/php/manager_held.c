#include "manager_held.h"

#include "../lock/renewal.h"
#include "arguments.h"
#include "errors.h"

bool dlock_manager_lock(dlock_manager *manager, zend_string *resource, dlock_terms terms, dlock_nanos timeout)
{
	dlock_hold *hold;
	dlock_error error;
	zval value;
	dlock_status status = dlock_manager_acquire(manager, resource, terms, (dlock_wait_limit) { .timeout = timeout }, &hold, &error);

	if (status != DLOCK_OK) {
		if (status != DLOCK_TIMEOUT && !EG(exception)) {
			dlock_throw(status, &error, manager->backend);
		}
		return false;
	}
	/* One that is there already was lost, or this one could not have been acquired. */
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
	if (!manager || !dlock_check_resource(manager, resource, 1) || !dlock_check_ttl(seconds, dlock_backend_ttls(manager->backend), 2, &ttl)) {
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

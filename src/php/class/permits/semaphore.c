#include "../../request/errors.h"
#include "../arguments.h"
#include "../manager.h"
#include "permits_options.h"

/* Dlock\Semaphore: its constructor, and acquiring a number of permits. */

ZEND_METHOD(Dlock_Semaphore, __construct)
{
	HashTable *array = NULL;
	zend_string *dsn = NULL, *prefix = NULL;
	zend_long capacity;
	dlock_options options = DLOCK_OPTIONS(4);

	ZEND_PARSE_PARAMETERS_START(1, 8)
		Z_PARAM_LONG(capacity)
		Z_PARAM_OPTIONAL
		Z_PARAM_ARRAY_HT_OR_STR_OR_NULL(array, dsn)
		Z_PARAM_STR(prefix)
		DLOCK_PARAM_OPTIONS(options)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_from(Z_OBJ_P(ZEND_THIS));
	if (!dlock_manager_begin(manager)) {
		RETURN_THROWS();
	}
	if (capacity < 1 || capacity >= DLOCK_PERMITS_ALL) {
		zend_argument_value_error(1, "must be between 1 and " ZEND_LONG_FMT, (zend_long) DLOCK_PERMITS_ALL - 1);
		RETURN_THROWS();
	}
	dlock_permits_place place;
	if (!dlock_permits_find_place(&place, array, dsn, 2)) {
		RETURN_THROWS();
	}
	prefix = prefix ? zend_string_copy(prefix) : zend_string_init(ZEND_STRL("Semaphore:"), 0);
	dlock_permits_configure(manager, &place, prefix, &options, capacity, false, "semaphore");
	zend_string_release(prefix);
	dlock_permits_free_place(&place);
}

ZEND_METHOD(Dlock_Semaphore, acquire)
{
	dlock_acquire_arguments arguments = { .permits = 1, .timeout_is_null = true, .ttl_is_null = true,
		.permits_arg = 2, .timeout_arg = 3, .ttl_arg = 4 };

	ZEND_PARSE_PARAMETERS_START(1, 4)
		Z_PARAM_STR(arguments.resource.one)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(arguments.permits)
		Z_PARAM_DOUBLE_OR_NULL(arguments.timeout, arguments.timeout_is_null)
		Z_PARAM_DOUBLE_OR_NULL(arguments.ttl, arguments.ttl_is_null)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager_do_acquire(ZEND_THIS, &arguments, return_value);
}

ZEND_METHOD(Dlock_Semaphore, tryAcquire)
{
	dlock_acquire_arguments arguments = {
		.permits = 1, .ttl_is_null = true, .permits_arg = 2, .timeout_arg = 3, .ttl_arg = 4
	};

	ZEND_PARSE_PARAMETERS_START(1, 4)
		Z_PARAM_STR(arguments.resource.one)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(arguments.permits)
		Z_PARAM_DOUBLE(arguments.timeout)
		Z_PARAM_DOUBLE_OR_NULL(arguments.ttl, arguments.ttl_is_null)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager_do_try_acquire(ZEND_THIS, &arguments, return_value);
}

ZEND_METHOD(Dlock_Semaphore, synchronized)
{
	dlock_acquire_arguments arguments = { .permits = 1, .timeout_is_null = true, .ttl_is_null = true,
		.permits_arg = 3, .timeout_arg = 4, .ttl_arg = 5 };
	zend_fcall_info section;
	zend_fcall_info_cache cache;

	ZEND_PARSE_PARAMETERS_START(2, 5)
		Z_PARAM_STR(arguments.resource.one)
		Z_PARAM_FUNC(section, cache)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(arguments.permits)
		Z_PARAM_DOUBLE_OR_NULL(arguments.timeout, arguments.timeout_is_null)
		Z_PARAM_DOUBLE_OR_NULL(arguments.ttl, arguments.ttl_is_null)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager_do_synchronized(ZEND_THIS, &arguments, &section, &cache, return_value);
}

ZEND_METHOD(Dlock_Semaphore, availablePermits)
{
	zend_string *resource;
	int64_t available;
	dlock_error error;

	dlock_manager *manager = dlock_manager_with_resource(execute_data, &resource);
	if (!manager) {
		RETURN_THROWS();
	}
	dlock_status status = manager->backend->ops->available(
		manager->backend, ZSTR_VAL(resource), ZSTR_LEN(resource), &available, &error);
	if (status != DLOCK_OK) {
		dlock_throw(status, &error, manager->backend);
		RETURN_THROWS();
	}
	RETURN_LONG((zend_long) available);
}

#include "../errors.h"
#include "../globals.h"
#include "../settings.h"
#include "arguments.h"
#include "manager_held.h"
#include "manager_options.h"
#include "servers.h"

ZEND_METHOD(DistributedLock, __construct)
{
	HashTable *array = NULL;
	zend_string *dsn = NULL, *prefix = NULL;
	bool legacy = false;
	dlock_options options = { .ttl_is_null = true,
		.timeout_is_null = true,
		.renew_is_null = true,
		.release_is_null = true,
		.ttl_arg = 3,
		.timeout_arg = 4,
		.on_loss_arg = 6 };
	zval spec;

	ZEND_PARSE_PARAMETERS_START(0, 8)
		Z_PARAM_OPTIONAL
		Z_PARAM_ARRAY_HT_OR_STR_OR_NULL(array, dsn)
		Z_PARAM_STR(prefix)
		Z_PARAM_DOUBLE_OR_NULL(options.ttl, options.ttl_is_null)
		Z_PARAM_DOUBLE_OR_NULL(options.timeout, options.timeout_is_null)
		Z_PARAM_BOOL_OR_NULL(options.renew, options.renew_is_null)
		Z_PARAM_STR(options.on_loss)
		Z_PARAM_BOOL_OR_NULL(options.release, options.release_is_null)
		Z_PARAM_BOOL(legacy)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_from(Z_OBJ_P(ZEND_THIS));
	if (!dlock_manager_begin(manager)) {
		RETURN_THROWS();
	}
	if (array) {
		ZVAL_ARR(&spec, array);
	} else if (dsn) {
		ZVAL_STR(&spec, dsn);
	}
	dlock_server *server = array || dsn ? dlock_server_from_zval(&spec, 1, -1) : dlock_server_from_ini();
	if (!server) {
		RETURN_THROWS();
	}
	dlock_server_complete(server);
	options.ttls = dlock_ttls_on(server);
	if (legacy && server->kind != DLOCK_SERVER_REDIS) {
		zend_argument_value_error(8, "must be false: only Redis has locks of other code to share");
	} else if (legacy && (server->discovery != DLOCK_SERVER_FIXED || server->replicas > 0)) {
		zend_argument_value_error(8,
			"must be false: only one plain Redis server has locks of other code to share, "
			"without Sentinels, cluster or replicas");
	} else if (dlock_manager_configure(manager, &options)) {
		manager->prefix = prefix ? zend_string_copy(prefix) : zend_string_init(ZEND_STRL("Lock:"), 0);
		manager->servers = zend_string_init(server->label, strlen(server->label), 0);
		manager->backend = dlock_backend_on(
			&DLOCK_G(pools), server, ZSTR_VAL(manager->prefix), ZSTR_LEN(manager->prefix), legacy);
		if (!manager->backend) {
			dlock_throw_no_memory();
		}
	}
	dlock_server_release(server);
}

ZEND_METHOD(DistributedLock, lock)
{
	zend_string *key;
	double timeout = 0, expire = 0;
	bool no_timeout = true, no_expire = true;
	dlock_nanos wait;

	ZEND_PARSE_PARAMETERS_START(1, 3)
		Z_PARAM_STR(key)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE_OR_NULL(timeout, no_timeout)
		Z_PARAM_DOUBLE_OR_NULL(expire, no_expire)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	if (!manager || !dlock_check_resource(manager, key, 1)
		|| !dlock_check_timeout(timeout, no_timeout, DLOCK_FOREVER, 2, &wait)) {
		RETURN_THROWS();
	}
	dlock_terms terms = { .ttl = manager->ttl, .ttl_given = !no_expire };
	if (!no_expire && !dlock_check_ttl(expire, dlock_backend_ttls(manager->backend), 3, &terms.ttl)) {
		RETURN_THROWS();
	}
	RETURN_BOOL(dlock_manager_lock(manager, key, terms, wait));
}

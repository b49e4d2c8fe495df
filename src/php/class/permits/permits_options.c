#include "permits_options.h"

#include "../../request/errors.h"
#include "../../globals.h"
#include "../../settings.h"
#include "../servers.h"

static dlock_endpoint *redis_server(HashTable *array, zend_string *dsn, uint32_t arg)
{
	bool given = array || dsn;
	dlock_error error;

	if (array && dlock_is_list_of_servers(array)) {
		zend_argument_value_error(arg,
			"must be one server: semaphores and read/write locks are not offered on several independent ones, as "
			"RedLock is");
		return NULL;
	}
	dlock_endpoint *server = dlock_endpoint_from_arguments(array, dsn, arg);
	const char *locks_only = server ? dlock_server_kinds[server->kind].locks_only : NULL;
	if (locks_only) {
		dlock_fail(&error, DLOCK_FAILED,
			"must be Redis or ZooKeeper: semaphores and read/write locks are not offered %s", locks_only);
		if (given) {
			zend_argument_value_error(arg, "%s", error.message);
		} else {
			zend_value_error("dlock.server %s; or give a $server", error.message);
		}
		dlock_endpoint_release(server);
		return NULL;
	}
	return server;
}

/* False after an exception. */
static bool find_ensemble(dlock_permits_place *place, zend_string *dsn, uint32_t arg)
{
#ifdef DLOCK_ZOOKEEPER
	dlock_error error;

	if (dlock_zk_dsn_parse(&place->ensemble, ZSTR_VAL(dsn), ZSTR_LEN(dsn), &error)) {
		return true;
	}
	zend_argument_value_error(arg, "%s", error.message);
#else
	(void) place, (void) dsn;
	zend_argument_value_error(arg, "must be Redis: this dlock was built without ZooKeeper");
#endif
	return false;
}

bool dlock_permits_find_place(dlock_permits_place *place, HashTable *array, zend_string *dsn, uint32_t arg)
{
	memset(place, 0, sizeof *place);
	if (dsn && dlock_zk_dsn_is(ZSTR_VAL(dsn), ZSTR_LEN(dsn))) {
		return find_ensemble(place, dsn, arg);
	}
	place->server = redis_server(array, dsn, arg);
	return place->server;
}

void dlock_permits_free_place(dlock_permits_place *place)
{
	if (place->server) {
		dlock_endpoint_release(place->server);
	}
#ifdef DLOCK_ZOOKEEPER
	dlock_zk_options_free(&place->ensemble);
#endif
}

static bool refuse_lease_time(const dlock_options *options)
{
	uint32_t arg = !options->ttl_is_null ? options->ttl_arg : !options->renew_is_null ? options->timeout_arg + 1 : 0;

	if (arg) {
		zend_argument_value_error(arg, "must be null: with ZooKeeper the session is the lease");
	}
	return !arg;
}

bool dlock_permits_configure(dlock_manager *manager, const dlock_permits_place *place, zend_string *prefix,
	dlock_options *options, int64_t capacity, bool fifo, const char *kind)
{
	dlock_options effective = *options;

	if (!dlock_permits_is_on_zookeeper(place)) {
		effective.ttls = dlock_ttls_on(place->server);
	} else if (refuse_lease_time(options)) {
		effective.ttl_arg = 0;
	} else {
		return false;
	}
	if (!dlock_manager_configure(manager, &effective)) {
		return false;
	}
	manager->prefix = zend_string_copy(prefix);
	if (!dlock_permits_is_on_zookeeper(place)) {
		manager->servers = zend_string_init(place->server->label, strlen(place->server->label), 0);
		manager->backend = dlock_permits_on(
			&DLOCK_G(pools), place->server, ZSTR_VAL(prefix), ZSTR_LEN(prefix), capacity, fifo);
#ifdef DLOCK_ZOOKEEPER
	} else {
		manager->servers = zend_strpprintf(0, "%s%s", place->ensemble.hosts, place->ensemble.root);
		manager->backend = dlock_permits_on_ensemble(
			&DLOCK_G(pools), &place->ensemble, ZSTR_VAL(prefix), ZSTR_LEN(prefix), capacity);
#endif
	}
	if (!manager->backend) {
		dlock_throw_no_memory();
		return false;
	}
	manager->backend->kind = kind;
	return true;
}

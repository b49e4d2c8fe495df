#include "../../redis/redlock/quorum.h"
#include "../classes.h"
#include "../request/errors.h"
#include "../globals.h"
#include "arguments.h"
#include "manager.h"
#include "servers.h"

#include "zend_exceptions.h"
#include "zend_smart_str.h"

/* RedLock: its constructor for several servers, and lock() and unlock(), which use arrays. */

static void release_servers(dlock_endpoint **servers, int count)
{
	while (count > 0) {
		dlock_endpoint_release(servers[--count]);
	}
}

/* Checks the last server of the list so far. False after an exception. */
static bool check_member(dlock_endpoint **servers, int count)
{
	const dlock_endpoint *server = servers[count - 1];

	if (server->kind != DLOCK_ENDPOINT_REDIS) {
		zend_argument_value_error(1,
			"must name Redis servers, but element %d is %s: a majority takes servers that keep what they "
			"were told",
			count - 1, dlock_server_kinds[server->kind].noun);
		return false;
	}
	if (server->discovery != DLOCK_ENDPOINT_FIXED || server->replicas > 0) {
		zend_argument_value_error(1,
			"must name plain Redis servers, but element %d is %s: RedLock needs servers that are independent of "
			"each other",
			count - 1,
			server->discovery == DLOCK_ENDPOINT_SENTINEL      ? "a service behind Sentinels"
				: server->discovery == DLOCK_ENDPOINT_CLUSTER ? "a cluster"
															: "one with replicas");
		return false;
	}
	/* With two votes, one server would make a majority that does not exist. */
	for (int i = 0; i < count - 1; i++) {
		if (!strcmp(servers[i]->label, server->label)) {
			zend_argument_value_error(
				1, "must name different servers, but elements %d and %d are both %s", i, count - 1, server->label);
			return false;
		}
	}
	return true;
}

/* Reads the list; returns how many, or 0 after an exception. */
static int read_servers(HashTable *list, dlock_endpoint **servers)
{
	int count = 0;
	zval *spec;

	if (zend_hash_num_elements(list) < 1 || zend_hash_num_elements(list) > DLOCK_MOST_SERVERS) {
		zend_argument_value_error(1, "must be a list of 1 to %d servers", DLOCK_MOST_SERVERS);
		return 0;
	}
	ZEND_HASH_FOREACH_VAL(list, spec) {
		servers[count] = dlock_endpoint_from_zval(spec, 1, count);
		if (!servers[count]) {
			release_servers(servers, count);
			return 0;
		}
		count++;
		if (!check_member(servers, count)) {
			release_servers(servers, count);
			return 0;
		}
	} ZEND_HASH_FOREACH_END();
	return count;
}

static zend_string *join_labels(dlock_endpoint **servers, int count)
{
	smart_str labels = { 0 };

	for (int i = 0; i < count; i++) {
		if (i > 0) {
			smart_str_appends(&labels, ", ");
		}
		smart_str_appends(&labels, servers[i]->label);
	}
	return smart_str_extract(&labels);
}

ZEND_METHOD(RedLock, __construct)
{
	HashTable *list;
	zend_long retry_delay = 200, retry_count = 3;
	zend_string *prefix = NULL;
	dlock_options options = DLOCK_OPTIONS(5);
	dlock_endpoint *servers[DLOCK_MOST_SERVERS];

	ZEND_PARSE_PARAMETERS_START(1, 10)
		Z_PARAM_ARRAY_HT(list)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(retry_delay)
		Z_PARAM_LONG(retry_count)
		Z_PARAM_STR(prefix)
		DLOCK_PARAM_OPTIONS(options)
		Z_PARAM_BOOL(options.reentrant)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_from(Z_OBJ_P(ZEND_THIS));
	if (!dlock_manager_begin(manager) || !dlock_manager_configure(manager, &options)) {
		RETURN_THROWS();
	}
	if (retry_delay < 1 || retry_delay > 60000) {
		zend_argument_value_error(2, "must be between 1 and 60000 milliseconds");
		RETURN_THROWS();
	}
	if (retry_count < 1 || retry_count > 1000000) {
		zend_argument_value_error(3, "must be between 1 and 1000000 attempts");
		RETURN_THROWS();
	}
	dlock_nanos guard = dlock_from_seconds(DLOCK_G(restart_guard));
	int count = read_servers(list, servers);
	if (count == 0) {
		RETURN_THROWS();
	}
	manager->retry_delay = retry_delay * DLOCK_MS;
	manager->retry_count = (unsigned) retry_count;
	manager->prefix = prefix ? zend_string_copy(prefix) : ZSTR_EMPTY_ALLOC();
	manager->servers = join_labels(servers, count);
	manager->backend = dlock_quorum_new(&DLOCK_G(pools).redis, servers, count, guard, ZSTR_VAL(manager->prefix),
		ZSTR_LEN(manager->prefix));
	release_servers(servers, count);
	if (!manager->backend) {
		dlock_throw_no_memory();
	}
}

/* In milliseconds. The caller of a shorter lease time probably means seconds, as in other classes. */
enum { SHORT_TTL = 100 };

ZEND_METHOD(RedLock, lock)
{
	zend_string *resource;
	zend_long milliseconds = 10000;
	dlock_nanos remaining;
	dlock_hold *hold;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_STR(resource)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(milliseconds)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	if (!manager || !dlock_check_resource(manager, resource, 1)) {
		RETURN_THROWS();
	}
	if (milliseconds < 1 || milliseconds > DLOCK_TTL_MAX / DLOCK_MS) {
		zend_argument_value_error(
			2, "must be between 1 and " ZEND_LONG_FMT " milliseconds", (zend_long) (DLOCK_TTL_MAX / DLOCK_MS));
		RETURN_THROWS();
	}
	if (milliseconds < SHORT_TTL) {
		php_error_docref(NULL, E_WARNING,
			"Argument #2 ($ttl) is in milliseconds: the lock is held for " ZEND_LONG_FMT
			" ms; for as many seconds pass " ZEND_LONG_FMT,
			milliseconds, 1000 * milliseconds);
		if (EG(exception)) {
			RETURN_THROWS();
		}
	}
	dlock_wait_limit limit = { DLOCK_FOREVER, manager->retry_count, manager->retry_delay };
	/* The array is the lease: no object owns the claim. So the registry keeps it until the request ends or, in a long
	 * request, until the lease expires. The purge comes first, because the new lease may have expired when it is
	 * returned. */
	dlock_hold_purge();
	dlock_terms terms = { .ttl = milliseconds * DLOCK_MS, .ttl_given = true };
	dlock_resources resources = dlock_one_resource(resource);
	dlock_status status = dlock_manager_acquire(manager, &resources, terms, limit, &hold, &error);
	if (status != DLOCK_OK) {
		if (status == DLOCK_FAILED && !EG(exception)) {
			dlock_throw(status, &error, manager->backend);
		}
		RETURN_FALSE;
	}
	dlock_hold_refresh(hold, &remaining);
	array_init_size(return_value, 4);
	add_assoc_double(return_value, "validity", (double) remaining / DLOCK_MS);
	add_assoc_str(return_value, "resource", zend_string_copy(resource));
	add_assoc_string(return_value, "token", hold->entry.claim->token);
	add_assoc_long(return_value, "fencingToken", (zend_long) hold->entry.claim->fencing_token);
}

static bool is_token(const zval *value)
{
	return Z_TYPE_P(value) == IS_STRING && dlock_is_token(Z_STRVAL_P(value), Z_STRLEN_P(value), false);
}

/* What this request holds of the same lock with the token, whichever object has acquired it. NULL: nothing. */
static dlock_hold *find_hold(const dlock_manager *manager, const zval *resource, const zval *token)
{
	dlock_registry_entry *entry = dlock_registry_find(
		&DLOCK_G(registry), manager->backend, Z_STRVAL_P(resource), Z_STRLEN_P(resource), Z_STRVAL_P(token));

	return entry && !dlock_hold_from(entry)->owned ? dlock_hold_from(entry) : NULL;
}

/* A hold of a lock that another process or request has acquired. Any server may have it. */
static dlock_hold *hold_of_token(
	const dlock_manager *manager, const zval *resource, const zval *token, dlock_error *error)
{
	dlock_claim *claim = dlock_claim_new(
		manager->backend, Z_STRVAL_P(resource), Z_STRLEN_P(resource), manager->ttl, Z_STRVAL_P(token), error);

	if (claim) {
		dlock_claim_move(claim, DLOCK_CLAIM_HELD); /* only the servers know its deadline */
		claim->deadline = DLOCK_FOREVER;
	}
	dlock_hold *hold = dlock_hold_new(claim, false, error);
	if (hold) {
		hold->loss_counted = true; /* if the servers do not have it, this process has lost nothing */
	}
	return hold;
}

ZEND_METHOD(RedLock, unlock)
{
	HashTable *lock;
	zval *resource, *token;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ARRAY_HT(lock)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	if (!manager) {
		RETURN_THROWS();
	}
	resource = zend_hash_str_find_deref(lock, ZEND_STRL("resource"));
	token = zend_hash_str_find_deref(lock, ZEND_STRL("token"));
	if (!resource || Z_TYPE_P(resource) != IS_STRING || Z_STRLEN_P(resource) == 0
		|| Z_STRLEN_P(resource) > DLOCK_RESOURCE_MAX || !token || !is_token(token)) {
		zend_argument_value_error(1, "must be what RedLock::lock() returned, with its \"resource\" and its \"token\"");
		RETURN_THROWS();
	}
	dlock_hold *hold = find_hold(manager, resource, token);
	hold = hold ? hold : hold_of_token(manager, resource, token, &error);
	if (!hold) {
		zend_throw_exception(dlock_ce_exception, error.message, 0);
		RETURN_THROWS();
	}
	dlock_status status = dlock_hold_release(hold, &error);
	dlock_hold_free(hold);
	RETURN_BOOL(status == DLOCK_OK);
}

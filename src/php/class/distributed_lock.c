#include "../../lock/renewal.h"
#include "../classes.h"
#include "../request/errors.h"
#include "../globals.h"
#include "../settings.h"
#include "../wait/strand.h"
#include "arguments.h"
#include "manager.h"
#include "servers.h"

/* DistributedLock: its constructor, and lock(), release() and the other methods of existing PHP lock classes. ZkLock
 * shares release(). */

ZEND_METHOD(DistributedLock, __construct)
{
	HashTable *array = NULL;
	zend_string *dsn = NULL, *prefix = NULL;
	bool legacy = false;
	dlock_options options = DLOCK_OPTIONS(3);

	ZEND_PARSE_PARAMETERS_START(0, 9)
		Z_PARAM_OPTIONAL
		Z_PARAM_ARRAY_HT_OR_STR_OR_NULL(array, dsn)
		Z_PARAM_STR(prefix)
		DLOCK_PARAM_OPTIONS(options)
		Z_PARAM_BOOL(legacy)
		Z_PARAM_BOOL(options.reentrant)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_from(Z_OBJ_P(ZEND_THIS));
	if (!dlock_manager_begin(manager)) {
		RETURN_THROWS();
	}
	dlock_endpoint *server = dlock_endpoint_from_arguments(array, dsn, 1);
	if (!server) {
		RETURN_THROWS();
	}
	options.ttls = dlock_ttls_on(server);
	if (legacy && server->kind != DLOCK_ENDPOINT_REDIS) {
		zend_argument_value_error(8, "must be false: only Redis has locks of other code to share");
	} else if (legacy && (server->discovery != DLOCK_ENDPOINT_FIXED || server->replicas > 0)) {
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
	dlock_endpoint_release(server);
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

/* ---- what lock() has acquired: the object keeps it by resource, as userland lock classes do ---- */

enum { FIRST_PURGE = 64 };

/* A loss that is still to be thrown is kept until then. */
static int discard_lost(zval *value)
{
	dlock_hold *hold = Z_PTR_P(value);
	dlock_nanos remaining;

	return hold->throws || dlock_hold_refresh(hold, &remaining) != DLOCK_CLAIM_LOST ? ZEND_HASH_APPLY_KEEP
																				 : ZEND_HASH_APPLY_REMOVE;
}

/* Forgets locks that are lost, but only once their number has doubled since the last time: amortized O(1) for each
 * call. A throttle acquires a lock for each user, and leaves it to its lease time. */
static void purge(dlock_manager *manager)
{
	uint32_t before = zend_hash_num_elements(&manager->held);

	if (before < FIRST_PURGE || before < manager->purge_at) {
		return;
	}
	zend_hash_apply(&manager->held, discard_lost);
	uint32_t after = zend_hash_num_elements(&manager->held);
	manager->has_purged |= after < before;
	manager->purge_at = 2 * after;
}

/* What lock() acquires belongs to the strand, so the key is the strand's number and the resource. */
static zend_string *key_of(uint64_t strand, const char *resource, size_t len)
{
	zend_string *key = zend_string_alloc(sizeof strand + len, false);

	memcpy(ZSTR_VAL(key), &strand, sizeof strand);
	memcpy(ZSTR_VAL(key) + sizeof strand, resource, len);
	ZSTR_VAL(key)[sizeof strand + len] = '\0';
	return key;
}

static void drop(dlock_hold *hold)
{
	zend_string *key = zend_string_copy(hold->key);

	zend_hash_del(&((dlock_manager *) hold->owner)->held, key);
	zend_string_release(key);
}

bool dlock_manager_lock(dlock_manager *manager, zend_string *resource, dlock_terms terms, dlock_nanos timeout)
{
	dlock_hold *hold;
	dlock_error error;
	zval value;

	purge(manager);
	dlock_resources resources = dlock_one_resource(resource);
	dlock_status status = dlock_manager_acquire(
		manager, &resources, terms, (dlock_wait_limit){ .timeout = timeout }, &hold, &error);

	if (status != DLOCK_OK) {
		if (status != DLOCK_TIMEOUT && !EG(exception)) {
			dlock_throw(status, &error, manager->backend);
		}
		return false;
	}
	zend_string *key = key_of(hold->entry.strand, ZSTR_VAL(resource), ZSTR_LEN(resource));
	zval *found = zend_hash_find(&manager->held, key);
	dlock_hold *before = found ? Z_PTR_P(found) : NULL;
	if (before && before->entry.claim == hold->entry.claim) { /* this object has entered it before */
		before->locks++;
		dlock_hold_free(hold);
		zend_string_release(key);
		return true;
	}
	/* If the table has another hold, its lock was lost. Otherwise this lock could not have been acquired. */
	ZVAL_PTR(&value, hold);
	zend_hash_update(&manager->held, key, &value);
	hold->owned = true;
	hold->drop = drop;
	hold->owner = manager;
	hold->key = key; /* discard_held() releases it */
	return true;
}

static dlock_hold *find_held(dlock_manager *manager, zend_string *resource)
{
	zend_string *key = key_of(dlock_strand(), ZSTR_VAL(resource), ZSTR_LEN(resource));
	zval *value = zend_hash_find(&manager->held, key);

	zend_string_release(key);
	return value ? Z_PTR_P(value) : NULL;
}

/* What acquire() of this object has acquired in this strand, or NULL. */
static dlock_hold *find_leased(const dlock_manager *manager, zend_string *resource)
{
	dlock_registry_entry *entry = dlock_registry_find_made_by(
		&DLOCK_G(registry), manager->backend, ZSTR_VAL(resource), ZSTR_LEN(resource), dlock_strand());
	dlock_nanos remaining;

	return entry && dlock_hold_refresh(dlock_hold_from(entry), &remaining) != DLOCK_CLAIM_LOST ? dlock_hold_from(entry)
																							: NULL;
}

/* A lease belongs to the code that has the object. If the method only returned false, the lock would stay held. */
static bool check_no_lease(const dlock_manager *manager, zend_string *resource, const char *method)
{
	dlock_error error;

	if (!find_leased(manager, resource)) {
		return true;
	}
	dlock_fail(&error, DLOCK_FAILED, "The lock \"%s\" was acquired with acquire(): call %s() of its Lease",
		dlock_show(ZSTR_VAL(resource), ZSTR_LEN(resource)).text, method);
	dlock_throw_as(dlock_ce_exception, &error);
	return false;
}

ZEND_METHOD(DistributedLock, release)
{
	zend_string *resource;
	dlock_error error;

	dlock_manager *manager = dlock_manager_with_resource(execute_data, &resource);
	if (!manager) {
		RETURN_THROWS();
	}
	dlock_hold *hold = find_held(manager, resource);
	if (!hold) {
		if (!check_no_lease(manager, resource, "release")) {
			RETURN_THROWS();
		}
		RETURN_FALSE;
	}
	if (hold->locks > 0) {
		dlock_nanos remaining;
		dlock_claim_state state = dlock_hold_refresh(hold, &remaining);
		hold->locks--;
		RETURN_BOOL(dlock_claim_is_mine(hold->entry.claim)
			&& (state == DLOCK_CLAIM_HELD || state == DLOCK_CLAIM_UNCERTAIN));
	}
	dlock_status status = dlock_hold_release(hold, &error);
	drop(hold);
	dlock_manager_answer(manager, status, &error, return_value);
}

/* Does this strand still hold a lock by a lease of this object? */
static bool has_lease(const dlock_manager *manager)
{
	dlock_nanos remaining;

	for (dlock_registry_entry *entry = DLOCK_G(registry).first; entry; entry = entry->next) {
		if (entry->strand == dlock_strand() && entry->made_by == manager->backend
			&& dlock_claim_is_held(entry->claim)
			&& dlock_hold_refresh(dlock_hold_from(entry), &remaining) != DLOCK_CLAIM_LOST) {
			return true;
		}
	}
	return false;
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
		dlock_hold *hold = Z_PTR_P(value);
		if (hold->entry.strand != dlock_strand()) {
			continue;
		}
		dlock_status status = dlock_hold_release(hold, &error);
		drop(hold);
		if (status != DLOCK_OK && (worst == DLOCK_OK || worst == DLOCK_LOST)) {
			worst = status;
			problem = error;
		}
	} ZEND_HASH_FOREACH_END();
	bool all = worst == DLOCK_OK && !manager->has_purged && !has_lease(manager);
	manager->has_purged = false;
	if (worst != DLOCK_OK && worst != DLOCK_LOST) {
		dlock_throw(worst, &problem, manager->backend);
		RETURN_THROWS();
	}
	RETURN_BOOL(all);
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
	if (!manager || !dlock_check_resource(manager, resource, 1)) {
		RETURN_THROWS();
	}
	dlock_hold *hold = find_held(manager, resource);
	/* An object with a shorter guard may have acquired the lock. */
	const dlock_backend *backend = hold ? hold->entry.claim->backend : manager->backend;
	if (!dlock_check_ttl(seconds, dlock_backend_ttls(backend), 2, &ttl)) {
		RETURN_THROWS();
	}
	if (hold && dlock_hold_is_shared(hold)) { /* the longest requested lease time counts */
		ttl = ttl > hold->entry.claim->ttl ? ttl : hold->entry.claim->ttl;
	} else if (hold) {
		dlock_renewal_stop(hold->entry.claim);
	} else if (!check_no_lease(manager, resource, "refresh")) {
		RETURN_THROWS();
	}
	dlock_status status = hold ? dlock_hold_extend(hold, ttl, &error) : DLOCK_LOST;
	dlock_manager_answer(manager, status, &error, return_value);
}

ZEND_METHOD(DistributedLock, isLocking)
{
	zend_string *resource;
	dlock_error error;

	dlock_manager *manager = dlock_manager_with_resource(execute_data, &resource);
	if (!manager) {
		RETURN_THROWS();
	}
	dlock_hold *hold = find_held(manager, resource);
	hold = hold ? hold : find_leased(manager, resource);
	dlock_status status = hold ? dlock_hold_check(hold, &error) : DLOCK_LOST;
	dlock_manager_answer(manager, status, &error, return_value);
}

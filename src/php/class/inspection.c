#include "../classes.h"
#include "../request/errors.h"
#include "manager.h"

#include "zend_exceptions.h"

/* LockManager::inspect() and what it returns: Dlock\Inspection, Dlock\Party. */

enum { MOST_WAITERS = 1000, MOST_LISTED = 1000 };

/* Properties, in the order of the stub. */
enum { RESOURCE, AT, HOLDERS, WAITERS, WAITING, SERVERS };
enum { ID, HOST, PID, LABEL, MODE, PERMITS, ASKED_AT, HELD_SINCE, REMAINING, FENCING_TOKEN };

static void set_time(zval *property, int64_t us)
{
	if (us > 0) {
		ZVAL_DOUBLE(property, (double) us / 1e6);
	} else {
		ZVAL_NULL(property);
	}
}

static const char *mode_of(const dlock_backend *backend, const dlock_party *party)
{
	bool is_of_sides = !strcmp(backend->kind, "read") || !strcmp(backend->kind, "write");

	return is_of_sides ? (party->permits < DLOCK_PERMITS_ALL ? "read" : "write")
		: backend->capacity > 1 || !strcmp(backend->kind, "semaphore") ? "permits" : "lock";
}

static void add_party(zval *list, const dlock_backend *backend, const dlock_party *party, bool holds)
{
	zval value;

	object_init_ex(&value, dlock_ce_party);
	zend_object *object = Z_OBJ(value);
	ZVAL_STRING(OBJ_PROP_NUM(object, ID), party->id);
	ZVAL_STRING(OBJ_PROP_NUM(object, HOST), party->host);
	ZVAL_LONG(OBJ_PROP_NUM(object, PID), party->pid);
	if (party->has_label) {
		ZVAL_STRING(OBJ_PROP_NUM(object, LABEL), party->label);
	} else {
		ZVAL_NULL(OBJ_PROP_NUM(object, LABEL));
	}
	ZVAL_STRING(OBJ_PROP_NUM(object, MODE), mode_of(backend, party));
	ZVAL_LONG(
		OBJ_PROP_NUM(object, PERMITS), party->permits < DLOCK_PERMITS_ALL ? (zend_long) party->permits : 1);
	set_time(OBJ_PROP_NUM(object, ASKED_AT), party->asked_at);
	set_time(OBJ_PROP_NUM(object, HELD_SINCE), holds ? party->held_since : 0);
	if (holds && party->remaining >= 0) {
		ZVAL_DOUBLE(OBJ_PROP_NUM(object, REMAINING), (double) party->remaining / DLOCK_SECOND);
	} else {
		ZVAL_NULL(OBJ_PROP_NUM(object, REMAINING));
	}
	if (holds && party->fencing_token > 0) {
		ZVAL_LONG(OBJ_PROP_NUM(object, FENCING_TOKEN), (zend_long) party->fencing_token);
	} else {
		ZVAL_NULL(OBJ_PROP_NUM(object, FENCING_TOKEN));
	}
	add_next_index_zval(list, &value);
}

static void make(zval *value, const dlock_backend *backend, const char *resource, size_t len,
	const dlock_inspection *inspection)
{
	zval list;

	object_init_ex(value, dlock_ce_inspection);
	zend_object *object = Z_OBJ_P(value);
	ZVAL_STRINGL(OBJ_PROP_NUM(object, RESOURCE), resource, len);
	ZVAL_DOUBLE(OBJ_PROP_NUM(object, AT), (double) inspection->at / 1e6);
	array_init(&list);
	for (int i = 0; i < inspection->holders; i++) {
		add_party(&list, backend, &inspection->parties[i], true);
	}
	ZVAL_COPY_VALUE(OBJ_PROP_NUM(object, HOLDERS), &list);
	array_init(&list);
	for (int i = 0; i < inspection->waiters; i++) {
		add_party(&list, backend, &inspection->parties[inspection->holders + i], false);
	}
	ZVAL_COPY_VALUE(OBJ_PROP_NUM(object, WAITERS), &list);
	ZVAL_LONG(OBJ_PROP_NUM(object, WAITING), (zend_long) inspection->waiting);
	array_init(&list);
	for (int i = 0; i < inspection->server_count; i++) {
		add_assoc_string(&list, inspection->servers[i].name, inspection->servers[i].state);
	}
	ZVAL_COPY_VALUE(OBJ_PROP_NUM(object, SERVERS), &list);
}

static bool check_range(zend_long number, zend_long least, zend_long most, uint32_t arg)
{
	if (number < least || number > most) {
		zend_argument_value_error(arg, "must be between " ZEND_LONG_FMT " and " ZEND_LONG_FMT, least, most);
		return false;
	}
	return true;
}

static void throw_not_there(const dlock_backend *backend, const char *what)
{
	zend_throw_exception_ex(
		dlock_ce_exception, 0, "It cannot be seen %s with the back end \"%s\"", what, backend->ops->name);
}

ZEND_METHOD(DistributedLock, inspect)
{
	zend_string *resource;
	zend_long waiters = 100;
	dlock_inspection inspection = { 0 };
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_STR(resource)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(waiters)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	if (!manager || !dlock_check_resource(manager, resource, 1) || !check_range(waiters, 0, MOST_WAITERS, 2)) {
		RETURN_THROWS();
	}
	dlock_backend *backend = manager->backend;
	if (!backend->ops->inspect) {
		throw_not_there(backend, "who holds a lock");
		RETURN_THROWS();
	}
	dlock_status status = backend->ops->inspect(
		backend, ZSTR_VAL(resource), ZSTR_LEN(resource), (int) waiters, &inspection, &error);
	if (status == DLOCK_OK) {
		make(return_value, backend, ZSTR_VAL(resource), ZSTR_LEN(resource), &inspection);
	} else {
		dlock_throw(status, &error, backend);
	}
	dlock_inspection_end(&inspection);
}

static void list(zval *return_value, dlock_backend *backend, int limit, bool all)
{
	dlock_listing listing = { 0 };
	dlock_error error;

	if (!backend->ops->list) {
		throw_not_there(backend, "which locks are held");
		return;
	}
	dlock_status status = all && backend->ops->list_all ? backend->ops->list_all(backend, limit, &listing, &error)
														: backend->ops->list(backend, limit, &listing, &error);
	if (status == DLOCK_OK) {
		array_init(return_value);
		for (int i = 0; i < listing.count; i++) {
			const dlock_listed *one = &listing.first[i];
			zval value;
			make(&value, backend, one->resource, one->resource_len, &one->inspection);
			add_next_index_zval(return_value, &value);
		}
	} else {
		dlock_throw(status, &error, backend);
	}
	dlock_listing_end(&listing);
}

ZEND_METHOD(DistributedLock, inspectAll)
{
	zend_long limit = 100;

	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_LONG(limit)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	if (!manager || !check_range(limit, 1, MOST_LISTED, 1)) {
		RETURN_THROWS();
	}
	list(return_value, manager->backend, (int) limit, false);
}

/* ---- for the command dlock ---- */

/* NULL after an exception. */
static dlock_manager *manager_of(zval *object)
{
	if (!dlock_is_manager(Z_OBJ_P(object))) {
		zend_argument_type_error(1, "must be an object of a lock class of dlock, or a Dlock\\Semaphore");
		return NULL;
	}
	return dlock_manager_this(object);
}

ZEND_FUNCTION(Dlock_list_all)
{
	zval *locks;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_OBJECT(locks)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = manager_of(locks);
	if (!manager) {
		RETURN_THROWS();
	}
	list(return_value, manager->backend, MOST_LISTED, true);
}

/* The name becomes a part of a key's value, so it must have no space and no colon. */
static void name_breaker(char *out, size_t size, const zend_string *by)
{
	size_t len = ZSTR_LEN(by) < size - 1 ? ZSTR_LEN(by) : size - 1;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char) ZSTR_VAL(by)[i];
		out[i] = (char) (c > ' ' && c < 0x7f && c != ':' ? c : '?');
	}
	out[len] = '\0';
}

ZEND_FUNCTION(Dlock_break_lock)
{
	zval *locks;
	zend_string *resource, *id, *by;
	bool now = false;
	char name[65];
	dlock_nanos left = 0;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(4, 5)
		Z_PARAM_OBJECT(locks)
		Z_PARAM_STR(resource)
		Z_PARAM_STR(id)
		Z_PARAM_STR(by)
		Z_PARAM_OPTIONAL
		Z_PARAM_BOOL(now)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = manager_of(locks);
	if (!manager || !dlock_check_resource(manager, resource, 2)) {
		RETURN_THROWS();
	}
	if (!manager->backend->ops->break_claim) {
		throw_not_there(manager->backend, "who holds a lock");
		RETURN_THROWS();
	}
	name_breaker(name, sizeof name, by);
	dlock_break how = { .id = ZSTR_VAL(id), .by = name, .now = now };
	dlock_status status = manager->backend->ops->break_claim(
		manager->backend, ZSTR_VAL(resource), ZSTR_LEN(resource), &how, &left, &error);
	if (status == DLOCK_OK) {
		RETURN_DOUBLE((double) left / DLOCK_SECOND);
	} else if (status != DLOCK_LOST) {
		dlock_throw(status, &error, manager->backend);
	}
}

/* Private. Other classes whose objects come from methods share it. */
ZEND_METHOD(Dlock_Inspection, __construct)
{
	(void) return_value;
	ZEND_PARSE_PARAMETERS_NONE();
}

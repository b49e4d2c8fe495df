#include "read_write_lock.h"

#include "../../classes.h"
#include "../../settings.h"
#include "permits_options.h"

/* The object only keeps its two sides, which are managers. A reader acquires one permit of DLOCK_PERMITS_ALL, a writer
 * all of them. */
typedef struct {
	zval read, write; /* IS_UNDEF: the constructor did not run, or failed */
	bool fifo;
	zend_object std;
} read_write_lock;

static zend_object_handlers handlers;

static read_write_lock *lock_from(zend_object *object)
{
	return (read_write_lock *) ((char *) object - offsetof(read_write_lock, std));
}

static zend_object *lock_new(zend_class_entry *class)
{
	return dlock_class_new(sizeof(read_write_lock), class, &handlers);
}

static void lock_free(zend_object *object)
{
	read_write_lock *lock = lock_from(object);

	zval_ptr_dtor(&lock->read);
	zval_ptr_dtor(&lock->write);
	zend_object_std_dtor(object);
}

/* What one side shows is true of both. */
static HashTable *lock_debug_info(zend_object *object, int *is_temporary)
{
	read_write_lock *lock = lock_from(object);
	zval value;

	*is_temporary = 1;
	if (Z_ISUNDEF(lock->read)) {
		return zend_new_array(0);
	}
	HashTable *info = Z_OBJ_HANDLER(lock->read, get_debug_info)(Z_OBJ(lock->read), is_temporary);
	zend_hash_str_del(info, ZEND_STRL("side"));
	ZVAL_STRING(&value, lock->fifo ? "fifo" : "phase");
	zend_hash_str_update(info, ZEND_STRL("fairness"), &value);
	return info;
}

void dlock_read_write_lock_register(zend_class_entry *class)
{
	class->create_object = lock_new;
	dlock_class_set_handlers(&handlers, offsetof(read_write_lock, std), lock_free, lock_debug_info);
}

/* `permits`: how many each of its leases has. False after an exception. */
static bool make_side(zval *side, const dlock_permits_place *place, zend_string *prefix, dlock_options *options,
	bool fifo, int64_t permits, const char *kind)
{
	object_init_ex(side, dlock_ce_read_write_lock_side);
	dlock_manager *manager = dlock_manager_from(Z_OBJ_P(side));
	manager->permits = permits;
	if (!dlock_permits_configure(manager, place, prefix, options, DLOCK_PERMITS_ALL, fifo, kind)) {
		zval_ptr_dtor(side);
		ZVAL_UNDEF(side);
		return false;
	}
	return true;
}

static bool begin(const read_write_lock *lock)
{
	if (!Z_ISUNDEF(lock->read)) {
		zend_throw_error(NULL, "%s::__construct() has been called already", ZSTR_VAL(lock->std.ce->name));
		return false;
	}
	return dlock_check_settings();
}

ZEND_METHOD(Dlock_ReadWriteLock, __construct)
{
	HashTable *array = NULL;
	zend_string *dsn = NULL, *prefix = NULL, *fairness = NULL;
	dlock_options options = DLOCK_OPTIONS(3);

	ZEND_PARSE_PARAMETERS_START(0, 8)
		Z_PARAM_OPTIONAL
		Z_PARAM_ARRAY_HT_OR_STR_OR_NULL(array, dsn)
		Z_PARAM_STR(prefix)
		DLOCK_PARAM_OPTIONS(options)
		Z_PARAM_STR(fairness)
	ZEND_PARSE_PARAMETERS_END();

	read_write_lock *lock = lock_from(Z_OBJ_P(ZEND_THIS));
	if (!begin(lock)) {
		RETURN_THROWS();
	}
	lock->fifo = fairness && zend_string_equals_literal(fairness, "fifo");
	if (fairness && !lock->fifo && !zend_string_equals_literal(fairness, "phase")) {
		zend_argument_value_error(8, "must be either \"phase\" or \"fifo\"");
		RETURN_THROWS();
	}
	dlock_permits_place place;
	if (!dlock_permits_find_place(&place, array, dsn, 1)) {
		RETURN_THROWS();
	}
	if (dlock_permits_is_on_zookeeper(&place)) {
		if (fairness && !lock->fifo) {
			zend_argument_value_error(8,
				"must be \"fifo\", or left out: on ZooKeeper readers and writers are served in the order in which they "
				"came");
			dlock_permits_free_place(&place);
			RETURN_THROWS();
		}
		lock->fifo = true;
	}
	prefix = prefix ? zend_string_copy(prefix) : zend_string_init(ZEND_STRL("ReadWriteLock:"), 0);
	if (make_side(&lock->read, &place, prefix, &options, lock->fifo, 1, "read")
			&& !make_side(&lock->write, &place, prefix, &options, lock->fifo, DLOCK_PERMITS_ALL, "write")) {
		zval_ptr_dtor(&lock->read);
		ZVAL_UNDEF(&lock->read);
	}
	zend_string_release(prefix);
	dlock_permits_free_place(&place);
}

static void return_side(zval *return_value, zend_object *object, const zval *side)
{
	if (Z_ISUNDEF_P(side)) {
		zend_throw_error(NULL, "%s::__construct() has not been called", ZSTR_VAL(object->ce->name));
		return;
	}
	RETURN_COPY(side);
}

ZEND_METHOD(Dlock_ReadWriteLock, readLock)
{
	ZEND_PARSE_PARAMETERS_NONE();
	return_side(return_value, Z_OBJ_P(ZEND_THIS), &lock_from(Z_OBJ_P(ZEND_THIS))->read);
}

ZEND_METHOD(Dlock_ReadWriteLock, writeLock)
{
	ZEND_PARSE_PARAMETERS_NONE();
	return_side(return_value, Z_OBJ_P(ZEND_THIS), &lock_from(Z_OBJ_P(ZEND_THIS))->write);
}

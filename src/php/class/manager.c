#include "manager.h"

#include "../classes.h"
#include "../hold.h"
#include "../unkept.h"

static zend_object_handlers handlers;

dlock_manager *dlock_manager_this(zval *object)
{
	dlock_manager *manager = dlock_manager_from(Z_OBJ_P(object));

	if (!manager->backend) {
		zend_throw_error(NULL, "%s::__construct() has not been called", ZSTR_VAL(Z_OBJCE_P(object)->name));
		return NULL;
	}
	return manager;
}

static void discard_held(zval *value)
{
	dlock_hold_discard(Z_PTR_P(value));
}

static zend_object *manager_create(zend_class_entry *class)
{
	dlock_manager *manager = zend_object_alloc(sizeof *manager, class);

	zend_object_std_init(&manager->std, class);
	object_properties_init(&manager->std, class);
	manager->std.handlers = &handlers;
	manager->permits = 1;
	zend_hash_init(&manager->held, 0, NULL, discard_held, 0);
	return &manager->std;
}

static void manager_free(zend_object *object)
{
	dlock_manager *manager = dlock_manager_from(object);

	zend_hash_destroy(&manager->held);
	if (manager->backend) {
		dlock_backend_release(manager->backend);
	}
	if (manager->servers) {
		zend_string_release(manager->servers);
	}
	if (manager->prefix) {
		zend_string_release(manager->prefix);
	}
	zend_object_std_dtor(object);
}

/* What lock() took, which only lock classes have. */
static void add_held(zval *info, dlock_manager *manager)
{
	zval held;
	zend_string *resource;
	zval *hold;

	array_init(&held);
	ZEND_HASH_FOREACH_STR_KEY_VAL(&manager->held, resource, hold) {
		dlock_nanos remaining;
		dlock_hold_look(Z_PTR_P(hold), &remaining);
		add_assoc_double_ex(&held, ZSTR_VAL(resource), ZSTR_LEN(resource), (double) remaining / DLOCK_SECOND);
	} ZEND_HASH_FOREACH_END();
	add_assoc_zval(info, "held", &held);
}

static HashTable *manager_debug_info(zend_object *object, int *is_temporary)
{
	dlock_manager *manager = dlock_manager_from(object);
	bool is_lock = object->ce != dlock_ce_semaphore && object->ce != dlock_ce_read_write_lock_side;
	zval info;

	array_init(&info);
	if (manager->backend) {
		add_assoc_str(&info, "servers", zend_string_copy(manager->servers));
		add_assoc_str(&info, is_lock && dlock_manager_is_session_based(manager) ? "root" : "prefix",
			zend_string_copy(manager->prefix));
		if (!dlock_manager_is_session_based(manager)) {
			add_assoc_double(&info, "ttl", (double) manager->ttl / DLOCK_SECOND);
		}
		add_assoc_double(&info, "timeout", (double) manager->timeout / DLOCK_SECOND);
		if (object->ce == dlock_ce_semaphore) {
			add_assoc_long(&info, "capacity", (zend_long) manager->backend->capacity);
		} else if (object->ce == dlock_ce_read_write_lock_side) {
			add_assoc_string(&info, "side", manager->backend->kind);
		}
	}
	if (is_lock) {
		add_held(&info, manager);
	}
	*is_temporary = 1;
	return Z_ARRVAL(info);
}

void dlock_manager_register(zend_class_entry *class)
{
	class->create_object = manager_create;
	dlock_unkept_register(class);
	memcpy(&handlers, zend_get_std_object_handlers(), sizeof handlers);
	handlers.offset = offsetof(dlock_manager, std);
	handlers.free_obj = manager_free;
	handlers.clone_obj = NULL;
	handlers.get_debug_info = manager_debug_info;
}

#include "classes.h"

#define DLOCK_CLASS(name) zend_class_entry *dlock_ce_##name;
DLOCK_CLASSES(DLOCK_CLASS)
#ifdef DLOCK_ZOOKEEPER
zend_class_entry *dlock_ce_zk_lock;
#endif

void dlock_class_set_handlers(zend_object_handlers *handlers, size_t offset, zend_object_free_obj_t free_object,
	zend_object_get_debug_info_t debug_info)
{
	memcpy(handlers, zend_get_std_object_handlers(), sizeof *handlers);
	handlers->offset = (int) offset;
	handlers->free_obj = free_object;
	handlers->clone_obj = NULL;
	handlers->get_debug_info = debug_info;
}

zend_object *dlock_class_new(size_t size, zend_class_entry *class, const zend_object_handlers *handlers)
{
	char *own = zend_object_alloc(size, class);
	zend_object *object = (zend_object *) (own + handlers->offset);

	zend_object_std_init(object, class);
	object_properties_init(object, class);
	object->handlers = handlers;
	return object;
}

#ifndef DLOCK_PHP_CLASSES_H
#define DLOCK_PHP_CLASSES_H

#include "php.h"

/* The class entries, dlock_ce_NAME, which are set when the module is loaded. */

#define DLOCK_CLASSES(class)                                                                                           \
	class(manager) class(distributed_lock) class(red_lock) class(semaphore_interface) class(semaphore) class           \
		(read_write_lock_interface) class(read_write_lock) class(read_write_lock_side) class(stock) class(             \
			reservation) class(order_state) class(order) class(order_page) class(inventory) class(testing) class       \
		(inspection) class(party) class(lease) class(lease_state) class(exception) class(timeout_exception) class(     \
			lost_exception) class(connection_exception) class(quorum_exception) class(deadlock_exception) class        \
		(limit_exceeded_exception) class(reservation_expired_exception) class(order_conflict_exception) class(         \
			out_of_stock_exception) class(unknown_product_exception) class(sale_ended_exception)

#define DLOCK_CLASS(name) extern zend_class_entry *dlock_ce_##name;
DLOCK_CLASSES(DLOCK_CLASS)
#undef DLOCK_CLASS
#ifdef DLOCK_ZOOKEEPER
extern zend_class_entry *dlock_ce_zk_lock;
#endif

/* For create_object: makes an object whose struct has `size` bytes, all zero except the zend_object, its last
 * member. */
zend_object *dlock_class_new(size_t size, zend_class_entry *class, const zend_object_handlers *handlers);

/* Sets the handlers of a class whose objects cannot be cloned. `offset`: of the zend_object in the class's struct. */
void dlock_class_set_handlers(zend_object_handlers *handlers, size_t offset, zend_object_free_obj_t free_object,
	zend_object_get_debug_info_t debug_info);

#endif

#ifndef DLOCK_PHP_CLASSES_H
#define DLOCK_PHP_CLASSES_H

#include "php.h"

/* The classes' entries, set when the module is loaded. */

extern zend_class_entry *dlock_ce_manager; /* Dlock\LockManager */
extern zend_class_entry *dlock_ce_distributed_lock;
extern zend_class_entry *dlock_ce_red_lock;
#ifdef DLOCK_ZOOKEEPER
extern zend_class_entry *dlock_ce_zk_lock;
#endif
extern zend_class_entry *dlock_ce_semaphore_interface;
extern zend_class_entry *dlock_ce_semaphore;
extern zend_class_entry *dlock_ce_read_write_lock_interface;
extern zend_class_entry *dlock_ce_read_write_lock;
extern zend_class_entry *dlock_ce_read_write_lock_side;
extern zend_class_entry *dlock_ce_stock;
extern zend_class_entry *dlock_ce_reservation;
extern zend_class_entry *dlock_ce_order_state;
extern zend_class_entry *dlock_ce_order;
extern zend_class_entry *dlock_ce_order_page;
extern zend_class_entry *dlock_ce_inventory;
extern zend_class_entry *dlock_ce_testing;
extern zend_class_entry *dlock_ce_lease;
extern zend_class_entry *dlock_ce_lease_state;
extern zend_class_entry *dlock_ce_exception;
extern zend_class_entry *dlock_ce_timeout_exception;
extern zend_class_entry *dlock_ce_lost_exception;
extern zend_class_entry *dlock_ce_connection_exception;
extern zend_class_entry *dlock_ce_quorum_exception;
extern zend_class_entry *dlock_ce_deadlock_exception;
extern zend_class_entry *dlock_ce_limit_exceeded_exception;
extern zend_class_entry *dlock_ce_reservation_expired_exception;
extern zend_class_entry *dlock_ce_order_conflict_exception;
extern zend_class_entry *dlock_ce_out_of_stock_exception;
extern zend_class_entry *dlock_ce_unknown_product_exception;
extern zend_class_entry *dlock_ce_sale_ended_exception;

#endif

#include "classes.h"

zend_class_entry *dlock_ce_manager;
zend_class_entry *dlock_ce_distributed_lock;
zend_class_entry *dlock_ce_red_lock;
#ifdef DLOCK_ZOOKEEPER
zend_class_entry *dlock_ce_zk_lock;
#endif
zend_class_entry *dlock_ce_semaphore;
zend_class_entry *dlock_ce_read_write_lock;
zend_class_entry *dlock_ce_read_write_lock_side;
zend_class_entry *dlock_ce_stock;
zend_class_entry *dlock_ce_reservation;
zend_class_entry *dlock_ce_lease;
zend_class_entry *dlock_ce_lease_state;
zend_class_entry *dlock_ce_exception;
zend_class_entry *dlock_ce_timeout_exception;
zend_class_entry *dlock_ce_lost_exception;
zend_class_entry *dlock_ce_connection_exception;
zend_class_entry *dlock_ce_quorum_exception;
zend_class_entry *dlock_ce_deadlock_exception;
zend_class_entry *dlock_ce_limit_exceeded_exception;
zend_class_entry *dlock_ce_reservation_expired_exception;

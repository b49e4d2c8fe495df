/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 7b8c6be4b7ef2f8dbcfa0a73ccb79bcc7ac15a79 */

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Dlock_setLabel, 0, 1, IS_STRING, 1)
	ZEND_ARG_TYPE_INFO(0, label, IS_STRING, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Dlock_metrics, 0, 0, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Dlock_stats, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Dlock_setWaiter, 0, 1, IS_CALLABLE, 1)
	ZEND_ARG_TYPE_INFO(0, waiter, IS_CALLABLE, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Dlock_beginRequest, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Dlock_endRequest, 0, 0, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Dlock_describe_server, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_MASK(0, server, MAY_BE_STRING|MAY_BE_ARRAY, NULL)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Dlock_break_lock, 0, 4, IS_DOUBLE, 1)
	ZEND_ARG_TYPE_INFO(0, locks, IS_OBJECT, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, id, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, by, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, now, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Dlock_list_all, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, locks, IS_OBJECT, 0)
ZEND_END_ARG_INFO()

#if defined(DLOCK_ZOOKEEPER)
ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Dlock_describe_ensemble, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_MASK(0, servers, MAY_BE_STRING|MAY_BE_ARRAY, NULL)
ZEND_END_ARG_INFO()
#endif

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_DistributedLock___construct, 0, 0, 0)
	ZEND_ARG_TYPE_MASK(0, server, MAY_BE_STRING|MAY_BE_ARRAY|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, prefix, IS_STRING, 0, "\"Lock:\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, renew, _IS_BOOL, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, onLoss, IS_STRING, 0, "\"flag\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, releaseOnShutdown, _IS_BOOL, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, legacy, _IS_BOOL, 0, "false")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, reentrant, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_DistributedLock_lock, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_MASK(0, timeout, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_MASK(0, expire, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_DistributedLock_release, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_DistributedLock_unlock arginfo_class_DistributedLock_release

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_DistributedLock_unlockAll, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_DistributedLock_expire, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_MASK(0, expire, MAY_BE_LONG|MAY_BE_DOUBLE, NULL)
ZEND_END_ARG_INFO()

#define arginfo_class_DistributedLock_isLocking arginfo_class_DistributedLock_release

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_DistributedLock_acquire, 0, 1, Dlock\\Lease, 0)
	ZEND_ARG_TYPE_MASK(0, resource, MAY_BE_STRING|MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_DistributedLock_tryAcquire, 0, 1, Dlock\\Lease, 1)
	ZEND_ARG_TYPE_MASK(0, resource, MAY_BE_STRING|MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 0, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_DistributedLock_synchronized, 0, 2, IS_MIXED, 0)
	ZEND_ARG_TYPE_MASK(0, resource, MAY_BE_STRING|MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO(0, criticalSection, IS_CALLABLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_DistributedLock_attach, 0, 1, Dlock\\Lease, 0)
	ZEND_ARG_TYPE_INFO(0, handle, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_DistributedLock_isLocked, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_DistributedLock_inspect, 0, 1, Dlock\\Inspection, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, waiters, IS_LONG, 0, "100")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_DistributedLock_inspectAll, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, limit, IS_LONG, 0, "100")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_RedLock___construct, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, servers, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, retryDelay, IS_LONG, 0, "200")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, retryCount, IS_LONG, 0, "3")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, prefix, IS_STRING, 0, "\"\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, renew, _IS_BOOL, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, onLoss, IS_STRING, 0, "\"flag\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, releaseOnShutdown, _IS_BOOL, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, reentrant, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_MASK_EX(arginfo_class_RedLock_lock, 0, 1, MAY_BE_ARRAY|MAY_BE_FALSE)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 0, "10000")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_RedLock_unlock, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, lock, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_RedLock_acquire arginfo_class_DistributedLock_acquire

#define arginfo_class_RedLock_tryAcquire arginfo_class_DistributedLock_tryAcquire

#define arginfo_class_RedLock_synchronized arginfo_class_DistributedLock_synchronized

#define arginfo_class_RedLock_attach arginfo_class_DistributedLock_attach

#define arginfo_class_RedLock_isLocked arginfo_class_DistributedLock_isLocked

#define arginfo_class_RedLock_inspect arginfo_class_DistributedLock_inspect

#define arginfo_class_RedLock_inspectAll arginfo_class_DistributedLock_inspectAll

#if defined(DLOCK_ZOOKEEPER)
ZEND_BEGIN_ARG_INFO_EX(arginfo_class_ZkLock___construct, 0, 0, 0)
	ZEND_ARG_TYPE_MASK(0, servers, MAY_BE_STRING|MAY_BE_ARRAY, "\"127.0.0.1:2181\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, root, IS_STRING, 0, "\"/locks\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, sessionTimeout, IS_DOUBLE, 0, "10.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, auth, IS_STRING, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, onLoss, IS_STRING, 0, "\"flag\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, releaseOnShutdown, _IS_BOOL, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, reentrant, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()
#endif

#if defined(DLOCK_ZOOKEEPER)
ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_ZkLock_lock, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_MASK(0, timeout, MAY_BE_LONG|MAY_BE_DOUBLE|MAY_BE_NULL, "null")
ZEND_END_ARG_INFO()
#endif

#if defined(DLOCK_ZOOKEEPER)
ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_ZkLock_release, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
ZEND_END_ARG_INFO()
#endif

#if defined(DLOCK_ZOOKEEPER)
#define arginfo_class_ZkLock_unlock arginfo_class_ZkLock_release
#endif

#if defined(DLOCK_ZOOKEEPER)
ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_ZkLock_acquire, 0, 1, Dlock\\Lease, 0)
	ZEND_ARG_TYPE_MASK(0, resource, MAY_BE_STRING|MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()
#endif

#if defined(DLOCK_ZOOKEEPER)
ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_ZkLock_tryAcquire, 0, 1, Dlock\\Lease, 1)
	ZEND_ARG_TYPE_MASK(0, resource, MAY_BE_STRING|MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 0, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()
#endif

#if defined(DLOCK_ZOOKEEPER)
ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_ZkLock_synchronized, 0, 2, IS_MIXED, 0)
	ZEND_ARG_TYPE_MASK(0, resource, MAY_BE_STRING|MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO(0, criticalSection, IS_CALLABLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()
#endif

#if defined(DLOCK_ZOOKEEPER)
ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_ZkLock_attach, 0, 1, Dlock\\Lease, 0)
	ZEND_ARG_TYPE_INFO(0, handle, IS_STRING, 0)
ZEND_END_ARG_INFO()
#endif

#if defined(DLOCK_ZOOKEEPER)
#define arginfo_class_ZkLock_isLocked arginfo_class_ZkLock_release
#endif

#if defined(DLOCK_ZOOKEEPER)
ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_ZkLock_inspect, 0, 1, Dlock\\Inspection, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, waiters, IS_LONG, 0, "100")
ZEND_END_ARG_INFO()
#endif

#if defined(DLOCK_ZOOKEEPER)
ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_ZkLock_inspectAll, 0, 0, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, limit, IS_LONG, 0, "100")
ZEND_END_ARG_INFO()
#endif

#define arginfo_class_Dlock_LockManager_acquire arginfo_class_DistributedLock_acquire

#define arginfo_class_Dlock_LockManager_tryAcquire arginfo_class_DistributedLock_tryAcquire

#define arginfo_class_Dlock_LockManager_synchronized arginfo_class_DistributedLock_synchronized

#define arginfo_class_Dlock_LockManager_attach arginfo_class_DistributedLock_attach

#define arginfo_class_Dlock_LockManager_isLocked arginfo_class_DistributedLock_isLocked

#define arginfo_class_Dlock_LockManager_inspect arginfo_class_DistributedLock_inspect

#define arginfo_class_Dlock_LockManager_inspectAll arginfo_class_DistributedLock_inspectAll

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Dlock_Inspection___construct, 0, 0, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dlock_Party___construct arginfo_class_Dlock_Inspection___construct

#define arginfo_class_Dlock_Lease___construct arginfo_class_Dlock_Inspection___construct

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dlock_Lease_state, 0, 0, Dlock\\LeaseState, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dlock_Lease_isHeld arginfo_class_DistributedLock_unlockAll

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dlock_Lease_remaining, 0, 0, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dlock_Lease_assertHeld arginfo_Dlock_beginRequest

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dlock_Lease_refresh, 0, 0, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dlock_Lease_release arginfo_class_DistributedLock_unlockAll

#define arginfo_class_Dlock_Lease_detach arginfo_Dlock_metrics

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dlock_Lease_upgrade, 0, 0, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dlock_Lease_downgrade arginfo_Dlock_beginRequest

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dlock_SemaphoreInterface_acquire, 0, 1, Dlock\\Lease, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, permits, IS_LONG, 0, "1")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dlock_SemaphoreInterface_tryAcquire, 0, 1, Dlock\\Lease, 1)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, permits, IS_LONG, 0, "1")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 0, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dlock_SemaphoreInterface_synchronized, 0, 2, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, criticalSection, IS_CALLABLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, permits, IS_LONG, 0, "1")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dlock_SemaphoreInterface_attach arginfo_class_DistributedLock_attach

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dlock_SemaphoreInterface_availablePermits, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, resource, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dlock_SemaphoreInterface_inspect arginfo_class_DistributedLock_inspect

#define arginfo_class_Dlock_SemaphoreInterface_inspectAll arginfo_class_DistributedLock_inspectAll

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Dlock_Semaphore___construct, 0, 0, 1)
	ZEND_ARG_TYPE_INFO(0, capacity, IS_LONG, 0)
	ZEND_ARG_TYPE_MASK(0, server, MAY_BE_STRING|MAY_BE_ARRAY|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, prefix, IS_STRING, 0, "\"Semaphore:\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, renew, _IS_BOOL, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, onLoss, IS_STRING, 0, "\"flag\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, releaseOnShutdown, _IS_BOOL, 1, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Dlock_Semaphore_acquire arginfo_class_Dlock_SemaphoreInterface_acquire

#define arginfo_class_Dlock_Semaphore_tryAcquire arginfo_class_Dlock_SemaphoreInterface_tryAcquire

#define arginfo_class_Dlock_Semaphore_synchronized arginfo_class_Dlock_SemaphoreInterface_synchronized

#define arginfo_class_Dlock_Semaphore_attach arginfo_class_DistributedLock_attach

#define arginfo_class_Dlock_Semaphore_availablePermits arginfo_class_Dlock_SemaphoreInterface_availablePermits

#define arginfo_class_Dlock_Semaphore_inspect arginfo_class_DistributedLock_inspect

#define arginfo_class_Dlock_Semaphore_inspectAll arginfo_class_DistributedLock_inspectAll

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dlock_ReadWriteLockInterface_readLock, 0, 0, Dlock\\LockManager, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dlock_ReadWriteLockInterface_writeLock arginfo_class_Dlock_ReadWriteLockInterface_readLock

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Dlock_ReadWriteLock___construct, 0, 0, 0)
	ZEND_ARG_TYPE_MASK(0, server, MAY_BE_STRING|MAY_BE_ARRAY|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, prefix, IS_STRING, 0, "\"ReadWriteLock:\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, renew, _IS_BOOL, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, onLoss, IS_STRING, 0, "\"flag\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, releaseOnShutdown, _IS_BOOL, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, fairness, IS_STRING, 0, "\"phase\"")
ZEND_END_ARG_INFO()

#define arginfo_class_Dlock_ReadWriteLock_readLock arginfo_class_Dlock_ReadWriteLockInterface_readLock

#define arginfo_class_Dlock_ReadWriteLock_writeLock arginfo_class_Dlock_ReadWriteLockInterface_readLock

#define arginfo_class_Dlock_ReadWriteLockSide___construct arginfo_class_Dlock_Inspection___construct

#define arginfo_class_Dlock_ReadWriteLockSide_acquire arginfo_class_DistributedLock_acquire

#define arginfo_class_Dlock_ReadWriteLockSide_tryAcquire arginfo_class_DistributedLock_tryAcquire

#define arginfo_class_Dlock_ReadWriteLockSide_synchronized arginfo_class_DistributedLock_synchronized

#define arginfo_class_Dlock_ReadWriteLockSide_attach arginfo_class_DistributedLock_attach

#define arginfo_class_Dlock_ReadWriteLockSide_isLocked arginfo_class_DistributedLock_isLocked

#define arginfo_class_Dlock_ReadWriteLockSide_inspect arginfo_class_DistributedLock_inspect

#define arginfo_class_Dlock_ReadWriteLockSide_inspectAll arginfo_class_DistributedLock_inspectAll

#define arginfo_class_Dlock_Order___construct arginfo_class_Dlock_Inspection___construct

#define arginfo_class_Dlock_OrderPage___construct arginfo_class_Dlock_Inspection___construct

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dlock_OrderPage_getIterator, 0, 0, Iterator, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dlock_Inventory_restock, 0, 2, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, sku, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, quantity, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, change, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dlock_Inventory_reserve, 0, 3, Dlock\\Reservation, 1)
	ZEND_ARG_TYPE_MASK(0, items, MAY_BE_STRING|MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO(0, buyer, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, order, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, timeout, IS_DOUBLE, 0, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, strict, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dlock_Inventory_reservation, 0, 3, Dlock\\Reservation, 0)
	ZEND_ARG_TYPE_MASK(0, items, MAY_BE_STRING|MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO(0, buyer, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, order, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dlock_Inventory_order, 0, 3, Dlock\\Order, 1)
	ZEND_ARG_TYPE_MASK(0, items, MAY_BE_STRING|MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO(0, buyer, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, order, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dlock_Inventory_orders, 0, 1, Dlock\\OrderPage, 0)
	ZEND_ARG_TYPE_INFO(0, sku, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, buyer, IS_STRING, 1, "null")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, state, Dlock\\OrderState, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, since, IS_DOUBLE, 0, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, limit, IS_LONG, 0, "100")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, after, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dlock_Inventory_counts, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_MASK(0, sku, MAY_BE_STRING|MAY_BE_ARRAY, NULL)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, confirmed, _IS_BOOL, 0, "false")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dlock_Inventory_open, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, sku, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dlock_Inventory_close arginfo_class_Dlock_Inventory_open

#define arginfo_class_Dlock_Inventory_end arginfo_class_Dlock_Inventory_open

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Dlock_Stock___construct, 0, 0, 0)
	ZEND_ARG_TYPE_MASK(0, server, MAY_BE_STRING|MAY_BE_ARRAY|MAY_BE_NULL, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, prefix, IS_STRING, 0, "\"Stock:\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_DOUBLE, 0, "600.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, perBuyer, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, fairness, IS_STRING, 0, "\"fit\"")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, remember, IS_DOUBLE, 0, "86400.0")
ZEND_END_ARG_INFO()

#define arginfo_class_Dlock_Stock_restock arginfo_class_Dlock_Inventory_restock

#define arginfo_class_Dlock_Stock_reserve arginfo_class_Dlock_Inventory_reserve

#define arginfo_class_Dlock_Stock_reservation arginfo_class_Dlock_Inventory_reservation

#define arginfo_class_Dlock_Stock_order arginfo_class_Dlock_Inventory_order

#define arginfo_class_Dlock_Stock_orders arginfo_class_Dlock_Inventory_orders

#define arginfo_class_Dlock_Stock_counts arginfo_class_Dlock_Inventory_counts

#define arginfo_class_Dlock_Stock_open arginfo_class_Dlock_Inventory_open

#define arginfo_class_Dlock_Stock_close arginfo_class_Dlock_Inventory_open

#define arginfo_class_Dlock_Stock_end arginfo_class_Dlock_Inventory_open

#define arginfo_class_Dlock_Reservation___construct arginfo_class_Dlock_Inspection___construct

#define arginfo_class_Dlock_Reservation_remaining arginfo_class_Dlock_Lease_remaining

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Dlock_Reservation_status, 0, 0, Dlock\\OrderState, 1)
ZEND_END_ARG_INFO()

#define arginfo_class_Dlock_Reservation_extend arginfo_class_Dlock_Lease_refresh

#define arginfo_class_Dlock_Reservation_confirm arginfo_class_DistributedLock_unlockAll

#define arginfo_class_Dlock_Reservation_cancel arginfo_class_DistributedLock_unlockAll

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dlock_Reservation_refund, 0, 0, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, restock, _IS_BOOL, 0, "true")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, quantity, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, change, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dlock_Reservation_change, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, items, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dlock_Testing___construct arginfo_class_Dlock_Inspection___construct

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Dlock_Testing_travel, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, seconds, IS_DOUBLE, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Dlock_QuorumException_getServerErrors arginfo_Dlock_stats


ZEND_FUNCTION(Dlock_setLabel);
ZEND_FUNCTION(Dlock_metrics);
ZEND_FUNCTION(Dlock_stats);
ZEND_FUNCTION(Dlock_setWaiter);
ZEND_FUNCTION(Dlock_beginRequest);
ZEND_FUNCTION(Dlock_endRequest);
ZEND_FUNCTION(Dlock_describe_server);
ZEND_FUNCTION(Dlock_break_lock);
ZEND_FUNCTION(Dlock_list_all);
#if defined(DLOCK_ZOOKEEPER)
ZEND_FUNCTION(Dlock_describe_ensemble);
#endif
ZEND_METHOD(DistributedLock, __construct);
ZEND_METHOD(DistributedLock, lock);
ZEND_METHOD(DistributedLock, release);
ZEND_METHOD(DistributedLock, unlockAll);
ZEND_METHOD(DistributedLock, expire);
ZEND_METHOD(DistributedLock, isLocking);
ZEND_METHOD(DistributedLock, acquire);
ZEND_METHOD(DistributedLock, tryAcquire);
ZEND_METHOD(DistributedLock, synchronized);
ZEND_METHOD(DistributedLock, attach);
ZEND_METHOD(DistributedLock, isLocked);
ZEND_METHOD(DistributedLock, inspect);
ZEND_METHOD(DistributedLock, inspectAll);
ZEND_METHOD(RedLock, __construct);
ZEND_METHOD(RedLock, lock);
ZEND_METHOD(RedLock, unlock);
#if defined(DLOCK_ZOOKEEPER)
ZEND_METHOD(ZkLock, __construct);
#endif
#if defined(DLOCK_ZOOKEEPER)
ZEND_METHOD(ZkLock, lock);
#endif
#if defined(DLOCK_ZOOKEEPER)
ZEND_METHOD(DistributedLock, release);
#endif
#if defined(DLOCK_ZOOKEEPER)
ZEND_METHOD(DistributedLock, acquire);
#endif
#if defined(DLOCK_ZOOKEEPER)
ZEND_METHOD(DistributedLock, tryAcquire);
#endif
#if defined(DLOCK_ZOOKEEPER)
ZEND_METHOD(DistributedLock, synchronized);
#endif
#if defined(DLOCK_ZOOKEEPER)
ZEND_METHOD(DistributedLock, attach);
#endif
#if defined(DLOCK_ZOOKEEPER)
ZEND_METHOD(DistributedLock, isLocked);
#endif
#if defined(DLOCK_ZOOKEEPER)
ZEND_METHOD(DistributedLock, inspect);
#endif
#if defined(DLOCK_ZOOKEEPER)
ZEND_METHOD(DistributedLock, inspectAll);
#endif
ZEND_METHOD(Dlock_Inspection, __construct);
ZEND_METHOD(Dlock_Lease, __construct);
ZEND_METHOD(Dlock_Lease, state);
ZEND_METHOD(Dlock_Lease, isHeld);
ZEND_METHOD(Dlock_Lease, remaining);
ZEND_METHOD(Dlock_Lease, assertHeld);
ZEND_METHOD(Dlock_Lease, refresh);
ZEND_METHOD(Dlock_Lease, release);
ZEND_METHOD(Dlock_Lease, detach);
ZEND_METHOD(Dlock_Lease, upgrade);
ZEND_METHOD(Dlock_Lease, downgrade);
ZEND_METHOD(Dlock_Semaphore, __construct);
ZEND_METHOD(Dlock_Semaphore, acquire);
ZEND_METHOD(Dlock_Semaphore, tryAcquire);
ZEND_METHOD(Dlock_Semaphore, synchronized);
ZEND_METHOD(Dlock_Semaphore, availablePermits);
ZEND_METHOD(Dlock_ReadWriteLock, __construct);
ZEND_METHOD(Dlock_ReadWriteLock, readLock);
ZEND_METHOD(Dlock_ReadWriteLock, writeLock);
ZEND_METHOD(Dlock_OrderPage, getIterator);
ZEND_METHOD(Dlock_Stock, __construct);
ZEND_METHOD(Dlock_Stock, restock);
ZEND_METHOD(Dlock_Stock, reserve);
ZEND_METHOD(Dlock_Stock, reservation);
ZEND_METHOD(Dlock_Stock, order);
ZEND_METHOD(Dlock_Stock, orders);
ZEND_METHOD(Dlock_Stock, counts);
ZEND_METHOD(Dlock_Stock, open);
ZEND_METHOD(Dlock_Stock, close);
ZEND_METHOD(Dlock_Stock, end);
ZEND_METHOD(Dlock_Reservation, remaining);
ZEND_METHOD(Dlock_Reservation, status);
ZEND_METHOD(Dlock_Reservation, extend);
ZEND_METHOD(Dlock_Reservation, confirm);
ZEND_METHOD(Dlock_Reservation, cancel);
ZEND_METHOD(Dlock_Reservation, refund);
ZEND_METHOD(Dlock_Reservation, change);
ZEND_METHOD(Dlock_Testing, travel);
ZEND_METHOD(Dlock_QuorumException, getServerErrors);


static const zend_function_entry ext_functions[] = {
	ZEND_NS_FALIAS("Dlock", setLabel, Dlock_setLabel, arginfo_Dlock_setLabel)
	ZEND_NS_FALIAS("Dlock", metrics, Dlock_metrics, arginfo_Dlock_metrics)
	ZEND_NS_FALIAS("Dlock", stats, Dlock_stats, arginfo_Dlock_stats)
	ZEND_NS_FALIAS("Dlock", setWaiter, Dlock_setWaiter, arginfo_Dlock_setWaiter)
	ZEND_NS_FALIAS("Dlock", beginRequest, Dlock_beginRequest, arginfo_Dlock_beginRequest)
	ZEND_NS_FALIAS("Dlock", endRequest, Dlock_endRequest, arginfo_Dlock_endRequest)
	ZEND_NS_FALIAS("Dlock", describe_server, Dlock_describe_server, arginfo_Dlock_describe_server)
	ZEND_NS_FALIAS("Dlock", break_lock, Dlock_break_lock, arginfo_Dlock_break_lock)
	ZEND_NS_FALIAS("Dlock", list_all, Dlock_list_all, arginfo_Dlock_list_all)
#if defined(DLOCK_ZOOKEEPER)
	ZEND_NS_FALIAS("Dlock", describe_ensemble, Dlock_describe_ensemble, arginfo_Dlock_describe_ensemble)
#endif
	ZEND_FE_END
};


static const zend_function_entry class_DistributedLock_methods[] = {
	ZEND_ME(DistributedLock, __construct, arginfo_class_DistributedLock___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(DistributedLock, lock, arginfo_class_DistributedLock_lock, ZEND_ACC_PUBLIC)
	ZEND_ME(DistributedLock, release, arginfo_class_DistributedLock_release, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, unlock, release, arginfo_class_DistributedLock_unlock, ZEND_ACC_PUBLIC)
	ZEND_ME(DistributedLock, unlockAll, arginfo_class_DistributedLock_unlockAll, ZEND_ACC_PUBLIC)
	ZEND_ME(DistributedLock, expire, arginfo_class_DistributedLock_expire, ZEND_ACC_PUBLIC)
	ZEND_ME(DistributedLock, isLocking, arginfo_class_DistributedLock_isLocking, ZEND_ACC_PUBLIC)
	ZEND_ME(DistributedLock, acquire, arginfo_class_DistributedLock_acquire, ZEND_ACC_PUBLIC)
	ZEND_ME(DistributedLock, tryAcquire, arginfo_class_DistributedLock_tryAcquire, ZEND_ACC_PUBLIC)
	ZEND_ME(DistributedLock, synchronized, arginfo_class_DistributedLock_synchronized, ZEND_ACC_PUBLIC)
	ZEND_ME(DistributedLock, attach, arginfo_class_DistributedLock_attach, ZEND_ACC_PUBLIC)
	ZEND_ME(DistributedLock, isLocked, arginfo_class_DistributedLock_isLocked, ZEND_ACC_PUBLIC)
	ZEND_ME(DistributedLock, inspect, arginfo_class_DistributedLock_inspect, ZEND_ACC_PUBLIC)
	ZEND_ME(DistributedLock, inspectAll, arginfo_class_DistributedLock_inspectAll, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_RedLock_methods[] = {
	ZEND_ME(RedLock, __construct, arginfo_class_RedLock___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(RedLock, lock, arginfo_class_RedLock_lock, ZEND_ACC_PUBLIC)
	ZEND_ME(RedLock, unlock, arginfo_class_RedLock_unlock, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, acquire, acquire, arginfo_class_RedLock_acquire, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, tryAcquire, tryAcquire, arginfo_class_RedLock_tryAcquire, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, synchronized, synchronized, arginfo_class_RedLock_synchronized, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, attach, attach, arginfo_class_RedLock_attach, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, isLocked, isLocked, arginfo_class_RedLock_isLocked, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, inspect, inspect, arginfo_class_RedLock_inspect, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, inspectAll, inspectAll, arginfo_class_RedLock_inspectAll, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


#if defined(DLOCK_ZOOKEEPER)
static const zend_function_entry class_ZkLock_methods[] = {
	ZEND_ME(ZkLock, __construct, arginfo_class_ZkLock___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(ZkLock, lock, arginfo_class_ZkLock_lock, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, release, release, arginfo_class_ZkLock_release, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, unlock, release, arginfo_class_ZkLock_unlock, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, acquire, acquire, arginfo_class_ZkLock_acquire, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, tryAcquire, tryAcquire, arginfo_class_ZkLock_tryAcquire, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, synchronized, synchronized, arginfo_class_ZkLock_synchronized, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, attach, attach, arginfo_class_ZkLock_attach, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, isLocked, isLocked, arginfo_class_ZkLock_isLocked, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, inspect, inspect, arginfo_class_ZkLock_inspect, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, inspectAll, inspectAll, arginfo_class_ZkLock_inspectAll, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};
#endif


static const zend_function_entry class_Dlock_LockManager_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_LockManager, acquire, arginfo_class_Dlock_LockManager_acquire, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_LockManager, tryAcquire, arginfo_class_Dlock_LockManager_tryAcquire, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_LockManager, synchronized, arginfo_class_Dlock_LockManager_synchronized, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_LockManager, attach, arginfo_class_Dlock_LockManager_attach, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_LockManager, isLocked, arginfo_class_Dlock_LockManager_isLocked, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_LockManager, inspect, arginfo_class_Dlock_LockManager_inspect, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_LockManager, inspectAll, arginfo_class_Dlock_LockManager_inspectAll, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_Inspection_methods[] = {
	ZEND_ME(Dlock_Inspection, __construct, arginfo_class_Dlock_Inspection___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_Party_methods[] = {
	ZEND_MALIAS(Dlock_Inspection, __construct, __construct, arginfo_class_Dlock_Party___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_LeaseState_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_Lease_methods[] = {
	ZEND_ME(Dlock_Lease, __construct, arginfo_class_Dlock_Lease___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Dlock_Lease, state, arginfo_class_Dlock_Lease_state, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Lease, isHeld, arginfo_class_Dlock_Lease_isHeld, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Lease, remaining, arginfo_class_Dlock_Lease_remaining, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Lease, assertHeld, arginfo_class_Dlock_Lease_assertHeld, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Lease, refresh, arginfo_class_Dlock_Lease_refresh, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Lease, release, arginfo_class_Dlock_Lease_release, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Lease, detach, arginfo_class_Dlock_Lease_detach, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Lease, upgrade, arginfo_class_Dlock_Lease_upgrade, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Lease, downgrade, arginfo_class_Dlock_Lease_downgrade, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_SemaphoreInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_SemaphoreInterface, acquire, arginfo_class_Dlock_SemaphoreInterface_acquire, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_SemaphoreInterface, tryAcquire, arginfo_class_Dlock_SemaphoreInterface_tryAcquire, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_SemaphoreInterface, synchronized, arginfo_class_Dlock_SemaphoreInterface_synchronized, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_SemaphoreInterface, attach, arginfo_class_Dlock_SemaphoreInterface_attach, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_SemaphoreInterface, availablePermits, arginfo_class_Dlock_SemaphoreInterface_availablePermits, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_SemaphoreInterface, inspect, arginfo_class_Dlock_SemaphoreInterface_inspect, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_SemaphoreInterface, inspectAll, arginfo_class_Dlock_SemaphoreInterface_inspectAll, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_Semaphore_methods[] = {
	ZEND_ME(Dlock_Semaphore, __construct, arginfo_class_Dlock_Semaphore___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Semaphore, acquire, arginfo_class_Dlock_Semaphore_acquire, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Semaphore, tryAcquire, arginfo_class_Dlock_Semaphore_tryAcquire, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Semaphore, synchronized, arginfo_class_Dlock_Semaphore_synchronized, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, attach, attach, arginfo_class_Dlock_Semaphore_attach, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Semaphore, availablePermits, arginfo_class_Dlock_Semaphore_availablePermits, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, inspect, inspect, arginfo_class_Dlock_Semaphore_inspect, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, inspectAll, inspectAll, arginfo_class_Dlock_Semaphore_inspectAll, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_ReadWriteLockInterface_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_ReadWriteLockInterface, readLock, arginfo_class_Dlock_ReadWriteLockInterface_readLock, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_ReadWriteLockInterface, writeLock, arginfo_class_Dlock_ReadWriteLockInterface_writeLock, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_ReadWriteLock_methods[] = {
	ZEND_ME(Dlock_ReadWriteLock, __construct, arginfo_class_Dlock_ReadWriteLock___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_ReadWriteLock, readLock, arginfo_class_Dlock_ReadWriteLock_readLock, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_ReadWriteLock, writeLock, arginfo_class_Dlock_ReadWriteLock_writeLock, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_ReadWriteLockSide_methods[] = {
	ZEND_MALIAS(Dlock_Inspection, __construct, __construct, arginfo_class_Dlock_ReadWriteLockSide___construct, ZEND_ACC_PRIVATE)
	ZEND_MALIAS(DistributedLock, acquire, acquire, arginfo_class_Dlock_ReadWriteLockSide_acquire, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, tryAcquire, tryAcquire, arginfo_class_Dlock_ReadWriteLockSide_tryAcquire, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, synchronized, synchronized, arginfo_class_Dlock_ReadWriteLockSide_synchronized, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, attach, attach, arginfo_class_Dlock_ReadWriteLockSide_attach, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, isLocked, isLocked, arginfo_class_Dlock_ReadWriteLockSide_isLocked, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, inspect, inspect, arginfo_class_Dlock_ReadWriteLockSide_inspect, ZEND_ACC_PUBLIC)
	ZEND_MALIAS(DistributedLock, inspectAll, inspectAll, arginfo_class_Dlock_ReadWriteLockSide_inspectAll, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_OrderState_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_Order_methods[] = {
	ZEND_MALIAS(Dlock_Inspection, __construct, __construct, arginfo_class_Dlock_Order___construct, ZEND_ACC_PRIVATE)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_OrderPage_methods[] = {
	ZEND_MALIAS(Dlock_Inspection, __construct, __construct, arginfo_class_Dlock_OrderPage___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Dlock_OrderPage, getIterator, arginfo_class_Dlock_OrderPage_getIterator, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_Inventory_methods[] = {
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_Inventory, restock, arginfo_class_Dlock_Inventory_restock, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_Inventory, reserve, arginfo_class_Dlock_Inventory_reserve, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_Inventory, reservation, arginfo_class_Dlock_Inventory_reservation, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_Inventory, order, arginfo_class_Dlock_Inventory_order, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_Inventory, orders, arginfo_class_Dlock_Inventory_orders, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_Inventory, counts, arginfo_class_Dlock_Inventory_counts, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_Inventory, open, arginfo_class_Dlock_Inventory_open, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_Inventory, close, arginfo_class_Dlock_Inventory_close, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_ABSTRACT_ME_WITH_FLAGS(Dlock_Inventory, end, arginfo_class_Dlock_Inventory_end, ZEND_ACC_PUBLIC|ZEND_ACC_ABSTRACT)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_Stock_methods[] = {
	ZEND_ME(Dlock_Stock, __construct, arginfo_class_Dlock_Stock___construct, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Stock, restock, arginfo_class_Dlock_Stock_restock, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Stock, reserve, arginfo_class_Dlock_Stock_reserve, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Stock, reservation, arginfo_class_Dlock_Stock_reservation, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Stock, order, arginfo_class_Dlock_Stock_order, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Stock, orders, arginfo_class_Dlock_Stock_orders, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Stock, counts, arginfo_class_Dlock_Stock_counts, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Stock, open, arginfo_class_Dlock_Stock_open, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Stock, close, arginfo_class_Dlock_Stock_close, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Stock, end, arginfo_class_Dlock_Stock_end, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_Reservation_methods[] = {
	ZEND_MALIAS(Dlock_Inspection, __construct, __construct, arginfo_class_Dlock_Reservation___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Dlock_Reservation, remaining, arginfo_class_Dlock_Reservation_remaining, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Reservation, status, arginfo_class_Dlock_Reservation_status, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Reservation, extend, arginfo_class_Dlock_Reservation_extend, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Reservation, confirm, arginfo_class_Dlock_Reservation_confirm, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Reservation, cancel, arginfo_class_Dlock_Reservation_cancel, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Reservation, refund, arginfo_class_Dlock_Reservation_refund, ZEND_ACC_PUBLIC)
	ZEND_ME(Dlock_Reservation, change, arginfo_class_Dlock_Reservation_change, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_Testing_methods[] = {
	ZEND_MALIAS(Dlock_Inspection, __construct, __construct, arginfo_class_Dlock_Testing___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Dlock_Testing, travel, arginfo_class_Dlock_Testing_travel, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_DlockException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_AcquireTimeoutException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_LeaseLostException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_ConnectionException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_QuorumException_methods[] = {
	ZEND_ME(Dlock_QuorumException, getServerErrors, arginfo_class_Dlock_QuorumException_getServerErrors, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_DeadlockException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_LimitExceededException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_ReservationExpiredException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_OrderConflictException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_OutOfStockException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_UnknownProductException_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Dlock_SaleEndedException_methods[] = {
	ZEND_FE_END
};

static void register_dlock_symbols(int module_number)
{
	REGISTER_STRING_CONSTANT("Dlock\\VERSION", PHP_DLOCK_VERSION, CONST_PERSISTENT);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(CG(function_table), "dlock\\describe_server", sizeof("dlock\\describe_server") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);
#if defined(DLOCK_ZOOKEEPER)

	zend_add_parameter_attribute(zend_hash_str_find_ptr(CG(function_table), "dlock\\describe_ensemble", sizeof("dlock\\describe_ensemble") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);
#endif
}

static zend_class_entry *register_class_DistributedLock(zend_class_entry *class_entry_Dlock_LockManager)
{
	zend_class_entry ce, *class_entry;

	INIT_CLASS_ENTRY(ce, "DistributedLock", class_DistributedLock_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Dlock_LockManager);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "attach", sizeof("attach") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_RedLock(zend_class_entry *class_entry_Dlock_LockManager)
{
	zend_class_entry ce, *class_entry;

	INIT_CLASS_ENTRY(ce, "RedLock", class_RedLock_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Dlock_LockManager);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "unlock", sizeof("unlock") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "attach", sizeof("attach") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

#if defined(DLOCK_ZOOKEEPER)
static zend_class_entry *register_class_ZkLock(zend_class_entry *class_entry_Dlock_LockManager)
{
	zend_class_entry ce, *class_entry;

	INIT_CLASS_ENTRY(ce, "ZkLock", class_ZkLock_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Dlock_LockManager);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 3, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "attach", sizeof("attach") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}
#endif

static zend_class_entry *register_class_Dlock_LockManager(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "LockManager", class_Dlock_LockManager_methods);
	class_entry = zend_register_internal_interface(&ce);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "attach", sizeof("attach") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_Inspection(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "Inspection", class_Dlock_Inspection_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;

	zval property_resource_default_value;
	ZVAL_UNDEF(&property_resource_default_value);
	zend_string *property_resource_name = zend_string_init("resource", sizeof("resource") - 1, 1);
	zend_declare_typed_property(class_entry, property_resource_name, &property_resource_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_resource_name);

	zval property_at_default_value;
	ZVAL_UNDEF(&property_at_default_value);
	zend_string *property_at_name = zend_string_init("at", sizeof("at") - 1, 1);
	zend_declare_typed_property(class_entry, property_at_name, &property_at_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_at_name);

	zval property_holders_default_value;
	ZVAL_UNDEF(&property_holders_default_value);
	zend_string *property_holders_name = zend_string_init("holders", sizeof("holders") - 1, 1);
	zend_declare_typed_property(class_entry, property_holders_name, &property_holders_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_holders_name);

	zval property_waiters_default_value;
	ZVAL_UNDEF(&property_waiters_default_value);
	zend_string *property_waiters_name = zend_string_init("waiters", sizeof("waiters") - 1, 1);
	zend_declare_typed_property(class_entry, property_waiters_name, &property_waiters_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_waiters_name);

	zval property_waiting_default_value;
	ZVAL_UNDEF(&property_waiting_default_value);
	zend_string *property_waiting_name = zend_string_init("waiting", sizeof("waiting") - 1, 1);
	zend_declare_typed_property(class_entry, property_waiting_name, &property_waiting_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_waiting_name);

	zval property_servers_default_value;
	ZVAL_UNDEF(&property_servers_default_value);
	zend_string *property_servers_name = zend_string_init("servers", sizeof("servers") - 1, 1);
	zend_declare_typed_property(class_entry, property_servers_name, &property_servers_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_servers_name);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_Party(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "Party", class_Dlock_Party_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;

	zval property_id_default_value;
	ZVAL_UNDEF(&property_id_default_value);
	zend_string *property_id_name = zend_string_init("id", sizeof("id") - 1, 1);
	zend_declare_typed_property(class_entry, property_id_name, &property_id_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_id_name);

	zval property_host_default_value;
	ZVAL_UNDEF(&property_host_default_value);
	zend_string *property_host_name = zend_string_init("host", sizeof("host") - 1, 1);
	zend_declare_typed_property(class_entry, property_host_name, &property_host_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_host_name);

	zval property_pid_default_value;
	ZVAL_UNDEF(&property_pid_default_value);
	zend_string *property_pid_name = zend_string_init("pid", sizeof("pid") - 1, 1);
	zend_declare_typed_property(class_entry, property_pid_name, &property_pid_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_pid_name);

	zval property_label_default_value;
	ZVAL_UNDEF(&property_label_default_value);
	zend_string *property_label_name = zend_string_init("label", sizeof("label") - 1, 1);
	zend_declare_typed_property(class_entry, property_label_name, &property_label_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_label_name);

	zval property_mode_default_value;
	ZVAL_UNDEF(&property_mode_default_value);
	zend_string *property_mode_name = zend_string_init("mode", sizeof("mode") - 1, 1);
	zend_declare_typed_property(class_entry, property_mode_name, &property_mode_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_mode_name);

	zval property_permits_default_value;
	ZVAL_UNDEF(&property_permits_default_value);
	zend_string *property_permits_name = zend_string_init("permits", sizeof("permits") - 1, 1);
	zend_declare_typed_property(class_entry, property_permits_name, &property_permits_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_permits_name);

	zval property_askedAt_default_value;
	ZVAL_UNDEF(&property_askedAt_default_value);
	zend_string *property_askedAt_name = zend_string_init("askedAt", sizeof("askedAt") - 1, 1);
	zend_declare_typed_property(class_entry, property_askedAt_name, &property_askedAt_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_askedAt_name);

	zval property_heldSince_default_value;
	ZVAL_UNDEF(&property_heldSince_default_value);
	zend_string *property_heldSince_name = zend_string_init("heldSince", sizeof("heldSince") - 1, 1);
	zend_declare_typed_property(class_entry, property_heldSince_name, &property_heldSince_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_heldSince_name);

	zval property_remaining_default_value;
	ZVAL_UNDEF(&property_remaining_default_value);
	zend_string *property_remaining_name = zend_string_init("remaining", sizeof("remaining") - 1, 1);
	zend_declare_typed_property(class_entry, property_remaining_name, &property_remaining_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_remaining_name);

	zval property_fencingToken_default_value;
	ZVAL_UNDEF(&property_fencingToken_default_value);
	zend_string *property_fencingToken_name = zend_string_init("fencingToken", sizeof("fencingToken") - 1, 1);
	zend_declare_typed_property(class_entry, property_fencingToken_name, &property_fencingToken_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_fencingToken_name);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_LeaseState(void)
{
	zend_class_entry *class_entry = zend_register_internal_enum("Dlock\\LeaseState", IS_UNDEF, class_Dlock_LeaseState_methods);

	zend_enum_add_case_cstr(class_entry, "Held", NULL);

	zend_enum_add_case_cstr(class_entry, "Uncertain", NULL);

	zend_enum_add_case_cstr(class_entry, "Lost", NULL);

	zend_enum_add_case_cstr(class_entry, "Released", NULL);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_Lease(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "Lease", class_Dlock_Lease_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_resource_default_value;
	ZVAL_UNDEF(&property_resource_default_value);
	zend_string *property_resource_name = zend_string_init("resource", sizeof("resource") - 1, 1);
	zend_declare_typed_property(class_entry, property_resource_name, &property_resource_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_resource_name);

	zval property_resources_default_value;
	ZVAL_UNDEF(&property_resources_default_value);
	zend_string *property_resources_name = zend_string_init("resources", sizeof("resources") - 1, 1);
	zend_declare_typed_property(class_entry, property_resources_name, &property_resources_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_resources_name);

	zval property_token_default_value;
	ZVAL_UNDEF(&property_token_default_value);
	zend_string *property_token_name = zend_string_init("token", sizeof("token") - 1, 1);
	zend_declare_typed_property(class_entry, property_token_name, &property_token_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_token_name);

	zval property_fencingToken_default_value;
	ZVAL_UNDEF(&property_fencingToken_default_value);
	zend_string *property_fencingToken_name = zend_string_init("fencingToken", sizeof("fencingToken") - 1, 1);
	zend_declare_typed_property(class_entry, property_fencingToken_name, &property_fencingToken_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_fencingToken_name);

	zval property_permits_default_value;
	ZVAL_UNDEF(&property_permits_default_value);
	zend_string *property_permits_name = zend_string_init("permits", sizeof("permits") - 1, 1);
	zend_declare_typed_property(class_entry, property_permits_name, &property_permits_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_permits_name);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_SemaphoreInterface(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "SemaphoreInterface", class_Dlock_SemaphoreInterface_methods);
	class_entry = zend_register_internal_interface(&ce);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "attach", sizeof("attach") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_Semaphore(zend_class_entry *class_entry_Dlock_SemaphoreInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "Semaphore", class_Dlock_Semaphore_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Dlock_SemaphoreInterface);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 1, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "attach", sizeof("attach") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_ReadWriteLockInterface(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "ReadWriteLockInterface", class_Dlock_ReadWriteLockInterface_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_ReadWriteLock(zend_class_entry *class_entry_Dlock_ReadWriteLockInterface)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "ReadWriteLock", class_Dlock_ReadWriteLock_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Dlock_ReadWriteLockInterface);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_ReadWriteLockSide(zend_class_entry *class_entry_Dlock_LockManager)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "ReadWriteLockSide", class_Dlock_ReadWriteLockSide_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Dlock_LockManager);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "attach", sizeof("attach") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_OrderState(void)
{
	zend_class_entry *class_entry = zend_register_internal_enum("Dlock\\OrderState", IS_STRING, class_Dlock_OrderState_methods);

	zval enum_case_Reserved_value;
	zend_string *enum_case_Reserved_value_str = zend_string_init("reserved", strlen("reserved"), 1);
	ZVAL_STR(&enum_case_Reserved_value, enum_case_Reserved_value_str);
	zend_enum_add_case_cstr(class_entry, "Reserved", &enum_case_Reserved_value);

	zval enum_case_Ended_value;
	zend_string *enum_case_Ended_value_str = zend_string_init("ended", strlen("ended"), 1);
	ZVAL_STR(&enum_case_Ended_value, enum_case_Ended_value_str);
	zend_enum_add_case_cstr(class_entry, "Ended", &enum_case_Ended_value);

	zval enum_case_Sold_value;
	zend_string *enum_case_Sold_value_str = zend_string_init("sold", strlen("sold"), 1);
	ZVAL_STR(&enum_case_Sold_value, enum_case_Sold_value_str);
	zend_enum_add_case_cstr(class_entry, "Sold", &enum_case_Sold_value);

	zval enum_case_Cancelled_value;
	zend_string *enum_case_Cancelled_value_str = zend_string_init("cancelled", strlen("cancelled"), 1);
	ZVAL_STR(&enum_case_Cancelled_value, enum_case_Cancelled_value_str);
	zend_enum_add_case_cstr(class_entry, "Cancelled", &enum_case_Cancelled_value);

	zval enum_case_Refunded_value;
	zend_string *enum_case_Refunded_value_str = zend_string_init("refunded", strlen("refunded"), 1);
	ZVAL_STR(&enum_case_Refunded_value, enum_case_Refunded_value_str);
	zend_enum_add_case_cstr(class_entry, "Refunded", &enum_case_Refunded_value);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_Order(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "Order", class_Dlock_Order_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;

	zend_string *property_state_class_Dlock_OrderState = zend_string_init("Dlock\\OrderState", sizeof("Dlock\\OrderState")-1, 1);
	zval property_state_default_value;
	ZVAL_UNDEF(&property_state_default_value);
	zend_string *property_state_name = zend_string_init("state", sizeof("state") - 1, 1);
	zend_declare_typed_property(class_entry, property_state_name, &property_state_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_state_class_Dlock_OrderState, 0, 0));
	zend_string_release(property_state_name);

	zval property_items_default_value;
	ZVAL_UNDEF(&property_items_default_value);
	zend_string *property_items_name = zend_string_init("items", sizeof("items") - 1, 1);
	zend_declare_typed_property(class_entry, property_items_name, &property_items_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_items_name);

	zval property_buyer_default_value;
	ZVAL_UNDEF(&property_buyer_default_value);
	zend_string *property_buyer_name = zend_string_init("buyer", sizeof("buyer") - 1, 1);
	zend_declare_typed_property(class_entry, property_buyer_name, &property_buyer_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_buyer_name);

	zval property_order_default_value;
	ZVAL_UNDEF(&property_order_default_value);
	zend_string *property_order_name = zend_string_init("order", sizeof("order") - 1, 1);
	zend_declare_typed_property(class_entry, property_order_name, &property_order_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_order_name);

	zval property_at_default_value;
	ZVAL_UNDEF(&property_at_default_value);
	zend_string *property_at_name = zend_string_init("at", sizeof("at") - 1, 1);
	zend_declare_typed_property(class_entry, property_at_name, &property_at_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_at_name);

	zval property_remaining_default_value;
	ZVAL_UNDEF(&property_remaining_default_value);
	zend_string *property_remaining_name = zend_string_init("remaining", sizeof("remaining") - 1, 1);
	zend_declare_typed_property(class_entry, property_remaining_name, &property_remaining_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_remaining_name);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_OrderPage(zend_class_entry *class_entry_IteratorAggregate)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "OrderPage", class_Dlock_OrderPage_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;
	zend_class_implements(class_entry, 1, class_entry_IteratorAggregate);

	zval property_orders_default_value;
	ZVAL_UNDEF(&property_orders_default_value);
	zend_string *property_orders_name = zend_string_init("orders", sizeof("orders") - 1, 1);
	zend_declare_typed_property(class_entry, property_orders_name, &property_orders_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_orders_name);

	zval property_next_default_value;
	ZVAL_UNDEF(&property_next_default_value);
	zend_string *property_next_name = zend_string_init("next", sizeof("next") - 1, 1);
	zend_declare_typed_property(class_entry, property_next_name, &property_next_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING|MAY_BE_NULL));
	zend_string_release(property_next_name);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_Inventory(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "Inventory", class_Dlock_Inventory_methods);
	class_entry = zend_register_internal_interface(&ce);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_Stock(zend_class_entry *class_entry_Dlock_Inventory)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "Stock", class_Dlock_Stock_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;
	zend_class_implements(class_entry, 1, class_entry_Dlock_Inventory);


	zend_add_parameter_attribute(zend_hash_str_find_ptr(&class_entry->function_table, "__construct", sizeof("__construct") - 1), 0, ZSTR_KNOWN(ZEND_STR_SENSITIVEPARAMETER), 0);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_Reservation(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "Reservation", class_Dlock_Reservation_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_items_default_value;
	ZVAL_UNDEF(&property_items_default_value);
	zend_string *property_items_name = zend_string_init("items", sizeof("items") - 1, 1);
	zend_declare_typed_property(class_entry, property_items_name, &property_items_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_items_name);

	zval property_buyer_default_value;
	ZVAL_UNDEF(&property_buyer_default_value);
	zend_string *property_buyer_name = zend_string_init("buyer", sizeof("buyer") - 1, 1);
	zend_declare_typed_property(class_entry, property_buyer_name, &property_buyer_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_buyer_name);

	zval property_order_default_value;
	ZVAL_UNDEF(&property_order_default_value);
	zend_string *property_order_name = zend_string_init("order", sizeof("order") - 1, 1);
	zend_declare_typed_property(class_entry, property_order_name, &property_order_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_order_name);

	zval property_fencingToken_default_value;
	ZVAL_UNDEF(&property_fencingToken_default_value);
	zend_string *property_fencingToken_name = zend_string_init("fencingToken", sizeof("fencingToken") - 1, 1);
	zend_declare_typed_property(class_entry, property_fencingToken_name, &property_fencingToken_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_fencingToken_name);

	zval property_uncertain_default_value;
	ZVAL_UNDEF(&property_uncertain_default_value);
	zend_string *property_uncertain_name = zend_string_init("uncertain", sizeof("uncertain") - 1, 1);
	zend_declare_typed_property(class_entry, property_uncertain_name, &property_uncertain_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE|MAY_BE_NULL));
	zend_string_release(property_uncertain_name);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_Testing(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "Testing", class_Dlock_Testing_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Dlock_DlockException(zend_class_entry *class_entry_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "DlockException", class_Dlock_DlockException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_AcquireTimeoutException(zend_class_entry *class_entry_Dlock_DlockException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "AcquireTimeoutException", class_Dlock_AcquireTimeoutException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dlock_DlockException);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_LeaseLostException(zend_class_entry *class_entry_Dlock_DlockException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "LeaseLostException", class_Dlock_LeaseLostException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dlock_DlockException);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_ConnectionException(zend_class_entry *class_entry_Dlock_DlockException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "ConnectionException", class_Dlock_ConnectionException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dlock_DlockException);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_QuorumException(zend_class_entry *class_entry_Dlock_ConnectionException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "QuorumException", class_Dlock_QuorumException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dlock_ConnectionException);

	zval property_serverErrors_default_value;
	ZVAL_EMPTY_ARRAY(&property_serverErrors_default_value);
	zend_string *property_serverErrors_name = zend_string_init("serverErrors", sizeof("serverErrors") - 1, 1);
	zend_declare_typed_property(class_entry, property_serverErrors_name, &property_serverErrors_default_value, ZEND_ACC_PRIVATE, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_serverErrors_name);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_DeadlockException(zend_class_entry *class_entry_Dlock_DlockException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "DeadlockException", class_Dlock_DeadlockException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dlock_DlockException);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_LimitExceededException(zend_class_entry *class_entry_Dlock_DlockException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "LimitExceededException", class_Dlock_LimitExceededException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dlock_DlockException);

	zval property_sku_default_value;
	ZVAL_UNDEF(&property_sku_default_value);
	zend_string *property_sku_name = zend_string_init("sku", sizeof("sku") - 1, 1);
	zend_declare_typed_property(class_entry, property_sku_name, &property_sku_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_sku_name);

	zval property_limit_default_value;
	ZVAL_UNDEF(&property_limit_default_value);
	zend_string *property_limit_name = zend_string_init("limit", sizeof("limit") - 1, 1);
	zend_declare_typed_property(class_entry, property_limit_name, &property_limit_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_limit_name);

	zval property_has_default_value;
	ZVAL_UNDEF(&property_has_default_value);
	zend_string *property_has_name = zend_string_init("has", sizeof("has") - 1, 1);
	zend_declare_typed_property(class_entry, property_has_name, &property_has_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_has_name);

	zval property_asked_default_value;
	ZVAL_UNDEF(&property_asked_default_value);
	zend_string *property_asked_name = zend_string_init("asked", sizeof("asked") - 1, 1);
	zend_declare_typed_property(class_entry, property_asked_name, &property_asked_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_asked_name);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_ReservationExpiredException(zend_class_entry *class_entry_Dlock_DlockException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "ReservationExpiredException", class_Dlock_ReservationExpiredException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dlock_DlockException);

	zend_string *property_state_class_Dlock_OrderState = zend_string_init("Dlock\\OrderState", sizeof("Dlock\\OrderState")-1, 1);
	zval property_state_default_value;
	ZVAL_UNDEF(&property_state_default_value);
	zend_string *property_state_name = zend_string_init("state", sizeof("state") - 1, 1);
	zend_declare_typed_property(class_entry, property_state_name, &property_state_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_CLASS(property_state_class_Dlock_OrderState, 0, MAY_BE_NULL));
	zend_string_release(property_state_name);

	zval property_reason_default_value;
	ZVAL_UNDEF(&property_reason_default_value);
	zend_string *property_reason_name = zend_string_init("reason", sizeof("reason") - 1, 1);
	zend_declare_typed_property(class_entry, property_reason_name, &property_reason_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_reason_name);

	zval property_since_default_value;
	ZVAL_UNDEF(&property_since_default_value);
	zend_string *property_since_name = zend_string_init("since", sizeof("since") - 1, 1);
	zend_declare_typed_property(class_entry, property_since_name, &property_since_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_DOUBLE));
	zend_string_release(property_since_name);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_OrderConflictException(zend_class_entry *class_entry_Dlock_DlockException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "OrderConflictException", class_Dlock_OrderConflictException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dlock_DlockException);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_OutOfStockException(zend_class_entry *class_entry_Dlock_DlockException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "OutOfStockException", class_Dlock_OutOfStockException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dlock_DlockException);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_UnknownProductException(zend_class_entry *class_entry_Dlock_DlockException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "UnknownProductException", class_Dlock_UnknownProductException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dlock_DlockException);

	return class_entry;
}

static zend_class_entry *register_class_Dlock_SaleEndedException(zend_class_entry *class_entry_Dlock_DlockException)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Dlock", "SaleEndedException", class_Dlock_SaleEndedException_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_Dlock_DlockException);

	return class_entry;
}

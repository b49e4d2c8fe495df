#ifndef DLOCK_PHP_MANAGER_H
#define DLOCK_PHP_MANAGER_H

#include "php.h"

#include "../../lock/claim.h"

/* The object of each lock class, of a semaphore, and of a side of a read/write lock. */
typedef struct {
	dlock_backend *backend; /* NULL: the constructor did not run */
	dlock_nanos ttl;        /* 0 where the session is the lease */
	dlock_nanos timeout;
	dlock_nanos retry_delay; /* RedLock */
	unsigned retry_count;
	int64_t permits;        /* what a lease has, where acquire() is not told: 1, or DLOCK_PERMITS_ALL */
	bool release_at_end;
	bool throw_on_loss;
	enum { DLOCK_RENEW_WITHOUT_TTL, DLOCK_RENEW_ALWAYS, DLOCK_RENEW_NEVER } renew;
	zend_string *servers; /* for var_dump(), without credentials */
	zend_string *prefix;  /* or ZkLock's root */
	HashTable held;       /* what lock() took: resource => dlock_hold * */
	uint32_t purge_at;    /* how many make the next purge of it worth it */
	bool has_purged;      /* something whose loss unlockAll() has yet to tell */
	zend_object std;
} dlock_manager;

static inline dlock_manager *dlock_manager_from(zend_object *object)
{
	return (dlock_manager *) ((char *) object - offsetof(dlock_manager, std));
}

static inline bool dlock_manager_is_session_based(const dlock_manager *manager)
{
	return manager->backend->ops->session_lease;
}

/* Gives such a class its objects. */
void dlock_manager_register(zend_class_entry *class);

/* The manager of $this, or NULL after an exception where its constructor did not run. */
dlock_manager *dlock_manager_this(zval *object);

#endif

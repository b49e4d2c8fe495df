#ifndef DLOCK_PHP_MANAGER_H
#define DLOCK_PHP_MANAGER_H

#include "php.h"

#include "../request/hold.h"

/* The object of each lock class, of a semaphore, and of a side of a read/write lock. */
typedef struct {
	dlock_backend *backend; /* NULL: the constructor did not run */
	dlock_nanos ttl;        /* 0 if the session is the lease */
	dlock_nanos timeout;
	dlock_nanos retry_delay; /* RedLock */
	unsigned retry_count;
	int64_t permits;        /* of each lease, if the caller names no number: 1, or DLOCK_PERMITS_ALL */
	bool release_at_end;
	bool throw_on_loss;
	bool reentrant; /* a strand that holds the lock by such a manager acquires it once more at once */
	enum { DLOCK_RENEW_WITHOUT_TTL, DLOCK_RENEW_ALWAYS, DLOCK_RENEW_NEVER } renew;
	zend_string *servers; /* for var_dump(), without credentials */
	zend_string *prefix;  /* or ZkLock's root */
	HashTable held;       /* what lock() has acquired: strand and resource => dlock_hold * */
	uint32_t purge_at;    /* the number of `held` at which the next purge is worth it */
	bool has_purged;      /* a purge has removed a lost lock, which unlockAll() has yet to report */
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

/* Is it an object of such a class? User code may implement Dlock\LockManager with a class of its own. */
bool dlock_is_manager(const zend_object *object);

/* The manager of $this. NULL after an Error: its constructor did not run. */
dlock_manager *dlock_manager_this(zval *object);

/* Checks the argument that names a resource; false after a ValueError. */
bool dlock_check_resource(const dlock_manager *manager, zend_string *resource, uint32_t arg);

/* The two above, for a method whose only argument is the resource; NULL after an exception. */
dlock_manager *dlock_manager_with_resource(zend_execute_data *execute_data, zend_string **resource);

/* Sets what a method returns: DLOCK_OK is true, DLOCK_LOST is false, any other status throws. */
void dlock_manager_answer(const dlock_manager *manager, dlock_status status, const dlock_error *error, zval *value);

/* ---- constructors ---- */

/* The options that all constructors share. Times are in seconds. An argument's number is 0 if there is no such
 * argument. */
typedef struct {
	double ttl, timeout;
	bool ttl_is_null, timeout_is_null;
	bool renew, renew_is_null;
	zend_string *on_loss; /* NULL: not given */
	bool release, release_is_null;
	bool reentrant;
	dlock_ttl_range ttls; /* that the back end allows */
	uint32_t ttl_arg, timeout_arg, on_loss_arg;
} dlock_options;

/* If $ttl is an argument, $timeout, $renew, $onLoss and $releaseOnShutdown follow it. All are optional. */
#define DLOCK_OPTIONS(ttl_at) { .ttl_is_null = true, .timeout_is_null = true, .renew_is_null = true, \
	.release_is_null = true, .ttls = DLOCK_ANY_TTL, .ttl_arg = (ttl_at), .timeout_arg = (ttl_at) + 1, \
	.on_loss_arg = (ttl_at) + 3 }
#define DLOCK_PARAM_OPTIONS(options) \
	Z_PARAM_DOUBLE_OR_NULL((options).ttl, (options).ttl_is_null) \
	Z_PARAM_DOUBLE_OR_NULL((options).timeout, (options).timeout_is_null) \
	Z_PARAM_BOOL_OR_NULL((options).renew, (options).renew_is_null) \
	Z_PARAM_STR((options).on_loss) \
	Z_PARAM_BOOL_OR_NULL((options).release, (options).release_is_null)

/* The first call of a constructor. False after an exception: the constructor has run before, or a setting is
 * invalid. */
bool dlock_manager_begin(const dlock_manager *manager);

/* Applies the options, and settings in the place of those that are not given. False after an exception. */
bool dlock_manager_configure(dlock_manager *manager, const dlock_options *options);

/* ---- acquiring ---- */

/* What is to be locked: one name or several. */
typedef struct {
	int count;
	dlock_name one;   /* points into a zend_string */
	dlock_name *list; /* NULL: one name; otherwise in the order of their bytes, each once (resources.h) */
} dlock_resources;

static inline dlock_resources dlock_one_resource(const zend_string *name)
{
	return (dlock_resources) { .count = 1, .one = { ZSTR_VAL(name), ZSTR_LEN(name) } };
}

static inline const dlock_name *dlock_resource_names(const dlock_resources *resources)
{
	return resources->list ? resources->list : &resources->one;
}

/* The terms of a lease that a caller asks for. */
typedef struct {
	dlock_nanos ttl;
	bool ttl_given;  /* false: `ttl` is the manager's */
	int64_t permits; /* 0: the permits of each lease of the manager */
} dlock_terms;

/* How long to wait for a lock. */
typedef struct {
	dlock_nanos timeout; /* DLOCK_FOREVER: without limit */
	unsigned attempts;   /* this and `pause` as in dlock_wait */
	dlock_nanos pause;
} dlock_wait_limit;

/* Acquires the lock. DLOCK_OK: it is held, or entered once more (hold.h). DLOCK_INTERRUPTED: an exception is pending,
 * of a signal handler or the waiter. */
dlock_status dlock_manager_acquire(dlock_manager *manager, const dlock_resources *resources, dlock_terms terms,
	dlock_wait_limit limit, dlock_hold **hold, dlock_error *error);

/* Makes a reader of a read/write lock the writer; waits for other readers. DLOCK_TIMEOUT, or DLOCK_DEADLOCK (another
 * reader waits for the same): it is a reader as before. */
dlock_status dlock_manager_upgrade(dlock_hold *hold, dlock_nanos timeout, dlock_error *error);

/* The last step before a caller receives a held lock. Starts its renewal as the manager has it, and handles signals
 * that came meanwhile. DLOCK_INTERRUPTED: a handler has thrown. After any status except DLOCK_OK, the caller discards
 * the hold. */
dlock_status dlock_manager_start_upkeep(
	const dlock_manager *manager, dlock_hold *hold, bool ttl_given, dlock_error *error);

/* One name, or a list of names; the other one is NULL: Z_PARAM_ARRAY_HT_OR_STR(list, one). */
typedef struct {
	zend_string *one;
	HashTable *list;
} dlock_resource_argument;

/* What acquire(), tryAcquire() and synchronized() do in all classes, after a method has read its arguments. */

typedef struct {
	dlock_resource_argument resource; /* the first argument */
	zend_long permits;     /* 0 if permits_arg is 0: the permits of each lease of the manager */
	double timeout, ttl;
	bool timeout_is_null, ttl_is_null;
	uint32_t permits_arg, timeout_arg, ttl_arg;
} dlock_acquire_arguments;

/* `this`: the object of the method. Each sets what the method returns, or throws. */
void dlock_manager_do_acquire(zval *this, const dlock_acquire_arguments *arguments, zval *return_value);
void dlock_manager_do_try_acquire(zval *this, const dlock_acquire_arguments *arguments, zval *return_value);
void dlock_manager_do_synchronized(zval *this, const dlock_acquire_arguments *arguments, zend_fcall_info *section,
	zend_fcall_info_cache *cache, zval *return_value);

/* lock(), unlock() and related methods: the object keeps the locks by resource, as userland lock classes do. */

/* For lock(). True: acquired. False: the timeout has passed, or an exception was thrown. */
bool dlock_manager_lock(dlock_manager *manager, zend_string *resource, dlock_terms terms, dlock_nanos timeout);

#endif

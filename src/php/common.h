#ifndef DLOCK_PHP_COMMON_H
#define DLOCK_PHP_COMMON_H

#include "../../php_dlock.h"
#include "../lock/claim.h"
#include "../lock/renewal.h"
#include "../redis/server.h"
#include "hold.h"

/* ---- classes (dlock.c) ---- */

extern zend_class_entry *dlock_ce_manager; /* Dlock\LockManager */
extern zend_class_entry *dlock_ce_distributed_lock;
extern zend_class_entry *dlock_ce_red_lock;
#ifdef DLOCK_ZOOKEEPER
extern zend_class_entry *dlock_ce_zk_lock;
#endif
extern zend_class_entry *dlock_ce_lease;
extern zend_class_entry *dlock_ce_lease_state;
extern zend_class_entry *dlock_ce_exception;
extern zend_class_entry *dlock_ce_timeout_exception;
extern zend_class_entry *dlock_ce_lost_exception;
extern zend_class_entry *dlock_ce_connection_exception;
extern zend_class_entry *dlock_ce_quorum_exception;
extern zend_class_entry *dlock_ce_deadlock_exception;

/* ---- the three lock classes (manager.c) ---- */

void dlock_manager_register(zend_class_entry *class);

typedef struct {
	dlock_backend *backend; /* NULL: the constructor did not run */
	dlock_nanos ttl;      /* 0 where the session is the lease */
	dlock_nanos timeout;
	dlock_nanos retry_delay; /* RedLock */
	unsigned retry_count;
	bool release_at_end;
	bool throw_on_loss;
	enum { DLOCK_RENEW_WITHOUT_TTL, DLOCK_RENEW_ALWAYS, DLOCK_RENEW_NEVER } renew;
	zend_string *servers; /* for var_dump(), without credentials */
	zend_string *prefix;  /* or ZkLock's root */
	HashTable held;       /* what lock() took: resource => dlock_hold * */
	zend_object std;
} dlock_manager;

static inline dlock_manager *dlock_manager_from(zend_object *object)
{
	return (dlock_manager *) ((char *) object - offsetof(dlock_manager, std));
}

/* The manager of $this, or NULL after an exception where its constructor did not run. */
dlock_manager *dlock_manager_this(zval *object);

/* Takes the options that all constructors share. False after an exception; argument numbers are 0 where there is none. */
typedef struct {
	double ttl, timeout;
	bool ttl_is_null, timeout_is_null;
	bool renew, renew_is_null;
	zend_string *on_loss; /* NULL: not given */
	bool release, release_is_null;
	uint32_t ttl_arg, timeout_arg, on_loss_arg;
} dlock_options;
bool dlock_manager_configure(dlock_manager *manager, const dlock_options *options);

/* A lease time, and whether it was asked for or is the manager's. */
typedef struct {
	dlock_nanos ttl;
	bool given;
} dlock_lease_time;

/* How long to wait for a lock. */
typedef struct {
	dlock_nanos timeout; /* DLOCK_FOREVER: without limit */
	unsigned attempts;   /* as in dlock_wait, and so is pause */
	dlock_nanos pause;
} dlock_patience;

/* Acquires in C. NULL with DLOCK_TIMEOUT or another status and its message, or after an exception of a signal handler. */
dlock_hold *dlock_manager_acquire(dlock_manager *manager, zend_string *resource, dlock_lease_time time, dlock_patience patience,
	dlock_status *status, dlock_error *error);

/* For lock(): acquires and keeps the claim under its resource. True, false at the timeout, false after an exception. */
bool dlock_manager_lock(dlock_manager *manager, zend_string *resource, dlock_lease_time time, dlock_nanos timeout);

/* ---- leases (lease.c) ---- */

void dlock_lease_register(zend_class_entry *class);

/* Makes a Dlock\Lease that owns the hold. */
void dlock_lease_create(zval *lease, dlock_hold *hold);
dlock_hold *dlock_lease_hold(zval *lease);

/* ---- handles of detached leases (handle.c) ---- */

zend_string *dlock_handle_make(const dlock_claim *claim);

/* A claim that is to take up the lease of a handle, and the token that has it; NULL with what is wrong with the handle. */
dlock_claim *dlock_handle_open(zend_string *handle, dlock_backend *backend, char token[DLOCK_TOKEN_MAX + 1], dlock_error *error);

/* ---- errors (errors.c) ---- */

/* Throws what the status stands for. */
void dlock_throw(dlock_status status, const dlock_error *error, const dlock_backend *backend);

/* Throws that this lock "was lost" or what it is. NULL where exit() is on its way, so that nothing is thrown any more. */
zend_object *dlock_throw_lost(const char *resource, const char *what);

/* Does the exception say that? */
bool dlock_is_lost_exception(zend_object *exception, const char *resource, const char *what);

#define DLOCK_LOST_WHILE_HELD "was lost while it was held"

/* ---- arguments (arguments.c) ---- */

/* IS_LONG, IS_DOUBLE, or 0 where it is no number. Settings that come from the environment are strings. */
uint8_t dlock_number_of(const zval *value, zend_long *whole, double *number);

/* Each checks one argument; false after a ValueError that names it and what it may be. */
bool dlock_check_resource(const dlock_manager *manager, zend_string *resource, uint32_t arg);
bool dlock_check_ttl(double seconds, uint32_t arg, dlock_nanos *ttl);
bool dlock_check_timeout(double seconds, bool is_null, dlock_nanos otherwise, uint32_t arg, dlock_nanos *timeout);

/* False, and thrown, where a php.ini or a pool's file has a time that makes no sense: the warning may be seen by nobody, and the
 * default may be shorter, or no limit at all. */
bool dlock_check_settings(void);

/* The one of dlock.server, which a php.ini or a pool's file may have set to anything. NULL: thrown. */
dlock_server *dlock_server_from_ini(void);

/* A server from any of the forms in the documentation; NULL after an exception. `element` >= 0: its place in a list. */
dlock_server *dlock_server_from_zval(const zval *spec, uint32_t arg, zend_long element);

/* ---- the request's end (ending.c) ---- */

/* At each request's beginning. */
void dlock_ending_begin(void);

/* Before the first claim that is not to be released at the end. */
void dlock_ending_watch(void);

/* The shutdown functions are over, but for those that were registered since. */
void dlock_ending_reached(void);

/* Is what is destroyed now destroyed because the request ends, rather than dropped by the program? */
bool dlock_is_ending(void);

/* ---- waiting (interrupts.c) ---- */

/* A wait that PHP's signal handlers and time limits can interrupt. */
dlock_wait dlock_interruptible(dlock_nanos deadline);

/* Throws losses into running PHP code; to be called when the module is loaded, before other threads run, when it is unloaded, and
 * at each request's beginning. */
void dlock_interrupts_init(void);
void dlock_interrupts_end(void);
void dlock_interrupts_begin(void);

/* This thread's alarm, ready to be rung; NULL where there is no descriptor left for it. */
dlock_alarm *dlock_alarm_here(void);
void dlock_alarm_close(dlock_alarm *alarm);

/* What a renewal calls when a lease that throws is lost. */
void dlock_ring_alarm(void *alarm);

/* Is a signal handler, a time limit or a loss waiting for PHP to look? */
bool dlock_is_interrupted(void);

/* Runs the handlers that interrupted a wait. They may throw; a time limit does not return. An exception that is on its
 * way already is set aside meanwhile, or PHP would take a signal for handled. It becomes the previous of what they throw. */
void dlock_run_interrupts(void);

#endif

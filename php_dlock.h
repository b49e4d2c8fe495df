#ifndef PHP_DLOCK_H
#define PHP_DLOCK_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php.h"

#include "src/base/bell.h"
#include "src/lease/registry.h"
#include "src/redis/pool.h"
#ifdef DLOCK_ZOOKEEPER
#include "src/zk/session.h"
#endif

#define PHP_DLOCK_VERSION "0.1.0"

extern zend_module_entry dlock_module_entry;
#define phpext_dlock_ptr &dlock_module_entry

typedef struct {
	zend_ulong acquisitions;
	zend_ulong waits;
	zend_ulong timeouts;
	zend_ulong releases;
	zend_ulong losses;
	zend_ulong hand_overs_given;
	zend_ulong hand_overs_received;
	dlock_nanos wait_time;
} dlock_counters;

/* How the renewal thread tells this one of a loss that is to be thrown. */
typedef struct {
	_Atomic bool rung;
	dlock_process process; /* whose bell it is; 0: there is none yet */
	dlock_bell bell;       /* ends a wait in C */
#if PHP_VERSION_ID >= 80200
	zend_atomic_bool *interrupt; /* the engine's */
#else
	volatile zend_bool *interrupt;
#endif
} dlock_alarm;

ZEND_BEGIN_MODULE_GLOBALS(dlock)
	/* INI */
	char *server;
	double ttl;
	double timeout;
	double connect_timeout;
	double read_timeout;
	double shutdown_timeout;
	double max_hold;
	double restart_guard;
	bool release_on_shutdown;

	/* Kept over requests; under ZTS each thread has its own. */
	dlock_pool pool;
#ifdef DLOCK_ZOOKEEPER
	dlock_zk_pool *sessions;
#endif
	dlock_counters counters;

	dlock_registry registry; /* this request's */
	dlock_alarm alarm;
ZEND_END_MODULE_GLOBALS(dlock)

ZEND_EXTERN_MODULE_GLOBALS(dlock)
#define DLOCK_G(name) ZEND_MODULE_GLOBALS_ACCESSOR(dlock, name)

#if defined(ZTS) && defined(COMPILE_DL_DLOCK)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

#endif

#ifndef PHP_DLOCK_H
#define PHP_DLOCK_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php.h"

#if SIZEOF_ZEND_LONG < 8
#error dlock needs a PHP with 64-bit integers: fencing tokens do not fit into 32 bits
#endif

#include "src/base/wakeup.h"
#include "src/lock/registry.h"
#include "src/redis/pool.h"
#ifdef DLOCK_ZOOKEEPER
#include "src/zookeeper/pool.h"
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
	dlock_process process; /* whose wakeup it is; 0: there is none yet */
	dlock_wakeup wakeup;       /* ends a wait in C */
#if PHP_VERSION_ID >= 80200
	zend_atomic_bool *interrupt; /* the back end's */
#else
	volatile zend_bool *interrupt;
#endif
} dlock_alarm;

/* How src/php/ending.c knows that the request's shutdown functions are over. */
typedef struct {
	uint32_t functions;         /* how many there were with the extension's own, which is to be the last; 0: it is not there */
	bool reached;               /* it has been called as the last */
	dtor_func_t destroy_global; /* with what PHP destroys a global variable while the program runs */
} dlock_ending;

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
	dlock_ending ending;     /* this request's */
	dlock_alarm alarm;
ZEND_END_MODULE_GLOBALS(dlock)

ZEND_EXTERN_MODULE_GLOBALS(dlock)
#define DLOCK_G(name) ZEND_MODULE_GLOBALS_ACCESSOR(dlock, name)

#if defined(ZTS) && defined(COMPILE_DL_DLOCK)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

#endif

#ifndef DLOCK_PHP_GLOBALS_H
#define DLOCK_PHP_GLOBALS_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php.h"

#include "../base/wakeup.h"
#include "../lock/inspection.h"
#include "../lock/registry.h"
#include "backends.h"
#include "metrics.h"
#ifdef DLOCK_ZOOKEEPER
#include "../zookeeper/session/pool.h"
#endif

/* The module's globals: the settings, and what a process (under ZTS, a thread) keeps. */

typedef struct {
	zend_ulong acquisitions;
	zend_ulong waits;
	zend_ulong timeouts;
	zend_ulong guard_waits;
	zend_ulong releases;
	zend_ulong losses;
	zend_ulong hand_overs_given;
	zend_ulong hand_overs_received;
	zend_ulong reservations;         /* of stocks, as the counters down to stocks_uncertain */
	zend_ulong reservations_refused;
	zend_ulong sales;
	zend_ulong late_sales;
	zend_ulong cancellations;
	zend_ulong refunds;
	zend_ulong expired_refusals;
	zend_ulong stocks_uncertain;
	dlock_nanos wait_time;
} dlock_counters;

/* How the renewal thread reports a loss that PHP is to throw (loss_signal.c). */
typedef struct {
	_Atomic bool raised;
	bool elsewhere;        /* a loss is to be thrown when another strand runs */
	dlock_process process; /* that owns the wakeup; 0: there is none yet */
	dlock_wakeup wakeup;   /* ends a wait in C */
#if PHP_VERSION_ID >= 80200
	zend_atomic_bool *interrupt; /* EG(vm_interrupt) */
#else
	volatile zend_bool *interrupt;
#endif
} dlock_loss_signal;

/* How the extension knows that all shutdown functions of the request have run (ending.c). */
typedef struct {
	uint32_t functions; /* how many there were, with the extension's own as the last; 0: it is not registered */
	bool reached;               /* PHP has called the extension's own as the last one */
	dtor_func_t destroy_global; /* PHP's destructor of global variables while the program runs */
} dlock_ending;

ZEND_BEGIN_MODULE_GLOBALS(dlock)
	/* INI. Times are seconds; NAN: the value in a php.ini or a pool's file is invalid (settings.c). */
	char *server;
	double ttl;
	double timeout;
	double connect_timeout;
	double read_timeout;
	double shutdown_timeout;
	double max_hold;
	double restart_guard;
	bool release_on_shutdown;
	bool describe;
	zend_long metrics_names;
	char *label;

	/* Kept across requests. */
	dlock_pools pools;
	dlock_counters counters;
	int64_t uncertain_since; /* the latest `uncertain` of all answers (stock/stock.h), in ms; 0: none */
	dlock_loss_signal loss_signal;
	zend_ulong strands;  /* the last number that a fiber received (strand.c) */
	zend_ulong request;  /* changes at the beginning and the end of each request (strand.c) */
	dlock_worker *worker;     /* this thread's slot (metrics.h); NULL: none */
	uint64_t worker_process;  /* the process that claimed the slot */
	uint64_t published[DLOCK_METRIC_WORKER_COUNTS]; /* how much of its counters the totals contain */

	/* Of this request. */
	dlock_description *description; /* what other processes see of it; NULL: not made yet (description.c) */
	/* Set by setLabel(). It is no string of PHP: a session's handler may set it so late that PHP frees those first. */
	struct {
		bool is_set;
		size_t len;
		char text[DLOCK_LABEL_MAX];
	} own_label;
	zval waiter; /* set by setWaiter(); undefined: none */
	HashTable coroutines; /* the ids of those whose ends are watched */
	struct dlock_sleeping *sleeping;
	struct dlock_turn *turns;
	bool is_worker;   /* the boot of a FrankenPHP worker has ended (request.c) */
	bool has_strands; /* a waiter was set */
	bool is_refused;  /* the waiter has said that it cannot wait */
	bool has_bailed_out; /* a fatal error came while a strand was suspended; its frames return first */
	dlock_registry registry;
	dlock_ending ending;
ZEND_END_MODULE_GLOBALS(dlock)

ZEND_EXTERN_MODULE_GLOBALS(dlock)
#define DLOCK_G(name) ZEND_MODULE_GLOBALS_ACCESSOR(dlock, name)

#if defined(ZTS) && defined(COMPILE_DL_DLOCK)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

#endif

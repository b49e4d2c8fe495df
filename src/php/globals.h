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

/* The module's globals: the settings, and what a process keeps, or under ZTS a thread. */

typedef struct {
	zend_ulong acquisitions;
	zend_ulong waits;
	zend_ulong timeouts;
	zend_ulong guard_waits;
	zend_ulong releases;
	zend_ulong losses;
	zend_ulong hand_overs_given;
	zend_ulong hand_overs_received;
	zend_ulong reservations;         /* of stocks, as the rest */
	zend_ulong reservations_refused;
	zend_ulong sales;
	zend_ulong late_sales;
	zend_ulong cancellations;
	zend_ulong refunds;
	zend_ulong expired_refusals;
	zend_ulong stocks_uncertain;
	dlock_nanos wait_time;
} dlock_counters;

/* How the renewal thread reports a loss that is to be thrown (loss_signal.c). */
typedef struct {
	_Atomic bool raised;
	bool elsewhere;        /* a loss waits for another strand to run */
	dlock_process process; /* whose wakeup it is; 0: there is none yet */
	dlock_wakeup wakeup;   /* ends a wait in C */
#if PHP_VERSION_ID >= 80200
	zend_atomic_bool *interrupt; /* the VM's */
#else
	volatile zend_bool *interrupt;
#endif
} dlock_loss_signal;

/* How the end of the request's shutdown functions is known (ending.c). */
typedef struct {
	uint32_t functions; /* their number with the extension's own, which is to be the last; 0: it is not registered */
	bool reached;               /* it has been called as the last */
	dtor_func_t destroy_global; /* with what PHP destroys a global variable while the program runs */
} dlock_ending;

ZEND_BEGIN_MODULE_GLOBALS(dlock)
	/* INI; the times are seconds, or NAN where a php.ini or a pool's file has none (settings.c). */
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

	/* Kept over requests. */
	dlock_pools pools;
	dlock_counters counters;
	int64_t uncertain_since; /* the last time since which a stock was seen to be uncertain; 0: none */
	dlock_loss_signal loss_signal;
	zend_ulong strands;  /* how many there were (strand.c) */
	zend_ulong request;  /* the number of this one, and of what follows it */
	dlock_worker *worker;     /* its slot among those of all processes; NULL: none */
	uint64_t worker_process;  /* whose that is */
	uint64_t published[DLOCK_METRIC_WORKER_COUNTS]; /* what the totals have of its counters */

	/* This request's. */
	dlock_description *description; /* what others are told of it; NULL: not made yet (description.c) */
	zend_string *own_label;         /* set by setLabel(); NULL: none */
	zval waiter; /* undefined: none */
	HashTable coroutines; /* whose ends are watched */
	struct dlock_sleeping *sleeping;
	struct dlock_turn *turns;
	bool is_worker;   /* of FrankenPHP: its boot is over (request.c) */
	bool has_strands; /* a waiter was set */
	bool is_refused;  /* it has said that it cannot wait */
	bool has_bailed_out; /* while a strand was suspended, whose frames return first */
	dlock_registry registry;
	dlock_ending ending;
ZEND_END_MODULE_GLOBALS(dlock)

ZEND_EXTERN_MODULE_GLOBALS(dlock)
#define DLOCK_G(name) ZEND_MODULE_GLOBALS_ACCESSOR(dlock, name)

#if defined(ZTS) && defined(COMPILE_DL_DLOCK)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

#endif

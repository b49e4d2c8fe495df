#ifndef DLOCK_PHP_WORKER_H
#define DLOCK_PHP_WORKER_H

#include "php.h"

/* Requests of a worker of FrankenPHP, which tells nobody but the SAPI that one ends: sapi_deactivate() is called after
 * each, and the first time after the worker's boot. */

/* When the module is loaded and unloaded; and at each PHP request's beginning. */
void dlock_worker_init(void);
void dlock_worker_unload(void);
void dlock_worker_begin(void);

#endif

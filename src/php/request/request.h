#ifndef DLOCK_PHP_REQUEST_H
#define DLOCK_PHP_REQUEST_H

#include "php.h"

void dlock_request_begin(void);

/* Releases what the request holds, and ends its waits. It comes after exit(), uncaught exceptions, fatal errors, the
 * memory limit and the time limit alike. Objects may still exist; they are freed later and find their claims
 * released. */
void dlock_request_end(void);

/* When all modules have ended. Those that end after this one may still run the user's code, as sessions do to be
 * written. What that locked must not live on in the next request. */
void dlock_request_end_late(void);

/* Requests of a worker of FrankenPHP, which tells only the SAPI that one ends: sapi_deactivate() is called after each,
 * and the first time after the worker's boot. */

/* When the module is loaded and unloaded; and at each PHP request's beginning. */
void dlock_worker_init(void);
void dlock_worker_unload(void);
void dlock_worker_begin(void);

#endif

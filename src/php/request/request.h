#ifndef DLOCK_PHP_REQUEST_H
#define DLOCK_PHP_REQUEST_H

#include "php.h"

void dlock_request_begin(void);

/* Releases what the request holds, and ends its waits. PHP calls it also after exit(), an uncaught exception, a fatal
 * error, the memory limit or the time limit. Objects may still exist. They are freed later, and find their claims
 * released. */
void dlock_request_end(void);

/* When all modules have ended the request. A module that ends after this one may still run code of the user, for
 * example to write a session. A lock that such code acquires must not last into the next request, nor a label. */
void dlock_request_end_late(void);

/* Requests of a FrankenPHP worker. FrankenPHP tells only the SAPI when such a request ends: it calls sapi_deactivate().
 * The first call comes after the worker's boot. */

/* init, unload: when the module is loaded and unloaded. begin: at the beginning of each PHP request. */
void dlock_worker_init(void);
void dlock_worker_unload(void);
void dlock_worker_begin(void);

#endif

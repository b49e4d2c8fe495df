#ifndef DLOCK_PHP_COROUTINE_H
#define DLOCK_PHP_COROUTINE_H

#include "php.h"

/* Coroutines of Swoole and OpenSwoole: which one runs, and waits in it. */

/* When the module is loaded (what is called as the last thing in a coroutine that is watched), at each request's
 * beginning, and at its end. */
void dlock_coroutines_init(void (*on_end)(void));
void dlock_coroutines_begin(void);
void dlock_coroutines_end(void);

bool dlock_coroutine_runs(void);
long dlock_coroutine_id(void); /* of the running one */

/* The running one, if one runs, has something that is to be given back when it ends. */
void dlock_coroutine_watch_end(void);

/* Suspends the running one until the stream can be read, or the time is over. It may throw: where it was cancelled.
 * False: it cannot wait here. */
bool dlock_coroutine_wait(zval *stream, double seconds);

#endif

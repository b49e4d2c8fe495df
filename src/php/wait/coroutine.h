#ifndef DLOCK_PHP_COROUTINE_H
#define DLOCK_PHP_COROUTINE_H

#include "php.h"

/* Coroutines of Swoole and OpenSwoole: which one runs, and waits in it. */

/* init: when the module is loaded; `on_end` is called as the last thing in each coroutine that is watched. begin, end:
 * at the beginning and the end of each request. */
void dlock_coroutines_init(void (*on_end)(void));
void dlock_coroutines_begin(void);
void dlock_coroutines_end(void);

/* Does a coroutine run now? */
bool dlock_coroutine_runs(void);
long dlock_coroutine_id(void); /* of the running coroutine */

/* Watches the running coroutine, if one runs: it has something that must be released when it ends. */
void dlock_coroutine_watch_end(void);

/* Suspends the running coroutine until the stream can be read, or the time has passed. Throws if the coroutine was
 * cancelled. False: it cannot wait here. */
bool dlock_coroutine_wait(zval *stream, double seconds);

#endif

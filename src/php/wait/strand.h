#ifndef DLOCK_PHP_STRAND_H
#define DLOCK_PHP_STRAND_H

#include "php.h"

#include "../../base/wait.h"

/* Strands: a fiber, a Swoole coroutine, or {main}. A wait suspends its strand where the program has said how
 * (Dlock\setWaiter()), or in a coroutine. */

/* When the module is loaded (who is told that another strand runs now, and that one is over) and unloaded; at each
 * request's beginning; and at its end, from which on none is suspended, and those that are never go on. */
void dlock_strands_init(void (*goes_on)(void), void (*ends)(uint64_t strand));
void dlock_strands_unload(void);
void dlock_strands_begin(void);
void dlock_strands_end(void);

/* The running one's number, which no other ever has in this process; 0 for {main}, and for all where the program has
 * not said how to wait: there they are one. */
uint64_t dlock_strand(void);

/* By what a wait of the running strand is suspended; NULL: it sleeps. */
dlock_suspend *dlock_strand_suspend(void);

/* Has the waiter said that it cannot wait here? Once for each time; then the thread sleeps for the rest of the call. */
bool dlock_strand_was_refused(void);

/* Has the program cancelled the wait, by an exception or, while it was suspended, by a fatal error? */
bool dlock_strand_is_cancelled(void);

/* The last thing that is done after such a wait: goes on with the fatal error, where it was one. */
void dlock_strand_go_on(void);

/* Ends its sleep, where it is suspended. */
void dlock_strand_ring(uint64_t strand);

#endif

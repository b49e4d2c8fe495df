#ifndef DLOCK_PHP_STRAND_H
#define DLOCK_PHP_STRAND_H

#include "php.h"

#include "../../base/wait.h"

/* Strands: a fiber, a Swoole coroutine, or {main}. A wait suspends its strand if the program has said how
 * (Dlock\setWaiter()), or in a coroutine. */

/* init: when the module is loaded; `goes_on` is called when another strand runs, `ends` when a strand has ended.
 * unload: when the module is unloaded. begin, end: at the beginning and the end of each request. After the end no
 * strand is suspended, and suspended strands never resume. */
void dlock_strands_init(void (*goes_on)(void), void (*ends)(uint64_t strand));
void dlock_strands_unload(void);
void dlock_strands_begin(void);
void dlock_strands_end(void);

/* The running strand's number, which no other strand of this thread ever has. 0: {main}. Without a waiter it is 0 for
 * fibers, too: they count as one strand with {main}. */
uint64_t dlock_strand(void);

/* The function that suspends a wait of the running strand; NULL: the thread sleeps. */
dlock_suspend *dlock_strand_suspend(void);

/* Has the waiter said that it cannot wait here? True once for each refusal. Then the thread sleeps for the rest of the
 * call. */
bool dlock_strand_was_refused(void);

/* Has the program cancelled the wait, by an exception or, while it was suspended, by a fatal error? */
bool dlock_strand_is_cancelled(void);

/* The last call after a cancelled wait. If a fatal error has cancelled it, the error continues, and the call does not
 * return. */
void dlock_strand_go_on(void);

/* Wakes the strand, if it is suspended. */
void dlock_strand_ring(uint64_t strand);

#endif

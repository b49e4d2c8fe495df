#ifndef DLOCK_PROCESS_H
#define DLOCK_PROCESS_H

#include <stdint.h>

/* Names this process among its ancestors and descendants. Connections, sessions and claims are stamped with it, and are
 * left alone wherever the stamp is not the current one: there they belong to the parent.
 * The pid alone would not do (pids come again), so a generation that every fork raises is part of it. */
typedef uint64_t dlock_process;

/* Registers the fork handler; once, before the first dlock_process_current(). */
void dlock_process_init(void);

dlock_process dlock_process_current(void);

#endif

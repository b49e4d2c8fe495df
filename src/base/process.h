#ifndef DLOCK_PROCESS_H
#define DLOCK_PROCESS_H

#include <stdint.h>

/* Identifies this process among its ancestors and descendants. Connections, sessions and claims carry it as a stamp. If
 * that is not the current one, they belong to a parent, and the process leaves them alone. The system reuses pids, so
 * the stamp also has a generation, which every fork raises. */
typedef uint64_t dlock_process;

/* Registers the fork handler, before the first dlock_process_current(). Further calls do nothing. */
void dlock_process_init(void);

dlock_process dlock_process_current(void);

#endif

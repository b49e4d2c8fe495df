#ifndef DLOCK_THREAD_H
#define DLOCK_THREAD_H

#include <pthread.h>

/* Starts a thread on which no signal handler ever runs, nor on those that it starts: all signals are blocked there. Its
 * stack has room for glibc's resolver. `thread` NULL: it is detached. 0, or an errno. */
int dlock_thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

#endif

#ifndef DLOCK_THREAD_H
#define DLOCK_THREAD_H

#include <pthread.h>

/* Starts a thread that runs `run`. All signals are blocked in it and in the threads that it starts, so no signal
 * handler runs there. Its stack has room for glibc's resolver. If `thread` is NULL, the thread is detached. Returns 0
 * or an errno. */
int dlock_thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

#endif

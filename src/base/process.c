#include "process.h"

#ifdef _WIN32
#include <process.h>

void dlock_process_init(void)
{
}

dlock_process dlock_process_current(void)
{
	return (dlock_process) _getpid(); /* there is no fork */
}

#else
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_uint generation;

/* Runs in the child between fork() and its return, where little more than this is allowed. */
static void forked(void)
{
	atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

void dlock_process_init(void)
{
	pthread_atfork(NULL, NULL, forked);
}

dlock_process dlock_process_current(void)
{
	return (dlock_process) atomic_load_explicit(&generation, memory_order_relaxed) << 32 | (uint32_t) getpid();
}
#endif

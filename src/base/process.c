#include "process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

/* Cached, because every operation reads it and only forked() changes it. */
static _Atomic dlock_process current;

/* Runs in the child before fork() returns. Little more than this is allowed there. */
static void forked(void)
{
	dlock_process generation = (atomic_load(&current) >> 32) + 1;

	atomic_store(&current, generation << 32 | (uint32_t) getpid());
}

void dlock_process_init(void)
{
	static atomic_bool done;

	if (!atomic_exchange(&done, true)) {
		atomic_store(&current, (dlock_process) (uint32_t) getpid());
		pthread_atfork(NULL, NULL, forked);
	}
}

dlock_process dlock_process_current(void)
{
	return atomic_load_explicit(&current, memory_order_relaxed);
}

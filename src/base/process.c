#include "process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

/* Kept rather than asked for: it is looked at in every operation, and changes only in forked(). */
static _Atomic dlock_process current;

/* Runs in the child between fork() and its return, where little more than this is allowed. */
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

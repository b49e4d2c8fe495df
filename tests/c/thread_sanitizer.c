/* Options of ThreadSanitizer; empty in other builds. */
#ifdef __SANITIZE_THREAD__
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* Here children of processes with threads start threads. TSAN would end such children; see below. */
const char *__tsan_default_options(void)
{
	return "die_after_fork=0:history_size=4:second_deadlock_stack=1";
}

/* None is for the project's own code. None is for a whole library, because it would hide races in the project's
 * callbacks, too: they have the library's frames below them.
 *
 * For its log, the ZooKeeper client writes the names of servers into static buffers, by sprintf() (TSAN shows
 * vsprintf). The project uses neither. */
const char *__tsan_default_suppressions(void)
{
	return "race:vsprintf\n";
}

/* In a child of fork() the C library reuses the stacks of the parent's threads for new threads, which then have the
 * same pthread_t. TSAN assumes that the parent's threads still run, and ends ("dup thread with used id"). So a child's
 * threads have larger stacks than any of its parent's, which are new ones. They are mapped but not used, so they cost
 * no memory. */
static _Atomic size_t least_stack;

static void forked(void)
{
	atomic_fetch_add(&least_stack, (size_t) 16 << 20);
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *wanted, void *(*start)(void *), void *argument)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	size_t least = atomic_load(&least_stack), size;
	pthread_attr_t own;
	int state = PTHREAD_CREATE_JOINABLE;

	*(void **) &next = dlsym(RTLD_NEXT, "pthread_create");
	if (least == 0) {
		return next(thread, wanted, start, argument);
	}
	pthread_attr_init(&own);
	if (wanted && pthread_attr_getdetachstate(wanted, &state) == 0) {
		pthread_attr_setdetachstate(&own, state);
	}
	if (wanted && pthread_attr_getstacksize(wanted, &size) == 0 && size > least) {
		least = size;
	}
	pthread_attr_setstacksize(&own, least);
	int failure = next(thread, &own, start, argument);
	pthread_attr_destroy(&own);
	return failure;
}
#endif

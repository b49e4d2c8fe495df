/* What ThreadSanitizer needs to be told; empty in other builds. */
#ifdef __SANITIZE_THREAD__
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* Children of processes with threads start threads of their own here. TSAN would end them; see below. */
const char *__tsan_default_options(void)
{
	return "die_after_fork=0:history_size=4:second_deadlock_stack=1";
}

/* None is for the project's own code, and none is for a whole library: that would hide what is wrong in our callbacks
 * as well, which have the library's frames below them.
 *
 * The ZooKeeper client writes the names of servers for its log into static buffers, by sprintf() (TSAN shows
 * vsprintf). The project itself uses neither. */
const char *__tsan_default_suppressions(void)
{
	return "race:vsprintf\n";
}

/* In a child of fork() the C library takes up the stacks of the parent's threads for new threads, which then have the
 * same pthread_t; TSAN believes that the parent's are still running, and gives up ("dup thread with used id"). A
 * child's threads get stacks larger than any of its parent's, therefore new ones. Mapped, not used: no memory is
 * spent. */
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

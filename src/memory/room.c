#include "room.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "../base/clock.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static dlock_memory_room room;
static int64_t epoch; /* the wall clock in µs when dlock_now() was 0 */

/* Gives a forked child an empty room: waiters are threads of the parent, and leases are the parent's. The old tables
 * are not freed, because another thread may have been changing them.
 *
 * No handler locks the mutex before a fork. The renewal thread locks it under a mutex that a fork handler locks. The
 * order of the two handlers would depend on which is registered first. */
static void in_child(void)
{
	pthread_mutex_init(&mutex, NULL);
	memset(&room, 0, sizeof room);
}

static void begin(void)
{
	struct timespec now;

	timespec_get(&now, TIME_UTC);
	epoch = (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000 - dlock_now() / DLOCK_US;
	pthread_atfork(NULL, NULL, in_child);
}

dlock_memory_room *dlock_memory_enter(void)
{
	pthread_once(&once, begin);
	pthread_mutex_lock(&mutex);
	return &room;
}

void dlock_memory_leave_room(void)
{
	pthread_mutex_unlock(&mutex);
}

int64_t dlock_memory_time(void)
{
	pthread_once(&once, begin);
	return epoch + dlock_now() / DLOCK_US;
}

int64_t dlock_memory_next_token(dlock_memory_room *own)
{
	int64_t now = dlock_memory_time();

	own->fence = now > own->fence ? now : own->fence + 1;
	return own->fence;
}

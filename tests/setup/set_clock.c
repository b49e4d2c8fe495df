/* Preloaded into a server, it sets its wall clock by the seconds in SET_CLOCK. Nothing else of its time changes. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset;

__attribute__((constructor)) static void read_offset(void)
{
	const char *seconds = getenv("SET_CLOCK");

	offset = seconds ? atol(seconds) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int result = (int) syscall(SYS_clock_gettime, clock, time);

	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
		time->tv_sec += offset;
	}
	return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	struct timespec now;

	(void) zone;
	clock_gettime(CLOCK_REALTIME, &now);
	time->tv_sec = now.tv_sec;
	time->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *seconds)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (seconds) {
		*seconds = now.tv_sec;
	}
	return now.tv_sec;
}

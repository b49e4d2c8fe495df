/* Preloaded into a process, this library shifts its wall clock by the seconds in the file that WALL_CLOCK names (a
 * double, mapped, so that it can change while the process runs). All other clocks stay right. libfaketime (Debian's)
 * does not work with the allocator that Redis uses. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const double *offset;

__attribute__((constructor)) static void map(void)
{
	const char *path = getenv("WALL_CLOCK");
	int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (file >= 0) {
		void *mapped = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
		offset = mapped == MAP_FAILED ? NULL : mapped;
		close(file);
	}
}

/* PHP loads extensions so that they search their own libraries first; they must search this one. */
void *dlopen(const char *path, int flags)
{
	static void *(*next)(const char *, int);

	if (!next) {
		next = (void *(*)(const char *, int)) dlsym(RTLD_NEXT, "dlopen");
	}
	return next(path, flags & ~RTLD_DEEPBIND);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int result = (int) syscall(SYS_clock_gettime, clock, time);

	if (result == 0 && offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
		long long ns = time->tv_sec * 1000000000LL + time->tv_nsec + (long long) (*offset * 1e9);
		time->tv_sec = ns / 1000000000;
		time->tv_nsec = ns % 1000000000;
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

int timespec_get(struct timespec *now, int base)
{
	return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (out) {
		*out = now.tv_sec;
	}
	return now.tv_sec;
}

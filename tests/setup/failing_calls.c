/* Preloaded into PHP, this library lets the N-th request of the extension for memory fail, as the environment says at
 * that time: FAIL="SERIAL:N". With another SERIAL it counts from one again; FAILED has the same value when that request
 * has come. Requests of PHP and of libraries succeed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

/* PHP loads extensions so that they search their own libraries first; they must search this one. */
void *dlopen(const char *path, int flags)
{
	static void *(*next)(const char *, int);

	if (!next) {
		next = (void *(*)(const char *, int)) dlsym(RTLD_NEXT, "dlopen");
	}
	return next(path, flags & ~RTLD_DEEPBIND);
}

static int is_of_extension(void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "dlock.so");
}

static int fails(void *caller)
{
	static char last[64];
	static long count;
	const char *wanted = getenv("FAIL"), *colon = wanted ? strchr(wanted, ':') : NULL;

	if (!colon || strlen(wanted) >= sizeof last || !is_of_extension(caller)) {
		return 0;
	}
	if (strcmp(wanted, last)) {
		strcpy(last, wanted);
		count = 0;
	}
	if (++count != atol(colon + 1)) {
		return 0;
	}
	setenv("FAILED", wanted, 1);
	return 1;
}

static void *none(void)
{
	errno = ENOMEM;
	return NULL;
}

void *malloc(size_t size) { return fails(__builtin_return_address(0)) ? none() : __libc_malloc(size); }

void *calloc(size_t count, size_t size)
{
	return fails(__builtin_return_address(0)) ? none() : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	return fails(__builtin_return_address(0)) ? none() : __libc_realloc(memory, size);
}

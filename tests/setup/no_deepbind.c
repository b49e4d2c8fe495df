/* Preloaded into PHP by scripts/test.sh with DLOCK_SANITIZE=1: PHP opens its modules with RTLD_DEEPBIND, which the
   sanitizers' run time refuses. */
#define _GNU_SOURCE
#include <dlfcn.h>

void *dlopen(const char *file, int flags)
{
	void *(*next)(const char *, int);
	*(void **) &next = dlsym(RTLD_NEXT, "dlopen");
	return next(file, flags & ~RTLD_DEEPBIND);
}

#define RESOLVER_IN_PROGRAM
#include "../setup/resolver.c"

#include <stdarg.h>
#include <sys/types.h>

#include "names.h"

static char path[128], next_path[140], log_path[140];
static pid_t owner;

static void remove_files(void)
{
	if (owner == getpid()) {
		unlink(path);
		unlink(log_path);
	}
}

static void begin(void)
{
	const char *directory = getenv("DLOCK_TEST_DIR");

	owner = getpid();
	snprintf(path, sizeof path, "%.90s/names.%d", directory && *directory ? directory : "/tmp", (int) owner);
	snprintf(next_path, sizeof next_path, "%s.next", path);
	snprintf(log_path, sizeof log_path, "%s.log", path);
	setenv("RESOLVER", path, 1);
	atexit(remove_files);
}

void names_are(const char *format, ...)
{
	va_list arguments;

	if (!owner) {
		begin();
	}
	FILE *file = fopen(next_path, "we");
	if (!file) {
		perror(next_path);
		exit(2);
	}
	va_start(arguments, format);
	vfprintf(file, format, arguments);
	va_end(arguments);
	fclose(file);
	rename(next_path, path);
}

int names_asked(const char *name)
{
	FILE *file = fopen(log_path, "re");
	char line[256];
	int count = 0;

	while (file && fscanf(file, "%255s", line) == 1) {
		count += !strcmp(line, name);
	}
	if (file) {
		fclose(file);
	}
	return count;
}

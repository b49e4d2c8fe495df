#include "tap.h"

#include <signal.h>
#include <stdarg.h>

#include "../../src/base/process.h"

static int checks, failures;

bool tap_check(bool good, bool expected, const char *file, int line, const char *format, ...)
{
	const char *slash = strrchr(file, '/');
	va_list arguments;

	printf("%sok %d - ", good ? "" : "not ", ++checks);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	if (!expected) {
		printf(" # TODO %s:%d", slash ? slash + 1 : file, line);
	} else if (!good) {
		printf(" # %s:%d", slash ? slash + 1 : file, line);
		failures++;
	}
	putchar('\n');
	fflush(stdout); /* a child of fork() must not print it again */
	return good;
}

void note(const char *format, ...)
{
	va_list arguments;

	fputs("# ", stdout);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
}

void tap_run(const tap_test *tests, size_t count, const char *only, void (*reset)(void))
{
	for (size_t i = 0; i < count; i++) {
		if (!only || strstr(tests[i].name, only)) {
			note("%s", tests[i].name);
			if (reset) {
				reset();
			}
			tests[i].run();
		}
	}
}

int tap_end(void)
{
	printf("1..%d\n", checks);
	return failures != 0;
}

int tap_main(int argc, char **argv, const tap_test *tests, size_t count, const tap_setting *setting)
{
	signal(SIGPIPE, SIG_IGN); /* as in PHP */
	dlock_process_init();
	if (setting->begin) {
		setting->begin();
	}
	tap_run(tests, count, argc > 1 ? argv[1] : NULL, setting->reset);
	return tap_end();
}

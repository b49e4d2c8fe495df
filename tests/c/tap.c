#include "tap.h"

#include <stdarg.h>

static int count, failures;

bool tap_check(bool good, bool expected, const char *file, int line, const char *format, ...)
{
	const char *slash = strrchr(file, '/');
	va_list arguments;

	printf("%sok %d - ", good ? "" : "not ", ++count);
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
	fflush(stdout); /* a fork must not print it again */
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

void tap_run(const tap_test *tests, size_t tests_count, const char *only, void (*reset)(void))
{
	for (size_t i = 0; i < tests_count; i++) {
		if (!only || strstr(tests[i].name, only)) {
			note("%s", tests[i].name);
			reset();
			tests[i].run();
		}
	}
}

int tap_end(void)
{
	printf("1..%d\n", count);
	return failures != 0;
}

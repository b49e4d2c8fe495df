/* The client library writes each length of a request with sprintf(). The function of libc took as long as all commands
 * of the scripts together. */
#include "store.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int write_length(char *out, char type, int64_t length)
{
	size_t len = 1 + write_number(out + 1, length);

	*out = type;
	memcpy(out + len, "\r\n", 3);
	return (int) len + 2;
}

static int print(char *out, const char *format, va_list list)
{
	if (!strcmp(format, "$%zu\r\n")) {
		return write_length(out, '$', (int64_t) va_arg(list, size_t));
	}
	return !strcmp(format, "*%d\r\n") ? write_length(out, '*', va_arg(list, int)) : vsprintf(out, format, list);
}

int __wrap_sprintf(char *out, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	int len = print(out, format, list);
	va_end(list);
	return len;
}

int __wrap___sprintf_chk(char *out, int flag, size_t size, const char *format, ...)
{
	va_list list;

	(void) flag;
	(void) size;
	va_start(list, format);
	int len = print(out, format, list);
	va_end(list);
	return len;
}

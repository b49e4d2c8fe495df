#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Resources are any bytes, and servers say what they like: in a log it must stay one line, and text. */
static void keep_to_one_line(char *text)
{
	for (; *text; text++) {
		if ((unsigned char) *text < ' ' || *text == 0x7f) {
			*text = '?';
		}
	}
}

dlock_status dlock_fail(dlock_error *error, dlock_status status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->message, sizeof error->message, format, arguments);
	va_end(arguments);
	keep_to_one_line(error->message);
	return status;
}

void dlock_append(dlock_error *error, const char *format, ...)
{
	size_t used = strlen(error->message);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->message + used, sizeof error->message - used, format, arguments);
	va_end(arguments);
	keep_to_one_line(error->message + used);
}

#include "error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool continues(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

/* The size of the first character of a text of `len` bytes; 0: it is incomplete, or not UTF-8. */
static size_t character(const unsigned char *text, size_t len)
{
	unsigned char first = text[0], second = len > 1 ? text[1] : 0;

	if (first < 0x80) {
		return 1;
	}
	if (first >= 0xc2 && first <= 0xdf) {
		return continues(second) ? 2 : 0;
	}
	if (first >= 0xe0 && first <= 0xef) { /* no overlong form, no surrogate */
		bool good = continues(second) && (first != 0xe0 || second >= 0xa0) && (first != 0xed || second < 0xa0);
		return good && len > 2 && continues(text[2]) ? 3 : 0;
	}
	if (first >= 0xf0 && first <= 0xf4) {
		bool good = continues(second) && (first != 0xf0 || second >= 0x90) && (first != 0xf4 || second < 0x90);
		return good && len > 3 && continues(text[2]) && continues(text[3]) ? 4 : 0;
	}
	return 0;
}

/* Names of resources and answers of servers may have any bytes. A message must stay one line of text in a log. */
static void keep_readable(char *text, size_t len)
{
	for (size_t at = 0, size; at < len; at += size) {
		size = character((unsigned char *) text + at, len - at);
		if (size == 0 || (unsigned char) text[at] < ' ' || text[at] == 0x7f) {
			text[at] = '?';
			size = 1;
		}
	}
}

/* The length of the longest prefix of at most `most` bytes that ends after a whole character. */
static size_t cut(const char *text, size_t len, size_t most)
{
	if (len <= most) {
		return len;
	}
	for (size_t back = 0; back < 4 && back < most; back++) {
		if (!continues((unsigned char) text[most - back])) {
			return most - back;
		}
	}
	return most;
}

dlock_shown dlock_show(const char *text, size_t len)
{
	dlock_shown shown;
	size_t size = cut(text, len, sizeof shown.text - 1);

	memcpy(shown.text, text, size);
	shown.text[size] = '\0';
	keep_readable(shown.text, size);
	return shown;
}

/* `written` is what vsnprintf() returned. */
static void finish(char *text, size_t room, int written)
{
	size_t len = strlen(text);

	if (written >= 0 && (size_t) written > len && room > 4) { /* cut: an incomplete last character is removed */
		size_t back = 1;
		while (back < 4 && back < len && continues((unsigned char) text[len - back])) {
			back++;
		}
		const unsigned char *last = (unsigned char *) text + len - back;
		if (back <= len && *last >= 0xc0 && character(last, back) == 0) {
			len -= back;
			text[len] = '\0';
		}
	}
	keep_readable(text, len);
}

dlock_status dlock_fail(dlock_error *error, dlock_status status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int written = vsnprintf(error->message, sizeof error->message, format, arguments);
	va_end(arguments);
	finish(error->message, sizeof error->message, written);
	return status;
}

dlock_status dlock_out_of_memory(dlock_error *error)
{
	return dlock_fail(error, DLOCK_FAILED, "Out of memory");
}

void dlock_append(dlock_error *error, const char *format, ...)
{
	size_t used = strlen(error->message);
	va_list arguments;

	va_start(arguments, format);
	int written = vsnprintf(error->message + used, sizeof error->message - used, format, arguments);
	va_end(arguments);
	finish(error->message + used, sizeof error->message - used, written);
}

#include "error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool continues(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

/* The bytes of the character that the text begins with, which has `len` bytes; 0: it is none of UTF-8, or is cut. */
static size_t character(const unsigned char *text, size_t len)
{
	unsigned char first = text[0], second = len > 1 ? text[1] : 0;

	if (first < 0x80) {
		return 1;
	}
	if (first >= 0xc2 && first <= 0xdf) {
		return continues(second) ? 2 : 0;
	}
	if (first >= 0xe0 && first <= 0xef) { /* nothing that a shorter form has, and no half of a pair */
		bool good = continues(second) && (first != 0xe0 || second >= 0xa0) && (first != 0xed || second < 0xa0);
		return good && len > 2 && continues(text[2]) ? 3 : 0;
	}
	if (first >= 0xf0 && first <= 0xf4) {
		bool good = continues(second) && (first != 0xf0 || second >= 0x90) && (first != 0xf4 || second < 0x90);
		return good && len > 3 && continues(text[2]) && continues(text[3]) ? 4 : 0;
	}
	return 0;
}

/* Resources are any bytes, and servers say what they like: in a log it must stay one line, and text. */
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

/* How much of a text that is too long: whole characters. */
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

/* `written`: what vsnprintf() would have written. */
static void finish(char *text, size_t room, int written)
{
	size_t len = strlen(text);

	if (written >= 0 && (size_t) written > len && room > 4) { /* it was cut: what is left of a character goes */
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

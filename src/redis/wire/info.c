#include "info.h"

#include <string.h>

#define MOST_DIGITS 18

const char *dlock_info_find(const char *info, const char *field)
{
	size_t len = strlen(field);

	for (const char *at = strstr(info, field); at; at = strstr(at + 1, field)) {
		if ((at == info || at[-1] == '\n') && at[len] == ':') {
			return at + len + 1;
		}
	}
	return NULL;
}

int64_t dlock_info_number(const char *info, const char *field)
{
	const char *at = dlock_info_find(info, field);
	size_t digits = at ? strspn(at, "0123456789") : 0;
	int64_t number = 0;

	if (digits == 0 || digits > MOST_DIGITS || !strchr("\r\n", at[digits])) {
		return -1;
	}
	for (; digits > 0; digits--) {
		number = number * 10 + (*at++ - '0');
	}
	return number;
}

void dlock_info_text(const char *info, const char *field, char *out, size_t size)
{
	const char *at = dlock_info_find(info, field);
	size_t len = at ? strcspn(at, "\r\n") : 0;

	len = len < size ? len : 0;
	memcpy(out, at ? at : "", len);
	out[len] = '\0';
}

#include "dsn.h"

#include <stdlib.h>

#include "server.h"

static bool reject(dlock_error *error, const char *message)
{
	dlock_fail(error, DLOCK_FAILED, "%s", message);
	return false;
}

/* By hand, since strtod() follows the locale and accepts more than it should. */
bool dlock_dsn_seconds(const char *text, size_t len, dlock_nanos most, dlock_nanos *out)
{
	dlock_nanos nanos = 0, unit = DLOCK_SECOND;
	bool digits = false, fraction = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '.' && !fraction) {
			fraction = true;
		} else if (text[i] < '0' || text[i] > '9') {
			return false;
		} else {
			digits = true;
			if (fraction) {
				unit /= 10;
				nanos += (text[i] - '0') * unit;
			} else {
				nanos = nanos * 10 + (text[i] - '0') * DLOCK_SECOND;
			}
			if (nanos > most) {
				return false;
			}
		}
	}
	*out = nanos;
	return digits && nanos > 0;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0'
		: c >= 'a' && c <= 'f'  ? c - 'a' + 10
		: c >= 'A' && c <= 'F'  ? c - 'A' + 10
								: -1;
}

bool dlock_dsn_decode(char **field, const char *text, size_t len, dlock_error *error)
{
	char *decoded = malloc(len + 1);
	size_t out = 0;

	if (!decoded) {
		return reject(error, "cannot be read: out of memory");
	}
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		if (c == '%') {
			int high = i + 2 < len ? hex_digit(text[i + 1]) : -1, low = high < 0 ? -1 : hex_digit(text[i + 2]);
			if (high < 0 || low < 0) {
				decoded[out] = '\0';
				dlock_free_secret(decoded);
				return reject(error, "must have each % followed by two hexadecimal digits");
			}
			c = (char) (high << 4 | low);
			i += 2;
		}
		if (c == '\0') {
			decoded[out] = '\0';
			dlock_free_secret(decoded);
			return reject(error, "must not contain NUL bytes");
		}
		decoded[out++] = c;
	}
	decoded[out] = '\0';
	dlock_free_secret(*field);
	*field = decoded;
	return true;
}

#include "token.h"

#include <string.h>

#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

static bool random_bytes(void *out, size_t len)
{
	return getentropy(out, len) == 0;
}

static const char digits[] = "0123456789abcdef";

bool dlock_token(char out[DLOCK_TOKEN_LEN + 1])
{
	unsigned char bytes[DLOCK_TOKEN_LEN / 2];

	if (!random_bytes(bytes, sizeof bytes)) {
		return false;
	}
	for (size_t i = 0; i < sizeof bytes; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[DLOCK_TOKEN_LEN] = '\0';
	return true;
}

bool dlock_is_token(const char *text, size_t len, bool legacy)
{
	static const size_t prefix = sizeof DLOCK_TOKEN_LEGACY - 1;

	if (legacy && len == DLOCK_TOKEN_MAX && !memcmp(text, DLOCK_TOKEN_LEGACY, prefix)) {
		text += prefix;
		len -= prefix;
	}
	for (size_t i = 0; len == DLOCK_TOKEN_LEN && i < len; i++) {
		if (!memchr(digits, text[i], sizeof digits - 1)) {
			return false;
		}
	}
	return len == DLOCK_TOKEN_LEN;
}

uint32_t dlock_jitter(uint32_t bound)
{
	uint32_t bits;

	if (bound == 0 || !random_bytes(&bits, sizeof bits)) {
		return 0;
	}
	return (uint32_t) (((uint64_t) bits * bound) >> 32);
}

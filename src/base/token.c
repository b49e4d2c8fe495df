#include "token.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

#include "process.h"

static _Atomic uint32_t host;
static _Atomic bool is_hidden;

static bool random_bytes(void *out, size_t len)
{
	return getentropy(out, len) == 0;
}

static const char digits[] = "0123456789abcdef";

static void write_bytes(char *out, const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * count] = '\0';
}

static void write_number(char *out, uint64_t number, int count)
{
	for (int i = count; i-- > 0; number >>= 4) {
		out[i] = digits[number & 15];
	}
}

/* ---- the time in a token ---- */

/* In units of 1/32 ms: 40 bits of them last 397 days, longer than a lease. A process makes at most one token per
 * unit. */
#define UNITS_PER_SECOND 32000
#define UNITS_MASK ((UINT64_C(1) << 40) - 1)

/* If a process makes more tokens than there are units, their time runs ahead, at most by this. After that, two tokens
 * may have the same time. */
#define MOST_AHEAD UNITS_PER_SECOND

/* The clock of the host that made a token may be ahead of the reader's by at most this. */
#define AHEAD_SECONDS (7 * 24 * 3600)

static uint64_t units_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t) now.tv_sec * UNITS_PER_SECOND + (uint64_t) now.tv_nsec / (1000000000 / UNITS_PER_SECOND);
}

static uint64_t next_time(void)
{
	static _Atomic uint64_t last_made;
	uint64_t now = units_now(), last = atomic_load(&last_made), next;

	do {
		next = last >= now && last - now < MOST_AHEAD ? last + 1 : now;
	} while (!atomic_compare_exchange_weak(&last_made, &last, next));
	return next;
}

int64_t dlock_time_of_day(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- tokens ---- */

void dlock_token_set_origin(uint32_t address, bool hidden)
{
	atomic_store(&host, address);
	atomic_store(&is_hidden, hidden);
}

bool dlock_plain_token(char out[DLOCK_TOKEN_PLAIN_LEN + 1])
{
	unsigned char bytes[DLOCK_TOKEN_PLAIN_LEN / 2];

	if (!random_bytes(bytes, sizeof bytes)) {
		return false;
	}
	write_bytes(out, bytes, sizeof bytes);
	return true;
}

bool dlock_token(char out[DLOCK_TOKEN_LEN + 1])
{
	unsigned char bytes[(DLOCK_TOKEN_LEN - DLOCK_TOKEN_ID_LEN) / 2];

	if (atomic_load_explicit(&is_hidden, memory_order_relaxed)) {
		return dlock_plain_token(out);
	}
	if (!random_bytes(bytes, sizeof bytes)) {
		return false;
	}
	write_number(out, atomic_load_explicit(&host, memory_order_relaxed), 8);
	write_number(out + 8, (uint32_t) dlock_process_current(), 6);
	write_number(out + 14, next_time(), 10);
	write_bytes(out + DLOCK_TOKEN_ID_LEN, bytes, sizeof bytes);
	return true;
}

static bool are_digits(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!memchr(digits, text[i], sizeof digits - 1)) {
			return false;
		}
	}
	return true;
}

bool dlock_is_token(const char *text, size_t len, bool legacy)
{
	static const size_t prefix = sizeof DLOCK_TOKEN_LEGACY - 1;

	if (legacy && len > prefix && !memcmp(text, DLOCK_TOKEN_LEGACY, prefix)) {
		text += prefix;
		len -= prefix;
	}
	return (len == DLOCK_TOKEN_LEN || len == DLOCK_TOKEN_PLAIN_LEN) && are_digits(text, len);
}

bool dlock_token_id(const char *token, char out[DLOCK_TOKEN_ID_LEN + 1])
{
	if (!strncmp(token, DLOCK_TOKEN_LEGACY, strlen(DLOCK_TOKEN_LEGACY))) {
		token += strlen(DLOCK_TOKEN_LEGACY);
	}
	if (strlen(token) != DLOCK_TOKEN_LEN || !are_digits(token, DLOCK_TOKEN_LEN)) {
		return false;
	}
	memcpy(out, token, DLOCK_TOKEN_ID_LEN);
	out[DLOCK_TOKEN_ID_LEN] = '\0';
	return true;
}

static uint64_t read_number(const char *text, size_t len)
{
	uint64_t number = 0;

	for (size_t i = 0; i < len; i++) {
		number = number << 4 | (uint64_t) (strchr(digits, text[i]) - digits);
	}
	return number;
}

bool dlock_token_read_origin(const char id[DLOCK_TOKEN_ID_LEN], int64_t now, dlock_origin *out)
{
	if (!are_digits(id, DLOCK_TOKEN_ID_LEN)) {
		return false;
	}
	uint64_t latest = ((uint64_t) now / 1000000 + AHEAD_SECONDS) * UNITS_PER_SECOND;
	uint64_t made = (latest & ~UNITS_MASK) | read_number(id + 14, 10);
	made -= made > latest ? UNITS_MASK + 1 : 0;
	out->address = (uint32_t) read_number(id, 8);
	out->pid = (uint32_t) read_number(id + 8, 6);
	out->made_at = (int64_t) (made * 125 / 4); /* a unit is 31.25 us */
	return true;
}

uint32_t dlock_jitter(uint32_t bound)
{
	uint32_t bits;

	if (bound == 0 || !random_bytes(&bits, sizeof bits)) {
		return 0;
	}
	return (uint32_t) (((uint64_t) bits * bound) >> 32);
}

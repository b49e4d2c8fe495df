/* src/memcached/request.c: lines that a server answers with, and keys. The first byte: which of the two. */

#include "../../src/memcached/request.h"
#include "fuzz.h"

static void try_reply(const uint8_t *data, size_t size)
{
	size_t len;
	char *line = take_line(&data, &size, &len);
	dlock_memcached_reply reply;

	if (dlock_memcached_read(&reply, line)) {
		MUST(memchr(reply.value, '\0', sizeof reply.value));
		MUST(reply.left >= -1 && reply.left <= UINT32_MAX);
		MUST(reply.len <= 1024 * 1024 * 1024 && (reply.len == 0 || reply.code == DLOCK_MEMCACHED_VA));
		MUST(reply.cas == 0 || reply.code <= DLOCK_MEMCACHED_VA);
		MUST(!*reply.value || reply.code == DLOCK_MEMCACHED_ERROR || reply.code == DLOCK_MEMCACHED_VERSION);
		if (reply.code == DLOCK_MEMCACHED_VA) { /* its value is no token before it has come */
			memset(reply.value, 'x', sizeof reply.value - 1);
			reply.value[sizeof reply.value - 1] = '\0';
			MUST(!dlock_memcached_is_token(&reply, "y"));
		}
	}
	free(line);
}

/* Other texts have others. */
static void digest(const char *text, size_t len, char hex[64 + 1])
{
	for (int part = 0; part < 4; part++) {
		uint64_t hash = UINT64_C(14695981039346656037) + (unsigned) part;
		for (size_t i = 0; i < len; i++) {
			hash = (hash ^ (unsigned char) text[i]) * UINT64_C(1099511628211);
		}
		snprintf(hex + 16 * part, 17, "%016llx", (unsigned long long) hash);
	}
}

/* What the server makes of it: the bytes that base64 stands for. */
static size_t decode(const dlock_memcached_key *key, char *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t len = 0, text = strlen(key->text);

	MUST(text % 4 == 0);
	for (size_t i = 0; i < text; i += 4) {
		unsigned bits = 0, missing = 0;
		for (size_t j = 0; j < 4; j++) {
			const char *digit = key->text[i + j] == '=' ? digits : strchr(digits, key->text[i + j]);
			MUST(digit);
			missing += key->text[i + j] == '=';
			bits = bits << 6 | (unsigned) (digit - digits);
		}
		for (unsigned j = 0; j < 3 - missing; j++) {
			out[len++] = (char) (bits >> (16 - 8 * j));
		}
	}
	return len;
}

static void try_keys(const uint8_t *data, size_t size)
{
	size_t lens[3];
	char *lines[3], whole[250], *joined;
	dlock_memcached_key key, other;

	for (int i = 0; i < 3; i++) {
		lines[i] = take_line(&data, &size, &lens[i]);
	}
	size_t len = lens[0] + lens[1];
	joined = malloc(len + 1);
	MUST(joined);
	memcpy(joined, lines[0], lens[0]);
	memcpy(joined + lens[0], lines[1], lens[1]);
	dlock_memcached_make_key(&key, lines[0], lens[0], lines[1], lens[1], digest);
	dlock_memcached_make_key(&other, "", 0, lines[2], lens[2], digest);
	MUST(memchr(key.text, '\0', sizeof key.text));
	MUST(strcmp(key.text, DLOCK_MEMCACHED_FENCE) && strcmp(key.text, DLOCK_MEMCACHED_CLOCK));
	for (const char *at = key.text; *at; at++) {
		MUST((unsigned char) *at > ' ' && *at != 0x7f);
	}
	if (key.encoded) {
		MUST(decode(&key, whole) == len && !memcmp(whole, joined, len));
	}
	bool same = len == lens[2] && !memcmp(joined, lines[2], len);
	MUST(same == (key.encoded == other.encoded && !strcmp(key.text, other.text)));
	free(joined);
	for (int i = 0; i < 3; i++) {
		free(lines[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0) {
		return 0;
	}
	if (data[0] % 2) {
		try_keys(data + 1, size - 1);
	} else {
		try_reply(data + 1, size - 1);
	}
	return 0;
}

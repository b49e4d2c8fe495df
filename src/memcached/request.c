#include "request.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

/* Digests begin with it. Other keys that begin so, and the keys of dlock itself, become digests as well, so that no two
 * resources share a key. */
static const char digest_prefix[] = "dlock:sha256:";

enum { KEY_MAX = 250, DECODED_MAX = KEY_MAX / 4 * 3 };

static bool is_reserved(const char *text, size_t len)
{
	return !strncmp(text, digest_prefix, sizeof digest_prefix - 1)
		|| (len == sizeof DLOCK_MEMCACHED_FENCE - 1 && !memcmp(text, DLOCK_MEMCACHED_FENCE, len))
		|| (len == sizeof DLOCK_MEMCACHED_CLOCK - 1 && !memcmp(text, DLOCK_MEMCACHED_CLOCK, len));
}

static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char) text[i] <= ' ' || text[i] == 0x7f) {
			return false;
		}
	}
	return len <= KEY_MAX && !is_reserved(text, len);
}

static void encode(char *out, const char *text, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		unsigned bits = 0;
		for (size_t j = 0; j < 3; j++) {
			bits = bits << 8 | (i + j < len ? (unsigned char) text[i + j] : 0);
		}
		for (size_t j = 0; j < 4; j++) {
			*out++ = i + j <= len ? digits[bits >> (18 - 6 * j) & 63] : '=';
		}
	}
	*out = '\0';
}

void dlock_memcached_make_key(dlock_memcached_key *key, const char *prefix, size_t prefix_len, const char *resource,
	size_t resource_len, dlock_memcached_digest *digest)
{
	size_t len = prefix_len + resource_len;
	char *whole = malloc(len + 1);

	key->encoded = false;
	*key->text = '\0';
	if (!whole) {
		return;
	}
	memcpy(whole, prefix, prefix_len);
	memcpy(whole + prefix_len, resource, resource_len);
	whole[len] = '\0';
	if (is_plain(whole, len)) {
		memcpy(key->text, whole, len + 1);
	} else if (len <= DECODED_MAX && !is_reserved(whole, len)) {
		encode(key->text, whole, len);
		key->encoded = true;
	} else {
		memcpy(key->text, digest_prefix, sizeof digest_prefix);
		digest(whole, len, key->text + sizeof digest_prefix - 1);
	}
	free(whole);
}

/* ---- requests ---- */

static dlock_memcached_request *request_new(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int len = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	dlock_memcached_request *request = calloc(1, sizeof *request + (size_t) len + 1);
	if (request) {
		va_start(arguments, format);
		vsnprintf(request->text, (size_t) len + 1, format, arguments);
		va_end(arguments);
		request->references = 1;
		request->len = (size_t) len;
	}
	return request;
}

static dlock_memcached_request *timed(dlock_memcached_request *request)
{
	if (request) {
		request->timed = true;
	}
	return request;
}

static const char *flag(const dlock_memcached_key *key)
{
	return key->encoded ? " b" : "";
}

dlock_memcached_request *dlock_memcached_version(void)
{
	return request_new("version\r\n");
}

dlock_memcached_request *dlock_memcached_add(const dlock_memcached_key *key, const char *token, int64_t seconds)
{
	return timed(
		request_new("ms %s %zu ME T%" PRId64 " c%s\r\n%s\r\n", key->text, strlen(token), seconds, flag(key), token));
}

dlock_memcached_request *dlock_memcached_replace(
	const dlock_memcached_key *key, uint64_t cas, const char *token, int64_t seconds)
{
	return timed(request_new("ms %s %zu MS C%" PRIu64 " T%" PRId64 " c%s\r\n%s\r\n", key->text, strlen(token), cas,
		seconds, flag(key), token));
}

dlock_memcached_request *dlock_memcached_delete(const dlock_memcached_key *key, uint64_t cas)
{
	return request_new("md %s C%" PRIu64 "%s\r\n", key->text, cas, flag(key));
}

dlock_memcached_request *dlock_memcached_get(const dlock_memcached_key *key)
{
	return timed(request_new("mg %s v c t%s\r\n", key->text, flag(key)));
}

dlock_memcached_request *dlock_memcached_read_clock(void)
{
	dlock_memcached_request *request = request_new("mg " DLOCK_MEMCACHED_CLOCK " c t\r\n");

	if (request) {
		request->reads_clock = true;
	}
	return request;
}

/* It lasts for the longest time that the server does not read as a date. */
dlock_memcached_request *dlock_memcached_make_clock(void)
{
	return request_new("ms " DLOCK_MEMCACHED_CLOCK " 0 ME T2592000\r\n\r\n");
}

dlock_memcached_request *dlock_memcached_count(int64_t first)
{
	return request_new("ma " DLOCK_MEMCACHED_FENCE " N0 J%" PRId64 " D1 v\r\n", first);
}

dlock_memcached_request *dlock_memcached_retain(dlock_memcached_request *request)
{
	request->references++;
	return request;
}

void dlock_memcached_release(dlock_memcached_request *request)
{
	if (request && --request->references == 0) {
		free(request);
	}
}

/* ---- replies ---- */

bool dlock_memcached_is_token(const dlock_memcached_reply *reply, const char *token)
{
	return reply->code == DLOCK_MEMCACHED_VA && reply->len == strlen(token) && !memcmp(reply->value, token, reply->len);
}

/* Reads digits up to a space or the end, and returns that place. NULL: there is no such number. */
static const char *read_number(const char *text, uint64_t *number)
{
	const char *at = text;

	*number = 0;
	for (; *at >= '0' && *at <= '9'; at++) {
		unsigned digit = (unsigned) (*at - '0');
		if (*number > (UINT64_MAX - digit) / 10) {
			return NULL;
		}
		*number = *number * 10 + digit;
	}
	return at > text && (*at == ' ' || *at == '\0') ? at : NULL;
}

static bool read_flag(dlock_memcached_reply *reply, const char *text)
{
	uint64_t seconds;

	switch (*text) {
	case 'c':
		return read_number(text + 1, &reply->cas) != NULL;
	case 't':
		if (!strncmp(text, "t-1", 3) && (text[3] == ' ' || text[3] == '\0')) {
			return true;
		}
		if (!read_number(text + 1, &seconds) || seconds > UINT32_MAX) {
			return false;
		}
		reply->left = (int64_t) seconds;
		return true;
	default:
		return true; /* a flag that no request asked for */
	}
}

bool dlock_memcached_read(dlock_memcached_reply *reply, const char *line)
{
	static const char *const codes[] = { "HD", "NS", "EX", "NF", "EN", "VA" };
	static const char *const errors[] = { "ERROR", "CLIENT_ERROR", "SERVER_ERROR" };

	*reply = (dlock_memcached_reply) { .code = DLOCK_MEMCACHED_ERROR, .left = -1 };
	snprintf(reply->value, sizeof reply->value, "%s", line);
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
		if (!strncmp(line, errors[i], strlen(errors[i]))) {
			return true;
		}
	}
	if (!strncmp(line, "VERSION ", 8)) {
		reply->code = DLOCK_MEMCACHED_VERSION;
		snprintf(reply->value, sizeof reply->value, "%s", line + 8);
		return true;
	}
	size_t code = 0;
	while (code < sizeof codes / sizeof *codes && strncmp(line, codes[code], 2)) {
		code++;
	}
	if (code == sizeof codes / sizeof *codes || (line[2] != ' ' && line[2] != '\0')) {
		return false;
	}
	reply->code = (dlock_memcached_code) code;
	*reply->value = '\0';
	const char *at = line + 2;
	if (reply->code == DLOCK_MEMCACHED_VA) {
		uint64_t len;
		at = *at == ' ' ? read_number(at + 1, &len) : NULL;
		if (!at || len > 1024 * 1024 * 1024) {
			return false;
		}
		reply->len = (size_t) len;
	}
	while (*at == ' ') {
		if (!read_flag(reply, ++at)) {
			return false;
		}
		at += strcspn(at, " ");
	}
	return *at == '\0';
}

#include "dsn.h"

#include <stdlib.h>
#include <string.h>

/* volatile, so that the compiler does not drop the writes before free(). */
void dlock_free_secret(char *text)
{
	for (volatile char *c = text; c && *c; c++) {
		*c = '\0';
	}
	free(text);
}

/* ---- values ---- */

bool dlock_dsn_seconds(const char *text, size_t len, dlock_nanos least, dlock_nanos most, dlock_nanos *out)
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
	return digits && nanos >= least;
}

bool dlock_dsn_whole(const char *text, size_t len, int least, int most, int *out)
{
	long number = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || (number = number * 10 + (text[i] - '0')) > most) {
			return false;
		}
	}
	*out = (int) number;
	return len > 0 && number >= least;
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
		return dlock_reject(error, "cannot be read: out of memory");
	}
	for (size_t i = 0; i < len; i++) {
		int byte = (unsigned char) text[i];
		if (byte == '%') {
			int high = i + 2 < len ? hex_digit(text[i + 1]) : -1, low = high < 0 ? -1 : hex_digit(text[i + 2]);
			byte = low < 0 ? -1 : high << 4 | low;
			i += 2;
		}
		decoded[out] = (char) (byte > 0 ? byte : 0);
		if (byte <= 0) {
			dlock_free_secret(decoded);
			return byte == 0 ? dlock_reject(error, "must not contain NUL bytes")
							 : dlock_reject(error, "must have each %% followed by two hexadecimal digits");
		}
		out++;
	}
	decoded[out] = '\0';
	dlock_free_secret(*field);
	*field = decoded;
	return true;
}

/* ---- parts ---- */

bool dlock_dsn_split(dlock_dsn *dsn, const char *text, size_t len, dlock_error *error)
{
	const char *end = text + len, *colon = memchr(text, ':', len);
	bool has_scheme = colon && end - colon >= 3 && !memcmp(colon, "://", 3);
	const char *rest = has_scheme ? colon + 3 : text, *query = memchr(rest, '?', (size_t) (end - rest));

	*dsn = (dlock_dsn) { .scheme = text, .scheme_len = has_scheme ? (size_t) (colon - text) : 0, .place = rest,
		.place_end = query ? query : end, .end = end };
	/* The login ends at the last @ before the path, because an unencoded @ in a password is common. So are / and ?,
	 * which end the login too early: dlock_dsn_refuse() explains that. */
	for (const char *c = rest; c < dsn->place_end && *c != '/'; c++) {
		if (*c == '@') {
			dsn->login = rest;
			dsn->place = c + 1;
		}
	}
	if (len == 0) {
		return dlock_reject(error, "must not be empty");
	}
	return !memchr(text, '\0', len) || dlock_reject(error, "must not contain NUL bytes");
}

bool dlock_dsn_login(const dlock_dsn *dsn, char **user, char **password, dlock_error *error)
{
	const char *text = dsn->login, *end = dsn->place - 1;
	const char *colon = text ? memchr(text, ':', (size_t) (end - text)) : NULL;

	if (!text) {
		return true;
	}
	if (!colon || colon + 1 == end) {
		return dlock_reject(error, "must have a password after the user (user:password@ or :password@)");
	}
	return (colon == text || dlock_dsn_decode(user, text, (size_t) (colon - text), error))
		&& dlock_dsn_decode(password, colon + 1, (size_t) (end - colon - 1), error);
}

bool dlock_dsn_host(const char *text, const char *end, const char **host, size_t *len, int *port, dlock_error *error)
{
	bool bracketed = text < end && *text == '[';
	const char *close = bracketed ? memchr(text, ']', (size_t) (end - text)) : NULL, *after = close ? close + 1 : text;
	const char *colon = text < end ? memchr(after, ':', (size_t) (end - after)) : NULL;

	if (bracketed && !close) {
		return dlock_reject(error, "must have a closing ] after the IPv6 address");
	}
	if (bracketed && after < end && colon != after) {
		return dlock_reject(error, "must have nothing but a port after the IPv6 address");
	}
	*host = text + bracketed;
	*len = (size_t) ((close ? close : colon ? colon : end) - *host);
	if (!bracketed && colon && memchr(colon + 1, ':', (size_t) (end - colon - 1))) {
		return dlock_reject(
			error, "must have one port after a host, and IPv6 addresses in brackets, as in \"[::1]:7000\"");
	}
	if (*len == 0) {
		return dlock_reject(error, "must name a host");
	}
	return !colon || dlock_dsn_whole(colon + 1, (size_t) (end - colon - 1), 1, 65535, port)
		|| dlock_reject(error, "must have a port between 1 and 65535");
}

bool dlock_dsn_refuse(const dlock_dsn *dsn, const char *text, dlock_error *error)
{
	return memchr(text, '@', (size_t) (dsn->end - text))
		? dlock_reject(error, "must have / and ? in a user or password written as %%2F and %%3F")
		: false;
}

bool dlock_dsn_query(const dlock_dsn *dsn, dlock_dsn_option *option, void *target, dlock_error *error)
{
	const char *next;

	for (const char *text = dsn->place_end + 1; text < dsn->end; text = next + 1) {
		next = memchr(text, '&', (size_t) (dsn->end - text));
		next = next ? next : dsn->end;
		const char *equals = memchr(text, '=', (size_t) (next - text));
		char *name = NULL, *value = NULL;
		bool good = equals ? dlock_dsn_decode(&name, text, (size_t) (equals - text), error)
				&& dlock_dsn_decode(&value, equals + 1, (size_t) (next - equals - 1), error)
				&& option(target, name, value, error)
			: dlock_reject(error, "must have options of the form name=value");
		free(name);
		dlock_free_secret(value);
		if (!good) {
			return dlock_dsn_refuse(dsn, dsn->place_end, error);
		}
	}
	return true;
}

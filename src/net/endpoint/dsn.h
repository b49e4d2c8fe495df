#ifndef DLOCK_DSN_H
#define DLOCK_DSN_H

#include <stdbool.h>
#include <stddef.h>

#include "../../base/clock.h"
#include "../../base/error.h"

/* The grammar that all DSNs share: scheme://[[user]:password@]place[?option=value&...]. A malformed DSN may have its
 * password in any part. So no message repeats a part, except the name of an option that looks like one. Functions
 * return false if they fail, with a message if they have an `error`. Messages, such as "must ...", continue the name of
 * an argument. */

/* Where the parts of a DSN begin and end. `login` is NULL if there is none. Without a "://", the scheme is empty. */
typedef struct {
	const char *scheme, *login, *place, *place_end, *end;
	size_t scheme_len;
} dlock_dsn;

/* Fails only if the text is empty or contains NUL bytes. */
bool dlock_dsn_split(dlock_dsn *dsn, const char *text, size_t len, dlock_error *error);

/* Decodes user and password. A DSN without a login leaves both unchanged; a login without a user leaves the user
 * unchanged. */
bool dlock_dsn_login(const dlock_dsn *dsn, char **user, char **password, dlock_error *error);

/* Passes each option to `option`, decoded and without NUL bytes, until that refuses one. */
typedef bool dlock_dsn_option(void *target, const char *name, const char *value, dlock_error *error);
bool dlock_dsn_query(const dlock_dsn *dsn, dlock_dsn_option *option, void *target, dlock_error *error);

/* Called after the part from `text` on was refused. If an @ follows, the part may be the end of a password, and the
 * message says so. Returns false. */
bool dlock_dsn_refuse(const dlock_dsn *dsn, const char *text, dlock_error *error);

/* Splits host, host:port or [::1]:port without decoding it. A text without a port leaves `port` unchanged. */
bool dlock_dsn_host(const char *text, const char *end, const char **host, size_t *len, int *port, dlock_error *error);

/* Percent-decodes into an owned string, which may be a secret. Refuses NUL bytes, which would cut the string short
 * unnoticed. */
bool dlock_dsn_decode(char **field, const char *text, size_t len, dlock_error *error);

/* Reads seconds, such as "2.5", between `least` and `most`. strtod() would follow the locale and accept too much. */
bool dlock_dsn_seconds(const char *text, size_t len, dlock_nanos least, dlock_nanos most, dlock_nanos *out);

/* Reads a whole number, such as "12", between `least` and `most`, without a sign. */
bool dlock_dsn_whole(const char *text, size_t len, int least, int most, int *out);

/* Wipes and frees a string that may be a secret. NULL is allowed. */
void dlock_free_secret(char *text);

#endif

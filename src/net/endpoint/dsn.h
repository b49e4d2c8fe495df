#ifndef DLOCK_DSN_H
#define DLOCK_DSN_H

#include <stdbool.h>
#include <stddef.h>

#include "../../base/clock.h"
#include "../../base/error.h"

/* The grammar that all DSNs share: scheme://[[user]:password@]place[?option=value&...]. A DSN holds a password, and one
 * that is written wrongly has it in any place: no message repeats a part, except the name of an option that looks like
 * one. Messages go on from the name of an argument: "must ...". */

/* Where the parts of one begin and end. `login` is NULL where there is none; without a "://" the scheme is empty. */
typedef struct {
	const char *scheme, *login, *place, *place_end, *end;
	size_t scheme_len;
} dlock_dsn;

bool dlock_dsn_split(dlock_dsn *dsn, const char *text, size_t len, dlock_error *error);

/* The login; the user stays as it is where there is none. */
bool dlock_dsn_login(const dlock_dsn *dsn, char **user, char **password, dlock_error *error);

/* Hands over one option after the other, decoded, and without a NUL byte. */
typedef bool dlock_dsn_option(void *target, const char *name, const char *value, dlock_error *error);
bool dlock_dsn_query(const dlock_dsn *dsn, dlock_dsn_option *option, void *target, dlock_error *error);

/* After the part from `text` on was refused: it may be the end of a password. Returns false. */
bool dlock_dsn_refuse(const dlock_dsn *dsn, const char *text, dlock_error *error);

/* host, host:port or [::1]:port, not decoded; the port stays as it is where there is none. */
bool dlock_dsn_host(const char *text, const char *end, const char **host, size_t *len, int *port, dlock_error *error);

/* Percent-decodes into an owned string, which may hold a secret. A NUL has no place in any part, and would cut it short
 * unseen. */
bool dlock_dsn_decode(char **field, const char *text, size_t len, dlock_error *error);

/* "2.5"; by hand, since strtod() follows the locale and accepts more than it should. */
bool dlock_dsn_seconds(const char *text, size_t len, dlock_nanos least, dlock_nanos most, dlock_nanos *out);

/* "12", which is not negative. */
bool dlock_dsn_whole(const char *text, size_t len, int least, int most, int *out);

/* Wipes and frees what may be a secret. */
void dlock_free_secret(char *text);

#endif

#ifndef DLOCK_REDIS_INSPECT_REQUESTS_H
#define DLOCK_REDIS_INSPECT_REQUESTS_H

#include "../../lock/inspection.h"
#include "requests.h"

/* Replies about who holds and who waits, for those who look. */

/* Adds to an empty inspection. DLOCK_LOST, without a message: the key is no lock, or no pool. */
dlock_status dlock_read_inspection(
	const dlock_call *call, const dlock_conn *conn, dlock_inspection *out, dlock_error *error);
dlock_status dlock_read_permits_inspection(
	const dlock_call *call, const dlock_conn *conn, dlock_inspection *out, dlock_error *error);

/* Adds those of the keys that begin with the prefix, without it. */
dlock_status dlock_read_seen(
	const dlock_call *call, const dlock_conn *conn, dlock_arg prefix, dlock_listing *out, dlock_error *error);

/* Some keys that begin with the prefix, from the cursor on, which is "0" at first and again in the end. */
enum { DLOCK_CURSOR_SIZE = 24 };
dlock_call *dlock_request_scan(const char *cursor, dlock_arg prefix);

/* Adds them as dlock_read_seen() does, each once, and reads the next cursor. */
dlock_status dlock_read_scan(const dlock_call *call, const dlock_conn *conn, dlock_arg prefix,
	char cursor[DLOCK_CURSOR_SIZE], dlock_listing *out, dlock_error *error);

/* DLOCK_OK: broken, and the ms until it is free. DLOCK_LOST, without a message: another client holds it, or none.
 * DLOCK_FAILED: not in this way. */
dlock_status dlock_read_break(
	const dlock_call *call, const dlock_conn *conn, int64_t *left, dlock_error *error);

/* What a holder says about itself, behind its id. */
typedef struct {
	char text[2 * 21 + DLOCK_DESCRIPTION_MAX + 1];
} dlock_holder_text;

const char *dlock_write_holder_text(
	dlock_holder_text *out, int64_t since, int64_t fencing_token, const dlock_description *description);

#endif

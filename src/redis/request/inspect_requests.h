#ifndef DLOCK_REDIS_INSPECT_REQUESTS_H
#define DLOCK_REDIS_INSPECT_REQUESTS_H

#include "../../lock/inspection.h"
#include "requests.h"

/* Replies that tell an inspecting client about holders and waiters. */

/* Adds the reply to an empty inspection. DLOCK_LOST, without a message: the key is not a lock, or not a pool. */
dlock_status dlock_read_inspection(
	const dlock_call *call, const dlock_conn *conn, dlock_inspection *out, dlock_error *error);
dlock_status dlock_read_permits_inspection(
	const dlock_call *call, const dlock_conn *conn, dlock_inspection *out, dlock_error *error);

/* Adds the keys in the reply that begin with the prefix, without the prefix. */
dlock_status dlock_read_seen(
	const dlock_call *call, const dlock_conn *conn, dlock_arg prefix, dlock_listing *out, dlock_error *error);

/* Asks for some keys that begin with the prefix, from the cursor on. The first cursor is "0"; the scan ends when the
 * next one is "0" again. */
enum { DLOCK_CURSOR_SIZE = 24 };
dlock_call *dlock_request_scan(const char *cursor, dlock_arg prefix);

/* Adds the keys as dlock_read_seen() does, each once, and reads the next cursor. */
dlock_status dlock_read_scan(const dlock_call *call, const dlock_conn *conn, dlock_arg prefix,
	char cursor[DLOCK_CURSOR_SIZE], dlock_listing *out, dlock_error *error);

/* DLOCK_OK: the lock is broken, and free in `left` ms. DLOCK_LOST, without a message: another client holds it, or none.
 * DLOCK_FAILED: it has no lease time, so it can only be broken at once. */
dlock_status dlock_read_break(
	const dlock_call *call, const dlock_conn *conn, int64_t *left, dlock_error *error);

/* What a holder says about itself, as it is stored behind the holder's id. */
typedef struct {
	char text[2 * 21 + DLOCK_DESCRIPTION_MAX + 1];
} dlock_holder_text;

const char *dlock_write_holder_text(
	dlock_holder_text *out, int64_t since, int64_t fencing_token, const dlock_description *description);

#endif

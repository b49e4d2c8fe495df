#ifndef DLOCK_REDIS_REPLY_H
#define DLOCK_REDIS_REPLY_H

#include "conn.h"

/* What the replies to all requests have in common. */

/* The reply to a long command before AUTH. */
#define DLOCK_REPLY_UNAUTHENTICATED "ERR Protocol error: unauthenticated"

/* DLOCK_OK: there is a reply, and it is no error. DLOCK_CONNECTION: the message says what a user can do. */
dlock_status dlock_check_reply(const dlock_call *call, const dlock_conn *conn, dlock_error *error);

/* DLOCK_CONNECTION: the reply cannot be read. */
dlock_status dlock_unexpected_reply(const dlock_conn *conn, dlock_error *error);

/* Reads the number at this place of a list. False: there is none. */
bool dlock_integer_at(const redisReply *reply, size_t index, int64_t *out);

#endif

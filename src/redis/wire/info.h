#ifndef DLOCK_REDIS_INFO_H
#define DLOCK_REDIS_INFO_H

#include <hiredis/hiredis.h>
#include <stddef.h>
#include <stdint.h>

#include "../../net/endpoint/endpoint.h"

/* What INFO replies: lines of "name:value", and when the server was started. */

/* The value, up to the end of its line; NULL: there is no such field. */
const char *dlock_info_find(const char *info, const char *field);

/* The value as a whole number that is not negative; -1: there is none. */
int64_t dlock_info_number(const char *info, const char *field);

/* Copies the value if it fits; otherwise, or if there is none, "". */
void dlock_info_text(const char *info, const char *field, char *out, size_t size);

/* How long a server has been up, and which server it is, according to its INFO. A server that is restarted ends its
 * connections, so one question on each connection is enough. All replies on a connection come from a server that was up
 * by then. */

#define DLOCK_START_UNKNOWN DLOCK_FOREVER

typedef struct {
	dlock_nanos started;      /* the server was started then or before; DLOCK_START_UNKNOWN: it has not said when */
	dlock_nanos started_from; /* and then or after, to within two seconds */
	char problem[128];        /* why the start is unknown */
	char run_id[64];          /* no other server has it, at any address; "": the server has not said it */
} dlock_uptime;

/* Reads the reply to INFO. This process asked at `asked` or later, and reads the reply at `now`, perhaps long after it
 * came. If the reply has no uptime, the start is unknown, and `problem` says why. */
void dlock_uptime_read(dlock_uptime *uptime, const redisReply *reply, dlock_nanos asked, dlock_nanos now,
	const dlock_endpoint *server);

#endif

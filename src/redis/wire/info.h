#ifndef DLOCK_REDIS_INFO_H
#define DLOCK_REDIS_INFO_H

#include <hiredis/hiredis.h>
#include <stddef.h>
#include <stdint.h>

#include "../../net/endpoint/endpoint.h"

/* What INFO replies: lines of "name:value", and what they say of a server's start. */

/* The value, up to the line's end; NULL: there is no such field. */
const char *dlock_info_find(const char *info, const char *field);

/* The value as a whole number that is not negative; -1: there is none. */
int64_t dlock_info_number(const char *info, const char *field);

/* Copies the value, where it has room: otherwise, and where there is none, "". */
void dlock_info_text(const char *info, const char *field, char *out, size_t size);

/* How long a server has been up, and which one it is, as its INFO says. A server that is restarted ends its
 * connections, so it is enough to ask once on each: what comes over it comes from a server that was up by then. */

#define DLOCK_START_UNKNOWN DLOCK_FOREVER

typedef struct {
	dlock_nanos started; /* the server was started then or before; DLOCK_START_UNKNOWN: it has not said so */
	char problem[128];   /* why not */
	char run_id[64];     /* no other server has it, under whatever address; "": it has not said so */
} dlock_uptime;

/* Reads the reply to INFO, which came at `now`. Where it has no time in it, the start is unknown and the problem says
 * why. */
void dlock_uptime_read(dlock_uptime *uptime, const redisReply *reply, dlock_nanos now, const dlock_endpoint *server);

#endif

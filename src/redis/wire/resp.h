#ifndef DLOCK_REDIS_RESP_H
#define DLOCK_REDIS_RESP_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>

#include "../../net/channel.h"

/* Redis' protocol as a codec, by hiredis: commands to bytes, and bytes to replies. It knows no socket. */

#if HIREDIS_MAJOR >= 1
typedef size_t dlock_element_count;
#else
typedef int dlock_element_count;
#endif
typedef void *dlock_make_array(const redisReadTask *task, dlock_element_count count);

/* Reads the replies of one connection. Its place in memory must not change. */
typedef struct {
	redisReader *reader;
	redisReplyObjectFunctions make; /* hiredis' functions, with a limit */
	dlock_make_array *make_array;
	size_t partial;   /* the number of bytes of an incomplete reply */
	size_t announced; /* the number of elements that its arrays announce */
	bool too_deep;    /* it has more arrays in arrays than any reply */
} dlock_resp;

/* False when out of memory. */
bool dlock_resp_begin(dlock_resp *resp);
void dlock_resp_end(dlock_resp *resp);

void dlock_resp_feed(dlock_resp *resp, const char *bytes, size_t len);

/* The next reply; NULL: none is complete. If `problem` is set, the bytes cannot be read. */
redisReply *dlock_resp_next(dlock_resp *resp, const char **problem);

/* Appends a command to the channel's output. `lens` may be NULL. False when out of memory. */
bool dlock_resp_append(dlock_channel *channel, int words, const char *const *word, const size_t *lens);

#endif

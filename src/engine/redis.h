#ifndef DLOCK_ENGINE_REDIS_H
#define DLOCK_ENGINE_REDIS_H

#include "../redis/pool.h"
#include "engine.h"

/* The two engines on Redis and what they have in common. */

enum { DLOCK_MOST_SERVERS = 64 };

/* One server. `prefix` is put before each resource to make its key. NULL when out of memory. */
dlock_engine *dlock_single_new(dlock_pool *pool, dlock_server *server, const char *prefix, size_t prefix_len);

/* A majority of 1 to DLOCK_MOST_SERVERS independent servers. */
dlock_engine *dlock_quorum_new(dlock_pool *pool, dlock_server **servers, int count, const char *prefix, size_t prefix_len);

/* What each server of a quorum said in the last operation: NULL where it answered as it should. */
int dlock_quorum_servers(const dlock_engine *engine);
const char *dlock_quorum_server_label(const dlock_engine *engine, int server);
const char *dlock_quorum_server_error(const dlock_engine *engine, int server);

/* ---- for the engines themselves ---- */

/* The part of a lease that clocks may disagree about: 1 % and 2 ms, as in the Redlock algorithm
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/). */
dlock_nanos dlock_drift(dlock_nanos ttl);

/* One key's scripts, as calls that nobody has sent yet. NULL when out of memory. */
typedef struct {
	const char *text; /* prefix and resource */
	size_t len;
} dlock_key;

dlock_call *dlock_call_acquire(dlock_key key, const char *token, dlock_nanos ttl, int64_t proposal);
dlock_call *dlock_call_give_back(dlock_key key, const char *token);
dlock_call *dlock_call_extend(dlock_key key, const char *token, dlock_nanos ttl);
dlock_call *dlock_call_check(dlock_key key, const char *token);
dlock_call *dlock_call_raise(dlock_key key, const char *token, int64_t fencing_token);
dlock_call *dlock_call_holder(dlock_key key);

/* What a call came to: its integer, or -1 with a message that names the server. */
int64_t dlock_call_integer(const dlock_call *call, const dlock_conn *conn, dlock_error *error);

/* The same for acquire: 1 and the fencing token, 0 and the holder's PTTL in ms, or -1. */
int dlock_call_acquired(const dlock_call *call, const dlock_conn *conn, int64_t *detail, dlock_error *error);

/* The pause before the next attempt on a taken lock: it grows from 5 ms to `longest`, with jitter so that waiters spread,
 * and is not longer than the holder's lease can last (`holder_pttl` in ms; negative: unknown or unlimited). */
dlock_nanos dlock_backoff(unsigned attempt, dlock_nanos longest, int64_t holder_pttl);

#endif

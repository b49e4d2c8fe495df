#ifndef DLOCK_MEMCACHED_DISCARD_H
#define DLOCK_MEMCACHED_DISCARD_H

#include "conn.h"

/* Deletes keys while no caller waits for it. */

/* A CAS, and the generation of the connection that learned it. It means nothing over another connection. */
typedef struct {
	uint64_t cas; /* 0: not known */
	unsigned long opened;
} dlock_memcached_cas;

/* Deletes the key if its value is `token`, without waiting. Requests are repeated until the server answers, or until
 * `useful_until`. `known` is the key's CAS, if it is known. With `instead`, the key is set to that token for the time
 * that is left. Without memory, the key expires. */
void dlock_memcached_discard_key(dlock_net_pool *pool, dlock_memcached_conn *conn, const dlock_memcached_key *key,
	const char *token, dlock_memcached_cas known, const char *instead, dlock_nanos useful_until);

#endif

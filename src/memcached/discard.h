#ifndef DLOCK_MEMCACHED_DISCARD_H
#define DLOCK_MEMCACHED_DISCARD_H

#include "conn.h"

/* Keys to be discarded, while no caller waits for that. */

/* A CAS, and the generation of the connection over which it was learned: it means nothing over another one. */
typedef struct {
	uint64_t cas; /* 0: not known */
	unsigned long opened;
} dlock_memcached_cas;

/* Deletes the key, if it has this token, without waiting: again and again until the server has answered or its time is
 * over. `known`: the key's CAS, as far as it is known. `instead`: the token that it is to have from then on, for the
 * time that is left, or NULL. Without memory for that, the key is left to its time. */
void dlock_memcached_discard_key(dlock_net_pool *pool, dlock_memcached_conn *conn, const dlock_memcached_key *key,
	const char *token, dlock_memcached_cas known, const char *instead, dlock_nanos useful_until);

#endif

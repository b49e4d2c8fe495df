#ifndef DLOCK_DATABASE_BACKEND_H
#define DLOCK_DATABASE_BACKEND_H

#include "../lock/backend.h"
#include "../net/pool.h"

/* Locks in a database: tables of leases by the server's clock, behind functions (postgresql.sql, mysql.sql).
 * docs/database.md tells what they promise, and what they need from the database. */

/* Makes a back end for this server. The name of a lock is `prefix`, of any bytes, and its resource. Its lease times are
 * DLOCK_TTL_MIN to server->guard. The back end copies `prefix`, and connects on first use. Returns NULL if out of
 * memory. */
dlock_backend *dlock_db_new(dlock_net_pool *pool, dlock_endpoint *server, const char *prefix, size_t prefix_len);

#endif

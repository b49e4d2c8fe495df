#ifndef DLOCK_DATABASE_BACKEND_H
#define DLOCK_DATABASE_BACKEND_H

#include "../lock/backend.h"
#include "../net/pool.h"

/* Locks in a database: tables of leases by the server's clock, behind functions (postgresql.sql, mysql.sql).
 * docs/database.md has what they promise, and what the database has to be like. */

/* `prefix` is put before each resource to make its name. NULL when out of memory. */
dlock_backend *dlock_db_new(dlock_net_pool *pool, dlock_endpoint *server, const char *prefix, size_t prefix_len);

#endif

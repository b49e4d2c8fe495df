#ifndef DLOCK_ZOOKEEPER_BACKEND_H
#define DLOCK_ZOOKEEPER_BACKEND_H

#include "../lock/backend.h"
#include "options.h"
#include "pool.h"

typedef struct {
	const char *hosts;           /* "h1:2181,h2:2181/chroot", checked by dlock_zk_hosts_check() */
	const char *root;            /* "/locks", checked by dlock_zk_root_check() */
	dlock_nanos session_timeout; /* asked for; the ensemble decides */
	const char *auth;            /* "digest:user:password", checked by dlock_zk_auth_check(), or NULL */
} dlock_zk_options;

/* NULL when out of memory. Nothing is connected before the first use.
 *
 * A connection, and a response over it, is waited for as long as the session timeout at most, and for that long even where the wait's
 * deadline is earlier or past. */
dlock_backend *dlock_zookeeper_new(dlock_zk_pool *pool, const dlock_zk_options *options);

#endif

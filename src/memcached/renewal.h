#ifndef DLOCK_MEMCACHED_RENEWAL_H
#define DLOCK_MEMCACHED_RENEWAL_H

#include "../lock/renewer.h"
#include "conn.h"
#include "item.h"

/* Renews leases on memcached for the renewal thread. It uses the CAS, so that of a renewal and a simultaneous change by
 * the holder only one takes effect. */

/* `conn` is the holder's connection. NULL if out of memory. */
dlock_renewal_round *dlock_memcached_round_new(const dlock_memcached_conn *conn, dlock_memcached_item *item);

#endif

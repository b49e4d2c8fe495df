#ifndef DLOCK_MEMCACHED_RENEWAL_H
#define DLOCK_MEMCACHED_RENEWAL_H

#include "../lock/renewer.h"
#include "conn.h"
#include "item.h"

/* How the renewal thread renews a lease on memcached: with its CAS, so that of a renewal and what the holder does at
 * the same time, one counts. */

/* `conn`: the holder's. */
dlock_renewal_round *dlock_memcached_round_new(const dlock_memcached_conn *conn, dlock_memcached_item *item);

#endif

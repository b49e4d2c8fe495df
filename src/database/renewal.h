#ifndef DLOCK_DATABASE_RENEWAL_H
#define DLOCK_DATABASE_RENEWAL_H

#include "../lock/inspection.h"
#include "../lock/renewer.h"
#include "../net/endpoint/endpoint.h"

/* How the renewal thread renews a lease in a database, and says there whose it is. `description` may be NULL. */

dlock_renewal_round *dlock_db_round_new(dlock_endpoint *server, const char *name, size_t name_len, const char *token,
	dlock_description *description);

#endif

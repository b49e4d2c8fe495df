#ifndef DLOCK_REDIS_PERMITS_REPLICATED_REQUESTS_H
#define DLOCK_REDIS_PERMITS_REPLICATED_REQUESTS_H

#include "permits_requests.h"
#include "replicated_requests.h"

/* permits_requests.h for servers that fail over: what is granted depends on the server's era (replicated_requests.h). */

dlock_call *dlock_request_permits_replicated(dlock_keys keys, const dlock_permits_attempt *attempt, dlock_guard guard);

/* Behind the WAIT of one of these, or of an exchange of that `old` id: is it still the era that it was granted in? */
dlock_call *dlock_request_permits_unchanged(dlock_keys keys, const char *id, const char *old, dlock_guard guard);

/* With an inbox, it leaves the queue, too. */
dlock_call *dlock_request_permits_release_replicated(dlock_keys keys, const dlock_permits_attempt *attempt, dlock_guard guard);

/* A lease time of 0 just asks. `shortens`: also where more is left. */
dlock_call *dlock_request_permits_keep(dlock_keys keys, const char *id, dlock_nanos ttl, bool shortens);

/* A lease time of 0: they are given back, and DLOCK_OK means that they were the holder's until then. */
dlock_call *dlock_request_permits_restore(dlock_keys keys, const char *id, int64_t permits, dlock_nanos ttl, int64_t fencing_token, dlock_nanos guard);

/* A release with one key. */
dlock_call *dlock_request_permits_drop(dlock_keys keys, const char *id);

dlock_call *dlock_request_permits_exchange_replicated(dlock_keys keys, const char *old, const char *new_id, int64_t capacity, dlock_guard guard);

#endif

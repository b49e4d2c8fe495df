#ifndef DLOCK_PHP_MANAGER_ACQUIRE_H
#define DLOCK_PHP_MANAGER_ACQUIRE_H

#include "../hold.h"
#include "manager.h"

/* What is asked for. */
typedef struct {
	dlock_nanos ttl;
	bool ttl_given;  /* otherwise it is the manager's */
	int64_t permits; /* 0: as many as each lease of the manager has */
} dlock_terms;

/* How long to wait for a lock. */
typedef struct {
	dlock_nanos timeout; /* DLOCK_FOREVER: without limit */
	unsigned attempts;   /* as in dlock_wait, and so is pause */
	dlock_nanos pause;
} dlock_wait_limit;

/* DLOCK_OK: it is held. DLOCK_INTERRUPTED: a signal handler has thrown. */
dlock_status dlock_manager_acquire(dlock_manager *manager, zend_string *resource, dlock_terms terms,
	dlock_wait_limit limit, dlock_hold **hold, dlock_error *error);

/* The last step before the caller is given a held lock: its renewal starts as the manager has it, and signals that came
 * meanwhile are handled. DLOCK_INTERRUPTED: a handler has thrown. After any status but DLOCK_OK the caller discards
 * it. */
dlock_status dlock_manager_keep(const dlock_manager *manager, dlock_hold *hold, bool ttl_given, dlock_error *error);

#endif

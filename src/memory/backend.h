#ifndef DLOCK_MEMORY_BACKEND_H
#define DLOCK_MEMORY_BACKEND_H

#include "../lock/backend.h"

/* Locks and permits in tables of this process, which its threads share and which end with it. They are for tests of
 * applications and for daemons that are one process. Leases expire, are renewed, handed over and lost as on a server. A
 * forked child begins with empty tables. */

/* Creates a back end on the pools of the table with this name, of `capacity` permits each; with 1 they are locks. A
 * writer acquires DLOCK_PERMITS_ALL. With `fifo` it waits in the order of arrival, otherwise in phases (table.h). NULL
 * if out of memory. */
dlock_backend *dlock_memory_new(
	const char *table, const char *prefix, size_t prefix_len, int64_t capacity, bool fifo);

#endif

#ifndef DLOCK_MEMORY_BACKEND_H
#define DLOCK_MEMORY_BACKEND_H

#include "../lock/backend.h"

/* Locks and permits in a table of this process, shared by its threads and gone with it: for tests of applications, and
 * for daemons that are one process. Everything is as with a server: leases end, are lost, renewed and handed on. A
 * forked child begins with empty tables. */

/* The pools of the table with this name, of `capacity` permits each; of 1 they are locks. `fifo`: a writer, who wants
 * all of DLOCK_PERMITS_ALL, waits in the order of arrival, otherwise in phases. NULL when out of memory. */
dlock_backend *dlock_memory_new(
	const char *table, const char *prefix, size_t prefix_len, int64_t capacity, bool fifo);

#endif

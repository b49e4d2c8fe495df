#ifndef DLOCK_MEMORY_ROOM_H
#define DLOCK_MEMORY_ROOM_H

#include "map.h"

/* All tables of this process, under one mutex. */
typedef struct {
	dlock_memory_map pools;    /* of locks and permits (table.c), by table, a zero byte and key */
	dlock_memory_map products; /* of stocks (stock_table.c), named in the same way */
	/* The last fencing token. */
	int64_t fence;
} dlock_memory_room;

/* Locks the mutex. The caller may use the room until dlock_memory_leave_room(). In a forked child the room is empty. */
dlock_memory_room *dlock_memory_enter(void);
void dlock_memory_leave_room(void);

/* The wall clock: µs since 1970. It never goes back, and dlock_clock_travel() moves it. */
int64_t dlock_memory_time(void);

/* Returns the next fencing token: close to dlock_memory_time(), as on the servers, so that tests of applications see
 * numbers of the usual size. */
int64_t dlock_memory_next_token(dlock_memory_room *room);

#endif

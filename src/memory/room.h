#ifndef DLOCK_MEMORY_ROOM_H
#define DLOCK_MEMORY_ROOM_H

#include "map.h"

/* What all tables of this process are in, below one mutex. */
typedef struct {
	dlock_memory_map pools;    /* of locks and permits (table.c), by table, a zero byte and key */
	dlock_memory_map products; /* of stocks (stock_table.c), in the same way */
	int64_t fence;
} dlock_memory_room;

/* Takes the mutex; what it returns is the caller's until it leaves. A forked child finds an empty room. */
dlock_memory_room *dlock_memory_enter(void);
void dlock_memory_leave_room(void);

/* The wall clock in us, which does not go back and is moved by dlock_clock_travel(). */
int64_t dlock_memory_time(void);

/* About that time, as on the servers, so that an application's tests see numbers of the usual size. */
int64_t dlock_memory_next_token(dlock_memory_room *room);

#endif

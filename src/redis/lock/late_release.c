#include "late_release.h"

#include <stdlib.h>

/* The pause between two attempts while no other master is known, and the longest that one may take. */
#define AGAIN (200 * DLOCK_MS)
#define LIMIT (500 * DLOCK_MS)

typedef struct {
	dlock_owned owned; /* the topology owns it */
	dlock_adopted adopted;
	dlock_task task;
	dlock_masters masters;
	dlock_route route;
	dlock_call *call;
	dlock_error error;
	dlock_nanos until, next;
	int slot;
	dlock_status said;
} late_release;

static void free_one(dlock_owned *owned)
{
	late_release *own = (late_release *) owned;

	dlock_loop_forget(&own->adopted);
	dlock_route_end(&own->route);
	dlock_call_release(own->call);
	free(own);
}

static void done(void *task)
{
	late_release *own = task;

	dlock_topology_disown(own->masters.topology, &own->owned);
	free_one(&own->owned);
}

static void ask(late_release *own, dlock_nanos now)
{
	dlock_route_begin(&own->route, &own->masters, own->slot, &own->error);
	own->route.replicas = 0; /* no client relies on it */
	own->route.until = dlock_after(now, LIMIT);
	dlock_route_send(&own->route, dlock_call_again(own->call), NULL);
}

static dlock_status step(void *task, dlock_loop *loop, dlock_nanos now)
{
	late_release *own = task;

	DLOCK_BEGIN(&own->task);
	do {
		ask(own, now);
		DLOCK_JOIN(&own->task, own->said, dlock_route_step(&own->route, loop, now));
		if (own->said == DLOCK_OK) {
			break;
		}
		dlock_route_end(&own->route);
		own->next = dlock_after(now, AGAIN);
		DLOCK_AWAIT(&own->task, dlock_loop_is_time(loop, own->next, now));
	} while (now < own->until);
	DLOCK_END(&own->task);
	return DLOCK_OK;
}

void dlock_release_late(const dlock_masters *masters, int slot, dlock_call *call, dlock_nanos until)
{
	late_release *own = call ? calloc(1, sizeof *own) : NULL;

	if (!own) {
		if (call) {
			dlock_call_release(call);
		}
		return;
	}
	own->owned.free = free_one;
	own->masters = *masters;
	own->masters.conn = NULL; /* that connection belongs to another owner */
	own->slot = slot;
	own->call = call;
	own->until = until;
	dlock_topology_own(masters->topology, &own->owned);
	dlock_loop_adopt(dlock_pool_loop(masters->pool), &own->adopted, step, done, own);
}

#include "exchange.h"

#include "../../base/wait.h"

enum { AT_ONCE = 64 };

void dlock_exchange(dlock_conn **conns, int count, dlock_nanos until, bool (*settled)(void *context), void *context)
{
	struct pollfd fds[AT_ONCE];
	dlock_conn *polled[AT_ONCE];

	while (!settled(context)) {
		dlock_nanos wake = until;
		int active = 0;

		for (int i = 0; i < count && active < AT_ONCE; i++) {
			if (!conns[i] || !dlock_conn_busy(conns[i])) {
				continue;
			}
			dlock_nanos timer = dlock_conn_timer(conns[i]);
			if (timer < wake) {
				wake = timer;
			}
			polled[active] = conns[i];
			fds[active].fd = dlock_conn_fd(conns[i]);
			fds[active].events = dlock_conn_events(conns[i]);
			fds[active].revents = 0;
			active++;
		}
		if (active == 0) {
			return;
		}
		int ready = dlock_wait_poll(fds, active, wake, NULL);
		for (int i = 0; ready > 0 && i < active; i++) {
			if (fds[i].revents) {
				dlock_conn_advance(polled[i]);
			}
		}
		for (int i = 0; i < active; i++) {
			dlock_conn_expire(polled[i]);
		}
		if (ready == DLOCK_WAIT_TIME && dlock_now() >= until) {
			return;
		}
	}
}

#ifndef DLOCK_WAKEUP_H
#define DLOCK_WAKEUP_H

#include <stdbool.h>

/* Wakes a thread that sleeps in poll() on `read_fd`, from any other thread. */
typedef struct {
	int read_fd, write_fd;
} dlock_wakeup;

/* False, with errno set: the system has no descriptor left. */
bool dlock_wakeup_open(dlock_wakeup *wakeup);
/* Makes `read_fd` readable until dlock_wakeup_clear(). */
void dlock_wakeup_send(const dlock_wakeup *wakeup);
void dlock_wakeup_clear(const dlock_wakeup *wakeup);
void dlock_wakeup_close(dlock_wakeup *wakeup);

#endif

#ifndef DLOCK_WAKEUP_H
#define DLOCK_WAKEUP_H

#include <stdbool.h>

/* Wakes a thread that sleeps in poll(), from any other. */
typedef struct {
	int read_fd, write_fd;
} dlock_wakeup;

bool dlock_wakeup_open(dlock_wakeup *wakeup);
void dlock_wakeup_send(const dlock_wakeup *wakeup);
void dlock_wakeup_clear(const dlock_wakeup *wakeup);
void dlock_wakeup_close(dlock_wakeup *wakeup);

#endif

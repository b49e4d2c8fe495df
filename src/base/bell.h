#ifndef DLOCK_BELL_H
#define DLOCK_BELL_H

#include <stdbool.h>

/* Wakes a thread that sleeps in poll(), from any other. */
typedef struct {
	int read_fd, write_fd;
} dlock_bell;

bool dlock_bell_open(dlock_bell *bell);
void dlock_bell_ring(const dlock_bell *bell);
void dlock_bell_silence(const dlock_bell *bell);
void dlock_bell_close(dlock_bell *bell);

#endif

#include "wakeup.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#if defined(__linux__) && !defined(DLOCK_PORTABLE)
#include <sys/eventfd.h>

bool dlock_wakeup_open(dlock_wakeup *wakeup)
{
	wakeup->read_fd = wakeup->write_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return wakeup->read_fd >= 0;
}

#else

bool dlock_wakeup_open(dlock_wakeup *wakeup)
{
	int fds[2];

	wakeup->read_fd = wakeup->write_fd = -1;
	if (pipe(fds) < 0) {
		return false;
	}
	for (int i = 0; i < 2; i++) {
		fcntl(fds[i], F_SETFD, FD_CLOEXEC);
		fcntl(fds[i], F_SETFL, O_NONBLOCK);
	}
	wakeup->read_fd = fds[0];
	wakeup->write_fd = fds[1];
	return true;
}

#endif

void dlock_wakeup_send(const dlock_wakeup *wakeup)
{
	uint64_t once = 1;

	/* If the descriptor is full, it rings already. */
	ssize_t written = write(wakeup->write_fd, &once, sizeof once);
	(void) written;
}

void dlock_wakeup_clear(const dlock_wakeup *wakeup)
{
	uint64_t rings[16];

	while (read(wakeup->read_fd, rings, sizeof rings) == (ssize_t) sizeof rings) {
	}
}

void dlock_wakeup_close(dlock_wakeup *wakeup)
{
	if (wakeup->read_fd >= 0) {
		close(wakeup->read_fd);
	}
	if (wakeup->write_fd >= 0 && wakeup->write_fd != wakeup->read_fd) {
		close(wakeup->write_fd);
	}
	wakeup->read_fd = wakeup->write_fd = -1;
}

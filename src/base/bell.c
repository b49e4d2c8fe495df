#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* pipe2() */
#endif

#include "bell.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/eventfd.h>

bool dlock_bell_open(dlock_bell *bell)
{
	bell->read_fd = bell->write_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return bell->read_fd >= 0;
}

#else

bool dlock_bell_open(dlock_bell *bell)
{
	int fds[2];

	bell->read_fd = bell->write_fd = -1;
	if (pipe(fds) < 0) {
		return false;
	}
	for (int i = 0; i < 2; i++) {
		fcntl(fds[i], F_SETFD, FD_CLOEXEC);
		fcntl(fds[i], F_SETFL, O_NONBLOCK);
	}
	bell->read_fd = fds[0];
	bell->write_fd = fds[1];
	return true;
}

#endif

void dlock_bell_ring(const dlock_bell *bell)
{
	uint64_t once = 1;

	/* Where it is full, it rings already. */
	ssize_t written = write(bell->write_fd, &once, sizeof once);
	(void) written;
}

void dlock_bell_silence(const dlock_bell *bell)
{
	uint64_t rings[16];

	while (read(bell->read_fd, rings, sizeof rings) == (ssize_t) sizeof rings) {
	}
}

void dlock_bell_close(dlock_bell *bell)
{
	if (bell->read_fd >= 0) {
		close(bell->read_fd);
	}
	if (bell->write_fd >= 0 && bell->write_fd != bell->read_fd) {
		close(bell->write_fd);
	}
	bell->read_fd = bell->write_fd = -1;
}

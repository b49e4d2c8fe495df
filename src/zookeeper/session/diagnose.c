#include "diagnose.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../base/wait.h"

/* The library keeps to itself why a connection fails, so this tries one by hand. A server that has too many connections
 * of this client accepts another one and closes it before anything was said. */
static const char *try_connection(const struct addrinfo *address, dlock_nanos until, char *text, size_t size)
{
	int fd = socket(address->ai_family, SOCK_STREAM, 0), error = 0;
	const char *fault = NULL;
	char byte;

	if (fd < 0) {
		snprintf(text, size, "%s", strerror(errno));
		return text;
	}
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof error;
	if (connect(fd, address->ai_addr, address->ai_addrlen) < 0 && errno != EINPROGRESS) {
		error = errno;
	} else if (dlock_wait_poll(&poll_fd, 1, until, NULL) <= 0) {
		fault = "does not accept the connection";
	} else {
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	}
	/* It may be closed before its result is looked at; a connection that was never made gives other errors. */
	bool closed = error == ECONNRESET || error == EPIPE;
	if (error && !closed) {
		snprintf(text, size, "%s", strerror(error));
		fault = text;
	} else if (!fault) {
		poll_fd.events = POLLIN;
		closed = closed || (dlock_wait_poll(&poll_fd, 1, until, NULL) > 0 && recv(fd, &byte, 1, 0) <= 0);
		fault = closed ? "closes connections as soon as they are made, perhaps because there are too many from this"
			" address: see maxClientCnxns, 60 by default, in the server's configuration"
			: "accepts connections but opens no session";
	}
	close(fd);
	return fault;
}

void dlock_zk_diagnose(const char *expanded, dlock_nanos budget, char *reason, size_t size)
{
	dlock_nanos until = dlock_now() + budget;
	size_t len = strcspn(expanded, ",/"), name_len = len;
	char host[256], port[8], text[128];
	struct addrinfo *address, hints = { .ai_socktype = SOCK_STREAM };

	/* The first host stands for all: one reason to start from is more help than a list. */
	while (name_len > 0 && expanded[name_len - 1] != ':') {
		name_len--;
	}
	snprintf(host, sizeof host, "%.*s", (int) name_len - 1, expanded);
	snprintf(port, sizeof port, "%.*s", (int) (len - name_len), expanded + name_len);
	int failure = getaddrinfo(host, port, &hints, &address);
	if (failure) {
		snprintf(reason, size, "%.100s: %s", host, gai_strerror(failure));
		return;
	}
	snprintf(reason, size, "%.100s:%s: %s", host, port, try_connection(address, until, text, sizeof text));
	freeaddrinfo(address);
}

/* Which address is tried when:
 *
 *   The server has a path or an address: at once; there is nothing else to try until the deadline.
 *   The server has a name: the first of its last good addresses, at once. If they are old, a lookup runs meanwhile. If
 *     there are none, the dial waits for the lookup.
 *   An address refuses: the next one, at once.
 *   An address does not answer: the next one, after half of the time that is left, at least 20 ms. If there is none by
 *     then, the dial keeps this address until the deadline. It looks again after each half of the time that is left.
 *   No address is left: the dial waits for a lookup of all addresses (of IPv6 even if there is IPv4). It fails when the
 *     timeout has passed since that lookup began, because a resolver that hangs would only delay the error.
 *   The deadline comes: the caller gives up, and dlock_dial_delay() says what has not happened.
 *   The socket is connected: a lookup that is under way continues. dlock_dial_take_moved() tells if it does not find
 *     the address again. */

#include "dial.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>
#include <unistd.h>

#include "../base/token.h"
#include "../base/wait.h"

/* The least time for an address that neither accepts nor refuses. If there may be another address, its time is half of
 * what is left. */
#define LEAST_STEP (20 * DLOCK_MS)

/* The pause until a full backlog may have room again: a server that is not busy empties it at once. */
#define PAUSE (2 * DLOCK_MS)
#define PAUSE_JITTER 6000 /* us */

static void note_obstacle(dlock_dial *dial, const char *what)
{
	if (!*dial->obstacle) { /* the first says most: later ones may be of IPv6 on a host without IPv6 */
		snprintf(dial->obstacle, sizeof dial->obstacle, "%s", what);
	}
}

static void close_socket(dlock_dial *dial)
{
	if (dial->has_socket) {
		close(dial->fd);
		dial->has_socket = false;
	}
}

static bool is_in_progress(void)
{
	return errno == EINPROGRESS;
}

/* A program that PHP starts must not keep the connection alive, also if another thread starts it right now. */
static int new_socket(int family)
{
#if defined(SOCK_CLOEXEC) && defined(SOCK_NONBLOCK) && !defined(DLOCK_PORTABLE)
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
	int fd = socket(family, SOCK_STREAM, 0);

	if (fd != -1) {
		fcntl(fd, F_SETFL, O_NONBLOCK);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	}
	return fd;
#endif
}

static void prepare_socket(int fd, bool tcp)
{
	int on = 1;

	if (tcp) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	}
#ifdef SO_NOSIGPIPE
	setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
}

/* Begins to connect. False, with errno set: it has failed. */
static bool open_socket(dlock_dial *dial, const struct sockaddr *address, socklen_t len)
{
	dial->fd = new_socket(address->sa_family);
	dial->has_socket = dial->fd != -1;
	if (!dial->has_socket) {
		return false;
	}
	prepare_socket(dial->fd, address->sa_family != AF_UNIX);
	if (connect(dial->fd, address, len) == 0 || is_in_progress()) {
		return true;
	}
	int cause = errno;
	close_socket(dial);
	errno = cause;
	return false;
}

/* ---- unix sockets ---- */

/* A unix socket connects at once or not at all. If its backlog is full, connect() fails with EAGAIN instead of
 * waiting. */
static dlock_dial_result open_path(dlock_dial *dial)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strncpy(address.sun_path, dial->server->path, sizeof address.sun_path - 1); /* sealed: the path is short enough */
	dial->step = DLOCK_FOREVER;
	dial->full = false;
	if (open_socket(dial, (struct sockaddr *) &address, sizeof address)) {
		return DLOCK_DIAL_GOES_ON;
	}
	dial->full = errno == EAGAIN;
	if (dial->full) {
		dial->step = dlock_now() + PAUSE + dlock_jitter(PAUSE_JITTER) * DLOCK_US;
		return DLOCK_DIAL_GOES_ON;
	}
	note_obstacle(dial, strerror(errno));
	return DLOCK_DIAL_FAILED;
}

/* ---- addresses ---- */

static bool is_exhausted(const dlock_dial *dial)
{
	return dial->tried == dial->addresses.count;
}

/* Adds the addresses that are known by now. Returns whether they are fresh. */
static bool add_known(dlock_dial *dial)
{
	bool fresh = dlock_resolve_add_known(dial->server->host, &dial->addresses, &dial->tried);

	dial->seen = dial->addresses.asked;
	return fresh;
}

/* The same, and begins a lookup if they are old or do not work. */
static void learn(dlock_dial *dial)
{
	char reason[160];

	if (!dial->is_name) {
		return;
	}
	if (dial->lookup && dlock_lookup_has_ended(dial->lookup, reason, sizeof reason)) {
		if (*reason) {
			note_obstacle(dial, reason);
		}
		dlock_lookup_release(dial->lookup);
		dial->lookup = NULL;
	}
	bool fresh = add_known(dial);
	bool all = dial->tried > 0 && is_exhausted(dial);
	if (!dial->lookup && (all ? !dial->asked_all : !dial->asked && (!fresh || dial->addresses.count == 0))) {
		dial->asked = true;
		dial->asked_all = all;
		dial->lookup = dlock_resolve(dial->server->host, all, reason, sizeof reason);
		if (*reason) {
			note_obstacle(dial, reason);
		} else if (!dial->lookup) {
			add_known(dial); /* a lookup of another connection may have ended since the last look */
		}
	}
}

static void set_step(dlock_dial *dial)
{
	dlock_nanos now = dlock_now(), left = dial->deadline - now;

	dial->step = !dial->is_name ? DLOCK_FOREVER : now + (left / 2 > LEAST_STEP ? left / 2 : LEAST_STEP);
}

static bool open_next(dlock_dial *dial)
{
	const char *text = dial->is_name ? dial->addresses.text[dial->tried] : dial->server->host;
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV }, *address;
	char port[8];

	dial->tried++;
	snprintf(port, sizeof port, "%d", dial->server->port);
	int problem = getaddrinfo(text, port, &hints, &address);
	if (problem != 0) {
		note_obstacle(dial, gai_strerror(problem));
		return false;
	}
	bool opened = open_socket(dial, address->ai_addr, (socklen_t) address->ai_addrlen);
	if (!opened) {
		note_obstacle(dial, strerror(errno));
	}
	freeaddrinfo(address);
	set_step(dial);
	return opened;
}

/* Sets the time until which the dial waits for the lookup. False: it does not wait. If the known addresses have failed,
 * a lookup that hangs for longer than the timeout would only delay the error. */
static bool wait_for_lookup(dlock_dial *dial)
{
	if (!dial->lookup) {
		return false;
	}
	dial->step = dial->tried == 0 ? DLOCK_FOREVER : dlock_after(dlock_lookup_begun(dial->lookup), dial->timeout);
	return dlock_now() < dial->step;
}

static dlock_dial_result try_next(dlock_dial *dial)
{
	do {
		learn(dial);
		if (is_exhausted(dial) && wait_for_lookup(dial)) {
			return DLOCK_DIAL_GOES_ON;
		}
		if (is_exhausted(dial)) {
			note_obstacle(dial, "the name was not resolved");
			return DLOCK_DIAL_FAILED;
		}
	} while (!open_next(dial));
	return DLOCK_DIAL_GOES_ON;
}

/* The present address is slow. The dial leaves it only if there is another one. */
static dlock_dial_result try_other(dlock_dial *dial)
{
	learn(dial);
	if (is_exhausted(dial)) {
		set_step(dial);
		return DLOCK_DIAL_GOES_ON;
	}
	note_obstacle(dial, strerror(ETIMEDOUT));
	close_socket(dial);
	return try_next(dial);
}

/* ---- public functions ---- */

dlock_dial_result dlock_dial_begin(dlock_dial *dial, const dlock_endpoint *server, dlock_nanos timeout)
{
	*dial = (dlock_dial) { .server = server, .timeout = timeout, .begun = dlock_now(), .step = DLOCK_FOREVER };
	dial->deadline = dlock_after(dial->begun, timeout);
	if (server->path) {
		return open_path(dial);
	}
	dial->is_name = !dlock_is_address(server->host);
	dial->addresses.count = !dial->is_name; /* the address itself */
	return try_next(dial);
}

int dlock_dial_fd(const dlock_dial *dial)
{
	return dial->has_socket ? (int) dial->fd : dial->lookup ? dlock_lookup_fd(dial->lookup) : -1;
}

short dlock_dial_events(const dlock_dial *dial)
{
	return dial->has_socket ? POLLOUT : dial->lookup ? POLLIN : 0;
}

dlock_dial_result dlock_dial_advance(dlock_dial *dial)
{
	int problem = 0;
	socklen_t len = sizeof problem;

	if (!dial->has_socket && dial->server->path) {
		return dlock_now() < dial->step ? DLOCK_DIAL_GOES_ON : open_path(dial);
	}
	if (!dial->has_socket) {
		return try_next(dial);
	}
	if (!dlock_wait_is_ready(dial->fd, POLLOUT)) {
		return dlock_now() < dial->step ? DLOCK_DIAL_GOES_ON : try_other(dial);
	}
	if (getsockopt(dial->fd, SOL_SOCKET, SO_ERROR, (void *) &problem, &len) != 0) {
		problem = errno;
	}
	if (problem == 0) {
		return DLOCK_DIAL_CONNECTED;
	}
	note_obstacle(dial, strerror(problem));
	close_socket(dial);
	return dial->server->path ? DLOCK_DIAL_FAILED : try_next(dial);
}

const char *dlock_dial_delay(const dlock_dial *dial)
{
	if (dial->has_socket) {
		return "no connection";
	}
	if (dial->full) {
		return "no room in the backlog of its socket";
	}
	return dial->tried == 0 ? "the name was not resolved" : NULL;
}

int dlock_dial_take(dlock_dial *dial)
{
	if (dial->is_name && dial->tried > 1) {
		dlock_resolve_prefer(dial->server->host, dial->addresses.text[dial->tried - 1]);
	}
	dial->has_socket = false;
	dial->outdated = dial->lookup != NULL;
	dlock_dial_end(dial);
	return dial->fd;
}

bool dlock_dial_take_moved(dlock_dial *dial)
{
	dlock_addresses known;

	if (!dial->outdated) {
		return false;
	}
	const char *address = dial->addresses.text[dial->tried - 1];
	dlock_resolve_known(dial->server->host, &known);
	if (known.asked == dial->seen) {
		return false; /* the lookup is still under way */
	}
	dial->outdated = false;
	for (int i = 0; i < known.count; i++) {
		if (!strcmp(known.text[i], address)) {
			return false;
		}
	}
	/* A lookup that finds IPv4 may not have asked for IPv6: then it says nothing of an IPv6 address. */
	return known.count > 0 && (strchr(address, ':') == NULL || strchr(known.text[0], ':') != NULL);
}

void dlock_dial_end(dlock_dial *dial)
{
	close_socket(dial);
	dlock_lookup_release(dial->lookup);
	dial->lookup = NULL;
}

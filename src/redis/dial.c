#include "dial.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#ifndef _WIN32
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#endif

#include "../base/token.h"
#include "../base/wait.h"

/* Where there may be another address, one that neither accepts nor refuses gets half of the time that is left, and at least this. */
#define LEAST_STEP (20 * DLOCK_MS)

/* Until a full backlog may have room again: a server that is not busy empties it at once. */
#define PAUSE (2 * DLOCK_MS)
#define PAUSE_JITTER 6000 /* us */

static void note_obstacle(dlock_dial *dial, const char *what)
{
	if (!*dial->obstacle) { /* the first says most: others may be IPv6 addresses where there is no IPv6 */
		snprintf(dial->obstacle, sizeof dial->obstacle, "%s", what);
	}
}

static void close_socket(dlock_dial *dial)
{
	if (dial->redis) {
		redisFree(dial->redis);
		dial->redis = NULL;
	}
}

static void prepare_socket(int fd, bool tcp)
{
#ifdef _WIN32
	(void) fd, (void) tcp;
#else
	int on = 1;

	fcntl(fd, F_SETFD, FD_CLOEXEC); /* a program that PHP starts must not keep the connection alive */
	if (tcp) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	}
#ifdef SO_NOSIGPIPE
	setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
#endif
}

/* ---- unix sockets ---- */

/* A unix socket is connected at once, or not at all. Where its backlog is full, connect() gives EAGAIN instead of waiting, of which some
 * versions of hiredis make an error and others nothing. */
static bool is_full(const redisContext *redis, int cause)
{
#ifdef _WIN32
	(void) redis, (void) cause;
	return false;
#else
	struct sockaddr_un peer;
	socklen_t len = sizeof peer;

	if (redis->err) {
		return redis->err == REDIS_ERR_IO && cause == EAGAIN;
	}
	return getpeername(redis->fd, (struct sockaddr *) &peer, &len) < 0 && errno == ENOTCONN;
#endif
}

static dlock_dial_result open_path(dlock_dial *dial)
{
	errno = 0;
	dial->redis = redisConnectUnixNonBlock(dial->server->path);
	int cause = errno;
	dial->full = dial->redis && is_full(dial->redis, cause);
	if (dial->full) {
		close_socket(dial);
		dial->step = dlock_now() + PAUSE + dlock_jitter(PAUSE_JITTER) * DLOCK_US;
		return DLOCK_DIAL_GOES_ON;
	}
	dial->step = DLOCK_FOREVER;
	if (!dial->redis || dial->redis->err) {
		note_obstacle(dial, dial->redis ? dial->redis->errstr : "out of memory");
		close_socket(dial);
		return DLOCK_DIAL_FAILED;
	}
	prepare_socket(dial->redis->fd, false);
	return DLOCK_DIAL_GOES_ON;
}

/* ---- addresses ---- */

static bool is_exhausted(const dlock_dial *dial)
{
	return dial->tried == dial->addresses.count;
}

static void add_address(dlock_dial *dial, const char *address)
{
	dlock_addresses *all = &dial->addresses;

	for (int i = 0; i < all->count; i++) {
		if (!strcmp(all->text[i], address)) {
			return;
		}
	}
	if (all->count == DLOCK_MOST_ADDRESSES && dial->tried > 0) { /* tried ones make room */
		memmove(all->text[0], all->text[1], (DLOCK_MOST_ADDRESSES - 1) * sizeof all->text[0]);
		all->count--;
		dial->tried--;
	}
	if (all->count < DLOCK_MOST_ADDRESSES) {
		snprintf(all->text[all->count++], sizeof all->text[0], "%s", address);
	}
}

/* Takes the addresses that are known by now, and begins a look-up where they are old, or do not work. */
static void learn(dlock_dial *dial)
{
	const char *host = dial->server->host;
	dlock_addresses known;
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
	bool fresh = dlock_resolve_known(host, &known);
	dial->seen = known.asked;
	for (int i = 0; i < known.count; i++) {
		add_address(dial, known.text[i]);
	}
	bool all = dial->tried > 0 && is_exhausted(dial);
	if (!dial->lookup && (all ? !dial->asked_all : !dial->asked && (!fresh || known.count == 0))) {
		dial->asked = true;
		dial->asked_all = all;
		dial->lookup = dlock_resolve(host, all, reason, sizeof reason);
		if (*reason) {
			note_obstacle(dial, reason);
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
	const char *address = dial->is_name ? dial->addresses.text[dial->tried] : dial->server->host;

	dial->tried++;
	dial->redis = redisConnectNonBlock(address, dial->server->port);
	if (!dial->redis || dial->redis->err) {
		note_obstacle(dial, dial->redis ? dial->redis->errstr : "out of memory");
		close_socket(dial);
		return false;
	}
	prepare_socket(dial->redis->fd, true);
	set_step(dial);
	return true;
}

/* Sets the time until which the look-up is waited for. False: do not wait. Where the known addresses have failed, a look-up that has been
 * hanging for longer than the timeout would only delay the error. */
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

/* The present address is slow. It is left only where there is another one. */
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

/* ---- from outside ---- */

dlock_dial_result dlock_dial_begin(dlock_dial *dial, const dlock_server *server, dlock_nanos timeout)
{
	*dial = (dlock_dial) { .server = server, .timeout = timeout, .begun = dlock_now(), .step = DLOCK_FOREVER };
	dial->deadline = dlock_after(dial->begun, timeout);
	if (server->path) {
		return open_path(dial);
	}
	dial->is_name = !dlock_is_address(server->host);
	dial->addresses.count = !dial->is_name; /* itself */
	return try_next(dial);
}

int dlock_dial_fd(const dlock_dial *dial)
{
	return dial->redis ? dial->redis->fd : dial->lookup ? dlock_lookup_fd(dial->lookup) : -1;
}

short dlock_dial_events(const dlock_dial *dial)
{
	return dial->redis ? POLLOUT : dial->lookup ? POLLIN : 0;
}

dlock_dial_result dlock_dial_advance(dlock_dial *dial)
{
	int problem = 0;
	socklen_t len = sizeof problem;

	if (!dial->redis && dial->server->path) {
		return dlock_now() < dial->step ? DLOCK_DIAL_GOES_ON : open_path(dial);
	}
	if (!dial->redis) {
		return try_next(dial);
	}
	if (!dlock_wait_is_ready(dial->redis->fd, POLLOUT)) {
		return dlock_now() < dial->step ? DLOCK_DIAL_GOES_ON : try_other(dial);
	}
	if (getsockopt(dial->redis->fd, SOL_SOCKET, SO_ERROR, (void *) &problem, &len) != 0) {
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
	if (dial->redis) {
		return "no connection";
	}
	if (dial->full) {
		return "no room in the backlog of its socket";
	}
	return dial->tried == 0 ? "the name was not resolved" : NULL;
}

redisContext *dlock_dial_take(dlock_dial *dial)
{
	redisContext *redis = dial->redis;

	if (dial->is_name && dial->tried > 1) {
		dlock_resolve_prefer(dial->server->host, dial->addresses.text[dial->tried - 1]);
	}
	dial->redis = NULL;
	dial->outdated = dial->lookup != NULL;
	return redis;
}

bool dlock_dial_check_moved(dlock_dial *dial)
{
	dlock_addresses known;

	if (!dial->outdated) {
		return false;
	}
	const char *address = dial->addresses.text[dial->tried - 1];
	dlock_resolve_known(dial->server->host, &known);
	if (known.asked == dial->seen) {
		return false; /* it is still under way */
	}
	dial->outdated = false;
	for (int i = 0; i < known.count; i++) {
		if (!strcmp(known.text[i], address)) {
			return false;
		}
	}
	/* IPv6 was not asked for where there is IPv4. */
	return known.count > 0 && (strchr(address, ':') == NULL || strchr(known.text[0], ':') != NULL);
}

void dlock_dial_end(dlock_dial *dial)
{
	close_socket(dial);
	dlock_lookup_release(dial->lookup);
	dial->lookup = NULL;
}

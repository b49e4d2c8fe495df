#include "channel.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* without it, the socket has SO_NOSIGPIPE */
#endif

/* The first size of the memory for unsent bytes, and the most that is kept once they are sent. */
enum { LEAST_ROOM = 512, MOST_ROOM = 16 * 1024 };

bool dlock_channel_is_inherited(const dlock_channel *channel)
{
	return channel->process != dlock_process_current();
}

static bool fails(dlock_channel *channel, const char *why)
{
	snprintf(channel->problem, sizeof channel->problem, "%s", why);
	return false;
}

static bool has_socket(const dlock_channel *channel)
{
	return channel->stage >= DLOCK_CHANNEL_SECURING;
}

/* ---- bytes ---- */

static bool would_block(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static char *make_room(dlock_channel *channel, size_t len)
{
	size_t size = channel->out_size ? channel->out_size : LEAST_ROOM;

	while (size - channel->out_len < len) {
		size *= 2;
	}
	char *out = size > channel->out_size ? realloc(channel->out, size) : channel->out;
	if (!out) {
		fails(channel, "out of memory");
		return NULL;
	}
	channel->out = out;
	channel->out_size = size;
	return out + channel->out_len;
}

bool dlock_channel_append(dlock_channel *channel, const void *bytes, size_t len)
{
	if (channel->tls) {
		return dlock_tls_write(channel->tls, bytes, len) || fails(channel, channel->tls->problem);
	}
	char *room = make_room(channel, len);
	if (room) {
		memcpy(room, bytes, len);
		channel->out_len += len;
	}
	return room != NULL;
}

static void free_out(dlock_channel *channel)
{
	free(channel->out);
	channel->out = NULL;
	channel->out_len = channel->out_size = 0;
}

/* Moves the bytes that TLS wants to send to `out`. */
static bool collect(dlock_channel *channel)
{
	for (size_t len; channel->tls && (len = dlock_tls_unsent(channel->tls)) > 0; channel->out_len += len) {
		char *room = make_room(channel, len);
		if (!room) {
			return false;
		}
		dlock_tls_take(channel->tls, room, len);
	}
	return true;
}

bool dlock_channel_flush(dlock_channel *channel)
{
	if (!collect(channel)) {
		return false;
	}
	if (channel->out_len == 0) {
		return true;
	}
	ssize_t done = send(channel->fd, channel->out, channel->out_len, MSG_NOSIGNAL);
	if (done < 0) {
		return would_block() || fails(channel, strerror(errno));
	}
	channel->out_len -= (size_t) done;
	memmove(channel->out, channel->out + done, channel->out_len);
	if (channel->out_len == 0 && channel->out_size > MOST_ROOM) {
		free_out(channel);
	}
	return true;
}

/* Reads from the socket, once. */
static long receive(dlock_channel *channel, char *out, size_t size)
{
	ssize_t got = recv(channel->fd, out, size, 0);

	if (got > 0 || (got < 0 && would_block())) {
		return got > 0 ? got : 0;
	}
	fails(channel, got == 0 ? "the server closed the connection" : strerror(errno));
	return -1;
}

long dlock_channel_read(dlock_channel *channel, char *out, size_t size, bool *more)
{
	long got = *more ? 0 : receive(channel, out, size);

	*more = false;
	if (!channel->tls || got < 0) {
		return got;
	}
	got = dlock_tls_feed(channel->tls, out, (size_t) got) ? dlock_tls_read(channel->tls, out, size) : -1;
	*more = got > 0;
	if (got < 0) {
		fails(channel, channel->tls->problem);
	}
	return got;
}

/* ---- opening ---- */

bool dlock_channel_open(dlock_channel *channel, const dlock_endpoint *server, dlock_nanos timeout_cap)
{
	channel->process = dlock_process_current();
	channel->server = server;
	channel->timeout = dlock_earlier(server->connect_timeout, timeout_cap);
	if (dlock_dial_begin(&channel->dial, server, channel->timeout) == DLOCK_DIAL_FAILED) {
		dlock_dial_end(&channel->dial);
		return fails(channel, channel->dial.obstacle);
	}
	channel->deadline = channel->dial.deadline;
	channel->stage = DLOCK_CHANNEL_DIALING;
	return true;
}

/* The end of the handshake is sent together with the bytes that follow it. */
static dlock_dial_result secure(dlock_channel *channel)
{
	char bytes[16 * 1024];
	long got = receive(channel, bytes, sizeof bytes);

	if (got < 0) {
		return DLOCK_DIAL_FAILED;
	}
	bool good = dlock_tls_feed(channel->tls, bytes, (size_t) got) && dlock_tls_handshake(channel->tls);
	if (good && channel->tls->established) {
		channel->stage = DLOCK_CHANNEL_OPEN;
		return DLOCK_DIAL_CONNECTED;
	}
	dlock_channel_flush(channel); /* sends an alert, too; if that fails, the peer may have said why */
	if (!good) {
		fails(channel, channel->tls->problem);
	}
	return good ? DLOCK_DIAL_GOES_ON : DLOCK_DIAL_FAILED;
}

static dlock_dial_result take_socket(dlock_channel *channel)
{
	channel->fd = dlock_dial_take(&channel->dial);
	/* Once a server has accepted, its full timeout counts, without the cap: another connection would not be faster. */
	channel->deadline += channel->server->connect_timeout - channel->timeout;
	channel->timeout = channel->server->connect_timeout;
	if (!channel->server->tls) {
		channel->stage = DLOCK_CHANNEL_OPEN;
		return DLOCK_DIAL_CONNECTED;
	}
	channel->stage = DLOCK_CHANNEL_SECURING;
	channel->tls = dlock_tls_new(channel->server, channel->problem, sizeof channel->problem);
	return channel->tls ? secure(channel) : DLOCK_DIAL_FAILED;
}

static dlock_dial_result dial(dlock_channel *channel)
{
	dlock_dial_result result = dlock_dial_advance(&channel->dial);

	if (result == DLOCK_DIAL_FAILED) {
		fails(channel, channel->dial.obstacle);
	}
	return result == DLOCK_DIAL_CONNECTED ? take_socket(channel) : result;
}

static void note_delay(dlock_channel *channel)
{
	const char *what = channel->stage == DLOCK_CHANNEL_SECURING ? "no TLS" : dlock_dial_delay(&channel->dial);

	if (what) {
		snprintf(channel->problem, sizeof channel->problem, "%s within %.3g s", what,
			(double) channel->timeout / DLOCK_SECOND);
	} else {
		fails(channel, channel->dial.obstacle);
	}
}

dlock_dial_result dlock_channel_connect(dlock_channel *channel)
{
	dlock_dial_result result = channel->stage == DLOCK_CHANNEL_SECURING ? secure(channel) : dial(channel);

	if (result != DLOCK_DIAL_GOES_ON || dlock_now() < channel->deadline) {
		return result;
	}
	note_delay(channel);
	return DLOCK_DIAL_FAILED;
}

dlock_nanos dlock_channel_timer(const dlock_channel *channel)
{
	switch (channel->stage) {
	case DLOCK_CHANNEL_DIALING:
		return dlock_earlier(channel->dial.step, channel->deadline);
	case DLOCK_CHANNEL_SECURING:
		return channel->deadline;
	default:
		return DLOCK_FOREVER;
	}
}

int dlock_channel_fd(const dlock_channel *channel)
{
	return has_socket(channel) ? channel->fd : dlock_dial_fd(&channel->dial);
}

short dlock_channel_events(const dlock_channel *channel)
{
	return has_socket(channel) ? (short) (channel->out_len > 0 ? POLLIN | POLLOUT : POLLIN)
							   : dlock_dial_events(&channel->dial);
}

bool dlock_channel_take_moved(dlock_channel *channel)
{
	return dlock_dial_take_moved(&channel->dial);
}

/* ---- closing ---- */

static void discard_unsent(int fd)
{
	struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, (const char *) &at_once, sizeof at_once);
#if defined(__linux__) && !defined(DLOCK_PORTABLE)
	struct sockaddr nowhere = { .sa_family = AF_UNSPEC };

	connect(fd, &nowhere, sizeof nowhere);
#endif
}

static void end(dlock_channel *channel, bool discard)
{
	bool is_own = has_socket(channel) && !dlock_channel_is_inherited(channel);

	if (is_own && discard) {
		discard_unsent(channel->fd);
	} else if (is_own && channel->tls && channel->out_len == 0 && dlock_tls_unsent(channel->tls) == 0) {
		dlock_tls_end(channel->tls);
		dlock_channel_flush(channel);
	}
	if (has_socket(channel)) {
		close(channel->fd);
	}
	dlock_dial_end(&channel->dial);
	dlock_tls_free(channel->tls);
	channel->tls = NULL;
	free_out(channel);
	channel->stage = DLOCK_CHANNEL_CLOSED;
	channel->process = dlock_process_current();
}

void dlock_channel_close(dlock_channel *channel)
{
	end(channel, false);
}

void dlock_channel_abort(dlock_channel *channel)
{
	end(channel, true);
}

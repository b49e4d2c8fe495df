/* The bytes of a channel, also bytes that have not reached the peer when the channel ends. Prints TAP. */

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../src/net/channel.h"
#include "helpers.h"
#include "tap.h"

enum { PIECE = 64 * 1024, MOST_PIECES = 1024 };

static dlock_endpoint *server_at(int port)
{
	dlock_endpoint *server = dlock_endpoint_new(DLOCK_SECOND * 30, DLOCK_SECOND * 30);
	dlock_error error;
	char dsn[64];

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d?connect_timeout=30", port);
	bool good = server && dlock_endpoint_parse(server, dsn, strlen(dsn), &error) && dlock_endpoint_seal(server, &error);
	return good ? server : NULL;
}

static bool opens(dlock_channel *channel, const dlock_endpoint *server)
{
	dlock_dial_result result = DLOCK_DIAL_GOES_ON;

	if (!dlock_channel_open(channel, server, DLOCK_FOREVER)) {
		return false;
	}
	while (result == DLOCK_DIAL_GOES_ON) {
		struct pollfd fd = { .fd = dlock_channel_fd(channel), .events = dlock_channel_events(channel) };
		poll(&fd, 1, 30000);
		result = dlock_channel_connect(channel);
	}
	return result == DLOCK_DIAL_CONNECTED;
}

/* Sends until the system accepts no more and bytes remain in the channel. Returns how many the system has accepted. */
static size_t fill(dlock_channel *channel)
{
	static const char piece[PIECE];
	size_t filled = 0;

	while (channel->out_len == 0 && filled < (size_t) MOST_PIECES * PIECE
		&& dlock_channel_append(channel, piece, sizeof piece) && dlock_channel_flush(channel)) {
		filled += sizeof piece;
	}
	return filled - channel->out_len;
}

/* Counts the bytes until the end. -1: a reset. */
static long count_to_end(int fd)
{
	static char piece[PIECE];
	long count = 0;

	for (;;) {
		ssize_t got = read(fd, piece, sizeof piece);
		if (got <= 0) {
			return got == 0 ? count : -1;
		}
		count += got;
	}
}

/* Bytes that are on their way when a channel ends reach the peer if the channel was closed. If it was aborted, they do
 * not, even if a child process has the socket, too. */
static void test_ends(void)
{
	for (int aborted = 0; aborted <= 1; aborted++) {
		int port, listener = listen_anywhere(&port, 4);
		dlock_endpoint *server = server_at(port);
		dlock_channel channel = { .process = dlock_process_current() };
		check(server && opens(&channel, server), "connected");
		int peer = accept(listener, NULL, NULL);
		size_t sent = fill(&channel);
		check(channel.out_len > 0 && dlock_channel_events(&channel) == (POLLIN | POLLOUT), "the peer reads nothing");
		pid_t child = aborted ? fork_child() : -1;
		if (child == 0) {
			sleep_ms(60000);
			_exit(0);
		}
		(aborted ? dlock_channel_abort : dlock_channel_close)(&channel);
		check(channel.stage == DLOCK_CHANNEL_CLOSED && dlock_channel_fd(&channel) == -1, "ended");
		long got = count_to_end(peer);
		check(aborted ? got == -1 : got == (long) sent, "%zu bytes were sent: %ld have reached the peer", sent, got);
		if (child > 0) {
			end_child(child);
		}
		close(peer);
		close(listener);
		dlock_endpoint_release(server);
	}
}

static void test_inherited(void)
{
	int port, listener = listen_anywhere(&port, 4);
	dlock_endpoint *server = server_at(port);
	dlock_channel channel = { .process = dlock_process_current() };
	char byte = 0;
	bool more = false;

	check(server && opens(&channel, server), "connected");
	int peer = accept(listener, NULL, NULL);
	pid_t child = fork_child();
	if (child == 0) {
		bool inherited = dlock_channel_is_inherited(&channel);
		dlock_channel_abort(&channel);
		_exit(!inherited || dlock_channel_is_inherited(&channel));
	}
	check(exit_of(child) == 0, "a child ends its copy");
	check(dlock_channel_append(&channel, "a", 1) && dlock_channel_flush(&channel) && read(peer, &byte, 1) == 1
			&& byte == 'a',
		"the parent's channel still works");
	check(dlock_channel_read(&channel, &byte, 1, &more) == 0 && write(peer, "b", 1) == 1, "no byte has come");
	struct pollfd fd = { .fd = dlock_channel_fd(&channel), .events = POLLIN };
	check(poll(&fd, 1, 30000) == 1 && dlock_channel_read(&channel, &byte, 1, &more) == 1 && byte == 'b' && !more,
		"then a byte");
	close(peer);
	check(poll(&fd, 1, 30000) == 1 && dlock_channel_read(&channel, &byte, 1, &more) == -1
			&& strstr(channel.problem, "closed the connection"),
		"then the end: %s", channel.problem);
	dlock_channel_close(&channel);
	close(listener);
	dlock_endpoint_release(server);
}

static void nothing(void) {}

int main(int argc, char **argv)
{
	static const tap_test tests[] = { TEST(ends), TEST(inherited) };
	static const tap_setting setting = { dlock_process_init, nothing };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

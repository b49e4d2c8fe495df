/* A network with a delay on this machine: a relay in front of each server delays both directions.
 *
 *   delay MICROSECONDS SERVER...      the delay of each direction; a server is "127.0.0.1:PORT"
 *
 * Prints the relays' addresses in one line, and ends when its input ends. It is in C and wakes within microseconds, so
 * that it adds the delay and little else.
 *
 * cc -O2 delay.c -o delay
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST_SERVERS 16
#define MOST_FLOWS 64   /* two for each connection */
#define MOST_PIECES 16  /* of a flow, under way; the socket holds further bytes */

typedef struct {
	int64_t due;
	size_t length;
	char bytes[4096];
} piece;

/* One direction of a connection; unused if `from` is 0. Its other direction is the flow beside it. */
typedef struct {
	int from, to;
	unsigned first, next; /* pieces that are under way, modulo MOST_PIECES */
	piece pieces[MOST_PIECES];
} flow;

static flow flows[MOST_FLOWS];
static int listeners[MOST_SERVERS], ports[MOST_SERVERS], server_count;
static int64_t delay;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static struct sockaddr_in local(int port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons((uint16_t) port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
}

static int new_listener(void)
{
	struct sockaddr_in address = local(0);
	socklen_t length = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *) &address, length) || listen(fd, 128)
		|| getsockname(fd, (struct sockaddr *) &address, &length)) {
		fail("listener");
	}
	printf("127.0.0.1:%d ", ntohs(address.sin_port));
	return fd;
}

static void take_connection(int server)
{
	struct sockaddr_in address = local(ports[server]);
	int client = accept(listeners[server], NULL, NULL), to = socket(AF_INET, SOCK_STREAM, 0), on = 1, i = 0;

	while (i < MOST_FLOWS && flows[i].from) {
		i += 2;
	}
	if (i == MOST_FLOWS || client < 0 || to < 0 || connect(to, (struct sockaddr *) &address, sizeof address)) {
		fail("connection");
	}
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	flows[i].from = flows[i + 1].to = client;
	flows[i].to = flows[i + 1].from = to;
	flows[i].first = flows[i].next = flows[i + 1].first = flows[i + 1].next = 0;
}

static void end_connection(int i)
{
	i &= ~1;
	close(flows[i].from);
	close(flows[i].to);
	flows[i].from = flows[i + 1].from = 0;
}

static int is_empty(const flow *flow) { return flow->next == flow->first; }

/* False after the flow's end, which is a piece of length 0. */
static int has_more(const flow *flow)
{
	return flow->from && flow->next - flow->first < MOST_PIECES
		&& (is_empty(flow) || flow->pieces[(flow->next - 1) % MOST_PIECES].length > 0);
}

static void read_piece(flow *flow)
{
	piece *piece = &flow->pieces[flow->next % MOST_PIECES];
	ssize_t length = read(flow->from, piece->bytes, sizeof piece->bytes);

	piece->length = length > 0 ? (size_t) length : 0;
	piece->due = now() + delay;
	flow->next++;
}

/* Returns when the next piece is due. INT64_MAX: none is under way. */
static int64_t pass_on(int i)
{
	flow *flow = &flows[i];

	while (flow->from && !is_empty(flow)) {
		const piece *piece = &flow->pieces[flow->first % MOST_PIECES];
		if (piece->due > now()) {
			return piece->due;
		}
		flow->first++;
		if (piece->length == 0
			|| send(flow->to, piece->bytes, piece->length, MSG_NOSIGNAL) != (ssize_t) piece->length) {
			end_connection(i);
		}
	}
	return INT64_MAX;
}

/* Waits for input, or until a piece is due. */
static void wait_for_any(struct pollfd *fds, int count, int64_t due)
{
	int64_t left = due - now();
	struct timespec timeout = { left / 1000000000, left % 1000000000 };

	if (due != INT64_MAX && left <= 0) {
		timeout = (struct timespec) { 0, 0 };
	}
	ppoll(fds, (nfds_t) count, due == INT64_MAX ? NULL : &timeout, NULL);
}

int main(int argc, char **argv)
{
	struct pollfd fds[1 + MOST_SERVERS + MOST_FLOWS] = { { STDIN_FILENO, POLLIN, 0 } };

	server_count = argc - 2;
	delay = argc > 2 ? atoll(argv[1]) * 1000 : 0;
	if (delay <= 0 || server_count > MOST_SERVERS) {
		fputs("usage: delay MICROSECONDS SERVER...\n", stderr);
		return 2;
	}
	prctl(PR_SET_TIMERSLACK, 1UL);
	for (int i = 0; i < server_count; i++) {
		const char *colon = strrchr(argv[2 + i], ':');
		ports[i] = colon ? atoi(colon + 1) : 0;
		listeners[i] = new_listener();
		fds[1 + i] = (struct pollfd) { listeners[i], POLLIN, 0 };
	}
	puts("");
	fflush(stdout);

	while (!fds[0].revents) {
		int64_t due = INT64_MAX;
		for (int i = 0; i < MOST_FLOWS; i++) {
			int64_t next = pass_on(i);
			due = next < due ? next : due;
		}
		for (int i = 0; i < MOST_FLOWS; i++) {
			/* ppoll() skips a negative descriptor. */
			fds[1 + server_count + i] = (struct pollfd) { has_more(&flows[i]) ? flows[i].from : -1, POLLIN, 0 };
		}
		wait_for_any(fds, 1 + server_count + MOST_FLOWS, due);
		for (int i = 0; i < server_count; i++) {
			if (fds[1 + i].revents) {
				take_connection(i);
			}
		}
		for (int i = 0; i < MOST_FLOWS; i++) {
			if (fds[1 + server_count + i].revents) {
				read_piece(&flows[i]);
			}
		}
	}
	return 0;
}

#include "relay.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helpers.h"

enum { MOST = 24 };

typedef struct {
	int client, server;
	bool stopped, left, swallows, swallowed; /* left: the client has closed */
	char held[65536];
	size_t held_len;
} stretch;

static int connect_to(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t) port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *) &address, sizeof address) < 0) {
		perror("relay");
		exit(2);
	}
	return fd;
}

static void put(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t written = send(fd, bytes, len, MSG_NOSIGNAL);
		if (written <= 0) {
			return;
		}
		bytes += written;
		len -= (size_t) written;
	}
}

static void hang_up(stretch *link)
{
	shutdown(link->client, SHUT_RDWR); /* a child of the test has a copy of the descriptor */
	shutdown(link->server, SHUT_RDWR);
	close(link->client);
	close(link->server);
	*link = (stretch) { .client = -1, .server = -1 };
}

/* Passes on what the client sends. Bytes of a stopped connection are kept. */
static void to_server(relay *relay, stretch *link)
{
	const char *word = atomic_load(&relay->stop);
	char *bytes = link->held + link->held_len;
	ssize_t len = read(link->client, bytes, sizeof link->held - link->held_len);

	if (len <= 0) {
		link->left = true; /* the held bytes still reach the server */
		if (!link->stopped) {
			hang_up(link);
		}
		return;
	}
	if (!link->stopped && word && memmem(bytes, (size_t) len, word, strlen(word))) {
		link->stopped = true;
		if (atomic_load(&relay->hangs_up)) {
			shutdown(link->client, SHUT_RDWR);
		}
		atomic_fetch_add(&relay->stopped, 1);
	}
	word = atomic_load(&relay->swallow);
	if (word && memmem(bytes, (size_t) len, word, strlen(word))) {
		atomic_store(&relay->swallow, NULL);
		link->swallows = true;
	}
	if (link->stopped) {
		link->held_len += (size_t) len;
		atomic_fetch_add(&relay->held, 1);
	} else {
		put(link->server, bytes, (size_t) len);
	}
}

static void go_on(relay *relay, stretch *link)
{
	if (link->stopped && !atomic_load(&relay->stop)) {
		put(link->server, link->held, link->held_len);
		link->held_len = 0;
		link->stopped = false;
		atomic_fetch_sub(&relay->stopped, 1);
		if (link->left) {
			hang_up(link);
		}
	}
}

static void close_swallowed(relay *relay, stretch *link)
{
	if (link->swallowed && atomic_load(&relay->swallowed) == 0) {
		hang_up(link);
	}
}

static void close_all(stretch *links)
{
	for (int i = 0; i < MOST; i++) {
		if (links[i].client >= 0) {
			hang_up(&links[i]);
		}
	}
}

static void to_client(relay *relay, stretch *link)
{
	char bytes[65536];
	ssize_t len = read(link->server, bytes, sizeof bytes);

	if (len <= 0) {
		hang_up(link);
		return;
	}
	if (link->swallows) {
		if (!link->swallowed) {
			link->swallowed = true;
			atomic_fetch_add(&relay->swallowed, 1);
		}
		if (atomic_load(&relay->hangs_up)) {
			hang_up(link);
		}
		return;
	}
	sleep_ms(atomic_load(&relay->delay_ms));
	put(link->client, bytes, (size_t) len);
}

static void *run(void *context)
{
	relay *relay = context;
	stretch *links = calloc(MOST, sizeof *links);

	for (int i = 0; i < MOST; i++) {
		links[i].client = links[i].server = -1;
	}
	atomic_store(&relay->running, 1);
	while (!atomic_load(&relay->ending)) {
		struct pollfd fds[2 * MOST + 1];
		if (atomic_exchange(&relay->cut, 0)) {
			close_all(links);
		}
		for (int i = 0; i < MOST; i++) {
			go_on(relay, &links[i]);
			close_swallowed(relay, &links[i]);
			fds[2 * i] = (struct pollfd) { .fd = links[i].left ? -1 : links[i].client, .events = POLLIN };
			fds[2 * i + 1] = (struct pollfd) { .fd = links[i].server, .events = POLLIN };
		}
		fds[2 * MOST] = (struct pollfd) { .fd = relay->listener, .events = POLLIN };
		if (poll(fds, 2 * MOST + 1, 5) <= 0) {
			continue;
		}
		for (int i = 0; i < MOST; i++) {
			if (links[i].client >= 0 && fds[2 * i].revents) {
				to_server(relay, &links[i]);
			}
			if (links[i].server >= 0 && fds[2 * i + 1].revents) {
				to_client(relay, &links[i]);
			}
		}
		for (int i = 0; fds[2 * MOST].revents && i < MOST; i++) {
			if (links[i].client < 0) {
				links[i].client = accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC);
				links[i].server = connect_to(atomic_load(&relay->server_port));
				break;
			}
		}
	}
	close_all(links);
	free(links);
	return NULL;
}

void relay_start(relay *relay, int server_port)
{
	memset(relay, 0, sizeof *relay);
	atomic_store(&relay->server_port, server_port);
	relay->listener = listen_anywhere(&relay->port, MOST);
	if (pthread_create(&relay->thread, NULL, run, relay) != 0) {
		perror("relay");
		exit(2);
	}
	/* If a process forks while a thread starts, the allocator's locks may stay locked in the child. */
	while (!atomic_load(&relay->running)) {
		sched_yield();
	}
}

void relay_end(relay *relay)
{
	atomic_store(&relay->ending, 1);
	pthread_join(relay->thread, NULL);
	close(relay->listener);
}

bool is_stopped(void *context)
{
	return atomic_load(&((relay *) context)->stopped) > 0;
}

bool has_swallowed(void *context)
{
	return atomic_load(&((relay *) context)->swallowed) > 0;
}

#include "memcached_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"
#include "servers.h"

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- processes ---- */

static void run(const void *own)
{
	const memcached_server *server = own;
	const char *words[32] = { "memcached", "-u", "root", "-l", "127.0.0.1", "-U", "0", "-p" };
	char port[8];
	int count = 8;

	snprintf(port, sizeof port, "%d", server->port);
	words[count++] = port;
	for (int i = 0; server->options && server->options[i] && count < 31; i++) {
		words[count++] = server->options[i];
	}
	server_execute(words);
}

static int connect_to(int port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t) port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *) &address, sizeof address) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool takes_connections(void *server)
{
	int fd = connect_to(((memcached_server *) server)->port);

	if (fd >= 0) {
		close(fd);
	}
	return fd >= 0;
}

static bool launch(memcached_server *server)
{
	return server_launch(&server->pid, server, run, takes_connections);
}

void memcached_start(memcached_server *server, const char *const *options)
{
	server->options = options;
	for (int i = 0; i < 10; i++) {
		server->port = free_port();
		if (launch(server)) {
			return;
		}
	}
	die("no memcached could be started");
}

void memcached_kill(memcached_server *server)
{
	kill(server->pid, SIGKILL);
	exit_of(server->pid);
	server->pid = 0;
}

void memcached_restart(memcached_server *server)
{
	if (server->pid) {
		memcached_kill(server);
	}
	for (int i = 0; i < 10; i++) {
		if (launch(server)) {
			return;
		}
		sleep_ms(50);
	}
	die("memcached could not be started again");
}

void memcached_freeze(const memcached_server *server)
{
	int status;

	kill(server->pid, SIGSTOP);
	while (waitpid(server->pid, &status, WUNTRACED) == server->pid && !WIFSTOPPED(status)) {
	}
}

void memcached_thaw(const memcached_server *server)
{
	kill(server->pid, SIGCONT);
}

/* Has the system received bytes for the server that it has not read? */
static bool is_asked(void *context)
{
	const memcached_server *server = context;
	FILE *sockets = fopen("/proc/net/tcp", "r");
	char line[256];
	bool asked = false;

	while (sockets && fgets(line, sizeof line, sockets)) {
		unsigned port, state, unread;
		asked |= sscanf(line, " %*d: %*x:%x %*x:%*x %x %*x:%x", &port, &state, &unread) == 3
			&& (int) port == server->port && state == TCP_ESTABLISHED && unread > 0;
	}
	if (sockets) {
		fclose(sockets);
	}
	return asked;
}

pid_t memcached_thaw_when_asked(const memcached_server *server)
{
	pid_t pid = fork_child();

	if (pid == 0) {
		eventually(is_asked, (void *) server);
		memcached_thaw(server);
		_exit(0);
	}
	return pid;
}

/* ---- questions ---- */

const char *memcached_ask(const memcached_server *server, const char *format, ...)
{
	static char text[65536];
	char request[8192];
	size_t len = 0;
	va_list arguments;

	va_start(arguments, format);
	int size = vsnprintf(request, sizeof request - 8, format, arguments);
	va_end(arguments);
	strcpy(request + size, "\r\nmn\r\n");
	int fd = connect_to(server->port);
	if (fd < 0 || send(fd, request, strlen(request), MSG_NOSIGNAL) < 0) {
		die(format);
	}
	for (;;) {
		ssize_t got = recv(fd, text + len, sizeof text - 1 - len, 0);
		if (got <= 0) {
			die(format);
		}
		len += (size_t) got;
		text[len] = '\0';
		if (len >= 4 && !strcmp(text + len - 4, "MN\r\n")) {
			text[len - 4] = '\0';
			close(fd);
			return text;
		}
	}
}

const char *memcached_value(const memcached_server *server, const char *key)
{
	static char value[65536];
	const char *reply = memcached_ask(server, "mg %s v", key), *line = strchr(reply, '\n');

	*value = '\0';
	if (!strncmp(reply, "VA ", 3) && line) {
		snprintf(value, sizeof value, "%.*s", atoi(reply + 3), line + 1);
	}
	return value;
}

long memcached_left(const memcached_server *server, const char *key)
{
	const char *reply = memcached_ask(server, "mg %s t", key);

	return strncmp(reply, "HD t", 4) ? -2 : atol(reply + 4);
}

long memcached_left_at(const memcached_server *server, const char *key, dlock_nanos *at)
{
	for (;;) {
		dlock_nanos asked = dlock_now();
		long left = memcached_left(server, key);
		*at = dlock_now();
		if (*at - asked < 50 * DLOCK_MS) {
			return left;
		}
	}
}

unsigned long long memcached_cas(const memcached_server *server, const char *key)
{
	const char *reply = memcached_ask(server, "mg %s c", key);

	return strncmp(reply, "HD c", 4) ? 0 : strtoull(reply + 4, NULL, 10);
}

pid_t memcached_peer(int *port, const char *first, const char *next)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof address;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(listener, (struct sockaddr *) &address, len) < 0 || listen(listener, 8) < 0
			|| getsockname(listener, (struct sockaddr *) &address, &len) < 0) {
		die("listen");
	}
	*port = ntohs(address.sin_port);
	pid_t pid = fork_child();
	while (pid == 0) {
		char bytes[4096];
		const char *answer = first;
		int fd = accept(listener, NULL, NULL);
		while (recv(fd, bytes, sizeof bytes, 0) > 0) {
			send(fd, answer, strlen(answer), MSG_NOSIGNAL);
			answer = next;
		}
		close(fd);
	}
	close(listener);
	return pid;
}

/* ---- clients ---- */

/* Good enough to tell the texts of a test apart. */
void memcached_digest(const char *text, size_t len, char hex[64 + 1])
{
	for (int part = 0; part < 4; part++) {
		unsigned long long hash = 14695981039346656037ULL + (unsigned) part;
		for (size_t i = 0; i < len; i++) {
			hash = (hash ^ (unsigned char) text[i]) * 1099511628211ULL;
		}
		snprintf(hex + 16 * part, 17, "%016llx", hash);
	}
}

memcached_client memcached_client_at(int port, int read_timeout_ms)
{
	memcached_client client = { calloc(1, sizeof *client.pool), NULL, { "" } };
	dlock_endpoint *server = dlock_endpoint_new((read_timeout_ms + 1000) * DLOCK_MS, read_timeout_ms * DLOCK_MS);
	char dsn[64];

	snprintf(dsn, sizeof dsn, "memcached://127.0.0.1:%d", port);
	if (!dlock_endpoint_parse(server, dsn, strlen(dsn), &client.error) || !dlock_endpoint_seal(server, &client.error)) {
		die(client.error.message);
	}
	client.backend = dlock_memcached_new(
		client.pool, server, MEMCACHED_PREFIX, strlen(MEMCACHED_PREFIX), memcached_digest);
	dlock_endpoint_release(server);
	return client;
}

memcached_client memcached_client_new(int port)
{
	return memcached_client_at(port, 600000);
}

memcached_client memcached_client_in_time(int port)
{
	for (int tries = 0;; tries++) {
		memcached_client client = memcached_client_new(port);
		dlock_nanos start = dlock_now();
		bool passed = memcached_passes(&client, "in time", 0);
		if ((passed && dlock_now() - start < 500 * DLOCK_MS) || tries == 100) {
			return client;
		}
		memcached_client_free(&client);
	}
}

void memcached_client_free(memcached_client *client)
{
	dlock_backend_release(client->backend);
	dlock_net_pool_clear(client->pool);
	free(client->pool);
}

void memcached_client_drain(memcached_client *client)
{
	dlock_net_pool_drain(
		client->pool, dlock_now() + 60 * DLOCK_SECOND); /* it ends as soon as nothing is left to send */
}

dlock_claim *memcached_claim_on(memcached_client *client, const char *resource, int ttl_ms)
{
	return dlock_claim_new(client->backend, resource, strlen(resource), ttl_ms * DLOCK_MS, NULL, &client->error);
}

dlock_status memcached_acquire(memcached_client *client, dlock_claim *claim, int timeout_ms)
{
	dlock_wait wait = { .deadline = timeout_ms < 0 ? DLOCK_FOREVER : dlock_now() + timeout_ms * DLOCK_MS,
		.interrupted = interrupted };

	client->error.message[0] = '\0';
	return dlock_claim_acquire(claim, &wait, &client->error);
}

bool memcached_passes(memcached_client *client, const char *resource, int timeout_ms)
{
	dlock_claim *claim = memcached_claim_on(client, resource, 600000);
	bool good = memcached_acquire(client, claim, timeout_ms) == DLOCK_OK
		&& dlock_claim_release(claim, &client->error) == DLOCK_OK;

	dlock_claim_free(claim);
	return good;
}

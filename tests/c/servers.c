#include "servers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"

enum { MOST_SERVERS = 40 };

static test_server *started[MOST_SERVERS];
static int started_count;
static char base[128];
static bool own_base;
static pid_t owner;

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- directories ---- */

static void remove_file(const char *directory, const char *name)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	unlink(path);
}

static void clean_up(test_server *server)
{
	static const char *names[] = { "log", "s", "nodes.conf", "dump.rdb", "sentinel.conf" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		remove_file(server->directory, names[i]);
	}
	rmdir(server->directory);
}

void servers_stop(void)
{
	if (owner != getpid()) {
		return;
	}
	for (int i = 0; i < started_count; i++) {
		if (started[i]->pid) {
			server_kill(started[i]);
		}
		clean_up(started[i]);
	}
	started_count = 0;
	if (own_base) {
		rmdir(base);
		own_base = false;
	}
}

static void begin(void)
{
	const char *given = getenv("DLOCK_TEST_DIR"), *tmp = getenv("TMPDIR");

	if (owner) {
		return;
	}
	owner = getpid();
	if (given && *given) {
		snprintf(base, sizeof base, "%s", given);
	} else {
		snprintf(base, sizeof base, "%s/dlock-c-XXXXXX", tmp && *tmp ? tmp : "/tmp");
		if (!mkdtemp(base)) {
			die(base);
		}
		own_base = true;
	}
	atexit(servers_stop);
}

/* ---- ports ---- */

int free_port(void)
{
	int port;

	close(listen_anywhere(&port, 1));
	return port;
}

int closed_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *) &address, len) < 0
		|| getsockname(fd, (struct sockaddr *) &address, &len) < 0) {
		die("no port is left");
	}
	return ntohs(address.sin_port);
}

/* ---- processes ---- */

void server_execute(const char *const *words)
{
	int nothing = open("/dev/null", O_RDWR);
	dup2(nothing, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
	for (int fd = STDERR_FILENO + 1; fd < 256; fd++) { /* the server must not keep the test's connections open */
		close(fd);
	}
	unsetenv("LD_PRELOAD"); /* it may name a sanitizer's library, which is for the test */
	execvp(words[0], (char *const *) words);
	_exit(127);
}

/* A Sentinel writes to its configuration, so each start writes the lines again. */
static void run_sentinel(const test_server *server)
{
	char path[256];
	const char *program = getenv("DLOCK_TEST_REDIS_SERVER");
	const char *words[] = { program && *program ? program : "redis-server", path, "--sentinel", NULL };

	snprintf(path, sizeof path, "%s/sentinel.conf", server->directory);
	FILE *file = fopen(path, "w");
	if (!file) {
		_exit(126);
	}
	fprintf(file, "port %d\nbind 127.0.0.1\ndir %s\nlogfile %s/log\n%s", server->port, server->directory,
		server->directory, server->sentinel);
	fclose(file);
	server_execute(words);
}

static void run(const void *own)
{
	const test_server *server = own;
	char port[16], log[256];
	const char *program = getenv("DLOCK_TEST_REDIS_SERVER");
	const char *words[48] = { program && *program ? program : "redis-server", "--port", port, "--bind", "127.0.0.1",
		"--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", server->directory, "--logfile", log,
		"--unixsocket", server->socket };
	int count = 17;

	if (server->sentinel) {
		run_sentinel(server);
	}
	snprintf(port, sizeof port, "%d", server->port);
	snprintf(log, sizeof log, "%s/log", server->directory);
	for (int i = 0; server->options && server->options[i] && count < 47; i++) {
		words[count++] = server->options[i];
	}
	server_execute(words);
}

static bool connect_admin(void *own)
{
	test_server *server = own;
	struct timeval time = { 10, 0 };

	if (server->admin) {
		redisFree(server->admin);
	}
	server->admin = redisConnectWithTimeout("127.0.0.1", server->port, time);
	if (!server->admin || server->admin->err) {
		return false;
	}
	redisSetTimeout(server->admin, time);
	redisReply *reply = server->password ? redisCommand(server->admin, "AUTH %s", server->password)
										 : redisCommand(server->admin, "PING");
	bool good = reply && reply->type == REDIS_REPLY_STATUS;
	if (reply) {
		freeReplyObject(reply);
	}
	return good;
}

bool server_launch(pid_t *pid, void *server, void (*run)(const void *server), bool (*answers)(void *server))
{
	*pid = fork_child();
	if (*pid == 0) {
		run(server);
	}
	for (int i = 0; i < 3000; i++) {
		if (waitpid(*pid, NULL, WNOHANG) == *pid) {
			*pid = 0;
			return false;
		}
		if (answers(server)) {
			return true;
		}
		sleep_ms(5);
	}
	kill(*pid, SIGKILL);
	waitpid(*pid, NULL, 0);
	*pid = 0;
	return false;
}

static bool launch(test_server *server)
{
	return server_launch(&server->pid, server, run, connect_admin);
}

/* A cluster's node also uses the port that is higher by 10000. */
static bool is_usable(const test_server *server, bool is_node)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	if (!is_node || server->port > 65535 - 10000) {
		return !is_node;
	}
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	address.sin_port = htons((uint16_t) (server->port + 10000));
	bool free = bind(fd, (struct sockaddr *) &address, sizeof address) == 0;
	close(fd);
	return free;
}

static void start(test_server *server, bool is_node)
{
	begin();
	for (int i = 0; i < 100; i++) {
		server->port = free_port();
		if (!is_usable(server, is_node)) {
			continue;
		}
		snprintf(server->directory, sizeof server->directory, "%s/redis-%d", base, server->port);
		snprintf(server->socket, sizeof server->socket, "%s/s", server->directory);
		if (mkdir(server->directory, 0700) < 0) {
			continue;
		}
		if (launch(server)) {
			if (started_count == MOST_SERVERS) {
				die("too many servers");
			}
			started[started_count++] = server;
			return;
		}
		clean_up(server);
	}
	die("no redis-server could be started");
}

void server_start(test_server *server, const char *const *options)
{
	*server = (test_server) { .options = options };
	start(server, false);
}

void server_start_secret(test_server *server, const char *const *options, const char *password)
{
	*server = (test_server) { .options = options, .password = password };
	start(server, false);
}

void server_start_node(test_server *server, const char *const *options)
{
	*server = (test_server) { .options = options };
	start(server, true);
}

void server_start_sentinel(test_server *server, const char *lines, const char *password)
{
	*server = (test_server) { .sentinel = lines, .password = password };
	start(server, false);
}

void servers_start(test_server *servers, int count)
{
	for (int i = 0; i < count; i++) {
		server_start(&servers[i], NULL);
	}
}

void server_kill(test_server *server)
{
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
	server->pid = 0;
	if (server->admin) {
		redisFree(server->admin);
		server->admin = NULL;
	}
}

void server_restart(test_server *server)
{
	if (server->pid) {
		server_kill(server);
	}
	for (int i = 0; i < 10; i++) {
		if (launch(server)) {
			return;
		}
		sleep_ms(50);
	}
	die("redis-server could not be started again");
}

void server_freeze(test_server *server)
{
	int status;

	kill(server->pid, SIGSTOP);
	while (waitpid(server->pid, &status, WUNTRACED) == server->pid && !WIFSTOPPED(status)) {
	}
}

void server_thaw(test_server *server)
{
	kill(server->pid, SIGCONT);
}

pid_t server_thaw_later(const test_server *server, int ms)
{
	return signal_later(server->pid, SIGCONT, ms);
}

/* ---- questions ---- */

static redisReply *ask(test_server *server, const char *format, va_list arguments)
{
	va_list again;

	va_copy(again, arguments);
	redisReply *reply = server->admin ? redisvCommand(server->admin, format, arguments) : NULL;
	if (!reply && connect_admin(server)) { /* the test has killed this connection with other ones */
		reply = redisvCommand(server->admin, format, again);
	}
	va_end(again);
	if (!reply) {
		die(format);
	}
	return reply;
}

long long server_integer(test_server *server, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	redisReply *reply = ask(server, format, arguments);
	va_end(arguments);
	long long value = reply->type == REDIS_REPLY_INTEGER ? reply->integer : reply->type == REDIS_REPLY_NIL ? -1
		: reply->type == REDIS_REPLY_ERROR ? -1000 : atoll(reply->str);
	freeReplyObject(reply);
	return value;
}

const char *server_text(test_server *server, const char *format, ...)
{
	static char text[65536];
	va_list arguments;

	va_start(arguments, format);
	redisReply *reply = ask(server, format, arguments);
	va_end(arguments);
	snprintf(
		text, sizeof text, "%s%s", reply->type == REDIS_REPLY_ERROR ? "(error) " : "", reply->str ? reply->str : "");
	freeReplyObject(reply);
	return text;
}

bool server_do(test_server *server, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	redisReply *reply = ask(server, format, arguments);
	va_end(arguments);
	bool good = reply->type != REDIS_REPLY_ERROR;
	if (!good) {
		printf("# %s: %s\n", format, reply->str);
	}
	freeReplyObject(reply);
	return good;
}

long long server_info(test_server *server, const char *section, const char *field)
{
	char line[64];
	const char *colon = strchr(field, ':');

	snprintf(line, sizeof line, "\n%.*s:", (int) (colon ? colon - field : (long) strlen(field)), field);
	const char *at = strstr(server_text(server, "INFO %s", section), line);
	if (!at) {
		return 0;
	}
	at += strlen(line);
	if (colon) {
		const char *end = strchr(at, '\r');
		snprintf(line, sizeof line, "%s=", colon + 1);
		at = strstr(at, line);
		if (!at || at > end) {
			return 0;
		}
		at += strlen(line);
	}
	return atoll(at);
}

void server_reset(test_server *server)
{
	server_do(server, "FLUSHALL");
	server_do(server, "SCRIPT FLUSH");
	server_do(server, "CONFIG RESETSTAT");
}

#ifndef SERVERS_H
#define SERVERS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <sys/types.h>

/* Private Redis servers for a test, on free ports, without persistence. They end with the test, however it ends. A
 * child of fork() has to leave by _exit(). Their data is below $DLOCK_TEST_DIR if that is set. */
typedef struct {
	pid_t pid; /* 0: not running */
	int port;
	char directory[160];
	char socket[176];
	const char *const *options;
	const char *sentinel; /* the lines of a Sentinel's configuration; NULL: it is not a Sentinel */
	const char *password; /* of the default user */
	redisContext *admin;  /* the test's own connection */
} test_server;

/* Options as on the command line, NULL-terminated; NULL: none. If no server can be started, the test exits. */
void server_start(test_server *server, const char *const *options);
void servers_start(test_server *servers, int count);

/* Start a node of a cluster that is created later, and a Sentinel. A restarted Sentinel begins with these lines again.
 * `password` NULL: none. */
void server_start_node(test_server *server, const char *const *options);
void server_start_sentinel(test_server *server, const char *lines, const char *password);

/* The same with the password of the default user, which the options have, too. */
void server_start_secret(test_server *server, const char *const *options, const char *password);

/* Ends the server by SIGKILL. Its data is lost. */
void server_kill(test_server *server);

/* Starts it again on the same port, empty. */
void server_restart(test_server *server);

/* Stops the process before it returns. The system still accepts connections and bytes for it. */
void server_freeze(test_server *server);
void server_thaw(test_server *server);

/* Starts a child that thaws the server after a while. */
pid_t server_thaw_later(const test_server *server, int ms);

/* Deletes the server's keys and scripts, and resets its counters. */
void server_reset(test_server *server);

void servers_stop(void);

/* A port for a server that the caller starts. */
int free_port(void);

/* A port that refuses connections. It stays bound until the test ends, so that no server of another test gets it. */
int closed_port(void);

/* For other kinds of servers. The first becomes that program, without output. The second starts a child, and waits
 * until the server answers. False: it has ended, for example because its port was not free. */
void server_execute(const char *const *words);
bool server_launch(pid_t *pid, void *server, void (*run)(const void *server), bool (*answers)(void *server));

/* Ask the server directly. An error is -1000 or "(error) ...", nil is -1 or "". Text is valid until the next call. */
long long server_integer(test_server *server, const char *format, ...);
const char *server_text(test_server *server, const char *format, ...);
bool server_do(test_server *server, const char *format, ...); /* true: without an error */

/* A number from INFO, or from a field of a line in it ("cmdstat_evalsha:calls"); 0: it is missing. */
long long server_info(test_server *server, const char *section, const char *field);

#endif

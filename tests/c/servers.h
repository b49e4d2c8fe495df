#ifndef SERVERS_H
#define SERVERS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <sys/types.h>

/* Real Redis servers of the test's own, on free ports, without persistence. They do not outlive the test: a child of
 * fork() has to leave by _exit(), and whatever ends the test ends them. Data goes below $DLOCK_TEST_DIR where that is
 * set. */
typedef struct {
	pid_t pid; /* 0: not running */
	int port;
	char directory[160];
	char socket[176];
	const char *const *options;
	const char *sentinel; /* the lines of a Sentinel's configuration; NULL: it is no Sentinel */
	const char *password; /* of the default user */
	redisContext *admin;  /* the test's own connection */
} test_server;

/* Options as on the command line, NULL-terminated; NULL for none. Exits the test when there is no server to be had. */
void server_start(test_server *server, const char *const *options);
void servers_start(test_server *servers, int count);

/* A node of a cluster that is still to be made, and a Sentinel. The latter begins with these lines again when it is
 * restarted. NULL: no password. */
void server_start_node(test_server *server, const char *const *options);
void server_start_sentinel(test_server *server, const char *lines, const char *password);

/* With a password for the default user, which is among the options too. */
void server_start_secret(test_server *server, const char *const *options, const char *password);

/* SIGKILL: it answers no more, and all it knew is lost. */
void server_kill(test_server *server);

/* Again on the same port, empty. */
void server_restart(test_server *server);

/* Stopped when it returns, but the system still takes connections and bytes for it. */
void server_freeze(test_server *server);
void server_thaw(test_server *server);

/* A child that thaws it after a while. */
pid_t server_thaw_later(const test_server *server, int ms);

/* Empty, without scripts, with the default configuration as far as tests change it. */
void server_reset(test_server *server);

void servers_stop(void);

/* A port where nobody listens. */
int closed_port(void);

/* For others that start servers: becomes that program, with its output to nowhere; and runs a child until it takes
 * connections: false when it has ended, so that its port was not free after all. */
void server_execute(const char *const *words);
bool server_launch(pid_t *pid, void *server, void (*run)(const void *server), bool (*answers)(void *server));

/* Ask it directly. Errors give -1000, "(error) ..."; nil gives -1, "". Text is good until the next call. */
long long server_integer(test_server *server, const char *format, ...);
const char *server_text(test_server *server, const char *format, ...);
bool server_do(test_server *server, const char *format, ...); /* without an error */

/* A number from INFO, or from a field of a line in it ("cmdstat_evalsha:calls"); 0 where it is not. */
long long server_info(test_server *server, const char *section, const char *field);

#endif

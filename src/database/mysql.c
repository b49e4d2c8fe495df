#include "client.h"

#include <fcntl.h>
#include <mysql.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/wait.h"
#include "session.h"
#include "sql/sql_text.h"

/* MySQL and MariaDB by libmariadb. This file begins each of its calls and continues it later; for that, the library
 * switches stacks of its own. A link has one call at a time: its query, its result, and the end of what a procedure
 * sends. */

typedef enum {
	MY_CONNECTING,
	MY_SETTING_UP, /* setup[statement] is under way */
	MY_CREATING,   /* a statement of mysql.sql is under way */
	MY_IDLE,
	MY_CALLING,
	MY_UNDOING /* a call has failed, and its transaction may be open: other sessions would wait for its locks */
} my_stage;

/* The part of a statement that is under way. */
typedef enum { MY_QUERY, MY_STORE, MY_NEXT } my_part;

typedef struct {
	dlock_db_link base;
	MYSQL *mysql;
	const dlock_endpoint *server;
	my_stage stage;
	my_part part;
	int statement;
	int waits; /* what the library waits for: MYSQL_WAIT_...; 0: nothing is under way */
	bool read_only, exists;
	char *script, *rest; /* mysql.sql, and the part of it that is not executed yet */
	MYSQL *connected;
	int failed;
	MYSQL_RES *result;
	dlock_db_call *call; /* owned by the session */
	char *text;          /* the text of the statement, which the library may still read */
} my_link;

static const char *const setup[] = {
	"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
	"SET autocommit = 1, time_zone = '+00:00', sql_mode = '', innodb_lock_wait_timeout = 1",
	"DO 0", /* a node that has lost its Galera cluster lets clients in, and refuses this */
	/* mysql.sql creates dlock_assert() last. Each statement of it is a transaction, so it may have been cut short. */
	("SELECT @@global.read_only, (SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = DATABASE()"
	 " AND routine_name = 'dlock_assert')"),
};

enum { SETUPS = sizeof setup / sizeof *setup };

/* ---- messages ---- */

enum { NOT_IN_GALERA_CLUSTER = 1047 };

/* True if the problem may end soon: the server starts or stops, its Galera cluster has no majority, another transaction
 * was in the way, or the statement was woken or took too long (max_statement_time). The last two may come after the
 * COMMIT: since the call is repeated, it counts as one that may have been executed. */
static bool is_transient(unsigned code)
{
	return code == 1053 || code == 1205 || code == 1213 || code == 1317 || code == 1927 || code == 1062 || code == 1969
		|| code == NOT_IN_GALERA_CLUSTER;
}

static const char *advice(unsigned code)
{
	switch (code) {
	case 1305: case 1146:
		return ": run mysql.sql there, or add create=1 to the address";
	case 1370: case 1142: case 1044: case 1227:
		return ": GRANT EXECUTE on the database to the user, or let the owner run mysql.sql";
	case 1290: case 1836: case 1792:
		return ": it is read-only (read_only, or a replica); name all hosts in the address";
	case NOT_IN_GALERA_CLUSTER:
		return ": its Galera cluster has no majority";
	case 1040: case 1203: case 1226:
		return ": raise max_connections; each process that locks has one, and one more while leases are renewed or "
			"it waits";
	case 1021: case 1114:
		return ": its disk is full";
	case 1045: case 1698:
		return ": check user and password";
	default:
		return "";
	}
}

/* The password is looked for in all of the text: a part of it would not be found. */
static void set_problem(my_link *link, const char *text, unsigned code)
{
	char shown[181];

	dlock_endpoint_quote(link->server, text, shown, sizeof shown);
	snprintf(link->base.problem, sizeof link->base.problem, "%s%s", shown, advice(code));
	link->base.transient = is_transient(code);
}

static bool broke(my_link *link)
{
	set_problem(link, mysql_error(link->mysql), mysql_errno(link->mysql));
	if (!*link->base.problem) {
		set_problem(link, "the connection was closed", 0);
	}
	return false;
}

/* ---- the parts of a statement ---- */

static int events_of(my_link *link)
{
	struct pollfd fd = { .fd = mysql_get_socket(link->mysql),
		.events = (short) ((link->waits & MYSQL_WAIT_READ ? POLLIN : 0) | (link->waits & MYSQL_WAIT_WRITE ? POLLOUT : 0)
			| (link->waits & MYSQL_WAIT_EXCEPT ? POLLPRI : 0)) };
	dlock_nanos timeout = 0;

	if (fd.events == 0 || dlock_wait_poll(&fd, 1, timeout, NULL) <= 0) {
		return 0;
	}
	return (fd.revents & (POLLIN | POLLHUP | POLLERR) ? MYSQL_WAIT_READ & link->waits : 0)
		| (fd.revents & (POLLOUT | POLLHUP | POLLERR) ? MYSQL_WAIT_WRITE & link->waits : 0)
		| (fd.revents & POLLPRI ? MYSQL_WAIT_EXCEPT & link->waits : 0);
}

static void begin_statement(my_link *link, const char *text)
{
	link->part = MY_QUERY;
	link->waits = mysql_real_query_start(&link->failed, link->mysql, text, strlen(text));
}

static void free_result(my_link *link)
{
	if (link->result) {
		mysql_free_result(link->result);
		link->result = NULL;
	}
}

static void continue_part(my_link *link, int ready)
{
	switch (link->part) {
	case MY_QUERY:
		link->waits = mysql_real_query_cont(&link->failed, link->mysql, ready);
		break;
	case MY_STORE:
		link->waits = mysql_store_result_cont(&link->result, link->mysql, ready);
		break;
	case MY_NEXT:
		link->waits = mysql_next_result_cont(&link->failed, link->mysql, ready);
	}
}

static void take_row(my_link *link)
{
	MYSQL_ROW row = link->result && mysql_num_rows(link->result) == 1 ? mysql_fetch_row(link->result) : NULL;
	unsigned count = row ? mysql_num_fields(link->result) : 0;

	if (row && link->stage == MY_SETTING_UP && count == 2) {
		link->read_only = row[0] && strcmp(row[0], "0") && strcmp(row[0], "OFF"); /* MariaDB 12.0.1 has words for it */
		link->exists = row[1] && *row[1] != '0';
	}
	if (link->call && count == 1 && dlock_db_signatures[link->call->function].tells) {
		free(link->call->text);
		link->call->text = strdup(row[0] ? row[0] : "");
	}
	for (unsigned i = 0; link->call && i < count && i < DLOCK_DB_MOST_NUMBERS; i++) {
		link->call->answer[i] = row[i] ? strtoll(row[i], NULL, 10) : 0;
		link->call->seen = true;
	}
}

typedef enum { GOES_ON, DONE, REFUSED } my_outcome;

/* Continues the statement until it must wait for the server. REFUSED: the library has the error. */
static my_outcome advance_statement(my_link *link)
{
	for (;;) {
		if (link->waits) {
			int ready = events_of(link);
			if (!ready) {
				return GOES_ON;
			}
			continue_part(link, ready);
			continue;
		}
		switch (link->part) {
		case MY_QUERY:
			if (link->failed) {
				return REFUSED;
			}
			link->part = MY_STORE;
			link->waits = mysql_store_result_start(&link->result, link->mysql);
			break;
		case MY_STORE:
			if (!link->result && mysql_errno(link->mysql)) {
				return REFUSED;
			}
			take_row(link);
			free_result(link);
			if (!mysql_more_results(link->mysql)) {
				return DONE;
			}
			link->part = MY_NEXT;
			link->waits = mysql_next_result_start(&link->failed, link->mysql);
			break;
		case MY_NEXT:
			if (link->failed > 0) {
				return REFUSED;
			}
			link->part = MY_STORE;
			link->waits = mysql_store_result_start(&link->result, link->mysql);
		}
	}
}

/* ---- connecting ---- */

/* The first mysql_init() sets SIGPIPE to be ignored; this restores the earlier action. */
static MYSQL *init(void)
{
	struct sigaction before;
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	sigaction(SIGPIPE, NULL, &before);
	MYSQL *mysql = mysql_init(NULL);
	sigaction(SIGPIPE, &before, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return mysql;
}

static void set_tls(MYSQL *mysql, const dlock_endpoint *server)
{
	my_bool on = 1, verify = server->tls_verify_peer && server->tls_verify_peer_name;

	if (!server->tls) {
		return;
	}
	mysql_ssl_set(mysql, server->tls_key ? server->tls_key : server->tls_cert, server->tls_cert,
		!server->tls_verify_peer   ? NULL /* with a file, the library checks the certificate */
			: server->tls_cafile ? server->tls_cafile
								 : "/etc/ssl/certs/ca-certificates.crt",
		NULL, NULL);
	mysql_optionsv(mysql, MYSQL_OPT_SSL_ENFORCE, &on);
	mysql_optionsv(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
	if (server->tls_passphrase) {
		mysql_optionsv(mysql, MARIADB_OPT_TLS_PASSPHRASE, server->tls_passphrase);
	}
}

/* A program that PHP starts must not keep the session alive. The library does not prevent it. */
static void close_on_exec(const my_link *link)
{
	int fd = mysql_get_socket(link->mysql);

	if (fd >= 0) {
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	}
}

static dlock_db_link *my_open(const dlock_endpoint *server, const char *host, const char *address, int port)
{
	my_link *link = calloc(1, sizeof *link);
	my_bool off = 0;

	if (!link || !(link->mysql = init())) {
		free(link);
		return NULL;
	}
	link->server = server;
	mysql_optionsv(link->mysql, MYSQL_OPT_NONBLOCK, 0);
	mysql_optionsv(link->mysql, MYSQL_OPT_RECONNECT, &off);
	mysql_optionsv(link->mysql, MYSQL_OPT_LOCAL_INFILE, &off);
	mysql_optionsv(link->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	mysql_optionsv(link->mysql, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "dlock");
	if (address) { /* otherwise the library uses a unix socket of its own choice for "localhost" */
		enum mysql_protocol_type tcp = MYSQL_PROTOCOL_TCP;
		mysql_optionsv(link->mysql, MYSQL_OPT_PROTOCOL, &tcp);
	}
	set_tls(link->mysql, server);
	/* The name is resolved by now. If the certificate must have the name, the library resolves it again. */
	bool by_name = address && server->tls && server->tls_verify_peer && server->tls_verify_peer_name;
	link->waits = mysql_real_connect_start(&link->connected, link->mysql, by_name ? host : address,
		server->user, server->password, server->dbname, (unsigned) port, address ? NULL : server->path,
		CLIENT_MULTI_RESULTS);
	close_on_exec(link);
	return &link->base;
}

static int my_fd(const dlock_db_link *base)
{
	return mysql_get_socket(((const my_link *) base)->mysql);
}

static short my_events(const dlock_db_link *base)
{
	const my_link *link = (const my_link *) base;

	return (short) (!link->waits ? POLLIN
			: (link->waits & MYSQL_WAIT_READ ? POLLIN : 0) | (link->waits & MYSQL_WAIT_WRITE ? POLLOUT : 0));
}

static dlock_db_progress refuse(my_link *link)
{
	broke(link);
	return DLOCK_DB_BROKEN;
}

/* Begins the next statement of the script. Returns false if there is none. */
static bool create_next(my_link *link)
{
	char *end = link->rest ? strstr(link->rest, "//\n") : NULL;

	while (end && strspn(link->rest, " \n;") == (size_t) (end - link->rest)) {
		link->rest = end + 3;
		end = strstr(link->rest, "//\n");
	}
	if (!end) {
		return false;
	}
	*end = '\0';
	begin_statement(link, link->rest);
	link->rest = end + 3;
	return true;
}

static dlock_db_progress end_setup(my_link *link)
{
	if (link->read_only) {
		set_problem(link, "it takes no writes", 1290);
		return DLOCK_DB_BROKEN;
	}
	if (!link->exists && link->server->create) {
		link->stage = MY_CREATING;
		link->script = link->rest = strdup(dlock_sql_mysql);
		if (create_next(link)) {
			return DLOCK_DB_GOES_ON;
		}
	}
	link->stage = MY_IDLE;
	return DLOCK_DB_READY;
}

static dlock_db_progress my_connect(dlock_db_link *base)
{
	my_link *link = (my_link *) base;

	if (link->stage == MY_CONNECTING) {
		while (link->waits) {
			int ready = events_of(link);
			if (!ready) {
				return DLOCK_DB_GOES_ON;
			}
			link->waits = mysql_real_connect_cont(&link->connected, link->mysql, ready);
			close_on_exec(link); /* the library may have gone on to another address of the name */
		}
		if (!link->connected) {
			return refuse(link);
		}
		link->stage = MY_SETTING_UP;
		begin_statement(link, setup[0]);
	}
	for (;;) {
		my_outcome outcome = advance_statement(link);
		if (outcome != DONE) {
			return outcome == GOES_ON ? DLOCK_DB_GOES_ON : refuse(link);
		}
		if (link->stage == MY_SETTING_UP && ++link->statement < SETUPS) {
			begin_statement(link, setup[link->statement]);
		} else if (link->stage == MY_SETTING_UP || !create_next(link)) {
			dlock_db_progress progress = link->stage == MY_SETTING_UP ? end_setup(link) : DLOCK_DB_READY;
			if (progress != DLOCK_DB_GOES_ON) {
				link->stage = MY_IDLE;
				return progress;
			}
		}
	}
}

/* ---- calls ---- */

static bool my_has_room(const dlock_db_link *link)
{
	return ((const my_link *) link)->stage == MY_IDLE;
}

/* Writes a text in hexadecimal digits, so that it may have any bytes. */
static size_t put_text(char *out, const char *text, size_t text_len)
{
	size_t len = (size_t) sprintf(out, "x'");

	for (size_t i = 0; i < text_len; i++) {
		len += (size_t) sprintf(out + len, "%02x", (unsigned char) text[i]);
	}
	return len + (size_t) sprintf(out + len, "'");
}

static char *make_text(const dlock_db_call *call)
{
	const dlock_db_signature *signature = &dlock_db_signatures[call->function];
	size_t size = 2 * (call->name_len + sizeof call->token + sizeof call->other + sizeof call->said) + 300, len;
	char *text = malloc(size);

	if (!text) {
		return NULL;
	}
	len = (size_t) snprintf(text, size, "CALL dlock_%s(", signature->name);
	len += put_text(text + len, call->name, call->name_len);
	text[len++] = ',';
	len += put_text(text + len, call->token, strlen(call->token));
	if (signature->texts > 1) {
		text[len++] = ',';
		len += put_text(text + len, call->other, strlen(call->other));
	}
	for (int i = 0; i < signature->numbers; i++) {
		len += (size_t) snprintf(text + len, size - len, ", %lld", (long long) call->numbers[i]);
	}
	if (signature->says) {
		text[len++] = ',';
		len += put_text(text + len, call->said, strlen(call->said));
	}
	snprintf(text + len, size - len, ")");
	return text;
}

static bool my_send(dlock_db_link *base, dlock_db_call *call)
{
	my_link *link = (my_link *) base;

	free(link->text);
	link->text = make_text(call);
	if (!link->text) {
		set_problem(link, "out of memory", 0);
		return false;
	}
	link->call = call;
	link->stage = MY_CALLING;
	begin_statement(link, link->text);
	return true;
}

/* True if the server sent the error. The library's own errors mean that the connection is gone. */
static bool is_of_server(unsigned code)
{
	return code < 2000 || code >= 3000;
}

/* True if the call can succeed only over another session: one with the server that takes writes now. */
static bool is_elsewhere(unsigned code)
{
	return code == 1290 || code == 1836 || code == 1792 || code == NOT_IN_GALERA_CLUSTER;
}

static void note_refusal(my_link *link, my_outcome outcome)
{
	dlock_db_call *call = link->call;

	set_problem(link, outcome == REFUSED ? mysql_error(link->mysql) : "an answer of an unexpected form",
		outcome == REFUSED ? mysql_errno(link->mysql) : 0);
	call->refused = true;
	call->transient = link->base.transient;
	strcpy(call->error.message, link->base.problem);
	link->base.transient = false;
}

static bool my_receive(dlock_db_link *base, dlock_db_session *session)
{
	my_link *link = (my_link *) base;
	char byte;

	if (link->stage == MY_IDLE) { /* without a call, only the end, or what precedes it, can be read */
		bool ended = dlock_wait_is_ready(my_fd(base), POLLIN)
			|| recv(my_fd(base), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
		if (ended) {
			set_problem(link, "the server closed the connection", 0);
		}
		return !ended;
	}
	my_outcome outcome = advance_statement(link);
	unsigned code = outcome == REFUSED ? mysql_errno(link->mysql) : 0;
	if (link->stage == MY_CALLING && outcome == REFUSED && (!is_of_server(code) || is_elsewhere(code))) {
		return broke(link);
	}
	bool failed = link->stage == MY_CALLING && outcome != GOES_ON && (outcome == REFUSED || !link->call->seen);
	bool woken = link->stage == MY_UNDOING && outcome == REFUSED && is_transient(code) && !is_elsewhere(code);
	if (failed) {
		note_refusal(link, outcome);
		link->stage = MY_UNDOING;
	}
	if (failed || woken) {
		begin_statement(link, "ROLLBACK");
		outcome = advance_statement(link);
	}
	if (outcome == GOES_ON) {
		return true;
	}
	if (outcome == REFUSED) {
		broke(link); /* the end of the session undoes the transaction */
	}
	link->stage = MY_IDLE;
	link->call = NULL;
	dlock_db_session_answered(session);
	return outcome == DONE;
}

static bool my_is_ahead(const dlock_db_link *base)
{
	const my_link *link = (const my_link *) base;

	return link->stage >= MY_CALLING && !link->waits;
}

static void free_link(my_link *link)
{
	free(link->script);
	free(link->text);
	free(link);
}

/* In the middle of a call, this drops the library's stack unfinished and tells the server nothing. */
static void my_close(dlock_db_link *base)
{
	my_link *link = (my_link *) base;

	free_result(link);
	if (link->waits) {
		int fd = my_fd(base);
		if (fd >= 0) {
			shutdown(fd, SHUT_RDWR);
		}
	}
	mysql_close(link->mysql);
	free_link(link);
}

/* mysql_close() would end the parent's session. */
static void my_leave(dlock_db_link *base)
{
	int fd = my_fd(base);

	if (fd >= 0) {
		close(fd);
	}
}

const dlock_db_client dlock_db_mysql = {
	.name = "MySQL",
	.open = my_open,
	.connect = my_connect,
	.fd = my_fd,
	.events = my_events,
	.has_room = my_has_room,
	.send = my_send,
	.is_ahead = my_is_ahead,
	.receive = my_receive,
	.close = my_close,
	.leave = my_leave,
};

#include "client.h"

#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/wait.h"
#include "session.h"
#include "sql/sql_text.h"

/* PostgreSQL by libpq, in its pipeline mode. A link sends calls one after the other, each with a Sync behind it, so
 * that each is a transaction of its own. */

typedef struct {
	dlock_db_link base;
	PGconn *conn;
	const dlock_endpoint *server;
	bool dialing, setting_up, creating;
	PostgresPollingStatusType polling;
	unsigned prepared, confirmed; /* a bit for each function: its preparation was requested, was confirmed */
	bool unflushed;
} pg_link;

/* ---- messages ---- */

/* libpq ends its messages with a newline, and some messages have several lines. */
static void set_problem(pg_link *link, const char *text)
{
	size_t len = 0;

	for (; *text && len < sizeof link->base.problem - 1; text++) {
		link->base.problem[len++] = *text == '\n' || *text == '\t' ? ' ' : *text;
	}
	while (len > 0 && link->base.problem[len - 1] == ' ') {
		len--;
	}
	link->base.problem[len] = '\0';
}

/* The password is looked for in all of the text as it came: a part of it, or one with other blanks, would not be
 * found. */
static void set_quoted_problem(pg_link *link, const char *text, const char *what_to_do)
{
	char shown[201], what[sizeof link->base.problem];

	dlock_endpoint_quote(link->server, text, shown, sizeof shown);
	snprintf(what, sizeof what, "%s%s", shown, what_to_do);
	set_problem(link, what);
}

/* True if the problem may end soon: the server starts, stops, recovers or was busy; a transaction was in the way; a
 * statement is unknown. */
static bool is_transient(const char *state)
{
	static const char *const states[] = { "40001", "40P01", "55P03", "57014", "57P01", "57P02", "57P03", "26000" };

	for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
		if (!strcmp(state, states[i])) {
			return true;
		}
	}
	return false;
}

/* PgBouncer refuses startup parameters that it does not know. */
#define BEHIND_POOLER                                                                                                  \
	"a pooler is in front of it, but waiting needs a session of its own: connect to the server"

#define READ_ONLY "25006"

static const char *advice(const char *state)
{
	static const struct {
		const char *state, *text;
	} known[] = {
		{ "3F000", ": run postgresql.sql there, or add create=1 to the address" },
		{ "42883", ": run postgresql.sql there, or add create=1 to the address" },
		{ "42P01", ": run postgresql.sql there, or add create=1 to the address" },
		{ "42501", ": GRANT dlock_user TO the user, or let the owner of the schema run postgresql.sql" },
		{ READ_ONLY, ": it is read-only (default_transaction_read_only, or a standby)" },
		{ "0A000", ": it is a standby; name all hosts in the address" },
		{ "55000", ": it is a standby; name all hosts in the address" },
		{ "53300", ": raise max_connections; each process that locks has one, and one more while leases are renewed" },
		{ "53100", ": its disk is full" },
		{ "28P01", ": check user and password" },
		{ "28000", ": check pg_hba.conf, user and password" },
		{ "08P01", ": " BEHIND_POOLER },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (!strcmp(state, known[i].state)) {
			return known[i].text;
		}
	}
	return "";
}

/* Reads "FATAL:  57P03: the database system is starting up\nLOCATION:  ..." of a connection that was refused. */
static void read_refusal(pg_link *link)
{
	const char *text = PQerrorMessage(link->conn), *found = strstr(text, ":  "), *end = strstr(text, "\nLOCATION:");
	char state[6] = "", *what;

	if (found && strlen(found) > 10 && found[8] == ':'
		&& strspn(found + 3, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5) {
		memcpy(state, found + 3, 5);
		text = found + 10;
	} else if (strstr(text, "session is read-only")) { /* libpq's own words */
		strcpy(state, READ_ONLY);
	}
	size_t len = end && end > text ? (size_t) (end - text) : strlen(text);
	len -= len > 0 && text[len - 1] == '\n';
	what = strndup(text, len);
	set_quoted_problem(link, what ? what : "out of memory", advice(state));
	free(what);
	link->base.transient = is_transient(state);
}

static bool broke(pg_link *link)
{
	set_quoted_problem(link, PQerrorMessage(link->conn), "");
	if (!*link->base.problem) {
		set_problem(link, "the connection was closed");
	}
	return false;
}

/* ---- connecting ---- */

/* Debian's file of all authorities that the system trusts; libpq accepts no directory. */
#define SYSTEM_AUTHORITIES "/etc/ssl/certs/ca-certificates.crt"

static const char *ssl_mode(const dlock_endpoint *server)
{
	return !server->tls                  ? "disable"
		: !server->tls_verify_peer       ? "require"
		: !server->tls_verify_peer_name ? "verify-ca"
										 : "verify-full";
}

static PGconn *start(const dlock_endpoint *server, const char *host, const char *address, int port)
{
	char port_text[8];
	const char *authorities = server->tls_cafile ? server->tls_cafile : SYSTEM_AUTHORITIES;
	const char *const names[] = { "host", "hostaddr", "port", "dbname", "user", "password", "passfile", "sslmode",
		"sslrootcert", "sslcert", "sslkey", "sslpassword", "gssencmode", "client_encoding", "application_name",
		"target_session_attrs", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "options",
		NULL };
	/* libpq reads a value that is missing or empty from the environment, so unused values are set, too. A password is
	 * replaced only if it would come from there: without one, libpq's message says that it is missing. The rest, an
	 * address for a unix socket in PGHOSTADDR, cannot be refused. */
	const char *password = server->password ? server->password : getenv("PGPASSWORD") ? "none" : NULL;
	const char *const values[] = { address ? host : server->path, address, port_text, server->dbname, server->user,
		password, "/dev/null/none", ssl_mode(server),
		server->tls && server->tls_verify_peer ? authorities : "/dev/null/none",
		server->tls_cert ? server->tls_cert : "/dev/null/none", server->tls_key ? server->tls_key : server->tls_cert,
		server->tls_passphrase, "disable", "UTF8", "dlock", "read-write", "1", "10", "5", "3", " ", NULL };

	snprintf(port_text, sizeof port_text, "%d", port);
	return PQconnectStartParams(names, values, 0);
}

/* Without this receiver, libpq prints notices on stderr. */
static void be_silent(void *context, const PGresult *result)
{
	(void) context;
	(void) result;
}

static dlock_db_link *pg_open(const dlock_endpoint *server, const char *host, const char *address, int port)
{
	pg_link *link = calloc(1, sizeof *link);

	if (!link) {
		return NULL;
	}
	link->server = server;
	link->conn = start(server, host, address, port);
	if (!link->conn) {
		free(link);
		return NULL;
	}
	PQsetErrorVerbosity(link->conn, PQERRORS_VERBOSE);
	PQsetNoticeReceiver(link->conn, be_silent, NULL);
	link->dialing = true;
	link->polling = PGRES_POLLING_WRITING;
	return &link->base;
}

static int pg_fd(const dlock_db_link *base)
{
	return PQsocket(((const pg_link *) base)->conn);
}

static short pg_events(const dlock_db_link *base)
{
	const pg_link *link = (const pg_link *) base;

	if (link->dialing) {
		return link->polling == PGRES_POLLING_READING ? POLLIN : POLLOUT;
	}
	return link->unflushed ? POLLIN | POLLOUT : POLLIN;
}

static bool flush(pg_link *link)
{
	int left = PQflush(link->conn);

	link->unflushed = left > 0;
	return left >= 0 || broke(link);
}

/* The index must find the newest row, whatever the planner thinks of a table that has just been emptied. None of these
 * queries is worth a compilation. */
static bool begin_setup(pg_link *link)
{
	char sql[1024];
	long long ms = dlock_db_ms(link->server->read_timeout * 3 / 4); /* so that the server answers in time */

	snprintf(sql, sizeof sql,
		"SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off; SET plan_cache_mode = "
		"force_generic_plan;"
		"SET default_transaction_isolation = 'read committed'; SET client_min_messages = error;"
		"SET lock_timeout = %lld; SET statement_timeout = %lld; SET idle_in_transaction_session_timeout = %lld;"
		"SELECT pg_backend_pid(), to_regclass('%s.locks') IS NOT NULL",
		ms, ms, ms, link->server->schema);
	link->setting_up = true;
	if (PQsetnonblocking(link->conn, 1) != 0 || !PQsendQuery(link->conn, sql)) {
		return broke(link);
	}
	return flush(link);
}

static bool begin_creation(pg_link *link)
{
	char *sql = dlock_db_in_schema(dlock_sql_postgresql, link->server->schema);

	link->creating = true;
	bool sent = sql && PQsendQuery(link->conn, sql);
	free(sql);
	return sent ? flush(link) : broke(link);
}

static bool refuse_result(pg_link *link, const PGresult *result)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

	state = state ? state : "";
	set_quoted_problem(link, text ? text : PQresultErrorMessage(result), advice(state));
	link->base.transient = is_transient(state);
	return false;
}

/* No request of this file has such a result. libpq would return the beginning of a COPY again and again. */
static bool is_unexpected(pg_link *link)
{
	set_problem(link, "an answer of an unexpected form");
	return false;
}

/* A pooler answers for many sessions, and sends a process id of its own. */
static bool check_setup(pg_link *link, const PGresult *row, bool *exists)
{
	if (atoi(PQgetvalue(row, 0, 0)) != PQbackendPID(link->conn)) {
		set_problem(link, BEHIND_POOLER);
		return false;
	}
	*exists = *PQgetvalue(row, 0, 1) == 't';
	return true;
}

static bool take_setup(pg_link *link, const PGresult *result)
{
	bool exists;

	switch (PQresultStatus(result)) {
	case PGRES_TUPLES_OK:
		break;
	case PGRES_COMMAND_OK: case PGRES_EMPTY_QUERY:
		return true;
	case PGRES_FATAL_ERROR:
		return refuse_result(link, result);
	default:
		return is_unexpected(link);
	}
	if (link->creating) {
		return true;
	}
	if (PQntuples(result) != 1 || PQnfields(result) != 2) {
		return is_unexpected(link);
	}
	if (!check_setup(link, result, &exists)) {
		return false;
	}
	link->setting_up = exists || !link->server->create;
	return true;
}

/* Returns false if the link is broken. */
static bool go_on_with_setup(pg_link *link, bool *ready)
{
	if (!PQconsumeInput(link->conn) || !flush(link)) {
		return broke(link);
	}
	while (!PQisBusy(link->conn)) {
		PGresult *result = PQgetResult(link->conn);
		if (!result && !link->setting_up && !link->creating) {
			return begin_creation(link);
		}
		if (!result) {
			*ready = true;
			return PQenterPipelineMode(link->conn) || broke(link);
		}
		bool good = take_setup(link, result);
		PQclear(result);
		if (!good) {
			return false;
		}
	}
	return true;
}

static dlock_db_progress pg_connect(dlock_db_link *base)
{
	pg_link *link = (pg_link *) base;
	bool ready = false;

	if (link->dialing) {
		if (PQstatus(link->conn) == CONNECTION_BAD) {
			read_refusal(link);
			return DLOCK_DB_BROKEN;
		}
		if (!dlock_wait_is_ready(PQsocket(link->conn), pg_events(base))) {
			return DLOCK_DB_GOES_ON;
		}
		link->polling = PQconnectPoll(link->conn);
		if (link->polling == PGRES_POLLING_FAILED) {
			read_refusal(link);
			return DLOCK_DB_BROKEN;
		}
		if (link->polling != PGRES_POLLING_OK) {
			return DLOCK_DB_GOES_ON;
		}
		link->dialing = false;
		if (!begin_setup(link)) {
			return DLOCK_DB_BROKEN;
		}
	}
	if (!go_on_with_setup(link, &ready)) {
		return DLOCK_DB_BROKEN;
	}
	return ready ? DLOCK_DB_READY : DLOCK_DB_GOES_ON;
}

/* ---- calls ---- */

enum { BYTEA = 17, INT8 = 20, TEXT = 25, MOST_PARAMETERS = 1 + 2 + DLOCK_DB_MOST_NUMBERS + 1 };

static bool prepare(pg_link *link, const dlock_db_signature *signature)
{
	Oid types[MOST_PARAMETERS] = { BYTEA };
	int count = 1;
	char sql[256], list[64] = "$1";
	int given = signature->texts + signature->numbers;

	for (int i = 0; i < given + signature->says; i++) {
		types[count++] = i < signature->texts ? TEXT : i < given ? INT8 : BYTEA;
		snprintf(list + strlen(list), sizeof list - strlen(list), ",$%d", count);
	}
	snprintf(sql, sizeof sql, "SELECT * FROM %s.%s(%s)", link->server->schema, signature->name, list);
	return PQsendPrepare(link->conn, signature->name, sql, count, types);
}

static bool send_function(pg_link *link, const dlock_db_call *call)
{
	const dlock_db_signature *signature = &dlock_db_signatures[call->function];
	char numbers[DLOCK_DB_MOST_NUMBERS][24];
	const char *values[MOST_PARAMETERS] = { call->name, call->token, call->other };
	int lengths[MOST_PARAMETERS] = { (int) call->name_len }, formats[MOST_PARAMETERS] = { 1 };
	int count = 1 + signature->texts;

	for (int i = 0; i < signature->numbers; i++) {
		snprintf(numbers[i], sizeof numbers[i], "%lld", (long long) call->numbers[i]);
		values[count++] = numbers[i];
	}
	if (signature->says) {
		values[count] = call->said;
		lengths[count] = (int) strlen(call->said);
		formats[count++] = 1;
	}
	if (!(link->prepared & 1u << call->function)) {
		link->prepared |= 1u << call->function;
		if (!prepare(link, signature)) {
			return false;
		}
	}
	return PQsendQueryPrepared(link->conn, signature->name, count, values, lengths, formats, 0);
}

static bool send_listen(pg_link *link, const dlock_db_call *call)
{
	char sql[sizeof "UNLISTEN " + sizeof call->other];

	snprintf(sql, sizeof sql, "%s %s", call->function == DLOCK_DB_LISTEN ? "LISTEN" : "UNLISTEN", call->other);
	return PQsendQueryParams(link->conn, sql, 0, NULL, NULL, NULL, NULL, 0);
}

static bool pg_has_room(const dlock_db_link *link)
{
	(void) link;
	return true;
}

static bool pg_send(dlock_db_link *base, dlock_db_call *call)
{
	pg_link *link = (pg_link *) base;
	bool listens = call->function == DLOCK_DB_LISTEN || call->function == DLOCK_DB_UNLISTEN;

	if (!(listens ? send_listen(link, call) : send_function(link, call)) || !PQpipelineSync(link->conn)) {
		return broke(link);
	}
	return flush(link);
}

static void take_row(dlock_db_call *call, const PGresult *result)
{
	int count = PQnfields(result);

	if (dlock_db_signatures[call->function].tells) {
		free(call->text);
		call->text = strdup(PQgetvalue(result, 0, 0));
	}
	for (int i = 0; i < count && i < DLOCK_DB_MOST_NUMBERS; i++) {
		call->answer[i] = strtoll(PQgetvalue(result, 0, i), NULL, 10);
	}
	call->seen = true;
}

/* Returns false if the error ends the link. An error that ends the session, or an error of libpq, does not tell whether
 * the call was executed. If the server has become read-only, the call can succeed only over another session: one with
 * the server that takes writes now. */
static bool take_error(pg_link *link, dlock_db_call *call, const PGresult *result)
{
	const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	refuse_result(link, result);
	if (!severity || strcmp(severity, "ERROR") || (state && !strcmp(state, READ_ONLY))) {
		return false;
	}
	strcpy(call->error.message, link->base.problem);
	call->refused = true;
	call->transient = link->base.transient;
	link->base.transient = false;
	link->prepared &= link->confirmed | ~(1u << call->function);
	return true;
}

static void end_call(dlock_db_call *call, dlock_db_session *session)
{
	bool listens = call->function == DLOCK_DB_LISTEN || call->function == DLOCK_DB_UNLISTEN;

	if (!call->seen && !listens && !call->refused) {
		call->refused = true;
		strcpy(call->error.message, "an answer that does not belong to the call");
	}
	dlock_db_session_answered(session);
}

/* Returns false if the link is broken. */
static bool take_result(pg_link *link, dlock_db_session *session, const PGresult *result)
{
	dlock_db_call *call = dlock_db_session_next(session);

	if (!call) {
		set_problem(link, "an answer that nothing was asked for");
		return false;
	}
	switch (PQresultStatus(result)) {
	case PGRES_TUPLES_OK:
		if (PQntuples(result) == 1 && PQnfields(result) > 0) {
			take_row(call, result);
		}
		break;
	case PGRES_COMMAND_OK:
		link->confirmed |= 1u << call->function;
		break;
	case PGRES_FATAL_ERROR:
		return take_error(link, call, result);
	case PGRES_PIPELINE_SYNC:
		end_call(call, session);
		break;
	case PGRES_EMPTY_QUERY: case PGRES_PIPELINE_ABORTED:
		break;
	default:
		return is_unexpected(link);
	}
	return true;
}

static void take_notifications(pg_link *link, dlock_db_session *session)
{
	PGnotify *notification;

	while ((notification = PQnotifies(link->conn))) {
		dlock_db_session_notified(session, notification->extra);
		PQfreemem(notification);
	}
}

static bool pg_receive(dlock_db_link *base, dlock_db_session *session)
{
	pg_link *link = (pg_link *) base;
	bool alive = (PQconsumeInput(link->conn) || broke(link)) && flush(link), ended = false;

	while (!PQisBusy(link->conn) && !ended && dlock_db_session_next(session)) {
		PGresult *result = PQgetResult(link->conn);
		if (!result) { /* the end of one statement, or of all */
			result = PQisBusy(link->conn) ? NULL : PQgetResult(link->conn);
			ended = !result;
		}
		if (result) {
			ended = !take_result(link, session, result);
			alive &= !ended;
			PQclear(result);
		}
	}
	take_notifications(link, session);
	return alive && (PQstatus(link->conn) != CONNECTION_BAD || broke(link));
}

static void pg_close(dlock_db_link *base)
{
	PQfinish(((pg_link *) base)->conn);
	free(base);
}

/* PQfinish() would end the parent's session, and TLS shares state with it. So this frees nothing. */
static void pg_leave(dlock_db_link *base)
{
	close(PQsocket(((pg_link *) base)->conn));
}

const dlock_db_client dlock_db_postgresql = {
	.name = "PostgreSQL",
	.notifies = true,
	.open = pg_open,
	.connect = pg_connect,
	.fd = pg_fd,
	.events = pg_events,
	.has_room = pg_has_room,
	.send = pg_send,
	.receive = pg_receive,
	.close = pg_close,
	.leave = pg_leave,
};

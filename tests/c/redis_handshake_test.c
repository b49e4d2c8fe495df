/* The handshake's question for the server's uptime, among the calls of a connection: when it is asked, that each call
 * still receives its own reply, and how the answer is read. Prints TAP.
 * redis_handshake_test [word in the names of the tests to run] */

#include "../../src/redis/wire/info.h"
#include "redis_client.h"
#include "tap.h"

enum { CALLS = 5 };

static test_server server;

static dlock_conn *conn_by(const char *login, const char *path)
{
	char dsn[96];

	snprintf(dsn, sizeof dsn, "redis://%s127.0.0.1:%d%s", login, server.port, path);
	dlock_endpoint *at = test_server_at(dsn);
	dlock_conn *conn = dlock_conn_new(at);
	dlock_endpoint_release(at);
	return conn;
}

/* Sends ECHO with a word of this number. */
static dlock_call *send_call(dlock_conn *conn, int number, bool needs_uptime)
{
	char word[16];

	snprintf(word, sizeof word, "word-%d", number);
	dlock_arg args[] = { DLOCK_ARG("ECHO"), DLOCK_ARG(word) };
	dlock_call *call = dlock_call_command(args, 2);
	call->needs_uptime = needs_uptime;
	dlock_conn_send(conn, call);
	return call;
}

/* Waits for the reply. True: it is the call's own, and has the server's uptime only if `with_uptime`. */
static bool gets_reply(dlock_conn *conn, dlock_call *call, int number, bool with_uptime)
{
	char word[16];

	snprintf(word, sizeof word, "word-%d", number);
	conn_await(conn, call);
	bool good = call->state == DLOCK_CALL_ANSWERED && call->reply->type == REDIS_REPLY_STRING
		&& !strcmp(call->reply->str, word) && (call->server_started != DLOCK_START_UNKNOWN) == with_uptime;
	if (!good) {
		note("%s: state %d, reply %s, error %s", word, call->state, call->reply ? call->reply->str : "none",
			conn->error.message);
	}
	dlock_call_release(call);
	return good;
}

static bool passes_once(dlock_conn *conn, bool needs_uptime, bool with_uptime)
{
	return gets_reply(conn, send_call(conn, 0, needs_uptime), 0, with_uptime);
}

/* How often was the uptime asked for since the last call? */
static long long questions(void)
{
	long long count = server_info(&server, "commandstats", "cmdstat_info:calls");

	server_do(&server, "CONFIG RESETSTAT"); /* so that this INFO does not count, either */
	return count;
}

/* Does the connection still ask once it has an answer that was read in time? A process that stands still reads late. */
static bool asks_again(dlock_conn *conn)
{
	for (int i = 0; conn->handshake.late && i < 10; i++) {
		passes_once(conn, true, true);
	}
	questions();
	return !passes_once(conn, true, true) || questions() > 0;
}

/* The number of denied commands in the server's ACL log. */
static size_t denied(void)
{
	redisReply *reply = redisCommand(server.admin, "ACL LOG");
	size_t count = reply && reply->type == REDIS_REPLY_ARRAY ? reply->elements : 1000;

	freeReplyObject(reply);
	return count;
}

/* ---- what a server says ---- */

static dlock_uptime read_uptime(int type, const char *text)
{
	redisReply reply = { .type = type, .str = (char *) text, .len = strlen(text) };
	dlock_uptime uptime = { .problem = "" };

	dlock_endpoint *asked = test_server_at("redis://:" SECRET "@127.0.0.1");
	dlock_uptime_read(&uptime, &reply, 900 * DLOCK_SECOND, 1000 * DLOCK_SECOND, asked);
	dlock_endpoint_release(asked);
	return uptime;
}

static void test_answers(void)
{
	static const struct {
		const char *text;
		int64_t started; /* s; -1: unknown */
	} cases[] = {
		{ "# Server\r\nuptime_in_seconds:0\r\nx:1\r\n", 1000 },
		{ "uptime_in_seconds:1\r\n", 1000 },
		{ "a:1\r\nuptime_in_seconds:2", 999 },
		{ "uptime_in_seconds:100\n", 901 },
		{ "uptime_in_seconds:5000\r\n", -3999 },
		{ "uptime_in_seconds:-3\r\n", 1000 },
		{ "xuptime_in_seconds:7\r\nuptime_in_seconds:11\r\n", 990 },
		{ "", -1 },
		{ "xuptime_in_seconds:7\r\n", -1 },
		{ "uptime_in_seconds:\r\n", -1 },
		{ "uptime_in_seconds:7x\r\n", -1 },
		{ "uptime_in_seconds: 7\r\n", -1 },
		{ "uptime_in_seconds:99999999999999999999999\r\n", -1 },
		{ "uptime_in_seconds:1.5\r\n", -1 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dlock_uptime uptime = read_uptime(REDIS_REPLY_STRING, cases[i].text);
		bool unknown = uptime.started == DLOCK_START_UNKNOWN;
		check(cases[i].started == -1 ? unknown && *uptime.problem
									 : uptime.started == cases[i].started * DLOCK_SECOND && !*uptime.problem,
			"answer %zu: %s", i, uptime.problem);
		check(unknown || uptime.started_from == uptime.started - 100 * DLOCK_SECOND,
			"answer %zu: the server may have been started before the question took its time", i);
	}
	dlock_uptime refused = read_uptime(REDIS_REPLY_ERROR, "NOPERM this user has no permissions to run it");
	check(refused.started == DLOCK_START_UNKNOWN
			&& !strcmp(refused.problem, "NOPERM this user has no permissions to run it"),
		"an error: %s", refused.problem);
	check(read_uptime(REDIS_REPLY_STATUS, "OK").started == DLOCK_START_UNKNOWN, "a reply of another type");
}

static void reset(void)
{
	server_reset(&server);
	server_do(&server, "ACL SETUSER locks reset on >" SECRET " ~* &* +@all -info");
	server_do(&server, "ACL SETUSER full reset on >" SECRET " ~* &* +@all");
	server_do(&server, "ACL LOG RESET");
	server_do(&server, "CONFIG RESETSTAT");
}

static void test_new_connection(void)
{
	static const struct {
		const char *login, *path;
	} ways[] = { { "", "" }, { "", "/1" }, { "full:" SECRET "@", "" } };
	dlock_call *calls[CALLS];

	for (int way = 0; way < 3; way++) {
		dlock_conn *conn = conn_by(ways[way].login, ways[way].path);
		int good = 0;
		for (int i = 0; i < CALLS; i++) {
			calls[i] = send_call(conn, i, i >= 2); /* all of them wait for the connection */
		}
		for (int i = 0; i < CALLS; i++) {
			good += gets_reply(conn, calls[i], i, true);
		}
		long long asked = questions();
		check(good == CALLS && asked == 1, "way %d: one question, each call has its reply (%d, %lld questions)", way,
			good, asked);
		check(!asks_again(conn), "the connection does not ask again");
		dlock_conn_free(conn);
	}
}

static void test_among_others(void)
{
	dlock_conn *conn = conn_by("", "");
	dlock_call *calls[CALLS];
	int good = 0;

	check(passes_once(conn, false, false) && questions() == 0, "calls that do not need the uptime do not ask for it");
	server_freeze(&server); /* so that no reply arrives between the calls */
	for (int i = 0; i < CALLS; i++) {
		calls[i] = send_call(conn, i, i == 2 || i == 3);
	}
	check(conn->handshake.ahead == 2, "two calls are ahead of the question");
	server_thaw(&server);
	for (int i = 0; i < CALLS; i++) {
		good += gets_reply(conn, calls[i], i, i >= 2);
	}
	long long asked = questions();
	check(good == CALLS && asked == 1, "one question, each call has its reply (%d, %lld questions)", good, asked);
	check(!asks_again(conn), "the connection does not ask again");
	dlock_conn_close(conn);
	check(passes_once(conn, true, true) && questions() == 1, "the next connection asks again");
	dlock_conn_free(conn);
}

/* The answer stays unread, as in a process that rests. */
static void test_read_late(void)
{
	dlock_conn *conn = conn_by("", "");
	const dlock_uptime *uptime = &conn->handshake.uptime;

	check(passes_once(conn, false, false), "connected");
	dlock_call *call = send_call(conn, 1, true);
	conn->handshake.asked -= 100 * DLOCK_SECOND;
	check(gets_reply(conn, call, 1, true) && uptime->started - uptime->started_from >= 100 * DLOCK_SECOND,
		"the server may have been started a hundred seconds earlier than it seems");
	dlock_nanos started = uptime->started;
	check(questions() == 1 && passes_once(conn, true, true) && questions() == 1, "the next call asks again");
	check(uptime->started <= started && uptime->started_from > started - 100 * DLOCK_SECOND,
		"and both answers together say more");
	check(!asks_again(conn), "the connection knows it now");
	dlock_conn_free(conn);
}

static void test_refused(void)
{
	dlock_conn *conn = conn_by("locks:" SECRET "@", "");
	dlock_call *calls[CALLS];
	int good = 0;

	check(passes_once(conn, false, false) && denied() == 0, "a call that does not need the uptime is not denied");
	check(passes_once(conn, true, false) && strstr(conn->handshake.uptime.problem, "NOPERM"), "refused: %s",
		conn->handshake.uptime.problem);
	check(passes_once(conn, true, false) && denied() > 0, "each call that needs it asks again");
	for (int i = 0; i < CALLS; i++) {
		calls[i] = send_call(conn, i, true);
	}
	for (int i = 0; i < CALLS; i++) {
		good += gets_reply(conn, calls[i], i, false);
	}
	check(good == CALLS, "each call has its reply (%d)", good);
	server_do(&server, "ACL SETUSER locks +info");
	check(passes_once(conn, true, true) && conn->generation == 1,
		"after the user is allowed INFO, the same connection learns the uptime");
	dlock_conn_free(conn);
}

static void begin(void)
{
	server_start(&server, NULL);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(new_connection), TEST(among_others), TEST(read_late), TEST(refused), TEST(answers),
	};
	static const tap_setting setting = { begin, reset };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

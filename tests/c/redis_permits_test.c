/* Requests about permits to a server, and how its replies are read. Prints TAP.
 * redis_permits_test [word in the names of the tests to run] */

#include "../../src/redis/request/permits_requests.h"
#include "one_server.h"

static client asking;
static dlock_error problem;

static const dlock_conn *ask(dlock_call *call)
{
	dlock_conn *conn = client_conn(&asking, 0);

	if (call && dlock_conn_send(conn, call)) {
		conn_await(conn, call);
	}
	return conn;
}

static dlock_permits_response response;

static dlock_status read_by(dlock_permits_reader *reader, dlock_call *call)
{
	const dlock_conn *conn = ask(call);
	dlock_status status = reader(call, conn, &response, &problem);

	dlock_call_release(call);
	return status;
}

static dlock_status read_integer(dlock_call *call, int64_t *value)
{
	dlock_response integer = { 0 };
	const dlock_conn *conn = ask(call);
	dlock_status status = dlock_read_integer(call, conn, &integer, &problem);

	*value = integer.value;
	dlock_call_release(call);
	return status;
}

static void begin(void)
{
	asking = client_of(&server, READ_TIMEOUT);
	warm(&asking);
}

static const dlock_arg pool = { "Semaphore:a", 11 };

static dlock_permits_attempt attempt_of(const char *id, int64_t permits, int64_t capacity)
{
	return (dlock_permits_attempt) { .id = id, .permits = permits, .capacity = capacity, .ttl = 60 * DLOCK_SECOND };
}

static void test_semaphore(void)
{
	dlock_inbox inbox = { .channel = "dlock:inbox:x" };
	dlock_permits_attempt two = attempt_of("first", 2, 3), more = attempt_of("second", 2, 3);
	int64_t value;

	begin();
	check(read_by(dlock_read_permits, dlock_request_permits_acquire(pool, &two)) == DLOCK_OK && response.permits == 2
			&& response.pttl == 60000 && dlock_is_fencing_token(response.fencing_token),
		"a claim acquires two permits of three");
	int64_t token = response.fencing_token;
	check(read_by(dlock_read_permits, dlock_request_permits_acquire(pool, &more)) == DLOCK_LOST
			&& response.refusal.position == -1 && response.refusal.pttl > 15000 && response.refusal.pttl <= 60001,
		"another cannot acquire two more; the first lease ends in 60 s");
	more.inbox = &inbox;
	more.number = 1;
	check(read_by(dlock_read_permits, dlock_request_permits_acquire(pool, &more)) == DLOCK_LOST
			&& response.refusal.position == 0 && response.refusal.ticket > token && response.refusal.new_in_queue == 1,
		"it queues with an inbox");
	more.ticket = response.refusal.ticket;
	check(read_by(dlock_read_permits, dlock_request_permits_acquire(pool, &more)) == DLOCK_LOST
			&& response.refusal.ticket == more.ticket && response.refusal.new_in_queue == 0,
		"it keeps its place");
	check(read_integer(dlock_request_permits_leave(pool, &more), &value) == DLOCK_LOST, "it leaves without permits");
	check(read_integer(dlock_request_permits_renew(pool, "first", 120 * DLOCK_SECOND, true), &value) == DLOCK_OK
			&& read_by(dlock_read_permits_check, dlock_request_permits_check(pool, "first")) == DLOCK_OK
			&& response.permits == 2 && response.pttl > 60000,
		"renewed");
	check(read_integer(dlock_request_permits_renew(pool, "first", 10 * DLOCK_SECOND, true), &value) == DLOCK_OK
			&& read_by(dlock_read_permits_check, dlock_request_permits_check(pool, "first")) == DLOCK_OK
			&& response.pttl > 60000,
		"a renewal for a shorter time changes nothing");
	check(read_by(dlock_read_permits_exchange, dlock_request_permits_exchange(pool, "first", "other")) == DLOCK_OK
			&& response.permits == 2 && response.pttl > 60000 && response.fencing_token > token,
		"the lease is exchanged to another id");
	check(read_by(dlock_read_permits_exchange, dlock_request_permits_exchange(pool, "nobody", "other2")) == DLOCK_LOST,
		"an exchange needs the old id");
	check(read_by(dlock_read_permits_check, dlock_request_permits_check(pool, "first")) == DLOCK_LOST
			&& response.permits == 0,
		"the old id holds nothing now");
	check(
		read_integer(dlock_request_permits_release(pool, &(dlock_permits_attempt){ .id = "other" }), &value) == DLOCK_OK
			&& value == 1,
		"released");
	check(read_integer(dlock_request_permits_release(pool, &(dlock_permits_attempt){ .id = "other" }), &value)
			== DLOCK_LOST,
		"a second release finds nothing");
	client_free(&asking);
}

static dlock_status request(const char *id, int64_t permits, int64_t capacity, const dlock_inbox *inbox)
{
	dlock_permits_attempt attempt = attempt_of(id, permits, capacity);

	attempt.inbox = inbox;
	attempt.number = 1;
	return read_by(dlock_read_permits, dlock_request_permits_acquire(pool, &attempt));
}

/* Many requests for a permit that wait. */
static void many_wait(int count, int64_t capacity, const dlock_inbox *inbox)
{
	char id[16];

	for (int i = 0; i < count; i++) {
		snprintf(id, sizeof id, "w%d", i);
		request(id, 1, capacity, inbox);
		keep_waiters(&server, "Semaphore:a");
	}
}

/* A program with more capacity is deployed beside an old one, of which many wait. */
static void test_capacity_of_many_waiters(void)
{
	dlock_inbox inbox = { .channel = "dlock:inbox:x" };
	int64_t value;

	begin();
	redisContext *listener = redisConnect("127.0.0.1", server.port);
	freeReplyObject(redisCommand(listener, "SUBSCRIBE %s", inbox.channel));
	check(request("old", 5, 5, NULL) == DLOCK_OK, "five permits of five");
	many_wait(40, 5, &inbox);
	check(server_integer(&server, "ZCOUNT Semaphore:a 1e15 4e15") == 40, "40 requests wait");
	check(request("new", 5, 10, NULL) == DLOCK_OK, "a request with a higher capacity passes them");
	check(request("last", 1, 10, &inbox) == DLOCK_LOST && response.refusal.position == 40, "the next one waits");
	keep_waiters(&server, "Semaphore:a");
	check(read_integer(dlock_request_permits_release(pool, &(dlock_permits_attempt){ .id = "new" }), &value) == DLOCK_OK
			&& server_integer(&server, "ZSCORE Semaphore:a hlast") > 0
			&& server_integer(&server, "ZCOUNT Semaphore:a 1e15 4e15") == 40,
		"it is served when the others of its capacity release");
	redisFree(listener);
	client_free(&asking);
}

static long long pages_read(void)
{
	return server_info(&server, "commandstats", "cmdstat_zrangebyscore:calls");
}

/* A program with less capacity is deployed, and many of its processes wait. */
static void test_capacity_that_becomes_lower(void)
{
	dlock_inbox inbox = { .channel = "dlock:inbox:x" };
	dlock_permits_attempt ten = attempt_of("old", 10, 10);
	int64_t value;

	begin();
	check(request("holder", 1, 1, NULL) == DLOCK_OK, "a permit of one");
	many_wait(500, 1, &inbox);
	ten.inbox = &inbox;
	ten.number = 1;
	check(read_by(dlock_read_permits, dlock_request_permits_acquire(pool, &ten)) == DLOCK_LOST
			&& response.refusal.position == 500,
		"behind 500 requests, one with a higher capacity waits");
	ten.ticket = response.refusal.ticket;
	check(server_do(&server, "ZADD Semaphore:a 10 $used"), "no permit is free for it");
	long long pages = pages_read();
	check(read_by(dlock_read_permits, dlock_request_permits_acquire(pool, &ten)) == DLOCK_LOST
			&& pages_read() - pages < 6,
		"its sign of life does not read the queue");
	check(server_do(&server, "ZADD Semaphore:a 1 $used")
			&& read_integer(dlock_request_permits_leave(pool, &ten), &value) == DLOCK_LOST
			&& server_integer(&server, "ZSCORE Semaphore:a $most") == 1,
		"when it leaves, the highest capacity of the others is found");
	pages = pages_read();
	check(read_integer(dlock_request_permits_leave(pool, &ten), &value) == DLOCK_LOST && pages_read() - pages < 6,
		"the next script does not read the queue");
	client_free(&asking);
}

/* WAIT confirms nothing of an answer that wrote nothing. */
static void test_restoring_writes(void)
{
	static const char settling[] = "local id = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')\n"
								   "local settles = redis.call('TIME')[1] * 1000 + 1000000\n"
								   "return redis.call('SET', 'dlock:era', string.format('%s 60000 %.0f 60000 0 0 0  ',"
								   " id, settles))";
	dlock_arg locks[]
		= { DLOCK_ARG("a"), DLOCK_ARG("qa"), DLOCK_ARG("wa"), DLOCK_ARG("fence"), DLOCK_ARG("dlock:era") };
	dlock_keys keys = { .lock = pool }, lock = { .lock = DLOCK_ARG("Lock:a") };
	int64_t value;

	begin();
	check(server_do(&server, "EVAL %s 0", settling), "the epoch settles");
	dlock_call *calls[] = { dlock_request_restore(lock, "t", 0, 12, 60 * DLOCK_SECOND),
		dlock_request_restore(lock, "t", 0, 12, 60 * DLOCK_SECOND), /* the first one may note something else */
		dlock_request_several_restore(locks, 5, "t", 0, 12, 60 * DLOCK_SECOND),
		dlock_request_permits_restore(keys, "gone", 0, 12, 60 * DLOCK_SECOND, 1) };
	for (int i = 0; i < 4; i++) {
		long long before = server_info(&server, "persistence", "rdb_changes_since_last_save");
		check(read_integer(calls[i], &value) == DLOCK_OK && value == 1
				&& server_info(&server, "persistence", "rdb_changes_since_last_save") > before,
			"what was held until now is released by a script that writes");
	}
	client_free(&asking);
}

static void test_read_write(void)
{
	dlock_inbox inbox = { .channel = "dlock:inbox:x" };
	dlock_permits_attempt reader = attempt_of("reader", 1, DLOCK_PERMITS_ALL),
						  writer = attempt_of("writer", DLOCK_PERMITS_ALL, DLOCK_PERMITS_ALL);
	int64_t value;

	begin();
	check(read_by(dlock_read_permits, dlock_request_permits_acquire(pool, &reader)) == DLOCK_OK, "a reader");
	writer.inbox = &inbox;
	check(read_by(dlock_read_permits, dlock_request_permits_acquire(pool, &writer)) == DLOCK_LOST
			&& response.refusal.position == 0,
		"a writer waits");
	check(server_integer(&server, "ZSCORE Semaphore:a $queue") == -1
			|| !strcmp(server_text(&server, "ZSCORE Semaphore:a $queue"), "-2"),
		"the pool has read/write phases");
	check(read_integer(dlock_request_permits_release(pool, &writer), &value) == DLOCK_LOST
			&& server_integer(&server, "ZCOUNT Semaphore:a 1e15 +inf") == 0,
		"it leaves the queue");
	writer.fifo = true;
	check(read_by(dlock_read_permits, dlock_request_permits_acquire(pool, &writer)) == DLOCK_LOST
			&& server_integer(&server, "ZCOUNT Semaphore:a 1e15 4e15") == 1,
		"a fifo writer queues in the order of tickets");
	client_free(&asking);
}

/* Like Redis 6.0, this server does not know ZMSCORE. */
static void test_old_server(void)
{
	static test_server old;
	dlock_permits_attempt two = attempt_of("first", 2, 3);

	server_start(&old, (const char *const[]) { "--rename-command", "ZMSCORE", "", NULL });
	asking = client_of(&old, READ_TIMEOUT);
	check(read_by(dlock_read_permits, dlock_request_permits_acquire(pool, &two)) == DLOCK_CONNECTION
			&& strstr(problem.message, "permits need Redis 6.2"),
		"%s", problem.message);
	client_free(&asking);
	server_kill(&old);
}

static void test_other_key(void)
{
	dlock_permits_attempt two = attempt_of("first", 2, 3);

	begin();
	check(server_do(&server, "SET Semaphore:a text")
			&& read_by(dlock_read_permits, dlock_request_permits_acquire(pool, &two)) == DLOCK_CONNECTION
			&& strstr(problem.message, "used for something else"),
		"%s", problem.message);
	client_free(&asking);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = { TEST(semaphore), TEST(capacity_of_many_waiters),
		TEST(capacity_that_becomes_lower), TEST(restoring_writes), TEST(read_write), TEST(old_server),
		TEST(other_key) };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &one_server);
}

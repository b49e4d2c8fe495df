/* The fencing tokens of the quorum back end. Prints TAP. */

#include "helpers.h"
#include "quorum_servers.h"

#define FUTURE 4102444800000000LL /* later than any clock, so that clocks do not matter */

static int64_t fence(int server)
{
	return server_integer(&servers[server], "GET " DLOCK_FENCE_KEY);
}

static int fenced_from(int64_t token)
{
	int count = 0;

	for (int i = 0; i < SERVERS; i++) {
		count += fence(i) >= token;
	}
	return count;
}

/* The counters have drifted apart, and each round has another majority. A holder's token must be larger than that of
 * each earlier holder. Each client is new, so that only the servers remember. */
static void test_fencing(void)
{
	static const unsigned majorities[] = { 7, 28, 21, 11, 26, 19, 22, 13, 14, 25 };
	enum { COUNT = sizeof majorities / sizeof *majorities };
	int64_t last = FUTURE, highest = FUTURE;
	int falls = 0, behind = 0, failed = 0;

	for (int i = 0; i < SERVERS; i++) {
		server_do(&servers[i], "SET " DLOCK_FENCE_KEY " %lld", FUTURE + 1000 * (i * 7 % 5));
	}
	for (int round = 0; round < 60; round++) {
		client c = client_of_some(SERVERS, majorities[(round * 7 + round / COUNT) % COUNT]);
		dlock_claim *claim = claim_on(&c, "fencing", 60000);
		failed += acquire(&c, claim, 0) != DLOCK_OK;
		falls += claim->fencing_token <= last;
		behind += fenced_from(claim->fencing_token) < MAJORITY;
		last = claim->fencing_token;
		highest = last > highest ? last : highest;
		let_go(&c, claim);
		client_settle(&c);
		client_free(&c);
		if (round % 3 == 0) { /* as if a lock of another resource had raised one counter */
			highest += 1000;
			server_do(&servers[round % SERVERS], "SET " DLOCK_FENCE_KEY " %lld", (long long) highest);
		}
	}
	check(failed == 0, "acquired by another majority each time (%d failed)", failed);
	check(falls == 0, "the token rises every time (%d did not)", falls);
	check(behind == 0, "and a majority stores it when the lock is held (%d did not)", behind);
}

static void test_fencing_normally(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	int64_t last = 0;
	int bad = 0, slow = 0;

	check(warm_all(&c) && passes(&c, "normally", 0), "warm, and the fences are not new");
	client_settle(&c);
	for (int i = 0; i < SERVERS; i++) {
		server_do(&servers[i], "CONFIG RESETSTAT");
	}
	for (int i = 0; i < 100; i++) {
		dlock_claim *claim = claim_on(&c, "normally", 60000);
		dlock_nanos begun = dlock_now();
		bad += acquire(&c, claim, 0) != DLOCK_OK || claim->fencing_token <= last;
		slow += dlock_now() - begun >= 100 * DLOCK_MS; /* after that long its votes may be asked for again */
		last = claim->fencing_token;
		bad += !let_go(&c, claim);
		client_settle(&c); /* a server that is held up would count as stuck, and miss some */
	}
	check(bad == 0, "a hundred in a row rise");
	check(fenced_from(last) == SERVERS, "all servers agree");
	int64_t calls = server_info(&servers[0], "commandstats", "cmdstat_evalsha:calls");
	check(calls >= 200 && calls <= 200 + slow, "without another round trip (%lld calls)", (long long) calls);
	client_free(&c);
}

/* An operator has set one server's counter to an impossible value. Its vote does not count, and the other servers do
 * not adopt the value. */
static void test_fencing_impossible(void)
{
	static const char *const fences[] = { "7881299347898367", "9007199254740990", "9007199254740993",
		"9223372036854775807", "1e300" };
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	int64_t last = 0;

	for (size_t i = 0; i < sizeof fences / sizeof *fences; i++) {
		server_do(&servers[1], "SET " DLOCK_FENCE_KEY " %s", fences[i]);
		dlock_claim *claim = claim_on(&c, "impossible", 60000);
		check(acquire(&c, claim, 0) == DLOCK_OK && claim->fencing_token > last
				&& claim->fencing_token < DLOCK_MOST_RAISED,
			"%s: held with the others' token (%lld)", fences[i], (long long) claim->fencing_token);
		last = claim->fencing_token;
		check(let_go(&c, claim), "released");
		client_settle(&c);
		check(fence(0) < DLOCK_MOST_RAISED && fence(4) < DLOCK_MOST_RAISED, "the other servers do not adopt it");
		check(eventually_nowhere("impossible"), "nothing is left");
	}
	client_free(&c);
}

static void test_fencing_lost(void)
{
	static const char *changes[] = { "FLUSHALL", "DEL " DLOCK_FENCE_KEY, "SET " DLOCK_FENCE_KEY " 1",
		"SET " DLOCK_FENCE_KEY " 4102444800000000", "PING", "FLUSHALL" };
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	int64_t last = 0;

	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		for (int k = 0; k < SERVERS; k++) {
			server_do(&servers[k], changes[i]);
		}
		dlock_claim *claim = claim_on(&c, "lost", 60000);
		acquire(&c, claim, 0);
		check(claim->fencing_token > last && claim->fencing_token < INT64_C(1) << 53, "%s: the token rises (%lld)",
			changes[i], (long long) claim->fencing_token);
		last = claim->fencing_token;
		let_go(&c, claim);
		client_settle(&c);
	}
	client_free(&c);
}

/* Only the holder may raise a counter. Otherwise a former holder could raise it after a later holder has its token. */
static void test_raise(void)
{
	client c = client_of(&servers[0], READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "raise", 60000);
	dlock_conn *conn = client_conn(&c, 0);
	static const struct {
		const char *setup;
		long long token;
		dlock_status reply;
		long long fence;
		const char *text;
	} cases[] = {
		{ "SET " DLOCK_FENCE_KEY " 10", 20, DLOCK_OK, 20, "raised by the holder" },
		{ "SET " DLOCK_FENCE_KEY " 30", 20, DLOCK_OK, 30, "never lowered" },
		{ "SET " DLOCK_FENCE_KEY " 20", 20, DLOCK_OK, 20, "left as it is" },
		{ "SET " PREFIX "raise other", 40, DLOCK_LOST, 20, "not by a former holder" },
		{ "DEL " PREFIX "raise", 40, DLOCK_LOST, 20, "nor if no client holds the lock" },
	};

	dlock_response response;
	server_do(&servers[0], "SET " PREFIX "raise %s", claim->token);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		server_do(&servers[0], cases[i].setup);
		dlock_call *call = dlock_request_raise(
			(dlock_keys){ .lock = DLOCK_ARG(PREFIX "raise") }, claim->token, cases[i].token);
		dlock_conn_send(conn, call);
		conn_await(conn, call);
		check(dlock_read_integer(call, conn, &response, &c.error) == cases[i].reply && fence(0) == cases[i].fence, "%s",
			cases[i].text);
		dlock_call_release(call);
	}
	server_do(&servers[0], "SET " PREFIX "raise %s", claim->token);
	server_do(&servers[0], "DEL " DLOCK_FENCE_KEY);
	dlock_call *call = dlock_request_raise((dlock_keys) { .lock = DLOCK_ARG(PREFIX "raise") }, claim->token, 40);
	dlock_conn_send(conn, call);
	conn_await(conn, call);
	check(dlock_read_integer(call, conn, &response, &c.error) == DLOCK_OK && fence(0) > INT64_C(1700000000000000),
		"a lost counter begins again at the time of day (%lld)", (long long) fence(0));
	dlock_call_release(call);
	dlock_claim_free(claim);
	client_free(&c);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(fencing), TEST(fencing_normally), TEST(fencing_lost),
		TEST(fencing_impossible), TEST(raise),
	};

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &quorum_servers);
}

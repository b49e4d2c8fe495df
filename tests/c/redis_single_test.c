/* The back end on one server, a real one. Prints TAP. */

#include <stdlib.h>
#include <unistd.h>

#include "helpers.h"
#include "one_server.h"

/* ---- the life of a lock ---- */

static void test_life(void)
{
	client c = client_of(&server, READ_TIMEOUT), other = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "life", 60000), *second = claim_on(&other, "life", 60000);
	bool locked = true;

	check(c.backend->ops->locked(c.backend, "life", 4, &locked, &c.error) == DLOCK_OK && !locked, "no client holds it");
	dlock_nanos start = dlock_now();
	check(acquire(&c, claim, 0) == DLOCK_OK && claim->state == DLOCK_CLAIM_HELD, "acquired");
	check(!claim->waited, "it did not wait");
	check(has(&server, claim), "the key is prefix and resource, its value the token");
	long long pttl = server_integer(&server, "PTTL " PREFIX "life");
	long spent = (long) ((dlock_now() - start) / DLOCK_MS) + 1;
	check(pttl <= 60000 && pttl >= 60000 - spent, "the key has the requested lease time (%lld)", pttl);
	check(claim->deadline >= start + 59398 * DLOCK_MS && claim->deadline <= dlock_now() + 59398 * DLOCK_MS,
		"the deadline is the time of the request plus the lease time without 1 %% and 2 ms");
	check(left_ms(claim) <= 59398 && left_ms(claim) > 30000, "the claim knows the remaining time");
	check(
		claim->fencing_token > INT64_C(1700000000000000) && claim->fencing_token < INT64_C(1) << 53, "a fencing token");
	check(other.backend->ops->locked(other.backend, "life", 4, &locked, &c.error) == DLOCK_OK && locked,
		"a client holds it");
	check(
		acquire(&other, second, 0) == DLOCK_TIMEOUT && look(second) != DLOCK_CLAIM_HELD, "no other client acquires it");
	check(release(&other, second) == DLOCK_LOST && has(&server, claim), "no other client releases it");
	check(extend(&c, claim, 120000) == DLOCK_OK && claim->ttl == 120000 * DLOCK_MS, "extended");
	pttl = server_integer(&server, "PTTL " PREFIX "life");
	check(pttl > 60000 && pttl <= 120000 && left_ms(claim) > 60000 && left_ms(claim) <= 118798,
		"the server and the client know the new time (%lld)", pttl);
	check(extend(&c, claim, 50000) == DLOCK_OK && left_ms(claim) <= 49498, "a lease can be made shorter");
	server_do(&server, "PEXPIRE " PREFIX "life 30000");
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK && left_ms(claim) <= 29698 && left_ms(claim) > 1000,
		"after a check the server's time counts");
	check(release(&c, claim) == DLOCK_OK && claim->state == DLOCK_CLAIM_RELEASED && left_ms(claim) == 0, "released");
	check(has_nobody(&server, "life"), "the key is gone");
	check(release(&c, claim) == DLOCK_LOST, "a second release finds nothing");
	check(extend(&c, claim, 1000) == DLOCK_LOST && dlock_claim_check(claim, &c.error) == DLOCK_LOST,
		"a released claim cannot be extended or checked");
	check(acquire(&other, second, 0) == DLOCK_OK && let_go(&other, second), "the next client acquires it");
	dlock_claim_free(claim);
	client_free(&c);
	client_free(&other);
}

/* Any bytes of a lock's name arrive unchanged. */
static void test_names(void)
{
	static char longest[DLOCK_RESOURCE_MAX];
	static const struct {
		const char *name;
		size_t len;
	} names[] = {
		{ "a\0b", 3 }, { "\0", 1 }, { " ", 1 }, { "\r\n*1\r\n", 6 }, { "%s%b", 4 }, { "{a}b", 4 }, { "\xff\xfe", 2 },
		{ longest, sizeof longest },
	};
	client c = client_of(&server, READ_TIMEOUT);
	int bad = 0;

	memset(longest, '\xfe', sizeof longest);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		dlock_claim *claim = dlock_claim_new(c.backend, names[i].name, names[i].len, 60 * DLOCK_SECOND, NULL, &c.error);
		bad += acquire(&c, claim, 0) != DLOCK_OK || !has(&server, claim) || !let_go(&c, claim);
	}
	check(bad == 0, "odd names (%d)", bad);
	client_free(&c);
}

static void test_key_space(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	int bad = 0;

	for (int i = 0; i < 100; i++) {
		char name[32];
		snprintf(name, sizeof name, "space-%d", i);
		bad += !passes(&c, name, 0);
	}
	check(bad == 0 && server_integer(&server, "DBSIZE") == 1, "a hundred released locks leave one key");
	check(dlock_pool_opened(c.pool) == 1, "the client used one connection");
	client_free(&c);
}

static void test_abandon(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "abandon", 60000), *fresh = claim_on(&c, "abandon", 60000);

	check(warm(&c) && acquire(&c, claim, 0) == DLOCK_OK, "held");
	dlock_claim_abandon(fresh);
	client_settle(&c);
	check(
		fresh->state == DLOCK_CLAIM_NEW && has(&server, claim), "abandoning a claim that was never tried does nothing");
	dlock_claim_abandon(claim);
	check(look(claim) == DLOCK_CLAIM_RELEASED, "abandoned");
	check(acquire(&c, fresh, 0) == DLOCK_OK, "a later request finds it free");
	dlock_claim_abandon(claim);
	client_settle(&c);
	check(has(&server, fresh), "abandoning it again does nothing");
	dlock_claim_abandon(fresh);
	client_settle(&c);
	check(has_nobody(&server, "abandon") && !dlock_conn_busy(c.pool->first), "drained");
	dlock_claim_free(claim);
	dlock_claim_free(fresh);
	client_free(&c);
}

/* A request's end: an abandoned lock is released even if the process ends without reading answers. The same holds if
 * the server does not know the script, because no process is left to send it later. */
static void test_abandon_and_end(void)
{
	for (int known = 1; known >= 0; known--) {
		pid_t pid = fork_child();
		if (pid == 0) {
			client c = client_of(&server, READ_TIMEOUT);
			dlock_claim *claim = claim_on(&c, "end", 60000);
			if ((known && !warm(&c)) || acquire(&c, claim, 0) != DLOCK_OK) {
				_exit(1);
			}
			dlock_claim_abandon(claim);
			_exit(0);
		}
		check(exit_of(pid) == 0 && eventually_nobody(&server, "end"),
			"a process that ends at once abandons the lock; the script is %s", known ? "known" : "unknown");
		server_reset(&server);
	}
}

/* The same without an end: a release whose script the server does not know is still executed before later requests. */
static void test_abandon_unknown_script(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "unknown", 60000), *next = claim_on(&c, "unknown", 60000);

	check(acquire(&c, claim, 0) == DLOCK_OK, "held, no release script on the server");
	dlock_claim_abandon(claim);
	check(acquire(&c, next, 0) == DLOCK_OK, "a request after the release finds it free");
	client_settle(&c);
	dlock_claim_free(claim);
	dlock_claim_free(next);
	client_free(&c);
}

/* ---- keys of other clients ---- */

static void test_foreign_values(void)
{
	static const char *values[] = { "1699999999", "", "%sx", "x%s", "%.31s" };
	client c = client_of(&server, READ_TIMEOUT);

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		dlock_claim *claim = claim_on(&c, "foreign", 60000);
		char value[64];
		acquire(&c, claim, 0);
		snprintf(value, sizeof value, values[i], claim->token);
		server_do(&server, "SET " PREFIX "foreign %s PX 60000", value);
		check(extend(&c, claim, 120000) == DLOCK_LOST && server_integer(&server, "PTTL " PREFIX "foreign") <= 60000,
			"\"%s\" is not extended", value);
		claim->state = DLOCK_CLAIM_HELD;
		check(dlock_claim_check(claim, &c.error) == DLOCK_LOST && left_ms(claim) == 0, "a check says lost");
		claim->state = DLOCK_CLAIM_HELD;
		check(release(&c, claim) == DLOCK_LOST, "a release says lost");
		claim->state = DLOCK_CLAIM_HELD;
		dlock_claim_abandon(claim);
		client_settle(&c);
		check(!strcmp(server_text(&server, "GET " PREFIX "foreign"), value), "the other client's key stays");
		claim->state = DLOCK_CLAIM_NEW;
		check(acquire(&c, claim, 0) == DLOCK_TIMEOUT, "the lock is not free");
		server_do(&server, "DEL " PREFIX "foreign");
		dlock_claim_free(claim);
	}
	client_free(&c);
}

static void test_deleted_by_hand(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "deleted", 60000);

	acquire(&c, claim, 0);
	server_do(&server, "DEL " PREFIX "deleted");
	check(
		look(claim) == DLOCK_CLAIM_HELD && dlock_claim_check(claim, &c.error) == DLOCK_LOST, "a check finds the loss");
	check(look(claim) == DLOCK_CLAIM_LOST && extend(&c, claim, 1000) == DLOCK_LOST && has_nobody(&server, "deleted"),
		"an extension does not set the key again");
	dlock_claim_free(claim);
	client_free(&c);
}

/* If the reply to an acquire was lost, the claim finds its own token on the server. */
static void test_repeated(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "repeated", 120000);

	server_do(&server, "SET " PREFIX "repeated %s PX 60000", claim->token);
	check(acquire(&c, claim, 0) == DLOCK_OK && left_ms(claim) > 60000, "an acquire that finds its own token succeeds");
	check(server_integer(&server, "PTTL " PREFIX "repeated") > 60000, "the lease time starts again");
	int64_t token = claim->fencing_token;
	check(acquire(&c, claim, 0) == DLOCK_OK && claim->fencing_token > token,
		"a repeated acquire has a higher fencing token");
	check(let_go(&c, claim), "released");
	client_free(&c);
}

static void test_expired(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "expired", 60000), *next = claim_on(&c, "expired", 60000);

	for (int tries = 0; !next->waited && tries < 10; tries++) { /* a process that stands still finds it expired */
		if (tries > 0) {
			check(release(&c, next) == DLOCK_OK, "released");
			claim->state = next->state = DLOCK_CLAIM_NEW;
		}
		check(acquire(&c, claim, 0) == DLOCK_OK, "held");
		server_do(&server, "PEXPIRE " PREFIX "expired 300");
		check(acquire(&c, next, 60000) == DLOCK_OK, "when it expires, the next waiter acquires it");
	}
	check(next->waited, "that one waited");
	claim->deadline = dlock_now();
	check(look(claim) == DLOCK_CLAIM_LOST, "the first holder finds the loss by the clock");
	check(extend(&c, claim, 10000) == DLOCK_LOST && has(&server, next), "it cannot extend it");
	check(release(&c, claim) == DLOCK_LOST && has(&server, next), "it cannot release it");
	check(let_go(&c, next), "released");
	dlock_claim_free(claim);
	client_free(&c);
}

/* A lease that expired by the clock stays lost although the server has the key: a caller may know of the loss. */
static void test_lost_by_clock(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "clock", 60000);

	acquire(&c, claim, 0);
	claim->deadline = dlock_now() - 1;
	check(look(claim) == DLOCK_CLAIM_LOST && extend(&c, claim, 10000) == DLOCK_LOST,
		"a lease that expired by the clock is not extended");
	check(release(&c, claim) == DLOCK_LOST && has_nobody(&server, "clock"), "a release deletes its key");
	dlock_claim_free(claim);
	client_free(&c);
}

/* A holder can never rely on a lease that is shorter than the drift. */
static void test_tiny_ttl(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "tiny", 1);

	long long attempts = 0;
	for (int tries = 0; attempts <= 2 && tries < 10; tries++) { /* the time may pass while a process stands still */
		server_do(&server, "CONFIG RESETSTAT");
		check(acquire(&c, claim, 300) == DLOCK_TIMEOUT && look(claim) != DLOCK_CLAIM_HELD,
			"a lease of 1 ms is not acquired");
		attempts = server_info(&server, "commandstats", "cmdstat_evalsha:calls");
	}
	check(attempts > 2 && attempts < 50, "attempts pause in between (%lld attempts)", attempts);
	dlock_claim_free(claim);
	claim = dlock_claim_new(c.backend, "tiny", 4, 1, NULL, &c.error);
	check(acquire(&c, claim, 0) == DLOCK_TIMEOUT, "a lease of 1 ns is not acquired");
	dlock_claim_free(claim);
	client_settle(&c);
	check(has_nobody(&server, "tiny"), "the attempts leave nothing");
	client_free(&c);
}

/* ---- scripts ---- */

static void test_script_flush(void)
{
	enum { COUNT = 20 };
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claims[COUNT], *again = claim_on(&c, "flush-7", 60000);
	int bad = 0;

	for (int i = 0; i < COUNT; i++) {
		char name[32];
		snprintf(name, sizeof name, "flush-%d", i);
		claims[i] = claim_on(&c, name, 60000);
		server_do(&server, "SCRIPT FLUSH");
		bad += acquire(&c, claims[i], 0) != DLOCK_OK;
	}
	check(bad == 0, "acquired after SCRIPT FLUSH");
	server_do(&server, "SCRIPT FLUSH");
	check(extend(&c, claims[0], 60000) == DLOCK_OK && dlock_claim_check(claims[0], &c.error) == DLOCK_OK,
		"extended and checked after SCRIPT FLUSH");
	dlock_claim_abandon(claims[0]);
	server_do(&server, "SCRIPT FLUSH");
	for (int i = 1; i < COUNT; i++) {
		dlock_claim_abandon(claims[i]);
	}
	check(acquire(&c, again, 0) == DLOCK_OK, "a request after pipelined releases finds the lock free");
	client_settle(&c);
	for (int i = 0; i < COUNT; i++) {
		char name[32];
		snprintf(name, sizeof name, "flush-%d", i);
		bad += i != 7 && !has_nobody(&server, name);
		dlock_claim_free(claims[i]);
	}
	check(bad == 0 && has(&server, again), "all pipelined releases are executed");
	check(let_go(&c, again) && dlock_pool_opened(c.pool) == 1, "the client used one connection");
	client_free(&c);
}

static void test_scripts_loaded_once(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	int bad = 0;

	server_reset(&server);
	for (int i = 0; i < 50; i++) {
		bad += !passes(&c, "once", 0);
	}
	check(bad == 0 && server_info(&server, "commandstats", "cmdstat_eval:calls") == 2,
		"each script is sent in full once");
	check(server_info(&server, "commandstats", "cmdstat_evalsha:calls") == 100, "each call takes one round trip");
	client_free(&c);
}

/* ---- fencing tokens ---- */

static int64_t next_token(client *c, const char *resource)
{
	dlock_claim *claim = claim_on(c, resource, 60000);
	int64_t token = acquire(c, claim, 0) == DLOCK_OK ? claim->fencing_token : -1;

	return let_go(c, claim) ? token : -1;
}

static void test_fencing(void)
{
	static const char *changes[] = { "PING", "FLUSHALL", "DEL " DLOCK_FENCE_KEY, "SET " DLOCK_FENCE_KEY " 5",
		"SET " DLOCK_FENCE_KEY " 0", "SET " DLOCK_FENCE_KEY " -7", "SCRIPT FLUSH",
		"SET " DLOCK_FENCE_KEY " 4102444800000000", "PING", "PING", "SCRIPT FLUSH",
		"SET " DLOCK_FENCE_KEY " 9007199254740000", "PING", "PING" };
	client c = client_of(&server, READ_TIMEOUT);
	int64_t last = 0;

	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		server_do(&server, changes[i]);
		int64_t token = next_token(&c, i % 2 ? "fence-a" : "fence-b");
		check(token > last && token < INT64_C(1) << 53, "%s: the token rises (%lld)", changes[i], (long long) token);
		const char *stored = server_text(&server, "GET " DLOCK_FENCE_KEY);
		check(strspn(stored, "0123456789") == strlen(stored) && atoll(stored) >= token,
			"the fence is a whole number (%s)", stored);
		last = token;
	}
	server_do(&server, "SET " DLOCK_FENCE_KEY " 4102444800000000");
	client another = client_of(&server, READ_TIMEOUT); /* the first client has seen larger tokens */
	check(next_token(&another, "fence") == INT64_C(4102444800000001), "a fence in the future is counted up by one");
	client_free(&another);
	check(server_integer(&server, "TTL " DLOCK_FENCE_KEY) == -1, "the fence does not expire");
	client_free(&c);
}

/* The fencing token of a connection's first lock comes from the server's clock. Later ones count up from it. */
static void test_fencing_counted(void)
{
	client c = client_of(&server, READ_TIMEOUT), other = client_of(&server, READ_TIMEOUT);
	int64_t first = next_token(&c, "counted"), last = next_token(&other, "counted");
	int bad = 0;

	server_do(&server, "CONFIG RESETSTAT");
	for (int i = 1; i <= 20; i++) {
		bad += next_token(&c, "counted") != last + i;
	}
	check(first > 0 && last > first && bad == 0, "each token is one more than the last");
	check(server_info(&server, "commandstats", "cmdstat_time:calls") <= 0
			&& server_info(&server, "commandstats", "cmdstat_incr:calls") == 20
			&& server_info(&server, "commandstats", "cmdstat_evalsha:calls") == 40,
		"a token needs no TIME and no extra round trip");
	last += 20;
	for (int i = 0; i < 3; i++) { /* each connection finds that the fence is gone */
		server_do(&server, "DEL " DLOCK_FENCE_KEY);
		int64_t theirs = next_token(&other, "counted"), ours = next_token(&c, "counted");
		check(theirs > last && ours > theirs, "a lost fence: the tokens rise for all connections (%lld, %lld)",
			(long long) theirs, (long long) ours);
		last = ours;
	}
	for (int i = 1; i <= 20; i++) {
		bad += next_token(&other, "counted") != last + i;
	}
	check(bad == 0, "the other client's tokens count up");
	last += 20;
	server_do(&server, "SET " DLOCK_FENCE_KEY " %lld",
		(long long) last - 10); /* above all tokens that the first connection has seen, below those of the other */
	server_do(&server, "CLIENT KILL TYPE normal SKIPME yes"); /* as if the server had restarted with older data */
	for (int i = 0; i < 2; i++) {
		int64_t token = next_token(i ? &other : &c, "counted");
		check(token > last, "an older fence and new connections: the token rises (%lld)", (long long) token);
		last = token;
	}
	server_restart(&server);
	check(next_token(&c, "counted") > last && next_token(&other, "counted") > last,
		"a restart without data: the tokens rise");
	client_free(&c);
	client_free(&other);
}

/* ---- requests of a waiter ---- */

typedef struct {
	client *client;
	dlock_claim *claim;
} waiting;

/* As soon as the waiter waits for its turn, its time is over. */
static bool let_time_pass(void *context)
{
	const waiting *waiting = context;

	if (waiting->claim->state == DLOCK_CLAIM_WAITING && !dlock_conn_busy(client_conn(waiting->client, 0))) {
		dlock_clock_travel(60 * DLOCK_SECOND);
	}
	return false;
}

static long long requests_of_wait(client *c, const char *resource)
{
	dlock_claim *claim = claim_on(c, resource, 60000);
	dlock_wait wait = { .deadline = dlock_now() + 60 * DLOCK_SECOND, .interrupted = let_time_pass,
		.context = &(waiting) { c, claim } };

	server_do(&server, "CONFIG RESETSTAT");
	bool refused = dlock_claim_acquire(claim, &wait, &c->error) == DLOCK_TIMEOUT;
	dlock_claim_free(claim);
	return refused ? server_info(&server, "commandstats", "cmdstat_evalsha:calls") : -1;
}

/* The first request does not queue, unless the last lock was not free, either. Then it queues at once. */
static void test_first_request(void)
{
	client c = client_of(&server, READ_TIMEOUT), other = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&other, "wanted", 3600000);

	check(acquire(&other, claim, 0) == DLOCK_OK && passes(&c, "unwanted", 0), "held");
	requests_of_wait(&c, "wanted"); /* sends the texts of scripts, and opens the inbox */
	check(passes(&c, "unwanted", 0), "a free lock");
	check(requests_of_wait(&c, "wanted") == 3, "a held lock after a free one: refused, queued, and left");
	check(requests_of_wait(&c, "wanted") == 2, "a held lock after a held one: queued, and left");
	check(passes(&c, "unwanted", 0) && requests_of_wait(&c, "wanted") == 3,
		"after another free lock: three requests again");
	check(let_go(&other, claim), "released");
	client_free(&c);
	client_free(&other);
}

/* Fences that only manual changes can cause. A script cannot count up from them. */
static void test_fencing_impossible(void)
{
	static const char *const fences[] = { "9007199254740991", "9007199254740992", "9223372036854775807", "1e300",
		"1e999", "inf" };
	client c = client_of(&server, READ_TIMEOUT);

	for (size_t i = 0; i < sizeof fences / sizeof *fences; i++) {
		server_do(&server, "SET " DLOCK_FENCE_KEY " %s", fences[i]);
		for (int again = 0; again < 2; again++) {
			dlock_claim *claim = claim_on(&c, "impossible", 60000);
			check(acquire(&c, claim, 0) == DLOCK_CONNECTION && explains(&c, "127.0.0.1", "fenc") && left_ms(claim) == 0,
				"a fence of %s: %s", fences[i], c.error.message);
			dlock_claim_free(claim);
			check(eventually_nobody(&server, "impossible"), "the attempt leaves no lock");
		}
	}
	server_do(&server, "SET " DLOCK_FENCE_KEY " 9007199254740990");
	check(next_token(&c, "impossible") == INT64_C(9007199254740991), "the largest possible token");
	client_free(&c);
}

/* Times to live that no client requests as a lease time. */
static void test_endless_key(void)
{
	static const char *const times[] = { "9223370000000000000", "9223372036854", "9223372036855", "31536000001" };
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "endless", 60000);

	check(acquire(&c, claim, 0) == DLOCK_OK, "held");
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		server_do(&server, "PEXPIRE " PREFIX "endless %s", times[i]);
		check(dlock_claim_check(claim, &c.error) == DLOCK_OK && look(claim) == DLOCK_CLAIM_HELD, "%s ms: held (%s)",
			times[i], c.error.message);
		check(left_ms(claim) > 300LL * 24 * 3600 * 1000 && left_ms(claim) < 366LL * 24 * 3600 * 1000,
			"for nearly a year (%ld)", left_ms(claim));
	}
	check(let_go(&c, claim), "released");
	client_free(&c);
}

static void test_fencing_keeps_up(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	int64_t last = 0;
	int bad = 0;

	for (int i = 0; i < 500; i++) {
		int64_t token = next_token(&c, "many");
		bad += token <= last;
		last = token;
	}
	check(bad == 0, "five hundred tokens in a row rise");
	client_free(&c);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(life), TEST(names), TEST(key_space), TEST(abandon), TEST(abandon_and_end), TEST(abandon_unknown_script),
		TEST(foreign_values), TEST(deleted_by_hand), TEST(repeated), TEST(expired), TEST(lost_by_clock),
		TEST(script_flush), TEST(scripts_loaded_once), TEST(tiny_ttl), TEST(fencing), TEST(fencing_counted),
		TEST(fencing_impossible), TEST(first_request),
		TEST(endless_key), TEST(fencing_keeps_up),
	};

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &one_server);
}

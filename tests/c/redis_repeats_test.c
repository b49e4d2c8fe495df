/* Requests that the back end on one server sends again because their answers were lost, and answers and grants that
 * come late. The client must not take one of these for the reply to a later request. Prints TAP. */

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"
#include "one_server.h"
#include "relay.h"

/* The number of the last request of the only waiter; 0: no client waits. */
static long long last_request(const char *resource)
{
	return server_integer(&server, "EVAL %s 1 dlock:waiters:{" PREFIX "%s}",
		"return tonumber(string.match(redis.call('HVALS', KEYS[1])[1] or '', '^%S+ %S+ (%S+)') or 0)", resource);
}

/* Tells the waiter that this request was granted the lock. False: no waiter listens. */
static bool tell_grant(const char *resource, long long number, int fencing_token)
{
	return server_integer(&server, "EVAL %s 1 dlock:waiters:{" PREFIX "%s} %lld %d",
			   "local waiter = redis.call('HGETALL', KEYS[1]) "
			   "return waiter[2] and redis.call('PUBLISH', string.match(waiter[2], '(%S+)$'), "
			   "table.concat({waiter[1], ARGV[1], ARGV[2]}, ' '))",
			   resource, number, fencing_token)
		== 1;
}

/* More than DLOCK_GRANT_TTL, and less than the read timeout. */
#define LONG (10 * DLOCK_SECOND)

/* For SIGCONT: the process was stopped for a long time. */
static void let_time_pass(int signal)
{
	(void) signal;
	dlock_clock_travel(LONG);
}

/* A grant that is read late may have expired. The waiter ignores a grant that names an earlier request. */
static void test_old_grant(void)
{
	enum { OLD = 111, NEW = 222 };
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "granted", 60000);
	long long first, second;

	acquire(&c, claim, 0);
	pid_t pid = fork_child();
	if (pid == 0) {
		client own = client_of(&server, READ_TIMEOUT);
		dlock_claim *waiter = claim_on(&own, "granted", 60000);
		_exit(acquire(&own, waiter, -1) == DLOCK_OK && waiter->fencing_token == NEW ? 0 : 1);
	}
	while ((first = last_request("granted")) == 0 && !has_ended(pid)) {
		sleep_ms(1);
	}
	check(tell_grant("granted", first - 1, OLD), "a waiter receives an old grant");
	while ((second = last_request("granted")) == first && !has_ended(pid)) {
		sleep_ms(1);
	}
	check(second > first, "it ignores that grant, and asks again (%lld, %lld)", first, second);
	do {
		tell_grant("granted", last_request("granted"), NEW);
		sleep_ms(1);
	} while (!has_ended(pid));
	check(exit_of(pid) == 0, "it accepts a grant for its last request");
	check(let_go(&c, claim), "released");
	client_free(&c);
}

/* If the answer to a request is lost, the request is sent again with the same number. A grant that names it may belong
 * to the first of the two. */
static void test_grant_before_repeat(void)
{
	enum { OLD = 111 };
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "repeated", 60000);
	relay relay;
	int status;

	acquire(&c, claim, 0);
	const char *dsn = dsn_by_relay(&relay, &server, "");
	pid_t pid = fork_child();
	if (pid == 0) {
		client own = client_at(dsn);
		dlock_claim *waiter = claim_on(&own, "repeated", 60000);
		signal(SIGCONT, let_time_pass);
		/* The server may still execute the first request, and set its lease time. */
		_exit(acquire(&own, waiter, -1) == DLOCK_OK && waiter->fencing_token != OLD
					&& waiter->unacknowledged_ttl == waiter->ttl
				? 0
				: 1);
	}
	while (last_request("repeated") == 0 && !has_ended(pid)) {
		sleep_ms(1);
	}
	atomic_store(&relay.swallow, dlock_scripts[DLOCK_SCRIPT_ACQUIRE].sha1);
	check(eventually(has_swallowed, &relay), "the answer to a waiter is lost");
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	long long number = last_request("repeated");
	check(tell_grant("repeated", number, OLD), "the server grants the lock, and the waiter does not see it");
	atomic_store(&relay.swallowed, 0);
	kill(pid, SIGCONT);
	while (last_request("repeated") == number && !has_ended(pid)) {
		sleep_ms(1);
	}
	check(last_request("repeated") > number, "after it has lapsed, the waiter ignores it and sends the request again");
	check(let_go(&c, claim) && exit_of(pid) == 0, "it accepts a later grant");
	relay_end(&relay);
	client_free(&c);
}

/* If the answer to a shorter lease time is lost, that time counts from the first of two requests. */
static void test_extension_before_repeat(void)
{
	enum { SHORTER = 60000 /* ms */ };
	const char *request = dlock_scripts[DLOCK_SCRIPT_EXTEND].sha1;
	relay relay;
	const char *dsn = dsn_by_relay(&relay, &server, "");

	atomic_store(&relay.swallow, request);
	pid_t pid = fork_child();
	if (pid == 0) {
		client own = client_at(dsn);
		dlock_claim *claim = claim_on(&own, "shortened", 120000);
		signal(SIGCONT, let_time_pass);
		if (acquire(&own, claim, 0) != DLOCK_OK) {
			_exit(2);
		}
		dlock_nanos start = dlock_now();
		dlock_status status = extend(&own, claim, SHORTER);
		dlock_nanos most = start + SHORTER * DLOCK_MS + LONG / 2; /* it may have stood still before the first one */
		_exit(status == DLOCK_CONNECTION && atomic_load(&claim->deadline) <= most ? 0 : 1);
	}
	check(eventually(has_swallowed, &relay), "the answer to an extension is lost");
	kill(pid, SIGCONT);
	atomic_store(&relay.stop, request);
	atomic_store(&relay.swallowed, 0);
	check(eventually(is_stopped, &relay), "the holder sends its request again");
	atomic_store(&relay.cut, 1);
	check(exit_of(pid) == 0, "it relies on the shorter time only, counted from its first request");
	relay_end(&relay);
}

/* The second request of a release finds that the first has released the lock. */
static void test_release_repeated(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	relay relay;

	check(warm(&c), "the server knows the scripts");
	const char *dsn = dsn_by_relay(&relay, &server, "");
	atomic_store(&relay.swallow, dlock_scripts[DLOCK_SCRIPT_RELEASE].sha1);
	pid_t pid = fork_child();
	if (pid == 0) {
		client own = client_at(dsn);
		dlock_claim *claim = claim_on(&own, "released", 60000);
		if (acquire(&own, claim, 0) != DLOCK_OK) {
			_exit(2);
		}
		_exit(release(&own, claim) != DLOCK_OK || look(claim) != DLOCK_CLAIM_RELEASED);
	}
	check(eventually(has_swallowed, &relay), "the answer to a release is lost");
	check(has_nobody(&server, "released"), "the lock is released");
	atomic_store(&relay.swallowed, 0);
	check(exit_of(pid) == 0, "the holder's repeated request reports the release");
	relay_end(&relay);
	client_free(&c);
}

/* If the connection ended before the release, no earlier request can have released the lock. */
static void test_release_after_restart(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "restarted", 60000);

	check(acquire(&c, claim, 0) == DLOCK_OK, "held");
	server_kill(&server);
	server_restart(&server);
	check(release(&c, claim) == DLOCK_LOST, "a server that restarts empty has lost it");
	dlock_claim_free(claim);
	client_free(&c);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(old_grant), TEST(grant_before_repeat), TEST(extension_before_repeat), TEST(release_repeated),
		TEST(release_after_restart),
	};

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &one_server);
}

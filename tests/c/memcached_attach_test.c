/* Attaching to a lease by its token on memcached. It succeeds once. After a failure a caller can try again. Prints TAP.
 * memcached_attach_test [word in the names of the tests to run] */

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "helpers.h"
#include "memcached_server.h"
#include "relay.h"
#include "tap.h"

static const char old_token[] = "0123456789abcdef0123456789abcdef";
static memcached_server server;

/* Creates the lease of old_token, as its holder leaves it. */
static void leave_lease(const char *resource, int seconds)
{
	memcached_ask(&server, "ms Lock:%s 32 T%d\r\n%s", resource, seconds, old_token);
}

static bool has_old(const char *resource)
{
	char key[80];

	snprintf(key, sizeof key, MEMCACHED_PREFIX "%s", resource);
	return !strcmp(memcached_value(&server, key), old_token);
}

/* If it fails, the claim is freed and NULL. */
static dlock_status attach(memcached_client *c, const char *resource, dlock_claim **claim)
{
	*claim = memcached_claim_on(c, resource, 60000);
	c->error.message[0] = '\0';
	dlock_status status = dlock_claim_attach(*claim, old_token, &c->error);
	if (status != DLOCK_OK) {
		dlock_claim_free(*claim);
		*claim = NULL;
	}
	return status;
}

static bool release_and_free(memcached_client *c, dlock_claim *claim)
{
	bool good = dlock_claim_release(claim, &c->error) == DLOCK_OK;

	dlock_claim_free(claim);
	return good;
}

static void test_once(void)
{
	memcached_client c = memcached_client_new(server.port);
	dlock_claim *claim, *second;
	dlock_nanos remaining;

	leave_lease("once", 600);
	check(attach(&c, "once", &claim) == DLOCK_OK, "attached: %s", c.error.message);
	check(!strcmp(memcached_value(&server, "Lock:once"), claim->token) && claim->fencing_token > 0,
		"the server has the new token");
	long left = memcached_left(&server, "Lock:once");
	dlock_claim_refresh(claim, &remaining);
	check(left <= 600 && left > 570 && remaining <= 592 * DLOCK_SECOND && remaining > 530 * DLOCK_SECOND,
		"for the time that was left");
	check(attach(&c, "once", &second) == DLOCK_LOST && strstr(c.error.message, "is no longer valid: it was"),
		"once only: %s", c.error.message);
	check(dlock_claim_extend(claim, 600 * DLOCK_SECOND, &c.error) == DLOCK_OK && release_and_free(&c, claim),
		"extended and released");
	check(attach(&c, "once", &second) == DLOCK_LOST && memcached_left(&server, "Lock:once") == -2,
		"there is no lease to attach to");
	memcached_client_free(&c);
}

/* A key that has two seconds left, and expires at a tick. It must still be there for the answer to tell. */
static bool is_left_alone(void *c)
{
	dlock_claim *claim;

	leave_lease("none", 2);
	return attach(c, "none", &claim) == DLOCK_LOST && has_old("none");
}

/* A key that is no lease, or a lease that is about to expire, stays as it is. */
static void test_none(void)
{
	memcached_client c = memcached_client_new(server.port);
	dlock_claim *claim;

	leave_lease("none", 0);
	check(attach(&c, "none", &claim) == DLOCK_LOST && has_old("none"), "a key without a lease time");
	check(eventually(is_left_alone, &c), "no lease time would be left");
	memcached_ask(&server, "ms Lock:none 3 T30\r\nxyz");
	check(attach(&c, "none", &claim) == DLOCK_LOST && !strcmp(memcached_value(&server, "Lock:none"), "xyz"),
		"another process holds it");
	memcached_client_free(&c);
}

static void test_race(void)
{
	enum { CHILDREN = 4, ROUNDS = 10 };
	int wins[ROUNDS] = { 0 }, bad = 0;

	for (int round = 0; round < ROUNDS; round++) {
		pid_t pids[CHILDREN];
		int *start = shared_memory(sizeof *start);
		leave_lease("race", 600);
		for (int i = 0; i < CHILDREN; i++) {
			pids[i] = fork_child();
			if (pids[i] == 0) {
				memcached_client c = memcached_client_new(server.port);
				dlock_claim *claim;
				memcached_passes(&c, "warm", 60000);
				while (!*(volatile int *) start) {
				}
				dlock_status status = attach(&c, "race", &claim);
				_exit(status == DLOCK_OK ? 1 : status == DLOCK_LOST ? 0 : 2);
			}
		}
		sleep_ms(20);
		*start = 1;
		for (int i = 0; i < CHILDREN; i++) {
			int code = exit_of(pids[i]);
			wins[round] += code == 1;
			bad += code > 1;
		}
	}
	int once = 0;
	for (int round = 0; round < ROUNDS; round++) {
		once += wins[round] == 1;
	}
	check(once == ROUNDS && bad == 0, "one of four succeeds, %d of %d times", once, ROUNDS);
}

/* The answer is lost. The client restores the old token for the time that was left, and a caller can try again. */
static void test_rolled_back(void)
{
	memcached_client other = memcached_client_new(server.port);
	relay relay;
	dlock_claim *claim;

	relay_start(&relay, server.port);
	atomic_store(&relay.hangs_up, 1);
	memcached_client c = memcached_client_new(relay.port);
	leave_lease("back", 600);
	memcached_passes(&c, "warm", 0);
	atomic_store(&relay.swallow, " MS ");
	check(attach(&c, "back", &claim) == DLOCK_CONNECTION && atomic_load(&relay.swallowed) > 0 && !has_old("back"),
		"the answer is lost: %s", c.error.message);
	memcached_client_drain(&c);
	long left = memcached_left(&server, "Lock:back");
	check(!c.pool->background && has_old("back") && left <= 600 && left > 570,
		"the old token is restored, for the time that is left (%ld s)", left);
	check(attach(&other, "back", &claim) == DLOCK_OK && release_and_free(&other, claim), "the handle works");

	leave_lease("back", 600);
	unsigned long long cas = memcached_cas(&server, "Lock:back");
	atomic_store(&relay.swallowed, 0);
	atomic_store(&relay.stop, " MS ");
	check(attach(&c, "back", &claim) == DLOCK_CONNECTION && has_old("back"), "the request is on its way: %s",
		c.error.message);
	atomic_store(&relay.stop, NULL);
	memcached_client_drain(&c);
	check(
		has_old("back") && memcached_cas(&server, "Lock:back") != cas, "if the request still comes, it has no effect");
	check(attach(&other, "back", &claim) == DLOCK_OK && release_and_free(&other, claim), "the handle works");
	memcached_client_free(&c);
	memcached_client_free(&other);
	relay_end(&relay);
}

static void *travel_when_stopped(void *context)
{
	relay *relay = context;

	eventually(is_stopped, relay);
	dlock_clock_travel(60 * DLOCK_SECOND);
	atomic_store(&relay->stop, NULL);
	return NULL;
}

/* The machine is suspended. The server's clock, which does not count that time, is late by more than the lease has
 * left, so no lease could be relied on. */
static void test_late_clock(void)
{
	memcached_client other = memcached_client_new(server.port);
	relay relay;
	dlock_claim *claim;
	pthread_t thread;

	relay_start(&relay, server.port);
	memcached_client c = memcached_client_new(relay.port);
	leave_lease("suspended", 30);
	memcached_passes(&c, "warm", 0);
	dlock_clock_travel(60 * DLOCK_SECOND);
	check(attach(&c, "suspended", &claim) == DLOCK_CONNECTION && has_old("suspended"), "the handle is not used up: %s",
		c.error.message);
	check(attach(&other, "suspended", &claim) == DLOCK_OK && release_and_free(&other, claim), "it works later");

	memcached_client_free(&c);
	c = memcached_client_new(relay.port);
	leave_lease("suspended", 30);
	memcached_passes(&c, "warm", 0);
	atomic_store(&relay.stop, " MS ");
	pthread_create(&thread, NULL, travel_when_stopped, &relay);
	check(attach(&c, "suspended", &claim) == DLOCK_CONNECTION, "the answer comes after the end of the lease: %s",
		c.error.message);
	pthread_join(thread, NULL);
	memcached_client_drain(&c);
	check(has_old("suspended"), "the old token is restored");
	memcached_client_free(&other);
	other = memcached_client_new(server.port);
	check(attach(&other, "suspended", &claim) == DLOCK_OK && release_and_free(&other, claim), "the handle works");
	memcached_client_free(&c);
	memcached_client_free(&other);
	relay_end(&relay);
}

/* The same if the fencing counter is no number. */
static void test_no_fence(void)
{
	memcached_client c = memcached_client_new(server.port);
	dlock_claim *claim;

	memcached_ask(&server, "ms dlock:fence 3 T0\r\nabc");
	leave_lease("fence", 60);
	check(attach(&c, "fence", &claim) == DLOCK_CONNECTION && strstr(c.error.message, "dlock:fence"), "no number: %s",
		c.error.message);
	memcached_client_drain(&c);
	check(has_old("fence"), "rolled back");
	claim = memcached_claim_on(&c, "fenced", 60000);
	check(memcached_acquire(&c, claim, 1000) == DLOCK_CONNECTION && strstr(c.error.message, "dlock:fence"),
		"nor is a lock acquired: %s", c.error.message);
	memcached_client_drain(&c);
	check(memcached_left(&server, "Lock:fenced") == -2, "the attempt leaves no key");
	dlock_claim_free(claim);
	memcached_client_free(&c);
}

static void reset(void)
{
	memcached_ask(&server, "flush_all");
}

static void begin(void)
{
	memcached_start(&server, NULL);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(once),
		TEST(none),
		TEST(race),
		TEST(rolled_back),
		TEST(late_clock),
		TEST(no_fence),
	};
	static const tap_setting setting = { begin, reset };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

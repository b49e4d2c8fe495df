/* The memcached back end with real servers. Prints TAP.
 * memcached_test [word in the names of the tests to run] */

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"
#include "memcached_server.h"
#include "relay.h"
#include "servers.h"
#include "tap.h"

static memcached_server server;

static memcached_client client_here(void)
{
	return memcached_client_new(server.port);
}

static bool is_on_server(const dlock_claim *claim)
{
	char key[80];

	snprintf(key, sizeof key, MEMCACHED_PREFIX "%s", claim->resource);
	return !strcmp(memcached_value(&server, key), claim->token);
}

static bool nobody_has(void *resource)
{
	char key[80];

	snprintf(key, sizeof key, MEMCACHED_PREFIX "%s", (const char *) resource);
	return memcached_left(&server, key) == -2;
}

static long left_ms(dlock_claim *claim)
{
	dlock_nanos remaining;

	dlock_claim_refresh(claim, &remaining);
	return (long) (remaining / DLOCK_MS);
}

static dlock_status release_and_free(memcached_client *c, dlock_claim *claim)
{
	dlock_status status = dlock_claim_release(claim, &c->error);

	dlock_claim_free(claim);
	return status;
}

/* ---- a lock's life ---- */

static void test_life(void)
{
	memcached_client c = client_here();
	dlock_claim *claim = memcached_claim_on(&c, "life", 600000);
	bool locked = true;

	check(c.backend->ops->locked(c.backend, "life", 4, &locked, &c.error) == DLOCK_OK && !locked, "free");
	check(memcached_acquire(&c, claim, 0) == DLOCK_OK && is_on_server(claim), "held: %s", c.error.message);
	long left = memcached_left(&server, "Lock:life");
	check(left <= 600 && left > 570 && left_ms(claim) <= 592000 && left_ms(claim) > 560000,
		"believed for less time than its key lasts");
	check(c.backend->ops->locked(c.backend, "life", 4, &locked, &c.error) == DLOCK_OK && locked, "locked");
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK && left_ms(claim) <= 592000 && left_ms(claim) > 530000,
		"checked");
	check(dlock_claim_extend(claim, 1200 * DLOCK_SECOND, &c.error) == DLOCK_OK
			&& memcached_left(&server, "Lock:life") > 1170 && left_ms(claim) > 1140000,
		"extended");
	int64_t token = claim->fencing_token;
	check(token > 1000000 * INT64_C(1700000000), "its fencing token began at the time of day");
	check(release_and_free(&c, claim) == DLOCK_OK && nobody_has("life"), "released");
	claim = memcached_claim_on(&c, "other", 600000);
	check(memcached_acquire(&c, claim, 0) == DLOCK_OK && claim->fencing_token == token + 1, "the next fencing token");
	dlock_claim_abandon(claim);
	memcached_client_drain(&c);
	check(nobody_has("other"), "abandoned");
	dlock_claim_free(claim);
	memcached_client_free(&c);
}

static void test_time_limit(void)
{
	memcached_client c = client_here(), other = client_here();
	dlock_claim *claim = memcached_claim_on(&c, "limit", 90000), *second = memcached_claim_on(&other, "limit", 90000);

	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	dlock_nanos start = dlock_now();
	check(memcached_acquire(&other, second, 0) == DLOCK_TIMEOUT && dlock_now() - start < SOON, "refused at once");
	start = dlock_now();
	check(memcached_acquire(&other, second, 300) == DLOCK_TIMEOUT && dlock_now() - start >= 300 * DLOCK_MS
			&& dlock_now() - start < SOON,
		"after the time limit");
	interrupt_on(SIGUSR1);
	pid_t pid = signal_later(getpid(), SIGUSR1, 200);
	check(memcached_acquire(&other, second, -1) == DLOCK_INTERRUPTED, "interrupted by a signal");
	exit_of(pid);
	interrupt_clear();
	check(release_and_free(&c, claim) == DLOCK_OK && memcached_acquire(&other, second, 1000) == DLOCK_OK
			&& second->waited,
		"resumed");
	check(release_and_free(&other, second) == DLOCK_OK, "released");
	memcached_client_free(&c);
	memcached_client_free(&other);
}

static void test_contention(void)
{
	enum { CHILDREN = 6, ROUNDS = 15 };
	struct {
		_Atomic int inside, overlaps, done;
		_Atomic int64_t fence;
		_Atomic int disorder;
	} *shared = shared_memory(sizeof *shared);
	pid_t pids[CHILDREN];
	int failures = 0;

	for (int i = 0; i < CHILDREN; i++) {
		pids[i] = fork_child();
		if (pids[i] == 0) {
			memcached_client c = client_here();
			for (int round = 0; round < ROUNDS; round++) {
				dlock_claim *claim = memcached_claim_on(&c, "contended", 300000);
				if (memcached_acquire(&c, claim, -1) != DLOCK_OK) {
					_exit(1);
				}
				atomic_fetch_add(&shared->overlaps, atomic_fetch_add(&shared->inside, 1) != 0);
				atomic_fetch_add(
					&shared->disorder, atomic_exchange(&shared->fence, claim->fencing_token) >= claim->fencing_token);
				sleep_ms(1);
				atomic_fetch_sub(&shared->inside, 1);
				atomic_fetch_add(&shared->done, release_and_free(&c, claim) == DLOCK_OK);
			}
			_exit(0);
		}
	}
	for (int i = 0; i < CHILDREN; i++) {
		failures += exit_of(pids[i]) != 0;
	}
	check(failures == 0 && atomic_load(&shared->done) == CHILDREN * ROUNDS, "all acquire it (%d)",
		atomic_load(&shared->done));
	check(atomic_load(&shared->overlaps) == 0, "one at a time");
	check(atomic_load(&shared->disorder) == 0, "with rising fencing tokens");
}

/* A lease may begin anywhere between two ticks of the server's clock. Its key exists for as long as the holder relies
 * on it. Leases count whose keys were looked at just before their ends, and not after. */
static void test_margin(void)
{
	enum { LEASES = 12 };
	memcached_client c = memcached_client_in_time(server.port);
	dlock_claim *claims[LEASES], *last = NULL;
	bool acquired = true;
	int seen = 0, there = 0;
	char resource[32];

	for (int i = 0; i < 10 && seen < LEASES; i++) {
		for (int k = 0; k < LEASES; k++) {
			snprintf(resource, sizeof resource, "margin%d-%d", i, k);
			claims[k] = memcached_claim_on(&c, resource, 4000);
			acquired &= memcached_acquire(&c, claims[k], 60000) == DLOCK_OK && left_ms(claims[k]) <= 1960;
			sleep_ms(93);
		}
		for (int k = 0; k < LEASES; k++) {
			long left = left_ms(claims[k]);
			sleep_ms(left > 10 ? (int) left - 10 : 0);
			bool is_there = is_on_server(claims[k]), in_time = left > 0 && left_ms(claims[k]) > 0;
			seen += in_time;
			there += in_time && is_there;
			if (last) {
				dlock_claim_free(last);
			}
			last = claims[k];
		}
	}
	check(acquired && seen > 0 && there == seen, "%d of %d keys exist when their leases end", there, seen);
	sleep_ms((int) left_ms(last) + 100);
	check(dlock_claim_release(last, &c.error) == DLOCK_LOST, "the lease expires before its key");
	memcached_client_drain(&c);
	check(nobody_has(last->resource), "and the key is deleted");
	dlock_claim_free(last);
	memcached_client_free(&c);
}

/* ---- keys ---- */

static void test_keys(void)
{
	memcached_client c = client_here();
	char long_plain[300], long_spaced[300], longest[DLOCK_RESOURCE_MAX + 1];
	const char *resources[] = { "plain", "with space", "tab\there", "umlaut \xc3\xa4", "\xc3\xa4", "line\r\nmg x v",
		"\x7f", long_plain, long_spaced, longest, "d2l0aCBzcGFjZQ==", "TG9jazp3aXRoIHNwYWNl", "s" };
	enum { COUNT = sizeof resources / sizeof *resources };
	dlock_claim *claims[COUNT];
	int held = 0, released = 0;

	memset(long_plain, 'p', 299);
	memset(long_spaced, ' ', 299);
	memset(longest, 'x', DLOCK_RESOURCE_MAX);
	long_plain[299] = long_spaced[299] = longest[DLOCK_RESOURCE_MAX] = '\0';
	for (int i = 0; i < COUNT; i++) {
		claims[i] = memcached_claim_on(&c, resources[i], 30000);
		held += memcached_acquire(&c, claims[i], 0) == DLOCK_OK;
		for (int j = 0; j < COUNT; j++) {
			if (dlock_claim_is_for(claims[i], c.backend, resources[j], strlen(resources[j])) != (i == j)) {
				check(false, "%s is %s", resources[i], resources[j]);
			}
		}
	}
	check(held == COUNT, "no two resources share a key (%s)", c.error.message);
	check(
		!strcmp(memcached_value(&server, "Lock:plain"), claims[0]->token), "a name that memcached accepts is the key");
	check(!strcmp(memcached_value(&server, "TG9jazp3aXRoIHNwYWNl b"), claims[1]->token),
		"any other name is a key in base64");
	for (int i = 0; i < COUNT; i++) {
		released += release_and_free(&c, claims[i]) == DLOCK_OK;
	}
	check(released == COUNT, "all are released");
	memcached_client_free(&c);
}

/* If a user sets the prefix, a resource could have the key of the fencing counter, of the clock or of a digest. */
static void test_reserved_keys(void)
{
	dlock_memcached_key key, other;
	char hex[65], digest[100];

	dlock_memcached_make_key(&key, "dlock:", 6, "fence", 5, memcached_digest);
	check(strcmp(key.text, DLOCK_MEMCACHED_FENCE), "it is not the fencing counter's (%s)", key.text);
	dlock_memcached_make_key(&key, "dlock:", 6, "clock", 5, memcached_digest);
	check(strcmp(key.text, DLOCK_MEMCACHED_CLOCK), "nor that of the clock");
	dlock_memcached_make_key(&key, "", 0, "fence", 5, memcached_digest);
	check(!strcmp(key.text, "fence"), "without a prefix, the name is the key");
	memset(digest, ' ', 99);
	char text[401];
	memset(text, 'x', 400);
	memcached_digest(text, 400, hex);
	snprintf(digest, sizeof digest, "dlock:sha256:%s", hex);
	dlock_memcached_make_key(&key, "", 0, text, 400, memcached_digest);
	dlock_memcached_make_key(&other, "", 0, digest, strlen(digest), memcached_digest);
	check(!strcmp(key.text, digest) && strcmp(other.text, digest), "a name that looks like a digest has another key");
	dlock_memcached_make_key(&key, "", 0, text, 250, memcached_digest);
	check(strlen(key.text) == 250 && !key.encoded, "a name of 250 bytes is a key");
	memset(text, ' ', 186);
	dlock_memcached_make_key(&key, "", 0, text, 186, memcached_digest);
	check(strlen(key.text) == 248 && key.encoded, "186 bytes fit in base64");
	dlock_memcached_make_key(&key, "", 0, "a\0b", 3, memcached_digest);
	check(!strcmp(key.text, "YQBi") && key.encoded, "also bytes with a NUL");
}

/* ---- keys of other programs ---- */

static void set_foreign(const char *resource, int seconds)
{
	memcached_ask(&server, "ms Lock:%s 7 T%d\r\nforeign", resource, seconds);
}

static bool is_foreign(const char *resource)
{
	char key[80];

	snprintf(key, sizeof key, "Lock:%s", resource);
	return !strcmp(memcached_value(&server, key), "foreign");
}

/* Another program has set the key since. No request of the former holder has an effect. */
static void test_foreign(void)
{
	memcached_client c = client_here();
	dlock_claim *claim = memcached_claim_on(&c, "foreign", 30000);

	set_foreign("foreign", 1000);
	check(memcached_acquire(&c, claim, 0) == DLOCK_TIMEOUT && is_foreign("foreign"), "another program holds it");
	memcached_ask(&server, "md Lock:foreign");
	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	set_foreign("foreign", 1000);
	check(dlock_claim_check(claim, &c.error) == DLOCK_LOST, "lost: %s", c.error.message);
	claim->state = DLOCK_CLAIM_HELD;
	dlock_claim_abandon(claim);
	memcached_client_drain(&c);
	check(is_foreign("foreign"), "an abandon does not delete the key, whose CAS the check has read");
	claim->state = DLOCK_CLAIM_HELD;
	claim->deadline = dlock_now() + 60 * DLOCK_SECOND;
	check(dlock_claim_extend(claim, 30 * DLOCK_SECOND, &c.error) == DLOCK_LOST && is_foreign("foreign"),
		"an extension does not change it");
	claim->state = DLOCK_CLAIM_HELD;
	check(dlock_claim_release(claim, &c.error) == DLOCK_LOST && is_foreign("foreign"), "nor does a release: %s",
		c.error.message);
	dlock_claim_free(claim);
	memcached_client_free(&c);
}

/* The CAS has changed, but the token is still the holder's, as after a renewal. */
static void test_other_cas(void)
{
	memcached_client c = client_here();
	dlock_claim *claim = memcached_claim_on(&c, "changed", 30000);

	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	memcached_ask(&server, "ms Lock:changed %d T60\r\n%s", (int) strlen(claim->token), claim->token);
	check(dlock_claim_extend(claim, 600 * DLOCK_SECOND, &c.error) == DLOCK_OK
			&& memcached_left(&server, "Lock:changed") > 500,
		"extended");
	memcached_ask(&server, "ms Lock:changed %d T60\r\n%s", (int) strlen(claim->token), claim->token);
	check(release_and_free(&c, claim) == DLOCK_OK && nobody_has("changed"), "released");
	claim = memcached_claim_on(&c, "changed", 30000);
	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	memcached_ask(&server, "ms Lock:changed %d T60\r\n%s", (int) strlen(claim->token), claim->token);
	dlock_claim_abandon(claim);
	memcached_client_drain(&c);
	check(nobody_has("changed"), "abandoned");
	dlock_claim_free(claim);
	memcached_client_free(&c);
}

/* ---- servers that fail ---- */

/* A restarted server counts CAS anew, so the next holder's key may have the CAS of the former key. */
static void test_restart(void)
{
	memcached_client c = client_here(), other = client_here();
	dlock_claim *claim, *second;
	static const char *const what[] = { "extend", "release", "abandon" };

	for (int i = 0; i < 3; i++) {
		memcached_restart(&server);
		claim = memcached_claim_on(&c, "restart", 30000), second = memcached_claim_on(&other, "restart", 30000);
		check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held: %s", c.error.message);
		unsigned long long cas = memcached_cas(&server, "Lock:restart");
		memcached_restart(&server);
		check(memcached_acquire(&other, second, 0) == DLOCK_OK && memcached_cas(&server, "Lock:restart") == cas,
			"another client holds it with the same CAS");
		dlock_status status = i == 0 ? dlock_claim_extend(claim, 30 * DLOCK_SECOND, &c.error)
			: i == 1 ? dlock_claim_release(claim, &c.error) : (dlock_claim_abandon(claim), DLOCK_LOST);
		memcached_client_drain(&c);
		check(status == DLOCK_LOST && is_on_server(second), "%s does not change its key", what[i]);
		dlock_claim_free(claim);
		dlock_claim_free(second);
	}
	memcached_client_free(&c);
	memcached_client_free(&other);
}

static void test_killed(void)
{
	memcached_client c = client_here();
	dlock_claim *claim = memcached_claim_on(&c, "killed", 30000), *second = memcached_claim_on(&c, "killed", 30000);

	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	memcached_kill(&server);
	check(dlock_claim_extend(claim, 30 * DLOCK_SECOND, &c.error) == DLOCK_CONNECTION, "no extension: %s",
		c.error.message);
	check(memcached_acquire(&c, second, 5000) == DLOCK_CONNECTION && strstr(c.error.message, "refused"), "no lock: %s",
		c.error.message);
	memcached_restart(&server);
	check(dlock_claim_check(claim, &c.error) == DLOCK_LOST, "the restarted server has no key");
	check(memcached_acquire(&c, second, 0) == DLOCK_OK && release_and_free(&c, second) == DLOCK_OK,
		"it works again: %s", c.error.message);
	dlock_claim_free(claim);
	memcached_client_free(&c);
}

/* The server is stopped. A client waits no longer than read_timeout, and a late success is deleted. */
static void test_frozen(void)
{
	memcached_client c = client_here(), other = client_here();
	dlock_claim *claim = memcached_claim_on(&c, "frozen", 60000);

	check(memcached_passes(&c, "frozen", 0), "connected");
	memcached_freeze(&server);
	c.pool->first->timeout_cap = 200 * DLOCK_MS;
	dlock_nanos start = dlock_now();
	check(memcached_acquire(&c, claim, 60000) == DLOCK_CONNECTION && dlock_now() - start < SOON, "no answer: %s",
		c.error.message);
	pid_t pid = signal_later(server.pid, SIGCONT, 500);
	memcached_client_drain(&c);
	exit_of(pid);
	check(!c.pool->background && nobody_has("frozen"), "the late acquire is undone");
	check(memcached_passes(&other, "frozen", 0), "and another client acquires it: %s", other.error.message);
	dlock_claim_free(claim);
	memcached_client_free(&c);
	memcached_client_free(&other);
}

/* ---- the server's clock ---- */

/* Does the holder rely on the claim for no longer than its key exists, once the server's clock has caught up? */
static bool is_believed_rightly(dlock_claim *claim, const char *key)
{
	dlock_nanos at;

	sleep_ms(60);
	dlock_nanos left = memcached_left_at(&server, key, &at) * DLOCK_SECOND, believed = claim->deadline - at;

	note("believed for %ld ms, the key exists for %ld s", (long) (believed / DLOCK_MS), (long) (left / DLOCK_SECOND));
	return believed <= left;
}

/* Stops the server for 3.5 s, until a request waits for it. It executes that by its old clock. */
static pid_t stop(void)
{
	memcached_freeze(&server);
	sleep_ms(3500);
	return memcached_thaw_when_asked(&server);
}

static long long last_fencing_token(void)
{
	return strtoll(memcached_value(&server, DLOCK_MEMCACHED_FENCE), NULL, 10);
}

/* An extension counts from its request, so the server's clock counts as being in time. */
static bool extends_in_time(void *context)
{
	dlock_claim *claim = context;
	dlock_nanos start = dlock_now();

	return dlock_claim_extend(claim, 120 * DLOCK_SECOND, &(dlock_error) { "" }) == DLOCK_OK
		&& claim->deadline > start + 115500 * DLOCK_MS;
}

static void test_stopped_clock(void)
{
	memcached_client c = memcached_client_in_time(server.port);
	dlock_claim *claim = memcached_claim_on(&c, "stopped", 40000);
	bool good = true, in_time = false;

	pid_t pid = stop();
	check(memcached_acquire(&c, claim, 0) == DLOCK_OK && is_believed_rightly(claim, "Lock:stopped"),
		"acquired then: %s", c.error.message);
	exit_of(pid);
	for (int i = 0; i < 10 && !in_time; i++) { /* so short a lease may also end before the test looks at it */
		dlock_claim *second = memcached_claim_on(&c, "short", 4000);
		pid = stop();
		dlock_nanos start = dlock_now();
		good &= memcached_acquire(&c, second, 60000) == DLOCK_OK;
		in_time = left_ms(second) > 0;
		good &= (in_time || dlock_now() - start > 100 * DLOCK_MS) && is_believed_rightly(second, "Lock:short");
		exit_of(pid);
		dlock_claim_free(second);
	}
	check(good && in_time, "a lease that would have expired is acquired again: %s", c.error.message);
	check(eventually(extends_in_time, claim), "in time again");
	pid = stop();
	check(dlock_claim_extend(claim, 40 * DLOCK_SECOND, &c.error) == DLOCK_OK
			&& is_believed_rightly(claim, "Lock:stopped"),
		"extended then: %s", c.error.message);
	exit_of(pid);
	check(dlock_claim_extend(claim, 40 * DLOCK_SECOND, &c.error) == DLOCK_OK, "extended again");
	pid = stop();
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK && is_believed_rightly(claim, "Lock:stopped"), "checked then");
	exit_of(pid);
	dlock_claim_free(claim);
	memcached_client_free(&c);
}

/* The key by which clients read the clock is gone. A client creates it again, and no call fails or is refused. */
static void test_lost_clock(void)
{
	memcached_client c = client_here();
	dlock_claim *claim = memcached_claim_on(&c, "clock", 100000);

	check(memcached_passes(&c, "warm", 0), "connected");
	memcached_ask(&server, "flush_all");
	check(memcached_acquire(&c, claim, 0) == DLOCK_OK && left_ms(claim) > 60000, "acquired: %s", c.error.message);
	memcached_ask(&server, "md dlock:clock");
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK && left_ms(claim) > 50000, "checked: %s", c.error.message);
	memcached_ask(&server, "md dlock:clock");
	check(dlock_claim_extend(claim, 200 * DLOCK_SECOND, &c.error) == DLOCK_OK && left_ms(claim) > 160000,
		"extended: %s",
		c.error.message);
	memcached_ask(&server, "md dlock:clock\r\nms dlock:clock 0 T1000\r\n");
	check(dlock_claim_extend(claim, 300 * DLOCK_SECOND, &c.error) == DLOCK_OK && left_ms(claim) > 260000,
		"also if another client has created the key: %s", c.error.message);
	memcached_ask(&server, "md dlock:clock");
	check(release_and_free(&c, claim) == DLOCK_OK, "released");
	memcached_client_free(&c);
}

static dlock_nanos late_by(dlock_memcached_clock *clock, int64_t left, dlock_nanos sent, dlock_nanos now)
{
	dlock_memcached_reply reply = { .code = DLOCK_MEMCACHED_HD, .cas = 5, .left = left };

	return dlock_memcached_clock_read(clock, &reply, sent, now);
}

static dlock_nanos late_at(dlock_memcached_clock *clock, int64_t left, dlock_nanos now)
{
	return late_by(clock, left, now - DLOCK_MS, now);
}

static void test_clock_readings(void)
{
	const dlock_nanos s = DLOCK_SECOND, ms = DLOCK_MS, start = 1000000 * s;
	dlock_memcached_clock clock = { 0 };

	check(late_at(&clock, 1000, start) == DLOCK_FOREVER, "the first reading does not show whether the clock is late");
	check(late_at(&clock, 1000, start + 900 * ms) >= 900 * ms, "until it has ticked, it may have stood still since");
	check(late_at(&clock, 999, start + 901 * ms) == 0 && late_at(&clock, 999, start + 1900 * ms) == 0,
		"then it is in time within a tick");
	check(late_at(&clock, 995, start + 4901 * ms) == 0, "it is in time as time passes");
	dlock_nanos late = late_at(&clock, 995, start + 8 * s);
	check(late > 2 * s && late < 4 * s, "a stop makes it late");
	check(late_at(&clock, 995, start + 8 * s + 2 * ms) >= late, "also at the next reading within the stop");
	check(late_at(&clock, 992, start + 8 * s + 10 * ms) == 0 && late_at(&clock, 992, start + 8 * s + 800 * ms) == 0,
		"then it has caught up");
	check(late_at(&clock, 991, start + 100 * s) > 80 * s && late_at(&clock, 990, start + 100 * s + 500 * ms) == 0,
		"the machine was suspended, until the clock ticks");
	clock.is_reconnected = true;
	clock.late = 0;
	check(late_at(&clock, 989, start + 202 * s) > 80 * s && late_at(&clock, 989, start + 204 * s) > 80 * s,
		"a new connection may begin before the clock has caught up");
	check(late_at(&clock, 886, start + 204 * s + ms) == 0 && !clock.is_reconnected, "then it has");
	clock.is_reconnected = true;
	check(late_at(&clock, 880, start + 300 * s) > 80 * s && late_at(&clock, 876, start + 304 * s) == DLOCK_FOREVER
			&& late_at(&clock, 876, start + 304 * s + ms) <= ms,
		"if the clock stays late, the readings begin anew");
	clock.is_reconnected = true;
	check(late_at(&clock, 876, start + 310 * s) > 5 * s && late_at(&clock, 876, start + 314 * s) > 9 * s
			&& late_at(&clock, 876, start + 316 * s) > 11 * s,
		"a clock that stands still gets later, and does not count as staying late");
	clock = (dlock_memcached_clock) { 0 };
	check(late_by(&clock, 900, start, start + 5 * s) == DLOCK_FOREVER
			&& late_by(&clock, 900, start + 4 * s, start + 5 * s) >= 4 * s,
		"a slow first answer does not hide how late the clock is");
	check(late_at(&clock, 895, start + 5 * s + ms) <= ms, "then it has caught up");
}

/* How well a process knows the clock depends on when within its ticks it has read it. */
static void test_few_clock_readings(void)
{
	const dlock_nanos s = DLOCK_SECOND, ms = DLOCK_MS, start = 1000000 * s;
	dlock_memcached_clock clock = { 0 };

	check(late_at(&clock, 1000, start) == DLOCK_FOREVER && late_at(&clock, 993, start + 6800 * ms) <= ms,
		"two readings, perhaps both at the end of a tick");
	check(late_at(&clock, 993, start + 7700 * ms) >= 700 * ms, "a stop after them may be longer than it seems");
	clock = (dlock_memcached_clock) { 0 };
	check(late_at(&clock, 1000, start) == DLOCK_FOREVER && late_at(&clock, 999, start + 10 * ms) <= ms
			&& late_at(&clock, 999, start + 900 * ms) <= ms,
		"a tick between two readings shows when the clock ticks");
	check(late_at(&clock, 989, start + 8 * s) <= ms, "the server's clock has gained");
	check(late_at(&clock, 989, start + 9500 * ms) >= 490 * ms, "a stop after that is noticed, too");
}

/* ---- answers that are lost ---- */

/* Loses the answer to the next request with this word. The connection of an earlier lost answer is closed. */
static void lose(relay *relay, const char *word)
{
	atomic_store(&relay->swallowed, 0);
	atomic_store(&relay->swallow, word);
}

/* A client over a relay that closes connections whose bytes wait or are lost. */
static memcached_client client_over(relay *relay)
{
	relay_start(relay, server.port);
	atomic_store(&relay->hangs_up, 1);
	return memcached_client_new(relay->port);
}

static void test_lost_answers(void)
{
	relay relay;
	memcached_client c = client_over(&relay);
	dlock_claim *claim = memcached_claim_on(&c, "lost", 300000);

	check(memcached_passes(&c, "lost", 0), "connected");
	lose(&relay, "ms ");
	check(memcached_acquire(&c, claim, 5000) == DLOCK_CONNECTION && is_on_server(claim), "the answer to an acquire: %s",
		c.error.message);
	memcached_client_drain(&c);
	check(nobody_has("lost"), "the key is deleted");
	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	/* The server, and so its clock, may stand still from here on. */
	dlock_nanos shorter = claim->deadline - (295000 - 57400) * DLOCK_MS;
	lose(&relay, "ms ");
	check(dlock_claim_extend(claim, 60 * DLOCK_SECOND, &c.error) == DLOCK_CONNECTION && claim->deadline == shorter,
		"the answer to a shorter extension: the shorter one is believed, from when the longer one was set");
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK && claim->deadline <= shorter, "also after a check");
	check(dlock_claim_extend(claim, 300 * DLOCK_SECOND, &c.error) == DLOCK_OK && left_ms(claim) > 260000,
		"until an extension is answered");
	lose(&relay, "md ");
	check(dlock_claim_release(claim, &c.error) == DLOCK_CONNECTION && nobody_has("lost"), "the answer to a release");
	memcached_client_drain(&c);
	check(!c.pool->background && memcached_passes(&c, "lost", 0), "nothing is left to do");
	dlock_claim_free(claim);
	memcached_client_free(&c);
	relay_end(&relay);
}

/* Each attempt counts a fencing token, so their number is known. */
static void test_slow_server(void)
{
	relay relay;
	memcached_client c = client_over(&relay);
	dlock_claim *claim = memcached_claim_on(&c, "slow", 4000);

	check(memcached_passes(&c, "warm", 0), "connected");
	long long before = last_fencing_token();
	atomic_store(&relay.delay_ms, 2000);
	check(memcached_acquire(&c, claim, 0) == DLOCK_TIMEOUT, "the answer comes after the end of the lease: %s",
		c.error.message);
	check(last_fencing_token() == before + 1, "there is one attempt, because another would take as long");
	atomic_store(&relay.delay_ms, 0);
	memcached_client_drain(&c);
	check(nobody_has("slow"), "its key is deleted");
	dlock_claim_free(claim);
	memcached_client_free(&c);
	relay_end(&relay);
}

static bool has_key(void *key)
{
	return memcached_left(&server, key) != -2;
}

static bool has_looked(void *background)
{
	return !((dlock_background *) background)->sent;
}

/* The server executes a request of a closed connection after the request that looks for its effect. */
static void test_late_success(void)
{
	relay relay;
	memcached_client c = client_over(&relay);
	dlock_claim *claim = memcached_claim_on(&c, "late", 300000);

	check(memcached_passes(&c, "late", 0), "connected");
	atomic_store(&relay.stop, "ms Lock:late");
	check(memcached_acquire(&c, claim, 5000) == DLOCK_CONNECTION, "no answer: %s", c.error.message);
	dlock_loop_await(dlock_net_pool_loop(c.pool), has_looked, c.pool->background, DLOCK_FOREVER);
	check(nobody_has("late"), "not yet executed");
	atomic_store(&relay.stop, NULL);
	check(eventually(has_key, "Lock:late"), "the acquire is executed late");
	memcached_client_drain(&c);
	check(!c.pool->background && nobody_has("late"), "the late acquire is undone");
	dlock_claim_free(claim);
	memcached_client_free(&c);
	relay_end(&relay);
}

/* An extension has not been executed, but still can be while the key has the same CAS. So a check must not rely on the
 * longer lease. */
static void test_pending_extension(void)
{
	relay relay;
	memcached_client c = client_over(&relay);
	dlock_claim *claim = memcached_claim_on(&c, "pending", 300000);

	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	dlock_nanos shorter = claim->deadline - (295000 - 57400) * DLOCK_MS;
	atomic_store(&relay.stop, " MS ");
	check(dlock_claim_extend(claim, 60 * DLOCK_SECOND, &c.error) == DLOCK_CONNECTION
			&& memcached_left(&server, "Lock:pending") > 200,
		"the extension is on its way");
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK && claim->deadline == shorter,
		"the shorter lease is believed");
	atomic_store(&relay.stop, NULL);
	dlock_claim_free(claim);
	memcached_client_free(&c);
	relay_end(&relay);
}

static void reset(void)
{
	memcached_ask(&server, "flush_all");
	interrupt_clear();
}

static void begin(void)
{
	memcached_start(&server, NULL);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(life),
		TEST(time_limit),
		TEST(contention),
		TEST(margin),
		TEST(keys),
		TEST(reserved_keys),
		TEST(foreign),
		TEST(other_cas),
		TEST(restart),
		TEST(killed),
		TEST(frozen),
		TEST(stopped_clock),
		TEST(lost_clock),
		TEST(clock_readings),
		TEST(few_clock_readings),
		TEST(lost_answers),
		TEST(slow_server),
		TEST(late_success),
		TEST(pending_extension),
	};
	static const tap_setting setting = { begin, reset };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

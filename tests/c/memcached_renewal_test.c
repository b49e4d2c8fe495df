/* Renewal of leases on memcached, by the thread and by the test's own rounds. Prints TAP.
 * memcached_renewal_test [word in the names of the tests to run] */

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../src/memcached/renewal.h"
#include "helpers.h"
#include "memcached_server.h"
#include "relay.h"
#include "tap.h"
#include "upkeep.h"

static memcached_server server;

/* Acquires a lock for a minute, and begins its renewal. */
static void keep(ward *lease, memcached_client *c, const char *resource)
{
	lease->claim = memcached_claim_on(c, resource, 60000);
	atomic_store(&lease->losses, 0);
	check(memcached_acquire(c, lease->claim, 5000) == DLOCK_OK
			&& dlock_renewal_begin(lease->claim, &RENEW_AND_TELL(lease), &c->error) == DLOCK_OK,
		"held and renewed: %s", c->error.message);
}

/* Does the holder rely on the claim for no longer than its key exists? */
static bool is_believed_rightly(dlock_claim *claim, const char *key)
{
	dlock_nanos deadline = claim->deadline, at, left = memcached_left_at(&server, key, &at) * DLOCK_SECOND;

	return deadline - at <= left;
}

/* ---- by the thread ---- */

static void test_many_times(void)
{
	memcached_client c = memcached_client_in_time(server.port);
	int renewed = 0, there = 0, right = 0;
	long longest = 0;
	ward lease;

	keep(&lease, &c, "kept");
	for (int i = 0; i < 120; i++) {
		unsigned long before = renewals();
		renew_now(lease.claim);
		renewed += renewed_since(before, 1);
		long left = left_ms(lease.claim);
		longest = left > longest ? left : longest;
		there += strcmp(memcached_value(&server, "Lock:kept"), lease.claim->token) == 0;
		right += is_believed_rightly(lease.claim, "Lock:kept");
	}
	check(renewed == 120 && there == 120 && atomic_load(&lease.losses) == 0, "kept over many renewals (%d)", there);
	check(longest > 30000 && longest <= 57400 && right == 120,
		"never believed for longer than its key may last (%ld ms)", longest);
	check(dlock_claim_release(lease.claim, &c.error) == DLOCK_OK && memcached_left(&server, "Lock:kept") == -2,
		"released: %s", c.error.message);
	dlock_claim_free(lease.claim);
	memcached_client_free(&c);
}

static void test_lost(void)
{
	memcached_client c = memcached_client_new(server.port);
	ward lease;

	keep(&lease, &c, "lost");
	memcached_ask(&server, "ms Lock:lost 7 T100\r\nforeign");
	renew_now(lease.claim);
	check(eventually_lost(&lease) && left_ms(lease.claim) == 0, "another client holds the lock: the holder is told");
	check(!strcmp(memcached_value(&server, "Lock:lost"), "foreign"), "and the other client's key stays");
	dlock_claim_abandon(lease.claim);
	dlock_claim_free(lease.claim);
	memcached_ask(&server, "md Lock:lost");
	keep(&lease, &c, "lost");
	memcached_ask(&server, "md Lock:lost");
	renew_now(lease.claim);
	check(eventually_lost(&lease), "the key is gone: the holder is told");
	dlock_claim_free(lease.claim);
	keep(&lease, &c, "lost");
	unsigned long before = renewals();
	memcached_restart(&server);
	renew_now(lease.claim);
	check(eventually_lost(&lease) && renewals() == before, "a restarted server has no key: the holder is told");
	dlock_claim_free(lease.claim);
	memcached_client_free(&c);
}

/* After a restart, the next holder's key may have the CAS that the thread knows of the former key. */
static void test_restart(void)
{
	memcached_client c = memcached_client_new(server.port), other = memcached_client_new(server.port);
	dlock_claim *second;
	ward lease;

	keep(&lease, &c, "again");
	unsigned long before = renewals();
	renew_now(lease.claim);
	check(renewed_since(before, 1), "renewed once");
	unsigned long long cas = memcached_cas(&server, "Lock:again");
	memcached_restart(&server);
	second = memcached_claim_on(&other, "again", 60000);
	check(memcached_acquire(&other, second, 0) == DLOCK_OK, "another client acquires the lock");
	while (memcached_cas(&server, "Lock:again") < cas) {
		memcached_ask(&server, "ms Lock:again %d T60\r\n%s", (int) strlen(second->token), second->token);
	}
	check(memcached_cas(&server, "Lock:again") == cas, "with the same CAS");
	renew_now(lease.claim);
	check(eventually_lost(&lease) && !strcmp(memcached_value(&server, "Lock:again"), second->token),
		"the thread does not change the other client's key");
	dlock_claim_free(lease.claim);
	dlock_claim_free(second);
	memcached_client_free(&c);
	memcached_client_free(&other);
}

/* If the server does not answer, the lease is lost in time. When the server continues, the key is deleted. */
static void test_frozen(void)
{
	memcached_client c = memcached_client_new(server.port);
	ward lease;

	keep(&lease, &c, "frozen");
	unsigned long before = renewals();
	renew_now(lease.claim);
	check(renewed_since(before, 1), "renewed");
	dlock_nanos renewed = dlock_now();
	memcached_freeze(&server);
	check(lease.claim->deadline - renewed <= 57400 * DLOCK_MS,
		"relied on until two seconds before the key may expire");
	renew_now(lease.claim);
	check(eventually_renewing(lease.claim), "the server does not answer");
	let_expire(lease.claim);
	check(eventually_lost(&lease), "told");
	memcached_thaw(&server);
	dlock_claim_abandon(lease.claim);
	memcached_client_drain(&c);
	check(memcached_left(&server, "Lock:frozen") == -2, "the key is deleted then");
	dlock_claim_free(lease.claim);
	memcached_client_free(&c);
}

/* The holder and the thread send requests as fast as they can. */
static void test_both(void)
{
	memcached_client c = memcached_client_in_time(server.port);
	int bad = 0, failed = 0;
	ward lease;

	keep(&lease, &c, "both");
	for (int i = 0; i < 400; i++) {
		int ttl = i % 3 == 0 ? 60 : i % 3 == 1 ? 40 : 50;
		failed += dlock_claim_extend(lease.claim, ttl * DLOCK_SECOND, &c.error) != DLOCK_OK;
		renew_now(lease.claim);
		sleep_ms(i % 10);
		bad += !is_believed_rightly(lease.claim, "Lock:both");
	}
	check(failed == 0 && atomic_load(&lease.losses) == 0, "no request fails: %s", c.error.message);
	check(bad == 0, "the key never has less time than believed");
	check(dlock_claim_release(lease.claim, &c.error) == DLOCK_OK && memcached_left(&server, "Lock:both") == -2,
		"released");
	sleep_ms(50);
	check(memcached_left(&server, "Lock:both") == -2, "and the key does not come back");
	dlock_claim_free(lease.claim);
	memcached_client_free(&c);
}

/* The thread and the lease end while the thread waits for an answer. */
static void test_shutdown(void)
{
	memcached_client c = memcached_client_new(server.port);
	ward lease;

	keep(&lease, &c, "end");
	memcached_freeze(&server);
	renew_now(lease.claim);
	check(eventually_renewing(lease.claim), "the thread waits for an answer");
	dlock_nanos start = dlock_now();
	dlock_renewal_shutdown();
	check(dlock_now() - start < SOON, "the thread ends at once");
	memcached_thaw(&server);
	dlock_claim_abandon(lease.claim);
	memcached_client_drain(&c);
	check(memcached_left(&server, "Lock:end") == -2, "and the lease can be released");
	dlock_claim_free(lease.claim);
	memcached_client_free(&c);
}

/* ---- round by round ---- */

typedef struct {
	dlock_renewal_round *round;
	dlock_renewer *renewer;
	dlock_loop *loop;
} rounds;

static bool is_decided(void *round)
{
	return ((dlock_renewal_round *) round)->ops->result(round) != DLOCK_ROUND_OPEN;
}

static void advance(rounds *r)
{
	dlock_loop_await(r->loop, is_decided, r->round, dlock_now() + 60 * DLOCK_SECOND);
}

static rounds rounds_of(dlock_claim *claim)
{
	rounds r = { .round = claim->backend->ops->new_round(claim), .loop = calloc(1, sizeof(dlock_loop)) };

	r.renewer = r.round->ops->renewer->create();
	r.renewer->ops->join(r.renewer, r.loop);
	return r;
}

static void end_rounds(rounds *r)
{
	r->round->ops->free(r->round);
	r->renewer->ops->destroy(r->renewer);
	dlock_loop_end(r->loop);
	free(r->loop);
}

static dlock_round_result renew(rounds *r, int seconds)
{
	r->round->ops->begin(r->round, r->renewer, seconds * DLOCK_SECOND, true);
	advance(r);
	return r->round->ops->result(r->round);
}

/* An extension and a renewal, in each possible order. */
static void test_orders(void)
{
	memcached_client c = memcached_client_new(server.port);
	dlock_claim *claim = memcached_claim_on(&c, "orders", 100000);

	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	rounds r = rounds_of(claim);
	check(renew(&r, 100) == DLOCK_ROUND_KEPT && renew(&r, 100) == DLOCK_ROUND_KEPT, "renewed twice");
	check(dlock_claim_extend(claim, 400 * DLOCK_SECOND, &c.error) == DLOCK_OK
			&& memcached_left(&server, "Lock:orders") > 300,
		"extended after that");
	check(renew(&r, 100) == DLOCK_ROUND_KEPT && memcached_left(&server, "Lock:orders") > 300,
		"a renewal after that does not shorten the lease");
	memcached_freeze(&server);
	r.round->ops->begin(r.round, r.renewer, 100 * DLOCK_SECOND, true);
	pid_t pid = memcached_thaw_when_asked(&server);
	check(dlock_claim_extend(claim, 600 * DLOCK_SECOND, &c.error) == DLOCK_OK, "an extension and a renewal at once: %s",
		c.error.message);
	exit_of(pid);
	advance(&r);
	check(r.round->ops->result(r.round) == DLOCK_ROUND_KEPT && memcached_left(&server, "Lock:orders") > 500,
		"the longer lease counts (%ld)", memcached_left(&server, "Lock:orders"));
	check(dlock_claim_release(claim, &c.error) == DLOCK_OK && renew(&r, 100) == DLOCK_ROUND_GONE
			&& memcached_left(&server, "Lock:orders") == -2,
		"a renewal after the release finds no key");
	end_rounds(&r);
	dlock_claim_free(claim);
	memcached_client_free(&c);
}

/* The thread sends a renewal to a stopped server, which executes it by its old clock. */
static void test_stopped_clock(void)
{
	dlock_nanos began = dlock_now();
	memcached_client c = memcached_client_in_time(server.port);
	dlock_claim *claim = memcached_claim_on(&c, "stopped", 40000);

	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	rounds r = rounds_of(claim);
	check(renew(&r, 40) == DLOCK_ROUND_KEPT && r.round->late <= dlock_now() - began, "renewed");
	memcached_freeze(&server);
	sleep_ms(3500);
	pid_t pid = memcached_thaw_when_asked(&server);
	dlock_nanos sent = dlock_now(), at;
	check(renew(&r, 40) == DLOCK_ROUND_KEPT, "renewed by a server that was stopped");
	exit_of(pid);
	sleep_ms(50);
	long left = memcached_left_at(&server, "Lock:stopped", &at);
	check(sent + 37600 * DLOCK_MS - r.round->late - at <= left * DLOCK_SECOND,
		"the lease is believed for no longer than its key exists (%ld s)", left);
	check(dlock_claim_release(claim, &c.error) == DLOCK_OK, "released");
	end_rounds(&r);
	dlock_claim_free(claim);
	memcached_client_free(&c);
}

/* The thread's own first reading of the server's clock may be made by a server that stood still. */
static void test_clock_handed_on(void)
{
	memcached_client c = memcached_client_new(server.port);
	dlock_claim *claim = memcached_claim_on(&c, "handed", 60000);

	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	rounds r = rounds_of(claim);
	r.round->ops->begin(r.round, r.renewer, 60 * DLOCK_SECOND, true);
	const dlock_memcached_conn *of_holder = (const dlock_memcached_conn *) c.pool->first,
							   *of_thread = (const dlock_memcached_conn *) dlock_pool_renewer_pool(r.renewer)->first;
	check(of_thread != of_holder && of_thread->clock.cas > 0 && of_thread->clock.end == of_holder->clock.end
			&& of_thread->clock.is_reconnected,
		"the renewal begins with the holder's reading");
	end_rounds(&r);
	check(dlock_claim_release(claim, &c.error) == DLOCK_OK, "released");
	dlock_claim_free(claim);
	memcached_client_free(&c);
}

/* The round and its renewer may be freed in either order. */
static void test_ends(void)
{
	memcached_client c = memcached_client_new(server.port);
	dlock_claim *claim = memcached_claim_on(&c, "ends", 60000);

	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	memcached_freeze(&server);
	for (int i = 0; i < 2; i++) {
		rounds r = rounds_of(claim);
		r.round->ops->begin(r.round, r.renewer, 60 * DLOCK_SECOND, true);
		if (i == 0) {
			end_rounds(&r);
		} else {
			r.renewer->ops->destroy(r.renewer);
			r.round->ops->free(r.round);
			dlock_loop_end(r.loop);
			free(r.loop);
		}
	}
	memcached_thaw(&server);
	check(dlock_claim_release(claim, &c.error) == DLOCK_OK, "released");
	dlock_claim_free(claim);
	memcached_client_free(&c);
}

/* The answer to a renewal is lost. The next renewal finds its own token. */
static void test_lost_answer(void)
{
	relay relay;

	relay_start(&relay, server.port);
	atomic_store(&relay.hangs_up, 1);
	memcached_client c = memcached_client_new(relay.port);
	dlock_claim *claim = memcached_claim_on(&c, "unheard", 60000);
	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	rounds r = rounds_of(claim);
	check(renew(&r, 60) == DLOCK_ROUND_KEPT, "renewed");
	atomic_store(&relay.swallow, " MS ");
	check(renew(&r, 60) == DLOCK_ROUND_FAILED, "the answer is lost");
	check(renew(&r, 60) == DLOCK_ROUND_KEPT, "renewed");
	check(dlock_claim_release(claim, &c.error) == DLOCK_OK, "released: %s", c.error.message);
	end_rounds(&r);
	dlock_claim_free(claim);
	memcached_client_free(&c);
	relay_end(&relay);
}

static void reset(void)
{
	memcached_ask(&server, "flush_all");
}

static void begin(void)
{
	memcached_start(&server, NULL);
	atexit(dlock_renewal_shutdown);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(many_times),
		TEST(lost),
		TEST(restart),
		TEST(frozen),
		TEST(both),
		TEST(shutdown),
		TEST(stopped_clock),
		TEST(clock_handed_on),
		TEST(orders),
		TEST(ends),
		TEST(lost_answer),
	};
	static const tap_setting setting = { begin, reset };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

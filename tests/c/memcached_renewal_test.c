/* Renewal of leases on memcached, by the thread and by the test's own rounds. Prints TAP.
 * memcached_renewal_test [word in the names of the tests to run] */

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../src/lock/renewal.h"
#include "../../src/memcached/renewal.h"
#include "helpers.h"
#include "memcached_server.h"
#include "relay.h"
#include "tap.h"

static memcached_server server;

typedef struct {
	dlock_claim *claim;
	_Atomic int losses;
} kept;

static void count_one(void *context)
{
	atomic_fetch_add(&((kept *) context)->losses, 1);
}

/* Acquires a lock and begins its renewal. If soon_ms > 0, the claim believes that so much is left, so the renewal is
 * due after a third of it. */
static void keep(kept *lease, memcached_client *c, const char *resource, int ttl_ms, int soon_ms)
{
	dlock_upkeep upkeep = { .renew = true, .lost = count_one, .context = lease };

	lease->claim = memcached_claim_on(c, resource, ttl_ms);
	atomic_store(&lease->losses, 0);
	bool held = memcached_acquire(c, lease->claim, 5000) == DLOCK_OK;
	if (soon_ms > 0) {
		lease->claim->deadline = dlock_now() + soon_ms * DLOCK_MS;
	}
	check(held && dlock_renewal_begin(lease->claim, &upkeep, &c->error) == DLOCK_OK, "held and renewed: %s",
		c->error.message);
}

static long left_ms(dlock_claim *claim)
{
	dlock_nanos remaining;

	dlock_claim_refresh(claim, &remaining);
	return (long) (remaining / DLOCK_MS);
}

static bool is_told(void *lease)
{
	return atomic_load(&((kept *) lease)->losses) > 0;
}

static bool has_renewed(void *least)
{
	return dlock_renewal_count().renewals >= *(unsigned long *) least;
}

static bool renewed_since(unsigned long before)
{
	before++;
	return eventually(has_renewed, &before);
}

/* ---- by the thread ---- */

static void test_many_times(void)
{
	memcached_client c = memcached_client_at(server.port, 2000);
	long longest = 0, shortest = 20000, missing = 0;
	kept lease;

	keep(&lease, &c, "kept", 8000, 0);
	for (int i = 0; i < 120; i++) { /* 12 s */
		long left = left_ms(lease.claim);
		longest = left > longest ? left : longest;
		shortest = left < shortest ? left : shortest;
		missing += strcmp(memcached_value(&server, "Lock:kept"), lease.claim->token) != 0;
		sleep_ms(100);
	}
	check(missing == 0 && shortest > 0 && atomic_load(&lease.losses) == 0,
		"kept over many renewals (%ld ms at least)", shortest);
	check(longest <= 5920, "never believed for longer than its key may last (%ld ms)", longest);
	check(dlock_claim_release(lease.claim, &c.error) == DLOCK_OK && memcached_left(&server, "Lock:kept") == -2,
		"released: %s", c.error.message);
	dlock_claim_free(lease.claim);
	memcached_client_free(&c);
}

static void test_lost(void)
{
	memcached_client c = memcached_client_at(server.port, 2000);
	kept lease;

	keep(&lease, &c, "lost", 30000, 1000);
	memcached_ask(&server, "ms Lock:lost 7 T100\r\nforeign");
	check(
		eventually(is_told, &lease) && left_ms(lease.claim) == 0, "another client holds the lock: the holder is told");
	check(!strcmp(memcached_value(&server, "Lock:lost"), "foreign"), "and the other client's key stays");
	dlock_claim_abandon(lease.claim);
	dlock_claim_free(lease.claim);
	memcached_ask(&server, "md Lock:lost");
	keep(&lease, &c, "lost", 30000, 1000);
	memcached_ask(&server, "md Lock:lost");
	check(eventually(is_told, &lease), "the key is gone: the holder is told");
	dlock_claim_free(lease.claim);
	keep(&lease, &c, "lost", 30000, 2000);
	unsigned long before = dlock_renewal_count().renewals;
	memcached_restart(&server);
	check(eventually(is_told, &lease) && dlock_renewal_count().renewals == before,
		"a restarted server has no key: the holder is told");
	dlock_claim_free(lease.claim);
	memcached_client_free(&c);
}

/* After a restart, the next holder's key may have the CAS that the thread knows of the former key. */
static void test_restart(void)
{
	memcached_client c = memcached_client_at(server.port, 2000), other = memcached_client_at(server.port, 2000);
	dlock_claim *second;
	kept lease;

	keep(&lease, &c, "again", 30000, 1000);
	check(renewed_since(dlock_renewal_count().renewals), "renewed once");
	unsigned long long cas = memcached_cas(&server, "Lock:again");
	memcached_restart(&server);
	second = memcached_claim_on(&other, "again", 30000);
	check(memcached_acquire(&other, second, 0) == DLOCK_OK, "another client acquires the lock");
	while (memcached_cas(&server, "Lock:again") < cas) {
		memcached_ask(&server, "ms Lock:again %d T30\r\n%s", (int) strlen(second->token), second->token);
	}
	check(memcached_cas(&server, "Lock:again") == cas, "with the same CAS");
	lease.claim->deadline = dlock_now() + 600 * DLOCK_MS;
	dlock_renewal_pause(lease.claim);
	dlock_renewal_resume(lease.claim); /* due soon */
	check(eventually(is_told, &lease) && !strcmp(memcached_value(&server, "Lock:again"), second->token),
		"the thread does not change the other client's key");
	dlock_claim_free(lease.claim);
	dlock_claim_free(second);
	memcached_client_free(&c);
	memcached_client_free(&other);
}

/* If the server does not answer, the lease is lost in time. When the server continues, the key is deleted. */
static void test_frozen(void)
{
	memcached_client c = memcached_client_at(server.port, 200);
	kept lease;

	keep(&lease, &c, "frozen", 4000, 1500);
	unsigned long before = dlock_renewal_count().renewals;
	check(renewed_since(before), "renewed");
	dlock_nanos renewed = dlock_now();
	memcached_freeze(&server);
	check(lease.claim->deadline - renewed <= 1960 * DLOCK_MS, "relied on until two seconds before the key may expire");
	check(eventually(is_told, &lease), "told");
	check(dlock_now() - renewed < SOON, "soon (after %ld ms)", (long) ((dlock_now() - renewed) / DLOCK_MS));
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
	memcached_client c = memcached_client_at(server.port, 2000);
	int bad = 0, failed = 0;
	kept lease;

	keep(&lease, &c, "both", 4000, 100);
	for (int i = 0; i < 400; i++) {
		int ttl = i % 3 == 0 ? 30 : i % 3 == 1 ? 10 : 20;
		failed += dlock_claim_extend(lease.claim, ttl * DLOCK_SECOND, &c.error) != DLOCK_OK;
		lease.claim->deadline = dlock_now() + (20 + i % 7) * DLOCK_MS; /* due again at once */
		dlock_renewal_pause(lease.claim);
		dlock_renewal_resume(lease.claim);
		lease.claim->deadline = dlock_now() + (ttl - 3) * DLOCK_SECOND;
		sleep_ms(i % 10);
		long left = left_ms(lease.claim);
		bad += memcached_left(&server, "Lock:both") * 1000 < left;
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
	memcached_client c = memcached_client_at(server.port, 60000);
	kept lease;

	keep(&lease, &c, "end", 30000, 300);
	memcached_freeze(&server);
	sleep_ms(200);
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

static void advance(rounds *r, int ms)
{
	dlock_loop_await(r->loop, is_decided, r->round, dlock_now() + ms * DLOCK_MS);
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
	advance(r, 2000);
	return r->round->ops->result(r->round);
}

/* An extension and a renewal, in each possible order. */
static void test_orders(void)
{
	memcached_client c = memcached_client_at(server.port, 2000);
	dlock_claim *claim = memcached_claim_on(&c, "orders", 10000);

	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	rounds r = rounds_of(claim);
	check(renew(&r, 10) == DLOCK_ROUND_KEPT && renew(&r, 10) == DLOCK_ROUND_KEPT, "renewed twice");
	check(dlock_claim_extend(claim, 40 * DLOCK_SECOND, &c.error) == DLOCK_OK
			&& memcached_left(&server, "Lock:orders") >= 39,
		"extended after that");
	check(renew(&r, 10) == DLOCK_ROUND_KEPT && memcached_left(&server, "Lock:orders") >= 39,
		"a renewal after that does not shorten the lease");
	memcached_freeze(&server);
	r.round->ops->begin(r.round, r.renewer, 10 * DLOCK_SECOND, true);
	pid_t pid = signal_later(server.pid, SIGCONT, 100);
	check(dlock_claim_extend(claim, 60 * DLOCK_SECOND, &c.error) == DLOCK_OK, "an extension and a renewal at once: %s",
		c.error.message);
	exit_of(pid);
	advance(&r, 2000);
	check(r.round->ops->result(r.round) == DLOCK_ROUND_KEPT && memcached_left(&server, "Lock:orders") >= 59,
		"the longer lease counts (%ld)", memcached_left(&server, "Lock:orders"));
	check(dlock_claim_release(claim, &c.error) == DLOCK_OK && renew(&r, 10) == DLOCK_ROUND_GONE
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
	memcached_client c = memcached_client_at(server.port, 2000);
	dlock_claim *claim = memcached_claim_on(&c, "stopped", 10000);

	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	rounds r = rounds_of(claim);
	check(renew(&r, 10) == DLOCK_ROUND_KEPT && r.round->late <= dlock_now() - began, "renewed");
	memcached_freeze(&server);
	sleep_ms(3500);
	pid_t pid = signal_later(server.pid, SIGCONT, 30);
	check(renew(&r, 10) == DLOCK_ROUND_KEPT, "renewed by a server that was stopped");
	exit_of(pid);
	sleep_ms(50);
	long left = memcached_left(&server, "Lock:stopped");
	check(8000 - r.round->late / DLOCK_MS <= left * 1000,
		"the lease is believed for no longer than its key exists (%ld s)", left);
	check(dlock_claim_release(claim, &c.error) == DLOCK_OK, "released");
	end_rounds(&r);
	dlock_claim_free(claim);
	memcached_client_free(&c);
}

/* The thread's own first reading of the server's clock may be made by a server that stood still. */
static void test_clock_handed_on(void)
{
	memcached_client c = memcached_client_at(server.port, 2000);
	dlock_claim *claim = memcached_claim_on(&c, "handed", 10000);

	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	rounds r = rounds_of(claim);
	r.round->ops->begin(r.round, r.renewer, 10 * DLOCK_SECOND, true);
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
	memcached_client c = memcached_client_at(server.port, 2000);
	dlock_claim *claim = memcached_claim_on(&c, "ends", 10000);

	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	memcached_freeze(&server);
	for (int i = 0; i < 2; i++) {
		rounds r = rounds_of(claim);
		r.round->ops->begin(r.round, r.renewer, 10 * DLOCK_SECOND, true);
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
	memcached_client c = memcached_client_at(relay.port, 200);
	dlock_claim *claim = memcached_claim_on(&c, "unheard", 10000);
	check(memcached_acquire(&c, claim, 0) == DLOCK_OK, "held");
	rounds r = rounds_of(claim);
	check(renew(&r, 10) == DLOCK_ROUND_KEPT, "renewed");
	atomic_store(&relay.swallow, " MS ");
	check(renew(&r, 10) == DLOCK_ROUND_FAILED, "the answer is lost");
	check(renew(&r, 10) == DLOCK_ROUND_KEPT, "renewed");
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

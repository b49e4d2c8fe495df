/* The renewal thread and its holder have separate connections to the same servers. Tests: what the thread repairs right
 * after an acquisition, which repairs it undoes, and whose lease time is set last. Prints TAP.
 * renewal_order_test [word in the names of the tests to run] */

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "helpers.h"
#include "relay.h"
#include "tap.h"
#include "upkeep.h"

enum { SERVERS = 3 };

static test_server servers[SERVERS], *const last = &servers[SERVERS - 1];

/* ---- conditions that tests wait for ---- */

static bool has_last(void *claim)
{
	return has(last, claim);
}

static bool has_all(void *claim)
{
	return has(&servers[0], claim) && has(&servers[1], claim) && has(last, claim);
}

static bool holds_more(void *context)
{
	return atomic_load(&((relay *) context)->held) > 1;
}

static bool is_free_everywhere(void *resource)
{
	return has_nobody(&servers[0], resource) && has_nobody(&servers[1], resource) && has_nobody(last, resource);
}

/* How often the last server has executed a command since the last reset of its counters. */
static long long executed(const char *command)
{
	char field[64];

	snprintf(field, sizeof field, "cmdstat_%s:calls", command);
	return server_info(last, "commandstats", field);
}

/* The first server is slow, so the other servers have answered when its answer decides. */
static client client_with_slow_first(relay *relay, const char *options)
{
	client c = client_by_relays(servers, SERVERS, relay, 0, 1, options);

	atomic_store(&relay->delay_ms, 20);
	return c;
}

/* ---- acquired on a quorum only: the thread soon sets the key on the other servers ---- */

enum { LONG = 60000, NOT_SOON = LONG / 3 };

/* Acquires while another client has the key on the last server. */
static void begin_without_last(ward *ward, client *c, const char *resource, int foreign_ms, dlock_upkeep upkeep)
{
	server_do(last, "SET " PREFIX "%s foreign PX %d", resource, foreign_ms);
	ward_begin(ward, c, resource, LONG, 0, upkeep);
	check(has(&servers[0], ward->claim) && has(&servers[1], ward->claim) && !has(last, ward->claim),
		"two of three servers have it");
}

/* One of the first two servers loses the key. No other client acquires the lock. */
static void check_safe(ward *ward, const char *resource)
{
	client other = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *denied = claim_on(&other, resource, LONG);

	server_do(&servers[0], "DEL " PREFIX "%s", resource);
	check(acquire(&other, denied, 0) == DLOCK_TIMEOUT, "no other client acquires it after one server lost it");
	dlock_claim_free(denied);
	client_drain(&other);
	client_free(&other);
	check(look(ward->claim) == DLOCK_CLAIM_HELD && ward->losses == 0, "held");
}

static void test_given_soon(void)
{
	static const char *const ways[] = { "renewed", "not renewed" };

	for (int way = 0; way < 2; way++) {
		relay relay;
		client c = client_with_slow_first(&relay, "");
		ward ward;
		begin_without_last(&ward, &c, ways[way], 300, way == 0 ? RENEW_AND_TELL(&ward) : (dlock_upkeep) { 0 });
		dlock_nanos start = dlock_now(), deadline = ward.claim->deadline;
		unsigned long before = renewals();
		bool given = eventually(has_last, ward.claim);
		long took = (long) ((dlock_now() - start) / DLOCK_MS);
		check(given && took < SOON / DLOCK_MS, "%s: the third server has it when it is free there (%ld ms)", ways[way],
			took);
		check(server_integer(last, "GET " DLOCK_FENCE_KEY) >= ward.claim->fencing_token,
			"%s: the third server has the fence, too", ways[way]);
		long over = overreach_ms(last, ward.claim);
		check(over <= 0 && overreach_ms(&servers[0], ward.claim) <= 0,
			"%s: for the time on which the holder relies (%ld ms too short)", ways[way], over);
		if (way == 1) {
			long long left = server_integer(last, "PTTL " PREFIX "%s", ways[way]),
					  limit = LONG - (dlock_now() - start) / DLOCK_MS;
			check(left <= limit + 100, "it does not last longer than the lease (%lld, %lld ms)", left, limit);
			check(server_integer(&servers[0], "PTTL " PREFIX "%s", ways[way]) <= limit + 100,
				"nor does it on the other servers");
			check(ward.claim->deadline == deadline && renewals() == before && !dlock_renewal_is_endless(ward.claim),
				"the lease is not renewed");
		}
		check_safe(&ward, ways[way]);
		check(let_go(&c, ward.claim), "released");
		check(eventually(is_free_everywhere, (void *) ways[way]), "it is free on all servers");
		client_free(&c);
		relay_end(&relay);
	}
}

/* A client that lost a race for the lock has released its votes before the thread first looks. */
static void test_given_at_once(void)
{
	static const char *const ways[] = { "renewed", "not renewed" };
	relay relay;
	client c = client_with_slow_first(&relay, "");

	for (int way = 0; way < 2; way++) {
		dlock_upkeep upkeep = { .renew = way == 0 };
		dlock_claim *claim = claim_on(&c, "race", LONG);
		server_do(last, "SET " PREFIX "race foreign PX %d", LONG);
		dlock_nanos start = dlock_now();
		check(acquire(&c, claim, 5000) == DLOCK_OK, "acquired");
		server_do(last, "DEL " PREFIX "race");
		check(dlock_renewal_begin(claim, &upkeep, &c.error) == DLOCK_OK && eventually(has_last, claim),
			"%s: if the server is free soon, it has the key soon", ways[way]);
		long took = (long) ((dlock_now() - start) / DLOCK_MS);
		check(took < SOON / DLOCK_MS, "%s: before the second look (%ld ms)", ways[way], took);
		check(let_go(&c, claim), "released");
	}
	client_free(&c);
	relay_end(&relay);
}

/* A round that repairs does not request more time. If it is not answered, the lease is not uncertain. */
static void test_repair_is_certain(void)
{
	relay relay;
	client c = client_with_slow_first(&relay, "?read_timeout=0.3");
	ward ward;
	unsigned long before = dlock_renewal_count().failures;

	begin_without_last(&ward, &c, "doubt", 900, (dlock_upkeep) { 0 });
	server_freeze(&servers[0]);
	server_freeze(&servers[1]);
	sleep_ms(1500);
	check(look(ward.claim) == DLOCK_CLAIM_HELD && dlock_renewal_count().failures == before,
		"held although a quorum does not answer");
	check(!has(last, ward.claim), "the thread sets no key without a quorum");
	server_thaw(&servers[0]);
	server_thaw(&servers[1]);
	check(eventually(has_last, ward.claim), "it sets the key with a quorum");
	check(let_go(&c, ward.claim), "released");
	client_free(&c);
	relay_end(&relay);
}

/* If two of three servers have lost the key, the lock is lost, and no server is repaired. */
static void test_lost_before_repair(void)
{
	relay relay;
	client c = client_with_slow_first(&relay, "");
	ward ward;

	begin_without_last(&ward, &c, "lost", 300, (dlock_upkeep) { .lost = count_loss, .context = &ward });
	server_do(&servers[0], "DEL " PREFIX "lost");
	server_do(&servers[1], "DEL " PREFIX "lost");
	check(eventually_lost(&ward) && look(ward.claim) == DLOCK_CLAIM_LOST, "if a quorum lost it, the loss is reported");
	sleep_ms(1200);
	check(is_free_everywhere("lost"), "no server has the key again");
	check(release(&c, ward.claim) == DLOCK_LOST, "nothing is left to release");
	dlock_claim_free(ward.claim);
	client_free(&c);
	relay_end(&relay);
}

/* ---- undoing a repair comes after the repair ---- */

/* A repair waits before the last server, which knows both scripts of the round for now. */
static client begin_repair(relay *relay, ward *ward, const char *resource)
{
	client c = client_by_relays(servers, SERVERS, relay, SERVERS - 1, 1, "?read_timeout=30");

	atomic_store(&relay->stop, dlock_scripts[DLOCK_SCRIPT_REPAIR].sha1);
	ward_begin(ward, &c, resource, 20000, 1500, RENEW);
	check(eventually(has_all, ward->claim), "all servers have it");
	server_do(last, "DEL " PREFIX "%s", resource);
	check(eventually(is_stopped, relay), "a repair is under way");
	return c;
}

static bool has_taken_back(void *context)
{
	(void) context;
	return executed("eval") > 0;
}

/* If a server has forgotten its scripts, the repair is sent again: not after the request that undoes it. */
static void test_repair_unknown(void)
{
	for (int released = 1; released >= 0; released--) {
		relay relay;
		ward ward;
		client c = begin_repair(&relay, &ward, "unknown");
		server_do(last, "SCRIPT FLUSH");
		server_do(last, "CONFIG RESETSTAT");
		if (released) {
			check(release(&c, ward.claim) == DLOCK_OK, "released");
		}
		dlock_claim_free(ward.claim);
		check(eventually(holds_more, &relay), "it is undone");
		atomic_store(&relay.stop, NULL);
		check(eventually(has_taken_back, NULL), "the server executes both");
		sleep_ms(150);
		check(has_nobody(last, "unknown"), "nothing stays behind");
		server_do(&servers[0], "DEL " PREFIX "unknown");
		server_do(&servers[1], "DEL " PREFIX "unknown");
		client_free(&c);
		relay_end(&relay);
		know_scripts(last);
	}
}

/* The lease continues in another process, which may release it before the server executes the repair. */
static void test_detached_under_repair(void)
{
	relay relay;
	ward ward;
	client c = begin_repair(&relay, &ward, "detached");

	dlock_claim_free(ward.claim);
	server_do(last, "CONFIG RESETSTAT"); /* while the relay holds back all requests */
	atomic_store(&relay.stop, NULL);
	check(eventually(has_taken_back, NULL) && eventually_nobody(last, "detached"), "a repair under way is undone");
	sleep_ms(100);
	check(has_nobody(last, "detached") && !has_nobody(&servers[0], "detached"), "the other keys stay");
	server_do(&servers[0], "DEL " PREFIX "detached");
	server_do(&servers[1], "DEL " PREFIX "detached");
	client_free(&c);
	relay_end(&relay);
}

static bool has_executed_two(void *context)
{
	(void) context;
	return executed("evalsha") > 1;
}

/* The holder acquires the lock once more, which begins the upkeep again. The lease may rest on the repaired key. */
static void test_begun_again_under_repair(void)
{
	relay relay;
	ward ward;
	client c = begin_repair(&relay, &ward, "again");

	check(dlock_renewal_begin(ward.claim, &RENEW_AND_TELL(&ward), &c.error) == DLOCK_OK, "the upkeep goes on");
	make_due(ward.claim, 3000);
	server_do(last, "CONFIG RESETSTAT");
	atomic_store(&relay.stop, NULL);
	check(eventually(has_executed_two, NULL), "the server executes the repair and the next renewal");
	check(executed("eval") == 0 && has(last, ward.claim), "the repair is not undone");
	check(let_go(&c, ward.claim) && eventually(is_free_everywhere, (void *) "again"), "released");
	client_free(&c);
	relay_end(&relay);
}

/* After a renewal has counted a repaired key, the key stays with the lease, even if the repair was never answered. */
static void test_detached_after_repair(void)
{
	for (int answered = 1; answered >= 0; answered--) {
		relay relay;
		ward ward;
		client c = client_by_relays(servers, SERVERS, &relay, SERVERS - 1, 1, "");
		unsigned long before = renewals();
		atomic_store(&relay.swallow, answered ? NULL : dlock_scripts[DLOCK_SCRIPT_REPAIR].sha1);
		ward_begin(&ward, &c, "stays", 3000, 0, RENEW);
		check(eventually(has_all, ward.claim), "all servers have it");
		server_do(last, "DEL " PREFIX "stays");
		check(eventually(has_last, ward.claim), "repaired");
		check(renewed_since(before, 2), "renewed after that");
		atomic_store(&relay.swallowed, 0);
		check(renewed_since(renewals(), 2), "renewed twice more");
		dlock_claim_free(ward.claim);
		sleep_ms(200);
		check(!has_nobody(last, "stays"), "%s: the key on which the lease rests stays",
			answered ? "answered" : "not answered");
		for (int i = 0; i < SERVERS; i++) {
			server_do(&servers[i], "DEL " PREFIX "stays");
		}
		client_free(&c);
		relay_end(&relay);
	}
}

/* ---- the last requested lease time ---- */

enum { HELD_UP = 250 };

typedef struct {
	relay *relay;
	const char *resource;
	test_server server;
	int shorter_ms;
} traffic;

/* Passes on a renewal that the relay holds back, when the server has the shorter time, or after a while. */
static void *let_go_on(void *context)
{
	traffic *traffic = context;
	redisContext *admin = redisConnect("127.0.0.1", atomic_load(&traffic->relay->server_port));
	dlock_nanos end = dlock_now() + HELD_UP * DLOCK_MS;
	bool is_shorter = false;

	while (!is_shorter && dlock_now() < end) {
		redisReply *reply = redisCommand(admin, "PTTL " PREFIX "%s", traffic->resource);
		is_shorter = reply && reply->integer <= traffic->shorter_ms;
		freeReplyObject(reply);
		sleep_ms(3);
	}
	redisFree(admin);
	sleep_ms(20); /* until the holder has its answer */
	atomic_store(&traffic->relay->stop, NULL);
	return NULL;
}

static bool has_renewal_executed(void *context)
{
	(void) context;
	return executed("evalsha") > 0;
}

static void shorten_under_renewal(client c, relay *relay, const char *what)
{
	enum { SHORT = 2000 };
	traffic traffic = { .relay = relay, .resource = "shorter", .shorter_ms = SHORT };
	pthread_t thread;
	ward ward;

	atomic_store(&relay->stop, dlock_scripts[DLOCK_SCRIPT_RENEW].sha1);
	ward_begin(&ward, &c, "shorter", 20000, 6000, RENEW);
	check(eventually(has_last, ward.claim), "%s: held", what);
	check(eventually(is_stopped, relay), "a renewal is under way");
	server_do(last, "CONFIG RESETSTAT");
	pthread_create(&thread, NULL, let_go_on, &traffic);
	check(extend(&c, ward.claim, SHORT) == DLOCK_OK, "%s: the holder requests a shorter time", what);
	dlock_renewal_stop(ward.claim);
	pthread_join(thread, NULL);
	check(eventually(has_renewal_executed, NULL), "the renewal is executed");
	sleep_ms(100);
	long long left = server_integer(last, "PTTL " PREFIX "shorter");
	check(left <= SHORT, "%s: the server has it for no longer than the last request asked (%lld ms)", what, left);
	check(overreach_ms(last, ward.claim) <= 0 && look(ward.claim) == DLOCK_CLAIM_HELD,
		"the holder relies on no more than that");
	check(let_go(&c, ward.claim), "released");
	client_free(&c);
	relay_end(relay);
}

static void test_shorter_under_renewal(void)
{
	relay relay;

	shorten_under_renewal(client_at(dsn_by_relay(&relay, last, "")), &relay, "one server");
	client c = client_by_relays(servers, SERVERS, &relay, SERVERS - 1, 1, "");
	shorten_under_renewal(c, &relay, "three servers");
}

/* The holder waits only if a renewal can arrive late, for at most an answer's time, and not until the lease ends. */
static void test_shorter_waits_no_longer(void)
{
	relay relay;
	client c = client_at(dsn_by_relay(&relay, last, "?read_timeout=0.6"));
	ward ward;

	atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_RENEW].sha1);
	ward_begin(&ward, &c, "bound", 20000, 9000, RENEW);
	check(eventually(is_stopped, &relay), "a renewal is under way");
	dlock_nanos start = dlock_now();
	check(extend(&c, ward.claim, 30000) == DLOCK_OK && dlock_now() - start < SOON,
		"a request for a longer time does not wait");
	start = dlock_now();
	signal_later(getpid(), SIGUSR1, 100);
	check(extend(&c, ward.claim, 2000) == DLOCK_OK && dlock_now() - start < SOON,
		"a request for a shorter time waits no longer than an answer takes");
	atomic_store(&relay.stop, NULL);
	check(let_go(&c, ward.claim), "released");

	atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_RENEW].sha1);
	ward_begin(&ward, &c, "soon over", 20000, 600, RENEW);
	check(eventually(is_stopped, &relay), "a renewal of a lease that ends soon is under way");
	check(extend(&c, ward.claim, 2000) == DLOCK_OK && look(ward.claim) == DLOCK_CLAIM_HELD,
		"the holder requests a shorter time before the lease ends");
	atomic_store(&relay.stop, NULL);
	check(let_go(&c, ward.claim), "released");
	client_free(&c);
	relay_end(&relay);
}

static void reset(void)
{
	reset_knowing(servers, SERVERS);
}

static void begin(void)
{
	interrupt_on(SIGUSR1);
	servers_start(servers, SERVERS);
	atexit(dlock_renewal_shutdown);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(given_soon), TEST(given_at_once), TEST(repair_is_certain), TEST(lost_before_repair), TEST(repair_unknown),
		TEST(detached_under_repair), TEST(begun_again_under_repair), TEST(detached_after_repair),
		TEST(shorter_under_renewal), TEST(shorter_waits_no_longer),
	};
	static const tap_setting setting = { begin, reset };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

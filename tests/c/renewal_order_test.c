/* The renewal thread and its holder have separate connections to the same servers. Tests: what the thread repairs right
 * after an acquisition, which repairs it undoes, and whose lease time is set last. Prints TAP.
 * renewal_order_test [word in the names of the tests to run] */

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../src/lock/renewal_thread.h"
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
static client client_with_slow_first(relay *relay)
{
	client c = client_by_relays(servers, SERVERS, relay, 0, 1, "");

	atomic_store(&relay->delay_ms, 20);
	return c;
}

/* ---- acquired on a quorum only: the thread soon sets the key on the other servers ---- */

enum { LONG = 60000 };

/* Acquires while another client has the key on the last server. */
static void begin_without_last(ward *ward, client *c, const char *resource, dlock_upkeep upkeep)
{
	server_do(last, "SET " PREFIX "%s foreign", resource);
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
	client_settle(&other);
	client_free(&other);
	check(look(ward->claim) == DLOCK_CLAIM_HELD && ward->losses == 0, "held");
}

static void test_given_soon(void)
{
	static const char *const ways[] = { "renewed", "not renewed" };
	enum { REST = 20000 };

	for (int way = 0; way < 2; way++) {
		relay relay;
		client c = client_with_slow_first(&relay);
		ward ward;
		begin_without_last(&ward, &c, ways[way], way == 0 ? RENEW_AND_TELL(&ward) : (dlock_upkeep) { 0 });
		if (way == 1) { /* as late in its lease time */
			ward.claim->deadline = dlock_now() + REST * DLOCK_MS;
			server_do(&servers[0], "PEXPIRE " PREFIX "%s %d", ways[way], 2 * REST);
		}
		dlock_nanos deadline = ward.claim->deadline;
		unsigned long before = renewals();
		server_do(last, "DEL " PREFIX "%s", ways[way]);
		check(eventually(has_last, ward.claim), "%s: the third server has it when it is free there", ways[way]);
		check(server_integer(last, "GET " DLOCK_FENCE_KEY) >= ward.claim->fencing_token,
			"%s: the third server has the fence, too", ways[way]);
		long over = overreach_ms(last, ward.claim);
		check(over <= 0 && overreach_ms(&servers[0], ward.claim) <= 0,
			"%s: for the time on which the holder relies (%ld ms too short)", ways[way], over);
		if (way == 1) {
			long long left = server_integer(last, "PTTL " PREFIX "%s", ways[way]);
			check(left < 2 * REST, "it does not last longer than the lease (%lld ms)", left);
			check(server_integer(&servers[0], "PTTL " PREFIX "%s", ways[way]) <= 2 * REST,
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
	client c = client_with_slow_first(&relay);

	for (int way = 0; way < 2; way++) {
		dlock_upkeep upkeep = { .renew = way == 0 };
		dlock_claim *claim = claim_on(&c, "race", LONG);
		server_do(last, "SET " PREFIX "race foreign");
		check(acquire(&c, claim, 5000) == DLOCK_OK, "acquired");
		server_do(last, "DEL " PREFIX "race");
		check(dlock_renewal_begin(claim, &upkeep, &c.error) == DLOCK_OK && eventually(has_last, claim),
			"%s: if the server is free soon, it has the key soon", ways[way]);
		check(let_go(&c, claim), "released");
	}
	client_free(&c);
	relay_end(&relay);
}

/* A round that repairs does not request more time. If it is not answered, the lease is not uncertain. */
static void test_repair_is_certain(void)
{
	relay relay;
	client c = client_with_slow_first(&relay);
	dlock_claim *claim = claim_on(&c, "doubt", LONG);
	unsigned long before = dlock_renewal_count().failures;

	server_do(last, "SET " PREFIX "doubt foreign");
	check(acquire(&c, claim, 0) == DLOCK_OK && !has(last, claim), "two of three servers have it");
	for (int i = 0; i < SERVERS; i++) { /* the thread does not wait long */
		client_conn(&c, i)->server->read_timeout = 300 * DLOCK_MS;
	}
	server_freeze(&servers[0]);
	server_freeze(&servers[1]);
	check(dlock_renewal_begin(claim, &(dlock_upkeep) { 0 }, &c.error) == DLOCK_OK && eventually_renewing(claim),
		"the thread asks");
	server_do(last, "DEL " PREFIX "doubt");
	sleep_ms(1000);
	check(look(claim) == DLOCK_CLAIM_HELD && dlock_renewal_count().failures == before,
		"held although a quorum does not answer");
	check(!has(last, claim), "the thread sets no key without a quorum");
	server_thaw(&servers[0]);
	server_thaw(&servers[1]);
	check(eventually(has_last, claim), "it sets the key with a quorum");
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	client_settle(&c);
	check(eventually(is_free_everywhere, (void *) "doubt"), "released");
	client_free(&c);
	relay_end(&relay);
}

/* If two of three servers have lost the key, the lock is lost, and no server is repaired. */
static void test_lost_before_repair(void)
{
	relay relay;
	client c = client_with_slow_first(&relay);
	ward ward;

	begin_without_last(&ward, &c, "lost", (dlock_upkeep) { .lost = count_loss, .context = &ward });
	server_do(&servers[0], "DEL " PREFIX "lost");
	server_do(&servers[1], "DEL " PREFIX "lost");
	check(eventually_lost(&ward) && look(ward.claim) == DLOCK_CLAIM_LOST, "if a quorum lost it, the loss is reported");
	server_do(last, "DEL " PREFIX "lost");
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
	client c = client_by_relays(servers, SERVERS, relay, SERVERS - 1, 1, "");

	atomic_store(&relay->stop, dlock_scripts[DLOCK_SCRIPT_REPAIR].sha1);
	ward_begin(ward, &c, resource, LONG, 0, RENEW);
	check(eventually(has_all, ward->claim), "all servers have it");
	server_do(last, "DEL " PREFIX "%s", resource);
	renew_now(ward->claim);
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
	server_do(last, "CONFIG RESETSTAT");
	atomic_store(&relay.stop, NULL);
	renew_now(ward.claim);
	check(eventually(has_executed_two, NULL), "the server executes the repair and the next renewal");
	check(executed("eval") == 0 && has(last, ward.claim), "the repair is not undone");
	check(let_go(&c, ward.claim) && eventually(is_free_everywhere, (void *) "again"), "released");
	client_free(&c);
	relay_end(&relay);
}

static bool is_idle(void *claim)
{
	dlock_renewal_thread_lock();
	bool idle = !((dlock_claim *) claim)->renewal->busy;
	dlock_renewal_thread_unlock();
	return idle;
}

/* After a renewal has counted a repaired key, the key stays with the lease, even if the repair was never answered. */
static void test_detached_after_repair(void)
{
	for (int answered = 1; answered >= 0; answered--) {
		relay relay;
		ward ward;
		client c = client_by_relays(servers, SERVERS, &relay, SERVERS - 1, 1, "");
		atomic_store(&relay.swallow, answered ? NULL : dlock_scripts[DLOCK_SCRIPT_REPAIR].sha1);
		ward_begin(&ward, &c, "stays", LONG, 0, RENEW);
		check(eventually(has_all, ward.claim), "all servers have it");
		server_do(last, "DEL " PREFIX "stays");
		request_ttl(ward.claim, 2000); /* so that the thread does not wait long */
		check(renews(ward.claim) && eventually(has_last, ward.claim), "repaired");
		check(eventually(is_idle, ward.claim), "the thread no longer waits for the answer");
		atomic_store(&relay.swallowed, 0);
		for (int i = 0; i < 3; i++) { /* in at least one of them the last server answers in time */
			server_do(last, "PING");
			check(renews(ward.claim) && eventually(is_idle, ward.claim), "renewed after that");
		}
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
	enum { SHORT = LONG / 2 };
	traffic traffic = { .relay = relay, .resource = "shorter", .shorter_ms = SHORT };
	pthread_t thread;
	ward ward;

	atomic_store(&relay->stop, dlock_scripts[DLOCK_SCRIPT_RENEW].sha1);
	ward_begin(&ward, &c, "shorter", LONG, 0, RENEW);
	check(eventually(has_last, ward.claim), "%s: held", what);
	renew_now(ward.claim);
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

/* The holder waits only if a renewal can arrive late, and for at most an answer's time: half a second for a renewal
 * that requests five seconds. */
static void test_shorter_waits_no_longer(void)
{
	enum { AGES = 600000 };
	relay relay;
	client c = client_at(dsn_by_relay(&relay, last, ""));
	ward ward;

	atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_RENEW].sha1);
	ward_begin(&ward, &c, "bound", AGES, 0, RENEW);
	renew_now(ward.claim);
	check(eventually(is_stopped, &relay), "a renewal is under way");
	dlock_nanos start = dlock_now();
	check(extend(&c, ward.claim, 2 * AGES) == DLOCK_OK && dlock_now() - start < SOON,
		"a request for a longer time does not wait");
	atomic_store(&relay.stop, NULL);
	check(let_go(&c, ward.claim), "released");

	atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_RENEW].sha1);
	ward_begin(&ward, &c, "bound", AGES, 0, RENEW);
	request_ttl(ward.claim, 5000);
	renew_now(ward.claim);
	check(eventually(is_stopped, &relay), "a renewal is under way");
	signal_later(getpid(), SIGUSR1, 100);
	start = dlock_now();
	extend(&c, ward.claim, 4000);
	check(dlock_now() - start < SOON, "a request for a shorter time waits no longer than an answer takes");
	atomic_store(&relay.stop, NULL);
	release(&c, ward.claim);
	dlock_claim_free(ward.claim);
	client_free(&c);
	relay_end(&relay);
}

static bool has_executed_three(void *context)
{
	(void) context;
	return executed("evalsha") >= 3;
}

/* Nor does it wait until the lease ends. The server then executes and answers the renewal last. Returns false if a busy
 * machine needed so long that the lease had ended. */
static bool shortens_in_time(void)
{
	enum { LEFT = 1000, SHORT = 30000 };
	relay relay;
	client c = client_at(dsn_by_relay(&relay, last, ""));
	ward ward;

	server_do(last, "CONFIG RESETSTAT");
	atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_RENEW].sha1);
	ward_begin(&ward, &c, "soon-over", LONG, 0, RENEW);
	renew_now(ward.claim);
	check(eventually(is_stopped, &relay), "a renewal is under way");
	dlock_nanos end = ward.claim->deadline = dlock_now() + LEFT * DLOCK_MS;
	dlock_status status = extend(&c, ward.claim, SHORT);
	bool in_time = dlock_now() < end;
	atomic_store(&relay.stop, NULL);
	if (in_time) {
		check(status == DLOCK_OK && look(ward.claim) == DLOCK_CLAIM_HELD,
			"the holder requests a shorter time before the lease ends");
		check(eventually(has_executed_three, NULL), "the server executes all requests");
		sleep_ms(100);
		check(overreach_ms(last, ward.claim) <= 0, "the deadline is not later than the server's (%ld ms)",
			overreach_ms(last, ward.claim));
		check(left_ms(ward.claim) <= SHORT && left_ms(ward.claim) > 0, "it is that of the holder's request");
	}
	release(&c, ward.claim);
	dlock_claim_free(ward.claim);
	client_free(&c);
	relay_end(&relay);
	return in_time;
}

static void test_shorter_before_the_end(void)
{
	check(proven_in_time(shortens_in_time), "it does not wait until the lease ends");
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
		TEST(shorter_before_the_end),
	};
	static const tap_setting setting = { begin, reset };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

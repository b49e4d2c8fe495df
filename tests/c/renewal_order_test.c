/* The renewal thread and its holder, who speak to the same servers over connections of their own: what is repaired
 * right after a lock was acquired, what is taken back, and whose lease time is the last. Prints TAP. renewal_order_test
 * [word in the names of the tests to run] */

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

/* ---- what is waited for ---- */

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

/* So that the others' answers are there when this one's decides. */
static client client_with_slow_first(relay *relay, const char *options)
{
	client c = client_by_relays(servers, SERVERS, relay, 0, 1, options);

	atomic_store(&relay->delay_ms, 20);
	return c;
}

/* ---- acquired on a quorum only: the others are given the key soon ---- */

enum { LONG = 60000, NOT_SOON = LONG / 3 };

/* Acquired while the last server has it for somebody else. */
static void begin_without_last(ward *ward, client *c, const char *resource, int foreign_ms, dlock_upkeep upkeep)
{
	server_do(last, "SET " PREFIX "%s foreign PX %d", resource, foreign_ms);
	ward_begin(ward, c, resource, LONG, 0, upkeep);
	check(has(&servers[0], ward->claim) && has(&servers[1], ward->claim) && !has(last, ward->claim),
		"held by two of three");
}

/* One of the first two forgets: nobody else gets it. */
static void check_safe(ward *ward, const char *resource)
{
	client other = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *denied = claim_on(&other, resource, LONG);

	server_do(&servers[0], "DEL " PREFIX "%s", resource);
	check(acquire(&other, denied, 0) == DLOCK_TIMEOUT, "one that forgets it does not give it to another holder");
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
		check(given && took < SOON / DLOCK_MS, "%s: given to the third when that is free (%ld ms)", ways[way], took);
		check(
			server_integer(last, "GET " DLOCK_FENCE_KEY) >= ward.claim->fencing_token, "%s: with the fence", ways[way]);
		long over = overreach_ms(last, ward.claim);
		check(over <= 0 && overreach_ms(&servers[0], ward.claim) <= 0,
			"%s: for the time that is believed (%ld ms too short)", ways[way], over);
		if (way == 1) {
			long long left = server_integer(last, "PTTL " PREFIX "%s", ways[way]),
					  limit = LONG - (dlock_now() - start) / DLOCK_MS;
			check(left <= limit + 100, "not for longer than the lease (%lld, %lld ms)", left, limit);
			check(server_integer(&servers[0], "PTTL " PREFIX "%s", ways[way]) <= limit + 100,
				"nor do the others have it for longer");
			check(ward.claim->deadline == deadline && renewals() == before && !dlock_renewal_is_endless(ward.claim),
				"which is not renewed");
		}
		check_safe(&ward, ways[way]);
		check(let_go(&c, ward.claim), "released");
		check(eventually(is_free_everywhere, (void *) ways[way]), "everywhere");
		client_free(&c);
		relay_end(&relay);
	}
}

/* Who has lost a race for it has given back what he got by the time of the first look. */
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
			"%s: what is free soon is given soon", ways[way]);
		long took = (long) ((dlock_now() - start) / DLOCK_MS);
		check(took < SOON / DLOCK_MS, "%s: before the second look (%ld ms)", ways[way], took);
		check(let_go(&c, claim), "released");
	}
	client_free(&c);
	relay_end(&relay);
}

/* A round that repairs asks for no more time: where it is not answered, nothing is uncertain. */
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
		"held, with a quorum that does not answer");
	check(!has(last, ward.claim), "without which nobody is given the key");
	server_thaw(&servers[0]);
	server_thaw(&servers[1]);
	check(eventually(has_last, ward.claim), "with which he is");
	check(let_go(&c, ward.claim), "released");
	client_free(&c);
	relay_end(&relay);
}

/* What two of three have lost is lost, and not given back. */
static void test_lost_before_repair(void)
{
	relay relay;
	client c = client_with_slow_first(&relay, "");
	ward ward;

	begin_without_last(&ward, &c, "lost", 300, (dlock_upkeep) { .lost = count_loss, .context = &ward });
	server_do(&servers[0], "DEL " PREFIX "lost");
	server_do(&servers[1], "DEL " PREFIX "lost");
	check(
		eventually_lost(&ward) && look(ward.claim) == DLOCK_CLAIM_LOST, "a quorum that forgot it is a loss, and told");
	sleep_ms(1200);
	check(is_free_everywhere("lost"), "nobody is given it again");
	check(release(&c, ward.claim) == DLOCK_LOST, "nothing is left to release");
	dlock_claim_free(ward.claim);
	client_free(&c);
	relay_end(&relay);
}

/* ---- taken back, in this order ---- */

/* A repair that waits before the last server; both scripts of the round are known there, for now. */
static client begin_repair(relay *relay, ward *ward, const char *resource)
{
	client c = client_by_relays(servers, SERVERS, relay, SERVERS - 1, 1, "?read_timeout=30");

	atomic_store(&relay->stop, dlock_scripts[DLOCK_SCRIPT_REPAIR].sha1);
	ward_begin(ward, &c, resource, 20000, 1500, RENEW);
	check(eventually(has_all, ward->claim), "held everywhere");
	server_do(last, "DEL " PREFIX "%s", resource);
	check(eventually(is_stopped, relay), "a repair is under way");
	return c;
}

static bool has_taken_back(void *context)
{
	(void) context;
	return executed("eval") > 0;
}

/* A server that has forgotten its scripts wants to be told the repair again: not behind what takes it back. */
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
		check(eventually(holds_more, &relay), "taken back");
		atomic_store(&relay.stop, NULL);
		check(eventually(has_taken_back, NULL), "both come through");
		sleep_ms(150);
		check(has_nobody(last, "unknown"), "nothing stays behind");
		server_do(&servers[0], "DEL " PREFIX "unknown");
		server_do(&servers[1], "DEL " PREFIX "unknown");
		client_free(&c);
		relay_end(&relay);
		know_scripts(last);
	}
}

/* The lease goes on elsewhere, where it may have been released before the repair comes through. */
static void test_detached_under_repair(void)
{
	relay relay;
	ward ward;
	client c = begin_repair(&relay, &ward, "detached");

	dlock_claim_free(ward.claim);
	server_do(last, "CONFIG RESETSTAT"); /* while nothing comes through */
	atomic_store(&relay.stop, NULL);
	check(eventually(has_taken_back, NULL) && eventually_nobody(last, "detached"), "a repair under way is taken back");
	sleep_ms(100);
	check(has_nobody(last, "detached") && !has_nobody(&servers[0], "detached"), "and nothing else");
	server_do(&servers[0], "DEL " PREFIX "detached");
	server_do(&servers[1], "DEL " PREFIX "detached");
	client_free(&c);
	relay_end(&relay);
}

/* What has been repaired, and counts since, goes on with the lease: also where the repair itself was never answered. */
static void test_detached_after_repair(void)
{
	for (int answered = 1; answered >= 0; answered--) {
		relay relay;
		ward ward;
		client c = client_by_relays(servers, SERVERS, &relay, SERVERS - 1, 1, "");
		unsigned long before = renewals();
		atomic_store(&relay.swallow, answered ? NULL : dlock_scripts[DLOCK_SCRIPT_REPAIR].sha1);
		ward_begin(&ward, &c, "stays", 3000, 0, RENEW);
		check(eventually(has_all, ward.claim), "held everywhere");
		server_do(last, "DEL " PREFIX "stays");
		check(eventually(has_last, ward.claim), "repaired");
		check(renewed_since(before, 2), "and renewed there");
		atomic_store(&relay.swallowed, 0);
		check(renewed_since(renewals(), 2), "twice");
		dlock_claim_free(ward.claim);
		sleep_ms(200);
		check(!has_nobody(last, "stays"), "%s: the key stays where the lease is counted on it",
			answered ? "answered" : "not answered");
		for (int i = 0; i < SERVERS; i++) {
			server_do(&servers[i], "DEL " PREFIX "stays");
		}
		client_free(&c);
		relay_end(&relay);
	}
}

/* ---- the last lease time that was asked for ---- */

enum { HELD_UP = 250 };

typedef struct {
	relay *relay;
	const char *resource;
	test_server server;
	int shorter_ms;
} traffic;

/* Lets a renewal go on that is held up in the network, when the shorter time has been set on the server; or after a
 * while. */
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
	sleep_ms(20); /* for the answer to it */
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
	check(extend(&c, ward.claim, SHORT) == DLOCK_OK, "%s: a shorter time is asked for", what);
	dlock_renewal_stop(ward.claim);
	pthread_join(thread, NULL);
	check(eventually(has_renewal_executed, NULL), "the renewal is executed");
	sleep_ms(100);
	long long left = server_integer(last, "PTTL " PREFIX "shorter");
	check(left <= SHORT, "%s: the server has it for no longer than was asked for last (%lld ms)", what, left);
	check(overreach_ms(last, ward.claim) <= 0 && look(ward.claim) == DLOCK_CLAIM_HELD, "nor is it believed for longer");
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

/* Nobody waits where nothing can come late, nor for longer than an answer may take, nor until the lease is over. */
static void test_shorter_waits_no_longer(void)
{
	relay relay;
	client c = client_at(dsn_by_relay(&relay, last, "?read_timeout=0.6"));
	ward ward;

	atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_RENEW].sha1);
	ward_begin(&ward, &c, "bound", 20000, 9000, RENEW);
	check(eventually(is_stopped, &relay), "a renewal is under way");
	dlock_nanos start = dlock_now();
	check(extend(&c, ward.claim, 30000) == DLOCK_OK && dlock_now() - start < SOON, "a longer time is not kept waiting");
	start = dlock_now();
	signal_later(getpid(), SIGUSR1, 100);
	check(extend(&c, ward.claim, 2000) == DLOCK_OK && dlock_now() - start < SOON,
		"a shorter one for no longer than an answer takes");
	atomic_store(&relay.stop, NULL);
	check(let_go(&c, ward.claim), "released");

	atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_RENEW].sha1);
	ward_begin(&ward, &c, "soon over", 20000, 600, RENEW);
	check(eventually(is_stopped, &relay), "a renewal of what is soon over is under way");
	check(extend(&c, ward.claim, 2000) == DLOCK_OK && look(ward.claim) == DLOCK_CLAIM_HELD,
		"which is not over before a shorter time is asked for");
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
		TEST(detached_under_repair), TEST(detached_after_repair), TEST(shorter_under_renewal),
		TEST(shorter_waits_no_longer),
	};
	static const tap_setting setting = { begin, reset };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

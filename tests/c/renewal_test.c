/* The renewal thread on real servers: which leases it keeps, how it reports a loss, and what it leaves behind. Prints
 * TAP. renewal_test [word in the names of the tests to run] */

#include <signal.h>
#include <unistd.h>

#include "helpers.h"
#include "relay.h"
#include "tap.h"
#include "upkeep.h"

enum { SERVERS = 3 };

static test_server servers[SERVERS], *const server = &servers[0];

/* ---- while all is well ---- */

enum { KEPT_TTL = 60000, KEPT_LEAST = 100 };

/* A process that runs beside all other tests, with a server that no test freezes. */
typedef struct {
	_Atomic int end;
	int good, losses;
	unsigned long renewals;
	long overreach;
} keeping;

static keeping *kept;
static pid_t keeper;

static void keep(test_server *server)
{
	client c = client_of(server, READ_TIMEOUT);
	ward ward;

	ward_begin(&ward, &c, "kept", KEPT_TTL, 0, RENEW_AND_TELL(&ward));
	kept->good = 1;
	while (!atomic_load(&kept->end) || kept->renewals < KEPT_LEAST) {
		dlock_nanos deadline = ward.claim->deadline;
		renew_now(ward.claim);
		for (int i = 0; i < 10; i++) { /* before and after the answer */
			long overreach = overreach_ms(server, ward.claim);
			kept->overreach = overreach > kept->overreach ? overreach : kept->overreach;
		}
		kept->good &= renewed_since(kept->renewals, 1) && ward.claim->deadline > deadline;
		kept->renewals = renewals();
		kept->good &= look(ward.claim) == DLOCK_CLAIM_HELD && has(server, ward.claim)
			&& dlock_renewal_is_endless(ward.claim);
		sleep_ms(20);
	}
	kept->good &= let_go(&c, ward.claim) && has_nobody(server, "kept");
	kept->losses = ward.losses;
	dlock_renewal_shutdown();
	_exit(0);
}

static void begin_kept(void)
{
	static test_server quiet;

	server_start(&quiet, NULL);
	redisFree(quiet.admin); /* the child opens another */
	quiet.admin = NULL;
	kept = shared_memory(sizeof *kept);
	keeper = fork_child();
	if (keeper == 0) {
		keep(&quiet);
	}
}

static void end_kept(void)
{
	atomic_store(&kept->end, 1);
	check(exit_of(keeper) == 0 && kept->good, "renewed %lu times, without limit, and released", kept->renewals);
	check(kept->overreach <= 0, "its holder never relies on it for longer than the server has it (%ld ms)",
		kept->overreach);
	check(kept->losses == 0, "no loss is reported");
}

/* ---- losses ---- */

/* An answer comes after the deadline. Its call is not cancelled yet: for so long a lease it may take ten seconds. */
static void test_late_answer(void)
{
	client c = client_of(server, READ_TIMEOUT);
	ward told, unseen;

	ward_begin(&told, &c, "told", 60000, 0, RENEW_AND_TELL(&told));
	ward_begin(&unseen, &c, "unseen", 60000, 0, RENEW);
	unsigned long before = renewals();
	server_freeze(server);
	renew_now(told.claim);
	renew_now(unseen.claim);
	check(eventually_renewing(told.claim) && eventually_renewing(unseen.claim), "renewals are under way");
	let_expire(unseen.claim);
	let_expire(told.claim);
	check(eventually_lost(&told), "the deadlines pass");
	server_thaw(server);
	check(renewed_since(before, 2), "both are answered");
	check(look(told.claim) == DLOCK_CLAIM_LOST && told.losses == 1, "a lease whose loss was reported stays lost");
	check(look(unseen.claim) == DLOCK_CLAIM_HELD && left_ms(unseen.claim) > 30000,
		"a lease whose holder did not ask is held");
	check(overreach_ms(server, unseen.claim) <= 0, "its deadline is not later than the server's");
	check(release(&c, told.claim) == DLOCK_LOST && eventually_nobody(server, "told"),
		"the release of the lost lock leaves no key");
	dlock_claim_free(told.claim);
	check(let_go(&c, unseen.claim), "the other lock is released");
	client_free(&c);
}

/* ---- the holder requests another lease time ---- */

static bool has_executed_three(void *context)
{
	(void) context;
	return server_info(server, "commandstats", "cmdstat_evalsha:calls") >= 3;
}

/* A renewal is under way. The server executes and answers it after the holder's request for more time. */
static void test_longer_while_renewing(void)
{
	ward ward;
	relay relay;
	client c = client_at(dsn_by_relay(&relay, server, ""));

	server_do(server, "CONFIG RESETSTAT");
	atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_RENEW].sha1);
	ward_begin(&ward, &c, "changed", 60000, 0, RENEW);
	renew_now(ward.claim);
	check(eventually(is_stopped, &relay), "a renewal is under way");
	check(extend(&c, ward.claim, 600000) == DLOCK_OK, "the holder requests more time");
	atomic_store(&relay.stop, NULL);
	check(eventually(has_executed_three, NULL), "the server executes all requests");
	sleep_ms(100);
	check(overreach_ms(server, ward.claim) <= 0, "the deadline is not later than the server's (%ld ms)",
		overreach_ms(server, ward.claim));
	check(left_ms(ward.claim) <= 600000 && left_ms(ward.claim) > 300000, "it is that of the holder's request");
	check(let_go(&c, ward.claim), "released");
	client_free(&c);
	relay_end(&relay);
}

/* A holder requests a shorter time without an answer. The server executes that request after a renewal, because it
 * accepts the holder's connection last. */
static void test_shorter_unanswered(void)
{
	enum { LONG = 600000, SHORT = 60000 };
	client c = client_of(server, READ_TIMEOUT);
	ward ward;

	ward_begin(&ward, &c, "shorter", LONG, 0, RENEW_AND_TELL(&ward));
	check(renews(ward.claim) && left_ms(ward.claim) > SHORT, "renewed");
	server_freeze(server);
	dlock_conn_close(client_conn(&c, 0));
	client_hurry(&c, 300);
	check(extend(&c, ward.claim, SHORT) == DLOCK_CONNECTION && left_ms(ward.claim) <= SHORT,
		"without an answer the shorter time counts");
	client_hurry(&c, 0);
	unsigned long before = renewals();
	renew_now(ward.claim);
	check(eventually_renewing(ward.claim), "the next renewal is under way");
	server_thaw(server);
	check(renewed_since(before, 1), "renewed again");
	sleep_ms(100);
	check(overreach_ms(server, ward.claim) <= 0, "the deadline is not later than the server's (%ld ms)",
		overreach_ms(server, ward.claim));
	check(look(ward.claim) == DLOCK_CLAIM_HELD && ward.losses == 0, "the lease is held");
	check(extend(&c, ward.claim, LONG) == DLOCK_OK && left_ms(ward.claim) <= SHORT && left_ms(ward.claim) > 0,
		"after the answer to a longer time the shorter one counts, too, because it may arrive later (%ld ms)",
		left_ms(ward.claim));
	check(let_go(&c, ward.claim), "released");
	client_free(&c);
}

/* A lock that was handed over lasts only as long as the grant, until its new holder has requested more. */
typedef struct {
	client client;
	dlock_claim *claim;
	dlock_status status;
} waiter;

static void *wait_for_lock(void *context)
{
	waiter *waiter = context;

	waiter->status = acquire(&waiter->client, waiter->claim, 60000);
	return NULL;
}

static bool is_queued(void *resource)
{
	return server_integer(server, "ZCARD dlock:queue:{" PREFIX "%s}", (const char *) resource) == 1;
}

static bool has_much_left(void *claim)
{
	return atomic_load(&((dlock_claim *) claim)->deadline) > dlock_now() + 30 * DLOCK_SECOND;
}

/* Returns false if a busy machine was too slow for the grant, which lasts three seconds. */
static bool renews_grant(void)
{
	client c = client_of(server, READ_TIMEOUT);
	waiter second = { .client = client_of(server, READ_TIMEOUT) };
	dlock_claim *first = claim_on(&c, "grant", 60000);
	pthread_t thread;

	second.claim = claim_on(&second.client, "grant", 60000);
	check(acquire(&c, first, 0) == DLOCK_OK, "held");
	pthread_create(&thread, NULL, wait_for_lock, &second);
	check(eventually(is_queued, "grant") && let_go(&c, first), "released while a client waits");
	pthread_join(thread, NULL);
	dlock_nanos granted = second.claim->deadline;
	check(second.status == DLOCK_OK && (!second.claim->received || granted < dlock_now() + DLOCK_GRANT_TTL),
		"handed over, for a short time");
	check(dlock_renewal_begin(second.claim, &RENEW, &second.client.error) == DLOCK_OK, "renewal begins");
	bool good = eventually(has_much_left, second.claim) && second.claim->received && dlock_now() < granted;
	release(&second.client, second.claim);
	dlock_claim_free(second.claim);
	client_free(&c);
	client_free(&second.client);
	return good;
}

static void test_grant(void)
{
	check(proven_in_time(renews_grant), "renewed before the grant expires");
}

/* ---- leases side by side ---- */

/* A slow server is too slow for a short lease, but not for a long one at the same time. */
static void test_slow_server(void)
{
	relay relay;

	client c = client_at(dsn_by_relay(&relay, server, ""));
	ward hasty, patient;
	ward_begin(&hasty, &c, "hasty", 60000, 0, RENEW);
	ward_begin(&patient, &c, "patient", 60000, 20000, RENEW_AND_TELL(&patient));
	unsigned long before = dlock_renewal_count().failures;
	atomic_store(&relay.delay_ms, 120);
	request_ttl(hasty.claim, 300);
	renew_now(hasty.claim);
	renew_now(patient.claim);
	check(failed_since(before, 1), "too slow for a lease of 300 ms");
	check(eventually(has_much_left, patient.claim) && patient.losses == 0, "not too slow for a lease of 60 s");
	atomic_store(&relay.delay_ms, 0);
	release(&c, hasty.claim);
	dlock_claim_free(hasty.claim);
	check(let_go(&c, patient.claim), "released");
	client_free(&c);
	relay_end(&relay);
}

/* The holder ends its leases while the thread reads answers that come too late. */
static void test_ended_under_late_answers(void)
{
	enum { MANY = 300 };
	static ward wards[MANY];
	client c = client_of(server, READ_TIMEOUT);
	unsigned long before = dlock_renewal_count().failures;

	for (int i = 0; i < MANY; i++) {
		char name[32];
		snprintf(name, sizeof name, "late-%d", i);
		ward_begin(&wards[i], &c, name, 60000, 0, RENEW);
	}
	server_freeze(server);
	for (int i = 0; i < MANY; i++) {
		request_ttl(wards[i].claim, 2000);
		renew_now(wards[i].claim);
	}
	check(failed_since(before, MANY), "the renewals time out");
	server_thaw(server);
	for (int i = 0; i < MANY; i++) {
		dlock_claim_abandon(wards[i].claim);
		dlock_claim_free(wards[i].claim);
	}
	client_settle(&c);
	check(eventually_nobody(server, "late-0") && eventually_nobody(server, "late-299"),
		"all leases are released while the answers come");
	client_free(&c);
}

static void reset(void)
{
	reset_knowing(servers, SERVERS);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(late_answer),
		TEST(longer_while_renewing), TEST(shorter_unanswered), TEST(grant), TEST(slow_server),
		TEST(ended_under_late_answers),
	};

	signal(SIGPIPE, SIG_IGN); /* as in PHP */
	dlock_process_init();
	servers_start(servers, SERVERS);
	begin_kept();
	tap_run(tests, sizeof tests / sizeof *tests, argc > 1 ? argv[1] : NULL, reset);
	note("kept");
	end_kept();
	dlock_renewal_shutdown();
	return tap_end();
}

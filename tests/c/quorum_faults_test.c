/* The quorum back end when servers do not answer, answer too late, or restart without their data. Prints TAP. */

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helpers.h"
#include "quorum_servers.h"

/* ---- servers that do not answer ---- */

/* If a busy machine holds up another server, too, that counts as stuck until it answers. */
static bool passes_in_the_end(client *c, const char *resource)
{
	for (int tries = 0; tries < 10; tries++) {
		if (passes(c, resource, 0)) {
			return true;
		}
		client_drain(c);
	}
	return false;
}

/* 0: a section has failed, which is reported already. */
static dlock_nanos median_section(client *c, int sections)
{
	dlock_nanos times[sections];

	for (int i = 0; i < sections; i++) {
		dlock_nanos start = dlock_now();
		if (!passes_in_the_end(c, "median")) {
			check(false, "section %d passes: %s", i, c->error.message);
			return 0;
		}
		times[i] = dlock_now() - start;
	}
	return median(times, sections);
}

static size_t most_queued(const client *c)
{
	size_t most = 0;

	for (const dlock_conn *conn = c->pool->first; conn; conn = conn->next) {
		most = conn->calls.count > most ? conn->calls.count : most;
	}
	return most;
}

static void test_one_stopped(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);

	check(warm_all(&c), "warm");
	dlock_nanos healthy = median_section(&c, 300);
	server_freeze(&servers[1]);
	dlock_nanos stopped = median_section(&c, 300);
	check(stopped < SOON,
		"one stopped server of five does not slow sections down (%lld us, %lld us healthy)",
		(long long) (stopped / DLOCK_US), (long long) (healthy / DLOCK_US));
	server_freeze(&servers[4]);
	stopped = median_section(&c, 300);
	check(stopped < SOON, "nor do two (%lld us)", (long long) (stopped / DLOCK_US));
	server_thaw(&servers[1]);
	server_thaw(&servers[4]);
	client_settle(&c);
	check(eventually_nowhere("median"), "they execute the releases later");
	dlock_nanos again = median_section(&c, 300);
	client_settle(&c);
	check(again < SOON && passes(&c, "median", 0) && !dlock_quorum_server_error(c.backend, 1), "and are back (%lld us)",
		(long long) (again / DLOCK_US));
	client_free(&c);
}

/* Runs sections for four read timeouts. If a busy machine holds up this process, it has some time more. */
static void watch_queue(client *c, const char *text, dlock_nanos healthy, dlock_nanos read_timeout)
{
	enum { MANY = 40 };
	dlock_nanos end = dlock_now() + 4 * read_timeout, slowest = 0;
	size_t most = 0;
	int sections = 0, bad = 0;

	while (dlock_now() < end || (sections <= MANY && dlock_now() < end + 10 * DLOCK_SECOND)) {
		char name[32];
		snprintf(name, sizeof name, "stuck-%d", sections);
		dlock_nanos start = dlock_now();
		bad += !passes_in_the_end(c, name);
		slowest = dlock_now() - start > slowest ? dlock_now() - start : slowest;
		sections++;
		size_t queued = most_queued(c);
		most = queued > most ? queued : most;
	}
	check(bad == 0, "%s: all of %d sections passed", text, sections);
	/* Without a bound, two calls for each section of a whole timeout would be kept. With it, the calls of 50 ms are. */
	check(most < 64 + (size_t) sections / 2, "%s: at most %zu calls were kept for it", text, most);
	check(sections > MANY, "%s: without waiting for it each time (%d sections, %lld us healthy)", text, sections,
		(long long) (healthy / DLOCK_US));
	check(slowest < SOON, "%s: no section waits for it (%lld ms)", text, (long long) (slowest / DLOCK_MS));
}

static bool has_no_locks(void *server)
{
	return server_integer(server, "DBSIZE") <= 1;
}

/* The server may have read an abandoned connection up to an acquire, without its release. No lock must remain. */
static bool comes_back(client *c)
{
	client_hurry(c, 0);
	client_settle(c);
	bool clean = eventually(has_no_locks, &servers[2]);

	if (!clean) {
		note("%lld locks stayed for their lease time", server_integer(&servers[2], "DBSIZE") - 1);
	}
	bool passed = passes_in_the_end(c, "stuck");
	const char *problem = dlock_quorum_server_error(c->backend, 2);
	if (problem) {
		note("%s", problem);
	}
	return clean && passed && !problem;
}

static bool is_not_stuck(void *conn)
{
	return !dlock_conn_drain_if_stuck(conn);
}

static void test_stuck(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);

	check(warm_all(&c), "warm");
	dlock_nanos healthy = median_section(&c, 300);
	server_freeze(&servers[2]);
	client_hurry(&c, 500);
	watch_queue(&c, "a stopped server", healthy, DLOCK_SECOND / 2);
	check(eventually(is_not_stuck, client_conn(&c, 0)), "a server that answers is not stuck");
	server_thaw(&servers[2]);
	check(comes_back(&c), "it comes back, and has released all late locks");
	client_free(&c);
}

/* With a password, a new connection is ready when AUTH is answered. A stopped server does not answer it. */
static void test_stuck_login(void)
{
	char text[SERVERS][80];
	const char *dsns[SERVERS];

	for (int i = 0; i < SERVERS; i++) {
		snprintf(text[i], sizeof text[i], "redis://:" SECRET "@127.0.0.1:%d", servers[i].port);
		dsns[i] = text[i];
		server_do(&servers[i], "CONFIG SET requirepass " SECRET);
	}
	client c = client_quorum_at(dsns, SERVERS);
	check(warm_all(&c), "warm");
	dlock_nanos healthy = median_section(&c, 300);
	server_freeze(&servers[2]);
	client_hurry(&c, 1000);
	watch_queue(&c, "a stopped server with a password", healthy, DLOCK_SECOND);
	server_thaw(&servers[2]);
	check(comes_back(&c), "it comes back, and has released all late locks");
	client_free(&c);
	for (int i = 0; i < SERVERS; i++) {
		server_do(&servers[i], "CONFIG SET requirepass %s", "");
	}
}

/* A host that is away does not even refuse connections. A full backlog acts like that. */
static void test_stuck_host(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof address;
	int listener = socket(AF_INET, SOCK_STREAM, 0), fill[4];
	char text[SERVERS][80];
	const char *dsns[SERVERS];
	client all = client_quorum(servers, SERVERS, READ_TIMEOUT);

	check(warm_all(&all), "warm");
	client_free(&all);
	check(bind(listener, (struct sockaddr *) &address, len) == 0 && listen(listener, 0) == 0
			&& getsockname(listener, (struct sockaddr *) &address, &len) == 0,
		"a listener that accepts no client");
	for (int i = 0; i < 4; i++) {
		fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void) !connect(fill[i], (struct sockaddr *) &address, len);
	}
	for (int i = 0; i < SERVERS; i++) {
		snprintf(text[i], sizeof text[i], "redis://127.0.0.1:%d?connect_timeout=5",
			i == 2 ? ntohs(address.sin_port) : servers[i].port);
		dsns[i] = text[i];
	}
	client c = client_quorum_at(dsns, SERVERS);
	dlock_nanos healthy = median_section(&c, 50);
	watch_queue(&c, "a host that is away", healthy, DLOCK_SECOND);
	client_free(&c);
	for (int i = 0; i < 4; i++) {
		close(fill[i]);
	}
	close(listener);
}

/* If a yes comes after the attempt has failed, it must not keep the lock from other clients. */
static void test_late_yes(void)
{
	for (int gone = 0; gone < 2; gone++) {
		client c = client_of_some(SERVERS, 7); /* two are dead */
		warm_all(&c);
		client_free(&c);
		c = client_of_some(SERVERS, 7);
		check(warm_all(&c), "warm over three");
		dlock_claim *claim = claim_on(&c, "late", 60000);
		server_freeze(&servers[0]);
		client_hurry(&c, 300);
		dlock_status status = acquire(&c, claim, 0);
		check(status == DLOCK_QUORUM, "two of five are too few: %d %s", status, c.error.message);
		check(strstr(dlock_quorum_server_error(c.backend, 0), "no answer"), "the stopped server did not answer");
		dlock_claim_free(claim);
		client_hurry(&c, 0);
		client_drain(&c);
		check(eventually_nobody(&servers[1], "late") && eventually_nobody(&servers[2], "late"),
			"the votes are released");
		if (gone) {
			client_free(&c);
		}
		server_thaw(&servers[0]);
		check(eventually_fenced(&servers[0]), "the stopped server votes when it continues");
		check(eventually_nobody(&servers[0], "late"), "and its vote is released");
		if (!gone) {
			check(passes(&c, "late", 60000), "it can be locked");
			client_free(&c);
		}
	}
}

typedef struct {
	client *client;
	dlock_claim *claim;
	dlock_status status;
} attempt;

static void *make_attempt(void *context)
{
	attempt *attempt = context;

	attempt->status = acquire(attempt->client, attempt->claim, 0);
	return NULL;
}

/* One vote of a bare majority comes late. By then the server of another vote may have restarted without it. */
static void test_forgotten_vote(void)
{
	for (int forgets = 0; forgets < 2; forgets++) {
		relay relay;
		pthread_t thread;
		client c = client_by_relay(&relay, PREFIX "forgotten");
		attempt attempt = { &c, claim_on(&c, "forgotten", 60000), DLOCK_FAILED };
		for (int i = 2; i < SERVERS - 1; i++) {
			server_do(&servers[i], "SET " PREFIX "forgotten foreign");
		}
		pthread_create(&thread, NULL, make_attempt, &attempt);
		while (forgets
			&& server_integer(&servers[0], "EXISTS " PREFIX "forgotten") == 0) { /* the claim belongs to the thread */
			sleep_ms(1);
		}
		if (forgets) {
			server_kill(&servers[0]);
			server_restart(&servers[0]);
		}
		check(eventually(is_stopped, &relay), "a vote is late");
		sleep_ms(150); /* until the attempt is no longer a quick one */
		atomic_store(&relay.stop, NULL);
		pthread_join(thread, NULL);
		check(attempt.status == (forgets ? DLOCK_TIMEOUT : DLOCK_OK),
			forgets ? "a vote that its server has forgotten does not count" : "a vote that is late counts");
		check(forgets || holding(attempt.claim) == MAJORITY, "and a majority has it");
		dlock_claim_abandon(attempt.claim);
		dlock_claim_free(attempt.claim);
		client_settle(&c);
		client_free(&c);
		relay_end(&relay);
		quorum_servers_reset();
	}
}

/* If the lease time is shorter than the read timeout, it bounds an attempt. */
static void test_short_lease(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim;
	bool answered = false;

	check(warm_all(&c), "warm");
	for (int i = 0; i < MAJORITY; i++) {
		server_freeze(&servers[i]);
	}
	claim = claim_on(&c, "short", 300);
	for (int tries = 0; tries < 10 && !answered; tries++) { /* on a busy machine 300 ms may be too short for all */
		server_do(&servers[3], "PING");
		server_do(&servers[4], "PING");
		dlock_nanos start = dlock_now();
		check(acquire(&c, claim, 0) == DLOCK_QUORUM && dlock_now() - start < SOON,
			"an attempt for a lease of 300 ms ends with it: %s", c.error.message);
		for (int i = 0; i < MAJORITY; i++) {
			check(dlock_quorum_server_error(c.backend, i) != NULL, "server %d: stopped", i);
		}
		answered = !dlock_quorum_server_error(c.backend, 3) && !dlock_quorum_server_error(c.backend, 4);
	}
	check(answered, "the other servers have answered");
	for (int i = 0; i < MAJORITY; i++) {
		server_thaw(&servers[i]);
	}
	client_settle(&c);
	check(taken("short") == 0, "nothing is left");
	dlock_claim_free(claim);
	client_free(&c);
}

typedef struct {
	relay *relays;
	int ms;
	dlock_nanos asked; /* by then the client had sent its requests to a majority */
} delay;

static void hold_back(relay *relays, const char *word)
{
	for (int i = 0; i < MAJORITY; i++) {
		atomic_store(&relays[i].stop, word);
	}
}

/* Passes the requests of a majority on when they have been held back for a while. */
static void *pass_on(void *context)
{
	delay *delay = context;

	for (int i = 0; i < MAJORITY; i++) {
		eventually(is_stopped, &delay->relays[i]);
	}
	delay->asked = dlock_now();
	sleep_ms(delay->ms);
	hold_back(delay->relays, NULL);
	return NULL;
}

/* A majority says yes late. The lease runs from the request, and may have expired when the answers come. */
static void test_too_late(void)
{
	enum { TTL = 60000, SURE = 59398, SHORT = 300 };
	static const char *texts[] = { "acquire", "extend", "check", "extend" };
	relay relays[MAJORITY];
	client c = client_by_relays(servers, SERVERS, relays, 0, MAJORITY, "");

	check(warm_all(&c), "warm");
	for (int round = 0; round < 4; round++) {
		pthread_t thread;
		delay delay = { relays, round == 3 ? 2 * SHORT : SHORT, 0 };
		dlock_claim *claim = claim_on(&c, "slow", TTL);
		check(round == 0 || acquire(&c, claim, 0) == DLOCK_OK, "%s", texts[round]);
		client_settle(&c);
		hold_back(relays, PREFIX "slow");
		pthread_create(&thread, NULL, pass_on, &delay);
		dlock_status status = round == 0 ? acquire(&c, claim, 0) : round == 1 ? extend(&c, claim, TTL)
			: round == 2 ? dlock_claim_check(claim, &c.error) : extend(&c, claim, SHORT);
		pthread_join(thread, NULL);
		if (round == 3) {
			check(status != DLOCK_OK || look(claim) == DLOCK_CLAIM_HELD,
				"an extension that has expired when the answer comes does not count (status %d)", status);
		} else {
			check(status == DLOCK_OK, "the answer comes late");
			check(claim->deadline <= delay.asked + SURE * DLOCK_MS, "the lease runs from the request (%ld)",
				left_ms(claim));
		}
		dlock_claim_abandon(claim);
		dlock_claim_free(claim);
		client_settle(&c);
	}
	client_free(&c);
	for (int i = 0; i < MAJORITY; i++) {
		relay_end(&relays[i]);
	}
}

/* ---- servers that restart empty ---- */

static void test_restarts(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT), other = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "restarts", 60000), *denied = claim_on(&other, "restarts", 60000);

	check(warm_all(&c) && warm_all(&other) && acquire(&c, claim, 0) == DLOCK_OK && is_everywhere("restarts"),
		"held everywhere");
	client_settle(&c);
	server_restart(&servers[0]);
	server_restart(&servers[1]);
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK && extend(&c, claim, 60000) == DLOCK_OK,
		"two servers that restart empty are outvoted (%s)", c.error.message);
	client_settle(&c);
	check(holding(claim) >= MAJORITY, "a majority still has it");
	check(acquire(&other, denied, 0) == DLOCK_TIMEOUT, "no other client acquires it");
	dlock_claim_free(denied);
	client_settle(&other);
	for (int i = 0; i < MAJORITY; i++) { /* all three at once, even if the extension has set the key again */
		server_restart(&servers[i]);
	}
	check(dlock_claim_check(claim, &c.error) == DLOCK_LOST, "three are a loss");
	dlock_claim_free(claim);
	client_settle(&c);
	for (int i = 0; i < SERVERS; i++) {
		server_do(&servers[i], "DEL " PREFIX "restarts");
	}
	check(passes(&c, "restarts", 0), "the servers work as before");
	client_free(&c);
	client_free(&other);
}

static void test_killed_connections(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	int bad = 0;

	check(warm_all(&c), "warm");
	for (int i = 0; i < 10; i++) {
		dlock_claim *claim = claim_on(&c, "killed", 60000);
		for (int k = 0; k < SERVERS; k++) {
			server_do(&servers[k], "CLIENT KILL TYPE normal SKIPME yes");
		}
		bad += acquire(&c, claim, 0) != DLOCK_OK || dlock_quorum_server_error(c.backend, 0)
			|| dlock_quorum_server_error(c.backend, 4);
		for (int k = 0; k < SERVERS; k++) {
			server_do(&servers[k], "CLIENT KILL TYPE normal SKIPME yes");
		}
		bad += !let_go(&c, claim);
	}
	client_settle(&c);
	check(bad == 0 && taken("killed") == 0, "killed idle connections are replaced (%d, %s)", bad, c.error.message);
	client_free(&c);
}

static void test_script_flush(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	int bad = 0;

	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < SERVERS; k++) {
			server_do(&servers[k], "SCRIPT FLUSH");
		}
		dlock_claim *claim = claim_on(&c, "flush", 60000);
		bad += acquire(&c, claim, 0) != DLOCK_OK || extend(&c, claim, 60000) != DLOCK_OK;
		for (int k = 0; k < SERVERS; k++) {
			server_do(&servers[k], "SCRIPT FLUSH");
		}
		dlock_claim_abandon(claim);
		dlock_claim_free(claim);
		client_settle(&c);
		bad += taken("flush");
	}
	check(bad == 0, "scripts that were forgotten are sent again (%d)", bad);
	client_free(&c);
}

/* The lease runs from the moment when the servers were asked for it, however long connecting took. */
static void test_slow_handshake(void)
{
	enum { COUNT = 3, SLOW = 300, TTL = 60000, SURE = 59398 };
	relay relays[COUNT];
	client c = client_by_relays(servers, COUNT, relays, 0, COUNT, "/1");

	for (int i = 0; i < COUNT; i++) {
		atomic_store(&relays[i].delay_ms, SLOW); /* for the answer to SELECT, and for that to the request */
	}
	dlock_claim *claim = claim_on(&c, "handshake", TTL);
	dlock_nanos start = dlock_now();
	check(acquire(&c, claim, 0) == DLOCK_OK, "held");
	long left = left_ms(claim), took = (long) ((dlock_now() - start) / DLOCK_MS);
	check(took >= 2 * SLOW, "after two slow answers (%ld ms)", took);
	check(left > SURE - took + SLOW / 2 && left <= SURE - SLOW,
		"one of which came before the lease began (%ld ms are left)", left);
	for (int i = 0; i < COUNT; i++) {
		atomic_store(&relays[i].delay_ms, 0);
	}
	check(let_go(&c, claim), "released");
	client_free(&c);
	for (int i = 0; i < COUNT; i++) {
		relay_end(&relays[i]);
	}
}

/* One server has missed the last renewals, and is among the first to answer. */
static void test_short_on_one(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	pid_t pids[2];

	check(warm_all(&c), "warm");
	dlock_claim *claim = claim_on(&c, "short", 60000);
	check(acquire(&c, claim, 0) == DLOCK_OK, "held");
	client_settle(&c);
	check(server_integer(&servers[0], "PEXPIRE " PREFIX "short 15000") == 1, "for a quarter of the time on one server");
	for (int i = 0; i < 2; i++) {
		server_freeze(&servers[MAJORITY + i]);
		pids[i] = server_thaw_later(&servers[MAJORITY + i], 300);
	}
	dlock_status status = dlock_claim_check(claim, &c.error);
	check(status == DLOCK_OK && left_ms(claim) > 20000, "the client waits for the other servers (%ld ms left)",
		left_ms(claim));
	for (int i = 0; i < 2; i++) {
		exit_of(pids[i]);
	}
	check(let_go(&c, claim), "released");
	client_settle(&c);
	client_free(&c);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(one_stopped), TEST(stuck), TEST(stuck_login), TEST(stuck_host), TEST(late_yes), TEST(forgotten_vote),
		TEST(short_lease), TEST(too_late), TEST(killed_connections), TEST(script_flush), TEST(restarts),
		TEST(slow_handshake), TEST(short_on_one),
	};

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &quorum_servers);
}

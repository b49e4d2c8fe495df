/* Servers with names that take long to look up, are not found, have several addresses, or move. Prints TAP.
 * names_test [word in the names of the tests to run] */

#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helpers.h"
#include "names.h"
#include "tap.h"
#include "upkeep.h"

enum { SERVERS = 3 };

static test_server servers[SERVERS], *const server = &servers[0];

#define SLOW "600" /* s; much longer than a connection may take */

static client client_named(const char *name, const char *options)
{
	char dsn[128];

	snprintf(dsn, sizeof dsn, "redis://%s:%d%s", name, server->port, options);
	return client_at(dsn);
}

/* A RedLock with the servers of these names. */
static client quorum_named(const char *first, const char *second, const char *third)
{
	const char *names[SERVERS] = { first, second, third }, *dsns[SERVERS];
	char text[SERVERS][128];

	for (int i = 0; i < SERVERS; i++) {
		snprintf(text[i], sizeof text[i], "redis://%s:%d", names[i], servers[i].port);
		dsns[i] = text[i];
	}
	return client_quorum_at(dsns, SERVERS);
}

static void kill_clients(test_server *server)
{
	server_do(server, "CLIENT KILL TYPE normal SKIPME yes");
}

/* Acquires, checks that this does not take long, and returns the status. */
static dlock_status acquire_at_once(client *client, dlock_claim *claim, const char *what)
{
	dlock_nanos start = dlock_now();
	dlock_status status = acquire(client, claim, 0);
	dlock_nanos took = dlock_now() - start;

	check(took < SOON, "%s: at once (%ld ms)", what, (long) (took / DLOCK_MS));
	return status;
}

/* ---- RedLock: two of three decide ---- */

static bool holds_third(void *claim)
{
	return has(&servers[2], claim);
}

static void test_quorum(void)
{
	names_are("a.test 0 127.0.0.1\nb.test 0 127.0.0.1\nlater.test " SLOW " 127.0.0.1\n");
	client c = quorum_named("a.test", "b.test", "later.test");
	dlock_claim *claim = claim_on(&c, "given-up", 60000);

	check(acquire_at_once(&c, claim, "one of three names is slow") == DLOCK_OK, "acquired (%s)", c.error.message);
	check(has(&servers[0], claim) && has(&servers[1], claim), "by two servers");
	dlock_nanos start = dlock_now();
	check(let_go(&c, claim) && dlock_now() - start < SOON, "released at once");
	claim = claim_on(&c, "kept", 60000);
	check(acquire_at_once(&c, claim, "while it is still being looked up") == DLOCK_OK, "acquired again (%s)",
		c.error.message);
	check(names_asked("later.test") == 1, "looked up once at a time (%d)", names_asked("later.test"));
	names_are("later.test 0 127.0.0.1\n");
	client_settle(&c);
	check(eventually(holds_third, claim), "a request that is still wanted is sent when the name is known");
	check(has_nobody(&servers[2], "given-up"), "a request that was canceled meanwhile is not");
	check(let_go(&c, claim), "released");
	client_settle(&c); /* only two servers have answered before */
	check(has_nobody(&servers[2], "kept"), "by the third server, too");
	client_free(&c);
}

/* A look-up takes a little longer than the others, like the first connection to a distant server. The client waits for
 * it only for a moment, which may be too short on a busy machine. */
static void test_last(void)
{
	client known = quorum_named("127.0.0.1", "127.0.0.1", "127.0.0.1");
	bool held = false;

	passes(&known, "scripts", 0); /* the servers know them from here on */
	client_settle(&known);
	client_free(&known);
	for (int i = 0; i < 30 && !held; i++) {
		char name[32];
		snprintf(name, sizeof name, "last%d.test", i);
		names_are("p.test 0 127.0.0.1\nq.test 0 127.0.0.1\n%s 0.003 127.0.0.1\n", name);
		client c = quorum_named("p.test", "q.test", name);
		dlock_claim *claim = claim_on(&c, name, 60000);
		check(acquire(&c, claim, 0) == DLOCK_OK, "acquired");
		for (int k = 0; k < 20 && !held; k++) {
			sleep_ms(20);
			held = has(&servers[2], claim);
		}
		check(let_go(&c, claim), "released");
		client_settle(&c);
		client_free(&c);
	}
	check(held, "the last server grants the lock, too");
}

static bool has_long_on_third(void *resource)
{
	return server_integer(&servers[2], "PTTL " PREFIX "%s", (const char *) resource) > 30000;
}

/* Names that were resolved before are not resolved any more, for the renewal thread and for each new connection. */
static void test_kept(void)
{
	names_are("x.test 0 127.0.0.1\ny.test 0 127.0.0.1\nz.test 0 127.0.0.1\nnever.test " SLOW " 127.0.0.1\n");
	client c = quorum_named("x.test", "y.test", "z.test"), third = quorum_named("x.test", "y.test", "never.test");
	ward ward, never;

	ward_begin(&ward, &c, "quorum", 60000, 0, RENEW_AND_TELL(&ward));
	ward_begin(&never, &third, "never", 60000, 0, RENEW_AND_TELL(&never));
	check(eventually(holds_third, ward.claim), "held by the third server, too");
	names_are("x.test 0 127.0.0.1\ny.test 0 127.0.0.1\nz.test " SLOW " 127.0.0.1\nnever.test " SLOW " 127.0.0.1\n");
	sleep_ms(5200); /* after that the known addresses are old */
	kill_clients(&servers[2]);
	server_do(&servers[2], "PEXPIRE " PREFIX "quorum 30000");
	unsigned long before = renewals();
	renew_now(ward.claim);
	renew_now(never.claim);
	check(renewed_since(before, 2), "both are renewed, although a name takes " SLOW " s");
	check(eventually(has_long_on_third, "quorum"), "also on that server, whose address is known");
	check(look(ward.claim) == DLOCK_CLAIM_HELD && look(never.claim) == DLOCK_CLAIM_HELD && ward.losses == 0
			&& never.losses == 0,
		"held all the time");
	check(let_go(&c, ward.claim) && let_go(&third, never.claim), "released");
	client_free(&c);
	client_free(&third);
}

/* ---- one server ---- */

static void test_known(void)
{
	static const char *const ways[] = { "known.test " SLOW " 127.0.0.1\n", "known.test 0 -\n" };

	names_are("known.test 0 127.0.0.1\n");
	client c = client_named("known.test", "");
	check(warm(&c), "resolved once");
	for (int i = 0; i < 4; i++) {
		names_are(ways[i % 2]);
		if (i == 2) {
			sleep_ms(5200); /* after that the name is looked up again */
		}
		dlock_claim *claim = claim_on(&c, "known", 60000);
		server_do(server, "CLIENT KILL TYPE normal SKIPME yes");
		check(acquire_at_once(&c, claim, i % 2 ? "a resolver that fails" : "a resolver that hangs") == DLOCK_OK,
			"acquired (%s)", c.error.message);
		check(let_go(&c, claim), "and released");
	}
	client_free(&c);
}

static void test_first(void)
{
	names_are("none.test 0 -\nslow.test " SLOW " 127.0.0.1\nsoon.test 0.3 127.0.0.1\n");
	client none = client_named("none.test", ""), slow = client_named("slow.test", "?connect_timeout=0.4"),
		   soon = client_named("soon.test", "");
	dlock_claim *claim = claim_on(&none, "first", 60000);
	char reason[100];

	snprintf(reason, sizeof reason, "the name was not resolved: %s", gai_strerror(EAI_NONAME));
	for (int i = 0; i < 2; i++) {
		check(acquire(&none, claim, 0) == DLOCK_CONNECTION
				&& explains(&none, "none.test:", reason),
			"an unknown name: %s", none.error.message);
	}
	dlock_claim_free(claim);
	claim = claim_on(&slow, "first", 60000);
	for (int i = 0; i < 2; i++) {
		dlock_nanos start = dlock_now();
		check(acquire(&slow, claim, 5000) == DLOCK_CONNECTION
				&& explains(&slow, "slow.test:", "the name was not resolved within 0.4 s"),
			"a slow name: %s", slow.error.message);
		dlock_nanos took = dlock_now() - start;
		check(took >= 400 * DLOCK_MS && took < SOON, "after the connect_timeout (%ld ms)", (long) (took / DLOCK_MS));
	}
	check(names_asked("slow.test") == 1, "looked up once at a time (%d)", names_asked("slow.test"));
	names_are("slow.test 0 127.0.0.1\nsoon.test 0.3 127.0.0.1\nnone.test 0 127.0.0.1\n");
	client_conn(&slow, 0)->server->connect_timeout = CONNECT_TIMEOUT;
	check(acquire(&slow, claim, 0) == DLOCK_OK && let_go(&slow, claim), "when the name is known, it works (%s)",
		slow.error.message);
	check(passes(&soon, "first", 0), "a look-up that takes less than the timeout (%s)", soon.error.message);
	check(passes(&none, "first", 0), "a name that was not found is looked up again (%s)", none.error.message);
	client_free(&none);
	client_free(&slow);
	client_free(&soon);
}

static void test_addresses(void)
{
	static const char *const lists[] = { "127.0.0.2,127.0.0.1", "::1,127.0.0.1", "127.0.0.2,127.0.0.3,::1,127.0.0.1" };

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		names_are("many%zu.test 0 %s\n", i, lists[i]);
		char name[32];
		snprintf(name, sizeof name, "many%zu.test", i);
		client c = client_named(name, "");
		dlock_claim *claim = claim_on(&c, "addresses", 60000);
		check(acquire_at_once(&c, claim, lists[i]) == DLOCK_OK && let_go(&c, claim),
			"the address that works is found (%s)", c.error.message);
		client_free(&c);
	}
	names_are("bad.test 0 127.0.0.2,127.0.0.3,::1\n");
	client c = client_named("bad.test", "");
	dlock_claim *claim = claim_on(&c, "addresses", 60000);
	check(acquire_at_once(&c, claim, "no address works") == DLOCK_CONNECTION && explains(&c, "bad.test:", "refused"),
		"%s", c.error.message);
	dlock_claim_free(claim);
	client_free(&c);
}

/* A listener whose backlog is full, so that the system answers no client that connects. */
static int silent_listener(const char *address, int port, int *filler)
{
	struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons((uint16_t) port) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	there.sin_addr.s_addr = htonl(address[8] == '2' ? INADDR_LOOPBACK + 1 : INADDR_LOOPBACK + 2);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(listener, (struct sockaddr *) &there, sizeof there) < 0 || listen(listener, 0) < 0) {
		perror("listen");
		exit(2);
	}
	for (int i = 0; i < 4; i++) {
		filler[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(filler[i], (struct sockaddr *) &there, sizeof there);
	}
	return listener;
}

/* If an address does not answer, the client tries another one. It also finds a server that has moved from there. */
static void test_silent_address(void)
{
	int filler[4], listener = silent_listener("127.0.0.2", server->port, filler);

	names_are("half.test 0 127.0.0.2,127.0.0.1\nsilent.test 0 127.0.0.2\n");
	client c = client_named("half.test", "?connect_timeout=6"),
		   silent = client_named("silent.test", "?connect_timeout=0.4");
	dlock_claim *claim = claim_on(&c, "silent", 60000);
	check(acquire(&c, claim, 0) == DLOCK_OK, "the first of two addresses does not answer: the second (%s)",
		c.error.message);
	check(let_go(&c, claim), "released");
	kill_clients(server);
	claim = claim_on(&c, "silent", 60000);
	check(acquire_at_once(&c, claim, "next time the address that worked is the first") == DLOCK_OK && let_go(&c, claim),
		"acquired");
	claim = claim_on(&silent, "silent", 60000);
	check(acquire(&silent, claim, 0) == DLOCK_CONNECTION
			&& explains(&silent, "silent.test:", "no connection within 0.4 s"),
		"%s", silent.error.message);
	sleep_ms(1000); /* after that the name is looked up again */
	names_are("silent.test 0 127.0.0.1\n");
	dlock_status moved = DLOCK_CONNECTION;
	for (int tries = 0; tries < 25 && moved == DLOCK_CONNECTION;
		 tries++) { /* 0.4 s may be too short for the answer */
		moved = acquire(&silent, claim, 0);
	}
	check(moved == DLOCK_OK && let_go(&silent, claim), "the client finds the server that has moved from there (%s)",
		silent.error.message);
	for (int i = 0; i < 4; i++) {
		close(filler[i]);
	}
	close(listener);
	client_free(&c);
	client_free(&silent);
}

/* The old address refuses connections. */
static void test_moved(void)
{
	names_are("moving.test 0 127.0.0.1\n");
	client c = client_named("moving.test", "");
	dlock_claim *claim = claim_on(&c, "moved", 60000);

	check(acquire(&c, claim, 0) == DLOCK_OK, "held (%s)", c.error.message);
	names_are("moving.test 0 127.0.0.2\n");
	server_do(server, "CONFIG SET bind 127.0.0.2");
	sleep_ms(1000); /* after that the name is looked up again */
	kill_clients(server);
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK, "the client follows a server that has moved (%s)",
		c.error.message);
	/* The resolver hangs, but the last address is new, and the server is still there. */
	names_are("moving.test " SLOW " 127.0.0.2\n");
	kill_clients(server);
	dlock_nanos start = dlock_now();
	check(dlock_claim_check(claim, &c.error) == DLOCK_OK && dlock_now() - start < SOON,
		"and uses the address that it knows (%s)", c.error.message);
	check(let_go(&c, claim), "released");
	server_do(server, "CONFIG SET bind 127.0.0.1");
	client_free(&c);
}

static bool is_at_new_address(void *client)
{
	return passes(client, "moved", 0) && strstr(server_text(server, "CLIENT LIST TYPE normal"), " laddr=127.0.0.2:");
}

/* The old address still accepts connections. */
static void test_moved_unseen(void)
{
	names_are("both.test 0 127.0.0.1\n");
	server_do(server, "CONFIG SET bind %s", "127.0.0.1 127.0.0.2");
	client c = client_named("both.test", "");

	check(passes(&c, "moved", 0), "at the old address");
	names_are("both.test " SLOW " 127.0.0.2\n");
	sleep_ms(5200); /* after that a new connection has the name looked up again */
	kill_clients(server);
	check(passes(&c, "moved", 0) && !strstr(server_text(server, "CLIENT LIST TYPE normal"), " laddr=127.0.0.2:"),
		"a new connection there does not wait for the resolver");
	names_are("both.test 0 127.0.0.2\n");
	check(eventually(is_at_new_address, &c) && dlock_pool_opened(c.pool) == 3,
		"when the resolver knows the new address, the connection is replaced (%lu)", dlock_pool_opened(c.pool));
	names_are("both.test 0.1 -\n");
	check(passes(&c, "moved", 0) && dlock_pool_opened(c.pool) == 3, "once");
	client_free(&c);
	server_do(server, "CONFIG SET bind 127.0.0.1");
}

/* ---- a process that is held up ---- */

static void test_held_up(void)
{
	dlock_endpoint *at = test_server_at("redis://127.0.0.1");
	dlock_arg args[] = { DLOCK_ARG("PING") };

	at->port = server->port;
	at->read_timeout = 100 * DLOCK_MS;
	dlock_conn *conn = dlock_conn_new(at);
	for (int connected = 0; connected < 2; connected++) {
		dlock_call *call = dlock_call_command(args, 1);
		dlock_conn_send(conn, call);
		while (!call->sent) {
			sleep_ms(1);
			dlock_conn_advance(conn);
		}
		struct pollfd fd = dlock_conn_poll(conn);
		dlock_wait_poll(&fd, 1, dlock_now() + SOON, NULL);
		sleep_ms(200);
		dlock_conn_expire(conn);
		check(
			call->state == DLOCK_CALL_ANSWERED, "an answer that came in time counts, even if the process was held up");
		dlock_call_release(call);
	}
	dlock_conn_free(conn);
	dlock_endpoint_release(at);
}

static void reset(void)
{
	for (int i = 0; i < SERVERS; i++) {
		server_reset(&servers[i]);
	}
}

static void begin(void)
{
	servers_start(servers, SERVERS);
	atexit(dlock_renewal_shutdown);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(quorum), TEST(last), TEST(kept), TEST(known), TEST(first), TEST(addresses), TEST(silent_address),
		TEST(moved), TEST(moved_unseen), TEST(held_up),
	};
	static const tap_setting setting = { begin, reset };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

/* How a client finds the master behind Sentinels, real ones and ones with answers that a test chooses. Prints TAP. */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../src/redis/route/route.h"
#include "fleet.h"
#include "helpers.h"
#include "memcached_server.h"
#include "redis_client.h"
#include "tap.h"

#define SENTINEL_SECRET "sentinel-" SECRET

static fleet fleet_one;

static void begin(void)
{
	fleet_start(&fleet_one, SECRET, SENTINEL_SECRET);
}

static void reset(void)
{
	interrupt_clear();
}

/* A client that asks for the master. */
typedef struct {
	dlock_pool pool;
	dlock_endpoint *service;
	dlock_topology *topology;
	dlock_error error;
	dlock_nanos took;
} asker;

static asker *asker_of(dlock_endpoint *service)
{
	asker *asker = calloc(1, sizeof *asker);

	asker->service = service;
	asker->topology = dlock_pool_topology(&asker->pool, service);
	return asker;
}

static asker *asker_at(const int *ports, int count)
{
	return asker_of(sentinel_service(ports, count, "mymaster"));
}

static void asker_free(asker *asker)
{
	dlock_pool_clear(&asker->pool);
	dlock_endpoint_release(asker->service);
	free(asker);
}

static dlock_status discover(asker *asker, int ms)
{
	dlock_nanos start = dlock_now();

	asker->error.message[0] = '\0';
	dlock_status status = discover_until(&asker->pool, asker->topology, start + ms * DLOCK_MS, &asker->error);
	asker->took = dlock_now() - start;
	return status;
}

static int port_found(const asker *asker)
{
	const dlock_endpoint *master = dlock_topology_master(asker->topology, 0);

	return master ? master->port : 0;
}

/* Does the error contain the word, and no password? */
static bool says(const asker *asker, const char *word)
{
	return strstr(asker->error.message, word) && !strstr(asker->error.message, SECRET);
}

/* A Sentinel that always answers this. */
#define ADDRESS(port) "*2\r\n$9\r\n127.0.0.1\r\n$4\r\n" port "\r\n"

static pid_t fake(int *port, const char *answer)
{
	return memcached_peer(port, answer, answer);
}

/* ---- the addresses of Sentinels and of the master ---- */

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void test_servers(void)
{
	dlock_endpoint *service = test_server_at(
		"sentinel://ann:" SECRET
		"@S1,[::1]:5000/mymaster/3?replicas=2&sentinel_user=bob&sentinel_password=" SENTINEL_SECRET
		"&connect_timeout=0.5&read_timeout=0.25");
	dlock_endpoint *first = dlock_endpoint_sentinel(service, 0), *second = dlock_endpoint_sentinel(service, 1),
				 *master = dlock_endpoint_member(service, "R1", 7000);

	check(same(first->label, "s1:26379") && same(second->label, "[::1]:5000") && same(master->label, "r1:7000"),
		"%s, %s, %s", first->label, second->label, master->label);
	check(same(first->user, "bob") && same(first->password, SENTINEL_SECRET) && first->database == 0,
		"a Sentinel's login");
	check(same(master->user, "ann") && same(master->password, SECRET) && master->database == 3, "the master's login");
	check(!first->tls && !master->tls && master->replicas == 0 && master->discovery == DLOCK_ENDPOINT_FIXED
			&& !master->seed_count && !master->service,
		"both are plain servers");
	check(first->connect_timeout == 500 * DLOCK_MS && first->read_timeout == 250 * DLOCK_MS
			&& master->connect_timeout == 500 * DLOCK_MS && master->read_timeout == 250 * DLOCK_MS,
		"the timeouts");
	check(!dlock_endpoint_member(service, "a b", 7000) && !dlock_endpoint_member(service, "r1", 0),
		"an invalid address is refused");
	dlock_endpoint_release(first);
	dlock_endpoint_release(second);
	dlock_endpoint_release(master);
	dlock_endpoint_release(service);
#ifdef DLOCK_TLS
	service = test_server_at(
		"sentinel://s1/mymaster?tls=1&sentinel_tls=0&verify_peer_name=0&peer_name=p&cafile=a&capath=b"
		"&local_cert=c&local_pk=d"
		"&passphrase=" SECRET);
	first = dlock_endpoint_sentinel(service, 0);
	master = dlock_endpoint_member(service, "r1", 7000);
	check(!first->tls && master->tls, "TLS for one side");
	check(master->tls_verify_peer && !master->tls_verify_peer_name && same(master->tls_peer_name, "p")
			&& same(master->tls_cafile, "a") && same(master->tls_capath, "b") && same(master->tls_cert, "c")
			&& same(master->tls_key, "d") && same(master->tls_passphrase, SECRET),
		"the master has all TLS options");
	dlock_endpoint_release(first);
	dlock_endpoint_release(master);
	dlock_endpoint_release(service);
#endif
}

/* ---- Sentinels that answer ---- */

static void test_found(void)
{
	asker *asker = asker_of(fleet_service(&fleet_one, "mymaster", 1));

	check(!dlock_topology_has_slots(asker->topology) && port_found(asker) == 0, "nothing is known at first");
	check(dlock_pool_topology(&asker->pool, asker->service) == asker->topology, "the service has one topology");
	check(discover(asker, 60000) == DLOCK_OK, "the master is found (%s)", asker->error.message);
	const dlock_endpoint *master = dlock_topology_master(asker->topology, 12345);
	check(master && master->port == fleet_master(&fleet_one)->port, "its address is right");
	check(master && master->discovery == DLOCK_ENDPOINT_FIXED && master->replicas == 0
			&& !strcmp(master->password, SECRET) && !master->user,
		"it is a plain server with the service's password");
	check(closes_at_once(&asker->pool), "a Sentinel's connection is closed at once");
	check(dlock_topology_answers(asker->topology) == 1, "one answer counts");
	check(discover(asker, 60000) == DLOCK_OK && dlock_topology_master(asker->topology, 0) == master,
		"the second question finds the same server");
	check(dlock_topology_answers(asker->topology) == 2, "a second answer counts");
	dlock_nanos start = dlock_now();
	for (int i = 0; i < 5; i++) {
		discover(asker, 60000);
	}
	double took = (double) (dlock_now() - start) / DLOCK_MS;
	check(dlock_topology_answers(asker->topology) == 7 && took > 4 * 40,
		"the client does not ask more often than needed (%.3g ms)", took);
	asker_free(asker);
}

static void test_fixed(void)
{
	dlock_endpoint *server = test_server_at("redis://127.0.0.1:1234");
	asker *asker = asker_of(server);

	check(dlock_topology_master(asker->topology, 0) == server, "a fixed address is known");
	dlock_topology_ask(asker->topology, dlock_now());
	check(!dlock_topology_is_asking(asker->topology) && discover(asker, 0) == DLOCK_OK && !asker->pool.first,
		"no server is asked");
	asker_free(asker);
}

static bool is_pool_at_rest(const dlock_pool *pool)
{
	for (const dlock_conn *conn = pool->first; conn; conn = conn->next) {
		if (conn->state != DLOCK_CONN_CLOSED) {
			return false;
		}
	}
	return true;
}

typedef struct {
	dlock_topology *one, *none;
	int turns;
} questions;

static bool are_answered(void *context)
{
	questions *questions = context;

	questions->turns++;
	return !dlock_topology_is_asking(questions->one) && !dlock_topology_is_asking(questions->none);
}

/* Asks beside other work, like the renewal thread. */
static void test_beside(void)
{
	int ports[] = { closed_port(), fleet_one.sentinels[1].port };
	dlock_endpoint *service = sentinel_service(ports, 1, "mymaster"), *fleet = fleet_service(&fleet_one, "mymaster", 1);
	dlock_pool pool = { .turns = 0 };
	questions asked = { dlock_pool_topology(&pool, fleet), dlock_pool_topology(&pool, service), 0 };
	dlock_nanos start = dlock_now();

	dlock_topology_ask(asked.one, start);
	dlock_topology_ask(asked.none, start);
	dlock_topology_ask(asked.none, start);
	check(dlock_now() - start < SOON && dlock_topology_is_asking(asked.one), "asking does not wait");
	check(dlock_loop_await(dlock_pool_loop(&pool), are_answered, &asked, start + SOON), "both questions end");
	check(dlock_topology_master(asked.one, 0) && dlock_topology_answers(asked.one) == 1, "one finds the master");
	check(!dlock_topology_master(asked.none, 0) && dlock_topology_answers(asked.none) == 0, "the other finds none");
	check(asked.turns < 60 && is_pool_at_rest(&pool), "both end in a few steps (%d)", asked.turns);
	dlock_pool_clear(&pool);
	dlock_endpoint_release(service);
	dlock_endpoint_release(fleet);
}

/* The answer arrived before the client looked for it. */
static void test_old_answer(void)
{
	asker *asker = asker_of(fleet_service(&fleet_one, "mymaster", 1));
	dlock_topology_ask(asker->topology, dlock_now());
	dlock_conn *conn = asker->pool.first;

	while (dlock_conn_busy(conn)) {
		dlock_wait_is_ready(dlock_conn_poll(conn).fd, POLLIN);
		dlock_conn_advance(conn);
	}
	check(dlock_topology_is_asking(asker->topology), "the answer has not been processed");
	sleep_ms(60);
	check(discover(asker, 60000) == DLOCK_OK && dlock_topology_answers(asker->topology) == 2,
		"an old answer does not count: the client asks again");
	check(is_pool_at_rest(&asker->pool), "nothing stays open");
	asker_free(asker);
}

static void test_drained(void)
{
	int port, fd = listen_anywhere(&port, 5);
	asker *asker = asker_at(&port, 1);
	dlock_nanos start = dlock_now();

	dlock_topology_ask(asker->topology, dlock_now());
	check(dlock_topology_is_asking(asker->topology) && dlock_conn_busy(asker->pool.first),
		"a question that is not answered");
	dlock_pool_drain(&asker->pool, start + 60 * DLOCK_SECOND);
	check(dlock_now() - start < SOON && !dlock_topology_is_asking(asker->topology) && is_pool_at_rest(&asker->pool),
		"a request's end does not wait for the answer");
	asker_free(asker);
	close(fd);
}

/* ---- Sentinels that do not answer ---- */

static void test_dead_first(void)
{
	int ports[] = { closed_port(), 0 };
	pid_t pid = fake(&ports[1], ADDRESS("1111"));
	asker *asker = asker_at(ports, 2);

	bool good = discover(asker, 60000) == DLOCK_OK;
	check(good && port_found(asker) == 1111, "the next Sentinel is asked (%s)", asker->error.message);
	check(asker->took < SOON, "at once (%.3g ms)", (double) asker->took / DLOCK_MS);
	unsigned long opened = dlock_pool_opened(&asker->pool);
	check(discover(asker, 60000) == DLOCK_OK && dlock_pool_opened(&asker->pool) == opened + 1,
		"later questions go to that one first");
	asker_free(asker);
	end_child(pid);
}

static void test_unknown_service(void)
{
	int ports[FLEET_SENTINELS];
	char label[64];

	for (int i = 0; i < FLEET_SENTINELS; i++) {
		ports[i] = fleet_one.sentinels[i].port;
	}
	asker *asker = asker_of(sentinel_service(ports, FLEET_SENTINELS, "other"));
	check(discover(asker, 60000) == DLOCK_CONNECTION && says(asker, "NOAUTH"), "without their password: %s",
		asker->error.message);
	asker_free(asker);

	asker = asker_of(fleet_service(&fleet_one, "other", 1));
	check(discover(asker, 60000) == DLOCK_CONNECTION && says(asker, "master of other"), "unknown: %s",
		asker->error.message);
	for (int i = 0; i < FLEET_SENTINELS; i++) {
		snprintf(label, sizeof label, "127.0.0.1:%d: does not know it", ports[i]);
		check(says(asker, label), "%s", label);
	}
	check(asker->took < SOON && dlock_topology_answers(asker->topology) == 0, "no answer counts");
	asker_free(asker);
}

static void test_strange_answers(void)
{
	static const struct {
		const char *answer, *word;
	} cases[] = {
		{ "*-1\r\n", "does not know it" },
		{ "$-1\r\n", "does not know it" },
		{ "*0\r\n", "does not know it" },
		{ "-ERR unknown command `SENTINEL`, with args beginning with: " SECRET "\r\n",
			"ERR unknown command `SENTINEL`" },
		{ "+OK\r\n", "no address" },
		{ "*2\r\n$9\r\n127.0.0.1\r\n$1\r\n0\r\n", "no address" },
		{ "*2\r\n$9\r\n127.0.0.1\r\n:6379\r\n", "no address" },
		{ "*2\r\n$3\r\na b\r\n$1\r\n1\r\n", "cannot be used" },
		{ "nonsense\r\n", "127.0.0.1" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int port;
		pid_t pid = fake(&port, cases[i].answer);
		asker *asker = asker_at(&port, 1);
		discover(asker, 60000);
		check(says(asker, cases[i].word), "%s", asker->error.message);
		asker_free(asker);
		end_child(pid);
	}
}

static void test_all_dead(void)
{
	int ports[] = { closed_port(), closed_port(), closed_port() };
	asker *asker = asker_at(ports, 3);
	char label[32];

	snprintf(label, sizeof label, "127.0.0.1:%d: ", ports[2]);
	check(discover(asker, 60000) == DLOCK_CONNECTION && says(asker, "refused") && says(asker, label),
		"no Sentinel runs: %s", asker->error.message);
	check(asker->took < SOON, "the error comes soon (%.3g ms)", (double) asker->took / DLOCK_MS);
	asker_free(asker);
}

static bool is_found(void *asker)
{
	return discover(asker, 60000) == DLOCK_OK;
}

/* The system accepts connections for Sentinels that are stopped. */
static void test_standing_still(void)
{
	asker *asker = asker_of(fleet_service(&fleet_one, "mymaster", 1));

	server_freeze(&fleet_one.sentinels[0]);
	check(discover(asker, 60000) == DLOCK_OK, "the master is found while one Sentinel is stopped (%s)",
		asker->error.message);
	check(asker->took > 100 * DLOCK_MS && asker->took < SOON, "that takes little longer (%.3g ms)",
		(double) asker->took / DLOCK_MS);
	check(is_pool_at_rest(&asker->pool), "its connection is closed");
	asker_free(asker);

	dlock_endpoint *service = fleet_service(&fleet_one, "mymaster", 1);
	service->connect_timeout = service->read_timeout = 2 * DLOCK_SECOND;
	asker = asker_of(service);
	server_freeze(&fleet_one.sentinels[1]);
	server_freeze(&fleet_one.sentinels[2]);
	dlock_nanos start = dlock_now();
	bool good = discover(asker, 300) == DLOCK_CONNECTION;
	check(good && asker->took < SOON && says(asker, "in time") && says(asker, "; 127.0.0.1:"), "all are stopped: %s",
		asker->error.message);
	check(dlock_topology_is_asking(asker->topology), "the question continues");
	good = discover(asker, 60000) == DLOCK_CONNECTION;
	check(good && dlock_now() - start > DLOCK_SECOND && asker->took < SOON, "it fails within the timeouts (%.3g ms)",
		(double) asker->took / DLOCK_MS);
	server_thaw(&fleet_one.sentinels[0]);
	server_thaw(&fleet_one.sentinels[2]);
	check(eventually(is_found, asker) && port_found(asker) != 0, "it succeeds when they run again (%s)",
		asker->error.message);
	server_thaw(&fleet_one.sentinels[1]);
	asker_free(asker);
}

/* ---- Sentinels that disagree ---- */

static void test_stale_answers(void)
{
	int ports[3], found[4];
	pid_t pids[] = { fake(&ports[0], ADDRESS("1111")), fake(&ports[1], ADDRESS("2222")), fake(&ports[2], "*-1\r\n") };
	asker *asker = asker_at(ports, 3);

	for (int i = 0; i < 4; i++) {
		check(discover(asker, 60000) == DLOCK_OK, "answered");
		found[i] = port_found(asker);
	}
	check(found[0] == 1111 && found[1] == 2222 && found[2] == 1111 && found[3] == 2222,
		"they are asked in turn: %d, %d, %d, %d", found[0], found[1], found[2], found[3]);
	asker_free(asker);
	for (int i = 0; i < 3; i++) {
		end_child(pids[i]);
	}
}

static void test_flapping(void)
{
	int ports[2], count = 0;
	pid_t pids[] = { fake(&ports[0], ADDRESS("1111")), fake(&ports[1], ADDRESS("2222")) };
	asker *asker = asker_at(ports, 2);
	dlock_nanos end = dlock_now() + 500 * DLOCK_MS;

	for (; dlock_now() < end; count++) {
		discover(asker, 60000);
	}
	check(count <= 24, "contradicting Sentinels are not asked all the time (%d times)", count);
	asker_free(asker);
	for (int i = 0; i < 2; i++) {
		end_child(pids[i]);
	}
}

/* A Sentinel that names the server at that port. */
static pid_t fake_naming(int *port, int named)
{
	char number[8], answer[64];
	int digits = snprintf(number, sizeof number, "%d", named);

	snprintf(answer, sizeof answer, "*2\r\n$9\r\n127.0.0.1\r\n$%d\r\n%s\r\n", digits, number);
	return fake(port, answer);
}

/* A Sentinel does not know yet that the master was replaced. */
static void test_one_behind(void)
{
	static test_server master;
	int ports[3], old = closed_port();
	dlock_error error = { .message = "" };
	dlock_arg words[] = { DLOCK_ARG("PING") };
	dlock_route route;

	server_start(&master, NULL);
	pid_t pids[] = { fake_naming(&ports[0], old), fake_naming(&ports[1], old), fake_naming(&ports[2], master.port) };
	asker *asker = asker_at(ports, 3);
	dlock_masters masters = { .pool = &asker->pool, .topology = asker->topology };
	check(discover(asker, 60000) == DLOCK_OK && port_found(asker) == old, "the client knows the old master");
	dlock_route_begin(&route, &masters, 0, &error);
	dlock_status status = dlock_route_ask(&route, dlock_call_command(words, 1));
	check(status == DLOCK_OK && route.conn->server->port == master.port,
		"one call finds the new master, although the next Sentinel still names the old one (%s)", error.message);
	dlock_route_end(&route);
	asker_free(asker);
	server_kill(&master);
	for (int i = 0; i < 3; i++) {
		end_child(pids[i]);
	}
}

/* ---- fork ---- */

static void test_fork(void)
{
	asker *asker = asker_of(fleet_service(&fleet_one, "mymaster", 1));

	for (int i = 0; i < FLEET_SENTINELS; i++) {
		server_freeze(&fleet_one.sentinels[i]);
	}
	check(discover(asker, 50) == DLOCK_CONNECTION && dlock_topology_is_asking(asker->topology),
		"a question is under way");
	pid_t pid = fork_child();
	if (pid == 0) {
		bool good = !dlock_topology_is_asking(asker->topology) && dlock_pool_loop(&asker->pool)->adopted;
		dlock_pool_drain(&asker->pool, dlock_now());
		good = good && !dlock_topology_is_asking(asker->topology) && !dlock_pool_loop(&asker->pool)->adopted;
		for (int i = 0; i < FLEET_SENTINELS; i++) {
			server_thaw(&fleet_one.sentinels[i]);
		}
		good = good && discover(asker, 60000) == DLOCK_OK && port_found(asker) != 0;
		asker_free(asker);
		_exit(!good);
	}
	check(exit_of(pid) == 0, "a child asks its own question");
	check(dlock_topology_is_asking(asker->topology) && discover(asker, 60000) == DLOCK_OK,
		"the parent's question is answered (%s)", asker->error.message);
	check(dlock_topology_answers(asker->topology) == 1 && port_found(asker) != 0, "one answer counts");
	asker_free(asker);
}

/* ---- failover ---- */

static bool open_to(asker *asker, dlock_endpoint *server)
{
	dlock_conn *conn = dlock_pool_conn(&asker->pool, server);
	dlock_arg words[] = { DLOCK_ARG("PING") };
	dlock_call *call = dlock_call_command(words, 1);

	dlock_conn_send(conn, call);
	dlock_pool_drain(&asker->pool, DLOCK_FOREVER);
	bool good = call->state == DLOCK_CALL_ANSWERED && conn->state == DLOCK_CONN_READY;
	dlock_call_release(call);
	return good;
}

static void test_fail_over(void)
{
	asker *asker = asker_of(fleet_service(&fleet_one, "mymaster", 1));

	check(discover(asker, 60000) == DLOCK_OK, "found (%s)", asker->error.message);
	dlock_endpoint *old = dlock_endpoint_retain(dlock_topology_master(asker->topology, 0));
	check(old->port == fleet_master(&fleet_one)->port && open_to(asker, old), "a connection to the master is open");
	check(fleet_promote(&fleet_one), "another server is promoted");
	check(port_found(asker) == old->port, "the old master is known until the client asks");
	check(discover(asker, 60000) == DLOCK_OK, "the client asks (%s)", asker->error.message);
	dlock_endpoint *new = dlock_topology_master(asker->topology, 0);
	check(new->port != old->port &&new->port == fleet_master(&fleet_one)->port, "it knows the new master");
	check(
		dlock_pool_conn(&asker->pool, old)->state == DLOCK_CONN_CLOSED, "an idle connection to the old one is closed");
	check(open_to(asker, new) && discover(asker, 60000) == DLOCK_OK
			&& dlock_pool_conn(&asker->pool, new)->state == DLOCK_CONN_READY,
		"the connection to the new one stays open");
	check(old->references == 2, "only its connection keeps the old one (%u)", old->references);
	dlock_endpoint_release(old);
	asker_free(asker);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		/* the failover before Sentinels are stopped, because older ones do nothing for 30 s after that */
		TEST(servers),
		TEST(found),
		TEST(fail_over),
		TEST(fixed),
		TEST(beside),
		TEST(old_answer),
		TEST(drained),
		TEST(dead_first),
		TEST(unknown_service),
		TEST(strange_answers),
		TEST(all_dead),
		TEST(standing_still),
		TEST(stale_answers),
		TEST(flapping),
		TEST(one_behind),
		TEST(fork),
	};
	static const tap_setting setting = { begin, reset };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

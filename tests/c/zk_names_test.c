/* Host names of a ZooKeeper ensemble whose addresses change, and a resolver that hangs, with a real server:
 * zk_names_test HOST:PORT [word in the names of the tests to run]. Prints TAP. */

#include <unistd.h>

#include "helpers.h"
#include "names.h"
#include "tap.h"
#include "zk_client.h"
#include "zk_proxy.h"

/* No server listens there. */
#define NOBODY "127.0.0.2"
#define FOR_EVER "100000"

static proxy p;
static char hosts[64];

static void begin(const char *host)
{
	proxy_start(&p, zk_port);
	snprintf(hosts, sizeof hosts, "%s:%d", host, p.port);
}

static void end(client *c)
{
	client_free(c);
	proxy_stop(&p);
}

static bool is_away(client *c)
{
	for (dlock_nanos end = dlock_now() + 60 * DLOCK_SECOND; dlock_now() < end;) {
		dlock_claim *claim = claim_on(c, "names");
		dlock_status status = acquire(c, claim, 0);
		dlock_claim_free(claim);
		if (status == DLOCK_CONNECTION) {
			return true;
		}
	}
	return false;
}

/* Waits until the name has been looked up `more` more times. */
static bool is_asked(const char *name, int more)
{
	int before = names_asked(name);

	for (dlock_nanos end = dlock_now() + 60 * DLOCK_SECOND; dlock_now() < end; usleep(10000)) {
		if (names_asked(name) >= before + more) {
			return true;
		}
	}
	return false;
}

static void test_several(void)
{
	static const char *const lists[] = {
		"zk.test 0 127.0.0.1," NOBODY "\n",
		"zk.test 0 " NOBODY ",127.0.0.1\n",
		"zk.test 0 " NOBODY ",127.0.0.3,127.0.0.1\n",
		"zk.test 0 " NOBODY ",127.0.0.3,127.0.0.1,127.0.0.4\n",
	};

	for (int i = 0; i < (int) (sizeof lists / sizeof *lists); i++) {
		names_are("%s", lists[i]);
		begin("zk.test");
		client c = client_at(hosts, zk_root, NULL);
		check(passes(&c, "names", 1000), "the server is found, list %d", i + 1);
		p.mode = PROXY_CUT;
		is_asked("zk.test", 2);
		p.mode = PROXY_PASS;
		check(passes(&c, "names", 1000), "the server is found again");
		end(&c);
	}
}

/* Servers move and are added, so that their number is odd, even and odd again. */
static void test_changes(void)
{
	static const char *const lists[] = { NOBODY, "127.0.0.1", NOBODY ",127.0.0.3", NOBODY ",127.0.0.1",
		"127.0.0.3,127.0.0.4," NOBODY, "127.0.0.1,127.0.0.3,127.0.0.4," NOBODY };

	names_are("zk.test 0 127.0.0.1\n");
	begin("zk.test");
	client c = client_at(hosts, zk_root, NULL);
	check(passes(&c, "names", 1000), "connected before the change");
	for (int i = 0; i < (int) (sizeof lists / sizeof *lists); i++) {
		names_are("zk.test 0 %s\n", lists[i]);
		if (strstr(lists[i], "127.0.0.1")) {
			p.mode = PROXY_PASS;
			check(passes(&c, "names", 1000), "connected again at %s", lists[i]);
		}
		p.mode = PROXY_CUT;
		check(is_away(&c), "not connected with %s", lists[i]);
	}
	names_are("zk.test 0 -\n");
	is_asked("zk.test", 2);
	p.mode = PROXY_PASS;
	names_are("zk.test 0 " NOBODY ",127.0.0.1\n");
	check(passes(&c, "names", 1000), "connected again after a time without an address");
	end(&c);
}

/* The list changes again and again while the library tries one server after another. */
static void test_changes_beside(void)
{
	dlock_nanos usual = zk_session_timeout;

	zk_session_timeout = DLOCK_SECOND; /* the client looks at the list this often */
	names_are("zk.test 0 127.0.0.1\n");
	begin("zk.test");
	client c = client_at(hosts, zk_root, NULL);
	check(passes(&c, "names", 1000), "connected before the change");
	for (int i = 0; i < 3; i++) {
		p.mode = PROXY_CUT;
		names_are(i % 2 ? "zk.test 0 127.0.0.1\n" : "zk.test 0.01 " NOBODY ",127.0.0.1\n");
		is_asked("zk.test", 12);
		p.mode = PROXY_PASS;
		check(passes(&c, "names", 1000), "connected again, time %d", i + 1);
	}
	end(&c);
	zk_session_timeout = usual;
}

/* A resolver that hangs delays neither calls nor the end of a session. */
static void test_hangs(void)
{
	names_are("zk.test 0 127.0.0.1\n");
	begin("zk.test");
	client c = client_at(hosts, zk_root, NULL);
	check(passes(&c, "names", 1000), "connected before the change");
	names_are("zk.test " FOR_EVER " 127.0.0.1\n");
	p.mode = PROXY_CUT;
	check(is_away(&c), "a call ends in time");
	check(count_threads() > 1, "a thread still waits for the resolver");
	client other = client_at(hosts, zk_root, "digest:a:b"); /* this client has its own session */
	check(is_away(&other), "a new session does not connect in time");
	client_free(&c);
	check(true, "the session ends in time");
	names_are("zk.test 0 127.0.0.1\n");
	p.mode = PROXY_PASS;
	check(passes(&other, "names", 1000), "the other client connects when the resolver answers again");
	end(&other);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		{ "several", test_several }, { "changes", test_changes }, { "changes beside", test_changes_beside },
		{ "hangs", test_hangs },
	};

	zk_session_timeout = 2 * DLOCK_SECOND;
	names_are("%s", ""); /* sets the environment, which threads read from now on */
	zk_begin(argc, argv);
	tap_run(tests, sizeof tests / sizeof *tests, argc > 2 ? argv[2] : NULL, zk_reset);
	zk_end();
	return tap_end();
}

/* Hostile memcached servers, with each call of DistributedLock. Prints TAP. Not one of the usual tests: tests/c/run.sh
 * hostile */

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "helpers.h"
#include "hostile.h"
#include "memcached_server.h"
#include "servers.h"
#include "tap.h"

/* The first request asks for the version. The second, with the first lock, begins with two readings of the server's
 * clock. */
#define VERSION "VERSION 1.6.18\r\n"
#define CLOCK "NS\r\nHD c1 t100\r\nHD c1 t100\r\n"
#define WORD_8 "abcdefgh"
#define WORD_64 WORD_8 WORD_8 WORD_8 WORD_8 WORD_8 WORD_8 WORD_8 WORD_8
#define AT_FIRST(name, ...)                                                                                            \
	{                                                                                                                  \
		name, .answer = TEXT(__VA_ARGS__), .to = "version"                                                             \
	}
#define LATER(name, ...)                                                                                               \
	{                                                                                                                  \
		name, .answer = TEXT(__VA_ARGS__)                                                                              \
	}
#define WITH_CLOCK(name, ...) LATER(name, CLOCK __VA_ARGS__)

static const hostile servers[] = {
	{ "closes at once", .how = CLOSES | AT_ONCE },
	{ "resets at once", .how = RESETS | AT_ONCE },
	{ "closes when it is asked", .how = CLOSES },
	{ "resets when it is asked", .how = RESETS },
	LATER("silence", ""),
	{ "silence from the beginning", .to = "version", .answer = TEXT("") },
	{ "half of an answer, then the end", .answer = TEXT(CLOCK "HD c"), .how = CLOSES },
	{ "half of a value, then a reset", .answer = TEXT(CLOCK "HD c5\r\nVA 16\r\n1234"), .how = RESETS },
	{ "byte by byte", .answer = TEXT(CLOCK "NS\r\nVA 1 c5\r\n1\r\n"), .how = DRIPS },
	{ "a line byte by byte, without end", .answer = TEXT("HD c"), .flood = TEXT("1"), .how = DRIPS | ENDLESS },
	{ "a banner", .greeting = TEXT("220 mail.example.com ESMTP\r\n") },
	AT_FIRST("an old version", "VERSION 1.5.22\r\n"),
	AT_FIRST("a version of many digits", "VERSION 99999999999999999999.99999999999999999999\r\n"),
	AT_FIRST("no version", "VERSION\r\n"),
	AT_FIRST("Redis", "-ERR unknown command 'version'\r\n"),
	AT_FIRST("HTTP", "HTTP/1.1 400 Bad Request\r\n\r\n"),
	{ "a version without end", .to = "version", .answer = TEXT("VERSION "), .flood = TEXT(WORD_64), .how = ENDLESS },
	{ "garbage", .how = MANGLES },
	{ "answers and garbage", .answer = TEXT(CLOCK), .how = MANGLES },
	{ "zero bytes", .flood = TEXT("\0\0\0\0\0\0\0\0"), .floods = 512 },
	{ "a line without end", .answer = TEXT("HD "), .flood = TEXT(WORD_64), .how = ENDLESS },
	{ "answers without end", .flood = TEXT("HD c1 t100\r\n"), .how = ENDLESS | SAYS_YES },
	{ "refusals without end", .flood = TEXT("NS\r\n"), .how = ENDLESS },
	{ "ten thousand values", .flood = TEXT("VA 2 c5\r\n12\r\n"), .floods = 10000, .how = SAYS_YES },
	WITH_CLOCK("a value of -1 bytes", "HD c5\r\nVA -1\r\n\r\n"),
	WITH_CLOCK("a value of 2^31 - 1 bytes", "HD c5\r\nVA 2147483647\r\nx"),
	WITH_CLOCK("a value of 2^64 bytes", "HD c5\r\nVA 18446744073709551616\r\nx"),
	WITH_CLOCK("a value longer than its length", "HD c5\r\nVA 2\r\n12345\r\n"),
	WITH_CLOCK("a value shorter than its length", "HD c5\r\nVA 20\r\n12\r\n"),
	WITH_CLOCK("a value of zero bytes", "HD c5\r\nVA 2\r\n\0\0\r\n"),
	{ "a value of 3 MB", .answer = TEXT(CLOCK "HD c5\r\nVA 3145728\r\n"), .flood = TEXT(WORD_64), .floods = 49152 },
	WITH_CLOCK("a CAS that is a word", "HD cx\r\nVA 2\r\n12\r\n"),
	WITH_CLOCK("a CAS above 64 bits", "HD c99999999999999999999\r\nVA 2\r\n12\r\n"),
	WITH_CLOCK("no CAS", "HD c0\r\nVA 2\r\n12\r\n"),
	WITH_CLOCK("flags that were not asked for", "HD zzz q1 O9 kx\r\nVA 2 zzz\r\n12\r\n"),
	WITH_CLOCK("a fence that is no number", "HD c5\r\nVA 3\r\nabc\r\n"),
	WITH_CLOCK("a fence of 0", "HD c5\r\nVA 1\r\n0\r\n"),
	WITH_CLOCK("a fence of 2^64", "HD c5\r\nVA 20\r\n18446744073709551616\r\n"),
	WITH_CLOCK("no fence", "HD c5\r\nEN\r\n"),
	LATER("a clock that is a word", "NS\r\nHD cx tx\r\nHD cx tx\r\n"),
	LATER("a clock below nothing", "NS\r\nHD c1 t-5\r\nHD c1 t-5\r\n"),
	LATER("a clock at both ends", "NS\r\nHD c1 t9223372036854775807\r\nHD c1 t-9223372036854775808\r\n"),
	LATER("a clock that goes back", "NS\r\nHD c1 t100\r\nHD c1 t999\r\n"),
	LATER("ERROR", "ERROR\r\n"),
	LATER("CLIENT_ERROR", "CLIENT_ERROR bad command line format\r\n"),
	LATER("SERVER_ERROR with terminal commands", "SERVER_ERROR \x1b[2J \xff\xfe \x7f\r\n"),
	WITH_CLOCK("no memory", "SERVER_ERROR out of memory storing object\r\n"),
	WITH_CLOCK("answers to something else", "MN\r\nME x y=1\r\nEN\r\n"),
};

/* If a way has no `to`, it gives its answer only after the usual version. */
static text usual_answer(const hostile *way, const char *request, size_t len, int nth)
{
	(void) request, (void) len;
	bool at_first = way->to != NULL;

	return nth == 0 && !at_first ? (text) TEXT(VERSION) : (text){ NULL, 0 };
}

static const char *name_of(int way) { return servers[way].name; }

/* Tries to acquire the claim first, so that it has what a held claim has. */
static dlock_claim *believed(memcached_client *c, int ttl_ms)
{
	dlock_claim *claim = memcached_claim_on(c, "hostile", ttl_ms);

	memcached_acquire(c, claim, 0);
	dlock_claim_abandon(claim);
	believe(claim);
	return claim;
}

static void attack(int way)
{
	bool may_succeed = servers[way].how & SAYS_YES, locked;
	int port;
	pid_t pid = hostile_start(&port, &servers[way], usual_answer, NULL);
	memcached_client c = memcached_client_at(port, 100);
	dlock_nanos since = dlock_now();
	dlock_claim *claim;

#define JUDGE(call, succeeds, status)                                                                                  \
	(since = dlock_now(), c.error.message[0] = '\0', judge(call, (status), succeeds, &c.error, since))
	for (int timeout = 0; timeout <= 200; timeout += 200) {
		claim = memcached_claim_on(&c, "hostile", 30000);
		JUDGE("acquire()", may_succeed, memcached_acquire(&c, claim, timeout));
		dlock_claim_abandon(claim);
		dlock_claim_free(claim);
	}
	for (int call = 0; call < 3; call++) {
		claim = believed(&c, 30000);
		JUDGE("a held lock's call", true,
			call == 0       ? dlock_claim_extend(claim, 30 * DLOCK_SECOND, &c.error)
				: call == 1 ? dlock_claim_check(claim, &c.error)
							: dlock_claim_release(claim, &c.error)); /* "HD" is a yes */
		dlock_claim_abandon(claim);
		dlock_claim_free(claim);
	}
	claim = memcached_claim_on(&c, "hostile", 30000);
	JUDGE("attach()", may_succeed, dlock_claim_attach(claim, "0123456789abcdef0123456789abcdef", &c.error));
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	JUDGE("locked()", true,
		c.backend->ops->locked(c.backend, "hostile", 7, &locked, &c.error)); /* "no" is a success, too */
	claim = believed(&c, 4000);
	claim->deadline = dlock_now() + DLOCK_SECOND / 2; /* so the first renewal is due */
	keep(claim, 500);
	dlock_claim_free(claim);
	dlock_net_pool_drain(c.pool, dlock_now() + DLOCK_SECOND / 4);
	memcached_client_free(&c);
	end_child(pid);
#undef JUDGE
}

int main(int argc, char **argv)
{
	static const hostile_ways ways = { sizeof servers / sizeof *servers, name_of, attack };

	signal(SIGPIPE, SIG_IGN); /* as PHP does */
	dlock_process_init();
	hostile_run(&ways, argc > 1 ? argv[1] : NULL);
	return tap_end();
}

/* Hostile Redis servers, with each call of DistributedLock, RedLock and Semaphore on such a server, and of RedLock if
 * one server of three is hostile. Prints TAP. It lasts a minute or two, and is not one of the usual tests:
 * tests/c/run.sh hostile */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "hostile.h"
#include "one_server.h"
#include "permits_client.h"
#include "helpers.h"

#define REFUSAL(pttl, position, ticket_len, ticket, is_new)                                                            \
	"*4\r\n:" pttl "\r\n:" position "\r\n$" ticket_len "\r\n" ticket "\r\n:" is_new "\r\n"
#define MESSAGE(body_len, body) "*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$" body_len "\r\n" body "\r\n"
#define SUBSCRIBED "*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n"
#define WORD_8 "abcdefgh"
#define WORD_64 WORD_8 WORD_8 WORD_8 WORD_8 WORD_8 WORD_8 WORD_8 WORD_8
#define ANSWER(name, ...)                                                                                              \
	{                                                                                                                  \
		name, .answer = TEXT(__VA_ARGS__)                                                                              \
	}
#define YES(name, ...)                                                                                                 \
	{                                                                                                                  \
		name, .answer = TEXT(__VA_ARGS__), .how = SAYS_YES                                                             \
	}
#define FLOOD(name, head, body)                                                                                        \
	{                                                                                                                  \
		name, .answer = TEXT(head), .flood = TEXT(body), .how = ENDLESS                                                \
	}
#define MANY(name, head, body, times)                                                                                  \
	{                                                                                                                  \
		name, .answer = TEXT(head), .flood = TEXT(body), .floods = times                                               \
	}
#define AFTER_SUBSCRIBE(name, head, body, times, flags)                                                                \
	{                                                                                                                  \
		name, .answer = TEXT(head), .flood = TEXT(body), .floods = times, .how = flags, .to = "SUBSCRIBE"              \
	}

static const hostile servers[] = {
	/* Connections. */
	{ "closes at once", .how = CLOSES | AT_ONCE },
	{ "resets at once", .how = RESETS | AT_ONCE },
	{ "closes when it is asked", .how = CLOSES },
	{ "resets when it is asked", .how = RESETS },
	{ "silence", .answer = TEXT("") },
	{ "half of an answer, then the end", .answer = TEXT("*4\r\n:60000\r\n"), .how = CLOSES },
	{ "half of an answer, then a reset", .answer = TEXT("*4\r\n:60000\r\n$5\r\nab"), .how = RESETS },
	ANSWER("half of an answer, then silence", "*4\r\n:60000\r\n$5\r\nab"),
	{ "an answer byte by byte", .answer = TEXT(REFUSAL("60000", "0", "1", "1", "1")), .how = DRIPS },
	{ "a line byte by byte, without end", .answer = TEXT("-ERR"), .flood = TEXT(" x"), .how = DRIPS | ENDLESS },
	{ "an answer, then the end", .answer = TEXT(REFUSAL("60000", "0", "1", "1", "1")), .how = CLOSES },
	{ "a yes, then a reset", .answer = TEXT(":1\r\n"), .how = RESETS | SAYS_YES },

	/* No Redis. */
	{ "a banner", .greeting = TEXT("220 mail.example.com ESMTP\r\n") },
	{ "SSH", .greeting = TEXT("SSH-2.0-OpenSSH_9.2\r\n"), .how = CLOSES },
	ANSWER("HTTP", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
	ANSWER("memcached", "ERROR\r\nERROR\r\n"),
	ANSWER("a TLS alert", "\x15\x03\x03\x00\x02\x02\x46"),
	{ "garbage", .answer = TEXT(""), .how = MANGLES },
	{ "an answer and garbage", .answer = TEXT(REFUSAL("60000", "0", "1", "1", "1")), .how = MANGLES },
	MANY("zero bytes", "", "\0\0\0\0\0\0\0\0", 512),
	MANY("bytes 0xff", "", "\xff\xff\xff\xff\xff\xff\xff\xff", 512),
	ANSWER("an empty line", "\r\n"),
	{ "an answer before the question", .greeting = TEXT("+OK\r\n") },
	{ "a yes before the question", .greeting = TEXT(":7\r\n"), .answer = TEXT("$-1\r\n"), .how = SAYS_YES },
	{ "a refusal before the question", .greeting = TEXT("-ERR max number of clients reached\r\n"),
		.how = CLOSES | AT_ONCE },

	/* Lengths. */
	ANSWER("a length of -2", "$-2\r\n"),
	ANSWER("an empty length", "$\r\n"),
	ANSWER("a length that is a word", "$ten\r\nabcdefghij\r\n"),
	ANSWER("a length of 20 digits", "$99999999999999999999\r\n"),
	ANSWER("a length of 2^31 - 1", "$2147483647\r\nx"),
	ANSWER("a length of 2^63 - 1", "$9223372036854775807\r\nx"),
	ANSWER("a text that is shorter than its length", "$9\r\nab\r\n"),
	ANSWER("a text that is longer than its length", "$1\r\nabcdef\r\n"),
	FLOOD("a text of 512 MiB", "$536870912\r\n", WORD_64),
	MANY("a text of 3 MB", "$3145728\r\n", WORD_64, 49152),
	MANY("a status line of 3 MB", "+", WORD_64, 49152),
	MANY("an error line of 3 MB", "-ERR ", WORD_64, 49152),
	FLOOD("a line without end", ":", "1234567812345678"),
	ANSWER("an array of -2", "*-2\r\n"),
	ANSWER("an array of 2^31 - 1", "*2147483647\r\n"),
	ANSWER("an array of 2^32 - 1", "*4294967295\r\n"),
	ANSWER("an array of 2^62", "*4611686018427387904\r\n"),
	FLOOD("an array of a million", "*1000000\r\n", ":1\r\n"),
	FLOOD("arrays of 262,000, nested", "", "*262000\r\n"),
	FLOOD("an array of texts without end", "*1000000000\r\n", "$8\r\n" WORD_8 "\r\n"),
	MANY("nine arrays, nested", "", "*1\r\n", 9),
	MANY("a million arrays, nested", "", "*1\r\n", 1000000),
	ANSWER("no carriage return", ":1\n:1\n"),
	ANSWER("an integer that is a word", ":one\r\n"),
	ANSWER("an empty integer", ":\r\n"),
	ANSWER("an integer above 64 bits", ":9223372036854775808\r\n"),

	/* RESP3, which no client asks for. */
	ANSWER("RESP3: null", "_\r\n"),
	ANSWER("RESP3: a map", "%1\r\n+a\r\n:1\r\n"),
	ANSWER("RESP3: a set", "~2\r\n:1\r\n:1\r\n"),
	ANSWER("RESP3: true", "#t\r\n"),
	ANSWER("RESP3: a double", ",1.5\r\n"),
	ANSWER("RESP3: a big number", "(3492890328409238509324850943850943825024385\r\n"),
	ANSWER("RESP3: verbatim", "=15\r\ntxt:Some string\r\n"),
	ANSWER("RESP3: an error", "!5\r\nERR x\r\n"),
	ANSWER("RESP3: an attribute", "|1\r\n+a\r\n:1\r\n:1\r\n"),
	MANY("RESP3: ten thousand pushes", "", ">2\r\n+message\r\n+x\r\n", 10000),
	FLOOD("RESP3: pushes without end", "", ">3\r\n+message\r\n+x\r\n+x\r\n"),

	/* Answers to something else. */
	ANSWER("OK", "+OK\r\n"),
	ANSWER("QUEUED", "+QUEUED\r\n"),
	ANSWER("nil", "$-1\r\n"),
	ANSWER("an empty text", "$0\r\n\r\n"),
	ANSWER("a nil array", "*-1\r\n"),
	ANSWER("an empty array", "*0\r\n"),
	ANSWER("arrays in an array", "*2\r\n*0\r\n*0\r\n"),
	ANSWER("four integers", "*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n"),
	ANSWER("four texts", "*4\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n$1\r\n1\r\n"),
	ANSWER("an error in an array", "*2\r\n-ERR x\r\n:1\r\n"),
	ANSWER("a message without a subscription", MESSAGE("1", "x")),
	ANSWER("two refusals", REFUSAL("60000", "0", "1", "1", "1") REFUSAL("60000", "0", "1", "1", "1")),
	{ "two times yes", .answer = TEXT(":1\r\n:1\r\n"), .how = SAYS_YES },
	MANY("ten thousand refusals", "", REFUSAL("60000", "0", "1", "1", "1"), 10000),

	/* Numbers at both ends. */
	ANSWER("0", ":0\r\n"),
	ANSWER("-1", ":-1\r\n"),
	YES("1", ":1\r\n"),
	YES("2", ":2\r\n"),
	YES("2^53", ":9007199254740992\r\n"),
	YES("2^63 - 1", ":9223372036854775807\r\n"),
	ANSWER("-2^63", ":-9223372036854775808\r\n"),
	ANSWER("a refusal at the lower end",
		REFUSAL("-9223372036854775808", "-9223372036854775808", "20", "-9223372036854775808", "-9223372036854775808")),
	ANSWER("a refusal at the upper end",
		REFUSAL("9223372036854775807", "9223372036854775807", "19", "9223372036854775807", "9223372036854775807")),
	ANSWER("a refusal that says: free now", REFUSAL("0", "0", "1", "1", "1")),
	ANSWER("a refusal that says: no key", REFUSAL("-2", "0", "1", "1", "1")),
	ANSWER("a refusal that says: no end", REFUSAL("-1", "0", "1", "1", "1")),
	ANSWER("a refusal whose ticket is a word", REFUSAL("60000", "5", "3", "inf", "0")),
	ANSWER("a refusal whose ticket is empty", REFUSAL("60000", "5", "0", "", "0")),
	ANSWER("an exchange without a token", "*1\r\n:1\r\n"),
	ANSWER("an exchange for nothing", "*3\r\n:1\r\n:5\r\n:0\r\n"),
	ANSWER("an exchange below nothing", "*3\r\n:1\r\n:-5\r\n:1000\r\n"),
	ANSWER("an exchange of a third kind", "*3\r\n:2\r\n:5\r\n:1000\r\n"),
	YES("an exchange for a thousand years", "*3\r\n:1\r\n:5\r\n:31536000000000\r\n"),

	/* Errors. */
	ANSWER("LOADING", "-LOADING Redis is loading the dataset in memory\r\n"),
	ANSWER("MOVED", "-MOVED 1 127.0.0.1:1\r\n"),
	ANSWER("MOVED to nowhere", "-MOVED\r\n"),
	ANSWER("ASK", "-ASK 16384 :99999\r\n"),
	ANSWER("NOAUTH", "-NOAUTH Authentication required.\r\n"),
	ANSWER("WRONGPASS", "-WRONGPASS invalid username-password pair or user is disabled.\r\n"),
	ANSWER("OOM", "-OOM command not allowed when used memory > 'maxmemory'.\r\n"),
	ANSWER("READONLY", "-READONLY You can't write against a read only replica.\r\n"),
	ANSWER("BUSY", "-BUSY Redis is busy running a script.\r\n"),
	ANSWER("NOPERM", "-NOPERM this user has no permissions\r\n"),
	ANSWER("NOSCRIPT, always", "-NOSCRIPT No matching script.\r\n"),
	ANSWER("NOSCRIPT twice each time", "-NOSCRIPT\r\n-NOSCRIPT\r\n"),
	ANSWER("MASTERDOWN", "-MASTERDOWN Link with MASTER is down\r\n"),
	ANSWER("CLUSTERDOWN", "-CLUSTERDOWN The cluster is down\r\n"),
	ANSWER("TRYAGAIN", "-TRYAGAIN Multiple keys request during rehashing of slot\r\n"),
	ANSWER("UNBLOCKED", "-UNBLOCKED force unblock\r\n"),
	ANSWER("NOREPLICAS", "-NOREPLICAS Not enough good replicas to write.\r\n"),
	ANSWER("an error without a text", "-\r\n"),
	ANSWER("an error with terminal commands", "-ERR \x1b[2J\x1b]0;x\x07 \x7f\x01\r\n"),
	ANSWER("an error that is no UTF-8", "-ERR \xc3\x28 \xff\xfe \xe2\x82\r\n"),
	MANY("an error of characters that are cut", "-ERR x", "\xe2\x82\xac", 300),

	/* At the login, and in the inbox. */
	{ "the login is refused", .answer = TEXT("-WRONGPASS for " SECRET_WORD "\r\n"), .to = "AUTH" },
	{ "the login is never answered", .answer = TEXT(""), .to = "AUTH" },
	{ "the login is a million arrays", .flood = TEXT("*1\r\n"), .floods = 1000000, .to = "AUTH" },
	{ "the database is refused", .answer = TEXT("-ERR DB index is out of range\r\n"), .to = "SELECT" },
	AFTER_SUBSCRIBE("a subscription that is refused", "-NOPERM no channels\r\n", "", 0, 0),
	AFTER_SUBSCRIBE("a subscription that is never answered", "", "", 0, 0),
	AFTER_SUBSCRIBE("a subscription to something else", "*3\r\n$11\r\nunsubscribe\r\n$1\r\nx\r\n:0\r\n", "", 0, 0),
	AFTER_SUBSCRIBE(
		"grants that name other claims", SUBSCRIBED, MESSAGE("36", "0123456789abcdef0123456789abcdef 1 5"), 1000, 0),
	AFTER_SUBSCRIBE("grants that are too short", SUBSCRIBED, MESSAGE("0", "") MESSAGE("1", " "), 1000, 0),
	AFTER_SUBSCRIBE("grants of numbers at both ends", SUBSCRIBED,
		MESSAGE("56", "0123456789abcdef0123456789abcdef 99999999999999999999 -1"), 1000, 0),
	AFTER_SUBSCRIBE("messages without end", SUBSCRIBED, MESSAGE("1", "x"), 0, ENDLESS),
	AFTER_SUBSCRIBE("integers in the inbox", SUBSCRIBED, ":1\r\n", 0, ENDLESS),
	AFTER_SUBSCRIBE(
		"a message of 3 MB", SUBSCRIBED "*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$3145728\r\n", WORD_64, 49152, 0),
	AFTER_SUBSCRIBE("an inbox that closes", SUBSCRIBED, "", 0, CLOSES),
};

/* ---- the server ---- */

static bool contains(const char *request, size_t len, const char *word)
{
	return memmem(request, len, word, strlen(word)) != NULL;
}

/* The answers of a server on which other clients hold all locks. */
static text usual_answer(const hostile *way, const char *request, size_t len, int nth)
{
	(void) nth;
	if (!way->to || contains(request, len, way->to)) {
		return (text){ NULL, 0 };
	}
	const char *words = request + strspn(request, "\r\n*");

	if (contains(request, len, "\r\nAUTH\r\n") || contains(request, len, "\r\nSELECT\r\n")) {
		return (text) TEXT("+OK\r\n");
	}
	if (contains(request, len, "\r\nSUBSCRIBE\r\n")) {
		return (text) TEXT(SUBSCRIBED);
	}
	/* A request to leave the queue has eight words, an attempt to publish four. */
	return *words == '8' || *words == '4' ? (text) TEXT(":0\r\n") : (text) TEXT(REFUSAL("60000", "0", "1", "1", "1"));
}

/* ---- the calls ---- */

static dlock_claim *believed(client *c, const char *resource, int ttl_ms)
{
	dlock_claim *claim = claim_on(c, resource, ttl_ms);

	believe(claim);
	return claim;
}

/* Each call on this server alone. */
static void attack_alone(client c, bool may_succeed, const char *kind)
{
	char call[64];
	bool locked;
	dlock_nanos since = dlock_now();

#define JUDGE(name, status)                                                                                            \
	(snprintf(call, sizeof call, "%s: %s", kind, name), since = dlock_now(), c.error.message[0] = '\0',                \
		judge(call, (status), may_succeed, &c.error, since))
	dlock_claim *claim = claim_on(&c, "alone", 60000);
	JUDGE("acquire()", acquire(&c, claim, 0));
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	claim = claim_on(&c, "alone", 60000);
	JUDGE("acquire() that waits", acquire(&c, claim, 200));
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	claim = believed(&c, "alone", 60000);
	JUDGE("extend()", extend(&c, claim, 60000));
	dlock_claim_free(claim);
	claim = believed(&c, "alone", 60000);
	JUDGE("check()", dlock_claim_check(claim, &c.error));
	dlock_claim_free(claim);
	claim = believed(&c, "alone", 60000);
	JUDGE("release()", release(&c, claim));
	dlock_claim_free(claim);
	claim = claim_on(&c, "alone", 60000);
	JUDGE("attach()", dlock_claim_attach(claim, "0123456789abcdef0123456789abcdef", &c.error));
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	if (c.backend->ops->locked) {
		/* "No" is a success, too. */
		snprintf(call, sizeof call, "%s: locked()", kind);
		since = dlock_now();
		judge(call, c.backend->ops->locked(c.backend, "alone", 5, &locked, &c.error), true, &c.error, since);
	}
	claim = believed(&c, "alone", 300);
	keep(claim, 300);
	dlock_claim_free(claim);
	dlock_pool_drain(c.pool, dlock_now() + DLOCK_SECOND / 4);
	client_free(&c);
#undef JUDGE
}

/* If a server says yes but does not store the fencing token after that, it seems to have failed between two round
 * trips. The caller must then try the handle again. */
static bool takes_up(client *c, dlock_claim *claim, const char *handle)
{
	dlock_nanos until = dlock_now() + 15 * DLOCK_SECOND;
	dlock_status status;

	while ((status = dlock_claim_attach(claim, handle, &c->error)) == DLOCK_QUORUM && dlock_now() < until) {
		dlock_pool_drain(c->pool, dlock_now() + DLOCK_SECOND / 10);
	}
	return status == DLOCK_OK;
}

/* Each call on three servers. The two real ones agree, so the answers of the third change nothing. */
static void attack_one_of_three(const char *hostile_dsn, int way)
{
	extern test_server real[2];
	char first[64], last[64], name[32], own_token[DLOCK_TOKEN_MAX + 1];
	const char *dsns[] = { first, hostile_dsn, last };
	bool locked = false;

	snprintf(first, sizeof first, "redis://127.0.0.1:%d?read_timeout=30&connect_timeout=30", real[0].port);
	snprintf(last, sizeof last, "redis://127.0.0.1:%d?read_timeout=30&connect_timeout=30", real[1].port);
	snprintf(name, sizeof name, "three-%d", way);
	client c = client_quorum_at(dsns, 3), other = client_quorum_at(dsns, 3);
	dlock_claim *claim = claim_on(&c, name, 60000), *next = claim_on(&other, name, 60000),
				*taken_up = claim_on(&c, name, 60000);

#define MUST(what, condition, client)                                                                                  \
	((condition) ? (void) 0 : complain("one of three: %s: %s", what, (client).error.message))
	MUST("acquire()", acquire(&c, claim, 20000) == DLOCK_OK, c);
	MUST("a second one", acquire(&other, next, 100) == DLOCK_TIMEOUT, other);
	dlock_claim_abandon(next);
	dlock_claim_free(next);
	MUST("extend()", extend(&c, claim, 60000) == DLOCK_OK, c);
	MUST("check()", dlock_claim_check(claim, &c.error) == DLOCK_OK, c);
	MUST("locked()", c.backend->ops->locked(c.backend, name, strlen(name), &locked, &c.error) == DLOCK_OK && locked, c);
	keep(claim, 100);
	MUST("what is kept", dlock_claim_check(claim, &c.error) == DLOCK_OK, c);
	memcpy(own_token, claim->token, sizeof own_token);
	MUST("attach()", takes_up(&c, taken_up, own_token), c);
	MUST("the handle's own lease", dlock_claim_check(claim, &c.error) == DLOCK_LOST, c);
	MUST("release()", release(&c, taken_up) == DLOCK_OK, c);
	next = claim_on(&other, name, 60000);
	MUST("the next one", acquire(&other, next, 20000) == DLOCK_OK, other);
	MUST("its release()", release(&other, next) == DLOCK_OK, other);
	dlock_claim_free(next);
	dlock_claim_free(claim);
	dlock_claim_free(taken_up);
	dlock_pool_drain(c.pool, dlock_now() + DLOCK_SECOND / 4);
	client_free(&c);
	client_free(&other);
#undef MUST
}

test_server real[2];

static const char *name_of(int way) { return servers[way].name; }

static void attack(int way)
{
	const hostile *server = &servers[way];
	bool may_succeed = server->how & SAYS_YES;
	char dsn[128], with_login[128];
	const char *dsns[] = { dsn };
	int port;

	pid_t pid = hostile_start(&port, server, usual_answer, "\r\n*");
	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d?read_timeout=0.1&connect_timeout=0.5", port);
	snprintf(with_login, sizeof with_login,
		"redis://ann:" SECRET_WORD "@127.0.0.1:%d/3?read_timeout=0.1&connect_timeout=0.5", port);
	attack_alone(client_at(dsn), may_succeed, "DistributedLock");
	attack_alone(client_at(with_login), may_succeed, "DistributedLock with a login");
	attack_alone(client_quorum_at(dsns, 1), may_succeed, "RedLock");
	attack_alone(permits_client_at(dsn, 3, false), true, "Semaphore"); /* what refuses a lock may be a yes there */
	attack_one_of_three(dsn, way);
	attack_one_of_three(with_login, servers[way].to ? way + 1000 : way);
	end_child(pid);
}

int main(int argc, char **argv)
{
	static const hostile_ways ways = { sizeof servers / sizeof *servers, name_of, attack };

	signal(SIGPIPE, SIG_IGN); /* as PHP does */
	dlock_process_init();
	servers_start(real, 2);
	hostile_run(&ways, argc > 1 ? argv[1] : NULL);
	servers_stop();
	return tap_end();
}

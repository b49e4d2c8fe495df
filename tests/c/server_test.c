/* src/base/server.c: DSNs, options, labels, keys; and a random search for what breaks it. Prints TAP.
 * server_test [SEED [ITERATIONS]] repeats a search. */

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "../../src/base/server.h"
#include "tap.h"

#define SECRET "s3cr3t"

static dlock_server *server_new(void)
{
	return dlock_server_new(2 * DLOCK_SECOND, 3 * DLOCK_SECOND);
}

/* Parsed and sealed, or NULL with the message. */
static dlock_server *server_from(const char *dsn, size_t len, dlock_error *error)
{
	dlock_server *server = server_new();

	error->message[0] = '\0';
	if (!dlock_server_parse(server, dsn, len, error) || !dlock_server_seal(server, error)) {
		dlock_server_release(server);
		return NULL;
	}
	return server;
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* ---- what is good ---- */

typedef struct {
	const char *dsn, *host, *path;
	int port, database;
	const char *user, *password, *label;
} good_dsn;

static const good_dsn good_dsns[] = {
	{ "redis://localhost", "localhost", NULL, 6379, 0, NULL, NULL, "localhost:6379" },
	{ "redis://localhost/", "localhost", NULL, 6379, 0, NULL, NULL, "localhost:6379" },
	{ "redis://localhost?", "localhost", NULL, 6379, 0, NULL, NULL, "localhost:6379" },
	{ "REDIS://localhost", "localhost", NULL, 6379, 0, NULL, NULL, "localhost:6379" },
	{ "redis://10.0.0.1:7000", "10.0.0.1", NULL, 7000, 0, NULL, NULL, "10.0.0.1:7000" },
	{ "redis://h:1", "h", NULL, 1, 0, NULL, NULL, "h:1" },
	{ "redis://h:65535", "h", NULL, 65535, 0, NULL, NULL, "h:65535" },
	{ "redis://h:7000/3", "h", NULL, 7000, 3, NULL, NULL, "h:7000" },
	{ "redis://h/15", "h", NULL, 6379, 15, NULL, NULL, "h:6379" },
	{ "redis://h?db=4", "h", NULL, 6379, 4, NULL, NULL, "h:6379" },
	{ "redis://h/?database=4", "h", NULL, 6379, 4, NULL, NULL, "h:6379" },
	{ "redis://[::1]", "::1", NULL, 6379, 0, NULL, NULL, "[::1]:6379" },
	{ "redis://[fe80::1]:7000/2", "fe80::1", NULL, 7000, 2, NULL, NULL, "[fe80::1]:7000" },
	{ "redis://ann:" SECRET "@[::1]:7", "::1", NULL, 7, 0, "ann", SECRET, "[::1]:7" },
	{ "redis://:" SECRET "@h", "h", NULL, 6379, 0, NULL, SECRET, "h:6379" },
	{ "redis://ann:" SECRET "@h:7/1", "h", NULL, 7, 1, "ann", SECRET, "h:7" },
	{ "redis://ann:" SECRET "@" SECRET "@h", "h", NULL, 6379, 0, "ann", SECRET "@" SECRET, "h:6379" },
	{ "redis://ann:a:" SECRET ":b@h", "h", NULL, 6379, 0, "ann", "a:" SECRET ":b", "h:6379" },
	{ "redis://ann::@h", "h", NULL, 6379, 0, "ann", ":", "h:6379" },
	{ "redis://:@@h", "h", NULL, 6379, 0, NULL, "@", "h:6379" },
	{ "redis://ann:%73%33cr3t@h", "h", NULL, 6379, 0, "ann", SECRET, "h:6379" },
	{ "redis://a%3An%40n:%2F%3F%40%3a%25@h", "h", NULL, 6379, 0, "a:n@n", "/?@:%", "h:6379" },
	{ "redis://:p%20w+d@h", "h", NULL, 6379, 0, NULL, "p w+d", "h:6379" },
	{ "redis://:p\xc3\xa4ss@h", "h", NULL, 6379, 0, NULL, "p\xc3\xa4ss", "h:6379" },
	{ "redis://%68ost", "host", NULL, 6379, 0, NULL, NULL, "host:6379" },
	{ "redis://:" SECRET "@h/2?read_timeout=1&connect_timeout=2", "h", NULL, 6379, 2, NULL, SECRET, "h:6379" },
	{ "redis://h?peer_name=a%26b%3D", "h", NULL, 6379, 0, NULL, NULL, "h:6379" },
	{ "redis://h?read_timeout=1&", "h", NULL, 6379, 0, NULL, NULL, "h:6379" },
	{ "unix:///run/redis.sock", NULL, "/run/redis.sock", 6379, 0, NULL, NULL, "/run/redis.sock" },
	{ "Unix:///s?db=3", NULL, "/s", 6379, 3, NULL, NULL, "/s" },
	{ "unix://:" SECRET "@/run/a%20b", NULL, "/run/a b", 6379, 0, NULL, SECRET, "/run/a b" },
	{ "unix://ann:" SECRET "@/run/x@y", NULL, "/run/x@y", 6379, 0, "ann", SECRET, "/run/x@y" },
};

static void test_good(void)
{
	dlock_error error;

	for (size_t i = 0; i < sizeof good_dsns / sizeof *good_dsns; i++) {
		const good_dsn *expected = &good_dsns[i];
		dlock_server *server = server_from(expected->dsn, strlen(expected->dsn), &error);
		if (!check(server != NULL, "%s", expected->dsn)) {
			note("%s", error.message);
			continue;
		}
		check(same(server->host, expected->host) && same(server->path, expected->path) && server->port == expected->port
			&& server->database == expected->database && same(server->user, expected->user)
			&& same(server->password, expected->password), "says what it means");
		check(same(server->label, expected->label) && !strstr(server->label, SECRET), "its label is %s", server->label);
		dlock_server_release(server);
	}
}

static void test_tls(void)
{
	static const char dsn[] = "rediss://ann:" SECRET "@h:7?cafile=/ca&capath=/cas&local_cert=/c&local_pk=%2Fk&passphrase=%25p&peer_name=n"
		"&verify_peer=0&verify_peer_name=False";
	dlock_server *server = server_new();
	dlock_error error = { "" };

	check(dlock_server_parse(server, dsn, strlen(dsn), &error), "rediss:// with its options (%s)", error.message);
	check(server->tls && !server->tls_verify_peer && !server->tls_verify_peer_name && same(server->tls_cafile, "/ca")
		&& same(server->tls_capath, "/cas") && same(server->tls_cert, "/c") && same(server->tls_key, "/k")
		&& same(server->tls_passphrase, "%p") && same(server->tls_peer_name, "n") && server->port == 7, "says what it means");
	bool sealed = dlock_server_seal(server, &error);
#ifdef DLOCK_TLS
	check(sealed, "sealed");
#else
	check(!sealed && strstr(error.message, "TLS") && !strstr(error.message, SECRET), "refused by a build without TLS");
#endif
	dlock_server_release(server);
	server = server_new();
	check(dlock_server_parse(server, "rediss://h", 10, &error) && server->tls && server->tls_verify_peer
		&& server->tls_verify_peer_name, "certificates are verified unless that is switched off");
	dlock_server_release(server);
}

static void test_timeouts(void)
{
	static const struct {
		const char *text;
		dlock_nanos expected; /* 0: refused */
	} cases[] = {
		{ "1", DLOCK_SECOND }, { "0.25", DLOCK_SECOND / 4 }, { ".5", DLOCK_SECOND / 2 }, { "2.", 2 * DLOCK_SECOND },
		{ "0.000000001", 1 }, { "3600", 3600 * DLOCK_SECOND }, { "00001", DLOCK_SECOND }, { "1.0000000001", DLOCK_SECOND },
		{ "0", 0 }, { "0.0", 0 }, { "0.0000000001", 0 }, { "", 0 }, { ".", 0 }, { "-1", 0 }, { "+1", 0 }, { " 1", 0 },
		{ "1 ", 0 }, { "1e3", 0 }, { "1,5", 0 }, { "1.5.5", 0 }, { "0x1", 0 }, { "inf", 0 }, { "nan", 0 }, { "3600.1", 0 },
		{ "3601", 0 }, { "99999999999999999999999999", 0 }, { "9223372036854775807", 0 },
	};
	dlock_error error;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char dsn[100];
		snprintf(dsn, sizeof dsn, "redis://h?read_timeout=%s", cases[i].text);
		dlock_server *server = server_from(dsn, strlen(dsn), &error);
		if (cases[i].expected) {
			check(server && server->read_timeout == cases[i].expected && server->connect_timeout == 2 * DLOCK_SECOND,
				"a read_timeout of \"%s\"", cases[i].text);
		} else {
			check(!server && strstr(error.message, "read_timeout"), "no read_timeout of \"%s\"", cases[i].text);
		}
		if (server) {
			dlock_server_release(server);
		}
	}
}

/* ---- what is bad ---- */

#define BAD(text, word) { text, sizeof(text) - 1, word }

static const struct {
	const char *dsn;
	size_t len;
	const char *word; /* of the message */
} bad_dsns[] = {
	BAD("", "must not be empty"), BAD("redis", "begin with"), BAD("redis:/", "begin with"), BAD("redis:h", "begin with"),
	BAD("http://h", "begin with"), BAD("tcp://h", "begin with"), BAD("redisss://h", "begin with"), BAD("h:6379", "begin with"),
	BAD(" redis://h", "begin with"), BAD("ann:" SECRET "@h", "begin with"),
	BAD("redis://", "host"), BAD("redis://:7", "host"), BAD("redis:///1", "host"), BAD("redis://?db=1", "host"),
	BAD("redis://:" SECRET "@", "host"), BAD("redis://:" SECRET "@:7", "host"), BAD("redis://[]", "host"),
	BAD("redis://[]:7", "host"), BAD("redis://::1", "host"),
	BAD("redis://[::1", "]"), BAD("redis://[::1]7", "IPv6"), BAD("redis://[::1]x:7", "IPv6"), BAD("redis://[::1]:", "port"),
	BAD("redis://h:", "port"), BAD("redis://h:/1", "port"), BAD("redis://h:0", "port"), BAD("redis://h:65536", "port"),
	BAD("redis://h:70000", "port"), BAD("redis://h:abc", "port"), BAD("redis://h:-1", "port"), BAD("redis://h:+1", "port"),
	BAD("redis://h: 1", "port"), BAD("redis://h:1x", "port"), BAD("redis://h:7:8", "port"),
	BAD("redis://h:99999999999999999999", "port"), BAD("redis://h:4294967297", "port"), BAD("redis://fe80::1", "port"),
	BAD("redis://h/x", "database"), BAD("redis://h/-1", "database"), BAD("redis://h/1/2", "database"),
	BAD("redis://h/1/", "database"), BAD("redis://h/99999999999", "database"), BAD("redis://h?db=", "database"),
	BAD("redis://h?db=1.5", "database"), BAD("redis://h/%31", "database"),
	BAD("redis://a%40b", "host"), BAD("redis://a%2Fb", "host"), BAD("redis://a b", "host"), BAD("redis://h#f", "host"),
	BAD("redis://ann@h", "password"), BAD("redis://@h", "password"), BAD("redis://:@h", "password"),
	BAD("redis://ann:@h", "password"), BAD("unix://ann@/s", "password"),
	BAD("redis://ann:" SECRET "%@h", "%"), BAD("redis://ann:" SECRET "%4@h", "%"), BAD("redis://ann:" SECRET "%zz@h", "%"),
	BAD("redis://h%", "%"), BAD("redis://h%4", "%"), BAD("redis://h%4g", "%"), BAD("unix:///s%2", "%"),
	BAD("redis://h?cafile=%", "%"), BAD("redis://h?c%=1", "%"),
	BAD("redis://h\0", "NUL"), BAD("redis://h\0.example.com", "NUL"), BAD("redis://:" SECRET "\0@h", "NUL"),
	BAD("redis://:" SECRET "%00@h", "NUL"), BAD("redis://a%00n:" SECRET "@h", "NUL"), BAD("redis://h%00.example.com", "NUL"),
	BAD("unix:///s%00", "NUL"), BAD("redis://h?cafile=%00", "NUL"), BAD("redis://h?db%00=1", "NUL"),
	BAD("redis://h?foo=1", "unknown option"), BAD("redis://h?=1", "unknown option"), BAD("redis://h?DB=1", "unknown option"),
	BAD("redis://h?password=" SECRET, "unknown option"), BAD("redis://h?db", "name=value"), BAD("redis://h?&db=1", "name=value"),
	BAD("redis://h?db=1&&db=2", "name=value"), BAD("redis://h?verify_peer=yes", "verify_peer"),
	BAD("redis://h?verify_peer=", "verify_peer"), BAD("redis://h?verify_peer_name=2", "verify_peer_name"),
	BAD("redis://h?cafile=", "cafile"), BAD("redis://h?connect_timeout=0", "connect_timeout"),
	BAD("unix://", "absolute path"), BAD("unix://run/s", "absolute path"), BAD("unix://./s", "absolute path"),
	BAD("unix://:" SECRET "@run/s", "absolute path"), BAD("unix://:" SECRET "@", "absolute path"),
	BAD("unix://?db=1", "absolute path"),
	BAD("unix:///1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890",
		"100 bytes"),
};

static void test_bad(void)
{
	dlock_error error;

	for (size_t i = 0; i < sizeof bad_dsns / sizeof *bad_dsns; i++) {
		dlock_server *server = server_from(bad_dsns[i].dsn, bad_dsns[i].len, &error);
		bool grammar = !strncmp(error.message, "must ", 5) || !strncmp(error.message, "has ", 4);
		check(!server && grammar && strstr(error.message, bad_dsns[i].word) && !strstr(error.message, SECRET),
			"refused: %s (%s)", bad_dsns[i].dsn, error.message);
		if (server) {
			dlock_server_release(server);
		}
	}
}

/* A password may end up in any place when its special characters are not encoded. It must not be shown then. */
static void test_misplaced_passwords(void)
{
	static const char *dsns[] = {
		"redis://ann:x/" SECRET "@h", "redis://ann:x?" SECRET "@h", "redis://ann:x?" SECRET "=1@h", "redis://ann:1/" SECRET "@h",
		"redis://ann:1?" SECRET "@h", "redis://ann:1?" SECRET "=1@h", "redis://" SECRET "@h", "redis://:[" SECRET "@h:x", "redis://[" SECRET "@h",
		"unix://ann:x/" SECRET "@/s", "unix://:?" SECRET "@/s", "redis://h?connect_timeout=" SECRET, "redis://h?db=" SECRET,
		"redis://h?verify_peer=" SECRET, "redis:" SECRET "@h", SECRET,
	};
	dlock_error error;

	for (size_t i = 0; i < sizeof dsns / sizeof *dsns; i++) {
		dlock_server *server = server_from(dsns[i], strlen(dsns[i]), &error);
		check(!server && !strstr(error.message, SECRET), "%s (%s)", dsns[i], error.message);
		if (server) {
			dlock_server_release(server);
		}
	}
}

static void test_long(void)
{
	enum { LENGTH = 100000 };
	char *dsn = malloc(LENGTH + 1);
	dlock_error error;

	static const char *heads[] = { "redis://", "redis://:", "redis://h:", "redis://h/", "redis://h?", "redis://h?x=", "unix:///",
		"redis://[", "redis://ann:" };
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		memset(dsn, 'a', LENGTH);
		dsn[LENGTH] = '\0';
		memcpy(dsn, heads[i], strlen(heads[i]));
		dlock_server *server = server_from(dsn, LENGTH, &error);
		check(server ? strlen(server->label) > LENGTH - 20 : error.message[0] && strlen(error.message) < sizeof error.message - 1,
			"%saaa... (%s)", heads[i], server ? "taken" : error.message);
		if (server) {
			dlock_server_release(server);
		}
	}
	free(dsn);
}

static void test_seal(void)
{
	dlock_error error;
	dlock_server *server = server_new();

	check(!dlock_server_seal(server, &error) && strstr(error.message, "host"), "nothing given");
	dlock_server_set(&server->host, "", 0);
	check(!dlock_server_seal(server, &error) && strstr(error.message, "host"), "an empty host");
	dlock_server_set(&server->host, "h", 1);
	server->port = 0;
	check(!dlock_server_seal(server, &error) && strstr(error.message, "port"), "port 0");
	server->port = 70000;
	check(!dlock_server_seal(server, &error) && strstr(error.message, "port"), "port 70000");
	server->port = 7;
	dlock_server_set(&server->user, "ann", 3);
	check(!dlock_server_seal(server, &error) && strstr(error.message, "password"), "a user without a password");
	dlock_server_set(&server->password, SECRET, strlen(SECRET));
	check(dlock_server_seal(server, &error) && same(server->label, "h:7"), "all given");
	server->references++;
	dlock_server_release(server);
	check(server->references == 1 && same(server->password, SECRET), "it lives as long as somebody refers to it");
	dlock_server_release(server);
}

/* ---- keys ---- */

/* Two servers of one key would share a connection: somebody else's login, database or checks of certificates. */
static void test_keys(void)
{
	static const char *dsns[] = {
		"redis://h", "redis://i", "redis://h:1", "redis://h/1", "redis://:p@h", "redis://:q@h", "redis://u:p@h", "redis://v:p@h",
		"redis://u:pq@h", "redis://up:q@h", "redis://h?read_timeout=1", "redis://h?connect_timeout=1", "redis://h?verify_peer=0",
		"redis://h?verify_peer_name=0", "redis://h?peer_name=x", "redis://h?cafile=x", "redis://h?capath=x",
		"redis://h?local_cert=x", "redis://h?local_pk=x", "redis://h?passphrase=x", "redis://h?cafile=x&capath=y", "redis://h?cafile=xy",
		"unix:///h", "unix:///i", "unix://:p@/h", "unix://u:p@/h", "unix:///h?db=1", "redis://%2Fh", "redis://1:%68",
		"redis://:1%3Ap@h", "redis://1:p@h", "redis://-:-@h", "redis://u:-@h", "redis://h-", "redis://h--",
	};
	enum { COUNT = sizeof dsns / sizeof *dsns };
	dlock_server *servers[COUNT];
	dlock_error error;
	int equal = 0;

	for (int i = 0; i < COUNT; i++) {
		servers[i] = server_from(dsns[i], strlen(dsns[i]), &error);
		for (int k = 0; servers[i] && k < i; k++) {
			if (servers[k] && !strcmp(servers[i]->key, servers[k]->key)) {
				note("%s and %s have one key", dsns[k], dsns[i]);
				equal++;
			}
		}
	}
	check(equal == 0, "servers that differ in anything have different keys");
	dlock_server *again = server_from("redis://u:%70@h:6379/0", 22, &error);
	check(again && same(again->key, servers[6]->key), "one server spelt in two ways has one key");
	for (int i = 0; i < COUNT; i++) {
		if (servers[i]) {
			dlock_server_release(servers[i]);
		}
	}
	dlock_server_release(again);
}

/* tls does not seal everywhere, so that field is told apart by hand. */
static void test_key_of_tls(void)
{
	dlock_server *plain = server_new(), *tls = server_new();
	dlock_error error;

	dlock_server_set(&plain->host, "h", 1);
	dlock_server_set(&tls->host, "h", 1);
	tls->tls = true;
	dlock_server_seal(plain, &error);
	if (dlock_server_seal(tls, &error)) {
		check(strcmp(plain->key, tls->key) != 0, "with and without TLS the keys are different");
	}
	dlock_server_release(plain);
	dlock_server_release(tls);
}

/* ---- a random search ---- */

static uint64_t state;

/* xorshift64*: the same search from the same seed everywhere. */
static uint32_t random_below(uint32_t bound)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t) ((state * UINT64_C(2685821657736338717)) >> 32) % bound;
}

static const char *random_dsn(size_t *len)
{
	size_t goods = sizeof good_dsns / sizeof *good_dsns, bads = sizeof bad_dsns / sizeof *bad_dsns;
	size_t i = random_below((uint32_t) (goods + bads));
	const char *dsn = i < goods ? good_dsns[i].dsn : bad_dsns[i - goods].dsn;

	*len = i < goods ? strlen(dsn) : bad_dsns[i - goods].len;
	return dsn;
}

/* Changes, removes, inserts or copies a few bytes. */
static size_t mutate(char *text, size_t len, size_t most)
{
	static const char special[] = ":/@?&=%[]0\0.-\xff" "9a";

	for (uint32_t edits = 1 + random_below(4); edits > 0; edits--) {
		size_t at = random_below((uint32_t) len + 1);
		char c = random_below(4) ? special[random_below(sizeof special - 1)] : (char) random_below(256);
		switch (random_below(4)) {
		case 0:
			if (at < len) {
				text[at] = c;
			}
			break;
		case 1:
			if (at < len) {
				memmove(text + at, text + at + 1, len - at - 1);
				len--;
			}
			break;
		case 2:
			if (len < most) {
				memmove(text + at + 1, text + at, len - at);
				text[at] = c;
				len++;
			}
			break;
		default:
			len = at > 3 && random_below(4) == 0 ? at : len;
		}
	}
	return len;
}

static bool holds_together(const dlock_server *server)
{
	bool tcp = server->host && *server->host && !server->path;
	bool unix_socket = server->path && *server->path == '/' && !server->host;

	return (tcp || unix_socket) && server->port >= 1 && server->port <= 65535 && server->database >= 0
		&& server->read_timeout > 0 && server->connect_timeout > 0 && (!server->user || server->password)
		&& server->label && *server->label && server->key && *server->key;
}

static void search(uint64_t seed, long iterations)
{
	enum { MOST = 400 };
	long taken = 0, bad = 0;
	dlock_error error;

	state = seed;
	for (long i = 0; i < iterations && bad < 5; i++) {
		char edited[MOST];
		size_t len;
		const char *from = random_dsn(&len);
		memcpy(edited, from, len);
		len = mutate(edited, len, MOST);
		char *dsn = malloc(len + !len); /* exactly as long as it is, so that reading on is seen */
		memcpy(dsn, edited, len);
		dlock_server *server = server_from(dsn, len, &error);
		bool good = server ? holds_together(server)
			: !strncmp(error.message, "must ", 5) || !strncmp(error.message, "has an unknown", 14);
		if (!good) {
			bad++;
			note("%.*s: %s", (int) len, dsn, server ? "taken" : error.message);
		}
		if (server) {
			taken++;
			dlock_server_release(server);
		}
		free(dsn);
	}
	check(bad == 0, "%ld random DSNs (%ld good ones), seed %llu", iterations, taken, (unsigned long long) seed);
	check(iterations < 1000 || (taken > iterations / 20 && taken < iterations / 20 * 19), "both good and bad ones among them");
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t) time(NULL);

	test_good();
	test_tls();
	test_timeouts();
	test_bad();
	test_misplaced_passwords();
	test_long();
	test_seal();
	test_keys();
	test_key_of_tls();
	search(seed | 1, argc > 2 ? atol(argv[2]) : 200000);
	return tap_end();
}

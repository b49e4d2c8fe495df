/* src/net/server.c and server_parse.c: DSNs, options, labels, keys; and a random search for what breaks it. Prints TAP.
 * server_test [SEED [ITERATIONS]] repeats a search. */

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "../../src/net/server.h"
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
	static const char dsn[] = "rediss://ann:" SECRET
							  "@h:7?cafile=/ca&capath=/cas&local_cert=/c&local_pk=%2Fk&passphrase=%25p&peer_name=n"
							  "&verify_peer=0&verify_peer_name=False";
	dlock_server *server = server_new();
	dlock_error error = { "" };

	check(dlock_server_parse(server, dsn, strlen(dsn), &error), "rediss:// with its options (%s)", error.message);
	check(server->tls && !server->tls_verify_peer && !server->tls_verify_peer_name && same(server->tls_cafile, "/ca")
			&& same(server->tls_capath, "/cas") && same(server->tls_cert, "/c") && same(server->tls_key, "/k")
			&& same(server->tls_passphrase, "%p") && same(server->tls_peer_name, "n") && server->port == 7,
		"says what it means");
	check(same(dlock_server_scheme(server), "rediss"), "and its scheme");
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
		{ "1", DLOCK_SECOND },
		{ "0.25", DLOCK_SECOND / 4 },
		{ ".5", DLOCK_SECOND / 2 },
		{ "2.", 2 * DLOCK_SECOND },
		{ "0.000000001", 1 },
		{ "3600", 3600 * DLOCK_SECOND },
		{ "00001", DLOCK_SECOND },
		{ "1.0000000001", DLOCK_SECOND },
		{ "0", 0 },
		{ "0.0", 0 },
		{ "0.0000000001", 0 },
		{ "", 0 },
		{ ".", 0 },
		{ "-1", 0 },
		{ "+1", 0 },
		{ " 1", 0 },
		{ "1 ", 0 },
		{ "1e3", 0 },
		{ "1,5", 0 },
		{ "1.5.5", 0 },
		{ "0x1", 0 },
		{ "inf", 0 },
		{ "nan", 0 },
		{ "3600.1", 0 },
		{ "3601", 0 },
		{ "99999999999999999999999999", 0 },
		{ "9223372036854775807", 0 },
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

/* ---- Sentinel and Cluster ---- */

typedef struct {
	const char *dsn;
	dlock_server_discovery discovery;
	const char *label, *service;
	int database, replicas;
	dlock_nanos guard;
	const char *user, *password, *sentinel_user, *sentinel_password;
} good_service;

#define SENTINEL DLOCK_SERVER_SENTINEL
#define CLUSTER DLOCK_SERVER_CLUSTER

static const good_service good_services[] = {
	{ "sentinel://s1/mymaster", SENTINEL, "mymaster at s1:26379", "mymaster", 0, 1, 0, NULL, NULL, NULL, NULL },
	{ "Sentinel://S1:7/My.Master-1_", SENTINEL, "My.Master-1_ at s1:7", "My.Master-1_", 0, 1, 0, NULL, NULL, NULL,
		NULL },
	{ "sentinel://s1:1,s2,[::1],[fe80::1]:9/m/", SENTINEL, "m at s1:1,s2:26379,[::1]:26379,[fe80::1]:9", "m", 0, 1, 0,
		NULL, NULL, NULL, NULL },
	{ "sentinel://ann:" SECRET "@s1,s2/m/3?replicas=2&guard=2.5&sentinel_user=bob&sentinel_password=" SECRET "2",
		SENTINEL, "m at s1:26379,s2:26379", "m", 3, 2, 5 * DLOCK_SECOND / 2, "ann", SECRET, "bob", SECRET "2" },
	{ "sentinel://:" SECRET "@s1/m?db=4&sentinel_password=x%26y", SENTINEL, "m at s1:26379", "m", 4, 1, 0, NULL, SECRET,
		NULL, "x&y" },
	{ "sentinel://:" SECRET "@,x@s1/a%3ab?replicas=0", SENTINEL, "a:b at s1:26379", "a:b", 0, 0, 0, NULL, SECRET "@,x",
		NULL, NULL },
	{ "cluster://h1", CLUSTER, "h1:6379", NULL, 0, 1, 0, NULL, NULL, NULL, NULL },
	{ "cluster://ann:" SECRET "@h1:7000,H2,[::1]:7/0?guard=0.1&replicas=8", CLUSTER, "h1:7000,h2:6379,[::1]:7", NULL, 0,
		8, DLOCK_SECOND / 10, "ann", SECRET, NULL, NULL },
	{ "cluster://h1,h1/?replicas=0&db=0", CLUSTER, "h1:6379,h1:6379", NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
	{ "redis://h?replicas=1&guard=3600", DLOCK_SERVER_FIXED, "h:6379", NULL, 0, 1, 3600 * DLOCK_SECOND, NULL, NULL,
		NULL, NULL },
	{ "unix:///s?replicas=2&db=1", DLOCK_SERVER_FIXED, "/s", NULL, 1, 2, 0, NULL, NULL, NULL, NULL },
	{ "redis://h/2?replicas=0", DLOCK_SERVER_FIXED, "h:6379", NULL, 2, 0, 0, NULL, NULL, NULL, NULL },
	{ "memcached://h?replicas=0", DLOCK_SERVER_FIXED, "h:11211", NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};

static void test_services(void)
{
	dlock_error error;

	for (size_t i = 0; i < sizeof good_services / sizeof *good_services; i++) {
		const good_service *expected = &good_services[i];
		dlock_server *server = server_from(expected->dsn, strlen(expected->dsn), &error);
		if (!check(server != NULL, "%s", expected->dsn)) {
			note("%s", error.message);
			continue;
		}
		bool fixed = expected->discovery == DLOCK_SERVER_FIXED;
		check(server->discovery == expected->discovery && same(server->service, expected->service)
				&& server->database == expected->database && server->replicas == expected->replicas
				&& server->guard == expected->guard && same(server->user, expected->user)
				&& same(server->password, expected->password) && same(server->sentinel_user, expected->sentinel_user)
				&& same(server->sentinel_password, expected->sentinel_password) && !server->tls
				&& !server->sentinel_tls,
			"says what it means");
		check(fixed || (!server->host && !server->path && server->port == 0 && server->seed_count > 0), "and where");
		check(same(server->label, expected->label) && !strstr(server->label, SECRET), "its label is %s", server->label);
		size_t scheme = strlen(dlock_server_scheme(server));
		check(!strncasecmp(expected->dsn, dlock_server_scheme(server), scheme) && expected->dsn[scheme] == ':',
			"and its scheme %s", dlock_server_scheme(server));
		dlock_server_release(server);
	}
	dlock_server *server = server_from("redis://h", 9, &error);
	check(server->replicas == 0 && server->guard == 0, "a lone server has no replicas");
	dlock_server_release(server);
	server = server_from("sentinel://s1/m", 15, &error);
	check(server->resync_guard, "full copies count");
	dlock_server_release(server);
	server = server_from("sentinel://s1/m?resync_guard=0", 30, &error);
	check(!server->resync_guard, "unless that is switched off");
	dlock_server_release(server);
}

static void test_services_tls(void)
{
	static const struct {
		const char *dsn;
		bool tls, sentinel_tls;
	} cases[] = {
		{ "sentinel://s/m?tls=1", true, true }, { "sentinel://s/m?tls=1&sentinel_tls=0", true, false },
		{ "sentinel://s/m?sentinel_tls=false&tls=true", true, false }, { "sentinel://s/m?sentinel_tls=1", false, true },
		{ "sentinel://s/m?tls=0", false, false }, { "cluster://h?tls=1", true, false },
	};
	dlock_error error;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dlock_server *server = server_from(cases[i].dsn, strlen(cases[i].dsn), &error);
#ifdef DLOCK_TLS
		check(
			server && server->tls == cases[i].tls && server->sentinel_tls == cases[i].sentinel_tls, "%s", cases[i].dsn);
#else
		bool none = !cases[i].tls && !cases[i].sentinel_tls;
		check(none ? server != NULL : !server && strstr(error.message, "TLS"), "%s", cases[i].dsn);
#endif
		if (server) {
			dlock_server_release(server);
		}
	}
}

/* How many servers one may name. */
static void test_many_seeds(void)
{
	char dsn[1000] = "cluster://h";
	dlock_error error;

	for (int i = 1; i < DLOCK_MOST_SERVERS; i++) {
		strcat(dsn, ",h");
	}
	dlock_server *server = server_from(dsn, strlen(dsn), &error);
	check(server && server->seed_count == DLOCK_MOST_SERVERS, "%d nodes", DLOCK_MOST_SERVERS);
	if (server) {
		dlock_server_release(server);
	}
	strcat(dsn, ",h");
	server = server_from(dsn, strlen(dsn), &error);
	check(!server && !strcmp(error.message, "must name at most 64 servers"), "no more (%s)", error.message);
	if (server) {
		dlock_server_release(server);
	}
}

static void test_quote_of_both(void)
{
	static const char dsn[] = "sentinel://:" SECRET "@s/m?sentinel_password=WRONG";
	dlock_error error;
	dlock_server *server = server_from(dsn, sizeof dsn - 1, &error);
	char text[200];

	dlock_server_quote(server, "ERR it is " SECRET, text, sizeof text);
	check(!strstr(text, SECRET) && strstr(text, "not shown"), "the servers' password is not shown (%s)", text);
	dlock_server_quote(server, "ERR it is WRONG", text, sizeof text);
	check(!strstr(text, "WRONG") && strstr(text, "not shown"), "nor the Sentinels' (%s)", text);
	dlock_server_quote(server, "WRONGPASS " SECRET, text, sizeof text);
	check(!strstr(text, "WRONG") && strstr(text, "not shown"), "nor as a part of Redis' own words (%s)", text);
	dlock_server_quote(server, "ERR other", text, sizeof text);
	check(!strcmp(text, "ERR other"), "anything else is (%s)", text);
	dlock_server_release(server);
}

static void test_is_same(void)
{
	static const struct {
		const char *a, *b;
		bool same;
	} cases[] = {
		{ "redis://h", "redis://:p@h", true },
		{ "redis://h", "redis://h/1", false },
		{ "redis://h", "cluster://h", false },
		{ "cluster://h", "cluster://:p@h?replicas=0", true },
		{ "cluster://h", "cluster://h,i", false },
		{ "sentinel://s/m", "sentinel://s/m?sentinel_password=p", true },
		{ "sentinel://s/m", "sentinel://s/n", false },
		{ "sentinel://s/m", "sentinel://s/m/1", false },
		{ "sentinel://s/m", "sentinel://t/m", false },
	};
	dlock_error error;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dlock_server *a = server_from(cases[i].a, strlen(cases[i].a), &error),
					 *b = server_from(cases[i].b, strlen(cases[i].b), &error);
		check(dlock_server_is_same(a, b) == cases[i].same, "%s is %s%s", cases[i].a, cases[i].same ? "" : "not ",
			cases[i].b);
		dlock_server_release(a);
		dlock_server_release(b);
	}
}

/* ---- what is bad ---- */

#define BAD(text, word) { text, sizeof(text) - 1, word }

static const struct {
	const char *dsn;
	size_t len;
	const char *word; /* of the message */
} bad_dsns[] = {
	BAD("", "must not be empty"),
	BAD("redis", "begin with"),
	BAD("redis:/", "begin with"),
	BAD("redis:h", "begin with"),
	BAD("http://h", "begin with"),
	BAD("tcp://h", "begin with"),
	BAD("redisss://h", "begin with"),
	BAD("h:6379", "begin with"),
	BAD(" redis://h", "begin with"),
	BAD("ann:" SECRET "@h", "begin with"),
	BAD("redis://", "host"),
	BAD("redis://:7", "host"),
	BAD("redis:///1", "host"),
	BAD("redis://?db=1", "host"),
	BAD("redis://:" SECRET "@", "host"),
	BAD("redis://:" SECRET "@:7", "host"),
	BAD("redis://[]", "host"),
	BAD("redis://[]:7", "host"),
	BAD("redis://::1", "host"),
	BAD("redis://[::1", "]"),
	BAD("redis://[::1]7", "IPv6"),
	BAD("redis://[::1]x:7", "IPv6"),
	BAD("redis://[::1]:", "port"),
	BAD("redis://h:", "port"),
	BAD("redis://h:/1", "port"),
	BAD("redis://h:0", "port"),
	BAD("redis://h:65536", "port"),
	BAD("redis://h:70000", "port"),
	BAD("redis://h:abc", "port"),
	BAD("redis://h:-1", "port"),
	BAD("redis://h:+1", "port"),
	BAD("redis://h: 1", "port"),
	BAD("redis://h:1x", "port"),
	BAD("redis://h:7:8", "port"),
	BAD("redis://h:99999999999999999999", "port"),
	BAD("redis://h:4294967297", "port"),
	BAD("redis://fe80::1", "port"),
	BAD("redis://h/x", "database"),
	BAD("redis://h/-1", "database"),
	BAD("redis://h/1/2", "database"),
	BAD("redis://h/1/", "database"),
	BAD("redis://h/99999999999", "database"),
	BAD("redis://h?db=", "database"),
	BAD("redis://h?db=1.5", "database"),
	BAD("redis://h/%31", "database"),
	BAD("redis://a%40b", "host"),
	BAD("redis://a%2Fb", "host"),
	BAD("redis://a b", "host"),
	BAD("redis://h#f", "host"),
	BAD("redis://ann@h", "password"),
	BAD("redis://@h", "password"),
	BAD("redis://:@h", "password"),
	BAD("redis://ann:@h", "password"),
	BAD("unix://ann@/s", "password"),
	BAD("redis://ann:" SECRET "%@h", "%"),
	BAD("redis://ann:" SECRET "%4@h", "%"),
	BAD("redis://ann:" SECRET "%zz@h", "%"),
	BAD("redis://h%", "%"),
	BAD("redis://h%4", "%"),
	BAD("redis://h%4g", "%"),
	BAD("unix:///s%2", "%"),
	BAD("redis://h?cafile=%", "%"),
	BAD("redis://h?c%=1", "%"),
	BAD("redis://h\0", "NUL"),
	BAD("redis://h\0.example.com", "NUL"),
	BAD("redis://:" SECRET "\0@h", "NUL"),
	BAD("redis://:" SECRET "%00@h", "NUL"),
	BAD("redis://a%00n:" SECRET "@h", "NUL"),
	BAD("redis://h%00.example.com", "NUL"),
	BAD("unix:///s%00", "NUL"),
	BAD("redis://h?cafile=%00", "NUL"),
	BAD("redis://h?db%00=1", "NUL"),
	BAD("redis://h?foo=1", "unknown option"),
	BAD("redis://h?=1", "unknown option"),
	BAD("redis://ann:7?" SECRET "=1@h", "%3F"),
	BAD("redis://ann:7?word=1@h", "%3F"),
	BAD("redis://h?DB=1", "unknown option"),
	BAD("redis://h?password=" SECRET, "unknown option"),
	BAD("redis://h?db", "name=value"),
	BAD("redis://h?&db=1", "name=value"),
	BAD("redis://h?db=1&&db=2", "name=value"),
	BAD("redis://h?verify_peer=yes", "verify_peer"),
	BAD("redis://h?verify_peer=", "verify_peer"),
	BAD("redis://h?verify_peer_name=2", "verify_peer_name"),
	BAD("redis://h?cafile=", "cafile"),
	BAD("redis://h?connect_timeout=0", "connect_timeout"),
	BAD("unix://", "absolute path"),
	BAD("unix://run/s", "absolute path"),
	BAD("unix://./s", "absolute path"),
	BAD("unix://:" SECRET "@run/s", "absolute path"),
	BAD("unix://:" SECRET "@", "absolute path"),
	BAD("unix://?db=1", "absolute path"),
	BAD("sentinel://", "host"),
	BAD("sentinel:///m", "host"),
	BAD("sentinel://s1,/m", "host"),
	BAD("sentinel://,s1/m", "host"),
	BAD("sentinel://s1,,s2/m", "host"),
	BAD("sentinel://s1:/m", "port"),
	BAD("sentinel://s1,s2:0/m", "port"),
	BAD("sentinel://s1:65536/m", "port"),
	BAD("sentinel://::1/m", "host"),
	BAD("sentinel://[::1/m", "]"),
	BAD("sentinel://[::1]2/m", "IPv6"),
	BAD("sentinel://s%2c1/m", "commas"),
	BAD("sentinel://s%201/m", "spaces"),
	BAD("sentinel://s%401/m", "hosts without user"),
	BAD("sentinel://s%00/m", "NUL"),
	BAD("sentinel://s1/m%00", "NUL"),
	BAD("sentinel://s1%/m", "%"),
	BAD("sentinel://s1/m%4", "%"),
	BAD("sentinel://s1", "name of a service, as in"),
	BAD("sentinel://s1?db=1", "name of a service"),
	BAD("sentinel://s1/", "1 to 100"),
	BAD("sentinel://s1//1", "1 to 100"),
	BAD("sentinel://s1/a%20b", "1 to 100"),
	BAD("sentinel://s1/a@b", "1 to 100"),
	BAD("sentinel://s1/a%2Fb", "1 to 100"),
	BAD("sentinel://s1/a,b", "1 to 100"),
	BAD("sentinel://s1/a%0Ab", "1 to 100"),
	BAD("sentinel://s1/a#b", "1 to 100"),
	BAD("sentinel://s1/a%7f", "1 to 100"),
	BAD("sentinel://s1/%c3%a4", "1 to 100"),
	BAD("sentinel://s1/"
		"12345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901",
		"1 to 100"),
	BAD("sentinel://s1/m/x", "database"),
	BAD("sentinel://s1/m/1/2", "database"),
	BAD("sentinel://s1/m?db=-1", "database"),
	BAD("sentinel://ann@s1/m", "password"),
	BAD("sentinel://ann:@s1/m", "password"),
	BAD("sentinel://s1/m?sentinel_user=ann", "sentinel_password"),
	BAD("sentinel://s1/m?sentinel_password=", "sentinel_password"),
	BAD("sentinel://s1/m?sentinel_tls=yes", "sentinel_tls"),
	BAD("sentinel://s1/m?tls=2", "tls either"),
	BAD("sentinel://s1/m?foo=1", "unknown option"),
	BAD("sentinel://s1/m?replicas=9", "between 0 and 8"),
	BAD("sentinel://s1/m?replicas=", "between 0 and 8"),
	BAD("sentinel://s1/m?replicas=-1", "between 0 and 8"),
	BAD("sentinel://s1/m?replicas=1.5", "between 0 and 8"),
	BAD("sentinel://s1/m?guard=0", "between 0.1 and 3600"),
	BAD("sentinel://s1/m?guard=0.09", "between 0.1 and 3600"),
	BAD("sentinel://s1/m?guard=3601", "between 0.1 and 3600"),
	BAD("sentinel://s1/m?guard=x", "between 0.1 and 3600"),
	BAD("sentinel://s1/m?guard=10&replicas=0", "only where replicas"),
	BAD("cluster://", "host"),
	BAD("cluster:///0", "host"),
	BAD("cluster://h,", "host"),
	BAD("cluster://h/1", "no database but 0"),
	BAD("cluster://h?db=1", "no database but 0"),
	BAD("cluster://h/mymaster", "database"),
	BAD("cluster://h/0/", "database"),
	BAD("cluster://h?sentinel_password=" SECRET, "no login or TLS for Sentinels"),
	BAD("cluster://h?sentinel_tls=0", "for Sentinels"),
	BAD("redis://h?sentinel_user=ann", "for Sentinels"),
	BAD("memcached://h?sentinel_tls=1", "for Sentinels"),
	BAD("redis://h?guard=10", "only where replicas"),
	BAD("redis://h?resync_guard=1", "only where replicas"),
	BAD("sentinel://s1/m?resync_guard=2", "resync_guard either true or false"),
	BAD("memcached://h?resync_guard=0", "no replicas"),
	BAD("redis://h?guard=10&replicas=0", "only where replicas"),
	BAD("redis://h?replicas=9", "between 0 and 8"),
	BAD("redis://h?tls=1", "rediss://"),
	BAD("rediss://h?tls=0", "rediss://"),
	BAD("memcached://h?replicas=1", "memcached has no replicas"),
	BAD("memory://?replicas=1", "no server"),
	BAD("memory://?guard=1", "no server"),
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
		"redis://ann:x/" SECRET "@h",
		"redis://ann:x?" SECRET "@h",
		"redis://ann:x?" SECRET "=1@h",
		"redis://ann:1/" SECRET "@h",
		"redis://ann:1?" SECRET "@h",
		"redis://ann:1?" SECRET "=1@h",
		"redis://" SECRET "@h",
		"redis://:[" SECRET "@h:x",
		"redis://[" SECRET "@h",
		"unix://ann:x/" SECRET "@/s",
		"unix://:?" SECRET "@/s",
		"redis://h?connect_timeout=" SECRET,
		"redis://h?db=" SECRET,
		"redis://h?verify_peer=" SECRET,
		"redis:" SECRET "@h",
		SECRET,
		"sentinel://ann:x/" SECRET "@s/m",
		"sentinel://ann:1/" SECRET "@s/m",
		"sentinel://ann:1/" SECRET "@s",
		"sentinel://ann:1/a/" SECRET "@s/m",
		"sentinel://ann:1/a/" SECRET "@s",
		"sentinel://ann:1?" SECRET "@s/m",
		"sentinel://ann:1?" SECRET "=1@s/m",
		"sentinel://" SECRET "@s/m",
		"sentinel://s,:" SECRET "/m",
		"cluster://ann:1/" SECRET "@h",
		"cluster://ann:x/" SECRET "@h",
		"cluster://ann:1?" SECRET "=1@h",
		"cluster://ann:" SECRET "/@h",
		"cluster://h,ann:" SECRET,
		"redis://h?replicas=" SECRET,
		"redis://h?guard=" SECRET,
		"redis://h?resync_guard=" SECRET,
		"sentinel://s/m?sentinel_pasword=" SECRET,
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

	static const char *heads[] = { "redis://", "redis://:", "redis://h:", "redis://h/", "redis://h?",
		"redis://h?x=", "unix:///", "redis://[", "redis://ann:" };
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		memset(dsn, 'a', LENGTH);
		dsn[LENGTH] = '\0';
		memcpy(dsn, heads[i], strlen(heads[i]));
		dlock_server *server = server_from(dsn, LENGTH, &error);
		check(server ? strlen(server->label) > LENGTH - 20
					 : error.message[0] && strlen(error.message) < sizeof error.message - 1,
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
		"redis://h",
		"redis://i",
		"redis://h:1",
		"redis://h/1",
		"redis://:p@h",
		"redis://:q@h",
		"redis://u:p@h",
		"redis://v:p@h",
		"redis://u:pq@h",
		"redis://up:q@h",
		"redis://h?read_timeout=1",
		"redis://h?connect_timeout=1",
		"redis://h?verify_peer=0",
		"redis://h?verify_peer_name=0",
		"redis://h?peer_name=x",
		"redis://h?cafile=x",
		"redis://h?capath=x",
		"redis://h?local_cert=x",
		"redis://h?local_pk=x",
		"redis://h?passphrase=x",
		"redis://h?cafile=x&capath=y",
		"redis://h?cafile=xy",
		"unix:///h",
		"unix:///i",
		"unix://:p@/h",
		"unix://u:p@/h",
		"unix:///h?db=1",
		"redis://%2Fh",
		"redis://1:%68",
		"redis://:1%3Ap@h",
		"redis://1:p@h",
		"redis://-:-@h",
		"redis://u:-@h",
		"redis://h-",
		"redis://h--",
		"cluster://h",
		"cluster://h,i",
		"cluster://i,h",
		"cluster://h:1",
		"cluster://:p@h",
		"cluster://u:p@h",
		"cluster://h?read_timeout=1",
		"cluster://h?tls=1",
		"sentinel://h/m",
		"sentinel://h/n",
		"sentinel://h:6379/m",
		"sentinel://h,i/m",
		"sentinel://h/m/1",
		"sentinel://:p@h/m",
		"sentinel://h/m?sentinel_password=p",
		"sentinel://h/m?sentinel_user=u&sentinel_password=p",
		"sentinel://u:p@h/m",
		"sentinel://h/m?tls=1",
		"sentinel://h/m?sentinel_tls=1",
		"sentinel://h/m?tls=1&sentinel_tls=0",
		"sentinel://h/m?cafile=x",
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
	dlock_server *confirmed = server_from("redis://u:p@h?replicas=2&guard=3&resync_guard=0", 47, &error);
	check(confirmed && same(confirmed->key, again->key), "replicas and the guards make no difference to a connection");
	dlock_server_release(confirmed);
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
	size_t services = sizeof good_services / sizeof *good_services - 1; /* without the memcached */
	size_t i = random_below((uint32_t) (goods + bads + services));

	if (i >= goods && i < goods + bads) {
		*len = bad_dsns[i - goods].len;
		return bad_dsns[i - goods].dsn;
	}
	const char *dsn = i < goods ? good_dsns[i].dsn : good_services[i - goods - bads].dsn;
	*len = strlen(dsn);
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
	bool unix_socket = (server->path && *server->path == '/' && !server->host) || server->kind == DLOCK_SERVER_MEMORY;
	bool service = server->discovery != DLOCK_SERVER_FIXED;
	bool place = service ? server->seed_count > 0 && !server->host && !server->path && server->port == 0
		&& (server->discovery == SENTINEL) == (server->service != NULL)
		: (tcp || unix_socket) && (server->kind == DLOCK_SERVER_MEMORY || (server->port >= 1 && server->port <= 65535));

	return place && server->database >= 0 && server->replicas >= 0 && server->replicas <= 8
		&& (!server->guard || server->replicas > 0) && server->read_timeout > 0 && server->connect_timeout > 0
		&& (!server->user || server->password) && server->label && *server->label && server->key && *server->key;
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
	check(iterations < 1000 || (taken > iterations / 20 && taken < iterations / 20 * 19),
		"both good and bad ones among them");
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t) time(NULL);

	test_good();
	test_tls();
	test_timeouts();
	test_services();
	test_services_tls();
	test_many_seeds();
	test_quote_of_both();
	test_is_same();
	test_bad();
	test_misplaced_passwords();
	test_long();
	test_seal();
	test_keys();
	test_key_of_tls();
	search(seed | 1, argc > 2 ? atol(argv[2]) : 200000);
	return tap_end();
}

/* src/net: what DSNs say of servers (tests/c/dsns.txt), labels, keys, quotes, and a random search for texts that break
 * the parser. Prints TAP.
 *
 *   endpoint_test [SEED [ITERATIONS]]   repeats a search
 *   endpoint_test --write               prints dsns.txt with what its DSNs say now: read it before you keep it */

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "../../src/net/endpoint/endpoint.h"
#include "tap.h"

#define SECRET "s3cr3t"
#define NO_TLS "refused at last: must not ask for TLS (rediss://): this build of dlock has no TLS"

static dlock_endpoint *server_new(void)
{
	return dlock_endpoint_new(2 * DLOCK_SECOND, 3 * DLOCK_SECOND);
}

/* Parses and seals a server. NULL: `error` has the message. */
static dlock_endpoint *server_from(const char *dsn, size_t len, dlock_error *error)
{
	dlock_endpoint *server = server_new();

	error->message[0] = '\0';
	if (!dlock_endpoint_parse(server, dsn, len, error) || !dlock_endpoint_seal(server, error)) {
		dlock_endpoint_release(server);
		return NULL;
	}
	return server;
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* ---- what DSNs say: dsns.txt ---- */

/* A line: a DSN, a tab, and what it says. Bytes that are no text are written as \xNN. */
typedef struct {
	char dsn[400];
	size_t len;
	char says[1600];
} known_dsn;

static known_dsn known_dsns[1000];
static size_t dsn_count;

static void put(FILE *out, const char *name, const char *text)
{
	fprintf(out, text ? " %s=" : "", name);
	for (; text && *text; text++) {
		fprintf(out, *text < ' ' || *text > '~' || *text == '\\' ? "\\x%02x" : "%c", (unsigned char) *text);
	}
}

static void put_number(FILE *out, const char *name, long long number, long long usual)
{
	if (number != usual) {
		fprintf(out, " %s=%lld", name, number);
	}
}

/* Prints all values that differ from the defaults. */
static void put_server(FILE *out, const dlock_endpoint *server)
{
	fprintf(out, "%s", dlock_endpoint_scheme(server));
	put(out, "label", server->label);
	put(out, "host", server->host);
	put(out, "path", server->path);
	put_number(out, "port", server->port, -1);
	for (int i = 0; i < server->seed_count; i++) {
		put(out, "seed", server->seeds[i].host);
		fprintf(out, " %d", server->seeds[i].port);
	}
	put_number(out, "database", server->database, 0);
	put(out, "user", server->user);
	put(out, "password", server->password);
	put_number(out, "connect_timeout", server->connect_timeout, 2 * DLOCK_SECOND);
	put_number(out, "read_timeout", server->read_timeout, 3 * DLOCK_SECOND);
	put_number(out, "tls", server->tls, false);
	put_number(out, "verify_peer", server->tls_verify_peer, true);
	put_number(out, "verify_peer_name", server->tls_verify_peer_name, true);
	put(out, "peer_name", server->tls_peer_name);
	put(out, "cafile", server->tls_cafile);
	put(out, "capath", server->tls_capath);
	put(out, "local_cert", server->tls_cert);
	put(out, "local_pk", server->tls_key);
	put(out, "passphrase", server->tls_passphrase);
	put(out, "service", server->service);
	put_number(out, "sentinel_tls", server->sentinel_tls, false);
	put(out, "sentinel_user", server->sentinel_user);
	put(out, "sentinel_password", server->sentinel_password);
	put_number(out, "replicas", server->replicas, 0);
	put_number(out, "guard", server->guard, 0);
	put_number(out, "resync_guard", server->resync_guard, true);
	put(out, "dbname", server->dbname);
	put(out, "schema", server->schema);
	put_number(out, "create", server->create, false);
}

/* Prints a service with one of its masters and one of its Sentinels. */
static void put_service(FILE *out, const dlock_endpoint *service)
{
	dlock_endpoint *members[] = { service->seed_count && !service->dbname ? dlock_endpoint_member(service, "Node", 77)
																		  : NULL,
		service->service ? dlock_endpoint_sentinel(service, 0) : NULL };

	put_server(out, service);
	for (int i = 0; i < 2; i++) {
		if (members[i]) {
			fprintf(out, i ? "; a Sentinel: " : "; a master: ");
			put_server(out, members[i]);
			dlock_endpoint_release(members[i]);
		}
	}
}

static void put_all(FILE *out, const char *dsn, size_t len)
{
	dlock_endpoint *server = server_new();
	dlock_error error;
	char *exact = malloc(len + !len); /* not longer, so that a sanitizer sees reads behind it */

	memcpy(exact, dsn, len);
	if (!dlock_endpoint_parse(server, exact, len, &error)) {
		fprintf(out, "refused: %s", error.message);
	} else if (!dlock_endpoint_seal(server, &error)) {
		fprintf(out, "refused at last: %s", error.message);
	} else {
		put_service(out, server);
	}
	free(exact);
	dlock_endpoint_release(server);
}

static size_t unescape(char *out, const char *text)
{
	size_t len = 0;

	while (*text) {
		unsigned byte = (unsigned char) *text;
		text += *text == '\\' && sscanf(text, "\\x%2x", &byte) == 1 ? 4 : 1;
		out[len++] = (char) byte;
	}
	return len;
}

/* If `write`, prints each DSN with what it says now. */
static void read_dsns(bool write)
{
	char path[sizeof __FILE__ + 20], line[2000];

	snprintf(path, sizeof path, "%.*s/dsns.txt", (int) (strrchr(__FILE__, '/') - __FILE__), __FILE__);
	FILE *in = fopen(path, "r");
	while (in && fgets(line, sizeof line, in) && dsn_count < sizeof known_dsns / sizeof *known_dsns) {
		known_dsn *known = &known_dsns[dsn_count++];
		char *tab = line + strcspn(line, "\t\n"), *says = tab + (*tab == '\t');
		*tab = '\0';
		known->len = unescape(known->dsn, line);
		snprintf(known->says, sizeof known->says, "%.*s", (int) strcspn(says, "\n"), says);
		if (write) {
			printf("%s\t", line);
			put_all(stdout, known->dsn, known->len);
			printf("\n");
		}
	}
	if (in) {
		fclose(in);
	}
}

static bool is_as_known(const char *says, const known_dsn *known)
{
	bool refused = !strncmp(known->says, "refused", 7);

#ifndef DLOCK_PGSQL
	if (!strncmp(known->says, "pgsql", 5)) {
		return strstr(says, "libpq-dev");
	}
#endif
#ifndef DLOCK_MYSQL
	if (!strncmp(known->says, "mysql", 5)) {
		return strstr(says, "libmariadb-dev");
	}
#endif
#ifndef DLOCK_TLS
	if (!refused && strstr(known->says, "tls=1")) {
		return !strncmp(says, NO_TLS, strlen(NO_TLS));
	}
#endif
	return !strcmp(says, known->says) && !(refused && strstr(says, SECRET));
}

static void test_dsns(void)
{
	for (size_t i = 0; i < dsn_count; i++) {
		char *says = NULL;
		size_t size;
		FILE *out = open_memstream(&says, &size);

		put_all(out, known_dsns[i].dsn, known_dsns[i].len);
		fclose(out);
		if (!check(is_as_known(says, &known_dsns[i]), "%s", known_dsns[i].dsn)) {
			note("%s", says);
			note("%s is what dsns.txt has", known_dsns[i].says);
		}
		free(says);
	}
	check(dsn_count > 500, "%zu DSNs", dsn_count);
}

/* ---- the rest ---- */

/* The most servers that a DSN may name. */
static void test_many_seeds(void)
{
	char dsn[1000] = "cluster://h";
	dlock_error error;

	for (int i = 1; i < DLOCK_MOST_SERVERS; i++) {
		strcat(dsn, ",h");
	}
	dlock_endpoint *server = server_from(dsn, strlen(dsn), &error);
	check(server && server->seed_count == DLOCK_MOST_SERVERS, "%d nodes", DLOCK_MOST_SERVERS);
	if (server) {
		dlock_endpoint_release(server);
	}
	strcat(dsn, ",h");
	server = server_from(dsn, strlen(dsn), &error);
	check(!server && !strcmp(error.message, "must name at most 64 servers"), "no more (%s)", error.message);
	if (server) {
		dlock_endpoint_release(server);
	}
}

static void test_quote_of_both(void)
{
	static const char dsn[] = "sentinel://:" SECRET "@s/m?sentinel_password=WRONG";
	dlock_error error;
	dlock_endpoint *server = server_from(dsn, sizeof dsn - 1, &error);
	char text[200];

	dlock_endpoint_quote(server, "ERR it is " SECRET, text, sizeof text);
	check(!strstr(text, SECRET) && strstr(text, "not shown"), "the servers' password is not shown (%s)", text);
	dlock_endpoint_quote(server, "ERR it is WRONG", text, sizeof text);
	check(!strstr(text, "WRONG") && strstr(text, "not shown"), "nor the Sentinels' (%s)", text);
	dlock_endpoint_quote(server, "WRONGPASS " SECRET, text, sizeof text);
	check(!strstr(text, "WRONG") && strstr(text, "not shown"), "nor if it is a part of Redis' own words (%s)", text);
	dlock_endpoint_quote(server, "ERR other", text, sizeof text);
	check(!strcmp(text, "ERR other"), "any other text is shown (%s)", text);
	dlock_endpoint_release(server);
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
		dlock_endpoint *a = server_from(cases[i].a, strlen(cases[i].a), &error),
					 *b = server_from(cases[i].b, strlen(cases[i].b), &error);
		check(dlock_endpoint_is_same(a, b) == cases[i].same, "%s is %s%s", cases[i].a, cases[i].same ? "" : "not ",
			cases[i].b);
		dlock_endpoint_release(a);
		dlock_endpoint_release(b);
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
		dlock_endpoint *server = server_from(dsn, LENGTH, &error);
		check(server ? strlen(server->label) > LENGTH - 20
					 : error.message[0] && strlen(error.message) < sizeof error.message - 1,
			"%saaa... (%s)", heads[i], server ? "accepted" : error.message);
		if (server) {
			dlock_endpoint_release(server);
		}
	}
	free(dsn);
}

static void test_seal(void)
{
	dlock_error error;
	dlock_endpoint *server = server_new();

	check(!dlock_endpoint_seal(server, &error) && strstr(error.message, "host"), "nothing given");
	dlock_endpoint_set(&server->host, "", 0);
	check(!dlock_endpoint_seal(server, &error) && strstr(error.message, "host"), "an empty host");
	dlock_endpoint_set(&server->host, "h", 1);
	server->port = 0;
	check(!dlock_endpoint_seal(server, &error) && strstr(error.message, "port"), "port 0");
	server->port = 70000;
	check(!dlock_endpoint_seal(server, &error) && strstr(error.message, "port"), "port 70000");
	server->port = 7;
	dlock_endpoint_set(&server->user, "ann", 3);
	check(!dlock_endpoint_seal(server, &error) && strstr(error.message, "password"), "a user without a password");
	dlock_endpoint_set(&server->password, SECRET, strlen(SECRET));
	check(dlock_endpoint_seal(server, &error) && same(server->label, "h:7"), "all given");
	server->references++;
	dlock_endpoint_release(server);
	check(server->references == 1 && same(server->password, SECRET), "it lives until its last reference is released");
	dlock_endpoint_release(server);
}

/* ---- keys ---- */

static const char *const dsns[] = {
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

/* Servers with the same key share a connection, and so its login, its database and its checks of certificates. */
static void test_keys(void)
{
	enum { COUNT = sizeof dsns / sizeof *dsns };
	dlock_endpoint *servers[COUNT];
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
	dlock_endpoint *again = server_from("redis://u:%70@h:6379/0", 22, &error);
	check(again && same(again->key, servers[6]->key), "one server spelled in two ways has one key");
	dlock_endpoint *confirmed = server_from("redis://u:p@h?replicas=2&guard=3&resync_guard=0", 47, &error);
	check(confirmed && same(confirmed->key, again->key), "replicas and the guards make no difference to a connection");
	dlock_endpoint_release(confirmed);
	for (int i = 0; i < COUNT; i++) {
		if (servers[i]) {
			dlock_endpoint_release(servers[i]);
		}
	}
	dlock_endpoint_release(again);
}

/* A build without TLS refuses to seal a server with tls, so this field has a test of its own. */
static void test_key_of_tls(void)
{
	dlock_endpoint *plain = server_new(), *tls = server_new();
	dlock_error error;

	dlock_endpoint_set(&plain->host, "h", 1);
	dlock_endpoint_set(&tls->host, "h", 1);
	tls->tls = true;
	dlock_endpoint_seal(plain, &error);
	if (dlock_endpoint_seal(tls, &error)) {
		check(strcmp(plain->key, tls->key) != 0, "with and without TLS the keys are different");
	}
	dlock_endpoint_release(plain);
	dlock_endpoint_release(tls);
}

/* ---- a random search ---- */

static uint64_t state;

/* xorshift64*: the same seed gives the same search on every machine. */
static uint32_t random_below(uint32_t bound)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t) ((state * UINT64_C(2685821657736338717)) >> 32) % bound;
}

/* Changes, removes or inserts a few bytes, or cuts the text off. */
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

static bool holds_together(const dlock_endpoint *server)
{
	bool tcp = server->host && *server->host && !server->path;
	bool unix_socket = (server->path && *server->path == '/' && !server->host) || server->kind == DLOCK_ENDPOINT_MEMORY;
	bool database = dlock_endpoint_is_database(server), service = server->discovery != DLOCK_ENDPOINT_FIXED;
	bool place = database ? server->dbname && !server->host && (server->seed_count > 0) == !server->path
		: service         ? server->seed_count > 0 && !server->host && !server->path && server->port == 0
			&& (server->discovery == DLOCK_ENDPOINT_SENTINEL) == (server->service != NULL)
				  : (tcp || unix_socket)
			&& (server->kind == DLOCK_ENDPOINT_MEMORY || (server->port >= 1 && server->port <= 65535));

	return place && server->database >= 0 && server->replicas >= 0 && server->replicas <= 8
		&& (!server->guard || server->replicas > 0 || database) && server->read_timeout > 0
		&& server->connect_timeout > 0 && (!server->user || server->password || database) && server->label
		&& *server->label && server->key && *server->key;
}

static void search(uint64_t seed, long iterations)
{
	enum { MOST = sizeof known_dsns->dsn };
	long taken = 0, bad = 0;
	dlock_error error;

	state = seed;
	for (long i = 0; i < iterations && bad < 5; i++) {
		char edited[MOST];
		const known_dsn *from = &known_dsns[random_below((uint32_t) dsn_count)];
		memcpy(edited, from->dsn, from->len);
		size_t len = mutate(edited, from->len, MOST);
		char *dsn = malloc(len + !len); /* not longer, so that a sanitizer sees reads behind it */
		memcpy(dsn, edited, len);
		dlock_endpoint *server = server_from(dsn, len, &error);
		bool good = server ? holds_together(server)
			: !strncmp(error.message, "must ", 5) || !strncmp(error.message, "has an unknown", 14);
		if (!good) {
			bad++;
			note("%.*s: %s", (int) len, dsn, server ? "accepted" : error.message);
		}
		if (server) {
			taken++;
			dlock_endpoint_release(server);
		}
		free(dsn);
	}
	check(bad == 0, "%ld random DSNs (%ld valid), seed %llu", iterations, taken, (unsigned long long) seed);
	check(iterations < 1000 || (taken > iterations / 20 && taken < iterations / 20 * 19),
		"valid and invalid DSNs are among them");
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t) time(NULL);

	read_dsns(argc > 1 && !strcmp(argv[1], "--write"));
	if (argc > 1 && !strcmp(argv[1], "--write")) {
		return 0;
	}
	test_dsns();
	test_many_seeds();
	test_quote_of_both();
	test_is_same();
	test_long();
	test_seal();
	test_keys();
	test_key_of_tls();
	search(seed | 1, argc > 2 ? atol(argv[2]) : 50000);
	return tap_end();
}

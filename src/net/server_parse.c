/* Specifications of servers as text: DSNs, and the options that they share with arrays. */
#include "server.h"

#include <strings.h>
#include <stdlib.h>
#include <string.h>

#include "dsn.h"

#define LONGEST_TIMEOUT (3600 * DLOCK_SECOND)

static const struct scheme {
	const char *name;
	dlock_server_kind kind;
	dlock_server_discovery discovery;
	int port;
	bool tls;
} schemes[] = {
	{ "redis", DLOCK_SERVER_REDIS, DLOCK_SERVER_FIXED, DLOCK_REDIS_PORT, false },
	{ "rediss", DLOCK_SERVER_REDIS, DLOCK_SERVER_FIXED, DLOCK_REDIS_PORT, true },
	{ "unix", DLOCK_SERVER_REDIS, DLOCK_SERVER_FIXED, DLOCK_REDIS_PORT, false },
	{ "sentinel", DLOCK_SERVER_REDIS, DLOCK_SERVER_SENTINEL, DLOCK_SENTINEL_PORT, false },
	{ "cluster", DLOCK_SERVER_REDIS, DLOCK_SERVER_CLUSTER, DLOCK_REDIS_PORT, false },
	{ "memcached", DLOCK_SERVER_MEMCACHED, DLOCK_SERVER_FIXED, 11211, false },
	{ "memory", DLOCK_SERVER_MEMORY, DLOCK_SERVER_FIXED, 0, false },
};

static bool reject(dlock_error *error, const char *message)
{
	dlock_fail(error, DLOCK_FAILED, "%s", message);
	return false;
}

/* ---- numbers: by hand, since strtol() accepts more than it should ---- */

static bool parse_whole(const char *text, size_t len, long most, int *out)
{
	long number = 0;

	if (len == 0) {
		return false;
	}
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || (number = number * 10 + (text[i] - '0')) > most) {
			return false;
		}
	}
	*out = (int) number;
	return true;
}

static bool parse_bool(const char *text, size_t len, bool *out)
{
	bool yes = (len == 1 && *text == '1') || (len == 4 && !strncasecmp(text, "true", 4));
	bool no = (len == 1 && *text == '0') || (len == 5 && !strncasecmp(text, "false", 5));

	*out = yes;
	return yes || no;
}

static bool parse_port(const char *text, size_t len, int *port, dlock_error *error)
{
	if (!parse_whole(text, len, 65535, port) || *port == 0) {
		return reject(error, "must have a port between 1 and 65535");
	}
	return true;
}

static bool parse_database(const char *text, size_t len, int *database, dlock_error *error)
{
	if (!parse_whole(text, len, 1000000, database)) {
		return reject(error, "must have a database that is a whole number, 0 or greater");
	}
	return true;
}

static bool set_seconds(dlock_nanos *field, const char *name, const char *value, size_t len, dlock_error *error)
{
	if (!dlock_dsn_seconds(value, len, LONGEST_TIMEOUT, field)) {
		dlock_fail(error, DLOCK_FAILED, "must have a %s of more than 0 and at most 3600 seconds", name);
		return false;
	}
	return true;
}

static bool set_switch(bool *field, const char *name, const char *value, size_t len, dlock_error *error)
{
	if (!parse_bool(value, len, field)) {
		dlock_fail(error, DLOCK_FAILED, "must have %s either true or false (1 or 0)", name);
		return false;
	}
	return true;
}

/* tls=1 and sentinel_tls=1; a FIXED server's scheme says it. */
static bool set_tls(dlock_server *server, const char *name, const char *value, size_t len, dlock_error *error)
{
	if (*name == 's') {
		server->has_sentinel_tls = true;
		return set_switch(&server->sentinel_tls, name, value, len, error);
	}
	if (server->discovery == DLOCK_SERVER_FIXED) {
		return reject(error, "must have no option tls: rediss:// is for TLS, redis:// without");
	}
	return set_switch(&server->tls, name, value, len, error);
}

static bool set_replicas(dlock_server *server, const char *value, size_t len, dlock_error *error)
{
	if (!parse_whole(value, len, DLOCK_MOST_REPLICAS, &server->replicas)) {
		dlock_fail(error, DLOCK_FAILED, "must have replicas between 0 and %d", DLOCK_MOST_REPLICAS);
		return false;
	}
	return true;
}

static bool set_guard(dlock_server *server, const char *value, size_t len, dlock_error *error)
{
	if (!dlock_dsn_seconds(value, len, LONGEST_TIMEOUT, &server->guard) || server->guard < DLOCK_SHORTEST_GUARD) {
		return reject(error, "must have a guard between 0.1 and 3600 seconds");
	}
	return true;
}

static bool is_word(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= 32 && strspn(name, "abcdefghijklmnopqrstuvwxyz_") == len;
}

bool dlock_server_option(dlock_server *server, const char *name, const char *value, size_t len, dlock_error *error)
{
	const struct {
		const char *name;
		char **field;
	} texts[] = {
		{ "sentinel_user", &server->sentinel_user }, { "sentinel_password", &server->sentinel_password },
		{ "peer_name", &server->tls_peer_name }, { "cafile", &server->tls_cafile }, { "capath", &server->tls_capath },
		{ "local_cert", &server->tls_cert }, { "local_pk", &server->tls_key },
		{ "passphrase", &server->tls_passphrase },
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		if (!strcmp(name, texts[i].name)) {
			if (memchr(value, '\0', len) || len == 0) {
				dlock_fail(error, DLOCK_FAILED, "must have a %s that is not empty and has no NUL bytes", name);
				return false;
			}
			return dlock_server_set(texts[i].field, value, len) || reject(error, "cannot be read: out of memory");
		}
	}
	if (!strcmp(name, "connect_timeout")) {
		return set_seconds(&server->connect_timeout, name, value, len, error);
	}
	if (!strcmp(name, "read_timeout")) {
		return set_seconds(&server->read_timeout, name, value, len, error);
	}
	if (!strcmp(name, "verify_peer")) {
		return set_switch(&server->tls_verify_peer, name, value, len, error);
	}
	if (!strcmp(name, "verify_peer_name")) {
		return set_switch(&server->tls_verify_peer_name, name, value, len, error);
	}
	if (!strcmp(name, "db") || !strcmp(name, "database")) {
		return parse_database(value, len, &server->database, error);
	}
	if (!strcmp(name, "tls") || !strcmp(name, "sentinel_tls")) {
		return set_tls(server, name, value, len, error);
	}
	if (!strcmp(name, "replicas")) {
		return set_replicas(server, value, len, error);
	}
	if (!strcmp(name, "guard")) {
		return set_guard(server, value, len, error);
	}
	if (!strcmp(name, "resync_guard")) {
		server->has_resync_guard = true;
		return set_switch(&server->resync_guard, name, value, len, error);
	}
	dlock_fail(error, DLOCK_FAILED,
		"has an unknown option%s%s%s; known are connect_timeout, read_timeout, db, replicas, guard, resync_guard, tls, "
		"verify_peer, verify_peer_name, peer_name, cafile, capath, local_cert, local_pk, passphrase, "
		"sentinel_tls, sentinel_user and "
		"sentinel_password",
		is_word(name) ? " \"" : "", is_word(name) ? name : "", is_word(name) ? "\"" : "");
	return false;
}

static bool parse_query(dlock_server *server, const char *text, const char *end, dlock_error *error)
{
	while (text < end) {
		const char *next = memchr(text, '&', (size_t) (end - text));
		const char *stop = next ? next : end;
		const char *equals = memchr(text, '=', (size_t) (stop - text));
		char *name = NULL, *value = NULL;
		bool good;

		if (!equals) {
			return reject(error, "must have options of the form name=value");
		}
		good = dlock_dsn_decode(&name, text, (size_t) (equals - text), error)
			&& dlock_dsn_decode(&value, equals + 1, (size_t) (stop - equals - 1), error)
			&& dlock_server_option(server, name, value, strlen(value), error);
		free(name);
		dlock_free_secret(value);
		if (!good) {
			return false;
		}
		text = next ? next + 1 : end;
	}
	return true;
}

/* user:password@, :password@ */
static bool parse_credentials(dlock_server *server, const char *text, const char *end, dlock_error *error)
{
	const char *colon = memchr(text, ':', (size_t) (end - text));

	if (!colon || colon + 1 == end) {
		return reject(error, "must have a password after the user (user:password@ or :password@)");
	}
	return (colon == text || dlock_dsn_decode(&server->user, text, (size_t) (colon - text), error))
		&& dlock_dsn_decode(&server->password, colon + 1, (size_t) (end - colon - 1), error);
}

/* host, host:port, [::1]:port */
static bool parse_host(char **host, int *port, const char *text, const char *end, dlock_error *error)
{
	const char *host_end = end, *after;

	if (text >= end) { /* Also tells the compiler that the lengths below are no negative numbers. */
		return reject(error, "must name a host");
	}
	if (*text == '[') {
		host_end = memchr(text, ']', (size_t) (end - text));
		if (!host_end) {
			return reject(error, "must have a closing ] after the IPv6 address");
		}
		text++;
		after = host_end + 1;
		if (after < end && *after != ':') {
			return reject(error, "must have nothing but a port after the IPv6 address");
		}
	} else {
		const char *colon = memchr(text, ':', (size_t) (end - text));
		after = host_end = colon ? colon : end;
	}
	if (host_end == text) {
		return reject(error, "must name a host");
	}
	return dlock_dsn_decode(host, text, (size_t) (host_end - text), error)
		&& (after >= end || parse_port(after + 1, (size_t) (end - after - 1), port, error));
}

bool dlock_server_parse_seed(dlock_server *server, const char *text, size_t len, dlock_error *error)
{
	int port = server->discovery == DLOCK_SERVER_SENTINEL ? DLOCK_SENTINEL_PORT : DLOCK_REDIS_PORT;
	char *host = NULL;
	bool good = parse_host(&host, &port, text, text + len, error)
		&& dlock_server_add_seed(server, host, strlen(host), port, error);

	free(host);
	return good;
}

static const char *last_byte(const char *from, const char *end, char byte)
{
	while (end > from) {
		if (*--end == byte) {
			return end;
		}
	}
	return NULL;
}

bool dlock_server_set_scheme(dlock_server *server, const char *name, size_t len, dlock_error *error)
{
	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
		if (len == strlen(schemes[i].name) && !strncasecmp(name, schemes[i].name, len)) {
			server->kind = schemes[i].kind;
			server->discovery = schemes[i].discovery;
			server->port = schemes[i].port;
			server->tls = schemes[i].tls;
			return true;
		}
	}
	if (len == 9 && !strncasecmp(name, "zookeeper", 9)) {
		return reject(error, "must be no ZooKeeper: ZkLock, Dlock\\Semaphore and Dlock\\ReadWriteLock are for it");
	}
	return reject(error,
		"must begin with redis://, rediss://, unix://, sentinel://, cluster://, memcached:// or memory://, "
		"like \"redis://127.0.0.1:6379\"");
}

const char *dlock_server_scheme(const dlock_server *server)
{
	const struct scheme *scheme = schemes;

	if (server->path && server->kind == DLOCK_SERVER_REDIS) {
		return "unix";
	}
	while (scheme->kind != server->kind || scheme->discovery != server->discovery) {
		scheme++;
	}
	return scheme == schemes && server->tls ? "rediss" : scheme->name;
}

static const char *find_colon(const char *dsn, size_t len)
{
	const char *colon = memchr(dsn, ':', len);

	return colon && dsn + len - colon >= 3 && !memcmp(colon, "://", 3) ? colon : NULL;
}

/* host:port,host:port */
static bool parse_seeds(dlock_server *server, const char *text, const char *stop, dlock_error *error)
{
	const char *comma;

	do {
		comma = memchr(text, ',', (size_t) (stop - text));
		if (!dlock_server_parse_seed(server, text, (size_t) ((comma ? comma : stop) - text), error)) {
			return false;
		}
		text = comma ? comma + 1 : stop;
	} while (comma);
	return true;
}

/* host:port/database, host:port,host:port/service/database */
static bool parse_place(dlock_server *server, const char *text, const char *stop, dlock_error *error)
{
	const char *slash = memchr(text, '/', (size_t) (stop - text)), *end = slash ? slash : stop;
	bool fixed = server->discovery == DLOCK_SERVER_FIXED;

	if (fixed ? !parse_host(&server->host, &server->port, text, end, error) : !parse_seeds(server, text, end, error)) {
		return false;
	}
	if (slash && server->discovery == DLOCK_SERVER_SENTINEL) {
		text = slash + 1;
		slash = memchr(text, '/', (size_t) (stop - text));
		if (!dlock_dsn_decode(&server->service, text, (size_t) ((slash ? slash : stop) - text), error)) {
			return false;
		}
	}
	return !slash || slash + 1 >= stop
		|| parse_database(slash + 1, (size_t) (stop - slash - 1), &server->database, error);
}

/* What was refused may be the end of a password, which the message must not show. */
static bool reject_rest(const char *text, const char *end, dlock_error *error)
{
	return memchr(text, '@', (size_t) (end - text))
		? reject(error, "must have / and ? in a user or password written as %2F and %3F")
		: false;
}

bool dlock_server_parse(dlock_server *server, const char *dsn, size_t len, dlock_error *error)
{
	const char *end = dsn + len, *colon = find_colon(dsn, len);
	bool unix_socket = colon == dsn + 4 && !strncasecmp(dsn, "unix", 4);

	if (len == 0) {
		return reject(error, "must not be empty");
	}
	if (!dlock_server_set_scheme(server, dsn, colon ? (size_t) (colon - dsn) : 0, error)) {
		return false;
	}
	if (memchr(dsn, '\0', len)) {
		return reject(error, "must not contain NUL bytes");
	}
	const char *text = colon + 3, *query = memchr(text, '?', (size_t) (end - text)), *stop = query ? query : end;

	/* The last @ before the path: an unencoded @ in a password is common. So are / and ?, which end what they should be
	 * part of. */
	const char *authority_end = memchr(text, '/', (size_t) (stop - text));
	const char *at = last_byte(text, authority_end ? authority_end : stop, '@');
	if (at && !parse_credentials(server, text, at, error)) {
		return false;
	}
	text = at ? at + 1 : text;
	if (unix_socket && (text == stop || *text != '/')) {
		return reject(error, "must have an absolute path after unix://");
	}
	if (server->kind == DLOCK_SERVER_MEMORY) {
		if (!dlock_dsn_decode(&server->host, text, (size_t) (stop - text), error)) {
			return false;
		}
	} else if (unix_socket || (server->kind == DLOCK_SERVER_MEMCACHED && text < stop && *text == '/')) {
		if (!dlock_dsn_decode(&server->path, text, (size_t) (stop - text), error)) {
			return false;
		}
	} else if (!parse_place(server, text, stop, error)) {
		return reject_rest(text, end, error);
	}
	return !query || parse_query(server, query + 1, end, error) || reject_rest(query, end, error);
}

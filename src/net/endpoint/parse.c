/* The schemes of servers, and the parser of their DSNs. */
#include "endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "dsn.h"

const dlock_server_kind dlock_server_kinds[DLOCK_ENDPOINT_KINDS] = {
	[DLOCK_ENDPOINT_REDIS] = { "redis", "Redis", "a Redis", NULL, "it names no Sentinels" },
	[DLOCK_ENDPOINT_MEMCACHED] = { "memcached", "memcached", "a memcached", "on memcached",
		"dlock speaks memcached's text protocol, which has none" },
	[DLOCK_ENDPOINT_MEMORY] = { "memory", "memory://", "no server", NULL, "memory:// is no server" },
	[DLOCK_ENDPOINT_PGSQL] = { "pgsql", "PostgreSQL", "a database", "in databases", "dlock has none for PostgreSQL" },
	[DLOCK_ENDPOINT_MYSQL] = { "mysql", "MySQL", "a database", "in databases", "dlock has none for MySQL" },
};

static const struct scheme {
	const char *name;
	dlock_scheme scheme;
	dlock_endpoint_kind kind;
	dlock_endpoint_discovery discovery;
	int port;
	bool tls;
} schemes[] = {
	{ "redis", DLOCK_SCHEME_REDIS, DLOCK_ENDPOINT_REDIS, DLOCK_ENDPOINT_FIXED, DLOCK_REDIS_PORT, false },
	{ "rediss", DLOCK_SCHEME_REDIS, DLOCK_ENDPOINT_REDIS, DLOCK_ENDPOINT_FIXED, DLOCK_REDIS_PORT, true },
	{ "unix", DLOCK_SCHEME_REDIS, DLOCK_ENDPOINT_REDIS, DLOCK_ENDPOINT_FIXED, DLOCK_REDIS_PORT, false },
	{ "sentinel", DLOCK_SCHEME_SENTINEL, DLOCK_ENDPOINT_REDIS, DLOCK_ENDPOINT_SENTINEL, DLOCK_SENTINEL_PORT, false },
	{ "cluster", DLOCK_SCHEME_CLUSTER, DLOCK_ENDPOINT_REDIS, DLOCK_ENDPOINT_CLUSTER, DLOCK_REDIS_PORT, false },
	{ "memcached", DLOCK_SCHEME_MEMCACHED, DLOCK_ENDPOINT_MEMCACHED, DLOCK_ENDPOINT_FIXED, 11211, false },
	{ "memory", DLOCK_SCHEME_MEMORY, DLOCK_ENDPOINT_MEMORY, DLOCK_ENDPOINT_FIXED, 0, false },
	{ "pgsql", DLOCK_SCHEME_PGSQL, DLOCK_ENDPOINT_PGSQL, DLOCK_ENDPOINT_HOSTS, DLOCK_PGSQL_PORT, false },
	{ "mysql", DLOCK_SCHEME_MYSQL, DLOCK_ENDPOINT_MYSQL, DLOCK_ENDPOINT_HOSTS, DLOCK_MYSQL_PORT, false },
};

enum { SCHEMES = sizeof schemes / sizeof *schemes };

const char *dlock_endpoint_list_schemes(char text[DLOCK_SCHEME_LIST], bool of_dsn)
{
	size_t len = 0;

	for (int i = 0; i < SCHEMES; i++) {
		/* sentinel and cluster are schemes of DSNs only: an array has `sentinels` or `cluster`. */
		bool is_named = schemes[i].discovery == DLOCK_ENDPOINT_SENTINEL
			|| schemes[i].discovery == DLOCK_ENDPOINT_CLUSTER;
		if (of_dsn || !is_named) {
			len += (size_t) snprintf(text + len, DLOCK_SCHEME_LIST - len, "%s%s%s",
				len == 0 ? "" : i == SCHEMES - 1 ? " or " : ", ", schemes[i].name, of_dsn ? "://" : "");
		}
	}
	return text;
}

bool dlock_endpoint_set_scheme(dlock_endpoint *server, const char *name, size_t len, dlock_error *error)
{
	char list[DLOCK_SCHEME_LIST];

	for (int i = 0; i < SCHEMES; i++) {
		if (len == strlen(schemes[i].name) && !strncasecmp(name, schemes[i].name, len)) {
			server->kind = schemes[i].kind;
			server->discovery = schemes[i].discovery;
			server->port = schemes[i].port;
			server->tls = schemes[i].tls;
			return true;
		}
	}
	if (len == 9 && !strncasecmp(name, "zookeeper", 9)) {
		return dlock_reject(
			error, "must not be ZooKeeper: use ZkLock, Dlock\\Semaphore or Dlock\\ReadWriteLock");
	}
	return dlock_reject(error, "must begin with %s, like \"redis://127.0.0.1:6379\"",
		dlock_endpoint_list_schemes(list, true));
}

static const struct scheme *scheme_of(const dlock_endpoint *server)
{
	const struct scheme *scheme = schemes;

	while (scheme->kind != server->kind
		|| (scheme->discovery != server->discovery && !dlock_endpoint_is_database(server))) {
		scheme++;
	}
	return scheme;
}

dlock_scheme dlock_scheme_of(const dlock_endpoint *server)
{
	return scheme_of(server)->scheme;
}

const char *dlock_endpoint_scheme(const dlock_endpoint *server)
{
	const struct scheme *scheme = scheme_of(server);

	if (scheme->scheme == DLOCK_SCHEME_REDIS) {
		return server->path ? "unix" : server->tls ? "rediss" : "redis";
	}
	return scheme->name;
}

/* host, host:port, [::1]:port */
static bool parse_host(char **field, int *port, const char *text, const char *end, dlock_error *error)
{
	const char *host;
	size_t len;

	return dlock_dsn_host(text, end, &host, &len, port, error) && dlock_dsn_decode(field, host, len, error);
}

static bool parse_one_host(dlock_endpoint *server, const char *text, const char *end, dlock_error *error)
{
	if (memchr(text, ',', (size_t) (end - text))) {
		return dlock_reject(error, "must name one host; several: sentinel://, cluster://, or RedLock");
	}
	return parse_host(&server->host, &server->port, text, end, error);
}

bool dlock_endpoint_parse_seed(dlock_endpoint *server, const char *text, size_t len, dlock_error *error)
{
	int port = server->discovery == DLOCK_ENDPOINT_SENTINEL ? DLOCK_SENTINEL_PORT
		: server->discovery == DLOCK_ENDPOINT_HOSTS         ? server->port
														  : DLOCK_REDIS_PORT;
	char *host = NULL;
	bool good = parse_host(&host, &port, text, text + len, error)
		&& dlock_endpoint_add_seed(server, host, strlen(host), port, error);

	free(host);
	return good;
}

/* host:port,host:port */
static bool parse_seeds(dlock_endpoint *server, const char *text, const char *stop, dlock_error *error)
{
	const char *comma;

	do {
		comma = memchr(text, ',', (size_t) (stop - text));
		if (!dlock_endpoint_parse_seed(server, text, (size_t) ((comma ? comma : stop) - text), error)) {
			return false;
		}
		text = comma ? comma + 1 : stop;
	} while (comma);
	return true;
}

static bool parse_database(dlock_endpoint *server, const char *text, const char *stop, dlock_error *error)
{
	const dlock_option *database = dlock_option_find(server, DLOCK_FORM_QUERY, "database");

	if (dlock_endpoint_is_database(server)) {
		if (memchr(text, '@', (size_t) (stop - text))) {
			return false; /* it ends a login with a "/" in its password: dlock_dsn_refuse() explains that */
		}
		return text >= stop || dlock_dsn_decode(&server->dbname, text, (size_t) (stop - text), error);
	}
	return text >= stop || dlock_option_read(server, database, "database", text, (size_t) (stop - text), error);
}

/* host:port/database, host:port,host:port/service/database */
static bool parse_address(dlock_endpoint *server, const char *text, const char *stop, dlock_error *error)
{
	const char *slash = memchr(text, '/', (size_t) (stop - text)), *end = slash ? slash : stop;
	bool fixed = server->discovery == DLOCK_ENDPOINT_FIXED;

	if (dlock_endpoint_is_database(server) && end == text) { /* the database is at a socket */
		return !slash || parse_database(server, slash + 1, stop, error);
	}
	if (fixed ? !parse_one_host(server, text, end, error) : !parse_seeds(server, text, end, error)) {
		return false;
	}
	if (slash && server->discovery == DLOCK_ENDPOINT_SENTINEL) {
		text = slash + 1;
		slash = memchr(text, '/', (size_t) (stop - text));
		if (!dlock_dsn_decode(&server->service, text, (size_t) ((slash ? slash : stop) - text), error)) {
			return false;
		}
	}
	return !slash || parse_database(server, slash + 1, stop, error);
}

/* A database may accept a user without a password. */
static bool parse_login(dlock_endpoint *server, const dlock_dsn *dsn, dlock_error *error)
{
	size_t len = dsn->login ? (size_t) (dsn->place - 1 - dsn->login) : 0;

	if (dlock_endpoint_is_database(server) && len > 0 && !memchr(dsn->login, ':', len)) {
		return dlock_dsn_decode(&server->user, dsn->login, len, error);
	}
	return dlock_dsn_login(dsn, &server->user, &server->password, error);
}

static bool parse_place(dlock_endpoint *server, const dlock_dsn *dsn, dlock_error *error)
{
	bool unix_socket = dsn->scheme_len == 4 && !strncasecmp(dsn->scheme, "unix", 4);
	bool absolute = dsn->place < dsn->place_end && *dsn->place == '/';
	size_t len = (size_t) (dsn->place_end - dsn->place);

	if (unix_socket && !absolute) {
		return dlock_reject(error, "must have an absolute path after unix://");
	}
	if (server->kind == DLOCK_ENDPOINT_MEMORY) {
		return dlock_dsn_decode(&server->host, dsn->place, len, error);
	}
	if (unix_socket || (server->kind == DLOCK_ENDPOINT_MEMCACHED && absolute)) {
		return dlock_dsn_decode(&server->path, dsn->place, len, error);
	}
	return parse_address(server, dsn->place, dsn->place_end, error) || dlock_dsn_refuse(dsn, dsn->place, error);
}

static bool read_option(void *target, const char *name, const char *value, dlock_error *error)
{
	dlock_endpoint *server = target;
	const dlock_option *option = dlock_option_find(server, DLOCK_FORM_QUERY, name);

	if (option) {
		return dlock_option_read(server, option, name, value, strlen(value), error);
	}
	if (!strcmp(name, "tls") && server->kind == DLOCK_ENDPOINT_REDIS) {
		return dlock_reject(error, "must have no option tls: rediss:// is for TLS, redis:// without");
	}
	dlock_option_unknown(server, DLOCK_FORM_QUERY, name, error);
	return false;
}

bool dlock_endpoint_parse(dlock_endpoint *server, const char *dsn, size_t len, dlock_error *error)
{
	dlock_dsn parts;

	return dlock_dsn_split(&parts, dsn, len, error)
		&& dlock_endpoint_set_scheme(server, parts.scheme, parts.scheme_len, error)
		&& parse_login(server, &parts, error) && parse_place(server, &parts, error)
		&& dlock_dsn_query(&parts, read_option, server, error);
}

#include "endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "dsn.h"

dlock_endpoint *dlock_endpoint_new(dlock_nanos connect_timeout, dlock_nanos read_timeout)
{
	dlock_endpoint *server = calloc(1, sizeof *server);

	if (server) {
		server->references = 1;
		server->port = DLOCK_REDIS_PORT;
		server->replicas = -1;
		server->connect_timeout = connect_timeout;
		server->read_timeout = read_timeout;
		dlock_options_begin(server);
	}
	return server;
}

dlock_endpoint *dlock_endpoint_retain(dlock_endpoint *server)
{
	atomic_fetch_add(&server->references, 1);
	return server;
}

void dlock_endpoint_release(dlock_endpoint *server)
{
	if (atomic_fetch_sub(&server->references, 1) > 1) {
		return;
	}
	dlock_options_free(server);
	dlock_free_secret(server->key);
	free(server->host);
	free(server->path);
	for (int i = 0; i < server->seed_count; i++) {
		free(server->seeds[i].host);
	}
	free(server->seeds);
	free(server->node_id);
	free(server->label);
	free(server);
}

bool dlock_endpoint_set(char **field, const char *value, size_t len)
{
	char *copy = malloc(len + 1);

	if (!copy) {
		return false;
	}
	memcpy(copy, value, len);
	copy[len] = '\0';
	dlock_free_secret(*field);
	*field = copy;
	return true;
}

bool dlock_endpoint_add_seed(dlock_endpoint *server, const char *host, size_t len, int port, dlock_error *error)
{
	if (server->seed_count == DLOCK_MOST_SERVERS) {
		return dlock_reject(error, "must name at most %d servers", DLOCK_MOST_SERVERS);
	}
	dlock_seed *seeds = realloc(server->seeds, (size_t) (server->seed_count + 1) * sizeof *seeds);
	if (!seeds) {
		return dlock_reject(error, "cannot be read: out of memory");
	}
	server->seeds = seeds;
	seeds[server->seed_count] = (dlock_seed) { NULL, port };
	if (!dlock_endpoint_set(&seeds[server->seed_count].host, host, len)) {
		return dlock_reject(error, "cannot be read: out of memory");
	}
	server->seed_count++;
	return true;
}

static char *make_key(const dlock_endpoint *server)
{
	const char *host = server->host ? server->host : "-", *path = server->path ? server->path : "-";
	const char *service = server->discovery == DLOCK_ENDPOINT_FIXED ? "" : server->label; /* the label has all seeds */
	size_t options = dlock_options_write_key(server, NULL, 0) + 1;
	size_t size = options + strlen(host) + strlen(path) + strlen(service) + 96;
	char *key = malloc(size);

	if (key) {
		int len = snprintf(key, size, "%d %d %d %zu:%s%zu:%s%zu:%s", server->kind, server->discovery, server->port,
			strlen(host), host, strlen(path), path, strlen(service), service);
		dlock_options_write_key(server, key + len, options);
	}
	return key;
}

static bool check_options(dlock_endpoint *server, dlock_error *error)
{
	bool has_services = server->discovery == DLOCK_ENDPOINT_SENTINEL || server->discovery == DLOCK_ENDPOINT_CLUSTER;

	if (server->kind != DLOCK_ENDPOINT_REDIS && has_services) {
		return dlock_reject(error, "must have no sentinels and no cluster: only Redis has them");
	}
	if (server->replicas < 0) {
		server->replicas = has_services ? 1 : 0;
	}
	const char *no_option = dlock_server_kinds[server->kind].no_option;
	if (!dlock_options_check(server, 1u << dlock_scheme_of(server), no_option, error)) {
		return false;
	}
	if (server->nodes != 0 && (server->nodes <= server->replicas || server->nodes > 2 * server->replicas + 1)) {
		return dlock_reject(error, "must have as nodes more than replicas, and twice as many and one at most: too few "
			"would confirm a lock");
	}
	if (server->user && !server->password && !dlock_endpoint_is_database(server)) {
		return dlock_reject(error, "must have a password for the user");
	}
	if (server->sentinel_user && !server->sentinel_password) {
		return dlock_reject(error, "must have a sentinel_password for the sentinel_user");
	}
	return server->discovery != DLOCK_ENDPOINT_CLUSTER || server->database == 0
		|| dlock_reject(error, "must have no database but 0: a Redis Cluster has no other");
}

static bool check_host(const char *host, int port, const char *forbidden, const char *message, dlock_error *error)
{
	if (strpbrk(host, forbidden)) {
		return dlock_reject(error, "%s", message);
	}
	return (port >= 1 && port <= 65535) || dlock_reject(error, "must have a port between 1 and 65535");
}

/* Hosts have no commas and spaces, because these separate them in the label. */
static bool check_seeds(const dlock_endpoint *server, dlock_error *error)
{
	if (server->seed_count == 0) {
		return dlock_reject(error, "must name a %s",
			server->discovery == DLOCK_ENDPOINT_SENTINEL ? "Sentinel"
				: server->discovery == DLOCK_ENDPOINT_HOSTS ? "host, or have a socket" : "node of the cluster");
	}
	for (int i = 0; i < server->seed_count; i++) {
		const dlock_seed *seed = &server->seeds[i];
		if (!*seed->host) {
			return dlock_reject(error, "must name a host");
		}
		if (!check_host(seed->host, seed->port, "@/?#, ",
				"must have hosts without user, password, path, commas or spaces", error)) {
			return false;
		}
	}
	return true;
}

static bool is_service(const char *name)
{
	const char *c = name;

	while (*c > ' ' && *c < 127 && !strchr("@/?#,", *c)) {
		c++;
	}
	return *name && !*c && c - name <= 100;
}

static bool is_schema(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return len > 0 && len <= 63 && !name[len] && (*name < '0' || *name > '9');
}

static bool check_database(const dlock_endpoint *server, dlock_error *error)
{
	if (!server->dbname || strlen(server->dbname) > 64) {
		return dlock_reject(error, "must have a database of at most 64 bytes, as in \"%s://user:password@host/shop\"",
			dlock_endpoint_scheme(server));
	}
	if (server->schema && !is_schema(server->schema)) {
		return dlock_reject(error, "must have a schema of a to z, 0 to 9 and _, at most 63 characters");
	}
	if (server->guard != 0 && server->guard < DLOCK_SHORTEST_GUARD_OF_DATABASES) {
		return dlock_reject(error, "must have a guard of at least %d seconds",
			(int) (DLOCK_SHORTEST_GUARD_OF_DATABASES / DLOCK_SECOND));
	}
	if (server->path) {
		return (strlen(server->path) <= 100 && *server->path == '/' && server->seed_count == 0)
			|| dlock_reject(error, "must have a socket with an absolute path of at most 100 bytes, and no host then");
	}
	return check_seeds(server, error);
}

static bool check_place(const dlock_endpoint *server, dlock_error *error)
{
	if (dlock_endpoint_is_database(server)) {
		return check_database(server, error);
	}
	if (server->discovery == DLOCK_ENDPOINT_CLUSTER) {
		return check_seeds(server, error);
	}
	if (server->discovery == DLOCK_ENDPOINT_SENTINEL) {
		return check_seeds(server, error)
			&& (server->service
				|| dlock_reject(
					error, "must have the name of a service, as in \"sentinel://s1:26379,s2:26379/mymaster\""))
			&& (is_service(server->service)
				|| dlock_reject(error,
					"must have a service of 1 to 100 printable characters of ASCII, without spaces and @ / ? # ,"));
	}
	if (server->kind == DLOCK_ENDPOINT_MEMORY) {
		return (server->host && strlen(server->host) <= 100)
			|| dlock_reject(error, "must have a name of at most 100 bytes after memory://");
	}
	if (server->path ? strlen(server->path) > 100 : !server->host || !*server->host) {
		return dlock_reject(error, "must %s", server->path ? "have a socket path of at most 100 bytes" : "name a host");
	}
	const char *colon = server->host ? strchr(server->host, ':') : NULL;
	if (colon && !strchr(colon + 1, ':')) { /* not an IPv6 address */
		return dlock_reject(error, "must have a host without its port, which is \"port\" of the array");
	}
	return check_host(server->host ? server->host : "", server->port, "@/?# ",
		"must have a host without user, password, path or spaces", error);
}

static void put_address(FILE *out, const char *host, int port)
{
	fprintf(out, strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
}

/* "host:port", "mymaster at s1:26379,s2:26379" */
static bool make_label(dlock_endpoint *server)
{
	size_t size;
	FILE *out = open_memstream(&server->label, &size);

	if (!out) {
		return false;
	}
	if (server->service) {
		fprintf(out, "%s at ", server->service);
	}
	for (int i = 0; i < server->seed_count; i++) {
		fputs(i > 0 ? "," : "", out);
		put_address(out, server->seeds[i].host, server->seeds[i].port);
	}
	if (server->kind == DLOCK_ENDPOINT_MEMORY) {
		fprintf(out, "memory://%s", server->host);
	} else if (server->path) {
		fputs(server->path, out);
	} else if (server->host) {
		put_address(out, server->host, server->port);
	}
	return fclose(out) == 0 && server->label;
}

/* Makes two spellings of a host equal: two votes of one server must not count as a majority. */
static void make_lower(char *host)
{
	for (char *c = host; c && *c; c++) {
		*c = *c >= 'A' && *c <= 'Z' ? (char) (*c - 'A' + 'a') : *c;
	}
}

/* The host in an array becomes a seed, because a DSN can have several hosts. */
static bool take_host(dlock_endpoint *server, dlock_error *error)
{
	if (server->kind == DLOCK_ENDPOINT_PGSQL && !server->schema && !dlock_endpoint_set(&server->schema, "dlock", 5)) {
		return dlock_reject(error, "cannot be read: out of memory");
	}
	if (server->socket && !dlock_endpoint_set(&server->path, server->socket, strlen(server->socket))) {
		return dlock_reject(error, "cannot be read: out of memory");
	}
	if (!server->host) {
		return true;
	}
	bool added = dlock_endpoint_add_seed(server, server->host, strlen(server->host), server->port, error);
	free(server->host);
	server->host = NULL;
	return added;
}

bool dlock_endpoint_seal(dlock_endpoint *server, dlock_error *error)
{
	if (dlock_endpoint_is_database(server) && !take_host(server, error)) {
		return false;
	}
	if (!check_options(server, error) || !check_place(server, error)) {
		return false;
	}
#ifndef DLOCK_PGSQL
	if (server->kind == DLOCK_ENDPOINT_PGSQL) {
		return dlock_reject(error, "must not be PostgreSQL: this build of dlock has no client for it, since libpq "
			"(Debian: libpq-dev) was not there when it was built");
	}
#endif
#ifndef DLOCK_MYSQL
	if (server->kind == DLOCK_ENDPOINT_MYSQL) {
		return dlock_reject(error, "must not be MySQL or MariaDB: this build of dlock has no client for them, since "
			"libmariadb (Debian: libmariadb-dev) was not there when it was built");
	}
#endif
#ifndef DLOCK_TLS
	if ((server->tls || server->sentinel_tls) && !dlock_endpoint_is_database(server)) {
		return dlock_reject(error, "must not ask for TLS (rediss://): this build of dlock has no TLS, "
			"because OpenSSL was not found when it was built; docs/installation.md says what to install");
	}
#endif
	make_lower(server->kind == DLOCK_ENDPOINT_MEMORY ? NULL : server->host);
	for (int i = 0; i < server->seed_count; i++) {
		make_lower(server->seeds[i].host);
	}
	server->port = server->discovery == DLOCK_ENDPOINT_FIXED || server->path ? server->port : 0;
	if (server->discovery == DLOCK_ENDPOINT_SENTINEL && !dlock_option_is_given(server, &server->sentinel_tls)) {
		server->sentinel_tls = server->tls;
	}
	server->key = make_label(server) ? make_key(server) : NULL;
	return server->key || dlock_reject(error, "cannot be read: out of memory");
}

/* Redis repeats each CR and LF as a space. */
static bool has_password(const char *text, const char *end, const char *password)
{
	for (; text < end; text++) {
		const char *t = text, *p = password;
		while (t < end && *p && (*t == *p || (*t == ' ' && (*p == '\r' || *p == '\n')))) {
			t++;
			p++;
		}
		if (!*p) {
			return true;
		}
	}
	return false;
}

void dlock_endpoint_quote(const dlock_endpoint *server, const char *text, char *out, size_t size)
{
	/* A server that does not know a command repeats its arguments: passwords and tokens. From Redis 7 on, errors in a
	 * script have its name and line, which do not help the user. */
	static const char *const surplus[] = { ", with args", " script: " };
	static const char wrong[] = "WRONGPASS";
	const char *end = text + strlen(text);

	for (size_t i = 0; i < sizeof surplus / sizeof *surplus; i++) {
		const char *found = strstr(text, surplus[i]);
		end = found && found < end ? found : end;
	}
	bool hidden = false, known = !strncmp(text, wrong, strlen(wrong));
	for (DLOCK_EACH_OPTION(option)) {
		/* The passphrase of a key's file is never sent. */
		bool sent = (option->flags & (DLOCK_OPTION_SECRET | DLOCK_OPTION_SSL)) == DLOCK_OPTION_SECRET;
		const char *secret = sent ? *(char **) dlock_option_field(server, option) : NULL;
		/* Redis' error for a wrong password contains the word "password", which may be the password. */
		hidden = hidden || (secret && has_password(text, end, secret));
		known = known && !(secret && has_password(wrong, wrong + strlen(wrong), secret));
	}
	if (hidden) {
		snprintf(out, size, "%s%san error that is not shown, since it contains the password", known ? wrong : "",
			known ? ": " : "");
	} else {
		end -= end > text && end[-1] == '.'; /* advice may follow */
		snprintf(out, size, "%.*s", (int) (end - text < (ptrdiff_t) size ? end - text : (ptrdiff_t) size), text);
	}
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

bool dlock_endpoint_is_same(const dlock_endpoint *a, const dlock_endpoint *b)
{
	return a == b || (a->kind == b->kind && !strcmp(a->label, b->label) && a->database == b->database
		&& a->discovery == b->discovery && is_same_text(a->dbname, b->dbname) && is_same_text(a->schema, b->schema));
}

/* ---- the servers of a service ---- */

/* A sealed server with the options that it inherits from the service. A Sentinel has its own TLS and login. */
static dlock_endpoint *member_of(const dlock_endpoint *service, const char *host, int port, bool is_sentinel)
{
	dlock_endpoint *server = dlock_endpoint_new(0, 0);
	dlock_error error;

	if (!server) {
		return NULL;
	}
	server->port = port;
	bool copied = dlock_endpoint_set(&server->host, host, strlen(host))
		&& dlock_options_copy(server, service, is_sentinel ? DLOCK_OPTION_SENTINELS : DLOCK_OPTION_MASTERS);
	if (is_sentinel) {
		const char *user = service->sentinel_user, *password = service->sentinel_password;
		server->tls = service->sentinel_tls;
		copied = copied && (!user || dlock_endpoint_set(&server->user, user, strlen(user)))
			&& (!password || dlock_endpoint_set(&server->password, password, strlen(password)));
	}
	if (!copied || !dlock_endpoint_seal(server, &error)) {
		dlock_endpoint_release(server);
		return NULL;
	}
	return server;
}

int dlock_endpoint_enough(const dlock_endpoint *server)
{
	return (server->nodes > 0 ? server->nodes : 2 * server->replicas + 1) - server->replicas;
}

dlock_endpoint *dlock_endpoint_member(const dlock_endpoint *service, const char *host, int port)
{
	return member_of(service, host, port, false);
}

dlock_endpoint *dlock_endpoint_sentinel(const dlock_endpoint *service, int seed)
{
	return member_of(service, service->seeds[seed].host, service->seeds[seed].port, true);
}

dlock_nanos dlock_timeout_cap(const dlock_endpoint *server, dlock_nanos ttl)
{
	dlock_nanos part = 20 * DLOCK_MS;

	while (part < server->connect_timeout || part < server->read_timeout) {
		if (2 * part > ttl / 4) {
			return part;
		}
		part *= 2;
	}
	return DLOCK_FOREVER;
}

dlock_nanos dlock_read_timeout(const dlock_endpoint *server, dlock_nanos timeout_cap)
{
	return dlock_earlier(timeout_cap, server->read_timeout);
}

dlock_nanos dlock_answer_time(const dlock_endpoint *server, dlock_nanos ttl)
{
	return dlock_read_timeout(server, dlock_timeout_cap(server, ttl));
}

#include "server.h"

#include <strings.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


dlock_server *dlock_server_new(dlock_nanos connect_timeout, dlock_nanos read_timeout)
{
	dlock_server *server = calloc(1, sizeof *server);

	if (server) {
		server->references = 1;
		server->port = DLOCK_REDIS_PORT;
		server->replicas = -1;
		server->connect_timeout = connect_timeout;
		server->read_timeout = read_timeout;
		server->tls_verify_peer = server->tls_verify_peer_name = server->resync_guard = true;
	}
	return server;
}

/* volatile, so that the compiler does not drop the writes before free(). */
void dlock_free_secret(char *text)
{
	for (volatile char *c = text; c && *c; c++) {
		*c = '\0';
	}
	free(text);
}

dlock_server *dlock_server_retain(dlock_server *server)
{
	atomic_fetch_add(&server->references, 1);
	return server;
}

static void free_service(dlock_server *server)
{
	for (int i = 0; i < server->seed_count; i++) {
		free(server->seeds[i].host);
	}
	free(server->seeds);
	free(server->service);
	free(server->sentinel_user);
	dlock_free_secret(server->sentinel_password);
}

void dlock_server_release(dlock_server *server)
{
	if (atomic_fetch_sub(&server->references, 1) > 1) {
		return;
	}
	dlock_free_secret(server->password);
	dlock_free_secret(server->tls_passphrase);
	dlock_free_secret(server->key);
	free(server->host);
	free(server->path);
	free(server->user);
	free(server->tls_peer_name);
	free(server->tls_cafile);
	free(server->tls_capath);
	free(server->tls_cert);
	free(server->tls_key);
	free(server->node_id);
	free(server->label);
	free_service(server);
	free(server);
}

bool dlock_server_set(char **field, const char *value, size_t len)
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

static bool reject(dlock_error *error, const char *message)
{
	dlock_fail(error, DLOCK_FAILED, "%s", message);
	return false;
}

bool dlock_server_add_seed(dlock_server *server, const char *host, size_t len, int port, dlock_error *error)
{
	if (server->seed_count == DLOCK_MOST_SERVERS) {
		dlock_fail(error, DLOCK_FAILED, "must name at most %d servers", DLOCK_MOST_SERVERS);
		return false;
	}
	dlock_seed *seeds = realloc(server->seeds, (size_t) (server->seed_count + 1) * sizeof *seeds);
	if (!seeds) {
		return reject(error, "cannot be read: out of memory");
	}
	server->seeds = seeds;
	seeds[server->seed_count] = (dlock_seed) { NULL, port };
	if (!dlock_server_set(&seeds[server->seed_count].host, host, len)) {
		return reject(error, "cannot be read: out of memory");
	}
	server->seed_count++;
	return true;
}

/* Joins the parts with their lengths in front, so that no two different servers give the same key. */
static char *make_key(const dlock_server *server)
{
	char number[96];
	snprintf(number, sizeof number, "%d %d %d %d %d%d%d%d %lld %lld", server->kind, server->discovery, server->port,
		server->database, server->tls, server->sentinel_tls, server->tls_verify_peer, server->tls_verify_peer_name,
		(long long) server->connect_timeout, (long long) server->read_timeout);
	/* The label has the service and all seeds. */
	const char *parts[] = { number, server->host, server->path,
		server->discovery == DLOCK_SERVER_FIXED ? NULL : server->label, server->user, server->password,
		server->sentinel_user, server->sentinel_password, server->tls_peer_name, server->tls_cafile, server->tls_capath,
		server->tls_cert, server->tls_key, server->tls_passphrase };
	enum { COUNT = sizeof parts / sizeof *parts };
	size_t size = 1;

	for (int i = 0; i < COUNT; i++) {
		size += 24 + (parts[i] ? strlen(parts[i]) : 0);
	}
	char *key = malloc(size), *out = key;
	for (int i = 0; key && i < COUNT; i++) {
		out += parts[i] ? sprintf(out, "%zu:%s", strlen(parts[i]), parts[i]) : sprintf(out, "-");
	}
	return key;
}

/* What only Redis has. */
static bool check_kind(const dlock_server *server, dlock_error *error)
{
	if (server->kind == DLOCK_SERVER_REDIS) {
		return true;
	}
	if (server->user || server->password || server->tls || server->database != 0) {
		return reject(error, server->kind == DLOCK_SERVER_MEMCACHED
			? "must have no user, password, TLS or database: dlock speaks memcached's text protocol, which has none"
			: "must have no user, password, TLS or database: memory:// is no server");
	}
	if (server->replicas > 0 || server->guard || server->has_resync_guard || server->discovery != DLOCK_SERVER_FIXED) {
		return reject(error,
			server->kind == DLOCK_SERVER_MEMCACHED ? "must have no replicas or guard: memcached has no replicas"
												   : "must have no replicas or guard: memory:// is no server");
	}
	return true;
}

static bool check_host(const char *host, int port, const char *forbidden, const char *message, dlock_error *error)
{
	if (strpbrk(host, forbidden)) {
		return reject(error, message);
	}
	return (port >= 1 && port <= 65535) || reject(error, "must have a port between 1 and 65535");
}

/* The label keeps them apart by commas and spaces. */
static bool check_seeds(const dlock_server *server, dlock_error *error)
{
	if (server->seed_count == 0) {
		return reject(error,
			server->discovery == DLOCK_SERVER_SENTINEL ? "must name a Sentinel" : "must name a node of the cluster");
	}
	for (int i = 0; i < server->seed_count; i++) {
		const dlock_seed *seed = &server->seeds[i];
		if (!*seed->host) {
			return reject(error, "must name a host");
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

/* A Redis whose masters others name. */
static bool check_discovery(const dlock_server *server, dlock_error *error)
{
	bool sentinel = server->discovery == DLOCK_SERVER_SENTINEL;

	if (!sentinel
		&& (server->service || server->has_sentinel_tls || server->sentinel_user || server->sentinel_password)) {
		return reject(error, "must have no service, and no login or TLS for Sentinels, since it names none");
	}
	if (server->discovery == DLOCK_SERVER_FIXED) {
		return true;
	}
	if (!check_seeds(server, error)) {
		return false;
	}
	if (sentinel && !server->service) {
		return reject(error, "must have the name of a service, as in \"sentinel://s1:26379,s2:26379/mymaster\"");
	}
	if (sentinel && !is_service(server->service)) {
		return reject(
			error, "must have a service of 1 to 100 printable characters of ASCII, without spaces and @ / ? # ,");
	}
	if (server->sentinel_user && !server->sentinel_password) {
		return reject(error, "must have a sentinel_password for the sentinel_user");
	}
	return sentinel || server->database == 0
		|| reject(error, "must have no database but 0: a Redis Cluster has no other");
}

static bool check_replicas(dlock_server *server, dlock_error *error)
{
	if (server->replicas < 0) {
		server->replicas = server->discovery == DLOCK_SERVER_FIXED ? 0 : 1;
	}
	if (server->replicas > DLOCK_MOST_REPLICAS) {
		dlock_fail(error, DLOCK_FAILED, "must have replicas between 0 and %d", DLOCK_MOST_REPLICAS);
		return false;
	}
	if (server->replicas == 0 && server->guard) {
		return reject(error, "must have a guard only where replicas is 1 or more");
	}
	return server->replicas > 0 || !server->has_resync_guard
		|| reject(error, "must have a resync_guard only where replicas is 1 or more");
}

static bool check_place(const dlock_server *server, dlock_error *error)
{
	if (server->discovery != DLOCK_SERVER_FIXED) {
		return true; /* check_discovery() */
	}
	if (server->kind == DLOCK_SERVER_MEMORY) {
		return (server->host && strlen(server->host) <= 100)
			|| reject(error, "must have a name of at most 100 bytes after memory://");
	}
	if (server->path ? strlen(server->path) > 100 : !server->host || !*server->host) {
		return reject(error, server->path ? "must have a socket path of at most 100 bytes" : "must name a host");
	}
	return check_host(server->host ? server->host : "", server->port, "@/?# ",
		"must have a host without user, password, path or spaces", error);
}

/* host:port, [::1]:port; returns its length. */
static int put_address(char *out, size_t size, const char *host, int port)
{
	return snprintf(out, size, strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
}

/* mymaster at s1:26379,s2:26379 */
static bool label_service(dlock_server *server)
{
	size_t size = (server->service ? strlen(server->service) : 0) + 8;

	for (int i = 0; i < server->seed_count; i++) {
		size += strlen(server->seeds[i].host) + 16;
	}
	char *out = server->label = malloc(size), *end = out + size;
	if (out && server->service) {
		out += snprintf(out, size, "%s at ", server->service);
	}
	for (int i = 0; server->label && i < server->seed_count; i++) {
		out += snprintf(out, (size_t) (end - out), "%s", i > 0 ? "," : "");
		out += put_address(out, (size_t) (end - out), server->seeds[i].host, server->seeds[i].port);
	}
	return server->label != NULL;
}

static bool make_label(dlock_server *server)
{
	if (server->discovery != DLOCK_SERVER_FIXED) {
		return label_service(server);
	}
	if (server->path) {
		return dlock_server_set(&server->label, server->path, strlen(server->path));
	}
	size_t size = strlen(server->host) + 16;
	server->label = malloc(size);
	if (server->label && server->kind == DLOCK_SERVER_MEMORY) {
		snprintf(server->label, size, "memory://%s", server->host);
	} else if (server->label) {
		put_address(server->label, size, server->host, server->port);
	}
	return server->label != NULL;
}

/* One host is one host however it is written: two votes of one server would be a majority where there is none. */
static void make_lower(char *host)
{
	for (char *c = host; c && *c; c++) {
		*c = *c >= 'A' && *c <= 'Z' ? (char) (*c - 'A' + 'a') : *c;
	}
}

bool dlock_server_seal(dlock_server *server, dlock_error *error)
{
	if (!check_kind(server, error) || !check_place(server, error) || !check_discovery(server, error)
			|| !check_replicas(server, error)) {
		return false;
	}
	if (server->user && !server->password) {
		return reject(error, "must have a password for the user");
	}
#ifndef DLOCK_TLS
	if (server->tls || server->sentinel_tls) {
		return reject(error, "must not ask for TLS (rediss://): this build of dlock has no TLS, "
			"since hiredis_ssl was not there when it was built");
	}
#endif
	make_lower(server->kind == DLOCK_SERVER_MEMORY ? NULL : server->host);
	for (int i = 0; i < server->seed_count; i++) {
		make_lower(server->seeds[i].host);
	}
	server->port = server->discovery == DLOCK_SERVER_FIXED ? server->port : 0;
	server->sentinel_tls = server->has_sentinel_tls ? server->sentinel_tls
													: server->tls && server->discovery == DLOCK_SERVER_SENTINEL;
	server->key = make_label(server) ? make_key(server) : NULL;
	return server->key || reject(error, "cannot be read: out of memory");
}

/* Redis writes a space for each end of a line that it repeats. */
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

void dlock_server_quote(const dlock_server *server, const char *text, char *out, size_t size)
{
	/* A server that does not know a command repeats its arguments: passwords and tokens. From Redis 7 on, errors inside
	 * a script carry its name and line, of no use to the user. */
	static const char *const surplus[] = { ", with args", " script: " };
	static const char wrong[] = "WRONGPASS";
	const char *end = text + strlen(text);

	for (size_t i = 0; i < sizeof surplus / sizeof *surplus; i++) {
		const char *found = strstr(text, surplus[i]);
		end = found && found < end ? found : end;
	}
	const char *const passwords[] = { server->password, server->sentinel_password };
	bool hidden = false, known = !strncmp(text, wrong, strlen(wrong));
	for (size_t i = 0; i < sizeof passwords / sizeof *passwords; i++) {
		/* Redis' own words for a wrong one have the word "password", which may be it. */
		hidden = hidden || (passwords[i] && has_password(text, end, passwords[i]));
		known = known && !(passwords[i] && has_password(wrong, wrong + strlen(wrong), passwords[i]));
	}
	if (hidden) {
		snprintf(out, size, "%s%san error that is not shown, since it contains the password", known ? wrong : "",
			known ? ": " : "");
	} else {
		snprintf(out, size, "%.*s", (int) (end - text < (ptrdiff_t) size ? end - text : (ptrdiff_t) size), text);
	}
}

bool dlock_server_is_same(const dlock_server *a, const dlock_server *b)
{
	return a == b || (a->kind == b->kind && !strcmp(a->label, b->label) && a->database == b->database
		&& a->discovery == b->discovery);
}

/* ---- the servers of a service ---- */

static bool copy(char **field, const char *value)
{
	return !value || dlock_server_set(field, value, strlen(value));
}

/* Takes the reference over: NULL unless everything was copied and it can be sealed. */
static dlock_server *sealed(dlock_server *server, bool copied)
{
	dlock_error error;

	if (server && !(copied && dlock_server_seal(server, &error))) {
		dlock_server_release(server);
		return NULL;
	}
	return server;
}

/* With the timeouts and the TLS options of the service. */
static dlock_server *server_like(const dlock_server *service, const char *host, int port, bool tls)
{
	dlock_server *server = dlock_server_new(service->connect_timeout, service->read_timeout);

	if (!server) {
		return NULL;
	}
	server->port = port;
	server->replicas = 0;
	server->tls = tls;
	server->tls_verify_peer = service->tls_verify_peer;
	server->tls_verify_peer_name = service->tls_verify_peer_name;
	bool copied = copy(&server->host, host) && copy(&server->tls_peer_name, service->tls_peer_name)
		&& copy(&server->tls_cafile, service->tls_cafile) && copy(&server->tls_capath, service->tls_capath)
		&& copy(&server->tls_cert, service->tls_cert) && copy(&server->tls_key, service->tls_key)
		&& copy(&server->tls_passphrase, service->tls_passphrase);
	if (!copied) {
		dlock_server_release(server);
		return NULL;
	}
	return server;
}

dlock_server *dlock_server_member(const dlock_server *service, const char *host, int port)
{
	dlock_server *server = server_like(service, host, port, service->tls);

	if (server) {
		server->database = service->database;
	}
	return sealed(server, server && copy(&server->user, service->user) && copy(&server->password, service->password));
}

dlock_server *dlock_server_sentinel(const dlock_server *service, int seed)
{
	dlock_server *server = server_like(
		service, service->seeds[seed].host, service->seeds[seed].port, service->sentinel_tls);

	return sealed(server,
		server && copy(&server->user, service->sentinel_user) && copy(&server->password, service->sentinel_password));
}

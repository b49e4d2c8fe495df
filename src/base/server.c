#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform.h"

#define LONGEST_TIMEOUT (3600 * DLOCK_SECOND)

static const struct scheme {
	const char *name;
	dlock_server_kind kind;
	int port;
	bool tls;
} schemes[] = {
	{ "redis", DLOCK_SERVER_REDIS, 6379, false },
	{ "rediss", DLOCK_SERVER_REDIS, 6379, true },
	{ "unix", DLOCK_SERVER_REDIS, 6379, false },
	{ "memcached", DLOCK_SERVER_MEMCACHED, 11211, false },
	{ "memory", DLOCK_SERVER_MEMORY, 0, false },
};

dlock_server *dlock_server_new(dlock_nanos connect_timeout, dlock_nanos read_timeout)
{
	dlock_server *server = calloc(1, sizeof *server);

	if (server) {
		server->references = 1;
		server->port = schemes[0].port;
		server->connect_timeout = connect_timeout;
		server->read_timeout = read_timeout;
		server->tls_verify_peer = server->tls_verify_peer_name = true;
	}
	return server;
}

/* Wipes what may be a secret; volatile, so that the compiler does not drop the writes before free(). */
static void free_secret(char *text)
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
	free_secret(server->sentinel_password);
}

void dlock_server_release(dlock_server *server)
{
	if (atomic_fetch_sub(&server->references, 1) > 1) {
		return;
	}
	free_secret(server->password);
	free_secret(server->tls_passphrase);
	free_secret(server->key);
	free(server->host);
	free(server->path);
	free(server->user);
	free(server->tls_peer_name);
	free(server->tls_cafile);
	free(server->tls_capath);
	free(server->tls_cert);
	free(server->tls_key);
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
	free_secret(*field);
	*field = copy;
	return true;
}

static bool reject(dlock_error *error, const char *message)
{
	dlock_fail(error, DLOCK_FAILED, "%s", message);
	return false;
}

/* ---- numbers: by hand, since strtod() follows the locale and both accept more than they should ---- */

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

static bool parse_seconds(const char *text, size_t len, dlock_nanos *out)
{
	dlock_nanos nanos = 0, unit = DLOCK_SECOND;
	bool digits = false, fraction = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '.' && !fraction) {
			fraction = true;
		} else if (text[i] < '0' || text[i] > '9') {
			return false;
		} else {
			digits = true;
			if (fraction) {
				unit /= 10;
				nanos += (text[i] - '0') * unit;
			} else {
				nanos = nanos * 10 + (text[i] - '0') * DLOCK_SECOND;
			}
			if (nanos > LONGEST_TIMEOUT) {
				return false;
			}
		}
	}
	*out = nanos;
	return digits && nanos > 0;
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

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Percent-decodes into an owned string. A NUL has no place in any part, and would cut it short unseen. */
static bool set_decoded(char **field, const char *text, size_t len, dlock_error *error)
{
	char *decoded = malloc(len + 1);
	size_t out = 0;

	if (!decoded) {
		return reject(error, "cannot be read: out of memory");
	}
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		if (c == '%') {
			int high = i + 2 < len ? hex_digit(text[i + 1]) : -1, low = high < 0 ? -1 : hex_digit(text[i + 2]);
			if (high < 0 || low < 0) {
				decoded[out] = '\0';
				free_secret(decoded);
				return reject(error, "must have each % followed by two hexadecimal digits");
			}
			c = (char) (high << 4 | low);
			i += 2;
		}
		if (c == '\0') {
			decoded[out] = '\0';
			free_secret(decoded);
			return reject(error, "must not contain NUL bytes");
		}
		decoded[out++] = c;
	}
	decoded[out] = '\0';
	free_secret(*field);
	*field = decoded;
	return true;
}

static bool set_seconds(dlock_nanos *field, const char *name, const char *value, size_t len, dlock_error *error)
{
	if (!parse_seconds(value, len, field)) {
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

bool dlock_server_option(dlock_server *server, const char *name, const char *value, size_t len, dlock_error *error)
{
	const struct {
		const char *name;
		char **field;
	} texts[] = {
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
	/* Its name is not repeated: after an unencoded ? it may be the end of a password. */
	return reject(error, "has an unknown option; known are connect_timeout, read_timeout, db, verify_peer, verify_peer_name, "
		"peer_name, cafile, capath, local_cert, local_pk and passphrase");
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
		good = set_decoded(&name, text, (size_t) (equals - text), error)
			&& set_decoded(&value, equals + 1, (size_t) (stop - equals - 1), error)
			&& dlock_server_option(server, name, value, strlen(value), error);
		free(name);
		free_secret(value);
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
	return (colon == text || set_decoded(&server->user, text, (size_t) (colon - text), error))
		&& set_decoded(&server->password, colon + 1, (size_t) (end - colon - 1), error);
}

/* host, host:port, [::1]:port */
static bool parse_host(dlock_server *server, const char *text, const char *end, dlock_error *error)
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
	return set_decoded(&server->host, text, (size_t) (host_end - text), error)
		&& (after >= end || parse_port(after + 1, (size_t) (end - after - 1), &server->port, error));
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
			server->port = schemes[i].port;
			server->tls = schemes[i].tls;
			return true;
		}
	}
	return reject(error, "must begin with redis://, rediss://, unix://, memcached:// or memory://, like \"redis://127.0.0.1:6379\"");
}

static const char *find_colon(const char *dsn, size_t len)
{
	const char *colon = memchr(dsn, ':', len);

	return colon && dsn + len - colon >= 3 && !memcmp(colon, "://", 3) ? colon : NULL;
}

/* host:port/database */
static bool parse_place(dlock_server *server, const char *text, const char *stop, dlock_error *error)
{
	const char *slash = memchr(text, '/', (size_t) (stop - text));

	return parse_host(server, text, slash ? slash : stop, error)
		&& (!slash || slash + 1 >= stop || parse_database(slash + 1, (size_t) (stop - slash - 1), &server->database, error));
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

	/* The last @ before the path: an unencoded @ in a password is common. So are / and ?, which end what they should be part of. */
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
		if (!set_decoded(&server->host, text, (size_t) (stop - text), error)) {
			return false;
		}
	} else if (unix_socket || (server->kind == DLOCK_SERVER_MEMCACHED && text < stop && *text == '/')) {
		if (!set_decoded(&server->path, text, (size_t) (stop - text), error)) {
			return false;
		}
	} else if (!parse_place(server, text, stop, error)) {
		return !at && memchr(text, '@', (size_t) (end - text))
			? reject(error, "must have / and ? in a user or password written as %2F and %3F") : false;
	}
	return !query || parse_query(server, query + 1, end, error);
}

/* Joins the parts with their lengths in front, so that no two different servers give the same key. */
static char *make_key(const dlock_server *server)
{
	char number[96];
	snprintf(number, sizeof number, "%d %d %d %d %d%d%d%d %lld %lld", server->kind, server->discovery, server->port, server->database, server->tls,
		server->sentinel_tls, server->tls_verify_peer, server->tls_verify_peer_name, (long long) server->connect_timeout,
		(long long) server->read_timeout);
	const char *parts[] = { number, server->host, server->path, server->user, server->password, server->tls_peer_name,
		server->tls_cafile, server->tls_capath, server->tls_cert, server->tls_key, server->tls_passphrase,
		server->discovery == DLOCK_SERVER_FIXED ? NULL : server->label, server->sentinel_user, server->sentinel_password };
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
	return true;
}

static bool check_place(const dlock_server *server, dlock_error *error)
{
	if (server->kind == DLOCK_SERVER_MEMORY) {
		return (server->host && strlen(server->host) <= 100) || reject(error, "must have a name of at most 100 bytes after memory://");
	}
	if (server->discovery != DLOCK_SERVER_FIXED) {
		return server->seed_count > 0 || reject(error, "must name a Sentinel or a node of the cluster");
	}
	if (server->path ? strlen(server->path) > 100 : !server->host || !*server->host) {
		return reject(error, server->path ? "must have a socket path of at most 100 bytes" : "must name a host");
	}
	if (server->host && strpbrk(server->host, "@/?# ")) {
		return reject(error, "must have a host without user, password, path or spaces");
	}
	if (server->port < 1 || server->port > 65535) {
		return reject(error, "must have a port between 1 and 65535");
	}
	return true;
}

/* "mymaster at s1:26379,s2:26379", "h1:7000,h2:7000" */
static bool make_service_label(dlock_server *server)
{
	size_t size = (server->service ? strlen(server->service) : 0) + 8, len;

	for (int i = 0; i < server->seed_count; i++) {
		size += strlen(server->seeds[i].host) + 16;
	}
	server->label = malloc(size);
	if (!server->label) {
		return false;
	}
	len = (size_t) snprintf(server->label, size, server->service ? "%s at " : "%s", server->service ? server->service : "");
	for (int i = 0; i < server->seed_count; i++) {
		const dlock_seed *seed = &server->seeds[i];
		len += (size_t) snprintf(server->label + len, size - len, strchr(seed->host, ':') ? "%s[%s]:%d" : "%s%s:%d", i ? "," : "", seed->host,
			seed->port);
	}
	return true;
}

static bool make_label(dlock_server *server)
{
	if (server->discovery != DLOCK_SERVER_FIXED) {
		return make_service_label(server);
	}
	if (server->path) {
		return dlock_server_set(&server->label, server->path, strlen(server->path));
	}
	size_t size = strlen(server->host) + 16;
	server->label = malloc(size);
	if (server->label && server->kind == DLOCK_SERVER_MEMORY) {
		snprintf(server->label, size, "memory://%s", server->host);
	} else if (server->label) {
		snprintf(server->label, size, strchr(server->host, ':') ? "[%s]:%d" : "%s:%d", server->host, server->port);
	}
	return server->label != NULL;
}

bool dlock_server_seal(dlock_server *server, dlock_error *error)
{
	if (!check_kind(server, error) || !check_place(server, error)) {
		return false;
	}
	if (server->user && !server->password) {
		return reject(error, "must have a password for the user");
	}
#ifndef DLOCK_TLS
	if (server->tls) {
		return reject(error, "must not ask for TLS (rediss://): this build of dlock has no TLS, "
			"since hiredis_ssl was not there when it was built");
	}
#endif
	/* One host is one host however it is written: two votes of one server would be a majority where there is none. */
	for (char *c = server->kind == DLOCK_SERVER_MEMORY ? NULL : server->host; c && *c; c++) {
		*c = *c >= 'A' && *c <= 'Z' ? (char) (*c - 'A' + 'a') : *c;
	}
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
	/* A server that does not know a command repeats its arguments: passwords and tokens. From Redis 7 on, errors inside a
	 * script carry its name and line, of no use to the user. */
	static const char *const surplus[] = { ", with args", " script: " };
	static const char wrong[] = "WRONGPASS";
	const char *end = text + strlen(text);

	for (size_t i = 0; i < sizeof surplus / sizeof *surplus; i++) {
		const char *found = strstr(text, surplus[i]);
		end = found && found < end ? found : end;
	}
	if (server->password && has_password(text, end, server->password)) {
		/* Redis' own words for a wrong one have the word "password", which may be it. */
		bool known = !strncmp(text, wrong, strlen(wrong)) && !has_password(wrong, wrong + strlen(wrong), server->password);
		snprintf(out, size, "%s%san error that is not shown, since it contains the password", known ? wrong : "", known ? ": " : "");
	} else {
		snprintf(out, size, "%.*s", (int) (end - text < (ptrdiff_t) size ? end - text : (ptrdiff_t) size), text);
	}
}

bool dlock_server_is_same(const dlock_server *a, const dlock_server *b)
{
	return a == b || (a->kind == b->kind && !strcmp(a->label, b->label) && a->database == b->database);
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
	dlock_server *server = server_like(service, service->seeds[seed].host, service->seeds[seed].port, service->sentinel_tls);

	return sealed(server, server && copy(&server->user, service->sentinel_user) && copy(&server->password, service->sentinel_password));
}

/* src/net: DSNs and options of servers. Lines: a DSN, then an option's name, then its value. */

#include "../../src/net/endpoint/endpoint.h"
#include "fuzz.h"

/* A message goes on from the name of an argument, and tells nothing that was in it. */
static void check_refusal(const dlock_error *error)
{
	const char *text = error->message;

	MUST(memchr(text, '\0', sizeof error->message));
	MUST(!strncmp(text, "must ", 5) || !strncmp(text, "has an unknown option", 21));
	MUST(!strstr(text, SECRET));
	for (; *text; text++) {
		MUST(*text >= ' ' && *text <= '~');
	}
}

static void check_parts(const dlock_endpoint *server)
{
	MUST(server->discovery != DLOCK_ENDPOINT_FIXED || server->kind == DLOCK_ENDPOINT_MEMORY
		|| (server->port >= 1 && server->port <= 65535));
	MUST(server->replicas >= 0 && server->replicas <= DLOCK_MOST_REPLICAS);
	MUST(!server->guard
		|| (server->replicas > 0 && server->guard >= DLOCK_SHORTEST_GUARD && server->guard <= DLOCK_LONGEST_GUARD));
	MUST(!server->sentinel_user || server->sentinel_password);
	MUST(server->database >= 0 && server->database <= 1000000);
	MUST(server->connect_timeout > 0 && server->connect_timeout <= 3600 * DLOCK_SECOND);
	MUST(server->read_timeout > 0 && server->read_timeout <= 3600 * DLOCK_SECOND);
	MUST(!server->user || server->password);
}

/* "NAME at HOST:PORT,HOST:PORT" */
static void check_service(const dlock_endpoint *server)
{
	const char *label = server->label;

	MUST(!server->host && !server->path && server->port == 0 && server->seed_count > 0
		&& server->seed_count <= DLOCK_MOST_SERVERS);
	MUST((server->service != NULL) == (server->discovery == DLOCK_ENDPOINT_SENTINEL));
	MUST(server->service || server->database == 0);
	if (server->service) {
		MUST(*server->service && strlen(server->service) <= 100 && !strpbrk(server->service, "@/?#, "));
		MUST(!strncmp(label, server->service, strlen(server->service)));
		label += strlen(server->service);
		MUST(!strncmp(label, " at ", 4));
		label += 4;
	}
	for (int i = 0; i < server->seed_count; i++) {
		const dlock_seed *seed = &server->seeds[i];
		char port[16];
		MUST(*seed->host && !strpbrk(seed->host, "@/?#, ") && seed->port >= 1 && seed->port <= 65535);
		bool v6 = strchr(seed->host, ':') != NULL;
		snprintf(port, sizeof port, "%s:%d%s", v6 ? "]" : "", seed->port, i + 1 < server->seed_count ? "," : "");
		label += v6;
		MUST(!strncmp(label, seed->host, strlen(seed->host)));
		label += strlen(seed->host);
		MUST(!strncmp(label, port, strlen(port)));
		label += strlen(port);
	}
	MUST(!*label);
}

/* The label is made of the address alone, and the address of what is behind the password alone. */
static void check_label(const dlock_endpoint *server, const char *dsn, size_t len)
{
	char expected[64];
	const char *host = server->host, *at = NULL;

	if (server->discovery != DLOCK_ENDPOINT_FIXED) {
		check_service(server);
	} else if (server->path) {
		MUST(!host);
		MUST(*server->path == '/' && strlen(server->path) <= 100);
		MUST(!strcmp(server->label, server->path));
	} else {
		MUST(*host && !strpbrk(host, "@/?# "));
		bool v6 = strchr(host, ':') != NULL;
		int tail = snprintf(expected, sizeof expected, "%s:%d", v6 ? "]" : "", server->port);
		MUST(strlen(server->label) == strlen(host) + (size_t) tail + v6);
		MUST(!strncmp(server->label + v6, host, strlen(host)));
		MUST(!strcmp(server->label + v6 + strlen(host), expected));
	}
	size_t start = (size_t) (strstr(dsn, "://") - dsn) + 3;
	for (size_t i = start; i < len && dsn[i] != '?' && dsn[i] != '/'; i++) {
		at = dsn[i] == '@' ? dsn + i : at;
	}
	bool encoded = memchr(dsn, '%', len) != NULL; /* anything can be written so */
	if (server->password && strstr(server->password, SECRET) && !encoded) {
		bool in_host = false; /* whose name is made lower case */
		for (const char *text = at; text && text + strlen(SECRET) <= dsn + len; text++) {
			in_host = in_host || !strncasecmp(text, SECRET, strlen(SECRET));
		}
		MUST(at && (in_host || !strstr(server->label, SECRET)));
	}
}

/* Two servers that differ in one thing do not share a connection. */
static void check_key(dlock_endpoint *server)
{
	dlock_endpoint *other = dlock_endpoint_new(server->connect_timeout, server->read_timeout);
	dlock_error error;

	MUST(other);
	other->port = server->port;
	other->database = server->database;
	other->discovery = server->discovery;
	for (int i = 0; i < server->seed_count; i++) {
		MUST(dlock_endpoint_add_seed(
			other, server->seeds[i].host, strlen(server->seeds[i].host), server->seeds[i].port, &error));
	}
	const char *texts[] = { server->host, server->path, server->service };
	char **fields[] = { &other->host, &other->path, &other->service };
	for (int i = 0; i < 3; i++) {
		MUST(!texts[i] || dlock_endpoint_set(fields[i], texts[i], strlen(texts[i])));
	}
	MUST(dlock_endpoint_set(&other->password, SECRET "!", sizeof SECRET));
	MUST(dlock_endpoint_seal(other, &error));
	MUST(dlock_endpoint_is_same(server, other));
	bool same_login = server->password && !strcmp(server->password, other->password);
	MUST(same_login || strcmp(server->key, other->key));
	dlock_endpoint_release(other);
}

static void try_dsn(const char *dsn, size_t len, const char *terminated)
{
	dlock_endpoint *server = dlock_endpoint_new(2 * DLOCK_SECOND, 3 * DLOCK_SECOND);
	dlock_error error = { "" };

	MUST(server);
	if (!dlock_endpoint_parse(server, dsn, len, &error)) {
		check_refusal(&error);
	} else if (!dlock_endpoint_seal(server, &error)) {
		check_refusal(&error);
	} else {
		check_parts(server);
		if (server->kind == DLOCK_ENDPOINT_REDIS) {
			check_label(server, terminated, len);
			check_key(server);
		}
	}
	dlock_endpoint_release(server);
}

static void try_option(const char *name, const char *value, size_t len)
{
	dlock_endpoint *server = dlock_endpoint_new(2 * DLOCK_SECOND, 3 * DLOCK_SECOND);
	dlock_error error = { "" };

	MUST(server && dlock_endpoint_set(&server->host, "h", 1));
	const dlock_option *option = dlock_option_find(server, DLOCK_FORM_QUERY, name);
	if (!option) {
		dlock_option_unknown(server, DLOCK_FORM_QUERY, name, &error);
		check_refusal(&error);
	} else if (!dlock_option_read(server, option, name, value, len, &error)) {
		check_refusal(&error);
	} else if (!dlock_endpoint_seal(server, &error)) {
		MUST(
			strstr(name, "guard") || !strncmp(name, "sentinel_", 9)); /* with replicas, and where there are Sentinels */
		check_refusal(&error);
	} else {
		check_parts(server);
		MUST(!strcmp(server->label, "h:6379"));
	}
	dlock_endpoint_release(server);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t dsn_len, name_len;
	char *dsn = take_line(&data, &size, &dsn_len), *name = take_line(&data, &size, &name_len);
	char *exact = malloc(dsn_len); /* without a NUL behind it */

	MUST(exact || !dsn_len);
	if (dsn_len) {
		memcpy(exact, dsn, dsn_len);
	}
	try_dsn(dsn_len ? exact : dsn, dsn_len, dsn);
	try_option(name, size ? (const char *) data : "", size);
	free(exact);
	free(name);
	free(dsn);
	return 0;
}

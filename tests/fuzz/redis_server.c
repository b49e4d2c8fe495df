/* src/base/server.c. Lines: a DSN, then an option's name, then its value. */

#include "../../src/base/server.h"
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

static void check_parts(const dlock_server *server)
{
	MUST(server->port >= 1 && server->port <= 65535);
	MUST(server->database >= 0 && server->database <= 1000000);
	MUST(server->connect_timeout > 0 && server->connect_timeout <= 3600 * DLOCK_SECOND);
	MUST(server->read_timeout > 0 && server->read_timeout <= 3600 * DLOCK_SECOND);
	MUST(!server->user || server->password);
}

/* The label is made of the address alone, and the address of what is behind the password alone. */
static void check_label(const dlock_server *server, const char *dsn, size_t len)
{
	char expected[64];
	const char *host = server->host, *at = NULL;

	MUST((server->host != NULL) != (server->path != NULL));
	if (server->path) {
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
static void check_key(dlock_server *server)
{
	dlock_server *other = dlock_server_new(server->connect_timeout, server->read_timeout);
	dlock_error error;

	MUST(other);
	other->port = server->port;
	other->database = server->database;
	MUST(dlock_server_set(server->path ? &other->path : &other->host, server->path ? server->path : server->host,
		strlen(server->path ? server->path : server->host)));
	MUST(dlock_server_set(&other->password, SECRET "!", sizeof SECRET));
	MUST(dlock_server_seal(other, &error));
	MUST(dlock_server_is_same(server, other));
	bool same_login = server->password && !strcmp(server->password, other->password);
	MUST(same_login || strcmp(server->key, other->key));
	dlock_server_release(other);
}

static void try_dsn(const char *dsn, size_t len, const char *terminated)
{
	dlock_server *server = dlock_server_new(2 * DLOCK_SECOND, 3 * DLOCK_SECOND);
	dlock_error error = { "" };

	MUST(server);
	if (!dlock_server_parse(server, dsn, len, &error)) {
		check_refusal(&error);
	} else if (!dlock_server_seal(server, &error)) {
		check_refusal(&error);
	} else {
		check_parts(server);
		check_label(server, terminated, len);
		check_key(server);
	}
	dlock_server_release(server);
}

static void try_option(const char *name, const char *value, size_t len)
{
	dlock_server *server = dlock_server_new(2 * DLOCK_SECOND, 3 * DLOCK_SECOND);
	dlock_error error = { "" };

	MUST(server && dlock_server_set(&server->host, "h", 1));
	if (!dlock_server_option(server, name, value, len, &error)) {
		check_refusal(&error);
	} else {
		MUST(dlock_server_seal(server, &error));
		check_parts(server);
		MUST(!strcmp(server->label, "h:6379"));
	}
	dlock_server_release(server);
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

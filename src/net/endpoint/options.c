#include "endpoint.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "dsn.h"

/* The options of a server: one row each. Parsing, messages, keys of connections and the reference are loops over the
 * rows, so a new option is a field in endpoint.h and a row here. */

#define SECONDS(field, least, most) DLOCK_OPTION_SECONDS, offsetof(dlock_endpoint, field), least, most
#define WHOLE(field, least, most) DLOCK_OPTION_WHOLE, offsetof(dlock_endpoint, field), least, most
#define ON(field) DLOCK_OPTION_SWITCH, offsetof(dlock_endpoint, field), true, 0
#define OFF(field) DLOCK_OPTION_SWITCH, offsetof(dlock_endpoint, field), false, 0
#define TEXT(field) DLOCK_OPTION_TEXT, offsetof(dlock_endpoint, field), 0, 0

enum {
	SENTINEL = 1 << DLOCK_SCHEME_SENTINEL,
	REDIS = 1 << DLOCK_SCHEME_REDIS | SENTINEL | 1 << DLOCK_SCHEME_CLUSTER,
	PGSQL = 1 << DLOCK_SCHEME_PGSQL,
	DATABASE = PGSQL | 1 << DLOCK_SCHEME_MYSQL,
	ANY = ~0,

	QUERY = DLOCK_OPTION_QUERY,
	KEY = DLOCK_OPTION_KEY,
	SECRET = DLOCK_OPTION_SECRET,
	MASTERS = DLOCK_OPTION_MASTERS,
	MEMBERS = DLOCK_OPTION_MASTERS | DLOCK_OPTION_SENTINELS,
	TIMEOUT = QUERY | KEY | MEMBERS | DLOCK_OPTION_ZERO_IS_UNSET,
	TLS = QUERY | DLOCK_OPTION_SSL | KEY | MEMBERS,
	GUARD = QUERY | DLOCK_OPTION_REPLICAS
};

/* Each comment is what docs/reference.md says of the option (scripts/gen-reference.php). */
const dlock_option dlock_endpoint_options[] = {
	/* database number; a cluster has only 0. In a DSN also `db`, or after the host, as in `redis://h/3` */
	{ "database", "database", WHOLE(database, 0, 1000000), REDIS, QUERY | KEY | MASTERS },
	/* user name; Redis: the default user if omitted. In a DSN before the host: `user:password@` */
	{ "user", NULL, TEXT(user), REDIS | DATABASE, KEY | MASTERS },
	/* password of the user; in a DSN without a user `:password@` */
	{ "password", NULL, TEXT(password), REDIS | DATABASE, KEY | SECRET | MASTERS },
	/* time limit for lookup, connection, TLS and login together; default `dlock.connect_timeout` */
	{ "connect_timeout", "connectTimeout", SECONDS(connect_timeout, DLOCK_MS, DLOCK_LONGEST_TIMEOUT), ANY, TIMEOUT },
	/* time limit for each reply; default `dlock.read_timeout` */
	{ "read_timeout", "readTimeout", SECONDS(read_timeout, DLOCK_MS, DLOCK_LONGEST_TIMEOUT), ANY, TIMEOUT },
	/* TLS for masters, cluster nodes, Sentinels and databases; a single Redis uses `rediss://` instead */
	{ "tls", NULL, OFF(tls), REDIS | DATABASE, DLOCK_OPTION_SERVICE_QUERY | KEY | MASTERS },
	/* check the certificate; default on */
	{ "verify_peer", NULL, ON(tls_verify_peer), REDIS | DATABASE, TLS },
	/* check the name in the certificate; default on */
	{ "verify_peer_name", NULL, ON(tls_verify_peer_name), REDIS | DATABASE, TLS },
	/* the name that the certificate must have; default: the host */
	{ "peer_name", NULL, TEXT(tls_peer_name), REDIS, TLS },
	/* file with the certificates of trusted authorities; default: the system's */
	{ "cafile", NULL, TEXT(tls_cafile), REDIS | DATABASE, TLS | DLOCK_OPTION_FILE },
	/* folder with such certificates */
	{ "capath", NULL, TEXT(tls_capath), REDIS, TLS | DLOCK_OPTION_FILE },
	/* file with the client's certificate */
	{ "local_cert", NULL, TEXT(tls_cert), REDIS | DATABASE, TLS | DLOCK_OPTION_FILE },
	/* file with its key; default: the same file */
	{ "local_pk", NULL, TEXT(tls_key), REDIS | DATABASE, TLS | DLOCK_OPTION_FILE },
	/* passphrase of that key */
	{ "passphrase", NULL, TEXT(tls_passphrase), REDIS | DATABASE, TLS | SECRET },
	/* the name of the master in the Sentinels' configuration; in a DSN after the hosts */
	{ "service", "service", TEXT(service), SENTINEL, 0 },
	/* TLS for the Sentinels, if it differs from that for the servers */
	{ "sentinel_tls", "sentinelTls", OFF(sentinel_tls), SENTINEL, QUERY | KEY },
	/* user name for the Sentinels; needs a password */
	{ "sentinel_user", NULL, TEXT(sentinel_user), SENTINEL, QUERY | KEY },
	/* password for the Sentinels */
	{ "sentinel_password", NULL, TEXT(sentinel_password), SENTINEL, QUERY | KEY | SECRET },
	/* how many replicas must acknowledge a lock; default 1 with Sentinels and in a cluster, otherwise 0. With 0, two
	 * holders are possible after a failover */
	{ "replicas", "replicas", WHOLE(replicas, 0, DLOCK_MOST_REPLICAS), REDIS, QUERY },
	/* with replicas: how many servers may acknowledge a lock or be promoted, including the master; default: twice the
	 * replicas plus one */
	{ "nodes", "nodes", WHOLE(nodes, 2, DLOCK_MOST_NODES), REDIS, GUARD },
	/* with replicas or a database (at least 3 s): the pause in granting locks after a failover, and the longest lease.
	 * Default: `dlock.restart_guard` (10 s if that is 0), or `dlock.ttl` if that is longer */
	{ "guard", "guard", SECONDS(guard, DLOCK_SHORTEST_GUARD, DLOCK_LONGEST_GUARD), REDIS | DATABASE, GUARD },
	/* with replicas: the same pause after a replica has attached, unless the nodes show that no other master can have
	 * granted locks meanwhile; default on */
	{ "resync_guard", "resyncGuard", ON(resync_guard), REDIS, GUARD },
	/* name of the database; in a DSN after the hosts, as in `pgsql://h/shop` */
	{ "database", "database", TEXT(dbname), DATABASE, QUERY | KEY },
	/* path of the unix socket; PostgreSQL: of its directory */
	{ "socket", NULL, TEXT(socket), DATABASE, QUERY | KEY },
	/* the schema with dlock's tables and functions; default `dlock` */
	{ "schema", "schema", TEXT(schema), PGSQL, QUERY | KEY },
	/* create these tables and functions if they are missing */
	{ "create", "create", OFF(create), DATABASE, QUERY | KEY },
	{ 0 }
};

void dlock_options_begin(dlock_endpoint *server)
{
	for (DLOCK_EACH_OPTION(option)) {
		if (option->type == DLOCK_OPTION_SWITCH) {
			*(bool *) dlock_option_field(server, option) = option->least;
		}
	}
}

static unsigned bit_of(const dlock_option *option)
{
	return 1u << (option - dlock_endpoint_options);
}

bool dlock_option_is_given(const dlock_endpoint *server, const void *field)
{
	for (DLOCK_EACH_OPTION(option)) {
		if (dlock_option_field(server, option) == field) {
			return server->given & bit_of(option);
		}
	}
	return false;
}

static const char *name_in(const dlock_endpoint *server, dlock_option_form form, const dlock_option *option)
{
	unsigned query = server->discovery == DLOCK_ENDPOINT_FIXED ? DLOCK_OPTION_QUERY
															  : DLOCK_OPTION_QUERY | DLOCK_OPTION_SERVICE_QUERY;

	if (form == DLOCK_FORM_ARRAY) {
		return option->key;
	}
	return option->flags & (form == DLOCK_FORM_SSL ? DLOCK_OPTION_SSL : query) ? option->name : NULL;
}

const dlock_option *dlock_option_find(const dlock_endpoint *server, dlock_option_form form, const char *name)
{
	const dlock_option *found = NULL;

	name = form == DLOCK_FORM_QUERY && !strcmp(name, "db") ? "database" : name;
	for (DLOCK_EACH_OPTION(option)) {
		const char *known = name_in(server, form, option);
		/* Of two options with that name, this scheme's counts. */
		if (known && !strcmp(known, name) && (!found || option->schemes & 1u << dlock_scheme_of(server))) {
			found = option;
		}
	}
	return found;
}

/* May a message repeat the name? After an unencoded ? in a password, it may be the password's end. */
static bool may_be_shown(dlock_option_form form, const char *name)
{
	return form != DLOCK_FORM_QUERY || (*name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz_")]);
}

static bool is_alike(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, "_-");
		b += strspn(b, "_-");
		if (tolower((unsigned char) *a) != tolower((unsigned char) *b)) {
			return false;
		}
		if (!*a) {
			return true;
		}
	}
}

/* An option that has this name except for capitals and underscores, as those of the other form have them, or NULL. */
static const char *meant(const dlock_endpoint *server, dlock_option_form form, const char *name)
{
	for (DLOCK_EACH_OPTION(option)) {
		const char *known = name_in(server, form, option);
		if (known && option->schemes & 1u << dlock_scheme_of(server) && is_alike(known, name)) {
			return known;
		}
	}
	return NULL;
}

void dlock_option_unknown(const dlock_endpoint *server, dlock_option_form form, const char *name, dlock_error *error)
{
	static const char *const known[] = { "option%s; known are ",
		"key%s; known are scheme, host, port, auth, ssl, sentinels, sentinelAuth, cluster, ",
		"option of ssl%s; known are " };
	const char *last = NULL, *comma = "", *alike = meant(server, form, name);
	char shown[64] = "";

	if (alike) {
		snprintf(shown, sizeof shown, ", perhaps %s", alike);
	} else if (may_be_shown(form, name)) {
		snprintf(shown, sizeof shown, " \"%.40s\"", name);
	}
	dlock_fail(error, DLOCK_FAILED, "has an unknown ");
	dlock_append(error, known[form], shown);
	for (DLOCK_EACH_OPTION(option)) {
		const char *other = name_in(server, form, option);
		bool is_of_scheme = option->schemes & 1u << dlock_scheme_of(server);
		bool is_of_kind = dlock_endpoint_is_database(server) ? is_of_scheme : option->schemes & ~(unsigned) DATABASE;
		if (!other || !(form == DLOCK_FORM_QUERY ? is_of_scheme : is_of_kind)) {
			continue;
		}
		if (last) {
			dlock_append(error, "%s%s", comma, last);
			comma = ", ";
		}
		last = other;
	}
	dlock_append(error, " and %s", last);
}

static bool read_switch(const char *text, size_t len, bool *out)
{
	*out = (len == 1 && *text == '1') || (len == 4 && !strncasecmp(text, "true", 4));
	return *out || (len == 1 && *text == '0') || (len == 5 && !strncasecmp(text, "false", 5));
}

bool dlock_option_read(dlock_endpoint *server, const dlock_option *option, const char *name, const char *text,
	size_t len, dlock_error *error)
{
	void *field = dlock_option_field(server, option);
	int least = (int) option->least, most = (int) option->most;

	server->given |= bit_of(option);
	switch (option->type) {
	case DLOCK_OPTION_SECONDS:
		return dlock_dsn_seconds(text, len, option->least, option->most, field)
			|| dlock_reject(error, "must have a %s between %g and %g seconds", name,
				(double) option->least / (double) DLOCK_SECOND, (double) option->most / (double) DLOCK_SECOND);
	case DLOCK_OPTION_WHOLE:
		return dlock_dsn_whole(text, len, least, most, field)
			|| dlock_reject(error, "must have a whole number between %d and %d as %s", least, most, name);
	case DLOCK_OPTION_SWITCH:
		return read_switch(text, len, field)
			|| dlock_reject(error, "must have %s either true or false (1 or 0)", name);
	default:
		if (len == 0 || memchr(text, '\0', len)) {
			return dlock_reject(error, "must have a %s that is not empty and has no NUL bytes", name);
		}
		return dlock_endpoint_set(field, text, len) || dlock_reject(error, "cannot be read: out of memory");
	}
}

static const size_t sizes[] = { sizeof(dlock_nanos), sizeof(int), sizeof(bool), sizeof(char *) };

/* Was the option given? Zero counts as not given. */
static bool says_something(const dlock_endpoint *server, const dlock_option *option)
{
	static const char zero[sizeof(dlock_nanos)];
	void *field = dlock_option_field(server, option);

	return option->type == DLOCK_OPTION_SWITCH ? server->given & bit_of(option) || *(bool *) field != option->least
											   : memcmp(field, zero, sizes[option->type]) != 0;
}

bool dlock_options_check(const dlock_endpoint *server, unsigned scheme, const char *reason, dlock_error *error)
{
	for (DLOCK_EACH_OPTION(option)) {
		if (!says_something(server, option)) {
			continue;
		}
		if (!(option->schemes & scheme)) {
			bool elsewhere = option->schemes & ~(unsigned) DATABASE || dlock_endpoint_is_database(server);
			return dlock_reject(
				error, "must have no %s, since %s", option->name, elsewhere ? reason : "it is no database");
		}
		if (option->flags & DLOCK_OPTION_REPLICAS && !dlock_endpoint_has_guard(server)) {
			return dlock_reject(error, "must have a %s only where replicas is 1 or more", option->name);
		}
	}
	return true;
}

bool dlock_options_copy(dlock_endpoint *server, const dlock_endpoint *from, unsigned flag)
{
	for (DLOCK_EACH_OPTION(option)) {
		void *to = dlock_option_field(server, option), *field = dlock_option_field(from, option);
		if (option->flags & flag && option->type != DLOCK_OPTION_TEXT) {
			memcpy(to, field, sizes[option->type]);
		} else if (option->flags & flag && *(char **) field
			&& !dlock_endpoint_set(to, *(char **) field, strlen(*(char **) field))) {
			return false;
		}
	}
	return true;
}

size_t dlock_options_write_key(const dlock_endpoint *server, char *out, size_t size)
{
	size_t len = 0;

	for (DLOCK_EACH_OPTION(option)) {
		void *field = dlock_option_field(server, option);
		const char *text = option->type == DLOCK_OPTION_TEXT ? *(char **) field : NULL;
		long long number = option->type == DLOCK_OPTION_SECONDS ? *(dlock_nanos *) field
			: option->type == DLOCK_OPTION_WHOLE                ? *(int *) field
			: option->type == DLOCK_OPTION_SWITCH               ? *(bool *) field
			: text                                              ? (long long) strlen(text)
																: -1;
		if (option->flags & DLOCK_OPTION_KEY) {
			len += (size_t) snprintf(len < size ? out + len : NULL, len < size ? size - len : 0, "%lld:%s", number,
				text ? text : "");
		}
	}
	return len;
}

void dlock_options_free(dlock_endpoint *server)
{
	for (DLOCK_EACH_OPTION(option)) {
		if (option->type == DLOCK_OPTION_TEXT) {
			dlock_free_secret(*(char **) dlock_option_field(server, option));
		}
	}
}

#include "dsn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../net/dsn.h"

#define SCHEME "zookeeper"

bool dlock_zk_dsn_is(const char *text, size_t len)
{
	static const char head[] = SCHEME "://";

	return len >= sizeof head - 1 && strncasecmp(text, head, sizeof head - 1) == 0;
}

static bool parse_login(dlock_zk_options *options, const dlock_dsn *dsn, dlock_error *error)
{
	const char *text = dsn->login, *end = dsn->place - 1;
	const char *colon = text ? memchr(text, ':', (size_t) (end - text)) : NULL;
	char *user = NULL, *password = NULL, *auth = NULL;

	if (!text) {
		return true;
	}
	if (!colon || colon == text || colon + 1 == end) {
		return dlock_reject(error, "must have a user and a password before the @ (user:password@)");
	}
	bool good = dlock_dsn_login(dsn, &user, &password, error);
	if (good && strchr(user, ':')) {
		good = dlock_reject(error, "must have a user without \":\"");
	}
	if (good) {
		size_t size = sizeof "digest::" + strlen(user) + strlen(password);
		auth = malloc(size);
		good = auth || dlock_reject(error, "cannot be read: out of memory");
		if (auth) {
			snprintf(auth, size, "digest:%s:%s", user, password);
		}
	}
	free(user);
	dlock_free_secret(password);
	options->auth = auth;
	return good;
}

/* session_timeout=2.5 is all that there is. */
static bool read_option(void *target, const char *name, const char *value, dlock_error *error)
{
	dlock_zk_options *options = target;

	if (strcmp(name, "session_timeout")) {
		return dlock_reject(error, "has an unknown option; known is session_timeout");
	}
	return dlock_dsn_seconds(value, strlen(value), DLOCK_SECOND / 10, 3600 * DLOCK_SECOND, &options->session_timeout)
		|| dlock_reject(error, "must have a session_timeout between 0.1 and 3600 seconds");
}

static bool parse_place(dlock_zk_options *options, const dlock_dsn *dsn, dlock_error *error)
{
	const char *path = memchr(dsn->place, '/', (size_t) (dsn->place_end - dsn->place));
	const char *hosts_end = path ? path : dsn->place_end;
	char *root = NULL;

	options->hosts = strndup(dsn->place, (size_t) (hosts_end - dsn->place));
	if (!options->hosts) {
		return dlock_reject(error, "cannot be read: out of memory");
	}
	if (!dlock_zk_hosts_check(options->hosts, error)) {
		return dlock_dsn_refuse(dsn, dsn->place, error);
	}
	if (!dlock_dsn_decode(&root, path ? path : DLOCK_ZK_ROOT,
			path ? (size_t) (dsn->place_end - path) : sizeof DLOCK_ZK_ROOT - 1, error)) {
		return false;
	}
	options->root = root;
	if (!dlock_zk_root_check(root, error)) {
		dlock_error reason = *error;
		return dlock_reject(error, "must have another root: it %s", reason.message);
	}
	return true;
}

bool dlock_zk_dsn_parse(dlock_zk_options *options, const char *text, size_t len, dlock_error *error)
{
	dlock_dsn dsn;

	*options = (dlock_zk_options) { .session_timeout = DLOCK_ZK_SESSION_TIMEOUT };
	bool good = dlock_dsn_split(&dsn, text, len, error) && parse_login(options, &dsn, error)
		&& parse_place(options, &dsn, error) && dlock_dsn_query(&dsn, read_option, options, error);

	if (!good) {
		dlock_zk_options_free(options);
		*options = (dlock_zk_options) { NULL, NULL, 0, NULL };
	}
	return good;
}

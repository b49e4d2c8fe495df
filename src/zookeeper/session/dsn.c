#include "dsn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../net/dsn.h"
#include "../../net/server.h"

#define SCHEME "zookeeper://"

bool dlock_zk_dsn_is(const char *text, size_t len)
{
	return len >= sizeof SCHEME - 1 && strncasecmp(text, SCHEME, sizeof SCHEME - 1) == 0;
}

static bool reject(dlock_error *error, const char *message)
{
	dlock_fail(error, DLOCK_FAILED, "%s", message);
	return false;
}

/* user:password */
static bool parse_credentials(dlock_zk_options *options, const char *text, const char *end, dlock_error *error)
{
	const char *colon = memchr(text, ':', (size_t) (end - text));
	char *user = NULL, *password = NULL, *auth = NULL;

	if (!colon || colon == text || colon + 1 == end) {
		return reject(error, "must have a user and a password before the @ (user:password@)");
	}
	bool good = dlock_dsn_decode(&user, text, (size_t) (colon - text), error)
		&& dlock_dsn_decode(&password, colon + 1, (size_t) (end - colon - 1), error);
	if (good && strchr(user, ':')) {
		good = reject(error, "must have a user without \":\"");
	}
	if (good) {
		size_t size = sizeof "digest::" + strlen(user) + strlen(password);
		auth = malloc(size);
		good = auth || reject(error, "cannot be read: out of memory");
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
static bool parse_query(dlock_zk_options *options, const char *text, const char *end, dlock_error *error)
{
	static const char name[] = "session_timeout=";

	while (text < end) {
		const char *next = memchr(text, '&', (size_t) (end - text)), *stop = next ? next : end;
		size_t len = (size_t) (stop - text);
		if (len < sizeof name - 1 || memcmp(text, name, sizeof name - 1) != 0) {
			/* Its name is not repeated: after an unencoded ? it may be the end of a password. */
			return reject(error, "has an unknown option; known is session_timeout");
		}
		if (!dlock_dsn_seconds(
				text + sizeof name - 1, len - (sizeof name - 1), 3600 * DLOCK_SECOND, &options->session_timeout)
			|| options->session_timeout < DLOCK_SECOND / 10) {
			return reject(error, "must have a session_timeout between 0.1 and 3600 seconds");
		}
		text = next ? next + 1 : end;
	}
	return true;
}

static const char *last_at(const char *from, const char *end)
{
	while (end > from) {
		if (*--end == '@') {
			return end;
		}
	}
	return NULL;
}

static bool parse(dlock_zk_options *options, const char *text, const char *end, dlock_error *error)
{
	const char *query = memchr(text, '?', (size_t) (end - text)), *stop = query ? query : end;
	const char *path = memchr(text, '/', (size_t) (stop - text)), *hosts_end = path ? path : stop;
	const char *at = last_at(text, hosts_end); /* an unencoded @ in a password is common */
	char *root = NULL;

	if (at && !parse_credentials(options, text, at, error)) {
		return false;
	}
	text = at ? at + 1 : text;
	options->hosts = strndup(text, (size_t) (hosts_end - text));
	if (!options->hosts) {
		return reject(error, "cannot be read: out of memory");
	}
	if (!dlock_zk_hosts_check(options->hosts, error)) {
		return false;
	}
	if (!dlock_dsn_decode(
			&root, path ? path : DLOCK_ZK_ROOT, path ? (size_t) (stop - path) : sizeof DLOCK_ZK_ROOT - 1, error)) {
		return false;
	}
	options->root = root;
	if (!dlock_zk_root_check(root, error)) {
		dlock_error reason = *error;
		dlock_fail(error, DLOCK_FAILED, "must have another root: it %s", reason.message);
		return false;
	}
	return !query || parse_query(options, query + 1, end, error);
}

bool dlock_zk_dsn_parse(dlock_zk_options *options, const char *dsn, size_t len, dlock_error *error)
{
	*options = (dlock_zk_options) { .session_timeout = DLOCK_ZK_SESSION_TIMEOUT };
	bool good = memchr(dsn, '\0', len) ? reject(error, "must not contain NUL bytes")
									   : parse(options, dsn + sizeof SCHEME - 1, dsn + len, error);

	if (!good) {
		dlock_zk_options_free(options);
		*options = (dlock_zk_options) { NULL, NULL, 0, NULL };
	}
	return good;
}

#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../net/endpoint/dsn.h"

/* Checks the rest of a path: it must be absolute, without control characters and empty, "." or ".." components. Returns
 * NULL if it is good, otherwise what it must do. */
static const char *path_fault(const char *path)
{
	if (*path != '/') {
		return "start with \"/\"";
	}
	if (path[1] == '\0') {
		return NULL;
	}
	while (*path == '/') {
		size_t len = strcspn(++path, "/");
		if (len == 0) {
			return *path ? "not contain \"//\"" : "not end with \"/\"";
		}
		if (len <= 2 && strncmp(path, "..", len) == 0) {
			return "not contain \".\" or \"..\" as a component";
		}
		for (size_t i = 0; i < len; i++) {
			if ((unsigned char) path[i] < 0x20 || path[i] == 0x7f) {
				return "not contain control characters";
			}
		}
		path += len;
	}
	return NULL;
}

static bool host_check(const char *host, size_t len, dlock_error *error)
{
	const char *name;
	size_t name_len;
	int port;

	if (len == 0 || (*host == ':' && !memchr(host + 1, ':', len - 1))) {
		return dlock_reject(error, "must not contain an empty host");
	}
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char) host[i] <= 0x20 || host[i] == 0x7f) {
			return dlock_reject(error, "must not contain spaces or control characters");
		}
	}
	return dlock_dsn_host(host, host + len, &name, &name_len, &port, error);
}

/* The messages do not repeat what is wrong: it may be credentials that belong elsewhere. These may contain a "/", so
 * their "@" may look like one of the chroot. */
bool dlock_zk_hosts_check(const char *hosts, dlock_error *error)
{
	const char *chroot = dlock_zk_hosts_chroot(hosts);

	if (strstr(hosts, "://")) {
		return dlock_reject(error, "must be hosts without a scheme, like \"zk1:2181,zk2:2181\"");
	}
	if (strchr(hosts, '@')) {
		return dlock_reject(error, "must not contain \"@\": credentials are $auth");
	}
	if (hosts == chroot) {
		return dlock_reject(error, "must name at least one host, like \"zk1:2181,zk2:2181\"");
	}
	for (const char *host = hosts;; host++) {
		size_t len = strcspn(host, ",/");
		if (!host_check(host, len, error)) {
			return false;
		}
		host += len;
		if (*host != ',') {
			break;
		}
	}
	const char *fault = *chroot ? path_fault(chroot) : NULL;
	return !fault || dlock_reject(error, "must have a chroot that does %s", fault);
}

bool dlock_zk_root_check(const char *root, dlock_error *error)
{
	const char *fault = path_fault(root);

	if (!fault && (strcmp(root, "/zookeeper") == 0 || strncmp(root, "/zookeeper/", 11) == 0)) {
		fault = "not be below \"/zookeeper\", which is the server's own";
	}
	return !fault || dlock_reject(error, "must %s", fault);
}

bool dlock_zk_auth_check(const char *auth, dlock_error *error)
{
	const char *user = strncmp(auth, "digest:", 7) == 0 ? auth + 7 : NULL;
	const char *colon = user ? strchr(user, ':') : NULL;

	if (!colon || colon == user || !colon[1]) {
		return dlock_reject(error, "must look like \"digest:user:password\"");
	}
	return true;
}

const char *dlock_zk_hosts_chroot(const char *hosts)
{
	return hosts + strcspn(hosts, "/");
}

char *dlock_zk_hosts_expand(const char *hosts)
{
	char *expanded = malloc(strlen(hosts) * sizeof "h:65535"), *out = expanded; /* no host is shorter than "h" */

	for (const char *host = hosts; expanded; host++) {
		size_t len = strcspn(host, ",/"), name_len;
		const char *name;
		int port = DLOCK_ZK_PORT;
		dlock_error error;

		/* The library looks for the last colon, and hands the text before it to the resolver, which knows no
		 * brackets. */
		dlock_dsn_host(host, host + len, &name, &name_len, &port, &error);
		out += sprintf(out, "%.*s:%d", (int) name_len, name, port);
		host += len;
		if (*host != ',') {
			break;
		}
		*out++ = ',';
	}
	return expanded ? strcat(expanded, dlock_zk_hosts_chroot(hosts)) : NULL;
}

void dlock_zk_options_free(dlock_zk_options *options)
{
	dlock_free_secret((char *) options->auth);
	free((char *) options->hosts);
	free((char *) options->root);
	*options = (dlock_zk_options) { .hosts = NULL };
}

/* ---- as a DSN ---- */

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

/* The only option is session_timeout, in seconds. */
static bool read_option(void *target, const char *name, const char *value, dlock_error *error)
{
	dlock_zk_options *options = target;

	if (strcmp(name, "session_timeout")) {
		return dlock_reject(error, "has an unknown option; known is session_timeout");
	}
	return dlock_dsn_seconds(value, strlen(value), DLOCK_SECOND / 10, 86400 * DLOCK_SECOND, &options->session_timeout)
		|| dlock_reject(error, "must have a session_timeout between 0.1 and 86400 seconds");
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
	/* An "@" in the path ends a login with a "/" in its password. */
	if (!dlock_zk_hosts_check(options->hosts, error) || memchr(hosts_end, '@', (size_t) (dsn->place_end - hosts_end))) {
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
	}
	return good;
}

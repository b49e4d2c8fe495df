#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../net/dsn.h"

/* Absolute, without empty, "." and ".." components; `path` runs to its end. NULL if so, else what it must do. */
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

static bool refuse(dlock_error *error, const char *what, const char *fault)
{
	dlock_fail(error, DLOCK_FAILED, "%s %s", what, fault);
	return false;
}

/* What is wrong is not repeated: it may be credentials that belong elsewhere. */
static bool host_check(const char *host, size_t len, dlock_error *error)
{
	const char *name;
	size_t name_len;
	int port;

	if (memchr(host, '@', len)) {
		return refuse(error, "must", "not contain \"@\": credentials are $auth");
	}
	if (len == 0 || (*host == ':' && !memchr(host + 1, ':', len - 1))) {
		return refuse(error, "must", "not contain an empty host");
	}
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char) host[i] <= 0x20 || host[i] == 0x7f) {
			return refuse(error, "must", "not contain spaces or control characters");
		}
	}
	return dlock_dsn_host(host, host + len, &name, &name_len, &port, error);
}

bool dlock_zk_hosts_check(const char *hosts, dlock_error *error)
{
	const char *chroot = dlock_zk_hosts_chroot(hosts);

	if (strstr(hosts, "://")) {
		return refuse(error, "must", "be hosts without a scheme, like \"zk1:2181,zk2:2181\"");
	}
	if (hosts == chroot) {
		return refuse(error, "must", "name at least one host, like \"zk1:2181,zk2:2181\"");
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
	return fault ? refuse(error, "must have a chroot that does", fault) : true;
}

bool dlock_zk_root_check(const char *root, dlock_error *error)
{
	const char *fault = path_fault(root);

	if (!fault && (strcmp(root, "/zookeeper") == 0 || strncmp(root, "/zookeeper/", 11) == 0)) {
		fault = "not be below \"/zookeeper\", which is the server's own";
	}
	return fault ? refuse(error, "must", fault) : true;
}

bool dlock_zk_auth_check(const char *auth, dlock_error *error)
{
	const char *user = strncmp(auth, "digest:", 7) == 0 ? auth + 7 : NULL;
	const char *colon = user ? strchr(user, ':') : NULL;

	if (!colon || colon == user || !colon[1]) {
		return refuse(error, "must", "look like \"digest:user:password\"");
	}
	return true;
}

const char *dlock_zk_hosts_chroot(const char *hosts)
{
	return hosts + strcspn(hosts, "/");
}

char *dlock_zk_hosts_expand(const char *hosts)
{
	size_t count = 1;

	for (const char *c = hosts; *c; c++) {
		count += *c == ',';
	}
	size_t size = strlen(hosts) + count * sizeof ":65535" + 1;
	char *expanded = malloc(size), *out = expanded;
	for (const char *host = hosts; expanded; host++) {
		size_t len = strcspn(host, ",/"), name_len;
		const char *name;
		int port = DLOCK_ZK_PORT;
		dlock_error error;

		/* The library looks for the last colon and hands what is before it to the resolver, which knows no brackets. */
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
}

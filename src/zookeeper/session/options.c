#include "options.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_PORT "2181"

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

/* The port of one host of the list; *name_len is what is before it. NULL: there is none. */
static const char *find_port(const char *host, size_t len, size_t *name_len)
{
	const char *bracket = *host == '[' ? memchr(host, ']', len) : NULL;
	size_t from = bracket ? (size_t) (bracket - host) + 1 : 0;
	const char *colon = memchr(host + from, ':', len - from);

	*name_len = colon ? (size_t) (colon - host) : len;
	return colon ? colon + 1 : NULL;
}

static bool port_check(const char *port, size_t len)
{
	unsigned number = 0;

	if (len == 0 || len > 5 || *port == '0') { /* the library would read a leading zero as octal */
		return false;
	}
	for (size_t i = 0; i < len; i++) {
		if (port[i] < '0' || port[i] > '9') {
			return false;
		}
		number = number * 10 + (unsigned) (port[i] - '0');
	}
	return number >= 1 && number <= 65535;
}

/* What is wrong is not repeated: it may be credentials that belong elsewhere. */
static bool host_check(const char *host, size_t len, dlock_error *error)
{
	size_t name_len;
	const char *port = find_port(host, len, &name_len);

	if (memchr(host, '@', len)) {
		return refuse(error, "must", "not contain \"@\": credentials are $auth");
	}
	if (*host != '[' && port && memchr(port, ':', len - name_len - 1)) {
		return refuse(error, "must", "put IPv6 addresses in brackets, like \"[::1]:" DEFAULT_PORT "\"");
	}
	if (name_len == 0) {
		return refuse(error, "must", "not contain an empty host");
	}
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char) host[i] <= 0x20 || host[i] == 0x7f) {
			return refuse(error, "must", "not contain spaces or control characters");
		}
	}
	if (*host == '[' && (host[name_len - 1] != ']' || name_len < 4)) {
		return refuse(error, "must", "close the bracket after an IPv6 address");
	}
	if (port && !port_check(port, len - name_len - 1)) {
		return refuse(error, "must", "have ports from 1 to 65535");
	}
	return true;
}

bool dlock_zk_hosts_check(const char *hosts, dlock_error *error)
{
	const char *chroot = dlock_zk_hosts_chroot(hosts);

	if (strstr(hosts, "://")) {
		return refuse(error, "must", "be hosts without a scheme, like \"zk1:" DEFAULT_PORT ",zk2:" DEFAULT_PORT "\"");
	}
	if (hosts == chroot) {
		return refuse(error, "must", "name at least one host, like \"zk1:" DEFAULT_PORT ",zk2:" DEFAULT_PORT "\"");
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
	char *expanded = malloc(strlen(hosts) + count * sizeof ":" DEFAULT_PORT + 1), *out = expanded;
	if (!expanded) {
		return NULL;
	}
	for (const char *host = hosts;; host++) {
		size_t len = strcspn(host, ",/"), name_len;
		const char *port = find_port(host, len, &name_len);
		bool bracketed = *host == '[';

		/* The library looks for the last colon and hands what is before it to the resolver, which knows no brackets. */
		memcpy(out, host + bracketed, name_len - 2 * bracketed);
		out += name_len - 2 * bracketed;
		*out++ = ':';
		size_t port_len = port ? len - name_len - 1 : sizeof DEFAULT_PORT - 1;
		memcpy(out, port ? port : DEFAULT_PORT, port_len);
		out += port_len;
		host += len;
		if (*host != ',') {
			break;
		}
		*out++ = ',';
	}
	strcpy(out, dlock_zk_hosts_chroot(hosts));
	return expanded;
}

void dlock_zk_options_free(dlock_zk_options *options)
{
	char *auth = (char *) options->auth;

	for (volatile char *secret = auth; secret && *secret; secret++) {
		*secret = 0;
	}
	free(auth);
	free((char *) options->hosts);
	free((char *) options->root);
}

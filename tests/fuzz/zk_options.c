/* src/zookeeper/session/options.c and dsn.c. Lines: hosts, root, credentials, a DSN. */

#include "../../src/zookeeper/session/options.h"
#include "fuzz.h"

static void check_refusal(const dlock_error *error)
{
	MUST(memchr(error->message, '\0', sizeof error->message));
	MUST(!strncmp(error->message, "must ", 5) && error->message[5]);
}

/* "host:port,host:port", as the client library is to get it. */
static void check_list(const char *list)
{
	for (;;) {
		size_t len = strcspn(list, ",");
		size_t colon = len;
		long port = 0;
		while (colon > 0 && list[colon - 1] != ':') {
			colon--;
		}
		MUST(colon > 1 && colon < len && list[colon] != '0' && len - colon <= 5);
		for (size_t i = colon; i < len; i++) {
			MUST(list[i] >= '0' && list[i] <= '9');
			port = port * 10 + (list[i] - '0');
		}
		MUST(port >= 1 && port <= 65535);
		for (size_t i = 0; i < colon; i++) {
			MUST((unsigned char) list[i] > ' ' && list[i] != 0x7f && list[i] != '/');
		}
		if (!list[len]) {
			return;
		}
		list += len + 1;
	}
}

static size_t count(const char *text, size_t len, char byte)
{
	size_t found = 0;

	for (size_t i = 0; i < len; i++) {
		found += text[i] == byte;
	}
	return found;
}

static void check_path(const char *path)
{
	size_t len = strlen(path);

	MUST(*path == '/' && (len == 1 || path[len - 1] != '/') && !strstr(path, "//"));
	MUST(!strstr(path, "/../") && !strstr(path, "/./"));
	MUST(len < 2 || strcmp(path + len - 2, "/."));
	MUST(len < 3 || strcmp(path + len - 3, "/.."));
	for (size_t i = 0; i < len; i++) {
		MUST((unsigned char) path[i] >= ' ' && path[i] != 0x7f);
	}
}

static void try_hosts(const char *hosts)
{
	dlock_error error = { "" };
	const char *chroot = dlock_zk_hosts_chroot(hosts);

	if (!dlock_zk_hosts_check(hosts, &error)) {
		check_refusal(&error);
		MUST(!strstr(error.message, SECRET));
		return;
	}
	char *whole = dlock_zk_hosts_expand(hosts);
	MUST(whole && strlen(whole) > strlen(chroot));
	size_t bare_len = strlen(whole) - strlen(chroot);
	MUST(!strcmp(whole + bare_len, chroot));
	char *bare = strndup(whole, bare_len);
	MUST(bare);
	check_list(bare);
	MUST(count(bare, strlen(bare), ',') == count(hosts, (size_t) (chroot - hosts), ','));
	if (*chroot) {
		check_path(chroot);
	}
	free(bare);
	free(whole);
}

static void try_root(const char *root)
{
	dlock_error error = { "" };

	if (!dlock_zk_root_check(root, &error)) {
		check_refusal(&error);
		return;
	}
	check_path(root);
	MUST(strncmp(root, "/zookeeper", 10) || (root[10] && root[10] != '/'));
}

static void try_auth(const char *auth)
{
	dlock_error error = { "" };

	if (!dlock_zk_auth_check(auth, &error)) {
		check_refusal(&error);
		MUST(!strcmp(error.message, "must look like \"digest:user:password\"")); /* and nothing of what was given */
		return;
	}
	MUST(!strncmp(auth, "digest:", 7) && auth[7] != ':' && strchr(auth + 7, ':')[1]);
}

/* Of the whole length, NUL bytes included. */
static void try_dsn(const char *dsn, size_t len)
{
	dlock_zk_options options;
	dlock_error error = { "" };

	if (!dlock_zk_dsn_is(dsn, len)) {
		return;
	}
	if (!dlock_zk_dsn_parse(&options, dsn, len, &error)) {
		MUST(!strncmp(error.message, "must ", 5) || !strncmp(error.message, "has ", 4)
			|| !strncmp(error.message, "cannot ", 7));
		MUST(!strstr(error.message, SECRET));
		MUST(!options.hosts && !options.root && !options.auth);
		return;
	}
	MUST(!memchr(dsn, '\0', len) && !*dlock_zk_hosts_chroot(options.hosts));
	MUST(options.session_timeout >= DLOCK_SECOND / 10 && options.session_timeout <= 3600 * DLOCK_SECOND);
	try_hosts(options.hosts);
	check_path(options.root);
	MUST(dlock_zk_hosts_check(options.hosts, &error) && (!options.auth || dlock_zk_auth_check(options.auth, &error)));
	dlock_zk_options_free(&options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len;
	void (*const tries[])(const char *) = { try_hosts, try_root, try_auth };

	for (int i = 0; i < 3; i++) {
		char *line = take_line(&data, &size, &len);
		char *text = strdup(line); /* ends at the first NUL, with no room behind it */
		MUST(text);
		tries[i](text);
		free(text);
		free(line);
	}
	char *line = take_line(&data, &size, &len);
	try_dsn(line, len);
	free(line);
	return 0;
}

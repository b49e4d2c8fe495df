/* Unit tests of path.c, options.c, hosts.c and dsn.c in src/zookeeper. Prints TAP. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/zookeeper/session/hosts.h"
#include "../../src/zookeeper/session/options.h"
#include "../../src/zookeeper/session/path.h"
#include "tap.h"

static bool parent_is(const char *root, const char *resource, size_t len, const char *expected)
{
	char *path = dlock_zk_parent_path(root, resource, len);
	bool same = strcmp(path, expected) == 0;

	if (!same) {
		printf("# %s instead of %s\n", path, expected);
	}
	free(path);
	return same;
}

/* Is the name of the resource's node decoded as the resource? */
static bool comes_back(const char *resource, size_t len)
{
	char *path = dlock_zk_parent_path("/l", resource, len), *out = malloc(strlen(path) + 1);
	bool same = dlock_zk_resource_of(path + strlen("/l/"), out) == len && memcmp(out, resource, len) == 0;

	free(out);
	free(path);
	return same;
}

static bool sequence_is(const char *name, int64_t expected)
{
	int32_t sequence;

	return dlock_zk_sequence(name, &sequence) && sequence == expected;
}

static bool no_sequence(const char *name)
{
	int32_t sequence;

	return !dlock_zk_sequence(name, &sequence);
}

static void names(void)
{
	char bytes[256], long_name[1024], *path;

	check(parent_is("/locks", "orders-7_a.b C:~", 16, "/locks/orders-7_a.b C:~"), "plain names stay");
	check(parent_is("/locks", "a/b", 3, "/locks/a%2Fb"), "slash");
	check(parent_is("/locks", "100%", 4, "/locks/100%25"), "percent");
	check(parent_is("/locks", ".", 1, "/locks/%2E"), "dot");
	check(parent_is("/locks", "..", 2, "/locks/%2E."), "two dots");
	check(parent_is("/locks", "...", 3, "/locks/..."), "three dots stay");
	check(parent_is("/", "zookeeper", 9, "/%7Aookeeper"), "the server's own node");
	check(parent_is("/locks", "zookeeper", 9, "/locks/zookeeper"), "not the server's own node");
	check(parent_is("/a/b", "\xc3\xa9", 2, "/a/b/%C3%A9"), "UTF-8");
	check(parent_is("/l", "a\0b\x7f\n", 5, "/l/a%00b%7F%0A"), "control bytes");
	check(parent_is("/l", "", 0, "/l/%"), "empty");
	for (int i = 0; i < 256; i++) {
		bytes[i] = (char) i;
	}
	char foreign[8];
	check(comes_back(bytes, sizeof bytes) && comes_back("..", 2) && comes_back("%41", 3) && comes_back("", 0),
		"encoded names are decoded");
	check(
		dlock_zk_resource_of("a%4z%", foreign) == 5 && !memcmp(foreign, "a%4z%", 5), "a name that another client made");
	path = dlock_zk_parent_path("/l", bytes, sizeof bytes);
	check(strlen(path) == 3 + 3 * (32 + 1 + 128 + 2) + 256 - 163, "every byte");
	free(path);
	memset(long_name, 0xff, sizeof long_name);
	path = dlock_zk_parent_path("/l", long_name, sizeof long_name);
	check(strlen(path) == 3 + 3 * 1024, "the longest name");
	free(path);
	path = dlock_zk_node_path("/l/r", "0123", "lock-");
	check(strcmp(path, "/l/r/_c_0123-lock-") == 0, "node path");
	free(path);
	check(dlock_zk_is_node_of("_c_0123-lock-0000000001", "0123"), "own node");
	check(!dlock_zk_is_node_of("_c_0124-lock-0000000001", "0123"), "another client's node");
	check(!dlock_zk_is_node_of("_c_01234-lock-0000000001", "0123"), "longer guid");
	check(dlock_zk_is_made_of("/l/r/_c_0123-__READ__0000000001", "/l/r", "0123", "__READ__"),
		"the path is made of these parts");
	check(!dlock_zk_is_made_of("/l/r/_c_0123-__WRIT__0000000001", "/l/r", "0123", "__READ__"), "another label");
}

static void sequences(void)
{
	check(sequence_is("_c_5f0-lock-0000000012", 12), "Curator");
	check(sequence_is("ab12__lock__0000000007", 7), "kazoo");
	check(sequence_is("lock-0000000001", 1), "plain");
	check(sequence_is("_c_5f0-__READ__0000000003", 3), "read lock");
	check(sequence_is("_c_5f0-__WRIT__0000000003", 3), "write lock");
	check(sequence_is("_c_5f0-lock-2147483647", INT32_MAX), "largest");
	check(sequence_is("_c_5f0-lock--2147483648", INT32_MIN), "overflown");
	check(sequence_is("_c_5f0-lock--1000000000", -1000000000), "negative, ten digits");
	check(sequence_is("ab12__lock__-2147483648", INT32_MIN), "overflown, kazoo");
	check(sequence_is("ab12__lock__-1000000000", -1000000000), "negative, kazoo");
	check(sequence_is("lock--000000001", -1), "negative, padded");
	check(sequence_is("lock-1000000000", 1000000000), "a separator is not a sign");
	check(sequence_is("lock-0100000000", 100000000), "with padding a separator is not a sign");
	check(no_sequence("lock-9999999999"), "too large");
	check(sequence_is("lock-000000001", -1), "minus and nine digits");
	check(no_sequence("lock-000000000") && no_sequence("000000000"), "nine zeros are not a server's number");
	check(sequence_is("lock-0000000000", 0), "ten zeros are");
	check(no_sequence("lease"), "no digits");
	check(no_sequence(""), "empty name");
	check(no_sequence("12345678"), "eight digits");
	check(sequence_is("0000000005", 5), "only the number");
}

static bool refused(bool (*checked)(const char *, dlock_error *), const char *text, const char *word)
{
	dlock_error error = { "" };
	bool good = !checked(text, &error) && strncmp(error.message, "must ", 5) == 0 && strstr(error.message, word);

	if (!good) {
		printf("# %s: %s\n", text, error.message);
	}
	return good;
}

static bool expands(const char *hosts, const char *expected)
{
	char *expanded = dlock_zk_hosts_expand(hosts);
	bool same = strcmp(expanded, expected) == 0;

	if (!same) {
		printf("# %s instead of %s\n", expanded, expected);
	}
	free(expanded);
	return same;
}

/* Chance decides which host is listed twice. */
static bool has_twice(const char *hosts, const char *one, const char *other)
{
	char *odd = dlock_zk_hosts_odd(hosts);
	bool even = dlock_zk_hosts_are_even(odd), good = !strcmp(odd, one) || !strcmp(odd, other);

	if (!good || even) {
		printf("# %s%s\n", odd, even ? " is even" : "");
	}
	free(odd);
	return good && !even;
}

static void hosts_by_number(void)
{
	static const char odd[] = "127.0.0.1:1,127.0.0.2:2,127.0.0.1:3/c", unknown[] = "no.such.host.invalid:1";

	check(has_twice("127.0.0.1:1/c", "127.0.0.1:1/c", ""), "one");
	check(has_twice(odd, odd, ""), "three");
	check(has_twice("127.0.0.1:1,::1:2/c", "127.0.0.1:1,127.0.0.1:1,::1:2/c", "::1:2,127.0.0.1:1,::1:2/c"), "two");
	check(has_twice(unknown, unknown, ""), "one without an address");
	check(dlock_zk_hosts_are_even("127.0.0.1:1,127.0.0.1:1"), "the same address counts again");
}

static void options(void)
{
	dlock_error error;

	check(dlock_zk_hosts_check("h1:2181,h2:1/chroot/x", &error), "hosts and chroot");
	check(dlock_zk_hosts_check("h1", &error) && dlock_zk_hosts_check("[::1]:65535,[::1]/", &error),
		"ports may be missing");
	check(refused(dlock_zk_hosts_check, "", "at least one host"), "no host");
	check(refused(dlock_zk_hosts_check, "/x", "at least one host"), "only a chroot");
	check(refused(dlock_zk_hosts_check, "h1,,h2", "empty host"), "empty host");
	check(refused(dlock_zk_hosts_check, "h1,", "empty host"), "trailing comma");
	check(refused(dlock_zk_hosts_check, ":2181", "empty host"), "port alone");
	check(refused(dlock_zk_hosts_check, "h1:0", "port between"), "port 0");
	check(refused(dlock_zk_hosts_check, "h1:65536", "port between"), "port too large");
	check(refused(dlock_zk_hosts_check, "h1:21x", "port between"), "port with letters");
	check(refused(dlock_zk_hosts_check, "h1:", "port between"), "port missing");
	check(refused(dlock_zk_hosts_check, "::1:2181", "brackets"), "IPv6 without brackets");
	check(refused(dlock_zk_hosts_check, "[::1:2181", "closing ]"), "open bracket");
	check(refused(dlock_zk_hosts_check, "[::1]x:2181", "nothing but a port"), "text after the bracket");
	check(refused(dlock_zk_hosts_check, "h 1", "spaces"), "space");
	check(refused(dlock_zk_hosts_check, "h1/a/", "chroot"), "chroot with a slash at the end");
	check(refused(dlock_zk_hosts_check, "h1/a//b", "chroot"), "chroot with an empty component");
	check(refused(dlock_zk_hosts_check, "h1/../b", "chroot"), "chroot with two dots");
	check(refused(dlock_zk_hosts_check, "ann:7@h1", "\"@\"") && refused(dlock_zk_hosts_check, "ann:7/x@h1/a", "\"@\""),
		"credentials");
	check(dlock_zk_root_check("/", &error) && dlock_zk_root_check("/a/..b", &error), "roots");
	check(refused(dlock_zk_root_check, "locks", "start with"), "relative root");
	check(refused(dlock_zk_root_check, "", "start with"), "empty root");
	check(refused(dlock_zk_root_check, "/a/", "end with"), "root with a slash at the end");
	check(refused(dlock_zk_root_check, "/a/./b", "component"), "root with a dot");
	check(refused(dlock_zk_root_check, "/zookeeper/x", "zookeeper"), "the server's own root");
	check(dlock_zk_auth_check("digest:u:p:q", &error), "credentials");
	check(refused(dlock_zk_auth_check, "digest:secret", "digest:user:password"), "credentials without a user");
	check(!dlock_zk_auth_check("digest:secret", &error) && !strstr(error.message, "secret"),
		"the error does not repeat the password");
	check(refused(dlock_zk_auth_check, "digest::p", "digest:user:password"), "credentials with an empty user");
	check(refused(dlock_zk_auth_check, "sasl:u:p", "digest:user:password"), "another scheme");
	check(expands("h1,h2:5,[::1],[fe80::1]:7/c", "h1:2181,h2:5,::1:2181,fe80::1:7/c"), "expanded");
	check(expands("h1:03", "h1:3"), "a port is decimal");
	check(expands("h1:3", "h1:3"), "expanded, without a chroot");
}

static bool dsn_is(const char *dsn, const char *hosts, const char *root, dlock_nanos session_timeout, const char *auth)
{
	dlock_zk_options read;
	dlock_error error = { "" };

	if (!dlock_zk_dsn_is(dsn, strlen(dsn)) || !dlock_zk_dsn_parse(&read, dsn, strlen(dsn), &error)) {
		printf("# %s\n", error.message);
		return false;
	}
	bool same = !strcmp(read.hosts, hosts) && !strcmp(read.root, root) && read.session_timeout == session_timeout
		&& (auth ? read.auth && !strcmp(read.auth, auth) : !read.auth);
	dlock_zk_options_free(&read);
	return same;
}

static bool dsn_refused(const char *dsn, const char *word)
{
	dlock_zk_options read;
	dlock_error error = { "" };
	bool good = !dlock_zk_dsn_parse(&read, dsn, strlen(dsn), &error) && strstr(error.message, word)
		&& !strstr(error.message, "s3cr3t");

	if (!good) {
		printf("# %s: %s\n", dsn, error.message);
	}
	return good && !read.hosts && !read.root && !read.auth;
}

static void dsns(void)
{
	check(!dlock_zk_dsn_is("zookeeper:/", 11) && !dlock_zk_dsn_is("redis://h1", 10)
			&& dlock_zk_dsn_is("ZooKeeper://", 12),
		"the scheme decides");
	check(dsn_is("zookeeper://h1", "h1", "/locks", 10 * DLOCK_SECOND, NULL), "hosts are enough");
	check(dsn_is("zookeeper://h1:2181,[::1]:5/a/b%20c", "h1:2181,[::1]:5", "/a/b c", 10 * DLOCK_SECOND, NULL),
		"several hosts and a root");
	check(dsn_is("zookeeper://h1/a%40b", "h1", "/a@b", 10 * DLOCK_SECOND, NULL), "a root with an @");
	check(dsn_is("zookeeper://h1/", "h1", "/", 10 * DLOCK_SECOND, NULL), "the top as the root");
	check(dsn_is("zookeeper://h1/a?session_timeout=2.5", "h1", "/a", 2500 * DLOCK_MS, NULL), "a session timeout");
	check(dsn_is("zookeeper://h1?session_timeout=0.1", "h1", "/locks", DLOCK_SECOND / 10, NULL),
		"a session timeout without a root");
	check(dsn_is("zookeeper://h1?session_timeout=86400", "h1", "/locks", 86400 * DLOCK_SECOND, NULL),
		"as long as ZkLock accepts");
	check(dsn_is("zookeeper://ann:s3@cr%2F3t@h1", "h1", "/locks", 10 * DLOCK_SECOND, "digest:ann:s3@cr/3t"),
		"credentials");
	check(dsn_refused("zookeeper://", "at least one host") && dsn_refused("zookeeper:///a", "at least one host"),
		"no host");
	check(dsn_refused("zookeeper://ann:s3cr3t@", "at least one host"), "credentials without a host");
	check(dsn_refused("zookeeper://s3cr3t@h1", "user and a password")
			&& dsn_refused("zookeeper://:s3cr3t@h1", "user and a password"),
		"no user");
	check(dsn_refused("zookeeper://a%3Ab:s3cr3t@h1", "without \":\""), "a user with a colon");
	check(dsn_refused("zookeeper://ann:s3cr3t%4@h1", "hexadecimal"), "bad encoding");
	check(dsn_refused("zookeeper://ann:s3cr3t@h1/a/", "another root"), "a root with a slash at the end");
	check(dsn_refused("zookeeper://h1?s3cr3t=1", "unknown option") && dsn_refused("zookeeper://h1?s3cr3t", "name=value")
			&& dsn_refused("zookeeper://ann:1?s3cr3t@h1", "%3F") && dsn_refused("zookeeper://ann:x/s3cr3t@h1", "%2F")
			&& dsn_refused("zookeeper://ann:7/s3cr3t@h1/a", "%2F") && dsn_refused("zookeeper://ann:7/s3cr3t@h1", "%2F")
			&& dsn_refused("zookeeper://h1?session_timeout=s3cr3t", "between"),
		"options");
	check(dsn_refused("zookeeper://h1?session_timeout=86401", "between")
			&& dsn_refused("zookeeper://h1?session_timeout=0.09", "between"),
		"bounds of options");
}

int main(void)
{
	dsns();
	names();
	sequences();
	hosts_by_number();
	options();
	return tap_end();
}

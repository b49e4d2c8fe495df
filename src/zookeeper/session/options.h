#ifndef DLOCK_ZK_OPTIONS_H
#define DLOCK_ZK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <strings.h>

#include "../../base/clock.h"
#include "../../base/error.h"

/* The options of an ensemble, and the checks of each. They come from arguments of ZkLock or from a DSN. */

typedef struct {
	const char *hosts;           /* "h1:2181,h2:2181/chroot", checked by dlock_zk_hosts_check() */
	const char *root;            /* "/locks", checked by dlock_zk_root_check() */
	dlock_nanos session_timeout; /* asked for; the ensemble decides */
	const char *auth;            /* "digest:user:password", checked by dlock_zk_auth_check(), or NULL */
} dlock_zk_options;

enum { DLOCK_ZK_PORT = 2181 };

#define DLOCK_ZK_ROOT "/locks"
#define DLOCK_ZK_SESSION_TIMEOUT (10 * DLOCK_SECOND)

/* Each check is true when the text can be used; otherwise the message says what it must be, worded so that it can
 * follow the name of the argument ("DLock: $servers " ...). That of credentials never repeats any of them. */
bool dlock_zk_hosts_check(const char *hosts, dlock_error *error);
bool dlock_zk_root_check(const char *root, dlock_error *error);
bool dlock_zk_auth_check(const char *auth, dlock_error *error);

/* Checked hosts as the client library wants them: every host with its port, IPv6 without brackets, and the chroot.
 * To be freed; NULL when out of memory. */
char *dlock_zk_hosts_expand(const char *hosts);

/* The "/chroot" at the end of checked hosts; "" where there is none. */
const char *dlock_zk_hosts_chroot(const char *hosts);

/* "zookeeper://user:password@h1:2181,h2:2181/root?session_timeout=10", of which the hosts are needed: the form in which
 * a class takes an ensemble that also takes other servers. What is between the hosts and the question mark is the root,
 * no chroot. Does it begin like one? */
static inline bool dlock_zk_dsn_is(const char *text, size_t len)
{
	static const char head[] = "zookeeper://";

	return len >= sizeof head - 1 && strncasecmp(text, head, sizeof head - 1) == 0;
}

/* Reads one. The options own their texts; on failure they are empty, and the message goes on from the name of an
 * argument: "must ...". */
bool dlock_zk_dsn_parse(dlock_zk_options *options, const char *dsn, size_t len, dlock_error *error);

/* Frees what the options own, where they do, and empties them. */
void dlock_zk_options_free(dlock_zk_options *options);

#endif

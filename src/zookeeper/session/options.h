#ifndef DLOCK_ZK_OPTIONS_H
#define DLOCK_ZK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <strings.h>

#include "../../base/clock.h"
#include "../../base/error.h"

/* The options of an ensemble, and a check for each. They come from the arguments of ZkLock or from a DSN. */

typedef struct {
	const char *hosts;           /* "h1:2181,h2:2181/chroot", checked by dlock_zk_hosts_check() */
	const char *root;            /* "/locks", checked by dlock_zk_root_check() */
	dlock_nanos session_timeout; /* as requested; the ensemble decides */
	const char *auth;            /* "digest:user:password", checked by dlock_zk_auth_check(), or NULL */
} dlock_zk_options;

enum { DLOCK_ZK_PORT = 2181 };

#define DLOCK_ZK_ROOT "/locks"
#define DLOCK_ZK_SESSION_TIMEOUT (10 * DLOCK_SECOND)

/* Each check returns true if the text can be used. Otherwise the message tells what the text must be, and can follow
 * the name of the argument ("Argument #1 ($servers) "). The message about credentials never repeats any part of
 * them. */
bool dlock_zk_hosts_check(const char *hosts, dlock_error *error);
bool dlock_zk_root_check(const char *root, dlock_error *error);
bool dlock_zk_auth_check(const char *auth, dlock_error *error);

/* Writes checked hosts in the form that the client library needs: each host with its port, IPv6 without brackets, and
 * the chroot. The caller frees the text. Returns NULL if out of memory. */
char *dlock_zk_hosts_expand(const char *hosts);

/* Returns the "/chroot" at the end of checked hosts, or "" if there is none. */
const char *dlock_zk_hosts_chroot(const char *hosts);

/* True if the text begins like "zookeeper://user:password@h1:2181,h2:2181/root?session_timeout=10". Classes that also
 * accept other servers accept an ensemble in this form. Only the hosts are required. The part between the hosts and the
 * question mark is the root, not a chroot. */
static inline bool dlock_zk_dsn_is(const char *text, size_t len)
{
	static const char head[] = "zookeeper://";

	return len >= sizeof head - 1 && strncasecmp(text, head, sizeof head - 1) == 0;
}

/* Parses such a DSN. The options own their texts. False: the options are empty, and the message can follow the name of
 * an argument ("must ..."). */
bool dlock_zk_dsn_parse(dlock_zk_options *options, const char *dsn, size_t len, dlock_error *error);

/* Frees the texts of options that own them, and empties the options. */
void dlock_zk_options_free(dlock_zk_options *options);

#endif

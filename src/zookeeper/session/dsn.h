#ifndef DLOCK_ZK_DSN_H
#define DLOCK_ZK_DSN_H

#include <stddef.h>

#include "options.h"

/* "zookeeper://user:password@h1:2181,h2:2181/root?session_timeout=10", of which the hosts are needed: the form in which
 * a class takes an ensemble that also takes other servers. What is between the hosts and the question mark is the root,
 * no chroot. */

/* Does it begin like one? */
bool dlock_zk_dsn_is(const char *text, size_t len);

/* Reads one. The options own their texts; on failure they are empty, and the message goes on from the name of an
 * argument: "must ...". */
bool dlock_zk_dsn_parse(dlock_zk_options *options, const char *dsn, size_t len, dlock_error *error);

#endif

#ifndef DLOCK_ZK_HOSTS_H
#define DLOCK_ZK_HOSTS_H

#include <stdbool.h>

#include "../../net/channel.h"
#include "../../net/loop.h"

/* The hosts of an ensemble: an odd number of addresses for the client library, and why no host can be reached. */

/* The client library (up to 3.9 at least, ZOOKEEPER-2466) moves on by two addresses after each attempt that fails. If
 * the number of addresses is odd, it tries all of them and rests after each round. If the number is even, it tries half
 * of them without a rest, and never the other half. Both functions ask the system's resolver, as the library does
 * before each attempt, and wait for it. */

/* True if these hosts, as dlock_zk_hosts_expand() writes them, have an even number of addresses now. */
bool dlock_zk_hosts_are_even(const char *hosts);

/* Returns the same hosts, one of them twice if the number is even. The caller frees the text. Returns NULL if out of
 * memory. */
char *dlock_zk_hosts_odd(const char *hosts);

/* Calls both in a thread of its own: for `given`, and if that is even, for `hosts`. The resolver may need any time.
 * Returns NULL if there is no memory or no thread. */
typedef struct dlock_zk_look dlock_zk_look;
dlock_zk_look *dlock_zk_look_begin(const char *given, const char *hosts);

/* True if it has ended. Then *odd is the text that should replace `given`, and the caller frees it. NULL: `given` is
 * good, or out of memory. */
bool dlock_zk_look_ended(const dlock_zk_look *look, char **odd);

/* Ends the caller's interest in the look-up, which frees itself when its thread has ended, too. `look` may be NULL. */
void dlock_zk_look_leave(dlock_zk_look *look);

/* Finds out why there is no connection. The library does not tell, so this opens a connection itself. It tries the
 * first host only: one reason to start from helps more than a list. A zeroed diagnosis is not under way. */
typedef struct {
	dlock_source source;
	dlock_loop *loop;
	dlock_endpoint *server; /* NULL: none is under way */
	dlock_channel channel;
	dlock_nanos until;
} dlock_zk_diagnosis;

/* Begins the diagnosis or continues it; it lasts at most `budget`. True: it has ended, and `reason` (of `size` bytes)
 * tells the host and why it cannot be reached. */
bool dlock_zk_diagnose(dlock_zk_diagnosis *diagnosis, const char *hosts, dlock_nanos budget, dlock_loop *loop,
	dlock_nanos now, char *reason, size_t size);

/* Ends the diagnosis if it is under way, and zeroes it. */
void dlock_zk_diagnosis_end(dlock_zk_diagnosis *diagnosis);

#endif

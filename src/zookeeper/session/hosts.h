#ifndef DLOCK_ZK_HOSTS_H
#define DLOCK_ZK_HOSTS_H

#include <stdbool.h>

/* Hosts as the client library can go through them (up to 3.9 at least, ZOOKEEPER-2466): after each attempt that fails
 * it moves on by two addresses. With an odd number it comes to all and rests after each round; with an even one it
 * tries half of them without a rest, and never the others. Both ask the system's resolver, as the library does before
 * each attempt. */

/* Have these hosts, as dlock_zk_hosts_expand() writes them, an even number of addresses now? */
bool dlock_zk_hosts_are_even(const char *hosts);

/* The same hosts, one of them twice where the number is even. To be freed; NULL when out of memory. */
char *dlock_zk_hosts_odd(const char *hosts);

/* Both in a thread of its own, since a look-up takes as long as the resolver likes: of `given`, and if that is even
 * then of `hosts`. NULL: no memory, or no thread. */
typedef struct dlock_zk_look dlock_zk_look;
dlock_zk_look *dlock_zk_look_begin(const char *given, const char *hosts);

/* Has it ended? Then *odd, to be freed, is what `given` should be instead; NULL: it is good. */
bool dlock_zk_look_ended(const dlock_zk_look *look, char **odd);

/* Nobody waits for it any more; NULL is fine. What has not been taken is freed. */
void dlock_zk_look_leave(dlock_zk_look *look);

#endif

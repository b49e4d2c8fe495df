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

#endif

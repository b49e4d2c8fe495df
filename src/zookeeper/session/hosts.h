#ifndef DLOCK_ZK_HOSTS_H
#define DLOCK_ZK_HOSTS_H

#include <stdbool.h>

#include "../../net/channel.h"
#include "../../net/loop.h"

/* The hosts of an ensemble: in a number that the client library goes through, and why none of them can be reached. */

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

/* The caller waits no longer; NULL is fine. What has not been taken is freed. */
void dlock_zk_look_leave(dlock_zk_look *look);

/* Why there is no connection: the library keeps that to itself, so this opens one by hand. The first host stands for
 * all: one reason to start from is more help than a list. Zeroed, none is under way. */
typedef struct {
	dlock_source source;
	dlock_loop *loop;
	dlock_endpoint *server; /* NULL: none is under way */
	dlock_channel channel;
	dlock_nanos until;
} dlock_zk_diagnosis;

/* Begins it, or goes on with it; takes `budget` at most. True: it has ended, and `reason` is where the host can be
 * reached and why not. */
bool dlock_zk_diagnose(dlock_zk_diagnosis *diagnosis, const char *hosts, dlock_nanos budget, dlock_loop *loop,
	dlock_nanos now, char *reason, size_t size);

void dlock_zk_diagnosis_end(dlock_zk_diagnosis *diagnosis);

#endif

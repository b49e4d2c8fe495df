#ifndef DLOCK_REDIS_TOPOLOGY_H
#define DLOCK_REDIS_TOPOLOGY_H

#include "../wire/pool.h"

/* Where the masters of a service are, as far as this pool's thread knows: of a Redis behind Sentinels, of each slot of
 * a cluster, or the one server that has a fixed address. What it knows may be out of date: the servers decide who is a
 * master, and say so when they are asked.
 *
 * It never sleeps. A question is a task that the pool's loop has adopted. */

typedef struct dlock_topology dlock_topology;

/* A task that is dropped with the topology. */
typedef struct dlock_owned {
	struct dlock_owned *next;
	void (*free)(struct dlock_owned *owned);
} dlock_owned;

/* The service's, kept over requests like the connections; NULL when out of memory. */
dlock_topology *dlock_pool_topology(dlock_pool *pool, dlock_endpoint *service);

void dlock_topology_own(dlock_topology *topology, dlock_owned *owned);
void dlock_topology_disown(dlock_topology *topology, dlock_owned *owned);

/* How many slots it has: 1, or DLOCK_SLOTS. */
bool dlock_topology_has_slots(const dlock_topology *topology);

/* Is it one server with an address that stays? */
bool dlock_topology_is_fixed(const dlock_topology *topology);

/* The slot's master; NULL: not known. Of a service without slots any number will do. Valid until the next call that may
 * change it: retain it. */
dlock_endpoint *dlock_topology_master(const dlock_topology *topology, int slot);

/* The least of the slots that the server is the master of; -1: none. */
int dlock_topology_first_slot(const dlock_topology *topology, const dlock_endpoint *server);

/* A server has said that the slot is at this address now ("host:port" of MOVED; an empty host is its own). Believed at
 * once, and doubted. */
void dlock_topology_move(
	dlock_topology *topology, int slot, const char *address, const dlock_endpoint *from, dlock_nanos now);

/* The server at an address ("host:port" of ASK), which is not remembered as a slot's master. To be released; NULL: no
 * address, or out of memory. */
dlock_endpoint *dlock_topology_server_at(
	const dlock_topology *topology, const char *address, const dlock_endpoint *from);

/* What is known may be out of date: asks for it, unless that is under way already. Nothing where the address is fixed.
 * One question follows another at once only if the first has changed something: otherwise after a pause, for which it
 * counts as asking. */
void dlock_topology_ask(dlock_topology *topology, dlock_nanos now);

bool dlock_topology_is_asking(const dlock_topology *topology);

/* How often it has been answered: a higher number than before means that what is known is newer. */
unsigned long dlock_topology_answers(const dlock_topology *topology);

/* A task: asks, until there is an outcome, at most until `until` and no longer than the servers' timeouts allow.
 * DLOCK_OK: answered. DLOCK_CONNECTION: no server did, or none knows the service; the error names all that were asked.
 */
typedef struct {
	dlock_task task;
	dlock_topology *topology;
	unsigned long before;
	dlock_nanos until;
	dlock_error *error;
} dlock_discovery;

dlock_status dlock_discovery_step(dlock_discovery *own, dlock_loop *loop, dlock_nanos now);

#endif

#ifndef DLOCK_REDIS_TOPOLOGY_H
#define DLOCK_REDIS_TOPOLOGY_H

#include "../wire/pool.h"

/* Where the masters of a service are, as far as this pool's thread knows. A service is a Redis behind Sentinels, a
 * cluster with a master for each slot, or one server with a fixed address. What the thread knows may be out of date:
 * the servers decide which one is a master, and tell a client that asks them.
 *
 * The topology never sleeps. A question is a task that the pool's loop has adopted. */

typedef struct dlock_topology dlock_topology;

/* A task that is dropped with the topology. */
typedef struct dlock_owned {
	struct dlock_owned *next;
	void (*free)(struct dlock_owned *owned);
} dlock_owned;

/* The service's topology, kept across requests as the connections are; NULL when out of memory. */
dlock_topology *dlock_pool_topology(dlock_pool *pool, dlock_endpoint *service);

void dlock_topology_own(dlock_topology *topology, dlock_owned *owned);
void dlock_topology_disown(dlock_topology *topology, dlock_owned *owned);

/* Is the service a cluster, with DLOCK_SLOTS slots? Otherwise it has one slot. */
bool dlock_topology_has_slots(const dlock_topology *topology);

/* Is the service one server with a fixed address? */
bool dlock_topology_is_fixed(const dlock_topology *topology);

/* The slot's master; NULL: not known. A service without slots accepts any number. The result is valid until the next
 * call that may change it, unless the caller retains it. */
dlock_endpoint *dlock_topology_master(const dlock_topology *topology, int slot);

/* The lowest slot that has this server as its master; -1: none. */
int dlock_topology_first_slot(const dlock_topology *topology, const dlock_endpoint *server);

/* `from` has said that the slot is at this address now ("host:port" of MOVED; an empty host is that of `from`). The
 * topology believes that at once, and asks whether it is right. */
void dlock_topology_move(
	dlock_topology *topology, int slot, const char *address, const dlock_endpoint *from, dlock_nanos now);

/* The server at an address ("host:port" of ASK), which is not remembered as a slot's master. The caller must release
 * it. NULL: this is no address, or out of memory. */
dlock_endpoint *dlock_topology_server_at(
	const dlock_topology *topology, const char *address, const dlock_endpoint *from);

/* What is known may be out of date: asks, unless a question is under way or the address is fixed. A question follows
 * the last one at once only if that one changed something. Otherwise it follows after a pause, which counts as
 * asking. */
void dlock_topology_ask(dlock_topology *topology, dlock_nanos now);

bool dlock_topology_is_asking(const dlock_topology *topology);

/* The number of answers so far. If it is higher than before, what is known is newer. */
unsigned long dlock_topology_answers(const dlock_topology *topology);

/* A task: asks until there is an outcome, at most until `until`, and no longer than the servers' timeouts allow.
 * DLOCK_OK: answered. DLOCK_CONNECTION: no server answered, or none knows the service; the error names all that were
 * asked. */
typedef struct {
	dlock_task task;
	dlock_topology *topology;
	unsigned long before;
	dlock_nanos until;
	dlock_error *error;
} dlock_discovery;

dlock_status dlock_discovery_step(dlock_discovery *own, dlock_loop *loop, dlock_nanos now);

#endif

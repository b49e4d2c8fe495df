#ifndef FLEET_H
#define FLEET_H

#include "servers.h"
#include "../../src/net/endpoint/endpoint.h"

/* Real setups of several Redis servers that fail over quickly. */

/* ---- a master with two replicas, and three Sentinels that watch it as "mymaster" ---- */

enum { FLEET_DATA = 3, FLEET_SENTINELS = 3 };

typedef struct {
	test_server data[FLEET_DATA]; /* the first is the master at the start */
	test_server sentinels[FLEET_SENTINELS];
	const char *password, *sentinel_password;
	const char *options[24];
	char lines[1024];
} fleet;

/* Returns when the Sentinels know all servers. NULL: no password. */
void fleet_start(fleet *fleet, const char *password, const char *sentinel_password);
void fleet_end(fleet *fleet);

/* The master according to the first running Sentinel. NULL: no server of the fleet. */
test_server *fleet_master(fleet *fleet);

/* fleet_promote() has the Sentinels promote a replica. If the master was killed or frozen, fleet_wait_for_another()
 * waits for the promotion. Both return when no Sentinel names the old master. */
bool fleet_promote(fleet *fleet);
bool fleet_wait_for_another(fleet *fleet, const test_server *master);

/* Restarts servers that are not running. Returns when all follow one master again, and all Sentinels know them. */
bool fleet_heal(fleet *fleet);

/* The sealed endpoint of the service of this name. The Sentinels know "mymaster" only. `replicas`: how many must
 * confirm. */
dlock_endpoint *fleet_service(const fleet *fleet, const char *name, int replicas);

/* The sealed endpoint of any service, with Sentinels at these ports. */
dlock_endpoint *sentinel_service(const int *ports, int count, const char *name);

/* ---- a cluster: three masters, each with a third of the slots and a replica ---- */

enum { CLUSTER_MASTERS = 3, CLUSTER_NODES = 6 };

typedef struct {
	test_server nodes[CLUSTER_NODES]; /* the replica of nodes[i] is nodes[i + 3] at the start */
} cluster;

void cluster_start(cluster *cluster);
void cluster_end(cluster *cluster);

/* The slot's master according to the first running node. NULL: none. */
test_server *cluster_master(cluster *cluster, int slot);

/* The two together move a slot without keys. If it has keys, call MIGRATE between them. */
bool cluster_begin_move(cluster *cluster, int slot, test_server *to);
bool cluster_end_move(cluster *cluster, int slot, test_server *to);

/* Promotes the replica, even if its master is dead. Returns when all running nodes know. */
bool cluster_promote(cluster *cluster, test_server *replica);

/* Do all running nodes agree about the masters, and accept requests? */
bool cluster_is_well(void *cluster);

dlock_endpoint *cluster_service(const cluster *cluster, int replicas);

/* The sealed endpoint of a cluster with nodes at these ports. */
dlock_endpoint *cluster_service_at(const int *ports, int count);

#endif

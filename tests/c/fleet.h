#ifndef FLEET_H
#define FLEET_H

#include "servers.h"
#include "../../src/net/endpoint/endpoint.h"

/* Real set-ups of more than one Redis server, quick to fail over. */

/* ---- a master with two replicas, and three Sentinels that watch it as "mymaster" ---- */

enum { FLEET_DATA = 3, FLEET_SENTINELS = 3 };

typedef struct {
	test_server data[FLEET_DATA]; /* the first is the master at the start */
	test_server sentinels[FLEET_SENTINELS];
	const char *password, *sentinel_password;
	const char *options[24];
	char lines[1024];
} fleet;

/* Returns when the Sentinels know everything. NULL: no password. */
void fleet_start(fleet *fleet, const char *password, const char *sentinel_password);
void fleet_end(fleet *fleet);

/* The master, as the Sentinel says that is running and is the first; NULL: it is none of ours. */
test_server *fleet_master(fleet *fleet);

/* Sentinels that stood still for two seconds do nothing for half a minute ("tilt"): no fail-over is to be had from them
 * after that. */

/* Has a replica promoted, or waits until that has been done because the master was killed or frozen. Returns when a
 * Sentinel names the new master. */
bool fleet_promote(fleet *fleet);
bool fleet_wait_for_another(fleet *fleet, const test_server *master);

/* All data servers run, follow one master, and are known to all Sentinels again. */
bool fleet_heal(fleet *fleet);

/* The service of this name, which they know if it is "mymaster", sealed; `replicas`: how many must confirm. */
dlock_endpoint *fleet_service(const fleet *fleet, const char *name, int replicas);

/* Of any service, by Sentinels at these ports. */
dlock_endpoint *sentinel_service(const int *ports, int count, const char *name);

/* ---- a cluster: three masters, which have a third of the slots each, with a replica each ---- */

enum { CLUSTER_MASTERS = 3, CLUSTER_NODES = 6 };

typedef struct {
	test_server nodes[CLUSTER_NODES]; /* the replica of nodes[i] is nodes[i + 3] at the start */
} cluster;

void cluster_start(cluster *cluster);
void cluster_end(cluster *cluster);

/* The slot's master, as the node that is running and is the first says; NULL: none. */
test_server *cluster_master(cluster *cluster, int slot);

/* Moves a slot without keys. With keys, cluster_begin_move() lets MIGRATE be called between the two. */
bool cluster_begin_move(cluster *cluster, int slot, test_server *to);
bool cluster_end_move(cluster *cluster, int slot, test_server *to);

/* The replica takes its master's place, which may be dead. Returns when it is a master and the others know. */
bool cluster_promote(cluster *cluster, test_server *replica);

/* All running nodes agree about all slots, and take requests. */
bool cluster_is_well(void *cluster);

dlock_endpoint *cluster_service(const cluster *cluster, int replicas);

/* With nodes at these ports. */
dlock_endpoint *cluster_service_at(const int *ports, int count);

#endif

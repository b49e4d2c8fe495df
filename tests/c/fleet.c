#include "fleet.h"

#include <stdlib.h>
#include <string.h>

#include "helpers.h"
#include "redis_client.h"

/* Waits longer than eventually(), because Sentinels find each other by messages every two seconds. A failover lasts as
 * long. */
static bool in_time(bool (*condition)(void *context), void *context)
{
	for (int i = 0; i < 4; i++) {
		if (eventually(condition, context)) {
			return true;
		}
	}
	return false;
}

static bool end_well(bool good, const char *what)
{
	if (!good) {
		printf("# not in time: %s\n", what);
	}
	return good;
}

/* ---- services ---- */

static dlock_endpoint *service_of(dlock_endpoint_discovery discovery, const int *ports, int count)
{
	dlock_endpoint *service = dlock_endpoint_new(CONNECT_TIMEOUT, READ_TIMEOUT);

	service->discovery = discovery;
	service->seeds = calloc((size_t) count, sizeof *service->seeds);
	service->seed_count = count;
	for (int i = 0; i < count; i++) {
		service->seeds[i] = (dlock_seed) { strdup("127.0.0.1"), ports[i] };
	}
	return service;
}

static dlock_endpoint *seal(dlock_endpoint *service)
{
	dlock_error error;

	if (!dlock_endpoint_seal(service, &error)) {
		printf("Bail out! a service %s\n", error.message);
		exit(2);
	}
	return service;
}

static dlock_endpoint *named(dlock_endpoint *service, const char *name)
{
	dlock_endpoint_set(&service->service, name, strlen(name));
	return service;
}

dlock_endpoint *sentinel_service(const int *ports, int count, const char *name)
{
	dlock_endpoint *service = named(service_of(DLOCK_ENDPOINT_SENTINEL, ports, count), name);

	service->replicas = 0;
	return seal(service);
}

static dlock_endpoint *fleet_service_named(const fleet *fleet, const char *name)
{
	int ports[FLEET_SENTINELS];

	for (int i = 0; i < FLEET_SENTINELS; i++) {
		ports[i] = fleet->sentinels[i].port;
	}
	dlock_endpoint *service = named(service_of(DLOCK_ENDPOINT_SENTINEL, ports, FLEET_SENTINELS), name);
	service->replicas = 0;
	if (fleet->password) {
		dlock_endpoint_set(&service->password, fleet->password, strlen(fleet->password));
	}
	if (fleet->sentinel_password) {
		dlock_endpoint_set(&service->sentinel_password, fleet->sentinel_password, strlen(fleet->sentinel_password));
	}
	return service;
}

dlock_endpoint *fleet_service(const fleet *fleet, const char *name, int replicas)
{
	dlock_endpoint *service = fleet_service_named(fleet, name);

	service->replicas = replicas;
	return seal(service);
}

dlock_endpoint *cluster_service_at(const int *ports, int count)
{
	dlock_endpoint *service = service_of(DLOCK_ENDPOINT_CLUSTER, ports, count);

	service->replicas = 0;
	return seal(service);
}

dlock_endpoint *cluster_service(const cluster *cluster, int replicas)
{
	int ports[CLUSTER_NODES];

	for (int i = 0; i < CLUSTER_NODES; i++) {
		ports[i] = cluster->nodes[i].port;
	}
	dlock_endpoint *service = service_of(DLOCK_ENDPOINT_CLUSTER, ports, CLUSTER_NODES);
	service->replicas = replicas;
	return seal(service);
}

/* ---- Sentinel ---- */

static int add(fleet *fleet, int count, const char *name, const char *value)
{
	fleet->options[count] = name;
	fleet->options[count + 1] = value;
	return count + 2;
}

static void start_data(fleet *fleet)
{
	int count = add(fleet, 0, "--repl-diskless-sync-delay", "0");

	count = add(fleet, count, "--repl-ping-replica-period", "1");
	if (fleet->password) {
		count = add(fleet, count, "--requirepass", fleet->password);
		add(fleet, count, "--masterauth", fleet->password);
	}
	for (int i = 0; i < FLEET_DATA; i++) {
		server_start_secret(&fleet->data[i], fleet->options, fleet->password);
		if (i > 0) {
			server_do(&fleet->data[i], "REPLICAOF 127.0.0.1 %d", fleet->data[0].port);
		}
	}
}

static bool are_linked(void *context)
{
	fleet *fleet = context;
	test_server *master = fleet_master(fleet);

	return master && server_info(master, "replication", "connected_slaves") == FLEET_DATA - 1;
}

static bool sees_all(test_server *sentinel)
{
	redisReply *reply = redisCommand(sentinel->admin, "SENTINEL MASTER mymaster");
	bool good = false;

	for (size_t i = 0; reply && i + 1 < reply->elements; i += 2) {
		const char *name = reply->element[i]->str, *value = reply->element[i + 1]->str;
		if (!strcmp(name, "num-other-sentinels") && strcmp(value, "2")) {
			good = false;
			break;
		}
		if (!strcmp(name, "flags") && strcmp(value, "master")) {
			good = false;
			break;
		}
		good = good || (!strcmp(name, "num-slaves") && atoi(value) == FLEET_DATA - 1);
	}
	if (reply) {
		freeReplyObject(reply);
	}
	return good && !strncmp(server_text(sentinel, "SENTINEL CKQUORUM mymaster"), "OK", 2);
}

static bool is_well_known(void *context)
{
	fleet *fleet = context;

	for (int i = 0; i < FLEET_SENTINELS; i++) {
		if (!fleet->sentinels[i].pid || !sees_all(&fleet->sentinels[i])) {
			return false;
		}
	}
	return true;
}

/* A Sentinel that stood still for two seconds would do nothing for half a minute ("tilt"). Redis before 7.0 cannot be
 * told. */
static void forbid_tilt(test_server *sentinel)
{
	server_text(sentinel, "SENTINEL DEBUG tilt-trigger 3600000");
}

void fleet_start(fleet *fleet, const char *password, const char *sentinel_password)
{
	memset(fleet, 0, sizeof *fleet);
	fleet->password = password;
	fleet->sentinel_password = sentinel_password;
	start_data(fleet);
	int len = snprintf(fleet->lines, sizeof fleet->lines,
		"sentinel monitor mymaster 127.0.0.1 %d 2\nsentinel down-after-milliseconds mymaster 60000\n"
		"sentinel failover-timeout mymaster 3000\nsentinel parallel-syncs mymaster 2\n",
		fleet->data[0].port);
	if (password) {
		len += snprintf(
			fleet->lines + len, sizeof fleet->lines - (size_t) len, "sentinel auth-pass mymaster %s\n", password);
	}
	if (sentinel_password) {
		snprintf(fleet->lines + len, sizeof fleet->lines - (size_t) len, "requirepass %s\n", sentinel_password);
	}
	for (int i = 0; i < FLEET_SENTINELS; i++) {
		server_start_sentinel(&fleet->sentinels[i], fleet->lines, sentinel_password);
		forbid_tilt(&fleet->sentinels[i]);
	}
	end_well(in_time(are_linked, fleet) && in_time(is_well_known, fleet), "Sentinels that know everything");
}

void fleet_end(fleet *fleet)
{
	for (int i = 0; i < FLEET_SENTINELS; i++) {
		if (fleet->sentinels[i].pid) {
			server_kill(&fleet->sentinels[i]);
		}
	}
	for (int i = 0; i < FLEET_DATA; i++) {
		if (fleet->data[i].pid) {
			server_kill(&fleet->data[i]);
		}
	}
}

static int port_of_master(test_server *sentinel)
{
	redisReply *reply = redisCommand(sentinel->admin, "SENTINEL GET-MASTER-ADDR-BY-NAME mymaster");
	int port = reply && reply->elements == 2 ? atoi(reply->element[1]->str) : 0;

	if (reply) {
		freeReplyObject(reply);
	}
	return port;
}

test_server *fleet_master(fleet *fleet)
{
	for (int i = 0; i < FLEET_SENTINELS; i++) {
		if (fleet->sentinels[i].pid) {
			int port = port_of_master(&fleet->sentinels[i]);
			for (int j = 0; j < FLEET_DATA; j++) {
				if (fleet->data[j].port == port) {
					return &fleet->data[j];
				}
			}
			return NULL;
		}
	}
	return NULL;
}

typedef struct {
	fleet *fleet;
	const test_server *master;
} succession;

static bool is_replaced(void *context)
{
	const succession *succession = context;

	for (int i = 0; i < FLEET_SENTINELS; i++) {
		test_server *sentinel = &succession->fleet->sentinels[i];
		if (sentinel->pid && port_of_master(sentinel) == succession->master->port) {
			return false;
		}
	}
	return true;
}

/* The Sentinels replace a server that has not answered for so long. */
static void set_down_after(fleet *fleet, int ms)
{
	for (int i = 0; i < FLEET_SENTINELS; i++) {
		if (fleet->sentinels[i].pid) {
			server_do(&fleet->sentinels[i], "SENTINEL SET mymaster down-after-milliseconds %d", ms);
		}
	}
}

bool fleet_wait_for_another(fleet *fleet, const test_server *master)
{
	set_down_after(fleet, 1000);
	bool good = end_well(in_time(is_replaced, &(succession) { fleet, master }), "another master");
	set_down_after(fleet, 60000); /* so that no server is replaced because it stands still for a while */
	return good;
}

/* Asks for a failover for as long as the first running Sentinel names the old master: one that fails is given up. */
static bool is_promoted_instead(void *context)
{
	const succession *succession = context;

	for (int i = 0; i < FLEET_SENTINELS; i++) {
		test_server *sentinel = &succession->fleet->sentinels[i];
		if (sentinel->pid) {
			if (port_of_master(sentinel) == succession->master->port) {
				server_text(sentinel, "SENTINEL FAILOVER mymaster");
				return false;
			}
			break;
		}
	}
	return is_replaced(context);
}

bool fleet_promote(fleet *fleet)
{
	test_server *master = fleet_master(fleet);

	return master && end_well(in_time(is_promoted_instead, &(succession) { fleet, master }), "SENTINEL FAILOVER");
}

bool fleet_heal(fleet *fleet)
{
	for (int i = 0; i < FLEET_SENTINELS; i++) {
		if (!fleet->sentinels[i].pid) {
			server_restart(&fleet->sentinels[i]);
			forbid_tilt(&fleet->sentinels[i]);
		}
	}
	for (int i = 0; i < FLEET_DATA; i++) {
		if (!fleet->data[i].pid) {
			server_restart(&fleet->data[i]);
			if (&fleet->data[i] != fleet_master(fleet)) {
				server_do(&fleet->data[i], "REPLICAOF 127.0.0.1 %d", fleet_master(fleet)->port);
			}
		}
	}
	return end_well(in_time(are_linked, fleet) && in_time(is_well_known, fleet), "the fleet is as it was");
}

/* ---- Cluster ---- */

static const char *const node_options[] = { "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
	"--cluster-node-timeout", "1000", "--cluster-replica-no-failover", "yes", "--repl-diskless-sync-delay", "0",
	"--repl-ping-replica-period", "1", NULL };

static void own_id(test_server *node, char id[41])
{
	snprintf(id, 41, "%s", server_text(node, "CLUSTER MYID"));
}

/* Names each slot, because ADDSLOTSRANGE needs Redis 7.0. */
static void add_slots(test_server *node, int first, int last)
{
	int count = last - first + 3;
	const char **words = calloc((size_t) count, sizeof *words);
	char (*numbers)[16] = calloc((size_t) count, sizeof *numbers);

	words[0] = "CLUSTER";
	words[1] = "ADDSLOTS";
	for (int i = 2; i < count; i++) {
		snprintf(numbers[i], sizeof numbers[i], "%d", first + i - 2);
		words[i] = numbers[i];
	}
	freeReplyObject(redisCommandArgv(node->admin, count, words, NULL));
	free(numbers);
	free(words);
}

static bool knows_all(void *context)
{
	cluster *cluster = context;

	for (int i = 0; i < CLUSTER_NODES; i++) {
		const char *info = server_text(&cluster->nodes[i], "CLUSTER INFO");
		if (!strstr(info, "cluster_known_nodes:6\r")) {
			return false;
		}
	}
	return true;
}

/* The port of the slot's master according to a node, and how many slots and replicas the node knows. */
typedef struct {
	int port;
	int slots;
	int replicas;
} view;

static view view_of(test_server *node, int slot)
{
	redisReply *reply = redisCommand(node->admin, "CLUSTER SLOTS");
	view view = { 0, 0, 0 };

	for (size_t i = 0; reply && i < reply->elements; i++) {
		const redisReply *range = reply->element[i];
		if (range->element[0]->integer <= slot && slot <= range->element[1]->integer) {
			view.port = (int) range->element[2]->element[1]->integer;
		}
		view.slots += (int) (range->element[1]->integer - range->element[0]->integer) + 1;
		view.replicas += (int) range->elements - 3;
	}
	if (reply) {
		freeReplyObject(reply);
	}
	return view;
}

bool cluster_is_well(void *context)
{
	cluster *cluster = context;

	for (int i = 0; i < CLUSTER_NODES; i++) {
		test_server *node = &cluster->nodes[i];
		if (node->pid
			&& (!strstr(server_text(node, "CLUSTER INFO"), "cluster_state:ok") || view_of(node, 0).slots != 16384)) {
			return false;
		}
	}
	for (int slot = 0; slot < 16384; slot += 16383 / 3) {
		int port = 0;
		for (int i = 0; i < CLUSTER_NODES; i++) {
			int seen = cluster->nodes[i].pid ? view_of(&cluster->nodes[i], slot).port : port;
			if (port && seen != port) {
				return false;
			}
			port = seen;
		}
	}
	return true;
}

static bool has_replicas(void *context)
{
	cluster *cluster = context;

	for (int i = 0; i < CLUSTER_NODES; i++) {
		if (view_of(&cluster->nodes[i], 0).replicas != CLUSTER_NODES - CLUSTER_MASTERS) {
			return false;
		}
	}
	for (int i = CLUSTER_MASTERS; i < CLUSTER_NODES; i++) {
		if (strstr(server_text(&cluster->nodes[i], "INFO replication"), "master_link_status:up") == NULL) {
			return false;
		}
	}
	return cluster_is_well(cluster);
}

void cluster_start(cluster *cluster)
{
	char ids[CLUSTER_MASTERS][41];

	for (int i = 0; i < CLUSTER_NODES; i++) {
		server_start_node(&cluster->nodes[i], node_options);
		server_do(&cluster->nodes[i], "CLUSTER SET-CONFIG-EPOCH %d", i + 1);
	}
	for (int i = 0; i < CLUSTER_MASTERS; i++) {
		own_id(&cluster->nodes[i], ids[i]);
		add_slots(&cluster->nodes[i], i * 16384 / CLUSTER_MASTERS, (i + 1) * 16384 / CLUSTER_MASTERS - 1);
	}
	bool good = false;
	for (int tries = 0; tries < 4 && !good; tries++) { /* if no answer comes in time, a node forgets the other */
		for (int i = 1; i < CLUSTER_NODES; i++) {
			server_do(&cluster->nodes[i], "CLUSTER MEET 127.0.0.1 %d", cluster->nodes[0].port);
		}
		good = eventually(knows_all, cluster);
	}
	for (int i = 0; good && i < CLUSTER_MASTERS; i++) {
		good = server_do(&cluster->nodes[i + CLUSTER_MASTERS], "CLUSTER REPLICATE %s", ids[i]);
	}
	end_well(good && in_time(has_replicas, cluster), "a cluster");
	for (int i = 0; i < CLUSTER_NODES; i++) { /* no node is given up because it stands still for a while */
		server_do(&cluster->nodes[i], "CONFIG SET cluster-node-timeout 20000");
	}
}

void cluster_end(cluster *cluster)
{
	for (int i = 0; i < CLUSTER_NODES; i++) {
		if (cluster->nodes[i].pid) {
			server_kill(&cluster->nodes[i]);
		}
	}
}

test_server *cluster_master(cluster *cluster, int slot)
{
	for (int i = 0; i < CLUSTER_NODES; i++) {
		if (!cluster->nodes[i].pid) {
			continue;
		}
		int port = view_of(&cluster->nodes[i], slot).port;
		for (int j = 0; j < CLUSTER_NODES; j++) {
			if (cluster->nodes[j].port == port) {
				return &cluster->nodes[j];
			}
		}
		return NULL;
	}
	return NULL;
}

bool cluster_begin_move(cluster *cluster, int slot, test_server *to)
{
	test_server *from = cluster_master(cluster, slot);
	char from_id[41], to_id[41];

	own_id(from, from_id);
	own_id(to, to_id);
	return server_do(to, "CLUSTER SETSLOT %d IMPORTING %s", slot, from_id)
		&& server_do(from, "CLUSTER SETSLOT %d MIGRATING %s", slot, to_id);
}

bool cluster_end_move(cluster *cluster, int slot, test_server *to)
{
	test_server *from = cluster_master(cluster, slot);
	char to_id[41];

	own_id(to, to_id);
	return server_do(to, "CLUSTER SETSLOT %d NODE %s", slot, to_id)
		&& server_do(from, "CLUSTER SETSLOT %d NODE %s", slot, to_id);
}

/* Does this replica's master run? */
static bool has_master(cluster *cluster, test_server *replica)
{
	long long port = server_info(replica, "replication", "master_port");

	for (int i = 0; i < CLUSTER_NODES; i++) {
		if (cluster->nodes[i].port == port) {
			return cluster->nodes[i].pid != 0;
		}
	}
	return false;
}

typedef struct {
	cluster *cluster;
	test_server *replica;
	dlock_nanos asked;
} promotion;

/* Asks again if it has failed, as after five seconds in which a node stood still. */
static bool is_promoted(void *context)
{
	promotion *promotion = context;
	dlock_nanos now = dlock_now();

	if (strstr(server_text(promotion->replica, "INFO replication"), "role:master")) {
		return true;
	}
	if (promotion->asked == 0 || now - promotion->asked > 6 * DLOCK_SECOND) {
		promotion->asked = now;
		bool runs = has_master(promotion->cluster, promotion->replica);
		server_text(promotion->replica, runs ? "CLUSTER FAILOVER" : "CLUSTER FAILOVER TAKEOVER");
	}
	return false;
}

bool cluster_promote(cluster *cluster, test_server *replica)
{
	return end_well(in_time(is_promoted, &(promotion){ cluster, replica, 0 }), "a promotion")
		&& end_well(in_time(cluster_is_well, cluster), "a cluster");
}

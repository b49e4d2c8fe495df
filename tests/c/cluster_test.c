/* How the masters of a Redis Cluster are found: in a real cluster, and in answers that a real one does not give. Prints
 * TAP. */

#include <stdlib.h>

#include "../../src/redis/route/cluster.h"
#include "../../src/redis/script/slot.h"
#include "../../src/redis/route/topology.h"
#include "fleet.h"
#include "helpers.h"
#include "redis_client.h"
#include "tap.h"

static cluster nodes;

static void begin(void)
{
	cluster_start(&nodes);
}

/* ---- answers ---- */

typedef struct {
	dlock_endpoint *service, *node;
	dlock_slot_map known, map;
	dlock_error error;
} reader;

static reader reader_new(void)
{
	int port = 7000;
	reader reader = { .service = cluster_service_at(&port, 1) };

	reader.node = dlock_endpoint_member(reader.service, "10.0.0.9", 7009);
	dlock_slot_map_begin(&reader.known, DLOCK_SLOTS);
	return reader;
}

static void reader_free(reader *reader)
{
	dlock_slot_map_end(&reader->known);
	dlock_endpoint_release(reader->node);
	dlock_endpoint_release(reader->service);
}

static dlock_status read_answer(reader *reader, const char *answer)
{
	redisReader *parser = redisReaderCreate();
	void *reply = NULL;

	redisReaderFeed(parser, answer, strlen(answer));
	check(redisReaderGetReply(parser, &reply) == REDIS_OK && reply, "an answer");
	dlock_status status = dlock_cluster_read(
		reply, reader->service, reader->node, &reader->known, &reader->map, &reader->error);
	freeReplyObject(reply);
	redisReaderFree(parser);
	return status;
}

static bool is_at(const dlock_endpoint *server, const char *label)
{
	return label ? server && !strcmp(server->label, label) : !server;
}

static bool has_at(const reader *reader, int slot, const char *label)
{
	return is_at(dlock_slot_map_get(&reader->map, slot), label);
}

#define MASTER(host, port) "*2\r\n" host ":" port "\r\n"
#define RANGE(first, last, master) "*3\r\n:" first "\r\n:" last "\r\n" master
#define TEXT(len, text) "$" len "\r\n" text "\r\n"

static void test_answers(void)
{
	reader reader = reader_new();

	check(read_answer(&reader,
			  "*5\r\n" RANGE("0", "99", MASTER(TEXT("8", "10.0.0.1"), "7000"))
				  RANGE("100", "199", MASTER(TEXT("0", ""), "7001")) "*3\r\n:200\r\n:299\r\n*4\r\n" TEXT(
					  "1", "?") ":7002\r\n" TEXT("2", "id") "*2\r\n" TEXT("2", "ip") TEXT("8", "10.0.0.2")
					  RANGE("300", "399", MASTER("$-1\r\n", "7003")) "*4\r\n:16383\r\n:16383\r\n*4\r\n" TEXT(
						  "3", "::1") ":7004\r\n" TEXT("2", "id") "*0\r\n" MASTER(TEXT("8", "10.0.0.1"), "7005"))
			== DLOCK_OK,
		"read");
	check(has_at(&reader, 0, "10.0.0.1:7000") && has_at(&reader, 99, "10.0.0.1:7000"), "an address");
	check(has_at(&reader, 100, "10.0.0.9:7001") && has_at(&reader, 300, "10.0.0.9:7003"),
		"an empty address is that of the node that was asked");
	check(has_at(&reader, 299, "10.0.0.2:7002"), "if the name is not known, the IP address counts");
	check(has_at(&reader, 16383, "[::1]:7004") && has_at(&reader, 400, NULL), "IPv6, and slots without a master");
	check(!dlock_slot_map_get(&reader.map, 0)->replicas
			&& dlock_slot_map_get(&reader.map, 0)->discovery == DLOCK_ENDPOINT_FIXED,
		"as members");
	dlock_slot_map_end(&reader.known);
	reader.known = reader.map;
	check(read_answer(&reader, "*1\r\n" RANGE("5", "5", MASTER(TEXT("8", "10.0.0.1"), "7000"))) == DLOCK_OK
			&& dlock_slot_map_get(&reader.map, 5) == dlock_slot_map_get(&reader.known, 0),
		"a known server stays the same endpoint");
	check(has_at(&reader, 150, "10.0.0.9:7001") && has_at(&reader, 400, NULL),
		"slots that this node does not know are as before");
	dlock_slot_map_end(&reader.map);
	check(read_answer(&reader,
			  "*1\r\n" RANGE(
				  "5", "5", MASTER(TEXT("8", "10.0.0.1"), "0") RANGE("400", "400", MASTER(TEXT("1", "?"), "7000"))))
				== DLOCK_OK
			&& has_at(&reader, 400, NULL),
		"a master without a usable address is not known");
	dlock_slot_map_end(&reader.map);
	reader_free(&reader);
}

#define ID(digit) TEXT("40", digit digit digit digit)
#define NODE(host, id) "*3\r\n" TEXT("8", host) ":7000\r\n" ID(id)
#define FIRST "0000000001"
#define SECOND "0000000002"
#define THIRD "0000000003"

/* A node of another cluster answers at an address of this one. */
static void test_other_cluster(void)
{
	reader reader = reader_new();

	check(read_answer(&reader, "*1\r\n" RANGE("0", "99", NODE("10.0.0.1", FIRST))) == DLOCK_OK, "the first answer");
	dlock_slot_map_end(&reader.known);
	reader.known = reader.map;
	check(read_answer(&reader, "*1\r\n" RANGE("0", "99", NODE("10.0.0.1", SECOND))) == DLOCK_CONNECTION
			&& strstr(reader.error.message, "another cluster"),
		"none of its nodes is known: %s", reader.error.message);
	check(read_answer(&reader,
			  "*1\r\n*5\r\n:0\r\n:99\r\n" NODE("10.0.0.2", SECOND) NODE("10.0.0.3", THIRD) NODE("10.0.0.1", FIRST))
				== DLOCK_OK
			&& has_at(&reader, 99, "10.0.0.2:7000"),
		"the master is a replica now");
	dlock_slot_map_end(&reader.map);
	reader_free(&reader);
}

static void test_strange_answers(void)
{
	static const struct {
		const char *answer, *word;
	} cases[] = {
		{ "-ERR This instance has cluster support disabled\r\n", "ERR This instance has cluster support disabled" },
		{ "*0\r\n", "no slots" },
		{ "+OK\r\n", "no slots" },
		{ "*1\r\n:1\r\n", "cannot be read" },
		{ "*1\r\n*2\r\n:1\r\n:2\r\n", "cannot be read" },
		{ "*1\r\n" RANGE("2", "1", MASTER(TEXT("8", "10.0.0.1"), "7000")), "cannot be read" },
		{ "*1\r\n" RANGE("-1", "1", MASTER(TEXT("8", "10.0.0.1"), "7000")), "cannot be read" },
		{ "*1\r\n" RANGE("0", "16384", MASTER(TEXT("8", "10.0.0.1"), "7000")), "cannot be read" },
		{ "*1\r\n" RANGE("0", "1", "*1\r\n" TEXT("8", "10.0.0.1")), "cannot be read" },
		{ "*1\r\n" RANGE("0", "1", "*2\r\n" TEXT("8", "10.0.0.1") TEXT("4", "7000")), "cannot be read" },
	};
	reader reader = reader_new();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dlock_status status = read_answer(&reader, cases[i].answer);
		check(status == DLOCK_CONNECTION && strstr(reader.error.message, cases[i].word), "%s", reader.error.message);
	}
	reader_free(&reader);
}

static void test_addresses(void)
{
	static const struct {
		const char *address, *label;
	} cases[] = {
		{ "10.0.0.1:7000", "10.0.0.1:7000" },
		{ ":7000", "10.0.0.9:7000" },
		{ "?:7000", NULL },
		{ "::1:7000", "[::1]:7000" },
		{ "Node-1.example.com:7000", "node-1.example.com:7000" },
		{ "10.0.0.1", NULL },
		{ "10.0.0.1:", NULL },
		{ "10.0.0.1:0", NULL },
		{ "10.0.0.1:70000", NULL },
		{ "10.0.0.1:7x", NULL },
		{ "", NULL },
	};
	reader reader = reader_new();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dlock_endpoint *server = dlock_cluster_server_at(cases[i].address, reader.service, reader.node, &reader.known);
		check(is_at(server, cases[i].label), "\"%s\" is %s", cases[i].address,
			cases[i].label ? cases[i].label : "no address");
		if (server) {
			dlock_endpoint_release(server);
		}
	}
	reader_free(&reader);
}

/* ---- a cluster ---- */

typedef struct {
	dlock_pool pool;
	dlock_endpoint *service;
	dlock_topology *topology;
	dlock_error error;
} asker;

static asker *asker_of(dlock_endpoint *service)
{
	asker *asker = calloc(1, sizeof *asker);

	asker->service = service;
	asker->topology = dlock_pool_topology(&asker->pool, service);
	return asker;
}

static void asker_free(asker *asker)
{
	dlock_pool_clear(&asker->pool);
	dlock_endpoint_release(asker->service);
	free(asker);
}

static dlock_status discover(asker *asker)
{
	asker->error.message[0] = '\0';
	return discover_until(&asker->pool, asker->topology, dlock_now() + 30 * DLOCK_SECOND, &asker->error);
}

static int port_of(const asker *asker, int slot)
{
	const dlock_endpoint *master = dlock_topology_master(asker->topology, slot);

	return master ? master->port : 0;
}

/* Are the masters those that the nodes name? */
static bool is_right(const asker *asker)
{
	for (int slot = 0; slot < DLOCK_SLOTS; slot += 1000) {
		const test_server *master = cluster_master(&nodes, slot);
		if (!master || port_of(asker, slot) != master->port) {
			return false;
		}
	}
	return true;
}

static void test_found(void)
{
	asker *asker = asker_of(cluster_service(&nodes, 1));

	check(dlock_topology_has_slots(asker->topology) && port_of(asker, 0) == 0 && port_of(asker, 16383) == 0,
		"nothing is known at first");
	bool good = discover(asker) == DLOCK_OK;
	check(good && is_right(asker), "the masters of all slots (%s)", asker->error.message);
	check(port_of(asker, 5460) == nodes.nodes[0].port && port_of(asker, 5461) == nodes.nodes[1].port
			&& port_of(asker, 16383) == nodes.nodes[2].port,
		"each slot has its master");
	check(closes_at_once(&asker->pool), "one node was asked, and its connection is closed at once");
	dlock_endpoint *master = dlock_endpoint_retain(dlock_topology_master(asker->topology, 7));
	check(discover(asker) == DLOCK_OK && dlock_topology_master(asker->topology, 7) == master,
		"asked again: the endpoints are the same");
	dlock_endpoint_release(master);
	asker_free(asker);
}

static void test_moved(void)
{
	asker *asker = asker_of(cluster_service(&nodes, 1));
	char address[32];

	discover(asker);
	dlock_endpoint *from = dlock_endpoint_retain(dlock_topology_master(asker->topology, 100)), *first = from;
	unsigned long answers = dlock_topology_answers(asker->topology);
	snprintf(address, sizeof address, "127.0.0.1:%d", nodes.nodes[1].port);
	dlock_topology_move(asker->topology, 100, address, from, dlock_now());
	check(port_of(asker, 100) == nodes.nodes[1].port && port_of(asker, 101) == from->port,
		"a redirection counts at once");
	check(dlock_topology_is_asking(asker->topology) && discover(asker) == DLOCK_OK
			&& dlock_topology_answers(asker->topology) == answers + 1,
		"and the nodes are asked about it");
	check(port_of(asker, 100) == nodes.nodes[0].port, "the redirection was wrong");
	dlock_topology_move(asker->topology, 100, ":1", from, dlock_now());
	check(is_at(dlock_topology_master(asker->topology, 100), "127.0.0.1:1"),
		"an address without a host has the node's own");
	dlock_topology_move(asker->topology, 101, "nonsense", from, dlock_now());
	check(port_of(asker, 101) == nodes.nodes[0].port, "a text that is no address does not count");
	discover(asker);
	check(is_right(asker), "right again");
	dlock_endpoint_release(first);
	asker_free(asker);
}

static bool sees_move(void *context)
{
	asker *asker = context;

	return discover(asker) == DLOCK_OK && port_of(asker, 200) == nodes.nodes[2].port;
}

static void test_moved_slot(void)
{
	asker *asker = asker_of(cluster_service(&nodes, 1));

	discover(asker);
	check(cluster_begin_move(&nodes, 200, &nodes.nodes[2]), "a slot is being moved");
	check(discover(asker) == DLOCK_OK && port_of(asker, 200) == nodes.nodes[0].port,
		"until the move ends, the old master has it");
	check(cluster_end_move(&nodes, 200, &nodes.nodes[2]) && eventually(sees_move, asker), "then the new master has it");
	check(port_of(asker, 199) == nodes.nodes[0].port && port_of(asker, 201) == nodes.nodes[0].port,
		"and no other slot has moved");
	asker_free(asker);
}

static void test_address_of_ask(void)
{
	asker *asker = asker_of(cluster_service(&nodes, 1));
	char address[32];

	discover(asker);
	dlock_endpoint *from = dlock_topology_master(asker->topology, 100);
	dlock_endpoint *other = dlock_topology_server_at(asker->topology, "127.0.0.1:1", from);
	check(is_at(other, "127.0.0.1:1") && other->references == 1, "the server of an ASK is the master of no slot");
	dlock_endpoint_release(other);
	snprintf(address, sizeof address, ":%d", nodes.nodes[1].port);
	other = dlock_topology_server_at(asker->topology, address, from);
	check(other == dlock_topology_master(asker->topology, 6000), "unless it is a known master");
	dlock_endpoint_release(other);
	asker_free(asker);
}

static void test_no_cluster(void)
{
	static test_server plain; /* static, because servers.c keeps its address */
	int ports[] = { 0, nodes.nodes[4].port };

	server_start(&plain, NULL);
	ports[0] = plain.port;
	asker *asker = asker_of(cluster_service_at(ports, 1));
	check(discover(asker) == DLOCK_CONNECTION, "a server that is no node");
	check(strstr(asker->error.message, "cluster support disabled")
			&& strstr(asker->error.message, "No node of the cluster"),
		"%s", asker->error.message);
	asker_free(asker);
	asker = asker_of(cluster_service_at(ports, 2));
	check(discover(asker) == DLOCK_OK && is_right(asker), "the next server is a node (%s)", asker->error.message);
	asker_free(asker);
	server_kill(&plain);
}

static bool knows_all_nodes(asker *asker)
{
	for (int i = 0; i < CLUSTER_MASTERS; i++) {
		const dlock_endpoint *master = dlock_topology_master(asker->topology, i * 5462);
		if (!master->node_id || strcmp(master->node_id, server_text(&nodes.nodes[i], "CLUSTER MYID"))) {
			return false;
		}
	}
	return true;
}

/* Asks a server that the client expects to be this node. */
static dlock_call_state ask_as_node(test_server *server, const char *id, dlock_error *error)
{
	dlock_endpoint *service = cluster_service(&nodes, 0),
				 *member = dlock_endpoint_member(service, "127.0.0.1", server->port);
	dlock_conn *conn = (dlock_endpoint_set(&member->node_id, id, strlen(id)), dlock_conn_new(member));
	dlock_arg words[] = { DLOCK_ARG("PING") };
	dlock_call *call = dlock_call_command(words, 1);

	dlock_conn_send(conn, call);
	conn_await(conn, call);
	dlock_call_state state = call->state;
	*error = conn->error;
	check(state == DLOCK_CALL_ANSWERED || (!conn->refused && !call->sent),
		"the client must find the master again, and has sent nothing");
	dlock_call_release(call);
	dlock_conn_free(conn);
	dlock_endpoint_release(member);
	dlock_endpoint_release(service);
	return state;
}

/* Another server is at the address of a node. */
static void test_identity(void)
{
	static test_server plain; /* static, because servers.c keeps its address */
	asker *asker = asker_of(cluster_service(&nodes, 1));
	char id[64], other[64];
	dlock_error error;

	server_start(&plain, NULL);
	check(discover(asker) == DLOCK_OK && knows_all_nodes(asker), "the nodes' ids");
	strcpy(id, server_text(&nodes.nodes[0], "CLUSTER MYID"));
	strcpy(other, server_text(&nodes.nodes[1], "CLUSTER MYID"));
	check(ask_as_node(&nodes.nodes[0], id, &error) == DLOCK_CALL_ANSWERED, "a node");
	check(ask_as_node(&nodes.nodes[0], other, &error) == DLOCK_CALL_FAILED
			&& strstr(error.message, "not the node of the cluster any more"),
		"another node: %s", error.message);
	check(ask_as_node(&plain, id, &error) == DLOCK_CALL_FAILED && strstr(error.message, "not the node"), "no node: %s",
		error.message);

	/* If another node is now at an address, the connection to it must be opened anew. */
	dlock_endpoint *master = dlock_topology_master(asker->topology, 0),
				 *moved = dlock_endpoint_member(asker->service, "127.0.0.1", nodes.nodes[0].port);
	dlock_conn *conn = dlock_pool_conn(&asker->pool, master);
	dlock_inbox *inbox = dlock_pool_inbox(&asker->pool, master);
	dlock_endpoint_set(&moved->node_id, other, strlen(other));
	check(dlock_pool_conn(&asker->pool, moved) == conn && conn->node == moved && conn->state == DLOCK_CONN_CLOSED,
		"the same connection now expects the new node");
	check(dlock_pool_inbox(&asker->pool, moved) == inbox && inbox->conn->node == moved,
		"and so does the connection of the inbox");
	dlock_endpoint_release(moved);
	asker_free(asker);
	server_kill(&plain);
}

static void test_promoted(void)
{
	asker *asker = asker_of(cluster_service(&nodes, 1));

	discover(asker);
	check(port_of(asker, 7000) == nodes.nodes[1].port, "before");
	check(cluster_promote(&nodes, &nodes.nodes[4]), "a replica is promoted");
	check(discover(asker) == DLOCK_OK && port_of(asker, 7000) == nodes.nodes[4].port && is_right(asker), "and found");
	asker_free(asker);
}

/* Late, because it kills a node. */
static void test_seeds_gone(void)
{
	int ports[] = { closed_port(), nodes.nodes[0].port };
	asker *asker = asker_of(cluster_service_at(ports, 2));

	check(
		discover(asker) == DLOCK_OK && is_right(asker), "found by the seed that is running (%s)", asker->error.message);
	server_kill(&nodes.nodes[0]);
	check(discover(asker) == DLOCK_OK, "no seed is left: the masters are asked (%s)", asker->error.message);
	check(cluster_promote(&nodes, &nodes.nodes[3]), "a replica is promoted");
	check(discover(asker) == DLOCK_OK && port_of(asker, 0) == nodes.nodes[3].port && is_right(asker),
		"and is found (%s)", asker->error.message);
	asker_free(asker);
}

/* ---- nodes that do not know all ---- */

static bool has_address(void *context)
{
	asker *asker = context;
	const dlock_endpoint *named = discover(asker) == DLOCK_OK ? dlock_topology_master(asker->topology, 16383) : NULL;

	return named && !strcmp(named->host, "localhost");
}

/* The nodes answer with names, but one master has none. The others write "?" for it, with its address beside that. */
static void test_without_name(void)
{
	char dsn[64];

	snprintf(dsn, sizeof dsn, "cluster://localhost:%d", nodes.nodes[0].port);
	asker *asker = asker_of(test_server_at(dsn));
	for (int i = 0; i < CLUSTER_NODES; i++) {
		server_do(&nodes.nodes[i], "CONFIG SET cluster-announce-hostname %s", i == 1 ? "" : "localhost");
		server_do(&nodes.nodes[i], "CONFIG SET cluster-preferred-endpoint-type hostname");
	}
	check(eventually(has_address, asker) && is_right(asker), "found (%s)", asker->error.message);
	const dlock_endpoint *master = dlock_topology_master(asker->topology, 6000);
	check(master && !strcmp(master->host, "127.0.0.1") && master->port == nodes.nodes[1].port,
		"the master without a name has its address");
	for (int i = 0; i < CLUSTER_NODES; i++) {
		server_do(&nodes.nodes[i], "CONFIG SET cluster-preferred-endpoint-type ip");
		server_do(&nodes.nodes[i], "CONFIG SET cluster-announce-hostname %s", "");
	}
	asker_free(asker);
}

static bool knows_last(void *context)
{
	asker *asker = context;

	return discover(asker) == DLOCK_OK && port_of(asker, 16383) == nodes.nodes[2].port;
}

/* The last test: the node learns only a minute later of the nodes that it has forgotten. */
static void test_forgotten(void)
{
	int ports[] = { nodes.nodes[1].port, nodes.nodes[2].port };
	asker *before = asker_of(cluster_service_at(ports, 1)), *after = asker_of(cluster_service_at(ports, 2));
	char master[64], replica[64];

	check(discover(before) == DLOCK_OK && port_of(before, 16383) == nodes.nodes[2].port, "known");
	snprintf(master, sizeof master, "%s", server_text(&nodes.nodes[2], "CLUSTER MYID"));
	snprintf(replica, sizeof replica, "%s", server_text(&nodes.nodes[5], "CLUSTER MYID"));
	check(server_do(&nodes.nodes[1], "CLUSTER FORGET %s", replica)
			&& server_do(&nodes.nodes[1], "CLUSTER FORGET %s", master),
		"a node forgets a master");
	bool good = true;
	for (int i = 0; i < 6; i++) { /* the nodes are asked in turn */
		good &= discover(before) == DLOCK_OK && port_of(before, 16383) == nodes.nodes[2].port;
	}
	check(good, "the client still knows it (%s)", before->error.message);
	check(eventually(knows_last, after), "if a node does not know all slots, another one is asked (%s)",
		after->error.message);
	asker_free(before);
	asker_free(after);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(answers),
		TEST(other_cluster),
		TEST(strange_answers),
		TEST(addresses),
		TEST(found),
		TEST(moved),
		TEST(moved_slot),
		TEST(address_of_ask),
		TEST(no_cluster),
		TEST(identity),
		TEST(without_name),
		TEST(promoted),
		TEST(seeds_gone),
		TEST(forgotten),
	};
	static const tap_setting setting = { .begin = begin };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

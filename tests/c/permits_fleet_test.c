/* Semaphores and read/write locks in a Redis Cluster, also if a replica confirms, and behind Sentinels. Prints TAP. */

#include <stdlib.h>
#include <unistd.h>

#include "../../src/redis/script/slot.h"
#include "fleet.h"
#include "helpers.h"
#include "pair.h"
#include "permits_client.h"
#include "tap.h"
#include "upkeep.h"

static cluster nodes;
static fleet set;

static void begin(void)
{
	cluster_start(&nodes);
}

static client in_cluster(void)
{
	return permits_client_on(cluster_service(&nodes, 0), 3, false);
}

static client confirmed_in_cluster(void)
{
	dlock_endpoint *service = cluster_service(&nodes, 1);

	service->guard = 500 * DLOCK_MS;
	return permits_client_on(service, 3, false);
}

static client behind_sentinels(void)
{
	return permits_client_on(fleet_service(&set, "mymaster", 0), 3, false);
}

static int slot_of(const char *resource)
{
	char key[128];

	return dlock_slot_of(key, (size_t) snprintf(key, sizeof key, POOL "%s", resource));
}

/* Holders of many pools, waiters, renewal, and a slot that moves with its pool. */
static void test_cluster(void)
{
	client c;
	ward ward;
	int good = 0;

	c = in_cluster();
	for (int i = 0; i < 20; i++) {
		char name[32];
		snprintf(name, sizeof name, "slot-%d", i);
		dlock_claim *claim = permits_on(&c, name, 2, 60000);
		good += acquire(&c, claim, 60000) == DLOCK_OK && held_permits(cluster_master(&nodes, slot_of(name)), name) == 2
			&& let_go(&c, claim);
	}
	check(good == 20, "pools in many slots (%d)", good);

	test_server *from = cluster_master(&nodes, slot_of("moves")),
				*to = from == &nodes.nodes[0] ? &nodes.nodes[1] : &nodes.nodes[0];
	takers *takers = takers_new();
	ward_begin(&ward, &c, "moves", 60000, 0, RENEW);
	dlock_claim *claim = permits_held(&c, "moves", 2, 60000);
	taker_start(takers, from, in_cluster, "moves", 2, 60000, -1);
	check(eventually_waiting(from, "moves", 1), "held, renewed and waited for");
	check(cluster_begin_move(&nodes, slot_of("moves"), to), "its slot is moved");
	server_do(from, "MIGRATE 127.0.0.1 %d " POOL "moves 0 60000", to->port);
	unsigned long before = renewals();
	renew_now(ward.claim);
	check(renewed_since(before, 1) && look(ward.claim) == DLOCK_CLAIM_HELD && held_permits(to, "moves") != 0,
		"renewed while it moves");
	check(cluster_end_move(&nodes, slot_of("moves"), to) && held_permits(to, "moves") == 3, "it has moved");
	check(let_go(&c, claim), "released there");
	check(takers_served(takers, 1) && takers_end(takers) == 0, "the waiter acquires it");
	check(look(ward.claim) == DLOCK_CLAIM_HELD && let_go(&c, ward.claim) && held_permits(to, "moves") == 0,
		"and all permits are released");
	client_free(&c);
}

static void migrate_all(test_server *from, const test_server *to, int slot)
{
	redisReply *keys = redisCommand(from->admin, "CLUSTER GETKEYSINSLOT %d 10", slot);

	for (size_t i = 0; keys && i < keys->elements; i++) {
		server_do(from, "MIGRATE 127.0.0.1 %d %s 0 60000", to->port, keys->element[i]->str);
	}
	freeReplyObject(keys);
}

/* The same if a replica confirms. */
static void test_confirmed_in_cluster(void)
{
	client c = confirmed_in_cluster();
	int good = 0, there = 0;

	for (int i = 0; i < 20; i++) {
		char name[32];
		snprintf(name, sizeof name, "slot-%d", i);
		dlock_claim *claim = permits_on(&c, name, 2, LEASE);
		good += acquire(&c, claim, 60000) == DLOCK_OK;
		there += held_permits(cluster_master(&nodes, slot_of(name)), name) == 2 && let_go(&c, claim);
	}
	check(good == 20 && there == 20, "pools in many slots, when their epochs are settled (%d, %d, %s)", good, there,
		c.error.message);
	test_server *from = cluster_master(&nodes, slot_of("moving")),
				*to = from == &nodes.nodes[0] ? &nodes.nodes[1] : &nodes.nodes[0];
	takers *takers = takers_new();
	ward ward;
	dlock_claim *first = permits_on(&c, "moving", 1, LEASE);
	check(acquire(&c, first, 60000) == DLOCK_OK && let_go(&c, first), "a pool whose slot will move");
	ward_begin(&ward, &c, "moving", LEASE, 0, RENEW);
	taker_start(takers, from, confirmed_in_cluster, "moving", 3, LEASE, 5);
	check(eventually_waiting(from, "moving", 1) && cluster_begin_move(&nodes, slot_of("moving"), to),
		"held, waited for, and moving");
	server_do(from, "MIGRATE 127.0.0.1 %d " POOL "moving 0 60000", to->port);
	unsigned long before = renewals();
	renew_now(ward.claim);
	check(renewed_since(before, 1) && look(ward.claim) == DLOCK_CLAIM_HELD, "renewed there");
	check(let_go(&c, ward.claim), "released while the slot moves (%s)", c.error.message);
	migrate_all(from, to, slot_of("moving"));
	check(cluster_end_move(&nodes, slot_of("moving"), to), "it has moved");
	check(takers_served(takers, 1) && takers_end(takers) == 0, "the waiter acquires all permits");
	client_free(&c);
	cluster_end(&nodes);
}

/* A planned failover: nothing is lost, and holder and waiter find the new master. */
static void test_sentinels(void)
{
	client c;
	ward ward;

	fleet_start(&set, SECRET, NULL);
	c = behind_sentinels();
	test_server *master = fleet_master(&set);
	takers *takers = takers_new();
	ward_begin(&ward, &c, "sale", 60000, 0, RENEW);
	dlock_claim *claim = permits_held(&c, "sale", 2, 60000);
	taker_start(takers, master, behind_sentinels, "sale", 2, 60000, -1);
	check(eventually_waiting(master, "sale", 1), "held, renewed and waited for");
	check(server_integer(master, "WAIT 1 60000") >= 1 && fleet_promote(&set), "a replica is promoted");
	int64_t available = -1;
	check(c.backend->ops->available(c.backend, "sale", 4, &available, &c.error) == DLOCK_OK && available == 0,
		"the new master has all holders");
	check(extend(&c, claim, 60000) == DLOCK_OK && let_go(&c, claim), "the holder finds it");
	check(takers_served(takers, 1) && takers_end(takers) == 0, "so does the waiter");
	dlock_status status = release(&c, ward.claim);
	check(status == DLOCK_OK && c.backend->ops->available(c.backend, "sale", 4, &available, &c.error) == DLOCK_OK
			&& available == 3,
		"and all permits are released (%d, %s)", status, c.error.message);
	dlock_claim_free(ward.claim);
	client_free(&c);
	fleet_end(&set);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = { TEST(cluster), TEST(confirmed_in_cluster), TEST(sentinels) };
	static const tap_setting setting = { .begin = begin };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

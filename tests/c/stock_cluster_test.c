/* Stocks in a Redis Cluster: in many slots, in one that moves, and at a master that is replaced. Prints TAP. */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../src/redis/script/slot.h"
#include "fleet.h"
#include "helpers.h"
#include "stock_client.h"
#include "tap.h"

enum { TTL = 60000 };

static cluster nodes;

static void begin(void)
{
	cluster_start(&nodes);
}

static void reset(void)
{
}

static shop new_shop(void)
{
	return shop_on(cluster_service(&nodes, 1));
}

static int slot_of(const char *sku)
{
	char key[64];

	return dlock_slot_of(key, (size_t) snprintf(key, sizeof key, STOCK "%s", sku));
}

static bool is_together(shop *shop, const char *skus)
{
	dlock_order order = order_of(skus, "");

	return dlock_stock_is_together(shop->stock, order.skus, order.count);
}

static void test_slots(void)
{
	shop shop = new_shop();
	char name[32];
	int bought = 0;

	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "article-%d", i);
		dlock_order order = order_of(name, "1");
		bought += restock(&shop, name, 2, "first") == 2 && reserve(&shop, &order, TTL, 0) == DLOCK_STOCK_DONE && confirm(&shop, &order) == DLOCK_STOCK_DONE
			&& counts_are(&shop, name, 1, 0, 1, 0) && server_integer(cluster_master(&nodes, slot_of(name)), "EXISTS " STOCK "%s", name) == 1;
	}
	check(bought == 20, "each in its own slot (%d)", bought);
	check(is_together(&shop, "shoe") && is_together(&shop, "{sale}shoe {sale}hat") && !is_together(&shop, "shoe hat cap"), "what can be reserved together");
	dlock_order both = order_of("{sale}shoe {sale}hat", "1");
	restock(&shop, "{sale}shoe", 1, "");
	restock(&shop, "{sale}hat", 1, "");
	check(reserve(&shop, &both, TTL, 0) == DLOCK_STOCK_DONE && confirm(&shop, &both) == DLOCK_STOCK_DONE, "all or nothing in one slot");
	check(counts_are(&shop, "{sale}shoe", 0, 0, 1, 0) && counts_are(&shop, "{sale}hat", 0, 0, 1, 0), "bought");
	shop_free(&shop);
}

static bool has_waiter(void *context)
{
	dlock_stock_counts counts = { 0 };
	dlock_error error;

	return dlock_stock_count(((shop *) context)->stock, &(dlock_arg) { "moved", sizeof "moved" - 1 }, 1, false, &counts, &error) == DLOCK_OK && counts.waiting == 1;
}

static int wait_as_child(void)
{
	shop own = new_shop();
	dlock_order waiter = order_of("moved", "waiter");

	return reserve(&own, &waiter, TTL, 30000) == DLOCK_STOCK_DONE ? 0 : 1;
}

/* Its key, with all that is known of it, is at the other node before the slot is. */
static void test_moving_slot(void)
{
	shop shop = new_shop();
	dlock_order one = order_of("moved", "1"), two = order_of("moved", "2"), waiter = order_of("moved", "waiter");
	int slot = slot_of("moved");
	test_server *from = cluster_master(&nodes, slot), *to = &nodes.nodes[from == &nodes.nodes[0] ? 1 : 0];

	restock(&shop, "moved", 2, "");
	reserve(&shop, &one, TTL, 0);
	reserve(&shop, &two, TTL, 0);
	pid_t pid = fork_child();
	if (pid == 0) {
		_exit(wait_as_child());
	}
	check(eventually(has_waiter, &shop), "a waiter");
	check(cluster_begin_move(&nodes, slot, to) && server_do(from, "MIGRATE 127.0.0.1 %d " STOCK "moved 0 5000", to->port), "the slot is on its way, its key is there");
	check(confirm(&shop, &one) == DLOCK_STOCK_DONE, "bought there");
	check(confirm(&shop, &one) == DLOCK_STOCK_SOLD, "bought before, as replicas say, too");
	check(cluster_end_move(&nodes, slot, to), "the slot is there");
	check(confirm(&shop, &one) == DLOCK_STOCK_SOLD, "bought");
	check(cancel(&shop, &two) == DLOCK_STOCK_DONE, "given back");
	int status = exit_of(pid);
	check(status == 0, "the waiter has it (%d)", status);
	check(confirm(&shop, &waiter) == DLOCK_STOCK_DONE && counts_are(&shop, "moved", 0, 0, 2, 0), "and buys it");
	shop_free(&shop);
}

static void test_promotion(void)
{
	shop shop = new_shop();
	dlock_order order = order_of("promoted", "1"), other = order_of("promoted", "2");
	test_server *master = cluster_master(&nodes, slot_of("promoted"));
	int number = (int) (master - nodes.nodes);

	restock(&shop, "promoted", 2, "");
	reserve(&shop, &order, TTL, 0);
	check(cluster_promote(&nodes, &nodes.nodes[(number + CLUSTER_MASTERS) % CLUSTER_NODES]), "another master");
	check(confirm(&shop, &order) == DLOCK_STOCK_DONE, "bought there, without waiting for an era");
	check(reserve(&shop, &other, TTL, 0) == DLOCK_STOCK_DONE && counts_are(&shop, "promoted", 0, 1, 1, 0), "the other is reserved");
	shop_free(&shop);
}

static const tap_setting setting = { begin, reset };

static const tap_test tests[] = { TEST(slots), TEST(moving_slot), TEST(promotion) };

int main(int argc, char **argv)
{
	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

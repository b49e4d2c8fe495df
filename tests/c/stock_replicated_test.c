/* Stocks on servers that fail over: what was answered is on replicas, and outlives the master. Prints TAP. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers.h"
#include "pair.h"
#include "stock_client.h"
#include "tap.h"

enum { TTL = 60000 };

static pair servers;

static void begin(void)
{
	pair_start(&servers);
}

static void reset(void)
{
	pair_reset(&servers);
}

static shop new_shop(const char *options)
{
	char dsn[160];

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d?replicas=1&guard=" GUARD_TEXT "&read_timeout=0.4%s", servers.endpoint.port, options);
	return shop_at(dsn);
}

/* What was answered is on the replica already. */
static void test_on_replicas(void)
{
	shop shop = new_shop("");
	dlock_order order = order_of("shoe", "1"), other = order_of("shoe", "2"), both = order_of("shoe hat", "3");

	check(restock(&shop, "shoe", 5, "first") == 5 && server_integer(servers.replica, "EXISTS " STOCK "shoe") == 1, "restocked, without waiting for an era");
	restock(&shop, "hat", 1, "");
	check(reserve(&shop, &order, TTL, 0) == DLOCK_STOCK_DONE && *server_text(servers.replica, "ZSCORE " STOCK "shoe hann/1"), "reserved");
	reserve(&shop, &other, TTL, 0);
	check(reserve(&shop, &both, TTL, 0) == DLOCK_STOCK_DONE && *server_text(servers.replica, "ZSCORE " STOCK "hat hann/3"), "several");
	check(confirm(&shop, &order) == DLOCK_STOCK_DONE, "bought");
	check(cancel(&shop, &other) == DLOCK_STOCK_DONE, "given back");
	pair_fail_over(&servers);
	check(counts_are(&shop, "shoe", 3, 1, 1, 0), "the new master knows it all");
	check(confirm(&shop, &order) == DLOCK_STOCK_SOLD, "it is still bought");
	check(cancel(&shop, &other) == DLOCK_STOCK_SOLD, "it is still given back");
	check(confirm(&shop, &both) == DLOCK_STOCK_DONE, "and what was reserved can be bought at once, without waiting for an era");
	check(restock(&shop, "shoe", 5, "first") == 5 && counts_are(&shop, "shoe", 3, 0, 2, 0), "a change that was made is not made again");
	shop_free(&shop);
}

/* A master without replicas: nothing that it says is believed. */
static void test_no_replicas(void)
{
	shop shop = new_shop("");
	dlock_order order = order_of("shoe", "1"), other = order_of("shoe", "2"), sold = order_of("shoe", "3");

	restock(&shop, "shoe", 5, "first");
	reserve(&shop, &order, TTL, 0);
	reserve(&shop, &sold, TTL, 0);
	confirm(&shop, &sold);
	server_freeze(servers.replica);
	check(confirm(&shop, &order) == -1, "bought: not known");
	check(strstr(shop.error.message, "replicas=1") != NULL, "says why: %s", shop.error.message);
	check(confirm(&shop, &order) == -1, "nor is it when it is asked again");
	check(confirm(&shop, &sold) == -1, "nor is what was bought long ago");
	check(confirm(&shop, &other) == -1 && cancel(&shop, &other) == -1, "nor is what is not there");
	check(reserve(&shop, &sold, TTL, 0) == -1 && restock(&shop, "shoe", 5, "first") == INT64_MIN, "nor what was done before");
	check(extend_order(&shop, &order, TTL) == -1, "nor an extension");
	server_thaw(servers.replica);
	check(pair_is_in_step(&servers), "the replica is back");
	int outcome = confirm(&shop, &order);
	check(outcome == DLOCK_STOCK_SOLD && counts_are(&shop, "shoe", 3, 0, 2, 0), "asked again, it was bought, once (%d)", outcome);
	check(*server_text(servers.master, "ZSCORE " STOCK "shoe $asked") == '\0', "and no mark is left");
	shop_free(&shop);
}

/* The master is gone with what its replica did not have: the buyer was not told that he had it. */
static void test_never_confirmed(void)
{
	shop shop = new_shop("");
	dlock_order order = order_of("shoe", "1");

	restock(&shop, "shoe", 1, "");
	server_freeze(servers.replica);
	check(reserve(&shop, &order, TTL, 0) == -1, "not known");
	server_kill(servers.master);
	server_thaw(servers.replica);
	pair_fail_over(&servers);
	server_restart(servers.replica);
	server_do(servers.replica, "REPLICAOF 127.0.0.1 %d", servers.master->port);
	check(pair_is_in_step(&servers), "a new master, with a replica");
	check(reserve(&shop, &order, TTL, 0) == DLOCK_STOCK_DONE && confirm(&shop, &order) == DLOCK_STOCK_DONE, "asked again, it is reserved, and bought");
	check(counts_are(&shop, "shoe", 0, 0, 1, 0), "once");
	shop_free(&shop);
}

static bool has_waiter(void *context)
{
	(void) context;
	return server_integer(servers.master, "ZCOUNT " STOCK "shoe 1000000000000000 +inf") == 1;
}

/* A waiter goes on waiting at the new master. */
static int wait_as_child(void)
{
	shop own = new_shop("");
	dlock_order waiter = order_of("shoe", "waiter");

	return reserve(&own, &waiter, TTL, 20000) == DLOCK_STOCK_DONE ? 0 : 1;
}

static void test_waits_over_promotion(void)
{
	shop shop = new_shop("");
	dlock_order order = order_of("shoe", "1");

	restock(&shop, "shoe", 1, "");
	reserve(&shop, &order, TTL, 0);
	pid_t pid = fork_child();
	if (pid == 0) {
		_exit(wait_as_child());
	}
	check(eventually(has_waiter, NULL), "it waits");
	pair_fail_over(&servers);
	check(cancel(&shop, &order) == DLOCK_STOCK_DONE, "given back at the new master");
	int status = exit_of(pid);
	check(status == 0, "the waiter has it (%d)", status);
	check(counts_are(&shop, "shoe", 0, 1, 0, 0), "one is reserved");
	shop_free(&shop);
}

static const tap_setting setting = { begin, reset };

static const tap_test tests[] = { TEST(on_replicas), TEST(no_replicas), TEST(never_confirmed), TEST(waits_over_promotion) };

int main(int argc, char **argv)
{
	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

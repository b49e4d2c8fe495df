/* Stocks on one server: names, times, and answers that are lost or late. Prints TAP. */

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers.h"
#include "one_server.h"
#include "stock_client.h"

enum { TTL = 60000 };

static relay network;

static shop shop_by_relay(const char *options)
{
	return shop_at(dsn_by_relay(&network, &server, options));
}

static shop direct(void)
{
	char dsn[64];

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d", server.port);
	return shop_at(dsn);
}

static bool is_id(const char *buyer, const char *request, const char *expected)
{
	dlock_order_id id = dlock_stock_order_id(DLOCK_ARG(buyer), DLOCK_ARG(request));

	return !strcmp(id.text, expected);
}

static void test_names(void)
{
	char longest[256];
	dlock_arg all = { longest, 255 };

	check(is_id("ann", "1", "ann/1"), "an id");
	check(is_id("a/b", "c d", "a%2fb/c%20d"), "an id has one slash and no spaces");
	check(is_id("a", "/b", "a/%2fb") && is_id("a/", "b", "a%2f/b"), "different names have different ids");
	check(is_id("%2f", "\n\177\xc3\xa9", "%252f/%0a%7f\xc3\xa9"), "bytes that the scripts use are escaped");
	memset(longest, '/', 255);
	dlock_order_id id = dlock_stock_order_id(all, all);
	check(strlen(id.text) == DLOCK_ORDER_ID_MAX, "the longest id fits (%zu)", strlen(id.text));
}

static void test_life(void)
{
	shop shop = direct();
	dlock_order order = order_of("shoe", "1"), other = order_of("shoe", "2"), both = order_of("shoe hat", "3");

	check(restock(&shop, "shoe", 3, "first") == 3 && restock(&shop, "shoe", 3, "first") == 3
			&& restock(&shop, "shoe", -1, "") == -1,
		"restocked");
	dlock_nanos start = dlock_now();
	check(reserve(&shop, &order, TTL, 0) == DLOCK_STOCK_DONE && shop.answer.fencing_token > 0, "reserved");
	dlock_nanos least = start + (TTL - TTL / 100 - 2) * DLOCK_MS;
	check(shop.answer.deadline >= least && shop.answer.deadline <= dlock_now() + (TTL - TTL / 100 - 2) * DLOCK_MS,
		"the deadline is counted from the request, minus the drift");
	check(reserve(&shop, &both, TTL, 0) == DLOCK_STOCK_CLOSED && shop.answer.is_unknown && shop.answer.item == 1,
		"one unknown product refuses the order, and is named");
	check(restock(&shop, "hat", 1, "") == 1 && restock(&shop, "hat", -1, "") == -1
			&& reserve(&shop, &both, TTL, 0) == DLOCK_STOCK_SHORT && shop.answer.item == 1,
		"one product that is short refuses it, too");
	check(counts_are(&shop, "shoe", 1, 1, 0, 0), "the refused orders reserve nothing");
	check(restock(&shop, "hat", 1, "") == 1 && reserve(&shop, &both, TTL, 0) == DLOCK_STOCK_DONE,
		"an order of both products is reserved");
	check(reserve(&shop, &other, TTL, 0) == DLOCK_STOCK_SHORT, "no unit is left");
	check(confirm(&shop, &order) == DLOCK_STOCK_DONE && confirm(&shop, &order) == DLOCK_STOCK_SOLD, "confirmed once");
	check(reserve(&shop, &order, TTL, 0) == DLOCK_STOCK_SOLD && cancel(&shop, &order) == DLOCK_STOCK_REFUSED
			&& extend_order(&shop, &order, TTL) == DLOCK_STOCK_REFUSED,
		"a sale is final");
	check(cancel(&shop, &both) == DLOCK_STOCK_DONE && cancel(&shop, &both) == DLOCK_STOCK_SOLD
			&& confirm(&shop, &both) == DLOCK_STOCK_REFUSED,
		"cancelled once");
	check(counts_are(&shop, "shoe", 1, 0, 1, 0) && counts_are(&shop, "hat", 1, 0, 0, 0),
		"the counts are right in the end");
	check(server_integer(&server, "EXISTS " STOCK "shoe") == 1 && server_integer(&server, "PTTL " STOCK "shoe") == -1,
		"the key stays");
	shop_free(&shop);
}

static void test_limit(void)
{
	shop shop = direct();
	dlock_order order = order_of("shoe", "1"), more = order_of("shoe", "2");
	dlock_stock_turn turn = { .stock = shop.stock, .order = &order, .ttl = TTL * DLOCK_MS, .limit = 1 };
	dlock_wait once = { .deadline = 0 };

	restock(&shop, "shoe", 5, "");
	check(turn.stock->ops->reserve(&turn, &once, &shop.answer, &shop.error) == DLOCK_OK
			&& shop.answer.outcome == DLOCK_STOCK_DONE,
		"an order up to the limit");
	turn.order = &more;
	check(turn.stock->ops->reserve(&turn, &once, &shop.answer, &shop.error) == DLOCK_OK
			&& shop.answer.outcome == DLOCK_STOCK_LIMITED && shop.answer.units == 1,
		"an order above the limit is refused");
	check(confirm(&shop, &order) == DLOCK_STOCK_DONE, "confirmed");
	check(turn.stock->ops->reserve(&turn, &once, &shop.answer, &shop.error) == DLOCK_OK
			&& shop.answer.outcome == DLOCK_STOCK_LIMITED,
		"confirmed units count");
	shop_free(&shop);
}

static void test_extend(void)
{
	shop shop = direct();
	dlock_order order = order_of("shoe hat", "1");

	restock(&shop, "shoe", 1, "");
	restock(&shop, "hat", 1, "");
	reserve(&shop, &order, TTL, 0);
	check(extend_order(&shop, &order, 2 * TTL) == DLOCK_STOCK_DONE
			&& shop.answer.deadline > dlock_now() + TTL * DLOCK_MS,
		"extended");
	check(server_integer(&server, "ZCOUNT " STOCK "shoe 100000000000 (10000000000000") == 1,
		"its entry has the new time");
	double before = atof(server_text(&server, "ZSCORE " STOCK "shoe hann/1"));
	check(extend_order(&shop, &order, 1000) == DLOCK_STOCK_DONE
			&& atof(server_text(&server, "ZSCORE " STOCK "shoe hann/1")) == before,
		"an extension never shortens a reservation");
	dlock_order part = order_of("hat", "1"), turned = order_of("hat shoe", "1");
	check(cancel(&shop, &part) == DLOCK_STOCK_CONFLICT && confirm(&shop, &part) == DLOCK_STOCK_CONFLICT
			&& extend_order(&shop, &part, 9000) == DLOCK_STOCK_CONFLICT && counts_are(&shop, "hat", 0, 1, 0, 0),
		"a part of an order is no order");
	check(extend_order(&shop, &turned, 30000) == DLOCK_STOCK_DONE
			&& reserve(&shop, &turned, 30000, 0) == DLOCK_STOCK_DONE,
		"the order of the products does not matter");
	turned.units[1] = 2;
	check(reserve(&shop, &turned, 30000, 0) == DLOCK_STOCK_CONFLICT && shop.answer.item == 1 && shop.answer.units == 1,
		"the same name with other units is refused");
	check(cancel(&shop, &order) == DLOCK_STOCK_DONE && extend_order(&shop, &order, 9000) == DLOCK_STOCK_REFUSED
			&& shop.answer.reason == DLOCK_ORDER_CANCELLED,
		"cancelled");
	shop_free(&shop);
}

static void note_listed(void *context, const dlock_listed_order *order)
{
	int *listed = context;

	printf("# listed: %s\n", order->id);
	(*listed)++;
}

static int list_reserved(shop *shop, double since)
{
	dlock_stock_query query = { .state = DLOCK_STATE_RESERVED, .since = since, .buyer = "", .limit = 9 };
	dlock_stock_cursor next;
	int listed = 0;
	dlock_status status
		= shop->stock->ops->list(shop->stock, DLOCK_ARG("shoe"), &query, note_listed, &listed, &next, &shop->error);

	return status == DLOCK_OK ? listed : -1;
}

/* The numbers of units, and of an order's products, are no times. */
static void test_list_since(void)
{
	shop shop = direct();
	dlock_order sold = order_of("shoe hat", "1"), order = order_of("shoe", "2");

	sold.units[0] = 2000;
	restock(&shop, "shoe", 3000, "");
	restock(&shop, "hat", 1, "");
	reserve(&shop, &sold, TTL, 0);
	confirm(&shop, &sold);
	reserve(&shop, &order, TTL, 0);
	check(list_reserved(&shop, 0) == 1, "one order is reserved");
	check(list_reserved(&shop, 1) == 1, "one reservation ends after 1970");
	check(list_reserved(&shop, 1e9) == 1 && list_reserved(&shop, 4e9) == 0, "and before 2096");
	shop_free(&shop);
}

/* ---- answers that are lost ---- */

static _Atomic int losses; /* how many answers are to be lost until now */

/* Connects and loads the scripts. After that, the answer to the next request with this word is lost. */
static void lose(shop *shop, const char *word)
{
	dlock_order order = order_of("warm", "1"), both = order_of("warm warm2", "2");

	restock(shop, "warm", 5, "");
	reserve(shop, &order, TTL, 0);
	reserve(shop, &both, TTL, 0);
	extend_order(shop, &order, TTL);
	confirm(shop, &order);
	cancel(shop, &both);
	atomic_fetch_add(&losses, 1);
	atomic_store(&network.swallow, word);
}

static void found(void)
{
	check(has_swallowed(&network), "an answer was lost");
	atomic_store(&network.swallowed, 0);
}

/* Closes each connection soon after its answer is lost. */
static void *close_lost(void *stop)
{
	while (!atomic_load((_Atomic int *) stop)) {
		if (has_swallowed(&network)) {
			sleep_ms(20);
			atomic_store(&network.swallowed, 0);
		}
		sleep_ms(2);
	}
	return NULL;
}

static void wake(int signal)
{
	(void) signal;
}

static pthread_t asking;

/* Lets the read timeout pass after each answer that is lost, and wakes the client, so that it looks at its clock. The
 * client counts from when it has written its request. If it stood still just then, the timeout passes again, 5 s later.
 */
static void *let_time_pass(void *stop)
{
	enum { NAP = 2, AGAIN = 5000 }; /* ms */
	int passed = 0, waited = 0;

	while (!atomic_load((_Atomic int *) stop)) {
		int last = atomic_load(&losses);
		if ((last != passed || waited > AGAIN) && has_swallowed(&network)) {
			passed = last;
			waited = 0;
			dlock_clock_travel(READ_TIMEOUT);
		}
		pthread_kill(asking, SIGUSR1);
		sleep_ms(NAP);
		waited += NAP;
	}
	return NULL;
}

/* The first answer to each question is lost: with the connection, or for longer than the read timeout. */
static void ask_all(bool closed)
{
	shop shop = shop_by_relay(""), own = direct();
	dlock_order order = order_of("shoe", "order"), both = order_of("shoe hat", "both");
	_Atomic int stop = 0;
	pthread_t thread;

	asking = pthread_self();
	sigaction(SIGUSR1, &(struct sigaction) { .sa_handler = wake, .sa_flags = SA_RESTART }, NULL);
	pthread_create(&thread, NULL, closed ? close_lost : let_time_pass, &stop);
	restock(&own, "hat", 5, "");
	lose(&shop, "named");
	check(restock(&shop, "shoe", 5, "named") == 5 && counts_are(&own, "shoe", 5, 0, 0, 0),
		"a change with a name counts once");
	closed ? (void) 0 : found();
	lose(&shop, "Stock:shoe");
	check(restock(&shop, "shoe", 2, "") == 2 && counts_are(&own, "shoe", 7, 0, 0, 0),
		"a change without a name counts once");
	closed ? (void) 0 : found();
	lose(&shop, "ann/order");
	check(reserve(&shop, &order, TTL, 0) == DLOCK_STOCK_DONE && counts_are(&own, "shoe", 6, 1, 0, 0),
		"one unit is reserved");
	closed ? (void) 0 : found();
	check(shop.answer.deadline <= dlock_now() + (TTL - TTL / 100 - 2) * DLOCK_MS,
		"its deadline is not later than the server's");
	lose(&shop, "ann/both");
	check(reserve(&shop, &both, TTL, 0) == DLOCK_STOCK_DONE && counts_are(&own, "shoe", 5, 2, 0, 0)
			&& counts_are(&own, "hat", 4, 1, 0, 0),
		"one unit of each product is reserved");
	closed ? (void) 0 : found();
	lose(&shop, "ann/order");
	check(extend_order(&shop, &order, 2 * TTL) == DLOCK_STOCK_DONE, "extended");
	closed ? (void) 0 : found();
	lose(&shop, "ann/order");
	check(
		confirm(&shop, &order) == DLOCK_STOCK_DONE && counts_are(&own, "shoe", 5, 1, 1, 0), "this call confirms, once");
	closed ? (void) 0 : found();
	lose(&shop, "ann/both");
	check(cancel(&shop, &both) == DLOCK_STOCK_DONE && counts_are(&own, "shoe", 6, 0, 1, 0), "this call cancels, once");
	closed ? (void) 0 : found();
	lose(&shop, "ann/order");
	check(cancel(&shop, &order) == DLOCK_STOCK_REFUSED && counts_are(&own, "shoe", 6, 0, 1, 0),
		"a sold order is not cancelled, whichever answer is lost");
	closed ? (void) 0 : found();
	atomic_store(&stop, 1);
	pthread_join(thread, NULL);
	shop_free(&shop);
	shop_free(&own);
	relay_end(&network);
}

static void test_answers_lost_with_connection(void)
{
	ask_all(true);
}

static void test_answers_late(void)
{
	ask_all(false);
}

static void set_read_timeout(const shop *shop, dlock_nanos read_timeout)
{
	shop->pool->first->server->read_timeout = read_timeout;
}

/* If the server does not answer, the client asks twice, and the outcome is unknown. */
static void test_no_answer(void)
{
	shop shop = direct();
	dlock_order order = order_of("shoe", "1");

	restock(&shop, "shoe", 1, "");
	reserve(&shop, &order, TTL, 0);
	server_freeze(&server);
	set_read_timeout(&shop, 200 * DLOCK_MS);
	dlock_nanos start = dlock_now();
	check(confirm(&shop, &order) == -1, "the outcome is unknown");
	long took = (long) ((dlock_now() - start) / DLOCK_MS);
	check(took >= 350 && took < SOON / DLOCK_MS, "the client asks twice (%ld ms)", took);
	server_thaw(&server);
	set_read_timeout(&shop, READ_TIMEOUT);
	check(
		confirm(&shop, &order) != -1 && counts_are(&shop, "shoe", 0, 0, 1, 0), "a later call finds it confirmed, once");
	shop_free(&shop);
}

/* ---- waiting ---- */

static bool has_waiter(void *context)
{
	dlock_stock_counts counts = { 0 };
	dlock_stock *stock = ((shop *) context)->stock;

	stock->ops->count(
		stock, &(dlock_arg){ "shoe", sizeof "shoe" - 1 }, 1, false, &counts, &(dlock_error){ "" });
	return counts.waiting == 1;
}

static pid_t wait_in_child(int timeout_ms)
{
	pid_t pid = fork_child();

	if (pid == 0) {
		shop own = direct();
		dlock_order order = order_of("shoe", "waiter");
		int got = reserve(&own, &order, TTL, timeout_ms);
		_exit(got == DLOCK_STOCK_DONE && own.answer.deadline > dlock_now() + (TTL - 10000) * DLOCK_MS ? 0 : 1 + got);
	}
	return pid;
}

static void test_waits(void)
{
	shop shop = direct();
	dlock_order order = order_of("shoe", "1"), waiter = order_of("shoe", "waiter");

	restock(&shop, "shoe", 1, "");
	reserve(&shop, &order, TTL, 0);
	dlock_nanos start = dlock_now();
	check(reserve(&shop, &waiter, TTL, 300) == DLOCK_STOCK_SHORT && dlock_now() - start >= 300 * DLOCK_MS,
		"a wait ends at its timeout");
	check(counts_are(&shop, "shoe", 0, 1, 0, 0), "after it no order waits");
	pid_t pid = wait_in_child(60000);
	check(eventually(has_waiter, &shop), "a waiter queues");
	start = dlock_now();
	check(cancel(&shop, &order) == DLOCK_STOCK_DONE && exit_of(pid) == 0,
		"it reserves the cancelled unit for the full time");
	check(dlock_now() - start < SOON, "at once");
	check(confirm(&shop, &waiter) == DLOCK_STOCK_DONE, "confirmed");
	start = dlock_now();
	check(reserve(&shop, &order, TTL, 60000) == DLOCK_STOCK_SHORT && dlock_now() - start < SOON,
		"no order waits for sold units");
	shop_free(&shop);
}

static void test_interrupted(void)
{
	shop shop = direct(), other = direct();
	dlock_order order = order_of("shoe", "1"), waiter = order_of("shoe", "waiter");
	dlock_stock_turn turn = { .stock = shop.stock, .order = &waiter, .ttl = TTL * DLOCK_MS };
	dlock_wait wait = { .deadline = DLOCK_FOREVER, .interrupted = has_waiter, .context = &other };

	restock(&shop, "shoe", 1, "");
	reserve(&shop, &order, TTL, 0);
	check(turn.stock->ops->reserve(&turn, &wait, &shop.answer, &shop.error) == DLOCK_INTERRUPTED, "interrupted");
	check(counts_are(&shop, "shoe", 0, 1, 0, 1), "it is still in the queue");
	turn.stock->ops->leave(&turn);
	dlock_pool_drain(shop.pool, DLOCK_FOREVER);
	check(counts_are(&shop, "shoe", 0, 1, 0, 0), "it leaves the queue");
	shop_free(&shop);
	shop_free(&other);
}

static bool always(void *context)
{
	(void) context;
	return true;
}

/* An order waits, another one is cancelled, and the waiter's process goes on only when its time is up. */
static dlock_status reserve_as_time_ends(shop *own, shop *other, const dlock_order *waiter)
{
	dlock_order order = order_of("shoe", "first");
	dlock_stock_turn turn = { .stock = own->stock, .order = waiter, .ttl = TTL * DLOCK_MS };
	dlock_wait wait = { .deadline = dlock_after(dlock_now(), 60 * DLOCK_SECOND), .interrupted = always };
	dlock_status status;

	reserve(other, &order, TTL, 0);
	do {
		status = turn.stock->ops->reserve(&turn, &wait, &own->answer, &own->error);
	} while (status == DLOCK_INTERRUPTED && !has_waiter(other));
	cancel(other, &order);
	if (status != DLOCK_INTERRUPTED) {
		return DLOCK_FAILED;
	}
	wait = (dlock_wait) { .deadline = 0 };
	return turn.stock->ops->reserve(&turn, &wait, &own->answer, &own->error);
}

/* The server reserves a waiter's units for 3 s at first. */
static void test_granted_as_time_ends(void)
{
	shop own = direct(), other = direct();
	char name[16];
	dlock_nanos start;
	dlock_status status;
	int attempts = 0;

	restock(&other, "shoe", 1, "");
	do { /* if the process is stopped for 3 s, the server counts the waiter as dead, and the unit stays available */
		snprintf(name, sizeof name, "waiter %d", attempts);
		dlock_order waiter = order_of("shoe", name);
		start = dlock_now();
		status = reserve_as_time_ends(&own, &other, &waiter);
	} while (status == DLOCK_OK && own.answer.outcome == DLOCK_STOCK_SHORT && ++attempts < 10);
	check(status == DLOCK_OK && own.answer.outcome == DLOCK_STOCK_DONE, "the waiter has its unit");
	check(own.answer.deadline > start + (TTL - 10000) * DLOCK_MS, "for the full time");
	shop_free(&own);
	shop_free(&other);
}

static const tap_test tests[] = {
	TEST(names),
	TEST(life),
	TEST(limit),
	TEST(extend),
	TEST(list_since),
	TEST(answers_lost_with_connection),
	TEST(answers_late),
	TEST(no_answer),
	TEST(waits),
	TEST(interrupted),
	TEST(granted_as_time_ends),
};

int main(int argc, char **argv)
{
	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &one_server);
}

/* Requests about stocks to a server, and how its replies are read. Prints TAP.
 * redis_stock_test [word in the names of the tests to run] */

#include "../../src/redis/request/keys.h"
#include "../../src/redis/request/stock_requests.h"
#include "one_server.h"

static client asking;
static dlock_error problem;

static const dlock_conn *ask(dlock_call *call)
{
	dlock_conn *conn = client_conn(&asking, 0);

	if (call && dlock_conn_send(conn, call)) {
		conn_await(conn, call);
	}
	return conn;
}

static void begin(void)
{
	asking = client_of(&server, READ_TIMEOUT);
	warm(&asking);
}

static const dlock_arg stocks[] = { { "Stock:{a}1", 10 }, { "Stock:{a}2", 10 } };
static const int64_t units[] = { 2, 1 };

static dlock_order_ref order_of(const char *id, int count)
{
	return (dlock_order_ref) { id, DLOCK_NO_NUMBER, count > 1 ? "4711" : "" };
}

static dlock_reserve_response reserved;

static dlock_reserve_result basket(const char *id, int64_t limit)
{
	dlock_stock_attempt attempt = { .id = id, .ttl = 60 * DLOCK_SECOND, .limit = limit, .number = 1 };
	dlock_call *call = dlock_request_stock_basket(stocks, 2, &attempt, "4711", units);
	dlock_status status = dlock_read_stock_basket(call, ask(call), &reserved, &problem);

	dlock_call_release(call);
	return status == DLOCK_OK ? reserved.result : (dlock_reserve_result) 99;
}

static dlock_reserve_result reserve(const char *id, int64_t wants, int64_t limit, const dlock_inbox *inbox, bool strict)
{
	dlock_stock_attempt attempt = { .id = id,
		.units = wants,
		.ttl = 60 * DLOCK_SECOND,
		.limit = limit,
		.inbox = inbox,
		.strict = strict,
		.number = 1 };
	dlock_call *call = dlock_request_stock_reserve(stocks[0], &attempt);
	dlock_status status = dlock_read_stock_reserve(call, ask(call), &reserved, &problem);

	dlock_call_release(call);
	if (inbox) {
		keep_waiters(&server, "Stock:{a}1");
	}
	return status == DLOCK_OK ? reserved.result : (dlock_reserve_result) 99;
}

static dlock_order_response told;

static int order_says(dlock_call *call)
{
	dlock_status status = dlock_read_stock_order(call, ask(call), &told, &problem);

	dlock_call_release(call);
	return status == DLOCK_OK ? told.result : -1;
}

static int64_t restock(dlock_arg key, int64_t by, const char *change)
{
	int64_t changed = -1;
	dlock_call *call = dlock_request_stock_restock(key, by, change, 0);

	dlock_read_stock_restock(call, ask(call), &changed, &problem);
	dlock_call_release(call);
	return changed;
}

#define WRITES "rdb_changes_since_last_save"

/* WAIT confirms nothing of an answer that wrote nothing, so the answer has to tell. */
static void check_nothing_to_write(const dlock_order_ref *ann)
{
	long long before = server_info(&server, "persistence", WRITES);

	check(before > 0, "writes are counted");
	check(order_says(dlock_request_stock_change(stocks, 2, ann, 0, (int64_t[]) { 1, 2 })) == 2 && told.number > 15000,
		"a change to the same units says that it was made before");
	check(order_says(dlock_request_stock_extend(stocks, 2, ann, 10 * DLOCK_SECOND)) == 2 && told.number > 15000,
		"an extension to an earlier time says that there was nothing to extend");
	check(server_info(&server, "persistence", WRITES) == before, "they have written nothing");
}

static void test_orders(void)
{
	dlock_order_ref ann = order_of("ann/1", 2), bob = order_of("bob/1", 2), part = order_of("ann/1", 1);

	begin();
	check(basket("ann/1", 2) == DLOCK_RESERVE_CLOSED && reserved.is_unknown && reserved.item == 0, "no such stock");
	check(restock(stocks[0], 3, "first") == 3 && restock(stocks[0], 3, "first") == 3
			&& restock(stocks[1], 3, "first") == 3,
		"stocked");
	check(basket("ann/1", 2) == DLOCK_RESERVE_HELD && reserved.ms == 60000
			&& dlock_is_fencing_token(reserved.fencing_token) && reserved.generation == 0,
		"a basket");
	check(
		reserve("ann/2", 1, 2, NULL, false) == DLOCK_RESERVE_LIMITED && reserved.units == 2, "ann's limit is reached");
	check(basket("ann/3", 3) == DLOCK_RESERVE_LIMITED && reserved.item == 0 && reserved.units == 2,
		"it holds for baskets, too");
	check(basket("bob/1", 0) == DLOCK_RESERVE_SHORT && reserved.item == 0, "not enough for bob");
	check(
		reserve("ann/1", 2, 0, NULL, false) == DLOCK_RESERVE_CONFLICT && reserved.other_products && reserved.units == 2,
		"another order has this name");
	check(order_says(dlock_request_stock_confirm(stocks, 1, &part, 0)) == 0 && told.reason == DLOCK_ORDER_OTHER,
		"a part of an order cannot be confirmed");
	check(order_says(dlock_request_stock_extend(stocks, 2, &ann, 90 * DLOCK_SECOND)) == 1 && told.number == 90000,
		"extended");
	check(order_says(dlock_request_stock_change(stocks, 2, &ann, 0, (int64_t[]) { 1, 2 })) == 1, "changed");
	check_nothing_to_write(&ann);
	check(order_says(dlock_request_stock_change(stocks, 2, &ann, 0, (int64_t[]){ 4, 1 })) == 0
			&& told.reason == DLOCK_ORDER_SHORT && told.item == 0,
		"an order cannot be changed to more units than are free");
	check(order_says(dlock_request_stock_confirm(stocks, 2, &ann, 0)) == 1
			&& order_says(dlock_request_stock_confirm(stocks, 2, &ann, 0)) == 2,
		"confirmed, once");
	check(order_says(dlock_request_stock_confirm(stocks, 2, &bob, 0)) == 0 && told.reason == DLOCK_ORDER_UNKNOWN,
		"bob has no order to confirm");
	check(order_says(dlock_request_stock_cancel(stocks, 2, &ann)) == 0 && told.reason == DLOCK_ORDER_SOLD,
		"a sold order cannot be cancelled");
	dlock_order_ref other = ann;
	other.generation = 1;
	check(order_says(dlock_request_stock_refund(stocks, 2, &other, true, 0, "")) == 0
			&& told.reason == DLOCK_ORDER_SUPERSEDED,
		"a refund of another generation is refused");
	check(basket("ann/1", 0) == DLOCK_RESERVE_CONFLICT, "with other units it is another order");
	check(order_says(dlock_request_stock_refund(stocks, 2, &ann, true, 0, "")) == 1
			&& order_says(dlock_request_stock_refund(stocks, 2, &ann, true, 0, "")) == 2,
		"refunded, once");
	dlock_order_status status[2];
	dlock_call *call = dlock_request_stock_status(stocks, 2, ann.id);
	check(dlock_read_stock_status(call, ask(call), 2, status, &problem) == DLOCK_OK
			&& status[1].state == DLOCK_STATE_REFUNDED && status[1].units == 2 && !strcmp(status[1].products, "4711"),
		"the status of the order");
	dlock_call_release(call);
	check(basket("ann/1", 0) == DLOCK_RESERVE_HELD && reserved.generation == 1,
		"the name of a refunded order is free again");
	check(order_says(dlock_request_stock_cancel(stocks, 2, &ann)) == 1, "cancelled");
	client_free(&asking);
}

static void test_queue(void)
{
	dlock_inbox inbox = { .channel = "dlock:inbox:x" };
	dlock_stock_attempt waits = { .id = "bob/1", .units = 3, .inbox = &inbox, .ticket = 0, .number = 1 };
	dlock_response left = { 0 };

	begin();
	restock(stocks[0], 3, "first");
	check(reserve("ann/1", 1, 0, NULL, false) == DLOCK_RESERVE_HELD
			&& reserve("bob/1", 3, 0, &inbox, false) == DLOCK_RESERVE_SHORT && reserved.refusal.position == 0
			&& reserved.refusal.ticket > 0 && reserved.refusal.new_in_queue == 1 && reserved.refusal.pttl > 15000,
		"bob's order waits");
	check(reserve("cid/1", 1, 0, NULL, false) == DLOCK_RESERVE_HELD, "an order for fewer units passes it");
	check(reserve("dan/1", 2, 0, &inbox, true) == DLOCK_RESERVE_SHORT && reserved.refusal.position == 1,
		"an order that no other may pass waits, too");
	check(
		reserve("eve/1", 1, 0, NULL, false) == DLOCK_RESERVE_HELD, "it is passed, because its process does not listen");
	dlock_call *call = dlock_request_stock_leave(stocks, 1, &waits, false, (int64_t[]) { 3 });
	check(dlock_read_integer(call, ask(call), &left, &problem) == DLOCK_LOST
			&& server_integer(&server, "ZCOUNT Stock:{a}1 1e15 +inf") == 0,
		"it leaves the queue");
	dlock_call_release(call);
	client_free(&asking);
}

static redisContext *listen_to(const dlock_inbox *inbox)
{
	redisContext *listener = redisConnect("127.0.0.1", server.port);

	freeReplyObject(redisCommand(listener, "SUBSCRIBE %s", inbox->channel));
	return listener;
}

/* Sixteen waiters in front want more. */
static void test_queue_behind_those_that_want_more(void)
{
	dlock_inbox inbox = { .channel = "dlock:inbox:x" };
	char id[16];

	begin();
	redisContext *listener = listen_to(&inbox);
	restock(stocks[0], 3, "first");
	check(reserve("ann/1", 3, 0, NULL, false) == DLOCK_RESERVE_HELD, "all is reserved");
	for (int i = 0; i < 16; i++) {
		snprintf(id, sizeof id, "bob%02d/1", i);
		reserve(id, 2, 0, &inbox, false);
	}
	reserve("zoe/1", 1, 0, &inbox, false);
	for (int i = 0; i < 16; i++) {
		snprintf(id, sizeof id, "amy%02d/1", i);
		reserve(id, 1, 0, &inbox, false);
	}
	check(server_integer(&server, "ZCOUNT Stock:{a}1 1e15 +inf") == 33, "33 orders wait");
	check(restock(stocks[0], 1, "second") == 1 && server_integer(&server, "ZSCORE Stock:{a}1 hzoe/1") > 0,
		"of the orders that the unit is enough for, the first one has it");
	redisFree(listener);
	client_free(&asking);
}

/* A waiter that no order may pass dies behind sixteen others. */
static void test_dead_waiter_behind_live_ones(void)
{
	dlock_inbox inbox = { .channel = "dlock:inbox:x" }, dead = { .channel = "dlock:inbox:y" };
	char id[16];

	begin();
	redisContext *listener = listen_to(&inbox);
	restock(stocks[0], 30, "first");
	check(reserve("ann/1", 28, 0, NULL, false) == DLOCK_RESERVE_HELD, "two units are free");
	for (int i = 0; i < 17; i++) {
		snprintf(id, sizeof id, "bob%02d/1", i);
		reserve(id, 10, 0, &inbox, false);
	}
	check(reserve("cid/1", 10, 0, &dead, true) == DLOCK_RESERVE_SHORT && reserved.refusal.position == 17,
		"behind 17 orders, one that no other may pass waits, and its process dies");
	check(reserve("dan/1", 1, 0, NULL, false) == DLOCK_RESERVE_HELD
			&& server_integer(&server, "ZCOUNT Stock:{a}1 1e15 4e15") == 17,
		"an order that does not wait passes it");
	check(reserve("eve/1", 10, 0, &inbox, true) == DLOCK_RESERVE_SHORT && reserved.refusal.position == 17
			&& reserve("fay/1", 1, 0, &inbox, false) == DLOCK_RESERVE_SHORT,
		"one whose process listens is not passed");
	check(server_do(&server, "EVAL %s 0",
			  "local waiter = 's10  s eve/1 dlock:inbox:x'\n"
			  "redis.call('ZADD', 'Stock:{a}1', 3000000 - redis.call('TIME')[1] * 1000000, waiter)")
			&& restock(stocks[0], 1, "second") == 1 && server_integer(&server, "ZSCORE Stock:{a}1 hfay/1") > 0
			&& server_integer(&server, "ZCOUNT Stock:{a}1 1e15 4e15") == 17,
		"after three seconds without a sign of life, the order behind it is served");
	redisFree(listener);
	client_free(&asking);
}

static void test_withdrawn_behind_many(void)
{
	dlock_inbox inbox = { .channel = "dlock:inbox:x" };
	dlock_stock_attempt again = { .id = "bob/1", .units = 1, .ttl = 60 * DLOCK_SECOND, .inbox = &inbox, .number = 2 };
	dlock_order_ref bob = order_of("bob/1", 1);
	char id[16];

	begin();
	redisContext *listener = listen_to(&inbox);
	restock(stocks[0], 2, "first");
	check(reserve("bob/1", 1, 0, NULL, false) == DLOCK_RESERVE_HELD
			&& order_says(dlock_request_stock_confirm(stocks, 1, &bob, 0)) == 1
			&& order_says(dlock_request_stock_refund(stocks, 1, &bob, true, 0, "")) == 1,
		"an order is sold and refunded");
	check(reserve("ann/1", 1, 0, NULL, false) == DLOCK_RESERVE_HELD, "one unit is left");
	for (int i = 0; i < 100; i++) {
		snprintf(id, sizeof id, "c%d/1", i);
		reserve(id, 2, 0, &inbox, false);
	}
	check(reserve("dan/1", 1, 0, NULL, false) == DLOCK_RESERVE_HELD
			&& reserve("bob/1", 1, 0, &inbox, false) == DLOCK_RESERVE_SHORT && reserved.refusal.position == 100,
		"its name waits behind 100 orders");
	again.ticket = reserved.refusal.ticket;
	check(order_says(dlock_request_stock_cancel(stocks, 1, &bob)) == 2, "cancel() does not find it there");
	check(restock(stocks[0], 1, "second") == 1 && server_integer(&server, "ZCOUNT Stock:{a}1 1e11 1e13") == 2
			&& server_integer(&server, "ZSCORE Stock:{a}1 hbob/1") >= 40000000000000,
		"but units that come are not reserved for it, and it stays refunded");
	dlock_call *call = dlock_request_stock_reserve(stocks[0], &again);
	check(dlock_read_stock_reserve(call, ask(call), &reserved, &problem) == DLOCK_OK
			&& reserved.result == DLOCK_RESERVE_CANCELLED,
		"its next request learns that it was withdrawn");
	dlock_call_release(call);
	redisFree(listener);
	client_free(&asking);
}

/* A basket waits for the product that is short, and leaves the queues of both. */
static void test_basket_waits(void)
{
	dlock_inbox inbox = { .channel = "dlock:inbox:x" };
	dlock_stock_attempt waits = { .id = "bob/1", .ttl = 60 * DLOCK_SECOND, .inbox = &inbox, .number = 1 };
	dlock_response left = { 0 };

	begin();
	restock(stocks[0], 3, "first");
	restock(stocks[1], 1, "first");
	check(basket("ann/1", 0) == DLOCK_RESERVE_HELD, "a basket reserves all units of one product");
	restock(stocks[0], 3, "more");
	dlock_call *call = dlock_request_stock_basket(stocks, 2, &waits, "4711", units);
	dlock_status status = dlock_read_stock_basket(call, ask(call), &reserved, &problem);
	check(status == DLOCK_OK && reserved.result == DLOCK_RESERVE_SHORT && reserved.item == 1
			&& reserved.refusal.position == 0 && reserved.refusal.ticket > 0 && reserved.refusal.new_in_queue == 1
			&& reserved.refusal.pttl > 15000,
		"another basket waits for that product");
	dlock_call_release(call);
	check(server_integer(&server, "ZCOUNT Stock:{a}1 1e15 +inf") == 0
			&& server_integer(&server, "ZCOUNT Stock:{a}2 1e15 +inf") == 1,
		"it waits in that queue only");
	call = dlock_request_stock_leave(stocks, 2, &waits, true, units);
	check(dlock_read_integer(call, ask(call), &left, &problem) == DLOCK_LOST
			&& server_integer(&server, "ZCOUNT Stock:{a}2 1e15 +inf") == 0,
		"it leaves the queue");
	dlock_call_release(call);
	client_free(&asking);
}

static void test_counts(void)
{
	dlock_stock_counts counts[2];
	bool unfinished;

	begin();
	restock(stocks[0], 3, "first");
	reserve("ann/1", 2, 0, NULL, false);
	dlock_call *call = dlock_request_stock_sale(stocks[0], DLOCK_SALE_CLOSED);
	dlock_response is = { 0 };
	check(dlock_read_integer(call, ask(call), &is, &problem) == DLOCK_OK && is.value == DLOCK_SALE_CLOSED, "closed");
	dlock_call_release(call);
	check(reserve("bob/1", 1, 0, NULL, false) == DLOCK_RESERVE_CLOSED && !reserved.is_unknown
			&& reserved.sale == DLOCK_SALE_CLOSED,
		"a closed stock reserves nothing");
	call = dlock_request_stock_counts(stocks, 2);
	check(dlock_read_stock_counts(call, ask(call), 2, counts, &unfinished, &problem) == DLOCK_OK && !unfinished
			&& counts[0].known && counts[0].available == 1 && counts[0].reserved == 2
			&& counts[0].sale == DLOCK_SALE_CLOSED && !counts[1].known,
		"counted");
	dlock_call_release(call);
	const char *number, *id;
	int count;
	call = dlock_request_stock_orders(stocks[0], "1e11", "5e13", "", "", 1);
	check(dlock_read_stock_orders(call, ask(call), &count, &number, &id, &problem) == DLOCK_OK && count == 1 && number
			&& !strcmp(id, "ann/1") && dlock_read_stock_order_at(call, 0).units == 2,
		"a page of orders");
	dlock_call *next = dlock_request_stock_orders(stocks[0], number, "5e13", id, "", 1);
	check(dlock_read_stock_orders(next, ask(next), &count, &number, &id, &problem) == DLOCK_OK && count == 0 && !number,
		"it is the last page");
	dlock_call_release(next);
	dlock_call_release(call);
	client_free(&asking);
}

/* The stock's time goes on from its last token, four years ahead of the clock. */
static void test_clock_set_back_by_years(void)
{
	dlock_stock_counts counts;
	bool unfinished;

	begin();
	restock(stocks[0], 3, "first");
	reserve("ann/1", 2, 0, NULL, false);
	long long seconds = atoll(server_text(&server, "EVAL %s 0", "return redis.call('TIME')[1]"));
	check(seconds > 0 && server_do(&server, "ZADD Stock:{a}1 -%lld000000 $fence", seconds + 4 * 31557600LL),
		"set back");
	for (int i = 0; i < 2; i++) {
		dlock_call *call = dlock_request_stock_counts(stocks, 1);
		check(dlock_read_stock_counts(call, ask(call), 1, &counts, &unfinished, &problem) == DLOCK_OK && !unfinished
				&& counts.available == 3 && counts.reserved == 0,
			"the reservation has expired, and is counted once");
		dlock_call_release(call);
	}
	check(reserve("ann/2", 3, 0, NULL, false) == DLOCK_RESERVE_HELD && reserved.ms == 60000, "reserved");
	dlock_order_status status;
	dlock_call *call = dlock_request_stock_status(stocks, 1, "ann/2");
	check(dlock_read_stock_status(call, ask(call), 1, &status, &problem) == DLOCK_OK
			&& status.state == DLOCK_STATE_RESERVED && status.ms > 15000 && status.ms <= 60000,
		"the status counts by the stock's time");
	dlock_call_release(call);
	const char *number, *id;
	int count;
	call = dlock_request_stock_orders(stocks[0], "1e11", "1e13", "", "", 9);
	check(dlock_read_stock_orders(call, ask(call), &count, &number, &id, &problem) == DLOCK_OK && count == 1
			&& dlock_read_stock_order_at(call, 0).left > 15000,
		"so does a page of orders");
	dlock_call_release(call);
	client_free(&asking);
}

/* ---- what a master may have forgotten ---- */

static dlock_lineage_key lineage_key;
static dlock_lineage_state lineage;
static int64_t lost_since;

/* `attached`: what the nodes have said; "": no node was asked. Returns the state, or -1. */
static int lineage_says(int begin, const char *attached, const char *nodes, int enough)
{
	dlock_call *call = dlock_request_stock_lineage(
		dlock_lineage_of(-1, &lineage_key), begin, attached, nodes, enough);
	dlock_status status = dlock_read_stock_lineage(call, ask(call), &lineage, &lost_since, &problem);

	dlock_call_release(call);
	return status == DLOCK_OK ? (int) lineage : -1;
}

/* "replid state since before attached seen nodes" of stock_lineage.lua. `replid` NULL: the server's own. */
static void write_lineage(const char *replid, const char *rest)
{
	static const char text[] = "local own = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')\n"
							   "local id = ARGV[1] == '' and own or ARGV[1]\n"
							   "return redis.call('SET', KEYS[1], id .. ' ' .. ARGV[2])";
	dlock_arg words[] = { DLOCK_ARG("EVAL"), DLOCK_ARG(text), DLOCK_ARG("1"), dlock_lineage_of(-1, &lineage_key),
		DLOCK_ARG(replid ? replid : ""), DLOCK_ARG(rest) };
	dlock_call *call = dlock_call_command(words, 6);

	ask(call);
	check(call->state == DLOCK_CALL_ANSWERED && call->reply->type != REDIS_REPLY_ERROR, "written");
	dlock_call_release(call);
}

/* A server that never had a master has zeros as master_replid2. */
#define BEFORE "0000000000000000000000000000000000000000"
#define ANOTHER "00000000000000000000000000000000000000ff"
#define NODES "aaaaaaaaaaaaaaaa,bbbbbbbbbbbbbbbb,"

static void test_lineage_begins(void)
{
	begin();
	check(lineage_says(0, "", "", 0) == DLOCK_LINEAGE_NONE, "there is no lineage");
	check(lineage_says(1, "", "", 0) == DLOCK_LINEAGE_OPEN && lost_since == 0,
		"a lineage begins before there is a stock");
	check(lineage_says(0, "0 0", "aaaaaaaaaaaaaaaa:1,", 2) == DLOCK_LINEAGE_OPEN, "too few nodes have answered");
	check(lineage_says(0, "0 1", "aaaaaaaaaaaaaaaa:1,bbbbbbbbbbbbbbbb:1,", 2) == DLOCK_LINEAGE_OPEN,
		"a replica attached while the nodes were asked");
	check(lineage_says(0, "0 0", "aaaaaaaaaaaaaaaa:1,bbbbbbbbbbbbbbbb:1,", 2) == DLOCK_LINEAGE_DECIDED
			&& lost_since == 0, "nothing is missing");
	check(lineage_says(0, "", "", 0) == DLOCK_LINEAGE_DECIDED && lost_since == 0, "the decision stays");
	write_lineage(ANOTHER, "1 0 0 0 0 0 ");
	check(lineage_says(2, "", "", 0) == DLOCK_LINEAGE_OPEN && lost_since > 0, "the lineage is another master's");
	client_free(&asking);
}

static void test_lineage_of_a_new_master(void)
{
	begin();
	write_lineage(BEFORE, "1 0 0 0 0 1000 " NODES);
	check(lineage_says(0, "", "", 0) == DLOCK_LINEAGE_OPEN && lost_since > 0, "sales may be missing at first");
	check(lineage_says(0, "0 0", "aaaaaaaaaaaaaaaa:1,cccccccccccccccc:1,", 2) == DLOCK_LINEAGE_OPEN && lost_since > 0,
		"a restarted node proves nothing");
	check(
		lineage_says(0, "0 0", "aaaaaaaaaaaaaaaa:1,bbbbbbbbbbbbbbbb:1002,", 2) == DLOCK_LINEAGE_OPEN && lost_since > 0,
		"a node that followed another master proves nothing");
	check(lineage_says(0, "0 0", "aaaaaaaaaaaaaaaa:1,bbbbbbbbbbbbbbbb:1001,", 2) == DLOCK_LINEAGE_DECIDED
			&& lost_since == 0,
		"two nodes that followed it all the time prove that none are missing");

	write_lineage(BEFORE, "0 100 0 0 0 1000 " NODES);
	check(lineage_says(0, "0 0", "aaaaaaaaaaaaaaaa:1,bbbbbbbbbbbbbbbb:1,", 2) == DLOCK_LINEAGE_DECIDED
			&& lost_since > 100,
		"the lineage before it was undecided: sales stay missing");

	write_lineage(NULL, "0 100 0 0 0 1000 " NODES);
	check(lineage_says(0, "0 0", "aaaaaaaaaaaaaaaa:1,cccccccccccccccc:1,", 2) == DLOCK_LINEAGE_DECIDED
			&& lost_since == 100,
		"if the nodes prove nothing for ten seconds, sales stay missing");
	client_free(&asking);
}

static void test_lineage_when_a_replica_attaches(void)
{
	begin();
	write_lineage(NULL, "1 0 0 1 0 1000 " NODES);
	check(lineage_says(0, "", "", 0) == DLOCK_LINEAGE_OPEN && lost_since > 0, "a decided lineage is open again");
	check(lineage_says(0, "0 0", "aaaaaaaaaaaaaaaa:1,bbbbbbbbbbbbbbbb:1,", 2) == DLOCK_LINEAGE_DECIDED
			&& lost_since == 0, "the nodes can show that nothing is missing");
	write_lineage(NULL, "0 100 50 1 0 1000 " NODES);
	check(lineage_says(0, "", "", 0) == DLOCK_LINEAGE_OPEN && lost_since > 100,
		"an open lineage: sales may be missing until now");
	write_lineage(NULL, "0 0 0 1 0 0 ");
	check(lineage_says(0, "", "", 0) == DLOCK_LINEAGE_OPEN && lost_since > 0,
		"the nodes have never answered: sales may be missing");
	client_free(&asking);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = { TEST(orders), TEST(queue), TEST(queue_behind_those_that_want_more),
		TEST(dead_waiter_behind_live_ones), TEST(withdrawn_behind_many), TEST(basket_waits), TEST(counts),
		TEST(clock_set_back_by_years), TEST(lineage_begins), TEST(lineage_of_a_new_master),
		TEST(lineage_when_a_replica_attaches) };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &one_server);
}

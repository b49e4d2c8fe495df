/* Buyers reserve units, wait for them, pay in time or too late, cancel, refund, or are never heard of again. If an
 * answer is lost, they ask again. */
#include "stock_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sale_product sale_products[SALES][RESOURCES];
order orders[ORDERS];
int order_count;

typedef struct {
	connections *connections;
	dlock_stock *stock;
	order *confirming; /* it has asked to buy this, and has no answer yet */
	order *current;
} stock_client;

static stock_client stock_clients[CLIENTS]; /* as clients[] */

static stock_client *own_of(const client *client)
{
	return &stock_clients[client - clients];
}

bool stocks_forget(void)
{
	return options.setup == REPLICATED && options.seed / 16 % 2 == 1;
}

int64_t stock_limit(int resource)
{
	return resource % 2 == 0 ? 0 : 4;
}

/* Pairs of products share a hash slot. */
void stock_name(int sale, int resource, char *name, size_t size)
{
	snprintf(name, size, "{desk:%d}drop:%d:%d", resource / 2, resource, sale);
}

static double seconds(nanos length)
{
	return (double) length / SECOND;
}

/* ---- the shop ---- */

/* The first client adds the units; later clients ask for the same change. False: the result is not known. */
static bool open_product(client *client, int sale, int resource)
{
	sale_product *a = &sale_products[sale][resource];
	char name[40];
	int64_t changed = 0;
	dlock_error error;

	if (a->units == 0) {
		stream random = stream_of(options.seed, "units", sale * RESOURCES + resource);
		a->units = 1 + draw_below(&random, 150);
	}
	if (a->open && !draw_chance(&client->random, 0.05)) {
		return true;
	}
	stock_name(sale, resource, name, sizeof name);
	dlock_status status = own_of(client)->stock->ops->restock(
		own_of(client)->stock, DLOCK_ARG(name), a->units, DLOCK_ARG("opening"), 0, &changed, &error);
	if (status == DLOCK_OK && changed != a->units) {
		violation(
			"%s puts %" PRId64 " units into %s, and is told %" PRId64, client->process->name, a->units, name, changed);
	}
	a->open |= status == DLOCK_OK;
	return status == DLOCK_OK;
}

static void count(client *client, int sale, int resource)
{
	char name[40];
	dlock_stock_counts counts;
	dlock_error error;

	stock_name(sale, resource, name, sizeof name);
	sale_product earlier = sale_products[sale][resource];
	if (own_of(client)->stock->ops->count(
			own_of(client)->stock, &(dlock_arg){ name, strlen(name) }, 1, true, &counts, &error)
		== DLOCK_OK) {
		note_available(client, sale, resource, &counts, &earlier);
	}
}

/* ---- one order ---- */

static order *free_place(void)
{
	int i = 0;

	while (i < order_count
		&& (orders[i].open || (orders[i].sale == sale_now() && (orders[i].bought || is_reserved(&orders[i]))))) {
		i++;
	}
	if (i == ORDERS) {
		violation("there are more orders than are noted");
	}
	order_count = i == order_count ? i + 1 : order_count;
	return &orders[i];
}

static order *order_new(client *client, int resource, bool last)
{
	static int number;
	order *o = free_place();
	char buyer[16], request[16];

	*o = (order){ .client = client,
		.open = true,
		.buyer = (int) draw_below(&client->random, BUYERS),
		.sale = sale_now(),
		.count = 1,
		.generation = -1 };
	o->products[0] = resource;
	o->products[1] = resource ^ 1;
	if (!last && o->products[1] < options.resources && draw_chance(&client->random, 0.2)) {
		o->count = 2;
	}
	for (int i = 0; i < o->count; i++) {
		o->units[i] = draw_chance(&client->random, 0.6) ? 1 : 1 + draw_below(&client->random, 4);
	}
	snprintf(buyer, sizeof buyer, "b%d", o->buyer);
	snprintf(request, sizeof request, "%d", ++number);
	o->id = dlock_stock_order_id(DLOCK_ARG(buyer), DLOCK_ARG(request));
	return o;
}

typedef struct {
	char names[AT_ONCE][40];
	dlock_order order;
} question;

static void ask_about(const order *o, question *q)
{
	q->order = (dlock_order) { .id = o->id, .generation = o->generation, .count = o->count };
	for (int i = 0; i < o->count; i++) {
		stock_name(o->sale, o->products[i], q->names[i], sizeof q->names[i]);
		q->order.skus[i] = DLOCK_ARG(q->names[i]);
		q->order.units[i] = o->units[i];
	}
}

/* A signal. The waiter checks it each time that it wakes up. */
static bool is_interrupted(void *context)
{
	return now >= *(nanos *) context || strand_is_refused();
}

/* Asks until there is an answer, or for about ten seconds. */
static dlock_status reserve(client *client, order *o, nanos ttl, nanos timeout, dlock_stock_answer *answer)
{
	stream *random = &client->random;
	dlock_error error = { "" };
	dlock_status status;
	question q;
	nanos give_up = now + 10 * SECOND;

	ask_about(o, &q);
	do {
		nanos signal = draw_chance(random, 0.05) ? now + draw_below(random, 4 * SECOND) : NEVER, begun = now,
			  paused = client->process->paused_total;
		dlock_stock_turn turn = { .stock = own_of(client)->stock,
			.order = &q.order,
			.ttl = ttl,
			.limit = stock_limit(o->products[0]),
			.strict = o->products[0] % 4 == 2 };
		dlock_wait wait = strand_wait(client->process, dlock_now() + timeout);
		wait.interrupted = is_interrupted;
		wait.context = &signal;
		status = turn.stock->ops->reserve(&turn, &wait, answer, &error);
		if (status == DLOCK_INTERRUPTED) {
			turn.stock->ops->leave(&turn);
			say(client->process->name, "is interrupted");
			note_left(o);
			return status;
		}
		nanos over = now - begun - (client->process->paused_total - paused) - timeout;
		sum.longest_overrun = over > sum.longest_overrun ? over : sum.longest_overrun;
		sum.longest_wait = over + timeout > sum.longest_wait ? over + timeout : sum.longest_wait;
		/* the server's timeouts, twice if the question is repeated: docs/operations.md */
		if (over > 5 * SECOND) {
			violation("%s has waited for an answer for %.3f s beyond its time", client->process->name, seconds(over));
		}
		if (status != DLOCK_OK) {
			sum.errors++;
			say(client->process->name, "has no answer: %s", error.message);
			client_sleep(draw_below(random, SECOND));
		}
	} while (status != DLOCK_OK && now < give_up && draw_chance(random, 0.8));
	return status;
}

/* The confirmation was refused. An earlier attempt without an answer, of confirm() itself, too, may still arrive, and
 * buy, until the order is cancelled (docs/stock.md). */
static dlock_status give_up_payment(client *client, const question *q, nanos give_up, dlock_stock_answer *answer)
{
	dlock_stock *stock = own_of(client)->stock;
	dlock_error error = { "" };
	dlock_status status;

	while ((status = stock->ops->cancel(stock, &q->order, answer, &error)) != DLOCK_OK && now < give_up) {
		client_sleep(draw_below(&client->random, SECOND));
	}
	if (status == DLOCK_OK && answer->outcome == DLOCK_STOCK_REFUSED && answer->reason == DLOCK_ORDER_SOLD) {
		answer->outcome = DLOCK_STOCK_SOLD;
	} else {
		answer->outcome = DLOCK_STOCK_REFUSED;
	}
	return status;
}

/* Pays. The order counts as bought as soon as the buyer is told. */
static void confirm(client *client, order *o, const question *q, bool insists)
{
	stock_client *own = own_of(client);
	dlock_stock_answer answer;
	dlock_error error = { "" };
	dlock_status status;
	nanos give_up = now + (insists ? 120 : 10) * SECOND;

	o->relies = false;
	own->confirming = o;
	while ((status = own->stock->ops->confirm(own->stock, &q->order, stock_limit(o->products[0]), &answer, &error))
			!= DLOCK_OK
		&& now < give_up) {
		sum.errors++;
		say(client->process->name, "does not know whether it has bought %s: %s", o->id.text, error.message);
		client_sleep(draw_below(&client->random, SECOND));
	}
	if (status == DLOCK_OK && answer.outcome == DLOCK_STOCK_REFUSED) {
		status = give_up_payment(client, q, give_up, &answer);
	}
	own->confirming = NULL;
	if (status != DLOCK_OK) {
		note_doubtful(o);
		return;
	}
	say(client->process->name, answer.outcome == DLOCK_STOCK_REFUSED ? "cannot buy %s" : "has bought %s", o->id.text);
	if (answer.outcome == DLOCK_STOCK_REFUSED) {
		sum.losses++;
		if (o->bought && is_wrong(&answer)) {
			violation("%s was bought, and cannot be bought", o->id.text);
		}
	} else if (answer.outcome != DLOCK_STOCK_DONE && answer.outcome != DLOCK_STOCK_SOLD) {
		violation("%s buys %s, and is told %d", client->process->name, o->id.text, (int) answer.outcome);
	} else {
		sum.attached++;
		note_bought(o);
	}
}

static void cancel(client *client, order *o, const question *q)
{
	dlock_stock_answer answer = { .outcome = DLOCK_STOCK_REFUSED };
	dlock_error error = { "" };

	o->relies = false;
	dlock_status status = own_of(client)->stock->ops->cancel(own_of(client)->stock, &q->order, &answer, &error);
	say(client->process->name, "gives %s back: %d %d %s", o->id.text, status,
		status == DLOCK_OK ? (int) answer.outcome : -1, error.message);
	sum.unreleased += status != DLOCK_OK;
	if (status == DLOCK_OK && o->bought && answer.outcome == DLOCK_STOCK_DONE && is_wrong(&answer)) {
		violation("%s has bought %s, and can give it back", client->process->name, o->id.text);
	}
}

/* All units of the order, or one of several, are for sale again. */
static void refund(client *client, order *o, const question *q)
{
	dlock_stock_answer answer;
	dlock_error error = { "" };
	dlock_status status;
	nanos give_up = now + 60 * SECOND;
	bool part = o->count == 1 && o->units[0] > 1 && draw_chance(&client->random, 0.5);
	int64_t units[AT_ONCE] = { part ? 1 : o->units[0], o->units[1] };

	note_refunding(o, units); /* from now on other buyers may have the units */
	while ((status = own_of(client)->stock->ops->refund(own_of(client)->stock, &q->order, true, part ? 1 : 0,
				part ? DLOCK_ARG("part") : (dlock_arg){ "", 0 }, &answer, &error))
			!= DLOCK_OK
		&& now < give_up) {
		client_sleep(draw_below(&client->random, SECOND));
	}
	say(client->process->name, "refunds %s%s: %d %d", part ? "a unit of " : "", o->id.text, status,
		status == DLOCK_OK ? (int) answer.outcome : -1);
	if (status == DLOCK_OK && (answer.outcome == DLOCK_STOCK_DONE || answer.outcome == DLOCK_STOCK_SOLD)) {
		note_refunded(o, units);
	} else if (status == DLOCK_OK && is_wrong(&answer)) {
		violation("%s has bought %s, and cannot be given its money back", client->process->name, o->id.text);
	}
}

/* Changes the numbers of units. Units that are no longer wanted are free once that is requested. Additional units count
 * once the buyer is told. */
static void change(client *client, order *o, question *q)
{
	dlock_stock_answer answer;
	dlock_error error = { "" };
	bool relied = o->relies;
	dlock_status status;
	nanos give_up = now + (draw_chance(&client->random, 0.5) ? 10 : 0) * SECOND;

	o->relies = false;
	for (int i = 0; i < o->count; i++) {
		q->order.units[i] = 1 + draw_below(&client->random, 4);
	}
	while ((status = own_of(client)->stock->ops->change(
				own_of(client)->stock, &q->order, stock_limit(o->products[0]), &answer, &error))
			!= DLOCK_OK
		&& now < give_up) {
		client_sleep(draw_below(&client->random, SECOND));
	}
	say(client->process->name, "changes %s to %" PRId64 ": %d %d", o->id.text, q->order.units[0], status,
		status == DLOCK_OK ? (int) answer.outcome : -1);
	if (status == DLOCK_OK && answer.outcome == DLOCK_STOCK_DONE) {
		memcpy(o->units, q->order.units, sizeof o->units);
	}
	o->changed = o->changed || status != DLOCK_OK; /* the old or the new numbers may count */
	o->relies = relied && status == DLOCK_OK && answer.outcome != DLOCK_STOCK_REFUSED;
	ask_about(o, q);
	check_stocks();
}

static void extend(client *client, order *o, const question *q)
{
	dlock_stock_answer answer;
	dlock_error error = { "" };
	nanos ttl = 300 * MS + draw_below(&client->random, 5 * SECOND);
	bool relied = o->relies;

	o->relies = false;
	dlock_status status = own_of(client)->stock->ops->extend(own_of(client)->stock, &q->order, ttl, &answer, &error);
	say(client->process->name, "extends %s to %.3f s: %d %d", o->id.text, seconds(ttl), status,
		status == DLOCK_OK ? (int) answer.outcome : -1);
	if (status == DLOCK_OK && answer.outcome == DLOCK_STOCK_DONE) {
		o->deadline = answer.deadline > o->deadline ? answer.deadline : o->deadline;
		o->relies = true;
	} else {
		o->relies = relied && status != DLOCK_OK; /* without an answer the old deadline counts */
	}
	check_stocks();
}

/* What a buyer does with its reservation. */
static void go_on(client *client, order *o, question *q, nanos ttl, bool last)
{
	stream *random = &client->random;
	int choice = last ? 0 : (int) draw_below(random, 100);

	client_sleep(last ? 1 * MS : draw_below(random, draw_chance(random, 0.1) ? 3 * ttl : ttl));
	if (choice < 65) {
		if (!last && draw_chance(random, 0.2)) {
			extend(client, o, q);
			client_sleep(draw_below(random, SECOND));
		}
		if (!last && draw_chance(random, 0.1)) {
			change(client, o, q);
		}
		if (!o->changed) {
			confirm(client, o, q, last);
		}
	} else if (choice < 85) {
		cancel(client, o, q);
	} /* otherwise it is never heard of again */
	if (o->bought && draw_chance(random, 0.1)) {
		cancel(client, o, q);
	}
	if (o->bought && !last && draw_chance(random, 0.05)) {
		refund(client, o, q);
	} else if (o->bought && draw_chance(random, 0.2)) { /* the page is loaded once more */
		dlock_stock_answer answer;
		if (reserve(client, o, ttl, 0, &answer) == DLOCK_OK && answer.outcome != DLOCK_STOCK_SOLD
			&& is_wrong(&answer)) {
			violation("%s has bought %s, and is told %d when it asks again", client->process->name, o->id.text,
				(int) answer.outcome);
		}
	}
}

static void shop_for(client *client, order *o, int resource, bool last)
{
	stream *random = &client->random;
	nanos ttl = 300 * MS + draw_below(random, 8 * SECOND);
	nanos timeout = !last && draw_chance(random, 0.5) ? draw_below(random, 6 * SECOND) : 0;
	dlock_stock_answer answer = { .outcome = DLOCK_STOCK_SHORT };
	question q;

	for (int i = 0; i < o->count; i++) {
		if (!open_product(client, o->sale, o->products[i])) {
			if (last) {
				violation("%s cannot open a sale after all faults", client->process->name);
			}
			return;
		}
	}
	ask_about(o, &q);
	say(client->process->name, "wants %" PRId64 " of %s%s for %.3f s within %.3f s, as %s", o->units[0], q.names[0],
		o->count > 1 ? " and its neighbour" : "", seconds(ttl), seconds(timeout), o->id.text);
	dlock_status status = reserve(client, o, ttl, timeout, &answer);
	if (status != DLOCK_OK && status != DLOCK_INTERRUPTED && last) {
		violation("%s has no answer after all faults", client->process->name);
	}
	if (status == DLOCK_OK && answer.outcome == DLOCK_STOCK_DONE) {
		sum.acquired++;
		o->relies = true;
		o->deadline = answer.deadline;
		o->generation = answer.generation;
		ask_about(o, &q);
		say(client->process->name, "has reserved %s, token %" PRId64 ", for %.3f s", o->id.text, answer.fencing_token,
			seconds(o->deadline - host_clock(current_process->host)));
		check_stocks();
		go_on(client, o, &q, ttl, last);
	} else if (status == DLOCK_OK) {
		sum.timeouts++;
		say(client->process->name, "has not got %s: %d", o->id.text, (int) answer.outcome);
	}
	if (draw_chance(random, 0.05)) {
		count(client, o->sale, resource);
	}
	trace_hash(&status, sizeof status);
	trace_hash(&answer.outcome, sizeof answer.outcome);
}

static void shop(client *client, bool last)
{
	int resource = last ? client->laps % options.resources : (int) draw_below(&client->random, options.resources);
	order *o = order_new(client, resource, last);

	own_of(client)->current = o;
	shop_for(client, o, resource, last);
	own_of(client)->current = NULL;
	o->open = false;
	client->laps += last;
}

static void open_stock(stock_client *own)
{
	int replicas = options.setup == REPLICATED && !stocks_forget() ? options.servers - 1 : 1;
	unsigned long failed = failed_calls();

	while (!(own->stock = dlock_redis_stock_new(
				 redis_pool(own->connections), service_of_setup(replicas), STOCK_PREFIX, strlen(STOCK_PREFIX)))) {
		try_again(failed, "a stock");
		failed = failed_calls();
	}
}

static void live(client *client)
{
	while (now < end_of_faults) {
		client_rest(&client->random, 600 * MS);
		shop(client, false);
	}
	client->process->pause_at = 0;
	client_sleep(10 * SECOND);
	while (client->laps < options.resources && now < end_of_work) {
		shop(client, true);
		client_sleep(20 * MS);
	}
	say(client->process->name, "ends");
}

/* The clients of one process share its object, as fibers do. */
static void *client_main(void *argument)
{
	client *first = argument;
	connections *connections = connections_new();

	dlock_process_init();
	*own_of(first) = (stock_client) { .connections = connections };
	open_stock(own_of(first));
	for (int i = 1; i < clients_of_process(); i++) {
		*own_of(client_of_process(first, i)) = *own_of(first);
	}
	clients_run(first, live);
	own_of(first)->stock->ops->free(own_of(first)->stock);
	connections_end(connections);
	first->process->alive = false;
	return NULL;
}

/* ---- the workload ---- */

static void killed(client *client)
{
	stock_client *own = own_of(client);

	if (own->confirming) {
		note_doubtful(own->confirming);
		own->confirming = NULL;
	}
	if (own->current) {
		own->current->relies = own->current->open = false;
	}
}

const workload stocks = { "stocks", stock_rules_begin, client_main, killed, stock_rules_end, false };
const workload stocks_of_strands
	= { "stock-strands", stock_rules_begin, client_main, killed, stock_rules_end, true };

/* Checks what docs/stock.md promises, against what buyers were told and the server's books. The books are checked after
 * each run of a fiber and twenty times a second. The promised units are checked whenever they become more. */
#include "stock_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"

#define SAMPLE (50 * MS)

static unsigned long scripts_seen;
static books look;

static server *master(void)
{
	return options.setup == REPLICATED ? sentinels_master() : redis[0];
}

static bool is_single(void)
{
	return options.setup == SINGLE;
}

static void make_key(int sale, int resource, char *key, size_t size)
{
	char name[40];

	stock_name(sale, resource, name, sizeof name);
	snprintf(key, size, STOCK_PREFIX "%s", name);
}

static bool read_books(int sale, int resource)
{
	char key[60];

	make_key(sale, resource, key, sizeof key);
	return books_read(&look, master(), key);
}

bool is_reserved(const order *o)
{
	return o->relies && o->client->process->alive && o->deadline > host_clock(o->client->process->host);
}

static void say_orders(int sale, int resource)
{
	for (int i = 0; i < order_count; i++) {
		const order *o = &orders[i];
		for (int k = 0; k < o->count; k++) {
			if (o->sale == sale && o->products[k] == resource && (o->bought || is_reserved(o))) {
				say("", "%s has %s %" PRId64 " of drop:%d:%d", o->id.text, o->bought ? "bought" : "reserved",
					o->units[k], resource, sale);
			}
		}
	}
}

/* ---- never more units than there are ---- */

/* Units that buyers rely on: bought, or reserved and not expired. */
static void check_promised(void)
{
	int64_t promised[RESOURCES] = { 0 }, by_buyer[RESOURCES][BUYERS] = { { 0 } };
	int sale = sale_now();

	for (int i = 0; i < order_count; i++) {
		const order *o = &orders[i];
		for (int k = 0; o->sale == sale && k < o->count; k++) {
			if (o->bought || is_reserved(o)) {
				promised[o->products[k]] += o->units[k];
				by_buyer[o->products[k]][o->buyer] += o->units[k];
			}
		}
	}
	for (int r = 0; r < options.resources; r++) {
		if (promised[r] > sale_products[sale][r].units) {
			say_orders(sale, r);
			violation("%" PRId64 " units of drop:%d:%d are promised, and there are %" PRId64, promised[r], r, sale,
				sale_products[sale][r].units);
		}
	}
}

/* Checks a server's books by themselves. */
static void check_books(void)
{
	static books_version seen[RESOURCES];
	static int seen_sale;
	int sale = sale_now();
	char key[60];

	for (int r = 0; r < options.resources; r++) {
		make_key(sale, r, key, sizeof key);
		if (!books_have_changed(&seen[r], master(), key) && sale == seen_sale) {
			continue;
		}
		const char *error = books_read(&look, master(), key) ? books_error(&look) : NULL;
		if (error) {
			violation("the books of drop:%d:%d are wrong: %s", r, sale, error);
		}
		if (look.there && look.sold + look.used > look.stock) {
			violation("of %" PRId64 " units of drop:%d:%d, %" PRId64 " are sold and %" PRId64
					  " reserved, says the server",
				look.stock, r, sale, look.sold, look.used);
		}
	}
	seen_sale = sale;
}

static void look_at_books(void)
{
	if (scripts_seen != redis_scripts_run) {
		scripts_seen = redis_scripts_run;
		check_books();
	}
}

void check_stocks(void)
{
	if (is_single()) { /* a failover may forget reservations: the buyer is told when it confirms (docs/fail-over.md) */
		check_promised();
	}
	look_at_books();
}

/* The server has what the buyer relies on. */
static void check_kept(const order *o, int place)
{
	const book_holder *kept = books_holder(&look, o->id.text);

	if (!kept || kept->permits != o->units[place] || (o->bought && !kept->bought)) {
		violation("%s relies on %" PRId64 " of drop:%d:%d, which it has %s, and the server has %" PRId64 " for it, %s",
			o->id.text, o->units[place], o->products[place], o->sale, o->bought ? "bought" : "reserved",
			kept ? kept->permits : 0, kept && kept->bought ? "bought" : "reserved");
	}
}

static void sample(void *context, uint64_t unused)
{
	int sale = sale_now();

	(void) context;
	(void) unused;
	for (int r = 0; is_single() && r < options.resources; r++) {
		read_books(sale, r);
		for (int i = 0; i < order_count; i++) {
			const order *o = &orders[i];
			for (int k = 0; o->sale == sale && k < o->count; k++) {
				if (o->products[k] == r && (o->bought || is_reserved(o))) {
					check_kept(o, k);
				}
			}
		}
	}
	if (now < end_of_work) {
		at(now + SAMPLE, sample, NULL, 0);
	}
}

/* ---- a waiter that has left is in no queue ---- */

/* By then a message without a waiting caller has arrived. */
#define SOON (50 * MS)

typedef struct {
	order order; /* as it was */
	int pid;
	nanos left;
} leaver;

static void check_left(void *context, uint64_t unused)
{
	leaver *l = context;
	const order *o = &l->order;
	const process *process = o->client->process;

	(void) unused;
	bool excused = !was_calm_since(l->left) || process->pid != l->pid || !process->alive
		|| process->paused_until > l->left;
	for (int k = 0; !excused && k < o->count; k++) {
		if (read_books(o->sale, o->products[k]) && books_waits(&look, o->id.text)) {
			violation("%s, which %s does not wait for any more, is in the queue of drop:%d:%d %.3f s later", o->id.text,
				process->name, o->products[k], o->sale, (double) (now - l->left) / SECOND);
		}
	}
	free(l);
}

void note_left(const order *o)
{
	if (is_single()) {
		leaver *l = malloc(sizeof *l);
		*l = (leaver) { *o, o->client->process->pid, now };
		at(now + SOON, check_left, l, 0);
	}
}

/* ---- what buyers are told ---- */

void note_bought(order *o)
{
	for (int k = 0; k < o->count && !o->bought; k++) {
		sale_product *a = &sale_products[o->sale][o->products[k]];
		a->sold += o->units[k];
		a->sold_at = now;
		if (a->sold > a->units && !stocks_forget()) {
			say_orders(o->sale, o->products[k]);
			violation("drop:%d:%d is oversold: %" PRId64 " of %" PRId64, o->products[k], o->sale, a->sold, a->units);
		}
	}
	o->bought = true;
	check_stocks();
}

void note_doubtful(order *o)
{
	for (int k = 0; k < o->count && !o->bought && !o->doubtful; k++) {
		sale_products[o->sale][o->products[k]].doubtful += o->units[k];
	}
	o->doubtful = !o->bought;
}

/* If the refund is never done, the units stay sold. */
void note_refunding(order *o, const int64_t units[AT_ONCE])
{
	for (int k = 0; k < o->count; k++) {
		sale_product *a = &sale_products[o->sale][o->products[k]];
		a->sold -= units[k];
		a->doubtful += units[k];
	}
	o->bought = false;
}

void note_refunded(order *o, const int64_t units[AT_ONCE])
{
	for (int k = 0; k < o->count; k++) {
		sale_products[o->sale][o->products[k]].refunded += units[k];
		o->units[k] -= units[k];
		o->bought |= o->units[k] > 0;
	}
	check_stocks();
}

bool is_wrong(const dlock_stock_answer *answer)
{
	return !stocks_forget() || answer->uncertain == 0;
}

/* A new master may not know recent sales (question.c). */
#define KNOWN_AFTER (3 * SECOND)

static void check_silence(const client *client, int sale, int resource, const dlock_stock_counts *counts,
	const sale_product *earlier)
{
	const sale_product *a = &sale_products[sale][resource];

	if (counts->uncertain == 0 && earlier->sold_at + KNOWN_AFTER < now && counts->sold < earlier->sold - a->doubtful) {
		violation("%s is told that %" PRId64 " of drop:%d:%d are sold, and not that any may be missing, of %" PRId64,
			client->process->name, counts->sold, resource, sale, earlier->sold);
	}
}

void note_available(
	const client *client, int sale, int resource, const dlock_stock_counts *counts, const sale_product *earlier)
{
	const sale_product *a = &sale_products[sale][resource];

	if (setup_fails_over()) {
		check_silence(client, sale, resource, counts, earlier);
	}

	if (is_single()
		&& (counts->available < 0 || counts->available + counts->reserved + counts->sold != a->units
			|| counts->sold < earlier->sold - a->doubtful)) {
		violation("%s is told that %" PRId64 " of drop:%d:%d are available, %" PRId64 " reserved and %" PRId64
				  " sold, of %" PRId64,
			client->process->name, counts->available, resource, sale, counts->reserved, counts->sold, a->units);
	}
}

/* ---- begin and end ---- */

void stock_rules_begin(void)
{
	after_fiber = look_at_books;
	at(now + SAMPLE, sample, NULL, 0);
}

/* The server's sales are what buyers were told, except for orders whose buyers were not told. */
void stock_rules_end(void)
{
	for (int sale = 0; sale < SALES; sale++) {
		for (int r = 0; r < options.resources; r++) {
			const sale_product *a = &sale_products[sale][r];
			if (a->open && !stocks_forget() && read_books(sale, r)
				&& (look.sold < a->sold || look.sold > a->sold + a->doubtful - a->refunded || look.stock != a->units)) {
				violation("of %" PRId64 " units of drop:%d:%d, %" PRId64 " to %" PRId64
						  " were sold, and the server says %" PRId64 " of %" PRId64,
					a->units, r, sale, a->sold, a->sold + a->doubtful - a->refunded, look.sold, look.stock);
			}
		}
	}
}

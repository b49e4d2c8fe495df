/* Reads pools of permits and stocks from a server's data, and adds them up. It sends no request, so it changes
 * nothing. */
#include "books.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOUGHT 1e13
#define ENDED 2e13 /* also cancelled and refunded orders: they hold nothing */
#define WAITS 1e15

/* The last bytes are compared first, because ids differ there. */
static bool same(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && (a_len == 0 || (a[a_len - 1] == b[a_len - 1] && !memcmp(a, b, a_len)));
}

static bool is(const char *name, size_t len, const char *text)
{
	return same(name, len, text, strlen(text));
}

static void add_number(book_number *numbers, int *count, const char *name, size_t len, double score)
{
	if (*count == BOOK_ENTRIES) {
		violation("a pool has more entries than are looked at");
	}
	numbers[(*count)++] = (book_number) { name + 1, len - 1, (int64_t) score };
}

static int64_t weight_of(const books *b, const char *id, size_t len)
{
	for (int i = 0; i < b->weight_count; i++) {
		if (same(b->weights[i].name, b->weights[i].len, id, len)) {
			return b->weights[i].number;
		}
	}
	return 1;
}

static void add_holder(books *b, const char *name, size_t len, double score)
{
	if (b->holder_count == BOOK_ENTRIES) {
		violation("a pool has more holders than are looked at");
	}
	bool bought = score >= BOUGHT;
	if (score >= ENDED) {
		return;
	}
	b->holders[b->holder_count++] = (book_holder){ name + 1, len - 1, weight_of(b, name + 1, len - 1), (int64_t) score,
		bought };
}

/* Members come in the order of their scores, so the weights of holders come before the holders. */
static void read_member(void *context, const char *name, size_t len, double score)
{
	books *b = context;

	switch (*name) {
	case '$':
		b->used = is(name, len, "$used") ? (int64_t) score : b->used;
		b->sold = is(name, len, "$sold") ? (int64_t) score : b->sold;
		b->stock = is(name, len, "$stock") ? (int64_t) score : b->stock;
		b->free = is(name, len, "$free") ? (int64_t) score : b->free;
		b->fence = is(name, len, "$fence") ? (int64_t) -score : b->fence;
		break;
	case 'w':
		add_number(b->weights, &b->weight_count, name, len, score);
		break;
	case 'b':
		add_number(b->buyers, &b->buyer_count, name, len, score);
		break;
	case 'h':
		add_holder(b, name, len, score);
		break;
	case 'q':
		int64_t wanted = strtoll(name + 1, NULL, 10);
		add_number(b->queue, &b->waiters, name, len, (double) wanted);
		b->most_wanted = wanted > b->most_wanted ? wanted : b->most_wanted;
		break;
	default:
		break;
	}
}

bool books_have_changed(books_version *seen, server *s, const char *key)
{
	books_version before = *seen;

	*seen = (books_version) { s, redis_version(s, key) };
	return before.server != seen->server || before.version != seen->version;
}

bool books_read(books *b, server *s, const char *key)
{
	b->holder_count = b->weight_count = b->buyer_count = b->waiters = 0;
	b->used = b->sold = b->stock = b->free = b->fence = b->most_wanted = 0;
	b->now = redis_time_of_day(s) / MS;
	b->there = redis_members(s, key, read_member, b);
	b->used += b->stock - b->sold - b->free; /* a stock stores its free units, a pool its used permits */
	return b->there;
}

const book_holder *books_holder(const books *b, const char *id)
{
	size_t len = strlen(id);

	for (int i = 0; i < b->holder_count; i++) {
		if (same(b->holders[i].id, b->holders[i].len, id, len)) {
			return &b->holders[i];
		}
	}
	return NULL;
}

bool books_waits(const books *b, const char *id)
{
	size_t len = strlen(id);

	for (int i = 0; i < b->waiters; i++) {
		const book_number *waiter = &b->queue[i];
		const char *end = waiter->name + waiter->len, *at = memmem(waiter->name, waiter->len, id, len);
		if (at && (at == waiter->name || at[-1] == ' ') && (at + len == end || at[len] == ' ')) {
			return true;
		}
	}
	return false;
}

int64_t books_held(const books *b)
{
	int64_t held = 0;

	for (int i = 0; i < b->holder_count; i++) {
		held += !b->holders[i].bought && b->holders[i].ends >= b->now ? b->holders[i].permits : 0;
	}
	return held;
}

static int64_t pieces_of(const books *b, const book_number *buyer)
{
	int64_t pieces = 0;

	for (int i = 0; i < b->holder_count; i++) {
		const book_holder *h = &b->holders[i];
		bool is_its = h->len > buyer->len && h->id[buyer->len] == '/' && !memcmp(h->id, buyer->name, buyer->len);
		pieces += is_its ? h->permits : 0;
	}
	return pieces;
}

const char *books_error(const books *b)
{
	static char text[160];
	int64_t used = 0, sold = 0;

	for (int i = 0; i < b->holder_count; i++) {
		*(b->holders[i].bought ? &sold : &used) += b->holders[i].permits;
	}
	if (used != b->used || sold != b->sold) {
		snprintf(text, sizeof text, "its holders have %lld and have bought %lld, and it says %lld and %lld",
			(long long) used, (long long) sold, (long long) b->used, (long long) b->sold);
		return text;
	}
	for (int i = 0; i < b->buyer_count; i++) {
		if (pieces_of(b, &b->buyers[i]) != b->buyers[i].number) {
			snprintf(text, sizeof text, "buyer %.*s has %lld, and it says %lld", (int) b->buyers[i].len,
				b->buyers[i].name, (long long) pieces_of(b, &b->buyers[i]), (long long) b->buyers[i].number);
			return text;
		}
	}
	return NULL;
}

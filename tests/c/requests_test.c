/* The requests to Redis, word for word: each with its usual arguments and with those at the limits. The words are those
 * of a release. If one changes, older and newer clients of the same lock no longer agree. Prints TAP. */

#include <stdlib.h>

#include "../../src/redis/request/permits_requests.h"
#include "../../src/redis/request/stock_requests.h"
#include "../../src/redis/request/replicated_requests.h"
#include "tap.h"

#define MS DLOCK_MS
#define S DLOCK_SECOND

static char said[4096];

/* Returns the script's name, the number of keys and all words; an empty word as ''. */
static const char *words_of(const dlock_call *call)
{
	char *out = said;

	*out = '\0';
	for (int i = call && call->origin ? 2 : 0; call && i < call->words; i++) {
		if (i == 2 && call->origin) {
			out += sprintf(out, "%s %.*s", call->origin->name, (int) call->word_len[i], call->word[i]);
		} else if (call->word_len[i] == 0) {
			out += sprintf(out, " ''");
		} else {
			out += sprintf(out, "%s%.*s", i ? " " : "", (int) call->word_len[i], call->word[i]);
		}
	}
	return said;
}

static void says(dlock_call *call, const char *words)
{
	const char *found = words_of(call);
	bool same = !strcmp(found, words) && (!call->origin || call->word[1] == call->origin->sha1);

	check(same, "%s%s%s", found, same ? "" : ", not ", same ? "" : words);
	dlock_call_release(call);
}

static dlock_inbox inbox = { .channel = "box" };
static const dlock_keys keys = { .lock = { "lock", 4 }, .queue = { "queue", 5 }, .waiters = { "waiters", 7 } };
static const dlock_keys in_slot = { .lock = { "lock", 4 },
	.queue = { "q{s}", 4 },
	.waiters = { "w{s}", 4 },
	.fence = { "f{s}", 4 },
	.epoch = { "e{s}", 4 },
	.slot = 7 };
static const dlock_epoch_rule guard = { 60 * S, true, 2 }, copies = { 1500 * MS + 1, false, 2 },
							  short_guard = { 1, false, 2 };

static void test_acquire(void)
{
	says(dlock_request_acquire(keys,
			 &(dlock_attempt){ .token = "t", .ttl = 30 * S, .least_fencing_token = DLOCK_NO_NUMBER, .grant = true }),
		"acquire 4 lock dlock:fence queue waiters t 30000");
	says(dlock_request_acquire(keys, &(dlock_attempt){ .token = "t", .ttl = 1, .grant = true, .number = 3 }),
		"acquire 4 lock dlock:fence queue waiters t 1 0");
	says(dlock_request_acquire(in_slot, &(dlock_attempt){ .token = "t", .ttl = 2 * MS - 1, .least_fencing_token = 12 }),
		"acquire 4 lock f{s} q{s} w{s} t 1 12 0");
	says(dlock_request_acquire(
			 keys, &(dlock_attempt){ .token = "t", .ttl = S, .grant = true, .inbox = &inbox, .number = 1 }),
		"acquire 4 lock dlock:fence queue waiters t 1000 0 '' box '' 1");
	says(dlock_request_acquire(keys,
			 &(dlock_attempt){ .token = "t", .ttl = S, .grant = true, .inbox = &inbox, .ticket = 9, .number = 2 }),
		"acquire 4 lock dlock:fence queue waiters t 1000 0 '' box 9 2");
	says(dlock_request_acquire(keys, &(dlock_attempt){ .token = "t", .ttl = S, .ticket = 9, .number = 2 }),
		"acquire 4 lock dlock:fence queue waiters t 1000 0 0 '' 9");
	says(dlock_request_acquire(keys,
			 &(dlock_attempt){ .token = "t",
				 .ttl = S,
				 .least_fencing_token = DLOCK_NO_NUMBER,
				 .waiter = "w",
				 .ticket = 9,
				 .number = 2 }),
		"acquire 4 lock dlock:fence queue waiters t 1000 '' 0 '' 9 '' w");
	says(dlock_request_acquire(keys,
			 &(dlock_attempt){
				 .token = "t", .ttl = S, .least_fencing_token = DLOCK_NO_NUMBER, .waiter = "", .grant = true }),
		"acquire 4 lock dlock:fence queue waiters t 1000");
	says(dlock_request_acquire(keys,
			 &(dlock_attempt){ .token = "t",
				 .ttl = S,
				 .least_fencing_token = DLOCK_MOST_PROPOSED,
				 .inbox = &inbox,
				 .ticket = 9,
				 .number = 2,
				 .waiter = "w",
				 .unnotified = true }),
		"acquire 4 lock dlock:fence queue waiters t 1000 4503599627370496 0 box 9 2 w '' 1");
	says(dlock_request_acquire(keys, &(dlock_attempt){ .token = "t", .ttl = S, .grant = true, .legacy = true }),
		"acquire 4 lock dlock:fence queue waiters t 1000 0 '' '' '' '' '' 1");
	says(dlock_request_acquire(keys,
			 &(dlock_attempt){ .token = "t", .ttl = DLOCK_TTL_MAX, .grant = true, .legacy = true, .unnotified = true }),
		"acquire 4 lock dlock:fence queue waiters t 31536000000 0 '' '' '' '' '' 1 1");
}

static void test_looking(void)
{
	dlock_keys held = keys;
	held.held = (dlock_arg) { "held", 4 };

	says(dlock_request_acquire(keys, &(dlock_attempt){ .token = "t", .ttl = S, .grant = true, .inbox = &inbox,
										 .description = "host GET /cart", .number = 1 }),
		"acquire 4 lock dlock:fence queue waiters t 1000 0 '' box host GET /cart '' 1");
	says(dlock_request_acquire(
			 keys, &(dlock_attempt){ .token = "t", .ttl = S, .grant = true, .description = "host", .number = 1 }),
		"acquire 4 lock dlock:fence queue waiters t 1000 0");
	says(dlock_request_inspect(held, 100), "inspect 4 lock queue waiters held 100");
	says(dlock_request_permits_inspect(held, 0), "permits_inspect 2 lock held 0");
	says(dlock_request_describe(held, "id", "1 2 host", 30 * S, false),
		"describe 3 lock held dlock:seen id 1 2 host 30000 ''");
	held.fence = (dlock_arg) { "dlock:fence:{s}", 15 };
	says(dlock_request_describe(held, "id", "1 2 host", 30 * S, true),
		"describe 3 lock held dlock:seen:{s} id 1 2 host 30000 1");
	says(dlock_request_seen(DLOCK_ARG("dlock:seen"), 1000), "seen 1 dlock:seen 1000");
	says(dlock_request_break(keys, "id", "me", false, true), "break 4 lock dlock:fence queue waiters id me ''");
	says(dlock_request_break(keys, "id", "me", true, true), "break 4 lock dlock:fence queue waiters id me 1");
	says(dlock_request_break(keys, "id", "me", true, false), "break 4 lock dlock:fence queue waiters id me 1 0");
	says(dlock_request_permits_break(DLOCK_ARG("pool"), "id", "me", false), "permits_break 1 pool id me ''");
}

static void test_release(void)
{
	says(dlock_request_release(keys, "t", true, NULL, false), "release 4 lock dlock:fence queue waiters t");
	says(dlock_request_release(keys, "t", false, NULL, false), "release 4 lock dlock:fence queue waiters t 0");
	says(dlock_request_release(keys, "t", true, "w", false), "release 4 lock dlock:fence queue waiters t '' w");
	says(dlock_request_release(in_slot, "t", true, "w", true), "release 4 lock f{s} q{s} w{s} t '' w 1");
	says(dlock_request_release(keys, "t", false, "w", true), "release 4 lock dlock:fence queue waiters t 0 w 1");
	says(dlock_request_release(keys, "t", false, "", false), "release 4 lock dlock:fence queue waiters t 0");
	says(dlock_request_release(keys, "t", true, NULL, true), "release 4 lock dlock:fence queue waiters t '' '' 1");
	says(dlock_request_leave(keys, "w", true), "leave 4 lock dlock:fence queue waiters w");
	says(dlock_request_leave(in_slot, "w", false), "leave 4 lock f{s} q{s} w{s} w 0");
	says(dlock_request_drop(in_slot, "t"), "drop 1 lock t");
}

static void test_leases(void)
{
	says(dlock_request_extend(keys, "t", 30 * S), "extend 1 lock t 30000");
	says(dlock_request_extend(keys, "t", 0), "extend 1 lock t 1");
	says(dlock_request_extend(keys, "t", -S), "extend 1 lock t 1");
	says(dlock_request_renew(keys, "t", 1), "renew 1 lock t 1");
	says(dlock_request_renew(in_slot, "t", 2 * MS - 1), "renew 1 lock t 1");
	says(dlock_request_check(keys, "t"), "check 1 lock t");
	says(dlock_request_holder(keys), "GET lock");
	says(dlock_request_raise(keys, "t", DLOCK_EXACT), "raise 2 lock dlock:fence t 9007199254740992");
	says(dlock_request_raise(in_slot, "t", 0), "raise 2 lock f{s} t 0");
	says(dlock_request_repair(keys, "t", 30 * S, 12), "repair 2 lock dlock:fence t 30000 12");
	says(dlock_request_repair(in_slot, "t", 0, 0), "repair 2 lock f{s} t 1 0");
	says(dlock_request_keep(keys, "t", 30 * S, true), "keep 1 lock t 30000 1");
	says(dlock_request_keep(in_slot, "t", 1, false), "keep 1 lock t 1 0");
	says(dlock_request_keep(keys, "t", 0, false), "keep 1 lock t 0 0");
	says(dlock_request_restore(keys, "t", 30 * S, 12, 60 * S), "restore 3 lock dlock:fence dlock:era t 30000 12 60000");
	says(dlock_request_restore(in_slot, "t", 0, 0, 1), "restore 3 lock f{s} e{s} t 0 0 1");
}

static void test_lease_left(void)
{
	check(dlock_lease_left(1500) == 1500 * MS && dlock_lease_left(INT64_MAX) == DLOCK_TTL_MAX, "what is left");
	check(dlock_lease_left(0) == 0 && dlock_lease_left(-1) == 0 && dlock_lease_left(INT64_MIN) == 0
			&& dlock_lease_left(-9223372036856) == 0,
		"a time below 0, which only a hostile server says, is nothing");
}

static void test_exchange(void)
{
	says(dlock_request_exchange(keys, "old", "new", 0), "exchange 2 lock dlock:fence old new 0");
	says(dlock_request_exchange(in_slot, "old", "new", 12), "exchange 2 lock f{s} old new 12");
	says(dlock_request_exchange_back(keys, "old", "new"), "exchange 2 lock dlock:fence new old ''");
	says(dlock_request_exchange_replicated(keys, "old", "new", 0, guard),
		"exchange_replicated 3 lock dlock:fence dlock:era old new 0 60000");
	says(dlock_request_exchange_replicated(in_slot, "old", "new", 0, copies),
		"exchange_replicated 3 lock f{s} e{s} old new 0 1500 -");
}

static void test_replicated(void)
{
	says(dlock_request_acquire_replicated(keys, &(dlock_attempt){ .token = "t", .ttl = 30 * S, .number = 3 }, guard),
		"acquire_replicated 5 lock dlock:fence queue waiters dlock:era t 30000 60000");
	says(dlock_request_acquire_replicated(
			 in_slot, &(dlock_attempt){ .token = "t", .ttl = 1, .number = 3, .ticket = 9 }, copies),
		"acquire_replicated 5 lock f{s} q{s} w{s} e{s} t 1 1500 -");
	says(dlock_request_acquire_replicated(
			 keys, &(dlock_attempt){ .token = "t", .ttl = S, .number = 3, .ticket = 9 }, guard),
		"acquire_replicated 5 lock dlock:fence queue waiters dlock:era t 1000 60000");
	says(dlock_request_acquire_replicated(
			 keys, &(dlock_attempt){ .token = "t", .ttl = S, .number = 3, .inbox = &inbox }, guard),
		"acquire_replicated 5 lock dlock:fence queue waiters dlock:era t 1000 60000 '' box '' 3");
	says(dlock_request_acquire_replicated(in_slot,
			 &(dlock_attempt){ .token = "t", .ttl = S, .number = 3, .inbox = &inbox, .ticket = 9, .grant = true },
			 short_guard),
		"acquire_replicated 5 lock f{s} q{s} w{s} e{s} t 1000 1 - box 9 3");
	says(dlock_request_unchanged(keys, "t", guard, NULL, false), "unchanged 2 lock dlock:era t 60000");
	says(dlock_request_unchanged(keys, "t", guard, NULL, true), "unchanged 2 lock dlock:era t 60000 '' 1");
	says(dlock_request_unchanged(in_slot, "t", copies, "old", false), "unchanged 2 lock e{s} t 1500 old");
}

static void test_several(void)
{
	static const dlock_arg locks[] = { { "a", 1 }, { "qa", 2 }, { "wa", 2 }, { "b", 1 }, { "qb", 2 }, { "wb", 2 },
		{ "fence", 5 }, { "era", 3 } };
	dlock_attempt attempt = { .token = "t", .ttl = S, .number = 3, .ticket = 9, .inbox = &inbox, .grant = true };

	says(dlock_request_several_acquire(locks, 7, &attempt),
		"several_acquire 7 a qa wa b qb wb fence t 1000 0 box 9 3");
	says(dlock_request_several_acquire(locks, 7,
			 &(dlock_attempt){ .token = "t", .ttl = S, .least_fencing_token = 5, .inbox = &inbox, .ticket = 9,
				 .waiter = "*w" }),
		"several_acquire 7 a qa wa b qb wb fence t 1000 5 box 9 0 0 *w");
	says(dlock_request_several_acquire_replicated(locks, 8, &attempt, copies),
		"several_acquire_replicated 8 a qa wa b qb wb fence era t 1000 1500 - box 9 3");
	says(dlock_request_several_exchange_replicated(locks, 8, "old", "new", 0, guard),
		"several_exchange_replicated 8 a qa wa b qb wb fence era old new 0 60000");
	says(dlock_request_several_unchanged(locks, 8, "t", copies, "old", false),
		"several_unchanged 8 a qa wa b qb wb fence era t 1500 old");
	says(dlock_request_several_keep(locks, 1, "t", 30 * S, true), "several_keep 1 a t 30000 1");
	says(dlock_request_several_keep_replicated(locks, 1, "t", 0, false), "several_keep_replicated 1 a t 0 0");
	says(dlock_request_several_restore(locks, 8, "t", 30 * S, 12, 60 * S),
		"several_restore 8 a qa wa b qb wb fence era t 30000 12 60000");
	says(dlock_request_several_release(locks, 7, "t", false, true, NULL),
		"several_release 7 a qa wa b qb wb fence t");
	says(dlock_request_several_release(locks, 7, "t", false, false, "*w"),
		"several_release 7 a qa wa b qb wb fence t '' 0 *w");
	says(dlock_request_several_leave(locks, 7, "*w"), "several_leave 7 a qa wa b qb wb fence *w");
	says(dlock_request_several_raise(locks, 7, "t", 12, false), "several_raise 7 a qa wa b qb wb fence t 12");
	says(dlock_request_several_raise(locks, 7, "t", 12, true), "several_raise 7 a qa wa b qb wb fence t 12 1");
	says(dlock_request_several_repair(locks, 7, "t", 30 * S, 12),
		"several_repair 7 a qa wa b qb wb fence t 30000 12");
}

static void test_epochs(void)
{
	dlock_epoch_state epoch = { true, -1, "abcdef", "-12", 0, NULL }, now = { false, 0, "abcdef", "-12", 0, "0" },
			  later = { true, 250, "abcdef", "-12", 60000, "3" };

	says(dlock_request_settle(keys, &epoch, guard, NULL), "settle 2 dlock:fence dlock:era abcdef 60000 -12");
	says(dlock_request_settle(in_slot, &epoch, copies, &now), "settle 2 f{s} e{s} abcdef 1500 -12 0 0 0");
	says(dlock_request_settle(in_slot, &epoch, short_guard, &later), "settle 2 f{s} e{s} abcdef 1 -12 250 60000 3");
	dlock_survey survey = { .attached = "3 1", .first = 77, .skew = -1 };
	says(dlock_request_settle_now(in_slot, &epoch, copies, &survey), "settle_now 2 f{s} e{s} abcdef 1500 3 1 77 -1");
	says(dlock_request_epoch_of(in_slot, guard, 0, &epoch, false), "epoch_of 2 e{s} e{s}:slots 60000 '' 0 -12");
	says(dlock_request_epoch_of(in_slot, copies, 16383, &later, true), "epoch_of 2 e{s} e{s}:slots 1500 - 16383 -12 1");
}

static const dlock_permits_attempt one = { .id = "i", .permits = 1, .capacity = 5, .ttl = 30 * S, .number = 1 };
static const dlock_permits_attempt buyer = { .id = "ann/1", .permits = 3, .capacity = 9, .ttl = 1, .number = 2 };
static const dlock_permits_attempt waiter = { .id = "i",
	.permits = INT64_C(1) << 40,
	.capacity = 7,
	.ttl = S,
	.fifo = true,
	.inbox = &inbox,
	.ticket = 9,
	.number = 3 };

static void test_permits(void)
{
	dlock_arg pool = DLOCK_ARG("pool");

	says(dlock_request_permits_acquire(pool, &one), "permits_acquire 1 pool i 1 5 30000 '' 0 1");
	says(dlock_request_permits_acquire(pool, &buyer), "permits_acquire 1 pool ann/1 3 9 1 '' 0 2");
	says(dlock_request_permits_acquire(pool, &waiter), "permits_acquire 1 pool i 1099511627776 7 1000 box 9 3 1");
	says(dlock_request_permits_release(pool, &(dlock_permits_attempt){ .id = "i" }), "permits_release 1 pool i");
	says(dlock_request_permits_release(pool, &one), "permits_release 1 pool i");
	says(dlock_request_permits_release(pool, &waiter), "permits_release 1 pool i 1099511627776 7 box");
	says(dlock_request_permits_leave(pool, &one), "permits_leave 1 pool i 1 5 ''");
	says(dlock_request_permits_leave(pool, &buyer), "permits_leave 1 pool ann/1 3 9 ''");
	says(dlock_request_permits_leave(pool, &waiter), "permits_leave 1 pool i 1099511627776 7 box");
	says(dlock_request_permits_renew(pool, "i", 30 * S, true), "permits_renew 1 pool i 30000 1");
	says(dlock_request_permits_renew(pool, "i", 0, false), "permits_renew 1 pool i 1 0");
	says(dlock_request_permits_check(pool, "i"), "permits_check 1 pool i");
	says(dlock_request_permits_exchange(pool, "old", "new"), "permits_exchange 1 pool old new");
	says(dlock_request_permits_counts(pool, 0), "permits_counts 1 pool ''");
	says(dlock_request_permits_counts(pool, 5), "permits_counts 1 pool 5");
}

static void test_permits_replicated(void)
{
	says(dlock_request_permits_acquire_replicated(keys, &one, guard),
		"permits_acquire_replicated 2 lock dlock:era i 1 5 30000 '' 0 1 '' 60000 ''");
	says(dlock_request_permits_acquire_replicated(in_slot, &buyer, copies),
		"permits_acquire_replicated 2 lock e{s} ann/1 3 9 1 '' 0 2 '' 1500 -");
	says(dlock_request_permits_acquire_replicated(in_slot, &waiter, short_guard),
		"permits_acquire_replicated 2 lock e{s} i 1099511627776 7 1000 box 9 3 1 1 -");
	says(dlock_request_permits_acquire_replicated(keys, &waiter, guard),
		"permits_acquire_replicated 2 lock dlock:era i 1099511627776 7 1000 box 9 3 1 60000 ''");
	says(dlock_request_permits_unchanged(keys, "i", guard, NULL, false), "permits_unchanged 2 lock dlock:era i 60000");
	says(dlock_request_permits_unchanged(in_slot, "i", copies, "old", true),
		"permits_unchanged 2 lock e{s} i 1500 old 1");
	says(dlock_request_permits_release_replicated(keys, &one, guard),
		"permits_release_replicated 2 lock dlock:era i 60000");
	says(dlock_request_permits_release_replicated(in_slot, &buyer, copies),
		"permits_release_replicated 2 lock e{s} ann/1 1500");
	says(dlock_request_permits_release_replicated(in_slot, &waiter, short_guard),
		"permits_release_replicated 2 lock e{s} i 1 1099511627776 7 box");
	says(dlock_request_permits_keep(keys.lock, "i", 30 * S, true, 1), "permits_keep 1 lock i 30000 1 1");
	says(dlock_request_permits_keep(keys.lock, "i", 0, false, 3), "permits_keep 1 lock i 0 0 3");
	says(dlock_request_permits_upgrade_replicated(keys, "i", 30 * S, NULL, guard),
		"permits_upgrade_replicated 2 lock dlock:era i 30000 '' 60000 ''");
	says(dlock_request_permits_upgrade_replicated(in_slot, "i", 30 * S, "rest", copies),
		"permits_upgrade_replicated 2 lock e{s} i 30000 rest 1500 -");
	says(dlock_request_permits_downgrade_replicated(keys, "i", 30 * S, guard),
		"permits_downgrade_replicated 2 lock dlock:era i 30000 60000");
	says(dlock_request_permits_restore(keys, "i", 30 * S, 12, 60 * S, 2),
		"permits_restore 2 lock dlock:era i 30000 12 60000 2");
	says(dlock_request_permits_restore(in_slot, "i", 0, 0, 1, 1), "permits_restore 2 lock e{s} i 0 0 1 1");
	says(dlock_request_permits_drop(in_slot.lock, "i"), "permits_drop 1 lock i");
	says(dlock_request_permits_exchange_replicated(keys, "old", "new", guard, 5),
		"permits_exchange_replicated 2 lock dlock:era old new 60000 '' 5");
	says(dlock_request_permits_exchange_replicated(in_slot, "old", "new", copies, 1),
		"permits_exchange_replicated 2 lock e{s} old new 1500 - 1");
}

static void test_stocks(void)
{
	dlock_arg stocks[DLOCK_STOCKS_MAX] = { DLOCK_ARG("red"), DLOCK_ARG("blue") };
	int64_t units[DLOCK_STOCKS_MAX] = { 1, 2 };
	dlock_order_ref one = { "ann/1", DLOCK_NO_NUMBER, "" }, both = { "ann/1", 0, "4711" };
	dlock_inbox inbox = { .channel = "box" };
	dlock_stock_attempt buys = { .id = "ann/1", .units = 2, .ttl = 30 * S, .number = 1 }, waits = buys, last = buys;

	says(dlock_request_stock_reserve(stocks[0], &buys), "stock_reserve 1 red ann/1 2 30000");
	waits.inbox = &inbox;
	says(dlock_request_stock_reserve(stocks[0], &waits), "stock_reserve 1 red ann/1 2 30000 '' box '' 1");
	last.ticket = 9;
	says(dlock_request_stock_reserve(stocks[0], &last), "stock_reserve 1 red ann/1 2 30000 '' '' 9");
	waits.limit = 4;
	waits.ticket = 9;
	waits.strict = true;
	says(dlock_request_stock_reserve(stocks[0], &waits), "stock_reserve 1 red ann/1 2 30000 4 box 9 1 s");
	says(dlock_request_stock_leave(stocks, 1, &waits, false, units), "stock_leave 1 red ann/1 4 box s '' 1");
	says(dlock_request_stock_leave(stocks, 2, &waits, true, units), "stock_leave 2 red blue ann/1 4 box s m 1 2");
	says(dlock_request_stock_basket(stocks, 2, &buys, "4711", units),
		"stock_basket 2 red blue ann/1 30000 '' '' 0 1 '' 4711 1 2");
	says(dlock_request_stock_basket(stocks, 2, &waits, "4711", units),
		"stock_basket 2 red blue ann/1 30000 4 box 9 1 s 4711 1 2");
	says(dlock_request_stock_confirm(stocks, 1, &one, 0), "stock_confirm 1 red ann/1 '' '' ''");
	says(dlock_request_stock_confirm(stocks, 2, &both, 4), "stock_confirm 2 red blue ann/1 0 4711 4");
	says(dlock_request_stock_cancel(stocks, 1, &one), "stock_cancel 1 red ann/1 '' ''");
	says(dlock_request_stock_refund(stocks, 1, &one, true, 2, "back"), "stock_refund 1 red ann/1 '' '' 1 2 back");
	says(dlock_request_stock_refund(stocks, 2, &both, false, 0, ""), "stock_refund 2 red blue ann/1 0 4711 0 '' ''");
	says(dlock_request_stock_extend(stocks, 2, &both, 30 * S), "stock_extend 2 red blue ann/1 0 4711 30000");
	says(dlock_request_stock_change(stocks, 2, &both, 0, units), "stock_change 2 red blue ann/1 0 4711 '' 1 2");
	says(dlock_request_stock_restock(stocks[0], -3, "first", 0), "stock_restock 1 red -3 first 0");
	says(dlock_request_stock_restock(stocks[0], INT64_MAX, "first", 60 * S),
		"stock_restock 1 red 9223372036854775807 first 60000");
	says(dlock_request_stock_counts(stocks, 2), "stock_counts 2 red blue");
	says(dlock_request_stock_status(stocks, 2, "ann/1"), "stock_status 2 red blue ann/1");
	says(dlock_request_stock_sale(stocks[0], DLOCK_SALE_ENDED), "stock_sale 1 red 2");
	says(dlock_request_stock_orders(stocks[0], "1", "2", "", "ann", 5), "stock_orders 1 red 1 2 '' ann 5");
	for (int i = 2; i < DLOCK_STOCKS_MAX; i++) {
		stocks[i] = DLOCK_ARG("s");
		units[i] = i;
	}
	says(dlock_request_stock_change(stocks, DLOCK_STOCKS_MAX, &both, 4, units),
		"stock_change 16 red blue s s s s s s s s s s s s s s ann/1 0 4711 4 1 2 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = { TEST(acquire), TEST(looking), TEST(release), TEST(leases),
		TEST(lease_left), TEST(exchange), TEST(replicated), TEST(several), TEST(epochs), TEST(permits),
		TEST(permits_replicated), TEST(stocks) };
	static const tap_setting setting = { NULL };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

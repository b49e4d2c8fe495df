/* src/lock/renewal*.c with a back end that has no server and at most a timer of the optional operations. A round is
 * decided as soon as it begins. Prints TAP. */

#include <stdlib.h>
#include <unistd.h>

#include "../../src/lock/renewer.h"
#include "helpers.h"
#include "tap.h"
#include "upkeep.h"

enum { TTL = 60000 };

/* One round runs at a time. Variables that are not atomic are set before it begins. */
static _Atomic int begun, extended, rounds, losses;
static _Atomic dlock_round_result decision;

static const dlock_renewer_ops *needed; /* the renewer that a round needs; NULL: none */

static void begin(dlock_renewal_round *round, dlock_renewer *renewer, dlock_nanos ttl, bool extends)
{
	(void) round;
	begun += !renewer == !needed && ttl == TTL * DLOCK_MS;
	extended += extends;
}

static dlock_round_result result(const dlock_renewal_round *round)
{
	(void) round;
	return decision;
}

static void round_free(dlock_renewal_round *round)
{
	rounds--;
	free(round);
}

static dlock_renewal_round *new_round(const dlock_claim *claim)
{
	static dlock_renewal_round_ops ops;
	dlock_renewal_round *round = calloc(1, sizeof *round);

	(void) claim;
	ops = (dlock_renewal_round_ops) { .renewer = needed, .begin = begin, .result = result, .free = round_free };
	rounds++;
	round->ops = &ops;
	return round;
}

/* ---- a renewer that has a timer ---- */

static _Atomic int looks;

static bool poll_nothing(const dlock_source *source, struct pollfd *fd)
{
	(void) source;
	*fd = (struct pollfd) { .fd = -1 };
	return true;
}

static dlock_nanos long_past(const dlock_source *source)
{
	(void) source;
	return looks++ < 3 ? -1 : DLOCK_FOREVER;
}

static void join(dlock_renewer *renewer, dlock_loop *loop)
{
	static const dlock_source_ops ops = { .poll = poll_nothing, .timer = long_past };
	static dlock_source source;

	(void) renewer;
	source = (dlock_source) { .ops = &ops };
	dlock_loop_add_source(loop, &source);
}

static dlock_renewer *create(void);

static void discard(dlock_renewer *renewer)
{
	free(renewer);
}

static const dlock_renewer_ops timer_ops = { .create = create, .join = join, .destroy = discard };

static dlock_renewer *create(void)
{
	dlock_renewer *renewer = calloc(1, sizeof *renewer);

	renewer->ops = &timer_ops;
	return renewer;
}

/* ---- the back end ---- */

static dlock_status acquire_or_extend(dlock_claim *claim, dlock_nanos ttl)
{
	claim->deadline = dlock_now() + ttl - dlock_drift(ttl);
	dlock_claim_move(claim, DLOCK_CLAIM_HELD);
	return DLOCK_OK;
}

static dlock_status stub_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	(void) wait, (void) error;
	return acquire_or_extend(claim, claim->ttl);
}

static dlock_status stub_extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	(void) error;
	return acquire_or_extend(claim, ttl);
}

static dlock_status stub_release(dlock_claim *claim, dlock_error *error)
{
	(void) claim, (void) error;
	return DLOCK_OK;
}

static void abandon(dlock_claim *claim)
{
	(void) claim;
}

static void destroy(dlock_backend *backend)
{
	(void) backend;
}

static const dlock_backend_ops ops = { .name = "none",
	.claim_size = sizeof(dlock_claim),
	.acquire = stub_acquire,
	.extend = stub_extend,
	.release = stub_release,
	.abandon = abandon,
	.new_round = new_round,
	.destroy = destroy };
static dlock_backend backend = { .ops = &ops, .references = 1 };

static void report(void *context)
{
	(void) context;
	losses++;
}

static dlock_claim *hold(dlock_round_result first)
{
	dlock_upkeep upkeep = { .renew = true, .lost = report };
	dlock_error error;
	dlock_claim *claim = dlock_claim_new(&backend, "a resource", 10, TTL * DLOCK_MS, NULL, &error);

	begun = extended = losses = 0;
	decision = first;
	if (dlock_claim_acquire(claim, &(dlock_wait){ 0 }, &error) != DLOCK_OK
		|| dlock_renewal_begin(claim, &upkeep, &error) != DLOCK_OK) {
		printf("Bail out! %s\n", error.message);
		exit(2);
	}
	return claim;
}

static bool is_more(void *least)
{
	return extended >= *(int *) least;
}

/* Lets the thread ask for more time, that often. */
static bool are_asked(dlock_claim *claim, int times)
{
	int least = extended;

	for (int i = 0; i < times; i++) {
		least++;
		renew_now(claim);
		if (!eventually(is_more, &least)) {
			return false;
		}
	}
	return true;
}

static bool is_uncertain(void *claim)
{
	return look(claim) == DLOCK_CLAIM_UNCERTAIN;
}

static bool is_reported(void *unused)
{
	(void) unused;
	return losses > 0;
}

static bool is_freed(void *unused)
{
	(void) unused;
	return rounds == 0;
}

static void test_kept(void)
{
	dlock_renewal_counts before = dlock_renewal_count();
	dlock_claim *claim = hold(DLOCK_ROUND_KEPT);
	dlock_error error;
	dlock_nanos first = claim->deadline;

	check(are_asked(claim, 6) && look(claim) == DLOCK_CLAIM_HELD && begun == extended && claim->deadline > first,
		"kept again and again");
	check(dlock_renewal_count().renewals - before.renewals >= 5 && dlock_renewal_count().connections == 0,
		"counted, without connections");
	check(dlock_claim_extend(claim, TTL * DLOCK_MS, &error) == DLOCK_OK, "its holder extends it meanwhile");
	check(are_asked(claim, 2), "the thread renews it after that");
	check(dlock_claim_release(claim, &error) == DLOCK_OK && eventually(is_freed, NULL) && losses == 0,
		"it is released, and its rounds are freed");
	dlock_claim_free(claim);
}

static void test_failed(void)
{
	unsigned long before = dlock_renewal_count().failures;
	dlock_claim *claim = hold(DLOCK_ROUND_FAILED);
	int least = 2;

	renew_now(claim);
	check(eventually(is_uncertain, claim), "without an answer it is uncertain");
	check(eventually(is_more, &least) && dlock_renewal_count().failures > before, "the thread asks again");
	let_expire(claim);
	check(
		eventually(is_reported, NULL) && look(claim) == DLOCK_CLAIM_LOST && losses == 1, "it is lost when it expires");
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	check(eventually(is_freed, NULL), "its rounds are freed");
}

static void test_gone(void)
{
	dlock_claim *claim = hold(DLOCK_ROUND_GONE);

	renew_now(claim);
	check(eventually(is_reported, NULL) && look(claim) == DLOCK_CLAIM_LOST && losses == 1 && extended == 1,
		"a key that is gone is a loss at once");
	dlock_claim_free(claim);
	check(eventually(is_freed, NULL), "its rounds are freed");
}

/* A timer only says when to look again. A time in the past does not end the thread. */
static void test_timer_in_the_past(void)
{
	needed = &timer_ops;
	dlock_claim *claim = hold(DLOCK_ROUND_KEPT);

	check(are_asked(claim, 4) && look(claim) == DLOCK_CLAIM_HELD && looks > 3,
		"kept although a timer is long past");
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	check(eventually(is_freed, NULL), "its rounds are freed");
	needed = NULL;
}

int main(void)
{
	dlock_process_init();
	test_kept();
	test_failed();
	test_gone();
	test_timer_in_the_past();
	dlock_claim *claim = hold(DLOCK_ROUND_KEPT);
	dlock_renewal_shutdown();
	check(rounds == 0 && !claim->renewal, "the end of the thread frees the remaining round");
	dlock_claim_free(claim);
	return tap_end();
}

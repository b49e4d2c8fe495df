/* The memory back end: a table in the process, which its threads share. Prints TAP.
 * memory_test [word in the names of the tests to run] */

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../src/lock/operations.h"
#include "../../src/memory/backend.h"
#include "../../src/memory/stock.h"
#include "helpers.h"
#include "tap.h"
#include "upkeep.h"

static dlock_error error;

static dlock_backend *backend_of(const char *table)
{
	return dlock_memory_new(table, "Lock:", 5, 1, false);
}

static dlock_claim *new_claim(dlock_backend *backend, const char *resource, int ttl_ms)
{
	dlock_error problem;

	return dlock_claim_new(backend, resource, strlen(resource), ttl_ms * DLOCK_MS, NULL, &problem);
}

static dlock_status take(dlock_claim *claim, int timeout_ms)
{
	dlock_wait wait = { .deadline = timeout_ms < 0 ? DLOCK_FOREVER : dlock_now() + timeout_ms * DLOCK_MS,
		.interrupted = interrupted };
	dlock_error problem;

	return dlock_claim_acquire(claim, &wait, &problem);
}

static bool release_and_free(dlock_claim *claim)
{
	dlock_error problem;
	bool good = dlock_claim_release(claim, &problem) == DLOCK_OK;

	dlock_claim_free(claim);
	return good;
}

static bool is_locked(dlock_backend *backend, const char *resource)
{
	bool locked = false;

	backend->ops->locked(backend, resource, strlen(resource), &locked, &error);
	return locked;
}

static void test_life(void)
{
	dlock_backend *backend = backend_of("life"), *same = backend_of("life"), *other = backend_of("other"),
				  *prefixed = dlock_memory_new("life", "", 0, 1, false);
	dlock_claim *claim = new_claim(backend, "a", 60000), *second = new_claim(same, "a", 60000),
				*third = new_claim(other, "a", 60000);
	dlock_nanos remaining;

	check(!is_locked(backend, "a") && take(claim, 0) == DLOCK_OK && is_locked(same, "a"), "held");
	check(dlock_claim_refresh(claim, &remaining) == DLOCK_CLAIM_HELD && remaining > 30 * DLOCK_SECOND
			&& remaining <= 60 * DLOCK_SECOND,
		"for its ttl");
	check(take(second, 0) == DLOCK_TIMEOUT, "by one claim only");
	check(!is_locked(other, "a") && take(third, 0) == DLOCK_OK && release_and_free(third),
		"another table has other locks");
	check(is_locked(prefixed, "Lock:a") && !is_locked(prefixed, "a"), "the prefix is part of the key");
	check(dlock_claim_is_for(claim, same, "a", 1) && !dlock_claim_is_for(claim, other, "a", 1)
			&& !dlock_claim_is_for(claim, same, "b", 1) && dlock_claim_is_for(claim, prefixed, "Lock:a", 6),
		"the same lock is known as such");
	check(dlock_claim_extend(claim, 120 * DLOCK_SECOND, &error) == DLOCK_OK
			&& dlock_claim_check(claim, &error) == DLOCK_OK
			&& dlock_claim_refresh(claim, &remaining) == DLOCK_CLAIM_HELD && remaining > 90 * DLOCK_SECOND,
		"extended and checked");
	int64_t fence = claim->fencing_token;
	check(release_and_free(claim) && take(second, 0) == DLOCK_OK && second->fencing_token > fence,
		"released, and acquired with a greater fencing token");
	dlock_claim_abandon(second);
	check(!is_locked(backend, "a"), "abandoned");
	dlock_claim_free(second);
	dlock_backend_release(backend);
	dlock_backend_release(same);
	dlock_backend_release(other);
	dlock_backend_release(prefixed);
}

static void test_expiry(void)
{
	dlock_backend *backend = backend_of("");
	dlock_claim *claim = new_claim(backend, "short", 150), *second = new_claim(backend, "short", 60000),
				*third = new_claim(backend, "short", 60000);

	dlock_nanos start = dlock_now();
	check(take(claim, 0) == DLOCK_OK, "held");
	check(take(second, 60000) == DLOCK_OK && dlock_now() - start >= 150 * DLOCK_MS && dlock_now() - start < SOON,
		"acquired when the lease expires");
	check(dlock_claim_check(claim, &error) == DLOCK_LOST && dlock_claim_release(claim, &error) == DLOCK_LOST
			&& is_locked(backend, "short"),
		"lost");
	start = dlock_now();
	check(take(third, 200) == DLOCK_TIMEOUT && dlock_now() - start >= 200 * DLOCK_MS && dlock_now() - start < SOON,
		"not within the time limit");
	dlock_claim_free(claim);
	check(release_and_free(second) && take(third, 0) == DLOCK_OK && release_and_free(third),
		"the waiter that gave up is in no queue");
	dlock_backend_release(backend);
}

/* ---- threads ---- */

enum { THREADS = 5, ROUNDS = 200 };

static struct {
	_Atomic int inside, overlaps, done, disorder;
	_Atomic int64_t fence;
} shared;

static void *contend(void *unused)
{
	dlock_backend *backend = backend_of("contended");

	for (int i = 0; i < ROUNDS; i++) {
		dlock_claim *claim = new_claim(backend, "x", 60000);
		if (take(claim, 60000) == DLOCK_OK) {
			atomic_fetch_add(&shared.overlaps, atomic_fetch_add(&shared.inside, 1) != 0);
			atomic_fetch_add(
				&shared.disorder, atomic_exchange(&shared.fence, claim->fencing_token) >= claim->fencing_token);
			atomic_fetch_sub(&shared.inside, 1);
			atomic_fetch_add(&shared.done, release_and_free(claim));
		}
	}
	dlock_backend_release(backend);
	return unused;
}

static void test_contention(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		pthread_create(&threads[i], NULL, contend, NULL);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	check(atomic_load(&shared.done) == THREADS * ROUNDS, "all acquire it (%d)", atomic_load(&shared.done));
	check(atomic_load(&shared.overlaps) == 0 && atomic_load(&shared.disorder) == 0,
		"one at a time, with rising fencing tokens");
}

/* ---- permits ---- */

enum { CAPACITY = 5 };

static void *take_permits(void *context)
{
	dlock_backend *backend = dlock_memory_new("contended", "Permits:", 8, CAPACITY, false);
	int seed = (int) (intptr_t) context;

	for (int i = 0; i < ROUNDS; i++) {
		dlock_claim *claim = new_claim(backend, "x", 60000);
		claim->permits = 1 + (seed + i) % CAPACITY;
		if (take(claim, 60000) == DLOCK_OK) {
			int permits = (int) claim->permits, inside = atomic_fetch_add(&shared.inside, permits) + permits;
			atomic_fetch_add(&shared.overlaps, inside > CAPACITY);
			atomic_fetch_sub(&shared.inside, permits);
			atomic_fetch_add(&shared.done, release_and_free(claim));
		}
	}
	dlock_backend_release(backend);
	return NULL;
}

/* The first thread writes, the others read. */
static void *read_or_write(void *context)
{
	dlock_backend *backend = dlock_memory_new("contended", "Sides:", 6, DLOCK_PERMITS_ALL, false);
	bool writes = context == NULL;

	for (int i = 0; i < ROUNDS; i++) {
		dlock_claim *claim = new_claim(backend, "x", 60000);
		claim->permits = writes ? DLOCK_PERMITS_ALL : 1;
		if (take(claim, 60000) == DLOCK_OK) {
			int inside = atomic_fetch_add(&shared.inside, writes ? 1000 : 1);
			atomic_fetch_add(&shared.overlaps, writes ? inside != 0 : inside >= 1000);
			atomic_fetch_sub(&shared.inside, writes ? 1000 : 1);
			atomic_fetch_add(&shared.done, release_and_free(claim));
		}
	}
	dlock_backend_release(backend);
	return NULL;
}

static void contend_by(void *(*run)(void *context), const char *what)
{
	pthread_t threads[THREADS];

	atomic_store(&shared.done, 0);
	for (intptr_t i = 0; i < THREADS; i++) {
		pthread_create(&threads[i], NULL, run, (void *) i);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	check(atomic_load(&shared.done) == THREADS * ROUNDS && atomic_load(&shared.overlaps) == 0, "%s (%d)", what,
		atomic_load(&shared.done));
}

static void test_permits(void)
{
	dlock_backend *backend = dlock_memory_new("", "", 0, CAPACITY, false),
				  *small = dlock_memory_new("", "", 0, 3, false);
	dlock_claim *some = new_claim(backend, "x", 60000), *more = new_claim(backend, "x", 60000),
				*few = new_claim(small, "x", 60000);
	int64_t available;

	contend_by(take_permits, "all acquire permits, never more than there are");
	contend_by(read_or_write, "readers and a writer acquire it, the writer alone");
	some->permits = 3;
	more->permits = 2;
	check(take(some, 0) == DLOCK_OK, "three of five");
	interrupt_now();
	check(take(few, -1) == DLOCK_INTERRUPTED, "a claim with a capacity of three waits");
	interrupt_clear();
	check(take(more, 0) == DLOCK_OK && backend->ops->available(backend, "x", 1, &available, &error) == DLOCK_OK
			&& available == 0,
		"a claim with a higher capacity overtakes it");
	check(release_and_free(some) && take(few, 0) == DLOCK_OK && release_and_free(few) && release_and_free(more),
		"then it is the waiter's turn");
	dlock_backend_release(backend);
	dlock_backend_release(small);
}

/* ---- stocks ---- */

enum { UNITS = 40 };

static dlock_order order_of(int buyer, int number)
{
	char who[16], which[16];

	snprintf(who, sizeof who, "b%d", buyer);
	snprintf(which, sizeof which, "o%d", number);
	return (dlock_order) { .id = dlock_stock_order_id(DLOCK_ARG(who), DLOCK_ARG(which)),
		.generation = -1,
		.count = 1,
		.skus = { DLOCK_ARG("shoe") },
		.units = { 1 + number % 2 } };
}

/* Buys or cancels, and waits for units that other threads may cancel. */
static void *buy(void *context)
{
	dlock_stock *stock = dlock_memory_stock_new("contended", "Stock:", 6);
	dlock_stock_answer answer;

	for (int i = 0; i < ROUNDS; i++) {
		dlock_order order = order_of((int) (intptr_t) context, i);
		dlock_stock_turn turn = { .stock = stock, .order = &order, .ttl = 600 * DLOCK_SECOND };
		dlock_wait wait = { .deadline = dlock_now() + 60 * DLOCK_SECOND };
		if (stock->ops->reserve(&turn, &wait, &answer, &error) == DLOCK_OK && answer.outcome == DLOCK_STOCK_DONE) {
			int units = (int) order.units[0];
			bool buys = i % 5 == 0;
			dlock_status status = buys ? stock->ops->confirm(stock, &order, 0, &answer, &error)
									   : stock->ops->cancel(stock, &order, &answer, &error);
			atomic_fetch_add(&shared.overlaps, status != DLOCK_OK || answer.outcome != DLOCK_STOCK_DONE);
			atomic_fetch_add(&shared.inside, buys ? units : 0);
		}
	}
	stock->ops->free(stock);
	return NULL;
}

static void test_stock(void)
{
	dlock_stock *stock = dlock_memory_stock_new("contended", "Stock:", 6);
	pthread_t threads[THREADS];
	dlock_stock_counts counts;
	int64_t changed;

	check(stock->ops->restock(stock, DLOCK_ARG("shoe"), UNITS, DLOCK_ARG("opening"), 0, &changed, &error) == DLOCK_OK
			&& changed == UNITS,
		"restocked");
	atomic_store(&shared.inside, 0);
	for (intptr_t i = 0; i < THREADS; i++) {
		pthread_create(&threads[i], NULL, buy, (void *) i);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	stock->ops->count(stock, (dlock_arg[]) { DLOCK_ARG("shoe") }, 1, true, &counts, &error);
	check(counts.available + counts.sold == UNITS && counts.reserved == 0 && counts.waiting == 0
			&& counts.sold == atomic_load(&shared.inside) && counts.sold > UNITS - 2
			&& atomic_load(&shared.overlaps) == 0,
		"as many units are sold as buyers were told: %d of %d", (int) counts.sold, UNITS);
	stock->ops->free(stock);
}

typedef struct {
	pthread_t thread;
	int timeout_ms;
	dlock_status status;
	_Atomic int place; /* in the order of acquisition; 0: not yet */
	_Atomic bool ended;
} waiter;

static _Atomic int served;
static _Atomic bool keep; /* the holder does not release it yet */

static int64_t waiting_on(dlock_backend *backend, const char *resource)
{
	dlock_inspection seen = { 0 };
	int64_t waiting = backend->ops->inspect(backend, resource, strlen(resource), 1, &seen, &error) == DLOCK_OK
		? seen.waiting
		: -1;

	dlock_inspection_end(&seen);
	return waiting;
}

static void *wait_for_it(void *context)
{
	waiter *self = context;
	dlock_backend *backend = backend_of("order");
	dlock_claim *claim = new_claim(backend, "x", 60000);

	dlock_wait wait = { .deadline = dlock_now() + self->timeout_ms * DLOCK_MS }; /* not interrupted */
	self->status = dlock_claim_acquire(claim, &wait, &(dlock_error) { "" });
	if (self->status == DLOCK_OK) {
		atomic_store(&self->place, atomic_fetch_add(&served, 1) + 1);
		while (atomic_load(&keep)) {
			sleep_ms(1);
		}
		dlock_claim_release(claim, &(dlock_error) { "" });
	}
	dlock_claim_free(claim);
	dlock_backend_release(backend);
	atomic_store(&self->ended, true);
	return context;
}

/* Returns when it is in the queue, or has given up. */
static void begin_waiter(waiter *w, int timeout_ms)
{
	dlock_backend *backend = backend_of("order");
	int64_t before = waiting_on(backend, "x");

	*w = (waiter) { .timeout_ms = timeout_ms };
	pthread_create(&w->thread, NULL, wait_for_it, w);
	while (waiting_on(backend, "x") <= before && !atomic_load(&w->ended)) {
		sleep_ms(1);
	}
	dlock_backend_release(backend);
}

static void test_order(void)
{
	dlock_backend *backend = backend_of("order");
	dlock_claim *claim = new_claim(backend, "x", 60000), *second = new_claim(backend, "x", 60000),
				*late = new_claim(backend, "x", 60000);
	waiter w[3];
	int in_order = 0;

	atomic_store(&served, 0);
	check(take(claim, 0) == DLOCK_OK, "held");
	begin_waiter(&w[0], 60000);
	interrupt_now();
	check(take(second, -1) == DLOCK_INTERRUPTED, "this test's own claim is the second in the queue");
	interrupt_clear();
	begin_waiter(&w[1], 60000);
	begin_waiter(&w[2], 60000);
	check(take(second, 0) == DLOCK_TIMEOUT, "the second gives up");
	atomic_store(&keep, true);
	check(dlock_claim_release(claim, &error) == DLOCK_OK && claim->handed_over, "handed over");
	check(take(late, 0) == DLOCK_TIMEOUT, "no claim overtakes the waiters");
	atomic_store(&keep, false);
	for (int i = 0; i < 3; i++) {
		pthread_join(w[i].thread, NULL);
		in_order += atomic_load(&w[i].place) == i + 1;
	}
	check(in_order == 3, "first come, first served");
	check(take(late, 0) == DLOCK_OK && release_and_free(late), "then the lock is free");
	dlock_claim_free(claim);
	dlock_claim_free(second);
	dlock_backend_release(backend);
}

/* The first waiter gives up before the lease expires. The expiry must wake the second waiter then. */
static void test_first_leaves(void)
{
	dlock_backend *backend = backend_of("order");
	dlock_nanos took = 0;
	waiter w[2] = { { .status = DLOCK_OK } };

	for (int i = 0; i < 10 && w[0].status == DLOCK_OK; i++) { /* if the lease was over before the first gave up */
		dlock_claim *claim = new_claim(backend, "x", 1000);
		atomic_store(&served, 0);
		check(take(claim, 0) == DLOCK_OK, "held");
		begin_waiter(&w[0], 100);
		begin_waiter(&w[1], 60000);
		dlock_nanos start = dlock_now();
		pthread_join(w[1].thread, NULL);
		took = dlock_now() - start;
		pthread_join(w[0].thread, NULL);
		dlock_claim_free(claim);
	}
	check(w[1].status == DLOCK_OK && took < SOON, "the second acquires it when the lease expires");
	check(w[0].status == DLOCK_TIMEOUT, "the first has given up before");
	dlock_backend_release(backend);
}

/* While a signal handler runs for the first waiter, the next waiter does not wait for that. */
static void test_interrupted(void)
{
	dlock_backend *backend = backend_of("order");
	dlock_claim *claim = new_claim(backend, "x", 60000), *first = new_claim(backend, "x", 60000),
				*nested = new_claim(backend, "x", 60000);
	waiter w;

	atomic_store(&served, 0);
	check(take(claim, 0) == DLOCK_OK, "held");
	interrupt_now();
	check(take(first, -1) == DLOCK_INTERRUPTED && first->state == DLOCK_CLAIM_WAITING, "interrupted");
	interrupt_clear();
	begin_waiter(&w, 60000);
	check(dlock_claim_release(claim, &error) == DLOCK_OK, "released");
	dlock_nanos start = dlock_now();
	pthread_join(w.thread, NULL);
	check(w.status == DLOCK_OK && dlock_now() - start < SOON, "the next waiter acquires it");
	check(take(nested, 1000) == DLOCK_OK && release_and_free(nested), "so does a claim within the handler");
	dlock_claim_free(claim);
	claim = new_claim(backend, "x", 60000);
	check(take(claim, 0) == DLOCK_OK, "held again");
	begin_waiter(&w, 60000);
	interrupt_now();
	check(take(first, -1) == DLOCK_INTERRUPTED, "interrupted again");
	interrupt_clear();
	dlock_claim_abandon(first);
	check(release_and_free(claim), "released");
	pthread_join(w.thread, NULL);
	check(w.status == DLOCK_OK && !is_locked(backend, "x"), "a waiter that does not resume blocks no other");
	dlock_claim_free(first);
	dlock_backend_release(backend);
}

/* ---- the rest ---- */

/* When the table's lease of the only holder ends. */
static dlock_nanos end_of(dlock_backend *backend, const char *resource)
{
	dlock_inspection seen = { 0 };

	backend->ops->inspect(backend, resource, strlen(resource), 1, &seen, &error);
	dlock_nanos end = seen.holding == 1 ? dlock_now() + seen.parties[0].remaining : 0;
	dlock_inspection_end(&seen);
	return end;
}

/* Lets a renewal request this longer lease time. Does it count in the table, and for the holder? */
static bool is_renewed(dlock_claim *claim, int ttl_ms)
{
	unsigned long before = renewals();
	dlock_nanos start = dlock_now();

	request_ttl(claim, ttl_ms);
	renew_now(claim);
	bool renewed = renewed_since(before, 1);
	dlock_nanos deadline = claim->deadline, end = end_of(claim->backend, claim->resource);
	return renewed && deadline > start + ttl_ms / 10 * 9 * DLOCK_MS && deadline <= dlock_now() + ttl_ms * DLOCK_MS
		&& end >= start + ttl_ms * DLOCK_MS;
}

static void test_renewal(void)
{
	dlock_backend *backend = backend_of("");
	dlock_claim *second = new_claim(backend, "renewed", 60000);
	ward lease = { .claim = new_claim(backend, "renewed", 60000) };
	dlock_upkeep upkeep = RENEW_AND_TELL(&lease);

	check(take(lease.claim, 0) == DLOCK_OK && dlock_renewal_begin(lease.claim, &upkeep, &error) == DLOCK_OK, "held");
	check(is_renewed(lease.claim, 120000) && is_renewed(lease.claim, 240000), "renewed, again and again");
	check(dlock_claim_extend(lease.claim, 120 * DLOCK_SECOND, &error) == DLOCK_OK
			&& dlock_claim_extend(lease.claim, 60 * DLOCK_SECOND, &error) == DLOCK_OK
			&& is_renewed(lease.claim, 300000),
		"also after extensions");
	check(take(second, 0) == DLOCK_TIMEOUT && atomic_load(&lease.losses) == 0 && release_and_free(lease.claim)
			&& take(second, 0) == DLOCK_OK,
		"until it is released");
	check(release_and_free(second), "the release ends the renewal");
	lease.claim = new_claim(backend, "renewed", 60000);
	upkeep.most = 1;
	check(take(lease.claim, 0) == DLOCK_OK && dlock_renewal_begin(lease.claim, &upkeep, &error) == DLOCK_OK, "held");
	let_expire(lease.claim);
	check(eventually_lost(&lease), "if it is not renewed any more, its holder is told of the end");
	dlock_claim_free(lease.claim);
	dlock_backend_release(backend);
	dlock_renewal_shutdown();
}

static void test_attach(void)
{
	dlock_backend *backend = backend_of("");
	dlock_claim *old = new_claim(backend, "taken", 60000), *claim = new_claim(backend, "taken", 60000),
				*second = new_claim(backend, "taken", 60000);
	dlock_nanos remaining;

	check(take(old, 0) == DLOCK_OK && dlock_claim_attach(claim, old->token, &error) == DLOCK_OK, "attached");
	check(claim->fencing_token > old->fencing_token && dlock_claim_refresh(claim, &remaining) == DLOCK_CLAIM_HELD
			&& remaining <= 60 * DLOCK_SECOND,
		"for the time that is left, with a greater fencing token");
	check(dlock_claim_attach(second, old->token, &error) == DLOCK_LOST, "once only: %s", error.message);
	check(dlock_claim_extend(old, 60 * DLOCK_SECOND, &error) == DLOCK_LOST && is_locked(backend, "taken"),
		"the old claim is lost");
	check(release_and_free(claim) && !is_locked(backend, "taken"), "released");
	dlock_claim_free(old);
	dlock_claim_free(second);
	dlock_backend_release(backend);
}

static int child_of_holder(dlock_backend *backend, dlock_claim *claim, dlock_claim *waiting)
{
	dlock_claim *own = new_claim(backend, "parent", 60000);

	if (is_locked(backend, "parent") || dlock_claim_release(claim, &error) != DLOCK_LOST
		|| take(waiting, 0) != DLOCK_LOST) {
		return 1;
	}
	dlock_claim_abandon(claim);
	dlock_claim_abandon(waiting);
	if (take(own, 0) != DLOCK_OK || !is_locked(backend, "parent") || !release_and_free(own)) {
		return 2;
	}
	dlock_claim_free(claim);
	dlock_claim_free(waiting);
	return 0;
}

static void test_fork(void)
{
	dlock_backend *backend = backend_of("");
	dlock_claim *claim = new_claim(backend, "parent", 60000), *waiting = new_claim(backend, "parent", 60000);

	check(take(claim, 0) == DLOCK_OK, "held");
	interrupt_now();
	check(take(waiting, -1) == DLOCK_INTERRUPTED, "and waited for");
	interrupt_clear();
	pid_t pid = fork_child();
	if (pid == 0) {
		_exit(child_of_holder(backend, claim, waiting));
	}
	check(exit_of(pid) == 0, "a child begins with an empty table");
	check(is_locked(backend, "parent") && release_and_free(claim) && take(waiting, 0) == DLOCK_OK
			&& release_and_free(waiting),
		"the parent still holds and waits");
	dlock_backend_release(backend);
}

/* A strand that is suspended and never resumes, as after a fatal error. */
static jmp_buf scheduler;

static dlock_suspension never_go_on(void *context, const dlock_wakeup *bell, int fd, dlock_nanos until)
{
	(void) context, (void) bell, (void) fd, (void) until;
	longjmp(scheduler, 1);
}

static void test_never_goes_on(void)
{
	dlock_backend *backend = backend_of("left");
	dlock_claim *first = new_claim(backend, "a", 60000), *second = new_claim(backend, "a", 60000);
	dlock_wakeup other;
	dlock_wait wait = {
		.deadline = DLOCK_FOREVER, .interrupted = interrupted, .suspend = never_go_on, .wakeup = &other
	};

	check(take(first, 0) == DLOCK_OK && dlock_wakeup_open(&other), "held");
	int descriptors = count_descriptors();
	if (setjmp(scheduler) == 0) {
		dlock_claim_acquire(second, &wait, &error);
	}
	check(count_descriptors() > descriptors, "another claim waits");
	dlock_claim_abandon(second);
	dlock_claim_free(second);
	check(count_descriptors() == descriptors, "and leaves no descriptor");
	check(release_and_free(first) && !is_locked(backend, "a"), "and no place in the queue");
	dlock_wakeup_close(&other);
	dlock_backend_release(backend);
}

static void reset(void)
{
	interrupt_clear();
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(life),
		TEST(expiry),
		TEST(contention),
		TEST(permits),
		TEST(stock),
		TEST(order),
		TEST(first_leaves),
		TEST(interrupted),
		TEST(renewal),
		TEST(attach),
		TEST(fork),
		TEST(never_goes_on),
	};
	static const tap_setting setting = { .reset = reset };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

/* Semaphores and read/write locks against a real server. Prints TAP. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helpers.h"
#include "one_server.h"
#include "permits_client.h"

#define ALL DLOCK_PERMITS_ALL

static client three(void)
{
	return permits_client(&server, 3);
}

static client four(void)
{
	return permits_client(&server, 4);
}

/* ---- the life of permits ---- */

static int64_t available(client *c, const char *resource)
{
	int64_t count = -1;

	return c->backend->ops->available(c->backend, resource, strlen(resource), &count, &c->error) == DLOCK_OK ? count
																											 : -1;
}

static void test_life(void)
{
	client c = three(), other = three();
	dlock_claim *two = permits_on(&c, "life", 2, 60000), *one = permits_on(&other, "life", 1, 60000),
				*more = permits_on(&other, "life", 1, 60000);
	bool locked = true;

	check(c.backend->ops->locked(c.backend, "life", 4, &locked, &c.error) == DLOCK_OK && !locked
			&& available(&c, "life") == 3,
		"all are free");
	dlock_nanos start = dlock_now();
	check(acquire(&c, two, 0) == DLOCK_OK && !two->waited && available(&c, "life") == 1, "two are held");
	check(two->deadline >= start + 59398 * DLOCK_MS && two->deadline <= dlock_now() + 59398 * DLOCK_MS,
		"the deadline is that of a lock");
	check(acquire(&other, one, 0) == DLOCK_OK && one->fencing_token > two->fencing_token,
		"and one by another claim, with a larger token");
	check(c.backend->ops->locked(c.backend, "life", 4, &locked, &c.error) == DLOCK_OK && locked
			&& available(&c, "life") == 0,
		"none is left");
	check(acquire(&other, more, 0) == DLOCK_TIMEOUT && release(&other, more) == DLOCK_LOST,
		"a fourth is neither acquired nor released");
	check(extend(&c, two, 120000) == DLOCK_OK && left_ms(two) > 60000 && left_ms(two) <= 118798, "extended");
	check(extend(&c, two, 50000) == DLOCK_OK && left_ms(two) <= 49498, "a lease can be made shorter");
	two->deadline = dlock_now() + 20 * DLOCK_SECOND;
	check(dlock_claim_check(two, &c.error) == DLOCK_OK && left_ms(two) > 25000 && left_ms(two) <= 49498,
		"after a check, the server's lease time counts (%ld)", left_ms(two));
	check(release(&c, two) == DLOCK_OK && two->state == DLOCK_CLAIM_RELEASED && available(&c, "life") == 2,
		"both are released");
	check(release(&c, two) == DLOCK_LOST && extend(&c, two, 1000) == DLOCK_LOST, "but once only");
	dlock_claim_free(more);
	more = permits_on(&other, "life", 3, 60000);
	check(acquire(&other, more, 0) == DLOCK_TIMEOUT, "three are too many");
	check(let_go(&other, one) && acquire(&other, more, 0) == DLOCK_OK && let_go(&other, more), "until all are free");
	check(
		held_permits(&server, "life") == 0 && server_integer(&server, "PTTL " POOL "life") > 0, "and the key expires");
	dlock_claim_free(two);
	client_free(&c);
	client_free(&other);
}

static void test_deleted_by_hand(void)
{
	client c = three();
	dlock_claim *claim = permits_held(&c, "deleted", 2, 60000);

	server_do(&server, "DEL " POOL "deleted");
	check(dlock_claim_check(claim, &c.error) == DLOCK_LOST && look(claim) == DLOCK_CLAIM_LOST, "a check notices that");
	dlock_claim_free(claim);
	claim = permits_held(&c, "deleted", 2, 60000);
	server_do(&server, "DEL " POOL "deleted");
	check(extend(&c, claim, 20000) == DLOCK_LOST && held_permits(&server, "deleted") == 0, "so does an extension");
	dlock_claim_free(claim);
	claim = permits_held(&c, "deleted", 2, 60000);
	server_do(&server, "DEL " POOL "deleted");
	check(release(&c, claim) == DLOCK_LOST, "and a release");
	dlock_claim_free(claim);
	client_free(&c);
}

static void test_abandon(void)
{
	client c = three();
	dlock_claim *claim = permits_held(&c, "abandon", 3, 60000), *waiter = permits_on(&c, "abandon", 1, 60000);

	interrupt_now();
	dlock_wait wait = { .deadline = DLOCK_FOREVER, .interrupted = interrupted };
	check(dlock_claim_acquire(waiter, &wait, &c.error) == DLOCK_INTERRUPTED && waiters(&server, "abandon") == 1,
		"a wait that is interrupted");
	interrupt_clear();
	dlock_claim_abandon(waiter);
	client_settle(&c);
	check(waiters(&server, "abandon") == 0, "and abandoned leaves the queue");
	dlock_claim_abandon(claim);
	client_settle(&c);
	check(look(claim) == DLOCK_CLAIM_RELEASED && held_permits(&server, "abandon") == 0, "held permits are released");
	dlock_claim_free(waiter);
	dlock_claim_free(claim);
	client_free(&c);
}

static void test_attach(void)
{
	client c = three(), other = three();
	dlock_claim *claim = permits_held(&c, "attach", 2, 60000), *taken = claim_on(&other, "attach", 60000),
				*again = claim_on(&other, "attach", 60000);
	int64_t token = claim->fencing_token;

	check(dlock_claim_attach(taken, claim->token, &other.error) == DLOCK_OK && taken->permits == 2
			&& left_ms(taken) > 30000,
		"attached, with its permits");
	check(taken->fencing_token > token && available(&c, "attach") == 1, "with a larger token, and no more permits");
	check(dlock_claim_attach(again, claim->token, &other.error) == DLOCK_LOST, "but once only");
	check(release(&c, claim) == DLOCK_LOST && available(&c, "attach") == 1, "the old holder has nothing left");
	check(let_go(&other, taken) && available(&c, "attach") == 3, "the new holder releases both");
	dlock_claim_free(claim);
	dlock_claim_free(again);
	client_free(&c);
	client_free(&other);
}

/* ---- never too many, in the order of asking ---- */

enum { PROCESSES = 8, SECTIONS = 40 };

/* What each process holds, and until when it may rely on that: one that stands still outlives its lease. */
typedef struct {
	pthread_mutex_t mutex;
	int64_t permits[PROCESSES];
	dlock_nanos until[PROCESSES];
	int sections;
} holders;

/* Returns how many permits are held now. */
static int64_t note_held(holders *holders, int process, int64_t permits, dlock_nanos until)
{
	int64_t out = 0;

	pthread_mutex_lock(&holders->mutex);
	dlock_nanos now = dlock_now();
	holders->permits[process] = permits;
	holders->until[process] = until;
	holders->sections += permits > 0;
	for (int i = 0; i < PROCESSES; i++) {
		out += holders->until[i] > now ? holders->permits[i] : 0;
	}
	pthread_mutex_unlock(&holders->mutex);
	return out;
}

static void test_capacity(void)
{
	holders *holders = shared_memory(sizeof *holders);
	pthread_mutexattr_t shared;
	pid_t pids[PROCESSES];
	int bad = 0;

	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&holders->mutex, &shared);
	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork_child();
		if (pids[i] == 0) {
			client own = three();
			int failed = 0;
			for (int k = 0; k < SECTIONS; k++) {
				int64_t permits = 1 + (i + k) % 3;
				dlock_claim *claim = permits_on(&own, "capacity", permits, 60000);
				failed += acquire(&own, claim, 60000) != DLOCK_OK;
				dlock_nanos until = atomic_load(&claim->deadline);
				failed += note_held(holders, i, permits, until) > 3;
				usleep(200);
				note_held(holders, i, 0, 0);
				failed += !let_go(&own, claim) && dlock_now() < until;
			}
			_exit(failed > 100 ? 100 : failed);
		}
	}
	for (int i = 0; i < PROCESSES; i++) {
		bad += exit_of(pids[i]);
	}
	check(bad == 0 && holders->sections == PROCESSES * SECTIONS, "never more than three out (%d)", bad);
	check(held_permits(&server, "capacity") == 0 && waiters(&server, "capacity") == 0, "nothing is left");
}

static void test_handed_to_several(void)
{
	enum { WAITERS = 12 };
	client c = four();
	takers *takers = takers_new();
	dlock_claim *claim = permits_held(&c, "several", 4, 60000);
	int wrong = 0;

	for (int i = 0; i < WAITERS; i++) {
		taker_start(takers, &server, four, "several", 1, 60000, -1);
		keep_waiters(&server, POOL "several");
	}
	dlock_nanos start = dlock_now();
	check(eventually_waiting(&server, "several", WAITERS) && release(&c, claim) == DLOCK_OK,
		"twelve wait, four permits are released");
	for (int i = 0; i < WAITERS; i++) {
		bool served = takers_served(takers, i + 4 < WAITERS ? i + 4 : WAITERS);
		wrong += !served
			|| (i + 4 < WAITERS && atomic_load(&takers->served) != i + 4); /* each release serves one waiter */
		atomic_store(&takers->go, i + 1);
		while (i + 5 <= WAITERS && atomic_load(&takers->served) < i + 5 && dlock_now() < start + SOON) {
			sleep_ms(1);
		}
	}
	check(takers_end(takers) == 0 && wrong == 0 && takers->most == 4, "four at a time (%d, %lld)", wrong,
		(long long) takers->most);
	check(dlock_now() - start < SOON, "soon after each release");
	dlock_claim_free(claim);
	client_free(&c);
}

/* ---- leases ---- */

/* Lets the claim's lease end in `ms`, on the server only. */
static void end_lease(const dlock_claim *claim, int ms)
{
	server_do(&server, "EVAL %s 1 " POOL "%b %s %d",
		"local now = redis.call('TIME') "
		"redis.call('ZADD', KEYS[1], now[1] * 1000 + math.floor(now[2] / 1000) + ARGV[2], 'h' .. ARGV[1])",
		claim->resource, claim->resource_len, claim->token, ms);
}

static void test_dead_holder(void)
{
	client c = four();
	takers *takers = takers_new();
	dlock_claim *dead = permits_held(&c, "dead", 4, 60000);
	dlock_nanos start = dlock_now();

	end_lease(dead, 600);
	taker_start(takers, &server, four, "dead", 2, 60000, -1);
	taker_start(takers, &server, four, "dead", 2, 60000, -1);
	check(takers_served(takers, 2), "the waiters of a dead holder are served");
	long first = (long) ((takers->at[0] - start) / DLOCK_MS), second = (long) ((takers->at[1] - start) / DLOCK_MS);
	check(first > 550 && second > 550, "not before its lease has expired (%ld, %ld ms)", first, second);
	check(first < SOON / DLOCK_MS && second < SOON / DLOCK_MS, "but soon after that (%ld, %ld ms)", first, second);
	dead->deadline = dlock_now();
	check(look(dead) == DLOCK_CLAIM_LOST && release(&c, dead) == DLOCK_LOST, "the holder knows by its clock");
	client_settle(&c);
	check(held_permits(&server, "dead") == 4 && takers_end(takers) == 0, "and releases no permit of the waiters");
	dlock_claim_free(dead);
	client_free(&c);
}

/* An expired lease stays on the server until another claim needs its permits. */
static void test_late_holder(void)
{
	client c = four();
	dlock_claim *late = permits_held(&c, "late", 3, 60000), *one;

	end_lease(late, -1);
	check(available(&c, "late") == 4, "expired permits count as free");
	one = permits_held(&c, "late", 1, 60000);
	check(held_permits(&server, "late") == 4, "but they stay until a claim needs them");
	dlock_claim *two = permits_on(&c, "late", 2, 60000);
	check(acquire(&c, two, 0) == DLOCK_OK && held_permits(&server, "late") == 3,
		"a claim that needs them acquires them at once");
	check(release(&c, late) == DLOCK_LOST && let_go(&c, one) && let_go(&c, two), "released");
	dlock_claim_free(late);
	client_free(&c);
}

static void test_times_out(void)
{
	client c = three();
	dlock_claim *claim = permits_held(&c, "full", 2, 60000), *waiter = permits_on(&c, "full", 2, 60000),
				*small = permits_on(&c, "full", 1, 60000);

	for (int tries = 0; !waiter->waited && tries < 10; tries++) { /* it only tries once if its time has passed before */
		check(acquire(&c, waiter, 200) == DLOCK_TIMEOUT, "a wait ends");
	}
	check(waiter->waited && waiters(&server, "full") == 0, "and leaves the queue");
	check(acquire(&c, small, 0) == DLOCK_OK, "so that another claim acquires a free permit");
	check(let_go(&c, small) && let_go(&c, claim), "released");
	dlock_claim_free(waiter);
	client_free(&c);
}

/* ---- readers and writers ---- */

static client phases(void)
{
	return permits_client(&server, ALL);
}

enum { READERS = 20 };

/* A writer waits for no reader that came after it. False: a process stood still for so long that a grant may have
 * ended before its waiter accepted it. */
static bool write_in_turn(const char *resource)
{
	takers *takers = takers_new();
	char key[32];
	int before = 0;

	snprintf(key, sizeof key, POOL "%s", resource);
	for (int i = 0; i < 2 * READERS + 1; i++) {
		taker_start(takers, &server, phases, resource, i == READERS ? ALL : 1, 60000, -1);
		keep_waiters(&server, key);
	}
	check(atomic_load(&takers->served) == READERS, "%d readers hold it", READERS);
	check(eventually_waiting(&server, resource, READERS + 1), "a writer waits, and %d readers behind it", READERS);
	dlock_nanos start = dlock_now();
	atomic_store(&takers->go, READERS);
	bool served = takers_served(takers, READERS + 1), in_time = dlock_now() - start < GRANTED_IN_TIME;
	check(served && (takers->place[READERS] == READERS + 1 || !in_time),
		"it acquires the lock when the readers before it have released");
	atomic_store(&takers->go, READERS + 1);
	check(takers_served(takers, 2 * READERS + 1), "and then all readers behind it do");
	for (int i = READERS + 1; i < 2 * READERS + 1; i++) {
		before += takers->token[i] < takers->token[READERS];
	}
	check(takers_end(takers) == 0 && (before == 0 || !in_time), "with larger tokens (%d)", before);
	return in_time;
}

static void test_readers_and_writer(void)
{
	char resource[16];
	int tries = 0;

	do {
		snprintf(resource, sizeof resource, "rw%d", tries);
	} while (!write_in_turn(resource) && ++tries < 10);
	check(tries < 10, "in time");
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(life), TEST(deleted_by_hand), TEST(abandon), TEST(attach), TEST(capacity), TEST(handed_to_several),
		TEST(dead_holder), TEST(late_holder), TEST(times_out), TEST(readers_and_writer),
	};

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &one_server);
}

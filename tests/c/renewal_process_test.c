/* The renewal thread and its process: forks, shutdown, and threads that hold leases at the same time. Prints TAP. */

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "helpers.h"
#include "names.h"
#include "one_server.h"
#include "upkeep.h"

/* The thread sanitizer cannot start threads in a child of a process with threads. */
#ifdef __SANITIZE_THREAD__
enum { CHILD_HAS_THREAD = false };
#else
enum { CHILD_HAS_THREAD = true };
#endif

/* ---- fork ---- */

/* A child can neither use nor harm its parent's lease. */
static bool is_not_mine(client *c, ward *ward)
{
	bool good = look(ward->claim) == DLOCK_CLAIM_LOST && extend(c, ward->claim, 1000) == DLOCK_LOST
		&& release(c, ward->claim) == DLOCK_LOST && !dlock_claim_is_mine(ward->claim);

	dlock_renewal_stop(ward->claim);
	dlock_claim_abandon(ward->claim);
	dlock_claim_free(ward->claim);
	return good && ward->losses == 0;
}

/* The descriptors of the parent's wakeup: eventfd() has one, a pipe two. */
#ifdef DLOCK_PORTABLE
#define WAKEUP_DESCRIPTORS 2
#else
#define WAKEUP_DESCRIPTORS 1
#endif

/* A child renews its own lease. It closes what it inherited from the parent's thread: its connection and its wakeup. */
static bool renews_alone(client *parents, ward *parents_ward, int number)
{
	int descriptors = count_descriptors(), threads = count_threads();
	unsigned long before = renewals();
	char name[32];
	ward ward;

	snprintf(name, sizeof name, "child-%d", number);
	client c = client_of(&server, READ_TIMEOUT);
	ward_begin(&ward, &c, name, 6000, 3000, RENEW_AND_TELL(&ward));
	bool good = count_threads() == threads + 1 && renewed_since(before, 1) && look(ward.claim) == DLOCK_CLAIM_HELD
		&& is_not_mine(parents, parents_ward) && let_go(&c, ward.claim);
	dlock_renewal_shutdown();
	client_free(&c);
	bool tidy = eventually_threads(threads) && count_descriptors() == descriptors - 1 - WAKEUP_DESCRIPTORS;
	if (!good || !tidy) {
		printf("# child %d: good %d, %d threads (%d), %d descriptors (%d)\n", number, good, count_threads(), threads,
			count_descriptors(), descriptors);
		fflush(stdout);
	}
	return good && tidy;
}

static void test_fork(void)
{
	enum { CHILDREN = 20 };
	client c = client_of(&server, READ_TIMEOUT);
	ward busy[3];
	pid_t pids[CHILDREN];
	int bad = 0;
	unsigned long before = renewals();

	for (int i = 0; i < 3; i++) {
		char name[32];
		snprintf(name, sizeof name, "parent-%d", i);
		ward_begin(&busy[i], &c, name, 6000, 2000, RENEW_AND_TELL(&busy[i]));
	}
	check(renewed_since(before, 3), "leases are renewed");
	int descriptors = count_descriptors(), threads = count_threads();
	for (int i = 0; i < CHILDREN; i++) {
		pids[i] = fork_child();
		if (pids[i] == 0) {
			_exit(i % 2 || !CHILD_HAS_THREAD ? !is_not_mine(&c, &busy[i % 3]) : !renews_alone(&c, &busy[i % 3], i));
		}
		sleep_ms(20); /* so that some forks happen while the thread works */
		if (i % 4 == 3) {
			for (int k = i - 3; k <= i; k++) {
				bad += exit_of(pids[k]) != 0;
			}
		}
	}
	check(bad == 0, "twenty children leave them alone and renew their own (%d did not)", bad);
	before = renewals();
	check(renewed_since(before, 3), "they are still renewed");
	check(count_descriptors() == descriptors && eventually_threads(threads),
		"the parent has no more descriptors and threads");
	for (int i = 0; i < 3; i++) {
		check(look(busy[i].claim) == DLOCK_CLAIM_HELD && busy[i].losses == 0 && let_go(&c, busy[i].claim),
			"held all the time");
	}
	client_free(&c);
}

static bool is_asked(void *name)
{
	return names_asked(name) > 0;
}

static client client_named(const char *name)
{
	char dsn[128];

	snprintf(dsn, sizeof dsn, "redis://%s:%d?connect_timeout=2", name, server.port);
	return client_at(dsn);
}

/* A child knows the addresses that its parent knew, but has no part in the look-up that hangs in the parent. */
static bool resolves_alone(client *known)
{
	dlock_nanos start = dlock_now();
	bool good = passes(known, "by-name", 0) && dlock_now() - start < SOON;

	if (CHILD_HAS_THREAD) {
		client slow = client_named("hanging.test");
		dlock_claim *claim = claim_on(&slow, "by-name", 60000);
		start = dlock_now();
		good = good && acquire(&slow, claim, 0) == DLOCK_CONNECTION
			&& explains(&slow, "hanging.test", "not resolved within 2 s") && dlock_now() - start < SOON;
		dlock_claim_free(claim);
		client_free(&slow);
	}
	return good;
}

static bool has_no_more_descriptors(void *than)
{
	return count_descriptors() <= *(int *) than;
}

/* The process forks while this thread and the renewal thread look up names. */
static void test_fork_and_names(void)
{
	ward ward;

	dlock_renewal_shutdown();
	int threads = count_threads() + 1;
	names_are("known.test 0 127.0.0.1\nhanging.test 20 127.0.0.1\n");
	client known = client_named("known.test"), slow = client_named("hanging.test");
	dlock_claim *claim = claim_on(&slow, "by-name", 60000);
	ward_begin(&ward, &known, "renewed", 3000, 0, RENEW_AND_TELL(&ward));
	int descriptors = count_descriptors();
	check(acquire(&slow, claim, 0) == DLOCK_CONNECTION && names_asked("hanging.test") == 1, "a look-up hangs");
	names_are("known.test 6 127.0.0.1\nhanging.test 20 127.0.0.1\n");
	unsigned long before = renewals();
	check(renewed_since(before, 1), "the thread has its connection");
	for (int i = 0; i < 3; i++) {
		server_do(&server, "CLIENT KILL TYPE normal SKIPME yes"); /* so that the thread needs a new one */
		before = renewals();
		sleep_ms(1100); /* until it has begun to open one */
		dlock_nanos start = dlock_now();
		pid_t pid = fork_child();
		if (pid == 0) {
			_exit(!resolves_alone(&known));
		}
		long took = (long) ((dlock_now() - start) / DLOCK_MS);
		check(took < SOON / DLOCK_MS, "fork() does not wait for a resolver (%ld ms)", took);
		check(exit_of(pid) == 0, "the child does not wait, either");
		check(renewed_since(before, 1), "a lease is renewed meanwhile");
		sleep_ms(2000); /* until the known addresses are old */
	}
	check(
		eventually(is_asked, "known.test") && ward.losses == 0, "it is held all the time, while its name is looked up");
	names_are("known.test 0 127.0.0.1\nhanging.test 0 127.0.0.1\n");
	check(!CHILD_HAS_THREAD || eventually_threads(threads), "no thread is left"); /* the sanitizer has its own thread */
	check(acquire(&slow, claim, 0) == DLOCK_OK && let_go(&slow, claim), "in the end the other name is known, too (%s)",
		slow.error.message);
	check(let_go(&known, ward.claim), "released");
	client_free(&slow);
	descriptors++;
	check(eventually(has_no_more_descriptors, &descriptors),
		"no descriptor is left except that of the thread's connection"); /* a look-up ends by itself */
	client_free(&known);
}

/* The process ends while a look-up hangs. */
static void test_exit_and_names(void)
{
	names_are("exit.test 6 127.0.0.1\n");
	pid_t pid = fork_child();
	if (pid == 0) {
		ward ward;
		client c = client_of(&server, READ_TIMEOUT), slow = client_named("exit.test");
		dlock_claim *claim = claim_on(&slow, "exit", 60000);
		if (CHILD_HAS_THREAD) {
			ward_begin(&ward, &c, "exit-too", 600, 0, RENEW);
			acquire(&slow, claim, 0);
		}
		dlock_renewal_shutdown();
		exit(0);
	}
	dlock_nanos start = dlock_now();
	check(exit_of(pid) == 0 && dlock_now() - start < SOON, "the end of the process does not wait for a resolver");
}

/* A child that never needs the thread ends at once. */
static void test_fork_and_shutdown(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	ward ward;

	ward_begin(&ward, &c, "shutdown", 3000, 0, RENEW);
	pid_t pid = fork_child();
	if (pid == 0) {
		dlock_nanos start = dlock_now();
		dlock_renewal_shutdown();
		_exit(look(ward.claim) != DLOCK_CLAIM_LOST || dlock_now() - start > DLOCK_SECOND);
	}
	check(exit_of(pid) == 0, "a child ends at once, without the lease");
	unsigned long before = renewals();
	check(renewed_since(before, 1) && let_go(&c, ward.claim), "the parent's thread continues");
	client_free(&c);
}

/* When a holder has ended, a child that renews its own leases does not renew the holder's. */
static void test_parent_gone(void)
{
	struct shared {
		_Atomic int renewed, end;
	} *shared = shared_memory(sizeof *shared);

	if (!CHILD_HAS_THREAD) {
		return;
	}
	pid_t pid = fork_child();
	if (pid == 0) {
		client c = client_of(&server, READ_TIMEOUT);
		ward ward, own;
		ward_begin(&ward, &c, "gone", 1200, 0, RENEW);
		if (fork() > 0) {
			while (!atomic_load(&shared->renewed)) {
				sleep_ms(5);
			}
			_exit(0);
		}
		alarm(20);
		client mine = client_of(&server, READ_TIMEOUT);
		unsigned long before = renewals();
		ward_begin(&own, &mine, "own", 1200, 0, RENEW);
		atomic_store(&shared->renewed, renewed_since(before, 1));
		while (!atomic_load(&shared->end)) {
			sleep_ms(5);
		}
		_exit(0);
	}
	check(exit_of(pid) == 0, "a holder ends without a release");
	check(eventually_nobody(&server, "gone"), "its lease expires");
	check(!has_nobody(&server, "own"), "its child's lease does not");
	atomic_store(&shared->end, 1);
	check(eventually_nobody(&server, "own"), "the child's lease expires after its end, too");
}

/* ---- the end ---- */

static void test_shutdown(void)
{
	enum { MANY = 50 };
	static ward wards[MANY];
	client c = client_of(&server, READ_TIMEOUT);

	dlock_renewal_shutdown();
	int threads = count_threads(), descriptors = count_descriptors();
	for (int i = 0; i < MANY; i++) {
		char name[32];
		snprintf(name, sizeof name, "end-%d", i);
		ward_begin(&wards[i], &c, name, 30000, 600, RENEW);
	}
	check(count_threads() == threads + 1, "all leases have one thread");
	sleep_ms(190); /* renewals are about to begin */
	dlock_nanos start = dlock_now();
	dlock_renewal_shutdown();
	long took = (long) ((dlock_now() - start) / DLOCK_MS);
	check(took < SOON / DLOCK_MS && eventually_threads(threads), "it ends with renewals under way (%ld ms, %d threads)",
		took, count_threads());
	dlock_renewal_shutdown();
	for (int i = 0; i < MANY; i++) {
		dlock_renewal_pause(wards[i].claim);
		dlock_renewal_resume(wards[i].claim);
		dlock_claim_abandon(wards[i].claim);
		dlock_claim_free(wards[i].claim);
	}
	client_drain(&c);
	client_free(&c);
	check(count_descriptors() == descriptors, "it leaves no descriptor");
}

static void test_shutdown_frozen(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	int threads = count_threads();
	ward ward, again;
	unsigned long before = dlock_renewal_count().failures;

	ward_begin(&ward, &c, "frozen", 1500, 0, RENEW_AND_TELL(&ward));
	server_freeze(&server);
	check(failed_since(before, 1), "the server does not answer");
	sleep_ms(150); /* the next attempt is under way */
	dlock_nanos start = dlock_now();
	dlock_renewal_shutdown();
	long took = (long) ((dlock_now() - start) / DLOCK_MS);
	check(took < SOON / DLOCK_MS && eventually_threads(threads), "it ends in time (%ld ms, %d threads)", took,
		count_threads());
	server_thaw(&server);
	dlock_claim_free(ward.claim);

	before = renewals();
	ward_begin(&again, &c, "again", 6000, 3000, RENEW);
	check(renewed_since(before, 1) && let_go(&c, again.claim), "it starts again when a lease needs it");
	client_free(&c);
}

/* ---- its holder ---- */

/* While renewal is paused, the thread does not report a missed deadline, either. No other lease wakes it here. */
static void test_paused(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	ward ward;

	ward_begin(&ward, &c, "paused", 2000, 0, RENEW_AND_TELL(&ward));
	dlock_renewal_pause(ward.claim);
	check(
		eventually_nobody(&server, "paused") && ward.losses == 0, "the lease is not renewed, and no loss is reported");
	dlock_renewal_resume(ward.claim);
	check(eventually_lost(&ward), "the loss is reported when the thread resumes");
	dlock_claim_free(ward.claim);
	unsigned long before = renewals();
	ward_begin(&ward, &c, "woken", 6000, 3000, RENEW);
	check(renewed_since(before, 1) && let_go(&c, ward.claim), "a new lease wakes the thread");
	client_free(&c);
}

/* ---- threads, as in a threaded PHP ---- */

enum { THREADS = 4, HOLDS = 6 };
#define FIGHT_TIME (4 * DLOCK_SECOND)

typedef struct {
	pthread_t thread;
	unsigned seed;
	dlock_nanos until;
	client client;
	redisContext *admin;
	ward wards[HOLDS];
	int number, acquired, looks, too_long, odd;
} fighter;

static unsigned pick(fighter *fighter, unsigned bound)
{
	return (unsigned) rand_r(&fighter->seed) % bound;
}

/* Does the server have the key for as long as the holder relies on it? The deadline is read before, and only the holder
 * can lower it. */
static void compare(fighter *fighter, dlock_claim *claim)
{
	dlock_nanos deadline = look(claim) == DLOCK_CLAIM_LOST ? 0 : atomic_load(&claim->deadline);
	redisReply *reply = redisCommand(fighter->admin, "EVAL %s 1 " PREFIX "%b %s",
		"return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PTTL', KEYS[1]) or -2", claim->resource,
		claim->resource_len, claim->token);
	dlock_nanos now = dlock_now(), left = reply && reply->type == REDIS_REPLY_INTEGER ? reply->integer * DLOCK_MS : 0;

	freeReplyObject(reply);
	fighter->looks++;
	if (deadline > now + (left > 0 ? left : 0) + 2 * DLOCK_MS) {
		printf("# %.*s: %ld ms too long\n", (int) claim->resource_len, claim->resource,
			(long) ((deadline - now - left) / DLOCK_MS));
		fighter->too_long++;
	}
}

static void take_one(fighter *fighter, ward *ward)
{
	dlock_upkeep upkeep = { .renew = pick(fighter, 4) > 0,
		.most = pick(fighter, 4) ? 0 : (1 + pick(fighter, 900)) * DLOCK_MS };
	char name[32];

	snprintf(name, sizeof name, "fight-%u", pick(fighter, THREADS * HOLDS));
	if (pick(fighter, 2)) {
		upkeep.lost = count_loss;
		upkeep.context = ward;
	}
	atomic_store(&ward->losses, 0);
	ward->claim = claim_on(&fighter->client, name, 150 + (int) pick(fighter, 1500));
	if (acquire(&fighter->client, ward->claim, (int) pick(fighter, 20)) == DLOCK_OK) {
		fighter->acquired++;
		fighter->odd += dlock_renewal_begin(ward->claim, &upkeep, &fighter->client.error) != DLOCK_OK;
	} else {
		dlock_claim_abandon(ward->claim);
		dlock_claim_free(ward->claim);
		ward->claim = NULL;
	}
}

static void let_one_go(fighter *fighter, ward *ward)
{
	switch (pick(fighter, 3)) {
	case 0:
		release(&fighter->client, ward->claim);
		break;
	case 1:
		dlock_claim_abandon(ward->claim);
		break;
	default:
		dlock_renewal_end(ward->claim, false);
		dlock_claim_abandon(ward->claim);
	}
	dlock_claim_free(ward->claim);
	fighter->odd += atomic_load(&ward->losses) > 1;
	ward->claim = NULL;
}

static void do_something(fighter *fighter, ward *ward)
{
	if (!ward->claim) {
		take_one(fighter, ward);
		return;
	}
	switch (pick(fighter, 40)) {
	case 0:
		let_one_go(fighter, ward);
		return;
	case 1:
		dlock_renewal_stop(ward->claim);
		break;
	case 2:
	case 3:
		extend(&fighter->client, ward->claim, pick(fighter, 4) ? 150 + (int) pick(fighter, 3000) : 60000);
		break;
	case 4:
	case 5:
		dlock_claim_check(ward->claim, &fighter->client.error);
		break;
	case 6:
	case 7:
		dlock_renewal_pause(ward->claim);
		sleep_ms((int) pick(fighter, 5));
		dlock_renewal_resume(ward->claim);
		break;
	default:
		sleep_ms((int) pick(fighter, 10));
	}
	compare(fighter, ward->claim);
}

static void *fight(void *context)
{
	fighter *fighter = context;

	while (dlock_now() < fighter->until) {
		do_something(fighter, &fighter->wards[pick(fighter, HOLDS)]);
	}
	for (int i = 0; i < HOLDS; i++) {
		if (fighter->wards[i].claim) {
			let_one_go(fighter, &fighter->wards[i]);
		}
	}
	client_drain(&fighter->client);
	return NULL;
}

static bool is_empty(void *context)
{
	(void) context;
	return !strcmp(server_text(&server, "EVAL %s 0", "return tostring(#redis.call('KEYS', '" PREFIX "*'))"), "0");
}

static void test_threads(void)
{
	static fighter fighters[THREADS];
	int acquired = 0, looks = 0, too_long = 0, odd = 0;
	unsigned seed = (unsigned) dlock_now();
	unsigned long before = renewals();

	note("seed %u", seed);
	for (int i = 0; i < THREADS; i++) {
		fighters[i] = (fighter) { .seed = seed + (unsigned) i, .until = dlock_now() + FIGHT_TIME, .number = i,
			.client = client_of(&server, 60 * DLOCK_MS), .admin = redisConnect("127.0.0.1", server.port) };
		pthread_create(&fighters[i].thread, NULL, fight, &fighters[i]);
	}
	while (dlock_now() < fighters[0].until) { /* so that some answers come late, and some never count */
		sleep_ms(300);
		server_freeze(&server);
		sleep_ms(20 + (int) (rand_r(&seed) % 150));
		server_thaw(&server);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(fighters[i].thread, NULL);
		acquired += fighters[i].acquired;
		looks += fighters[i].looks;
		too_long += fighters[i].too_long;
		odd += fighters[i].odd;
		client_free(&fighters[i].client);
		redisFree(fighters[i].admin);
	}
	check(acquired >= THREADS * HOLDS && looks > acquired && renewals() - before > 10,
		"%d leases, %d looks, %lu renewals", acquired, looks, renewals() - before);
	check(too_long == 0, "no holder relies on a lease for longer than the server has it (%d)", too_long);
	check(odd == 0, "each can be renewed, and none is lost twice (%d)", odd);
	check(eventually(is_empty, NULL), "in the end no key is left");
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(fork), TEST(fork_and_shutdown), TEST(fork_and_names), TEST(exit_and_names), TEST(parent_gone),
		TEST(shutdown), TEST(shutdown_frozen), TEST(paused), TEST(threads),
	};

	int status = tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &one_server);
	dlock_renewal_shutdown();
	return status;
}

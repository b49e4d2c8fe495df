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
	char name[32];
	ward ward;

	snprintf(name, sizeof name, "child-%d", number);
	client c = client_of(&server, READ_TIMEOUT);
	ward_begin(&ward, &c, name, 60000, 0, RENEW_AND_TELL(&ward));
	bool good = count_threads() == threads + 1 && renews(ward.claim) && look(ward.claim) == DLOCK_CLAIM_HELD
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

static bool renews_all(const ward *wards, int count)
{
	bool good = true;

	for (int i = 0; i < count; i++) {
		good = good && renews(wards[i].claim);
	}
	return good;
}

static void test_fork(void)
{
	enum { CHILDREN = 20 };
	client c = client_of(&server, READ_TIMEOUT);
	ward busy[3];
	pid_t pids[CHILDREN];
	int bad = 0;

	for (int i = 0; i < 3; i++) {
		char name[32];
		snprintf(name, sizeof name, "parent-%d", i);
		ward_begin(&busy[i], &c, name, 60000, 0, RENEW_AND_TELL(&busy[i]));
	}
	check(renews_all(busy, 3), "leases are renewed");
	int descriptors = count_descriptors(), threads = count_threads();
	for (int i = 0; i < CHILDREN; i++) {
		renew_now(busy[i % 3].claim); /* so that some forks happen while the thread works */
		pids[i] = fork_child();
		if (pids[i] == 0) {
			_exit(i % 2 || !CHILD_HAS_THREAD ? !is_not_mine(&c, &busy[i % 3]) : !renews_alone(&c, &busy[i % 3], i));
		}
		if (i % 4 == 3) {
			for (int k = i - 3; k <= i; k++) {
				bad += exit_of(pids[k]) != 0;
			}
		}
	}
	check(bad == 0, "twenty children leave them alone and renew their own (%d did not)", bad);
	check(renews_all(busy, 3), "they are still renewed");
	check(count_descriptors() == descriptors && eventually_threads(threads),
		"the parent has no more descriptors and threads");
	for (int i = 0; i < 3; i++) {
		check(look(busy[i].claim) == DLOCK_CLAIM_HELD && busy[i].losses == 0 && let_go(&c, busy[i].claim),
			"held all the time");
	}
	client_free(&c);
}

#define SLOW "600" /* s; much longer than a connection may take */

static bool is_asked_again(void *times)
{
	return names_asked("known.test") > *(int *) times;
}

static client client_named(const char *name, const char *options)
{
	char dsn[128];

	snprintf(dsn, sizeof dsn, "redis://%s:%d%s", name, server.port, options);
	return client_at(dsn);
}

static client client_slow(const char *name)
{
	return client_named(name, "?connect_timeout=0.5");
}

/* A child knows the addresses that its parent knew, but has no part in the look-up that hangs in the parent. */
static bool resolves_alone(client *known)
{
	dlock_nanos start = dlock_now();
	bool good = passes(known, "by-name", 0) && dlock_now() - start < SOON;

	if (CHILD_HAS_THREAD) {
		client slow = client_slow("hanging.test");
		dlock_claim *claim = claim_on(&slow, "by-name", 60000);
		start = dlock_now();
		good = good && acquire(&slow, claim, 0) == DLOCK_CONNECTION
			&& explains(&slow, "hanging.test", "not resolved within 0.5 s") && dlock_now() - start < SOON;
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
	names_are("known.test 0 127.0.0.1\nhanging.test " SLOW " 127.0.0.1\n");
	client known = client_named("known.test", ""), slow = client_slow("hanging.test");
	dlock_claim *claim = claim_on(&slow, "by-name", 60000);
	ward_begin(&ward, &known, "renewed", 60000, 0, RENEW_AND_TELL(&ward));
	int descriptors = count_descriptors();
	check(acquire(&slow, claim, 0) == DLOCK_CONNECTION && names_asked("hanging.test") == 1, "a look-up hangs");
	names_are("known.test " SLOW " 127.0.0.1\nhanging.test " SLOW " 127.0.0.1\n");
	check(renews(ward.claim), "the thread has its connection");
	int asked = names_asked("known.test");
	for (int i = 0; i < 3; i++) {
		sleep_ms(i * 2600); /* in the end the known addresses are old */
		server_do(&server, "CLIENT KILL TYPE normal SKIPME yes"); /* so that the thread opens one now */
		unsigned long before = renewals();
		renew_now(ward.claim);
		dlock_nanos start = dlock_now();
		pid_t pid = fork_child();
		if (pid == 0) {
			_exit(!resolves_alone(&known));
		}
		long took = (long) ((dlock_now() - start) / DLOCK_MS);
		check(took < SOON / DLOCK_MS, "fork() does not wait for a resolver (%ld ms)", took);
		check(exit_of(pid) == 0, "the child does not wait, either");
		check(renewed_since(before, 1), "a lease is renewed meanwhile");
	}
	check(eventually(is_asked_again, &asked) && ward.losses == 0,
		"it is held all the time, while its name is looked up");
	names_are("known.test 0 127.0.0.1\nhanging.test 0 127.0.0.1\n");
	check(!CHILD_HAS_THREAD || eventually_threads(threads), "no thread is left"); /* the sanitizer has its own thread */
	client_conn(&slow, 0)->server->connect_timeout = CONNECT_TIMEOUT;
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
	names_are("exit.test " SLOW " 127.0.0.1\n");
	pid_t pid = fork_child();
	if (pid == 0) {
		ward ward;
		client c = client_of(&server, READ_TIMEOUT), slow = client_slow("exit.test");
		dlock_claim *claim = claim_on(&slow, "exit", 60000);
		if (CHILD_HAS_THREAD) {
			ward_begin(&ward, &c, "exit-too", 60000, 0, RENEW);
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
	enum { AT_ONCE, LATE, HELD } end = LATE;

	ward_begin(&ward, &c, "shutdown", 60000, 0, RENEW);
	for (int tries = 0; tries < 10 && end == LATE; tries++) { /* a busy machine may hold it up */
		pid_t pid = fork_child();
		if (pid == 0) {
			dlock_nanos start = dlock_now();
			dlock_renewal_shutdown();
			_exit(look(ward.claim) != DLOCK_CLAIM_LOST ? HELD : dlock_now() - start > DLOCK_SECOND ? LATE : AT_ONCE);
		}
		end = exit_of(pid);
	}
	check(end == AT_ONCE, "a child ends at once, without the lease (%d)", end);
	check(renews(ward.claim) && let_go(&c, ward.claim), "the parent's thread continues");
	client_free(&c);
}

static bool has_long(void *resource)
{
	return server_integer(&server, "PTTL " PREFIX "%s", (const char *) resource) > 30000;
}

/* When a holder has ended, a child that renews its own leases does not renew the holder's. */
static void test_parent_gone(void)
{
	struct shared {
		_Atomic int renewed, end, ended;
	} *shared = shared_memory(sizeof *shared);

	if (!CHILD_HAS_THREAD) {
		return;
	}
	pid_t pid = fork_child();
	if (pid == 0) {
		client c = client_of(&server, READ_TIMEOUT);
		ward ward, own;
		ward_begin(&ward, &c, "gone", 60000, 0, RENEW);
		if (fork() > 0) {
			while (!atomic_load(&shared->renewed)) {
				sleep_ms(5);
			}
			_exit(0);
		}
		alarm(300);
		client mine = client_of(&server, READ_TIMEOUT);
		ward_begin(&own, &mine, "own", 60000, 0, RENEW);
		while (!atomic_load(&shared->end)) {
			renew_now(ward.claim);
			atomic_store(&shared->renewed, renews(own.claim));
			sleep_ms(5);
		}
		atomic_store(&shared->ended, 1);
		_exit(0);
	}
	check(exit_of(pid) == 0, "a holder ends without a release");
	server_do(&server, "PEXPIRE " PREFIX "gone 500");
	server_do(&server, "PEXPIRE " PREFIX "own 20000");
	check(eventually_nobody(&server, "gone"), "its lease expires");
	check(eventually(has_long, "own"), "its child's lease is renewed");
	atomic_store(&shared->end, 1);
	while (!atomic_load(&shared->ended)) {
		sleep_ms(5);
	}
	server_do(&server, "PEXPIRE " PREFIX "own 500");
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
		ward_begin(&wards[i], &c, name, 60000, 0, RENEW);
	}
	check(count_threads() == threads + 1, "all leases have one thread");
	for (int i = 0; i < MANY; i++) {
		renew_now(wards[i].claim);
	}
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
	client_settle(&c);
	client_free(&c);
	check(count_descriptors() == descriptors, "it leaves no descriptor");
}

static void test_shutdown_frozen(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	int threads = count_threads();
	ward ward, again;
	unsigned long before = dlock_renewal_count().failures;

	ward_begin(&ward, &c, "frozen", 60000, 0, RENEW_AND_TELL(&ward));
	server_freeze(&server);
	request_ttl(ward.claim, 2000);
	renew_now(ward.claim);
	check(failed_since(before, 1) && eventually_renewing(ward.claim), "the server does not answer");
	dlock_nanos start = dlock_now();
	dlock_renewal_shutdown();
	long took = (long) ((dlock_now() - start) / DLOCK_MS);
	check(took < SOON / DLOCK_MS && eventually_threads(threads), "it ends in time (%ld ms, %d threads)", took,
		count_threads());
	server_thaw(&server);
	dlock_claim_free(ward.claim);

	ward_begin(&again, &c, "again", 60000, 0, RENEW);
	check(renews(again.claim) && let_go(&c, again.claim), "it starts again when a lease needs it");
	client_free(&c);
}

/* ---- its holder ---- */

/* While renewal is paused, the thread does not report a missed deadline, either, even if it is woken. */
static void test_paused(void)
{
	client c = client_of(&server, READ_TIMEOUT);
	ward ward;

	ward_begin(&ward, &c, "paused", 60000, 0, RENEW_AND_TELL(&ward));
	unsigned long before = renewals();
	dlock_renewal_pause(ward.claim);
	renew_now(ward.claim);
	sleep_ms(100);
	let_expire(ward.claim);
	sleep_ms(100);
	check(renewals() == before && ward.losses == 0, "the lease is not renewed, and no loss is reported");
	dlock_renewal_resume(ward.claim);
	check(eventually_lost(&ward), "the loss is reported when the thread resumes");
	dlock_claim_free(ward.claim);
	ward_begin(&ward, &c, "woken", 60000, 0, RENEW);
	check(renews(ward.claim) && let_go(&c, ward.claim), "a new lease wakes the thread");
	client_free(&c);
}

/* ---- threads, as in a threaded PHP ---- */

enum { THREADS = 4, HOLDS = 6 };
#define FIGHT_TIME (4 * DLOCK_SECOND)

static _Atomic int is_over;

typedef struct {
	pthread_t thread;
	unsigned seed;
	client client;
	redisContext *admin;
	ward wards[HOLDS];
	_Atomic int acquired, looks;
	int number, too_long, odd;
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

	while (!is_over) {
		do_something(fighter, &fighter->wards[pick(fighter, HOLDS)]);
	}
	for (int i = 0; i < HOLDS; i++) {
		if (fighter->wards[i].claim) {
			let_one_go(fighter, &fighter->wards[i]);
		}
	}
	client_settle(&fighter->client);
	return NULL;
}

static bool is_empty(void *context)
{
	(void) context;
	return !strcmp(server_text(&server, "EVAL %s 0", "return tostring(#redis.call('KEYS', '" PREFIX "*'))"), "0");
}

static bool is_enough(const fighter *fighters, unsigned long renewed)
{
	int acquired = 0, looks = 0;

	for (int i = 0; i < THREADS; i++) {
		acquired += fighters[i].acquired;
		looks += fighters[i].looks;
	}
	return acquired >= THREADS * HOLDS && looks > acquired && renewed > 10;
}

static void test_threads(void)
{
	static fighter fighters[THREADS];
	int acquired = 0, looks = 0, too_long = 0, odd = 0;
	unsigned seed = (unsigned) dlock_now();
	unsigned long before = renewals();

	note("seed %u", seed);
	for (int i = 0; i < THREADS; i++) {
		fighters[i] = (fighter) { .seed = seed + (unsigned) i, .number = i,
			.client = client_of(&server, 60 * DLOCK_MS), .admin = redisConnect("127.0.0.1", server.port) };
		pthread_create(&fighters[i].thread, NULL, fight, &fighters[i]);
	}
	/* A busy machine has more time. Some answers come late, and some never count. */
	for (dlock_nanos start = dlock_now(), took = 0;
		 took < FIGHT_TIME || (took < SOON && !is_enough(fighters, renewals() - before)); took = dlock_now() - start) {
		sleep_ms(300);
		server_freeze(&server);
		sleep_ms(20 + (int) (rand_r(&seed) % 150));
		server_thaw(&server);
	}
	is_over = 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(fighters[i].thread, NULL);
		acquired += fighters[i].acquired;
		looks += fighters[i].looks;
		too_long += fighters[i].too_long;
		odd += fighters[i].odd;
		client_free(&fighters[i].client);
		redisFree(fighters[i].admin);
	}
	check(is_enough(fighters, renewals() - before),
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

/* The renewal thread with leases on several servers: what it repairs there, and which repairs it undoes. Prints TAP.
 * renewal_quorum_test [word in the names of the tests to run] */

#include <dirent.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/lock/renewer.h"
#include "helpers.h"
#include "relay.h"
#include "tap.h"
#include "upkeep.h"

enum { SERVERS = 3 };

static test_server servers[SERVERS];

/* ---- several servers ---- */

static bool has_it(void *claim)
{
	return has(&servers[2], claim);
}

static bool has_everywhere(void *claim)
{
	for (int i = 0; i < SERVERS; i++) {
		if (!has(&servers[i], claim)) {
			return false;
		}
	}
	return true;
}

static void test_repair(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	ward ward, other;

	server_kill(&servers[2]);
	ward_begin(&ward, &c, "repair", 60000, 0, RENEW_AND_TELL(&ward));
	ward_begin(&other, &c, "other", 60000, 0, RENEW_AND_TELL(&other));
	server_restart(&servers[2]);
	server_do(&servers[2], "SET " PREFIX "other somebody");
	unsigned long before = renewals();
	renew_now(ward.claim);
	renew_now(other.claim);
	check(renewed_since(before, 2) && ward.losses == 0, "renewed although a minority does not have it");
	check(eventually(has_it, ward.claim), "the thread sets the key there");
	check(server_integer(&servers[2], "PTTL " PREFIX "repair") > 30000, "for the full lease time");
	check(server_integer(&servers[2], "GET " DLOCK_FENCE_KEY) >= ward.claim->fencing_token, "the fence is set, too");
	check(!strcmp(server_text(&servers[2], "GET " PREFIX "other"), "somebody") && other.losses == 0,
		"another client's key is left alone");
	check(let_go(&c, ward.claim) && has_nobody(&servers[0], "repair") && eventually_nobody(&servers[2], "repair"),
		"the key is released there, too");
	server_do(&servers[0], "DEL " PREFIX "other");
	check(!let_go(&c, other.claim), "if a majority has lost it, the lock is lost");
	client_free(&c);
}

/* A holder that extends its lease also asks a server that was repaired after the acquisition. */
static void test_extended_after_repair(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	ward ward;

	server_kill(&servers[2]);
	ward_begin(&ward, &c, "again", 60000, 0, RENEW_AND_TELL(&ward));
	server_restart(&servers[2]);
	renew_now(ward.claim);
	check(eventually(has_it, ward.claim), "a server that lacked the key is repaired");
	server_kill(&servers[1]);
	server_restart(&servers[1]);
	check(extend(&c, ward.claim, 60000) == DLOCK_OK && look(ward.claim) == DLOCK_CLAIM_HELD && ward.losses == 0,
		"the repaired server counts when another one has lost the key");
	check(dlock_claim_check(ward.claim, &c.error) == DLOCK_OK && let_go(&c, ward.claim),
		"it counts for checks and releases");
	client_free(&c);
}

/* A repair raises the fence even if the server has the key already. */
static void test_repair_raises_fence(void)
{
	server_do(&servers[2], "SET " PREFIX "fence token PX 60000");
	server_do(&servers[2], "SET " DLOCK_FENCE_KEY " 5");
	check(server_integer(&servers[2], "EVAL %s 2 " PREFIX "fence " DLOCK_FENCE_KEY " token 1000 77",
			  dlock_scripts[DLOCK_SCRIPT_REPAIR].source)
				== 1
			&& server_integer(&servers[2], "GET " DLOCK_FENCE_KEY) == 77,
		"the server has the key: the fence is raised");
	check(server_integer(&servers[2], "EVAL %s 2 " PREFIX "fence " DLOCK_FENCE_KEY " other 1000 99",
			  dlock_scripts[DLOCK_SCRIPT_REPAIR].source)
				== 0
			&& server_integer(&servers[2], "GET " DLOCK_FENCE_KEY) == 77,
		"another client has the key: it is not");
	server_do(&servers[2], "DEL " DLOCK_FENCE_KEY);
	check(server_integer(&servers[2], "EVAL %s 2 " PREFIX "fence " DLOCK_FENCE_KEY " token 1000 77",
			  dlock_scripts[DLOCK_SCRIPT_REPAIR].source)
				== 1
			&& server_integer(&servers[2], "GET " DLOCK_FENCE_KEY) > INT64_C(1700000000000000),
		"a lost fence becomes the time");
}

/* A repair of several locks sets all of their keys or none. */
static void test_repair_of_several(void)
{
	static const char ask[] = "EVAL %s 7 " PREFIX "p pq pw " PREFIX "q qq qw " DLOCK_FENCE_KEY " token 1000 77";

	server_do(&servers[2], "SET " PREFIX "p token PX 60000");
	server_do(&servers[2], "SET " DLOCK_FENCE_KEY " 5");
	check(server_integer(&servers[2], ask, dlock_scripts[DLOCK_SCRIPT_SEVERAL_REPAIR].source) == 1
			&& !strcmp(server_text(&servers[2], "GET " PREFIX "q"), "token")
			&& server_integer(&servers[2], "PTTL " PREFIX "p") > 30000
			&& server_integer(&servers[2], "GET " DLOCK_FENCE_KEY) == 77,
		"a part that is missing is set, and none is shortened");
	server_do(&servers[2], "SET " PREFIX "q somebody PX 60000");
	server_do(&servers[2], "DEL " PREFIX "p");
	check(server_integer(&servers[2], ask, dlock_scripts[DLOCK_SCRIPT_SEVERAL_REPAIR].source) == 0
			&& server_integer(&servers[2], "EXISTS " PREFIX "p") == 0,
		"none is set if another client has one of them");
	server_do(&servers[2], "DEL " PREFIX "q");
}

/* A majority of keys does not prove that the lease lasted: a late acquire may have set one of them after others had
 * expired. */
static void test_lapsed_unseen(void)
{
	relay relays[SERVERS];
	ward ward;

	client c = client_by_relays(servers, SERVERS, relays, 0, SERVERS, "");
	atomic_store(&relays[2].stop, dlock_scripts[DLOCK_SCRIPT_ACQUIRE].sha1);
	atomic_store(&relays[1].stop, dlock_scripts[DLOCK_SCRIPT_RENEW].sha1);
	ward_begin(&ward, &c, "lapsed", 60000, 0, RENEW);
	check(eventually(is_stopped, &relays[2]) && has_nobody(&servers[2], "lapsed"), "two of three servers have it");
	request_ttl(ward.claim, 2000); /* so that attempts follow one another soon */
	renew_now(ward.claim);
	check(eventually(is_stopped, &relays[1]), "a renewal does not reach one of them");
	server_do(&servers[1], "DEL " PREFIX "lapsed"); /* as if it has expired there */
	let_expire(ward.claim);
	atomic_store(&relays[2].stop, NULL);
	check(eventually(has_it, ward.claim), "the third server sets it late: two of three have it again");
	sleep_ms(700); /* more than the time between two renewals */
	check(look(ward.claim) == DLOCK_CLAIM_LOST && left_ms(ward.claim) == 0,
		"it is lost: another client could have held it in between");
	server_do(&servers[0], "PEXPIRE " PREFIX "lapsed 1500");
	check(eventually_nobody(&servers[0], "lapsed"), "it is not renewed any more");
	atomic_store(&relays[1].stop, NULL);
	release(&c, ward.claim);
	dlock_claim_free(ward.claim);
	client_free(&c);
	for (int i = 0; i < SERVERS; i++) {
		relay_end(&relays[i]);
	}
}

static bool has_no_repair(void *context)
{
	(void) context;
	return server_info(&servers[2], "commandstats", "cmdstat_set:calls") < 2;
}

static bool has_repair(void *context)
{
	return !has_no_repair(context);
}

/* If a repair is under way when the lease ends, the server sets the key after the release. The same happens if the
 * lease continues in another process, which may release it. */
static void test_repair_under_way(void)
{
	for (int released = 1; released >= 0; released--) {
		relay relay;
		ward ward;
		reset_knowing(&servers[2], 1);
		client c = client_by_relays(servers, SERVERS, &relay, 2, 1, "");
		atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_REPAIR].sha1);
		ward_begin(&ward, &c, "under-way", 60000, 0, RENEW);
		check(eventually(has_everywhere, ward.claim), "all servers have it");
		server_do(&servers[2], "DEL " PREFIX "under-way");
		renew_now(ward.claim);
		check(eventually(is_stopped, &relay), "a repair is under way");
		if (released) {
			check(release(&c, ward.claim) == DLOCK_OK && has_nobody(&servers[2], "under-way"), "the lease is released");
		} else {
			dlock_renewal_end(ward.claim, false);
		}
		atomic_store(&relay.stop, NULL);
		check(eventually(has_repair, NULL), "the server executes the repair");
		check(eventually_nobody(&servers[2], "under-way"), "the thread undoes it");
		if (!released) {
			check(has(&servers[0], ward.claim) && has(&servers[1], ward.claim),
				"the other keys stay if the lease continues elsewhere");
			release(&c, ward.claim);
		}
		dlock_claim_free(ward.claim);
		client_free(&c);
		relay_end(&relay);
	}
}

/* Another process releases the lock by its token while a repair is under way. The late key is on a minority, until the
 * holder releases it or its lease time ends. */
static void test_released_elsewhere(void)
{
	relay relay;
	ward ward;

	reset_knowing(&servers[2], 1);
	client c = client_by_relays(servers, SERVERS, &relay, 2, 1, ""),
		   other = client_quorum(servers, SERVERS, READ_TIMEOUT);
	atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_REPAIR].sha1);
	ward_begin(&ward, &c, "under-way", 60000, 0, RENEW_AND_TELL(&ward));
	check(eventually(has_everywhere, ward.claim), "all servers have it");
	server_do(&servers[2], "DEL " PREFIX "under-way");
	renew_now(ward.claim);
	check(eventually(is_stopped, &relay), "a repair is under way");
	dlock_claim *given_back = dlock_claim_new(
		other.backend, "under-way", strlen("under-way"), 60 * DLOCK_SECOND, ward.claim->token, &other.error);
	given_back->state = DLOCK_CLAIM_HELD;
	given_back->deadline = dlock_now() + 60 * DLOCK_SECOND;
	check(let_go(&other, given_back), "another process releases it (%s)", other.error.message);
	atomic_store(&relay.stop, NULL);
	check(eventually(has_it, ward.claim), "the server executes the repair");
	renew_now(ward.claim);
	check(eventually_lost(&ward) && ward.losses == 1, "the next renewal finds the loss");
	check(passes(&other, "under-way", 0), "another client acquires it (%s)", other.error.message);
	dlock_claim_abandon(ward.claim);
	client_settle(&c);
	check(eventually_nobody(&servers[2], "under-way"),
		"the former holder deletes the late key when it abandons the claim");
	dlock_claim_free(ward.claim);
	client_free(&c);
	client_free(&other);
	relay_end(&relay);
}

static bool is_collected(void *round)
{
	return !((dlock_renewal_round *) round)->ops->collect(round, true);
}

/* Waits for the answers of a round, like the thread. */
static void finish(dlock_loop *loop, dlock_renewal_round *round)
{
	dlock_loop_await(loop, is_collected, round, dlock_after(dlock_now(), READ_TIMEOUT));
}

/* The thread may read the answer to a repair only after the release has begun, which the server executed before the
 * repair. */
static void test_repair_read_late(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "read-late", 60000);

	check(acquire(&c, claim, 5000) == DLOCK_OK && eventually(has_everywhere, claim), "all servers have it");
	dlock_renewal_round *round = claim->backend->ops->new_round(claim);
	const dlock_renewal_round_ops *ops = round->ops;
	dlock_loop loop = { NULL };
	dlock_renewer *renewer = ops->renewer->create();
	ops->renewer->join(renewer, &loop);
	server_do(&servers[2], "DEL " PREFIX "read-late");
	ops->begin(round, renewer, claim->ttl, true);
	finish(&loop, round);
	check(ops->result(round) == DLOCK_ROUND_KEPT && ops->has_gaps(round), "a server has lost it");
	check(release(&c, claim) == DLOCK_OK, "it is released");
	ops->repair(round, claim->ttl);
	finish(&loop, round);
	check(
		has(&servers[2], claim) && ops->may_yet_repair(round), "a repair that was under way is executed, and answered");
	ops->roll_back(round, claim->ttl, true);
	check(!ops->may_yet_repair(round) && eventually_nobody(&servers[2], "read-late"), "it is undone");
	ops->free(round);
	renewer->ops->destroy(renewer);
	dlock_loop_end(&loop);
	dlock_claim_free(claim);
	client_free(&c);
}

enum { MOST_THREADS = 32 };

static int list_threads(pid_t *tids)
{
	DIR *directory = opendir("/proc/self/task");
	struct dirent *entry;
	int count = 0;

	while (directory && count < MOST_THREADS && (entry = readdir(directory))) {
		if (entry->d_name[0] != '.') {
			tids[count++] = atoi(entry->d_name);
		}
	}
	if (directory) {
		closedir(directory);
	}
	return count;
}

/* Returns a thread that is not among the earlier ones; 0: there is none. */
static pid_t new_thread(const pid_t *before, int count)
{
	pid_t now[MOST_THREADS];

	for (int i = list_threads(now) - 1; i >= 0; i--) {
		bool known = false;
		for (int k = 0; k < count; k++) {
			known |= before[k] == now[i];
		}
		if (!known) {
			return now[i];
		}
	}
	return 0;
}

/* Stops one thread, as a machine under load may, until the child ends that it returns. */
static pid_t hold_up(pid_t tid)
{
	_Atomic int *result = shared_memory(sizeof *result);

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	pid_t pid = fork_child();
	if (pid == 0) {
		bool good = ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0 && ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0
			&& waitpid(tid, NULL, __WALL) == tid;
		atomic_store(result, good ? 1 : -1);
		while (good) {
			pause();
		}
		_exit(1);
	}
	while (!atomic_load(result)) {
		sleep_ms(3);
	}
	check(atomic_load(result) == 1, "the thread is held up");
	return pid;
}

/* The same with the real thread. */
static void test_repair_thread_held_up(void)
{
	relay relay;
	ward ward;
	pid_t before[MOST_THREADS];

	client c = client_by_relays(servers, SERVERS, &relay, 2, 1, "");
	atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_REPAIR].sha1);
	dlock_renewal_shutdown(); /* the next lease starts a new one */
	int count = list_threads(before);
	ward_begin(&ward, &c, "held-up", 60000, 0, RENEW);
	pid_t tid = new_thread(before, count);
	check(eventually(has_everywhere, ward.claim), "all servers have it");
	server_do(&servers[2], "DEL " PREFIX "held-up");
	renew_now(ward.claim);
	check(eventually(is_stopped, &relay), "a repair is under way");
	pid_t holder = hold_up(tid);
	check(release(&c, ward.claim) == DLOCK_OK && has_nobody(&servers[2], "held-up"), "the lease is released");
	atomic_store(&relay.stop, NULL);
	check(eventually(has_repair, NULL), "the server executes the repair");
	sleep_ms(100); /* until its answer has arrived */
	check(has(&servers[2], ward.claim), "it set the key after the release");
	end_child(holder);
	check(eventually_nobody(&servers[2], "held-up"),
		"the thread reads the answer after the release, and undoes the repair");
	dlock_claim_free(ward.claim);
	client_free(&c);
	relay_end(&relay);
}

/* The server is stopped while the lease is released. No key is left there. */
static void test_frozen_minority(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	ward ward;

	ward_begin(&ward, &c, "minority", 60000, 0, RENEW_AND_TELL(&ward));
	server_freeze(&servers[2]);
	check(renews(ward.claim) && look(ward.claim) == DLOCK_CLAIM_HELD, "renewed without a minority");
	check(release(&c, ward.claim) == DLOCK_OK, "it is released");
	server_thaw(&servers[2]);
	client_settle(&c);
	check(eventually_nobody(&servers[2], "minority"), "nothing is left");
	sleep_ms(100);
	check(has_nobody(&servers[2], "minority"), "the key does not come back");
	dlock_claim_free(ward.claim);
	client_free(&c);
}

static void reset(void)
{
	reset_knowing(servers, SERVERS);
}

static void begin(void)
{
	servers_start(servers, SERVERS);
	atexit(dlock_renewal_shutdown);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(repair), TEST(extended_after_repair), TEST(repair_raises_fence), TEST(repair_of_several),
		TEST(lapsed_unseen), TEST(repair_under_way),
		TEST(released_elsewhere), TEST(repair_read_late), TEST(repair_thread_held_up), TEST(frozen_minority),
	};
	static const tap_setting setting = { begin, reset };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

/* The thread that renews leases, against real servers: what it keeps, what it does not, what it says of a loss, and what it
 * leaves behind. Prints TAP. renewal_test [word in the names of the tests to run] */

#include <dirent.h>
#include <signal.h>
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

static test_server servers[SERVERS], *const server = &servers[0];

/* ---- while all is well ---- */

enum { KEPT_TTL = 1500 };

/* A process beside all other tests, with a server that nobody freezes. */
typedef struct {
	_Atomic int end;
	int good, losses;
	long ttls, overreach;
} keeping;

static keeping *kept;
static pid_t keeper;

static void keep(test_server *server)
{
	client c = client_of(server, READ_TIMEOUT);
	dlock_nanos since = dlock_now();
	ward ward;

	ward_begin(&ward, &c, "kept", KEPT_TTL, 0, RENEW_AND_TELL(&ward));
	kept->good = 1;
	while (!atomic_load(&kept->end) || kept->ttls < 3) {
		long overreach = overreach_ms(server, ward.claim);
		kept->overreach = overreach > kept->overreach ? overreach : kept->overreach;
		kept->good &= look(ward.claim) == DLOCK_CLAIM_HELD && has(server, ward.claim) && dlock_renewal_is_endless(ward.claim);
		kept->ttls = (long) ((dlock_now() - since) / (KEPT_TTL * DLOCK_MS));
		sleep_ms(50);
	}
	kept->good &= let_go(&c, ward.claim) && has_nobody(server, "kept");
	kept->losses = ward.losses;
	dlock_renewal_shutdown();
	_exit(0);
}

static void begin_kept(void)
{
	static test_server quiet;

	server_start(&quiet, NULL);
	redisFree(quiet.admin); /* the child's is another */
	quiet.admin = NULL;
	kept = shared_memory(sizeof *kept);
	keeper = fork_child();
	if (keeper == 0) {
		keep(&quiet);
	}
}

static void end_kept(void)
{
	atomic_store(&kept->end, 1);
	check(exit_of(keeper) == 0 && kept->good, "kept for %ld lease times, without limit, and released", kept->ttls);
	check(kept->overreach <= 0, "never longer here than there (%ld ms)", kept->overreach);
	check(kept->losses == 0, "and no loss is told");
}

/* What is not to be renewed runs out. */
static void test_not_kept(void)
{
	client c = client_of(server, READ_TIMEOUT);
	ward stopped, ended, released, limited;
	unsigned long before = renewals();

	ward_begin(&stopped, &c, "stopped", 900, 0, RENEW_AND_TELL(&stopped));
	dlock_renewal_stop(stopped.claim);
	check(!dlock_renewal_is_endless(stopped.claim), "stopped");
	ward_begin(&ended, &c, "ended", 900, 0, RENEW_AND_TELL(&ended));
	dlock_renewal_end(ended.claim, false);
	ward_begin(&limited, &c, "limited", 900, 0,
		(dlock_upkeep) { .renew = true, .most = 1200 * DLOCK_MS, .lost = count_loss, .context = &limited });
	check(!dlock_renewal_is_endless(limited.claim), "kept, but not without limit");
	ward_begin(&released, &c, "released", 900, 300, RENEW_AND_TELL(&released));
	check(let_go(&c, released.claim), "released before its first renewal");
	check(renewed_since(before, 2) && has(server, limited.claim), "one of them is renewed");
	check(eventually_nobody(server, "ended") && look(ended.claim) == DLOCK_CLAIM_LOST && ended.losses == 0,
		"what was ended runs out, and nobody is told");
	check(eventually_lost(&stopped) && eventually_nobody(server, "stopped"), "what was stopped runs out, and its holder is told");
	check(eventually_lost(&limited) && eventually_nobody(server, "limited"), "what has a limit runs out behind that");
	sleep_ms(100);
	check(stopped.losses == 1 && limited.losses == 1 && ended.losses == 0 && released.losses == 0, "told once");
	check(has_nobody(server, "released"), "what was released stays released");
	dlock_claim_free(stopped.claim);
	dlock_claim_free(ended.claim);
	dlock_claim_free(limited.claim);
	client_free(&c);
}

/* ---- losses ---- */

static bool is_found_over(void *claim)
{
	return atomic_load(&((dlock_claim *) claim)->deadline) == DLOCK_OVER;
}

static void test_lost_key(void)
{
	client c = client_of(server, READ_TIMEOUT);
	ward deleted, taken, untold, asked;

	ward_begin(&deleted, &c, "deleted", 60000, 2400, RENEW_AND_TELL(&deleted));
	ward_begin(&taken, &c, "taken", 60000, 2400, RENEW_AND_TELL(&taken));
	ward_begin(&untold, &c, "untold", 60000, 2400, RENEW);
	ward_begin(&asked, &c, "asked", 60000, 0, RENEW_AND_TELL(&asked));
	dlock_nanos deadline = deleted.claim->deadline;
	server_do(server, "DEL " PREFIX "deleted " PREFIX "untold " PREFIX "asked");
	server_do(server, "SET " PREFIX "taken other PX 60000");
	check(eventually_lost(&deleted) && dlock_now() < deadline && look(deleted.claim) == DLOCK_CLAIM_LOST,
		"a deleted key is a loss, known before the deadline");
	check(eventually_lost(&taken) && look(taken.claim) == DLOCK_CLAIM_LOST, "so is another holder's");
	check(eventually(is_found_over, untold.claim) && look(untold.claim) == DLOCK_CLAIM_LOST, "where nobody is to be told, too");
	check(extend(&c, asked.claim, 60000) == DLOCK_LOST && !asked.claim->renewal, "who asked himself hears of it");
	sleep_ms(300);
	check(deleted.losses == 1 && taken.losses == 1, "told once");
	check(asked.losses == 0, "or not, since he knows");
	check(!strcmp(server_text(server, "GET " PREFIX "taken"), "other") && has_nobody(server, "deleted"), "nothing was set again");
	check(release(&c, deleted.claim) == DLOCK_LOST && release(&c, taken.claim) == DLOCK_LOST, "nothing is left to release");
	dlock_claim_free(deleted.claim);
	dlock_claim_free(taken.claim);
	dlock_claim_free(untold.claim);
	dlock_claim_free(asked.claim);
	client_free(&c);
}

static void test_frozen(void)
{
	client c = client_of(server, READ_TIMEOUT);
	ward ward;
	unsigned long before = dlock_renewal_count().failures;

	ward_begin(&ward, &c, "frozen", 1500, 0, RENEW_AND_TELL(&ward));
	dlock_nanos deadline = ward.claim->deadline;
	server_freeze(server);
	check(eventually_in_state(ward.claim, DLOCK_CLAIM_UNCERTAIN) && dlock_now() < deadline, "out of touch: uncertain at first");
	check(ward.losses == 0 && ward.claim->deadline == deadline, "no loss yet, and no more time");
	check(eventually_lost(&ward) && dlock_now() >= deadline && look(ward.claim) == DLOCK_CLAIM_LOST, "lost at the deadline");
	check(dlock_renewal_count().failures > before, "failures are counted");
	server_thaw(server);
	sleep_ms(200);
	check(look(ward.claim) == DLOCK_CLAIM_LOST && ward.losses == 1, "once, and for good");
	dlock_claim_free(ward.claim);
	client_free(&c);
}

static void test_back_in_time(void)
{
	client c = client_of(server, READ_TIMEOUT);
	ward ward;

	ward_begin(&ward, &c, "back", 4000, 0, RENEW_AND_TELL(&ward));
	server_freeze(server);
	check(eventually_in_state(ward.claim, DLOCK_CLAIM_UNCERTAIN), "out of touch");
	server_thaw(server);
	check(eventually_in_state(ward.claim, DLOCK_CLAIM_HELD) && ward.losses == 0, "the server comes back in time: held");
	check(left_ms(ward.claim) > 2000 && overreach_ms(server, ward.claim) <= 0, "for the time that it has there");
	check(let_go(&c, ward.claim), "and released");
	client_free(&c);
}

/* An answer that comes behind the deadline. Its call is not given up yet, since a lease of 8 s has the patience for it. */
static void test_late_answer(void)
{
	client c = client_of(server, READ_TIMEOUT);
	ward told, unseen;

	ward_begin(&told, &c, "told", 8000, 600, RENEW_AND_TELL(&told));
	ward_begin(&unseen, &c, "unseen", 8000, 600, RENEW);
	unsigned long before = renewals();
	server_freeze(server);
	check(eventually_lost(&told), "a deadline passes with a renewal under way");
	dlock_nanos over = atomic_load(&unseen.claim->deadline);
	while (dlock_now() < over) {
		sleep_ms(5);
	}
	server_thaw(server);
	check(renewed_since(before, 2), "both are answered");
	check(look(told.claim) == DLOCK_CLAIM_LOST && told.losses == 1, "too late, where its holder was told");
	check(look(unseen.claim) == DLOCK_CLAIM_HELD && left_ms(unseen.claim) > 4000, "where nobody asked, it went on");
	check(overreach_ms(server, unseen.claim) <= 0, "for the time that it has there");
	check(release(&c, told.claim) == DLOCK_LOST && eventually_nobody(server, "told"), "the release of what was lost leaves nothing");
	dlock_claim_free(told.claim);
	check(let_go(&c, unseen.claim), "and the other is released");
	client_free(&c);
}

/* ---- the holder asks for another lease time ---- */

static bool is_stopped(void *context)
{
	return atomic_load(&((relay *) context)->stopped) > 0;
}

static bool has_executed_three(void *context)
{
	(void) context;
	return server_info(server, "commandstats", "cmdstat_evalsha:calls") >= 3;
}

/* With a renewal under way, which the server executes behind that, and answers. */
static void test_changed_while_renewing(void)
{
	static const int times[][2] = { { 3000, 60000 }, { 20000, 1500 } };

	for (int i = 0; i < 2; i++) {
		int before_ms = times[i][0], after_ms = times[i][1];
		char dsn[64];
		ward ward;
		relay relay;
		relay_start(&relay, server->port);
		snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d", relay.port);
		client c = client_at(dsn);
		server_do(server, "CONFIG RESETSTAT");
		atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_RENEW].sha1);
		ward_begin(&ward, &c, "changed", before_ms, 1500, RENEW);
		check(eventually(is_stopped, &relay), "%d ms: a renewal is under way", before_ms);
		check(extend(&c, ward.claim, after_ms) == DLOCK_OK, "%d ms are asked for", after_ms);
		atomic_store(&relay.stop, NULL);
		check(eventually(has_executed_three, NULL), "all is executed");
		sleep_ms(100);
		check(overreach_ms(server, ward.claim) <= 0, "the deadline is not later than the server's (%ld ms)",
			overreach_ms(server, ward.claim));
		check(left_ms(ward.claim) <= after_ms && left_ms(ward.claim) > 0, "it is the one asked for");
		check(let_go(&c, ward.claim), "released");
		client_free(&c);
		relay_end(&relay);
	}
}

/* A shorter time was asked for without an answer, and is executed behind a renewal: the holder's connection is accepted last. */
static void test_shorter_unanswered(void)
{
	client c = client_of(server, 600 * DLOCK_MS);
	ward ward;

	unsigned long before = renewals();
	ward_begin(&ward, &c, "shorter", 60000, 1500, RENEW_AND_TELL(&ward));
	check(renewed_since(before, 1) && left_ms(ward.claim) > 50000, "renewed");
	server_freeze(server);
	dlock_conn_close(client_conn(&c, 0));
	check(extend(&c, ward.claim, 3000) == DLOCK_CONNECTION && left_ms(ward.claim) <= 3000, "no answer: the shorter time is believed");
	before = renewals();
	sleep_ms(1100); /* the next attempt to renew is on its way */
	server_thaw(server);
	check(renewed_since(before, 1), "renewed again");
	sleep_ms(100);
	check(overreach_ms(server, ward.claim) <= 0, "for no longer than the server may have it (%ld ms)", overreach_ms(server, ward.claim));
	check(look(ward.claim) == DLOCK_CLAIM_HELD && ward.losses == 0, "and held");
	check(extend(&c, ward.claim, 60000) == DLOCK_OK && left_ms(ward.claim) <= 3000 && left_ms(ward.claim) > 0,
		"nor, since that request may come behind it, when a longer one is answered (%ld ms)", left_ms(ward.claim));
	check(let_go(&c, ward.claim), "released");
	client_free(&c);
}

/* A lock that was handed over lasts for the grant only, until its new holder has asked for more. */
typedef struct {
	client client;
	dlock_claim *claim;
	dlock_status status;
} waiter;

static void *wait_for_lock(void *context)
{
	waiter *waiter = context;

	waiter->status = acquire(&waiter->client, waiter->claim, 10000);
	return NULL;
}

static bool is_queued(void *resource)
{
	return server_integer(server, "ZCARD dlock:queue:{" PREFIX "%s}", (const char *) resource) == 1;
}

static bool has_much_left(void *claim)
{
	return atomic_load(&((dlock_claim *) claim)->deadline) > dlock_now() + 30 * DLOCK_SECOND;
}

static void test_grant(void)
{
	client c = client_of(server, READ_TIMEOUT);
	waiter second = { .client = client_of(server, READ_TIMEOUT) };
	dlock_claim *first = claim_on(&c, "grant", 60000);
	pthread_t thread;

	second.claim = claim_on(&second.client, "grant", 60000);
	check(acquire(&c, first, 0) == DLOCK_OK, "held");
	pthread_create(&thread, NULL, wait_for_lock, &second);
	check(eventually(is_queued, "grant") && let_go(&c, first), "given back while somebody waits");
	pthread_join(thread, NULL);
	dlock_nanos granted = second.claim->deadline;
	check(second.status == DLOCK_OK && second.claim->received && granted < dlock_now() + DLOCK_GRANT_TTL, "handed over, for a short time");
	check(dlock_renewal_begin(second.claim, &RENEW, &second.client.error) == DLOCK_OK && eventually(has_much_left, second.claim)
		&& dlock_now() < granted, "renewed before that is over");
	check(let_go(&second.client, second.claim), "and released");
	client_free(&c);
	client_free(&second.client);
}

/* ---- several servers ---- */

/* At a third of the time that is believed to be left. */
static void make_due(dlock_claim *claim, int left_ms)
{
	dlock_renewal_pause(claim);
	claim->deadline = dlock_now() + left_ms * DLOCK_MS;
	dlock_renewal_resume(claim);
}

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
	ward_begin(&ward, &c, "repair", 60000, 15000, RENEW_AND_TELL(&ward));
	ward_begin(&other, &c, "other", 60000, 15000, RENEW_AND_TELL(&other));
	server_restart(&servers[2]);
	unsigned long before = renewals();
	make_due(ward.claim, 1500);
	make_due(other.claim, 1500);
	server_do(&servers[2], "SET " PREFIX "other somebody PX 60000");
	check(renewed_since(before, 2) && ward.losses == 0, "a minority does not have it");
	check(eventually(has_it, ward.claim), "and is given it");
	check(server_integer(&servers[2], "PTTL " PREFIX "repair") > 30000, "for the full time");
	check(server_integer(&servers[2], "GET " DLOCK_FENCE_KEY) >= ward.claim->fencing_token, "with the fence");
	check(!strcmp(server_text(&servers[2], "GET " PREFIX "other"), "somebody") && other.losses == 0, "what is somebody's there stays so");
	check(let_go(&c, ward.claim) && has_nobody(&servers[0], "repair") && eventually_nobody(&servers[2], "repair"),
		"and released there, too");
	server_do(&servers[0], "DEL " PREFIX "other");
	check(eventually_in_state(other.claim, DLOCK_CLAIM_HELD) && let_go(&c, other.claim) == false, "a majority that lost it is a loss");
	client_free(&c);
}

/* Who asks for more himself asks a server, too, that has been given it since. */
static void test_extended_after_repair(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	ward ward;

	server_kill(&servers[2]);
	ward_begin(&ward, &c, "again", 60000, 1500, RENEW_AND_TELL(&ward));
	server_restart(&servers[2]);
	check(eventually(has_it, ward.claim), "one that did not have it is given it");
	server_kill(&servers[1]);
	server_restart(&servers[1]);
	check(extend(&c, ward.claim, 60000) == DLOCK_OK && look(ward.claim) == DLOCK_CLAIM_HELD && ward.losses == 0,
		"and counts when another one has lost it");
	check(dlock_claim_check(ward.claim, &c.error) == DLOCK_OK && let_go(&c, ward.claim), "for all that is asked");
	client_free(&c);
}

/* A server that was given it before keeps its fence up all the same. */
static void test_repair_raises_fence(void)
{
	server_do(&servers[2], "SET " PREFIX "fence token PX 60000");
	check(server_integer(&servers[2], "EVAL %s 2 " PREFIX "fence " DLOCK_FENCE_KEY " token 1000 77", dlock_scripts[DLOCK_SCRIPT_REPAIR].source) == 1
		&& server_integer(&servers[2], "GET " DLOCK_FENCE_KEY) == 77, "where the key is there");
	check(server_integer(&servers[2], "EVAL %s 2 " PREFIX "fence " DLOCK_FENCE_KEY " other 1000 99", dlock_scripts[DLOCK_SCRIPT_REPAIR].source) == 0
		&& server_integer(&servers[2], "GET " DLOCK_FENCE_KEY) == 77, "not where it is somebody else's");
}

static bool is_gone(void *resource)
{
	return has_nobody(&servers[1], resource);
}

/* A majority of keys that are in place is no proof that the lease went on: an acquire that was late may have set one of them
 * after the others had lapsed. */
static void test_lapsed_unseen(void)
{
	client c;
	relay relays[SERVERS];
	ward ward;
	char text[SERVERS][64];
	const char *dsns[SERVERS];

	for (int i = 0; i < SERVERS; i++) {
		relay_start(&relays[i], servers[i].port);
		snprintf(text[i], sizeof text[i], "redis://127.0.0.1:%d", relays[i].port);
		dsns[i] = text[i];
	}
	c = client_quorum_at(dsns, SERVERS);
	atomic_store(&relays[2].stop, dlock_scripts[DLOCK_SCRIPT_ACQUIRE].sha1);
	atomic_store(&relays[1].stop, dlock_scripts[DLOCK_SCRIPT_RENEW].sha1);
	ward_begin(&ward, &c, "lapsed", 1500, 0, RENEW);
	check(eventually(is_stopped, &relays[2]) && has_nobody(&servers[2], "lapsed"), "held by two of three");
	check(eventually(is_gone, "lapsed") && has(&servers[0], ward.claim), "one of them loses it, while the other is renewed");
	atomic_store(&relays[2].stop, NULL);
	check(eventually(has_it, ward.claim), "the third gets it late: two of three have it again");
	check(eventually_nobody(&servers[0], "lapsed"), "it is not renewed any more");
	check(look(ward.claim) == DLOCK_CLAIM_LOST && left_ms(ward.claim) == 0, "but in between anybody could have had it");
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

/* A repair that is under way when the lease is over sets its key behind the release; so it does where the lease goes on elsewhere, and may be
 * released there. */
static void test_repair_under_way(void)
{
	for (int released = 1; released >= 0; released--) {
		client c;
		relay relay;
		ward ward;
		char text[SERVERS][64];
		const char *dsns[SERVERS];
		server_reset(&servers[2]);
		know_scripts(&servers[2]);
		relay_start(&relay, servers[2].port);
		for (int i = 0; i < SERVERS; i++) {
			snprintf(text[i], sizeof text[i], "redis://127.0.0.1:%d", i == 2 ? relay.port : servers[i].port);
			dsns[i] = text[i];
		}
		c = client_quorum_at(dsns, SERVERS);
		atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_REPAIR].sha1);
		ward_begin(&ward, &c, "under-way", 20000, 1500, RENEW);
		check(eventually(has_everywhere, ward.claim), "held everywhere");
		server_do(&servers[2], "DEL " PREFIX "under-way");
		check(eventually(is_stopped, &relay), "a repair is under way");
		if (released) {
			check(release(&c, ward.claim) == DLOCK_OK && has_nobody(&servers[2], "under-way"), "the lease is released");
		} else {
			dlock_renewal_end(ward.claim, false);
		}
		atomic_store(&relay.stop, NULL);
		check(eventually(has_repair, NULL), "the repair comes through");
		check(eventually_nobody(&servers[2], "under-way"), "and is taken back");
		if (!released) {
			check(has(&servers[0], ward.claim) && has(&servers[1], ward.claim), "where the lease goes on elsewhere, nothing else is");
			release(&c, ward.claim);
		}
		dlock_claim_free(ward.claim);
		client_free(&c);
		relay_end(&relay);
	}
}

/* What the thread does until the round is answered. */
static void finish(dlock_renewer *renewer, dlock_renewal_round *round)
{
	struct pollfd fds[SERVERS];
	dlock_nanos until = dlock_after(dlock_now(), READ_TIMEOUT);

	while (round->ops->collect(round, true) && dlock_now() < until) {
		int count = renewer->ops->poll(renewer, fds, SERVERS);
		if (dlock_wait_poll(fds, count, until, NULL) > 0) {
			renewer->ops->advance(renewer, fds, count);
		}
	}
}

/* The thread may come to read the answer to a repair only when the release, which the server has executed before, has begun. */
static void test_repair_read_late(void)
{
	client c = client_quorum(servers, SERVERS, READ_TIMEOUT);
	dlock_claim *claim = claim_on(&c, "read-late", 20000);

	check(acquire(&c, claim, 5000) == DLOCK_OK && eventually(has_everywhere, claim), "held everywhere");
	dlock_renewal_round *round = claim->backend->ops->new_round(claim);
	const dlock_renewal_round_ops *ops = round->ops;
	dlock_renewer *renewer = ops->renewer->create();
	server_do(&servers[2], "DEL " PREFIX "read-late");
	ops->begin(round, renewer, claim->ttl, true);
	finish(renewer, round);
	check(ops->result(round) == DLOCK_ROUND_KEPT && ops->has_gaps(round), "a server has lost it");
	check(release(&c, claim) == DLOCK_OK, "it is released");
	ops->repair(round, claim->ttl);
	finish(renewer, round);
	check(has(&servers[2], claim) && ops->has_unsettled(round), "a repair that was under way is executed, and answered");
	ops->roll_back(round, claim->ttl, true);
	check(!ops->has_unsettled(round) && eventually_nobody(&servers[2], "read-late"), "and is taken back");
	ops->free(round);
	renewer->ops->destroy(renewer);
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

/* One that there is now, and was not before. */
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

/* Holds up one thread, as a machine under load may, for as long as the child that it returns is there. */
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

/* The same, with the thread itself. */
static void test_repair_thread_held_up(void)
{
	client c;
	relay relay;
	ward ward;
	char text[SERVERS][64];
	const char *dsns[SERVERS];
	pid_t before[MOST_THREADS];

	relay_start(&relay, servers[2].port);
	for (int i = 0; i < SERVERS; i++) {
		snprintf(text[i], sizeof text[i], "redis://127.0.0.1:%d", i == 2 ? relay.port : servers[i].port);
		dsns[i] = text[i];
	}
	c = client_quorum_at(dsns, SERVERS);
	atomic_store(&relay.stop, dlock_scripts[DLOCK_SCRIPT_REPAIR].sha1);
	dlock_renewal_shutdown(); /* the next is a new one */
	int count = list_threads(before);
	ward_begin(&ward, &c, "held-up", 20000, 1500, RENEW);
	pid_t tid = new_thread(before, count);
	check(eventually(has_everywhere, ward.claim), "held everywhere");
	server_do(&servers[2], "DEL " PREFIX "held-up");
	check(eventually(is_stopped, &relay), "a repair is under way");
	pid_t holder = hold_up(tid);
	check(release(&c, ward.claim) == DLOCK_OK && has_nobody(&servers[2], "held-up"), "the lease is released");
	atomic_store(&relay.stop, NULL);
	check(eventually(has_repair, NULL), "the repair comes through");
	sleep_ms(100); /* and its answer */
	check(has(&servers[2], ward.claim), "behind the release");
	kill(holder, SIGKILL);
	exit_of(holder);
	check(eventually_nobody(&servers[2], "held-up"), "the thread reads that after the release, and takes it back");
	dlock_claim_free(ward.claim);
	client_free(&c);
	relay_end(&relay);
}

/* The same with a server that stands still when the lease is released: nothing is left there. */
static void test_frozen_minority(void)
{
	client c = client_quorum(servers, SERVERS, 300 * DLOCK_MS);
	ward ward;
	unsigned long before = renewals();

	ward_begin(&ward, &c, "minority", 20000, 6000, RENEW_AND_TELL(&ward)); /* time for more than one attempt */
	server_freeze(&servers[2]);
	check(renewed_since(before, 1) && look(ward.claim) == DLOCK_CLAIM_HELD, "renewed without a minority");
	check(release(&c, ward.claim) == DLOCK_OK, "and released");
	server_thaw(&servers[2]);
	client_drain(&c);
	check(eventually_nobody(&servers[2], "minority"), "nothing is left");
	sleep_ms(100);
	check(has_nobody(&servers[2], "minority"), "nor comes back");
	dlock_claim_free(ward.claim);
	client_free(&c);
}

/* ---- leases side by side ---- */

/* A server that takes its time is too slow for a short lease, but not for a long one beside that. */
static void test_slow_server(void)
{
	relay relay;
	char dsn[64];

	relay_start(&relay, server->port);
	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d", relay.port);
	client c = client_at(dsn);
	ward hasty, patient;
	ward_begin(&hasty, &c, "hasty", 300, 0, RENEW);
	ward_begin(&patient, &c, "patient", 60000, 1500, RENEW_AND_TELL(&patient));
	unsigned long before = dlock_renewal_count().failures;
	atomic_store(&relay.delay_ms, 120);
	check(failed_since(before, 1), "too slow for a lease of 300 ms");
	check(eventually(has_much_left, patient.claim) && patient.losses == 0, "not for one of 60 s");
	atomic_store(&relay.delay_ms, 0);
	release(&c, hasty.claim);
	dlock_claim_free(hasty.claim);
	check(let_go(&c, patient.claim), "released");
	client_free(&c);
	relay_end(&relay);
}

/* Ended by their holder while the thread reads answers that come behind the time for them. */
static void test_ended_under_late_answers(void)
{
	enum { MANY = 300 };
	static ward wards[MANY];
	client c = client_of(server, READ_TIMEOUT);
	unsigned long before = dlock_renewal_count().failures;

	for (int i = 0; i < MANY; i++) {
		char name[32];
		snprintf(name, sizeof name, "late-%d", i);
		ward_begin(&wards[i], &c, name, 3000, 0, RENEW);
	}
	server_freeze(server);
	check(failed_since(before, MANY), "given up");
	server_thaw(server);
	for (int i = 0; i < MANY; i++) {
		dlock_claim_abandon(wards[i].claim);
		dlock_claim_free(wards[i].claim);
	}
	client_drain(&c);
	check(eventually_nobody(server, "late-0") && eventually_nobody(server, "late-299"), "ended while the answers come");
	client_free(&c);
}

/* By this process so far. */
static long count_writes(void)
{
	char line[64];
	long count = 0;
	FILE *file = fopen("/proc/self/io", "r");

	while (file && fgets(line, sizeof line, file)) {
		sscanf(line, "syscw: %ld", &count);
	}
	if (file) {
		fclose(file);
	}
	return count;
}

/* A thousand leases are a few messages. */
static void test_batches(void)
{
	enum { MANY = 1000 };
	static ward wards[MANY];
	client c = client_of(server, READ_TIMEOUT);
	int held = 0;

	for (int i = 0; i < MANY; i++) {
		char name[32];
		snprintf(name, sizeof name, "many-%d", i);
		ward_begin(&wards[i], &c, name, 60000, 0, RENEW);
	}
	server_do(server, "CONFIG RESETSTAT");
	unsigned long before = renewals();
	long writes = count_writes();
	for (int i = 0; i < MANY; i++) {
		make_due(wards[i].claim, 3000 + i);
	}
	check(renewed_since(before, MANY), "a thousand leases are renewed");
	writes = count_writes() - writes;
	long long reads = server_info(server, "stats", "total_reads_processed");
	/* Among the writes are those to the wakeup, more of them where the machine is busy. */
	check(reads < 50 && writes < 250, "over few messages (%ld sent, %lld received)", writes, reads);
	for (int i = 0; i < MANY; i++) {
		held += left_ms(wards[i].claim) > 30000;
		dlock_claim_abandon(wards[i].claim);
		dlock_claim_free(wards[i].claim);
	}
	check(held == MANY, "each of them (%d)", held);
	client_drain(&c);
	client_free(&c);
}

static void reset(void)
{
	for (int s = 0; s < SERVERS; s++) {
		server_reset(&servers[s]);
		know_scripts(&servers[s]);
	}
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		{ "not kept", test_not_kept }, { "lost key", test_lost_key }, { "frozen", test_frozen },
		{ "back in time", test_back_in_time }, { "late answer", test_late_answer },
		{ "changed while renewing", test_changed_while_renewing }, { "shorter unanswered", test_shorter_unanswered },
		{ "grant", test_grant }, { "repair", test_repair }, { "extended after repair", test_extended_after_repair },
		{ "repair raises fence", test_repair_raises_fence }, { "lapsed unseen", test_lapsed_unseen },
		{ "repair under way", test_repair_under_way }, { "repair read late", test_repair_read_late },
		{ "repair thread held up", test_repair_thread_held_up }, { "frozen minority", test_frozen_minority }, { "slow server", test_slow_server }, { "ended under late answers", test_ended_under_late_answers },
		{ "batches", test_batches },
	};

	signal(SIGPIPE, SIG_IGN); /* as PHP has it */
	dlock_process_init();
	servers_start(servers, SERVERS);
	begin_kept();
	tap_run(tests, sizeof tests / sizeof *tests, argc > 1 ? argv[1] : NULL, reset);
	note("kept");
	end_kept();
	dlock_renewal_shutdown();
	return tap_end();
}

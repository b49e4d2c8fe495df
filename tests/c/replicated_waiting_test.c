/* Waiting for a lock on Redis servers that fail over, attaching to a detached lease, and users without the necessary
 * rights. Prints TAP. */

#include <stdlib.h>
#include <unistd.h>

#include "helpers.h"
#include "pair.h"
#include "tap.h"

static pair servers;

static void begin(void)
{
	pair_start(&servers);
}

static void reset(void)
{
	pair_reset(&servers);
}

static client new_client(void)
{
	return pair_client(&servers, GUARD_OPTION);
}

static dlock_claim *hold(client *c, const char *resource)
{
	dlock_claim *claim = claim_on(c, resource, LEASE);

	check(acquires(c, claim), "%s is held %s", resource, c->error.message);
	return claim;
}

/* ---- handover ---- */

/* The fencing token of the process that waits. */
static _Atomic int64_t *token_of_waiter;

static bool has_waiters(void *count)
{
	return server_integer(servers.master, "ZCARD dlock:queue:{Lock:lock}") == *(int *) count;
}

/* Starts a process that waits for the lock, and releases it at once. */
static pid_t wait_for_lock(void)
{
	int waiters = 1;
	pid_t pid;

	token_of_waiter = shared_memory(sizeof *token_of_waiter);
	pid = fork_child();
	if (pid == 0) {
		client own = new_client();
		dlock_claim *claim = claim_on(&own, "lock", LEASE);
		bool good = acquires(&own, claim);
		fflush(stdout);
		atomic_store(token_of_waiter, claim->fencing_token);
		_exit(good && release(&own, claim) == DLOCK_OK ? 0 : 1);
	}
	check(eventually(has_waiters, &waiters), "a process waits");
	return pid;
}

static bool waits_for_its_guard(void *master)
{
	return guard_end_ms(master) > 0;
}

static void test_release_in_unsettled_epoch(void)
{
	client c = new_client();

	pair_settle(&servers);
	dlock_claim *claim = hold(&c, "lock");
	pid_t pid = wait_for_lock();
	long long since = server_now_ms(servers.master);
	pair_fail_over(&servers);
	check(release(&c, claim) == DLOCK_OK, "released after a promotion (%s)", c.error.message);
	check(eventually(waits_for_its_guard, servers.master) && guard_end_ms(servers.master) - since >= GUARD
			&& !has_ended(pid),
		"the waiter does not acquire it before the epoch is settled");
	check(end_guard(servers.master) && exit_of(pid) == 0, "it does then");
	dlock_claim_free(claim);
	client_free(&c);
}

/* A notification may come from a master that was replaced. */
static void test_push_is_a_hint(void)
{
	client c = new_client();
	char token[64], inbox[128];
	unsigned long long sign, told, number;

	pair_settle(&servers);
	dlock_claim *claim = hold(&c, "lock");
	pid_t pid = wait_for_lock();
	redisReply *queue = redisCommand(servers.master->admin, "ZRANGE dlock:queue:{Lock:lock} 0 0");
	snprintf(token, sizeof token, "%s", queue->element[0]->str);
	freeReplyObject(queue);
	int fields = sscanf(server_text(servers.master, "HGET dlock:waiters:{Lock:lock} %s", token), "%llu %llu %llu %127s",
		&sign, &told, &number, inbox);
	check(fields == 4, "the waiter's entry is read");
	for (int i = 0; i < 3; i++) {
		char message[160];
		snprintf(message, sizeof message, "%s %llu 9000000000000000", token, number + (unsigned) i);
		check(
			server_integer(servers.master, "PUBLISH %s %s", inbox, message) == 1, "the waiter receives a forged grant");
		sleep_ms(100);
	}
	check(!has_ended(pid) && has(servers.master, claim), "it does not rely on the grant");
	check(release(&c, claim) == DLOCK_OK && exit_of(pid) == 0, "it acquires the lock after the release");
	check(*token_of_waiter < 9000000000000000, "its token is the server's");
	dlock_claim_free(claim);
	client_free(&c);
}

/* The waiter is granted the lock and notified, but replicas do not confirm the grant. */
static void test_handed_over_unconfirmed(void)
{
	client c = new_client();

	pair_settle(&servers);
	dlock_claim *claim = hold(&c, "lock");
	pid_t pid = wait_for_lock();
	server_freeze(servers.replica);
	keep_lock_waiters(servers.master, "dlock:waiters:{Lock:lock}");
	check(release(&c, claim) == DLOCK_OK && claim->handed_over, "handed over without replicas");
	sleep_ms(700);
	check(!has_ended(pid), "the waiter does not rely on it");
	server_thaw(servers.replica);
	check(exit_of(pid) == 0, "it acquires the lock when the replica runs again");
	dlock_claim_free(claim);
	client_free(&c);
}

/* ---- attach ---- */

static dlock_claim *detach(client *c, char *token)
{
	dlock_claim *claim = hold(c, "lock");

	strcpy(token, claim->token);
	dlock_claim_free(claim);
	return claim_on(c, "lock", LEASE);
}

static void test_attach(void)
{
	client c = new_client();
	char token[DLOCK_TOKEN_MAX + 1];

	pair_settle(&servers);
	dlock_claim *claim = detach(&c, token);
	check(attach_again(&c, &claim, token) == DLOCK_OK && has(servers.master, claim)
			&& has(servers.replica, claim),
		"attached, and confirmed");
	dlock_claim *again = claim_on(&c, "lock", LEASE);
	check(attach_again(&c, &again, token) == DLOCK_LOST && has(servers.master, claim),
		"a second attach finds nothing");
	dlock_claim_free(again);
	check(let_go(&c, claim), "released");
	client_free(&c);
}

static void test_attach_unsettled(void)
{
	client c = new_client();
	char token[DLOCK_TOKEN_MAX + 1];

	pair_settle(&servers);
	dlock_claim *claim = detach(&c, token);
	long long since = server_now_ms(servers.master);
	pair_fail_over(&servers);
	check(attach_again(&c, &claim, token) == DLOCK_CONNECTION, "in an unsettled epoch it cannot attach: %s",
		c.error.message);
	check(!strcmp(server_text(servers.master, "GET Lock:lock"), token), "the key is unchanged");
	check(guard_end_ms(servers.master) - since >= GUARD && end_guard(servers.master)
			&& attach_again(&c, &claim, token) == DLOCK_OK,
		"it attaches after the guard %s", c.error.message);
	check(let_go(&c, claim), "released");
	client_free(&c);
}

typedef struct {
	const char *token;
} expected;

static bool has_token(void *context)
{
	return !strcmp(server_text(servers.master, "GET Lock:lock"), ((expected *) context)->token);
}

static void test_attach_unconfirmed(void)
{
	client c = new_client();
	char token[DLOCK_TOKEN_MAX + 1];

	pair_settle(&servers);
	dlock_claim *claim = detach(&c, token);
	server_freeze(servers.replica);
	check(dlock_claim_attach(claim, token, &c.error) == DLOCK_CONNECTION, "without replicas it cannot attach: %s",
		c.error.message);
	check(!dlock_claim_is_held(claim), "the lease is not held");
	server_thaw(servers.replica);
	client_settle(&c);
	check(eventually(has_token, &(expected) { token }), "it is rolled back");
	dlock_claim_free(claim);
	claim = claim_on(&c, "lock", LEASE);
	check(pair_is_in_step(&servers) && attach_again(&c, &claim, token) == DLOCK_OK,
		"the next attempt succeeds (%s)", c.error.message);
	check(let_go(&c, claim), "released");
	client_free(&c);
}

/* ---- users ---- */

static void test_users(void)
{
	static const char *const forbidden[] = { "info", "wait" };

	pair_settle(&servers);
	for (int i = 0; i < 2; i++) {
		char options[96], dsn[160];
		server_do(servers.master, "ACL SETUSER app%d on >" SECRET " ~* &* +@all -%s", i, forbidden[i]);
		snprintf(options, sizeof options, "replicas=1&" GUARD_OPTION);
		snprintf(dsn, sizeof dsn, "redis://app%d:" SECRET "@127.0.0.1:%d?%s", i, servers.endpoint.port, options);
		client c = client_replicated_at(dsn);
		dlock_claim *claim = claim_on(&c, "lock", LEASE);
		dlock_nanos start = dlock_now();
		dlock_status status = acquire(&c, claim, LONG_WAIT);
		check(status == DLOCK_CONNECTION || status == DLOCK_FAILED,
			"without the right to call %s no lock is granted (%d)", forbidden[i], status);
		check(strcasestr(c.error.message, forbidden[i]) && !strstr(c.error.message, SECRET),
			"the message names the command: %s", c.error.message);
		check(dlock_now() - start < SOON, "at once");
		client_settle(&c);
		check(eventually_nobody(servers.master, "lock"), "the attempt leaves nothing");
		dlock_claim_free(claim);
		client_free(&c);
		server_do(servers.master, "ACL DELUSER app%d", i);
	}
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(release_in_unsettled_epoch),
		TEST(push_is_a_hint),
		TEST(handed_over_unconfirmed),
		TEST(attach),
		TEST(attach_unsettled),
		TEST(attach_unconfirmed),
		TEST(users),
	};
	static const tap_setting setting = { begin, reset };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

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
	return pair_client(&servers, "guard=" GUARD_TEXT "&read_timeout=0.4");
}

static dlock_claim *hold(client *c, const char *resource, int ttl_ms)
{
	dlock_claim *claim = claim_on(c, resource, ttl_ms);
	dlock_status status = acquire(c, claim, 2000);

	check(status == DLOCK_OK, "%s is held %s", resource, c->error.message);
	return claim;
}

/* ---- handover ---- */

typedef struct {
	_Atomic int served;
	int order[8], status[8], received[8];
	int64_t tokens[8];
	dlock_nanos at[8];
} results;

static results *shared;

static bool has_waiters(void *count)
{
	return server_integer(servers.master, "ZCARD dlock:queue:{Lock:lock}") == *(int *) count;
}

/* Starts a process that waits for the lock, and releases it at once. */
static pid_t wait_for_lock(int number)
{
	int before = (int) server_integer(servers.master, "ZCARD dlock:queue:{Lock:lock}") + 1;
	pid_t pid = fork_child();

	if (pid == 0) {
		client own = new_client();
		dlock_claim *claim = claim_on(&own, "lock", LEASE);
		int status = acquire(&own, claim, 8000);
		int place = atomic_fetch_add(&shared->served, 1);
		shared->order[place] = number;
		shared->status[number] = status;
		shared->received[number] = claim->received;
		shared->tokens[number] = claim->fencing_token;
		shared->at[number] = dlock_now();
		_exit(status == DLOCK_OK && release(&own, claim) == DLOCK_OK ? 0 : 1);
	}
	check(eventually(has_waiters, &before), "%d waits", number);
	return pid;
}

static void test_release_in_unsettled_epoch(void)
{
	client c = new_client();

	pair_settle(&servers);
	shared = shared_memory(sizeof *shared);
	dlock_claim *claim = hold(&c, "lock", 4000);
	pid_t pid = wait_for_lock(0);
	dlock_nanos start = dlock_now();
	pair_fail_over(&servers);
	check(release(&c, claim) == DLOCK_OK, "released after a promotion (%s)", c.error.message);
	int status = exit_of(pid);
	long took = (long) ((shared->at[0] - start) / DLOCK_MS);
	check(status == 0 && took >= GUARD, "the waiter acquires it when the epoch is settled (%d, %ld ms)", status, took);
	check(took < SOON / DLOCK_MS, "soon after that (%ld ms)", took);
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
	shared = shared_memory(sizeof *shared);
	dlock_claim *claim = hold(&c, "lock", 60000);
	pid_t pid = wait_for_lock(0);
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
	check(shared->tokens[0] < 9000000000000000, "its token is the server's");
	dlock_claim_free(claim);
	client_free(&c);
}

/* The waiter is granted the lock and notified, but replicas do not confirm the grant. */
static void test_handed_over_unconfirmed(void)
{
	client c = new_client();

	pair_settle(&servers);
	shared = shared_memory(sizeof *shared);
	dlock_claim *claim = hold(&c, "lock", 60000);
	pid_t pid = wait_for_lock(0);
	server_freeze(servers.replica);
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
	dlock_claim *claim = hold(c, "lock", 60000);

	strcpy(token, claim->token);
	dlock_claim_free(claim);
	return claim_on(c, "lock", 60000);
}

static void test_attach(void)
{
	client c = new_client();
	char token[DLOCK_TOKEN_MAX + 1];

	pair_settle(&servers);
	dlock_claim *claim = detach(&c, token);
	check(dlock_claim_attach(claim, token, &c.error) == DLOCK_OK && has(servers.master, claim)
			&& has(servers.replica, claim),
		"attached, and confirmed");
	dlock_claim *again = claim_on(&c, "lock", 60000);
	check(dlock_claim_attach(again, token, &c.error) == DLOCK_LOST && has(servers.master, claim),
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
	pair_fail_over(&servers);
	dlock_nanos start = dlock_now();
	check(dlock_claim_attach(claim, token, &c.error) == DLOCK_CONNECTION, "in an unsettled epoch it cannot attach: %s",
		c.error.message);
	check(!strcmp(server_text(servers.master, "GET Lock:lock"), token), "the key is unchanged");
	dlock_status status;
	do {
		sleep_ms(20);
		dlock_claim_free(claim);
		claim = claim_on(&c, "lock", 60000);
		status = dlock_claim_attach(claim, token, &c.error);
	} while (status == DLOCK_CONNECTION && dlock_now() - start < SOON);
	check(status == DLOCK_OK && dlock_now() - start >= GUARD * DLOCK_MS, "it attaches after the guard (%d, %s)", status,
		c.error.message);
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
	client_drain(&c);
	check(eventually(has_token, &(expected) { token }), "it is rolled back");
	dlock_claim_free(claim);
	claim = claim_on(&c, "lock", 60000);
	check(pair_is_in_step(&servers) && dlock_claim_attach(claim, token, &c.error) == DLOCK_OK,
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
		snprintf(options, sizeof options, "replicas=1&guard=" GUARD_TEXT "&read_timeout=0.4");
		snprintf(dsn, sizeof dsn, "redis://app%d:" SECRET "@127.0.0.1:%d?%s", i, servers.endpoint.port, options);
		client c = client_replicated_at(dsn);
		dlock_claim *claim = claim_on(&c, "lock", LEASE);
		dlock_nanos start = dlock_now();
		dlock_status status = acquire(&c, claim, 60000);
		check(status == DLOCK_CONNECTION || status == DLOCK_FAILED,
			"without the right to call %s no lock is granted (%d)", forbidden[i], status);
		check(strcasestr(c.error.message, forbidden[i]) && !strstr(c.error.message, SECRET),
			"the message names the command: %s", c.error.message);
		check(dlock_now() - start < SOON, "at once");
		client_drain(&c);
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

/* The back end for Redis servers that fail over, at one stable address: when an epoch grants locks, which answers
 * count, what a holder keeps after a promotion. Prints TAP. */

#include <stdlib.h>

#include "../../src/redis/route/topology.h"
#include "helpers.h"
#include "pair.h"
#include "tap.h"
#include "upkeep.h"

static pair servers;
static test_server other_master;

static void begin(void)
{
	pair_start(&servers);
}

static void reset(void)
{
	if (other_master.pid) {
		server_kill(&other_master);
	}
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

/* ---- epochs ---- */

static void test_new_set(void)
{
	client c = pair_client(&servers, SHORT_GUARD_OPTION);
	dlock_nanos start = dlock_now();

	check(is_refused(&c, "new"), "new servers grant no lock at once: %s", c.error.message);
	check(has_nobody(servers.master, "new") && server_integer(servers.master, "EXISTS dlock:queue:{Lock:new}") == 0,
		"the refused attempt leaves nothing");
	check(passes(&c, "new", LONG_WAIT) && dlock_now() - start >= SHORT_GUARD * DLOCK_MS,
		"the first lock is granted after the guard %s", c.error.message);
	check(!is_refused(&c, "other"), "later locks are granted at once");
	client_free(&c);
}

/* After the change `what`, no lock is granted before the guard is over, not even to the token that its key has. */
static void check_epoch(client *c, const char *what, dlock_claim *mine, long long since)
{
	dlock_claim *again = dlock_claim_new(
		c->backend, mine->resource, mine->resource_len, LEASE * DLOCK_MS, mine->token, &c->error);

	check(is_refused(c, "free"), "%s: no lock is granted", what);
	check(acquire(c, again, 0) == DLOCK_TIMEOUT && again->explained, "%s: a claim does not acquire its own key, either",
		what);
	dlock_claim_free(again);
	check(waits_for_guard(c, servers.master, "free", since, GUARD), "%s: a lock is granted after the guard", what);
	dlock_claim_abandon(mine);
	dlock_claim_free(mine);
}

static void test_flush(void)
{
	client c = new_client();

	pair_settle(&servers);
	dlock_claim *mine = hold(&c, "mine");
	long long since = server_now_ms(servers.master);
	server_do(servers.master, "FLUSHALL");
	check_epoch(&c, "FLUSHALL", mine, since);
	client_free(&c);
}

static void test_there_and_back(void)
{
	client c = new_client();

	pair_settle(&servers);
	dlock_claim *mine = hold(&c, "mine");
	long long since = server_now_ms(servers.master);
	server_do(servers.replica, "REPLICAOF NO ONE");
	server_do(servers.master, "REPLICAOF 127.0.0.1 %d", servers.replica->port);
	server_do(servers.master, "REPLICAOF NO ONE");
	server_do(servers.replica, "REPLICAOF 127.0.0.1 %d", servers.master->port);
	pair_is_in_step(&servers);
	check_epoch(&c, "REPLICAOF there and back", mine, since);
	client_free(&c);
}

/* After a failover an endpoint leaves connections to the old master open, which is a replica now. */
static void test_demoted(void)
{
	client c = new_client();

	pair_settle(&servers);
	check(passes(&c, "lock", LONG_WAIT), "connected");
	test_server *old = servers.master;
	server_do(servers.replica, "REPLICAOF NO ONE");
	servers.master = servers.replica;
	servers.replica = old;
	atomic_store(&servers.endpoint.server_port, servers.master->port);
	server_do(old, "REPLICAOF 127.0.0.1 %d", servers.master->port);
	pair_is_in_step(&servers);
	pair_settle(&servers);
	check(passes(&c, "lock", LONG_WAIT), "the client leaves a replica that was the master %s", c.error.message);
	client_free(&c);
}

static void test_guards_differ(void)
{
	client c = new_client(), longer = pair_client(&servers, "guard=100");

	pair_settle(&servers);
	check(passes(&longer, "lock", LONG_WAIT), "a client with another guard has acquired a lock");
	long long since = server_now_ms(servers.master);
	pair_fail_over(&servers);
	check(waits_for_guard(&c, servers.master, "lock", since, 100000), "the other guard counts for all clients");
	client_free(&longer);
	client_free(&c);
}

/* ---- without replicas no answer counts ---- */

static void test_no_replica(void)
{
	client c = new_client();

	pair_settle(&servers);
	check(passes(&c, "lock", LONG_WAIT), "it works");
	dlock_claim *held = hold(&c, "held");
	dlock_nanos deadline = held->deadline;
	server_freeze(servers.replica);
	dlock_claim *claim = claim_on(&c, "lock", LEASE);
	check(extend(&c, held, LEASE) == DLOCK_CONNECTION && held->deadline <= deadline, "a refresh fails: %s",
		c.error.message);
	check(acquire(&c, claim, 300) == DLOCK_CONNECTION, "no lock: %s", c.error.message);
	check(strstr(c.error.message, "0 replicas acknowledged") != NULL, "the message says why");
	dlock_claim_free(claim);
	server_thaw(servers.replica);
	client_settle(&c);
	check(pair_is_in_step(&servers) && eventually_nobody(servers.master, "lock")
			&& eventually_nobody(servers.replica, "lock"),
		"the refused attempt leaves nothing");
	dlock_claim_abandon(held);
	dlock_claim_free(held);
	client_free(&c);
}

static void test_no_replica_renewed(void)
{
	client c = new_client();
	ward ward;

	pair_settle(&servers);
	ward_begin(&ward, &c, "lock", LEASE, 0, RENEW_AND_TELL(&ward));
	unsigned long before = renewals();
	renew_now(ward.claim);
	check(renewed_since(before, 1) && eventually_in_state(ward.claim, DLOCK_CLAIM_HELD), "it is renewed");
	server_freeze(servers.replica);
	renew_now(ward.claim);
	check(eventually_in_state(ward.claim, DLOCK_CLAIM_UNCERTAIN), "without confirmation it is uncertain");
	dlock_nanos deadline = atomic_load(&ward.claim->deadline);
	before = dlock_renewal_count().failures;
	renew_now(ward.claim);
	check(failed_since(before, 1) && atomic_load(&ward.claim->deadline) == deadline && ward.losses == 0,
		"its lease gets no longer");
	let_expire(ward.claim);
	check(eventually_lost(&ward), "it expires by the clock");
	server_thaw(servers.replica);
	check(look(ward.claim) == DLOCK_CLAIM_LOST, "it stays lost when the replica runs again");
	dlock_claim_abandon(ward.claim);
	dlock_claim_free(ward.claim);
	client_free(&c);
}

/* If the server does not know a script, the client sends the script's text. The WAIT that followed the script's name
 * then confirms nothing. */
static void test_unknown_script(void)
{
	client c = new_client();

	pair_settle(&servers);
	server_do(servers.master, "SCRIPT FLUSH");
	check(passes(&c, "lock", LONG_WAIT), "an unknown script is sent as text, and confirmed");
	server_do(servers.master, "SCRIPT FLUSH");
	client_settle(&c);
	pair_is_in_step(&servers); /* so that the replica has confirmed all earlier writes */
	server_freeze(servers.replica);
	dlock_claim *claim = claim_on(&c, "lock", LEASE);
	check(acquire(&c, claim, 0) == DLOCK_CONNECTION, "a WAIT that was sent before the text does not count (%s)",
		c.error.message);
	dlock_claim_free(claim);
	server_thaw(servers.replica);
	client_free(&c);
}

static bool is_granted(void *resource)
{
	return !has_nobody(servers.master, resource);
}

static void *cut_later(void *unused)
{
	(void) unused;
	eventually(is_granted, "lock");
	atomic_store(&servers.endpoint.cut, 1);
	return NULL;
}

/* The connection breaks between the script's answer and that of WAIT. */
static void test_broken_between(void)
{
	client c = new_client();
	pthread_t thread;

	pair_settle(&servers);
	check(passes(&c, "lock", LONG_WAIT), "connected");
	server_freeze(servers.replica);
	pthread_create(&thread, NULL, cut_later, NULL);
	dlock_claim *claim = claim_on(&c, "lock", LEASE);
	check(acquire(&c, claim, 0) == DLOCK_CONNECTION,
		"a connection that breaks before the answer to WAIT is an error: %s", c.error.message);
	pthread_join(thread, NULL);
	dlock_claim_free(claim);
	server_thaw(servers.replica);
	client_settle(&c);
	check(pair_is_in_step(&servers) && eventually_nobody(servers.master, "lock"), "the failed attempt leaves nothing");
	client_free(&c);
}

/* ---- a replica that comes back from another master ---- */

static bool is_up(void *replica)
{
	return strstr(server_text(replica, "INFO replication"), "master_link_status:up") != NULL;
}

/* A Sentinel does this if it takes another server for the master. */
static void move_replica_away(void)
{
	if (other_master.port) {
		server_restart(&other_master);
	} else {
		server_start(&other_master, pair_options);
	}
	server_do(servers.replica, "REPLICAOF 127.0.0.1 %d", other_master.port);
	eventually(is_up, servers.replica);
}

static void move_replica_back(void)
{
	server_do(servers.replica, "REPLICAOF 127.0.0.1 %d", servers.master->port);
}

static client careless_client(void)
{
	return pair_client(&servers, GUARD_OPTION "&resync_guard=0");
}

static void test_moved_back(void)
{
	client c = new_client(), careless = careless_client();

	pair_settle(&servers);
	check(passes(&c, "lock", LONG_WAIT), "it works");
	move_replica_away();
	long long since = server_now_ms(servers.master);
	move_replica_back();
	pair_is_in_step(&servers);
	check(passes(&careless, "lock", LONG_WAIT), "without the resync guard, a lock is granted");
	check(is_refused(&c, "lock") && has_nobody(servers.master, "lock"),
		"with it, none is granted, and the attempt leaves nothing: %s", c.error.message);
	check(is_refused(&careless, "lock"), "then no client acquires one");
	check(waits_for_guard(&c, servers.master, "lock", since, GUARD), "a lock is granted after the guard");
	check(!is_refused(&c, "other"), "later locks are granted at once");
	client_free(&careless);
	client_free(&c);
}

/* ---- epochs that settle at once ---- */

/* Waits until both servers have been up for longer than the guard. */
static void grow_old(void)
{
	while (server_info(servers.master, "server", "uptime_in_seconds") < SHORT_GUARD / 1000 + 2
		|| server_info(servers.replica, "server", "uptime_in_seconds") < SHORT_GUARD / 1000 + 2) {
		sleep_ms(100);
	}
}

/* The DSN's number of nodes decides how many nodes must have followed no other master. */
static client client_among(int nodes)
{
	return pair_client(&servers, nodes == 2 ? SHORT_GUARD_OPTION "&nodes=2" : SHORT_GUARD_OPTION "&nodes=3");
}

static void check_promotion(int nodes, int skew, bool at_once, const char *what)
{
	client c = client_among(nodes);

	grow_old();
	settle_known_epoch(servers.master, SHORT_GUARD, 1, skew);
	pair_is_in_step(&servers);
	dlock_claim *held = hold(&c, "held");
	check(overreach_ms(servers.master, held) < -900, "a key lasts longer than its lease");
	long long since = server_now_ms(servers.master);
	pair_fail_over(&servers);
	if (at_once) {
		check(passes_at_once(&c, servers.master, "lock"), "%s", what);
	} else {
		check(is_refused(&c, "lock") && guard_end_ms(servers.master) - since >= SHORT_GUARD, "%s", what);
	}
	check(has(servers.master, held), "the held lock stays");
	dlock_claim_abandon(held);
	dlock_claim_free(held);
	client_free(&c);
}

static void test_promoted(void)
{
	check_promotion(2, 0, true, "one of two nodes has all writes: at once");
	check_promotion(3, 0, true, "two of three have all writes: at once");
	check_promotion(2, 1001, false, "clocks are too far apart: after the guard");
}

/* A replica that followed another master comes back by a full resynchronization. */
static void check_copy(int nodes, bool granted, const char *what)
{
	client c = client_among(nodes);

	grow_old();
	settle_known_epoch(servers.master, SHORT_GUARD, 1, 0);
	check(passes(&c, "lock", LONG_WAIT), "it works");
	move_replica_away();
	move_replica_back();
	pair_is_in_step(&servers);
	check(granted ? passes_at_once(&c, servers.master, "lock") : is_refused(&c, "lock"), "%s: %s", what,
		c.error.message);
	client_free(&c);
}

static void test_copied(void)
{
	check_copy(2, true, "the master alone has all writes: granted");
	check_copy(3, false, "the replica may have confirmed locks of another master: not granted");
}

/* ---- the last check of a grant ---- */

/* A replica has attached since the base of the epoch. So the client doubts each grant, and lets the nodes prove that
 * nothing is missing. Then it checks the lock once more, by a script sent as text. */
static client doubting_client(void)
{
	client c = client_among(2);

	grow_old();
	settle_known_epoch(servers.master, SHORT_GUARD, 1, 0);
	check(passes(&c, "lock", LONG_WAIT), "connected, and the server knows the scripts");
	server_do(servers.master, "CLIENT KILL TYPE replica");
	eventually(is_up, servers.replica);
	pair_is_in_step(&servers);
	return c;
}

/* What a thread does while the client acquires a lock. It returns when the client has come so far, or gives up. */
typedef struct {
	bool (*has_come)(void *relay);
	void (*act)(void);
	_Atomic bool over, acted;
} meanwhile;

static void *watch(void *context)
{
	meanwhile *own = context;

	while (!atomic_load(&own->over) && !own->has_come(&servers.endpoint)) {
		sleep_ms(1);
	}
	if (!atomic_load(&own->over)) {
		own->act();
		atomic_store(&own->acted, true);
	}
	return NULL;
}

/* Acquires the lock by a doubting client. False: it did not come so far, because something stood still. */
static bool acquires_meanwhile(client *c, dlock_claim *claim, meanwhile *meanwhile, dlock_status *status)
{
	pthread_t thread;

	pthread_create(&thread, NULL, watch, meanwhile);
	*status = acquire(c, claim, 0);
	atomic_store(&meanwhile->over, true);
	pthread_join(thread, NULL);
	return meanwhile->acted;
}

static void take_away(void)
{
	server_do(servers.master, "SET Lock:doubted somebody");
	atomic_store(&servers.endpoint.stop, NULL);
}

/* The nodes prove that the master has all leases. The client must still ask whether it has this one. */
static void test_gone_while_proved(void)
{
	bool acted = false;

	for (int i = 0; i < MOST_CALLS && !acted; i++) {
		client c = doubting_client();
		dlock_claim *claim = claim_on(&c, "doubted", LEASE);
		dlock_status status;
		atomic_store(&servers.endpoint.stop, dlock_scripts[DLOCK_SCRIPT_SETTLE_NOW].sha1);
		acted = acquires_meanwhile(&c, claim, &(meanwhile) { .has_come = is_stopped, .act = take_away }, &status);
		check(!acted || status != DLOCK_OK, "a lock that is gone after the nodes' answers is not held (%d): %s", status,
			c.error.message);
		dlock_claim_free(claim);
		client_free(&c);
		atomic_store(&servers.endpoint.stop, NULL);
		reset();
	}
	check(acted, "the nodes were asked");
}

static void lose_answer(void)
{
	atomic_store(&servers.endpoint.swallowed, 0);
}

/* A repeated check could arrive late, and release a lock that another client holds by then. */
static void test_last_look_once(void)
{
	bool acted = false;

	for (int i = 0; i < MOST_CALLS && !acted; i++) {
		client c = doubting_client();
		dlock_claim *claim = claim_on(&c, "doubted", LEASE);
		dlock_status status;
		atomic_store(&servers.endpoint.swallow, dlock_scripts[DLOCK_SCRIPT_UNCHANGED].source);
		acted = acquires_meanwhile(&c, claim, &(meanwhile) { .has_come = has_swallowed, .act = lose_answer }, &status);
		check(!acted || status == DLOCK_CONNECTION, "a last check without an answer is not sent again (%d): %s", status,
			c.error.message);
		client_settle(&c);
		check(eventually_nobody(servers.master, "doubted"), "the client releases the lock");
		dlock_claim_free(claim);
		client_free(&c);
		atomic_store(&servers.endpoint.swallow, NULL);
		reset();
	}
	check(acted, "the last check was sent");
}

/* ---- a replica that comes back while a grant waits for it ---- */

/* The token of the lock that the client acquires, or attaches to, before it does. */
static char former[DLOCK_TOKEN_MAX + 1];

static bool has_changed(void *relay)
{
	(void) relay;
	return strcmp(server_text(servers.master, "GET Lock:meanwhile"), former) != 0;
}

/* The replica comes back after the script has granted the lock, and confirms it. False: not in time. */
static bool moved_back_meanwhile(client *c, dlock_claim *claim, dlock_status *status)
{
	pthread_t thread;
	meanwhile meanwhile = { .has_come = has_changed, .act = move_replica_back };

	move_replica_away();
	pthread_create(&thread, NULL, watch, &meanwhile);
	dlock_nanos since = dlock_now();
	*status = *former ? dlock_claim_attach(claim, former, &c->error) : acquire(c, claim, 0);
	bool in_time = !may_be_held_up(*status, since) || strstr(c->error.message, "no lock is granted");
	atomic_store(&meanwhile.over, true);
	pthread_join(thread, NULL);
	return in_time;
}

static void acquires_moved_back(client (*connect)(void), bool granted)
{
	bool in_time = false;

	*former = '\0';
	for (int i = 0; i < MOST_CALLS && !in_time; i++) {
		client c = connect();
		pair_settle(&servers);
		check(passes(&c, "lock", LONG_WAIT), "connected");
		dlock_claim *claim = claim_on(&c, "meanwhile", LEASE);
		dlock_status status;
		in_time = moved_back_meanwhile(&c, claim, &status);
		if (granted && in_time) {
			check(status == DLOCK_OK, "without the resync guard it is granted: %s", c.error.message);
		} else if (in_time) {
			check(status == DLOCK_TIMEOUT && claim->explained, "it is not granted: %s", c.error.message);
			check(has_nobody(servers.master, "meanwhile"), "the attempt leaves nothing");
		}
		dlock_claim_abandon(claim);
		dlock_claim_free(claim);
		client_free(&c);
		move_replica_back();
		reset();
	}
	check(in_time, "the replica comes back in time");
}

static void test_moved_back_meanwhile(void)
{
	acquires_moved_back(new_client, false);
}

static void test_moved_back_unguarded(void)
{
	acquires_moved_back(careless_client, true);
}

static void test_moved_back_and_attached(void)
{
	bool in_time = false;

	for (int i = 0; i < MOST_CALLS && !in_time; i++) {
		client c = new_client();
		pair_settle(&servers);
		dlock_claim *old = hold(&c, "meanwhile"), *claim = claim_on(&c, "meanwhile", LEASE);
		dlock_status status;
		strcpy(former, old->token);
		in_time = moved_back_meanwhile(&c, claim, &status);
		if (in_time) {
			check(status == DLOCK_CONNECTION && strstr(c.error.message, "no lock is granted"),
				"a claim cannot attach to the lease (%d): %s", status, c.error.message);
			check(has(servers.master, old), "the lease stays as it was");
		}
		dlock_claim_abandon(old);
		dlock_claim_free(old);
		dlock_claim_free(claim);
		client_free(&c);
		move_replica_back();
		reset();
	}
	check(in_time, "the replica comes back in time");
}

/* ---- a holder and its key ---- */

static void test_restored(void)
{
	client c = new_client();

	pair_settle(&servers);
	dlock_claim *claim = hold(&c, "lock");
	int64_t token = claim->fencing_token;
	pair_fail_over(&servers);
	server_do(servers.master, "DEL Lock:lock dlock:fence");
	check(extend_again(&c, claim, LEASE) == DLOCK_OK && look(claim) == DLOCK_CLAIM_HELD,
		"after a promotion without the key the holder keeps its lock (%s)", c.error.message);
	check(has(servers.master, claim) && has(servers.replica, claim), "both servers have the key");
	check(server_integer(servers.master, "GET dlock:fence") >= token, "the fence has its token");
	server_do(servers.master, "SET Lock:lock another");
	check(extend_again(&c, claim, LEASE) == DLOCK_LOST
			&& !strcmp(server_text(servers.master, "GET Lock:lock"), "another"),
		"another client's key is left alone");
	dlock_claim_free(claim);
	client_free(&c);
}

static bool is_set(void *claim)
{
	return has(servers.master, claim);
}

static void test_restored_by_renewal(void)
{
	client c = new_client();
	ward ward, other;

	pair_settle(&servers);
	ward_begin(&ward, &c, "lock", LEASE, 0, RENEW_AND_TELL(&ward));
	ward_begin(&other, &c, "other", LEASE, 0, RENEW_AND_TELL(&other));
	pair_fail_over(&servers);
	server_do(servers.master, "DEL Lock:lock");
	server_do(servers.master, "SET Lock:other another");
	renew_now(other.claim);
	check(eventually_lost(&other) && !strcmp(server_text(servers.master, "GET Lock:other"), "another"),
		"another client's key is not overwritten");
	renew_now(ward.claim);
	check(eventually(is_set, ward.claim) && eventually_in_state(ward.claim, DLOCK_CLAIM_HELD) && ward.losses == 0,
		"its own key is set again");
	check(let_go(&c, ward.claim) && has_nobody(servers.master, "lock"), "its key is released");
	dlock_claim_abandon(other.claim);
	dlock_claim_free(other.claim);
	client_free(&c);
}

static bool is_fenced(void *claim)
{
	return server_integer(servers.master, "GET dlock:fence") >= ((const dlock_claim *) claim)->fencing_token;
}

/* The holder releases the lock while the server has not executed the thread's restore. The restore is undone, also
 * after the holder has begun the upkeep once more. */
static void test_released_before_restore(void)
{
	for (int again = 0; again < 2; again++) {
		client c = new_client();
		ward ward;
		pair_settle(&servers);
		ward_begin(&ward, &c, "lock", LEASE, 0, RENEW);
		pair_fail_over(&servers);
		server_text(servers.master, "SCRIPT LOAD %s", dlock_scripts[DLOCK_SCRIPT_RESTORE].source);
		server_do(servers.master, "DEL Lock:lock dlock:fence");
		atomic_store(&servers.endpoint.stop, dlock_scripts[DLOCK_SCRIPT_RESTORE].sha1);
		renew_now(ward.claim);
		check(eventually(is_stopped, &servers.endpoint), "a restore is under way");
		check(!again || dlock_renewal_begin(ward.claim, &RENEW_AND_TELL(&ward), &c.error) == DLOCK_OK,
			"the upkeep goes on %s", c.error.message);
		server_do(servers.master, "SET Lock:lock %s", ward.claim->token); /* or its release would restore it, too */
		check(release(&c, ward.claim) == DLOCK_OK, "released %s", c.error.message);
		atomic_store(&servers.endpoint.stop, NULL);
		check(eventually(is_fenced, ward.claim), "the server executes the restore");
		check(eventually_nobody(servers.master, "lock"), "%s: it is undone", again ? "begun twice" : "begun once");
		dlock_claim_free(ward.claim);
		client_free(&c);
		pair_reset(&servers);
	}
}

static void test_not_restored(void)
{
	client c = new_client();
	ward ward;

	pair_settle(&servers);
	dlock_claim *claim = hold(&c, "lock");
	server_do(servers.master, "DEL Lock:lock");
	check(extend_again(&c, claim, LEASE) == DLOCK_LOST && has_nobody(servers.master, "lock"),
		"in a settled epoch a lock without its key is lost (%s)", c.error.message);
	dlock_claim_free(claim);
	ward_begin(&ward, &c, "renewed", LEASE, 0, RENEW_AND_TELL(&ward));
	server_do(servers.master, "DEL Lock:renewed");
	renew_now(ward.claim);
	check(eventually_lost(&ward) && has_nobody(servers.master, "renewed"), "the renewal finds the loss, too");
	dlock_claim_abandon(ward.claim);
	dlock_claim_free(ward.claim);
	client_free(&c);
}

static dlock_claim *hold_both(client *c)
{
	static const dlock_name names[] = { { "a", 1 }, { "b", 1 } };
	dlock_claim *claim = dlock_claim_new_of(c->backend, names, 2, LEASE * DLOCK_MS, NULL, &c->error);

	check(acquires(c, claim), "both are held (%s)", c->error.message);
	return claim;
}

/* Two locks at once. If one of them is lost, both are. */
static void test_several(void)
{
	client c = new_client();

	pair_settle(&servers);
	dlock_claim *claim = hold_both(&c);
	pair_fail_over(&servers);
	server_do(servers.master, "DEL Lock:b dlock:fence");
	server_do(servers.master, "LPUSH dlock:fence x");
	check(extend(&c, claim, LEASE) == DLOCK_CONNECTION && has_nobody(servers.master, "b"),
		"if the fencing token cannot be noted, no key is restored (%s)", c.error.message);
	server_do(servers.master, "DEL dlock:fence");
	check(extend_again(&c, claim, LEASE) == DLOCK_OK
			&& !strcmp(server_text(servers.replica, "GET Lock:b"), claim->token)
			&& !strcmp(server_text(servers.replica, "GET Lock:a"), claim->token),
		"after a promotion without one of the keys both are held (%s)", c.error.message);
	check(server_integer(servers.master, "GET dlock:fence") >= claim->fencing_token, "the fence has their token");
	server_do(servers.master, "SET Lock:b another");
	check(extend_again(&c, claim, LEASE) == DLOCK_LOST && !strcmp(server_text(servers.master, "GET Lock:b"), "another"),
		"another client's key is left alone");
	check(eventually_nobody(servers.master, "a"), "the other key is released");
	dlock_claim_free(claim);
	server_do(servers.master, "DEL Lock:b");
	check(is_refused(&c, "other") && end_guard(servers.master), "the epoch settles");
	claim = hold_both(&c);
	server_do(servers.master, "DEL Lock:a");
	check(extend_again(&c, claim, LEASE) == DLOCK_LOST && has_nobody(servers.master, "a"),
		"in a settled epoch both are lost (%s)", c.error.message);
	check(eventually_nobody(servers.master, "b"), "the other key is released");
	dlock_claim_free(claim);
	client_free(&c);
}

/* Without replicas a loss does not count: this may be a master that was replaced. */
static void test_lost_unconfirmed(void)
{
	client c = new_client();
	ward ward;

	pair_settle(&servers);
	dlock_claim *claim = hold(&c, "lock"), *released = hold(&c, "released"), *other = hold(&c, "other");
	ward_begin(&ward, &c, "renewed", LEASE, 0, RENEW_AND_TELL(&ward));
	server_freeze(servers.replica);
	client_hurry(&c, 400);
	server_do(servers.master, "DEL Lock:lock Lock:released Lock:renewed");
	server_do(servers.master, "SET Lock:other another");
	unsigned long before = dlock_renewal_count().failures;
	renew_now(ward.claim);
	check(failed_since(before, 1) && ward.losses == 0 && look(ward.claim) == DLOCK_CLAIM_UNCERTAIN,
		"a renewal that finds no key is uncertain");
	check(extend(&c, claim, LEASE) == DLOCK_CONNECTION && dlock_claim_is_held(claim), "a refresh does not count (%s)",
		c.error.message);
	check(extend(&c, other, LEASE) == DLOCK_CONNECTION && dlock_claim_is_held(other),
		"nor does one that finds another client's key (%s)", c.error.message);
	check(release(&c, released) == DLOCK_CONNECTION, "nor does a release (%s)", c.error.message);
	server_thaw(servers.replica);
	client_hurry(&c, 0);
	check(pair_is_in_step(&servers) && extend_again(&c, claim, LEASE) == DLOCK_LOST
			&& extend_again(&c, other, LEASE) == DLOCK_LOST,
		"with replicas the loss counts");
	renew_now(ward.claim);
	check(eventually_lost(&ward), "the renewal finds the loss, too");
	dlock_claim_abandon(ward.claim);
	dlock_claim_free(ward.claim);
	dlock_claim_free(claim);
	dlock_claim_free(released);
	dlock_claim_free(other);
	client_free(&c);
}

static void test_restore_unconfirmed(void)
{
	client c = new_client();

	pair_settle(&servers);
	dlock_claim *claim = hold(&c, "lock");
	pair_fail_over(&servers);
	server_do(servers.master, "DEL Lock:lock");
	dlock_nanos deadline = claim->deadline;
	server_freeze(servers.replica);
	client_hurry(&c, 400);
	check(extend(&c, claim, LEASE) == DLOCK_CONNECTION && claim->deadline <= deadline,
		"without replicas a restored key does not count (%s)", c.error.message);
	server_thaw(servers.replica);
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	client_free(&c);
}

static void test_release_unknown(void)
{
	client c = new_client();
	dlock_status status;
	dlock_nanos since;
	int calls = 0;

	pair_settle(&servers);
	dlock_claim *late = hold(&c, "late");
	do {
		pair_settle(&servers);
		dlock_claim *claim = hold(&c, "lock");
		pair_fail_over(&servers);
		server_do(servers.master, "DEL Lock:lock Lock:late");
		since = dlock_now();
		status = release(&c, claim);
		check(eventually_nobody(servers.master, "lock"), "it is free");
		dlock_claim_free(claim);
	} while (may_be_held_up(status, since) && ++calls < MOST_CALLS);
	check(status == DLOCK_OK, "a lock that the new master does not know is released (%s)", c.error.message);
	late->deadline = dlock_now();
	check(release(&c, late) == DLOCK_LOST, "it is lost if its lease has expired");
	dlock_claim_free(late);
	client_free(&c);
}

static void *expire_meanwhile(void *claim)
{
	bool stopped = eventually(is_stopped, &servers.endpoint);
	atomic_store(&((dlock_claim *) claim)->deadline, dlock_now());
	atomic_store(&servers.endpoint.stop, NULL);
	return stopped ? NULL : claim;
}

static void test_late_answers(void)
{
	enum { SHORT = 50, LATE = 100 }; /* ms */
	client c = new_client();
	pthread_t thread;
	void *failed;
	dlock_status status;
	dlock_nanos since;
	int calls = 0;

	pair_settle(&servers);
	dlock_claim *claim = hold(&c, "lock"), *late = claim_on(&c, "late", SHORT);
	server_text(servers.master, "SCRIPT LOAD %s", dlock_scripts[DLOCK_SCRIPT_KEEP].source);
	atomic_store(&servers.endpoint.stop, dlock_scripts[DLOCK_SCRIPT_KEEP].sha1);
	pthread_create(&thread, NULL, expire_meanwhile, claim);
	status = extend(&c, claim, LEASE);
	pthread_join(thread, &failed);
	check(!failed && status != DLOCK_OK && look(claim) == DLOCK_CLAIM_LOST,
		"a lease that expires before the answer to its extension stays lost (%d)", status);
	atomic_store(&servers.endpoint.delay_ms, LATE); /* the answers to the script and to WAIT come together or in turn */
	do {
		since = dlock_now();
		status = acquire(&c, late, 4 * LATE);
	} while (may_be_held_up(status, since) && ++calls < MOST_CALLS);
	check(status == DLOCK_TIMEOUT, "an acquire that takes longer than its lease does not count (%d)", status);
	atomic_store(&servers.endpoint.delay_ms, 0);
	client_settle(&c);
	dlock_claim_abandon(claim);
	dlock_claim_free(claim);
	dlock_claim_free(late);
	client_free(&c);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = {
		TEST(new_set),
		TEST(flush),
		TEST(there_and_back),
		TEST(demoted),
		TEST(guards_differ),
		TEST(no_replica),
		TEST(no_replica_renewed),
		TEST(unknown_script),
		TEST(broken_between),
		TEST(moved_back),
		TEST(promoted),
		TEST(copied),
		TEST(gone_while_proved),
		TEST(last_look_once),
		TEST(moved_back_meanwhile),
		TEST(moved_back_unguarded),
		TEST(moved_back_and_attached),
		TEST(restored),
		TEST(restored_by_renewal),
		TEST(released_before_restore),
		TEST(not_restored),
		TEST(several),
		TEST(restore_unconfirmed),
		TEST(lost_unconfirmed),
		TEST(release_unknown),
		TEST(late_answers),
	};
	static const tap_setting setting = { begin, reset };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

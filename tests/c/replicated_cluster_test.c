/* Locks in a Redis Cluster that replicas confirm: in many slots, and in a slot that moves while they are held and
 * renewed. Prints TAP. */

#include <stdlib.h>
#include <unistd.h>

#include "../../src/redis/lock/service.h"
#include "../../src/redis/script/slot.h"
#include "fleet.h"
#include "helpers.h"
#include "pair.h"
#include "tap.h"
#include "upkeep.h"

static cluster nodes;

static void begin(void)
{
	cluster_start(&nodes);
}

static client guarded_client(int replicas, int guard)
{
	client client = { calloc(1, sizeof(dlock_pool)), NULL, { "" } };
	dlock_endpoint *service = cluster_service(&nodes, replicas);

	service->guard = guard * DLOCK_MS;
	client.backend = dlock_lock_new(client.pool, service, PREFIX, strlen(PREFIX), false);
	dlock_endpoint_release(service);
	return client;
}

static client new_client(int replicas)
{
	return guarded_client(replicas, SHORT_GUARD);
}

static int slot_of(const char *resource)
{
	char key[128];

	return dlock_slot_of(key, (size_t) snprintf(key, sizeof key, PREFIX "%s", resource));
}

static test_server *master_of(const char *resource)
{
	return cluster_master(&nodes, slot_of(resource));
}

/* ---- waiting ---- */

static pid_t wait_for(const char *resource)
{
	pid_t pid = fork_child();

	if (pid == 0) {
		client own = new_client(1);
		dlock_claim *claim = claim_on(&own, resource, LEASE);
		dlock_status status = acquire(&own, claim, LONG_WAIT);
		if (status != DLOCK_OK) {
			printf("# %s\n", own.error.message);
			fflush(stdout);
		}
		_exit(status == DLOCK_OK && claim->waited && release(&own, claim) == DLOCK_OK ? 0 : 1);
	}
	return pid;
}

/* Calls the function for each key in the resource's slot that begins so, and returns the sum of what it returns. */
static long long for_keys(
	const char *resource, const char *beginning, long long (*each)(test_server *, const char *key))
{
	test_server *master = master_of(resource);
	redisReply *keys = redisCommand(master->admin, "CLUSTER GETKEYSINSLOT %d 100", slot_of(resource));
	long long sum = 0;

	for (size_t i = 0; keys && i < keys->elements; i++) {
		if (!strncmp(keys->element[i]->str, beginning, strlen(beginning))) {
			sum += each(master, keys->element[i]->str);
		}
	}
	if (keys) {
		freeReplyObject(keys);
	}
	return sum;
}

static long long length(test_server *master, const char *key)
{
	return server_integer(master, "ZCARD %s", key);
}

/* The queue is in the lock's slot, whichever hash tag its key has. */
static bool has_waiter(void *resource)
{
	return for_keys(resource, "dlock:queue:", length) == 1;
}

static long long keep(test_server *master, const char *key)
{
	keep_lock_waiters(master, key);
	return 0;
}

static void test_names(void)
{
	static const char *const names[] = { "plain", "a}b", "x{}y", "{}x", "{t}a", "a{b", "}{", "{{t}}" };
	client c = new_client(1);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		dlock_claim *claim = claim_on(&c, names[i], 60000);
		check(acquires(&c, claim), "%s is held %s", names[i], c.error.message);
		pid_t pid = wait_for(names[i]);
		check(eventually(has_waiter, (void *) names[i]), "a waiter queues for %s", names[i]);
		for_keys(names[i], "dlock:waiters:", keep);
		check(release(&c, claim) == DLOCK_OK && claim->handed_over && exit_of(pid) == 0, "%s is handed over %s",
			names[i], c.error.message);
		dlock_claim_free(claim);
	}
	client_free(&c);
}

/* ---- a slot that moves ---- */

static test_server *another(const test_server *server)
{
	return &nodes.nodes[server == &nodes.nodes[0] ? 1 : 0];
}

static int migrate(int slot, test_server *from, const test_server *to, int most)
{
	redisReply *keys = redisCommand(from->admin, "CLUSTER GETKEYSINSLOT %d %d", slot, most);
	int moved = 0;

	for (size_t i = 0; keys && i < keys->elements; i++) {
		moved += server_do(from, "MIGRATE 127.0.0.1 %d %s 0 30000", to->port, keys->element[i]->str);
	}
	if (keys) {
		freeReplyObject(keys);
	}
	return moved;
}

/* The slot moved so long ago that its epoch settles at the first request. */
static void test_attached_after_move(void)
{
	client c = new_client(1);
	char token[DLOCK_TOKEN_MAX + 1], other[32];
	dlock_claim *claim = claim_on(&c, "detached", 60000);

	check(acquires(&c, claim), "held %s", c.error.message);
	strcpy(token, claim->token);
	dlock_claim_free(claim);
	int slot = slot_of("detached"), i = 0;
	test_server *from = master_of("detached"), *to = another(from);
	check(
		cluster_begin_move(&nodes, slot, to) && migrate(slot, from, to, 100) > 0 && cluster_end_move(&nodes, slot, to),
		"its slot moves");
	do {
		snprintf(other, sizeof other, "other-%d", i++);
	} while (master_of(other) != to);
	check(passes(&c, other, LONG_WAIT), "the master settles %s", c.error.message);
	sleep_ms(2 * SHORT_GUARD);
	claim = claim_on(&c, "detached", 60000);
	check(attach_again(&c, &claim, token) == DLOCK_OK && has(to, claim), "attached at once %s",
		c.error.message);
	check(let_go(&c, claim), "it is released %s", c.error.message);
	client_free(&c);
}

/* ---- long guards ---- */

/* Lets the guards of all epochs be over, and all masters have had their slots for as long. */
static void end_guards(void)
{
	static const char script[]
		= "if redis.call('TYPE', KEYS[1]).ok == 'hash' then\n"
		  "  local state = string.match(redis.call('HGET', KEYS[1], 'state') or '', '^%x+ ')\n"
		  "  return state and redis.call('HSET', KEYS[1], 'state', state .. '1')\n"
		  "end\n"
		  "local id, guard, rest = string.match(redis.call('GET', KEYS[1]), '^(%x+) (%d+) [1-9]%d* (.*)$')\n"
		  "local now = string.format('%.0f', redis.call('TIME')[1] * 1000)\n"
		  "return id and redis.call('SET', KEYS[1], table.concat({id, guard, now, rest}, ' '))";

	for (int i = 0; i < CLUSTER_NODES; i++) {
		test_server *node = &nodes.nodes[i];
		redisReply *keys = strstr(server_text(node, "INFO replication"), "role:master")
			? redisCommand(node->admin, "KEYS dlock:era:*") : NULL;
		for (size_t n = 0; keys && n < keys->elements; n++) {
			server_text(node, "EVAL %s 1 %s", script, keys->element[n]->str);
		}
		if (keys) {
			freeReplyObject(keys);
		}
	}
}

/* Acquires and releases the lock when the guards are over. The slot's epoch may be opened after that of its master's
 * first slot, and wait for a guard of its own. */
static bool passes_after_guards(client *c, const char *resource)
{
	for (int i = 0; i < 3 * MOST_CALLS; i++) {
		if (passes(c, resource, 0)) {
			return true;
		}
		end_guards();
	}
	return false;
}

static long long guard_end(test_server *master, const char *key)
{
	char settles[32] = "";

	if (!strstr(key, ":slots")) {
		sscanf(server_text(master, "GET %s", key), "%*s %*s %31s", settles);
	}
	return *settles == '0' || *settles == '-' ? 0 : atoll(settles);
}

/* Is the lock refused, and does the guard of its slot last for GUARD from `since` on? */
static bool has_to_wait(client *c, const char *resource, long long since)
{
	return is_refused(c, resource) && for_keys(resource, "dlock:era:", guard_end) - since >= GUARD;
}

static bool is_set(void *claim)
{
	return has(master_of(((dlock_claim *) claim)->resource), claim);
}

/* The slot's keys stay at the other master, which does not own the slot. */
static void test_move_given_up(void)
{
	client c = guarded_client(1, GUARD), other = guarded_client(1, GUARD);
	ward ward;

	check(passes_after_guards(&c, "given up"), "the slot is settled %s", c.error.message);
	ward_begin(&ward, &c, "given up", LEASE, 0, RENEW_AND_TELL(&ward));
	int slot = slot_of("given up");
	test_server *from = master_of("given up"), *to = another(from);
	check(cluster_begin_move(&nodes, slot, to) && migrate(slot, from, to, 100) > 0, "its slot begins to move");
	check(server_do(to, "CLUSTER SETSLOT %d STABLE", slot) && server_do(from, "CLUSTER SETSLOT %d STABLE", slot),
		"the move is given up");
	long long since = server_now_ms(from);
	check(has_to_wait(&other, "given up", since), "no other client acquires it: %s", other.error.message);
	renew_now(ward.claim);
	check(eventually(is_set, ward.claim) && eventually_in_state(ward.claim, DLOCK_CLAIM_HELD) && ward.losses == 0,
		"the renewal sets the key again at its owner");
	check(let_go(&c, ward.claim) && passes_after_guards(&other, "given up"),
		"after the release another client acquires it %s", other.error.message);
	client_free(&c);
	client_free(&other);
}

static bool configure(const char *name, const char *value)
{
	bool good = true;

	for (int i = 0; i < CLUSTER_NODES; i++) {
		good &= server_do(&nodes.nodes[i], "CONFIG SET %s %s", name, value);
	}
	return good;
}

/* If no node owns a slot, leases in other slots of its last master are still renewed over that connection. */
static void test_unserved(void)
{
	client c = new_client(1);
	ward unserved, served[8];
	char name[32];
	int slot = slot_of("unserved"), count = 0;
	test_server *master = master_of("unserved");

	ward_begin(&unserved, &c, "unserved", LEASE, 0, RENEW_AND_TELL(&unserved));
	for (int i = 0; count < 8; i++) {
		snprintf(name, sizeof name, "served-%d", i);
		if (master_of(name) == master) {
			ward_begin(&served[count++], &c, name, LEASE, 0, RENEW_AND_TELL(&served[count]));
		}
	}
	check(configure("cluster-require-full-coverage", "no"), "configured");
	unsigned long failures = dlock_renewal_count().failures;
	for (int i = 0; i < CLUSTER_NODES; i++) {
		server_do(&nodes.nodes[i], "CLUSTER DELSLOTS %d", slot);
	}
	request_ttl(unserved.claim, 1000); /* so that the renewal fails soon */
	renew_now(unserved.claim);
	check(failed_since(failures, 1), "no node owns the slot");
	int held = 0;
	for (int i = 0; i < count; i++) {
		unsigned long before = renewals();
		renew_now(served[i].claim);
		held += renewed_since(before, 1) && eventually_in_state(served[i].claim, DLOCK_CLAIM_HELD)
			&& served[i].losses == 0;
	}
	let_expire(unserved.claim);
	check(eventually_lost(&unserved), "its lock is lost");
	check(held == count, "the other locks are held (%d of %d)", held, count);
	check(server_do(master, "CLUSTER ADDSLOTS %d", slot) && eventually(cluster_is_well, &nodes)
			&& configure("cluster-require-full-coverage", "yes"),
		"a node owns the slot again");
	for (int i = 0; i < count; i++) {
		let_go(&c, served[i].claim);
	}
	dlock_claim_free(unserved.claim);
	client_free(&c);
}

static test_server *replica_of(const test_server *master)
{
	test_server *replica = NULL;

	for (int i = 0; i < CLUSTER_NODES; i++) {
		char line[32];
		snprintf(line, sizeof line, "master_port:%d\r", master->port);
		replica = strstr(server_text(&nodes.nodes[i], "INFO replication"), line) ? &nodes.nodes[i] : replica;
	}
	return replica;
}

static bool follows_well(void *replica)
{
	return strstr(server_text(replica, "INFO replication"), "master_link_status:up") != NULL;
}

/* Does a replica confirm a write in the resource's slot? */
static bool is_confirmed(void *resource)
{
	test_server *master = master_of(resource);

	return server_do(master, "SET step{" PREFIX "%s} 1 PX 1", resource) && server_integer(master, "WAIT 1 100") == 1;
}

static bool replicate(test_server *replica, test_server *master)
{
	char id[41];

	snprintf(id, sizeof id, "%s", server_text(master, "CLUSTER MYID"));
	return server_do(replica, "CLUSTER REPLICATE %s", id) && eventually(follows_well, replica);
}

/* Finds a name in another slot of the resource's master. `n`: how many names to leave out; the next call finds a new
 * one. */
static void find_next_beside(char *name, size_t size, const char *resource, int *n)
{
	test_server *master = master_of(resource);

	do {
		snprintf(name, size, "%s-%d", resource, (*n)++);
	} while (master_of(name) != master || slot_of(name) == slot_of(resource));
}

static void find_beside(char *name, size_t size, const char *resource)
{
	int n = 0;

	find_next_beside(name, size, resource, &n);
}

/* Each slot's epoch counts the full resynchronizations of its master. No slot settles with the first slot while that
 * slot's epoch is older than the last of them. */
static void test_full_copy(void)
{
	client c = guarded_client(1, GUARD);
	test_server *master = master_of("copied"), *replica = replica_of(master);
	char another_name[32];

	find_beside(another_name, sizeof another_name, "copied");
	check(passes_after_guards(&c, "copied") && passes_after_guards(&c, another_name),
		"two slots of a master are settled %s", c.error.message);
	long long since = server_now_ms(master);
	check(replica && replicate(replica, another(master)) && replicate(replica, master),
		"its replica is moved away and back");
	eventually(is_confirmed, "copied");
	check(has_to_wait(&c, "copied", since) && has_to_wait(&c, another_name, since), "neither slot grants locks: %s",
		c.error.message);
	check(passes_after_guards(&c, "copied") && passes_after_guards(&c, another_name),
		"both grant locks after the guard %s", c.error.message);
	client_free(&c);
}

/* Does the slot's epoch have its last word: how far the clocks of its master and replicas are apart? */
static long long ends_with_clocks(test_server *master, const char *key)
{
	const char *epoch = strstr(key, ":slots") ? "" : server_text(master, "GET %s", key), *last = strrchr(epoch, ' ');

	return last && last[1];
}

/* A client asks the nodes for them when it settles a new slot. They have half a second to answer: the slot of the
 * resource's master, from name number `n` on, that is settled in time has them. */
static bool notes_clocks(client *c, const char *resource, int *n)
{
	char name[32];

	for (int i = 0; i < MOST_CALLS; i++) {
		find_next_beside(name, sizeof name, resource, n);
		if (!passes(c, name, LONG_WAIT)) {
			return false;
		}
		if (for_keys(name, "dlock:era:", ends_with_clocks) == 1) {
			return true;
		}
		sleep_ms(600); /* the nodes are not asked twice in half a second */
	}
	return false;
}

/* A connection knows the nodes from before a replica attached. It asks them again, because without their clocks the
 * slot would wait for the guard after the next failover. */
static void test_clocks_of_a_new_slot(void)
{
	client c = new_client(1);
	int n = 0;

	check(notes_clocks(&c, "clocks", &n), "the epoch of a slot has the clocks %s", c.error.message);
	test_server *replica = replica_of(master_of("clocks"));
	check(replica && server_do(master_of("clocks"), "CLIENT KILL TYPE replica"), "the replica attaches again");
	eventually(follows_well, replica);
	eventually(is_confirmed, "clocks");
	sleep_ms(600);
	check(notes_clocks(&c, "clocks", &n), "the epoch of another slot has them, too %s", c.error.message);
	client_free(&c);
}

/* Is the slot noted at its master among the slots that have opened an epoch? The first of them keeps that list. */
static bool is_noted(const char *resource)
{
	test_server *master = master_of(resource);
	redisReply *keys = redisCommand(master->admin, "KEYS dlock:era:*:slots");
	bool found = false;

	for (size_t i = 0; keys && i < keys->elements; i++) {
		char server[64];
		snprintf(server, sizeof server, "master_replid:%.40s",
			server_text(master, "HGET %s server", keys->element[i]->str));
		found |= strlen(server) > 50 && strstr(server_text(master, "INFO replication"), server)
			&& server_integer(master, "HEXISTS %s %d", keys->element[i]->str, slot_of(resource)) == 1;
	}
	if (keys) {
		freeReplyObject(keys);
	}
	return found;
}

/* A slot is noted even if it settles at once, as the second slot of a new master does. Otherwise keys that it loses to
 * a move that is given up would not be missed. */
static void test_noted_at_once(void)
{
	client c = new_client(1);
	test_server *master = master_of("noted"), *replica = replica_of(master);
	char beside[32];

	find_beside(beside, sizeof beside, "noted");
	for (int i = 0; i < 2; i++) { /* the second request finds that the master has all leases */
		check(passes(&c, "noted", LONG_WAIT) && passes(&c, beside, LONG_WAIT), "two slots are settled %s",
			c.error.message);
	}
	sleep_ms(SHORT_GUARD + 2000); /* so that all nodes have been up for the guard */
	check(replica && cluster_promote(&nodes, replica), "their replica is promoted");
	eventually(follows_well, master);
	eventually(is_confirmed, "noted");
	check(passes(&c, "noted", LONG_WAIT) && passes(&c, beside, LONG_WAIT), "the new master grants locks in both %s",
		c.error.message);
	check(is_noted("noted") && is_noted(beside), "both slots are noted");
	client_free(&c);
}

/* ---- several locks in several slots ---- */

/* Finds two names, in the order of their slots, on two masters. */
static void find_two(char names[2][32])
{
	int n = 0;

	strcpy(names[0], "first");
	do {
		snprintf(names[1], sizeof names[1], "second-%d", n++);
	} while (slot_of(names[1]) <= slot_of(names[0]) || master_of(names[1]) == master_of(names[0]));
}

static dlock_claim *claim_on_two(client *c, char names[2][32], dlock_nanos ttl)
{
	dlock_name both[] = { { names[0], strlen(names[0]) }, { names[1], strlen(names[1]) } };

	return dlock_claim_new_of(c->backend, both, 2, ttl * DLOCK_MS, NULL, &c->error);
}

typedef struct {
	const char *resource;
	char token[DLOCK_TOKEN_MAX + 1];
	long long left;
} renewed_key;

/* Is the token the same as at the last call, and the time left longer? */
static bool is_renewed(void *context)
{
	renewed_key *key = context, before = *key;
	test_server *master = master_of(key->resource);

	snprintf(key->token, sizeof key->token, "%s", server_text(master, "GET " PREFIX "%s", key->resource));
	key->left = server_integer(master, "PTTL " PREFIX "%s", key->resource);
	return *key->token && !strcmp(key->token, before.token) && key->left > before.left;
}

/* The first lock's lease is renewed while the claim waits for the second, so that both leases last. The claim ends with
 * the first of them that ends. */
static void test_two_slots(void)
{
	client c = new_client(0), other = new_client(0);
	char names[2][32];

	find_two(names);
	dlock_claim *held = claim_on(&other, names[1], 60000);
	check(acquires(&other, held), "the second lock is held %s", other.error.message);
	pid_t pid = fork_child();
	if (pid == 0) {
		client own = new_client(0);
		dlock_claim *claim = claim_on_two(&own, names, 6000); /* renewed after 2 s */
		bool has_both = acquires(&own, claim) && claim->waited;
		const dlock_slots *slots = ((const dlock_service_claim *) claim)->slots;
		bool ends_with_first = has_both && claim->deadline <= dlock_slots_part(slots, 0)->deadline
			&& claim->deadline <= dlock_slots_part(slots, 1)->deadline;
		_exit(ends_with_first && release(&own, claim) == DLOCK_OK ? 0 : 1);
	}
	check(eventually(is_renewed, &(renewed_key){ .resource = names[0] }), "the first lock is renewed meanwhile");
	check(release(&other, held) == DLOCK_OK && exit_of(pid) == 0, "the waiter acquires both");
	dlock_claim_free(held);
	dlock_claim *both = claim_on_two(&c, names, LEASE);
	check(acquires(&c, both) && !both->waited && let_go(&c, both), "both are free again %s",
		c.error.message);
	client_free(&c);
	client_free(&other);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = { TEST(names), TEST(two_slots), TEST(clocks_of_a_new_slot), TEST(noted_at_once),
		TEST(attached_after_move), TEST(unserved), /* epochs keep the longest guard */ TEST(move_given_up),
		TEST(full_copy) };
	static const tap_setting setting = { .begin = begin };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

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

static client new_client(int replicas)
{
	client client = { calloc(1, sizeof(dlock_pool)), NULL, { "" } };
	dlock_endpoint *service = cluster_service(&nodes, replicas);

	service->guard = GUARD * DLOCK_MS;
	client.backend = dlock_lock_new(client.pool, service, PREFIX, strlen(PREFIX), false);
	dlock_endpoint_release(service);
	return client;
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
		dlock_status status = acquire(&own, claim, 10000);
		if (status != DLOCK_OK) {
			printf("# %s\n", own.error.message);
			fflush(stdout);
		}
		_exit(status == DLOCK_OK && claim->waited && release(&own, claim) == DLOCK_OK ? 0 : 1);
	}
	return pid;
}

typedef struct {
	const char *resource;
	int waiters;
} queue;

/* The queue is in the lock's slot, whichever hash tag its key has. */
static bool has_waiters(void *context)
{
	const queue *queue = context;
	redisReply *keys = redisCommand(
		master_of(queue->resource)->admin, "CLUSTER GETKEYSINSLOT %d 100", slot_of(queue->resource));
	int found = 0;

	for (size_t i = 0; keys && i < keys->elements; i++) {
		const char *key = keys->element[i]->str, *end = strstr(key, PREFIX);
		if (!strncmp(key, "dlock:queue:", 12) && end && !strcmp(end + strlen(PREFIX), queue->resource)) {
			found = (int) server_integer(master_of(queue->resource), "ZCARD %s", key);
		}
	}
	if (keys) {
		freeReplyObject(keys);
	}
	return found == queue->waiters;
}

static void test_names(void)
{
	static const char *const names[] = { "plain", "a}b", "x{}y", "{}x", "{t}a", "a{b", "}{", "{{t}}" };
	client c = new_client(1);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		dlock_claim *claim = claim_on(&c, names[i], 60000);
		check(acquire(&c, claim, 5000) == DLOCK_OK, "%s is held %s", names[i], c.error.message);
		pid_t pid = wait_for(names[i]);
		check(eventually(has_waiters, &(queue){ names[i], 1 }), "a waiter queues for %s", names[i]);
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
		moved += server_do(from, "MIGRATE 127.0.0.1 %d %s 0 5000", to->port, keys->element[i]->str);
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

	check(acquire(&c, claim, 5000) == DLOCK_OK, "held %s", c.error.message);
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
	check(passes(&c, other, 5000), "the master settles %s", c.error.message);
	sleep_ms(2 * GUARD);
	claim = claim_on(&c, "detached", 60000);
	check(dlock_claim_attach(claim, token, &c.error) == DLOCK_OK && has(to, claim), "attached at once %s",
		c.error.message);
	check(let_go(&c, claim), "it is released %s", c.error.message);
	client_free(&c);
}

/* The slot's keys stay at the other master, which does not own the slot. */
static void test_move_given_up(void)
{
	client c = new_client(1), other = new_client(1);
	ward ward;

	ward_begin(&ward, &c, "given up", LEASE, 0, RENEW_AND_TELL(&ward));
	sleep_ms(2 * GUARD); /* so that the master has had the same slots for a guard */
	int slot = slot_of("given up");
	test_server *from = master_of("given up"), *to = another(from);
	dlock_claim *second = claim_on(&other, "given up", LEASE);
	check(cluster_begin_move(&nodes, slot, to) && migrate(slot, from, to, 100) > 0, "its slot begins to move");
	check(server_do(to, "CLUSTER SETSLOT %d STABLE", slot) && server_do(from, "CLUSTER SETSLOT %d STABLE", slot),
		"the move is given up");
	check(acquire(&other, second, 100) != DLOCK_OK, "no other client acquires it: %s", other.error.message);
	unsigned long before = renewals();
	check(renewed_since(before, 2) && look(ward.claim) == DLOCK_CLAIM_HELD && ward.losses == 0 && has(from, ward.claim),
		"the renewal sets the key again at its owner");
	check(let_go(&c, ward.claim) && acquire(&other, second, 3 * GUARD) == DLOCK_OK && let_go(&other, second),
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
	check(failed_since(failures, 1), "no node owns the slot");
	check(eventually_lost(&unserved), "its lock is lost");
	int held = 0;
	for (int i = 0; i < count; i++) {
		held += look(served[i].claim) == DLOCK_CLAIM_HELD && served[i].losses == 0;
	}
	check(held == count, "the other locks are held (%d of %d)", held, count);
	check(server_do(master, "CLUSTER ADDSLOTS %d", slot) && configure("cluster-require-full-coverage", "yes")
			&& eventually(cluster_is_well, &nodes),
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

/* Finds a name in another slot of the resource's master. */
static void find_beside(char *name, size_t size, const char *resource)
{
	test_server *master = master_of(resource);
	int n = 0;

	do {
		snprintf(name, size, "%s-%d", resource, n++);
	} while (master_of(name) != master || slot_of(name) == slot_of(resource));
}

/* Each slot's epoch counts the full resynchronizations of its master. No slot settles with the first slot while that
 * slot's epoch is older than the last of them. */
static void test_full_copy(void)
{
	client c = new_client(1);
	test_server *master = master_of("copied"), *replica = replica_of(master);
	char another_name[32];

	find_beside(another_name, sizeof another_name, "copied");
	check(passes(&c, "copied", 5000) && passes(&c, another_name, 5000), "two slots of a master are settled %s",
		c.error.message);
	check(replica && replicate(replica, another(master)) && replicate(replica, master),
		"its replica is moved away and back");
	eventually(is_confirmed, "copied");
	dlock_nanos since = dlock_now();
	check(is_refused(&c, "copied") && is_refused(&c, another_name), "neither slot grants locks: %s", c.error.message);
	long took = first_lock_ms(&c, "copied", since);
	check(took >= GUARD && took < SOON / DLOCK_MS, "the first slot grants locks after the guard (%ld ms)", took);
	dlock_nanos then = dlock_now();
	took = first_lock_ms(&c, another_name, then);
	check(took >= 0 && took < SOON / DLOCK_MS, "the other slot settles with it (%ld ms)", took);
	client_free(&c);
}

/* Does the slot's epoch have its last word: how far the clocks of its master and replicas are apart? */
static bool has_clocks(const char *resource)
{
	redisReply *keys = redisCommand(master_of(resource)->admin, "CLUSTER GETKEYSINSLOT %d 100", slot_of(resource));
	bool found = false;

	for (size_t i = 0; keys && i < keys->elements; i++) {
		const char *key = keys->element[i]->str;
		if (!strncmp(key, "dlock:era:", 10) && !strstr(key, ":slots")) {
			const char *epoch = server_text(master_of(resource), "GET %s", key), *last = strrchr(epoch, ' ');
			found = last && last[1];
		}
	}
	if (keys) {
		freeReplyObject(keys);
	}
	return found;
}

/* A connection knows the nodes from before a replica attached. It asks them again, because without their clocks the
 * slot would wait for the guard after the next failover. */
static void test_clocks_of_a_new_slot(void)
{
	client c = new_client(1);
	char beside[32];

	find_beside(beside, sizeof beside, "clocks");
	check(passes(&c, "clocks", 5000), "a slot is settled %s", c.error.message);
	check(passes(&c, "clocks", 5000) && has_clocks("clocks"), "its epoch has the clocks");
	test_server *replica = replica_of(master_of("clocks"));
	check(replica && server_do(master_of("clocks"), "CLIENT KILL TYPE replica"), "the replica attaches again");
	eventually(follows_well, replica);
	eventually(is_confirmed, "clocks");
	sleep_ms(600); /* the nodes are not asked twice in half a second */
	check(passes(&c, beside, 5000) && has_clocks(beside), "the epoch of another slot has them, too %s",
		c.error.message);
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
		check(passes(&c, "noted", 5000) && passes(&c, beside, 5000), "two slots are settled %s", c.error.message);
	}
	sleep_ms(GUARD + 2000); /* so that all nodes have been up for the guard */
	check(replica && cluster_promote(&nodes, replica), "their replica is promoted");
	eventually(follows_well, master);
	eventually(is_confirmed, "noted");
	check(passes(&c, "noted", 5000) && passes(&c, beside, 5000), "the new master grants locks in both %s",
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

static dlock_claim *claim_on_two(client *c, char names[2][32])
{
	dlock_name both[] = { { names[0], strlen(names[0]) }, { names[1], strlen(names[1]) } };

	return dlock_claim_new_of(c->backend, both, 2, LEASE * DLOCK_MS, NULL, &c->error);
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
	check(acquire(&other, held, 5000) == DLOCK_OK, "the second lock is held %s", other.error.message);
	pid_t pid = fork_child();
	if (pid == 0) {
		client own = new_client(0);
		dlock_claim *claim = claim_on_two(&own, names);
		bool has_both = acquire(&own, claim, 20000) == DLOCK_OK && claim->waited;
		const dlock_slots *slots = ((const dlock_service_claim *) claim)->slots;
		bool ends_with_first = has_both && claim->deadline <= dlock_slots_part(slots, 0)->deadline
			&& claim->deadline <= dlock_slots_part(slots, 1)->deadline;
		_exit(ends_with_first && release(&own, claim) == DLOCK_OK ? 0 : 1);
	}
	check(eventually(is_renewed, &(renewed_key){ .resource = names[0] }), "the first lock is renewed meanwhile");
	check(release(&other, held) == DLOCK_OK && exit_of(pid) == 0, "the waiter acquires both");
	dlock_claim_free(held);
	dlock_claim *both = claim_on_two(&c, names);
	check(acquire(&c, both, 5000) == DLOCK_OK && !both->waited && let_go(&c, both), "both are free again %s",
		c.error.message);
	client_free(&c);
	client_free(&other);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = { TEST(names), TEST(two_slots), TEST(clocks_of_a_new_slot), TEST(noted_at_once),
		TEST(attached_after_move), TEST(move_given_up), TEST(unserved), TEST(full_copy),
		};
	static const tap_setting setting = { .begin = begin };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

/* A cluster of three masters with a replica each. Every node has its own view of who owns which slot, and learns late
 * of changes. Nodes decide as in Redis 7: PFAIL and FAIL, votes of a majority of masters, configuration epochs. The
 * packets of the bus are not simulated one by one. */
#include "cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

#include "redis/script/slot.h" /* the project's */

enum { NODES = 6, MASTERS = 3, NOBODY = -1 };

#define NODE_TIMEOUT SECOND /* cluster-node-timeout, as in tests/c/fleet.c */
#define LOOK (100 * MS)     /* a node's cron */
#define WRITABLE_DELAY (2 * SECOND) /* of a master after its start */
#define REPLICA_VALIDITY 10 /* cluster-replica-validity-factor */

struct cluster_node {
	server *server;
	int number;
	uint64_t epoch;                /* the newest that it has heard of */
	uint64_t config_epoch[NODES];  /* of each node, as far as it knows */
	signed char owner[DLOCK_SLOTS];
	int slots_of[NODES];           /* how many slots each node owns */
	bool ok;                       /* cluster_state */
	nanos started, minority_at;    /* minority_at: when it was last in a minority */
	nanos reached[NODES];          /* when it last heard from each node */
	nanos failed_at[NODES];        /* 0: not FAIL */
	nanos election;                /* as a replica: when it asks for votes; 0: it does not */
	unsigned long version, told[NODES]; /* of its own claims, and the one that it has told each node */
	nanos last_bus[NODES];         /* when its last message arrives at each node */
	int migrating_slot, migrating_to, importing_slot, importing_from;
	bool takes_back; /* the move of migrating_slot is given up */
	bool notes_lost; /* another slot was its first: there clients noted the epochs of all its slots */
	bool forgotten[NODES];         /* it does not know these nodes */
	bool is_alone;                 /* the only master of another cluster */
};

static cluster_node *nodes[NODES];
static int node_count;
static stream random_cluster;

static bool runs(const cluster_node *n)
{
	return redis_is_alive(n->server) && !redis_is_paused(n->server);
}

static bool reaches(const cluster_node *a, const cluster_node *b)
{
	int from = redis_host(a->server), to = redis_host(b->server);

	return runs(a) && runs(b) && !net_is_cut(from, to) && !net_is_cut(to, from);
}

static bool is_master(const cluster_node *n)
{
	return redis_master_of(n->server) == NULL;
}

/* ---- owners of slots ---- */

static void set_owner(cluster_node *n, int slot, int owner)
{
	if (n->owner[slot] != NOBODY) {
		n->slots_of[(int) n->owner[slot]]--;
	}
	n->owner[slot] = (signed char) owner;
	if (owner != NOBODY) {
		n->slots_of[owner]++;
	}
}

static void change_claims(cluster_node *n)
{
	n->version++;
}

static cluster_node *node_of(const server *s)
{
	return s ? nodes[redis_number(s)] : NULL;
}

static void follow(cluster_node *n, cluster_node *master)
{
	if (redis_master_of(n->server) == master->server) {
		return;
	}
	say("clus", "s%d follows s%d now", n->number, master->number);
	if (is_master(n)) {
		redis_end_waits(n->server);
	}
	n->election = 0;
	n->migrating_slot = n->importing_slot = NOBODY;
	redis_replicate(n->server, master->server);
}

/* A master announces its slots. A node that knows a newer configuration of a slot ignores that. Returns false if it has
 * to hear of them again, because it imports one of them and ignores that for now. */
static bool hear(cluster_node *n, cluster_node *from)
{
	cluster_node *master = is_master(n) ? n : node_of(redis_master_of(n->server));
	int before = n->slots_of[master->number], taken = 0;
	bool ignored = false;

	n->epoch = from->epoch > n->epoch ? from->epoch : n->epoch;
	n->config_epoch[from->number] = from->config_epoch[from->number];
	for (int slot = 0; slot < DLOCK_SLOTS; slot++) {
		int owner = n->owner[slot];
		bool claimed = from->owner[slot] == from->number && owner != from->number, ignores = slot == n->importing_slot;
		ignored |= claimed && ignores;
		if (claimed && !ignores && (owner == NOBODY || n->config_epoch[owner] < n->config_epoch[from->number])) {
			taken += owner == master->number;
			set_owner(n, slot, from->number);
			n->migrating_slot = n->migrating_slot == slot ? NOBODY : n->migrating_slot;
		}
	}
	if (taken > 0) {
		change_claims(n);
	}
	if (from != master && taken > 0 && before == taken) {
		follow(n, from);
	}
	return !ignored;
}

static void gossip(cluster_node *n)
{
	for (int i = 0; i < NODES; i++) {
		bool new = n->told[i] < n->version;
		bool speaks = i != n->number && is_master(n) && n->slots_of[n->number] > 0 && reaches(n, nodes[i]);
		if (new && speaks && !nodes[i]->forgotten[n->number] && draw_chance(&random_cluster, 0.2)) {
			n->told[i] = hear(nodes[i], n) ? n->version : n->told[i];
		}
	}
}

/* ---- failed nodes ---- */

static bool suspects(const cluster_node *n, int other)
{
	return other != n->number && now - n->reached[other] > NODE_TIMEOUT;
}

static int masters_of(const cluster_node *n)
{
	int count = 0;

	for (int i = 0; i < NODES; i++) {
		count += n->slots_of[i] > 0;
	}
	return count;
}

static int majority_of(const cluster_node *n)
{
	return masters_of(n) / 2 + 1;
}

/* FAIL: a majority of all masters suspects the node. Only masters within reach have a vote. */
static void judge(cluster_node *n, int other)
{
	int votes = 0;

	for (int i = 0; i < NODES; i++) {
		votes += n->slots_of[i] > 0 && (i == n->number || reaches(n, nodes[i])) && suspects(nodes[i], other);
	}
	if (!n->failed_at[other] && suspects(n, other) && votes >= majority_of(n)) {
		n->failed_at[other] = now;
	} else if (n->failed_at[other] && !suspects(n, other)
			&& (n->slots_of[other] == 0 || now - n->failed_at[other] > 2 * NODE_TIMEOUT)) {
		n->failed_at[other] = 0;
	}
}

/* The cluster is up if all slots are served (cluster-require-full-coverage) and a majority of masters is there. */
static void update_state(cluster_node *n)
{
	bool complete = true;
	int there = 0, assigned = 0;

	for (int i = 0; i < NODES; i++) {
		assigned += n->slots_of[i];
		complete &= n->slots_of[i] == 0 || !n->failed_at[i];
		there += n->slots_of[i] > 0 && !suspects(n, i) && !n->failed_at[i];
	}
	complete &= assigned == DLOCK_SLOTS;
	if (there < majority_of(n)) {
		n->minority_at = now;
		complete = false;
	}
	bool waits = is_master(n) && !n->ok && (now - n->started < WRITABLE_DELAY || now - n->minority_at < NODE_TIMEOUT);
	if (n->ok != (complete && !waits)) {
		n->ok = !n->ok;
		say("clus", "for s%d the cluster is %s", n->number, n->ok ? "up" : "down");
	}
}

/* ---- failover ---- */

static bool may_be_elected(const cluster_node *n)
{
	const cluster_node *master = node_of(redis_master_of(n->server));

	return master && n->slots_of[master->number] > 0 && n->failed_at[master->number]
		&& now - redis_last_contact(n->server) <= REPLICA_VALIDITY * NODE_TIMEOUT + SECOND;
}

static int votes_for(const cluster_node *n, int master)
{
	int votes = 0;

	for (int i = 0; i < NODES; i++) {
		const cluster_node *voter = nodes[i];
		votes += is_master(voter) && voter->slots_of[i] > 0 && reaches(n, voter) && voter->failed_at[master]
			&& voter->config_epoch[master] <= n->config_epoch[master];
	}
	return votes;
}

/* The new configuration is newer than any that a majority knows. */
static void take_over(cluster_node *n, cluster_node *master)
{
	for (int i = 0; i < NODES; i++) {
		n->epoch = reaches(n, nodes[i]) && nodes[i]->epoch > n->epoch ? nodes[i]->epoch : n->epoch;
	}
	n->config_epoch[n->number] = ++n->epoch;
	for (int i = 0; i < NODES; i++) {
		if (reaches(n, nodes[i])) {
			nodes[i]->epoch = n->epoch;
		}
	}
	for (int slot = 0; slot < DLOCK_SLOTS; slot++) {
		if (n->owner[slot] == master->number) {
			set_owner(n, slot, n->number);
		}
	}
	say("clus", "s%d takes over from s%d, epoch %" PRIu64, n->number, master->number, n->epoch);
	n->notes_lost = false;
	redis_promote(n->server);
	sum.failovers++;
	change_claims(n);
}

static void stand_for_election(cluster_node *n)
{
	if (!may_be_elected(n)) {
		n->election = 0;
	} else if (!n->election) {
		n->election = now + 500 * MS + draw_below(&random_cluster, 500 * MS);
	} else if (now >= n->election) {
		cluster_node *master = node_of(redis_master_of(n->server));
		if (votes_for(n, master->number) >= majority_of(n)) {
			take_over(n, master);
			n->election = 0;
		} else {
			n->election = now + 4 * NODE_TIMEOUT;
		}
	}
}

/* ---- ten times a second ---- */

static void look(void *context, uint64_t unused)
{
	(void) context;
	(void) unused;
	for (int i = 0; i < NODES; i++) {
		for (int j = 0; j < NODES; j++) { /* a stopped node waits for answers before it suspects another node */
			bool heard = i == j || !runs(nodes[i]) || reaches(nodes[i], nodes[j]);
			nodes[i]->reached[j] = heard ? now : nodes[i]->reached[j];
		}
	}
	for (int i = 0; i < NODES; i++) {
		cluster_node *n = nodes[i];
		if (!runs(n)) {
			continue;
		}
		for (int j = 0; j < NODES; j++) {
			judge(n, j);
		}
		stand_for_election(n);
		gossip(n);
		update_state(n);
	}
	at(now + LOOK, look, NULL, 0);
}

/* ---- slots that move ---- */

static int first_slot(const cluster_node *n)
{
	int slot = 0;

	while (slot < DLOCK_SLOTS && n->owner[slot] != n->number) {
		slot++;
	}
	return slot;
}

static void begin_move(cluster_node *from, cluster_node *to, int slot)
{
	to->importing_slot = slot;
	to->importing_from = from->number;
	from->migrating_slot = slot;
	from->migrating_to = to->number;
	from->takes_back = false;
	from->notes_lost |= slot == first_slot(from);
}

/* CLUSTER SETSLOT NODE, at the old or the new owner of the slot. */
static void set_slot_node(cluster_node *n, int slot, const cluster_node *to)
{
	if (n->migrating_slot == slot && redis_keys_in_slot(n->server, slot) == 0) {
		n->migrating_slot = NOBODY;
	}
	if (n == to && n->importing_slot == slot) { /* a newer configuration without a vote */
		for (int i = 0; i < NODES; i++) {
			n->epoch = nodes[i]->epoch > n->epoch ? nodes[i]->epoch : n->epoch;
		}
		n->config_epoch[n->number] = ++n->epoch;
		n->importing_slot = NOBODY;
	}
	set_owner(n, slot, to->number);
	change_claims(n);
}

static void end_move(cluster_node *from, cluster_node *to, int slot)
{
	to->notes_lost |= slot < first_slot(to);
	set_slot_node(to, slot, to);
	set_slot_node(from, slot, to);
	say("clus", "slot %d is at s%d now", slot, to->number);
}

/* CLUSTER SETSLOT STABLE on both sides. Moved keys stay where they are. */
static void set_stable(void *context, uint64_t slot)
{
	cluster_node *from = context;

	if (from->migrating_slot == (int) slot) {
		say("clus", "the move of slot %d to s%d is given up", (int) slot, from->migrating_to);
		nodes[from->migrating_to]->importing_slot = NOBODY;
		from->migrating_slot = NOBODY;
	}
}

/* The slot's keys have been moved back. */
static void give_up_move(cluster_node *from, cluster_node *to, int slot)
{
	from->migrating_slot = to->importing_slot = NOBODY;
	say("clus", "slot %d stays at s%d", slot, from->number);
}

static void go_on_moving(void *context, uint64_t slot)
{
	cluster_node *from = context;

	if (from->migrating_slot != (int) slot) {
		return;
	}
	cluster_node *to = nodes[from->migrating_to];
	if (reaches(from, to)) {
		from->takes_back |= draw_chance(&random_cluster, 0.04);
		server *giver = from->takes_back ? to->server : from->server,
			   *taker = from->takes_back ? from->server : to->server;
		redis_move_key(giver, taker, (int) slot);
		if (redis_keys_in_slot(giver, (int) slot) == 0) {
			(from->takes_back ? give_up_move : end_move)(from, to, (int) slot);
			return;
		}
	}
	at(now + 5 * MS + draw_below(&random_cluster, 200 * MS), go_on_moving, from, slot);
}

static cluster_node *owner_of(int slot)
{
	cluster_node *owner = NULL;

	for (int i = 0; i < NODES; i++) {
		if (is_master(nodes[i]) && nodes[i]->owner[slot] == i) {
			owner = nodes[i];
		}
	}
	return owner;
}

void cluster_move_slot(int slot, int choice, nanos gives_up)
{
	cluster_node *from = owner_of(slot), *to = NULL;

	for (int i = choice; i < choice + NODES && !to; i++) {
		cluster_node *n = nodes[i % NODES];
		to = n != from && is_master(n) && n->slots_of[n->number] > 1 ? n : NULL;
	}
	if (!from || !to || from->slots_of[from->number] < 2 || !reaches(from, to)) {
		return;
	}
	if (from->migrating_slot != NOBODY || to->importing_slot != NOBODY || (gives_up != NEVER && from->notes_lost)) {
		return; /* the last condition: docs/fail-over.md forbids that, and without the notes no server detects it */
	}
	say("clus", "slot %d moves from s%d to s%d", slot, from->number, to->number);
	redis_delete_slot(to->server, slot); /* keys left from a move that was given up: MIGRATE would refuse them */
	begin_move(from, to, slot);
	if (gives_up == NEVER) {
		at(now + draw_below(&random_cluster, 300 * MS), go_on_moving, from, (uint64_t) slot);
	} else { /* all keys by one MIGRATE: a lock moved without its epoch can have two holders (README.md) */
		while (redis_keys_in_slot(from->server, slot) > 0) {
			redis_move_key(from->server, to->server, slot);
		}
		at(now + gives_up, set_stable, from, (uint64_t) slot);
	}
}

/* ---- slots without an owner ---- */

static cluster_node *lost_slot_of; /* NULL: all slots have an owner */
static int lost_slot;

/* CLUSTER DELSLOTS on all nodes. */
void cluster_lose_slot(int slot)
{
	cluster_node *owner = owner_of(slot);

	if (!owner || lost_slot_of || owner->migrating_slot != NOBODY || owner->slots_of[owner->number] < 2) {
		return;
	}
	lost_slot = slot;
	lost_slot_of = owner;
	say("clus", "nobody has slot %d, which s%d had", slot, owner->number);
	for (int i = 0; i < NODES; i++) {
		set_owner(nodes[i], slot, NOBODY);
	}
	change_claims(owner);
}

/* CLUSTER ADDSLOTS and BUMPEPOCH at the master that has the keys, as redis-cli --cluster fix does it. */
void cluster_find_slot(int slot)
{
	cluster_node *to = lost_slot_of;

	if (!to || lost_slot != slot || !is_master(to)) {
		return;
	}
	say("clus", "s%d gets slot %d back", to->number, slot);
	lost_slot_of = NULL;
	for (int i = 0; i < NODES; i++) {
		to->epoch = nodes[i]->epoch > to->epoch ? nodes[i]->epoch : to->epoch;
	}
	to->config_epoch[to->number] = ++to->epoch;
	set_owner(to, slot, to->number);
	change_claims(to);
}

/* ---- nodes that forget each other ---- */

/* CLUSTER FORGET: the node then does not know who owns the other node's slots. */
bool cluster_forget(int node, int other)
{
	cluster_node *n = nodes[node];

	/* a replica does not forget its master */
	if (node == other || node_of(redis_master_of(n->server)) == nodes[other]) {
		return false;
	}
	say("clus", "s%d forgets s%d", node, other);
	n->forgotten[other] = true;
	for (int slot = 0; slot < DLOCK_SLOTS; slot++) {
		if (n->owner[slot] == other) {
			set_owner(n, slot, NOBODY);
		}
	}
	return is_master(n) && is_master(nodes[other]); /* a replica continues to follow its master */
}

/* The other nodes tell it of the forgotten node. */
void cluster_remember(int node, int other)
{
	nodes[node]->forgotten[other] = false;
	change_claims(nodes[other]);
}

/* ---- what clients see ---- */

static reply moved(const char *kind, int slot, int to)
{
	char text[64];

	snprintf(text, sizeof text, "%s %d 10.0.0.%d:6379", kind, slot, redis_host(nodes[to]->server));
	return reply_text(R_ERROR, text);
}

#define TRYAGAIN "TRYAGAIN Multiple keys request during rehashing of slot"

static bool is_same(word a, word b)
{
	return a.len == b.len && !memcmp(a.text, b.text, a.len);
}

static int present(const cluster_node *n, const word *keys, int count)
{
	int there = 0;

	for (int i = 0; i < count; i++) {
		there += redis_has_key(n->server, keys[i]);
	}
	return there;
}

bool cluster_redirects(cluster_node *n, const word *keys, int count, bool asking, reply *out)
{
	if (count == 0 || n->is_alone) {
		return false;
	}
	int slot = dlock_slot_of(keys[0].text, keys[0].len), there = present(n, keys, count);
	bool has = n->owner[slot] == n->number, imports = n->importing_slot == slot && asking, several = false,
		 same_slot = true;
	for (int i = 1; i < count; i++) {
		several |= !is_same(keys[0], keys[i]);
		same_slot &= dlock_slot_of(keys[i].text, keys[i].len) == slot;
	}
	if (n->owner[slot] == NOBODY) {
		*out = reply_text(R_ERROR, "CLUSTERDOWN Hash slot not served");
	} else if (!same_slot) {
		*out = reply_text(R_ERROR, "CROSSSLOT Keys in request don't hash to the same slot");
	} else if (!n->ok) {
		*out = reply_text(R_ERROR, "CLUSTERDOWN The cluster is down");
	} else if (has && n->migrating_slot == slot && there < count) {
		*out = there > 0 ? reply_text(R_ERROR, TRYAGAIN) : moved("ASK", slot, n->migrating_to);
	} else if (!has && imports && several && there < count) {
		*out = reply_text(R_ERROR, TRYAGAIN);
	} else if (!has && !imports) {
		*out = moved("MOVED", slot, n->owner[slot]);
	} else {
		return false;
	}
	return true;
}

bool cluster_has_moved(cluster_node *n, const word *keys, int count)
{
	return count > 0 && n->migrating_slot != NOBODY && dlock_slot_of(keys[0].text, keys[0].len) == n->migrating_slot
		&& n->owner[n->migrating_slot] == n->number && present(n, keys, count) < count;
}

static void name_of(int number, char name[41])
{
	for (int i = 0; i < 40; i++) {
		name[i] = "0123456789abcdef"[(number * 7 + i * (number + 3)) % 16];
	}
	name[0] = (char) ('a' + number / 16); /* the other digits repeat after 16 numbers */
	name[40] = '\0';
}

static reply node_reply(const cluster_node *n)
{
	char text[41];
	reply r = reply_array(4);

	snprintf(text, sizeof text, "10.0.0.%d", redis_host(n->server));
	r.items[0] = reply_bulk(text, strlen(text));
	r.items[1] = reply_int(6379);
	name_of(n->number, text);
	r.items[2] = reply_bulk(text, strlen(text));
	r.items[3] = reply_array(0);
	return r;
}

static int end_of_range(const cluster_node *n, int slot)
{
	int end = slot;
	uint64_t eight, same;

	memset(&same, n->owner[slot], sizeof same);
	while (end + 8 < DLOCK_SLOTS && (memcpy(&eight, &n->owner[end + 1], sizeof eight), eight == same)) {
		end += 8;
	}
	while (end + 1 < DLOCK_SLOTS && n->owner[end + 1] == n->owner[slot]) {
		end++;
	}
	return end;
}

static reply range_reply(const cluster_node *n, int slot, int end)
{
	int replicas = 0, owner = n->owner[slot];

	for (int i = 0; i < NODES; i++) {
		replicas += redis_master_of(nodes[i]->server) == nodes[owner]->server && !n->failed_at[i];
	}
	reply r = reply_array(3 + replicas);
	r.items[0] = reply_int(slot);
	r.items[1] = reply_int(end);
	r.items[2] = node_reply(nodes[owner]);
	for (int i = 0, next = 3; i < NODES && next < r.count; i++) {
		if (redis_master_of(nodes[i]->server) == nodes[owner]->server && !n->failed_at[i]) {
			r.items[next++] = node_reply(nodes[i]);
		}
	}
	return r;
}

static reply all_slots_reply(const cluster_node *n)
{
	reply all = reply_array(1), r = reply_array(3);

	r.items[0] = reply_int(0);
	r.items[1] = reply_int(DLOCK_SLOTS - 1);
	r.items[2] = node_reply(n);
	all.items[0] = r;
	return all;
}

static reply slots_reply(const cluster_node *n)
{
	int count = 0;

	if (n->is_alone) {
		return all_slots_reply(n);
	}
	for (int slot = 0; slot < DLOCK_SLOTS; slot = end_of_range(n, slot) + 1) {
		count += n->owner[slot] != NOBODY;
	}
	reply r = reply_array(count);
	for (int slot = 0, next = 0, end; slot < DLOCK_SLOTS; slot = end + 1) {
		end = end_of_range(n, slot);
		if (n->owner[slot] != NOBODY) {
			r.items[next++] = range_reply(n, slot, end);
		}
	}
	return r;
}

/* The ranges of one owner: moved slots may have split them. */
static void write_ranges(const cluster_node *n, int owner, char *out, size_t size)
{
	size_t used = 0;

	*out = '\0';
	for (int slot = 0, end; slot < DLOCK_SLOTS && used < size; slot = end + 1) {
		end = end_of_range(n, slot);
		if (n->owner[slot] == owner) {
			const char *form = slot == end ? " %d" : " %d-%d";
			used += (size_t) snprintf(out + used, size - used, form, slot, end);
		}
	}
}

/* After a node's own slots: the slots that move. */
static void write_moves(const cluster_node *n, char *out, size_t size)
{
	size_t used = 0;
	char name[41];

	*out = '\0';
	if (n->migrating_slot != NOBODY) {
		name_of(n->migrating_to, name);
		used = (size_t) snprintf(out, size, " [%d->-%s]", n->migrating_slot, name);
	}
	if (n->importing_slot != NOBODY) {
		name_of(n->importing_from, name);
		snprintf(out + used, size - used, " [%d-<-%s]", n->importing_slot, name);
	}
}

static reply nodes_reply(const cluster_node *n)
{
	char text[8192], name[41], master[41], ranges[1024], moves[128];
	size_t used = 0;

	if (n->is_alone) {
		name_of(n->number, name);
		used = (size_t) snprintf(text, sizeof text, "%s 10.0.0.%d:6379@16379 myself,master - 0 0 1 connected 0-%d\n",
			name, redis_host(n->server), DLOCK_SLOTS - 1);
		return reply_bulk(text, used);
	}
	write_moves(n, moves, sizeof moves);
	for (int i = 0; i < NODES; i++) {
		const cluster_node *follows = node_of(redis_master_of(nodes[i]->server));
		name_of(i, name);
		strcpy(master, "-");
		if (follows) {
			name_of(follows->number, master);
		}
		write_ranges(n, i, ranges, sizeof ranges);
		used += (size_t) snprintf(text + used, sizeof text - used,
			"%s 10.0.0.%d:6379@16379 %s%s%s %s 0 0 %" PRIu64 " %s%s%s\n", name,
			redis_host(nodes[i]->server), i == n->number ? "myself," : "", follows ? "slave" : "master",
			n->failed_at[i] ? ",fail" : suspects(n, i) ? ",fail?" : "", master, n->config_epoch[i],
			i != n->number && suspects(n, i) ? "disconnected" : "connected", ranges,
			i == n->number ? moves : "");
	}
	return reply_bulk(text, used);
}

static reply info_reply(const cluster_node *n)
{
	char text[400];
	int assigned = 0;

	if (n->is_alone) {
		static const char alone[] = "cluster_state:ok\r\ncluster_slots_assigned:16384\r\ncluster_known_nodes:2\r\n"
									"cluster_size:1\r\ncluster_current_epoch:1\r\ncluster_my_epoch:1\r\n";
		return reply_bulk(alone, sizeof alone - 1);
	}
	for (int i = 0; i < NODES; i++) {
		assigned += n->slots_of[i];
	}
	snprintf(text, sizeof text, "cluster_state:%s\r\ncluster_slots_assigned:%d\r\ncluster_known_nodes:%d\r\n"
		"cluster_size:%d\r\ncluster_current_epoch:%" PRIu64 "\r\ncluster_my_epoch:%" PRIu64 "\r\n",
		n->ok ? "ok" : "fail", assigned, NODES, masters_of(n), n->epoch,
		n->config_epoch[is_master(n) ? n->number : redis_number(redis_master_of(n->server))]);
	return reply_bulk(text, strlen(text));
}

/* CLUSTER SETSLOT slot IMPORTING|MIGRATING|NODE id, or STABLE. */
static reply set_slot(cluster_node *n, const word *w, int count)
{
	int slot = atoi(w[2].text);
	char name[41], text[120];
	cluster_node *other = NULL;

	for (int i = 0; i < NODES; i++) {
		name_of(i, name);
		other = count == 5 && word_is(w[4], name) ? nodes[i] : other;
	}
	if (word_is(w[3], "STABLE")) {
		n->migrating_slot = n->migrating_slot == slot ? NOBODY : n->migrating_slot;
		n->importing_slot = n->importing_slot == slot ? NOBODY : n->importing_slot;
	} else if (!other) {
		return reply_text(R_ERROR, "ERR Unknown node");
	} else if (word_is(w[3], "MIGRATING") && n->owner[slot] != n->number) {
		snprintf(text, sizeof text, "ERR I'm not the owner of hash slot %d", slot);
		return reply_text(R_ERROR, text);
	} else if (word_is(w[3], "IMPORTING") && n->owner[slot] == n->number) {
		snprintf(text, sizeof text, "ERR I'm already the owner of hash slot %d", slot);
		return reply_text(R_ERROR, text);
	} else if (word_is(w[3], "MIGRATING")) {
		n->migrating_slot = slot;
		n->migrating_to = other->number;
	} else if (word_is(w[3], "IMPORTING")) {
		n->importing_slot = slot;
		n->importing_from = other->number;
	} else if (n->owner[slot] == n->number && other != n && redis_keys_in_slot(n->server, slot) > 0) {
		snprintf(text, sizeof text,
			"ERR Can't assign hashslot %d to a different node while I still hold keys for this hash slot.", slot);
		return reply_text(R_ERROR, text);
	} else {
		set_slot_node(n, slot, other);
	}
	return reply_text(R_STATUS, "OK");
}

/* Changes only this node's view. */
static reply add_or_delete_slot(cluster_node *n, int slot, bool adds)
{
	if (adds) {
		set_owner(n, slot, n->number);
	} else {
		n->slots_of[(int) n->owner[slot]]--;
		n->owner[slot] = NOBODY;
	}
	change_claims(n);
	update_state(n);
	return reply_text(R_STATUS, "OK");
}

bool cluster_command(cluster_node *n, const word *w, int count, reply *out)
{
	if (count >= 4 && word_is(w[1], "SETSLOT")) {
		*out = set_slot(n, w, count);
	} else if (count == 3 && (word_is(w[1], "ADDSLOTS") || word_is(w[1], "DELSLOTS"))) {
		*out = add_or_delete_slot(n, atoi(w[2].text), word_is(w[1], "ADDSLOTS"));
	} else if (count != 2) {
		return false;
	} else if (word_is(w[1], "MYID")) {
		char name[41];
		name_of(n->number, name);
		*out = reply_bulk(name, strlen(name));
	} else if (word_is(w[1], "SLOTS")) {
		*out = slots_reply(n);
	} else if (word_is(w[1], "NODES")) {
		*out = nodes_reply(n);
	} else if (word_is(w[1], "INFO")) {
		*out = info_reply(n);
	} else {
		return false;
	}
	return true;
}

/* ---- messages ---- */

typedef struct {
	cluster_node *from, *to;
	word channel, message;
} published;

static void arrive_published(void *context, uint64_t unused)
{
	published *p = context;

	(void) unused;
	if (reaches(p->from, p->to)) {
		redis_publish_here(p->to->server, p->channel, p->message);
	}
	free((char *) p->channel.text);
	free((char *) p->message.text);
	free(p);
}

static word word_copy(word w)
{
	char *bytes = malloc(w.len + 1);

	memcpy(bytes, w.text, w.len);
	bytes[w.len] = '\0';
	return (word) { bytes, w.len };
}

void cluster_publish(cluster_node *n, word channel, word message)
{
	for (int i = 0; i < NODES && !n->is_alone; i++) {
		if (nodes[i] != n && reaches(n, nodes[i])) {
			published *p = malloc(sizeof *p);
			nanos arrival = now + net_delay();
			n->last_bus[i] = arrival > n->last_bus[i] ? arrival : n->last_bus[i];
			*p = (published) { n, nodes[i], word_copy(channel), word_copy(message) };
			at(n->last_bus[i], arrive_published, p, 0);
		}
	}
}

/* ---- the beginning ---- */

void cluster_restarted(cluster_node *n)
{
	n->started = now;
	n->ok = false;
	memset(n->failed_at, 0, sizeof n->failed_at);
}

static void begin(void)
{
	random_cluster = stream_of(run_seed(&options), "cluster", 0);
	for (int i = 0; i < NODES; i++) {
		for (int slot = 0; slot < DLOCK_SLOTS; slot++) {
			set_owner(nodes[i], slot, slot * MASTERS / DLOCK_SLOTS);
		}
		for (int j = 0; j < NODES; j++) {
			nodes[i]->config_epoch[j] = (uint64_t) j + 1;
		}
		nodes[i]->epoch = NODES;
		nodes[i]->ok = true;
		nodes[i]->minority_at = -NODE_TIMEOUT;
		if (i >= MASTERS) {
			redis_replicate(nodes[i]->server, nodes[i - MASTERS]->server);
		}
	}
	at(LOOK, look, NULL, 0);
}

cluster_node *cluster_join(server *s)
{
	cluster_node *n = calloc(1, sizeof *n);

	n->server = s;
	n->number = node_count;
	n->migrating_slot = n->importing_slot = NOBODY;
	memset(n->owner, NOBODY, sizeof n->owner);
	nodes[node_count++] = n;
	if (node_count == NODES) {
		begin();
	}
	return n;
}

cluster_node *cluster_alone(server *s)
{
	cluster_node *n = calloc(1, sizeof *n);

	n->server = s;
	n->number = redis_number(s);
	n->migrating_slot = n->importing_slot = NOBODY;
	n->is_alone = true;
	return n;
}

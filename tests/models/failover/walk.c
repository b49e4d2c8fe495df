/* Random walks through a lock on a Redis that fails over: what is too much for a search of ../failover.pml, which has
 * the same protocol. Here are identities, offsets, clocks, messages and acknowledgements that are under way, queues of
 * waiters, and five servers.
 *
 *   walk [seed=N] [seconds=S | episodes=E] [episode=N] [SETTING ...]     episode=N: only this one, and what happens in
 * it
 *
 * The last line says what was walked, with the seed; the exit status is 1 if there were two owners, or a fencing token
 * fell.
 *
 * Time is in ticks, from a server's clock where the protocol takes it from there. An episode draws its delays and
 * faults: it may be calm or wild. Within a tick: faults, Sentinels, replication, servers, clients. ../README.md has the
 * protocol's rules.
 */
#include "world.h"

#include <time.h>

#define EPISODE 1500 /* ticks */

static const struct {
	const char *name, *what;
} settings[SETTINGS] = {
	[FIVE] = { "FIVE", "five servers and WAIT 2, instead of three and WAIT 1" },
	[STALE] = { "STALE",
		"Sentinels move replicas back to masters that were replaced; the epoch holds the number of full resyncs" },
	[NO_GUARD] = { "NO_GUARD", "no epoch: a new master grants at once" },
	[SETTLED_FROM_OPENING] = { "SETTLED_FROM_OPENING",
		"an epoch settles G after its opening, even if no replica has confirmed it" },
	[GUARD_TOO_SHORT] = { "GUARD_TOO_SHORT", "G is shorter than the lease" },
	[GRANT_WITHOUT_WAIT] = { "GRANT_WITHOUT_WAIT", "a grant is believed once it is answered" },
	[RENEWAL_WITHOUT_WAIT] = { "RENEWAL_WITHOUT_WAIT", "so is a renewal" },
	[LEASE_FROM_ANSWER] = { "LEASE_FROM_ANSWER", "the lease is counted from the answer" },
	[RESURRECTED] = { "RESURRECTED", "the answer to a renewal is believed, though the lease has ended" },
	[TOKEN_REUSED] = { "TOKEN_REUSED", "a client has one token for all its claims" },
	[REPAIR_OVER_ANOTHER] = { "REPAIR_OVER_ANOTHER", "in an unsettled epoch a missing key is set over another's" },
	[HANDOVER_UNSETTLED] = { "HANDOVER_UNSETTLED",
		"a release hands over in an unsettled epoch, and the waiter may have that confirmed there" },
	[PUSH_BELIEVED] = { "PUSH_BELIEVED", "a waiter that is told of a handover does not have it confirmed" },
	[OWN_KEY_UNSETTLED] = { "OWN_KEY_UNSETTLED",
		"an acquire of a key that is one's own is granted in an unsettled epoch" },
	[REPLID_AT_CONNECT] = { "REPLID_AT_CONNECT",
		"the epoch is compared with the replid that the connection showed when it was opened" },
	[RUN_ID_ALONE] = { "RUN_ID_ALONE", "the epoch is told by the run_id alone" },
	[REPLID_NOTED] = { "REPLID_NOTED", "under the same run_id another replid does not matter while replid2 is zero" },
	[REPAIR_ANYWHERE] = { "REPAIR_ANYWHERE", "a missing key is set in any epoch, or none: breaks nothing" },
	[HANDOVER_ANYWHERE] = { "HANDOVER_ANYWHERE", "a release hands over in any epoch: breaks nothing" },
	[MOVED_BACK] = { "MOVED_BACK", "as STALE, but the epoch does not hold the number of full resyncs" },
	[TOO_FEW] = { "TOO_FEW", "five servers and WAIT 1" },
	[COUNTED_ALONE] = { "COUNTED_ALONE", "fencing tokens are counted, without the server's time" },
	[ANCHORED] = { "ANCHORED",
		"tokens are counted on from the time at which the epoch settles, which is noted when that is known" },
	[ANCHORED_AT_CONNECT] = { "ANCHORED_AT_CONNECT",
		"tokens are counted on from the time of the first one over each connection" },
	[CLOCKS_APART] = { "CLOCKS_APART", "servers' clocks differ by more than G" },
	[RESYNCS_NOT_CONFIRMED] = { "RESYNCS_NOT_CONFIRMED",
		"with STALE: the number of full resyncs is not looked at again after WAIT" },
	[FIRST_AT_ONCE] = { "FIRST_AT_ONCE",
		"a server that has been up for G, was never promoted and has no epoch settles at once" },
	[SETTLED_UNCHECKED] = { "SETTLED_UNCHECKED",
		"an epoch settles, though the opening that was acknowledged was an earlier one's" },
	[AT_ONCE] = { "AT_ONCE",
		"stale Sentinels; an epoch settles at once, and goes on, where the nodes show that nothing is missing" },
	[BACKLOG_IGNORED] = { "BACKLOG_IGNORED", "AT_ONCE, wherever the nodes have been before they followed the master" },
	[YOUNG_COUNT] = { "YOUNG_COUNT", "AT_ONCE, with nodes that were restarted within G" },
	[ANY_HISTORY] = { "ANY_HISTORY", "AT_ONCE, whatever the data continue" },
	[ANY_CLOCKS] = { "ANY_CLOCKS", "AT_ONCE, whatever the clocks" },
	[FEWER_NODES] = { "FEWER_NODES", "AT_ONCE, where one node less than is needed shows it" },
	[ATTACHED_IGNORED] = { "ATTACHED_IGNORED", "AT_ONCE, though a replica has attached while the nodes were asked" },
	[GRANTS_NOT_DOUBTED] = { "GRANTS_NOT_DOUBTED",
		"AT_ONCE, where replicas that attach are not looked at behind WAIT" },
	[LATE_CHECKS] = { "LATE_CHECKS",
		"AT_ONCE, and a token is used again though the last look at its grant may come late" },
};

bool set[SETTINGS];
uint64_t chance_state;
server nodes[NODES];
client clients[CLIENTS];
message messages[MESSAGES];
int sent_messages;
int now, count, confirmations, newest, ids, tokens, highest;
int group_of[NODES], sentinels, parted_until; /* who reaches whom; the group in which the Sentinels are */
int unseen; /* ticks for which they have not seen the newest master */
bool telling;
const char *violation;

struct weather weather;
struct total total;

/* ---- faults, and Sentinels: one opinion of which master is the newest, carried out late ---- */

static void part(void)
{
	int alone = below(count), kind = below(3);

	if (parted_until <= now && !once_in(weather.part)) {
		if (parted_until == now) {
			memset(group_of, 0, sizeof group_of);
			sentinels = 0;
			for (int c = 0; c < CLIENTS; c++) {
				clients[c].group = 0;
			}
		}
		return;
	}
	if (parted_until > now) {
		return;
	}
	parted_until = now + 1 + below(2 * weather.length);
	total.partitions++;
	for (int n = 0; n < count; n++) {
		group_of[n] = kind == 0 ? n == newest : kind == 1 ? n == alone : below(2);
	}
	sentinels = kind < 2 ? 0 : below(2);
	for (int c = 0; c < CLIENTS; c++) {
		clients[c].group = below(2);
	}
}

static void break_server(server *node)
{
	if (!node->up && node->back_at <= now) {
		start(node, once_in(weather.flush) ? 0 : 1 + below(2));
	}
	if (!node->up) {
		return;
	}
	if (once_in(100)) {
		node->saved = node->now;
		node->saved_history = node->history;
		node->saved_offset = node->offset;
	}
	if (once_in(weather.crash)) {
		total.restarts++;
		node->up = false;
		node->back_at = now + 1 + below(once_in(2) ? 3 : 2 * weather.length);
		node->stopped_until = now;
		TELL("server %d crashes", index_of(node));
	} else if (once_in(weather.stop)) {
		total.stops++;
		node->stopped_until = now + 1 + below(2 * weather.length);
		TELL("server %d is stopped until %d", index_of(node), node->stopped_until);
	} else if (runs(node) && node->is_master && weather.flush && once_in(100 * weather.flush)) {
		forget(&node->now);
		node->offset++;
		TELL("server %d is flushed", index_of(node));
	} else if (node->is_master && weather.clear && now - node->replicas_until > weather.clear) {
		node->replid = node->history = ++ids;
		node->replid2 = NOBODY;
		node->replicas_until = now;
		TELL("server %d has no replica that follows: replid %d", index_of(node), node->replid);
	}
}

static void fail_over(void)
{
	int n = below(count);
	bool seen = runs(&nodes[newest]) && group_of[newest] == sentinels;

	unseen = seen ? 0 : unseen + 1;
	if (!(unseen > weather.length / 3 && once_in(5)) && !once_in(weather.fail_over)) {
		return;
	}
	if (runs(&nodes[n]) && !nodes[n].is_master && (group_of[n] == sentinels || once_in(weather.rogue))) {
		promote(&nodes[n]);
		unseen = 0;
	}
}

static void command(server *node)
{
	int n = index_of(node), other = below(count);

	if (!runs(node)) {
		return;
	}
	if ((IS(STALE) || IS(MOVED_BACK)) && !node->is_master && nodes[other].is_master && once_in(weather.stale)) {
		follow(node, other);
	} else if (group_of[n] != sentinels || n == newest) {
		return;
	} else if (node->is_master ? once_in(weather.demote) : node->master != newest && once_in(weather.move)) {
		follow(node, newest);
	}
}

/* ---- a walk ---- */

static void draw_weather(void)
{
	weather.delay = one_of(0, 1, 6);
	weather.lag = one_of(0, 1, 8);
	weather.hold = one_of(6, 40, 150);
	weather.pause = one_of(3, 20, 60);
	weather.hurry = one_of(1, 3, 15);
	weather.length = one_of(6, 30, 100);
	weather.part = one_of(0, 300, 80);
	weather.crash = one_of(0, 2000, 400);
	weather.stop = one_of(0, 1000, 200);
	weather.fail_over = one_of(0, 600, 120);
	weather.rogue = one_of(0, 4, 1);
	weather.move = one_of(1, 5, 40);
	weather.demote = one_of(1, 10, 60);
	weather.link = one_of(1, 1, 10);
	weather.flush = one_of(0, 2, 10);
	weather.lose = one_of(0, 0, 30);
	weather.late = one_of(0, 0, 20);
	weather.kill = below(2);
	weather.clear = one_of(0, 5, 20);
	weather.stale = one_of(200, 50, 10);
}

static void begin_episode(void)
{
	int apart = IS(CLOCKS_APART) ? 3 * LEASE : (LEASE - 1) / 2;

	apart = IS(AT_ONCE) && !once_in(4) ? below(2) * MARGIN / 2 : apart;

	memset(nodes, 0, sizeof nodes);
	memset(clients, 0, sizeof clients);
	memset(group_of, 0, sizeof group_of);
	sent_messages = newest = ids = tokens = highest = sentinels = parted_until = unseen = 0;
	violation = NULL;
	draw_weather();
	for (int n = 0; n < NODES; n++) {
		server *node = &nodes[n];
		node->run_id = ++ids;
		node->up = true;
		node->up_since = -LEASE;
		node->first = 1;
		node->clock = below(2 * apart + 1) - apart;
		node->replid = node->history = ++ids;
		node->replid2 = node->linked = NOBODY;
		node->due = NEVER;
		for (int m = 0; m < NODES; m++) {
			node->acks[m].due = NEVER;
		}
		forget(&node->now);
		forget(&node->saved);
		begin_reign(node);
	}
	nodes[0].is_master = true;
	for (int c = 0; c < CLIENTS; c++) {
		clients[c].node = NOBODY;
		clients[c].settle_at = clients[c].asks_nodes_at = NEVER;
		clients[c].found.replid = NOBODY;
		clients[c].asks_at = below(10);
	}
}

static void tick(void)
{
	int owners = 0;

	part();
	fail_over();
	for (int n = 0; n < count; n++) {
		break_server(&nodes[n]);
		command(&nodes[n]);
	}
	for (int n = 0; n < count; n++) {
		if (!nodes[n].is_master && runs(&nodes[n])) {
			replicate(&nodes[n]);
		}
	}
	for (int n = 0; n < count; n++) {
		if (nodes[n].is_master && runs(&nodes[n])) {
			read_acks(&nodes[n]);
		}
	}
	deliver();
	for (int c = 0; c < CLIENTS; c++) {
		act(&clients[c]);
		owners += believes(&clients[c]);
	}
	if (owners > 1) {
		violation = "two owners";
	}
}

static bool walk(uint64_t seed, long episode)
{
	begin_chance(seed, episode);
	begin_episode();
	for (now = 1; now <= EPISODE; now++) {
		tick();
		total.ticks++;
		if (violation) {
			printf("%s: episode %ld, tick %d; seed=%llu\n", violation, episode, now, (unsigned long long)seed);
			return false;
		}
	}
	return true;
}

static int usage(void)
{
	puts("walk [seed=N] [seconds=S | episodes=E] [episode=N] [SETTING ...]");
	for (int i = 0; i < SETTINGS; i++) {
		printf("  %-22s  %s\n", settings[i].name, settings[i].what);
	}
	return 2;
}

static bool read_setting(const char *word)
{
	for (int i = 0; i < SETTINGS; i++) {
		if (strcmp(word, settings[i].name) == 0) {
			return set[i] = true;
		}
	}
	return false;
}

int main(int argc, char **argv)
{
	uint64_t seed = (uint64_t)time(NULL);
	long seconds = 10, episodes = 0, only = -1;
	bool holds = true;

	for (int i = 1; i < argc; i++) {
		if (sscanf(argv[i], "seed=%" SCNu64, &seed) != 1 && sscanf(argv[i], "seconds=%ld", &seconds) != 1
			&& sscanf(argv[i], "episodes=%ld", &episodes) != 1 && sscanf(argv[i], "episode=%ld", &only) != 1
			&& !read_setting(argv[i])) {
			return usage();
		}
	}
	for (int i = AT_ONCE; i < SETTINGS; i++) {
		set[AT_ONCE] |= set[i];
	}
	set[STALE] |= IS(AT_ONCE);
	set[ANCHORED] |= IS(AT_ONCE);
	count = IS(FIVE) || IS(TOO_FEW) ? 5 : 3;
	confirmations = IS(FIVE) ? 2 : 1;
	telling = only >= 0;
	time_t end = time(NULL) + seconds;
	for (long e = telling ? only : 0; holds
		 && (telling        ? e == only
				 : episodes ? e < episodes
							: time(NULL) < end);
		 e++) {
		holds = walk(seed, e);
	}
	printf(
		"%.1f million ticks: %ld failovers, %ld partitions, %ld restarts, %ld stops, %ld full resyncs; "
		"%ld grants, %ld renewals, "
		"%ld repairs, %ld handovers, %ld settled at once; seed=%" PRIu64 "\n",
		(double) total.ticks / 1e6, total.fail_overs, total.partitions, total.restarts, total.stops, total.resyncs,
		total.grants, total.renewals, total.repairs, total.pushes, total.at_once, seed);
	return !holds;
}

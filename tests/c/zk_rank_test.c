/* Unit tests of src/zookeeper/lock/rank.c: which nodes hold, and which nodes a waiter waits for. Prints TAP. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/zookeeper/session/path.h"
#include "../../src/zookeeper/lock/rank.h"
#include "tap.h"

enum { MOST = 24, NAME_SIZE = 64 };

/* The names of a resource's nodes, in the order in which a server may list them. */
typedef struct {
	char *names[MOST];
	int count;
} list;

static list listed(const char *words)
{
	list l = { .count = 0 };
	char *copy = strdup(words);

	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
		l.names[l.count++] = strdup(word);
	}
	free(copy);
	return l;
}

static void list_free(list *l)
{
	while (l->count > 0) {
		free(l->names[--l->count]);
	}
}

static void find(dlock_zk_rank *rank, dlock_zk_kind kind, const list *l, const char *mine)
{
	if (!dlock_zk_rank_find(rank, kind, l->names, l->count, mine)) {
		abort();
	}
}

/* Is the rank of `mine` as expected: "held", "absent", or the obstacles? */
static bool rank_is(dlock_zk_kind kind, const char *words, const char *mine, const char *expected)
{
	char text[MOST * NAME_SIZE] = "";
	dlock_zk_rank rank;
	list l = listed(words);

	find(&rank, kind, &l, mine);
	for (int i = 0; i < rank.count; i++) {
		strcat(strcat(text, i ? " " : ""), rank.obstacles[i]);
	}
	if (!rank.present || rank.granted) {
		strcpy(text, rank.granted ? "held" : "absent");
	}
	dlock_zk_rank_free(&rank);
	list_free(&l);
	if (strcmp(text, expected) != 0) {
		printf("# %s instead of %s\n", text, expected);
	}
	return strcmp(text, expected) == 0;
}

static void test_locks(void)
{
	const char *line = "lease b__lock__0000000009 _c_1-lock-0000000010 _c_2-lock-0000000002 x-lock-0000000011";
	const char *over = "_c_1-lock--2147483648 _c_2-lock-2147483647 _c_3-lock--2147483647";

	check(rank_is(DLOCK_ZK_LOCK, line, "_c_1-lock-0000000010", "b__lock__0000000009"),
		"a lock waits for the node before it, by number");
	check(rank_is(DLOCK_ZK_LOCK, line, "_c_2-lock-0000000002", "held"), "the first node holds");
	check(rank_is(DLOCK_ZK_LOCK, line, "_c_9-lock-0000000010", "absent"),
		"another client's node of the same number is not this one");
	check(rank_is(DLOCK_ZK_LOCK, line, "lease", "absent"), "a node without a number does not count");
	check(rank_is(DLOCK_ZK_LOCK, over, "_c_1-lock--2147483648", "_c_2-lock-2147483647"),
		"the node before, across the overflow");
	check(rank_is(DLOCK_ZK_LOCK, over, "_c_3-lock--2147483647", "_c_1-lock--2147483648"),
		"the node after the overflow waits for it");
	check(rank_is(DLOCK_ZK_LOCK, over, "_c_2-lock-2147483647", "held"), "the first node, before the overflow, holds");
	check(rank_is(DLOCK_ZK_LOCK, "_c_a-1-of-5-0000000001 _c_b-lock-0000000002", "_c_b-lock-0000000002",
			  "_c_a-1-of-5-0000000001"),
		"a lock waits for any node with a number");
}

static void test_readers_and_writers(void)
{
	const char *line = "_c_a-__READ__0000000001 k__rlock__0000000002 _c_w-__WRIT__0000000003 _c_b-__READ__0000000004 "
		"_c_c-__READ__0000000005 _c_v-__WRIT__0000000006 _c_d-__READ__0000000007";
	dlock_zk_kind kind = DLOCK_ZK_READ_WRITE;

	check(rank_is(kind, line, "_c_a-__READ__0000000001", "held") && rank_is(kind, line, "k__rlock__0000000002", "held"),
		"readers hold together, Curator's and kazoo's");
	check(rank_is(kind, line, "_c_w-__WRIT__0000000003", "k__rlock__0000000002"),
		"a writer waits for the last node before it");
	check(rank_is(kind, line, "_c_c-__READ__0000000005", "_c_w-__WRIT__0000000003"),
		"a reader waits for the last writer, not for its neighbor");
	check(rank_is(kind, line, "_c_d-__READ__0000000007", "_c_v-__WRIT__0000000006"),
		"a later reader waits for the second writer");
	check(rank_is(kind, line, "_c_v-__WRIT__0000000006", "_c_c-__READ__0000000005"),
		"the second writer waits for the last node before it, too");
	check(
		rank_is(kind, "k__lock__0000000001 _c_b-__READ__0000000002", "_c_b-__READ__0000000002", "k__lock__0000000001"),
		"a reader waits for kazoo's writer");
	check(rank_is(kind, "x-lock-0000000001 _c_b-__READ__0000000002", "_c_b-__READ__0000000002", "x-lock-0000000001"),
		"a lock counts as a writer");
	check(rank_is(kind, "_c_b-__READ__x-0000000001 _c_b-__READ__0000000002", "_c_b-__READ__0000000002",
			  "_c_b-__READ__x-0000000001"),
		"so does a node that only looks like a reader");
	check(rank_is(kind, "_c_a-__READ__-2147483648 _c_b-__READ__2147483647", "_c_a-__READ__-2147483648", "held"),
		"readers hold across the overflow");
}

static void test_semaphores(void)
{
	const char *line =
		"_c_a-1-of-3-0000000001 _c_b-1-of-3-0000000002 _c_c-1-of-3-0000000003 "
		"_c_d-1-of-3-0000000004 _c_e-1-of-3-0000000005";
	const char *sizes = "_c_a-3-of-5-0000000001 _c_b-1-of-5-0000000002 _c_c-4-of-5-0000000003 _c_d-1-of-5-0000000004";
	dlock_zk_kind kind = DLOCK_ZK_SEMAPHORE;

	check(rank_is(kind, line, "_c_c-1-of-3-0000000003", "held"), "as many hold as there are permits");
	check(rank_is(kind, line, "_c_d-1-of-3-0000000004",
			  "_c_c-1-of-3-0000000003 _c_b-1-of-3-0000000002 _c_a-1-of-3-0000000001"),
		"the next node waits for any of them, because they end in any order");
	check(rank_is(kind, line, "_c_e-1-of-3-0000000005",
			  "_c_d-1-of-3-0000000004 _c_c-1-of-3-0000000003 _c_b-1-of-3-0000000002"),
		"a node further back waits for the last three");
	check(rank_is(kind, sizes, "_c_c-4-of-5-0000000003", "_c_a-3-of-5-0000000001"), "one large obstacle is enough");
	check(rank_is(kind, sizes, "_c_d-1-of-5-0000000004", "_c_c-4-of-5-0000000003 _c_b-1-of-5-0000000002"),
		"a small request does not overtake");
	check(rank_is(kind, "_c_a-2-of-2-0000000001 _c_b-2-of-2-0000000002", "_c_b-2-of-2-0000000002",
			  "_c_a-2-of-2-0000000001"),
		"a request for all permits waits for another");
	check(rank_is(kind, "x-lock-0000000001 _c_b-1-of-9-0000000002", "_c_b-1-of-9-0000000002", "x-lock-0000000001"),
		"a lock has all permits");
	check(rank_is(kind, "_c_a-1-of-9-0000000001 x-lock-0000000002 _c_b-1-of-9-0000000003", "_c_b-1-of-9-0000000003",
			  "x-lock-0000000002"),
		"also if it waits");
	for (size_t i = 0; i < 8; i++) {
		static const char *const odd[] = { "_c_a-0-of-9-", "_c_a-01-of-9-", "_c_a-5-of-4-", "_c_a-1-of-1000000000-",
			"_c_a--1-of-9-", "_c_a-1-of-9x-", "x_c_a-1-of-9-", "_c_a-1-of-9-9-" };
		char words[128], name[64];
		snprintf(name, sizeof name, "%s0000000001", odd[i]);
		snprintf(words, sizeof words, "%s _c_b-1-of-9-0000000002", name);
		check(rank_is(kind, words, "_c_b-1-of-9-0000000002", name), "%s is not a request for permits", name);
	}
	/* Clients disagree on the capacity. */
	const char *mixed = "_c_a-3-of-10-0000000001 _c_b-1-of-3-0000000002 _c_c-1-of-10-0000000003";
	check(rank_is(kind, mixed, "_c_b-1-of-3-0000000002", "_c_a-3-of-10-0000000001"),
		"a request with a smaller capacity waits");
	check(rank_is(kind, mixed, "_c_c-1-of-10-0000000003", "_c_a-3-of-10-0000000001 _c_b-1-of-3-0000000002"),
		"a later request does not overtake it");
	list l = listed(sizes);
	check(dlock_zk_held_permits(kind, l.names, l.count) == 4, "four permits are held");
	list_free(&l);
	l = listed("lease config");
	check(dlock_zk_held_permits(kind, l.names, l.count) == 0, "no permit is held");
	list_free(&l);
}

static void test_labels(void)
{
	char label[DLOCK_ZK_LABEL_SIZE];

	dlock_zk_label(DLOCK_ZK_LOCK, 1, 1, label);
	check(strcmp(label, "lock-") == 0, "a lock's label");
	dlock_zk_label(DLOCK_ZK_SEMAPHORE, DLOCK_PERMITS_ALL - 1, DLOCK_PERMITS_ALL - 1, label);
	check(strcmp(label, "999999999-of-999999999-") == 0, "a semaphore's label");
	dlock_zk_label(DLOCK_ZK_READ_WRITE, 1, DLOCK_PERMITS_ALL, label);
	check(strcmp(label, "__READ__") == 0, "a reader's label");
	dlock_zk_label(DLOCK_ZK_READ_WRITE, DLOCK_PERMITS_ALL, DLOCK_PERMITS_ALL, label);
	check(strcmp(label, "__WRIT__") == 0, "a writer's label");
}

/* ---- random nodes come and go, and each rank is compared with what must hold ---- */

static unsigned pick(unsigned below)
{
	return (unsigned) (random() % below);
}

static void add_random(list *l, dlock_zk_kind kind, uint32_t *next)
{
	char label[DLOCK_ZK_LABEL_SIZE], name[NAME_SIZE];
	int64_t capacity = kind == DLOCK_ZK_READ_WRITE ? DLOCK_PERMITS_ALL : pick(8) ? 5 : 1 + pick(9);
	int64_t permits = kind == DLOCK_ZK_READ_WRITE ? (pick(3) ? 1 : DLOCK_PERMITS_ALL)
												  : 1 + pick((unsigned) capacity) % (pick(3) ? 2 : 9);

	dlock_zk_label(kind, permits, capacity, label);
	snprintf(name, sizeof name, "_c_%u-%s%010d", *next, label, (int32_t) *next);
	++*next;
	/* A server lists nodes in any order. */
	int at = (int) pick((unsigned) l->count + 1);
	memmove(&l->names[at + 1], &l->names[at], (size_t) (l->count - at) * sizeof *l->names);
	l->names[at] = strdup(name);
	l->count++;
}

static void remove_at(list *l, int at)
{
	free(l->names[at]);
	l->names[at] = l->names[--l->count];
}

static bool holds(dlock_zk_kind kind, const list *l, const char *name)
{
	dlock_zk_rank rank;

	find(&rank, kind, l, name);
	bool granted = rank.granted;
	dlock_zk_rank_free(&rank);
	return granted;
}

/* A waiter is not granted while its obstacles exist, whatever other nodes go. Returns how often it is. */
static int missed_wakeups(dlock_zk_kind kind, const list *l, const char *name)
{
	dlock_zk_rank rank;
	int missed = 0;

	find(&rank, kind, l, name);
	for (int i = 0; rank.present && !rank.granted && i < 20; i++) {
		list rest = { .count = 0 };
		for (int k = 0; k < l->count; k++) {
			bool kept = strcmp(l->names[k], name) == 0 || (i > 0 && pick(2));
			for (int o = 0; o < rank.count; o++) {
				kept |= rank.obstacles[o] == l->names[k];
			}
			if (kept) {
				rest.names[rest.count++] = l->names[k];
			}
		}
		missed += holds(kind, &rest, name);
	}
	dlock_zk_rank_free(&rank);
	return missed;
}

static void walk(dlock_zk_kind kind, uint32_t next, int steps, int *missed, int *taken_back, int *overtaken)
{
	list l = { .count = 0 };

	for (int step = 0; step < steps; step++) {
		bool held[MOST];
		if (l.count < MOST - 1 && (l.count == 0 || pick(2))) {
			add_random(&l, kind, &next);
		} else {
			remove_at(&l, (int) pick((unsigned) l.count));
		}
		for (int i = 0; i < l.count; i++) {
			held[i] = holds(kind, &l, l.names[i]);
			*missed += missed_wakeups(kind, &l, l.names[i]);
		}
		for (int i = 0; i < l.count; i++) {
			for (int k = 0; k < l.count; k++) {
				int32_t a = 0, b = 0;
				dlock_zk_sequence(l.names[i], &a);
				dlock_zk_sequence(l.names[k], &b);
				*overtaken += held[i] && !held[k] && (int32_t) ((uint32_t) b - (uint32_t) a) < 0;
			}
		}
		/* A node that holds still holds when other nodes go or come. */
		if (l.count > 1 && l.count < MOST - 1) {
			int gone = (int) pick((unsigned) l.count), one = (int) pick((unsigned) l.count);
			if (gone != one && held[one]) {
				char *name = strdup(l.names[one]);
				remove_at(&l, gone);
				add_random(&l, kind, &next);
				*taken_back += !holds(kind, &l, name);
				free(name);
			}
		}
	}
	list_free(&l);
}

static void test_random(void)
{
	static const dlock_zk_kind kinds[] = { DLOCK_ZK_LOCK, DLOCK_ZK_SEMAPHORE, DLOCK_ZK_READ_WRITE };
	int missed = 0, taken_back = 0, overtaken = 0;

	srandom(17);
	for (size_t i = 0; i < 3; i++) {
		walk(kinds[i], 0, 500, &missed, &taken_back, &overtaken);
		walk(kinds[i], INT32_MAX - 100, 500, &missed, &taken_back, &overtaken);
	}
	check(missed == 0, "a waiter's turn comes only when an obstacle goes (%d)", missed);
	check(taken_back == 0, "a node that holds stays granted (%d)", taken_back);
	check(overtaken == 0, "no node overtakes (%d)", overtaken);
}

int main(void)
{
	test_locks();
	test_readers_and_writers();
	test_semaphores();
	test_labels();
	test_random();
	return tap_end();
}

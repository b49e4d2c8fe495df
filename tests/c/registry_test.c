/* src/lock/registry.c, and src/lock/operations.c for all back ends, with a back end that only counts. Prints TAP. */

#include <stdlib.h>
#include <unistd.h>

#include "../../src/lock/registry.h"
#include "helpers.h"
#include "tap.h"

typedef struct {
	dlock_backend base;
	int acquired, extended, checked, released, abandoned, disposed, destroyed;
	dlock_status answer;
} counting_backend;

static counting_backend counts;

static dlock_status count_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	(void) wait, (void) error;
	counts.acquired++;
	claim->state = DLOCK_CLAIM_HELD;
	claim->deadline = dlock_now() + claim->ttl;
	return counts.answer;
}

static dlock_status count_extend(dlock_claim *claim, dlock_nanos ttl, dlock_error *error)
{
	(void) claim, (void) ttl, (void) error;
	counts.extended++;
	return counts.answer;
}

static dlock_status count_check(dlock_claim *claim, dlock_error *error)
{
	(void) claim, (void) error;
	counts.checked++;
	return counts.answer;
}

static dlock_status count_release(dlock_claim *claim, dlock_error *error)
{
	(void) claim, (void) error;
	counts.released++;
	return counts.answer;
}

static void count_abandon(dlock_claim *claim)
{
	(void) claim;
	counts.abandoned++;
}

static void count_dispose(dlock_claim *claim)
{
	(void) claim;
	counts.disposed++;
}

static void count_destroy(dlock_backend *backend)
{
	(void) backend;
	counts.destroyed++;
}

static const dlock_backend_ops counting_ops = {
	.name = "counting",
	.claim_size = sizeof(dlock_claim),
	.acquire = count_acquire,
	.extend = count_extend,
	.check = count_check,
	.release = count_release,
	.abandon = count_abandon,
	.dispose = count_dispose,
	.destroy = count_destroy,
	.session_lease = true,
};

static void begin(void)
{
	memset(&counts, 0, sizeof counts);
	dlock_backend_init(&counts.base, &counting_ops, "prefix", 6);
}

#define TTL (600 * DLOCK_SECOND) /* 100,000 claims take long under a sanitizer on a busy machine */

static dlock_claim *claim_of(const char *resource, dlock_claim_state state)
{
	dlock_error error;
	dlock_claim *claim = dlock_claim_new(&counts.base, resource, strlen(resource), TTL, NULL, &error);

	claim->state = state;
	claim->deadline = dlock_now() + TTL;
	return claim;
}

static dlock_claim *claim_in(dlock_claim_state state)
{
	return claim_of("a resource", state);
}

/* ---- registry ---- */

/* The layer above has such an entry. */
typedef struct {
	dlock_registry_entry entry;
	bool release_at_end, owned;
} hold;

static hold *hold_in(dlock_claim_state state, bool release_at_end, bool owned)
{
	hold *made = calloc(1, sizeof *made);

	*made = (hold) { .entry.claim = claim_in(state), .release_at_end = release_at_end, .owned = owned };
	return made;
}

static void free_hold(hold *hold)
{
	dlock_claim_free(hold->entry.claim);
	free(hold);
}

static void end_hold(dlock_registry_entry *entry)
{
	hold *ended = (hold *) entry;

	dlock_claim_end(entry->claim, ended->release_at_end);
	if (!ended->owned) {
		free_hold(ended);
	}
}

static void test_clear(void)
{
	static const struct {
		dlock_claim_state state;
		bool release_at_end, owned;
		int abandoned, freed;
		const char *text;
	} cases[] = {
		{ DLOCK_CLAIM_HELD, true, true, 1, 0, "held and marked" },
		{ DLOCK_CLAIM_HELD, true, false, 1, 1, "held and marked, without an owner" },
		{ DLOCK_CLAIM_HELD, false, true, 0, 0, "held, to be kept" },
		{ DLOCK_CLAIM_HELD, false, false, 0, 1, "held, to be kept, without an owner" },
		{ DLOCK_CLAIM_UNCERTAIN, true, true, 1, 0, "uncertain and marked" },
		{ DLOCK_CLAIM_WAITING, false, true, 1, 0, "waiting, not marked" },
		{ DLOCK_CLAIM_WAITING, true, false, 1, 1, "waiting, without an owner" },
		{ DLOCK_CLAIM_NEW, true, true, 0, 0, "new" },
		{ DLOCK_CLAIM_LOST, true, true, 0, 0, "lost" },
		{ DLOCK_CLAIM_RELEASED, true, false, 0, 1, "released, without an owner" },
	};
	enum { COUNT = sizeof cases / sizeof *cases };

	for (int i = 0; i < COUNT; i++) {
		dlock_registry registry = { NULL };
		begin();
		hold *hold = hold_in(cases[i].state, cases[i].release_at_end, cases[i].owned);
		dlock_registry_add(&registry, &hold->entry);
		dlock_registry_clear(&registry, end_hold);
		check(counts.abandoned == cases[i].abandoned && counts.disposed == cases[i].freed && counts.released == 0,
			"%s: %s, %s", cases[i].text, cases[i].abandoned ? "abandoned" : "left",
			cases[i].freed ? "freed" : "not freed");
		check(!registry.first && (cases[i].freed || !hold->entry.registered), "it is no longer in the registry");
		if (!cases[i].freed) {
			dlock_registry_remove(&registry, &hold->entry); /* its owner removes it later */
			dlock_claim_abandon(hold->entry.claim);
			bool twice = counts.abandoned > 1;
			check(!twice, "abandoned once");
			free_hold(hold);
		}
	}
	begin();
	dlock_registry registry = { NULL };
	for (int i = 0; i < COUNT; i++) {
		dlock_registry_add(&registry, &hold_in(cases[i].state, cases[i].release_at_end, false)->entry);
	}
	dlock_registry_clear(&registry, end_hold);
	check(counts.abandoned == 5 && counts.disposed == COUNT && counts.base.references == 1, "all entries together");
	dlock_registry_clear(&registry, end_hold);
	check(counts.abandoned == 5, "a second time finds nothing");
	dlock_backend_release(&counts.base);
	check(counts.destroyed == 1, "the last reference frees the back end");
}

static dlock_registry_entry *find(const dlock_registry *registry, const char *resource, const char *token)
{
	return dlock_registry_find(registry, &counts.base, resource, strlen(resource), token);
}

static void test_remove(void)
{
	static const int orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 0, 2 }, { 1, 2, 0 }, { 0, 2, 1 }, { 2, 0, 1 } };
	int bad = 0;

	begin();
	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
		dlock_registry registry = { NULL };
		hold *holds[3];
		for (int k = 0; k < 3; k++) {
			holds[k] = hold_in(DLOCK_CLAIM_HELD, true, true);
			dlock_registry_add(&registry, &holds[k]->entry);
		}
		for (int k = 0; k < 3; k++) {
			dlock_registry_entry *entry = &holds[orders[i][k]]->entry;
			bad += find(&registry, entry->claim->resource, entry->claim->token) != entry;
			dlock_registry_remove(&registry, entry);
			dlock_registry_remove(&registry, entry);
			bad += find(&registry, entry->claim->resource, entry->claim->token) != NULL || entry->registered
				|| entry->next || entry->previous;
			for (int left = k + 1; left < 3; left++) {
				const hold *other = holds[orders[i][left]];
				bad += find(&registry, other->entry.claim->resource, other->entry.claim->token) != &other->entry;
			}
		}
		bad += registry.first != NULL;
		for (int k = 0; k < 3; k++) {
			free_hold(holds[k]);
		}
	}
	check(bad == 0, "added, found and removed in every order (%d)", bad);
	dlock_backend_release(&counts.base);
	check(counts.abandoned == 0 && counts.disposed == 18 && counts.destroyed == 1, "without a call to the back end");
}

static void test_find_unknown(void)
{
	dlock_registry registry = { NULL };
	char token[DLOCK_TOKEN_LEN + 1];

	begin();
	dlock_token(token);
	check(!find(&registry, "a resource", token), "an empty registry has no claim");
	dlock_registry_add(&registry, &hold_in(DLOCK_CLAIM_HELD, true, false)->entry);
	check(!find(&registry, "a resource", token), "a claim is not found by another token");
	dlock_registry_clear(&registry, end_hold);
	dlock_backend_release(&counts.base);
}

/* However many claims a process holds, a search compares hardly more than one. */
static void test_find_among_many(void)
{
	enum { COUNT = 100000 };
	static dlock_registry_entry entries[COUNT];
	dlock_registry registry = { NULL };
	char name[32];
	int bad = 0;

	begin();
	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof name, "item-%d", i);
		entries[i].claim = claim_of(name, DLOCK_CLAIM_HELD);
		dlock_registry_add(&registry, &entries[i]);
	}
	int comparisons = 0;
	for (size_t i = 0; i < registry.bucket_count; i++) { /* 1 for the first of a bucket, 2 for the second, … */
		int n = 0;
		for (const dlock_registry_entry *entry = registry.buckets[i]; entry; entry = entry->next_in_bucket) {
			comparisons += ++n;
		}
	}
	for (int i = 0; i < COUNT; i++) {
		const dlock_claim *claim = entries[i].claim;
		bad += dlock_registry_find_endless(&registry, &counts.base, claim->resource, claim->resource_len, 1, 0, NULL)
			!= claim;
		bad += dlock_registry_find_made_by(
					&registry, &counts.base, claim->resource, claim->resource_len, 0)
			!= &entries[i];
		bad += dlock_registry_find(&registry, &counts.base, claim->resource, claim->resource_len, claim->token)
			!= &entries[i];
	}
	check(bad == 0 && comparisons < 3 * COUNT, "each of %d is found, by %.1f comparisons on average", COUNT,
		comparisons / (1.0 * COUNT));
	for (int i = 0; i < COUNT; i += 2) {
		dlock_registry_remove(&registry, &entries[i]);
	}
	for (int i = 0; i < COUNT; i++) {
		const dlock_claim *claim = entries[i].claim;
		bool found = dlock_registry_find_endless(
						 &registry, &counts.base, claim->resource, claim->resource_len, 1, 0, NULL)
			== claim;
		bad += found != (i % 2 == 1);
		dlock_registry_remove(&registry, &entries[i]);
		dlock_claim_free(entries[i].claim);
	}
	dlock_registry_clear(&registry, end_hold);
	check(bad == 0, "a removed claim is not found (%d)", bad);
	dlock_backend_release(&counts.base);
}

/* A registry serves one request after another. It must not find entries of earlier requests, which are freed. */
static void test_requests(void)
{
	dlock_registry registry = { NULL };
	int bad = 0;

	begin();
	for (int request = 0; request < 3; request++) {
		for (int i = 0; i < 100; i++) {
			dlock_registry_add(&registry, &hold_in(DLOCK_CLAIM_HELD, false, false)->entry);
			bad += find(&registry, "a resource", registry.first->claim->token) != registry.first;
			bad += dlock_registry_find_made_by(&registry, &counts.base, "a resource", 10, 0) != registry.first;
		}
		dlock_registry_clear(&registry, end_hold);
	}
	check(bad == 0 && counts.disposed == 300, "each request finds its own entries only");
	dlock_backend_release(&counts.base);
}

/* Prefix and resource together are the name, wherever the prefix ends. */
static void test_same_lock(void)
{
	static const struct {
		const char *prefix, *resource, *other_prefix, *other;
		bool same;
	} cases[] = {
		{ "Lock:", "a", "Lock:", "a", true },
		{ "Lock:", "a", "Lock:", "b", false },
		{ "Lock:", "a", "Lock:", "aa", false },
		{ "Lock:", "a:b", "Lock:a:", "b", true },
		{ "Lock:", "ab", "Lock:a", "c", false },
		{ "", "Lock:a", "Lock:", "a", true },
		{ "", "Lock:a", "lock:", "a", false },
		{ "Lock:", "a", "Lock:a", "a", false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dlock_backend a, b;
		dlock_name name = DLOCK_ARG(cases[i].resource), other = DLOCK_ARG(cases[i].other);
		dlock_backend_init(&a, &counting_ops, cases[i].prefix, strlen(cases[i].prefix));
		dlock_backend_init(&b, &counting_ops, cases[i].other_prefix, strlen(cases[i].other_prefix));
		bool there = dlock_backend_is_same_lock(&a, name, &b, other),
			 back = dlock_backend_is_same_lock(&b, other, &a, name),
			 hashed = dlock_backend_hash(&a, name.text, name.len) == dlock_backend_hash(&b, other.text, other.len);
		check(there == cases[i].same && back == there && hashed == there, "%s and %s, %s and %s: %s", cases[i].prefix,
			cases[i].resource, cases[i].other_prefix, cases[i].other, there ? "one lock" : "two locks");
	}
}

static int visits;

static void visit(dlock_registry_entry *entry)
{
	(void) entry;
	visits++;
}

static void test_purge(void)
{
	dlock_registry registry = { NULL };
	int bad = 0;

	begin();
	visits = 0;
	for (int i = 0; i < 1000; i++) {
		dlock_registry_purge(&registry, visit);
		bad += i == 200 && visits == 0;
		dlock_registry_add(&registry, &hold_in(DLOCK_CLAIM_HELD, false, false)->entry);
	}
	check(bad == 0 && visits < 1000, "a purge visits the entries now and then (%d)", visits);
	dlock_registry_clear(&registry, end_hold);
	dlock_registry_purge(&registry, visit);
	check(counts.disposed == 1000 && counts.abandoned == 0, "a purge frees none by itself");
	dlock_backend_release(&counts.base);
}

static void test_child(void)
{
	dlock_registry registry = { NULL };

	begin();
	hold *held = hold_in(DLOCK_CLAIM_HELD, true, false), *waiting = hold_in(DLOCK_CLAIM_WAITING, true, false);
	dlock_registry_add(&registry, &held->entry);
	dlock_registry_add(&registry, &waiting->entry);
	pid_t pid = fork_child();
	if (pid == 0) {
		int bad = find(&registry, held->entry.claim->resource, held->entry.claim->token) != NULL;
		dlock_registry_clear(&registry, end_hold);
		_exit(bad + 2 * (counts.abandoned != 0) + 4 * (counts.disposed != 2));
	}
	int bad = exit_of(pid);
	check(bad == 0, "a child frees its parent's claims without a call to the back end (%d)", bad);
	dlock_registry_clear(&registry, end_hold);
	check(counts.abandoned == 2, "the parent abandons them");
	dlock_backend_release(&counts.base);
}

/* ---- the operations of all back ends ---- */

static void test_states(void)
{
	static const struct {
		dlock_claim_state state;
		bool extends, checks, releases, abandons;
		const char *text;
	} cases[] = {
		{ DLOCK_CLAIM_NEW, false, false, false, false, "new" },
		{ DLOCK_CLAIM_WAITING, false, false, false, true, "waiting" },
		{ DLOCK_CLAIM_HELD, true, true, true, true, "held" },
		{ DLOCK_CLAIM_UNCERTAIN, true, true, true, true, "uncertain" },
		{ DLOCK_CLAIM_LOST, false, false, false, false, "lost" },
		{ DLOCK_CLAIM_RELEASED, false, false, false, false, "released" },
	};
	dlock_error error;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		dlock_claim *claim = claim_in(cases[i].state);
		check((dlock_claim_extend(claim, DLOCK_SECOND, &error) == DLOCK_OK) == cases[i].extends
				&& counts.extended == cases[i].extends,
			"%s: %s", cases[i].text, cases[i].extends ? "extended" : "not extended");
		claim->state = cases[i].state;
		check((dlock_claim_check(claim, &error) == DLOCK_OK) == cases[i].checks && counts.checked == cases[i].checks,
			"%s: %s", cases[i].text, cases[i].checks ? "checked" : "not checked");
		claim->state = cases[i].state;
		check((dlock_claim_release(claim, &error) == DLOCK_OK) == cases[i].releases
				&& counts.released == cases[i].releases,
			"%s: %s", cases[i].text, cases[i].releases ? "released" : "not released");
		claim->state = cases[i].state;
		dlock_claim_abandon(claim);
		dlock_claim_abandon(claim);
		check(counts.abandoned == cases[i].abandons, "%s: %s", cases[i].text,
			cases[i].abandons ? "abandoned once" : "not abandoned");
		dlock_claim_free(claim);
		dlock_backend_release(&counts.base);
	}
}

static void test_look(void)
{
	dlock_nanos left;

	begin();
	dlock_claim *claim = claim_in(DLOCK_CLAIM_HELD);
	check(dlock_claim_refresh(claim, &left) == DLOCK_CLAIM_HELD && left > TTL / 2 && left <= TTL, "time left");
	claim->deadline = dlock_now();
	check(dlock_claim_refresh(claim, &left) == DLOCK_CLAIM_LOST && left == 0, "lost at the deadline");
	claim->deadline = 0;
	check(dlock_claim_refresh(claim, &left) == DLOCK_CLAIM_LOST && left == 0, "the time left is never negative");
	claim->deadline = DLOCK_FOREVER;
	check(dlock_claim_refresh(claim, &left) == DLOCK_CLAIM_HELD && left > DLOCK_FOREVER / 2, "held without limit");
	claim->state = DLOCK_CLAIM_UNCERTAIN;
	check(dlock_claim_refresh(claim, &left) == DLOCK_CLAIM_UNCERTAIN, "uncertain");
	claim->state = DLOCK_CLAIM_RELEASED;
	check(dlock_claim_refresh(claim, &left) == DLOCK_CLAIM_RELEASED && left == 0, "released");
	dlock_claim_free(claim);
	dlock_backend_release(&counts.base);
}

/* The back end's answer decides the state. */
static void test_answers(void)
{
	dlock_error error;

	for (dlock_status answer = DLOCK_LOST; answer <= DLOCK_FAILED; answer++) {
		begin();
		counts.answer = answer;
		dlock_claim_state after = answer == DLOCK_LOST ? DLOCK_CLAIM_LOST : DLOCK_CLAIM_HELD;
		dlock_claim *claim = claim_in(DLOCK_CLAIM_HELD);
		check(dlock_claim_extend(claim, DLOCK_SECOND, &error) == answer && claim->state == after, "extend: status %d",
			answer);
		claim->state = DLOCK_CLAIM_HELD;
		check(dlock_claim_check(claim, &error) == answer && claim->state == after, "check: status %d", answer);
		claim->state = DLOCK_CLAIM_HELD;
		check(dlock_claim_release(claim, &error) == answer && claim->state == DLOCK_CLAIM_LOST,
			"no caller relies on it after a release of status %d", answer);
		dlock_claim_free(claim);
		dlock_backend_release(&counts.base);
	}
}

static void test_claims(void)
{
	static const char given[] = "0123456789abcdef0123456789abcdef";
	dlock_error error;

	begin();
	dlock_claim *claim = dlock_claim_new(&counts.base, "a\0b", 3, 5, given, &error);
	check(!strcmp(claim->token, given) && claim->resource_len == 3 && !memcmp(claim->resource, "a\0b", 4)
			&& claim->ttl == 5,
		"a claim with a given token");
	dlock_claim *other = dlock_claim_new(&counts.base, "x", 1, 5, NULL, &error);
	check(strlen(other->token) == DLOCK_TOKEN_LEN && other->state == DLOCK_CLAIM_NEW && dlock_claim_is_mine(other),
		"a claim with a new token");
	counts.base.legacy = true;
	dlock_claim *legacy = dlock_claim_new(&counts.base, "x", 1, 5, NULL, &error);
	check(dlock_is_token(legacy->token, strlen(legacy->token), true) && strlen(legacy->token) == DLOCK_TOKEN_MAX,
		"a legacy claim has a longer token");
	char before[DLOCK_TOKEN_MAX + 1];
	strcpy(before, legacy->token);
	check(dlock_claim_renew_token(legacy, &error) == DLOCK_OK && strcmp(before, legacy->token)
			&& dlock_is_token(legacy->token, strlen(legacy->token), true) && strlen(legacy->token) == DLOCK_TOKEN_MAX,
		"its token is replaced by another long one");
	dlock_claim *attached = dlock_claim_new(&counts.base, "x", 1, 5, given, &error);
	check(!strcmp(attached->token, given), "a legacy back end accepts a given shorter token");
	dlock_registry registry = { NULL };
	dlock_claim *twin = dlock_claim_new(&counts.base, "x", 1, 5, legacy->token + sizeof DLOCK_TOKEN_LEGACY - 1, &error);
	dlock_registry_entry entry = { .claim = legacy }, other_entry = { .claim = twin };
	dlock_registry_add(&registry, &other_entry);
	dlock_registry_add(&registry, &entry);
	check(find(&registry, legacy->resource, legacy->token) == &entry
			&& find(&registry, twin->resource, twin->token) == &other_entry
			&& !find(&registry, "x", DLOCK_TOKEN_LEGACY),
		"each claim is found by its whole token");
	dlock_registry_remove(&registry, &other_entry);
	dlock_registry_remove(&registry, &entry);
	dlock_claim_free(twin);
	dlock_claim_free(attached);
	dlock_claim_free(legacy);
	dlock_backend_release(&counts.base);
	check(counts.destroyed == 0, "claims keep the back end");
	dlock_claim_free(claim);
	dlock_claim_free(other);
	check(counts.destroyed == 1 && counts.disposed == 5 && counts.released + counts.abandoned == 0,
		"the last claim frees it, without a call to the back end");
}

int main(void)
{
	dlock_process_init();
	test_clear();
	test_remove();
	test_find_unknown();
	test_find_among_many();
	test_requests();
	test_same_lock();
	test_purge();
	test_child();
	test_states();
	test_look();
	test_answers();
	test_claims();
	return tap_end();
}

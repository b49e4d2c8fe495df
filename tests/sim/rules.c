/* Checks what docs/reliability.md, leases.md and hand-over.md promise of locks, against what holders believe and the
 * servers' data. It does so after each run of a fiber, twenty times a second, and when clients ask for it. */
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE (50 * MS)
/* The time of a request that is answered at once, and of its consequences. */
#define SOON (50 * MS)
/* Requests of two waiters within this time count as simultaneous, because the first connects, is refused and opens an
 * inbox. */
#define TOGETHER (30 * MS)
/* The same after a failed call, because the client asks for the master first. It skips a server that does not answer
 * after 200 ms, and two questions are 50 ms apart (HEDGE and PAUSE in src/redis/route/topology.c). */
#define TOGETHER_ANEW (250 * MS)

/* How long a lock may be free while a client waits for it and nothing is wrong. A waiter looks again after 2.3 s. If
 * servers only notify, a notified waiter that does not come is passed over after 3 s. */
static const nanos longest_gap[SETUPS] = { [SINGLE] = 2400 * MS, [REPLICATED] = 2600 * MS, [QUORUM] = 5500 * MS,
	[CLUSTER] = 2600 * MS, [MEMCACHED] = 400 * MS };

/* How long a call may take beyond its timeout: the server's timeouts (docs/operations.md). */
static const nanos longest_overrun[SETUPS] = { [SINGLE] = 2100 * MS, [REPLICATED] = 2100 * MS, [QUORUM] = 2100 * MS,
	[CLUSTER] = 2100 * MS, [MEMCACHED] = 4100 * MS /* the timeouts of each question */ };

/* The time for what a fault leaves behind: connections to be opened, leases of dead clients, an epoch that has yet to
 * settle. */
static const nanos recovery[SETUPS] = { [SINGLE] = 6 * SECOND, [REPLICATED] = 30 * SECOND, [QUORUM] = 10 * SECOND,
	[CLUSTER] = 30 * SECOND, [MEMCACHED] = 6 * SECOND };

/* A waiter counts as dead 3 s after its last sign of life. That is noticed when its turn comes, before later
 * waiters. */
#define MISSED (3100 * MS)
/* The time in which a waiter for several locks is told that it is the first, and asks. */
static const nanos heard[SETUPS] = { [SINGLE] = 300 * MS, [REPLICATED] = 2600 * MS, [QUORUM] = 300 * MS,
	[CLUSTER] = 2600 * MS, [MEMCACHED] = NEVER };

static int64_t last_fence[RESOURCES];
static nanos free_since[RESOURCES]; /* NEVER: it is not free */
static nanos wanted[RESOURCES];     /* when a client last began to acquire it */
static nanos settles[RESOURCES];    /* by when its epoch, which the first request for it opens, has settled */
static nanos calm_since;            /* no fault has been in effect since then */
static nanos bytes_lost_until, stopped_until;
static nanos died_waiting[RESOURCES], dead_until[RESOURCES]; /* when a waiter died; until when it may be queued */
static nanos kept_for_dead[RESOURCES]; /* until then, for a dead waiter for several locks */
static nanos data_lost[REDIS];      /* when this server last lost its data */
static nanos deleted[RESOURCES], broken[RESOURCES];    /* when its key was last deleted, or it was broken */

static nanos larger(nanos a, nanos b)
{
	return a > b ? a : b;
}

static double seconds(nanos length)
{
	return (double) length / SECOND;
}

/* ---- what is, or has just been, wrong ---- */

void note_fault(nanos until, bool bytes_are_lost)
{
	calm_since = larger(calm_since, until + recovery[options.setup]);
	if (bytes_are_lost) {
		bytes_lost_until = larger(bytes_lost_until, until + 2 * SECOND);
	}
}

void note_stopped(nanos until)
{
	calm_since = larger(calm_since, until + recovery[options.setup]);
	stopped_until = larger(stopped_until, until);
}

void note_data_lost(int server)
{
	data_lost[server] = now;
}

bool was_calm_since(nanos time)
{
	return calm_since <= time;
}

static nanos together(const client *client)
{
	return client->asks_anew ? TOGETHER_ANEW : TOGETHER;
}

/* Has the client been running all the time since then? */
static bool has_run_since(const client *client, nanos time)
{
	return client->process->alive && client->process->paused_until <= time;
}

/* A waiter whose timeout is near, by any clock, may be leaving the queue. */
static bool has_time_left(const waiting *w)
{
	return now - w->begun < w->timeout - w->timeout / 50 - SOON;
}

/* ---- holders ---- */

bool believes(const client *client, const holding *h)
{
	return h->relies && client->process->alive && dlock_claim_is_held(h->claim)
		&& h->claim->deadline > host_clock(client->process->host);
}

static nanos left_of(const client *client, const holding *h)
{
	return host_duration(client->process->host, h->claim->deadline - host_clock(client->process->host));
}

/* On one server, or a majority, the key is the holder's, and lasts for as long as the holder believes. If replicas
 * confirm, a promoted server may lack the key: then only the holders are compared. */
static void check_key(const client *client, const holding *h, int resource)
{
	char key[40], token[DLOCK_TOKEN_MAX + 1];
	nanos left = left_of(client, h), lasts;
	int have = 0, quorum = options.servers / 2 + 1;

	lock_key(resource, key, sizeof key);
	for (int i = 0; i < options.servers; i++) {
		bool forgotten = data_lost[i] >= h->since;
		have += forgotten || (server_holder(i, key, token, sizeof token, &lasts) && lasts >= left
			&& (!strcmp(token, h->claim->token) || is_break_of(token, h->claim->token)));
	}
	if (have < quorum) {
		violation("c%d believes for another %.3f s that it holds seat:%d, which %s", client->process->number,
			seconds(left), resource,
			options.servers > 1 ? "fewer servers than a majority keep for it that long"
								: "the server does not keep for it that long");
	}
}

static void check_keys(const client *client, const holding *h)
{
	for (int r = 0; r < options.resources; r++) {
		if (h->resources & 1U << r) {
			check_key(client, h, r);
		}
	}
}

/* Compares a holding with the holders that were seen before. */
static void check_others(client *client, const holding *h, const struct client **holder, const holding **held)
{
	for (int r = 0; r < options.resources; r++) {
		if (!(h->resources & 1U << r)) {
			continue;
		}
		if (holder[r]) {
			violation("two holders of seat:%d: %s (token %" PRId64 ", for another %.3f s) and c%d (token %" PRId64
					  ", for another %.3f s)",
				r, holder[r]->process->name, held[r]->claim->fencing_token, seconds(left_of(holder[r], held[r])),
				client->process->number, h->claim->fencing_token, seconds(left_of(client, h)));
		}
		holder[r] = client;
		held[r] = h;
	}
}

void check_holders(void)
{
	const client *holder[RESOURCES] = { NULL };
	const holding *held[RESOURCES];

	for (int i = 0; i < client_count(); i++) {
		for (int d = 0; d < clients[i].depth; d++) {
			holding *h = &clients[i].holdings[d];
			if (!h->relies || h->robbed || !believes(&clients[i], h)) {
				continue;
			}
			check_others(&clients[i], h, holder, held);
			if (h->checked != h->claim->deadline && !setup_fails_over()) {
				h->checked = h->claim->deadline;
				check_keys(&clients[i], h);
			}
		}
	}
}

bool is_break_of(const char *value, const char *token)
{
	static const char begins[] = "broken:";

	return !strncmp(value, begins, strlen(begins)) && !strncmp(value + strlen(begins), token, DLOCK_TOKEN_ID_LEN);
}

/* On a server, or on a majority. A replica does not count: it may still have the key from before the deletion. */
static bool is_kept(const holding *h, int resource)
{
	char key[40], token[DLOCK_TOKEN_MAX + 1];
	nanos lasts;
	int have = 0;

	lock_key(resource, key, sizeof key);
	for (int i = 0; i < options.servers; i++) {
		bool is_replica = setup_fails_over() && redis_master_of(redis[i]);
		have += !is_replica && server_holder(i, key, token, sizeof token, &lasts) && !strcmp(token, h->claim->token);
	}
	return have >= (options.setup == QUORUM ? options.servers / 2 + 1 : 1);
}

static void note_fence(const client *client, const holding *h, int r)
{
	int64_t token = h->claim->fencing_token;

	if (token <= last_fence[r]) {
		violation("fencing token %" PRId64 " of c%d for seat:%d does not rise: the last was %" PRId64, token,
			client->process->number, r, last_fence[r]);
	}
	last_fence[r] = token;
}

static bool is_for_several(unsigned resources)
{
	return resources & (resources - 1);
}

/* Since when the waiter is the first. */
static nanos first_since(const waiting *w)
{
	nanos since = larger(w->begun, w->behind);

	for (int r = 0; r < options.resources; r++) {
		since = w->resources & 1U << r ? larger(since, dead_until[r]) : since;
	}
	return since;
}

/* Has another waiter for one of these locks come earlier, or at the same time? */
static bool is_behind(const client *client)
{
	const waiting *w = &client->waiting;
	bool behind = false;

	for (int i = 0; i < client_count() && !behind; i++) {
		const waiting *other = &clients[i].waiting;
		behind = &clients[i] != client && other->waits && (other->resources & w->resources)
			&& other->begun < w->begun + together(client) + together(&clients[i]);
	}
	return behind;
}

static bool was_taken_away_since(unsigned resources, nanos time)
{
	bool taken = false;

	for (int r = 0; r < options.resources; r++) {
		taken |= (resources & 1U << r) && (deleted[r] >= time || broken[r] >= time);
	}
	return taken;
}

/* When a waiter for several locks is the first and knows it, each of its locks is kept for it. Locks in another slot
 * than the one in which it waits are not kept. */
static void check_passed(const client *client, int r)
{
	for (int i = 0; client->waiting.waits && i < client_count(); i++) {
		const waiting *other = &clients[i].waiting;
		if (&clients[i] != client && other->waits && is_for_several(other->resources) && (other->resources & 1U << r)
			&& are_in_one_slot(other->resources)
			&& other->begun + together(&clients[i]) + together(client) < client->waiting.begun
			&& first_since(other) < now - heard[options.setup] && has_time_left(other)
			&& !was_taken_away_since(other->resources, other->begun) && was_calm_since(other->begun)
			&& has_run_since(&clients[i], other->begun) && has_run_since(client, other->begun)) {
			violation("%s has seat:%d, which is kept for c%d and others, who came %.3f s earlier and has been first "
					  "for %.3f s", client->process->name, r, i, seconds(client->waiting.begun - other->begun),
				seconds(now - first_since(other)));
		}
	}
}

/* Waiters are served in the order in which they came, except that waiters for several locks may be passed. A client
 * that attaches a handle has not waited. A waiter loses its turn if the key of its grant is deleted or broken. */
static void check_order(const client *client, int r)
{
	for (int i = 0; client->waiting.waits && options.setup != MEMCACHED && i < client_count(); i++) {
		const waiting *other = &clients[i].waiting;
		if (&clients[i] != client && other->waits && other->resources == 1U << r
			&& other->begun + together(&clients[i]) < client->waiting.begun && has_time_left(other)
			&& deleted[r] < other->begun && broken[r] < other->begun && was_calm_since(other->begun)
			&& has_run_since(&clients[i], other->begun) && has_run_since(client, other->begun)) {
			violation("%s has seat:%d before c%d, which came %.3f s earlier", client->process->name, r, i,
				seconds(client->waiting.begun - other->begun));
		}
	}
}

void note_acquired(client *client, holding *h)
{
	for (int r = 0; r < options.resources; r++) {
		if (h->resources & 1U << r) {
			free_since[r] = NEVER;
			bool came_later = died_waiting[r] + MISSED < now && died_waiting[r] < client->waiting.begun;
			dead_until[r] = dead_until[r] == NEVER && came_later ? now : dead_until[r];
			if (deleted[r] > client->waiting.begun && !is_kept(h, r)) { /* while the grant was under way */
				h->robbed = deleted[r];
			}
		}
	}
	for (int r = 0; r < options.resources; r++) {
		if (h->resources & 1U << r) {
			if (believes(client, h) && !h->robbed) {
				note_fence(client, h, r);
			}
			check_order(client, r);
			check_passed(client, r);
		}
	}
	client->waiting.waits = false;
}

/* ---- deleted keys, and broken locks ---- */

void note_key_deleted(int resource)
{
	deleted[resource] = now;
	for (int i = 0; i < client_count(); i++) {
		for (int d = 0; d < clients[i].depth; d++) {
			holding *h = &clients[i].holdings[d];
			if ((h->resources & 1U << resource) && !h->robbed) { /* also one that is being extended */
				h->robbed = now;
			}
		}
	}
}

/* A holder that renews learns of the loss with its next renewal. */
static void check_told(const client *client, holding *h)
{
	nanos since = h->robbed ? h->robbed : h->broken, by = since + h->claim->ttl / 3 + TOLD_LATE;

	if (since && h->renews && now > by && believes(client, h) && was_calm_since(since)
		&& has_run_since(client, since)) {
		violation("c%d believes in seat:%d %.3f s after its %s, with a lease time of %.3f s", client->process->number,
			h->resource, seconds(now - since), h->robbed ? "key was deleted" : "lock was broken",
			seconds(h->claim->ttl));
	}
}

static void note_waiter_broken(int resource, const char *id)
{
	for (int i = 0; i < client_count(); i++) {
		waiting *w = &clients[i].waiting;
		w->broken |= w->waits && (w->resources & 1U << resource) && !strncmp(w->claim->token, id, DLOCK_TOKEN_ID_LEN);
	}
}

void note_broken(int resource, const char *id, bool done)
{
	broken[resource] = now;
	sum.broken += done;
	note_waiter_broken(resource, id);
	for (int i = 0; done && i < client_count(); i++) {
		for (int d = 0; d < clients[i].depth; d++) {
			holding *h = &clients[i].holdings[d];
			if ((h->resources & 1U << resource) && !h->broken && !strncmp(h->claim->token, id, DLOCK_TOKEN_ID_LEN)) {
				h->broken = now;
			}
		}
	}
}

/* ---- waiting ---- */

void note_killed(const client *client)
{
	for (int r = 0; r < options.resources; r++) {
		if (client->waiting.waits && (client->waiting.resources & 1U << r)) {
			died_waiting[r] = now;
			dead_until[r] = NEVER;
			if (is_for_several(client->waiting.resources)) { /* after that a waiter looks again by itself */
				kept_for_dead[r] = now + MISSED + longest_gap[options.setup];
			}
		}
	}
}

static void note_wanted(unsigned resources)
{
	for (int r = 0; r < options.resources; r++) {
		if (resources & 1U << r) {
			settles[r] = setup_fails_over() && wanted[r] < calm_since ? now + recovery[options.setup] : settles[r];
			wanted[r] = now;
		}
	}
}

void note_waits(client *client, const dlock_claim *claim, unsigned resources, nanos timeout)
{
	note_wanted(resources);
	client->waiting = (waiting){ .waits = true,
		.claim = claim,
		.resources = resources,
		.begun = now,
		.timeout = timeout,
		.paused = client->process->paused_total };
}

static bool is_free(int resource)
{
	char key[40], token[DLOCK_TOKEN_MAX + 1];
	nanos lasts;
	int have = 0;

	lock_key(resource, key, sizeof key);
	for (int i = 0; i < options.servers; i++) {
		have += server_holder(i, key, token, sizeof token, &lasts);
	}
	return have <= (options.setup == QUORUM ? options.servers - options.servers / 2 - 1 : 0);
}

/* Since when all locks that it waits for are free; NEVER: one of them is not. */
static nanos all_free_since(const waiting *w)
{
	nanos since = 0;

	for (int r = 0; r < options.resources; r++) {
		since = w->resources & 1U << r ? larger(since, free_since[r]) : since;
	}
	return since;
}

static nanos all_settled(const waiting *w)
{
	nanos by = 0;

	for (int r = 0; r < options.resources; r++) {
		by = w->resources & 1U << r ? larger(by, settles[r]) : by;
	}
	return by;
}

/* If memcached's clock has drifted by a tick since an idle client read it, the client does not believe the clock for
 * this time. */
static nanos disbelief(void)
{
	return options.setup == MEMCACHED && now > BUSY_UNTIL ? 4 * SECOND : 0;
}

/* A free lock may be kept for a waiter for several locks. */
static bool may_be_kept(const waiting *w)
{
	bool kept = false;

	for (int r = 0; r < options.resources; r++) {
		kept |= (w->resources & 1U << r) && kept_for_dead[r] >= now;
	}
	for (int i = 0; i < client_count() && !kept; i++) {
		const waiting *other = &clients[i].waiting;
		kept = other != w && other->waits && is_for_several(other->resources) && (other->resources & w->resources)
			&& all_free_since(other) == NEVER;
	}
	return kept;
}

static void check_waiter(int i)
{
	const waiting *w = &clients[i].waiting;
	nanos since = larger(all_free_since(w), larger(w->begun, larger(calm_since, clients[i].process->paused_until)));
	since = larger(since, all_settled(w));
	/* a waiter for several locks looks again by itself, and passes other waiters that do */
	nanos longest = longest_gap[options.setup] * (options.work == &several_locks ? 3 : 1) + disbelief();

	if (w->waits && since != NEVER && clients[i].process->alive && now - since > longest && !may_be_kept(w)) {
		violation("c%d has waited for what is free, seat:%d or several, for %.3f s", i, __builtin_ctz(w->resources),
			seconds(now - since));
	}
}

void note_waited(client *client)
{
	const waiting *w = &client->waiting;

	client->calls++;
	nanos took = now - w->begun - (client->process->paused_total - w->paused), over = took - w->timeout;

	sum.longest_wait = larger(sum.longest_wait, took);
	sum.longest_overrun = larger(sum.longest_overrun, over);
	if (over > longest_overrun[options.setup] + overrun_in_strands()) {
		violation("%s waited for %.3f s, %.3f s beyond its time", client->process->name, seconds(took), seconds(over));
	}
}

/* If servers answer, a call may fail only by its timeout. One exception: its grant may be broken before replicas have
 * confirmed it (docs/troubleshooting.md; seed 200799, work=locks setup=cluster hours=8). Strands share connections: a
 * process that is stopped as it sends loses those of a strand that begins afterwards, too (seed 1210300). */
void note_failed(const client *client, const char *why)
{
	nanos begun = client->waiting.begun, before = clients_of_process() > 1 ? SECOND : 0;
	bool was_broken = client->waiting.broken && strstr(why, "the lock was gone before it was confirmed");

	if (!was_broken && was_calm_since(begun) && stopped_until < begun && has_run_since(client, begun - before)) {
		violation("%s is told an error though nothing is wrong: %s", client->process->name, why);
	}
}

/* ---- released locks are not held any more ---- */

/* A release without a waiting caller is sent before the client's next request. With several servers, that request may
 * be faster than some of them, and a later one counts. If the connection has ended since the last request, the release
 * is sent only with the next one. */
static const unsigned long calls_until_gone[SETUPS] = {
	[SINGLE] = 0, [REPLICATED] = 1, [QUORUM] = 3, [CLUSTER] = 1, [MEMCACHED] = 5
};

typedef struct {
	const client *client;
	int pid, resource;
	unsigned stopped;    /* servers of a quorum that were stopped then */
	unsigned long calls; /* of the client, after which the key must be gone */
	nanos ended;
	char token[DLOCK_TOKEN_MAX + 1];
} gone;

static void check_gone(void *context, uint64_t unused)
{
	gone *g = context;
	char key[40], token[DLOCK_TOKEN_MAX + 1];
	nanos lasts;

	(void) unused;
	bool excused = bytes_lost_until > g->ended || g->client->process->pid != g->pid
		|| !has_run_since(g->client, g->ended) || (setup_fails_over() && !was_calm_since(g->ended));
	if (excused || now >= end_of_work) {
		free(g);
		return;
	}
	/* a release without an answer continues with the client's calls from then on */
	if (options.setup == MEMCACHED && stopped_until + SOON > now) {
		g->calls = g->client->calls + calls_until_gone[MEMCACHED];
	}
	if (stopped_until + SOON > now || g->client->calls < g->calls) {
		at(larger(stopped_until, now) + SOON, check_gone, g, 0);
		return;
	}
	lock_key(g->resource, key, sizeof key);
	for (int i = 0; i < options.servers; i++) {
		/* A stopped server later reads all that was sent to it. The request that set the key may have gone over a
		 * connection that was discarded since. Then no release follows there, and only this server keeps the key, for a
		 * lease time. */
		bool skipped = !server_counts(i) || g->stopped & 1U << i;
		if (!skipped && server_holder(i, key, token, sizeof token, &lasts) && !strcmp(token, g->token)) {
			violation("s%d keeps seat:%d for another %.3f s for c%d, which has given it back %.3f s ago", i,
				g->resource, seconds(lasts), g->client->process->number, seconds(now - g->ended));
		}
	}
	free(g);
}

static void note_one_ended(const client *client, const char *token, int resource)
{
	free_since[resource] = NEVER;
	if (bytes_lost_until > now) {
		return;
	}
	gone *g = calloc(1, sizeof *g);
	unsigned long calls = calls_until_gone[options.setup];
	if (calls == 0 && bytes_lost_until > client->waiting.begun) {
		calls = 1;
	}
	*g = (gone){ .client = client,
		.pid = client->process->pid,
		.resource = resource,
		.calls = client->calls + calls,
		.ended = now };
	for (int i = 0; i < options.servers && options.setup == QUORUM; i++) {
		g->stopped |= (unsigned) server_is_stopped(i) << i;
	}
	strcpy(g->token, token);
	at(larger(now, stopped_until) + SOON, check_gone, g, 0);
}

void note_ended(const client *client, const char *token, unsigned resources)
{
	for (int r = 0; r < options.resources; r++) {
		if (resources & 1U << r) {
			note_one_ended(client, token, r);
		}
	}
}

/* ---- twenty times a second ---- */

static void sample(void *context, uint64_t unused)
{
	(void) context;
	(void) unused;
	for (int r = 0; r < options.resources; r++) {
		free_since[r] = !is_free(r) ? NEVER : free_since[r] == NEVER ? now : free_since[r];
	}
	for (int i = 0; i < client_count(); i++) {
		if (clients[i].waiting.waits && is_for_several(clients[i].waiting.resources) && is_behind(&clients[i])) {
			clients[i].waiting.behind = now;
		}
		check_waiter(i);
		for (int d = 0; d < clients[i].depth; d++) {
			holding *h = &clients[i].holdings[d];
			check_told(&clients[i], h);
			if (!setup_fails_over() && h->relies && !h->robbed && believes(&clients[i], h)) {
				check_keys(&clients[i], h);
			}
		}
	}
	if (now < end_of_work) {
		at(now + SAMPLE, sample, NULL, 0);
	}
}

void rules_begin(void)
{
	for (int r = 0; r < RESOURCES; r++) {
		free_since[r] = NEVER;
		wanted[r] = settles[r] = kept_for_dead[r] = 0;
	}
	for (int i = 0; i < REDIS; i++) {
		data_lost[i] = -1;
	}
	calm_since = recovery[options.setup]; /* the servers are new */
	after_fiber = check_holders;
	at(now + SAMPLE, sample, NULL, 0);
}

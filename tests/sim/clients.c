/* Clients of locks: sections, also nested ones, handles, extensions, releases. At the end each client acquires each
 * lock twice more. */
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memcached/backend.h"

/* The timeout of a client for each lock after all faults. */
#define LAST_TIMEOUT (120 * SECOND)

client clients[CLIENTS];
nanos end_of_faults = NEVER, end_of_work = NEVER;
static struct {
	char token[DLOCK_TOKEN_MAX + 1];
	unsigned resources;
} handles[RESOURCES];

/* In a cluster, several locks are in one slot. With half of the seeds, each slot has two locks instead. */
static bool are_tagged(void)
{
	return options.work == &several_locks && options.setup == CLUSTER;
}

static int row_of(int resource)
{
	return options.seed / 2 % 2 == 0 ? (resource + 1) / 2 : 0;
}

bool are_in_one_slot(unsigned resources)
{
	int first = __builtin_ctz(resources), last = 31 - __builtin_clz(resources);

	return !are_tagged() || row_of(first) == row_of(last);
}

void lock_name(int resource, char *name, size_t size)
{
	if (are_tagged()) {
		snprintf(name, size, "{row%d}seat:%d", row_of(resource), resource);
	} else {
		snprintf(name, size, "seat:%d", resource);
	}
}

void lock_key(int resource, char *key, size_t size)
{
	static const char plain[] = LOCK_PREFIX "seat:0", tagged[] = LOCK_PREFIX "{row0}seat:0";
	const char *form = are_tagged() ? tagged : plain; /* it is called too often for snprintf() */
	size_t len = are_tagged() ? sizeof tagged : sizeof plain;

	memcpy(key, form, len <= size ? len : 0);
	key[len - 2] += (char) resource;
	if (are_tagged()) {
		key[sizeof LOCK_PREFIX "{row0" - 2] += (char) row_of(resource);
	}
}

/* ---- a section ---- */

static void section(client *client, dlock_backend *backend, int least, bool last);

static nanos local_now(void)
{
	return host_clock(current_process->host);
}

static double left_of(const dlock_claim *claim)
{
	return (double) (claim->deadline - local_now()) / SECOND;
}

static nanos draw_ttl(stream *random)
{
	nanos least = options.setup == MEMCACHED ? dlock_memcached_ttls.least : 300 * MS;

	return least + draw_below(random, (options.most_ttl_ms - 300) * MS);
}

/* The trace names several locks by the first one. */
static int first_of(unsigned resources)
{
	return __builtin_ctz(resources);
}

static dlock_claim *new_claim(client *client, dlock_backend *backend, unsigned resources)
{
	char room[RESOURCES][32], label[16];
	dlock_name names[RESOURCES];
	dlock_error error;
	int count = 0;

	for (int r = 0; r < options.resources; r++) {
		if (resources & 1U << r) {
			lock_name(r, room[count], sizeof room[count]);
			names[count] = (dlock_name) { room[count], strlen(room[count]) };
			count++;
		}
	}
	nanos ttl = draw_ttl(&client->random);
	for (;;) {
		unsigned long failed = failed_calls();
		dlock_claim *claim = dlock_claim_new_of(backend, names, count, ttl, NULL, &error);
		if (claim) {
			snprintf(label, sizeof label, "c%d", client->process->number);
			claim->description = dlock_description_new("host", label, strlen(label));
			return claim;
		}
		try_again(failed, "a claim");
	}
}

/* Called by the renewal thread. */
static void lost(void *context)
{
	client *client = context;

	sum.losses++;
	say(client->process->name, "is told that its lease is lost");
}

static void extend(client *client, holding *mine)
{
	dlock_error error;
	nanos ttl = draw_ttl(&client->random);

	mine->relies = false; /* the client cannot act meanwhile, because the new lease time may be shorter */
	dlock_status status = dlock_claim_extend(mine->claim, ttl, &error);
	mine->relies = true;
	say(client->process->name, "extends to %.3f s: %d", (double) ttl / SECOND, status);
	check_holders();
}

/* False: the client does not hold the lock any more. */
static bool look(client *client, holding *mine)
{
	nanos remaining;
	bool over = mine->claim->deadline <= local_now();
	dlock_claim_state state = dlock_claim_refresh(mine->claim, &remaining);

	if (over && state != DLOCK_CLAIM_LOST) {
		violation("c%d is told that it holds seat:%d, after its deadline", client->process->number, mine->resource);
	}
	if (state == DLOCK_CLAIM_LOST) {
		say(client->process->name, "has lost seat:%d", mine->resource);
	}
	return state != DLOCK_CLAIM_LOST;
}

static void work(client *client, dlock_backend *backend, holding *mine, nanos length)
{
	stream *random = &client->random;
	nanos until = now + length, again = NEVER;

	while (now < until) {
		nanos left = until - now, slice = 1 * MS + draw_below(random, 500 * MS);
		client_sleep(slice < left ? slice : left);
		if (!look(client, mine)) {
			return;
		}
		if (now >= again || draw_chance(random, 0.05)) {
			extend(client, mine);
			again = again == NEVER && draw_chance(random, 0.5) ? now + SECOND + draw_below(random, SECOND) : NEVER;
			until = again != NEVER && again + 2 * SECOND > until ? again + 2 * SECOND : until;
		}
		if (client->depth < DEPTH && options.work == &locks && mine->resource + 1 < options.resources
			&& draw_chance(random, 0.05)) {
			section(client, backend, mine->resource + 1, false);
		}
	}
}

/* Passes the lock on, abandons it as at the end of a request, or releases it. */
static void finish(client *client, holding *mine, bool may_pass_on)
{
	dlock_claim *claim = mine->claim;
	const char *name = client->process->name;
	dlock_error error = { "" };

	if (may_pass_on && draw_chance(&client->random, 0.05) && dlock_claim_is_held(claim)
		&& are_in_one_slot(mine->resources)) {
		say(name, "passes seat:%d on by a handle", mine->resource);
		dlock_claim_end(claim, false);
		memcpy(handles[mine->resource].token, claim->token, sizeof claim->token);
		handles[mine->resource].resources = mine->resources;
		return;
	}
	if (draw_chance(&client->random, 0.05)) {
		say(name, "gives seat:%d back at the end of its request", mine->resource);
		dlock_claim_abandon(claim);
		if (options.setup == MEMCACHED) { /* this takes two round trips: the second needs the reply to the first */
			connections_drain(client->connections);
		}
	} else {
		say(name, "releases seat:%d", mine->resource);
		dlock_status status = dlock_claim_release(claim, &error);
		say(name, "%s seat:%d%s%s", status == DLOCK_OK ? "has released" : "could not release", mine->resource,
			*error.message ? ": " : "", error.message);
		sum.unreleased += status != DLOCK_OK;
	}
	note_ended(client, claim->token, mine->resources);
}

static void hold(
	client *client, dlock_backend *backend, dlock_claim *claim, unsigned resources, nanos length, bool renews,
	bool may_pass_on)
{
	dlock_error error;
	int resource = first_of(resources);
	holding *mine = &client->holdings[client->depth++];
	dlock_upkeep upkeep = { .renew = renews, .lost = lost, .context = client };

	*mine = (holding) { .relies = true, .renews = renews, .claim = claim, .resource = resource,
		.resources = resources, .since = client->waiting.begun };
	note_acquired(client, mine);
	sum.handed += claim->received;
	unsigned long failed = failed_calls();
	bool renewing = renews || claim->short_lease || claim->incomplete || claim->unanswered;
	if (!renewing || dlock_renewal_begin(claim, &upkeep, &error) == DLOCK_OK) {
		work(client, backend, mine, length);
	} else {
		say(client->process->name, "cannot renew seat:%d: %s", resource, error.message);
		try_again(failed, "a renewal");
	}
	mine->relies = false;
	finish(client, mine, may_pass_on);
	client->depth--;
}

/* Attaches to a lock that a client has passed on, if it is still held. */
static void attach(client *client, dlock_backend *backend, int resource)
{
	char token[DLOCK_TOKEN_MAX + 1];
	dlock_error error = { "" };
	unsigned resources = handles[resource].resources;
	dlock_claim *claim = new_claim(client, backend, resources);

	memcpy(token, handles[resource].token, sizeof token);
	if (draw_chance(&client->random, 0.7)) {
		handles[resource].token[0] = '\0'; /* otherwise another client tries it, too */
	}
	say(client->process->name, "takes up seat:%d of %.4s, as %.4s", resource, token, claim->token);
	client->waiting.begun = now;
	dlock_status status = dlock_claim_attach(claim, token, &error);
	if (status == DLOCK_OK) {
		sum.attached++;
		say(client->process->name, "holds seat:%d by its handle, token %" PRId64 ", for %.3f s", resource,
			claim->fencing_token, left_of(claim));
		hold(client, backend, claim, resources, draw_below(&client->random, SECOND), draw_chance(&client->random, 0.7),
			false);
	} else {
		say(client->process->name, "could not take up seat:%d: %s", resource, error.message);
	}
	dlock_claim_free(claim);
}

/* As a user at a terminal: looks up the holder, sometimes waits, and breaks that holder's lock. */
static void break_lock(client *client, dlock_backend *backend, int resource)
{
	char name[32];
	dlock_inspection seen = { 0 };
	dlock_error error = { "" };
	dlock_nanos left = 0;

	lock_name(resource, name, sizeof name);
	if (backend->ops->inspect(backend, name, strlen(name), 10, &seen, &error) == DLOCK_OK && seen.holders > 0) {
		dlock_break how = { .id = seen.parties[0].id, .by = "somebody" };
		if (draw_chance(&client->random, 0.3)) {
			client_sleep(draw_below(&client->random, 2 * SECOND));
		}
		note_broken(resource, how.id, false);
		dlock_status status = backend->ops->break_claim(backend, name, strlen(name), &how, &left, &error);
		note_broken(resource, how.id, status == DLOCK_OK);
		say(client->process->name, "breaks seat:%d of %.24s: %d, free in %.3f s %s", resource, how.id, status,
			(double) left / SECOND, error.message);
	}
	dlock_inspection_end(&seen);
}

static nanos draw_timeout(stream *random)
{
	return draw_chance(random, 0.2) ? 0 : draw_below(random, draw_chance(random, 0.2) ? 40 * SECOND : 8 * SECOND);
}

static dlock_status acquire(client *client, dlock_claim *claim, unsigned resources, nanos timeout, dlock_error *error)
{
	dlock_wait wait = strand_wait(client->process, dlock_now() + timeout);

	say(client->process->name, "wants %s for %.3f s within %.3f s, as %.4s", claim->resource,
		(double) claim->ttl / SECOND, (double) timeout / SECOND, claim->token);
	note_waits(client, claim, resources, timeout);
	return dlock_claim_acquire(claim, &wait, error);
}

/* The lock `one`; if the workload has several locks at once, sometimes also other locks. */
static unsigned draw_resources(stream *random, int one)
{
	unsigned resources = 1U << one;

	while (options.work == &several_locks && draw_chance(random, 0.4)) {
		resources |= 1U << draw_below(random, options.resources);
	}
	return resources;
}

/* A section of a resource from `least` on. */
static void section(client *client, dlock_backend *backend, int least, bool last)
{
	stream *random = &client->random;
	int resource = last ? client->laps % options.resources
						: least + (int) draw_below(random, options.resources - least);
	dlock_error error = { "" };
	unsigned resources = draw_resources(random, resource);
	dlock_claim *claim = new_claim(client, backend, resources);
	nanos ttl = claim->ttl;

	resource = first_of(resources);
	dlock_status status = acquire(client, claim, resources, last ? LAST_TIMEOUT : draw_timeout(random), &error);
	note_waited(client);
	if (status == DLOCK_INTERRUPTED) {
		say(client->process->name, "does not want seat:%d any more", resource);
		dlock_claim_abandon(claim);
	}
	client->asks_anew = status != DLOCK_OK && status != DLOCK_TIMEOUT && status != DLOCK_INTERRUPTED;
	if (status == DLOCK_OK) {
		sum.acquired++;
		say(client->process->name, "holds seat:%d, token %" PRId64 ", for %.3f s%s", resource, claim->fencing_token,
			left_of(claim), claim->received ? ", handed over" : "");
		client->laps += last;
		hold(client, backend, claim, resources,
			last ? 1 * MS : draw_below(random, draw_chance(random, 0.1) ? 3 * ttl : ttl / 2), draw_chance(random, 0.7),
			!last);
	} else {
		*(status == DLOCK_TIMEOUT || status == DLOCK_INTERRUPTED ? &sum.timeouts : &sum.errors) += 1;
		say(client->process->name, "has not got seat:%d: %s", resource,
			status == DLOCK_TIMEOUT ? "time is over" : error.message);
		client->waiting.waits = false;
		if (status != DLOCK_TIMEOUT && status != DLOCK_INTERRUPTED) {
			note_failed(client, error.message);
		}
		note_ended(client, claim->token, resources);
		if (last && status == DLOCK_TIMEOUT) {
			violation("%s does not get seat:%d in the end: %s", client->process->name, resource, error.message);
		}
	}
	trace_hash(&status, sizeof status);
	trace_hash(&claim->fencing_token, sizeof claim->fencing_token);
	dlock_claim_free(claim);
}

/* ---- a client's life ---- */

static void last_sections(client *client, dlock_backend *backend)
{
	client->process->pause_at = 0;
	client_sleep(10 * SECOND);
	while (client->laps < 2 * options.resources && now < end_of_work) {
		section(client, backend, 0, true);
		client_sleep(20 * MS);
	}
	say(client->process->name, "ends");
}

static void live(client *client, dlock_backend *backend)
{
	stream *random = &client->random;

	while (now < end_of_faults) {
		client_rest(random, 300 * MS);
		int passed_on = (int) draw_below(random, options.resources);
		if (*handles[passed_on].token && draw_chance(random, 0.5)) {
			attach(client, backend, passed_on);
		} else if (backend->ops->break_claim && draw_chance(random, 0.05)) {
			break_lock(client, backend, passed_on);
		} else {
			section(client, backend, 0, false);
		}
	}
	last_sections(client, backend);
}

static void live_with_backend(client *client)
{
	dlock_backend *backend = lock_backend(client->connections);

	live(client, backend);
	dlock_backend_release(backend);
}

/* The clients of one process share its connections. */
static void *client_main(void *argument)
{
	client *first = argument;

	first->connections = connections_new();
	dlock_process_init();
	for (int i = 1; i < clients_of_process(); i++) {
		client_of_process(first, i)->connections = first->connections;
	}
	dlock_backend *backend = lock_backend(first->connections);
	clients_run(first, live_with_backend);
	dlock_renewal_shutdown();
	dlock_backend_release(backend);
	connections_end(first->connections);
	first->process->alive = false;
	return NULL;
}

/* ---- the workload ---- */

static void killed(client *client)
{
	note_killed(client);
	client->depth = 0;
	client->waiting.waits = false;
}

static void end(void)
{
	char left[1000];

	for (int i = 0; i < options.servers; i++) {
		if (server_leftovers(i, left, sizeof left) > 0) {
			violation("s%d has left over:%s", i, left);
		}
	}
}

const workload locks = { "locks", rules_begin, client_main, killed, end, false };
const workload locks_of_strands = { "strands", rules_begin, client_main, killed, end, true };
const workload several_locks = { "several", rules_begin, client_main, killed, end, false };

/* Clients of semaphores and read/write locks: they wait, hold, extend, look, release, give up, and pass permits on by
 * handles. */
#include "permit_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/lock/service.h"

permit_pool permit_pools[RESOURCES];
permit_client permit_clients[CLIENTS];

static char handles[RESOURCES][DLOCK_TOKEN_MAX + 1]; /* passed on, and not attached yet */

static nanos local_now(void)
{
	return host_clock(current_process->host);
}

static double seconds(nanos length)
{
	return (double) length / SECOND;
}

void permits_name(int resource, char *name, size_t size)
{
	snprintf(name, size, "hall:%d", resource);
}

void permits_key(int resource, char *key, size_t size)
{
	snprintf(key, size, PERMITS_PREFIX "hall:%d", resource);
}

static nanos draw_ttl(stream *random)
{
	return 300 * MS + draw_below(random, (options.most_ttl_ms - 300) * MS);
}

static int64_t draw_permits(stream *random, int64_t capacity)
{
	if (capacity == DLOCK_PERMITS_ALL) {
		return draw_chance(random, 0.3) ? DLOCK_PERMITS_ALL : 1;
	}
	return draw_chance(random, 0.6) ? 1 : 1 + draw_below(random, capacity);
}

static dlock_claim *claim_new(client *client, int resource)
{
	char name[32];
	dlock_error error;

	permits_name(resource, name, sizeof name);
	nanos ttl = draw_ttl(&client->random);
	unsigned long failed = failed_calls();
	dlock_claim *claim;
	while (!(claim = dlock_claim_new(permits_of(client)->backends[resource], name, strlen(name), ttl, NULL, &error))) {
		try_again(failed, "a claim");
		failed = failed_calls();
	}
	claim->permits = draw_permits(&client->random, permit_pools[resource].capacity);
	claim->description = dlock_description_new("host", "a label", strlen("a label"));
	return claim;
}

/* ---- while permits are held ---- */

static void lost(void *context)
{
	client *client = context;

	sum.losses++;
	say(client->process->name, "is told that its permits are lost");
}

static bool begin_upkeep(client *client, dlock_claim *claim, bool renew)
{
	dlock_error error;
	dlock_upkeep upkeep = { .renew = renew, .lost = lost, .context = client };
	unsigned long failed = failed_calls();

	if ((renew || claim->short_lease) && dlock_renewal_begin(claim, &upkeep, &error) != DLOCK_OK) {
		say(client->process->name, "cannot renew: %s", error.message);
		try_again(failed, "a renewal");
		return false;
	}
	return true;
}

/* The client cannot act meanwhile, because the new lease time may be shorter. */
static void extend(client *client, dlock_claim *claim)
{
	permit_holding *mine = &permits_of(client)->holding;
	nanos ttl = draw_ttl(&client->random);
	dlock_error error;

	mine->relies = false;
	dlock_status status = draw_chance(&client->random, 0.3) ? dlock_claim_check(claim, &error)
															: dlock_claim_extend(claim, ttl, &error);
	mine->relies = true;
	check_permits();
	say(client->process->name, "extends to %.3f s, or asks: %d", seconds(ttl), status);
}

/* A signal. The waiter checks it each time that it wakes up. */
static bool is_interrupted(void *context)
{
	return now >= *(nanos *) context || strand_is_refused();
}

/* As dlock_manager_upgrade(): another claim asks for the permits of the other readers, and with its token the reader
 * becomes the writer. The reader keeps its permit while it waits. */
static dlock_status wait_for_rest(client *client, dlock_claim *claim, int resource, dlock_error *error)
{
	permit_holding *mine = &permits_of(client)->holding;
	stream *random = &client->random;
	dlock_claim *rest = claim_new(client, resource);
	nanos signal = draw_chance(random, 0.1) ? now + draw_below(random, 2 * SECOND) : NEVER;
	dlock_wait wait = strand_wait(client->process, dlock_now() + draw_below(random, 8 * SECOND));

	wait.interrupted = is_interrupted;
	wait.context = &signal;
	rest->permits = DLOCK_PERMITS_ALL - 1;
	say(client->process->name, "waits for the rest of hall:%d, as %.4s", resource, rest->token);
	mine->relies = true;
	dlock_status status = dlock_claim_acquire(rest, &wait, error);
	mine->relies = false;
	if (status == DLOCK_OK) {
		status = dlock_claim_upgrade(claim, rest->token, error);
	}
	if (status != DLOCK_OK) {
		dlock_claim_abandon(rest);
		note_permits_gone(client, rest, resource, false);
	}
	dlock_claim_free(rest);
	return status;
}

/* A reader becomes the writer, or the writer a reader. The client cannot act meanwhile. */
static void change(client *client, dlock_claim *claim, int resource)
{
	permit_holding *mine = &permits_of(client)->holding;
	int64_t earlier = last_permit_token(resource);
	bool upgrades = claim->permits < DLOCK_PERMITS_ALL;
	dlock_error error = { "" };

	mine->relies = false;
	dlock_status status
		= upgrades ? dlock_claim_upgrade(claim, NULL, &error) : dlock_claim_downgrade(claim, &error);
	mine->may_write = true;
	if (upgrades && status == DLOCK_TIMEOUT && draw_chance(&client->random, 0.7)) {
		status = wait_for_rest(client, claim, resource, &error);
		sum.upgraded += status == DLOCK_OK;
	}
	mine->relies = true;
	say(client->process->name, "%s hall:%d, token %" PRId64 ": %d %s", upgrades ? "upgrades" : "downgrades", resource,
		claim->fencing_token, status, status == DLOCK_OK ? "" : error.message);
	if (upgrades && status == DLOCK_OK) {
		note_permits_acquired(client, earlier);
	}
	check_permits();
}

static void count_available(client *client, int resource)
{
	char name[32];
	dlock_error error;
	int64_t available = 0, capacity = permit_pools[resource].capacity;

	permits_name(resource, name, sizeof name);
	dlock_backend *backend = permits_of(client)->backends[resource];
	dlock_status status = backend->ops->available(backend, name, strlen(name), &available, &error);
	if (status == DLOCK_OK && (available < 0 || available > capacity)) {
		violation("%s is told that %" PRId64 " of %" PRId64 " permits of hall:%d are available", client->process->name,
			available, capacity, resource);
	}
}

/* False: the permits are lost. */
static bool look(client *client, dlock_claim *claim, int resource)
{
	nanos remaining;
	bool over = claim->deadline <= local_now();
	dlock_claim_state state = dlock_claim_refresh(claim, &remaining);

	if (over && state != DLOCK_CLAIM_LOST) {
		violation("%s is told that it holds permits of hall:%d, after its deadline", client->process->name, resource);
	}
	if (state == DLOCK_CLAIM_LOST) {
		say(client->process->name, "has lost permits of hall:%d", resource);
	}
	return state != DLOCK_CLAIM_LOST;
}

static void let_go(client *client, dlock_claim *claim, int resource, bool may_pass_on)
{
	const char *name = client->process->name;
	dlock_error error = { "" };

	if (may_pass_on && draw_chance(&client->random, 0.08) && dlock_claim_is_held(claim)) {
		say(name, "passes permits of hall:%d on by a handle", resource);
		dlock_claim_end(claim, false);
		memcpy(handles[resource], claim->token, sizeof claim->token);
	} else if (may_pass_on && draw_chance(&client->random, 0.05)) {
		say(name, "forgets its permits of hall:%d", resource);
		dlock_claim_end(claim, false);
	} else if (draw_chance(&client->random, 0.05)) {
		say(name, "gives permits of hall:%d back at the end of its request", resource);
		dlock_claim_abandon(claim);
		connections_drain(permits_of(client)->connections); /* it may have to connect anew */
		note_permits_gone(client, claim, resource, false);
	} else {
		say(name, "releases hall:%d", resource);
		dlock_status status = dlock_claim_release(claim, &error);
		say(name, "%s hall:%d %s", status == DLOCK_OK ? "has released" : "could not release", resource,
			status == DLOCK_OK ? "" : error.message);
		sum.unreleased += status != DLOCK_OK;
		note_permits_gone(client, claim, resource, status == DLOCK_OK);
	}
}

static void hold(client *client, dlock_claim *claim, int resource, nanos length, int64_t earlier)
{
	stream *random = &client->random;
	permit_holding *mine = &permits_of(client)->holding;
	nanos until = now + length;
	bool last = now > end_of_faults;
	double often = 0.1;

	*mine = (permit_holding) { .relies = true, .claim = claim, .resource = resource };
	say(client->process->name, "holds %" PRId64 " of hall:%d, token %" PRId64 ", for %.3f s%s", claim->permits,
		resource, claim->fencing_token, seconds(claim->deadline - local_now()), claim->received ? ", granted" : "");
	note_permits_acquired(client, earlier);
	sum.handed += claim->received;
	mine->renews = draw_chance(random, 0.6);
	bool held = begin_upkeep(client, claim, mine->renews);
	while (now < until && held) {
		nanos slice = 1 * MS + draw_below(random, 500 * MS);
		client_sleep(slice < until - now ? slice : until - now);
		held = look(client, claim, resource);
		if (held && draw_chance(random, 0.05)) {
			extend(client, claim);
		}
		if (held && permit_pools[resource].capacity == DLOCK_PERMITS_ALL && draw_chance(random, often)) {
			change(client, claim, resource);
			often = is_writer(claim) ? 0.02 : 0.1;
		}
		if (draw_chance(random, 0.02)) {
			count_available(client, resource);
		}
	}
	mine->relies = false;
	let_go(client, claim, resource, !last);
}

/* ---- how permits are acquired ---- */

/* Attaches to permits that a client has passed on, if they are still held. */
static void attach(client *client, int resource)
{
	char token[DLOCK_TOKEN_MAX + 1];
	dlock_error error = { "" };
	dlock_claim *claim = claim_new(client, resource);
	int64_t earlier = last_permit_token(resource);

	memcpy(token, handles[resource], sizeof token);
	if (draw_chance(&client->random, 0.7)) {
		*handles[resource] = '\0'; /* otherwise another client tries it, too */
	}
	say(client->process->name, "takes up permits of hall:%d of %.4s, as %.4s", resource, token, claim->token);
	if (dlock_claim_attach(claim, token, &error) == DLOCK_OK) {
		sum.attached++;
		hold(client, claim, resource, draw_below(&client->random, SECOND), earlier);
	} else {
		say(client->process->name, "could not take up permits of hall:%d: %s", resource, error.message);
	}
	dlock_claim_free(claim);
}

/* As a user at a terminal: looks up the holders, sometimes waits, and breaks the permits of one holder. */
static void break_permits(client *client, int resource)
{
	dlock_backend *backend = permits_of(client)->backends[resource];
	char name[32];
	dlock_inspection seen = { 0 };
	dlock_error error = { "" };
	dlock_nanos left = 0;

	permits_name(resource, name, sizeof name);
	if (backend->ops->inspect(backend, name, strlen(name), 10, &seen, &error) == DLOCK_OK && seen.holders > 0) {
		dlock_break how = { .id = seen.parties[draw_below(&client->random, seen.holders)].id, .by = "somebody" };
		if (draw_chance(&client->random, 0.3)) {
			client_sleep(draw_below(&client->random, 2 * SECOND));
		}
		note_permits_broken(resource, how.id, false);
		dlock_status status = backend->ops->break_claim(backend, name, strlen(name), &how, &left, &error);
		note_permits_broken(resource, how.id, status == DLOCK_OK);
		sum.broken += status == DLOCK_OK;
		say(client->process->name, "breaks hall:%d of %.24s: %d, free in %.3f s %s", resource, how.id, status,
			(double) left / SECOND, error.message);
	}
	dlock_inspection_end(&seen);
}

/* Some clients hold permits for longer than a failover prevents grants. */
static nanos draw_length(stream *random, const dlock_claim *claim, bool last)
{
	if (last) {
		return 1 * MS;
	}
	if (setup_fails_over() && draw_chance(random, 0.05)) {
		return draw_below(random, 4 * options.guard_ms * MS);
	}
	return draw_below(random, draw_chance(random, 0.1) ? 3 * claim->ttl : claim->ttl / 2);
}

static void section(client *client, bool last)
{
	stream *random = &client->random;
	int resource = last ? client->laps % options.resources : (int) draw_below(random, options.resources);
	nanos timeout = last           ? 120 * SECOND
		: draw_chance(random, 0.2) ? 0
								   : draw_below(random, (draw_chance(random, 0.2) ? 40 : 8) * SECOND);
	nanos signal = !last && draw_chance(random, 0.05) ? now + draw_below(random, 4 * SECOND) : NEVER;
	dlock_claim *claim = claim_new(client, resource);
	dlock_wait wait = strand_wait(client->process, dlock_now() + timeout);
	dlock_error error = { "" };

	wait.interrupted = is_interrupted;
	wait.context = &signal;
	say(client->process->name, "wants %" PRId64 " of hall:%d for %.3f s within %.3f s, as %.4s", claim->permits,
		resource, seconds(claim->ttl), seconds(timeout), claim->token);
	note_permits_wanted(client, claim, resource, timeout);
	int64_t earlier = last_permit_token(resource);
	dlock_status status = dlock_claim_acquire(claim, &wait, &error);
	if (status == DLOCK_INTERRUPTED && !strand_is_refused() && draw_chance(random, 0.5)) {
		signal = NEVER;
		status = dlock_claim_acquire(claim, &wait, &error);
	}
	note_permits_waited(client);
	if (status == DLOCK_OK) {
		sum.acquired++;
		hold(client, claim, resource, draw_length(random, claim, last), earlier);
	} else {
		*(status == DLOCK_TIMEOUT ? &sum.timeouts : &sum.errors) += 1;
		say(client->process->name, "has not got hall:%d: %s", resource, status == DLOCK_TIMEOUT ? "time is over"
			: status == DLOCK_INTERRUPTED ? "interrupted" : error.message);
		if (last && status != DLOCK_INTERRUPTED) {
			violation("%s does not get hall:%d within %.0f s after all faults: %s", client->process->name, resource,
				seconds(timeout), error.message);
		}
		dlock_claim_abandon(claim);
		note_permits_gone(client, claim, resource, false);
	}
	client->laps += last;
	trace_hash(&status, sizeof status);
	trace_hash(&claim->fencing_token, sizeof claim->fencing_token);
	dlock_claim_free(claim);
}

static void open_pools(permit_client *own)
{
	for (int r = 0; r < options.resources; r++) {
		unsigned long failed = failed_calls();
		while (!(own->backends[r] = dlock_permits_new(redis_pool(own->connections), service_of_setup(1), PERMITS_PREFIX,
					 strlen(PERMITS_PREFIX), permit_pools[r].capacity, permit_pools[r].fifo))) {
			try_again(failed, "a back end");
			failed = failed_calls();
		}
	}
}

static void live(client *client)
{
	while (now < end_of_faults) {
		client_rest(&client->random, 300 * MS);
		int passed_on = (int) draw_below(&client->random, options.resources);
		if (*handles[passed_on] && draw_chance(&client->random, 0.5)) {
			attach(client, passed_on);
		} else if (draw_chance(&client->random, 0.05)) {
			break_permits(client, passed_on);
		} else {
			section(client, false);
		}
	}
	client->process->pause_at = 0;
	client_sleep(10 * SECOND);
	while (client->laps < 2 * options.resources && now < end_of_work) {
		section(client, true);
		client_sleep(20 * MS);
	}
	say(client->process->name, "ends");
}

/* The clients of one process share its objects, as fibers do. */
static void *client_main(void *argument)
{
	client *first = argument;
	connections *connections = connections_new();

	dlock_process_init();
	*permits_of(first) = (permit_client) { .connections = connections };
	open_pools(permits_of(first));
	for (int i = 1; i < clients_of_process(); i++) {
		*permits_of(client_of_process(first, i)) = *permits_of(first);
	}
	clients_run(first, live);
	dlock_renewal_shutdown();
	for (int r = 0; r < options.resources; r++) {
		dlock_backend_release(permits_of(first)->backends[r]);
	}
	connections_end(connections);
	first->process->alive = false;
	return NULL;
}

/* ---- the workloads ---- */

static void begin(bool semaphores)
{
	stream random = stream_of(options.seed, "pools", 0);

	for (int r = 0; r < RESOURCES; r++) {
		int64_t capacity = 1 + draw_below(&random, 5);
		permit_pools[r] = (permit_pool){ semaphores ? capacity : DLOCK_PERMITS_ALL,
			!semaphores && draw_chance(&random, 0.3) };
	}
	permit_rules_begin();
}

static void begin_semaphores(void)
{
	begin(true);
}

static void begin_read_write_locks(void)
{
	begin(false);
}

static void killed(client *client)
{
	permits_of(client)->holding.relies = false;
	permits_of(client)->waiting.waits = false;
}

const workload semaphores = { "semaphores", begin_semaphores, client_main, killed, permit_rules_end, false };
const workload read_write_locks
	= { "rwlocks", begin_read_write_locks, client_main, killed, permit_rules_end, false };
const workload semaphores_of_strands
	= { "semaphore-strands", begin_semaphores, client_main, killed, permit_rules_end, true };
const workload read_write_locks_of_strands
	= { "rwlock-strands", begin_read_write_locks, client_main, killed, permit_rules_end, true };

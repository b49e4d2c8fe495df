/* Clients of locks: sections, handles, extensions, releases. */
#include "run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

client clients[CLIENTS];
nanos end_of_faults = NEVER, end_of_work = NEVER;



/* How long a lock may lie free before a waiter without faults must have it: a grant to a dead one, and its next look. */
#define LONGEST_GAP (7 * SECOND)

static void lost(void *context)
{
	client *client = context;

	sum.losses++;
	say(client->process->name, "is told that its lease is lost");
}

static nanos local_now(void)
{
	return host_clock(current_process->host);
}

static char handles[RESOURCES][DLOCK_TOKEN_MAX + 1];

static void hold(client *client, dlock_claim *claim, int resource, nanos length, bool renew, char *handle)
{
	dlock_error error;
	nanos until = now + length;
	reliance *mine = &client->reliance;

	*mine = (reliance) { true, claim, resource };
	if (believes(client)) {
		note_token(client, resource, claim->fencing_token);
	}
	sum.handed += claim->received;
	if ((renew || claim->short_lease || claim->incomplete || claim->unanswered)
			&& dlock_renewal_begin(claim, &(dlock_upkeep) { .renew = renew, .lost = lost, .context = client }, &error) != DLOCK_OK) {
		violation("no renewal: %s", error.message);
	}
	while (now < until) {
		nanos left = until - now, slice = 1 * MS + draw_below(&client->random, 500 * MS), remaining;
		fiber_sleep(slice < left ? slice : left);
		bool over = claim->deadline <= local_now();
		dlock_claim_state state = dlock_claim_look(claim, &remaining);
		if (over && state != DLOCK_CLAIM_LOST) {
			violation("c%d is told that it holds seat:%d, after its deadline", client->process->number, resource);
		}
		if (state == DLOCK_CLAIM_LOST) {
			say(client->process->name, "has lost seat:%d", resource);
			break;
		}
		if (draw_chance(&client->random, 0.05)) {
			nanos ttl = 300 * MS + draw_below(&client->random, (options.most_ttl_ms - 300) * MS);
			mine->relies = false; /* it cannot act meanwhile: the new lease time may be shorter */
			dlock_status status = dlock_claim_extend(claim, ttl, &error);
			mine->relies = true;
			check_holders();
			say(client->process->name, "extends to %.3f s: %d", (double) ttl / SECOND, status);
		}
	}
	mine->relies = false;
	note_released(resource, dlock_claim_is_held(claim));
	if (handle && draw_chance(&client->random, 0.05) && dlock_claim_is_held(claim)) {
		say(client->process->name, "passes seat:%d on by a handle", resource);
		dlock_claim_end(claim, false);
		note_busy(resource);
		memcpy(handle, claim->token, sizeof claim->token);
		return;
	}
	if (draw_chance(&client->random, 0.05)) {
		say(client->process->name, "gives seat:%d back at the end of its request", resource);
		dlock_claim_abandon(claim);
		return;
	}
	say(client->process->name, "releases seat:%d", resource);
	dlock_status status = dlock_claim_release(claim, &error);
	say(client->process->name, "%s seat:%d%s%s", status == DLOCK_OK ? "has released" : "could not release", resource, status == DLOCK_OK ? "" : ": ",
		status == DLOCK_OK ? "" : error.message);
	sum.unreleased += status != DLOCK_OK;
}

/* Takes up what somebody has passed on, if it is still there. */
static void attach(client *client, dlock_backend *backend, int resource)
{
	char token[DLOCK_TOKEN_MAX + 1], name[32];
	dlock_error error = { "" };
	int len = snprintf(name, sizeof name, "seat:%d", resource);

	memcpy(token, handles[resource], sizeof token);
	if (draw_chance(&client->random, 0.7)) {
		handles[resource][0] = '\0'; /* otherwise another one tries it, too */
	}
	dlock_claim *claim = dlock_claim_new(backend, name, (size_t) len, 300 * MS + draw_below(&client->random, (options.most_ttl_ms - 300) * MS), NULL, &error);
	say(client->process->name, "takes up seat:%d of %.4s, as %.4s", resource, token, claim->token);
	dlock_status status = dlock_claim_attach(claim, token, &error);
	if (status == DLOCK_OK) {
		sum.attached++;
		say(client->process->name, "holds seat:%d by its handle, token %" PRId64 ", for %.3f s", resource, claim->fencing_token,
			(double) (claim->deadline - local_now()) / SECOND);
		hold(client, claim, resource, draw_below(&client->random, SECOND), draw_chance(&client->random, 0.7), NULL);
	} else {
		say(client->process->name, "could not take up seat:%d: %s", resource, error.message);
	}
	dlock_claim_free(claim);
}

static void section(client *client, dlock_backend *backend, bool last)
{
	stream *random = &client->random;
	int resource = last ? client->laps % options.resources : (int) draw_below(random, options.resources);
	nanos ttl = 300 * MS + draw_below(random, (options.most_ttl_ms - 300) * MS);
	nanos timeout = last ? 120 * SECOND : draw_chance(random, 0.2) ? 0 : draw_below(random, draw_chance(random, 0.2) ? 40 * SECOND : 8 * SECOND);
	bool renew = draw_chance(random, 0.7);
	char name[32];
	dlock_error error = { "" };
	int len = snprintf(name, sizeof name, "seat:%d", resource);

	dlock_claim *claim = dlock_claim_new(backend, name, (size_t) len, ttl, NULL, &error);
	dlock_wait wait = { .deadline = dlock_now() + timeout };
	nanos begun = now, paused = client->process->paused_total;
	say(client->process->name, "wants seat:%d for %.3f s within %.3f s, as %.4s", resource, (double) ttl / SECOND, (double) timeout / SECOND, claim->token);
	dlock_status status = dlock_claim_acquire(claim, &wait, &error);
	nanos took = now - begun - (client->process->paused_total - paused), over = took - timeout;
	sum.longest_overrun = over > sum.longest_overrun ? over : sum.longest_overrun;
	sum.longest_wait = took > sum.longest_wait ? took : sum.longest_wait;
	if (over > 10 * SECOND) {
		violation("c%d waited %.3f s beyond its %.3f s", client->process->number, (double) over / SECOND, (double) timeout / SECOND);
	}
	if (status == DLOCK_OK) {
		sum.acquired++;
		say(client->process->name, "holds seat:%d, token %" PRId64 ", for %.3f s%s", resource, claim->fencing_token, (double) (claim->deadline - local_now()) / SECOND,
			claim->received ? ", handed over" : "");
		hold(client, claim, resource, last ? 1 * MS : draw_below(random, draw_chance(random, 0.1) ? 3 * ttl : ttl / 2), renew,
			last ? NULL : handles[resource]);
	} else {
		*(status == DLOCK_TIMEOUT ? &sum.timeouts : &sum.errors) += 1;
		if (status == DLOCK_TIMEOUT && timeout > LONGEST_GAP && took < timeout + SECOND && was_free(resource, LONGEST_GAP) && client->process->paused_until < begun) {
			violation("c%d waited %.3f s for seat:%d, which was free all the time", client->process->number,
				(double) took / SECOND, resource);
		}
		if (status != DLOCK_TIMEOUT) {
			note_busy(resource);
		}
		say(client->process->name, "has not got seat:%d: %s", resource, status == DLOCK_TIMEOUT ? "time is over" : error.message);
		if (last && status == DLOCK_TIMEOUT) {
			violation("c%d does not get seat:%d within %.0f s after all faults: %s", client->process->number, resource, (double) timeout / SECOND, error.message);
		}
	}
	client->laps += last && status == DLOCK_OK;
	trace_hash(&status, sizeof status);
	trace_hash(&claim->fencing_token, sizeof claim->fencing_token);
	dlock_claim_free(claim);
}

static void *client_main(void *argument)
{
	client *client = argument;
	connections *own = connections_new();

	dlock_process_init();
	dlock_backend *backend = lock_backend(own);
	while (now < end_of_faults) {
		fiber_sleep(draw_below(&client->random, draw_chance(&client->random, 0.05) ? 4 * SECOND : 300 * MS));
		int passed_on = (int) draw_below(&client->random, options.resources);
		if (*handles[passed_on] && draw_chance(&client->random, 0.5)) {
			attach(client, backend, passed_on);
		} else {
			section(client, backend, false);
		}
	}
	client->process->pause_chance = 0;
	fiber_sleep(10 * SECOND);
	while (client->laps < 2 * options.resources && now < end_of_work) {
		section(client, backend, true);
		fiber_sleep(20 * MS);
	}
	say(client->process->name, "ends");
	dlock_renewal_shutdown();
	connections_end(own);
	dlock_backend_release(backend);
	client->process->alive = false;
	return NULL;
}

/* ---- the workload ---- */

static void begin(void)
{
	after_fiber = check_holders;
}

static void killed(client *client)
{
	client->reliance.relies = false;
	for (int i = 0; i < options.resources; i++) {
		note_busy(i);
	}
}

static void end(void)
{
	char left[1000];

	for (int i = 0; i < options.servers; i++) {
		if (redis_leftovers(redis[i], left, sizeof left) > 0) {
			violation("s%d has left over:%s", i, left);
		}
	}
}

const workload locks = { "locks", begin, client_main, killed, end };

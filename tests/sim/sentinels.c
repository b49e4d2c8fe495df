/* Sentinels: one decides, at the host of the first, and three report that, each a little later. */
#include "run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static server *master;
static nanos unreachable_since = NEVER;
static stream random_sentinel;

static void tell_sentinel(void *context, uint64_t which)
{
	redis_sentinel_view(sentinels[which], context);
}

static bool sentinel_reaches(const server *s)
{
	return redis_is_alive(s) && !redis_is_paused(s) && !net_is_cut(11, redis_host(s)) && !net_is_cut(redis_host(s), 11);
}

static nanos wrong_since[REDIS];

static void sentinel_look(void *context, uint64_t unused)
{
	(void) context;
	(void) unused;
	bool ok = sentinel_reaches(master);
	unreachable_since = ok ? NEVER : unreachable_since == NEVER ? now : unreachable_since;
	if (unreachable_since != NEVER && now - unreachable_since > 1500 * MS) {
		server *best = NULL;
		for (int i = 0; i < options.servers; i++) {
			if (redis[i] != master && sentinel_reaches(redis[i]) && redis_master_of(redis[i])
					&& (!best || redis_offset(redis[i]) > redis_offset(best))) {
				best = redis[i];
			}
		}
		if (best) {
			say("sent", "fails over from s%d to s%d", redis_number(master), redis_number(best));
			redis_close_clients(best); /* as Sentinel does if it changes a server's role or master */
			redis_promote(best);
			sum.failovers++;
			master = best;
			unreachable_since = NEVER;
			for (int i = 0; i < 3; i++) {
				at(now + draw_below(&random_sentinel, SECOND), tell_sentinel, best, (uint64_t) i);
			}
		}
	}
	for (int i = 0; i < options.servers; i++) { /* reconfigures servers that follow another master, or none */
		bool wrong = redis[i] != master && redis_master_of(redis[i]) != master && sentinel_reaches(redis[i]);
		wrong_since[i] = !wrong ? 0 : wrong_since[i] ? wrong_since[i] : now + draw_below(&random_sentinel, 10 * SECOND);
		if (wrong && now >= wrong_since[i]) {
			say("sent", "s%d is to follow s%d", i, redis_number(master));
			redis_close_clients(redis[i]);
			redis_replicate(redis[i], master);
			wrong_since[i] = 0;
		}
	}
	at(now + 100 * MS, sentinel_look, NULL, 0);
}

server *sentinels_master(void)
{
	return master;
}

void sentinels_begin(void)
{
	random_sentinel = stream_of(run_seed(&options), "sentinel", 0);
	master = redis[0];
	for (int i = 0; i < 3; i++) {
		sentinels[i] = redis_new(20 + i, 11 + i, 26379, run_seed(&options));
		redis_sentinel_view(sentinels[i], master);
	}
	redis_replicate(redis[1], master);
	redis_replicate(redis[2], master);
	at(100 * MS, sentinel_look, NULL, 0);
}

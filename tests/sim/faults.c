/* Faults: drawn before the run, so that leaving one out changes little else. */
#include "run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fault faults[FAULTS];
int fault_count;

static void end_fault(void *context, uint64_t unused)
{
	const fault *f = context;

	(void) unused;
	switch (f->kind) {
	case CUT:
	case CUT_ONE_WAY:
		say("net", "c%d and s%d: healed", f->a, f->b);
		net_heal(CLIENT_HOST + f->a, f->b + 1);
		break;
	case CUT_SERVERS:
		say("net", "s%d: healed", f->a);
		for (int h = 1; h < HOSTS; h++) {
			net_heal(f->a + 1, h);
		}
		break;
	case CRASH_SERVER:
		if (!redis_is_alive(redis[f->a])) {
			say("s", "s%d is back", f->a);
			redis_restart(redis[f->a], options.setup == QUORUM && f->b ? WITHOUT_DATA : WITH_DATA);
		}
		break;
	case KILL_CLIENT:
	case VANISH_CLIENT:
		if (!clients[f->a].process->alive) {
			say(clients[f->a].process->name, "starts again");
			process_start(clients[f->a].process, options.work->client_main, &clients[f->a]);
		}
		break;
	case SLOW:
		net_set_delay(50 * US, 500 * US, 0, 0);
		break;
	default:
		break;
	}
}

static void begin_fault(void *context, uint64_t unused)
{
	fault *f = context;
	client *client = &clients[f->a % options.clients];
	double length = (double) f->length / SECOND;

	(void) unused;
	if (f->kind != KILL_CLIENT && f->kind != VANISH_CLIENT) { /* others have to go on then */
		note_fault(now + f->length);
	}
	switch (f->kind) {
	case CUT:
	case CUT_ONE_WAY:
		say("net", "FAULT %d: c%d and s%d: cut%s for %.3f s", (int) (f - faults), f->a, f->b, f->kind == CUT ? "" : " one way", length);
		net_cut(CLIENT_HOST + f->a, f->b + 1, f->kind == CUT_ONE_WAY);
		break;
	case CUT_SERVERS:
		say("net", "FAULT %d: s%d: cut off from all but a few for %.3f s", (int) (f - faults), f->a, length);
		for (int h = 1; h < HOSTS; h++) {
			if (h != f->a + 1 && (h * 7 + f->b) % 4 != 0) {
				net_cut(f->a + 1, h, false);
			}
		}
		break;
	case RESET:
		say("net", "FAULT %d: c%d and s%d: connections reset", (int) (f - faults), f->a, f->b);
		net_reset_some(CLIENT_HOST + f->a, f->b + 1, 0.7);
		break;
	case PAUSE_SERVER:
		say("s", "FAULT %d: s%d is stopped for %.3f s", (int) (f - faults), f->a, length);
		redis_pause(redis[f->a], now + f->length);
		break;
	case CRASH_SERVER:
		say("s", "FAULT %d: s%d is killed, for %.3f s", (int) (f - faults), f->a, length);
		if (redis_is_alive(redis[f->a])) {
			redis_crash(redis[f->a], false);
		}
		break;
	case KILL_CLIENT:
	case VANISH_CLIENT:
		if (client->process->alive) {
			say(client->process->name, "FAULT %d: is %s for %.3f s", (int) (f - faults), f->kind == KILL_CLIENT ? "killed" : "gone without a word", length);
			net_process_died(client->process, f->kind == VANISH_CLIENT);
			process_kill(client->process);
			options.work->killed(client);
		}
		break;
	case STOP_CLIENT:
		say(client->process->name, "FAULT %d: is stopped for %.3f s", (int) (f - faults), length);
		client->process->paused_until = now + f->length;
		client->process->paused_total += f->length;
		break;
	case SLOW:
		say("net", "FAULT %d: slow for %.3f s", (int) (f - faults), length);
		net_set_delay(200 * US, 20 * MS, 0.05, SECOND);
		break;
	default:
		break;
	}
	at(now + f->length, end_fault, f, 0);
}

void make_faults(nanos end)
{
	stream random = stream_of(options.seed, "faults", 0);
	nanos time = 2 * SECOND;

	while (options.faults > 0 && fault_count < FAULTS) {
		time += draw_below(&random, 2 * options.faults * SECOND);
		if (time > end - 20 * SECOND) {
			break;
		}
		fault *f = &faults[fault_count++];
		f->time = time;
		f->kind = (int) draw_below(&random, options.setup == SINGLE ? CUT_SERVERS : FAULT_KINDS);
		f->a = (int) draw_below(&random, f->kind == PAUSE_SERVER || f->kind == CRASH_SERVER || f->kind == CUT_SERVERS ? options.servers : options.clients);
		f->b = (int) draw_below(&random, f->kind == CRASH_SERVER ? 2 : options.servers);
		f->length = draw_chance(&random, 0.7) ? draw_below(&random, 3 * SECOND) : draw_below(&random, 15 * SECOND);
		if (f->kind == CRASH_SERVER && options.setup == QUORUM && f->b) {
			f->a = 0; /* only one of them loses its data */
		}
	}
	for (int i = 0; i < fault_count; i++) {
		if (!options.skip[i]) {
			at(faults[i].time, begin_fault, &faults[i], 0);
		}
	}
}

void heal_all(void *context, uint64_t unused)
{
	(void) context;
	(void) unused;
	say("net", "all faults are over");
	end_of_faults = now;
	for (int a = 0; a < HOSTS; a++) {
		for (int b = 0; b < HOSTS; b++) {
			net_heal(a, b);
		}
	}
	net_set_delay(50 * US, 500 * US, 0, 0);
	for (int i = 0; i < options.servers; i++) {
		if (!redis_is_alive(redis[i])) {
			redis_restart(redis[i], WITH_DATA);
		}
	}
	for (int i = 0; i < options.clients; i++) {
		if (!clients[i].process->alive) {
			process_start(clients[i].process, options.work->client_main, &clients[i]);
		}
	}
}

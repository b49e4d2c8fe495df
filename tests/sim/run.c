/* One run: the set-up is drawn, and its clients work, first under faults, then without. At the end nothing may be left
 * on the servers. The outcome lies in memory that is shared with the process that started the run. */
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

run_counts sum;
outcome *this_run;

/* The clients must end within LAST_PHASE. What they have left on the servers must be gone after LEFTOVERS. */
#define LAST_PHASE (600 * SECOND)
#define LEFTOVERS (70 * SECOND)

uint64_t run_seed(const run_options *o)
{
	return o->seed ^ o->variant * 0x9e3779b97f4a7c15u;
}

static void draw_hosts(void)
{
	stream random = stream_of(run_seed(&options), "set-up", 0);

	for (int i = 0; i < HOSTS; i++) {
		hosts[i].rate = 1 + (double) draw_below(&random, 10001) / 1e6 - 0.005; /* to within 1 %: docs/reliability.md */
		hosts[i].offset = draw_below(&random, options.clocks_ms * MS) - options.clocks_ms * MS / 2;
	}
}

static void start_clients(void)
{
	for (int i = 0; i < options.clients; i++) {
		clients[i].random = stream_of(run_seed(&options), "client", i);
		clients[i].process = process_new(i, CLIENT_HOST + i, run_seed(&options));
		pauses_begin(clients[i].process);
		process_start(clients[i].process, options.work->client_main, &clients[i]);
	}
	for (int i = options.clients; i < client_count(); i++) {
		clients[i].random = stream_of(run_seed(&options), "client", i);
		clients[i].process = clients[i % options.clients].process;
	}
}

static bool any_client(void)
{
	for (int i = 0; i < options.clients; i++) {
		if (clients[i].process->alive) {
			return true;
		}
	}
	return false;
}

static double cpu_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

static void set_up(nanos end)
{
	draw_plan();
	net_init(run_seed(&options));
	draw_hosts();
	servers_begin();
	start_clients();
	draw_faults(end);
	begin_faults();
	at(end, heal_all, NULL, 0);
	options.work->begin();
}

static void note_outcome(double begun)
{
	this_run->hours = (double) now / SECOND / 3600;
	this_run->cpu = cpu_time() - begun;
	this_run->trace = trace_sum();
	this_run->faults = fault_count;
	this_run->counts = sum;
	snprintf(this_run->words, sizeof this_run->words,
		"%d faults, %lu sections (%lu handed over), %lu by handles, %lu broken, %lu upgraded, "
		"%lu timed out, %lu errors, %lu losses, %lu not released, overrun %.2f s, %lu scripts, %" PRIu64 " switches",
		fault_count, sum.acquired, sum.handed, sum.attached, sum.broken, sum.upgraded, sum.timeouts,
		sum.errors, sum.losses, sum.unreleased, (double) sum.longest_overrun / SECOND, redis_scripts_run, switches);
	this_run->ended = true;
}

void run(void)
{
	nanos end = plan_end();
	double begun = cpu_time();

	set_up(end);
	end_of_work = end + LAST_PHASE;
	run_until(options.until > 0 && options.until < end_of_work ? options.until : end_of_work - 1, &this_run->time);
	while (now < end_of_work && (now <= end || any_client())) {
		if (!step()) {
			break;
		}
		if (options.until > 0 && now > options.until) {
			return;
		}
	}
	for (int i = 0; i < options.clients; i++) {
		if (clients[i].process->alive) {
			violation("c%d has not come to its end", i);
		}
	}
	run_until(0, &this_run->time);
	for (nanos until = now + LEFTOVERS; now < until && step();) {
	}
	options.work->end();
	note_outcome(begun);
}

/* The program: options, a run, several seeds, and the shrinking of a failing one. */
#include "run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const workload *const workloads[] = { &locks };
run_options options = { .seed = 1, .setup = SINGLE, .work = &locks, .hours = 0.1, .pauses = 1, .faults = -1, .guard_ms = 5000 };
run_counts sum;

static void set_up(nanos end)
{
	stream random = stream_of(options.seed, "set-up", 0);

	draw_plan();
	net_init(options.seed);
	for (int i = 0; i < HOSTS; i++) {
		hosts[i].rate = 1 + (double) draw_below(&random, 4001) / 1e6 - 0.002;
		hosts[i].offset = draw_below(&random, 2 * SECOND) - SECOND; /* closer than the guard: docs/fail-over.md */
	}
	servers_begin();
	for (int i = 0; i < options.clients; i++) {
		clients[i].random = stream_of(options.seed, "client", i);
		clients[i].process = process_new(i, CLIENT_HOST + i, options.seed);
		clients[i].process->pause_chance = options.faults > 0 ? options.pauses / 50000 : 0;
		clients[i].process->longest_pause = 6 * SECOND;
		process_start(clients[i].process, options.work->client_main, &clients[i]);
	}
	make_faults(end);
	at(end, heal_all, NULL, 0);
}

static int run_seed(void)
{
	nanos end = (nanos) (options.hours * 3600) * SECOND;
	struct timespec begun, ended;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
	set_up(end);
	options.work->begin();
	end_of_work = end + 600 * SECOND;
	while (now < end_of_work && step()) {
		bool any = now <= end;
		for (int i = 0; !any && i < options.clients; i++) {
			any = clients[i].process->alive;
		}
		if (!any) {
			break;
		}
	}
	for (int i = 0; i < options.clients; i++) {
		if (clients[i].process->alive) {
			violation("c%d has not come to its end", i);
		}
	}
	for (nanos until = now + 70 * SECOND; now < until && step();) {
	}
	options.work->end();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
	double seconds = (double) (ended.tv_sec - begun.tv_sec) + (double) (ended.tv_nsec - begun.tv_nsec) / 1e9;
	if (!quiet) {
		printf("seed %" PRIu64 ": %.2f h in %.1f s (%.1f h/s), %d faults, %lu sections (%lu handed over), %lu by handles, %lu timed out, %lu errors, %lu losses, %lu not released, "
			"overrun %.2f s, %lu scripts, %" PRIu64 " switches, trace %016" PRIx64 "\n",
			options.seed, (double) now / SECOND / 3600, seconds, (double) now / SECOND / 3600 / seconds, fault_count, sum.acquired, sum.handed, sum.attached, sum.timeouts,
			sum.errors, sum.losses, sum.unreleased, (double) sum.longest_overrun / SECOND, redis_scripts_run, switches, trace_sum());
	}
	return 0;
}

/* ---- several seeds; shrinking ---- */

static int in_child(bool silent)
{
	int status;

	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		quiet = silent;
		int code = run_seed();
		fflush(stdout);
		_exit(code);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_seeds(uint64_t from, uint64_t to)
{
	int failed = 0;

	for (options.seed = from; options.seed <= to; options.seed++) {
		int code = in_child(false);
		failed += code != 0;
		if (code > 1) {
			printf("seed %" PRIu64 " ended with %d\n", options.seed, code);
		}
	}
	printf("%" PRIu64 " seeds, %d failed\n", to - from + 1, failed);
	return failed > 0;
}

/* Leaves out what is not needed: halves, quarters, ..., single faults; then clients, pauses and the time after. */
static int shrink(void)
{
	if (in_child(true) == 0) {
		puts("This seed does not fail.");
		return 2;
	}
	draw_plan();
	make_faults((nanos) (options.hours * 3600) * SECOND);
	int all = fault_count;
	fault_count = 0;
	double pauses = options.pauses;
	options.pauses = 0;
	if (in_child(true) == 0) {
		options.pauses = pauses;
	}
	for (int size = all; size > 0; size /= 2) {
		for (int from = 0; from < all; from += size) {
			char before[FAULTS];
			memcpy(before, options.skip, sizeof before);
			for (int i = from; i < from + size && i < all; i++) {
				options.skip[i] = 1;
			}
			if (in_child(true) == 0) {
				memcpy(options.skip, before, sizeof before);
			}
		}
	}
	while (options.clients > 2) {
		options.clients--;
		if (in_child(true) == 0) {
			options.clients++;
			break;
		}
	}
	printf("Needed of %d faults:", all);
	for (int i = 0; i < all; i++) {
		if (!options.skip[i]) {
			printf(" %d", i);
		}
	}
	printf("; %d clients; %s pauses\n", options.clients, options.pauses > 0 ? "with" : "without");
	options.trace = true;
	return in_child(false);
}

int main(int argc, char **argv)
{
	uint64_t to = 0;
	bool shrinks = false;

	for (int i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		if (!value) {
			shrinks = !strcmp(argv[i], "shrink");
			options.trace |= !strcmp(argv[i], "trace");
			continue;
		}
		*value++ = '\0';
		if (!strcmp(argv[i], "seed")) {
			options.seed = strtoull(value, NULL, 10);
		} else if (!strcmp(argv[i], "to")) {
			to = strtoull(value, NULL, 10);
		} else if (!strcmp(argv[i], "setup")) {
			while (strcmp(setups[options.setup], value) && options.setup < SETUPS - 1) {
				options.setup++;
			}
		} else if (!strcmp(argv[i], "work")) {
			for (size_t j = 0; j < sizeof workloads / sizeof *workloads; j++) {
				options.work = !strcmp(workloads[j]->name, value) ? workloads[j] : options.work;
			}
		} else if (!strcmp(argv[i], "hours")) {
			options.hours = atof(value);
		} else if (!strcmp(argv[i], "clients")) {
			options.clients = atoi(value);
		} else if (!strcmp(argv[i], "resources")) {
			options.resources = atoi(value);
		} else if (!strcmp(argv[i], "faults")) {
			options.faults = atoi(value);
		} else if (!strcmp(argv[i], "pauses")) {
			options.pauses = atof(value);
		} else if (!strcmp(argv[i], "guard")) {
			options.guard_ms = atoi(value);
		} else if (!strcmp(argv[i], "from")) {
			options.trace_from = atof(value);
		} else {
			fprintf(stderr, "sim: %s?\n", argv[i]);
			return 2;
		}
	}
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	return shrinks ? shrink() : to ? run_seeds(options.seed, to) : run_seed();
}

/* The commands: one seed; new seeds for some seconds, or for many virtual hours (scripts/test.sh); a sweep of failing
 * calls. */
#include "fleet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 64, SHRUNK = 3 };
#define PROGRESS_SECONDS 10

typedef struct {
	unsigned long seeds, failed, faults;
	double hours, cpu;
	run_counts counts;
} totals;

static struct {
	totals by_combination[64], all;
	double begun, told;
	trial failures[SHRUNK];
	int failure_count;
	unsigned long passed, failed;
} progress;

/* "seed 12 (work=locks setup=single)": in the syntax of the options. */
static void print_plan(const run_options *o)
{
	printf("seed %" PRIu64 " (work=%s setup=%s)", o->seed, o->work->name, setups[o->setup]);
}

static void print_end(const trial *t)
{
	const outcome *o = &t->outcome;

	print_plan(&t->options);
	if (o->violated) {
		printf(": VIOLATION at %.3f s: %s\n", (double) o->time / SECOND, o->message);
	} else {
		printf(": %.2f h in %.1f s (%.1f h/s), %s, trace %016" PRIx64 "\n", o->hours, o->cpu, o->hours / o->cpu,
			o->words, o->trace);
	}
	fflush(stdout);
}

static void add(totals *totals, const outcome *outcome)
{
	totals->seeds++;
	totals->failed += outcome->violated;
	totals->hours += outcome->hours;
	totals->cpu += outcome->cpu;
	totals->faults += (unsigned long) outcome->faults;
	totals->counts.acquired += outcome->counts.acquired;
	totals->counts.failovers += outcome->counts.failovers;
}

static void note(const trial *t)
{
	const outcome *o = &t->outcome;
	bool is_new = o->violated;

	add(&progress.all, o);
	for (int i = 0; i < plan_count(); i++) {
		if (plan_at(i)->work == t->options.work && (int) plan_at(i)->setup == t->options.setup) {
			add(&progress.by_combination[i], o);
		}
	}
	*(o->violated ? &progress.failed : &progress.passed) += 1;
	if (!o->violated) {
		return;
	}
	print_end(t);
	for (int i = 0; i < progress.failure_count; i++) {
		is_new &= strcmp(progress.failures[i].outcome.kind, o->kind) != 0;
	}
	if (is_new && progress.failure_count < SHRUNK) {
		progress.failures[progress.failure_count++] = *t;
	}
}

static void tell_progress(bool now_too)
{
	double passed = real_time() - progress.begun;

	if (now_too || passed - progress.told >= PROGRESS_SECONDS) {
		progress.told = passed;
		printf("%4.0f s: %lu seeds, %.1f virtual hours, %lu acquisitions, %lu failed\n", passed, progress.all.seeds,
			progress.all.hours, progress.all.counts.acquired, progress.all.failed);
		fflush(stdout);
	}
}

static void print_table(void)
{
	for (int i = 0; i < plan_count(); i++) {
		const totals *t = &progress.by_combination[i];
		if (t->seeds > 0) {
			printf(
				"%-10s %-10s %5lu seeds %8.2f h in %7.1f s of CPU (%5.2f h/s) %8lu acquisitions %6lu fail-overs %7lu "
				"faults\n",
				plan_at(i)->work->name, setups[plan_at(i)->setup], t->seeds, t->hours, t->cpu,
				t->cpu > 0 ? t->hours / t->cpu : 0, t->counts.acquired, t->counts.failovers, t->faults);
		}
	}
}

/* Waits until a run has ended. */
static void collect(void)
{
	trial *t = fleet_wait();

	if (t) {
		note(t);
		t->run = NULL; /* its place is free */
		tell_progress(false);
	}
}

static trial *free_trial(trial *trials)
{
	while (!fleet_has_room()) {
		collect();
	}
	while (trials->run) {
		trials++;
	}
	return trials;
}

static trial trials[TRIALS];

static void start(const run_options *o)
{
	trial *t = free_trial(trials);

	*t = (trial) { .options = *o, .run = run, .quiet = true };
	fleet_start(t);
}

static void collect_all(void)
{
	trial *t;

	while ((t = fleet_wait())) {
		note(t);
		t->run = NULL;
	}
}

/* Runs new seeds, from `first` on, until the time or the virtual hours are used up. */
static void run_new_seeds(uint64_t first, double until, double hours)
{
	run_options given = options;

	for (uint64_t seed = first; real_time() < until && progress.all.hours < hours; seed++) {
		options = given;
		options.seed = seed;
		if (!plan_choose()) {
			fprintf(stderr, "sim: there is no such work on such a set-up\n");
			exit(2);
		}
		start(&options);
	}
	collect_all();
	options = given;
}

/* ---- each call of libc fails once ---- */

#define FOR_A_WHILE (100 * MS)

/* Counts the calls of the first client that may fail, in a short run without other faults. */
static uint64_t count_calls(const run_options *o)
{
	static trial t;

	t = (trial) { .options = *o, .run = run, .quiet = true };
	while (!fleet_has_room()) {
		collect();
	}
	collect_all();
	fleet_start(&t);
	fleet_wait();
	note(&t);
	return t.outcome.failable;
}

/* Each `every`-th call fails once. In every fifth of these runs, all calls fail for a while from then on. */
static void sweep(const run_options *o, int every, uint64_t first)
{
	uint64_t calls = count_calls(o);

	print_plan(o);
	printf(": %" PRIu64 " calls\n", calls);
	for (uint64_t nth = 1 + first % (uint64_t) every; nth <= calls; nth += (uint64_t) every) {
		run_options failing = *o;
		nanos length = nth / (uint64_t) every % 5 == 0 ? FOR_A_WHILE : 0;
		failing.faults_given[failing.faults_given_count++] = (fault){
			.kind = FAIL_CALL, .b = (int) nth, .length = length
		};
		start(&failing);
	}
	collect_all();
}

static void sweep_all(int every, uint64_t first)
{
	run_options given = options;

	for (int i = 0; i < plan_count(); i++) {
		const combination *c = plan_at(i);
		options = given;
		if ((given.work && given.work != c->work) || (given.setup >= 0 && given.setup != (int) c->setup)) {
			continue;
		}
		options.seed = first;
		options.work = c->work;
		options.setup = (int) c->setup;
		options.hours = given.hours > 0 ? given.hours : 0.003;
		options.clients = given.clients ? given.clients : 3;
		options.resources = given.resources ? given.resources : 1;
		options.faults = options.pauses = 0;
		run_options o = options;
		sweep(&o, every, first);
	}
	options = given;
}

/* ---- the commands ---- */

/* The same seed has the same trace. */
static void check_determinism(uint64_t seed)
{
	static trial twice[2];
	run_options given = options;

	options.seed = seed;
	plan_choose();
	for (int i = 0; i < 2; i++) {
		while (!fleet_has_room()) {
			fleet_wait();
		}
		twice[i] = (trial) { .options = options, .run = run, .quiet = true };
		fleet_start(&twice[i]);
	}
	while (fleet_wait()) {
	}
	bool same = twice[0].outcome.trace == twice[1].outcome.trace;
	*(same ? &progress.passed : &progress.failed) += 1;
	if (!same) {
		print_plan(&options);
		printf(": run twice, and the traces differ\n");
	}
	options = given;
}

static int end_command(void)
{
	print_table();
	for (int i = 0; i < progress.failure_count && options.shrink > 0; i++) {
		shrink(&progress.failures[i].options, &progress.failures[i].outcome, options.shrink);
	}
	printf("%lu passed, %lu failed\n", progress.passed, progress.failed);
	return progress.failed > 0;
}

int command_seed(void)
{
	static trial t;

	if (!plan_choose()) {
		fprintf(stderr, "sim: there is no such work on such a set-up\n");
		return 2;
	}
	t = (trial) { .options = options, .run = run };
	fleet_has_room();
	fleet_start(&t);
	fleet_wait();
	print_end(&t);
	if (t.outcome.violated && !options.trace && options.shrink > 0) {
		shrink(&t.options, &t.outcome, options.shrink);
	}
	printf("%d passed, %d failed\n", !t.outcome.violated, t.outcome.violated);
	return t.outcome.violated;
}

int command_check(double seconds, uint64_t first)
{
	progress.begun = real_time();
	printf("The first seed is %" PRIu64 ".\n", first);
	check_determinism(first);
	run_new_seeds(first, progress.begun + seconds, 1e9);
	return end_command();
}

int command_sweep(int every, uint64_t first)
{
	progress.begun = real_time();
	sweep_all(every, first);
	return end_command();
}

int command_hours(double hours, uint64_t first)
{
	progress.begun = real_time();
	printf("The first seed is %" PRIu64 ".\n", first);
	check_determinism(first);
	run_new_seeds(first, progress.begun + 1e9, hours);
	return end_command();
}

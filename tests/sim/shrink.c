/* A failing run is shrunk to the fewest faults, pauses, clients and resources, and to the shortest time, that still
 * fail in the same way.
 *
 * Leaving a fault out changes what happens after it, and often nothing goes wrong any more. So a candidate is tried
 * unchanged, and with other random numbers ("variants"), because a mistake is rarely bound to one moment. First the
 * faults before the violation are tried at the beginning of a short run. Then faults, pauses, clients and resources are
 * left out for as long as that succeeds, with more and more variants. Each trial ends at its first violation. */
#include "fleet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIALS = 64, MOST_VARIANTS = 512, LINES = 90, FEW = 20 };
#define LONGEST(seconds) (4 * (seconds) + 90) /* of real time, on a busy machine */
#define LEAD (15 * SECOND)  /* before the first fault: connections are open, an epoch has settled */
#define SLACK (15 * SECOND) /* after the last one */

typedef struct {
	run_options options;
	outcome outcome;
} history;

static struct {
	history first, best; /* as it was found, and the smallest until now */
	trial trials[TRIALS];
	bool found;
	bool at_end; /* the violation is after the faults, so a run must reach its end */
	double work_until, deadline; /* limits of CPU time and of real time: a busy machine needs longer */
	uint64_t variants;
	unsigned long runs;
} search;

static run_options candidate;

/* ---- trials ---- */

static bool time_is_over(void)
{
	return fleet_work() > search.work_until || real_time() > search.deadline;
}

/* Lists what is drawn, and leaves out what comes after the violation. */
static void list_all(history *h)
{
	run_options *o = &h->options, before = options;
	int count = 0;

	if (o->faults > 0) {
		options = *o;
		draw_faults(plan_end());
		memcpy(o->faults_given, faults, sizeof faults);
		o->faults_given_count = fault_count;
		o->faults = 0;
		options = before;
	}
	for (int i = 0; i < o->faults_given_count; i++) {
		if (o->faults_given[i].time <= h->outcome.time) {
			o->faults_given[count++] = o->faults_given[i];
		}
	}
	o->faults_given_count = count;
	if (o->pauses > 0 && h->outcome.calls[0] > 0) { /* otherwise the number of calls is not known */
		for (int i = o->pauses_given_count = 0; i < o->clients; i++) {
			o->pauses_given_count += pauses_drawn(
				o, i, h->outcome.calls[i], o->pauses_given + o->pauses_given_count, PAUSES - o->pauses_given_count);
		}
		o->pauses = 0;
	}
}

static void collect(void)
{
	trial *t = fleet_wait();

	if (!t) {
		return;
	}
	search.runs++;
	t->run = NULL;
	if (!search.found && t->outcome.violated && !strcmp(t->outcome.kind, search.first.outcome.kind)) {
		search.found = true;
		search.best = (history) { t->options, t->outcome };
		list_all(&search.best);
	}
}

static void start(const run_options *o)
{
	trial *t = search.trials;

	while (!fleet_has_room()) {
		collect();
	}
	while (t->run) {
		t++;
	}
	t->options = *o;
	t->run = run;
	t->quiet = true;
	fleet_start(t);
}

/* True: the candidate fails with its own or other random numbers, at most `variants` in all. It is the best one now. */
static bool fails(int variants)
{
	run_options o = candidate;

	search.found = false;
	for (int i = 0; i < variants && !search.found && !time_is_over(); i++) {
		o.variant = i == 0 ? candidate.variant : ++search.variants;
		start(&o);
	}
	for (int i = 0; i < TRIALS && !search.found; i++) {
		while (search.trials[i].run && !search.found) {
			collect();
		}
	}
	fleet_stop(NULL);
	for (int i = 0; i < TRIALS; i++) {
		search.trials[i].run = NULL;
	}
	return search.found;
}

static void begin_candidate(void)
{
	candidate = search.best.options;
	candidate.until = search.at_end ? 0 : search.best.outcome.time + SLACK / 2;
}

static void set_end(nanos end)
{
	if (search.at_end) {
		candidate.hours = (double) (end / SECOND) / 3600;
	} else {
		candidate.until = end;
	}
}

/* ---- a shorter run ---- */

/* The candidate is a new run with the faults of the last `window` before the violation. */
static void take_window(nanos window)
{
	const run_options *o = &search.first.options;
	nanos end = search.first.outcome.time, shift = -1;

	candidate = *o;
	candidate.faults_given_count = candidate.pauses_given_count = 0;
	for (int i = 0; i < o->faults_given_count; i++) {
		fault f = o->faults_given[i];
		if (f.time + f.length > end - window && f.time <= end) {
			shift = shift < 0 ? (f.time > LEAD ? f.time - LEAD : 0) : shift;
			f.time -= shift;
			candidate.faults_given[candidate.faults_given_count++] = f;
		}
	}
	set_end(LEAD + window + SLACK);
}

static bool shorten(void)
{
	static const int windows[] = { 5, 15, 30, 60, 120, 300 };
	static const double pauses[] = { 0, 1, 10 };

	bool is_long = search.first.outcome.time > LEAD + windows[0] * SECOND;

	for (int round = 0; is_long && !time_is_over(); round++) {
		for (size_t w = 0; w < sizeof windows / sizeof *windows && !time_is_over(); w++) {
			take_window(windows[w] * SECOND);
			candidate.pauses = pauses[round % 3];
			candidate.variant = ++search.variants;
			if (search.first.outcome.time > LEAD + windows[w] * SECOND && fails(w < 4 ? 8 : 2)) {
				return true;
			}
		}
	}
	return false;
}

/* ---- less of everything ---- */

static void cut(void *items, int *count, size_t size, int from, int to)
{
	char *bytes = items;

	memmove(bytes + (size_t) from * size, bytes + (size_t) to * size, (size_t) (*count - to) * size);
	*count -= to - from;
}

/* All, halves, …, single ones. The last ones come first, because leaving one out changes nothing before it. */
static bool reduce(bool pauses, int variants)
{
	const int *left = pauses ? &search.best.options.pauses_given_count : &search.best.options.faults_given_count;
	bool any = false;

	for (int chunk = *left; chunk > 0; chunk /= 2) {
		for (int to = *left; to > 0 && !time_is_over(); to -= chunk) {
			int from = to > chunk ? to - chunk : 0;
			to = to < *left ? to : *left;
			if (from >= to) {
				continue;
			}
			begin_candidate();
			if (pauses) {
				cut(candidate.pauses_given, &candidate.pauses_given_count, sizeof(client_pause), from, to);
			} else {
				cut(candidate.faults_given, &candidate.faults_given_count, sizeof(fault), from, to);
			}
			any |= fails(variants);
		}
	}
	return any;
}

static bool with_fewer_clients(int variants)
{
	for (int count = 1; count < search.best.options.clients && !time_is_over(); count++) {
		begin_candidate();
		candidate.clients = count;
		for (int i = 0; i < candidate.faults_given_count; i++) {
			fault *f = &candidate.faults_given[i];
			f->a = fault_is_of_server(f->kind) ? f->a : f->a % count;
		}
		for (int i = candidate.pauses_given_count - 1; i >= 0; i--) {
			if (candidate.pauses_given[i].client >= count) {
				cut(candidate.pauses_given, &candidate.pauses_given_count, sizeof(client_pause), i, i + 1);
			}
		}
		if (fails(variants)) {
			return true;
		}
	}
	return false;
}

static bool with_fewer_resources(int variants)
{
	for (int count = 1; count < search.best.options.resources && !time_is_over(); count++) {
		begin_candidate();
		candidate.resources = count;
		if (fails(variants)) {
			return true;
		}
	}
	return false;
}

/* Half of the time, or two thirds; or earlier faults. */
static bool with_less_time(int variants)
{
	const history *best = &search.best;
	bool any = false;

	for (int part = 2; part <= 3 && best->outcome.time > 5 * SECOND && !time_is_over(); part++) {
		begin_candidate();
		set_end((search.at_end ? plan_end() : best->outcome.time) * (part - 1) / part);
		any |= fails(variants);
	}
	if (best->options.faults_given_count > 0 && best->options.faults_given[0].time > 3 * SECOND && !time_is_over()) {
		begin_candidate();
		nanos shift = candidate.faults_given[0].time / 2;
		for (int i = 0; i < candidate.faults_given_count; i++) {
			candidate.faults_given[i].time -= shift;
		}
		set_end(best->outcome.time - shift / 2);
		any |= fails(variants);
	}
	return any;
}

/* Times in milliseconds are shorter to read. */
static void round_times(void)
{
	begin_candidate();
	for (int i = 0; i < candidate.faults_given_count; i++) {
		candidate.faults_given[i].time -= candidate.faults_given[i].time % MS;
		candidate.faults_given[i].length -= candidate.faults_given[i].length % MS;
	}
	for (int i = 0; i < candidate.pauses_given_count; i++) {
		candidate.pauses_given[i].length -= candidate.pauses_given[i].length % MS;
	}
	fails(8);
}

static void search_smaller(double seconds)
{
	bool any;

	fleet_has_room();
	search.deadline = real_time() + LONGEST(seconds);
	search.work_until = fleet_work() + seconds * 0.6;
	shorten();
	search.work_until += seconds * 0.4;
	for (int variants = 2; variants <= MOST_VARIANTS && !time_is_over(); variants *= any ? 1 : 4) {
		any = reduce(false, variants);
		any |= reduce(true, variants);
		any |= with_fewer_clients(variants);
		any |= with_fewer_resources(variants);
		any |= with_less_time(variants);
	}
	search.work_until += 2;
	round_times();
}

/* ---- what is left, in words ---- */

static void print_command(const run_options *o)
{
	char text[120];

	printf("  tests/sim/run.sh %" PRIu64 " work=%s setup=%s hours=%.9g", o->seed, o->work->name, setups[o->setup],
		o->hours);
	printf(" clients=%d resources=%d guard=%d clocks=%d faults=0 pauses=%g", o->clients, o->resources, o->guard_ms,
		o->clocks_ms, o->pauses);
	if (o->variant) {
		printf(" variant=%" PRIu64, o->variant);
	}
	for (int i = 0; i < o->faults_given_count; i++) {
		fault_write(&o->faults_given[i], text, sizeof text);
		printf(" fault=%s", text);
	}
	for (int i = 0; i < o->pauses_given_count; i++) {
		const client_pause *p = &o->pauses_given[i];
		printf(" pause=%d,%" PRIu64 ",%.11g", p->client, p->call, (double) p->length / SECOND);
	}
	printf(" trace\n");
}

static FILE *trace;

static void run_traced(void)
{
	dup2(fileno(trace), STDOUT_FILENO);
	setvbuf(stdout, NULL, _IOLBF, 0);
	run();
}

/* True: the line names another resource than the violation, and not that one. A name has a number after a colon, as
 * "seat:2". */
static bool is_of_another(const char *line, const char *name, size_t len)
{
	size_t kind = (size_t) (strchr(name, ':') + 1 - name);
	bool other = false;

	for (const char *p = line; len > 0 && (p = strchr(p, *name)); p++) {
		if (!strncmp(p, name, len)) {
			return false;
		}
		other |= !strncmp(p, name, kind);
	}
	return other;
}

/* The resource in the violation's message, as "seat:2"; NULL: it names none. */
static const char *name_in(const char *words, size_t *len)
{
	const char *colon = words;

	while ((colon = strchr(colon, ':')) && (colon[1] < '0' || colon[1] > '9')) {
		colon++;
	}
	if (!colon) {
		*len = 0;
		return NULL;
	}
	const char *from = colon;
	while (from > words && from[-1] >= 'a' && from[-1] <= 'z') {
		from--;
	}
	*len = (size_t) (colon - from) + strspn(colon, ":0123456789");
	*len -= from[*len - 1] == ':';
	return from;
}

/* Prints the trace's last lines about the same resource, or about none. If there are few faults, they are printed
 * before these lines. */
static void print_trace(const history *h)
{
	char *line = NULL;
	size_t room = 0, len;
	const char *name = name_in(h->outcome.message, &len);
	bool few = h->options.faults_given_count + h->options.pauses_given_count <= FEW;
	int count = 0, number = 0;

	for (int pass = 0; pass < 2; pass++) {
		rewind(trace);
		while (getline(&line, &room, trace) > 0) {
			bool event = few
				&& (strstr(line, "FAULT") || strstr(line, "is stopped for") || strstr(line, "is promoted"));
			if (name && is_of_another(line, name, len)) {
				continue;
			}
			count += pass == 0;
			number += pass == 1;
			if (pass == 1 && (event || count - number < LINES)) {
				fputs(line, stdout);
			} else if (pass == 1 && number == 1) {
				printf("    ...\n");
			}
		}
	}
	free(line);
}

static void print_sizes(const history *h, double seconds)
{
	const run_options *now = &h->options, *before = &search.first.options;

	printf(
		"shrunk in %.0f s, %lu runs: %d of %d faults, %d of %d pauses, %d of %d clients, %d of %d resources, %.1f of "
		"%.1f s\n",
		seconds, search.runs, now->faults_given_count, before->faults_given_count, now->pauses_given_count,
		before->pauses_given_count, now->clients, before->clients, now->resources, before->resources,
		(double) h->outcome.time / SECOND, (double) search.first.outcome.time / SECOND);
}

/* Runs it once more, with its trace. */
static void print_history(history *h)
{
	static trial last;

	last = (trial) { .options = h->options, .run = run_traced };
	last.options.trace = true;
	last.options.trace_from = 0;
	trace = tmpfile();
	fleet_start(&last);
	fleet_wait();
	if (strcmp(last.outcome.kind, h->outcome.kind)) {
		printf("  what is left does not fail again: the run is not deterministic\n");
	}
	print_command(&h->options);
	print_trace(h);
	fclose(trace);
}

void shrink(const run_options *failing, const outcome *failure, double seconds)
{
	run_options before = options;
	double begun = real_time();

	memset(&search, 0, sizeof search);
	options = *failing;
	draw_plan();
	search.at_end = failure->time > plan_end();
	search.first = (history) { options, *failure };
	list_all(&search.first);
	search.best = search.first;
	search.variants = 1000 * failing->variant;
	search_smaller(seconds);
	print_sizes(&search.best, real_time() - begun);
	print_history(&search.best);
	options = before;
}

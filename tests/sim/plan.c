/* What a seed is about: which clients work on which servers, and for how long. A new set-up or workload is a row
 * here. */
#include "run.h"

#include <stdio.h>
#include <string.h>

static const workload *const workloads[] = { &locks, &locks_of_strands, &several_locks, &semaphores,
	&semaphores_of_strands, &read_write_locks, &read_write_locks_of_strands, &stocks, &stocks_of_strands };

/* Of consecutive seeds, each combination has as many as its share says. The hours make a run take about a second of CPU
 * time. */
static const combination combinations[] = {
	{ &locks, SINGLE, 3, 1.5 },
	{ &locks, REPLICATED, 3, 1.0 },
	{ &locks, QUORUM, 3, 0.2 },
	{ &locks, CLUSTER, 3, 0.6 },
	{ &locks, MEMCACHED, 1, 0.2 },
	{ &several_locks, SINGLE, 2, 0.8 },
	{ &several_locks, REPLICATED, 2, 0.5 },
	{ &several_locks, CLUSTER, 2, 0.5 },
	{ &several_locks, QUORUM, 2, 0.15 },
	{ &semaphores, SINGLE, 1, 0.8 },
	{ &semaphores, REPLICATED, 1, 0.3 },
	{ &read_write_locks, SINGLE, 1, 0.8 },
	{ &read_write_locks, REPLICATED, 1, 0.3 },
	{ &stocks, SINGLE, 1, 0.3 },
	{ &stocks, REPLICATED, 1, 0.3 },
	{ &stocks, CLUSTER, 1, 0.2 },
	{ &locks_of_strands, SINGLE, 1, 0.5 },
	{ &locks_of_strands, REPLICATED, 1, 0.3 },
	{ &locks_of_strands, QUORUM, 1, 0.1 },
	{ &locks_of_strands, CLUSTER, 1, 0.2 },
	{ &locks_of_strands, MEMCACHED, 1, 0.1 },
	{ &semaphores_of_strands, SINGLE, 1, 0.2 },
	{ &semaphores_of_strands, REPLICATED, 1, 0.1 },
	{ &read_write_locks_of_strands, SINGLE, 1, 0.2 },
	{ &read_write_locks_of_strands, REPLICATED, 1, 0.1 },
	{ &stocks_of_strands, SINGLE, 1, 0.1 },
	{ &stocks_of_strands, REPLICATED, 1, 0.1 },
	{ &stocks_of_strands, CLUSTER, 1, 0.1 },
};

enum { COMBINATIONS = sizeof combinations / sizeof *combinations };

int plan_count(void)
{
	return COMBINATIONS;
}

const combination *plan_at(int number)
{
	return &combinations[number];
}

static bool fits(const combination *c)
{
	return (!options.work || options.work == c->work) && (options.setup < 0 || options.setup == (int) c->setup);
}

static const combination *combination_of(uint64_t seed)
{
	int shares = 0, turn;

	for (int i = 0; i < COMBINATIONS; i++) {
		shares += fits(&combinations[i]) ? combinations[i].share : 0;
	}
	if (shares == 0) {
		return NULL;
	}
	turn = (int) (seed % (uint64_t) shares);
	for (int round = 0;; round++) { /* one of each, then one of each with a larger share, … */
		for (int i = 0; i < COMBINATIONS; i++) {
			if (fits(&combinations[i]) && combinations[i].share > round && turn-- == 0) {
				return &combinations[i];
			}
		}
	}
}

bool plan_choose(void)
{
	const combination *c = combination_of(options.seed);

	if (!c) {
		return false;
	}
	options.work = c->work;
	options.setup = (int) c->setup;
	options.hours = options.hours > 0 ? options.hours : c->hours;
	return true;
}

nanos plan_end(void)
{
	return (nanos) (options.hours * 3600 + 1e-6) * SECOND;
}

const workload *workload_named(const char *name)
{
	for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
		if (!strcmp(workloads[i]->name, name)) {
			return workloads[i];
		}
	}
	return NULL;
}

int setup_named(const char *name)
{
	for (int i = 0; i < SETUPS; i++) {
		if (!strcmp(setups[i], name)) {
			return i;
		}
	}
	return -1;
}

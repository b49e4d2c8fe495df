/* The program: its options. See README.md. */
#include "fleet.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHRINK_SECONDS 30

run_options options = {
	.seed = 1, .setup = -1, .pauses = -1, .faults = -1, .guard_ms = 5000, .clocks_ms = 2000, .shrink = SHRINK_SECONDS
};

static double check_seconds, hours, every;
static uint64_t first = 1;

static int bad(const char *option, const char *what)
{
	fprintf(stderr, "sim: %s: %s\n", option, what);
	return 2;
}

static bool set_number(const char *name, const char *value)
{
	const struct {
		const char *name;
		int *number;
	} numbers[] = { { "clients", &options.clients }, { "resources", &options.resources }, { "faults", &options.faults },
		{ "guard", &options.guard_ms }, { "clocks", &options.clocks_ms } };
	const struct {
		const char *name;
		double *number;
	} reals[] = { { "hours", &options.hours }, { "pauses", &options.pauses }, { "from", &options.trace_from },
		{ "shrink", &options.shrink }, { "--check", &check_seconds }, { "--hours", &hours }, { "--sweep", &every } };

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		if (!strcmp(numbers[i].name, name)) {
			*numbers[i].number = atoi(value);
			return true;
		}
	}
	for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
		if (!strcmp(reals[i].name, name)) {
			*reals[i].number = atof(value);
			return true;
		}
	}
	return false;
}

static bool add_fault(const char *text)
{
	return options.faults_given_count < FAULTS && fault_read(text, &options.faults_given[options.faults_given_count++]);
}

static bool add_pause(const char *text)
{
	client_pause *p = &options.pauses_given[options.pauses_given_count];
	double length;

	if (options.pauses_given_count == PAUSES || sscanf(text, "%d,%" SCNu64 ",%lf", &p->client, &p->call, &length) != 3
		|| length < 0) {
		return false;
	}
	p->length = llround(length * SECOND);
	options.pauses_given_count++;
	return true;
}

/* 0, or the program's status. */
static int set_option(const char *name, const char *value)
{
	if (!strcmp(name, "seed")) {
		options.seed = strtoull(value, NULL, 10);
	} else if (!strcmp(name, "variant")) {
		options.variant = strtoull(value, NULL, 10);
	} else if (!strcmp(name, "fault")) {
		return add_fault(value) ? 0 : bad(value, "a fault is KIND,A,B,AT,LENGTH");
	} else if (!strcmp(name, "pause")) {
		return add_pause(value) ? 0 : bad(value, "a pause is CLIENT,CALL,LENGTH");
	} else if (!strcmp(name, "first")) {
		first = strtoull(value, NULL, 10);
	} else if (!strcmp(name, "setup")) {
		options.setup = setup_named(value);
		return options.setup < 0 ? bad(value, "there is no such set-up") : 0;
	} else if (!strcmp(name, "work")) {
		options.work = workload_named(value);
		return options.work ? 0 : bad(value, "there is no such work");
	} else if (!set_number(name, value)) {
		return bad(name, "there is no such option");
	}
	return 0;
}

static int parse(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char name[32], *value = strchr(argv[i], '=');
		int problem = 0;
		if (value) {
			snprintf(name, sizeof name, "%.*s", (int) (value - argv[i]), argv[i]);
			problem = set_option(name, value + 1);
		} else if (!strncmp(argv[i], "--", 2) && i + 1 < argc) {
			problem = set_option(argv[i], argv[i + 1]);
			i++;
		} else if (!strcmp(argv[i], "trace")) {
			options.trace = true;
		} else if (argv[i][0] >= '0' && argv[i][0] <= '9') {
			options.seed = strtoull(argv[i], NULL, 10);
		} else {
			problem = bad(argv[i], "there is no such option");
		}
		if (problem != 0) {
			return problem;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	int problem = parse(argc, argv);

	if (problem != 0) {
		return problem;
	}
	if (every > 0) {
		return command_sweep((int) every, first);
	}
	return check_seconds > 0 ? command_check(check_seconds, first)
		: hours > 0          ? command_hours(hours, first)
							 : command_seed();
}

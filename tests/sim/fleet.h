#ifndef SIM_FLEET_H
#define SIM_FLEET_H

/* Several runs at a time, and their outcomes. */

#include "run.h"

typedef struct trial {
	run_options options;
	void (*run)(void);
	bool quiet; /* nothing is printed */
	outcome outcome;
} trial;

bool fleet_has_room(void);
void fleet_start(trial *trial);
trial *fleet_wait(void);               /* waits until a trial has ended; NULL: none is running */
void fleet_stop(const trial *trial);   /* by force; NULL: all trials */
double real_time(void);                /* in seconds */
double fleet_work(void);               /* CPU seconds of all ended runs, divided by the number of jobs */

/* Shrinks the failing options for about that many seconds, and prints what is left (shrink.c). */
void shrink(const run_options *failing, const outcome *failure, double seconds);

/* The commands (check.c); each returns the program's status. */
int command_seed(void);
int command_check(double seconds, uint64_t first);
int command_sweep(int every, uint64_t first);
int command_hours(double hours, uint64_t first);

#endif

/* Each run has a process of its own. As many run at a time as the machine has processors, or as JOBS says. */
#include "fleet.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_JOBS = 64, CPU_SECONDS = 300 };

typedef struct {
	pid_t pid; /* 0: the job is free */
	trial *trial;
	outcome *shared;
} job;

static job jobs[MOST_JOBS];
static int job_count;

static void begin(void)
{
	const char *wanted = getenv("JOBS");
	long count = wanted ? atol(wanted) : sysconf(_SC_NPROCESSORS_ONLN);

	job_count = count < 1 ? 1 : count > MOST_JOBS ? MOST_JOBS : (int) count;
	for (int i = 0; i < job_count; i++) {
		jobs[i].shared = mmap(NULL, sizeof(outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (jobs[i].shared == MAP_FAILED) {
			perror("sim: mmap");
			exit(2);
		}
	}
}

double real_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

/* Defined if the build measures coverage (Makefile). */
__attribute__((weak)) void __gcov_dump(void);

double fleet_work(void)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	return ((double) (used.ru_utime.tv_sec + used.ru_stime.tv_sec)
			   + (double) (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6)
		/ job_count;
}

static void run_job(job *job)
{
	struct rlimit limit = { CPU_SECONDS, CPU_SECONDS };

	setrlimit(RLIMIT_CPU, &limit); /* ends a run that would not end */
	options = job->trial->options;
	quiet = job->trial->quiet;
	this_run = job->shared;
	job->trial->run();
	fflush(stdout);
	if (__gcov_dump) {
		__gcov_dump();
	}
	_exit(0);
}

bool fleet_has_room(void)
{
	if (job_count == 0) {
		begin();
	}
	for (int i = 0; i < job_count; i++) {
		if (jobs[i].pid == 0) {
			return true;
		}
	}
	return false;
}

void fleet_start(trial *trial)
{
	job *job = jobs;

	while (job->pid != 0) {
		job++;
	}
	memset(job->shared, 0, sizeof *job->shared);
	job->trial = trial;
	fflush(stdout);
	job->pid = fork();
	if (job->pid < 0) {
		perror("sim: fork");
		exit(2);
	}
	if (job->pid == 0) {
		run_job(job);
	}
}

/* A run that did not end normally is a violation, too. */
static void note_end(outcome *outcome, int status)
{
	if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || outcome->violated)) {
		return;
	}
	outcome->violated = true;
	if (WIFSIGNALED(status)) {
		snprintf(outcome->kind, sizeof outcome->kind, "signal");
		snprintf(outcome->message, sizeof outcome->message, "the run was ended by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	} else {
		snprintf(outcome->kind, sizeof outcome->kind, "status");
		snprintf(outcome->message, sizeof outcome->message, "the run ended with status %d", WEXITSTATUS(status));
	}
}

trial *fleet_wait(void)
{
	int status;
	bool any = false;

	for (int i = 0; i < job_count; i++) {
		any |= jobs[i].pid != 0;
	}
	if (!any) {
		return NULL;
	}
	for (;;) {
		pid_t pid = waitpid(-1, &status, 0);
		for (int i = 0; i < job_count; i++) {
			if (pid > 0 && jobs[i].pid == pid) {
				jobs[i].pid = 0;
				jobs[i].trial->outcome = *jobs[i].shared;
				note_end(&jobs[i].trial->outcome, status);
				return jobs[i].trial;
			}
		}
		if (pid < 0 && errno != EINTR) {
			perror("sim: waitpid");
			exit(2);
		}
	}
}

void fleet_stop(const trial *trial)
{
	for (int i = 0; i < job_count; i++) {
		if (jobs[i].pid != 0 && (!trial || jobs[i].trial == trial)) {
			kill(jobs[i].pid, SIGKILL);
			waitpid(jobs[i].pid, NULL, 0);
			jobs[i].pid = 0;
		}
	}
}

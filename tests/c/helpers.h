#ifndef HELPERS_H
#define HELPERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../src/base/clock.h"

/* What several tests need beside checks: children, time, memory shared with them. */

void sleep_ms(int ms);

/* Forks; the child does not outlive the test. */
pid_t fork_child(void);

/* The exit status of a child when it has ended; 1000 + the signal when it was killed by one. */
int exit_of(pid_t pid);

/* Kills it. */
void end_child(pid_t pid);

/* Without taking its exit status. */
bool has_ended(pid_t pid);

/* Zeroed memory that children share. */
void *shared_memory(size_t size);

/* A child that sends the signal to the process after a while. */
pid_t signal_later(pid_t target, int signal, int ms);

/* Asks every few milliseconds until it is true, for five seconds at most. */
bool eventually(bool (*condition)(void *context), void *context);

/* For dlock_wait: true once a signal has come that interrupt_on() made count. */
bool interrupted(void *context);
void interrupt_on(int signal);
void interrupt_now(void);
void interrupt_clear(void);

/* A socket of 127.0.0.1 that listens, and its port. */
int listen_anywhere(int *port, int backlog);

/* Of this process. */
int count_threads(void);
int count_descriptors(void);

/* The median of times; sorts them. */
dlock_nanos median(dlock_nanos *times, int count);

#endif

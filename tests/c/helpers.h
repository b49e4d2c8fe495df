#ifndef HELPERS_H
#define HELPERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../src/lock/claim.h"

/* What several tests need besides checks: child processes, time, shared memory, the state of a claim. */

void sleep_ms(int ms);

/* Forks; the child does not outlive the test. */
pid_t fork_child(void);

/* Waits until a child ends. Returns its exit status, or 1000 + the signal that killed it. */
int exit_of(pid_t pid);

/* Kills a child, and waits until it has ended. */
void end_child(pid_t pid);

/* Has a child ended? Its exit status remains for exit_of(). */
bool has_ended(pid_t pid);

/* Zeroed memory that children share. */
void *shared_memory(size_t size);

/* Starts a child that sends the signal to the process after `ms`. */
pid_t signal_later(pid_t target, int signal, int ms);

/* Asks every few milliseconds until the condition is true, for 30 s at most. */
bool eventually(bool (*condition)(void *context), void *context);

/* Repeats an attempt, up to ten times, until it returns true. False: this machine stood still for too long, and the
 * attempt proves nothing. */
bool proven_in_time(bool (*attempt)(void));

/* The state of a claim, without asking the server; and waits until it is this one. */
dlock_claim_state look(dlock_claim *claim);
bool eventually_in_state(dlock_claim *claim, dlock_claim_state state);

/* For dlock_wait: true after a signal that was given to interrupt_on(), or after interrupt_now(). */
bool interrupted(void *context);
void interrupt_on(int signal);
void interrupt_now(void);
void interrupt_clear(void);

/* A socket that listens on 127.0.0.1, and its port. */
int listen_anywhere(int *port, int backlog);

/* The threads and the open descriptors of this process. */
int count_threads(void);
int count_descriptors(void);

/* The median of times; sorts them. */
dlock_nanos median(dlock_nanos *times, int count);

#endif

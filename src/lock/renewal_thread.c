#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "renewal_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "../base/thread.h"
#include "../base/wakeup.h"
#include "../net/loop.h"
#include "../net/resolve.h"

/* How long the end of the process waits for the thread. No step of the thread then waits for longer than DRAIN_TIME,
 * except if the machine or a disk with TLS certificates stalls. */
#define JOIN_TIME (2 * DLOCK_SECOND)
#define DRAIN_TIME (100 * DLOCK_MS)

static pthread_mutex_t awake = PTHREAD_MUTEX_INITIALIZER, mutex = PTHREAD_MUTEX_INITIALIZER;

static dlock_renewal_list list; /* under the second mutex, `mutex` */

static struct {
	/* Under the list's mutex. */
	dlock_process process; /* in which the thread runs; 0: none was started */
	dlock_nanos wakes;     /* when the thread looks again by itself */
	bool stop, ended;
	dlock_renewer *renewers; /* one of each kind, the newest first */
	pthread_cond_t end;

	/* Unchanged while the thread runs. */
	pthread_t thread;
	dlock_wakeup wakeup;

	/* Used by the thread alone. */
	dlock_loop loop;
	dlock_bell bell;

	_Atomic unsigned long connections, reconnections;
} service;

/* ---- sending ---- */

static dlock_renewer *renewer_of(dlock_renewer *renewers, const dlock_renewer_ops *ops)
{
	while (renewers && renewers->ops != ops) {
		renewers = renewers->next;
	}
	return renewers;
}

static void send_one(dlock_renewal *renewal, dlock_renewer *renewers)
{
	dlock_renewal_round *round = renewal->round;

	switch (renewal->todo) {
	case DLOCK_SEND_EXTEND:
	case DLOCK_SEND_CHECK:
		round->started = dlock_now();
		round->ops->begin(
			round, renewer_of(renewers, round->ops->renewer), renewal->asked_ttl, renewal->todo == DLOCK_SEND_EXTEND);
		break;
	case DLOCK_SEND_REPAIR:
		round->ops->repair(round, renewal->repair_ttl);
		break;
	case DLOCK_SEND_ROLL_BACK:
		round->ops->roll_back(round, renewal->asked_ttl, renewal->over);
		break;
	case DLOCK_SEND_NOTHING:
		break;
	}
	renewal->todo = DLOCK_SEND_NOTHING;
}

static void join(dlock_renewer *renewers, dlock_loop *loop)
{
	for (dlock_renewer *renewer = renewers; renewer; renewer = renewer->next) {
		if (!renewer->joined && renewer->ops->join) {
			renewer->ops->join(renewer, loop);
		}
		renewer->joined = true;
	}
}

static void count_connections(const dlock_renewer *renewers)
{
	dlock_renewer_counts sum = { 0 };

	for (const dlock_renewer *renewer = renewers; renewer; renewer = renewer->next) {
		if (renewer->ops->count) {
			dlock_renewer_counts counts = renewer->ops->count(renewer);
			sum.connections += counts.connections;
			sum.reconnections += counts.reconnections;
		}
	}
	atomic_store(&service.connections, sum.connections);
	atomic_store(&service.reconnections, sum.reconnections);
}

/* The thread's task: does everything that can be done now. DLOCK_OK: the thread is to end. */
static dlock_status work(void *task, dlock_loop *loop, dlock_nanos now)
{
	dlock_renewal *chain;
	dlock_renewer *renewers;
	dlock_nanos wake;
	bool stop;

	(void) task;
	do {
		pthread_mutex_lock(&mutex);
		chain = dlock_renewal_list_scan(&list, service.process, &wake);
		/* The lease for which it was woken may have ended. It still keeps that time, or each short section would wake
		 * it again. */
		wake = service.wakes > now && service.wakes < wake ? service.wakes : wake;
		service.wakes = wake;
		stop = service.stop;
		renewers = service.renewers;
		pthread_mutex_unlock(&mutex);
		join(renewers, loop);
		for (dlock_renewal *renewal = chain; renewal; renewal = renewal->next_due) {
			send_one(renewal, renewers);
		}
	} while (chain);
	count_connections(renewers);
	dlock_loop_wake_by(loop, wake);
	return stop ? DLOCK_OK : DLOCK_PENDING;
}

/* Waits a moment for requests under way that are worth it. */
static dlock_status finish(void *task, dlock_loop *loop, dlock_nanos now)
{
	dlock_status status = DLOCK_OK;

	(void) task;
	(void) loop;
	(void) now;
	pthread_mutex_lock(&mutex);
	dlock_renewer *renewers = service.renewers;
	pthread_mutex_unlock(&mutex);
	for (dlock_renewer *renewer = renewers; renewer; renewer = renewer->next) {
		if (renewer->joined && renewer->ops->finish && renewer->ops->finish(renewer) == DLOCK_PENDING) {
			status = DLOCK_PENDING;
		}
	}
	return status;
}

/* ---- its sleep ---- */

static int sleep_outside(
	dlock_loop *loop, struct pollfd *fds, int count, dlock_nanos until, const dlock_wait *wait)
{
	(void) loop;
	pthread_mutex_unlock(&awake);
	int ready = dlock_wait_poll(fds, count, until, wait);
	pthread_mutex_lock(&awake);
	return ready;
}

/* With the list's mutex held. */
static void discard_renewers(void)
{
	while (service.renewers) {
		dlock_renewer *renewer = service.renewers;
		service.renewers = renewer->next;
		renewer->ops->destroy(renewer);
	}
}

static void *run(void *unused)
{
	pthread_mutex_lock(&awake);
	service.loop = (dlock_loop) { .sleep = sleep_outside };
	dlock_loop_add_bell(&service.loop, &service.bell, &service.wakeup);
	dlock_loop_run(&service.loop, work, NULL, DLOCK_FOREVER, NULL);
	dlock_loop_run(&service.loop, finish, NULL, dlock_now() + DRAIN_TIME, NULL);
	pthread_mutex_lock(&mutex);
	discard_renewers();
	pthread_mutex_unlock(&mutex);
	dlock_loop_end(&service.loop);
	pthread_mutex_unlock(&awake);
	pthread_mutex_lock(&mutex);
	service.ended = true;
	pthread_cond_signal(&service.end);
	pthread_mutex_unlock(&mutex);
	return unused;
}

/* ---- its life ---- */

static void before_fork(void)
{
	pthread_mutex_lock(&awake);
	pthread_mutex_lock(&mutex);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&mutex);
	pthread_mutex_unlock(&awake);
}

/* In the child, whose thread is still to be started: what the parent's has counted is the parent's. */
static void forked(void)
{
	list.renewals = list.failures = 0;
	atomic_store(&service.connections, 0);
	atomic_store(&service.reconnections, 0);
	after_fork();
}

static void watch_forks(void)
{
	/* Register its handlers first, because its mutex is locked while these two are held: prepare handlers run in
	 * reverse order. */
	dlock_resolve_watch_forks();
	pthread_atfork(before_fork, after_fork, forked);
}

/* Closes what is left of a parent's thread, without sending anything. The parent's leases stay in the list until their
 * owners in this process end them. */
static void discard_parents_thread(void)
{
	if (service.process != 0) {
		discard_renewers();
		dlock_wakeup_close(&service.wakeup);
		dlock_loop_end(&service.loop);
		service.process = 0;
	}
}

/* Waits go by the monotonic clock, if the system supports that. */
static void init_idle(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
#ifndef __APPLE__
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
#endif
	pthread_cond_init(&list.idle, &attributes);
	pthread_condattr_destroy(&attributes);
}

void dlock_renewal_thread_wait_idle(dlock_nanos most)
{
	struct timespec until = { 0, 0 };

#ifndef __APPLE__
	clock_gettime(CLOCK_MONOTONIC, &until);
#endif
	dlock_nanos nanos = until.tv_nsec + most;
	until.tv_sec += nanos / DLOCK_SECOND;
	until.tv_nsec = nanos % DLOCK_SECOND;
#ifdef __APPLE__
	pthread_cond_timedwait_relative_np(&list.idle, &mutex, &until);
#else
	pthread_cond_timedwait(&list.idle, &mutex, &until);
#endif
}

static int start_thread(void)
{
	service.stop = service.ended = false;
	service.wakes = 0; /* look at once */
	pthread_cond_init(&service.end, NULL);
	init_idle();
	if (!dlock_wakeup_open(&service.wakeup)) {
		return errno;
	}
	int problem = dlock_thread_start(&service.thread, run, NULL);
	if (problem != 0) {
		dlock_wakeup_close(&service.wakeup);
		return problem;
	}
	service.process = dlock_process_current();
	return 0;
}

int dlock_renewal_thread_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int problem = 0;

	pthread_mutex_lock(&mutex);
	bool there = service.process == dlock_process_current();
	pthread_mutex_unlock(&mutex);
	if (there) {
		return 0;
	}
	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&awake);
	pthread_mutex_lock(&mutex);
	if (service.process != dlock_process_current()) {
		discard_parents_thread();
		problem = start_thread();
	}
	pthread_mutex_unlock(&mutex);
	pthread_mutex_unlock(&awake);
	return problem;
}

void dlock_renewal_thread_stop(void)
{
	dlock_nanos until = dlock_now() + JOIN_TIME;

	pthread_mutex_lock(&mutex);
	if (service.process == 0 || service.process != dlock_process_current()) {
		pthread_mutex_unlock(&mutex);
		return;
	}
	service.stop = true;
	dlock_wakeup_send(&service.wakeup);
	while (!service.ended
		&& dlock_now() < until) { /* in slices: the time of day, by which the condition waits, may be changed */
		struct timespec slice;
		clock_gettime(CLOCK_REALTIME, &slice);
		slice.tv_sec++;
		pthread_cond_timedwait(&service.end, &mutex, &slice);
	}
	bool ended = service.ended;
	pthread_mutex_unlock(&mutex);
	if (!ended) {
		pthread_detach(service.thread); /* the extension's code stays loaded */
		return;
	}
	pthread_join(service.thread, NULL);
	dlock_wakeup_close(&service.wakeup);
	service.process = 0;
	discard_renewers(); /* those of leases that began after its end */
	while (list.first) {
		if (list.first->claim) {
			list.first->claim->renewal = NULL;
		}
		dlock_renewal_list_remove(&list, list.first);
	}
}

/* ---- for the holders ---- */

dlock_renewal_list *dlock_renewal_thread_lock(void)
{
	pthread_mutex_lock(&mutex);
	return &list;
}

void dlock_renewal_thread_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

bool dlock_renewal_thread_is_mine(void)
{
	return service.process == dlock_process_current();
}

void dlock_renewal_thread_wake(void)
{
	dlock_wakeup_send(&service.wakeup);
}

void dlock_renewal_thread_wake_by(dlock_nanos time)
{
	if (time < service.wakes) {
		service.wakes = time; /* until then, no caller has to wake the thread for a later time */
		dlock_wakeup_send(&service.wakeup);
	}
}

bool dlock_renewal_thread_add_renewer(const dlock_renewal_round *round)
{
	const dlock_renewer_ops *ops = round ? round->ops->renewer : NULL;

	if (!ops || renewer_of(service.renewers, ops)) {
		return true;
	}
	dlock_renewer *renewer = ops->create();
	if (!renewer) {
		return false;
	}
	renewer->next = service.renewers;
	service.renewers = renewer;
	return true;
}

dlock_renewer_counts dlock_renewal_thread_count(void)
{
	return (dlock_renewer_counts) { atomic_load(&service.connections), atomic_load(&service.reconnections) };
}

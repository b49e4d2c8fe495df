#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "renewal.h"

#include <stdlib.h>
#include <string.h>

#ifdef _WIN32

dlock_status dlock_renewal_begin(dlock_claim *claim, const dlock_upkeep *upkeep, dlock_error *error)
{
	(void) claim, (void) upkeep;
	return dlock_fail(error, DLOCK_FAILED, "Leases are not renewed on Windows: give a ttl");
}

bool dlock_renewal_is_endless(const dlock_claim *claim) { (void) claim; return false; }
void dlock_renewal_stop(dlock_claim *claim) { (void) claim; }
void dlock_renewal_end(dlock_claim *claim, bool over) { (void) claim, (void) over; }
void dlock_renewal_pause(dlock_claim *claim) { (void) claim; }
void dlock_renewal_resume(dlock_claim *claim) { (void) claim; }
void dlock_renewal_settle(dlock_claim *claim, dlock_nanos ttl) { (void) claim, (void) ttl; }
void dlock_renewal_change_ttl(dlock_claim *claim, dlock_nanos ttl, bool answered) { (void) claim, (void) ttl, (void) answered; }
dlock_renewal_counts dlock_renewal_count(void) { return (dlock_renewal_counts) { 0 }; }
void dlock_renewal_shutdown(void) {}

#else

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "../base/wakeup.h"
#include "../base/resolve.h"
#include "renewer.h"

/* The client library and OpenSSL run on it. */
#define STACK_SIZE (256 * 1024)

/* How long the end of the process waits for the thread. Nothing that it does waits for longer than DRAIN_TIME then, but a machine or
 * a disk with TLS certificates may stand still. */
#define JOIN_TIME (2 * DLOCK_SECOND)
#define DRAIN_TIME (100 * DLOCK_MS)
#define LOOK_DEAF (10 * DLOCK_MS)

/* When the servers that refused a lock are looked at for the first time. Who has lost the race for it has given it back there by then, and
 * a short section is over. */
#define FIRST_LOOK (10 * DLOCK_MS)

/* What the thread may need to say that it has given up an answer. */
#define WAKE_TIME (10 * DLOCK_MS)

/* One lease that is looked after. */
typedef struct dlock_renewal {
	struct dlock_renewal *previous, *next; /* the list */
	struct dlock_renewal *next_due;        /* the thread's own chain */

	/* Under the list's mutex. */
	dlock_claim *claim; /* NULL: its owner has ended it */
	bool over;          /* and it does not go on elsewhere */
	dlock_process process;
	bool renew, endless, paused;
	bool incomplete; /* a server has refused it, or may have: looked at more often, until all that answer have it, also where it is not renewed */
	bool asking;     /* a round is under way, and its result is of interest */
	bool extends;    /* which asks for more time */
	bool call_off;   /* what is under way is to end soon: its owner waits */
	dlock_nanos ttl;
	dlock_nanos due, until;
	void (*lost)(void *context);
	void *context;

	/* The thread's; its owner may look at it while it is not busy. */
	bool busy; /* something is to be sent, or under way */
	bool kept; /* by the last round, by a quorum: who of the rest has no key is to be given it again */
	enum { NOTHING, EXTEND, CHECK, REPAIR, ROLL_BACK } todo;
	dlock_nanos asked_ttl;  /* the longest that may be under way */
	dlock_nanos repair_ttl;
	dlock_renewal_round *round; /* NULL: nothing is ever asked about */
} dlock_renewal;

/* Two mutexes, taken in this order. The first is held by the thread but for its sleep, so that a fork finds the connections
 * in order; nothing is waited for under it. The second is for the list, and held for moments only. */
static pthread_mutex_t awake = PTHREAD_MUTEX_INITIALIZER, list = PTHREAD_MUTEX_INITIALIZER;

static struct {
	/* Under the list's mutex. */
	dlock_renewal *first;
	dlock_process process; /* whose thread there is; 0: none was started */
	dlock_nanos wakes;     /* when it looks again by itself */
	bool stop, ended;
	dlock_renewer *renewers; /* one of each kind, in front of those that were there before */
	pthread_cond_t end, settled;

	/* Fixed while there is a thread. */
	pthread_t thread;
	dlock_wakeup wakeup;

	/* The thread's. */
	struct pollfd *fds;
	int room;

	_Atomic unsigned long renewals, failures, connections, reconnections;
} service;

/* ---- the list ---- */

static void link_in(dlock_renewal *renewal)
{
	renewal->next = service.first;
	if (renewal->next) {
		renewal->next->previous = renewal;
	}
	service.first = renewal;
}

static void free_renewal(dlock_renewal *renewal)
{
	if (renewal->round) {
		renewal->round->ops->free(renewal->round);
	}
	free(renewal);
}

static void remove_and_free(dlock_renewal *renewal)
{
	if (renewal->previous) {
		renewal->previous->next = renewal->next;
	} else {
		service.first = renewal->next;
	}
	if (renewal->next) {
		renewal->next->previous = renewal->previous;
	}
	free_renewal(renewal);
}

static dlock_nanos earlier(dlock_nanos a, dlock_nanos b)
{
	return a < b ? a : b;
}

/* ---- the thread: what is to be done, with the list's mutex held ---- */

static bool is_renewing(const dlock_renewal *renewal, dlock_nanos now)
{
	return renewal->renew && now < renewal->until;
}

static bool is_asked_about(const dlock_renewal *renewal, dlock_nanos now)
{
	return is_renewing(renewal, now) || renewal->incomplete;
}

/* A third of the time that is left; that of a lock just handed over is shorter than its ttl. */
static dlock_nanos next_due(const dlock_renewal *renewal, dlock_nanos now)
{
	dlock_nanos left = atomic_load(&renewal->claim->deadline);

	left = left == DLOCK_OVER ? 0 : left - now;
	dlock_nanos pause = earlier(left, renewal->ttl) / 3;
	return now + (pause < DLOCK_MS ? DLOCK_MS : pause); /* however short it is, not as fast as servers can answer */
}

/* Soon, but not so soon that a server which comes back is met by a crowd. */
static dlock_nanos retry_after(dlock_nanos ttl)
{
	dlock_nanos pause = ttl / 12;

	return pause < 10 * DLOCK_MS ? 10 * DLOCK_MS : pause > DLOCK_SECOND ? DLOCK_SECOND : pause;
}

static void tell(dlock_renewal *renewal)
{
	if (renewal->lost) {
		renewal->lost(renewal->context);
	}
	renewal->lost = NULL;
	renewal->renew = renewal->incomplete = renewal->kept = false;
}

/* What the servers said. */
static void apply(dlock_renewal *renewal, dlock_round_result result)
{
	dlock_claim *claim = renewal->claim;
	dlock_nanos now = dlock_now();
	bool lives;

	switch (result) {
	case DLOCK_ROUND_OPEN:
		return;
	case DLOCK_ROUND_KEPT:
		if (renewal->round->late_proves_nothing) {
			dlock_claim_expire(claim);
		}
		lives = atomic_load(&claim->deadline) != DLOCK_OVER;
		if (renewal->extends) {
			lives = dlock_claim_raise_deadline(claim, renewal->round->started + renewal->asked_ttl - dlock_drift(renewal->asked_ttl));
			atomic_store(&claim->uncertain, false);
			atomic_fetch_add(&service.renewals, 1);
		}
		renewal->incomplete = false;
		renewal->due = next_due(renewal, now);
		/* What its holder was told is lost gets no more keys. */
		renewal->kept = lives && renewal->round->repairable;
		break;
	case DLOCK_ROUND_GONE:
		atomic_store(&claim->deadline, DLOCK_OVER);
		break;
	case DLOCK_ROUND_FAILED:
		if (renewal->extends) { /* otherwise nobody has asked for more time */
			atomic_fetch_add(&service.failures, 1);
			atomic_store(&claim->uncertain, true);
		}
		renewal->due = now + retry_after(renewal->ttl);
	}
	renewal->asking = false;
}

/* When a round takes so long, the holder may know. */
static dlock_nanos uncertain_at(const dlock_renewal *renewal)
{
	return renewal->round->started + renewal->asked_ttl / 6;
}

/* Brings the claim up to date, and says when that is to be done next. */
static dlock_nanos update(dlock_renewal *renewal, dlock_nanos now)
{
	dlock_claim *claim = renewal->claim;
	dlock_nanos wake = DLOCK_FOREVER;

	if (claim->backend->ops->session_lease) {
		dlock_claim_move_deadline(claim, claim->backend->ops->bound(claim));
	}
	/* Where nobody is to be told, a deadline that passes unseen is not the end yet: an answer may be on its way that proves that the lease
	 * went on. */
	bool ends = renewal->lost || (renewal->round && renewal->round->late_proves_nothing);
	if (ends ? dlock_claim_expire(claim) : atomic_load(&claim->deadline) == DLOCK_OVER) {
		tell(renewal);
		return wake;
	}
	if (renewal->lost) {
		wake = atomic_load(&claim->deadline);
	}
	if (!renewal->asking) {
		return is_asked_about(renewal, now) ? earlier(wake, renewal->due) : wake;
	}
	if (renewal->extends && now >= uncertain_at(renewal)) {
		atomic_store(&claim->uncertain, true);
	} else if (renewal->extends) {
		wake = earlier(wake, uncertain_at(renewal));
	}
	return wake;
}

/* Those that are due soon come along with one that is due now, so that many leases cost one batch: within half of
 * the time between two renewals, leases that were taken at any time meet in the end. What is incomplete is looked at often enough. */
static bool is_due_soon(const dlock_renewal *renewal, dlock_nanos now)
{
	return renewal->claim && !renewal->paused && !renewal->asking && is_asked_about(renewal, now)
		&& renewal->due <= now + (renewal->incomplete ? 0 : renewal->ttl / 6);
}

static bool has_to_roll_back(const dlock_renewal *renewal)
{
	const dlock_renewal_round *round = renewal->round;

	return !renewal->claim && round && round->ops->has_unsettled && round->ops->has_unsettled(round);
}

/* For how long a server is to have the key that is given it again. */
static dlock_nanos repair_time(const dlock_renewal *renewal, dlock_nanos now)
{
	dlock_nanos deadline = atomic_load(&renewal->claim->deadline);
	dlock_nanos left = deadline == DLOCK_OVER ? 0 : deadline + dlock_drift(renewal->ttl) - now;

	return is_renewing(renewal, now) ? renewal->ttl : earlier(left, renewal->ttl);
}

/* What is to be said about one lease; nothing of it is on its way. */
static void plan(dlock_renewal *renewal, dlock_nanos now, bool due)
{
	if (has_to_roll_back(renewal)) {
		renewal->todo = ROLL_BACK;
	} else if (!renewal->claim || renewal->paused) {
		renewal->todo = NOTHING;
	} else if (due && is_due_soon(renewal, now)) {
		renewal->asking = true;
		renewal->extends = is_renewing(renewal, now);
		renewal->todo = renewal->extends ? EXTEND : CHECK;
		renewal->asked_ttl = renewal->ttl;
		renewal->kept = false;
		renewal->due = now + retry_after(renewal->ttl); /* should its owner interfere */
	} else if (renewal->kept && renewal->round->ops->has_gaps(renewal->round)) {
		renewal->todo = REPAIR;
		renewal->repair_ttl = repair_time(renewal, now);
		renewal->asked_ttl = renewal->repair_ttl > renewal->asked_ttl ? renewal->repair_ttl : renewal->asked_ttl;
		atomic_store(&renewal->claim->repaired, true);
	}
}

/* Takes in what has been answered, or has failed. */
static void hear(dlock_renewal *renewal, dlock_nanos now)
{
	dlock_renewal_round *round = renewal->round;
	bool was_busy = renewal->busy;

	if (!round) {
		return;
	}
	if (renewal->call_off && round->ops->cancel) {
		round->ops->cancel(round);
	}
	renewal->call_off = false;
	if (renewal->asking) {
		apply(renewal, round->ops->result(round));
	}
	renewal->busy = was_busy && round->ops->collect && round->ops->collect(round, !renewal->claim);
	if (was_busy && !renewal->busy) {
		pthread_cond_broadcast(&service.settled);
	}
	if (round->refused) {
		round->refused = false;
		renewal->due = earlier(renewal->due, now + retry_after(renewal->ttl));
		renewal->incomplete = true;
	}
}

/* Goes through all leases. Returns the chain of those about which something is to be said. */
static dlock_renewal *look_over(dlock_nanos *wake)
{
	dlock_renewal *chain = NULL, *next;
	dlock_nanos now = dlock_now();
	bool due = false;

	*wake = DLOCK_FOREVER;
	for (dlock_renewal *renewal = service.first; renewal; renewal = next) {
		next = renewal->next;
		if (renewal->process != service.process) {
			continue; /* it came over a fork */
		}
		hear(renewal, now);
		if (renewal->claim && !renewal->paused) {
			*wake = earlier(*wake, update(renewal, now));
			due = due || (!renewal->asking && is_asked_about(renewal, now) && renewal->due <= now);
		} else if (!renewal->claim && !renewal->busy && !has_to_roll_back(renewal)) {
			remove_and_free(renewal);
		}
	}
	for (dlock_renewal *renewal = service.first; renewal; renewal = renewal->next) {
		if (renewal->process == service.process) {
			plan(renewal, now, due);
			if (renewal->todo != NOTHING) {
				renewal->busy = true;
				renewal->next_due = chain;
				chain = renewal;
			}
		}
	}
	return chain;
}

/* ---- the thread: doing it, without the list's mutex ---- */

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
	case EXTEND:
	case CHECK:
		round->started = dlock_now();
		round->ops->begin(round, renewer_of(renewers, round->ops->renewer), renewal->asked_ttl, renewal->todo == EXTEND);
		break;
	case REPAIR:
		round->ops->repair(round, renewal->repair_ttl);
		break;
	case ROLL_BACK:
		round->ops->roll_back(round, renewal->asked_ttl, renewal->over);
		break;
	case NOTHING:
		break;
	}
	renewal->todo = NOTHING;
}

static void send_batch(dlock_renewal *chain, dlock_renewer *renewers)
{
	for (dlock_renewer *renewer = renewers; renewer; renewer = renewer->next) {
		if (renewer->ops->begin_batch) {
			renewer->ops->begin_batch(renewer);
		}
	}
	for (dlock_renewal *renewal = chain; renewal; renewal = renewal->next_due) {
		send_one(renewal, renewers);
	}
	for (dlock_renewer *renewer = renewers; renewer; renewer = renewer->next) {
		if (renewer->ops->end_batch) {
			renewer->ops->end_batch(renewer);
		}
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

/* Everything that can be done now. Returns when there is more, or -1 to end. */
static dlock_nanos work(dlock_renewer **renewers)
{
	dlock_renewal *chain;
	dlock_nanos wake;
	bool stop;

	do {
		for (dlock_renewer *renewer = *renewers; renewer; renewer = renewer->next) {
			if (renewer->ops->expire) {
				renewer->ops->expire(renewer);
			}
		}
		pthread_mutex_lock(&list);
		chain = look_over(&wake);
		service.wakes = wake;
		stop = service.stop;
		*renewers = service.renewers;
		pthread_mutex_unlock(&list);
		send_batch(chain, *renewers);
	} while (chain);
	for (dlock_renewer *renewer = *renewers; renewer; renewer = renewer->next) {
		wake = renewer->ops->timer ? earlier(wake, renewer->ops->timer(renewer)) : wake;
	}
	count_connections(*renewers);
	return stop ? -1 : wake;
}

/* The wakeup, and what the renewers wait for; of that as much as there is room for, which each takes note of. */
static int fill(dlock_renewer *renewers)
{
	int wanted = 1;

	if (service.room > 0) {
		service.fds[0] = (struct pollfd) { .fd = service.wakeup.read_fd, .events = POLLIN };
	}
	for (dlock_renewer *renewer = renewers; renewer; renewer = renewer->next) {
		int room = service.room > wanted ? service.room - wanted : 0;
		int more = renewer->ops->poll ? renewer->ops->poll(renewer, room > 0 ? service.fds + wanted : NULL, room) : 0;
		renewer->polled = more < room ? more : room;
		wanted += more;
	}
	return wanted;
}

static int collect(dlock_renewer *renewers)
{
	int wanted = fill(renewers);

	if (wanted > service.room) {
		struct pollfd *fds = realloc(service.fds, 2 * (size_t) wanted * sizeof *fds);
		if (!fds) {
			return service.room; /* what there is no room for is looked at when its time is up */
		}
		service.fds = fds;
		service.room = 2 * wanted;
		fill(renewers);
	}
	return wanted;
}

/* What became ready. */
static void advance(dlock_renewer *renewers)
{
	const struct pollfd *fds = service.fds;

	if (fds->revents) {
		dlock_wakeup_clear(&service.wakeup);
	}
	fds++;
	for (dlock_renewer *renewer = renewers; renewer; renewer = renewer->next) {
		if (renewer->polled > 0) {
			renewer->ops->advance(renewer, fds, renewer->polled);
			fds += renewer->polled;
		}
	}
}

static void drain(dlock_renewer *renewers)
{
	dlock_nanos deadline = dlock_now() + DRAIN_TIME;

	for (dlock_renewer *renewer = renewers; renewer; renewer = renewer->next) {
		if (renewer->ops->drain) {
			renewer->ops->drain(renewer, deadline);
		}
	}
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

static void discard_poll(void)
{
	free(service.fds);
	service.fds = NULL;
	service.room = 0;
}

static void *run(void *unused)
{
	dlock_renewer *renewers = NULL;
	dlock_nanos wake;

	pthread_mutex_lock(&awake);
	while ((wake = work(&renewers)) >= 0) {
		int count = collect(renewers);
		pthread_mutex_unlock(&awake);
		/* Where it has no descriptors to poll, it looks by itself. */
		int ready = dlock_wait_poll(service.fds, count, count > 0 ? wake : earlier(wake, dlock_now() + LOOK_DEAF), NULL);
		pthread_mutex_lock(&awake);
		if (ready > 0) {
			advance(renewers);
		}
	}
	drain(renewers);
	discard_poll();
	pthread_mutex_lock(&list);
	discard_renewers();
	pthread_mutex_unlock(&list);
	pthread_mutex_unlock(&awake);
	pthread_mutex_lock(&list);
	service.ended = true;
	pthread_cond_signal(&service.end);
	pthread_mutex_unlock(&list);
	return unused;
}

/* ---- the thread's life ---- */

static void before_fork(void)
{
	pthread_mutex_lock(&awake);
	pthread_mutex_lock(&list);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&list);
	pthread_mutex_unlock(&awake);
}

static void watch_forks(void)
{
	dlock_resolve_watch_forks(); /* whose mutex is taken under these: the handlers before a fork run in the reverse order */
	pthread_atfork(before_fork, after_fork, after_fork);
}

/* What is left of a parent's thread: its connections are closed without a word. The parent's leases stay in the list
 * until their owners in this process let go of them. */
static void forget_parent(void)
{
	if (service.process != 0) {
		discard_renewers();
		dlock_wakeup_close(&service.wakeup);
		discard_poll();
		service.process = 0;
	}
}

/* On a clock that nobody sets, where there is one for it. */
static void init_settled(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
#ifndef __APPLE__
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
#endif
	pthread_cond_init(&service.settled, &attributes);
	pthread_condattr_destroy(&attributes);
}

static void wait_settled(dlock_nanos most)
{
	struct timespec until = { 0, 0 };

#ifndef __APPLE__
	clock_gettime(CLOCK_MONOTONIC, &until);
#endif
	dlock_nanos nanos = until.tv_nsec + most;
	until.tv_sec += nanos / DLOCK_SECOND;
	until.tv_nsec = nanos % DLOCK_SECOND;
#ifdef __APPLE__
	pthread_cond_timedwait_relative_np(&service.settled, &list, &until);
#else
	pthread_cond_timedwait(&service.settled, &list, &until);
#endif
}

static int start_thread(void)
{
	pthread_attr_t attributes;
	sigset_t all, before;

	service.stop = service.ended = false;
	service.wakes = 0; /* it looks at once */
	pthread_cond_init(&service.end, NULL);
	init_settled();
	if (!dlock_wakeup_open(&service.wakeup)) {
		return errno;
	}
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* the thread inherits it */
	int problem = pthread_create(&service.thread, &attributes, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (problem != 0) {
		dlock_wakeup_close(&service.wakeup);
		return problem;
	}
	service.process = dlock_process_current();
	return 0;
}

/* 0, or what the system said. */
static int have_thread(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int problem = 0;

	pthread_mutex_lock(&list);
	bool there = service.process == dlock_process_current();
	pthread_mutex_unlock(&list);
	if (there) {
		return 0;
	}
	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&awake);
	pthread_mutex_lock(&list);
	if (service.process != dlock_process_current()) {
		forget_parent();
		problem = start_thread();
	}
	pthread_mutex_unlock(&list);
	pthread_mutex_unlock(&awake);
	return problem;
}

void dlock_renewal_shutdown(void)
{
	dlock_nanos until = dlock_now() + JOIN_TIME;

	pthread_mutex_lock(&list);
	if (service.process == 0 || service.process != dlock_process_current()) {
		pthread_mutex_unlock(&list);
		return;
	}
	service.stop = true;
	dlock_wakeup_send(&service.wakeup);
	while (!service.ended && dlock_now() < until) { /* in slices: the time of day, which the condition goes by, may be set */
		struct timespec slice;
		clock_gettime(CLOCK_REALTIME, &slice);
		slice.tv_sec++;
		pthread_cond_timedwait(&service.end, &list, &slice);
	}
	bool ended = service.ended;
	pthread_mutex_unlock(&list);
	if (!ended) {
		pthread_detach(service.thread); /* the extension's code stays loaded */
		return;
	}
	pthread_join(service.thread, NULL);
	dlock_wakeup_close(&service.wakeup);
	service.process = 0;
	discard_renewers(); /* of leases that came after its end */
	while (service.first) {
		if (service.first->claim) {
			service.first->claim->renewal = NULL;
		}
		remove_and_free(service.first);
	}
}

/* ---- for the holders ---- */

/* With the list's mutex held: has the thread to look earlier than it will? */
static void wake_for(dlock_nanos time)
{
	if (time < service.wakes) {
		service.wakes = time; /* nobody has to ring for a later time in the meantime */
		dlock_wakeup_send(&service.wakeup);
	}
}

/* Where a server had refused or not been heard yet, earlier than where all have it. */
static dlock_nanos first_due(const dlock_renewal *renewal, dlock_nanos now)
{
	dlock_nanos due = renewal->renew ? next_due(renewal, now) : DLOCK_FOREVER;

	if (!renewal->incomplete) {
		return due;
	}
	return earlier(due, now + (renewal->claim->incomplete ? FIRST_LOOK : retry_after(renewal->ttl)));
}

/* With the list's mutex held. */
static bool have_renewer(const dlock_renewal_round *round)
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

/* With the round, where there is something to ask about. NULL when out of memory. */
static dlock_renewal *new_renewal(const dlock_claim *claim, bool asks)
{
	dlock_renewal *renewal = calloc(1, sizeof *renewal);

	if (renewal && asks && !(renewal->round = claim->backend->ops->new_round(claim))) {
		free(renewal);
		return NULL;
	}
	return renewal;
}

dlock_status dlock_renewal_begin(dlock_claim *claim, const dlock_upkeep *upkeep, dlock_error *error)
{
	int problem = have_thread();

	if (problem != 0) {
		return dlock_fail(error, DLOCK_FAILED, "The thread that renews leases could not be started: %s", strerror(problem));
	}
	bool incomplete = claim->incomplete || claim->unanswered;
	dlock_renewal *renewal = new_renewal(claim, upkeep->renew || incomplete);
	if (!renewal) {
		return dlock_fail(error, DLOCK_FAILED, "Out of memory");
	}
	dlock_nanos now = dlock_now();
	renewal->claim = claim;
	renewal->process = dlock_process_current();
	renewal->renew = upkeep->renew;
	renewal->endless = upkeep->renew && upkeep->most == 0;
	renewal->incomplete = incomplete;
	renewal->ttl = claim->ttl;
	renewal->until = upkeep->most > 0 ? dlock_after(now, upkeep->most) : DLOCK_FOREVER;
	renewal->lost = upkeep->lost;
	renewal->context = upkeep->context;
	renewal->due = first_due(renewal, now);
	pthread_mutex_lock(&list);
	if (!have_renewer(renewal->round)) {
		pthread_mutex_unlock(&list);
		free_renewal(renewal);
		return dlock_fail(error, DLOCK_FAILED, "Out of memory");
	}
	claim->renewal = renewal;
	claim->renewed |= upkeep->renew;
	link_in(renewal);
	wake_for(upkeep->lost ? earlier(renewal->due, atomic_load(&claim->deadline)) : renewal->due);
	pthread_mutex_unlock(&list);
	return DLOCK_OK;
}

bool dlock_renewal_is_endless(const dlock_claim *claim)
{
	bool endless = false;

	if (claim->renewal) {
		pthread_mutex_lock(&list);
		endless = claim->renewal->endless && claim->renewal->renew;
		pthread_mutex_unlock(&list);
	}
	return endless;
}

void dlock_renewal_stop(dlock_claim *claim)
{
	if (claim->renewal) {
		pthread_mutex_lock(&list);
		claim->renewal->renew = claim->renewal->asking = false;
		pthread_mutex_unlock(&list);
	}
}

static bool has_calls(const dlock_renewal_round *round)
{
	return round && round->ops->has_calls && round->ops->has_calls(round);
}

void dlock_renewal_end(dlock_claim *claim, bool over)
{
	dlock_renewal *renewal = claim->renewal;

	if (!renewal) {
		return;
	}
	claim->renewal = NULL;
	pthread_mutex_lock(&list);
	renewal->claim = NULL;
	renewal->asking = false;
	renewal->over = over;
	/* Once something was said for it, its end is the thread's: calls are counted without a mutex. */
	bool sent = renewal->busy || has_calls(renewal->round) || has_to_roll_back(renewal);
	if (renewal->process != dlock_process_current() || !sent) {
		remove_and_free(renewal);
	} else {
		dlock_wakeup_send(&service.wakeup);
	}
	pthread_mutex_unlock(&list);
}

void dlock_renewal_pause(dlock_claim *claim)
{
	if (claim->renewal) {
		pthread_mutex_lock(&list);
		claim->renewal->paused = true;
		claim->renewal->asking = false;
		pthread_mutex_unlock(&list);
	}
}

void dlock_renewal_resume(dlock_claim *claim)
{
	dlock_renewal *renewal = claim->renewal;

	if (renewal) {
		pthread_mutex_lock(&list);
		renewal->paused = false;
		renewal->due = renewal->incomplete ? earlier(renewal->due, next_due(renewal, dlock_now())) : next_due(renewal, dlock_now());
		wake_for(renewal->lost ? earlier(renewal->due, atomic_load(&claim->deadline)) : renewal->due);
		pthread_mutex_unlock(&list);
	}
}

void dlock_renewal_settle(dlock_claim *claim, dlock_nanos ttl)
{
	dlock_renewal *renewal = claim->renewal;

	if (!renewal) {
		return;
	}
	pthread_mutex_lock(&list);
	dlock_nanos deadline = atomic_load(&claim->deadline), now = dlock_now();
	if (renewal->busy && renewal->asked_ttl > ttl && deadline > now && service.process == dlock_process_current()) {
		const dlock_renewal_round *round = renewal->round;
		dlock_nanos longest = round->ops->longest_wait ? round->ops->longest_wait(round, renewal->asked_ttl) : 0;
		dlock_nanos until = now + earlier(longest + WAKE_TIME, (deadline - now) / 2);
		renewal->call_off = true;
		dlock_wakeup_send(&service.wakeup);
		while (renewal->busy && now < until) {
			wait_settled(until - now);
			now = dlock_now();
		}
	}
	pthread_mutex_unlock(&list);
}

void dlock_renewal_change_ttl(dlock_claim *claim, dlock_nanos ttl, bool answered)
{
	dlock_renewal *renewal = claim->renewal;

	if (renewal) {
		pthread_mutex_lock(&list);
		renewal->ttl = answered ? ttl : earlier(ttl, renewal->ttl);
		pthread_mutex_unlock(&list);
	}
}

dlock_renewal_counts dlock_renewal_count(void)
{
	return (dlock_renewal_counts) { atomic_load(&service.renewals), atomic_load(&service.failures),
		atomic_load(&service.connections), atomic_load(&service.reconnections) };
}

#endif

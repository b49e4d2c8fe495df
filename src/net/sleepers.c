#include "sleepers.h"

#include <stddef.h>

/* Rules without which a wakeup is lost. tests/c/sleepers_test.c breaks each of them.
 *
 * If a strand stops waiting while there is no watcher, or if it was the watcher, it rings the next sleeper. That
 * sleeper may have its result already, and leave without ever watching.
 *
 * A strand that has run may have started something that the watcher does not poll yet, or that has an earlier time. So
 * it changes the set while the watcher polls it, and rings the watcher if the watcher's time is too late.
 *
 * A strand that cannot be suspended polls everything itself, because the watcher does not run while the thread sleeps.
 *
 * An application need not resume a fiber. The watcher, or the sleeper that was rung, may be a dropped fiber that PHP
 * has not collected yet. So a sleeper checks now and then whether the watcher has missed something that was due, and
 * replaces it. Replacing a watcher that is only late is harmless: it continues like any other strand. */

bool dlock_sleeper_is_here(const dlock_sleeper *sleeper)
{
	return sleeper->process == dlock_process_current();
}

/* ---- bells ---- */

static void own_bells(dlock_sleepers *sleepers)
{
	if (sleepers->process != dlock_process_current()) {
		while (sleepers->idle_count > 0) {
			dlock_wakeup_close(&sleepers->idle[--sleepers->idle_count]);
		}
		sleepers->process = dlock_process_current();
		sleepers->wakeup = NULL; /* the parent's */
	}
}

static bool take_bell(dlock_sleepers *sleepers, dlock_wakeup *bell)
{
	own_bells(sleepers);
	if (sleepers->idle_count == 0) {
		return dlock_wakeup_open(bell);
	}
	*bell = sleepers->idle[--sleepers->idle_count];
	return true;
}

static void give_bell(dlock_sleepers *sleepers, dlock_sleeper *own)
{
	if (dlock_sleeper_is_here(own) && own->process == sleepers->process && sleepers->idle_count < DLOCK_IDLE_BELLS) {
		dlock_wakeup_clear(&own->bell);
		sleepers->idle[sleepers->idle_count++] = own->bell;
	} else {
		dlock_wakeup_close(&own->bell);
	}
}

/* ---- the list of sleepers ---- */

static bool has_watcher(const dlock_sleepers *sleepers)
{
	return sleepers->watcher && dlock_sleeper_is_here(sleepers->watcher);
}

/* The loop steps sleepers in the order in which they came, so they ask servers in that order, too. */
static void join(dlock_sleepers *sleepers, dlock_sleeper *own)
{
	dlock_sleeper **at = &sleepers->first;

	own->number = own->number ? own->number : ++sleepers->numbers;
	while (*at && (*at)->number < own->number) {
		at = &(*at)->next;
	}
	own->next = *at;
	*at = own;
}

/* If the sleepers were forgotten meanwhile, `own` is not in the list. */
static void leave(dlock_sleepers *sleepers, dlock_sleeper *own)
{
	dlock_sleeper **at = &sleepers->first;

	while (*at && *at != own) {
		at = &(*at)->next;
	}
	if (*at) {
		*at = own->next;
	}
	if (sleepers->watcher == own) {
		sleepers->watcher = NULL;
		sleepers->watches++;
	}
	own->has_set = false;
}

static dlock_sleeper *first_waiting(const dlock_sleepers *sleepers)
{
	dlock_sleeper *sleeper = sleepers->first;

	while (sleeper && (sleeper->is_over || !dlock_sleeper_is_here(sleeper))) {
		sleeper = sleeper->next;
	}
	return sleeper;
}

bool dlock_sleepers_wait(const dlock_sleepers *sleepers)
{
	return sleepers->first && first_waiting(sleepers);
}

void dlock_sleeper_end(dlock_sleeper *sleeper)
{
	sleeper->is_over = true;
	dlock_wakeup_send(&sleeper->bell);
}

/* ---- watching ---- */

/* False: there is no set. */
static bool watch(dlock_sleepers *sleepers, const struct pollfd *fds, int count)
{
	dlock_watch_begin(&sleepers->watch);
	for (int i = 0; i < count; i++) {
		dlock_watch_add(&sleepers->watch, fds[i].fd, fds[i].events);
	}
	dlock_watch_add(&sleepers->watch, sleepers->watcher->bell.read_fd, POLLIN);
	if (sleepers->wakeup) {
		dlock_watch_add(&sleepers->watch, sleepers->wakeup->read_fd, POLLIN);
	}
	return dlock_watch_finish(&sleepers->watch) >= 0;
}

static void hasten_watcher(dlock_sleepers *sleepers, dlock_nanos earliest)
{
	if (earliest < sleepers->watched_until || sleepers->watch.is_spoiled) {
		dlock_wakeup_send(&sleepers->watcher->bell);
	}
}

/* Does a sleeper poll the set? Then its descriptor must stay the same. */
static bool is_polled(const dlock_sleepers *sleepers)
{
	const dlock_sleeper *sleeper = sleepers->first;

	while (sleeper && !(sleeper->has_set && dlock_sleeper_is_here(sleeper))) {
		sleeper = sleeper->next;
	}
	return sleeper;
}

/* False: there is no set. */
static bool begin_watching(dlock_sleepers *sleepers, dlock_sleeper *own, const struct pollfd *fds, int count,
	dlock_nanos others, const dlock_wait *wait)
{
	bool watches = !has_watcher(sleepers);

	sleepers->wakeup = wait->wakeup ? wait->wakeup : sleepers->wakeup;
	if (watches) {
		if (!is_polled(sleepers)) {
			dlock_watch_renew(&sleepers->watch);
		}
		sleepers->watcher = own;
		own->has_set = true;
		sleepers->watched_until = dlock_earlier(own->wake, others);
	}
	if (!watch(sleepers, fds, count)) {
		return false;
	}
	if (!watches) {
		hasten_watcher(sleepers, others);
	}
	return true;
}

/* When a sleeper checks the watcher. The later it came, the longer it sleeps before, so that many sleepers check little
 * more often than few. The time has a bound, because all sleepers that came before may have been dropped. */
static dlock_nanos time_to_look(const dlock_sleepers *sleepers, const dlock_sleeper *own)
{
	enum { FURTHEST = 8 };
	int place = 1;

	for (const dlock_sleeper *one = sleepers->first; one && one != own && place < FURTHEST; one = one->next) {
		place++;
	}
	return dlock_after(dlock_now(), place * 2 * DLOCK_SECOND);
}

/* Has no watcher resumed during the sleep, although one should have? */
static bool is_unwatched(const dlock_sleepers *sleepers, unsigned long watches)
{
	struct pollfd set = { .fd = sleepers->watch.fd, .events = POLLIN };

	return !has_watcher(sleepers)
		|| (sleepers->watches == watches
			&& (dlock_now() >= sleepers->watched_until || dlock_wait_briefly(&set, 1, 0) > 0));
}

static bool is_rung(const dlock_sleeper *own)
{
	struct pollfd bell = { .fd = own->bell.read_fd, .events = POLLIN };

	return dlock_wait_briefly(&bell, 1, 0) > 0;
}

static dlock_suspension sleep_as_watcher(
	const dlock_sleepers *sleepers, const dlock_sleeper *own, const dlock_wait *wait)
{
	return wait->suspend(wait->context, &own->bell, sleepers->watch.fd, sleepers->watched_until);
}

static dlock_suspension sleep_watched(dlock_sleepers *sleepers, const dlock_sleeper *own, const dlock_wait *wait)
{
	dlock_suspension suspension;
	bool goes_on;

	do {
		unsigned long watches = sleepers->watches;
		dlock_nanos look = time_to_look(sleepers, own), until = dlock_earlier(own->wake, look);
		suspension = wait->suspend(wait->context, &own->bell, own->bell.read_fd, until);
		goes_on = suspension != DLOCK_SUSPENDED || !dlock_sleeper_is_here(own) || dlock_now() < until || is_rung(own);
		if (!goes_on && is_unwatched(sleepers, watches)) {
			sleepers->watcher = NULL;
			goes_on = true;
		}
	} while (!goes_on && dlock_now() < own->wake);
	return suspension;
}

dlock_suspension dlock_sleepers_suspend(dlock_sleepers *sleepers, dlock_sleeper *own, const struct pollfd *fds,
	int count, dlock_nanos others, const dlock_wait *wait)
{
	dlock_suspension suspension = DLOCK_CANNOT_SUSPEND;

	if (!take_bell(sleepers, &own->bell)) {
		return suspension;
	}
	own->process = dlock_process_current();
	join(sleepers, own);
	if (begin_watching(sleepers, own, fds, count, others, wait)) {
		suspension = sleepers->watcher == own ? sleep_as_watcher(sleepers, own, wait)
											  : sleep_watched(sleepers, own, wait);
	}
	leave(sleepers, own);
	give_bell(sleepers, own);
	if (!dlock_sleeper_is_here(own)) {
		return DLOCK_SUSPENSION_CANCELLED;
	}
	if (sleepers->wakeup) {
		dlock_wakeup_clear(sleepers->wakeup); /* the strand calls interrupted() after this, so it misses nothing */
	}
	return suspension;
}

void dlock_sleepers_leave(dlock_sleepers *sleepers, const struct pollfd *fds, int count, dlock_nanos earliest)
{
	if (has_watcher(sleepers)) {
		watch(sleepers, fds, count);
		hasten_watcher(sleepers, earliest);
	} else {
		dlock_sleeper *next = first_waiting(sleepers);
		if (next) {
			dlock_wakeup_send(&next->bell);
		}
	}
}

/* ---- the end ---- */

void dlock_sleepers_forget(dlock_sleepers *sleepers)
{
	while (sleepers->first) {
		dlock_sleeper *sleeper = sleepers->first;
		sleepers->first = sleeper->next;
		dlock_wakeup_close(&sleeper->bell);
	}
	sleepers->watcher = NULL;
}

void dlock_sleepers_close(dlock_sleepers *sleepers)
{
	while (sleepers->idle_count > 0) {
		dlock_wakeup_close(&sleepers->idle[--sleepers->idle_count]);
	}
	dlock_watch_end(&sleepers->watch);
}

#include "loop.h"

#include <stdlib.h>

/* The longest sleep of a loop that lacks memory for all that it has to poll. */
#define LOOK_DEAF (10 * DLOCK_MS)

void dlock_loop_end(dlock_loop *loop)
{
	dlock_sleepers_close(&loop->sleepers);
	free(loop->fds);
	loop->fds = NULL;
	loop->room = 0;
}

void dlock_loop_add_source(dlock_loop *loop, dlock_source *source)
{
	source->next = loop->sources;
	loop->sources = source;
}

void dlock_loop_remove_source(dlock_loop *loop, dlock_source *source)
{
	dlock_source **at = &loop->sources;

	while (*at && *at != source) {
		at = &(*at)->next;
	}
	if (*at) {
		*at = source->next;
	}
}

static void expire(dlock_source *source)
{
	struct pollfd fd;

	if (source->ops->expire && source->ops->poll(source, &fd)) {
		source->ops->expire(source);
	}
}

void dlock_source_catch_up(dlock_source *source)
{
	struct pollfd fd;

	if (source->ops->advance && source->ops->poll(source, &fd)) {
		source->ops->advance(source);
	}
	expire(source);
}

static bool poll_bell(const dlock_source *source, struct pollfd *fd)
{
	const dlock_bell *bell = (const dlock_bell *) source;

	*fd = (struct pollfd) { .fd = bell->wakeup->read_fd, .events = POLLIN };
	return bell->process == dlock_process_current();
}

static void clear_bell(dlock_source *source)
{
	dlock_wakeup_clear(((dlock_bell *) source)->wakeup);
}

void dlock_loop_add_bell(dlock_loop *loop, dlock_bell *bell, const dlock_wakeup *wakeup)
{
	static const dlock_source_ops ops = { .poll = poll_bell, .advance = clear_bell };

	bell->source.ops = &ops;
	bell->wakeup = wakeup;
	bell->process = dlock_process_current();
	dlock_loop_add_source(loop, &bell->source);
}

/* ---- tasks ---- */

void dlock_loop_adopt(
	dlock_loop *loop, dlock_adopted *adopted, dlock_step *step, void (*done)(void *task), void *task)
{
	dlock_adopted **end = &loop->adopted;

	loop->again = true;
	if (adopted->loop && adopted->process == dlock_process_current()) {
		return;
	}
	dlock_loop_forget(adopted);
	*adopted = (dlock_adopted) {
		.step = step, .done = done, .task = task, .loop = loop, .process = dlock_process_current()
	};
	while (*end) {
		end = &(*end)->next;
	}
	*end = adopted;
}

void dlock_loop_forget(dlock_adopted *adopted)
{
	dlock_loop *loop = adopted->loop;

	if (!loop) {
		return;
	}
	dlock_adopted **at = &loop->adopted;
	while (*at && *at != adopted) {
		at = &(*at)->next;
	}
	if (*at) { /* in a child of fork(), the loop may have begun anew */
		*at = adopted->next;
	}
	if (loop->stepped == adopted) {
		loop->stepped = adopted->next;
	}
	adopted->loop = NULL;
}

/* A step may be called at any time. Builds for tests call each pending one twice, and the adopted ones in another order
 * in each turn. */
#ifdef DLOCK_RESTLESS
static dlock_status step_task(dlock_loop *loop, dlock_step *step, void *task, dlock_nanos now)
{
	dlock_status status = step(task, loop, now);

	return status == DLOCK_PENDING ? step(task, loop, now) : status;
}
#else
#define step_task(loop, step, task, now) (step)(task, loop, now)
#endif

static void reorder(dlock_loop *loop)
{
#ifdef DLOCK_RESTLESS
	dlock_adopted *first = loop->adopted, *last = first;

	while (last && last->next) {
		last = last->next;
	}
	if (last != first) {
		loop->adopted = first->next;
		first->next = NULL;
		last->next = first;
	}
#else
	(void) loop;
#endif
}

/* A step may adopt tasks, and may forget some. */
static void step_adopted(dlock_loop *loop, dlock_nanos now)
{
	reorder(loop);
	for (loop->stepped = loop->adopted; loop->stepped;) {
		dlock_adopted *one = loop->stepped;
		loop->stepped = one->next;
		bool is_ours = one->process == dlock_process_current();
		if (is_ours && step_task(loop, one->step, one->task, now) == DLOCK_PENDING) {
			continue;
		}
		dlock_loop_forget(one);
		loop->again |= is_ours;
		if (one->done) {
			one->done(one->task);
		}
	}
}

/* A task that a caller waits for. */
typedef struct {
	dlock_sleeper sleeper; /* first, because step_sleepers() casts it */
	dlock_step *step;
	void *task;
	dlock_status status;
	bool lends, cannot_suspend;
} run;

static void step_run(dlock_loop *loop, run *run, dlock_nanos now)
{
	loop->wake = DLOCK_FOREVER;
	loop->lent = false;
	run->status = step_task(loop, run->step, run->task, now);
	run->sleeper.wake = loop->wake;
	run->lends = loop->lent;
}

/* Returns the earliest time at which a sleeper wants to continue. */
static dlock_nanos step_sleepers(dlock_loop *loop, dlock_nanos now)
{
	dlock_nanos first = DLOCK_FOREVER;

	for (dlock_sleeper *sleeper = loop->sleepers.first; sleeper; sleeper = sleeper->next) {
		if (sleeper->is_over || sleeper->process != dlock_process_current()) {
			continue;
		}
		step_run(loop, (run *) sleeper, now);
		if (((run *) sleeper)->status != DLOCK_PENDING) {
			dlock_sleeper_end(sleeper);
		} else if (sleeper->wake < first) {
			first = sleeper->wake;
		}
	}
	return first;
}

/* Steps the adopted tasks first, because tasks that a caller waits for may need their results. Returns the earliest
 * time at which a task that it stepped wants to continue. */
static dlock_nanos begin_turn(dlock_loop *loop, dlock_nanos now)
{
	for (dlock_source *source = loop->sources; source; source = source->next) {
		source->news_before = source->news;
		if (source->ops->begin_turn) {
			source->ops->begin_turn(source);
		}
	}
	loop->wake = DLOCK_FOREVER;
	loop->again = loop->lent = false;
	step_adopted(loop, now);
	loop->again = false;
	dlock_nanos adopted = loop->wake, sleepers = step_sleepers(loop, now);
	return dlock_earlier(adopted, sleepers);
}

static void end_turn(dlock_loop *loop)
{
	for (dlock_source *source = loop->sources; source; source = source->next) {
		if (source->ops->end_turn) {
			source->ops->end_turn(source);
		}
		loop->again |= source->news != source->news_before;
	}
}

/* ---- sleep ---- */

/* Fills in what the sources wait for, as far as there is room, and marks these sources as polled. Lowers `wake` to the
 * earliest timer. Returns how many sources wait. */
static int fill(dlock_loop *loop, dlock_nanos *wake)
{
	int wanted = 0;

	for (dlock_source *source = loop->sources; source; source = source->next) {
		struct pollfd fd;
		source->polled = source->ops->poll(source, &fd);
		if (!source->polled) {
			continue;
		}
		dlock_nanos timer = source->ops->timer ? source->ops->timer(source) : DLOCK_FOREVER;
		*wake = timer < *wake ? timer : *wake;
		source->polled = wanted < loop->room;
		if (source->polled) {
			loop->fds[wanted] = fd;
		}
		wanted++;
	}
	return wanted;
}

/* Returns how many descriptors to poll. If there is no memory for the rest, the loop tries again after LOOK_DEAF. */
static int collect(dlock_loop *loop, dlock_nanos *wake, dlock_nanos now)
{
	int wanted = fill(loop, wake);

	if (wanted > loop->room) {
		struct pollfd *fds = realloc(loop->fds, 2 * (size_t) wanted * sizeof *fds);
		if (!fds) {
			*wake = now + LOOK_DEAF < *wake ? now + LOOK_DEAF : *wake;
			return loop->room;
		}
		loop->fds = fds;
		loop->room = 2 * wanted;
		fill(loop, wake);
	}
	return wanted;
}

static void advance(dlock_loop *loop, int ready)
{
	const struct pollfd *fd = loop->fds;

	for (dlock_source *source = loop->sources; source && ready > 0; source = source->next) {
		if (source->polled && fd++->revents && source->ops->advance) {
			source->ops->advance(source);
		}
	}
	for (dlock_source *source = loop->sources; source; source = source->next) {
		expire(source);
	}
}

/* How long the loop polls for an answer before it suspends the strand: a server that is near has answered by then. */
#define NEAR (200 * DLOCK_US)

static bool is_interrupted(const dlock_wait *wait)
{
	return wait->interrupted && wait->interrupted(wait->context);
}

/* `others` is the earliest time of all other tasks and sources. Returns how many of loop->fds are ready now, or
 * DLOCK_WAIT_INTERRUPTED. */
static int rest_suspended(dlock_loop *loop, run *own, int count, dlock_nanos others, const dlock_wait *wait)
{
	dlock_nanos now = dlock_now(), wake = DLOCK_FOREVER;
	int ready = own->lends ? 0 : dlock_wait_briefly(loop->fds, count, now + NEAR);

	if (ready > 0) {
		return ready;
	}
	if (own->lends && is_interrupted(wait)) {
		return DLOCK_WAIT_INTERRUPTED;
	}
	switch (dlock_sleepers_suspend(&loop->sleepers, &own->sleeper, loop->fds, count, others, wait)) {
	case DLOCK_SUSPENSION_CANCELLED:
		return DLOCK_WAIT_INTERRUPTED;
	case DLOCK_CANNOT_SUSPEND:
		own->cannot_suspend = true;
		break;
	default:
		break;
	}
	count = collect(loop, &wake, now); /* other strands may have run the loop */
	return dlock_wait_briefly(loop->fds, count, 0);
}

static int rest(dlock_loop *loop, run *own, int count, dlock_nanos others, const dlock_wait *wait)
{
	const dlock_wait *lent = own->lends ? wait : NULL;
	dlock_nanos until = dlock_earlier(own->sleeper.wake, others);

	if (wait && wait->suspend && !own->cannot_suspend) {
		return rest_suspended(loop, own, count, others, wait);
	}
	return loop->sleep ? loop->sleep(loop, loop->fds, count, until, lent)
					   : dlock_wait_poll(loop->fds, count, until, lent);
}

/* The suspended strands continue without this one. */
static void leave(dlock_loop *loop)
{
	dlock_nanos now = dlock_now(), earliest = loop->again ? now : DLOCK_FOREVER;

	if (dlock_sleepers_wait(&loop->sleepers)) {
		for (dlock_sleeper *sleeper = loop->sleepers.first; sleeper; sleeper = sleeper->next) {
			earliest = !sleeper->is_over && sleeper->wake < earliest ? sleeper->wake : earliest;
		}
		int count = collect(loop, &earliest, now);
		dlock_sleepers_leave(&loop->sleepers, loop->fds, count, earliest);
	}
}

dlock_status dlock_loop_run(
	dlock_loop *loop, dlock_step *step, void *task, dlock_nanos until, const dlock_wait *wait)
{
	run own = { .step = step, .task = task, .status = DLOCK_PENDING };
	dlock_status status = DLOCK_PENDING;

	while (status == DLOCK_PENDING) {
		dlock_nanos now = dlock_now(), others = begin_turn(loop, now);
		if (own.status == DLOCK_PENDING) {
			step_run(loop, &own, now);
		}
		end_turn(loop);
		status = own.status;
		if (status == DLOCK_PENDING && now >= until) {
			status = DLOCK_TIMEOUT;
		}
		if (status != DLOCK_PENDING || loop->again) {
			continue;
		}
		own.sleeper.wake = dlock_earlier(own.sleeper.wake, until);
		int count = collect(loop, &others, now);
		if (count == 0 && others == DLOCK_FOREVER && own.sleeper.wake == DLOCK_FOREVER && !own.lends && !loop->sleep) {
			status = DLOCK_TIMEOUT;
			continue;
		}
		int ready = rest(loop, &own, count, others, wait);
		if (ready == DLOCK_WAIT_INTERRUPTED) {
			/* In a child of fork(), the task's status is the parent's. */
			bool is_over = own.status != DLOCK_PENDING && dlock_sleeper_is_here(&own.sleeper);
			status = is_over ? own.status : DLOCK_INTERRUPTED;
			continue;
		}
		advance(loop, ready);
	}
	leave(loop);
	return status;
}

void dlock_loop_forget_sleepers(dlock_loop *loop)
{
	dlock_sleepers_forget(&loop->sleepers);
}

typedef struct {
	bool (*over)(void *context);
	void *context;
} condition;

static dlock_status wait_for(void *task, dlock_loop *loop, dlock_nanos now)
{
	const condition *condition = task;

	(void) loop;
	(void) now;
	return condition->over(condition->context) ? DLOCK_OK : DLOCK_PENDING;
}

bool dlock_loop_await(dlock_loop *loop, bool (*over)(void *context), void *context, dlock_nanos until)
{
	condition condition = { over, context };

	return dlock_loop_run(loop, wait_for, &condition, until, NULL) == DLOCK_OK;
}

static dlock_status pause_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	(void) task;
	(void) now;
	dlock_loop_lend(loop);
	return DLOCK_PENDING;
}

dlock_status dlock_loop_pause(dlock_loop *loop, dlock_nanos until, const dlock_wait *wait)
{
	return dlock_loop_run(loop, pause_step, NULL, until, wait);
}

/* Tasks and the loop that sleeps for them, without a server. Prints TAP. */

#include <stdlib.h>
#include <unistd.h>

#include "../../src/net/loop.h"
#include "helpers.h"
#include "tap.h"

/* ---- a pipe as a source ---- */

typedef struct {
	dlock_source source;
	int fds[2];
	int received, turns, written, expired;
	bool settles;
	dlock_nanos timer;
} pipe_source;

static bool poll_pipe(const dlock_source *source, struct pollfd *fd)
{
	*fd = (struct pollfd) { .fd = ((const pipe_source *) source)->fds[0], .events = POLLIN };
	return true;
}

static void advance(dlock_source *source)
{
	pipe_source *own = (pipe_source *) source;
	char byte;

	if (read(own->fds[0], &byte, 1) == 1) {
		own->received++;
	}
}

static void expire(dlock_source *source)
{
	pipe_source *own = (pipe_source *) source;

	if (dlock_now() >= own->timer) {
		own->expired++;
		own->timer = DLOCK_FOREVER;
	}
}

static dlock_nanos timer(const dlock_source *source)
{
	return ((const pipe_source *) source)->timer;
}

static void begin_turn(dlock_source *source)
{
	((pipe_source *) source)->turns++;
}

/* Writes what was sent in the turn. */
static void end_turn(dlock_source *source)
{
	pipe_source *own = (pipe_source *) source;

	for (; own->written > 0; own->written--) {
		if (write(own->fds[1], "x", 1) != 1) {
			exit(2);
		}
	}
	bool settles = own->settles; /* like a connection to which a write fails */
	own->received += settles;
	own->settles = false;
	source->news += settles;
}

static const dlock_source_ops ops = { poll_pipe, advance, expire, timer, begin_turn, end_turn };

static dlock_loop loop;
static pipe_source source;

static void begin(void)
{
	source = (pipe_source) { .source.ops = &ops, .timer = DLOCK_FOREVER };
	loop = (dlock_loop) { NULL };
	dlock_loop_add_source(&loop, &source.source);
	if (pipe(source.fds) != 0) {
		exit(2);
	}
}

static void end(void)
{
	dlock_loop_end(&loop);
	close(source.fds[0]);
	close(source.fds[1]);
}

/* ---- tasks ---- */

/* Sends twice, waits for each answer, and for 20 ms in between. */
typedef struct {
	dlock_task task, part;
	int sent, at, first;
	dlock_nanos until;
	dlock_status said;
	bool lends;
	dlock_adopted adopted;
} dialogue;

static dlock_status say(dialogue *own, dlock_loop *on)
{
	DLOCK_BEGIN(&own->part);
	own->first = source.received;
	source.written++;
	own->sent++;
	if (own->lends) {
		dlock_loop_lend(on);
	}
	DLOCK_AWAIT(&own->part, (own->lends ? dlock_loop_lend(on) : (void) 0, source.received > own->first));
	DLOCK_END(&own->part);
	return DLOCK_OK;
}

static dlock_status dialogue_step(void *task, dlock_loop *on, dlock_nanos now)
{
	dialogue *own = task;

	DLOCK_BEGIN(&own->task);
	DLOCK_JOIN(&own->task, own->said, say(own, on));
	own->until = now + 20 * DLOCK_MS;
	DLOCK_AWAIT(&own->task, dlock_loop_is_time(on, own->until, now));
	DLOCK_JOIN(&own->task, own->said, say(own, on));
	DLOCK_END(&own->task);
	return DLOCK_LOST; /* any status would do */
}

static dlock_status never_step(void *task, dlock_loop *on, dlock_nanos now)
{
	(void) task, (void) on, (void) now;
	return DLOCK_PENDING;
}

static dlock_status expired_step(void *task, dlock_loop *on, dlock_nanos now)
{
	(void) task, (void) on, (void) now;
	return source.expired ? DLOCK_OK : DLOCK_PENDING;
}

static void test_run(void)
{
	dialogue own = { .sent = 0 };
	dlock_nanos start = dlock_now();

	check(dlock_loop_run(&loop, dialogue_step, &own, DLOCK_FOREVER, NULL) == DLOCK_LOST, "the status of the task");
	check(own.sent == 2 && source.received == 2, "it sends twice, however often it is stepped");
	check(dlock_now() - start >= 20 * DLOCK_MS && source.turns <= 6, "it sleeps in between (%d turns)", source.turns);
	check(own.task.at == 0 && dlock_loop_run(&loop, dialogue_step, &own, DLOCK_FOREVER, NULL) == DLOCK_LOST
			&& own.sent == 4,
		"and the task can begin again");
}

static void test_limits(void)
{
	dialogue own = { .sent = 0 };
	dlock_nanos start = dlock_now();

	check(dlock_loop_run(&loop, never_step, NULL, start + 30 * DLOCK_MS, NULL) == DLOCK_TIMEOUT
			&& dlock_now() - start >= 30 * DLOCK_MS,
		"a deadline ends the run");
	check(dlock_loop_run(&loop, dialogue_step, &own, start, NULL) == DLOCK_TIMEOUT && own.sent == 1,
		"with a deadline in the past, the task is still stepped");
	check(dlock_loop_run(&loop, dialogue_step, &own, DLOCK_FOREVER, NULL) == DLOCK_LOST && own.sent == 2,
		"the task resumes where it was");
	source.timer = dlock_now() + 10 * DLOCK_MS;
	check(dlock_loop_run(&loop, expired_step, NULL, dlock_now() + 60 * DLOCK_SECOND, NULL) == DLOCK_OK
			&& source.expired == 1,
		"a source's own timer expires");
	dlock_loop alone = { NULL };
	check(dlock_loop_run(&alone, never_step, NULL, DLOCK_FOREVER, NULL) == DLOCK_TIMEOUT,
		"a loop without a source and without a deadline does not sleep");
	dlock_loop_end(&alone);
}

static bool has_received(void *context)
{
	(void) context;
	return source.received > 0;
}

static void test_settled_at_end(void)
{
	dlock_nanos start = dlock_now();

	source.settles = true;
	check(dlock_loop_await(&loop, has_received, NULL, start + 60 * DLOCK_SECOND) && dlock_now() - start < SOON,
		"the loop does not sleep if the end of a turn brings news");
}

static void test_interrupted(void)
{
	dialogue own = { .sent = 0 };
	dlock_wait wait = { .interrupted = interrupted };

	interrupt_now();
	check(dlock_loop_run(&loop, dialogue_step, &own, DLOCK_FOREVER, &wait) == DLOCK_LOST,
		"a task that has not lent the thread is not interrupted");
	own.lends = true;
	check(dlock_loop_run(&loop, dialogue_step, &own, DLOCK_FOREVER, &wait) == DLOCK_INTERRUPTED && own.sent == 3,
		"a task that has lent it is interrupted");
	interrupt_clear();
	check(
		dlock_loop_run(&loop, dialogue_step, &own, DLOCK_FOREVER, &wait) == DLOCK_LOST && own.sent == 4, "and resumes");
}

/* ---- tasks that no caller waits for ---- */

static dialogue others[3];

static bool are_over(void *context)
{
	(void) context;
	return !others[0].adopted.loop && !others[1].adopted.loop && !others[2].adopted.loop;
}

static int done;

static void count_done(void *task)
{
	done += task == &others[1];
}

static void test_adopted(void)
{
	done = 0;
	for (int i = 0; i < 3; i++) {
		others[i] = (dialogue) { .sent = 0 };
		dlock_loop_adopt(&loop, &others[i].adopted, dialogue_step, i == 1 ? count_done : NULL, &others[i]);
		dlock_loop_adopt(&loop, &others[i].adopted, dialogue_step, NULL, &others[i]);
	}
	check(others[0].sent == 0, "nothing is sent before the loop runs");
	check(dlock_loop_await(&loop, are_over, NULL, dlock_now() + 60 * DLOCK_SECOND),
		"the tasks proceed while the loop runs");
	check(others[0].sent == 2 && others[1].sent == 2 && others[2].sent == 2 && !loop.adopted,
		"each to its end, and once");
	check(done == 1, "and a caller that asked for it is told");
	check(source.turns < 20, "together (%d turns)", source.turns);
}

/* Makes the loop forget all tasks, also this one. */
static dlock_status forget_step(void *task, dlock_loop *on, dlock_nanos now)
{
	(void) task, (void) on, (void) now;
	for (int i = 0; i < 3; i++) {
		dlock_loop_forget(&others[i].adopted);
	}
	return DLOCK_OK;
}

static void test_forgotten(void)
{
	for (int i = 0; i < 3; i++) {
		others[i] = (dialogue) { .sent = 0 };
		dlock_loop_adopt(&loop, &others[i].adopted, i == 1 ? forget_step : dialogue_step, NULL, &others[i]);
	}
	check(dlock_loop_await(&loop, are_over, NULL, dlock_now() + 60 * DLOCK_SECOND) && !loop.adopted,
		"a step may make the loop forget any task");
}

static void test_fork(void)
{
	others[0] = (dialogue) { .sent = 0 };
	dlock_loop_adopt(&loop, &others[0].adopted, dialogue_step, NULL, &others[0]);
	pid_t pid = fork_child();
	if (pid == 0) {
		bool good = dlock_loop_run(&loop, never_step, NULL, dlock_now(), NULL) == DLOCK_TIMEOUT && others[0].sent == 0
			&& !loop.adopted;
		dlock_loop_adopt(&loop, &others[0].adopted, dialogue_step, NULL, &others[0]);
		dlock_loop_run(&loop, never_step, NULL, dlock_now(), NULL);
		_exit(!good || others[0].sent != 1);
	}
	check(exit_of(pid) == 0, "a child has no task of its parent's, and may begin its own");
	check(dlock_loop_run(&loop, never_step, NULL, dlock_now(), NULL) == DLOCK_TIMEOUT && others[0].sent == 1,
		"the parent continues its task");
	dlock_loop_forget(&others[0].adopted);
}

int main(void)
{
	static void (*const tests[])(void) = { test_run, test_limits, test_settled_at_end, test_interrupted, test_adopted,
		test_forgotten, test_fork };

	dlock_process_init();
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		begin();
		tests[i]();
		end();
	}
	return tap_end();
}

/* Strands that wait suspended in one loop: which of them polls for all. No wake-up is lost, in whatever order they
 * resume, and whichever leaves. Each strand has its own context. A scheduler resumes strands whose descriptor can be
 * read or whose time has come. Prints TAP. */

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../src/net/loop.h"
#include "helpers.h"
#include "tap.h"

/* ---- strands ---- */

enum { STRANDS = 3, STACK = 256 * 1024 };

typedef struct strand {
	ucontext_t context;
	char *stack;
	void (*run)(struct strand *self);
	int number;
	bool is_over, is_cancelled, is_unable, is_dropped;
	int fd, suspensions;
	dlock_nanos until;
	/* what it waits for */
	int wanted;
	dlock_nanos time;
	dlock_status status;
} strand;

static ucontext_t scheduler;
static strand strands[STRANDS], *current;
static const int orders[6][STRANDS] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

static dlock_suspension suspend(void *context, const dlock_wakeup *bell, int fd, dlock_nanos until)
{
	strand *self = current;

	(void) context, (void) bell;
	if (self->is_unable) {
		return DLOCK_CANNOT_SUSPEND;
	}
	self->fd = fd;
	self->until = until;
	self->suspensions++;
	swapcontext(&self->context, &scheduler);
	return self->is_cancelled ? DLOCK_SUSPENSION_CANCELLED : DLOCK_SUSPENDED;
}

static void begin_strand(void)
{
	current->run(current);
	current->is_over = true;
	swapcontext(&current->context, &scheduler);
}

static void resume(strand *self)
{
	current = self;
	swapcontext(&scheduler, &self->context);
	current = NULL;
}

static void start(int number, void (*run)(strand *self))
{
	strand *self = &strands[number];

	self->stack = malloc(STACK);
	self->run = run;
	self->number = number;
	self->fd = -1;
	getcontext(&self->context);
	self->context.uc_stack.ss_sp = self->stack;
	self->context.uc_stack.ss_size = STACK;
	makecontext(&self->context, begin_strand, 0);
	resume(self);
}

static bool is_to_go_on(const strand *one)
{
	return one->stack && !one->is_over && !one->is_dropped;
}

/* Resumes the first strand in this order that is due. False: none is due within 10 s. */
static bool turn(const int *order)
{
	dlock_nanos give_up = dlock_now() + 10 * DLOCK_SECOND;

	while (dlock_now() < give_up) {
		struct pollfd fds[STRANDS];
		dlock_nanos wake = give_up;
		for (int i = 0; i < STRANDS; i++) {
			strand *one = &strands[order[i]];
			fds[i] = (struct pollfd) { .fd = is_to_go_on(one) ? one->fd : -1, .events = POLLIN };
			wake = is_to_go_on(one) && one->until < wake ? one->until : wake;
		}
		poll(fds, STRANDS, dlock_poll_ms(wake));
		for (int i = 0; i < STRANDS; i++) {
			strand *one = &strands[order[i]];
			if (is_to_go_on(one) && (fds[i].revents || dlock_now() >= one->until)) {
				resume(one);
				return true;
			}
		}
	}
	return false;
}

static bool are_over(void)
{
	for (int i = 0; i < STRANDS; i++) {
		if (is_to_go_on(&strands[i])) {
			return false;
		}
	}
	return true;
}

static bool finish(const int *order)
{
	while (!are_over()) {
		if (!turn(order)) {
			return false;
		}
	}
	return true;
}

/* ---- what they wait for: bytes of a pipe, or a time ---- */

typedef struct {
	dlock_source source;
	int fds[2], received;
	bool is_polled;
} pipe_source;

static dlock_loop loop;
static pipe_source pipes[2];

static bool poll_pipe(const dlock_source *source, struct pollfd *fd)
{
	const pipe_source *own = (const pipe_source *) source;

	*fd = (struct pollfd) { .fd = own->fds[0], .events = POLLIN };
	return own->is_polled;
}

static void advance(dlock_source *source)
{
	pipe_source *own = (pipe_source *) source;
	char byte;

	if (read(own->fds[0], &byte, 1) == 1) {
		own->received++;
	}
}

static const dlock_source_ops ops = { .poll = poll_pipe, .advance = advance };

static void say(int which)
{
	if (write(pipes[which].fds[1], "x", 1) != 1) {
		exit(2);
	}
}

static void begin(void)
{
	memset(strands, 0, sizeof strands);
	loop = (dlock_loop) { NULL };
	for (int i = 0; i < 2; i++) {
		pipes[i] = (pipe_source) { .source.ops = &ops, .is_polled = i == 0 };
		dlock_loop_add_source(&loop, &pipes[i].source);
		if (pipe(pipes[i].fds) != 0) {
			exit(2);
		}
	}
}

static void end(void)
{
	dlock_loop_end(&loop);
	for (int i = 0; i < 2; i++) {
		close(pipes[i].fds[0]);
		close(pipes[i].fds[1]);
	}
	for (int i = 0; i < STRANDS; i++) {
		free(strands[i].stack);
	}
}

static dlock_status wait_step(void *task, dlock_loop *on, dlock_nanos now)
{
	strand *self = task;

	dlock_loop_lend(on);
	if (self->time && dlock_loop_is_time(on, self->time, now)) {
		return DLOCK_LOST;
	}
	return pipes[0].received + pipes[1].received >= self->wanted ? DLOCK_OK : DLOCK_PENDING;
}

static bool never(void *context)
{
	(void) context;
	return false;
}

static void wait_for_bytes(strand *self)
{
	dlock_wait wait = { .deadline = DLOCK_FOREVER, .interrupted = never, .suspend = suspend };

	self->status = dlock_loop_run(&loop, wait_step, self, DLOCK_FOREVER, &wait);
}

/* Each strand waits for one byte more than the one before. */
static void start_all(void)
{
	for (int i = 0; i < STRANDS; i++) {
		strands[i].wanted = i + 1;
		start(i, wait_for_bytes);
	}
}

static int count_status(dlock_status status)
{
	int count = 0;

	for (int i = 0; i < STRANDS; i++) {
		count += strands[i].status == status;
	}
	return count;
}

/* ---- tests ---- */

static void test_orders(void)
{
	int bad = 0, suspensions = 0;

	for (int i = 0; i < 6; i++) {
		for (int k = 0; k < 6; k++) { /* bytes come one by one, or together */
			begin();
			start_all();
			say(0);
			if (k < 3) {
				bad += !turn(orders[i]);
			}
			say(0);
			bad += !turn(orders[k]);
			say(0);
			bad += !finish(orders[i]) || count_status(DLOCK_OK) != STRANDS || loop.sleepers.first
				|| loop.sleepers.watcher;
			for (int s = 0; s < STRANDS; s++) {
				suspensions = strands[s].suspensions > suspensions ? strands[s].suspensions : suspensions;
			}
			end();
		}
	}
	check(bad == 0, "all strands have their bytes, in whatever order they resume (%d times not)", bad);
	check(suspensions <= 5, "they need few suspensions (%d at most)", suspensions);
}

/* A cancelled strand passes the watch on, even if its bell has rung for that or its bytes have come. */
static void test_cancelled(void)
{
	int bad = 0;

	for (int i = 0; i < 6; i++) {
		for (int who = 0; who < 1 << STRANDS; who++) {
			begin();
			start_all();
			for (int s = 0; s < STRANDS; s++) {
				if (who >> orders[i][s] & 1) {
					strands[orders[i][s]].is_cancelled = true;
					resume(&strands[orders[i][s]]);
				}
			}
			say(0);
			say(0);
			say(0);
			bad += !finish(orders[5 - i]) || count_status(DLOCK_INTERRUPTED) != __builtin_popcount((unsigned) who);
			end();
		}
	}
	check(bad == 0, "the remaining strands have their bytes, whichever are cancelled (%d times not)", bad);
}

/* Some strands are neither resumed nor ended: the watcher, the strand whose bell rings to replace it, or both. They may
 * resume late. */
static void test_dropped(void)
{
	int bad = 0;

	for (int who = 1; who < (1 << STRANDS) - 1; who++) {
		begin();
		start_all();
		for (int s = 0; s < STRANDS; s++) {
			strands[s].is_dropped = who >> s & 1;
			strands[s].wanted = 1;
		}
		say(0);
		bad += !finish(orders[0]) || count_status(DLOCK_OK) != STRANDS;
		for (int s = 0; s < STRANDS; s++) {
			strands[s].is_dropped = false;
		}
		bad += !finish(orders[0]) || loop.sleepers.first || loop.sleepers.watcher;
		end();
	}
	check(bad == 0, "the remaining strands have their bytes, whichever are dropped (%d times not)", bad);
}

/* A strand that cannot be suspended polls itself, also for all others. */
static void test_unable(void)
{
	int bad = 0;

	for (int i = 0; i < 6; i++) {
		begin();
		for (int s = 0; s < STRANDS - 1; s++) {
			strands[s].wanted = s + 2;
			start(s, wait_for_bytes);
		}
		say(0);
		strands[STRANDS - 1].wanted = 1;
		strands[STRANDS - 1].is_unable = true;
		start(STRANDS - 1, wait_for_bytes);
		bad += !strands[STRANDS - 1].is_over || strands[STRANDS - 1].status != DLOCK_OK;
		say(0);
		say(0);
		bad += !finish(orders[i]) || count_status(DLOCK_OK) != STRANDS;
		end();
	}
	check(bad == 0, "all have their bytes beside a strand that cannot be suspended (%d times not)", bad);
}

/* A caller runs the loop and leaves. It has added something to poll, or an earlier time for a sleeper. */
static dlock_status begin_pipe(void *task, dlock_loop *on, dlock_nanos now)
{
	(void) task, (void) on, (void) now;
	pipes[1].is_polled = true;
	return DLOCK_OK;
}

static dlock_status set_time(void *task, dlock_loop *on, dlock_nanos now)
{
	strand *self = task;

	(void) on;
	self->time = now + 20 * DLOCK_MS;
	return DLOCK_OK;
}

static void test_others(void)
{
	int bad = 0;

	for (int i = 0; i < 6; i++) {
		begin();
		start_all();
		dlock_loop_run(&loop, begin_pipe, NULL, DLOCK_FOREVER, NULL);
		say(1);
		say(1);
		say(1);
		bad += !finish(orders[i]) || count_status(DLOCK_OK) != STRANDS;
		end();
		for (int who = 0; who < STRANDS; who++) {
			begin();
			start_all();
			dlock_loop_run(&loop, set_time, &strands[who], DLOCK_FOREVER, NULL);
			dlock_loop_run(&loop, begin_pipe, NULL, DLOCK_FOREVER, NULL); /* its step has set the time */
			dlock_nanos start = dlock_now();
			while (!strands[who].is_over && turn(orders[i])) {
			}
			bad += strands[who].status != DLOCK_LOST || dlock_now() - start > 30 * DLOCK_SECOND;
			say(0);
			say(0);
			say(0);
			bad += !finish(orders[i]) || count_status(DLOCK_OK) != STRANDS - 1;
			end();
		}
	}
	check(bad == 0, "the watcher polls what other callers begin (%d times not)", bad);
}

/* A stale ring, for example for a loss that was reported in another way, wakes a strand only once. */
static dlock_wakeup stale, bell;

static void wait_for_time(strand *self)
{
	dlock_wait wait = {
		.deadline = DLOCK_FOREVER, .interrupted = never, .suspend = suspend, .wakeup = &stale
	};

	self->time = dlock_now() + 50 * DLOCK_MS;
	self->status = dlock_loop_run(&loop, wait_step, self, DLOCK_FOREVER, &wait);
}

static void wait_for_bell(strand *self)
{
	dlock_wait wait = {
		.deadline = DLOCK_FOREVER, .interrupted = never, .suspend = suspend, .wakeup = &stale
	};

	dlock_watch watch = { .count = 0 };

	self->wanted = dlock_wait_bell(&bell, dlock_now() + 50 * DLOCK_MS, &wait, &watch);
	dlock_watch_end(&watch);
}

static void test_stale_ring(void)
{
	void (*const waits[])(strand *self) = { wait_for_time, wait_for_bell };

	for (int i = 0; i < 2; i++) {
		begin();
		strands[0].wanted = 1;
		check(dlock_wakeup_open(&stale) && dlock_wakeup_open(&bell), "wakeups");
		dlock_wakeup_send(&stale);
		start(0, waits[i]);
		check(finish(orders[0]) && (i == 0 ? strands[0].status == DLOCK_LOST : strands[0].wanted == DLOCK_WAIT_TIME),
			"after a stale ring the strand waits for its time");
		check(strands[0].suspensions <= 5, "it sleeps meanwhile (%d suspensions)", strands[0].suspensions);
		dlock_wakeup_close(&stale);
		dlock_wakeup_close(&bell);
		end();
	}
}

/* In its last turn, a caller that leaves brings what sleepers wait for, so there is nothing to poll for it. */
static dlock_status bring(void *task, dlock_loop *on, dlock_nanos now)
{
	(void) task, (void) now;
	pipes[0].received += STRANDS;
	on->again = true;
	return DLOCK_OK;
}

static void test_brought(void)
{
	begin();
	start_all();
	dlock_loop_run(&loop, bring, NULL, DLOCK_FOREVER, NULL);
	dlock_nanos start = dlock_now();
	check(finish(orders[0]) && count_status(DLOCK_OK) == STRANDS && dlock_now() - start < 30 * DLOCK_SECOND,
		"sleepers notice what the last turn has brought");
	end();
}

/* A child has none of its parent's sleepers, and reads none of their bytes. */
static void test_fork(void)
{
	begin();
	start_all();
	pid_t pid = fork_child();
	if (pid == 0) {
		int bad = 0;
		for (int s = 0; s < STRANDS; s++) {
			resume(&strands[s]);
			bad += !strands[s].is_over || strands[s].status != DLOCK_INTERRUPTED;
		}
		_exit(bad);
	}
	check(exit_of(pid) == 0, "in a child all strands end");
	say(0);
	say(0);
	say(0);
	check(finish(orders[3]) && count_status(DLOCK_OK) == STRANDS, "in the parent they continue");
	end();
}

static bool has_received(void *context)
{
	(void) context;
	return pipes[0].received > 0;
}

static void test_forgotten(void)
{
	begin();
	start_all();
	dlock_loop_forget_sleepers(&loop);
	say(0);
	dlock_loop_await(&loop, has_received, NULL, dlock_now() + SOON);
	dlock_loop_await(&loop, never, NULL, dlock_now() + 50 * DLOCK_MS);
	check(count_status(DLOCK_OK) == STRANDS && pipes[0].received == 1 && !strands[0].is_over,
		"forgotten sleepers are not stepped any more"); /* OK is 0: none has a status yet */
	end();
}

int main(void)
{
	dlock_process_init();
	test_orders();
	test_cancelled();
	test_dropped();
	test_unable();
	test_others();
	test_stale_ring();
	test_brought();
	test_fork();
	test_forgotten();
	return tap_end();
}

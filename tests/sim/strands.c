/* Waits that are suspended. Half of the processes have a waiter: it polls the descriptor that it is given, returns too
 * early, or says that it cannot wait. If a process has several clients, each is in a strand with a stack of its own,
 * and the other strands continue meanwhile. */
#include "run.h"
#include "stacks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int __wrap_poll(struct pollfd *fds, nfds_t count, int ms);

enum { STACK = 256 * 1024 };

typedef struct {
	stack_context context;
	char *stack;
	void (*run)(client *client);
	client *client;
	bool is_over;
	bool is_refused; /* it could not be suspended, so its wait must end */
	int fd; /* what it waits for; -1: only for its time */
	dlock_nanos until; /* by its host's clock */
} strand;

/* The strands of a process. */
typedef struct {
	stack_context loop;
	strand all[STRANDS];
	strand *current; /* NULL: the loop runs, or there are no strands */
} strands;

static strands of_processes[CLIENTS];

static strands *of_this_process(void)
{
	return &of_processes[current_process->number];
}

static int ms_until(dlock_nanos until)
{
	dlock_nanos left = until - dlock_now();

	return left > 60 * DLOCK_SECOND ? 60000 : left > 0 ? (int) (left / DLOCK_MS) + 1 : 0;
}

/* ---- what a strand does ---- */

static void wait_in_strand(int fd, dlock_nanos until)
{
	strands *own = of_this_process();
	strand *self = own->current;

	self->fd = fd;
	self->until = until;
	stack_switch(&self->context, &own->loop);
}

static dlock_suspension suspend(void *context, const dlock_wakeup *bell, int fd, dlock_nanos until)
{
	static unsigned calls; /* not a random number, so that seeds keep their meaning */
	struct pollfd one = { .fd = fd, .events = POLLIN };

	(void) context;
	(void) bell;
	calls++;
	strand *self = of_this_process()->current;
	if (self && calls % 307 == 0) {
		return DLOCK_SUSPENSION_CANCELLED;
	}
	if (calls % (self ? 211 : 11) == 0) {
		if (self) {
			self->is_refused = true;
		}
		return DLOCK_CANNOT_SUSPEND;
	}
	until = until == DLOCK_FOREVER ? dlock_now() + 60 * DLOCK_SECOND : until;
	if (calls % 5 == 0 && until > dlock_now() + 2 * DLOCK_MS) {
		until = dlock_now() + 2 * DLOCK_MS;
	}
	if (self) {
		wait_in_strand(fd, until);
	} else {
		__wrap_poll(&one, 1, ms_until(until));
	}
	return DLOCK_SUSPENDED;
}

dlock_suspend *strand_suspend(const process *process)
{
	return process->number % 2 || of_processes[process->number].current ? suspend : NULL;
}

/* As in PHP: it might wait for a lock that another strand of its process holds. */
bool strand_is_refused(void)
{
	return of_this_process()->current && of_this_process()->current->is_refused;
}

static bool is_refused(void *context)
{
	(void) context;
	return strand_is_refused();
}

dlock_wait strand_wait(const process *process, dlock_nanos deadline)
{
	strand *self = of_this_process()->current;

	if (self) {
		self->is_refused = false;
	}
	return (dlock_wait) {
		.deadline = deadline, .suspend = strand_suspend(process), .interrupted = self ? is_refused : NULL
	};
}

void client_sleep(nanos length)
{
	if (!of_this_process()->current) {
		fiber_sleep(length);
		return;
	}
	for (nanos until = now + length; now < until;) {
		wait_in_strand(-1, dlock_now() + host_duration(current_process->host, until - now));
	}
}

void client_rest(stream *random, nanos most)
{
	client_sleep(draw_below(random, draw_chance(random, 0.05) ? 4 * SECOND : most));
	if (now < BUSY_UNTIL || draw_chance(random, 0.5)) {
		return;
	}
	for (nanos until = now + draw_below(random, 40 * SECOND); now < until && now < end_of_faults;) {
		client_sleep(SECOND);
	}
}

/* ---- all strands ---- */

static void begin(void)
{
	strands *own = of_this_process();
	strand *self = own->current;

	self->run(self->client);
	self->is_over = true;
	stack_switch(&self->context, &own->loop);
}

/* A strand that cannot be suspended, or that releases, stops the other strands: for them the process stands still. */
#define HELD_UP (10 * MS)

static void go_on(strands *own, strand *self)
{
	process *process = current_process;
	nanos begun = now, paused = process->paused_total;

	own->current = self;
	stack_switch(&own->loop, &self->context);
	own->current = NULL;
	nanos others = now - begun - (process->paused_total - paused);
	if (others > HELD_UP) {
		process->paused_total += others;
		process->paused_until = now;
		note_stopped(now);
	}
}

/* False: all strands have ended. */
static bool turn(strands *own)
{
	struct pollfd fds[STRANDS];
	dlock_nanos until = DLOCK_FOREVER;
	bool any = false;

	for (int i = 0; i < STRANDS; i++) {
		const strand *one = &own->all[i];
		fds[i] = (struct pollfd) { .fd = one->is_over ? -1 : one->fd, .events = POLLIN };
		any |= !one->is_over;
		until = !one->is_over && one->until < until ? one->until : until;
	}
	if (any) {
		__wrap_poll(fds, STRANDS, ms_until(until));
	}
	for (int i = 0; i < STRANDS; i++) {
		strand *one = &own->all[i];
		if (!one->is_over && (fds[i].revents || dlock_now() >= one->until)) {
			go_on(own, one);
		}
	}
	return any;
}

client *client_of_process(client *first, int number)
{
	return first + number * options.clients;
}

static void run_strands(client *first, void (*run)(client *client))
{
	strands *own = of_this_process();

	own->current = NULL;
	for (int i = 0; i < STRANDS; i++) {
		strand *one = &own->all[i];
		one->stack = one->stack ? one->stack
			: mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		one->run = run;
		one->client = client_of_process(first, i);
		one->is_over = one->is_refused = false;
		one->fd = -1;
		one->until = 0;
		stack_begin(&one->context, one->stack, STACK, begin);
	}
	while (turn(own)) {
	}
}

void clients_run(client *first, void (*run)(client *client))
{
	if (options.work->in_strands) {
		run_strands(first, run);
	} else {
		run(first);
	}
}

void strands_killed(const process *process)
{
	of_processes[process->number].current = NULL;
}

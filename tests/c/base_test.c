/* src/base: clock, token, process stamp, waiting. Prints TAP. */

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../src/base/error.h"
#include "../../src/base/process.h"
#include "../../src/base/token.h"
#include "../../src/base/wait.h"
#include "helpers.h"
#include "tap.h"

/* ---- clock ---- */

static void test_clock(void)
{
	struct timespec boot;
	dlock_nanos before = dlock_now(), last = before;
	int back = 0;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	dlock_nanos middle = boot.tv_sec * DLOCK_SECOND + boot.tv_nsec;
	check(before <= middle && middle <= dlock_now(), "it is CLOCK_BOOTTIME, which counts suspend");
	for (int i = 0; i < 100000; i++) {
		dlock_nanos now = dlock_now();
		back += now < last;
		last = now;
	}
	check(back == 0, "it never goes back");
}

static void test_after(void)
{
	static const struct {
		dlock_nanos start, length, expected;
		const char *text;
	} cases[] = {
		{ 5, 7, 12, "a sum" },
		{ 5, 0, 5, "no length" },
		{ 5, -7, -2, "a negative length" },
		{ INT64_MAX - 7, 7, INT64_MAX, "the latest time that fits" },
		{ INT64_MAX - 7, 8, DLOCK_FOREVER, "a time that is too late by one" },
		{ INT64_MAX - 7, INT64_MAX, DLOCK_FOREVER, "much too late" },
		{ DLOCK_FOREVER, 1, DLOCK_FOREVER, "after forever" },
		{ DLOCK_FOREVER, 0, DLOCK_FOREVER, "forever" },
		{ 1, DLOCK_FOREVER, DLOCK_FOREVER, "forever from now" },
		{ DLOCK_FOREVER, -1, DLOCK_FOREVER - 1, "just before forever" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		check(dlock_after(cases[i].start, cases[i].length) == cases[i].expected, "dlock_after: %s", cases[i].text);
	}
}

/* dlock_poll_ms() reads the clock itself, so its result must fit some time between the test's two readings. */
static bool rounds_up(dlock_nanos until)
{
	dlock_nanos before = dlock_now();
	int ms = dlock_poll_ms(until);
	dlock_nanos after = dlock_now();
	dlock_nanos most = until - before, least = until - after;

	return ms * DLOCK_MS >= least && (ms == 0 || (ms - 1) * DLOCK_MS < most) && ms >= 0;
}

static void test_poll_ms(void)
{
	static const dlock_nanos lengths[] = { 1, 1000, 999999, 1000000, 1000001, 1500000, 123456789, DLOCK_SECOND,
		1000 * DLOCK_SECOND };
	int wrong = 0;

	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		wrong += !rounds_up(dlock_now() + lengths[i]);
	}
	check(wrong == 0, "poll_ms rounds up to the next millisecond");
	check(dlock_poll_ms(dlock_now() + 60 * DLOCK_SECOND) > 0, "not 0 before its time");
	check(dlock_poll_ms(dlock_now() - 1) == 0 && dlock_poll_ms(0) == 0 && dlock_poll_ms(-5) == 0, "0 when past");
	check(dlock_poll_ms(DLOCK_FOREVER) == -1, "-1 without a limit");
	check(dlock_poll_ms(DLOCK_FOREVER - 1) == INT_MAX, "a time that does not fit an int becomes INT_MAX");
	check(dlock_poll_ms(dlock_now() + INT64_C(2147483646) * DLOCK_MS) > INT_MAX - 60000, "24 days fit");
}

/* ---- token ---- */

static int by_token(const void *a, const void *b)
{
	return memcmp(a, b, DLOCK_TOKEN_LEN + 1);
}

static void test_token(void)
{
	enum { COUNT = 20000 };
	static char tokens[COUNT][DLOCK_TOKEN_LEN + 1];
	char guarded[DLOCK_TOKEN_LEN + 2];
	int malformed = 0, same = 0, column[16] = { 0 }, lean = 0;

	memset(guarded, 'x', sizeof guarded);
	check(dlock_token(guarded) && guarded[DLOCK_TOKEN_LEN + 1] == 'x', "a token fits its place");
	for (int i = 0; i < COUNT; i++) {
		if (!dlock_token(tokens[i]) || strspn(tokens[i], "0123456789abcdef") != DLOCK_TOKEN_LEN
				|| strlen(tokens[i]) != DLOCK_TOKEN_LEN) {
			malformed++;
		}
		for (int k = DLOCK_TOKEN_ID_LEN; k < DLOCK_TOKEN_LEN; k++) {
			column[tokens[i][k] <= '9' ? tokens[i][k] - '0' : tokens[i][k] - 'a' + 10]++;
		}
	}
	check(malformed == 0, "44 hexadecimal digits");
	qsort(tokens, COUNT, sizeof *tokens, by_token);
	for (int i = 1; i < COUNT; i++) {
		same += memcmp(tokens[i - 1], tokens[i], DLOCK_TOKEN_ID_LEN) == 0;
	}
	check(same == 0, "no two of %d have the same id", COUNT);
	for (int i = 0; i < 16; i++) { /* 25000 expected, standard deviation 153 */
		lean += column[i] < 23500 || column[i] > 26500;
	}
	check(lean == 0, "every random digit is as frequent as any other");
}

static void test_origin(void)
{
	static const char known[] = "0a00000500002a0000000001";
	char token[DLOCK_TOKEN_LEN + 1], other[DLOCK_TOKEN_LEN + 1];
	dlock_origin origin, later;

	dlock_token_set_origin(0x0a000005, false);
	int64_t before = dlock_time_of_day();
	check(dlock_token(token) && dlock_token(other), "tokens with an origin");
	int64_t after = dlock_time_of_day();
	check(dlock_token_read_origin(token, after, &origin) && origin.address == 0x0a000005
			&& origin.pid == ((uint32_t) getpid() & 0xffffff),
		"which name the host and the process");
	check(origin.made_at >= before - 1000000 && origin.made_at <= after + 1000000, "and the time");
	check(dlock_token_read_origin(token, after + INT64_C(380) * 86400 * 1000000, &later)
			&& later.made_at == origin.made_at,
		"also a year later");
	check(dlock_token_read_origin(token, before - INT64_C(6) * 86400 * 1000000, &later)
			&& later.made_at == origin.made_at,
		"and if the reader's clock is late");
	check(dlock_token_read_origin(known, after, &origin) && origin.address == 0x0a000005 && origin.pid == 42
			&& origin.made_at <= after + INT64_C(7) * 86400 * 1000000,
		"the digits of an id");
	check(!dlock_token_read_origin("0a00000500002a00000000 1", after, &origin), "other texts have no origin");
	dlock_token_set_origin(0, true);
	check(dlock_token(token) && strlen(token) == DLOCK_TOKEN_PLAIN_LEN && dlock_is_token(token, strlen(token), false),
		"a token that hides its origin has only random digits");
	dlock_token_set_origin(0, false);
}

static void test_token_of_children(void)
{
	char (*tokens)[DLOCK_TOKEN_LEN + 1] = shared_memory(2 * sizeof *tokens);

	for (int i = 0; i < 2; i++) {
		pid_t pid = fork_child();
		if (pid == 0) {
			_exit(!dlock_token(tokens[i]));
		}
		exit_of(pid);
	}
	check(tokens[0][0] && tokens[1][0] && memcmp(tokens[0], tokens[1], DLOCK_TOKEN_LEN),
		"two children do not make the same token");
}

static void test_jitter(void)
{
	int outside = 0, hit[10] = { 0 }, lean = 0;
	uint32_t largest = 0;

	check(dlock_jitter(0) == 0, "no jitter below 0");
	check(dlock_jitter(1) == 0, "no jitter below 1");
	for (int i = 0; i < 20000; i++) {
		uint32_t number = dlock_jitter(10);
		outside += number > 9;
		hit[number % 10]++;
		number = dlock_jitter(UINT32_MAX);
		outside += number == UINT32_MAX;
		largest = number > largest ? number : largest;
	}
	check(outside == 0, "below its bound");
	for (int i = 0; i < 10; i++) { /* 2000 expected, standard deviation 42 */
		lean += hit[i] < 1600 || hit[i] > 2400;
	}
	check(lean == 0, "every number is as frequent as any other");
	check(largest > UINT32_MAX / 10 * 9, "up to a large bound");
}

/* ---- error ---- */

static void test_error(void)
{
	struct {
		dlock_error error;
		char guard;
	} box = { .guard = 'x' };
	char longest[2000];

	memset(longest, 'y', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	check(dlock_fail(&box.error, DLOCK_QUORUM, "%s", longest) == DLOCK_QUORUM, "fail() returns the status");
	check(strlen(box.error.message) == sizeof box.error.message - 1 && box.guard == 'x', "a long message is cut");
	dlock_append(&box.error, "; %s", "more");
	check(
		strlen(box.error.message) == sizeof box.error.message - 1 && box.guard == 'x', "a full message stays as it is");
	dlock_fail(&box.error, DLOCK_LOST, "%s", "a");
	dlock_append(&box.error, "; %s", "b");
	check(!strcmp(box.error.message, "a; b"), "a short message can be extended");
	dlock_append(&box.error, "%s", longest);
	check(strlen(box.error.message) == sizeof box.error.message - 1 && box.guard == 'x', "as far as there is room");
	dlock_fail(&box.error, DLOCK_LOST, "%s", "a\nb\r\x1b[31m");
	dlock_append(&box.error, "%s", "\x7f\t\xc3\xa9");
	check(!strcmp(box.error.message, "a?b??[31m??\xc3\xa9"), "nothing in it ends the line or moves a cursor");
	dlock_fail(&box.error, DLOCK_LOST, "%s", "\xe2\x82\xac \xff \xc0\xaf \xed\xa0\x80 \xf0\x9f\x98\x80 \xe2\x82");
	check(!strcmp(box.error.message, "\xe2\x82\xac ? ?? ??? \xf0\x9f\x98\x80 ??"), "bytes that are no UTF-8 (%s)",
		box.error.message);
	for (size_t before = 505; before < sizeof box.error.message; before++) {
		dlock_fail(&box.error, DLOCK_LOST, "%.*s\xf0\x9f\x98\x80 more", (int) before, longest);
		size_t whole = before + 4 < sizeof box.error.message ? before + 4 : before;
		check(!strchr(box.error.message, '?') && strlen(box.error.message) >= whole, "it is cut at a character, %zu",
			before);
	}
	check(!strcmp(dlock_show("a\0b\xff\n", 5).text, "a?b??"), "a name of any bytes");
	char name[120];
	memset(name, 'n', sizeof name);
	memcpy(name + 98, "\xe2\x82\xac", 3);
	check(strlen(dlock_show(name, sizeof name).text) == 98 && strlen(dlock_show(name, 98).text) == 98,
		"is cut at a character");
}

/* ---- process ---- */

static void test_process(void)
{
	dlock_process *stamps = shared_memory(3 * sizeof *stamps), mine = dlock_process_current();

	dlock_process_init();
	check(mine == dlock_process_current(), "a process keeps its stamp after another dlock_process_init()");
	check((uint32_t) mine == (uint32_t) getpid(), "the pid is in it");
	pid_t pid = fork_child();
	if (pid == 0) {
		stamps[0] = dlock_process_current();
		pid_t grandchild = fork_child();
		if (grandchild == 0) {
			stamps[1] = dlock_process_current();
			_exit(0);
		}
		int status = exit_of(grandchild);
		_exit(status || stamps[0] != dlock_process_current());
	}
	check(exit_of(pid) == 0, "a child keeps its own stamp when it forks");
	check(stamps[0] != mine && stamps[1] != mine && stamps[0] != stamps[1], "child and grandchild have other stamps");
	/* A pid can be used again, even by a descendant. Then only the generation differs. */
	check(
		stamps[0] >> 32 == (mine >> 32) + 1 && stamps[1] >> 32 == (mine >> 32) + 2, "every fork raises the generation");
	check(mine == dlock_process_current(), "the parent keeps its stamp");
}

static void test_double_fork(void)
{
	dlock_process *stamp = shared_memory(sizeof *stamp), mine = dlock_process_current();
	int line[2];
	char byte;

	check(pipe(line) == 0, "pipe");
	pid_t pid = fork_child();
	if (pid == 0) {
		if (fork() == 0) { /* outlives its parent, as a daemon does */
			*stamp = dlock_process_current();
			_exit(write(line[1], "x", 1) != 1);
		}
		_exit(0);
	}
	check(exit_of(pid) == 0 && read(line[0], &byte, 1) == 1, "a daemon by a double fork");
	check(*stamp != mine && *stamp >> 32 == (mine >> 32) + 2, "has a stamp of its own");
	close(line[0]);
	close(line[1]);
}

/* ---- waiting ---- */

typedef struct {
	int asked, after; /* count_down() interrupts when it is asked more than `after` times */
} counter;

static bool count_down(void *context)
{
	counter *counter = context;

	return ++counter->asked > counter->after;
}

static void test_wait_time(void)
{
	dlock_wait patient = { .interrupted = interrupted };
	counter never = { 0, INT_MAX };
	dlock_wait asking = { .interrupted = count_down, .context = &never };
	const dlock_wait *waits[] = { NULL, &patient, &asking };
	int lines[2];

	check(pipe(lines) == 0, "pipe");
	interrupt_clear();
	for (int i = 0; i < 3; i++) {
		struct pollfd fd = { .fd = lines[0], .events = POLLIN };
		dlock_nanos least_late = DLOCK_FOREVER; /* the least of all waits, because a busy machine delays some */
		int early = 0;
		for (int k = 0; k < 20; k++) { /* an odd length shows errors of rounding */
			dlock_nanos until = dlock_now() + 1234567;
			early += dlock_wait_poll(k % 2 ? &fd : NULL, k % 2, until, waits[i]) != DLOCK_WAIT_TIME;
			dlock_nanos late = dlock_now() - until;
			early += late < 0;
			least_late = late < least_late ? late : least_late;
		}
		check(early == 0, "never ends before its time (%d)", i);
		check(least_late < 11 * DLOCK_MS, "nor long after it (%d)", i);
		dlock_nanos start = dlock_now();
		check(dlock_wait_poll(&fd, 1, start - 1, waits[i]) == DLOCK_WAIT_TIME && dlock_now() - start < SOON,
			"with a deadline in the past it does not wait (%d)", i);
		check(write(lines[1], "x", 1) == 1 && dlock_wait_poll(&fd, 1, 0, waits[i]) == 1 && fd.revents & POLLIN,
			"but sees that the descriptor is ready (%d)", i);
		check(dlock_wait_poll(&fd, 1, DLOCK_FOREVER, waits[i]) == 1,
			"a wait without a deadline ends when it is ready (%d)", i);
		check(read(lines[0], &(char) { 0 }, 1) == 1, "emptied");
	}
	close(lines[0]);
	close(lines[1]);
}

static void test_wait_interrupted(void)
{
	counter at_once = { 0, 0 };
	dlock_wait wait = { .interrupted = count_down, .context = &at_once };
	struct pollfd fd = { .fd = STDOUT_FILENO, .events = POLLOUT };

	check(dlock_wait_poll(NULL, 0, DLOCK_FOREVER, &wait) == DLOCK_WAIT_INTERRUPTED && at_once.asked == 1,
		"interrupted() is asked before the sleep");
	check(dlock_wait_poll(&fd, 1, 0, &wait) == DLOCK_WAIT_INTERRUPTED,
		"an interruption counts before a ready descriptor");
}

/* The signal arrives between the check and the sleep. The handler must run in the sleep, so that the next check sees
 * its flag. If a signal were missed, the sleep would last for the whole time. */
static bool raise_and_look(void *context)
{
	bool seen = interrupted(NULL);

	++*(int *) context;
	if (!seen) {
		raise(SIGUSR1);
	}
	return seen;
}

static void test_wait_gap(void)
{
	enum { ROUNDS = 2000 };
	int asked = 0, missed = 0;
	dlock_wait wait = { .interrupted = raise_and_look, .context = &asked };
	dlock_nanos start = dlock_now();

	interrupt_on(SIGUSR1);
	for (int i = 0; i < ROUNDS && missed < 3; i++) {
		interrupt_clear();
		missed += dlock_wait_poll(NULL, 0, dlock_now() + 60 * DLOCK_SECOND, &wait) != DLOCK_WAIT_INTERRUPTED;
	}
	check(missed == 0 && asked == 2 * ROUNDS, "a signal between check and sleep is never missed (%d)", missed);
	check(dlock_now() - start < SOON, "and wakes at once");
}

/* Another process sends the signals, at any moment. A wait that misses its signal lasts its full 30 s. */
static void test_wait_storm(void)
{
	enum { ROUNDS = 3000 };
	dlock_wait wait = { .interrupted = interrupted };
	atomic_int *want = shared_memory(sizeof *want);
	pid_t target = getpid(), pid = fork_child();
	int missed = 0;

	if (pid == 0) {
		for (int sent = 0; sent < ROUNDS;) {
			if (atomic_load(want) > sent) {
				kill(target, SIGUSR1);
				sent++;
			} else {
				sched_yield();
			}
		}
		_exit(0);
	}
	for (int i = 0; i < ROUNDS && missed < 3; i++) {
		interrupt_clear();
		atomic_fetch_add(want, 1);
		for (volatile int k = 0; k < i % 64 * 50; k++) { /* the signal comes at another moment each time */
		}
		missed += dlock_wait_poll(NULL, 0, dlock_now() + 30 * DLOCK_SECOND, &wait) != DLOCK_WAIT_INTERRUPTED;
	}
	if (missed) {
		kill(pid, SIGKILL);
	}
	exit_of(pid);
	check(missed == 0, "none of %d signals of another process is missed", ROUNDS);
}

static void ignore(int signal)
{
	(void) signal;
}

static void test_wait_eintr(void)
{
	struct sigaction action = { .sa_handler = ignore };
	counter never = { 0, INT_MAX };
	dlock_wait asking = { .interrupted = count_down, .context = &never }, silent = { .deadline = 0 };
	const dlock_wait *waits[] = { &asking, NULL, &silent };

	sigaction(SIGUSR2, &action, NULL);
	for (int i = 0; i < 3; i++) {
		pid_t pids[5];
		for (int k = 0; k < 5; k++) {
			pids[k] = signal_later(getpid(), SIGUSR2, 20 + 20 * k);
		}
		dlock_nanos until = dlock_now() + 200 * DLOCK_MS;
		check(dlock_wait_poll(NULL, 0, until, waits[i]) == DLOCK_WAIT_TIME && dlock_now() >= until,
			"signals without an interruption do not end the sleep (%d)", i);
		for (int k = 0; k < 5; k++) {
			exit_of(pids[k]);
		}
	}
	counter again = { 0, 1 };
	dlock_wait second = { .interrupted = count_down, .context = &again };
	pid_t pid = fork_child();
	if (pid == 0) {
		for (;;) {
			kill(getppid(), SIGUSR2);
			sleep_ms(10);
		}
	}
	check(dlock_wait_poll(NULL, 0, dlock_now() + 60 * DLOCK_SECOND, &second) == DLOCK_WAIT_INTERRUPTED,
		"interrupted() is asked again after a signal");
	end_child(pid);
}

static void test_wait_mask(void)
{
	counter at_once = { 0, 0 }, never = { 0, INT_MAX };
	dlock_wait ends = { .interrupted = count_down, .context = &at_once },
			   goes = { .interrupted = count_down, .context = &never };
	sigset_t before, after;

	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	sigprocmask(SIG_SETMASK, &before, NULL);
	dlock_wait_poll(NULL, 0, DLOCK_FOREVER, &ends);
	sigprocmask(SIG_SETMASK, NULL, &after);
	check(sigismember(&after, SIGUSR2) == 1 && sigismember(&after, SIGTERM) == 0,
		"the signal mask is the same after an interruption");
	raise(SIGUSR2);
	dlock_wait_poll(NULL, 0, dlock_now() + DLOCK_MS, &goes);
	sigprocmask(SIG_SETMASK, NULL, &after);
	check(sigismember(&after, SIGUSR2) == 1 && sigismember(&after, SIGTERM) == 0, "and after a sleep");
	sigpending(&after);
	check(sigismember(&after, SIGUSR2) == 1, "what the caller blocks stays blocked in the sleep");
	sigemptyset(&before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void test_token_forms(void)
{
	static const struct {
		const char *text;
		bool plain, legacy;
	} forms[] = {
		{ "0123456789abcdef0123456789abcdef", true, true },
		{ DLOCK_TOKEN_LEGACY "0123456789abcdef0123456789abcdef", false, true },
		{ "0123456789abcdef0123456789abcdef0123456789ab", true, true },
		{ DLOCK_TOKEN_LEGACY "0123456789abcdef0123456789abcdef0123456789ab", false, true },
		{ "0123456789abcdef0123456789abcdef0123456789a", false, false },
		{ "0123456789abcdef0123456789abcdef0123456789abc", false, false },
		{ "", false, false },
		{ DLOCK_TOKEN_LEGACY, false, false },
		{ "0123456789abcdef0123456789abcde", false, false },
		{ "0123456789abcdef0123456789abcdef0", false, false },
		{ "0123456789ABCDEF0123456789abcdef", false, false },
		{ "0123456789abcdef0123456789abcde ", false, false },
		{ DLOCK_TOKEN_LEGACY "0123456789abcdef0123456789abcde", false, false },
		{ "9999999998:0123456789abcdef0123456789abcdef", false, false },
		{ DLOCK_TOKEN_LEGACY "0123456789abcdef0123456789abcdeg", false, false },
		{ DLOCK_TOKEN_LEGACY DLOCK_TOKEN_LEGACY "456789abcdef0123456789", false, false },
	};
	int bad = 0;

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		size_t len = strlen(forms[i].text);
		char *text = memcpy(
			malloc(len ? len : 1), forms[i].text, len); /* no longer, so that a sanitizer sees reads behind it */
		bad += dlock_is_token(text, len, false) != forms[i].plain || dlock_is_token(text, len, true) != forms[i].legacy;
		free(text);
	}
	check(bad == 0, "the forms of tokens are told apart (%d)", bad);
	check(!dlock_is_token("0123456789abcdef\0" "0123456789abcde", 32, true), "a NUL is no digit");
	check(DLOCK_TOKEN_MAX == 55, "the longest token");
}

int main(void)
{
	dlock_process_init();
	test_clock();
	test_after();
	test_poll_ms();
	test_token();
	test_origin();
	test_token_of_children();
	test_token_forms();
	test_jitter();
	test_error();
	test_process();
	test_double_fork();
	test_wait_time();
	test_wait_interrupted();
	test_wait_gap();
	test_wait_storm();
	test_wait_eintr();
	test_wait_mask();
	return tap_end();
}

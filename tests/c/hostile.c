#include "hostile.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../src/lock/renewal.h"
#include "helpers.h"
#include "tap.h"

/* The most that a server may make the process of a way spend. A sanitizer keeps freed memory for a while. */
enum { MOST_CPU_SECONDS = 30, MOST_MEMORY_KIB = 512 * 1024, AT_A_TIME = 6 };

static struct report {
	_Atomic int complaints;
	char first[1000];
} * own;

/* Defined in a build with AddressSanitizer. */
__attribute__((weak)) void __lsan_do_leak_check(void);

void complain(const char *format, ...)
{
	va_list arguments;

	if (own->complaints++ == 0) {
		va_start(arguments, format);
		vsnprintf(own->first, sizeof own->first, format, arguments);
		va_end(arguments);
	}
}

/* Is it one line of UTF-8 without control characters? Of UTF-8, only missing and extra continuation bytes are
 * noticed. */
static bool is_fit_for_a_log(const char *message)
{
	int more = 0;

	for (const unsigned char *c = (const unsigned char *) message; *c; c++) {
		bool continues = (*c & 0xc0) == 0x80;
		if (*c < ' ' || *c == 0x7f || continues != (more > 0) || *c >= 0xf8) {
			return false;
		}
		more = continues ? more - 1 : *c >= 0xf0 ? 3 : *c >= 0xe0 ? 2 : *c >= 0xc0 ? 1 : 0;
	}
	return more == 0;
}

void judge(const char *call, dlock_status status, bool may_succeed, const dlock_error *error, dlock_nanos since)
{
	dlock_nanos took = dlock_now() - since;
	bool explains = status == DLOCK_CONNECTION || status == DLOCK_QUORUM || status == DLOCK_FAILED;

	if (status == DLOCK_OK && !may_succeed) {
		complain("%s is told to have succeeded", call);
	}
	if (took > SOON) {
		complain("%s took %lld ms", call, (long long) (took / DLOCK_MS));
	}
	if (explains && (!*error->message || !is_fit_for_a_log(error->message) || strstr(error->message, SECRET_WORD))) {
		complain("%s says \"%s\"", call, error->message);
	}
}

void believe(dlock_claim *claim)
{
	claim->state = DLOCK_CLAIM_HELD;
	claim->fencing_token = 1;
	claim->deadline = dlock_now() + claim->ttl;
}

void keep(dlock_claim *claim, int ms)
{
	dlock_upkeep upkeep = { .renew = true };
	dlock_nanos until = dlock_now() + ms * DLOCK_MS, left;
	dlock_error error;

	if (dlock_renewal_begin(claim, &upkeep, &error) != DLOCK_OK) {
		complain("no renewal: %s", error.message);
	}
	while (dlock_now() < until && dlock_claim_refresh(claim, &left) != DLOCK_CLAIM_LOST) {
		sleep_ms(5);
	}
	dlock_renewal_end(claim, true);
}

/* ---- the server ---- */

static void say(int fd, text text, unsigned how)
{
	size_t piece = how & DRIPS ? 1 : text.len;

	for (size_t sent = 0; sent < text.len; sent += piece) {
		if (send(fd, text.data + sent, piece, MSG_NOSIGNAL) < 0) {
			_exit(0);
		}
		if (how & DRIPS) {
			sleep_ms(2);
		}
	}
}

static void say_garbage(int fd)
{
	static char garbage[4096];
	unsigned seed = 4711;

	for (size_t i = 0; i < sizeof garbage; i++) {
		seed = seed * 1103515245 + 12345;
		garbage[i] = (char) (seed >> 16);
	}
	say(fd, (text){ garbage, sizeof garbage }, 0);
}

static void flood(int fd, const hostile *way)
{
	static char block[1 << 16];
	size_t times = way->flood.len > 0 && !(way->how & DRIPS) ? sizeof block / way->flood.len : 1,
		   left = (size_t) way->floods;

	if (way->flood.len == 0) {
		return;
	}
	for (size_t i = 0; i < times; i++) {
		memcpy(block + i * way->flood.len, way->flood.data, way->flood.len);
	}
	while (way->how & ENDLESS || left > 0) {
		size_t now = way->how & ENDLESS || left > times ? times : left;
		say(fd, (text){ block, now * way->flood.len }, way->how);
		left -= way->how & ENDLESS ? 0 : now;
	}
}

static void hang_up(int fd, const hostile *way)
{
	if (way->how & RESETS) {
		struct linger at_once = { 1, 0 };
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	}
	if (way->how & (CLOSES | RESETS)) {
		close(fd);
		_exit(0);
	}
}

static void serve(int fd, const hostile *way, usual_answer_of *usual, const char *boundary)
{
	static char heard[1 << 16];
	int nth = 0;

	say(fd, way->greeting, way->how);
	if (way->how & AT_ONCE) {
		hang_up(fd, way);
	}
	for (;;) {
		ssize_t len = read(fd, heard, sizeof heard - 1);
		if (len <= 0) {
			_exit(0);
		}
		heard[len] = '\0';
		for (const char *request = heard, *next; request; request = next) {
			size_t rest = (size_t) (heard + len - request);
			next = boundary ? memmem(request + 1, rest - 1, boundary, strlen(boundary)) : NULL;
			size_t own = next ? (size_t) (next - request) : rest;
			text answer = usual(way, request, own, nth++);
			if (answer.data) {
				say(fd, answer, 0);
				continue;
			}
			say(fd, way->answer, way->how);
			flood(fd, way);
			if (way->how & MANGLES) {
				say_garbage(fd);
			}
			hang_up(fd, way);
		}
	}
}

pid_t hostile_start(int *port, const hostile *way, usual_answer_of *usual, const char *boundary)
{
	int listener = listen_anywhere(port, 64);
	pid_t pid = fork_child();

	if (pid == 0) {
		signal(SIGCHLD, SIG_IGN); /* no call waits for these children */
		for (;;) {
			int fd = accept(listener, NULL, NULL);
			if (fd >= 0 && fork_child() == 0) {
				setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
				serve(fd, way, usual, boundary);
			}
			close(fd);
		}
	}
	close(listener);
	return pid;
}

/* ---- processes ---- */

static void attack(const hostile_ways *ways, int way, struct report *report)
{
	struct rusage before, after;

	own = report;
	alarm(2 * SOON / DLOCK_SECOND);
	getrusage(RUSAGE_SELF, &before);
	ways->attack(way);
	dlock_renewal_shutdown();
	getrusage(RUSAGE_SELF, &after);
	long cpu = after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_stime.tv_sec;
	if (cpu > MOST_CPU_SECONDS) {
		complain("took %ld s of processor time", cpu);
	}
	if (after.ru_maxrss - before.ru_maxrss > MOST_MEMORY_KIB) {
		complain("took %ld KiB of memory", after.ru_maxrss - before.ru_maxrss);
	}
	fflush(NULL);
	if (__lsan_do_leak_check) {
		__lsan_do_leak_check();
	}
	_exit(0);
}

void hostile_run(const hostile_ways *ways, const char *only)
{
	struct report *reports = shared_memory((size_t) ways->count * sizeof *reports);
	pid_t pids[AT_A_TIME] = { 0 };
	int tried[AT_A_TIME];

	for (int way = 0; way < ways->count + AT_A_TIME; way++) {
		int slot = way % AT_A_TIME;
		if (pids[slot] != 0) {
			int status = exit_of(pids[slot]);
			struct report *report = &reports[tried[slot]];
			check(status == 0 && report->complaints == 0, "%s%s%s%s", ways->name(tried[slot]),
				report->complaints ? ": " : "", report->first,
				status == 0                    ? ""
					: status == 1000 + SIGALRM ? ": hangs"
											   : ": ends its process");
		}
		pids[slot] = 0;
		if (way < ways->count && (!only || strstr(ways->name(way), only))) {
			pids[slot] = fork_child();
			tried[slot] = way;
			if (pids[slot] == 0) {
				attack(ways, way, &reports[way]);
			}
		}
	}
}

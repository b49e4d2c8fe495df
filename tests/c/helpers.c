#include "helpers.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void sleep_ms(int ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&time, &time) < 0 && errno == EINTR) {
	}
}

pid_t fork_child(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0) {
		perror("fork");
		exit(2);
	}
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent) { /* the parent died before prctl() */
			_exit(2);
		}
	}
	return pid;
}

int exit_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR) {
			return -1;
		}
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	exit_of(pid);
}

bool has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t) pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == pid;
}

void *shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	return memory;
}

pid_t signal_later(pid_t target, int signal, int ms)
{
	pid_t pid = fork_child();

	if (pid == 0) {
		sleep_ms(ms);
		_exit(kill(target, signal) != 0);
	}
	return pid;
}

bool eventually(bool (*condition)(void *context), void *context)
{
	dlock_nanos end = dlock_now() + 30 * DLOCK_SECOND;

	while (!condition(context)) {
		if (dlock_now() > end) {
			return false;
		}
		sleep_ms(3);
	}
	return true;
}

bool proven_in_time(bool (*attempt)(void))
{
	for (int tries = 0; tries < 10; tries++) {
		if (attempt()) {
			return true;
		}
	}
	return false;
}

dlock_claim_state look(dlock_claim *claim)
{
	dlock_nanos left;

	return dlock_claim_refresh(claim, &left);
}

typedef struct {
	dlock_claim *claim;
	dlock_claim_state state;
} expectation;

static bool is_in_state(void *context)
{
	const expectation *expected = context;

	return look(expected->claim) == expected->state;
}

bool eventually_in_state(dlock_claim *claim, dlock_claim_state state)
{
	return eventually(is_in_state, &(expectation) { claim, state });
}

static volatile sig_atomic_t pending;

static void on_signal(int signal)
{
	(void) signal;
	pending = 1;
}

bool interrupted(void *context)
{
	(void) context;
	return pending != 0;
}

void interrupt_on(int signal)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(signal, &action, NULL);
}

void interrupt_now(void)
{
	pending = 1;
}

void interrupt_clear(void)
{
	pending = 0;
}

int listen_anywhere(int *port, int backlog)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *) &address, len) < 0 || listen(fd, backlog) < 0
			|| getsockname(fd, (struct sockaddr *) &address, &len) < 0) {
		perror("listen");
		exit(2);
	}
	*port = ntohs(address.sin_port);
	return fd;
}

static int ascending(const void *a, const void *b)
{
	dlock_nanos x = *(const dlock_nanos *) a, y = *(const dlock_nanos *) b;

	return (x > y) - (x < y);
}

dlock_nanos median(dlock_nanos *times, int count)
{
	qsort(times, (size_t) count, sizeof *times, ascending);
	return times[count / 2];
}

static int count_entries(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	int count = 0;

	while (directory && (entry = readdir(directory))) {
		count += entry->d_name[0] != '.';
	}
	if (directory) {
		closedir(directory);
	}
	return count;
}

int count_threads(void)
{
	return count_entries("/proc/self/task");
}

int count_descriptors(void)
{
	return count_entries("/proc/self/fd") - 1; /* without that of opendir() */
}

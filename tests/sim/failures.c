/* Calls of libc that fail, as if no memory, descriptors or threads were left. Each call that may fail has a number in
 * its process. A fault names the call that fails, and for how long all later calls fail, too. */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void fail_calls(process *p, uint64_t nth, nanos length)
{
	p->fail_at = p->failable + nth;
	p->fail_length = length;
}

void fail_no_calls(process *p)
{
	p->fail_at = p->fail_length = p->failing_until = 0;
}

static const char *const names[] = { [CALL_MALLOC] = "malloc()",
	[CALL_SOCKET] = "socket()",
	[CALL_CONNECT] = "connect()",
	[CALL_READ] = "read()",
	[CALL_WRITE] = "write()",
	[CALL_POLL] = "poll()",
	[CALL_EVENTFD] = "eventfd()",
	[CALL_OPTION] = "setsockopt()",
	[CALL_RESOLVE] = "getaddrinfo()",
	[CALL_THREAD] = "pthread_create()",
	[CALL_INIT] = "pthread_mutex_init() or the like",
	[CALL_ENTROPY] = "getentropy()" };

bool call_fails(failable_call call)
{
	process *p = current_process;

	if (!p) {
		return false;
	}
	if (++p->failable == p->fail_at) {
		p->failing_until = now + p->fail_length;
	} else if (now >= p->failing_until || call == CALL_POLL) { /* EINTR: signals do not come all the time */
		return false;
	}
	p->failed++;
	note_fault(p->failing_until, true);
	say(p->name, "call %" PRIu64 " fails, %s", p->failable, names[call]);
	return true;
}

/* ---- memory ---- */

static bool is_out_of_memory(void)
{
	bool fails = call_fails(CALL_MALLOC);

	errno = fails ? ENOMEM : errno;
	return fails;
}

void *__wrap_malloc(size_t size)
{
	return is_out_of_memory() ? NULL : malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return is_out_of_memory() ? NULL : calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return is_out_of_memory() ? NULL : realloc(memory, size);
}

char *__wrap_strdup(const char *text)
{
	return is_out_of_memory() ? NULL : strdup(text);
}

/* ---- clients ---- */

unsigned long failed_calls(void)
{
	return current_process->failed;
}

void try_again(unsigned long failed_before, const char *what)
{
	if (failed_calls() == failed_before) {
		violation("%s fails, though no call of libc has", what);
	}
	fiber_sleep(MS);
}

/* What happens, in words; and a hash of all bytes on the network, by which two runs are compared. */
#include "run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t hash = 0xcbf29ce484222325u;
bool quiet;

static void mix(uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	hash ^= hash >> 32;
}

void trace_hash(const void *bytes, size_t len)
{
	const char *p = bytes;

	mix((uint64_t) now);
	for (; len >= 8; len -= 8, p += 8) {
		uint64_t word;
		memcpy(&word, p, 8);
		mix(word);
	}
	uint64_t rest = 0;
	memcpy(&rest, p, len);
	mix(rest | (uint64_t) len << 56);
}

bool tracing(void)
{
	return options.trace && !quiet && (double) now / SECOND >= options.trace_from;
}

void say(const char *who, const char *format, ...)
{
	va_list list;

	if (tracing()) {
		printf("%12.6f %-4s ", (double) now / SECOND, who);
		va_start(list, format);
		vprintf(format, list);
		va_end(list);
		putchar('\n');
	}
}

void violation(const char *format, ...)
{
	va_list list;

	this_run->violated = true;
	this_run->time = now;
	this_run->trace = hash;
	for (int i = 0; i < options.clients; i++) {
		this_run->calls[i] = clients[i].process ? clients[i].process->calls : 0;
	}
	snprintf(this_run->kind, sizeof this_run->kind, "%s", format);
	va_start(list, format);
	vsnprintf(this_run->message, sizeof this_run->message, format, list);
	va_end(list);
	if (tracing()) {
		printf("%12.6f VIOLATION %s\n", (double) now / SECOND, this_run->message);
	}
	fflush(stdout);
	_exit(1);
}

uint64_t trace_sum(void)
{
	return hash;
}

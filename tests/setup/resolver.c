/* Preloaded into a process, or part of a program, this code resolves some host names by the file that RESOLVER names.
 * Each line has a name, the seconds that its look-up takes, and its addresses, separated by commas, or "-" for an
 * unknown name. If the file changes, a waiting look-up continues as soon as its new time has passed. Each look-up of
 * such a name adds a line with the name to the file with ".log" appended to its name. The system resolves all other
 * names, and addresses. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef int resolver_function(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **list);

static resolver_function *system_resolver(void)
{
	return (resolver_function *) dlsym(RTLD_NEXT, "getaddrinfo");
}

#ifndef RESOLVER_IN_PROGRAM
/* PHP loads extensions so that they search their own libraries first; they must search this one. */
void *dlopen(const char *path, int flags)
{
	static void *(*next)(const char *, int);

	if (!next) {
		next = (void *(*)(const char *, int)) dlsym(RTLD_NEXT, "dlopen");
	}
	return next(path, flags & ~RTLD_DEEPBIND);
}
#endif

static bool find_host(const char *host, double *seconds, char addresses[256])
{
	const char *path = getenv("RESOLVER");
	FILE *file = path && host ? fopen(path, "re") : NULL;
	char name[256];
	bool found = false;

	while (file && !found && fscanf(file, "%255s %lf %255s", name, seconds, addresses) == 3) {
		found = !strcmp(name, host);
	}
	if (file) {
		fclose(file);
	}
	return found;
}

static void log_host(const char *host)
{
	char path[512], line[256];

	snprintf(path, sizeof path, "%s.log", getenv("RESOLVER"));
	int len = snprintf(line, sizeof line, "%s\n", host),
		log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (log >= 0) {
		ssize_t written = write(log, line, (size_t) len);
		(void) written;
		close(log);
	}
}

static double clock_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

/* Lists can be joined, because freeaddrinfo() frees one entry at a time. */
static int list_addresses(char *addresses, const char *port, const struct addrinfo *hints, struct addrinfo **list)
{
	struct addrinfo numeric = hints ? *hints : (struct addrinfo) { 0 }, **end = list;
	char *rest, *address = strtok_r(addresses, ",", &rest);

	*list = NULL;
	numeric.ai_flags |= AI_NUMERICHOST;
	for (; address; address = strtok_r(NULL, ",", &rest)) {
		if (system_resolver()(address, port, &numeric, end) == 0) {
			while (*end) {
				end = &(*end)->ai_next;
			}
		}
	}
	return *list ? 0 : EAI_NONAME;
}

int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **list)
{
	char addresses[256];
	double seconds, start = clock_seconds();

	if ((hints && hints->ai_flags & AI_NUMERICHOST) || !find_host(host, &seconds, addresses)) {
		return system_resolver()(host, port, hints, list);
	}
	log_host(host);
	while (clock_seconds() - start < seconds) {
		nanosleep(&(struct timespec) { 0, 2000000 }, NULL);
		if (!find_host(host, &seconds, addresses)) {
			return EAI_AGAIN;
		}
	}
	return list_addresses(addresses, port, hints, list);
}

/* Names of hosts for getaddrinfo(), which knows the names that were passed to net_set_name(). A resolver may be slow,
 * or not answer. */
#include "sim.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 64 };

typedef struct {
	char name[64];
	int host; /* 0: it is not known */
} known_name;

static known_name names[NAMES];
static int name_count;
static nanos least_delay = 200 * US, most_delay = 2 * MS;
static int problem; /* the error of all look-ups; 0: none */

void net_set_name(const char *name, int host)
{
	int i = 0;

	while (i < name_count && strcmp(names[i].name, name)) {
		i++;
	}
	if (i == NAMES) {
		violation("the simulator has no room for another name");
	}
	name_count = i < name_count ? name_count : i + 1;
	snprintf(names[i].name, sizeof names[i].name, "%s", name);
	names[i].host = host;
}

void net_set_resolver(nanos least, nanos most, bool answers)
{
	least_delay = least;
	most_delay = most;
	problem = answers ? 0 : EAI_AGAIN;
}

static int host_of(const char *name)
{
	for (int i = 0; i < name_count; i++) {
		if (!strcmp(names[i].name, name)) {
			return names[i].host;
		}
	}
	return 0;
}

static struct addrinfo *address_of(int host, const char *port)
{
	struct { struct addrinfo info; struct sockaddr_in address; } *both = calloc(1, sizeof *both);

	both->address.sin_family = AF_INET;
	both->address.sin_addr.s_addr = htonl(0x0a000000u | (unsigned) host);
	both->address.sin_port = htons((uint16_t) (port ? atoi(port) : 0));
	both->info.ai_family = AF_INET;
	both->info.ai_socktype = SOCK_STREAM;
	both->info.ai_addrlen = sizeof both->address;
	both->info.ai_addr = (struct sockaddr *) &both->address;
	return &both->info;
}

int __wrap_getaddrinfo(const char *name, const char *port, const struct addrinfo *hints, struct addrinfo **out)
{
	struct in_addr numeric;

	if (call_fails(CALL_RESOLVE)) {
		return EAI_MEMORY;
	}
	if (inet_pton(AF_INET, name, &numeric) == 1) {
		*out = address_of((int) (ntohl(numeric.s_addr) & 0xff), port);
		return 0;
	}
	if (hints->ai_flags & AI_NUMERICHOST) {
		return EAI_NONAME;
	}
	fiber_sleep(least_delay + draw_below(&current_process->schedule, most_delay - least_delay));
	int host = host_of(name);
	if (problem != 0 || host == 0) {
		return problem != 0 ? problem : EAI_NONAME;
	}
	if (hints->ai_family == AF_INET6) {
		return EAI_NODATA;
	}
	*out = address_of(host, port);
	return 0;
}

void __wrap_freeaddrinfo(struct addrinfo *info)
{
	free(info);
}

int __wrap_getnameinfo(const struct sockaddr *address, socklen_t len, char *host, socklen_t host_size, char *port,
	socklen_t port_size, int flags)
{
	(void) len;
	(void) port;
	(void) port_size;
	if (!(flags & NI_NUMERICHOST)) {
		violation("getnameinfo() is simulated for addresses only");
	}
	const struct sockaddr_in *in = (const struct sockaddr_in *) address;
	return inet_ntop(AF_INET, &in->sin_addr, host, host_size) ? 0 : EAI_OVERFLOW;
}

#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* EAI_ADDRFAMILY */
#endif

#include "hosts.h"

#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../../base/thread.h"
#include "../../base/token.h"

typedef struct {
	unsigned addresses; /* of all hosts */
	unsigned odd;       /* hosts with an odd number of them */
	char twice[NI_MAXHOST + NI_MAXSERV]; /* "host:port" which makes the number odd */
} survey;

/* Adds the addresses of "host:port", which has `len` characters, as the library finds them. */
static void count(survey *all, const char *host, size_t len)
{
	struct addrinfo hints = { .ai_flags = AI_ADDRCONFIG, .ai_socktype = SOCK_STREAM, .ai_protocol = IPPROTO_TCP };
	struct addrinfo *list;
	char name[NI_MAXHOST + NI_MAXSERV], address[NI_MAXHOST];
	unsigned before = all->addresses;

	if (len >= sizeof name) {
		return;
	}
	memcpy(name, host, len);
	name[len] = '\0';
	char *port = strrchr(name, ':');
	*port++ = '\0';
	int problem = getaddrinfo(name, port, &hints, &list);
	if (problem == EAI_ADDRFAMILY || problem == EAI_BADFLAGS) {
		hints.ai_flags = 0;
		problem = getaddrinfo(name, port, &hints, &list);
	}
	if (problem != 0) {
		return;
	}
	for (const struct addrinfo *at = list; at; at = at->ai_next) {
		all->addresses++;
	}
	if ((all->addresses - before) % 2 == 1) {
		/* Any of them, lest all processes prefer the same server. */
		if (dlock_jitter(++all->odd) == 0) {
			memcpy(all->twice, host, len);
			all->twice[len] = '\0';
		}
	} else if (all->odd == 0
			&& getnameinfo(list->ai_addr, list->ai_addrlen, address, sizeof address, NULL, 0, NI_NUMERICHOST) == 0) {
		snprintf(all->twice, sizeof all->twice, "%s:%s", address, port);
	}
	freeaddrinfo(list);
}

static survey look(const char *hosts)
{
	survey all = { .addresses = 0 };

	for (const char *host = hosts;; host++) {
		size_t len = strcspn(host, ",/");
		count(&all, host, len);
		host += len;
		if (*host != ',') {
			return all;
		}
	}
}

static bool is_even(const survey *all)
{
	return all->addresses % 2 == 0 && all->twice[0];
}

bool dlock_zk_hosts_are_even(const char *hosts)
{
	survey all = look(hosts);

	return is_even(&all);
}

char *dlock_zk_hosts_odd(const char *hosts)
{
	survey all = look(hosts);
	const char *twice = is_even(&all) ? all.twice : "";
	size_t size = strlen(twice) + strlen(hosts) + 2;
	char *odd = malloc(size);

	if (odd) {
		snprintf(odd, size, "%s%s%s", twice, *twice ? "," : "", hosts);
	}
	return odd;
}

/* ---- in a thread ---- */

struct dlock_zk_look {
	_Atomic int users; /* its owner and its thread: the last one frees it */
	_Atomic bool ended;
	char *given, *hosts;
	char *odd;
};

void dlock_zk_look_leave(dlock_zk_look *look)
{
	if (look && atomic_fetch_sub(&look->users, 1) == 1) {
		free(look->given);
		free(look->hosts);
		free(look->odd);
		free(look);
	}
}

static void *look_main(void *context)
{
	dlock_zk_look *look = context;

	if (dlock_zk_hosts_are_even(look->given)) {
		look->odd = dlock_zk_hosts_odd(look->hosts);
	}
	atomic_store(&look->ended, true);
	dlock_zk_look_leave(look);
	return NULL;
}

dlock_zk_look *dlock_zk_look_begin(const char *given, const char *hosts)
{
	dlock_zk_look *look = calloc(1, sizeof *look);

	if (!look) {
		return NULL;
	}
	look->users = 2;
	look->given = strdup(given);
	look->hosts = strdup(hosts);
	if (look->given && look->hosts && dlock_thread_start(NULL, look_main, look) == 0) {
		return look;
	}
	look->users = 1;
	dlock_zk_look_leave(look);
	return NULL;
}

bool dlock_zk_look_ended(const dlock_zk_look *look, char **odd)
{
	if (!atomic_load(&look->ended)) {
		return false;
	}
	*odd = look->odd ? strdup(look->odd) : NULL;
	return true;
}

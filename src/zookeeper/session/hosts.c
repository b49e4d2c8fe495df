#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* EAI_ADDRFAMILY */
#endif

#include "hosts.h"

#include <errno.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../../base/thread.h"
#include "../../base/token.h"
#include "../../net/endpoint/dsn.h"
#include "options.h"

typedef struct {
	unsigned addresses; /* of all hosts */
	unsigned odd;       /* hosts with an odd number of addresses */
	char twice[NI_MAXHOST + NI_MAXSERV]; /* "host:port" that, named twice, makes the number odd */
} survey;

/* Adds the addresses of the "host:port" of `len` characters, as the library finds them. */
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
		/* Chooses one of these hosts at random, so that not all processes prefer the same server. */
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
	_Atomic int users; /* its owner and its thread; the last of them frees it */
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

/* A server that has too many connections from this client accepts another one, and closes it before it sends
 * anything. */
static const char closes[] =
	"closes connections as soon as they are made, perhaps because there are too many from this address: "
	"see maxClientCnxns, 60 by default, in the server's configuration";

static bool poll_channel(const dlock_source *source, struct pollfd *fd)
{
	const dlock_channel *channel = &((const dlock_zk_diagnosis *) source)->channel;

	*fd = (struct pollfd) { .fd = dlock_channel_fd(channel), .events = dlock_channel_events(channel) };
	return true;
}

static bool begin(dlock_zk_diagnosis *own, const char *hosts, dlock_nanos budget, dlock_loop *loop, dlock_nanos now)
{
	static const dlock_source_ops ops = { .poll = poll_channel };
	const char *host;
	size_t len;
	int port = DLOCK_ZK_PORT;
	dlock_error error;

	own->until = now + budget;
	own->server = dlock_endpoint_new(budget, budget);
	if (!own->server || !dlock_dsn_host(hosts, hosts + strcspn(hosts, ",/"), &host, &len, &port, &error)
		|| !dlock_endpoint_set(&own->server->host, host, len)) {
		snprintf(own->channel.problem, sizeof own->channel.problem, "%s", strerror(ENOMEM));
		return false;
	}
	own->server->port = port;
	own->source.ops = &ops;
	own->loop = loop;
	dlock_loop_add_source(loop, &own->source);
	return dlock_channel_open(&own->channel, own->server, DLOCK_FOREVER);
}

/* The server may close the connection before the client looks at the result. A connection that was never made has other
 * problems. */
static bool is_closed(const dlock_channel *channel)
{
	return !strcmp(channel->problem, strerror(ECONNRESET)) || !strcmp(channel->problem, strerror(EPIPE));
}

/* Returns NULL if the fault is not known yet. */
static const char *find_fault(dlock_zk_diagnosis *own, dlock_loop *loop, dlock_nanos now)
{
	dlock_channel *channel = &own->channel;
	bool more = false;
	char byte;

	if (channel->stage != DLOCK_CHANNEL_OPEN) {
		dlock_dial_result result = dlock_channel_connect(channel);
		if (result == DLOCK_DIAL_FAILED) {
			return is_closed(channel) ? closes : channel->problem;
		}
		dlock_loop_wake_by(loop, dlock_channel_timer(channel));
	}
	if (channel->stage == DLOCK_CHANNEL_OPEN && dlock_channel_read(channel, &byte, 1, &more) < 0) {
		return closes;
	}
	if (channel->stage == DLOCK_CHANNEL_OPEN && dlock_loop_is_time(loop, own->until, now)) {
		return "accepts connections but opens no session";
	}
	return NULL;
}

bool dlock_zk_diagnose(dlock_zk_diagnosis *own, const char *hosts, dlock_nanos budget, dlock_loop *loop,
	dlock_nanos now, char *reason, size_t size)
{
	bool begun = own->server || begin(own, hosts, budget, loop, now);
	const char *fault = begun ? find_fault(own, loop, now) : own->channel.problem;

	if (fault) {
		snprintf(reason, size, "%.*s: %s", (int) strcspn(hosts, ",/"), hosts, fault);
		dlock_zk_diagnosis_end(own);
	}
	return fault;
}

void dlock_zk_diagnosis_end(dlock_zk_diagnosis *own)
{
	if (own->loop) {
		dlock_loop_remove_source(own->loop, &own->source);
	}
	if (own->server) {
		dlock_channel_close(&own->channel);
		dlock_endpoint_release(own->server);
	}
	*own = (dlock_zk_diagnosis) { .server = NULL };
}

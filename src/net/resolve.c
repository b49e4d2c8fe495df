#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

#include "../base/process.h"
#include "../base/thread.h"
#include "../base/wakeup.h"

/* More than the servers of one RedLock; further lookups wait until a helper is free. */
enum { MOST_HELPERS = 64 };

/* After this, a name is looked up again while its last addresses are in use. */
#define REFRESH (5 * DLOCK_SECOND)

/* The shortest time between two lookups of a name whose addresses do not work. */
#define JUST_NOW DLOCK_SECOND

/* A name that a caller has asked for. It is kept until the process ends, as connections are. */
typedef struct name {
	struct name *next;
	dlock_addresses addresses; /* the last good ones */
	dlock_nanos asked_all;     /* like addresses.asked, of lookups of all addresses */
	dlock_lookup *lookup;         /* under way; NULL: none */
	char host[];
} name;

struct dlock_lookup {
	int references; /* one per caller that waits, and one while it is under way */
	name *name;
	bool all, ended;
	dlock_nanos begun;
	dlock_wakeup wakeup; /* rung once and never cleared, so that all callers that poll it hear it */
	char reason[128];
	dlock_lookup *next; /* in the queue */
};

/* Held for moments only. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct {
	dlock_process process; /* the owner of the helpers and lookups */
	name *names;
	dlock_lookup *first, *last; /* the queue of lookups that no helper has begun yet */
	int helpers;
} service;

/* ---- forks ---- */

static void before_fork(void)
{
	pthread_mutex_lock(&mutex);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&mutex);
}

static void register_handlers(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
}

void dlock_resolve_watch_forks(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_handlers);
}

/* With the mutex held. */
static void release(dlock_lookup *lookup)
{
	if (--lookup->references == 0) {
		dlock_wakeup_close(&lookup->wakeup);
		free(lookup);
	}
}

/* Locks the mutex. A child of fork() drops the parent's lookups, because their helpers are the parent's. */
static void enter(void)
{
	dlock_resolve_watch_forks();
	pthread_mutex_lock(&mutex);
	if (service.process == dlock_process_current()) {
		return;
	}
	for (name *name = service.names; name; name = name->next) {
		if (name->lookup) {
			release(name->lookup);
			name->lookup = NULL;
		}
	}
	service.first = service.last = NULL;
	service.helpers = 0;
	service.process = dlock_process_current();
}

static void leave(void)
{
	pthread_mutex_unlock(&mutex);
}

/* ---- what is known; with the mutex held ---- */

static name *find_name(const char *host)
{
	name *name = service.names;

	while (name && strcmp(name->host, host)) {
		name = name->next;
	}
	return name;
}

static name *have_name(const char *host)
{
	name *found = find_name(host);

	if (!found && (found = calloc(1, sizeof *found + strlen(host) + 1))) {
		strcpy(found->host, host);
		found->next = service.names;
		service.names = found;
	}
	return found;
}

static void move_to_front(dlock_addresses *addresses, const char *address)
{
	char front[DLOCK_ADDRESS_SIZE];

	for (int i = 1; i < addresses->count; i++) {
		if (!strcmp(addresses->text[i], address)) {
			memcpy(front, addresses->text[i], sizeof front);
			memmove(addresses->text[1], addresses->text[0], (size_t) i * sizeof front);
			memcpy(addresses->text[0], front, sizeof front);
			return;
		}
	}
}

static bool is_since(dlock_nanos time, dlock_nanos length)
{
	return time != 0 && dlock_now() < dlock_after(time, length);
}

/* Not by getaddrinfo(): a function in its place could look up the name in the thread that needs the address. */
bool dlock_is_address(const char *host)
{
	unsigned char address[sizeof(struct in6_addr)];
	char unscoped[DLOCK_ADDRESS_SIZE];
	size_t len = strcspn(host, "%");

	if (len >= sizeof unscoped) {
		return false;
	}
	memcpy(unscoped, host, len);
	unscoped[len] = '\0';
	return inet_pton(AF_INET6, unscoped, address) == 1 || (host[len] == '\0' && inet_pton(AF_INET, host, address) == 1);
}

bool dlock_resolve_known(const char *host, dlock_addresses *known)
{
	bool fresh = false;

	known->count = 0;
	known->asked = 0;
	enter();
	const name *name = find_name(host);
	if (name) {
		*known = name->addresses;
		fresh = is_since(known->asked, REFRESH);
	}
	leave();
	return fresh;
}

static void add_address(dlock_addresses *all, int *tried, const char *address)
{
	for (int i = 0; i < all->count; i++) {
		if (!strcmp(all->text[i], address)) {
			return;
		}
	}
	if (all->count == DLOCK_MOST_ADDRESSES && *tried > 0) {
		memmove(all->text[0], all->text[1], (DLOCK_MOST_ADDRESSES - 1) * sizeof all->text[0]);
		all->count--;
		(*tried)--;
	}
	if (all->count < DLOCK_MOST_ADDRESSES) {
		strcpy(all->text[all->count++], address);
	}
}

bool dlock_resolve_add_known(const char *host, dlock_addresses *all, int *tried)
{
	dlock_addresses known;
	bool fresh = dlock_resolve_known(host, &known);

	for (int i = 0; i < known.count; i++) {
		add_address(all, tried, known.text[i]);
	}
	all->asked = known.asked;
	return fresh;
}

void dlock_resolve_prefer(const char *host, const char *address)
{
	char front[DLOCK_ADDRESS_SIZE];

	snprintf(front, sizeof front, "%s", address);
	enter();
	name *name = find_name(host);
	if (name) {
		move_to_front(&name->addresses, front);
	}
	leave();
}

/* ---- the helpers ---- */

static bool has_address(const dlock_addresses *addresses, const char *address)
{
	for (int i = 0; i < addresses->count; i++) {
		if (!strcmp(addresses->text[i], address)) {
			return true;
		}
	}
	return false;
}

/* Adds the addresses that the name has in this family. Returns 0 or the error of getaddrinfo(). */
static int ask(const char *host, int family, dlock_addresses *found)
{
	struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM }, *list;
	int problem = getaddrinfo(host, NULL, &hints, &list);

	if (problem != 0) {
		return problem;
	}
	for (const struct addrinfo *info = list; info && found->count < DLOCK_MOST_ADDRESSES; info = info->ai_next) {
		char *text = found->text[found->count];
		if (getnameinfo(info->ai_addr, info->ai_addrlen, text, DLOCK_ADDRESS_SIZE, NULL, 0, NI_NUMERICHOST) == 0
				&& !has_address(found, text)) {
			found->count++;
		}
	}
	freeaddrinfo(list);
	return 0;
}

/* Asks for IPv6 only with `all` or if there is no IPv4: many names have no IPv6, and some resolvers are slow to say so.
 * Returns whether it asked for both. */
static bool look_up(const char *host, bool all, dlock_addresses *found, char *reason, size_t size)
{
	found->count = 0;
	int problem = ask(host, AF_INET, found);
	int cause = errno;
	bool both = all || found->count == 0;

	if (both) {
		int other = ask(host, AF_INET6, found);
		/* The error for IPv4 says more, except for a name that has IPv6 addresses only. */
		cause = problem == 0 ? errno : cause;
		problem = problem == 0 ? other : problem;
	}
	*reason = '\0';
	if (found->count == 0) {
		snprintf(reason, size, "the name was not resolved: %s", problem == EAI_SYSTEM ? strerror(cause)
			: problem != 0 ? gai_strerror(problem) : "it has no addresses");
	}
	return both;
}

/* With the mutex held. */
static void end_lookup(dlock_lookup *lookup, const dlock_addresses *found, bool both, const char *reason)
{
	name *name = lookup->name;
	char front[DLOCK_ADDRESS_SIZE];

	if (found->count > 0) {
		memcpy(front, name->addresses.text[0], sizeof front);
		name->addresses = *found;
		move_to_front(&name->addresses, front);
	}
	name->addresses.asked = dlock_now();
	name->asked_all = both ? name->addresses.asked : name->asked_all;
	name->lookup = NULL;
	snprintf(lookup->reason, sizeof lookup->reason, "%s", reason);
	lookup->ended = true;
	dlock_wakeup_send(&lookup->wakeup);
	release(lookup);
}

static dlock_lookup *take_queued(void)
{
	dlock_lookup *lookup = service.first;

	if (lookup) {
		service.first = lookup->next;
		service.last = service.first ? service.last : NULL;
	}
	return lookup;
}

static void *help(void *unused)
{
	dlock_addresses found;
	dlock_lookup *lookup;
	char reason[128];

	pthread_mutex_lock(&mutex);
	while ((lookup = take_queued())) {
		pthread_mutex_unlock(&mutex);
		bool both = look_up(
			lookup->name->host, lookup->all, &found, reason, sizeof reason); /* `host` and `all` never change */
		pthread_mutex_lock(&mutex);
		end_lookup(lookup, &found, both, reason);
	}
	service.helpers--;
	pthread_mutex_unlock(&mutex);
	return unused;
}

/* With the mutex held. Returns 0 or an errno. */
static int start_helper(void)
{
	int problem = dlock_thread_start(NULL, help, NULL);

	service.helpers += problem == 0;
	return problem;
}

/* ---- lookups ---- */

static void drop_last(dlock_lookup *lookup)
{
	dlock_lookup *before = NULL;

	for (dlock_lookup *at = service.first; at != lookup; at = at->next) {
		before = at;
	}
	service.last = before;
	if (before) {
		before->next = NULL;
	} else {
		service.first = NULL;
	}
}

/* With the mutex held. Returns 0 or an errno. */
static int begin(name *name, bool all)
{
	dlock_lookup *lookup = calloc(1, sizeof *lookup);

	if (!lookup || !dlock_wakeup_open(&lookup->wakeup)) {
		int problem = errno;
		free(lookup);
		return problem;
	}
	lookup->references = 1;
	lookup->name = name;
	lookup->all = all;
	lookup->begun = dlock_now();
	if (service.last) {
		service.last->next = lookup;
	} else {
		service.first = lookup;
	}
	service.last = lookup;
	int problem = service.helpers < MOST_HELPERS ? start_helper() : 0;
	if (problem != 0 && service.helpers == 0) { /* otherwise a running helper will begin it */
		drop_last(lookup);
		release(lookup);
		return problem;
	}
	name->lookup = lookup;
	return 0;
}

/* Is a new lookup useless? If a name has no addresses, a lookup without `all` never is: there is nothing else to
 * try. */
static bool has_just_ended(const name *name, bool all)
{
	return all ? is_since(name->asked_all, JUST_NOW)
			   : name->addresses.count > 0 && is_since(name->addresses.asked, REFRESH);
}

dlock_lookup *dlock_resolve(const char *host, bool all, char *reason, size_t size)
{
	dlock_lookup *lookup = NULL;

	*reason = '\0';
	enter();
	name *name = have_name(host);
	int problem = name ? 0 : ENOMEM;
	if (name && !name->lookup && !has_just_ended(name, all)) {
		problem = begin(name, all);
	}
	if (problem != 0) {
		snprintf(reason, size, "the name cannot be looked up: %s", strerror(problem));
	} else if (name->lookup) {
		lookup = name->lookup;
		lookup->references++;
	}
	leave();
	return lookup;
}

int dlock_lookup_fd(const dlock_lookup *lookup)
{
	return lookup->wakeup.read_fd;
}

bool dlock_lookup_has_ended(dlock_lookup *lookup, char *reason, size_t size)
{
	enter();
	bool ended = lookup->ended;
	snprintf(reason, size, "%s", lookup->reason);
	leave();
	return ended;
}

dlock_nanos dlock_lookup_begun(const dlock_lookup *lookup)
{
	return lookup->begun;
}

void dlock_lookup_release(dlock_lookup *lookup)
{
	if (lookup) {
		enter();
		release(lookup);
		leave();
	}
}


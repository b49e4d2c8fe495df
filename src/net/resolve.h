#ifndef DLOCK_RESOLVE_H
#define DLOCK_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/clock.h"

/* The addresses of host names, without waiting for the system's resolver, which knows no deadline of the caller.
 * Lookups run in helper threads, at most one for a name at a time, and the whole process shares their results. If the
 * resolver fails or hangs later, the last good addresses stay.
 *
 * A helper handles no signals and touches only memory of this module. Neither a caller nor fork() nor the end of the
 * process waits for it. A child of fork() keeps the addresses, and begins its own lookups.
 *
 * glibc holds locks of its own for moments of a lookup. A fork() in such a moment leaves them locked in the child, as
 * in any program with threads. The child's new lookups then fail at their callers' deadlines, but known addresses still
 * work. */

enum { DLOCK_ADDRESS_SIZE = 64, DLOCK_MOST_ADDRESSES = 8 };

typedef struct {
	int count;
	char text[DLOCK_MOST_ADDRESSES][DLOCK_ADDRESS_SIZE]; /* numeric, in the order in which to try them */
	dlock_nanos asked; /* when the last lookup ended, with any result; 0: never */
} dlock_addresses;

/* Is it an address, which needs no lookup? */
bool dlock_is_address(const char *host);

/* Writes the addresses that the name had last; none: no lookup has found any yet. True: the last lookup is so recent
 * that no new one is needed. */
bool dlock_resolve_known(const char *host, dlock_addresses *known);

/* Adds these addresses to `all`, of which the first `tried` were tried. If there is no room, such an address makes it.
 * Sets all->asked. */
bool dlock_resolve_add_known(const char *host, dlock_addresses *all, int *tried);

/* Moves this address to the front for the next connection, because other addresses did not work. */
void dlock_resolve_prefer(const char *host, const char *address);

/* A lookup that is under way. All callers that wait for it share it. */
typedef struct dlock_lookup dlock_lookup;

/* Joins the lookup of this name, or begins one. It asks for IPv4 addresses, and for IPv6 if there are none; with `all`,
 * for both. NULL with a reason: it cannot begin. NULL without a reason: such a lookup has just ended. */
dlock_lookup *dlock_resolve(const char *host, bool all, char *reason, size_t size);

/* Is readable once the lookup has ended, and from then on. */
int dlock_lookup_fd(const dlock_lookup *lookup);

/* Has it ended? Then dlock_resolve_known() returns its addresses. If it found none, `reason` says why; otherwise
 * `reason` is empty. */
bool dlock_lookup_has_ended(dlock_lookup *lookup, char *reason, size_t size);

dlock_nanos dlock_lookup_begun(const dlock_lookup *lookup);

/* Every caller that joined releases the lookup. NULL is allowed. */
void dlock_lookup_release(dlock_lookup *lookup);

/* Registers handlers with which fork() leaves this module in order. The caller registers its own handlers after that,
 * if they lock mutexes under which it uses this module. */
void dlock_resolve_watch_forks(void);

#endif

#ifndef DLOCK_RESOLVE_H
#define DLOCK_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/clock.h"

/* The addresses of host names, without waiting for the system's resolver, which has no time limit of the caller's:
 * look-ups run in helper threads, at most one for a name at a time, and what they find is kept for the whole process. A
 * resolver that fails or hangs later leaves the last good addresses.
 *
 * A helper takes no signals and touches nothing but memory of this module. No caller waits for it, nor does fork();
 * the end of the process leaves it where it is. A forked child keeps the addresses, and has look-ups of its own. (glibc
 * holds locks of its own for moments of a look-up. A fork() in such a moment leaves them locked in the child, as in any
 * program with threads; here that costs the child new look-ups, which end at their callers' deadlines, and nothing
 * where the addresses are known.) */

enum { DLOCK_ADDRESS_SIZE = 64, DLOCK_MOST_ADDRESSES = 8 };

typedef struct {
	int count;
	char text[DLOCK_MOST_ADDRESSES][DLOCK_ADDRESS_SIZE]; /* numeric, IPv4 first */
	dlock_nanos asked; /* when the last look-up ended, whatever it found; 0: never */
} dlock_addresses;

/* Does it need no look-up? */
bool dlock_is_address(const char *host);

/* What the name was found to have last. No addresses: it was not found yet. True: so lately that it need not be asked
 * again. */
bool dlock_resolve_known(const char *host, dlock_addresses *known);

/* Other addresses turned out not to work: the next to connect begins with this one. */
void dlock_resolve_prefer(const char *host, const char *address);

/* One that is under way, shared by all who wait for it. */
typedef struct dlock_lookup dlock_lookup;

/* Joins the look-up of this name, or begins one. It asks for IPv4 addresses, and for IPv6 where there are none; with
 * `all` for both. NULL with a reason where that cannot be done, or, without one, where such a look-up has just
 * ended. */
dlock_lookup *dlock_resolve(const char *host, bool all, char *reason, size_t size);

/* Readable once it has ended, and from then on. */
int dlock_lookup_fd(const dlock_lookup *lookup);

/* What it found is known then. Otherwise, there is a reason. */
bool dlock_lookup_has_ended(dlock_lookup *lookup, char *reason, size_t size);

/* When it was begun. */
dlock_nanos dlock_lookup_begun(const dlock_lookup *lookup);

void dlock_lookup_release(dlock_lookup *lookup);

/* Has fork() find this module in order; before other handlers of fork() that take locks under which it is used. */
void dlock_resolve_watch_forks(void);

#endif

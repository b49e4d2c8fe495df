#ifndef DLOCK_PHP_PROBES_H
#define DLOCK_PHP_PROBES_H

/* Probes (USDT) by which bpftrace and SystemTap can look into a running process, if sys/sdt.h was there at build time.
 * Until a tracer uses it, a probe is an instruction that does nothing. Each passes the resource, its length, and:
 *
 *     acquire__start   the back end's name
 *     acquire__done    a dlock_status, and for how many ns the claim waited
 *     release          for how many ns the lock was held
 *     loss */

#ifdef DLOCK_USDT
#include <sys/sdt.h>
#define DLOCK_PROBE(name, claim, a, b) DTRACE_PROBE4(dlock, name, (claim)->resource, (claim)->resource_len, a, b)
#else
#define DLOCK_PROBE(name, claim, a, b) ((void) (claim), (void) (a), (void) (b))
#endif

#endif

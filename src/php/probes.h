#ifndef DLOCK_PHP_PROBES_H
#define DLOCK_PHP_PROBES_H

/* Places at which bpftrace and SystemTap can look into a running process (USDT), where sys/sdt.h was there at build
 * time. An instruction that does nothing each, until a tracer looks. Of all: the resource and its length.
 *
 *     acquire__start   the back end's name
 *     acquire__done    a dlock_status, and for how many ns it has waited
 *     release          for how many ns it was held
 *     loss */

#ifdef DLOCK_USDT
#include <sys/sdt.h>
#define DLOCK_PROBE(name, claim, a, b) DTRACE_PROBE4(dlock, name, (claim)->resource, (claim)->resource_len, a, b)
#else
#define DLOCK_PROBE(name, claim, a, b) ((void) (claim), (void) (a), (void) (b))
#endif

#endif

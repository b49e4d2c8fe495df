#ifndef DLOCK_ZK_DIAGNOSE_H
#define DLOCK_ZK_DIAGNOSE_H

#include <stddef.h>

#include "../../base/clock.h"

/* Says where hosts can be reached and why not, as text; takes `budget` at most. */
void dlock_zk_diagnose(const char *expanded, dlock_nanos budget, char *reason, size_t size);

#endif

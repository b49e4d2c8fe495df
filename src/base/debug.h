#ifndef DLOCK_DEBUG_H
#define DLOCK_DEBUG_H

/* What must hold whatever comes from outside. It is checked in builds with DLOCK_DEBUG, as those of the C tests are. */
#ifdef DLOCK_DEBUG
#include <assert.h>
#define dlock_assert(condition) assert(condition)
#else
#define dlock_assert(condition) ((void) 0)
#endif

#endif

#ifndef DLOCK_DEBUG_H
#define DLOCK_DEBUG_H

/* Asserts what holds for any input from users and servers. Only builds with DLOCK_DEBUG check it, such as the C
 * tests. */
#ifdef DLOCK_DEBUG
#include <assert.h>
#define dlock_assert(condition) assert(condition)
#else
#define dlock_assert(condition) ((void) 0)
#endif

#endif

#ifndef DLOCK_ATOMIC_H
#define DLOCK_ATOMIC_H

/* What the renewal thread shares with others without a mutex. */

#ifndef _WIN32
#include <stdatomic.h>
#else
/* No thread of ours runs there, and not every compiler has <stdatomic.h>. */
#include <stdbool.h>
#define _Atomic
#define atomic_load(object) (*(object))
#define atomic_store(object, value) ((void) (*(object) = (value)))
#define atomic_fetch_add(object, value) ((*(object) += (value)) - (value))
#define atomic_fetch_sub(object, value) ((*(object) -= (value)) + (value))
#define atomic_compare_exchange_strong(object, expected, value) \
	(*(object) == *(expected) ? (*(object) = (value), true) : (*(expected) = *(object), false))
#endif

#endif

#ifndef DLOCK_TEXT_H
#define DLOCK_TEXT_H

#include <stddef.h>
#include <string.h>

/* Any bytes, in memory of another owner. No zero byte ends them. */
typedef struct {
	const char *text;
	size_t len;
} dlock_arg;

#define DLOCK_ARG(text) ((dlock_arg) { (text), strlen(text) })

#endif

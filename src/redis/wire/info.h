#ifndef DLOCK_REDIS_INFO_H
#define DLOCK_REDIS_INFO_H

#include <stddef.h>
#include <stdint.h>

/* Fields of what INFO replies: lines of "name:value". */

/* The value, up to the line's end; NULL: there is no such field. */
const char *dlock_info_find(const char *info, const char *field);

/* The value as a whole number that is not negative; -1: there is none. */
int64_t dlock_info_number(const char *info, const char *field);

/* Copies the value, where it has room: otherwise, and where there is none, "". */
void dlock_info_text(const char *info, const char *field, char *out, size_t size);

#endif

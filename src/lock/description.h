#ifndef DLOCK_LOCK_DESCRIPTION_H
#define DLOCK_LOCK_DESCRIPTION_H

#include <stdatomic.h>
#include <stddef.h>

/* What a process tells of itself to those who look at a lock: its host's name and a label, which is an order's number
 * or the path of a request. Shared by the process, its claims and their renewals; never changed. */

#define DLOCK_HOST_MAX 64
#define DLOCK_LABEL_MAX 120
#define DLOCK_DESCRIPTION_MAX (DLOCK_HOST_MAX + 1 + DLOCK_LABEL_MAX)

typedef struct {
	_Atomic unsigned references;
	char text[DLOCK_DESCRIPTION_MAX + 1]; /* "host label", or "host" where there is no label */
} dlock_description;

/* Cut where one is too long, the label at a character of UTF-8; with a ? for what a host's name cannot have. `label`
 * NULL: there is none. NULL when out of memory. */
dlock_description *dlock_description_new(const char *host, const char *label, size_t label_len);

/* Both take NULL, too. */
dlock_description *dlock_description_retain(dlock_description *description);
void dlock_description_release(dlock_description *description);

static inline const char *dlock_description_text(const dlock_description *description)
{
	return description ? description->text : NULL;
}

#endif

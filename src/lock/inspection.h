#ifndef DLOCK_LOCK_INSPECTION_H
#define DLOCK_LOCK_INSPECTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "../base/clock.h"
#include "../base/token.h"

/* What others see of locks: what a process tells of itself, and who holds and waits, all of one moment. Nothing in it
 * can release a lock. */

/* ---- what is told ---- */

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

/* ---- what is seen ---- */

typedef struct {
	char id[DLOCK_TOKEN_ID_LEN + 1]; /* names the claim; "": it has no name */
	char host[DLOCK_HOST_MAX + 1];   /* its name, or its address as long as it has not said that; "": not known */
	char label[DLOCK_LABEL_MAX + 1];
	bool has_label;
	uint32_t pid; /* 0: not known */
	int64_t permits;
	int64_t asked_at, held_since; /* µs since 1970, by its host's clock; 0: not known */
	dlock_nanos remaining;        /* of its lease; negative: it waits, or has none */
	int64_t fencing_token;        /* 0: not known */
} dlock_party;

/* RedLock: one of its servers. */
typedef struct {
	char *name, *state;
} dlock_seen_server;

/* Zeroed it is empty. */
typedef struct {
	int64_t at; /* µs since 1970, by the server's clock */
	dlock_party *parties; /* the holders, then the waiters in the order in which they will be served */
	int holders, waiters;
	int64_t holding, waiting; /* in all */
	dlock_seen_server *servers;
	int server_count;
	int room;
} dlock_inspection;

void dlock_inspection_end(dlock_inspection *inspection);

/* Another party, of which its id is read. Holders come before waiters. NULL when out of memory. */
dlock_party *dlock_inspection_add(dlock_inspection *inspection, bool holds, const char *id, size_t id_len);

/* RedLock: what one of the servers has. False: out of memory. */
bool dlock_inspection_add_server(dlock_inspection *inspection, const char *name, const char *state);

/* Reads a description (description.h). */
void dlock_party_describe(dlock_party *party, const char *text, size_t len);

/* The same of a holder: "since fencing-token description". */
void dlock_party_describe_holder(dlock_party *party, const char *text, size_t len);

/* The same of what a break has left of a holder. */
void dlock_party_break(dlock_party *party, const char *by, size_t len);

/* ---- lists ---- */

typedef struct {
	char *resource;
	size_t resource_len;
	dlock_inspection inspection;
} dlock_listed;

/* Zeroed it is empty. */
typedef struct {
	dlock_listed *first;
	int count, room;
} dlock_listing;

void dlock_listing_end(dlock_listing *listing);

bool dlock_listing_has(const dlock_listing *listing, const char *resource, size_t len);

/* NULL when out of memory. */
dlock_listed *dlock_listing_add(dlock_listing *listing, const char *resource, size_t len);

/* Leaves out what has no holder and no waiter; the longest held come first, and no more than `most` are left. */
void dlock_listing_sort(dlock_listing *listing, int most);

#endif

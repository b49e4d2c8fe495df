#ifndef DLOCK_LOCK_INSPECTION_H
#define DLOCK_LOCK_INSPECTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "../base/clock.h"
#include "../base/token.h"

/* What an inspection shows of a lock: its holders and waiters at one moment, and how their processes describe
 * themselves. Nothing in it can release a lock. */

/* ---- descriptions ---- */

/* How a process describes itself in inspections: its host's name and a label, which is an order's number or a request's
 * path. The process, its claims and their renewals share it; it never changes. */

#define DLOCK_HOST_MAX 64
#define DLOCK_LABEL_MAX 120
#define DLOCK_DESCRIPTION_MAX (DLOCK_HOST_MAX + 1 + DLOCK_LABEL_MAX)

typedef struct {
	_Atomic unsigned references;
	char text[DLOCK_DESCRIPTION_MAX + 1]; /* "host label", or "host" without a label */
} dlock_description;

/* Copies host and label, and replaces bytes that a host's name cannot contain with "?". Too long ones are cut, the
 * label at a whole UTF-8 character. `label` NULL: no label. NULL if out of memory. */
dlock_description *dlock_description_new(const char *host, const char *label, size_t label_len);

/* Both accept NULL. */
dlock_description *dlock_description_retain(dlock_description *description);
void dlock_description_release(dlock_description *description);

static inline const char *dlock_description_text(const dlock_description *description)
{
	return description ? description->text : NULL;
}

/* ---- inspections ---- */

typedef struct {
	char id[DLOCK_TOKEN_ID_LEN + 1]; /* names the claim; "": it has no name */
	char host[DLOCK_HOST_MAX + 1];   /* its name, or its address until it has told its name; "": not known */
	char label[DLOCK_LABEL_MAX + 1];
	bool has_label;
	uint32_t pid; /* 0: not known */
	int64_t permits;
	int64_t asked_at, held_since; /* µs since 1970, by its host's clock; 0: not known */
	dlock_nanos remaining;        /* of its lease; negative: it waits, or has no lease time */
	int64_t fencing_token;        /* 0: not known */
} dlock_party;

/* RedLock: what one of its servers reported. */
typedef struct {
	char *name, *state;
} dlock_seen_server;

/* Zeroed, it is empty. */
typedef struct {
	int64_t at; /* µs since 1970, by the server's clock */
	dlock_party *parties; /* the holders, then the waiters in the order of service */
	int holders, waiters;
	int64_t holding, waiting; /* their numbers in all, including parties that are left out */
	dlock_seen_server *servers;
	int server_count;
	int room;
} dlock_inspection;

void dlock_inspection_end(dlock_inspection *inspection);

/* Adds a party and reads its origin from its id. The caller adds holders before waiters. NULL if out of memory. */
dlock_party *dlock_inspection_add(dlock_inspection *inspection, bool holds, const char *id, size_t id_len);

/* RedLock: adds what one of the servers reported. False: out of memory. */
bool dlock_inspection_add_server(dlock_inspection *inspection, const char *name, const char *state);

/* Reads a description, as dlock_description has it. */
void dlock_party_describe(dlock_party *party, const char *text, size_t len);

/* Reads "since fencing-token description", which a holder leaves. */
void dlock_party_describe_holder(dlock_party *party, const char *text, size_t len);

/* Reads what a break left of a holder: the operator who broke it. */
void dlock_party_break(dlock_party *party, const char *by, size_t len);

/* ---- lists ---- */

typedef struct {
	char *resource;
	size_t resource_len;
	dlock_inspection inspection;
} dlock_listed;

/* Zeroed, it is empty. */
typedef struct {
	dlock_listed *first;
	int count, room;
} dlock_listing;

void dlock_listing_end(dlock_listing *listing);

bool dlock_listing_has(const dlock_listing *listing, const char *resource, size_t len);

/* Adds a resource with an empty inspection. NULL if out of memory. */
dlock_listed *dlock_listing_add(dlock_listing *listing, const char *resource, size_t len);

/* Removes resources without a holder and without a waiter, sorts the longest held first, and cuts the list at
 * `most`. */
void dlock_listing_sort(dlock_listing *listing, int most);

#endif

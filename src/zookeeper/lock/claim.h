#ifndef DLOCK_ZK_CLAIM_H
#define DLOCK_ZK_CLAIM_H

#include "../../lock/claim.h"
#include "../session/node.h"
#include "../session/options.h"
#include "../session/pool.h"
#include "../session/response.h"
#include "rank.h"

/* A claim's nodes and the session that owns them, from their creation to their end: one, or of several locks one each,
 * made by one transaction. */

typedef struct {
	dlock_backend base;
	dlock_zk_pool *pool;
	dlock_zk_options options;
	dlock_zk_kind kind;
} dlock_zk_backend;

typedef enum {
	DLOCK_ZK_ABSENT,   /* no node of this claim; there may be unowned ones */
	DLOCK_ZK_CREATING, /* the response to `creating` is due */
	DLOCK_ZK_UNKNOWN,  /* it was lost: there may be nodes with our guid */
	/* From here on there are nodes. */
	DLOCK_ZK_NAMED,    /* not known whether they are ours, nor the transaction that made them */
	DLOCK_ZK_PRESENT,  /* they are; their position in the queues is to be found out */
	DLOCK_ZK_GRANTED
} dlock_zk_phase;

/* A claim's part on one resource. */
typedef struct {
	char *parent; /* the resource's node */
	char *node;   /* the claim's below it; NULL: none, or it was found gone */
	dlock_zk_op *listing;
	bool granted; /* it was, when last looked at; so it is while the node is there */
	dlock_zk_node *held; /* from the acquisition on, while its holder relies on it or the renewal thread looks */
} dlock_zk_part;

typedef struct {
	dlock_claim base;
	dlock_zk_session *session; /* the one that owns the nodes */
	dlock_zk_part *parts;      /* one for each name; NULL: not placed yet */
	dlock_zk_phase phase;
	bool token_used; /* nodes may have been made with it, so others must not be */
	dlock_zk_op *creating;
	dlock_zk_news news; /* of what it waits for in the queues */
} dlock_zk_claim;

static inline dlock_zk_backend *dlock_zk_backend_of(const dlock_claim *claim)
{
	return (dlock_zk_backend *) claim->backend;
}

/* The path of a resource's node, to be freed. NULL: out of memory. */
char *dlock_zk_resource_path(const dlock_zk_backend *backend, const char *resource, size_t resource_len);

/* Makes the parts, where there are none yet. False: out of memory. */
bool dlock_zk_claim_place(dlock_zk_claim *claim);

/* Does the session still live as far as is known? If not, its nodes are gone, too. */
bool dlock_zk_claim_is_alive(const dlock_zk_claim *claim);

/* DLOCK_OK: claim->session lives and is connected. Where it had to be another one, the claim starts anew. A call that
 * is to be over by `until` may have a longer time of its own. */
dlock_status dlock_zk_claim_connect(
	dlock_zk_claim *claim, dlock_nanos until, const dlock_wait *wait, dlock_error *error);

/* The steps to the nodes: ABSENT -> CREATING -> PRESENT, of several with NAMED in between; or UNKNOWN and from there to
 * NAMED or ABSENT. DLOCK_OK: look at the phase. */
dlock_status dlock_zk_claim_create(dlock_zk_claim *claim, dlock_error *error);
dlock_status dlock_zk_claim_finish_create(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error);
dlock_status dlock_zk_claim_recover(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error);
dlock_status dlock_zk_claim_identify(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error);

/* Deletes the nodes. DLOCK_OK: they were there until now. DLOCK_LOST, without a message: one was not, and is forgotten;
 * the others are there still. */
dlock_status dlock_zk_claim_delete(dlock_zk_claim *claim, dlock_error *error);

/* Leaves the queues, or the locks: what there is or may be of nodes is deleted in the background. */
void dlock_zk_claim_leave(dlock_zk_claim *claim);

/* In memory only: nothing is sent. The first forgets the nodes, the second the session as well, the third frees. */
void dlock_zk_claim_clear_nodes(dlock_zk_claim *claim);
void dlock_zk_claim_clear(dlock_zk_claim *claim);
void dlock_zk_claim_unplace(dlock_zk_claim *claim);

/* ---- queue.c ---- */

/* Finds out where a PRESENT claim stands, and waits where it is not granted yet. DLOCK_OK: look at the phase, and ask
 * again while it is PRESENT. DLOCK_TIMEOUT where it had to wait and the deadline has passed. */
dlock_status dlock_zk_queue_wait(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error);

/* ---- inspect.c ---- */

/* The nodes of a resource. With DLOCK_OK *listing is one whose response is there, to be released. */
dlock_status dlock_zk_list(
	dlock_zk_backend *backend, const char *resource, size_t resource_len, dlock_zk_op **listing, dlock_error *error);

/* For the back-end interface. */
dlock_status dlock_zk_inspect(dlock_backend *backend, const char *resource, size_t resource_len, int most,
	dlock_inspection *out, dlock_error *error);
dlock_status dlock_zk_list_all(dlock_backend *backend, int most, dlock_listing *out, dlock_error *error);
dlock_status dlock_zk_break(dlock_backend *backend, const char *resource, size_t resource_len, const dlock_break *how,
	dlock_nanos *left, dlock_error *error);

/* ---- parents.c ---- */

/* Makes what is missing of the chroot, of `root` and of the resource's node `parent`. DLOCK_OK: try again what failed,
 * once the session is connected. The chroot and the root are persistent and open to all. `parent` is a container where
 * the server knows them, and with credentials theirs alone: another user that may delete in it could take away a
 * lock. */
dlock_status dlock_zk_make_parents(dlock_zk_pool *pool, dlock_zk_session *session, const char *root, const char *parent,
	const dlock_wait *wait, dlock_error *error);

#endif

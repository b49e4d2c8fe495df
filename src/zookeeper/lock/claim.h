#ifndef DLOCK_ZK_CLAIM_H
#define DLOCK_ZK_CLAIM_H

#include "../../lock/claim.h"
#include "../session/node.h"
#include "../session/options.h"
#include "../session/pool.h"
#include "../session/response.h"
#include "rank.h"

/* A claim's node and the session that owns it, from the creation of the node to its end. */

typedef struct {
	dlock_backend base;
	dlock_zk_pool *pool;
	dlock_zk_options options;
	dlock_zk_kind kind;
} dlock_zk_backend;

typedef enum {
	DLOCK_ZK_ABSENT,   /* no node of this claim; there may be an unowned one */
	DLOCK_ZK_CREATING, /* the response to `creating` is due */
	DLOCK_ZK_UNKNOWN,  /* it was lost: there may be a node with our guid */
	DLOCK_ZK_PRESENT,  /* `node` is ours; its position in the queue is to be found out */
	DLOCK_ZK_GRANTED
} dlock_zk_phase;

typedef struct {
	dlock_claim base;
	dlock_zk_session *session; /* the one that owns the node */
	char *parent;
	char *node;
	dlock_zk_phase phase;
	bool token_used; /* a node may have been made with it, so another one must not be */
	dlock_zk_op *creating, *listing;
	dlock_zk_news news; /* of what it waits for in the queue */
	dlock_zk_node *held; /* from the acquisition until nobody relies on it, and the renewal thread looks no more */
} dlock_zk_claim;

static inline dlock_zk_backend *dlock_zk_backend_of(const dlock_claim *claim)
{
	return (dlock_zk_backend *) claim->backend;
}

/* Sets the path of the resource's node, where it is not yet. False: out of memory. */
bool dlock_zk_claim_place(dlock_zk_claim *claim);

/* Does the session still live as far as is known? If not, its nodes are gone, too. */
bool dlock_zk_claim_is_alive(const dlock_zk_claim *claim);

/* DLOCK_OK: claim->session lives and is connected. Where it had to be another one, the claim starts anew. A call that
 * is to be over by `until` may have a longer time of its own. */
dlock_status dlock_zk_claim_connect(
	dlock_zk_claim *claim, dlock_nanos until, const dlock_wait *wait, dlock_error *error);

/* The steps to a node: ABSENT -> CREATING -> PRESENT, or UNKNOWN and from there to PRESENT or ABSENT. DLOCK_OK: look at
 * the phase. */
dlock_status dlock_zk_claim_create(dlock_zk_claim *claim, dlock_error *error);
dlock_status dlock_zk_claim_finish_create(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error);
dlock_status dlock_zk_claim_recover(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error);

/* Deletes the node. DLOCK_OK: it was there until now. DLOCK_LOST, without a message: it was not. */
dlock_status dlock_zk_claim_delete(dlock_zk_claim *claim, dlock_error *error);

/* Leaves the queue, or the lock: what there is or may be of a node is deleted in the background. */
void dlock_zk_claim_leave(dlock_zk_claim *claim);

/* In memory only: nothing is sent. The second forgets the session as well. */
void dlock_zk_claim_clear_node(dlock_zk_claim *claim);
void dlock_zk_claim_clear(dlock_zk_claim *claim);

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

#ifndef DLOCK_ZK_CLAIM_H
#define DLOCK_ZK_CLAIM_H

#include "../../lock/claim.h"
#include "../session/node.h"
#include "../session/options.h"
#include "../session/pool.h"
#include "../session/response.h"
#include "rank.h"

/* A claim's nodes and the session that owns them, from their creation to their end. A claim for several locks has a
 * node for each of them; one transaction creates them all. */

typedef struct {
	dlock_backend base;
	dlock_zk_pool *pool;
	dlock_zk_options options;
	dlock_zk_kind kind;
} dlock_zk_backend;

typedef enum {
	DLOCK_ZK_ABSENT,   /* no node belongs to this claim; unowned nodes may exist */
	DLOCK_ZK_CREATING, /* the response to `creating` is due */
	DLOCK_ZK_UNKNOWN,  /* that response was lost: nodes with the claim's guid may exist */
	/* From here on nodes exist. */
	DLOCK_ZK_NAMED,    /* the client does not know whether the session owns them, or which transaction made them */
	DLOCK_ZK_PRESENT,  /* the session owns them; their position in the queues is not known yet */
	DLOCK_ZK_GRANTED
} dlock_zk_phase;

/* A claim's part on one resource. */
typedef struct {
	char *parent; /* the path of the resource's node */
	char *node;   /* the path of the claim's node below it; NULL: none, or it was found gone */
	dlock_zk_op *listing;
	bool granted; /* at the last look the node was granted its permits; it keeps them while it exists */
	dlock_zk_node *held; /* the session's thread checks it from the acquisition to the claim's end; NULL: not checked */
} dlock_zk_part;

typedef struct {
	dlock_claim base;
	dlock_zk_session *session; /* the session that owns the nodes */
	dlock_zk_part *parts;      /* one for each name; NULL: not placed yet */
	dlock_zk_phase phase;
	bool token_used; /* nodes may carry the token already, so new nodes need another one */
	dlock_zk_op *creating;
	dlock_nanos left; /* of the limit of an interrupted acquisition, when it was interrupted; 0: all of it */
	dlock_nanos connect_left; /* the same of an interrupted wait for the connection */
	dlock_zk_news news; /* of the nodes that the claim waits for */
} dlock_zk_claim;

static inline dlock_zk_backend *dlock_zk_backend_of(const dlock_claim *claim)
{
	return (dlock_zk_backend *) claim->backend;
}

/* Makes the path of a resource's node. The caller frees it. Returns NULL if out of memory. */
char *dlock_zk_resource_path(const dlock_zk_backend *backend, const char *resource, size_t resource_len);

/* Makes the parts if there are none yet. Returns false if out of memory. */
bool dlock_zk_claim_place(dlock_zk_claim *claim);

/* True if the session still lives, as far as the client knows. If it does not, its nodes are gone, too. */
bool dlock_zk_claim_is_alive(const dlock_zk_claim *claim);

/* Connects the claim's session. DLOCK_OK: it lives and is connected. If it is a new session, the claim begins anew. Any
 * other status is that of dlock_zk_session_connect(), except DLOCK_LOST.
 *
 * The wait ends at `until`, or at wait->deadline if that is later. If the claim has nodes, it ends at
 * wait->deadline. */
dlock_status dlock_zk_claim_connect(
	dlock_zk_claim *claim, dlock_nanos until, const dlock_wait *wait, dlock_error *error);

/* The steps to the nodes. The phases are ABSENT, CREATING, PRESENT; several nodes pass through NAMED before PRESENT.
 * After a lost response the phase is UNKNOWN, then NAMED or ABSENT. DLOCK_OK: the caller looks at the phase.
 * DLOCK_INTERRUPTED: the caller may continue later. DLOCK_CONNECTION or DLOCK_FAILED: with a message. */
dlock_status dlock_zk_claim_create(dlock_zk_claim *claim, dlock_error *error);
dlock_status dlock_zk_claim_finish_create(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error);
dlock_status dlock_zk_claim_recover(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error);
dlock_status dlock_zk_claim_identify(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error);

/* Deletes the nodes. Waits for a connection until the session's bound at most. DLOCK_OK: they existed until now.
 * DLOCK_LOST, without a message: the session has ended, or one node was gone. The claim then forgets that node, and its
 * other nodes still exist. DLOCK_CONNECTION or DLOCK_FAILED: with a message. */
dlock_status dlock_zk_claim_delete(dlock_zk_claim *claim, dlock_error *error);

/* Leaves the queues or the locks: the nodes that exist, or may exist, are deleted in the background. */
void dlock_zk_claim_leave(dlock_zk_claim *claim);

/* These change memory only and send nothing. The first forgets the nodes, the second also the session, the third also
 * frees the parts. */
void dlock_zk_claim_clear_nodes(dlock_zk_claim *claim);
void dlock_zk_claim_clear(dlock_zk_claim *claim);
void dlock_zk_claim_unplace(dlock_zk_claim *claim);

/* ---- queue.c ---- */

/* Finds the position of a PRESENT claim in its queues, and waits if the claim is not granted yet. DLOCK_OK: the caller
 * looks at the phase, and calls again while it is PRESENT. DLOCK_TIMEOUT: the claim had to wait, and the deadline has
 * passed. DLOCK_INTERRUPTED, DLOCK_CONNECTION and DLOCK_FAILED as above. */
dlock_status dlock_zk_queue_wait(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error);

/* ---- inspect.c ---- */

/* Lists the nodes of a resource. DLOCK_OK: *listing has its response (ZOK or ZNONODE), and the caller releases it.
 * DLOCK_CONNECTION or DLOCK_FAILED, with a message: *listing is NULL. */
dlock_status dlock_zk_list(
	dlock_zk_backend *backend, const char *resource, size_t resource_len, dlock_zk_op **listing, dlock_error *error);

/* These implement the back-end interface (lock/backend.h). */
dlock_status dlock_zk_inspect(dlock_backend *backend, const char *resource, size_t resource_len, int most,
	dlock_inspection *out, dlock_error *error);
dlock_status dlock_zk_list_all(dlock_backend *backend, int most, dlock_listing *out, dlock_error *error);
dlock_status dlock_zk_break(dlock_backend *backend, const char *resource, size_t resource_len, const dlock_break *how,
	dlock_nanos *left, dlock_error *error);

/* ---- parents.c ---- */

/* Creates the chroot, `root` and the resource's node `parent` if they are missing. DLOCK_OK: once the session is
 * connected, the caller repeats what failed. DLOCK_INTERRUPTED as above. DLOCK_CONNECTION or DLOCK_FAILED: with a
 * message.
 *
 * The chroot and the root are persistent and open to all users. `parent` is a container if the server supports
 * containers. With credentials, `parent` belongs to their user alone: another user with the right to delete in it could
 * remove a lock. */
dlock_status dlock_zk_make_parents(dlock_zk_pool *pool, dlock_zk_session *session, const char *root, const char *parent,
	const dlock_wait *wait, dlock_error *error);

#endif

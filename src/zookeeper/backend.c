#include "backend.h"

#include <stdlib.h>
#include <string.h>

#include "../lock/claim.h"
#include "op.h"
#include "parents.h"
#include "path.h"
#include "response.h"
#include "result.h"
#include "session.h"
#include "unowned_node.h"

/* ZooKeeper's lock recipe (zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks), as Curator carries it out:
 *
 *  1. Create an ephemeral sequential node, root/resource/_c_<guid>-lock-<number>, and list its siblings.
 *  2. The claim whose node has the lowest number holds the lock.
 *  3. Each other watches the node before its own and nothing else, and goes to 2 when that goes.
 *  4. To release, or to leave the queue, delete the node. If the session ends, the server deletes it.
 *
 * Where the response to 1 is lost, the guid finds the node. The names are Curator's, so that its locks and kazoo's exclude ours. The
 * session is the lease: a lock is held for as long as the session is known to live (session.h). */

typedef struct {
	dlock_backend base;
	dlock_zk_pool *pool;
	dlock_zk_options options;
} zk_backend;

typedef enum {
	ABSENT,   /* no node of this claim; there may be an unowned one */
	CREATING, /* the response to `creating` is due */
	UNKNOWN,  /* it was lost: there may be a node with our guid */
	PRESENT,  /* `node` is ours; its position in the queue is to be found out */
	FIRST
} zk_phase;

typedef struct {
	dlock_claim base;
	dlock_zk_session *session; /* the one that owns the node */
	char *parent;
	char *node;
	zk_phase phase;
	bool token_used; /* a node may have been made with it, so another one must not be */
	dlock_zk_op *creating, *listing;
} zk_claim;

static zk_backend *backend_of(const dlock_claim *claim)
{
	return (zk_backend *) claim->backend;
}

static dlock_status out_of_memory(dlock_error *error)
{
	return dlock_fail(error, DLOCK_FAILED, "Out of memory");
}

/* Does the session still live as far as is known? If not, its nodes are gone, too. */
static bool is_alive(const zk_claim *claim)
{
	return claim->session && dlock_zk_session_view(claim->session).state < DLOCK_ZK_EXPIRED;
}

/* Its last component. */
static const char *node_name(const zk_claim *claim)
{
	return claim->node + strlen(claim->parent) + 1;
}

/* In memory only: nothing is sent. */
static void clear_node(zk_claim *claim)
{
	dlock_zk_op_release(claim->creating);
	dlock_zk_op_release(claim->listing);
	claim->creating = claim->listing = NULL;
	free(claim->node);
	claim->node = NULL;
	claim->phase = ABSENT;
}

/* Leaves the queue, or the lock: what there is or may be of a node is deleted in the background. */
static void leave(zk_claim *claim)
{
	if (is_alive(claim)) {
		if (claim->node) {
			dlock_zk_discard_node(claim->session, claim->node);
		} else if (claim->phase != ABSENT) {
			dlock_zk_discard_guid(claim->session, claim->parent, claim->base.token);
		}
	}
	clear_node(claim);
}

static void release_session(zk_claim *claim)
{
	clear_node(claim);
	dlock_zk_session_release(claim->session);
	claim->session = NULL;
}

/* DLOCK_OK: claim->session lives and is connected. Where it had to be another one, the claim starts anew. A call that
 * is to be over by `until` may have a longer time of its own. */
static dlock_status ensure_session(zk_claim *claim, dlock_nanos until, const dlock_wait *wait, dlock_error *error)
{
	zk_backend *backend = backend_of(&claim->base);

	for (;;) {
		if (claim->session && !is_alive(claim)) {
			release_session(claim);
		}
		if (!claim->session) {
			claim->session = dlock_zk_pool_session(backend->pool, backend->options.hosts, backend->options.session_timeout,
				backend->options.auth, error);
			if (!claim->session) {
				return DLOCK_CONNECTION;
			}
		}
		/* Once it is in the queue there is nothing left to try. */
		dlock_nanos latest = wait && (claim->node || wait->deadline > until) ? wait->deadline : until;
		dlock_status status = dlock_zk_session_connect(claim->session, latest, wait, error);
		if (status != DLOCK_LOST) {
			return status;
		}
	}
}

static bool ensure_parent(zk_claim *claim)
{
	if (!claim->parent) {
		claim->parent = dlock_zk_parent_path(backend_of(&claim->base)->options.root, claim->base.resource,
			claim->base.resource_len);
	}
	return claim->parent != NULL;
}

static const struct ACL_vector *node_acl(const zk_claim *claim)
{
	return backend_of(&claim->base)->options.auth ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
}

/* Create and list go out together: the server keeps the order, so one round trip tells the name and whether it is first. */
static dlock_status send_create(zk_claim *claim, dlock_error *error)
{
	if (claim->token_used && !dlock_token(claim->base.token)) {
		return dlock_fail(error, DLOCK_FAILED, "The system gave no random bytes for a token");
	}
	char *path = dlock_zk_node_path(claim->parent, claim->base.token);
	if (!path) {
		return out_of_memory(error);
	}
	claim->token_used = true;
	claim->creating = dlock_zk_create(claim->session, path, node_acl(claim), ZOO_EPHEMERAL | ZOO_SEQUENCE);
	free(path);
	if (!claim->creating) {
		return out_of_memory(error);
	}
	claim->phase = CREATING;
	claim->listing = dlock_zk_list(claim->session, claim->parent);
	return claim->listing ? DLOCK_OK : out_of_memory(error);
}

/* What the server says is ours is checked once, here: the name is taken apart later. */
static dlock_status adopt(zk_claim *claim, const char *node, const struct Stat *stat, dlock_error *error)
{
	if (!dlock_zk_is_made_of(node, claim->parent, claim->base.token) || stat->czxid <= 0) {
		return dlock_fail(error, DLOCK_CONNECTION, "ZooKeeper at %.150s: %.150s: an answer of an unexpected form",
			claim->session->hosts, claim->parent);
	}
	claim->node = strdup(node);
	if (!claim->node) {
		return out_of_memory(error);
	}
	claim->base.fencing_token = stat->czxid;
	claim->phase = PRESENT;
	return DLOCK_OK;
}

static dlock_status finish_create(zk_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	zk_backend *backend = backend_of(&claim->base);
	dlock_status status = dlock_zk_response(claim->listing, wait, error); /* comes second, so both are there */

	if (status == DLOCK_OK) {
		status = dlock_zk_response(claim->creating, wait, error);
	}
	if (status != DLOCK_OK) {
		return status;
	}
	dlock_zk_op *created = claim->creating;
	int rc = created->rc;
	claim->creating = NULL;
	if (rc == ZOK) {
		status = adopt(claim, created->path, &created->stat, error);
	} else if (rc == ZNONODE) {
		clear_node(claim);
		status = dlock_zk_make_parents(backend->pool, claim->session, backend->options.root, claim->parent, wait, error);
	} else if (dlock_zk_is_loss(rc)) {
		claim->phase = UNKNOWN;
	} else {
		status = dlock_zk_failure(claim->session, rc, claim->parent, error);
		clear_node(claim);
	}
	dlock_zk_op_release(created);
	return status;
}

/* The node of this claim's guid among the children, if this session owns it: adopted. */
static dlock_status find_node(zk_claim *claim, const dlock_zk_op *listing, const dlock_wait *wait, dlock_error *error)
{
	for (int i = 0; i < listing->children_count; i++) {
		if (!dlock_zk_is_node_of(listing->children[i], claim->base.token)) {
			continue;
		}
		char *node = dlock_zk_child_path(claim->parent, listing->children[i]);
		dlock_zk_op *stat = node ? dlock_zk_exists(claim->session, node) : NULL;
		dlock_status status = dlock_zk_response_or_repeat(&stat, claim->parent, wait, error);
		bool ours = stat && stat->rc == ZOK && stat->stat.ephemeralOwner == dlock_zk_session_view(claim->session).id;
		if (ours) {
			status = adopt(claim, node, &stat->stat, error);
		} else if (stat) {
			claim->phase = ABSENT;
		}
		dlock_zk_op_release(stat);
		free(node);
		return status;
	}
	claim->phase = ABSENT;
	return DLOCK_OK;
}

/* After a loss within the session. The sync brings the server up to date with the leader, where an earlier create was
 * either executed or is refused from now on, since the session has moved to this connection. */
static dlock_status recover(zk_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	dlock_zk_op_release(claim->listing);
	claim->listing = NULL;
	dlock_zk_op *sync = dlock_zk_sync(claim->session, claim->parent);
	dlock_zk_op *listing = dlock_zk_list(claim->session, claim->parent);
	dlock_status status = dlock_zk_response_or_repeat(&listing, claim->parent, wait, error);
	if (status == DLOCK_OK && listing && sync && sync->done && sync->rc == ZOK) {
		status = find_node(claim, listing, wait, error);
	}
	dlock_zk_op_release(sync);
	dlock_zk_op_release(listing);
	return status;
}

static bool is_among(const char *name, const dlock_zk_op *listing)
{
	for (int i = 0; i < listing->children_count; i++) {
		if (strcmp(listing->children[i], name) == 0) {
			return true;
		}
	}
	return false;
}

/* Waits until the node before ours goes, or the session changes. */
static dlock_status await_predecessor(zk_claim *claim, const char *predecessor, const dlock_wait *wait, dlock_error *error)
{
	char *path = dlock_zk_child_path(claim->parent, predecessor);
	unsigned long seen = dlock_zk_session_view(claim->session).events;
	dlock_zk_op *watch = path ? dlock_zk_watch(claim->session, path) : NULL;
	dlock_status status = dlock_zk_response(watch, wait, error);
	bool there = status == DLOCK_OK && watch->rc == ZOK;

	if (status == DLOCK_OK && watch->rc == ZNOAUTH) {
		/* Another user's node. The server tells nothing of what we may not read, not even to a watch by exists(), so
		 * here the whole queue is watched. */
		dlock_zk_op_release(watch);
		watch = dlock_zk_watch_children(claim->session, claim->parent);
		status = dlock_zk_response(watch, wait, error);
		there = status == DLOCK_OK && watch->rc == ZOK && is_among(predecessor, watch);
	}
	if (there) {
		status = dlock_zk_session_await(claim->session, seen, wait->deadline, wait);
	} else if (status == DLOCK_OK && watch->rc != ZOK && watch->rc != ZNONODE) {
		status = dlock_zk_failure(claim->session, watch->rc, path, error);
	}
	dlock_zk_op_release(watch);
	free(path);
	return status;
}

/* Finds our position in the queue, and waits where it is not the first. */
static dlock_status wait_in_queue(zk_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	dlock_zk_op *listing = claim->listing;

	claim->listing = NULL;
	if (!listing || listing->rc != ZOK) {
		dlock_zk_op_release(listing);
		listing = dlock_zk_list(claim->session, claim->parent);
	}
	dlock_status status = dlock_zk_response_or_repeat(&listing, claim->parent, wait, error);
	if (status != DLOCK_OK || !listing) {
		return status;
	}
	dlock_zk_position position = dlock_zk_find_position(listing->children, listing->children_count, node_name(claim));
	if (!position.present) {
		clear_node(claim); /* deleted by somebody, perhaps with the whole resource */
	} else if (!position.predecessor) {
		claim->phase = FIRST;
	} else if (dlock_now() >= wait->deadline) {
		status = DLOCK_TIMEOUT;
	} else {
		claim->base.waited = true;
		status = await_predecessor(claim, position.predecessor, wait, error);
	}
	dlock_zk_op_release(listing);
	return status;
}

/* The lock is ours; it can be relied upon once the session's bound says so, which it normally does already. */
static dlock_status confirm(zk_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	dlock_zk_session *session = claim->session;
	dlock_nanos until = dlock_after(dlock_now(), session->asked);

	for (;;) {
		dlock_zk_view view = dlock_zk_session_view(session);
		if (view.state >= DLOCK_ZK_EXPIRED) {
			return DLOCK_OK;
		}
		if (view.state == DLOCK_ZK_CONNECTED && dlock_now() < view.deadline) {
			dlock_claim_move(&claim->base, DLOCK_CLAIM_HELD);
			claim->base.deadline = view.deadline;
			claim->base.received = claim->base.waited;
			return DLOCK_OK;
		}
		dlock_status status = dlock_zk_session_await(session, view.events, until, wait);
		if (status == DLOCK_TIMEOUT) {
			return dlock_zk_no_response(session, error);
		}
		if (status != DLOCK_OK) {
			return status;
		}
	}
}

static dlock_status step(zk_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	switch (claim->phase) {
		case ABSENT:
			return send_create(claim, error);
		case CREATING:
			return finish_create(claim, wait, error);
		case UNKNOWN:
			return recover(claim, wait, error);
		case PRESENT:
			return wait_in_queue(claim, wait, error);
		default:
			return confirm(claim, wait, error);
	}
}

static dlock_status acquire(dlock_claim *base, const dlock_wait *wait, dlock_error *error)
{
	zk_claim *claim = (zk_claim *) base;
	dlock_status status = ensure_parent(claim) ? DLOCK_OK : out_of_memory(error);

	dlock_nanos until = dlock_after(dlock_now(), backend_of(base)->options.session_timeout);

	dlock_claim_move(base, DLOCK_CLAIM_NEW);
	while (status == DLOCK_OK && base->state != DLOCK_CLAIM_HELD) {
		/* Connections that break again and again must not carry it on for ever. */
		if (claim->session && dlock_now() >= until && dlock_now() >= wait->deadline) {
			status = claim->node || base->waited ? DLOCK_TIMEOUT : dlock_zk_no_response(claim->session, error);
			break;
		}
		status = ensure_session(claim, until, wait, error);
		if (status == DLOCK_CONNECTION && claim->node && dlock_now() >= wait->deadline) {
			status = DLOCK_TIMEOUT; /* it was in the queue, and its time is up */
		}
		if (status == DLOCK_OK) {
			status = step(claim, wait, error);
		}
	}
	if (status == DLOCK_INTERRUPTED) {
		dlock_claim_move(base, claim->phase == ABSENT ? DLOCK_CLAIM_NEW : DLOCK_CLAIM_WAITING);
	} else if (status != DLOCK_OK) {
		leave(claim);
	}
	return status;
}

/* A lock that is lost by the clock is left: should the session live after all, its node would keep others out without a holder. */
static void look(dlock_claim *base)
{
	zk_claim *claim = (zk_claim *) base;
	dlock_zk_view view = dlock_zk_session_view(claim->session);

	if (view.state >= DLOCK_ZK_EXPIRED) {
		dlock_claim_move(base, DLOCK_CLAIM_LOST);
		return;
	}
	dlock_claim_move(base, view.state == DLOCK_ZK_CONNECTED ? DLOCK_CLAIM_HELD : DLOCK_CLAIM_UNCERTAIN);
	dlock_claim_move_deadline(base, view.deadline);
	if (dlock_claim_expire(base)) {
		leave(claim);
		dlock_claim_move(base, DLOCK_CLAIM_LOST);
	}
}

static dlock_nanos bound(const dlock_claim *base)
{
	dlock_zk_view view = dlock_zk_session_view(((const zk_claim *) base)->session);

	return view.state >= DLOCK_ZK_EXPIRED ? DLOCK_OVER : view.deadline;
}

static dlock_status lost(const dlock_claim *base, dlock_error *error)
{
	return dlock_fail(error, DLOCK_LOST, "The lock \"%.100s\" was lost: its ZooKeeper session or node is gone",
		base->resource);
}

static dlock_status extend(dlock_claim *base, dlock_nanos ttl, dlock_error *error)
{
	(void) ttl; /* the session is the lease */
	look(base);
	return base->state == DLOCK_CLAIM_LOST ? lost(base, error) : DLOCK_OK;
}

/* The node is an ephemeral one of our session, so while that lives the node goes by an explicit delete only. A delete
 * that finds nothing after one of ours had no response is therefore the second of the two. */
static dlock_status delete_node(zk_claim *claim, dlock_error *error)
{
	dlock_nanos until = dlock_after(dlock_now(), claim->session->asked);
	bool tried = false;

	while (is_alive(claim)) {
		dlock_status status = dlock_zk_session_connect(claim->session, until, NULL, error);
		if (status == DLOCK_LOST) {
			break;
		}
		dlock_zk_op *op = status == DLOCK_OK ? dlock_zk_delete(claim->session, claim->node) : NULL;
		if (status == DLOCK_OK) {
			status = dlock_zk_response(op, NULL, error);
		}
		int rc = status == DLOCK_OK ? op->rc : ZOK;
		dlock_zk_op_release(op);
		if (status != DLOCK_OK) {
			return status;
		}
		if (rc == ZOK || (rc == ZNONODE && tried)) {
			return DLOCK_OK;
		}
		if (rc == ZNONODE || dlock_zk_is_dead(rc)) {
			break;
		}
		if (!dlock_zk_is_loss(rc)) {
			return dlock_zk_error(claim->session, rc, claim->node, error);
		}
		tried = true;
		if (dlock_now() >= until) {
			return dlock_zk_no_response(claim->session, error);
		}
	}
	return lost(&claim->base, error);
}

static dlock_status release(dlock_claim *base, dlock_error *error)
{
	zk_claim *claim = (zk_claim *) base;
	dlock_status status = claim->node && is_alive(claim) ? delete_node(claim, error) : lost(base, error);

	if (status == DLOCK_OK || status == DLOCK_LOST) {
		clear_node(claim);
	} else {
		leave(claim);
	}
	return status;
}

static void abandon(dlock_claim *base)
{
	leave((zk_claim *) base);
}

static dlock_status locked(dlock_backend *base, const char *resource, size_t resource_len, bool *locked,
	dlock_error *error)
{
	zk_backend *backend = (zk_backend *) base;
	/* A claim that never creates anything, so that its session is found as for others. */
	zk_claim claim = { .base = { .backend = base } };
	dlock_zk_op *listing = NULL;
	dlock_status status = DLOCK_OK;
	int32_t sequence;

	*locked = false;
	claim.parent = dlock_zk_parent_path(backend->options.root, resource, resource_len);
	if (!claim.parent) {
		return out_of_memory(error);
	}
	dlock_nanos until = dlock_after(dlock_now(), backend->options.session_timeout);
	while (status == DLOCK_OK && !listing) {
		if (claim.session && dlock_now() >= until) {
			status = dlock_zk_no_response(claim.session, error);
			break;
		}
		status = ensure_session(&claim, until, NULL, error);
		if (status == DLOCK_OK) {
			listing = dlock_zk_list(claim.session, claim.parent);
			status = dlock_zk_response_or_repeat(&listing, claim.parent, NULL, error);
		}
	}
	for (int i = 0; listing && i < listing->children_count && !*locked; i++) {
		*locked = dlock_zk_sequence(listing->children[i], &sequence);
	}
	dlock_zk_op_release(listing);
	release_session(&claim);
	free(claim.parent);
	return status;
}

static bool is_same(const dlock_claim *base, dlock_backend *backend, const char *resource, size_t len)
{
	const dlock_zk_options *ours = &backend_of(base)->options, *other = &((zk_backend *) backend)->options;

	return base->resource_len == len && !memcmp(base->resource, resource, len) && !strcmp(ours->hosts, other->hosts)
		&& !strcmp(ours->root, other->root);
}

static void dispose(dlock_claim *base)
{
	release_session((zk_claim *) base);
	free(((zk_claim *) base)->parent);
}

static void destroy(dlock_backend *base)
{
	zk_backend *backend = (zk_backend *) base;
	char *auth = (char *) backend->options.auth;

	for (volatile char *secret = auth; secret && *secret; secret++) {
		*secret = 0;
	}
	free(auth);
	free((char *) backend->options.hosts);
	free((char *) backend->options.root);
	free(backend);
}

static const dlock_backend_ops ops = {
	.name = "zookeeper",
	.claim_size = sizeof(zk_claim),
	.session_lease = true,
	.acquire = acquire,
	.extend = extend,
	.release = release,
	.abandon = abandon,
	.look = look,
	.bound = bound,
	.is_same = is_same,
	.locked = locked,
	.dispose = dispose,
	.destroy = destroy,
};

dlock_backend *dlock_zookeeper_new(dlock_zk_pool *pool, const dlock_zk_options *options)
{
	zk_backend *backend = calloc(1, sizeof *backend);

	if (!backend) {
		return NULL;
	}
	dlock_backend_init(&backend->base, &ops);
	backend->pool = pool;
	backend->options.session_timeout = options->session_timeout;
	backend->options.hosts = strdup(options->hosts);
	backend->options.root = strdup(options->root);
	backend->options.auth = options->auth ? strdup(options->auth) : NULL;
	if (!backend->options.hosts || !backend->options.root || (options->auth && !backend->options.auth)) {
		destroy(&backend->base);
		return NULL;
	}
	return &backend->base;
}

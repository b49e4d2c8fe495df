#include "claim.h"

#include <stdlib.h>
#include <string.h>

#include "../session/path.h"
#include "../session/watches.h"

bool dlock_zk_claim_place(dlock_zk_claim *claim)
{
	const dlock_zk_backend *backend = dlock_zk_backend_of(&claim->base);
	size_t len = claim->base.resource_len;
	char *name = claim->parent ? NULL : dlock_backend_name(&backend->base, claim->base.resource, len);

	if (name) {
		claim->parent = dlock_zk_parent_path(backend->options.root, name, backend->base.prefix.len + len);
		free(name);
	}
	return claim->parent;
}

bool dlock_zk_claim_is_alive(const dlock_zk_claim *claim)
{
	return claim->session && dlock_zk_session_view(claim->session).state < DLOCK_ZK_EXPIRED;
}

void dlock_zk_claim_clear_node(dlock_zk_claim *claim)
{
	if (claim->session) {
		dlock_zk_watch_only(claim->session, &claim->news, NULL, 0);
	}
	dlock_zk_op_release(claim->creating);
	dlock_zk_op_release(claim->listing);
	claim->creating = claim->listing = NULL;
	free(claim->node);
	claim->node = NULL;
	claim->phase = DLOCK_ZK_ABSENT;
}

void dlock_zk_claim_leave(dlock_zk_claim *claim)
{
	if (dlock_zk_claim_is_alive(claim)) {
		if (claim->node) {
			dlock_zk_discard_node(claim->session, claim->node, NULL);
		} else if (claim->phase != DLOCK_ZK_ABSENT) {
			dlock_zk_discard_node(claim->session, claim->parent, claim->base.token);
		}
	}
	dlock_zk_claim_clear_node(claim);
}

void dlock_zk_claim_clear(dlock_zk_claim *claim)
{
	dlock_zk_claim_clear_node(claim);
	dlock_zk_session_release(claim->session);
	claim->session = NULL;
}

dlock_status dlock_zk_claim_connect(
	dlock_zk_claim *claim, dlock_nanos until, const dlock_wait *wait, dlock_error *error)
{
	dlock_zk_backend *backend = dlock_zk_backend_of(&claim->base);

	for (;;) {
		if (claim->session && !dlock_zk_claim_is_alive(claim)) {
			dlock_zk_claim_clear(claim);
		}
		if (!claim->session) {
			claim->session = dlock_zk_pool_session(
				backend->pool, backend->options.hosts, backend->options.session_timeout, backend->options.auth, error);
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

static const struct ACL_vector *node_acl(const dlock_zk_claim *claim)
{
	return dlock_zk_backend_of(&claim->base)->options.auth ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
}

static void label_of(const dlock_zk_claim *claim, char label[DLOCK_ZK_LABEL_SIZE])
{
	dlock_zk_label(dlock_zk_backend_of(&claim->base)->kind, claim->base.permits, claim->base.backend->capacity, label);
}

/* Create and list go out together: the server keeps the order, so one round trip tells the name and whether it is
 * first. */
dlock_status dlock_zk_claim_create(dlock_zk_claim *claim, dlock_error *error)
{
	if (claim->token_used && !dlock_token(claim->base.token)) {
		return dlock_fail(error, DLOCK_FAILED, "The system gave no random bytes for a token");
	}
	char label[DLOCK_ZK_LABEL_SIZE];
	label_of(claim, label);
	char *path = dlock_zk_node_path(claim->parent, claim->base.token, label);
	if (!path) {
		return dlock_out_of_memory(error);
	}
	claim->token_used = true;
	const char *said = claim->base.description ? dlock_description_text(claim->base.description) : "";
	claim->creating = dlock_zk_create(claim->session, path, said, node_acl(claim), ZOO_EPHEMERAL | ZOO_SEQUENCE);
	free(path);
	if (!claim->creating) {
		return dlock_out_of_memory(error);
	}
	claim->phase = DLOCK_ZK_CREATING;
	dlock_claim_move(&claim->base, DLOCK_CLAIM_WAITING);
	claim->listing = dlock_zk_ask(claim->session, DLOCK_ZK_LIST, claim->parent);
	return claim->listing ? DLOCK_OK : dlock_out_of_memory(error);
}

/* What the server says is ours is checked once, here: the name is taken apart later. */
static dlock_status adopt(dlock_zk_claim *claim, const char *node, const struct Stat *stat, dlock_error *error)
{
	char label[DLOCK_ZK_LABEL_SIZE];

	label_of(claim, label);
	if (!dlock_zk_is_made_of(node, claim->parent, claim->base.token, label) || stat->czxid <= 0) {
		return dlock_fail(error, DLOCK_CONNECTION, "ZooKeeper at %.150s: %.150s: an answer of an unexpected form",
			claim->session->hosts, claim->parent);
	}
	claim->node = strdup(node);
	if (!claim->node) {
		return dlock_out_of_memory(error);
	}
	claim->base.fencing_token = stat->czxid;
	claim->phase = DLOCK_ZK_PRESENT;
	return DLOCK_OK;
}

dlock_status dlock_zk_claim_finish_create(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	dlock_zk_backend *backend = dlock_zk_backend_of(&claim->base);
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
		dlock_zk_claim_clear_node(claim);
		status = dlock_zk_make_parents(
			backend->pool, claim->session, backend->options.root, claim->parent, wait, error);
	} else if (dlock_zk_is_loss(rc)) {
		claim->phase = DLOCK_ZK_UNKNOWN;
	} else {
		status = dlock_zk_failure(claim->session, rc, claim->parent, error);
		dlock_zk_claim_clear_node(claim);
	}
	dlock_zk_op_release(created);
	return status;
}

/* The node of this claim's guid among the children, if this session owns it: adopted. */
static dlock_status find_node(
	dlock_zk_claim *claim, const dlock_zk_op *listing, const dlock_wait *wait, dlock_error *error)
{
	for (int i = 0; i < listing->children_count; i++) {
		if (!dlock_zk_is_node_of(listing->children[i], claim->base.token)) {
			continue;
		}
		char *node = dlock_zk_child_path(claim->parent, listing->children[i]);
		dlock_zk_op *stat = node ? dlock_zk_ask(claim->session, DLOCK_ZK_EXISTS, node) : NULL;
		dlock_status status = dlock_zk_response_or_repeat(&stat, claim->parent, wait, error);
		bool ours = stat && stat->rc == ZOK && stat->stat.ephemeralOwner == dlock_zk_session_view(claim->session).id;
		if (ours) {
			status = adopt(claim, node, &stat->stat, error);
		} else if (stat) {
			claim->phase = DLOCK_ZK_ABSENT;
		}
		dlock_zk_op_release(stat);
		free(node);
		return status;
	}
	claim->phase = DLOCK_ZK_ABSENT;
	return DLOCK_OK;
}

/* After a loss within the session. The sync brings the server up to date with the leader, where an earlier create was
 * either executed or is refused from now on, since the session has moved to this connection. */
dlock_status dlock_zk_claim_recover(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	dlock_zk_op_release(claim->listing);
	claim->listing = NULL;
	dlock_zk_op *sync = dlock_zk_ask(claim->session, DLOCK_ZK_SYNC, claim->parent);
	dlock_zk_op *listing = dlock_zk_ask(claim->session, DLOCK_ZK_LIST, claim->parent);
	dlock_status status = dlock_zk_response_or_repeat(&listing, claim->parent, wait, error);
	if (status == DLOCK_OK && listing && sync && sync->done && sync->rc == ZOK) {
		status = find_node(claim, listing, wait, error);
	}
	dlock_zk_op_release(sync);
	dlock_zk_op_release(listing);
	return status;
}

/* The node is an ephemeral one of our session, so while that lives the node goes by an explicit delete only. A delete
 * that finds nothing after one of ours had no response is therefore the second of the two. */
dlock_status dlock_zk_claim_delete(dlock_zk_claim *claim, dlock_error *error)
{
	dlock_nanos until = dlock_after(dlock_now(), claim->session->asked);
	bool tried = false;

	while (dlock_zk_claim_is_alive(claim)) {
		dlock_status status = dlock_zk_session_connect(claim->session, until, NULL, error);
		if (status != DLOCK_OK) {
			return status;
		}
		dlock_zk_op *op = dlock_zk_ask(claim->session, DLOCK_ZK_DELETE, claim->node);
		status = dlock_zk_response_or_repeat(&op, claim->node, NULL, error);
		if (op) {
			status = op->rc == ZNONODE && !tried ? DLOCK_LOST : DLOCK_OK;
			dlock_zk_op_release(op);
			return status;
		}
		if (status != DLOCK_OK) {
			return status;
		}
		tried = true;
		if (dlock_now() >= until) {
			return dlock_zk_no_response(claim->session, error);
		}
	}
	return DLOCK_LOST;
}

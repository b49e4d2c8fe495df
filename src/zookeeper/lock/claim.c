#include "claim.h"

#include <stdlib.h>
#include <string.h>

#include "../session/path.h"
#include "../session/watches.h"

char *dlock_zk_resource_path(const dlock_zk_backend *backend, const char *resource, size_t resource_len)
{
	char *name = dlock_backend_name(&backend->base, resource, resource_len);
	char *path = name
		? dlock_zk_parent_path(backend->options.root, name, backend->base.prefix.len + resource_len) : NULL;

	free(name);
	return path;
}

bool dlock_zk_claim_place(dlock_zk_claim *claim)
{
	const dlock_zk_backend *backend = dlock_zk_backend_of(&claim->base);

	if (!claim->parts) {
		claim->parts = calloc((size_t) claim->base.count, sizeof *claim->parts);
	}
	for (int i = 0; claim->parts && i < claim->base.count; i++) {
		dlock_zk_part *part = &claim->parts[i];
		const dlock_name *name = &claim->base.names[i];
		if (!part->parent && !(part->parent = dlock_zk_resource_path(backend, name->text, name->len))) {
			return false;
		}
	}
	return claim->parts;
}

void dlock_zk_claim_unplace(dlock_zk_claim *claim)
{
	dlock_zk_claim_clear(claim);
	for (int i = 0; claim->parts && i < claim->base.count; i++) {
		free(claim->parts[i].parent);
	}
	free(claim->parts);
	claim->parts = NULL;
}

bool dlock_zk_claim_is_alive(const dlock_zk_claim *claim)
{
	return claim->session && dlock_zk_session_view(claim->session).state < DLOCK_ZK_EXPIRED;
}

static void forget_node(dlock_zk_part *part)
{
	free(part->node);
	part->node = NULL;
}

void dlock_zk_claim_clear_nodes(dlock_zk_claim *claim)
{
	if (claim->session) {
		dlock_zk_watch_only(claim->session, &claim->news, NULL, 0);
	}
	dlock_zk_op_release(claim->creating);
	claim->creating = NULL;
	for (int i = 0; claim->parts && i < claim->base.count; i++) {
		dlock_zk_part *part = &claim->parts[i];
		dlock_zk_op_release(part->listing);
		part->listing = NULL;
		part->granted = false;
		forget_node(part);
	}
	claim->phase = DLOCK_ZK_ABSENT;
}

void dlock_zk_claim_leave(dlock_zk_claim *claim)
{
	bool alive = claim->phase != DLOCK_ZK_ABSENT && dlock_zk_claim_is_alive(claim);

	for (int i = 0; alive && i < claim->base.count; i++) {
		const dlock_zk_part *part = &claim->parts[i];
		if (part->node) {
			dlock_zk_discard_node(claim->session, part->node, NULL);
		} else if (claim->phase < DLOCK_ZK_NAMED) {
			dlock_zk_discard_node(claim->session, part->parent, claim->base.token);
		}
	}
	dlock_zk_claim_clear_nodes(claim);
}

void dlock_zk_claim_clear(dlock_zk_claim *claim)
{
	dlock_zk_claim_clear_nodes(claim);
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
		/* A claim that is in the queue waits no longer than its deadline: there is nothing left to try. */
		bool all = wait && (claim->phase >= DLOCK_ZK_NAMED || wait->deadline > until);
		dlock_nanos latest = all ? wait->deadline : until;
		dlock_status status = dlock_zk_session_connect(claim->session, latest, &claim->connect_left, wait, error);
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

/* Makes the paths of the nodes to be created. Returns false if out of memory. */
static bool name_nodes(const dlock_zk_claim *claim, char *paths[DLOCK_SEVERAL_MAX])
{
	char label[DLOCK_ZK_LABEL_SIZE];
	bool named = true;

	label_of(claim, label);
	for (int i = 0; i < claim->base.count; i++) {
		paths[i] = dlock_zk_node_path(claim->parts[i].parent, claim->base.token, label);
		named &= paths[i] != NULL;
	}
	return named;
}

/* The create and the lists go out together. The server keeps their order, so one round trip tells the node's name and
 * whether it is first. */
dlock_status dlock_zk_claim_create(dlock_zk_claim *claim, dlock_error *error)
{
	const char *said = claim->base.description ? dlock_description_text(claim->base.description) : "";
	char *paths[DLOCK_SEVERAL_MAX];

	if (claim->token_used && !dlock_token(claim->base.token)) {
		return dlock_fail(error, DLOCK_FAILED, "The system gave no random bytes for a token");
	}
	claim->token_used = true;
	if (name_nodes(claim, paths)) {
		claim->creating = dlock_zk_create(
			claim->session, paths, claim->base.count, said, node_acl(claim), ZOO_EPHEMERAL | ZOO_SEQUENCE);
	}
	for (int i = 0; i < claim->base.count; i++) {
		free(paths[i]);
	}
	if (!claim->creating) {
		return dlock_out_of_memory(error);
	}
	claim->phase = DLOCK_ZK_CREATING;
	dlock_claim_move(&claim->base, DLOCK_CLAIM_WAITING);
	for (int i = 0; i < claim->base.count; i++) {
		claim->parts[i].listing = dlock_zk_ask(claim->session, DLOCK_ZK_LIST, claim->parts[i].parent);
		if (!claim->parts[i].listing) {
			return dlock_out_of_memory(error);
		}
	}
	return DLOCK_OK;
}

static dlock_status is_odd(const dlock_zk_claim *claim, const dlock_zk_part *part, dlock_error *error)
{
	return dlock_fail(error, DLOCK_CONNECTION, "ZooKeeper at %.150s: %.150s: an answer of an unexpected form",
		claim->session->hosts, part->parent);
}

/* Checks the name that the server returned, once, here: other functions take it apart without a check. */
static dlock_status adopt(dlock_zk_claim *claim, dlock_zk_part *part, const char *node, dlock_error *error)
{
	char label[DLOCK_ZK_LABEL_SIZE];

	label_of(claim, label);
	if (!dlock_zk_is_made_of(node, part->parent, claim->base.token, label)) {
		return is_odd(claim, part, error);
	}
	forget_node(part);
	part->node = strdup(node);
	return part->node ? DLOCK_OK : dlock_out_of_memory(error);
}

/* One transaction has created all nodes of the claim. Its number orders them in each queue, and so it is the fencing
 * token. */
static dlock_status take_number(
	dlock_zk_claim *claim, const dlock_zk_part *part, const struct Stat *stat, dlock_error *error)
{
	if (stat->czxid <= 0 || (part != claim->parts && stat->czxid != claim->base.fencing_token)) {
		return is_odd(claim, part, error);
	}
	claim->base.fencing_token = stat->czxid;
	return DLOCK_OK;
}

static dlock_status take_nodes(dlock_zk_claim *claim, const dlock_zk_op *created, dlock_error *error)
{
	dlock_status status = DLOCK_OK;

	for (int i = 0; status == DLOCK_OK && i < claim->base.count; i++) {
		status = adopt(claim, &claim->parts[i], created->paths[i], error);
	}
	if (status == DLOCK_OK && claim->base.count == 1) {
		status = take_number(claim, claim->parts, &created->stat, error);
	}
	if (status == DLOCK_OK) {
		claim->phase = claim->base.count == 1 ? DLOCK_ZK_PRESENT : DLOCK_ZK_NAMED;
	}
	return status;
}

/* The lists, which were requested behind the creation, tell which resources have no node. */
static dlock_status make_parents(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	dlock_zk_backend *backend = dlock_zk_backend_of(&claim->base);
	dlock_status status = DLOCK_OK;
	bool missing[DLOCK_SEVERAL_MAX];

	for (int i = 0; i < claim->base.count; i++) {
		missing[i] = claim->parts[i].listing->rc == ZNONODE;
	}
	dlock_zk_claim_clear_nodes(claim);
	for (int i = 0; status == DLOCK_OK && i < claim->base.count; i++) {
		if (missing[i]) {
			status = dlock_zk_make_parents(
				backend->pool, claim->session, backend->options.root, claim->parts[i].parent, wait, error);
		}
	}
	return status;
}

dlock_status dlock_zk_claim_finish_create(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	dlock_status status = DLOCK_OK;

	for (int i = claim->base.count - 1; status == DLOCK_OK && i >= 0; i--) { /* the last response comes last */
		status = dlock_zk_response(claim->parts[i].listing, wait, error);
	}
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
		status = take_nodes(claim, created, error);
	} else if (rc == ZNONODE) {
		status = make_parents(claim, wait, error);
	} else if (dlock_zk_is_loss(rc)) {
		claim->phase = DLOCK_ZK_UNKNOWN;
	} else {
		status = dlock_zk_failure(claim->session, rc, claim->parts[created->refused].parent, error);
		dlock_zk_claim_clear_nodes(claim);
	}
	dlock_zk_op_release(created);
	return status;
}

/* The child with the claim's guid is the part's node. */
static dlock_status find_node(
	dlock_zk_claim *claim, dlock_zk_part *part, const dlock_zk_op *listing, dlock_error *error)
{
	for (int i = 0; i < listing->children_count; i++) {
		if (dlock_zk_is_node_of(listing->children[i], claim->base.token)) {
			char *node = dlock_zk_child_path(part->parent, listing->children[i]);
			dlock_status status = node ? adopt(claim, part, node, error) : dlock_out_of_memory(error);
			free(node);
			return status;
		}
	}
	return DLOCK_OK;
}

/* DLOCK_OK: *found is the number of nodes, or negative if the caller must ask again. */
static dlock_status find_nodes(
	dlock_zk_claim *claim, dlock_zk_op *listings[], int *found, const dlock_wait *wait, dlock_error *error)
{
	*found = 0;
	for (int i = 0; i < claim->base.count; i++) {
		dlock_zk_part *part = &claim->parts[i];
		dlock_status status = dlock_zk_response_or_repeat(&listings[i], part->parent, wait, error);
		if (status == DLOCK_OK && listings[i]) {
			status = find_node(claim, part, listings[i], error);
		}
		if (status != DLOCK_OK || !listings[i]) {
			*found = -1;
			return status;
		}
		*found += part->node != NULL;
	}
	return DLOCK_OK;
}

/* After a connection loss within the session. The sync brings the server up to date with the leader. There an earlier
 * create was executed, or it is refused from now on, because the session has moved to this connection. */
dlock_status dlock_zk_claim_recover(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	dlock_zk_op *listings[DLOCK_SEVERAL_MAX];
	int found;

	for (int i = 0; i < claim->base.count; i++) {
		dlock_zk_op_release(claim->parts[i].listing);
		claim->parts[i].listing = NULL;
		forget_node(&claim->parts[i]);
	}
	dlock_zk_op *sync = dlock_zk_ask(claim->session, DLOCK_ZK_SYNC, claim->parts[0].parent);
	for (int i = 0; i < claim->base.count; i++) {
		listings[i] = dlock_zk_ask(claim->session, DLOCK_ZK_LIST, claim->parts[i].parent);
	}
	dlock_status status = find_nodes(claim, listings, &found, wait, error);
	if (status == DLOCK_OK && found >= 0 && sync && sync->done && sync->rc == ZOK) {
		claim->phase = found > 0 ? DLOCK_ZK_NAMED : DLOCK_ZK_ABSENT;
	}
	dlock_zk_op_release(sync);
	for (int i = 0; i < claim->base.count; i++) {
		dlock_zk_op_release(listings[i]);
	}
	return status;
}

/* If a node is missing, or the session does not own it, the claim leaves that node alone. It discards its other nodes
 * and begins anew. */
dlock_status dlock_zk_claim_identify(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	dlock_zk_op *stats[DLOCK_SEVERAL_MAX];
	int64_t id = dlock_zk_session_view(claim->session).id;
	dlock_status status = DLOCK_OK;
	bool answered = true, all = true;

	for (int i = 0; i < claim->base.count; i++) {
		const char *node = claim->parts[i].node;
		stats[i] = node ? dlock_zk_ask(claim->session, DLOCK_ZK_EXISTS, node) : NULL;
	}
	for (int i = 0; status == DLOCK_OK && answered && i < claim->base.count; i++) {
		dlock_zk_part *part = &claim->parts[i];
		if (part->node) {
			status = dlock_zk_response_or_repeat(&stats[i], part->parent, wait, error);
			answered = stats[i];
		}
		if (status == DLOCK_OK && part->node && answered) {
			bool ours = stats[i]->rc == ZOK && stats[i]->stat.ephemeralOwner == id;
			status = ours && all ? take_number(claim, part, &stats[i]->stat, error) : DLOCK_OK;
			if (!ours) {
				forget_node(part);
			}
		}
		all &= part->node != NULL;
	}
	for (int i = 0; i < claim->base.count; i++) {
		dlock_zk_op_release(stats[i]);
	}
	if (status == DLOCK_OK && answered && all) {
		claim->phase = DLOCK_ZK_PRESENT;
	} else if (status == DLOCK_OK && answered) {
		dlock_zk_claim_leave(claim);
	}
	return status;
}

static dlock_zk_op *send_delete(const dlock_zk_claim *claim)
{
	char *paths[DLOCK_SEVERAL_MAX];

	for (int i = 0; i < claim->base.count; i++) {
		paths[i] = claim->parts[i].node;
	}
	return dlock_zk_delete(claim->session, paths, claim->base.count);
}

/* The nodes are ephemeral nodes of the claim's session. While the session lives, only an explicit delete removes them.
 * So if an earlier delete had no response and this one finds nothing, the earlier one was executed. If another client
 * has deleted one of several nodes, the claim discards the rest. */
dlock_status dlock_zk_claim_delete(dlock_zk_claim *claim, dlock_error *error)
{
	/* If the session ends without a connection, the server deletes the nodes. Its timeout may be far below the one that
	 * was asked for. */
	dlock_nanos until = dlock_earlier(
		dlock_after(dlock_now(), claim->session->asked), dlock_zk_session_view(claim->session).deadline);
	bool tried = false;

	while (dlock_zk_claim_is_alive(claim)) {
		dlock_status status = dlock_zk_session_connect(claim->session, until, &claim->connect_left, NULL, error);
		if (status != DLOCK_OK) {
			return status;
		}
		dlock_zk_op *op = send_delete(claim);
		status = dlock_zk_response_or_repeat(&op, claim->parts[0].node, NULL, error);
		bool answered = op, gone = op && op->rc == ZNONODE;
		if (gone) {
			forget_node(&claim->parts[op->refused]);
		}
		dlock_zk_op_release(op);
		if (gone && tried) {
			dlock_zk_claim_leave(claim);
		}
		if (status != DLOCK_OK || answered) {
			return gone && !tried ? DLOCK_LOST : status;
		}
		tried = true;
		if (dlock_now() >= until) {
			return dlock_zk_no_response(claim->session, error);
		}
	}
	return DLOCK_LOST;
}

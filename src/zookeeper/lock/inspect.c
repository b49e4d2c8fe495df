/* What an operator sees of locks, and how an operator breaks one. */

#include "claim.h"

#include <stdlib.h>
#include <string.h>

#include "../session/path.h"

/* Lists the children of a node. `path` NULL means out of memory. */
static dlock_status list_at(dlock_zk_backend *backend, const char *path, dlock_zk_op **listing, dlock_error *error)
{
	/* This claim creates no node. It finds the session in the way that every claim does. */
	dlock_zk_claim claim = { .base = { .backend = &backend->base } };
	dlock_nanos until = dlock_after(dlock_now(), backend->options.session_timeout);
	dlock_status status = path ? DLOCK_OK : dlock_out_of_memory(error);

	*listing = NULL;
	while (status == DLOCK_OK && !*listing) {
		if (claim.session && dlock_now() >= until) {
			status = dlock_zk_no_response(claim.session, error);
			break;
		}
		status = dlock_zk_claim_connect(&claim, until, NULL, error);
		if (status == DLOCK_OK) {
			*listing = dlock_zk_ask(claim.session, DLOCK_ZK_LIST, path);
			status = dlock_zk_response_or_repeat(listing, path, NULL, error);
		}
	}
	dlock_zk_claim_clear(&claim);
	return status;
}

dlock_status dlock_zk_list(
	dlock_zk_backend *backend, const char *resource, size_t resource_len, dlock_zk_op **listing, dlock_error *error)
{
	char *path = dlock_zk_resource_path(backend, resource, resource_len);
	dlock_status status = list_at(backend, path, listing, error);

	free(path);
	return status;
}

/* ---- parties ---- */

/* Reads the id from the name of a node that this version of dlock, or an older one, has made. Returns its length. The
 * id of another client's node is "". */
static size_t id_of(const char *name, char id[DLOCK_TOKEN_ID_LEN + 1])
{
	char token[DLOCK_TOKEN_LEN + 1] = "";
	const char *guid = !strncmp(name, "_c_", 3) ? name + 3 : "";

	strncpy(token, guid, strcspn(guid, "-") == DLOCK_TOKEN_LEN ? DLOCK_TOKEN_LEN : 0);
	return dlock_token_id(token, id) ? strlen(id) : 0;
}

/* Describes a party by its node. Another client's data may be anything, so this does not read it. A node that is gone,
 * or that the client may not read, tells nothing. */
static void describe(dlock_party *party, bool holds, const dlock_zk_op *node)
{
	if (!node->done || node->rc != ZOK) {
		return;
	}
	if (party->asked_at == 0 && node->stat.ctime > 0 && node->stat.ctime < INT64_MAX / 1000) {
		party->asked_at = node->stat.ctime * 1000;
	}
	party->fencing_token = holds ? node->stat.czxid : 0;
	if (party->id[0]) {
		dlock_party_describe(party, node->data, node->data_len);
	}
}

static dlock_zk_op *read_node(dlock_zk_session *session, const char *parent, const char *name)
{
	char *path = dlock_zk_child_path(parent, name);
	dlock_zk_op *op = path ? dlock_zk_ask(session, DLOCK_ZK_READ, path) : NULL;

	free(path);
	return op;
}

static dlock_status add_party(const dlock_zk_backend *backend, const dlock_zk_in_line *one, dlock_zk_op *node,
	dlock_inspection *out, dlock_error *error)
{
	char id[DLOCK_TOKEN_ID_LEN + 1];
	size_t len = id_of(one->name, id);
	dlock_status status = dlock_zk_response(node, NULL, error);
	dlock_party *party = status == DLOCK_OK ? dlock_inspection_add(out, one->granted, id, len) : NULL;

	if (!party) {
		return status == DLOCK_OK ? dlock_out_of_memory(error) : status;
	}
	if (backend->kind != DLOCK_ZK_LOCK) {
		party->permits = one->permits;
	}
	describe(party, one->granted, node);
	return DLOCK_OK;
}

/* Counts all parties. Reads the nodes of the first holder and of at most `most` holders and `most` waiters, in one
 * round trip. */
static dlock_status add_parties(const dlock_zk_backend *backend, const dlock_zk_op *listing, const char *parent,
	int most, dlock_inspection *out, dlock_error *error)
{
	int length;
	dlock_zk_in_line *line = dlock_zk_line_up(backend->kind, listing->children, listing->children_count, &length);
	dlock_zk_op **nodes = line ? calloc((size_t) length + 1, sizeof *nodes) : NULL;
	dlock_status status = nodes ? DLOCK_OK : dlock_out_of_memory(error);

	for (int i = 0; nodes && i < length; i++) {
		int64_t place = *(line[i].granted ? &out->holding : &out->waiting) += 1;
		line[i].shown = place <= most || (line[i].granted && place == 1);
		nodes[i] = line[i].shown ? read_node(listing->session, parent, line[i].name) : NULL;
	}
	for (int i = 0; status == DLOCK_OK && i < length; i++) {
		status = line[i].shown ? add_party(backend, &line[i], nodes[i], out, error) : DLOCK_OK;
	}
	for (int i = 0; nodes && i < length; i++) {
		dlock_zk_op_release(nodes[i]);
	}
	free(nodes);
	free(line);
	return status;
}

dlock_status dlock_zk_inspect(dlock_backend *base, const char *resource, size_t resource_len, int most,
	dlock_inspection *out, dlock_error *error)
{
	dlock_zk_backend *backend = (dlock_zk_backend *) base;
	char *path = dlock_zk_resource_path(backend, resource, resource_len);
	dlock_zk_op *listing;
	dlock_status status = list_at(backend, path, &listing, error);

	out->at = dlock_time_of_day();
	if (status == DLOCK_OK) {
		status = add_parties(backend, listing, path, most, out, error);
	}
	dlock_zk_op_release(listing);
	free(path);
	return status;
}

/* ---- the list ---- */

enum { MOST_LISTED = 1000, BATCH = 256 };

/* True if the name has the back end's prefix. Then *resource is the rest, which the caller frees. False also if out of
 * memory. */
static bool read_name(const dlock_zk_backend *backend, const char *name, char **resource, size_t *len)
{
	size_t prefix = backend->base.prefix.len;
	char *text = malloc(strlen(name) + 1);

	*len = text ? dlock_zk_resource_of(name, text) : 0;
	if (!text || *len < prefix || (prefix > 0 && memcmp(text, backend->base.prefix.text, prefix) != 0)) {
		free(text);
		return false;
	}
	*len -= prefix;
	memmove(text, text + prefix, *len);
	*resource = text;
	return true;
}

/* Without a prefix, ZkLock shares its root with semaphores and read/write locks. */
static bool has_locks(const dlock_zk_backend *backend, const dlock_zk_op *listing)
{
	for (int i = 0; i < listing->children_count; i++) {
		if (backend->kind == DLOCK_ZK_LOCK && !dlock_zk_is_lock(listing->children[i])) {
			return false;
		}
	}
	return listing->children_count > 0;
}

static dlock_status add_resource(const dlock_zk_backend *backend, const char *name, const char *path,
	const dlock_zk_op *listing, dlock_listing *out, dlock_error *error)
{
	char *resource;
	size_t len;

	if (listing->rc != ZOK) {
		dlock_status status = listing->rc == ZNONODE || listing->rc == ZNOAUTH
			? DLOCK_OK : dlock_zk_failure(listing->session, listing->rc, path, error);
		return listing->rc == ZNONODE || listing->rc == ZNOAUTH || status != DLOCK_OK ? status
			: dlock_fail(error, DLOCK_CONNECTION, "The connection to ZooKeeper broke: look again");
	}
	if (out->count >= MOST_LISTED || !has_locks(backend, listing) || !read_name(backend, name, &resource, &len)) {
		return DLOCK_OK;
	}
	dlock_listed *one = dlock_listing_add(out, resource, len);
	free(resource);
	if (!one) {
		return dlock_out_of_memory(error);
	}
	one->inspection.at = dlock_time_of_day();
	return add_parties(backend, listing, path, 1, &one->inspection, error);
}

/* Adds some children of the root. One round trip lists the children of all of them. */
static dlock_status add_resources(const dlock_zk_backend *backend, const dlock_zk_op *all, int first,
	dlock_listing *out, dlock_error *error)
{
	const char *root = backend->options.root[1] ? backend->options.root : "";
	char *paths[BATCH] = { NULL };
	dlock_zk_op *listings[BATCH] = { NULL };
	int count = all->children_count - first < BATCH ? all->children_count - first : BATCH;
	dlock_status status = DLOCK_OK;

	for (int i = 0; i < count; i++) {
		paths[i] = dlock_zk_child_path(root, all->children[first + i]);
		listings[i] = paths[i] ? dlock_zk_ask(all->session, DLOCK_ZK_LIST, paths[i]) : NULL;
	}
	for (int i = 0; i < count && status == DLOCK_OK; i++) {
		status = dlock_zk_response(listings[i], NULL, error);
		if (status == DLOCK_OK) {
			status = add_resource(backend, all->children[first + i], paths[i], listings[i], out, error);
		}
	}
	for (int i = 0; i < count; i++) {
		dlock_zk_op_release(listings[i]);
		free(paths[i]);
	}
	return status;
}

dlock_status dlock_zk_list_all(dlock_backend *base, int most, dlock_listing *out, dlock_error *error)
{
	dlock_zk_backend *backend = (dlock_zk_backend *) base;
	dlock_zk_op *all;
	dlock_status status = list_at(backend, backend->options.root, &all, error);

	for (int first = 0; status == DLOCK_OK && first < all->children_count; first += BATCH) {
		status = add_resources(backend, all, first, out, error);
	}
	dlock_zk_op_release(all);
	if (status == DLOCK_OK) {
		dlock_listing_sort(out, most);
	}
	return status;
}

/* ---- breaking ---- */

static dlock_status delete_node(
	dlock_zk_session *session, const char *parent, const char *name, dlock_error *error)
{
	char *path = dlock_zk_child_path(parent, name);
	dlock_zk_op *op = path ? dlock_zk_ask(session, DLOCK_ZK_DELETE, path) : NULL;
	dlock_status status = dlock_zk_response(op, NULL, error);

	if (status == DLOCK_OK && op->rc != ZOK) {
		status = op->rc == ZNONODE ? DLOCK_LOST : dlock_zk_failure(session, op->rc, path, error);
		if (status == DLOCK_OK) {
			status = dlock_fail(error, DLOCK_CONNECTION, "The connection to ZooKeeper broke: look again");
		}
	}
	dlock_zk_op_release(op);
	free(path);
	return status;
}

/* Waiters learn it from their watches, the holder's session from its next probe. */
dlock_status dlock_zk_break(dlock_backend *base, const char *resource, size_t resource_len, const dlock_break *how,
	dlock_nanos *left, dlock_error *error)
{
	dlock_zk_backend *backend = (dlock_zk_backend *) base;
	char id[DLOCK_TOKEN_ID_LEN + 1];
	dlock_zk_op *listing;
	int length = 0;

	if (!how->now) {
		return dlock_fail(error, DLOCK_FAILED, "On ZooKeeper the session is the lease, which only its process can end: "
			"a lock can only be given on at once");
	}
	dlock_status status = dlock_zk_list(backend, resource, resource_len, &listing, error);
	char *path = dlock_zk_resource_path(backend, resource, resource_len);
	dlock_zk_in_line *line = status == DLOCK_OK
		? dlock_zk_line_up(backend->kind, listing->children, listing->children_count, &length) : NULL;
	bool good = status != DLOCK_OK || (line && path);
	status = good ? status : dlock_out_of_memory(error);
	status = status == DLOCK_OK ? DLOCK_LOST : status;
	for (int i = 0; good && i < length && line[i].granted && status == DLOCK_LOST; i++) {
		if (id_of(line[i].name, id) > 0 && !strcmp(id, how->id)) {
			status = delete_node(listing->session, path, line[i].name, error);
		}
	}
	*left = 0;
	free(path);
	free(line);
	dlock_zk_op_release(listing);
	return status;
}

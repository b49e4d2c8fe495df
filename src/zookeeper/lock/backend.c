#include "backend.h"

#include <stdlib.h>
#include <string.h>

#include "../session/path.h"
#include "claim.h"

/* ZooKeeper's lock recipe (zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks), in Curator's form, for
 * locks, semaphores, readers and writers:
 *
 *   1. The client creates an ephemeral sequential node, root/resource/_c_<guid>-<label><number>, and lists its
 *      siblings.
 *   2. The names of the nodes tell which of them hold what they ask for (rank.h). The lowest number holds a lock.
 *   3. Every other client watches the nodes that must go before its turn can come: for a lock, the node before its own.
 *      When one of them goes, the client continues with step 2.
 *   4. To release, or to leave the queue, the client deletes its node. If the session ends, the server deletes it.
 *
 * For several locks, one transaction creates a node in each queue, or in none. Transactions have one order, and the
 * nodes have the same order in every queue. So one of the claims that wait for each other is first, and no cycle is
 * possible. A claim holds all its locks when it is first in all its queues.
 *
 * If the response to step 1 is lost, the client finds its node by the guid. The names are Curator's, so that its locks
 * and kazoo's exclude those of dlock. The session is the lease: the client holds a lock for as long as it knows that
 * the session lives (session.h). */

/* Forgets the nodes that the session's thread found gone: the claim does not own them any more. */
static void forget_gone(dlock_zk_claim *claim)
{
	for (int i = 0; claim->parts && i < claim->base.count; i++) {
		dlock_zk_part *part = &claim->parts[i];
		if (part->held && dlock_zk_own_node_is_gone(part->held)) {
			free(part->node);
			part->node = NULL;
		}
	}
}

/* The same, and ends the checks by that thread. The renewal thread does not look at the claim any more. */
static void forget(dlock_zk_claim *claim)
{
	forget_gone(claim);
	for (int i = 0; claim->parts && i < claim->base.count; i++) {
		dlock_zk_own_node_remove(claim->parts[i].held);
		claim->parts[i].held = NULL;
	}
}

/* True if the claim has all its nodes. */
static bool is_whole(const dlock_zk_claim *claim)
{
	int i = 0;

	while (i < claim->base.count && claim->parts[i].node) {
		i++;
	}
	return i == claim->base.count;
}

/* True if the session's thread has found one of the nodes gone. */
static bool is_gone(const dlock_zk_claim *claim)
{
	bool gone = false;

	for (int i = 0; !gone && i < claim->base.count; i++) {
		gone = claim->parts[i].held && dlock_zk_own_node_is_gone(claim->parts[i].held);
	}
	return gone;
}

static bool watch_nodes(dlock_zk_claim *claim)
{
	for (int i = 0; i < claim->base.count; i++) {
		dlock_zk_part *part = &claim->parts[i];
		part->held = dlock_zk_own_node_add(claim->session, part->node, claim);
		if (!part->held) {
			return false;
		}
	}
	return true;
}

/* Waits until the holder can rely on the lock: until the session's bound lies in the future, as it normally does at
 * once. */
static dlock_status confirm(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	dlock_zk_session *session = claim->session;
	dlock_nanos until = dlock_after(dlock_now(), session->asked);

	for (;;) {
		dlock_zk_view view = dlock_zk_session_view(session);
		if (view.state >= DLOCK_ZK_EXPIRED) {
			return DLOCK_OK;
		}
		if (view.state == DLOCK_ZK_CONNECTED && dlock_now() < view.deadline) {
			if (!watch_nodes(claim)) {
				return dlock_out_of_memory(error);
			}
			dlock_claim_move(&claim->base, DLOCK_CLAIM_HELD);
			claim->base.deadline = view.deadline;
			claim->base.received = claim->base.waited;
			return DLOCK_OK;
		}
		dlock_status status = dlock_zk_session_await(session, (dlock_zk_rest) { .seen = view.events }, until, wait);
		if (status == DLOCK_TIMEOUT) {
			return dlock_zk_no_response(session, error);
		}
		if (status != DLOCK_OK) {
			return status;
		}
	}
}

static dlock_status step(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	switch (claim->phase) {
		case DLOCK_ZK_ABSENT:
			return dlock_zk_claim_create(claim, error);
		case DLOCK_ZK_CREATING:
			return dlock_zk_claim_finish_create(claim, wait, error);
		case DLOCK_ZK_UNKNOWN:
			return dlock_zk_claim_recover(claim, wait, error);
		case DLOCK_ZK_NAMED:
			return dlock_zk_claim_identify(claim, wait, error);
		case DLOCK_ZK_PRESENT:
			return dlock_zk_queue_wait(claim, wait, error);
		default:
			return confirm(claim, wait, error);
	}
}

static dlock_status acquire(dlock_claim *base, const dlock_wait *wait, dlock_error *error)
{
	dlock_zk_claim *claim = (dlock_zk_claim *) base;
	dlock_status status = dlock_zk_claim_place(claim) ? DLOCK_OK : dlock_out_of_memory(error);
	/* Interruptions do not extend the limit, and what the caller does meanwhile does not use it up. */
	dlock_nanos limit = claim->left ? claim->left : dlock_zk_backend_of(base)->options.session_timeout;
	dlock_nanos until = dlock_after(dlock_now(), limit);

	claim->left = 0;
	dlock_claim_move(base, DLOCK_CLAIM_NEW);
	forget(claim);
	while (status == DLOCK_OK && base->state != DLOCK_CLAIM_HELD) {
		/* The wait must end even if connections break again and again. */
		if (claim->session && dlock_now() >= until && dlock_now() >= wait->deadline) {
			status = claim->phase >= DLOCK_ZK_NAMED || base->waited ? DLOCK_TIMEOUT
																	: dlock_zk_no_response(claim->session, error);
			break;
		}
		status = dlock_zk_claim_connect(claim, until, wait, error);
		if (status == DLOCK_CONNECTION && claim->phase >= DLOCK_ZK_NAMED && dlock_now() >= wait->deadline) {
			status = DLOCK_TIMEOUT; /* the claim was in the queue until its deadline */
		}
		if (status == DLOCK_OK) {
			status = step(claim, wait, error);
		}
	}
	if (status == DLOCK_INTERRUPTED) {
		claim->left = dlock_zk_left_until(until);
		dlock_claim_move(base, claim->phase == DLOCK_ZK_ABSENT ? DLOCK_CLAIM_NEW : DLOCK_CLAIM_WAITING);
	} else if (status != DLOCK_OK) {
		forget(claim);
		dlock_zk_claim_leave(claim);
		dlock_claim_move(base, DLOCK_CLAIM_NEW);
	}
	return status;
}

/* If the deadline has passed, or one of several nodes is gone, the claim leaves the locks. If the session lived on, the
 * nodes would otherwise keep other clients out without a holder. */
static void refresh(dlock_claim *base)
{
	dlock_zk_claim *claim = (dlock_zk_claim *) base;
	dlock_zk_view view = dlock_zk_session_view(claim->session);

	if (view.state >= DLOCK_ZK_EXPIRED || is_gone(claim)) {
		forget_gone(claim);
		dlock_zk_claim_leave(claim);
		dlock_claim_move(base, DLOCK_CLAIM_LOST);
		return;
	}
	dlock_claim_move(base, view.state == DLOCK_ZK_CONNECTED ? DLOCK_CLAIM_HELD : DLOCK_CLAIM_UNCERTAIN);
	dlock_claim_move_deadline(base, view.deadline);
	if (dlock_claim_expire_if_due(base)) {
		dlock_zk_claim_leave(claim);
		dlock_claim_move(base, DLOCK_CLAIM_LOST);
	}
}

static dlock_nanos bound(const dlock_claim *base)
{
	const dlock_zk_claim *claim = (const dlock_zk_claim *) base;
	dlock_zk_view view = dlock_zk_session_view(claim->session);

	return view.state >= DLOCK_ZK_EXPIRED || is_gone(claim) ? DLOCK_OVER : view.deadline;
}

static dlock_status lost(const dlock_claim *base, dlock_error *error)
{
	return dlock_fail(error, DLOCK_LOST, "The lock \"%s\" was lost: its ZooKeeper session or node is gone",
		dlock_claim_name(base).text);
}

static dlock_status extend(dlock_claim *base, dlock_nanos ttl, dlock_error *error)
{
	(void) ttl; /* the session is the lease */
	refresh(base);
	return base->state == DLOCK_CLAIM_LOST ? lost(base, error) : DLOCK_OK;
}

static dlock_status release(dlock_claim *base, dlock_error *error)
{
	dlock_zk_claim *claim = (dlock_zk_claim *) base;
	/* A node that was found gone does not belong to the claim, even if a new node has its name. */
	forget(claim);
	bool ours = claim->phase >= DLOCK_ZK_NAMED && is_whole(claim) && dlock_zk_claim_is_alive(claim);
	dlock_status status = ours ? dlock_zk_claim_delete(claim, error) : DLOCK_LOST;

	if (status == DLOCK_OK) {
		dlock_zk_claim_clear_nodes(claim);
	} else {
		dlock_zk_claim_leave(claim); /* some of several nodes may still exist */
	}
	return status == DLOCK_LOST ? lost(base, error) : status;
}

static void abandon(dlock_claim *base)
{
	dlock_zk_claim *claim = (dlock_zk_claim *) base;

	forget(claim);
	dlock_zk_claim_leave(claim);
	claim->left = claim->connect_left = 0;
}

static dlock_status locked(
	dlock_backend *base, const char *resource, size_t resource_len, bool *locked, dlock_error *error)
{
	dlock_zk_op *listing;
	dlock_status status = dlock_zk_list((dlock_zk_backend *) base, resource, resource_len, &listing, error);
	int32_t sequence;

	*locked = false;
	for (int i = 0; status == DLOCK_OK && i < listing->children_count && !*locked; i++) {
		*locked = dlock_zk_sequence(listing->children[i], &sequence);
	}
	dlock_zk_op_release(listing);
	return status;
}

static dlock_status available(
	dlock_backend *base, const char *resource, size_t resource_len, int64_t *permits, dlock_error *error)
{
	dlock_zk_backend *backend = (dlock_zk_backend *) base;
	dlock_zk_op *listing;
	dlock_status status = dlock_zk_list(backend, resource, resource_len, &listing, error);

	*permits = 0;
	if (status == DLOCK_OK) {
		int64_t held = dlock_zk_held_permits(backend->kind, listing->children, listing->children_count);
		status = held < 0 ? dlock_out_of_memory(error) : DLOCK_OK;
		*permits = held < base->capacity ? base->capacity - held : 0;
	}
	dlock_zk_op_release(listing);
	return status;
}

static bool is_same(const dlock_backend *a, const dlock_backend *b)
{
	const dlock_zk_backend *one = (const dlock_zk_backend *) a, *other = (const dlock_zk_backend *) b;

	return one->kind == other->kind && !strcmp(one->options.hosts, other->options.hosts)
		&& !strcmp(one->options.root, other->options.root);
}

static void dispose(dlock_claim *base)
{
	forget((dlock_zk_claim *) base);
	dlock_zk_claim_unplace((dlock_zk_claim *) base);
}

static void destroy(dlock_backend *base)
{
	dlock_zk_backend *backend = (dlock_zk_backend *) base;

	dlock_zk_options_free(&backend->options);
	free(backend);
}

static const dlock_backend_ops ops = {
	.name = "zookeeper",
	.claim_size = sizeof(dlock_zk_claim),
	.session_lease = true,
	.acquire = acquire,
	.extend = extend,
	.release = release,
	.abandon = abandon,
	.refresh = refresh,
	.bound = bound,
	.is_same = is_same,
	.locked = locked,
	.inspect = dlock_zk_inspect,
	.list = dlock_zk_list_all,
	.break_claim = dlock_zk_break,
	.available = available,
	.dispose = dispose,
	.destroy = destroy,
};

dlock_backend *dlock_zookeeper_new(
	dlock_zk_pool *pool, const dlock_zk_options *options, const char *prefix, size_t prefix_len, int64_t capacity)
{
	dlock_zk_backend *backend = dlock_backend_new(&ops, sizeof *backend, prefix, prefix_len);

	if (!backend) {
		return NULL;
	}
	if (capacity > 0) {
		backend->base.capacity = capacity;
		backend->kind = capacity < DLOCK_PERMITS_ALL ? DLOCK_ZK_SEMAPHORE : DLOCK_ZK_READ_WRITE;
	}
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

/* A claim's position in its queues, and how the claim waits until the nodes in its way are gone. */

#include "claim.h"

#include <stdlib.h>
#include <string.h>

#include "../session/path.h"
#include "../session/watches.h"

/* A semaphore's waiter must watch as many nodes as there are permits, because holders end in any order. If these are
 * more, the waiter watches the list of the nodes instead. That costs a waiter less, but each node that comes or goes
 * wakes all waiters. For several locks, a waiter watches one node in each queue. */
enum { MOST_WATCHED = 32 };

/* A claim's position in its queues. A part's listing exists as long as its rank. */
typedef struct {
	dlock_zk_rank ranks[DLOCK_SEVERAL_MAX];
	int obstacles, looked_at;
	bool gone, again; /* a node is gone; a response is missing, so look again */
} standing;

/* One node to be watched, and the request for it. */
typedef struct {
	char *path;
	dlock_zk_op *op; /* NULL: the node is watched already */
} obstacle;

static bool is_among(const char *name, const dlock_zk_op *listing)
{
	for (int i = 0; i < listing->children_count; i++) {
		if (strcmp(listing->children[i], name) == 0) {
			return true;
		}
	}
	return false;
}

static dlock_status await_news(dlock_zk_claim *claim, unsigned long seen, const dlock_wait *wait)
{
	return dlock_zk_session_await(
		claim->session, (dlock_zk_rest) { .news = &claim->news, .seen = seen }, wait->deadline, wait);
}

/* Sets *there if the list has all obstacles. The server watches the list from now on. */
static dlock_status finish_list(const dlock_zk_claim *claim, const char *parent, const dlock_zk_rank *rank,
	dlock_zk_op *watch, const dlock_wait *wait, bool *there, dlock_error *error)
{
	dlock_status status = dlock_zk_response(watch, wait, error);

	*there = status == DLOCK_OK && watch->rc == ZOK;
	for (int i = 0; *there && i < rank->count; i++) {
		*there = is_among(rank->obstacles[i], watch);
	}
	return status == DLOCK_OK && watch->rc != ZOK && watch->rc != ZNONODE
		? dlock_zk_failure(claim->session, watch->rc, parent, error) : status;
}

/* Waits until a list of nodes changes, if the lists have all obstacles. */
static dlock_status await_lists(
	dlock_zk_claim *claim, const standing *own, const dlock_wait *wait, dlock_error *error)
{
	unsigned long seen = dlock_zk_session_events(claim->session, &claim->news);
	dlock_zk_op *watches[DLOCK_SEVERAL_MAX] = { NULL };
	dlock_status status = DLOCK_OK;
	bool there = true;

	dlock_zk_watch_only(claim->session, &claim->news, NULL, 0);
	for (int i = 0; i < claim->base.count; i++) {
		if (own->ranks[i].count > 0) {
			watches[i] = dlock_zk_ask_watching(
				claim->session, DLOCK_ZK_WATCH_CHILDREN, claim->parts[i].parent, &claim->news);
		}
	}
	for (int i = 0; status == DLOCK_OK && there && i < claim->base.count; i++) {
		if (own->ranks[i].count > 0) {
			status = finish_list(
				claim, claim->parts[i].parent, &own->ranks[i], watches[i], wait, &there, error);
		}
	}
	for (int i = 0; i < claim->base.count; i++) {
		dlock_zk_op_release(watches[i]);
	}
	return status == DLOCK_OK && there ? await_news(claim, seen, wait) : status;
}

/* Requests the watches that are missing. Returns false if out of memory. */
static bool send_watches(dlock_zk_claim *claim, const standing *own, obstacle obstacles[])
{
	char *paths[DLOCK_SEVERAL_MAX];
	int count = 0;

	for (int i = 0; i < claim->base.count; i++) {
		for (int j = 0; j < own->ranks[i].count; j++, count++) {
			obstacles[count].path = dlock_zk_child_path(claim->parts[i].parent, own->ranks[i].obstacles[j]);
			paths[count] = obstacles[count].path;
			if (!paths[count]) {
				return false;
			}
		}
	}
	dlock_zk_watch_only(claim->session, &claim->news, paths, count);
	for (int i = 0; i < count; i++) {
		if (!dlock_zk_is_watched(claim->session, paths[i], &claim->news)
			&& !(obstacles[i].op = dlock_zk_ask_watching(claim->session, DLOCK_ZK_WATCH, paths[i], &claim->news))) {
			return false;
		}
	}
	return true;
}

/* DLOCK_OK: *rc is ZOK if all obstacles are watched. Otherwise it tells why one is not. */
static dlock_status finish_watches(const dlock_zk_claim *claim, const obstacle obstacles[], int count,
	const dlock_wait *wait, int *rc, dlock_error *error)
{
	*rc = ZOK;
	for (int i = 0; i < count && *rc == ZOK; i++) {
		dlock_zk_op *op = obstacles[i].op;
		dlock_status status = op ? dlock_zk_response(op, wait, error) : DLOCK_OK;
		if (status != DLOCK_OK) {
			return status;
		}
		*rc = op ? op->rc : ZOK;
		if (*rc != ZOK && *rc != ZNONODE && *rc != ZNOAUTH) {
			return dlock_zk_failure(claim->session, *rc, obstacles[i].path, error);
		}
	}
	return DLOCK_OK;
}

/* Waits until an obstacle goes, or the session changes. */
static dlock_status await_obstacles(
	dlock_zk_claim *claim, const standing *own, const dlock_wait *wait, dlock_error *error)
{
	obstacle obstacles[DLOCK_SEVERAL_MAX] = { { NULL, NULL } };
	unsigned long seen = dlock_zk_session_events(claim->session, &claim->news);
	int rc = ZOK;
	dlock_status status = send_watches(claim, own, obstacles)
		? finish_watches(claim, obstacles, own->obstacles, wait, &rc, error)
		: dlock_out_of_memory(error);

	for (int i = 0; i < own->obstacles; i++) {
		dlock_zk_op_release(obstacles[i].op);
		free(obstacles[i].path);
	}
	if (status != DLOCK_OK || rc != ZOK) {
		/* Some obstacles are not watched, or not known to be. */
		dlock_zk_watch_only(claim->session, &claim->news, NULL, 0);
	}
	if (status == DLOCK_OK && rc == ZNOAUTH) {
		/* This is another user's node. The server tells a client nothing of a node that it may not read, not even to a
		 * watch by exists(). */
		return await_lists(claim, own, wait, error);
	}
	return status == DLOCK_OK && rc == ZOK ? await_news(claim, seen, wait) : status;
}

static dlock_status look_at(dlock_zk_claim *claim, int i, standing *own, const dlock_wait *wait, dlock_error *error)
{
	dlock_zk_part *part = &claim->parts[i];
	dlock_zk_rank *rank = &own->ranks[i];
	dlock_status status = dlock_zk_response_or_repeat(&part->listing, part->parent, wait, error);

	if (status != DLOCK_OK || !part->listing) {
		own->again = true;
		return status;
	}
	if (!dlock_zk_rank_find(rank, dlock_zk_backend_of(&claim->base)->kind, part->listing->children,
			part->listing->children_count, part->node + strlen(part->parent) + 1)) {
		return dlock_out_of_memory(error);
	}
	part->granted = rank->granted;
	if (!rank->present) {
		free(part->node);
		part->node = NULL;
		own->gone = true;
	}
	own->obstacles += rank->count;
	own->looked_at++;
	return DLOCK_OK;
}

/* Looks at the queues in which the turn had not come yet. */
static dlock_status look(dlock_zk_claim *claim, standing *own, const dlock_wait *wait, dlock_error *error)
{
	dlock_status status = DLOCK_OK;

	for (int i = 0; i < claim->base.count; i++) {
		dlock_zk_part *part = &claim->parts[i];
		if (part->listing && part->listing->rc != ZOK) {
			dlock_zk_op_release(part->listing);
			part->listing = NULL;
		}
		if (!part->granted && !part->listing) {
			part->listing = dlock_zk_ask(claim->session, DLOCK_ZK_LIST, part->parent);
		}
	}
	for (int i = 0; status == DLOCK_OK && !own->again && i < claim->base.count; i++) {
		if (!claim->parts[i].granted) {
			status = look_at(claim, i, own, wait, error);
		}
	}
	return status;
}

/* The turn has come in each queue, in some of them before the last look. A client may have deleted a node there
 * meanwhile, so the claim looks at all of them once more. */
static void finish(dlock_zk_claim *claim, const standing *own)
{
	for (int i = 0; own->looked_at < claim->base.count && i < claim->base.count; i++) {
		claim->parts[i].granted = false;
	}
	claim->phase = own->looked_at < claim->base.count ? DLOCK_ZK_PRESENT : DLOCK_ZK_GRANTED;
}

dlock_status dlock_zk_queue_wait(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	standing own = { .obstacles = 0 };
	dlock_status status = look(claim, &own, wait, error);

	if (status != DLOCK_OK || own.again) {
		/* The caller calls again. */
	} else if (own.gone) {
		dlock_zk_claim_leave(claim); /* a client deleted a node, perhaps with the whole resource */
	} else if (own.obstacles == 0) {
		finish(claim, &own);
	} else if (dlock_now() >= wait->deadline) {
		status = DLOCK_TIMEOUT;
	} else {
		claim->base.waited = true;
		bool many = claim->base.count == 1 && own.obstacles > MOST_WATCHED;
		status = (many ? await_lists : await_obstacles)(claim, &own, wait, error);
	}
	for (int i = 0; i < claim->base.count; i++) {
		dlock_zk_rank_free(&own.ranks[i]);
		dlock_zk_op_release(claim->parts[i].listing);
		claim->parts[i].listing = NULL;
	}
	return status;
}

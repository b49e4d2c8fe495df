/* Where a claim stands in its queue, and what it waits for there: that the nodes go which keep it from its turn. */

#include "claim.h"

#include <stdlib.h>
#include <string.h>

#include "../session/path.h"
#include "../session/watches.h"

/* Of a semaphore as many nodes have to be watched as it has permits, since its holders end in any order. Where these
 * are more, the list of the nodes is watched instead: it costs a waiter less, but each that comes or goes wakes them
 * all. */
enum { MOST_WATCHED = 32 };

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

/* Waits until the list of nodes changes, if the obstacles are all on it. */
static dlock_status await_list(
	dlock_zk_claim *claim, const dlock_zk_rank *rank, const dlock_wait *wait, dlock_error *error)
{
	unsigned long seen = dlock_zk_session_events(claim->session, &claim->news);

	dlock_zk_watch_only(claim->session, &claim->news, NULL, 0);
	dlock_zk_op *watch = dlock_zk_ask_watching(claim->session, DLOCK_ZK_WATCH_CHILDREN, claim->parent, &claim->news);
	dlock_status status = dlock_zk_response(watch, wait, error);
	bool there = status == DLOCK_OK && watch->rc == ZOK;

	for (int i = 0; there && i < rank->count; i++) {
		there = is_among(rank->obstacles[i], watch);
	}
	if (there) {
		status = await_news(claim, seen, wait);
	} else if (status == DLOCK_OK && watch->rc != ZOK && watch->rc != ZNONODE) {
		status = dlock_zk_failure(claim->session, watch->rc, claim->parent, error);
	}
	dlock_zk_op_release(watch);
	return status;
}

/* One node to be watched, and the request for it. */
typedef struct {
	char *path;
	dlock_zk_op *op; /* NULL: it has been watched all the time */
} obstacle;

/* Asks for the watches that are missing. False: out of memory. */
static bool send_watches(dlock_zk_claim *claim, const dlock_zk_rank *rank, obstacle obstacles[])
{
	char *paths[MOST_WATCHED];

	for (int i = 0; i < rank->count; i++) {
		paths[i] = obstacles[i].path = dlock_zk_child_path(claim->parent, rank->obstacles[i]);
		if (!paths[i]) {
			return false;
		}
	}
	dlock_zk_watch_only(claim->session, &claim->news, paths, rank->count);
	for (int i = 0; i < rank->count; i++) {
		if (!dlock_zk_is_watched(claim->session, paths[i], &claim->news)
			&& !(obstacles[i].op = dlock_zk_ask_watching(claim->session, DLOCK_ZK_WATCH, paths[i], &claim->news))) {
			return false;
		}
	}
	return true;
}

/* With DLOCK_OK: *rc is ZOK where all are watched, or says why one is not. */
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
	dlock_zk_claim *claim, const dlock_zk_rank *rank, const dlock_wait *wait, dlock_error *error)
{
	obstacle obstacles[MOST_WATCHED] = { { NULL, NULL } };
	unsigned long seen = dlock_zk_session_events(claim->session, &claim->news);
	int rc = ZOK;
	dlock_status status = send_watches(claim, rank, obstacles)
		? finish_watches(claim, obstacles, rank->count, wait, &rc, error)
		: dlock_out_of_memory(error);

	for (int i = 0; i < rank->count; i++) {
		dlock_zk_op_release(obstacles[i].op);
		free(obstacles[i].path);
	}
	if (status != DLOCK_OK || rc != ZOK) {
		/* some of them are not watched, or not known to be */
		dlock_zk_watch_only(claim->session, &claim->news, NULL, 0);
	}
	if (status == DLOCK_OK && rc == ZNOAUTH) {
		/* Another user's node. The server tells nothing of what we may not read, not even to a watch by exists(). */
		return await_list(claim, rank, wait, error);
	}
	return status == DLOCK_OK && rc == ZOK ? await_news(claim, seen, wait) : status;
}

dlock_status dlock_zk_queue_wait(dlock_zk_claim *claim, const dlock_wait *wait, dlock_error *error)
{
	const char *name = claim->node + strlen(claim->parent) + 1;
	dlock_zk_op *listing = claim->listing;
	dlock_zk_rank rank;

	claim->listing = NULL;
	if (!listing || listing->rc != ZOK) {
		dlock_zk_op_release(listing);
		listing = dlock_zk_ask(claim->session, DLOCK_ZK_LIST, claim->parent);
	}
	dlock_status status = dlock_zk_response_or_repeat(&listing, claim->parent, wait, error);
	if (status != DLOCK_OK || !listing) {
		return status;
	}
	if (!dlock_zk_rank_find(
			&rank, dlock_zk_backend_of(&claim->base)->kind, listing->children, listing->children_count, name)) {
		status = dlock_out_of_memory(error);
	} else if (!rank.present) {
		dlock_zk_claim_clear_node(claim); /* deleted by somebody, perhaps with the whole resource */
	} else if (rank.granted) {
		claim->phase = DLOCK_ZK_GRANTED;
	} else if (dlock_now() >= wait->deadline) {
		status = DLOCK_TIMEOUT;
	} else {
		claim->base.waited = true;
		status = (rank.count > MOST_WATCHED ? await_list : await_obstacles)(claim, &rank, wait, error);
	}
	dlock_zk_rank_free(&rank);
	dlock_zk_op_release(listing);
	return status;
}

#ifndef DLOCK_REDIS_SURVEY_H
#define DLOCK_REDIS_SURVEY_H

#include <stdbool.h>

#include "../../base/clock.h"
#include "call.h"

/* Have a master and its replicas been nowhere else for some time, as they say themselves (INFO)? A lock is on
 * `replicas` + 1 nodes. If nodes - `replicas` nodes have always been with the master, the others are too few for a
 * lease that the master does not know. A replica that comes from another master does a full resynchronization, and its
 * backlog begins there. docs/fail-over.md has the reasons. */

/* An ID of 40 hexadecimal digits and its final NUL. */
enum { DLOCK_NODE_ID = 41, DLOCK_NODES_MAX = 16, DLOCK_ATTACHED_MAX = 44, DLOCK_NAMED_MAX = DLOCK_NODES_MAX * 40 };

/* One node. */
typedef struct {
	char run_id[DLOCK_NODE_ID];
	char replid[DLOCK_NODE_ID];
	int64_t first;                   /* the first offset in its backlog; -1: it has none */
	int64_t uptime;                  /* in seconds, rounded up; -1: not known */
	int64_t clock_least, clock_most; /* bounds, in ms, of how far the node's clock is ahead of this process' clock */
} dlock_node;

/* All nodes. */
typedef struct {
	dlock_nanos at;                    /* when the survey was begun */
	char replid[DLOCK_NODE_ID];        /* of the master; "": nothing is known */
	char attached[DLOCK_ATTACHED_MAX]; /* how often replicas had attached before any other node was asked; epoch.lua */
	/* enough nodes, all up for the guard, have backlogs that begin here or before; -1: too few have */
	int64_t first;
	int64_t skew;  /* ms by which any two clocks may differ; -1: not known */
	int64_t ready; /* ms until enough nodes have been up for long enough, or -1 */
} dlock_survey;

/* Reads a node's replies to INFO replication, INFO server and TIME. This process sent the first request at `sent`, and
 * read the last reply at `read`. False: the replies are unusable. */
bool dlock_node_read(dlock_node *node, const dlock_call *replication, const dlock_call *server, const dlock_call *time,
	dlock_nanos sent, dlock_nanos read);

/* Reads from INFO stats how often replicas have attached. False: it does not say. */
bool dlock_survey_begin(dlock_survey *survey, const dlock_call *stats);

/* The first node, and the nodes that follow it, as "run_id:first," for each, with 16 digits of its run id. */
void dlock_survey_name(const dlock_node *nodes, int count, char *out, size_t size);

/* The first node is the master. `all`: each replica that it named has answered. `enough`: the number of nodes that must
 * have been nowhere else. `guard`: how long such a node must have been up, because a node restarted with old data has
 * forgotten what it confirmed. */
void dlock_survey_end(
	dlock_survey *survey, const dlock_node *nodes, int count, bool all, int enough, dlock_nanos guard);

#endif

#ifndef DLOCK_REDIS_SURVEY_H
#define DLOCK_REDIS_SURVEY_H

#include <stdbool.h>

#include "../../base/clock.h"
#include "call.h"

/* Whether a master and its replicas have been nowhere else for some time, by what they say of themselves (INFO). What
 * a lock needs is on `replicas` + 1 nodes. So a lease that the master does not know is on none of nodes - replicas that
 * have been with it all the time: a replica that comes from another master takes a full copy, and its backlog begins
 * there. docs/fail-over.md has the reasons. */

/* ID of 40 hexadecimal digits, and what ends a string. */
enum { DLOCK_NODE_ID = 41, DLOCK_NODES_MAX = 16, DLOCK_ATTACHED_MAX = 44, DLOCK_NAMED_MAX = DLOCK_NODES_MAX * 40 };

/* One node. */
typedef struct {
	char run_id[DLOCK_NODE_ID];
	char replid[DLOCK_NODE_ID];
	int64_t first;  /* the first offset in its backlog; -1: it has none */
	int64_t uptime; /* in seconds, rounded up; -1: not known */
	int64_t clock_least, clock_most; /* its clock is ahead of this process' by something between, in ms */
} dlock_node;

/* All of them. */
typedef struct {
	dlock_nanos at;                    /* when it was begun */
	char replid[DLOCK_NODE_ID];        /* of the master; "": nothing is known */
	char attached[DLOCK_ATTACHED_MAX]; /* how often replicas had attached to it before any other was asked; epoch.lua */
	int64_t first; /* enough nodes, all up for the guard, have backlogs that begin here or before; -1: too few have */
	int64_t skew;  /* ms by which the clocks of any two may differ; -1: not known */
	int64_t ready; /* -1, or the ms after which enough nodes are up for long enough */
} dlock_survey;

/* Reads what a node has replied to INFO replication, INFO server and TIME, of which the first was sent and the last
 * read by this process at these times. False: nothing that can be used. */
bool dlock_node_read(dlock_node *node, const dlock_call *replication, const dlock_call *server, const dlock_call *time,
	dlock_nanos sent, dlock_nanos read);

/* Reads how often replicas have attached, from INFO stats. False: it does not say. */
bool dlock_survey_begin(dlock_survey *survey, const dlock_call *stats);

/* The nodes that follow the first one, itself among them, as "run_id:first," of each, with 16 digits of its run id. */
void dlock_survey_name(const dlock_node *nodes, int count, char *out, size_t size);

/* The first node is the master; `all`: each replica that it named has answered. `enough`: nodes that must have been
 * nowhere else; `guard`: for which a node must have been up, since one that was restarted with old data has forgotten
 * what it confirmed. */
void dlock_survey_end(
	dlock_survey *survey, const dlock_node *nodes, int count, bool all, int enough, dlock_nanos guard);

#endif

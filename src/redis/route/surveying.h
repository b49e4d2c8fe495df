#ifndef DLOCK_REDIS_SURVEYING_H
#define DLOCK_REDIS_SURVEYING_H

#include "../wire/survey.h"
#include "route.h"

/* Asks a master, and the replicas that it names, where they have been. */

typedef struct {
	dlock_call *replication, *server, *time;
	dlock_nanos sent, read; /* read: 0: not yet */
} dlock_asked_node;

/* A task. It may be begun again once it has come to something. */
typedef struct {
	/* Its owner's. */
	const dlock_masters *masters;
	dlock_endpoint *master;
	int enough;
	dlock_nanos guard, until;

	dlock_survey survey; /* what it has come to; replid "": nothing */
	char named[DLOCK_NAMED_MAX]; /* dlock_survey_name() of the nodes */

	/* Its own. */
	dlock_task task;
	dlock_call *stats;
	dlock_asked_node asked[DLOCK_NODES_MAX];
	dlock_node nodes[DLOCK_NODES_MAX];
	int count;
	bool all; /* each replica that the master named was asked, and has answered */
	dlock_nanos limit;
} dlock_surveying;

/* DLOCK_OK, whatever is found. */
dlock_status dlock_surveying_step(dlock_surveying *own, dlock_loop *loop, dlock_nanos now);

/* Lets go of what it has. */
void dlock_surveying_end(dlock_surveying *own);

#endif

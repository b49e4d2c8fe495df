#ifndef DLOCK_REDIS_SURVEYING_H
#define DLOCK_REDIS_SURVEYING_H

#include "../wire/survey.h"
#include "route.h"

/* Asks a master and the replicas that it names where they have been. */

typedef struct {
	dlock_call *replication, *server, *time;
	dlock_nanos sent, read; /* `read`: 0 until all replies are read */
} dlock_asked_node;

/* A task. It may be begun again after its end. */
typedef struct {
	/* Set by the owner. */
	const dlock_masters *masters;
	dlock_endpoint *master;
	int enough;
	dlock_nanos guard, until;

	dlock_survey survey;         /* the outcome; replid "": nothing is known */
	char named[DLOCK_NAMED_MAX]; /* dlock_survey_name() of the nodes */

	/* Internal. */
	dlock_task task;
	dlock_call *stats;
	dlock_asked_node asked[DLOCK_NODES_MAX];
	dlock_node nodes[DLOCK_NODES_MAX];
	int count;
	bool all; /* each replica that the master named was asked, and has answered */
	dlock_nanos limit;
} dlock_surveying;

/* Returns DLOCK_OK at the end, whatever it has found. */
dlock_status dlock_surveying_step(dlock_surveying *own, dlock_loop *loop, dlock_nanos now);

/* Frees what the task has. */
void dlock_surveying_end(dlock_surveying *own);

#endif

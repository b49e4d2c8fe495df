#ifndef DLOCK_REDIS_BALLOT_H
#define DLOCK_REDIS_BALLOT_H

#include "restart_guard.h"
#include "requests.h"

/* One question to many servers at once, until a quorum of them has said yes or can no longer do so. What yes means is the
 * question's business; whose yes counts is the restart guard's. */

/* A server that is asked. */
typedef struct {
	dlock_conn *conn; /* the pool's */
	bool failed;
	dlock_error error; /* why, if it failed in the last operation */
} dlock_member;

/* DLOCK_VOTE_VOID: a yes that does not count, since the server may have forgotten what it said before; see guard.h. */
typedef enum { DLOCK_VOTE_PENDING, DLOCK_VOTE_YES, DLOCK_VOTE_NO, DLOCK_VOTE_NONE, DLOCK_VOTE_VOID } dlock_vote;

/* What a call came to. 1: yes, 0: no, -1: no vote, with the reason. */
typedef int dlock_opinion(const dlock_call *call, const dlock_conn *conn, dlock_answer *answer, dlock_error *error);

typedef struct {
	dlock_member *members;
	int count, quorum;
	dlock_opinion *read;
	dlock_call *calls[DLOCK_MOST_SERVERS]; /* NULL: not asked */
	dlock_vote votes[DLOCK_MOST_SERVERS];
	dlock_answer answers[DLOCK_MOST_SERVERS];
	int pending, yes, no;
	dlock_guard guard;
	int young; /* void votes that will count some day */
	int under_age; /* servers that a yes of does not count yet, whatever they said */
	dlock_nanos of_age[DLOCK_MOST_SERVERS]; /* of a void vote: when it would count */
} dlock_ballot;

/* Yes is more than 0; where it is a time, it stands in answer->pttl. */
dlock_opinion dlock_ballot_read_integer;

/* Nobody is asked yet, and every yes counts: a question that needs the guard begins ballot->guard itself. */
void dlock_ballot_begin(dlock_ballot *ballot, dlock_member *members, int count, int quorum, dlock_opinion *read);

/* Sends the call, which is the ballot's then. NULL, when out of memory, is no vote. */
void dlock_ballot_ask(dlock_ballot *ballot, int server, dlock_call *call);

/* Need not be asked: it can only say no. */
void dlock_ballot_absent(dlock_ballot *ballot, int server);

/* Counts the votes that have come. Decided when a quorum said yes, or when it no longer can. `ballot` is untyped for
 * dlock_exchange(). */
bool dlock_ballot_is_decided(void *ballot);

/* Drives it until it is decided, or `until` has come; then what is still open counts as no vote. */
void dlock_ballot_hold(dlock_ballot *ballot, dlock_nanos until);

/* Waits a moment for the votes that can change nothing any more. */
void dlock_ballot_hear_out(dlock_ballot *ballot);

/* Lets go of the calls. What is not answered yet goes on by itself. The votes stay. */
void dlock_ballot_end(dlock_ballot *ballot);

/* Yes, no (DLOCK_LOST), or too few voices for either. */
dlock_status dlock_ballot_outcome(const dlock_ballot *ballot, dlock_error *error);

/* DLOCK_QUORUM, with what each server said that has no vote. */
dlock_status dlock_ballot_no_quorum(const dlock_ballot *ballot, dlock_error *error);

/* The servers that voted so, one bit each. */
uint64_t dlock_ballot_voters(const dlock_ballot *ballot, dlock_vote vote);

/* When the next server that said yes comes of age. */
dlock_nanos dlock_ballot_next_of_age(const dlock_ballot *ballot);

/* Were all servers started together, and would have a vote if none of them had refused? */
bool dlock_ballot_is_refused_new_set(const dlock_ballot *ballot);

/* How many servers have to say yes, as far as is known: where fewer than a quorum are of age, all. */
int dlock_ballot_needed(const dlock_ballot *ballot);

/* Would there be enough voices, once the young servers are of age? */
bool dlock_ballot_lacks_only_age(const dlock_ballot *ballot);

#endif

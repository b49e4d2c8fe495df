#ifndef DLOCK_REDIS_BALLOT_H
#define DLOCK_REDIS_BALLOT_H

#include "../request/requests.h"
#include "uptime_rule.h"

/* One question to many servers at once, until a quorum of them has said yes or can no longer do so. The reader of the
 * replies says what a yes is, the uptime rule which servers' yes counts. Nothing here sleeps: tasks wait for it. */

/* What a server did in the last operation, for callers that ask. */
typedef struct {
	bool failed; /* it had no vote */
	dlock_error error; /* why */
} dlock_outcome;

/* DLOCK_VOTE_VOID: a yes that does not count, since the server may have forgotten another; see uptime_rule.h. */
typedef enum { DLOCK_VOTE_NONE, DLOCK_VOTE_PENDING, DLOCK_VOTE_YES, DLOCK_VOTE_NO, DLOCK_VOTE_VOID } dlock_vote;

/* A server that is asked, and what it says. */
typedef struct {
	dlock_conn *conn;       /* the owner's */
	dlock_outcome *outcome; /* NULL: no caller asks */
	dlock_call *call;       /* NULL: not asked */
	dlock_vote vote;
	dlock_response response;
	dlock_nanos eligible_at; /* of a void vote: from when on it would count */
} dlock_voter;

typedef struct {
	dlock_voter *voters; /* the owner's */
	int count, quorum;
	dlock_reader *read;
	int pending, yes, no;
	bool tells_no; /* goes on until a no is certain as well, or impossible; otherwise it ends when a quorum cannot be
					  had any more */
	dlock_uptime_rule uptime_rule;
	int ineligible; /* servers whose yes does not count yet, whatever they voted */
	int maturing;   /* void votes of servers that become eligible at a known time */
} dlock_ballot;

/* No server has been asked yet, and every yes counts: a question that needs the rule begins ballot->uptime_rule. */
void dlock_ballot_begin(dlock_ballot *ballot, dlock_voter *voters, int count, int quorum, dlock_reader *read);

/* Sends the call, which is the ballot's from now on. NULL, when out of memory, is no vote. */
void dlock_ballot_ask(dlock_ballot *ballot, int server, dlock_call *call);

/* Counts a no without asking. */
void dlock_ballot_absent(dlock_ballot *ballot, int server);

/* Counts the votes that have come. True when it is decided. */
bool dlock_ballot_count(dlock_ballot *ballot);

/* The same for a step that waits for it until `until`; then what is still open counts as no vote. */
bool dlock_ballot_ends(dlock_ballot *ballot, dlock_nanos until, dlock_loop *loop, dlock_nanos now);

/* How long the rest of the votes is waited for where all servers answer. */
#define DLOCK_REST_OF_VOTES (20 * DLOCK_MS)

/* For a step that waits for votes that can change nothing any more: have `enough` servers voted, is none left, or is it
 * `until`? */
bool dlock_ballot_drains(dlock_ballot *ballot, int enough, dlock_nanos until, dlock_loop *loop, dlock_nanos now);

/* The number of servers that have voted, whether that counts or not. */
int dlock_ballot_turnout(const dlock_ballot *ballot);

/* Releases the calls; one without a reply goes on by itself. The votes stay. */
void dlock_ballot_end(dlock_ballot *ballot);

/* DLOCK_OK, DLOCK_LOST (no), or DLOCK_QUORUM: too few votes for either. */
dlock_status dlock_ballot_outcome(const dlock_ballot *ballot, dlock_error *error);

/* DLOCK_QUORUM, with the reason of each server that has no vote. */
dlock_status dlock_ballot_no_quorum(const dlock_ballot *ballot, dlock_error *error);

/* The servers that voted so, one bit each. */
uint64_t dlock_ballot_voters(const dlock_ballot *ballot, dlock_vote vote);

/* How many servers have to say yes, as far as is known: all, where fewer than a quorum are eligible. */
int dlock_ballot_needed(const dlock_ballot *ballot);

/* When the next server that said yes becomes eligible. */
dlock_nanos dlock_ballot_next_eligible_at(const dlock_ballot *ballot);

/* Would there be enough votes if all servers that said yes were eligible? */
bool dlock_ballot_lacks_only_uptime(const dlock_ballot *ballot);

/* Is it a set that was started together, of which one refused? Without a no all would have a vote. */
bool dlock_ballot_is_refused_new_set(const dlock_ballot *ballot);

#endif

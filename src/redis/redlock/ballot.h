#ifndef DLOCK_REDIS_BALLOT_H
#define DLOCK_REDIS_BALLOT_H

#include "../request/requests.h"
#include "uptime_rule.h"

/* One question to many servers at once, until a quorum has said yes or can no longer do so. The reader of the replies
 * says what a yes is, and the uptime rule says which servers' yes counts. Nothing here sleeps: tasks wait for a
 * ballot. */

/* What a server did in the last operation, for callers that ask. */
typedef struct {
	bool failed; /* it had no vote */
	dlock_error error; /* why it had none */
} dlock_outcome;

/* DLOCK_VOTE_VOID: a yes that does not count, because the server may have forgotten another one; see uptime_rule.h. */
typedef enum { DLOCK_VOTE_NONE, DLOCK_VOTE_PENDING, DLOCK_VOTE_YES, DLOCK_VOTE_NO, DLOCK_VOTE_VOID } dlock_vote;

/* A server that is asked, and its answer. */
typedef struct {
	dlock_conn *conn;       /* belongs to the owner */
	dlock_outcome *outcome; /* NULL: no caller asks */
	dlock_call *call;       /* NULL: not asked */
	dlock_vote vote;
	dlock_response response;
	dlock_nanos eligible_at; /* of a void vote: from when on it would count */
} dlock_voter;

typedef struct {
	dlock_voter *voters; /* belong to the owner */
	int count, quorum;
	dlock_reader *read;
	int pending, yes, no;
	/* the ballot goes on until a no is certain or impossible; otherwise it ends when a quorum is impossible */
	bool tells_no;
	dlock_uptime_rule uptime_rule;
	int ineligible; /* servers whose yes does not count yet, whatever they voted */
	int maturing;   /* void votes of servers that become eligible at a known time */
} dlock_ballot;

/* Begins a ballot in which no server was asked yet. Every yes counts, unless the caller then begins
 * ballot->uptime_rule. */
void dlock_ballot_begin(dlock_ballot *ballot, dlock_voter *voters, int count, int quorum, dlock_reader *read);

/* Sends the call, which belongs to the ballot from now on. A call that is NULL (out of memory) is no vote. */
void dlock_ballot_ask(dlock_ballot *ballot, int server, dlock_call *call);

/* Counts a no of this server without asking it. */
void dlock_ballot_absent(dlock_ballot *ballot, int server);

/* Counts the votes that have come. True: the ballot is decided. */
bool dlock_ballot_count(dlock_ballot *ballot);

/* The same for a step that waits for the votes until `until`. Each vote that is out then counts as none. */
bool dlock_ballot_ends(dlock_ballot *ballot, dlock_nanos until, dlock_loop *loop, dlock_nanos now);

/* How long a step waits for the votes that can change nothing any more. */
#define DLOCK_REST_OF_VOTES (20 * DLOCK_MS)

/* For a step that waits for votes that can change nothing any more. True: `enough` servers have voted, no vote is out,
 * or `until` has come. */
bool dlock_ballot_drains(dlock_ballot *ballot, int enough, dlock_nanos until, dlock_loop *loop, dlock_nanos now);

/* The number of servers that have voted, whether their votes count or not. */
int dlock_ballot_turnout(const dlock_ballot *ballot);

/* Releases the calls. A call without a reply goes on by itself. The votes stay. */
void dlock_ballot_end(dlock_ballot *ballot);

/* DLOCK_OK: a quorum has said yes. DLOCK_LOST: too many servers have said no. DLOCK_QUORUM: there are too few votes for
 * either. */
dlock_status dlock_ballot_outcome(const dlock_ballot *ballot, dlock_error *error);

/* Returns DLOCK_QUORUM, with the reason of each server that has no vote. */
dlock_status dlock_ballot_no_quorum(const dlock_ballot *ballot, dlock_error *error);

/* The servers with this vote, one bit each. */
uint64_t dlock_ballot_voters(const dlock_ballot *ballot, dlock_vote vote);

/* How many servers have to say yes, as far as is known: a quorum, or all if fewer than a quorum are eligible. */
int dlock_ballot_needed(const dlock_ballot *ballot);

/* When the next server with a void vote becomes eligible; DLOCK_FOREVER: not known. */
dlock_nanos dlock_ballot_next_eligible_at(const dlock_ballot *ballot);

/* Would there be enough votes if all servers that said yes were eligible? */
bool dlock_ballot_lacks_only_uptime(const dlock_ballot *ballot);

/* Was the set started together, and has a server said no? Without that no, all its servers would have a vote. */
bool dlock_ballot_is_refused_new_set(const dlock_ballot *ballot);

#endif

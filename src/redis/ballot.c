#include "ballot.h"

#include "exchange.h"

int dlock_ballot_read_integer(const dlock_call *call, const dlock_conn *conn, dlock_answer *answer, dlock_error *error)
{
	answer->pttl = dlock_call_integer(call, conn, error);
	return answer->pttl < 0 ? -1 : answer->pttl > 0;
}

void dlock_ballot_begin(dlock_ballot *ballot, dlock_member *members, int count, int quorum, dlock_opinion *read)
{
	ballot->members = members;
	ballot->count = count;
	ballot->quorum = quorum;
	ballot->read = read;
	ballot->pending = ballot->yes = ballot->no = ballot->young = ballot->under_age = 0;
	dlock_guard_begin(&ballot->guard, 0, 0);
	for (int i = 0; i < ballot->count; i++) {
		ballot->calls[i] = NULL;
		ballot->votes[i] = DLOCK_VOTE_NONE;
		ballot->members[i].failed = false;
	}
}

void dlock_ballot_ask(dlock_ballot *ballot, int server, dlock_call *call)
{
	ballot->calls[server] = call;
	ballot->votes[server] = DLOCK_VOTE_PENDING;
	ballot->pending++;
	if (call) {
		dlock_conn_send(ballot->members[server].conn, call);
	}
}

void dlock_ballot_absent(dlock_ballot *ballot, int server)
{
	ballot->votes[server] = DLOCK_VOTE_NO;
	ballot->no++;
}

static void count_vote(dlock_ballot *ballot, int server)
{
	dlock_member *member = &ballot->members[server];
	int opinion = ballot->read(ballot->calls[server], member->conn, &ballot->answers[server], &member->error);

	dlock_nanos of_age = dlock_guard_note(&ballot->guard, ballot->calls[server]);

	ballot->pending--;
	ballot->under_age += ballot->guard.begun < of_age;
	if (opinion > 0 && ballot->guard.begun < of_age) {
		dlock_guard_explain(&ballot->guard, of_age, member->conn, &member->error);
		member->failed = true;
		ballot->young += of_age != DLOCK_FOREVER;
		ballot->of_age[server] = of_age;
		ballot->votes[server] = DLOCK_VOTE_VOID;
		return;
	}
	member->failed = opinion < 0;
	ballot->yes += opinion > 0;
	ballot->no += opinion == 0;
	ballot->votes[server] = opinion < 0 ? DLOCK_VOTE_NONE : opinion > 0 ? DLOCK_VOTE_YES : DLOCK_VOTE_NO;
}

/* Have all servers that have answered so far been started together, and has none failed to answer? */
static bool is_together(const dlock_ballot *ballot)
{
	return ballot->young > 0 && ballot->yes + ballot->no + ballot->young + ballot->pending == ballot->count
		&& dlock_guard_is_new_set(&ballot->guard, ballot->count - ballot->pending);
}

/* May it turn out that this is a new set, so that all have a vote? A no shows that locks have been taken there, which those who
 * say yes may have forgotten. */
static bool may_be_new_set(const dlock_ballot *ballot)
{
	return ballot->no == 0 && is_together(ballot);
}

static void admit_young(dlock_ballot *ballot)
{
	for (int i = 0; i < ballot->count; i++) {
		if (ballot->votes[i] == DLOCK_VOTE_VOID) {
			ballot->votes[i] = DLOCK_VOTE_YES;
			ballot->members[i].failed = false;
		}
	}
	ballot->yes += ballot->young;
	ballot->young = 0;
}

bool dlock_ballot_is_decided(void *context)
{
	dlock_ballot *ballot = context;
	int quorum = ballot->quorum;

	for (int i = 0; i < ballot->count; i++) {
		if (ballot->votes[i] == DLOCK_VOTE_PENDING && (!ballot->calls[i] || ballot->calls[i]->state != DLOCK_CALL_PENDING)) {
			count_vote(ballot, i);
		}
	}
	if (ballot->yes < quorum && may_be_new_set(ballot)) {
		if (ballot->pending > 0) {
			return false;
		}
		admit_young(ballot);
	}
	return ballot->yes >= quorum || ballot->yes + ballot->pending < quorum;
}

void dlock_ballot_hold(dlock_ballot *ballot, dlock_nanos until)
{
	dlock_conn *conns[DLOCK_MOST_SERVERS];

	for (int i = 0; i < ballot->count; i++) {
		conns[i] = ballot->calls[i] ? ballot->members[i].conn : NULL;
	}
	dlock_exchange(conns, ballot->count, until, dlock_ballot_is_decided, ballot);
	if (!dlock_ballot_is_decided(ballot)) {
		for (int i = 0; i < ballot->count; i++) {
			if (ballot->votes[i] == DLOCK_VOTE_PENDING) {
				count_vote(ballot, i);
			}
		}
	}
}

/* What the servers that answer at all need at most from the vote that decided to the last. */
#define REST_OF_VOTES (20 * DLOCK_MS)

static bool is_complete(void *context)
{
	dlock_ballot_is_decided(context); /* counts the votes */
	return ((dlock_ballot *) context)->pending == 0;
}

void dlock_ballot_hear_out(dlock_ballot *ballot)
{
	dlock_conn *conns[DLOCK_MOST_SERVERS];

	for (int i = 0; i < ballot->count; i++) {
		conns[i] = ballot->votes[i] == DLOCK_VOTE_PENDING ? ballot->members[i].conn : NULL;
	}
	dlock_exchange(conns, ballot->count, dlock_now() + REST_OF_VOTES, is_complete, ballot);
}

void dlock_ballot_end(dlock_ballot *ballot)
{
	for (int i = 0; i < ballot->count; i++) {
		dlock_call_release(ballot->calls[i]);
	}
}

dlock_status dlock_ballot_no_quorum(const dlock_ballot *ballot, dlock_error *error)
{
	int failed = 0, voids = 0;

	for (int i = 0; i < ballot->count; i++) {
		failed += ballot->votes[i] == DLOCK_VOTE_NONE;
		voids += ballot->votes[i] == DLOCK_VOTE_VOID;
	}
	/* How many would have answered is not known: the outcome may have been clear before. */
	dlock_fail(error, DLOCK_QUORUM, "%d of %d servers %s, %d are needed", failed + voids, ballot->count,
		voids == 0 ? "failed" : failed == 0 ? "have no vote" : "failed or have no vote", ballot->quorum);
	for (int i = 0; i < ballot->count; i++) {
		if (ballot->members[i].failed) {
			dlock_append(error, "; %s", ballot->members[i].error.message);
		}
	}
	return DLOCK_QUORUM;
}

dlock_status dlock_ballot_outcome(const dlock_ballot *ballot, dlock_error *error)
{
	if (ballot->yes >= ballot->quorum) {
		return DLOCK_OK;
	}
	if (ballot->no > ballot->count - ballot->quorum) {
		return dlock_fail(error, DLOCK_LOST, "%d of %d servers do not have the lock for this lease", ballot->no, ballot->count);
	}
	return dlock_ballot_no_quorum(ballot, error);
}

uint64_t dlock_ballot_voters(const dlock_ballot *ballot, dlock_vote vote)
{
	uint64_t bits = 0;

	for (int i = 0; i < ballot->count; i++) {
		bits |= (uint64_t) (ballot->votes[i] == vote) << i;
	}
	return bits;
}

dlock_nanos dlock_ballot_next_of_age(const dlock_ballot *ballot)
{
	dlock_nanos next = DLOCK_FOREVER;

	for (int i = 0; i < ballot->count; i++) {
		if (ballot->votes[i] == DLOCK_VOTE_VOID && ballot->of_age[i] < next) {
			next = ballot->of_age[i];
		}
	}
	return next;
}

bool dlock_ballot_is_refused_new_set(const dlock_ballot *ballot)
{
	return ballot->no > 0 && is_together(ballot);
}

int dlock_ballot_needed(const dlock_ballot *ballot)
{
	return ballot->count - ballot->under_age < ballot->quorum ? ballot->count : ballot->quorum;
}

bool dlock_ballot_lacks_only_age(const dlock_ballot *ballot)
{
	return ballot->yes + ballot->no + ballot->pending + ballot->young >= ballot->quorum;
}

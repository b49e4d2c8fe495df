#include "ballot.h"

void dlock_ballot_begin(
	dlock_ballot *ballot, dlock_loop *loop, dlock_member *members, int count, int quorum, dlock_reader *read)
{
	ballot->loop = loop;
	ballot->members = members;
	ballot->count = count;
	ballot->quorum = quorum;
	ballot->read = read;
	ballot->tells_no = false;
	ballot->pending = ballot->yes = ballot->no = ballot->ineligible = ballot->maturing = 0;
	dlock_uptime_rule_begin(&ballot->uptime_rule, 0, 0);
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
	dlock_status status = ballot->read(ballot->calls[server], member->conn, &ballot->responses[server], &member->error);
	dlock_nanos eligible_at = dlock_uptime_rule_note(&ballot->uptime_rule, ballot->calls[server]);
	bool eligible = eligible_at <= ballot->uptime_rule.begun;

	ballot->pending--;
	ballot->ineligible += !eligible;
	if (status == DLOCK_OK && !eligible) {
		dlock_uptime_rule_explain(&ballot->uptime_rule, eligible_at, member->conn, &member->error);
		member->failed = true;
		ballot->maturing += eligible_at != DLOCK_FOREVER;
		ballot->eligible_at[server] = eligible_at;
		ballot->votes[server] = DLOCK_VOTE_VOID;
		return;
	}
	ballot->yes += status == DLOCK_OK;
	ballot->no += status == DLOCK_LOST;
	ballot->votes[server] = status == DLOCK_OK ? DLOCK_VOTE_YES
		: status == DLOCK_LOST                 ? DLOCK_VOTE_NO
											   : DLOCK_VOTE_NONE;
	member->failed = ballot->votes[server] == DLOCK_VOTE_NONE;
}

/* Have all servers that have answered so far been started together, and has none failed to answer? */
static bool is_together(const dlock_ballot *ballot)
{
	return ballot->maturing > 0 && ballot->yes + ballot->no + ballot->maturing + ballot->pending == ballot->count
		&& dlock_uptime_rule_is_new_set(&ballot->uptime_rule, ballot->count - ballot->pending);
}

/* May it turn out that this is a new set, so that all have a vote? A no shows that locks have been taken there, which
 * the servers that say yes may have forgotten. */
static bool may_be_new_set(const dlock_ballot *ballot)
{
	return ballot->no == 0 && is_together(ballot);
}

/* Neither a yes nor, where it is to be told, a no can come of the votes that are out. */
static bool is_in_vain(const dlock_ballot *ballot)
{
	int most_no = ballot->no + ballot->pending;

	return ballot->yes + ballot->pending < ballot->quorum
		&& (!ballot->tells_no || most_no <= ballot->count - ballot->quorum);
}

static void count_void_votes(dlock_ballot *ballot)
{
	for (int i = 0; i < ballot->count; i++) {
		if (ballot->votes[i] == DLOCK_VOTE_VOID) {
			ballot->votes[i] = DLOCK_VOTE_YES;
			ballot->members[i].failed = false;
		}
	}
	ballot->yes += ballot->maturing;
	ballot->maturing = 0;
}

bool dlock_ballot_count(void *context)
{
	dlock_ballot *ballot = context;
	int quorum = ballot->quorum;

	for (int i = 0; i < ballot->count; i++) {
		if (ballot->votes[i] == DLOCK_VOTE_PENDING
			&& (!ballot->calls[i] || ballot->calls[i]->state != DLOCK_CALL_PENDING)) {
			count_vote(ballot, i);
		}
	}
	if (ballot->yes < quorum && may_be_new_set(ballot)) {
		if (ballot->pending > 0) {
			return false;
		}
		count_void_votes(ballot);
	}
	return ballot->yes >= quorum || ballot->no > ballot->count - quorum || is_in_vain(ballot);
}

void dlock_ballot_hold(dlock_ballot *ballot, dlock_nanos until)
{
	if (!dlock_loop_await(ballot->loop, dlock_ballot_count, ballot, until)) {
		for (int i = 0; i < ballot->count; i++) {
			if (ballot->votes[i] == DLOCK_VOTE_PENDING) {
				count_vote(ballot, i);
			}
		}
	}
}

int dlock_ballot_turnout(const dlock_ballot *ballot)
{
	return ballot->yes + ballot->no + ballot->maturing;
}

typedef struct {
	dlock_ballot *ballot;
	int enough;
} drain;

static bool count_rest(void *context)
{
	drain *drain = context;

	dlock_ballot_count(drain->ballot);
	return drain->ballot->pending == 0 || dlock_ballot_turnout(drain->ballot) >= drain->enough;
}

void dlock_ballot_drain(dlock_ballot *ballot, int enough, dlock_nanos until)
{
	drain drain = { ballot, enough };

	dlock_loop_await(ballot->loop, count_rest, &drain, until);
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
	dlock_fail(error, DLOCK_QUORUM, "%d of %d servers %s (quorum %d)", failed + voids, ballot->count,
		voids == 0 ? "failed" : failed == 0 ? "have no vote" : "failed or have no vote", ballot->quorum);
	const char *mark = ":";
	for (int i = 0; i < ballot->count; i++) {
		if (ballot->members[i].failed) {
			dlock_append(error, "%s %s", mark, ballot->members[i].error.message);
			mark = ";";
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
		return dlock_fail(
			error, DLOCK_LOST, "%d of %d servers do not have the lock for this lease", ballot->no, ballot->count);
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

int dlock_ballot_needed(const dlock_ballot *ballot)
{
	return ballot->count - ballot->ineligible < ballot->quorum ? ballot->count : ballot->quorum;
}

dlock_nanos dlock_ballot_next_eligible_at(const dlock_ballot *ballot)
{
	dlock_nanos next = DLOCK_FOREVER;

	for (int i = 0; i < ballot->count; i++) {
		if (ballot->votes[i] == DLOCK_VOTE_VOID && ballot->eligible_at[i] < next) {
			next = ballot->eligible_at[i];
		}
	}
	return next;
}

bool dlock_ballot_lacks_only_uptime(const dlock_ballot *ballot)
{
	return ballot->yes + ballot->no + ballot->pending + ballot->maturing >= ballot->quorum;
}

bool dlock_ballot_is_refused_new_set(const dlock_ballot *ballot)
{
	return ballot->no > 0 && is_together(ballot);
}

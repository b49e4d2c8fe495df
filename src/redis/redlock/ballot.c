#include "ballot.h"

void dlock_ballot_begin(dlock_ballot *ballot, dlock_voter *voters, int count, int quorum, dlock_reader *read)
{
	*ballot = (dlock_ballot) { .voters = voters, .count = count, .quorum = quorum, .read = read };
	for (int i = 0; i < count; i++) {
		voters[i].call = NULL;
		voters[i].vote = DLOCK_VOTE_NONE;
		if (voters[i].outcome) {
			voters[i].outcome->failed = false;
		}
	}
}

void dlock_ballot_ask(dlock_ballot *ballot, int server, dlock_call *call)
{
	dlock_voter *voter = &ballot->voters[server];

	voter->call = call;
	voter->vote = DLOCK_VOTE_PENDING;
	ballot->pending++;
	if (call) {
		dlock_conn_send(voter->conn, call);
	}
}

void dlock_ballot_absent(dlock_ballot *ballot, int server)
{
	ballot->voters[server].vote = DLOCK_VOTE_NO;
	ballot->no++;
}

static void count_vote(dlock_ballot *ballot, dlock_voter *voter)
{
	dlock_error unheard, *error = voter->outcome ? &voter->outcome->error : &unheard;
	dlock_status status = ballot->read(voter->call, voter->conn, &voter->response, error);
	dlock_nanos eligible_at = dlock_uptime_rule_note(&ballot->uptime_rule, voter->call);
	bool eligible = eligible_at <= ballot->uptime_rule.begun;

	ballot->pending--;
	ballot->ineligible += !eligible;
	if (status == DLOCK_OK && !eligible) {
		dlock_uptime_rule_explain(&ballot->uptime_rule, eligible_at, voter->conn, error);
		ballot->maturing += eligible_at != DLOCK_FOREVER;
		voter->eligible_at = eligible_at;
		voter->vote = DLOCK_VOTE_VOID;
	} else {
		ballot->yes += status == DLOCK_OK;
		ballot->no += status == DLOCK_LOST;
		voter->vote = status == DLOCK_OK ? DLOCK_VOTE_YES : status == DLOCK_LOST ? DLOCK_VOTE_NO : DLOCK_VOTE_NONE;
	}
	if (voter->outcome) {
		voter->outcome->failed = voter->vote == DLOCK_VOTE_NONE || voter->vote == DLOCK_VOTE_VOID;
	}
}

/* Were all servers that have answered so far started together, and has no server failed to answer? */
static bool is_together(const dlock_ballot *ballot)
{
	return ballot->maturing > 0 && ballot->yes + ballot->no + ballot->maturing + ballot->pending == ballot->count
		&& dlock_uptime_rule_is_new_set(&ballot->uptime_rule, ballot->count - ballot->pending);
}

/* May this turn out to be a new set, in which all servers have a vote? A no shows that a client has acquired locks
 * there, which the servers that say yes may have forgotten. */
static bool may_be_new_set(const dlock_ballot *ballot)
{
	return ballot->no == 0 && is_together(ballot);
}

/* Can the votes that are out bring neither a yes nor, if the ballot tells it, a no? */
static bool is_in_vain(const dlock_ballot *ballot)
{
	int most_no = ballot->no + ballot->pending;

	return ballot->yes + ballot->pending < ballot->quorum
		&& (!ballot->tells_no || most_no <= ballot->count - ballot->quorum);
}

static void count_void_votes(dlock_ballot *ballot)
{
	for (dlock_voter *voter = ballot->voters; voter < ballot->voters + ballot->count; voter++) {
		if (voter->vote == DLOCK_VOTE_VOID) {
			voter->vote = DLOCK_VOTE_YES;
			if (voter->outcome) {
				voter->outcome->failed = false;
			}
		}
	}
	ballot->yes += ballot->maturing;
	ballot->maturing = 0;
}

/* Counts the votes that have come or failed; with `all`, each vote that is out. */
static void count_votes(dlock_ballot *ballot, bool all)
{
	for (dlock_voter *voter = ballot->voters; voter < ballot->voters + ballot->count; voter++) {
		if (voter->vote == DLOCK_VOTE_PENDING && (all || !voter->call || voter->call->state != DLOCK_CALL_PENDING)) {
			count_vote(ballot, voter);
		}
	}
}

bool dlock_ballot_count(dlock_ballot *ballot)
{
	count_votes(ballot, false);
	if (ballot->yes < ballot->quorum && may_be_new_set(ballot)) {
		if (ballot->pending > 0) {
			return false;
		}
		count_void_votes(ballot);
	}
	return ballot->yes >= ballot->quorum || ballot->no > ballot->count - ballot->quorum || is_in_vain(ballot);
}

bool dlock_ballot_ends(dlock_ballot *ballot, dlock_nanos until, dlock_loop *loop, dlock_nanos now)
{
	if (dlock_ballot_count(ballot)) {
		return true;
	}
	if (!dlock_loop_is_time(loop, until, now)) {
		return false;
	}
	for (int i = 0; i < ballot->count; i++) { /* what has come while the process was stopped still counts */
		if (ballot->voters[i].vote == DLOCK_VOTE_PENDING) {
			dlock_conn_peek(ballot->voters[i].conn);
		}
	}
	count_votes(ballot, true);
	return true;
}

int dlock_ballot_turnout(const dlock_ballot *ballot)
{
	return ballot->yes + ballot->no + ballot->maturing;
}

bool dlock_ballot_drains(dlock_ballot *ballot, int enough, dlock_nanos until, dlock_loop *loop, dlock_nanos now)
{
	dlock_ballot_count(ballot);
	return ballot->pending == 0 || dlock_ballot_turnout(ballot) >= enough || dlock_loop_is_time(loop, until, now);
}

void dlock_ballot_end(dlock_ballot *ballot)
{
	for (int i = 0; i < ballot->count; i++) {
		dlock_call_release(ballot->voters[i].call);
		ballot->voters[i].call = NULL;
	}
}

dlock_status dlock_ballot_no_quorum(const dlock_ballot *ballot, dlock_error *error)
{
	int failed = 0, voids = 0;

	for (int i = 0; i < ballot->count; i++) {
		failed += ballot->voters[i].vote == DLOCK_VOTE_NONE;
		voids += ballot->voters[i].vote == DLOCK_VOTE_VOID;
	}
	/* Some servers may not have answered yet, because the outcome was certain before. */
	dlock_fail(error, DLOCK_QUORUM, "%d of %d servers %s (quorum %d)", failed + voids, ballot->count,
		voids == 0 ? "failed" : failed == 0 ? "have no vote" : "failed or have no vote", ballot->quorum);
	const char *mark = ":";
	for (int i = 0; i < ballot->count; i++) {
		const dlock_outcome *outcome = ballot->voters[i].outcome;
		if (outcome && outcome->failed) {
			dlock_append(error, "%s %s", mark, outcome->error.message);
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
		bits |= (uint64_t) (ballot->voters[i].vote == vote) << i;
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
		if (ballot->voters[i].vote == DLOCK_VOTE_VOID && ballot->voters[i].eligible_at < next) {
			next = ballot->voters[i].eligible_at;
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

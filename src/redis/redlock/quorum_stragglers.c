#include "quorum_internal.h"

/* The stragglers: requests for a lease time, acquires and extensions, that a server had not answered when enough others
 * had. It may execute one late, and so shorten what a later request has lengthened. */

/* Has the server executed the call, or will it never do so? And will it not execute it a second time? */
static bool is_over(const dlock_call *call)
{
	return call->sent ? call->state == DLOCK_CALL_ANSWERED && !call->repeated
					  : call->state != DLOCK_CALL_PENDING || !call->wanted;
}

/* Requests over one connection are executed in their order. */
static bool may_follow(const dlock_call *call, const dlock_call *later)
{
	return call->sent && later->sent && (call->repeated || call->generation != later->generation);
}

static dlock_nanos shorter(dlock_nanos a, dlock_nanos b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

static void forget_straggler(quorum_claim *claim, int server)
{
	dlock_call_release(claim->stragglers[server]);
	claim->stragglers[server] = NULL;
	claim->straggler_ttls[server] = 0;
}

void dlock_quorum_keep_straggler(quorum_claim *claim, int server, dlock_call *call, dlock_nanos ttl)
{
	if (call && !is_over(call)) {
		ttl = shorter(claim->straggler_ttls[server], ttl);
		forget_straggler(claim, server);
		claim->stragglers[server] = dlock_call_retain(call);
		claim->straggler_ttls[server] = ttl;
	}
}

void dlock_quorum_review_stragglers(quorum_claim *claim, const dlock_ballot *votes, dlock_nanos ttl)
{
	for (int i = 0; i < votes->count; i++) {
		const dlock_call *call = claim->stragglers[i];
		dlock_call *later = votes->voters[i].call;
		bool follows = call && later && !is_over(call) && may_follow(call, later);
		if (follows) {
			claim->late_ttls[i] = shorter(claim->late_ttls[i], claim->straggler_ttls[i]);
		}
		/* A pending call may still be sent again: it is kept, so that a release cancels it. */
		bool is_settled = follows || (later && later->state == DLOCK_CALL_ANSWERED);
		if (call && (is_over(call) || (is_settled && call->state != DLOCK_CALL_PENDING))) {
			forget_straggler(claim, i);
		}
		if (ttl > 0) {
			dlock_quorum_keep_straggler(claim, i, later, ttl);
		}
	}
}

dlock_nanos dlock_quorum_late_ttl(const quorum_claim *claim, int server)
{
	return shorter(claim->straggler_ttls[server], claim->late_ttls[server]);
}

void dlock_quorum_cancel_stragglers(quorum_claim *claim)
{
	for (int i = 0; i < quorum_backend_of(claim)->count; i++) {
		if (claim->stragglers[i]) {
			dlock_call_cancel(claim->stragglers[i]);
			forget_straggler(claim, i);
		}
		claim->late_ttls[i] = 0;
	}
}

/* A straggler that still waits for its connection goes as text. */
void dlock_quorum_send_straggler_once(quorum_claim *claim, int server)
{
	dlock_call *call = claim->stragglers[server];

	if (call && call->script && !call->sent) {
		dlock_call_use_source(call);
	}
	if (call) {
		call->once = true;
	}
}

/* If a connection takes longer than this, the claim does not wait for it. */
#define EXPECTED (100 * DLOCK_MS)

/* This happens with a new connection only. The server is there, but the client was not connected or logged in when the
 * other servers had voted. */
static bool is_logging_in(const dlock_conn *conn, dlock_nanos now)
{
	bool is_accepted = conn->channel.stage >= DLOCK_CHANNEL_SECURING;

	return is_accepted ? conn->state != DLOCK_CONN_READY
		: conn->state == DLOCK_CONN_CONNECTING && now < dlock_after(conn->channel.dial.begun, EXPECTED);
}

bool dlock_quorum_has_logged_in(const quorum_claim *claim, dlock_nanos now)
{
	for (int i = 0; i < quorum_backend_of(claim)->count; i++) {
		const dlock_call *call = claim->stragglers[i];
		const dlock_conn *conn = quorum_backend_of(claim)->members[i].conn;
		if (call && call->state == DLOCK_CALL_PENDING && is_logging_in(conn, now)) {
			return false;
		}
	}
	return true;
}

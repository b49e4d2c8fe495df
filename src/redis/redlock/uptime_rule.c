#include "uptime_rule.h"

#include "../wire/info.h"

/* Servers that are started together do not start at the same moment, and report their uptimes in whole seconds. Starts
 * that seem this far apart may be two seconds further apart. */
#define TOGETHER (5 * DLOCK_SECOND)

void dlock_uptime_rule_begin(dlock_uptime_rule *guard, dlock_nanos setting, dlock_nanos ttl)
{
	guard->begun = dlock_now();
	guard->by_ttl = setting > 0 && ttl > setting;
	guard->min_uptime = guard->by_ttl ? ttl : setting;
	guard->known = 0;
	guard->first = guard->last = 0;
}

dlock_nanos dlock_uptime_rule_note(dlock_uptime_rule *guard, const dlock_call *call)
{
	if (guard->min_uptime == 0) {
		return 0;
	}
	if (!call || call->state != DLOCK_CALL_ANSWERED || call->server_started == DLOCK_START_UNKNOWN) {
		return DLOCK_FOREVER;
	}
	if (guard->known == 0 || call->server_started_from < guard->first) {
		guard->first = call->server_started_from;
	}
	if (guard->known == 0 || call->server_started > guard->last) {
		guard->last = call->server_started;
	}
	guard->known++;
	return dlock_after(call->server_started, guard->min_uptime);
}

bool dlock_uptime_rule_is_new_set(const dlock_uptime_rule *guard, int servers)
{
	return guard->known > 0 && guard->known == servers && guard->last - guard->first <= TOGETHER;
}

void dlock_uptime_rule_explain(
	const dlock_uptime_rule *guard, dlock_nanos eligible_at, const dlock_conn *conn, dlock_error *error)
{
	if (eligible_at == DLOCK_FOREVER) {
		dlock_fail(error, DLOCK_CONNECTION,
			"Redis at %s: does not say how long it has been up (%s), so it has no vote; give the "
			"user +info, or set dlock.restart_guard=0",
			conn->server->label, conn->handshake.uptime.problem);
		return;
	}
	dlock_nanos uptime = guard->begun - (eligible_at - guard->min_uptime); /* as the rule has judged it */
	dlock_fail(error, DLOCK_CONNECTION,
		"Redis at %s: has been up for only %lld s, so it may have lost locks; it votes once it has been up for %.6g s "
		"(%s)",
		conn->server->label, (long long) (uptime > 0 ? uptime / DLOCK_SECOND : 0),
		(double) guard->min_uptime / DLOCK_SECOND, guard->by_ttl ? "the lease time asked for" : "dlock.restart_guard");
}

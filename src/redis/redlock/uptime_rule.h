#ifndef DLOCK_REDIS_UPTIME_RULE_H
#define DLOCK_REDIS_UPTIME_RULE_H

#include "../wire/conn.h"

/* The restart guard of a quorum. A restarted server has forgotten the locks for which it had voted, unless it keeps
 * them on disk. Without them, it could vote again within the same lease. So it is eligible (its yes counts) only once
 * it has been up for as long as a lease may last. By then, all leases that it has forgotten have ended.
 * docs/how-it-works.md and tests/models/forgetting.pml have more.
 *
 * - It is judged as of the beginning of the attempt, when the client proposes the fencing token. A server could
 *   otherwise become eligible before its vote, and complete a quorum for a proposal that is older than what it has
 *   forgotten (tests/models/fencing.pml).
 * - In a new set, all servers vote: all answer, were started together, and say yes. They have just been set up, or all
 *   of them went down, and none is left that could remember. A server out of reach may be an old one. Between two
 *   starts that lie apart, a client may have acquired a lock. A no shows a lock that the other servers may have
 *   forgotten. While all servers have to say yes, a holder is safe as long as one server of its majority remembers
 *   it. */
typedef struct {
	dlock_nanos begun;       /* when the attempt began */
	dlock_nanos min_uptime;  /* ns; 0: any server is eligible */
	bool by_ttl;             /* that is the lease time asked for, not the setting */
	int known;               /* number of servers that have reported their uptime */
	dlock_nanos first, last; /* the first of these was not started before, and the last one not after */
} dlock_uptime_rule;

/* Begins an attempt. The longer of the setting and the lease time asked for counts; a setting of 0 disables the
 * rule. */
void dlock_uptime_rule_begin(dlock_uptime_rule *guard, dlock_nanos setting, dlock_nanos ttl);

/* Notes what an answered call says about its server. Returns when the server becomes, or became, eligible;
 * DLOCK_FOREVER: not known. The server's vote counts unless that is after guard->begun. */
dlock_nanos dlock_uptime_rule_note(dlock_uptime_rule *guard, const dlock_call *call);

/* Have all of the `servers` servers reported their uptime, and were they started together? */
bool dlock_uptime_rule_is_new_set(const dlock_uptime_rule *guard, int servers);

/* Says why the vote of this server does not count. */
void dlock_uptime_rule_explain(
	const dlock_uptime_rule *guard, dlock_nanos eligible_at, const dlock_conn *conn, dlock_error *error);

#endif

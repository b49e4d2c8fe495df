#ifndef DLOCK_REDIS_UPTIME_RULE_H
#define DLOCK_REDIS_UPTIME_RULE_H

#include "../wire/conn.h"

/* The restart guard of a quorum. A server that was restarted has forgotten the locks that it had given its vote, unless
 * it keeps them on disk, and could give another vote within the same lease. So it is eligible, its yes counts, only
 * once it has been up for as long as a lease may last: then whatever it has forgotten is over. docs/how-it-works.md and
 * tests/models/forgetting.pml have more.
 *
 * - It is judged as of the beginning of the attempt, when the fencing token is proposed. A server that becomes eligible
 *   between that and its vote could make a quorum with a proposal that is older than what it has forgotten
 *   (tests/models/fencing.pml).
 * - In a new set all vote: all servers answer, were started together, and say yes. They have just been set up, or
 *   all went down, and none is left that could remember. A server out of reach may be an old one. Between two starts
 *   that lie apart a lock may have been acquired. A no shows a lock that the other servers may have forgotten. While
 *   all have to say yes, a holder is safe as long as one server of its majority remembers it. */
typedef struct {
	dlock_nanos begun;       /* the attempt */
	dlock_nanos min_uptime;  /* 0: nothing is asked */
	bool by_ttl;             /* it is the lease time asked for, not the setting */
	int known;               /* servers that have answered with their uptime */
	dlock_nanos first, last; /* when the first and the last of these were started */
} dlock_uptime_rule;

/* The longer one of the setting and the lease time asked for counts; a setting of 0 switches it off. */
void dlock_uptime_rule_begin(dlock_uptime_rule *guard, dlock_nanos setting, dlock_nanos ttl);

/* Notes what an answered call says of its server. Returns when the server becomes, or became, eligible; DLOCK_FOREVER
 * where that is not known. Its vote counts unless that is after guard->begun. */
dlock_nanos dlock_uptime_rule_note(dlock_uptime_rule *guard, const dlock_call *call);

/* Are these `servers`, of which this many were noted, a set that was started together? */
bool dlock_uptime_rule_is_new_set(const dlock_uptime_rule *guard, int servers);

/* Why the vote of this server does not count. */
void dlock_uptime_rule_explain(
	const dlock_uptime_rule *guard, dlock_nanos eligible_at, const dlock_conn *conn, dlock_error *error);

#endif

/* A lock on a Redis that fails over, confirmed by replicas (docs/fail-over.md). An epoch and WAIT keep the promise of one holder, whatever the
 * replica has missed that is promoted. README.md beside this file says what stands for what.
 *
 * Anything may take any time: a tick may fall between any two steps. That is a slow network, a partition, a server or a client
 * that is stopped. Any replica may be promoted at any time, so that there may be three masters at a time; each that was replaced is
 * demoted, and each replica comes to follow the newest one, any time later. Nothing is counted: claims and failovers have no end.
 *
 * Checked: never two owners; an owner's fencing token, which is the time of its grant, is greater than all before it.
 *
 *   -DNODES=2       a master and one replica; otherwise two replicas. WAIT 1 suffices for both
 *   -DTTL=2         the lease time in ticks
 *   -DRESTARTS      servers restart, with or without their data, and are flushed
 *   -DCLOCKS        servers' clocks differ: what is promoted may find that a key has expired, or lasts longer
 *   -DIDENTITIES    an epoch is told by run_id, replid and replid2, which are modelled, and is copied with the data. Otherwise a script
 *                   just knows whether the server's epoch was opened since it was promoted or started
 *
 * The known mistakes:
 *
 *   -DNO_GUARD              no epoch: a new master grants at once
 *   -DSETTLED_FROM_OPENING  an epoch settles G after its opening, even if no replica has confirmed it
 *   -DGUARD_TOO_SHORT       G is a tick shorter than the lease
 *   -DGRANT_WITHOUT_WAIT    a grant is believed once it is answered
 *   -DRENEWAL_WITHOUT_WAIT  so is a renewal
 *   -DLEASE_FROM_ANSWER     the lease is counted from the answer
 *   -DRESURRECTED           (with TTL=2) the answer to a renewal is believed, though the lease has ended
 *   -DTOKEN_REUSED          the next claim has the same token: a release of an earlier one may come at any time
 *   -DREPAIR_OVER_ANOTHER   in an unsettled epoch a missing key is set over another's
 *   -DHANDOVER_UNSETTLED    a release hands over in an unsettled epoch, and the waiter may have that confirmed there
 *   -DPUSH_BELIEVED         a waiter that is told of a handover does not have it confirmed
 *   -DOWN_KEY_UNSETTLED     (with CLOCKS) an acquire of a key that is one's own is granted in an unsettled epoch
 *   -DREPLID_AT_CONNECT     (with IDENTITIES) the epoch is compared with the identity that the connection showed when it was opened
 *   -DRUN_ID_ALONE          (with IDENTITIES) the epoch is told by the run_id alone
 *   -DREPLID_NOTED          (with IDENTITIES) under the same run_id another replid does not matter while replid2 is zero
 *
 * No mistakes, since nothing breaks: REPAIR_ANYWHERE, a missing key is set again in any epoch, or none; HANDOVER_ANYWHERE, a release hands
 * over in any epoch, if the waiter has that confirmed in a settled one.
 *
 * No mistake of the code, but where the promise ends: MOVED_BACK, a replica is moved back to a master that was replaced.
 */

#ifndef NODES
#define NODES 3
#endif
#ifndef TTL
#define TTL 2
#endif
#ifdef GUARD_TOO_SHORT
#define G (TTL - 1)
#else
#define G TTL
#endif

/* ---- the servers ---- */

/* The key: the number of the client whose claim it is of, or FREE. So is one of a claim that is over, or of another client: all it
 * does is to refuse, and any request may be refused, or not be answered. */
#define FREE 2

/* An epoch: ticks until it is settled, or */
#define SETTLED 0
#define OPENED (G + 1)
#define CONFIRMED (G + 2) /* W replicas have acknowledged its opening: with the next script it begins to settle */
#define NO_ERA (G + 3)

typedef Node {
	byte master; /* that it follows. A master follows itself */
	byte lock = FREE;
	byte lease; /* ticks until the key expires, if it is of a claim */
	byte era = NO_ERA
};
Node node[NODES];
byte newest; /* the master that Sentinel wants */

#define IS_MASTER(n) (node[n].master == n)

#ifdef IDENTITIES
/* Who has opened the epoch that a server's data have: n, which has the same run_id and replid still; OLD(n), whose run_id is the
 * same; or a server that has neither any more. */
#define OLD(n) (NODES + (n))
#define NOBODY (2 * NODES)
byte opener[NODES] = NOBODY;
#ifdef REPLID_NOTED
bool has_replid2[NODES];
#endif
#ifdef REPLID_AT_CONNECT
byte server[2];             /* that a client's connection leads to, which it does over a change of role, too; */
byte shown[2] = NOBODY;     /* the identity that it showed */
#endif
#define ERA(n) (opener[n] == n -> node[n].era : NO_ERA)
#else
#define ERA(n) node[n].era
#endif

/* ---- the clients ---- */

mtype = { IDLE, ASKING, HOLDING };
mtype state[2] = IDLE;
byte belief[2]; /* ticks for which the client still believes that it holds */

/* The acquire, or the renewal, that the client waits for. It may go to any server, and not be answered. */
#define NONE 0
#define SENT 1
#define DONE 2
#define AT(n) (3 + (n)) /* executed there; WAIT */
byte call[2] = NONE;
byte age[2];       /* ticks since it was sent */
bool overtaken[2]; /* another client came to hold since it was executed */

inline end_call(c)
{
	call[c] = NONE;
	age[c] = 0;
	overtaken[c] = false
}

inline send(c)
{
	end_call(c);
	call[c] = SENT
}

inline end_claim(c)
{
	n = 0;
	do
	:: n < NODES ->
		if
		:: node[n].lock == c -> node[n].lock = FREE; node[n].lease = 0
		:: else
		fi;
		n++
	:: else -> break
	od;
	n = 0;
	belief[c] = 0;
	state[c] = IDLE;
	end_call(c)
}

inline believe(c, ticks)
{
	belief[c] = (belief[c] > ticks -> belief[c] : ticks);
	assert(belief[0] == 0 || belief[1] == 0) /* never two owners */
}

inline hold(c, ticks)
{
	believe(c, ticks);
	assert(!overtaken[c]); /* a greater fencing token than the last owner's */
	overtaken[1 - c] = (state[1 - c] == ASKING && call[1 - c] >= DONE);
	state[c] = HOLDING;
	end_call(c)
}

#ifdef LEASE_FROM_ANSWER
#define LEFT(c) TTL
#else
#define LEFT(c) (TTL - age[c])
#endif

proctype Client(byte c)
{
	byte n;
end:
	do
	:: d_step { state[c] == IDLE -> state[c] = ASKING; send(c) }
	:: d_step { state[c] == ASKING && call[c] == NONE -> send(c) }
	:: d_step { state[c] == ASKING && call[c] == DONE -> hold(c, LEFT(c)) }
	:: d_step { state[c] == HOLDING && call[c] == NONE && belief[c] > 0 -> send(c) }
	:: d_step { state[c] == HOLDING && call[c] == DONE -> believe(c, LEFT(c)); end_call(c) }
	/* No answer: it asks again, over another connection. What it has sent may still be carried out. */
	:: d_step { call[c] != NONE -> end_call(c) }
	/* Given up, released, lost, or the process is killed */
	:: d_step { state[c] != IDLE -> end_claim(c) }
#ifdef REPLID_AT_CONNECT
	/* A replica shows its master's replid. */
	:: d_step { call[c] == NONE -> server[c] = 0; shown[c] = node[0].master }
	:: d_step { call[c] == NONE -> server[c] = 1; shown[c] = node[1].master }
#if NODES > 2
	:: d_step { call[c] == NONE -> server[c] = 2; shown[c] = node[2].master }
#endif
#endif
	od
}

/* ---- the scripts ---- */

#if defined(NO_GUARD)
#define MAY_GRANT(c, n) true
#elif defined(REPLID_AT_CONNECT)
#define MAY_GRANT(c, n) (server[c] == n && opener[n] == shown[c] && shown[c] != NOBODY && node[n].era == SETTLED)
#elif defined(RUN_ID_ALONE)
#define MAY_GRANT(c, n) ((opener[n] == n || opener[n] == OLD(n)) && node[n].era == SETTLED)
#elif defined(REPLID_NOTED)
#define MAY_GRANT(c, n) ((opener[n] == n || (opener[n] == OLD(n) && !has_replid2[n])) && node[n].era == SETTLED)
#else
#define MAY_GRANT(c, n) (ERA(n) == SETTLED)
#endif
#if defined(OWN_KEY_UNSETTLED) || defined(HANDOVER_UNSETTLED)
#define MAY_GRANT_AGAIN(c, n) (MAY_GRANT(c, n) || ERA(n) != NO_ERA)
#else
#define MAY_GRANT_AGAIN(c, n) MAY_GRANT(c, n)
#endif

#define CAN_ACQUIRE(c, n) (state[c] == ASKING && IS_MASTER(n) \
	&& ((node[n].lock == FREE && MAY_GRANT(c, n)) || (node[n].lock == c && MAY_GRANT_AGAIN(c, n))))

#ifdef REPAIR_ANYWHERE
#define MAY_REPAIR(n) true
#else
#define MAY_REPAIR(n) (ERA(n) != SETTLED && ERA(n) != NO_ERA)
#endif
#define CAN_RENEW(c, n) (state[c] == HOLDING && IS_MASTER(n) && (node[n].lock == c || (node[n].lock == FREE && MAY_REPAIR(n))))

inline set_key(c, n)
{
	node[n].lock = c;
	node[n].lease = TTL
}

#ifdef GRANT_WITHOUT_WAIT
#define ACQUIRED_AT(n) DONE
#else
#define ACQUIRED_AT(n) AT(n)
#endif
#ifdef RENEWAL_WITHOUT_WAIT
#define RENEWED_AT(n) DONE
#else
#define RENEWED_AT(n) AT(n)
#endif

/* What one client has sent to one server */
proctype Connection(byte c; byte n)
{
end:
	do
	:: d_step { call[c] == SENT && CAN_ACQUIRE(c, n) -> set_key(c, n); call[c] = ACQUIRED_AT(n) }
	:: d_step { call[c] == SENT && CAN_RENEW(c, n) -> set_key(c, n); call[c] = RENEWED_AT(n) }
	/* An earlier request of this claim, or a handover: its client does not know. */
	:: d_step { CAN_ACQUIRE(c, n) || CAN_RENEW(c, n) -> set_key(c, n) }
#ifdef TOKEN_REUSED
	:: d_step { IS_MASTER(n) && node[n].lock == c -> node[n].lock = FREE; node[n].lease = 0 }
#endif
#if defined(HANDOVER_UNSETTLED) || defined(HANDOVER_ANYWHERE)
	:: d_step { state[c] == ASKING && IS_MASTER(n) && node[n].lock == FREE -> set_key(c, n) }
#endif
#ifdef PUSH_BELIEVED
	:: d_step { call[c] == SENT && state[c] == ASKING && IS_MASTER(n) && node[n].lock == FREE && MAY_GRANT(c, n) ->
			set_key(c, n); call[c] = DONE }
#endif
	od
}

/* ---- a server, and what happens to it ---- */

/* Who still waits there for an acknowledgement gets none. */
inline end_waits(n)
{
	if
	:: call[0] == AT(n) -> end_call(0)
	:: else
	fi;
	if
	:: call[1] == AT(n) -> end_call(1)
	:: else
	fi
}

#ifdef IDENTITIES
inline outdate(whose, n, run_id)
{
	if
	:: (whose == n || whose == OLD(n)) && run_id -> whose = NOBODY
#ifdef REPLID_AT_CONNECT
	:: whose == OLD(n) && !(run_id) -> whose = NOBODY
#endif
	:: whose == n && !(run_id) -> whose = OLD(n)
	:: else
	fi
}
#endif

/* It has another replid, and perhaps another run_id. */
inline change_identity(n, run_id)
{
#ifdef IDENTITIES
	i = 0;
	do
	:: i < NODES -> outdate(opener[i], n, run_id); node[i].era = (opener[i] == NOBODY -> NO_ERA : node[i].era); i++
	:: else -> break
	od;
#ifdef REPLID_AT_CONNECT
	outdate(shown[0], n, run_id);
	outdate(shown[1], n, run_id);
#endif
#ifdef REPLID_NOTED
	has_replid2[n] = !(run_id);
#endif
	i = 0
#else
	node[n].era = NO_ERA
#endif
}

inline open_era(n)
{
#ifdef IDENTITIES
	opener[n] = n;
#endif
#ifdef SETTLED_FROM_OPENING
	node[n].era = G
#else
	node[n].era = OPENED
#endif
}

#ifdef PROMOTIONS
byte promotions = PROMOTIONS;
#define MAY_PROMOTE(n) (!IS_MASTER(n) && promotions > 0)
#else
#define MAY_PROMOTE(n) (!IS_MASTER(n))
#endif

inline promote(n)
{
#ifdef PROMOTIONS
	promotions--;
#endif
	node[n].master = n;
	newest = n;
	change_identity(n, false)
}

inline forget(n)
{
	node[n].lock = FREE;
	node[n].lease = 0;
#ifdef IDENTITIES
	opener[n] = NOBODY;
#endif
	node[n].era = NO_ERA
}

/* n has caught up with m, and acknowledges. It may be long behind: then this was long ago. */
inline replicate(m, n)
{
	node[n].lock = node[m].lock;
	node[n].lease = node[m].lease;
	call[0] = (call[0] == AT(m) -> DONE : call[0]);
	call[1] = (call[1] == AT(m) -> DONE : call[1]);
#ifdef IDENTITIES
	opener[n] = opener[m];
	node[n].era = (node[m].era == CONFIRMED -> OPENED : node[m].era);
#endif
	node[m].era = (ERA(m) == OPENED -> CONFIRMED : node[m].era)
}

#define OTHER(n, k) ((n + k) % NODES)
#define FOLLOWS(n, m) (node[n].master == m && IS_MASTER(m))

proctype Server(byte n)
{
#ifdef IDENTITIES
	byte i;
#endif
end:
	do
	/* A script that finds no epoch opens one, and grants nothing. */
	:: d_step { IS_MASTER(n) && ERA(n) == NO_ERA -> open_era(n) }
#ifndef SETTLED_FROM_OPENING
	:: d_step { IS_MASTER(n) && ERA(n) == CONFIRMED -> node[n].era = G }
#endif
#ifdef REPAIR_OVER_ANOTHER
	/* A late renewal of a claim that is over */
	:: d_step { IS_MASTER(n) && node[n].lock != FREE && ERA(n) != SETTLED -> node[n].lock = FREE; node[n].lease = 0 }
#endif
	:: d_step { FOLLOWS(n, OTHER(n, 1)) -> replicate(OTHER(n, 1), n) }
#if NODES > 2
	:: d_step { FOLLOWS(n, OTHER(n, 2)) -> replicate(OTHER(n, 2), n) }
#endif
#if NODES > 3
	:: d_step { FOLLOWS(n, OTHER(n, 3)) -> replicate(OTHER(n, 3), n) }
#endif
	/* Sentinel */
	:: d_step { MAY_PROMOTE(n) -> promote(n) }
#ifdef CLOCKS
	:: d_step { MAY_PROMOTE(n) && node[n].lock < FREE -> promote(n); node[n].lock = FREE; node[n].lease = 0 }
	:: d_step { MAY_PROMOTE(n) && node[n].lock < FREE -> promote(n); node[n].lease = TTL }
#endif
	:: d_step { IS_MASTER(n) && n != newest ->
			end_waits(n);
#ifndef IDENTITIES
			node[n].era = NO_ERA;
#endif
			node[n].master = newest }
#if NODES > 2
	:: d_step { !IS_MASTER(n) && node[n].master != newest -> node[n].master = newest }
#endif
#ifdef MOVED_BACK
	:: d_step { !IS_MASTER(n) && IS_MASTER(OTHER(n, 1)) -> node[n].master = OTHER(n, 1) }
	:: d_step { !IS_MASTER(n) && IS_MASTER(OTHER(n, 2)) -> node[n].master = OTHER(n, 2) }
#endif

#ifdef RESTARTS
	:: d_step { IS_MASTER(n) -> end_waits(n); change_identity(n, true) }
	:: d_step { end_waits(n); change_identity(n, true); forget(n) }
	:: d_step { state[0] != IDLE -> end_waits(n); change_identity(n, true); forget(n); set_key(0, n) }
	:: d_step { state[1] != IDLE -> end_waits(n); change_identity(n, true); forget(n); set_key(1, n) }
	/* FLUSHALL */
	:: d_step { IS_MASTER(n) -> forget(n) }
#endif
#ifdef IDENTITIES
	/* No replica follows. The first replica that comes, or the end of repl-backlog-ttl, makes a new replid, with no replid2. */
	:: d_step { IS_MASTER(n) && node[OTHER(n, 1)].master != n && node[OTHER(n, NODES - 1)].master != n ->
			change_identity(n, false)
#ifdef REPLID_NOTED
			; has_replid2[n] = false
#endif
			}
#endif
	od
}

/* ---- time ---- */

inline less(timer)
{
	timer = (timer > 0 -> timer - 1 : 0)
}

inline grow_old(c)
{
	age[c] = (call[c] != NONE && age[c] < TTL -> age[c] + 1 : age[c]);
	if
#ifndef LEASE_FROM_ANSWER
	/* Too late for an answer */
	:: age[c] == TTL -> end_call(c)
#endif
	:: else
	fi;
	if
#ifdef RESURRECTED
	:: belief[c] == 1 && call[c] == NONE -> end_claim(c)
#else
	:: belief[c] == 1 -> end_claim(c)
#endif
	:: else -> less(belief[c])
	fi
}

proctype Clock()
{
	byte n;
end:
	do
	:: d_step { true ->
			do
			:: n < NODES ->
				less(node[n].lease);
				node[n].lock = (node[n].lease == 0 && node[n].lock < FREE -> FREE : node[n].lock);
				node[n].era = (node[n].era <= G && node[n].era > 0 -> node[n].era - 1 : node[n].era);
				n++
			:: else -> break
			od;
			n = 0;
			grow_old(0);
			grow_old(1) }
	od
}

init {
	atomic {
		byte n = 0;
		run Clock();
		do
		:: n < NODES -> run Server(n); run Connection(0, n); run Connection(1, n); n++
		:: else -> break
		od;
		n = 0;
		run Client(0);
		run Client(1)
	}
}

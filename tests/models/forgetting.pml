/* Servers that forget (RedLock): who is young after a restart, and votes only as a member of a set that is new as a whole; and
 * keys that are lost though their server stays up. README.md beside this file says what stands for what.
 *
 * There is no clock here, as in hints.pml. The keys of a client that is asking or holding do not expire; any other's may at any
 * time. A lease may end at any time. A server that was restarted grows old when all attempts and leases are over that are older
 * than its restart, or were not renewed since. Nothing is counted: attempts, renewals, restarts and keys of others have no end.
 *
 * Checked: never two owners.
 *
 *   -DFORGETFUL=1   the number of servers that restart without their data within one lease, counted from the beginning of the attempt or
 *                   from the last renewal; each may do so again and again. 0: no restarts
 *   -DOF_AGE        the set is old when the history begins. Otherwise it is new
 *   -DWINDOW        servers of which one was of age when the other was started were not started together: the guard is longer
 *                   than what passes for together. Otherwise any servers may have been started together
 *   -DRESTARTS=2    the number of restarts in the whole history
 *   -DSLOW          an attempt may take as long as a lease. Before its client believes, it asks the voters again, and a quorum
 *                   still has its key. Otherwise an attempt and a request before it are shorter than any lease: while it is
 *                   under way, no key runs out that was renewed after its beginning
 *   -DHEARD_OF      (with SLOW and NOT_CONFIRMED) a vote is void once its server has restarted, since its connection has ended:
 *                   as long as that is always heard of
 *   -DVANISH        a key is lost of a holder that has it on more servers than a quorum
 *
 * The known mistakes:
 *
 *   -DNEW_SET_BY_QUORUM   in a set that was started together a quorum is enough, though a member says no
 *   -DYOUNG_VOTE          a restarted server votes at once
 *   -DNOT_CONFIRMED       (with SLOW) the voters are not asked again
 *   -DEVICTED             (with VANISH) a key is lost of a holder that has just a quorum: not repaired yet
 *
 * No mistake of the code, but where the promise ends: FORGETFUL=2 (a quorum).
 */

#ifndef FORGETFUL
#define FORGETFUL 0
#endif
#if defined(SLOW) && !defined(NOT_CONFIRMED)
#define CONFIRMED
#endif
#define S 3
#define QUORUM 2
#define FREE 255
#define ENDED 254 /* the key of another client, or of an attempt or a lease that is over: until it is gone */

mtype = { IDLE, ASKING, ASKING_AGAIN, HOLDING };
mtype state[2] = IDLE;

typedef Server {
	byte lock = FREE;
	bool young
};
Server server[S];
#ifdef WINDOW
bool apart[S]; /* two servers, told by the third one's number: they were not started together */
#endif

/* What a client has of each server */
#define NONE 0
#define SENT 1      /* to one that was of age */
#define UNCOUNTED 2 /* to one that was young: whether it is old enough is judged as of the beginning of the attempt */
#define NO 3
#define YES 4
#define VOID 5
#define STILL 6
typedef Wait {
	byte vote[S];
	bool dates_back[S] /* its attempt, or its last renewal, is older than the restart of this server */
};
Wait to[2];
byte owners;
#ifndef SLOW
bool fresh[S]; /* the key there is younger than the attempt that is under way beside it */
#define FRESH(s) fresh[s]
#else
#define FRESH(s) false
#endif
#ifdef RESTARTS
byte restarts = RESTARTS;
#endif

#define OPEN(c, s) (to[c].vote[s] == SENT || to[c].vote[s] == UNCOUNTED)
#define HAS(c) ((server[0].lock == c) + (server[1].lock == c) + (server[2].lock == c))
#define COUNT(c, what) ((to[c].vote[0] == what) + (to[c].vote[1] == what) + (to[c].vote[2] == what))

#ifdef WINDOW
#define TOGETHER(c) (!apart[0] && !apart[1] && !apart[2])
#else
#define TOGETHER(c) true
#endif

#ifdef NEW_SET_BY_QUORUM
#define NEW_SET(c) (COUNT(c, YES) + COUNT(c, VOID) + COUNT(c, NO) == S && COUNT(c, YES) + COUNT(c, VOID) >= QUORUM && TOGETHER(c))
#else
#define NEW_SET(c) (COUNT(c, YES) + COUNT(c, VOID) == S && TOGETHER(c))
#endif

inline forget_votes(c)
{
	to[c].vote[0] = NONE; to[c].vote[1] = NONE; to[c].vote[2] = NONE
}

inline is_current(c)
{
	to[c].dates_back[0] = false; to[c].dates_back[1] = false; to[c].dates_back[2] = false
}

#if defined(YOUNG_VOTE)
#define REQUEST(s) SENT
#else
#define REQUEST(s) (server[s].young -> UNCOUNTED : SENT)
#endif

inline ask_all(c)
{
	to[c].vote[0] = REQUEST(0); to[c].vote[1] = REQUEST(1); to[c].vote[2] = REQUEST(2);
	state[c] = ASKING
}

/* A key was set or renewed for a holder, the others no longer ago than a request takes. */
inline renewed_now(c)
{
#ifndef SLOW
	fresh[0] = (state[1 - c] == ASKING); fresh[1] = fresh[0]; fresh[2] = fresh[0]
#else
	skip
#endif
}

inline end_at(c, s)
{
	server[s].lock = (server[s].lock == c -> ENDED : server[s].lock)
}

/* The roll-back, or the release, is on its way to all servers. */
inline finish(c)
{
	end_at(c, 0); end_at(c, 1); end_at(c, 2);
	forget_votes(c);
	is_current(c);
#ifndef SLOW
	fresh[0] = false; fresh[1] = false; fresh[2] = false;
#endif
	state[c] = IDLE
}

inline believe(c)
{
	owners++;
	assert(owners == 1); /* never two owners */
	/* A straggler that is carried out later is the lease's as well. */
	to[c].vote[0] = (OPEN(c, 0) -> SENT : NONE); to[c].vote[1] = (OPEN(c, 1) -> SENT : NONE); to[c].vote[2] = (OPEN(c, 2) -> SENT : NONE);
	renewed_now(c);
	state[c] = HOLDING
}

#ifdef YOUNG_VOTE
#define COUNTS(c, s) true
#else
#define COUNTS(c, s) (to[c].vote[s] == SENT && !server[s].young)
#endif
#define FOR_ME(c, s) (server[s].lock == FREE || server[s].lock == c)

/* One client's request at one server */
proctype Connection(byte c; byte s)
{
end:
	do
	:: d_step { OPEN(c, s) && FOR_ME(c, s) && state[c] == ASKING ->
			server[s].lock = c;
			to[c].vote[s] = (COUNTS(c, s) -> YES : VOID) }
	/* The answer comes too late, or never. */
	:: d_step { OPEN(c, s) && FOR_ME(c, s) ->
			server[s].lock = c; to[c].vote[s] = NONE;
			if
			:: state[c] == HOLDING -> renewed_now(c)
			:: else
			fi }
	:: d_step { OPEN(c, s) && !FOR_ME(c, s) -> to[c].vote[s] = (state[c] == ASKING -> NO : NONE) }
#ifdef CONFIRMED
	:: d_step { state[c] == ASKING_AGAIN && (to[c].vote[s] == YES || to[c].vote[s] == VOID) && server[s].lock == c -> to[c].vote[s] = STILL }
#endif
	/* A renewal did not reach this server for a while. */
	:: d_step { state[c] == HOLDING && server[s].lock == c && HAS(c) > QUORUM && !FRESH(s) -> server[s].lock = ENDED }
	/* Repair: a holder sets its key where it is missing. */
	:: d_step { state[c] == HOLDING && server[s].lock == FREE && HAS(c) >= QUORUM ->
			server[s].lock = c; renewed_now(c) }
#ifdef VANISH
#ifdef EVICTED
	:: d_step { state[c] == HOLDING && server[s].lock == c && HAS(c) == QUORUM -> server[s].lock = FREE }
#endif
	:: d_step { state[c] == HOLDING && server[s].lock == c && HAS(c) > QUORUM -> server[s].lock = FREE }
#endif
	od
}

proctype Client(byte c)
{
end:
	do
	:: d_step { state[c] == IDLE -> ask_all(c) }
	:: d_step { state[c] == ASKING && (COUNT(c, YES) >= QUORUM || NEW_SET(c)) ->
#ifdef CONFIRMED
			state[c] = ASKING_AGAIN }
	:: d_step { state[c] == ASKING_AGAIN && COUNT(c, STILL) >= QUORUM ->
#endif
			believe(c) }
#ifdef CONFIRMED
	:: d_step { state[c] == ASKING_AGAIN -> finish(c) }
#endif
	/* Too few votes, or too late */
	:: d_step { state[c] == ASKING -> finish(c) }
#if FORGETFUL > 0
	/* Renewal: its own key is still there on a quorum of servers. */
	:: d_step { state[c] == HOLDING && HAS(c) >= QUORUM && (to[c].dates_back[0] || to[c].dates_back[1] || to[c].dates_back[2]) -> is_current(c) }
#endif
	/* Released, or not renewed in time */
	:: d_step { state[c] == HOLDING -> owners--; finish(c) }
	od
}

/* With this one, how many servers have forgotten since the attempt, or the last renewal? */
#define FORGOTTEN(c, s) ((to[c].dates_back[0] || s == 0) + (to[c].dates_back[1] || s == 1) + (to[c].dates_back[2] || s == 2))
#define MAY_FORGET(c, s) (state[c] == IDLE || FORGOTTEN(c, s) <= FORGETFUL)
#ifdef RESTARTS
#define ANOTHER_RESTART (restarts > 0)
#else
#define ANOTHER_RESTART true
#endif

/* A vote ends with the connection that it came over. What was not answered is sent again. */
inline connections_end(c, s)
{
#ifdef HEARD_OF
	to[c].vote[s] = (to[c].vote[s] == YES || to[c].vote[s] == VOID -> NONE : to[c].vote[s])
#else
	skip
#endif
}

/* What else happens at one server */
proctype World(byte s)
{
end:
	do
	:: d_step { server[s].lock == FREE -> server[s].lock = ENDED }
	:: d_step { server[s].lock == ENDED -> server[s].lock = FREE }
#if FORGETFUL > 0
	:: d_step { ANOTHER_RESTART && MAY_FORGET(0, s) && MAY_FORGET(1, s) ->
#ifdef RESTARTS
			restarts--;
#endif
			server[s].lock = FREE; server[s].young = true;
#ifdef WINDOW
			apart[0] = (s == 0 -> apart[0] : !server[(s == 1 -> 2 : 1)].young);
			apart[1] = (s == 1 -> apart[1] : !server[(s == 0 -> 2 : 0)].young);
			apart[2] = (s == 2 -> apart[2] : !server[(s == 0 -> 1 : 0)].young);
#endif
			connections_end(0, s); connections_end(1, s);
			to[0].dates_back[s] = (state[0] != IDLE); to[1].dates_back[s] = (state[1] != IDLE) }
#endif
	/* It has been up for longer than the longest lease: whatever was promised before its restart is over. */
	:: d_step { server[s].young && !to[0].dates_back[s] && !to[1].dates_back[s] -> server[s].young = false }
	od
}

init {
	atomic {
		byte n = 0;
		do
		:: n < S ->
#ifndef OF_AGE
			server[n].young = true;
#endif
			run World(n); n++
		:: else -> break
		od;
		n = 0;
		do
		:: n < 2 ->
			run Client(n);
			run Connection(n, 0); run Connection(n, 1); run Connection(n, 2);
			n++
		:: else -> break
		od
	}
}

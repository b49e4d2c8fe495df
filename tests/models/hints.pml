/* Waiting for a lock on several Redis servers (RedLock): a waiter queues on each server under one ticket; a release there
 * tells the first in the queue to try, and grants nothing. README.md beside this file says what stands for what.
 *
 * There is no clock here. What the clock does in Redlock is this: a client's keys last for as long as it believes in its
 * lease, and for as long as it may come to do so. So the keys of one that is asking or holding do not expire; any other's
 * may at any time; and a client that asks may find at any time that it took too long.
 *
 * Checked: never two owners; no client is left asleep for good (an invalid end state: every client makes CLAIMS claims, then
 * stops, so that no newcomer wakes those asleep).
 *
 *   -DW=3 clients    -DCLAIMS=1 of each    -DCRASHES=1    -DLOST=1 hints lost    -DSLOW: any client may be too late, or taken for dead
 *   -DANY_TICKET     each wait has a ticket of its own, before or behind the other's (two clients)
 *   -DNO_RELOOK      no client looks again by itself. Without a fault and without SLOW that is not a mistake: hints suffice.
 *
 * The known mistakes: NO_RELOOK with a fault, and
 *   -DTWO_ARE_NOT_NEEDED    one server's vote is taken for a quorum
 *   -DVALIDITY_NOT_READ     keys may expire while their client still counts votes
 *   -DRELEASE_WITHOUT_COMPARE   a release deletes any client's key
 *   -DNO_HINT_ON_RELEASE    a release just deletes the key
 */

#ifndef W
#define W 2
#endif
#ifndef CLAIMS
#define CLAIMS 1
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef LOST
#define LOST 0
#endif
#define S 3
#ifdef TWO_ARE_NOT_NEEDED
#define QUORUM 1
#else
#define QUORUM 2
#endif
#define FREE 255

mtype = { IDLE, ASKING, HOLDING, ROLLING_BACK, RELEASING, WAITING, LEAVING, DEAD };
mtype state[W] = IDLE;

typedef Server {
	byte lock = FREE;
	bool queued[W] /* in the order of the tickets, which is the same everywhere */
};
Server server[S];

typedef Wait {
	bool open[S] /* the request to this server is under way */
};
Wait to[W];
byte yes[W];
bool hint[W];   /* a hint is in one of its inboxes, or on the way. One is enough to make it ask, a little later */
bool waits[W];  /* it has been refused: from now on it queues */
byte claims[W] = CLAIMS;
byte owners, crashes = CRASHES, lost = LOST;
byte k;

/* Who has the k-th ticket? Without ANY_TICKET it is the client's number. */
#ifdef ANY_TICKET
bit first;
#define AT(k) ((k) ^ first)
#else
#define AT(k) (k)
#endif

/* serve() without a grant, in handover.lua: the first in the queue is told. `self` need not be. */
inline serve(s, self)
{
	k = 0;
	do
	:: k < W && server[s].queued[AT(k)] && AT(k) != self && state[AT(k)] == DEAD -> server[s].queued[AT(k)] = false; k++ /* no client receives it */
	:: k < W && !server[s].queued[AT(k)] -> k++
	:: else -> break
	od;
	k = (k < W -> AT(k) : W);
	if
	:: k < W && k != self -> hint[k] = true
	:: else
	fi
}

inline release(c, s)
{
#ifdef RELEASE_WITHOUT_COMPARE
	if
	:: server[s].lock != FREE ->
#else
	if
	:: server[s].lock == c ->
#endif
		server[s].lock = FREE;
#ifndef NO_HINT_ON_RELEASE
		serve(s, c);
#endif
		k = 0
	:: else
	fi
}

inline leave(c, s)
{
	if
	:: server[s].queued[c] ->
		server[s].queued[c] = false;
		if
		:: server[s].lock == FREE -> serve(s, FREE); k = 0
		:: else
		fi
	:: else
	fi
}

/* acquire.lua with grants off */
inline acquire(c, s)
{
	to[c].open[s] = false;
	if
	:: server[s].lock == FREE ->
		serve(s, c);
		if
		:: k == W || k == c -> server[s].lock = c; server[s].queued[c] = false; yes[c]++
		:: else -> server[s].queued[c] = waits[c]
		fi;
		k = 0
	:: else -> server[s].queued[c] = waits[c]
	fi
}

inline ask_all(c)
{
	state[c] = ASKING;
	yes[c] = 0;
	to[c].open[0] = true; to[c].open[1] = true; to[c].open[2] = true
}

/* To every server once more: release it, or leave it. */
inline tell_all(c, what)
{
	state[c] = what;
	yes[c] = 0;
	to[c].open[0] = true; to[c].open[1] = true; to[c].open[2] = true
}

#define ANSWERED(c) (!to[c].open[0] && !to[c].open[1] && !to[c].open[2])
#define OPEN(c) (to[c].open[0] + to[c].open[1] + to[c].open[2])

/* One client's request at one server */
proctype Connection(byte c; byte s)
{
end:
	do
	:: d_step { to[c].open[s] && (state[c] == ASKING || state[c] == HOLDING) -> acquire(c, s) }
	:: d_step { to[c].open[s] && state[c] == ROLLING_BACK -> to[c].open[s] = false; release(c, s) }
	/* leave.lua tells the next one where the lock is free. It is sent when the lock is had, or given up, */
	:: d_step { !to[c].open[s] && state[c] == HOLDING && server[s].queued[c] -> leave(c, s) }
	/* and was received at the latest when the release is. */
	:: d_step { to[c].open[s] && (state[c] == RELEASING || state[c] == LEAVING) ->
			to[c].open[s] = false;
			leave(c, s);
			release(c, s) }
	/* The lease ends. */
#ifdef VALIDITY_NOT_READ
	:: d_step { server[s].lock == c && (state[c] == ASKING || state[c] == DEAD) -> server[s].lock = FREE }
#elif defined(SLOW)
	:: d_step { server[s].lock == c && state[c] != ASKING && state[c] != HOLDING -> server[s].lock = FREE }
	:: d_step { server[s].queued[c] -> server[s].queued[c] = false }
#elif CRASHES > 0
	:: d_step { server[s].lock == c && state[c] == DEAD -> server[s].lock = FREE }
#endif
	od
}

proctype Client(byte c)
{
end:
	do
	:: d_step { state[c] == IDLE && claims[c] > 0 -> claims[c]--; ask_all(c) }

	/* Decided: a quorum, or none any more. A straggler that is answered later is the lease's as well. */
	:: d_step { state[c] == ASKING && yes[c] >= QUORUM ->
			state[c] = HOLDING;
			hint[c] = false;
			owners++;
			assert(owners == 1) /* never two owners */ }
	:: d_step { state[c] == ASKING && yes[c] + OPEN(c) < QUORUM && ANSWERED(c) -> tell_all(c, ROLLING_BACK) }
#ifdef SLOW
	:: d_step { state[c] == ASKING && ANSWERED(c) -> tell_all(c, ROLLING_BACK) }
	:: d_step { state[c] == HOLDING && ANSWERED(c) -> owners--; tell_all(c, RELEASING) }
#endif
	/* The first refusal of all: queue, at once. */
	:: d_step { state[c] == ROLLING_BACK && ANSWERED(c) && !waits[c] -> waits[c] = true; ask_all(c) }
#ifdef ANY_TICKET
	:: d_step { state[c] == ROLLING_BACK && ANSWERED(c) && !waits[c] -> waits[c] = true; first = 1 - first; ask_all(c) }
#endif
	:: d_step { state[c] == ROLLING_BACK && ANSWERED(c) && waits[c] -> state[c] = WAITING }

	:: d_step { state[c] == WAITING && hint[c] -> hint[c] = false; ask_all(c) }
#ifndef NO_RELOOK
	:: d_step { state[c] == WAITING -> ask_all(c) }
#endif
	:: d_step { state[c] == WAITING && c != W - 1 -> tell_all(c, LEAVING) }
	:: d_step { state[c] == HOLDING && ANSWERED(c) -> owners--; tell_all(c, RELEASING) }
	:: d_step { (state[c] == RELEASING || state[c] == LEAVING) && ANSWERED(c) -> state[c] = IDLE; waits[c] = false; hint[c] = false }

#if CRASHES > 0
	:: d_step { crashes > 0 && state[c] != IDLE && state[c] != DEAD ->
			crashes--;
			owners = (state[c] == HOLDING -> owners - 1 : owners);
			state[c] = DEAD; hint[c] = false; yes[c] = 0; waits[c] = false;
			to[c].open[0] = false; to[c].open[1] = false; to[c].open[2] = false }
#endif
#if LOST > 0
	:: d_step { lost > 0 && hint[c] -> lost--; hint[c] = false }
#endif
	od
}

/* Where everything has come to rest, no client is asleep. */
proctype Rest()
{
end:
	do
	:: timeout -> d_step {
			k = 0;
			do
			:: k < W -> assert(state[k] != WAITING); k++ /* asleep for good */
			:: else -> break
			od;
			k = 0 } -> break
	od
}

init {
	atomic {
		run Rest();
		byte n = 0;
		do
		:: n < W ->
			run Client(n);
			run Connection(n, 0); run Connection(n, 1); run Connection(n, 2);
			n++
		:: else -> break
		od
	}
}

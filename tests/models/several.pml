/* Several locks at once on one Redis server (`acquire(['a', 'b'])`): an attempt for several is in all their queues under
 * one ticket, asleep until no client with a smaller ticket is left in any of them, and told to ask. README.md beside this
 * file says what stands for what.
 *
 * Three locks; attempt 0 wants 0 and 1, attempt 1 wants 1 and 2, attempt 2 wants 1 alone, or with RING 0 and 2. There is
 * no clock: a lease of one that has died ends at any time, and one that died is taken for dead without being told
 * something at any time.
 *
 * Checked: never two owners of a lock; an attempt has all of its locks or none; where everything has come to rest nobody
 * waits; with SERVED, attempt 0 gets its locks though the others ask again and again.
 *
 *   -DCLAIMS=1 of each    -DRING    -DCRASHES=1
 *   -DRELOOK      who waits looks again, when all else has come to rest. Without a death it is not needed.
 *   -DSERVED      attempts 1 and 2 ask again without end
 *
 * The known mistakes: CRASHES without RELOOK, and
 *   -DLAST_NOT_LOOKED_AT   no client looks at the last lock, with RING
 *   -DKEEPS_A_PART         one that is refused keeps what was free
 *   -DNO_WAKE              who leaves a queue wakes nobody
 *   -DSTAYS_ASLEEP         an attempt for several is never awake
 *   -DNOT_KEPT             what is free for one that is awake is taken by any client that asks
 */

#define W 3
#define L 3
#ifndef CLAIMS
#define CLAIMS 1
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#define FREE 255
#define NONE 254

mtype = { IDLE, WAITING, HOLDING, DEAD };
mtype state[W] = IDLE;

#ifdef RING
#define WANTS(p, l) ((p) == 0 && (l) != 2 || (p) == 1 && (l) != 0 || (p) == 2 && (l) != 1)
#define SEVERAL(p) true
#else
#define WANTS(p, l) ((p) == 0 && (l) != 2 || (p) == 1 && (l) != 0 || (p) == 2 && (l) == 1)
#define SEVERAL(p) ((p) != 2)
#endif

/* The server's */
byte lock[L] = FREE;
typedef Queue {
	bool has[W]
};
Queue queue[L];
byte ticket[W];  /* 0: none; no larger than it has to be */
bool asleep[W];
bool told[W];    /* since it has asked last */
bool stale[W];   /* it is taken for dead, also where it is not told anything */

/* The clients' */
bool message[W]; /* it is told to ask, or that it was granted its lock */
bool looked[W];  /* since anything has changed */
byte claims[W] = CLAIMS;
byte crashes = CRASHES;

byte l, o, next, first, place;
bool taken, mine;

/* In the order of scores: those that are asleep come last. */
#define SCORE(p) (ticket[p] + (asleep[p] -> W + 1 : 0))

inline changed()
{
	looked[0] = false; looked[1] = false; looked[2] = false
}

/* first: the first in the queue of lock m; NONE */
inline find_first(m)
{
	first = NONE;
	for (o : 0 .. W - 1) {
		if
		:: queue[m].has[o] && (first == NONE || SCORE(o) < SCORE(first)) -> first = o
		:: else
		fi
	}
}

/* Out of one queue. Where that was the last one its ticket is no client's, and the others move up. */
inline forget(p, m)
{
	if
	:: queue[m].has[p] ->
		queue[m].has[p] = false;
		if
		:: !queue[0].has[p] && !queue[1].has[p] && !queue[2].has[p] ->
			for (o : 0 .. W - 1) {
				ticket[o] = (ticket[o] > ticket[p] -> ticket[o] - 1 : ticket[o])
			}
			ticket[p] = 0; asleep[p] = false; told[p] = false
		:: else
		fi;
		changed()
	:: else
	fi
}

/* serve() in handover.lua. next: who has lock m from now on, or for whom it is kept; NONE */
inline serve(m, self, quietly)
{
	next = FREE;
	do
	:: next == FREE ->
		find_first(m);
		if
		:: first == NONE || first == self || asleep[first] -> next = (first == self -> self : NONE)
		:: else ->
			if
			:: state[first] == DEAD && (stale[first] || !(quietly && SEVERAL(first))) -> forget(first, m)
			:: !(state[first] == DEAD && (stale[first] || !(quietly && SEVERAL(first)))) && SEVERAL(first) ->
				message[first] = message[first] || !quietly && !told[first];
				told[first] = told[first] || !quietly;
				next = first
			:: else ->
				lock[m] = first;
				message[first] = true;
				next = first;
				forget(first, m)
			fi
		fi
	:: else -> break
	od
}

/* Of one that has left the queue of lock m */
inline wake(m)
{
#ifndef NO_WAKE
	next = FREE;
	do
	:: next == FREE ->
		first = NONE;
		for (o : 0 .. W - 1) {
			if
			:: queue[m].has[o] && asleep[o] && (first == NONE || ticket[o] < ticket[first]) -> first = o
			:: else
			fi
		}
		next = first;
		for (o : 0 .. W - 1) {
			next = (first != NONE && queue[m].has[o] && !asleep[o] && ticket[o] < ticket[first] -> NONE : next)
		}
		if
		:: next == NONE
		:: next != NONE && state[first] == DEAD -> forget(first, m); next = FREE
		:: else -> message[first] = message[first] || !told[first]; told[first] = true
		fi
	:: else -> break
	od
#else
	skip
#endif
}

/* Gives up what it has of lock m, or what was kept for it there. */
inline give_back(p, m)
{
	if
	:: lock[m] == p || lock[m] == FREE ->
		lock[m] = FREE;
		serve(m, NONE, false)
	:: else
	fi;
	wake(m)
}

inline believe(p)
{
	for (l : 0 .. L - 1) {
		assert(!WANTS(p, l) || lock[l] == p) /* all of its locks */
	}
	state[p] = HOLDING;
	message[p] = false;
	changed()
}

/* May it have lock m, which no client holds? taken: not so. */
inline look_at_free(p, m)
{
	find_first(m);
#ifndef NOT_KEPT
	if
	:: first == NONE || first == p || asleep[first]
	:: else ->
		serve(m, p, true);
		taken = taken || next != p && next != NONE
	fi
#endif
}

inline queue_up(p)
{
	if
	:: ticket[p] == 0 ->
		for (o : 0 .. W - 1) {
			ticket[p] = (o != p && ticket[o] >= ticket[p] -> ticket[o] + 1 : ticket[p])
		}
		ticket[p] = (ticket[p] == 0 -> 1 : ticket[p])
	:: else
	fi;
	mine = true; /* is no client before it in any queue? Of those asleep the first one tells */
	for (l : 0 .. L - 1) {
		first = NONE;
		for (o : 0 .. W - 1) {
			if
			:: WANTS(p, l) && o != p && queue[l].has[o] && asleep[o] && !(state[o] == DEAD && stale[o]) &&
					(first == NONE || ticket[o] < ticket[first]) -> first = o
			:: else
			fi;
			mine = mine && !(WANTS(p, l) && o != p && queue[l].has[o] && !asleep[o] && ticket[o] < ticket[p])
		}
		mine = mine && !(first != NONE && ticket[first] < ticket[p])
	}
	for (l : 0 .. L - 1) {
		assert(lock[l] != p); /* all of them, or none */
		queue[l].has[p] = WANTS(p, l)
	}
#ifdef STAYS_ASLEEP
	asleep[p] = SEVERAL(p);
#else
	asleep[p] = SEVERAL(p) && !mine;
#endif
	told[p] = false;
	state[p] = WAITING
}

/* acquire.lua and several_acquire.lua */
inline ask(p)
{
	message[p] = false;
	taken = false;
	for (l : 0 .. L - 1) {
#ifdef LAST_NOT_LOOKED_AT
		taken = taken || WANTS(p, l) && l != 2 && lock[l] != FREE && lock[l] != p;
#else
		taken = taken || WANTS(p, l) && lock[l] != FREE && lock[l] != p;
#endif
		if
		:: WANTS(p, l) && lock[l] == FREE -> look_at_free(p, l)
		:: else
		fi
	}
	if
	:: !taken ->
		for (l : 0 .. L - 1) {
			assert(!WANTS(p, l) || lock[l] == FREE || lock[l] == p); /* never two owners */
			lock[l] = (WANTS(p, l) -> p : lock[l])
		}
		mine = ticket[p] > 0;
		for (l : 0 .. L - 1) {
			forget(p, l)
		}
		for (l : 0 .. L - 1) {
			if
			:: WANTS(p, l) && mine -> wake(l)
			:: else
			fi
		}
		believe(p)
	:: else ->
#ifdef KEEPS_A_PART
		for (l : 0 .. L - 1) {
			lock[l] = (WANTS(p, l) && lock[l] == FREE -> p : lock[l])
		}
#endif
		queue_up(p)
	fi
}

inline release(p)
{
	changed();
	state[p] = IDLE;
	for (l : 0 .. L - 1) {
		if
		:: WANTS(p, l) && lock[l] == p -> give_back(p, l)
		:: else
		fi
	}
	l = 0
}

inline leave(p)
{
	changed();
	state[p] = IDLE;
	message[p] = false;
	for (l : 0 .. L - 1) {
		forget(p, l)
	}
	for (l : 0 .. L - 1) {
		if
		:: WANTS(p, l) -> give_back(p, l)
		:: else
		fi
	}
	l = 0
}

proctype Client(byte p)
{
end:
	do
	:: d_step { state[p] == IDLE && claims[p] > 0 ->
#ifdef SERVED
			claims[p] = (p == 0 -> 0 : 1);
#else
			claims[p]--;
#endif
			ask(p) }
	:: d_step { state[p] == WAITING && message[p] && (SEVERAL(p) || lock[1] != p) -> ask(p) }
#ifndef RING
	:: d_step { state[p] == WAITING && message[p] && !SEVERAL(p) && lock[1] == p -> believe(p) } /* a grant */
#endif
	:: d_step { state[p] == HOLDING -> release(p) }
#ifndef SERVED
	:: d_step { state[p] == WAITING && p != 0 -> leave(p) } /* its time is over */
#endif
#ifdef RELOOK
	:: (timeout && state[p] == WAITING && !looked[p]) -> d_step { ask(p); looked[p] = true }
#endif
#if CRASHES > 0
	:: d_step { crashes > 0 && (state[p] == WAITING || state[p] == HOLDING) ->
			crashes--; state[p] = DEAD; message[p] = false }
	:: d_step { state[p] == DEAD && !stale[p] -> stale[p] = true; changed() }
	/* What it holds, or was granted, ends: of several, each by itself. */
	:: d_step { state[p] == DEAD && lock[0] == p -> lock[0] = FREE; changed() }
	:: d_step { state[p] == DEAD && lock[1] == p -> lock[1] = FREE; changed() }
	:: d_step { state[p] == DEAD && lock[2] == p -> lock[2] = FREE; changed() }
#endif
	od
}

#ifndef SERVED
#ifdef RELOOK
#define HAS_LOOKED(p) looked[p]
#else
#define HAS_LOOKED(p) true
#endif

/* Where everything has come to rest no client waits, and nothing is left. */
proctype Rest()
{
end:
	do
	:: (timeout && (state[0] != WAITING || HAS_LOOKED(0)) && (state[1] != WAITING || HAS_LOOKED(1)) &&
			(state[2] != WAITING || HAS_LOOKED(2))) -> d_step {
			assert(state[0] != WAITING && state[1] != WAITING && state[2] != WAITING); /* asleep for good */
			for (l : 0 .. L - 1) {
				assert(lock[l] == FREE) /* left */
			}
			l = 0
		} -> break
	od
}
#else
ltl served { [] (state[0] == WAITING -> <> (state[0] == HOLDING)) }
#endif

init {
	atomic {
#ifndef SERVED
		run Rest();
#endif
		run Client(0); run Client(1); run Client(2)
	}
}

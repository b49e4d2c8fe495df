/* Places in the queue over several servers (RedLock): as in Lamport's bakery each server tells the next ticket, and a waiter takes the
 * largest of the answers to its first attempt, the same on all servers. README.md beside this file says what stands for what.
 *
 * Requests and answers take any time, and a server need not answer at all. What becomes of those in the queue is the business of
 * hints.pml: here they leave it at any time.
 *
 * Checked: who takes a ticket comes behind everybody who was in the queue of a quorum when it began to ask.
 *
 *   -DW=3 clients   -DFIRST_CLAIMS=1 of the first   -DCLAIMS=1 of each other   -DRAISES=1 of servers' fencing tokens
 *
 * The known mistakes:
 *
 *   -DONE_ANSWER    the answer of one server is enough
 *   -DSMALLEST      the smallest answer is taken
 *   -DFENCE_ALONE   a server tells what it has given out, and does not look into the queue
 *   -DCLIENT_CLOCK  the ticket is the client's time
 */

#ifndef W
#define W 3
#endif
#ifndef CLAIMS
#define CLAIMS 1
#endif
#ifndef FIRST_CLAIMS
#define FIRST_CLAIMS 1
#endif
#ifndef RAISES
#define RAISES 1
#endif
#define S 3
#ifdef ONE_ANSWER
#define ANSWERS 1
#else
#define ANSWERS 2 /* a quorum */
#endif

mtype = { IDLE, ASKING, TAKEN };
mtype state[W] = IDLE;

typedef Server {
	byte fence;
	bool queued[W]
};
Server server[S];

typedef Wait {
	bool open[S];  /* the request to this server is under way */
	bool ahead[W]  /* in the queue of a quorum when it began to ask, and since then */
};
Wait to[W];
byte ticket[W];
byte next[W];
byte told[W];
byte claims[W];
byte raises = RAISES;
byte k, largest;

inline ask_all(c)
{
	to[c].open[0] = true; to[c].open[1] = true; to[c].open[2] = true
}

inline begin(c)
{
	claims[c]--;
	k = 0;
	do
	:: k < W -> to[c].ahead[k] = (server[0].queued[k] + server[1].queued[k] + server[2].queued[k] >= 2); k++
	:: else -> break
	od;
	k = 0;
	ask_all(c);
	state[c] = ASKING
}

/* next_ticket() in acquire.lua, and what the client makes of it */
inline tell(c, s)
{
	largest = server[s].fence;
#ifndef FENCE_ALONE
	k = 0;
	do
	:: k < W -> largest = (server[s].queued[k] && ticket[k] > largest -> ticket[k] : largest); k++
	:: else -> break
	od;
	k = 0;
#endif
	largest++;
#ifdef SMALLEST
	next[c] = (next[c] == 0 || largest < next[c] -> largest : next[c]);
#else
	next[c] = (largest > next[c] -> largest : next[c]);
#endif
	largest = 0;
	told[c]++;
	to[c].open[s] = false
}

inline take(c, number)
{
	ticket[c] = number;
	next[c] = 0;
	told[c] = 0;
	do
	:: k < W ->
		assert(!to[c].ahead[k] || ticket[k] < ticket[c]); /* overtaken */
		to[c].ahead[k] = false;
		k++
	:: else -> break
	od;
	k = 0;
	ask_all(c);
	state[c] = TAKEN
}

inline leave(c)
{
	ticket[c] = 0;
	do
	:: k < W -> to[k].ahead[c] = false; k++
	:: else -> break
	od;
	k = 0;
	server[0].queued[c] = false; server[1].queued[c] = false; server[2].queued[c] = false;
	to[c].open[0] = false; to[c].open[1] = false; to[c].open[2] = false;
	state[c] = IDLE
}

/* One client's request at one server */
proctype Connection(byte c; byte s)
{
end:
	do
	:: d_step { to[c].open[s] && state[c] == ASKING -> tell(c, s) }
	:: d_step { to[c].open[s] && state[c] == TAKEN -> to[c].open[s] = false; server[s].queued[c] = true }
	od
}

proctype Client(byte c)
{
end:
	do
	:: d_step { state[c] == IDLE && claims[c] > 0 -> begin(c) }
#ifdef CLIENT_CLOCK
	:: d_step { state[c] == ASKING && told[c] >= ANSWERS -> take(c, 1) }
	:: d_step { state[c] == ASKING && told[c] >= ANSWERS -> take(c, 9) }
#else
	:: d_step { state[c] == ASKING && told[c] >= ANSWERS -> take(c, next[c]) }
#endif
	/* Its turn has come, or it has given up. */
	:: d_step { state[c] == TAKEN -> leave(c) }
	od
}

/* A client that gets the lock there raises the fencing token, perhaps by a clock that is far ahead. */
proctype World(byte s)
{
end:
	do
	:: d_step { raises > 0 -> raises--; server[s].fence = server[s].fence + 4 }
	od
}

init {
	atomic {
		byte n = 0;
		do
		:: n < S -> run World(n); n++
		:: else -> break
		od;
		n = 0;
		do
		:: n < W ->
			claims[n] = (n == 0 -> FIRST_CLAIMS : CLAIMS);
			run Client(n);
			run Connection(n, 0); run Connection(n, 1); run Connection(n, 2);
			n++
		:: else -> break
		od
	}
}

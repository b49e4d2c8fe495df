/* Fencing tokens of one server (DistributedLock): an acquire counts, and the first one over each connection anchors the count at
 * the server's time. README.md beside this file says what stands for what.
 *
 * There is no clock of leases here, as in fencing.pml: the key of a client that asks or holds does not expire, any other's may at
 * any time. The server's time stands still, runs, or is set back. It is that in which tokens are given out, EPOCH at least.
 *
 * Checked: each token that a holder relies on is greater than all that the server had given out before.
 *
 *   -DATTEMPTS=2     of each of two clients         -DOTHERS=1   how often another client counts, and does not go on
 *   -DLOSSES=1       how often data is lost: the fence, a lock, both, or all that is younger than an old copy of the fence, by a restart
 *   -DEPOCH=20       the least that the server's time is
 *   -DOLD_UNDER_OPEN an old fence comes back without a restart, under open connections
 *   -DREDLOCK        another client raises the fence to a token that was given out before: a RedLock on the same server
 *
 * The known mistakes:
 *
 *   -DNOT_ANCHORED      a new connection counts
 *   -DSEEN_KEPT         what was seen over a connection that broke is taken for seen over the next
 *   -DCROSS_CONNECTION  the answer over a newer connection is taken for one of the connection over which it was asked
 *   -DSEEN_NOT_COMPARED the answer is not compared with what was seen before
 *   -DINBOX_ANCHORS     a token that came with a grant, over the inbox, anchors the connection for requests
 *   -DLOSS_NOT_NOTICED  where there is no fence, a count begins at 1, and a RedLock's token becomes the fence as it is
 *   -DANCHOR_LOWERS     anchoring writes the server's time, though the last token is larger
 *   -DBEHIND_ITS_TIME   data is lost while the server's time is behind what was given out
 */

#ifndef ATTEMPTS
#define ATTEMPTS 2
#endif
#ifndef LOSSES
#define LOSSES 1
#endif
#ifndef OTHERS
#define OTHERS 0
#endif
#ifndef EPOCH
#define EPOCH 20
#endif
#define W 2
#define FREE 255
#define ENDED 254 /* the key of an attempt or a lease that is over: it blocks others until it is gone */

/* ---- the server ---- */

byte lock = FREE;
byte fence;         /* the last token that it gave out; 0: there is none */
byte clock = EPOCH; /* its time */
byte saved;         /* an old copy of the fence */
byte issued;        /* the largest token that it ever gave out: no part of the protocol */

/* ---- the clients ---- */

mtype = { IDLE, ASKING, WAITING, HOLDING };
mtype state[W] = IDLE;
/* The request under way, or its answer. SET: of a counting acquire, only the first half has been carried out. */
mtype = { NONE, COUNT, SET, ANCHOR, YES, NO };
mtype request[W] = NONE;
bool counting[W];   /* it was a counting acquire */
bool moved[W];      /* it was sent again, over a newer connection */
byte token[W];      /* the answer's */
byte before[W];     /* issued, when that was given out */
byte seen[W];       /* the largest token seen over the connection; 0: none, it is not anchored */
byte grant[W];      /* the token of a grant, in the inbox */
byte attempts[W] = ATTEMPTS;
byte losses = LOSSES;
byte others = OTHERS;

#define MAX(a, b) ((a) > (b) -> (a) : (b))

inline give_out(c)
{
	before[c] = issued;
	token[c] = fence;
	issued = MAX(issued, fence)
}

/* fencing.lua */
inline anchor(c)
{
#ifdef ANCHOR_LOWERS
	fence = clock;
#else
	fence = MAX(fence + 1, clock);
#endif
	give_out(c)
}

inline ask(c, what)
{
	request[c] = what;
	counting[c] = (what == COUNT);
	moved[c] = false;
	token[c] = 0;
	before[c] = 0
}

inline finish(c)
{
	ask(c, NONE);
	lock = (lock == c -> ENDED : lock);
	grant[c] = 0;
	seen[c] = (attempts[c] > 0 -> seen[c] : 0);
	state[c] = IDLE
}

inline believe(c)
{
	assert(token[c] > before[c]); /* rising */
	ask(c, NONE);
	state[c] = HOLDING
}

/* The answer may count. */
inline see(c)
{
	seen[c] = MAX(seen[c], token[c])
}

/* The connection is gone. A request is sent again, once. */
inline end_connection(c)
{
#if defined(CROSS_CONNECTION)
	seen[c] = (counting[c] -> seen[c] : 0);
#elif !defined(SEEN_KEPT)
	seen[c] = 0;
#endif
	if
	:: request[c] != NONE && !moved[c] ->
		request[c] = (counting[c] -> COUNT : ANCHOR);
		moved[c] = true;
		token[c] = 0;
		before[c] = 0
	:: request[c] != NONE && moved[c] -> finish(c)
	:: else
	fi
}

#define MINE_OR_FREE(c) (lock == FREE || lock == c)

proctype Connection(byte c)
{
end:
	do
	/* SET NX, INCR: one script, or a pipeline. It does not matter what comes between. */
	:: d_step { request[c] == COUNT && lock == FREE -> lock = c; request[c] = SET }
	:: d_step { request[c] == COUNT && lock != FREE -> request[c] = NO }
#ifndef LOSS_NOT_NOTICED
	:: d_step { request[c] == SET && fence == 0 -> anchor(c); request[c] = YES }
	:: d_step { request[c] == SET && fence > 0 -> fence++; give_out(c); request[c] = YES }
#else
	:: d_step { request[c] == SET -> fence++; give_out(c); request[c] = YES }
#endif
	:: d_step { request[c] == ANCHOR && MINE_OR_FREE(c) -> lock = c; anchor(c); request[c] = YES }
	:: d_step { request[c] == ANCHOR && !MINE_OR_FREE(c) -> request[c] = NO }
	:: d_step { request[c] != NONE || seen[c] > 0 -> end_connection(c) }
	od
}

#ifdef NOT_ANCHORED
#define ANCHORED(c) true
#else
#define ANCHORED(c) (seen[c] > 0)
#endif
#ifdef CROSS_CONNECTION
#define SAME_CONNECTION(c) true
#else
#define SAME_CONNECTION(c) (!moved[c])
#endif
#ifdef SEEN_NOT_COMPARED
#define COUNTS(c) SAME_CONNECTION(c)
#else
#define COUNTS(c) (SAME_CONNECTION(c) && token[c] > seen[c])
#endif
#define OTHER (1 - c)

proctype Client(byte c)
{
end:
	do
	:: d_step { state[c] == IDLE && attempts[c] > 0 && ANCHORED(c) -> attempts[c]--; ask(c, COUNT); state[c] = ASKING }
	/* Whatever goes beyond the common case anchors, over an anchored connection, too. */
	:: d_step { state[c] == IDLE && attempts[c] > 0 -> attempts[c]--; ask(c, ANCHOR); state[c] = ASKING }
	:: d_step { request[c] == YES && !counting[c] -> see(c); believe(c) }
	:: d_step { request[c] == YES && counting[c] && COUNTS(c) -> see(c); believe(c) }
	:: d_step { request[c] == YES && counting[c] && !COUNTS(c) -> ask(c, ANCHOR) }
	:: d_step { request[c] == NO && counting[c] -> ask(c, ANCHOR) }
	:: d_step { request[c] == NO && !counting[c] -> ask(c, NONE); state[c] = WAITING }
	/* Out of time, or the answer is not waited for */
	:: d_step { state[c] == ASKING || state[c] == WAITING -> finish(c) }
	/* A waiter asks again, or reads its grant. */
	:: d_step { state[c] == WAITING && grant[c] == 0 -> ask(c, ANCHOR); state[c] = ASKING }
	:: d_step { state[c] == WAITING && grant[c] > 0 ->
			token[c] = grant[c]; grant[c] = 0;
#ifdef INBOX_ANCHORS
			see(c);
#endif
			believe(c) }
	:: d_step { state[c] == HOLDING -> finish(c); lock = (lock == ENDED -> FREE : lock) }
	/* To a waiter: release.lua */
	:: d_step { state[c] == HOLDING && lock == c && state[OTHER] == WAITING && grant[OTHER] == 0 ->
			finish(c);
			lock = OTHER;
			anchor(OTHER); grant[OTHER] = token[OTHER]; token[OTHER] = 0 }
	od
}

/* Data is lost only where the server's time has gone beyond what was given out. */
#ifdef BEHIND_ITS_TIME
#define MAY_LOSE (losses > 0)
#else
#define MAY_LOSE (losses > 0 && clock > issued)
#endif

inline restart()
{
	end_connection(0);
	end_connection(1)
}

proctype World()
{
end:
	do
	:: d_step { lock == ENDED -> lock = FREE }
	/* The server's time. To be further ahead makes no difference. It is set back only while the last token is there. */
	:: d_step { clock <= issued -> clock++ }
	:: d_step { clock > EPOCH && fence >= issued -> clock-- }
	:: d_step { fence > saved && losses > 0 -> saved = fence }
	/* DEL dlock:fence, or eviction; */
	:: d_step { MAY_LOSE && fence > 0 -> losses--; fence = 0 }
	/* of a lock; FLUSHALL */
	:: d_step { losses > 0 && lock < W -> losses--; lock = FREE }
	:: d_step { MAY_LOSE && fence > 0 && lock < W -> losses--; fence = 0; lock = FREE }
	/* A restart with its data, without, and with old data */
	:: d_step { losses > 0 -> losses--; restart() }
	:: d_step { MAY_LOSE -> losses--; fence = 0; lock = FREE; restart() }
	:: d_step { MAY_LOSE && saved > 0 -> losses--; fence = saved; lock = FREE; restart() }
	:: d_step { MAY_LOSE && saved > 0 -> losses--; fence = saved; restart() }
#ifdef OLD_UNDER_OPEN
	:: d_step { MAY_LOSE && saved > 0 -> losses--; fence = saved }
#endif
#ifdef REDLOCK
	/* raise.lua, repair.lua, or acquire.lua with a proposal */
#ifndef LOSS_NOT_NOTICED
	:: d_step { fence == 0 && issued > 0 -> fence = clock; issued = MAX(issued, fence) }
	:: d_step { fence > 0 && fence < issued -> fence++ }
#else
	:: d_step { fence < issued -> fence = MAX(fence + 1, EPOCH) }
#endif
#endif
#if OTHERS > 0
#ifndef LOSS_NOT_NOTICED
	:: d_step { others > 0 -> others--; fence = (fence == 0 -> clock : fence + 1); issued = MAX(issued, fence) }
#else
	:: d_step { others > 0 -> others--; fence++; issued = MAX(issued, fence) }
#endif
#endif
	od
}

init {
	atomic {
		run World();
		run Connection(0); run Client(0);
		run Connection(1); run Client(1)
	}
}

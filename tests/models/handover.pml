/* The handover of a contended lock on one Redis server. README.md beside this file says what stands for what.
 *
 * One source, two readings of time:
 *
 *   (default)   Anything may take any time: a tick may fall between any two steps. That is a slow network, a client stopped
 *               by a signal, a suspended machine. Checked: never two owners; no grant lost.
 *   -DPROMPT    Time passes only when no client has anything to do at once. Checked: no client sleeps while the lock is free, or,
 *               after a fault, not beyond the re-check; without a fault no lease and no grant is left to run out; every
 *               waiter that does not give up gets the lock in the end (LTL, weak fairness).
 *
 *   -DN=3       clients                        -DFAULTS=2   crashes, broken inboxes and lost replies, all together
 *   -DFOREIGN   a client without our scripts: SET NX PX, compare-and-delete
 *   -DREPEATS   an answer is lost with its connection, and the request sent again
 *   -DSTRAYS    (with REPEATS) what was sent first may be carried out at any time after it was sent again
 *   -DLATE=1    how many clients' renewals may come after their leases (all; others' come before, or never)
 *   -DSHORT     the lease time is shorter than a grant
 *   -DLENGTHENS a holder sets a longer lease time itself, while a renewal with the former one may be under way
 *
 * The known mistakes, each of which must make the check fail:
 *
 *   -DSUBSCRIBE_AFTER_ENQUEUE   the waiter is in the queue before its inbox is open
 *   -DLEAVE_WITHOUT_ASKING      who gives up goes, and does not hear that it was granted the lock in that instant
 *   -DNO_RECHECK                waiters rely on being told
 *   -DBELIEF_FROM_REPLY         an answered acquire: the lease counted from the answer, not from the request
 *   -DBELIEF_FROM_READING       a grant: the lease counted from the reading of the message
 *   -DCOUNT_FROM_REPEAT         a grant: the lease counted from the second sending of a request that was sent twice
 *   -DTAKE_ANY_GRANT            a grant that is older than the last refusal is taken for a new one
 *   -DRENEWAL_BELIEVED          a renewal is believed in before the server has answered it
 *   -DRENEWAL_NOT_READ          a renewal is believed in though the server says that the lock is not the token's
 *   -DRENEWAL_FROM_ANSWER       a renewed lease counted from the answer, not from the request
 *   -DRENEWAL_WITHOUT_COMPARE   a renewal renews whatever has the lock
 *   -DRENEWAL_SHORTENS          a renewal sets its lease time, though the key lasts longer (with LENGTHENS)
 *   -DREPEAT_FORGOTTEN          a longer lease is believed in though an acquire was sent twice (with LENGTHENS, STRAYS)
 *   -DREFUSAL_FORGOTTEN         the same, only where the acquire that was sent twice was refused
 *   -DSHORT_GRANT_TAKEN_UP      a grant is taken up for a lease time that is shorter (with SHORT, STRAYS)
 *   -DRELEASE_WITHOUT_COMPARE   a release deletes the lock, also another client's
 *   -DSILENT_BREAK              the client never hears that its inbox is gone, though the server skips it for that
 *   -DTOKEN_REUSED              a token that was given back is used for the next attempt
 */

#ifndef N
#define N 2
#endif
#ifndef FAULTS
#define FAULTS 0
#endif
#ifndef LATE
#define LATE N
#endif

/* Ticks. Their order is that of the code: a waiter looks again sooner than it is taken for dead (LOOK < STALE), and GRACE
 * is no shorter than STALE. That TTL and GRACE differ keeps one from passing for the other. */
#ifdef PROMPT
#ifdef SHORT
#define TTL 2
#else
#define TTL 4
#endif
#define GRACE 3
#define STALE 3
#define LOOK 2
#elif defined(SHORT)
#define TTL 1
#define GRACE 2
#else
#define TTL 2
#define GRACE 1
#endif
#define LONG (TTL + 1)
#define OLDEST (TTL > GRACE -> TTL : GRACE) /* what is older than that is as good as that old */

#define NOBODY 255

/* ---- the server: what the scripts work on ---- */

#define FREE 0
#define OTHER 1 /* a foreign client's value */
#define TOKEN(i, gen) (2 + 2 * (i) + (gen))
#define MINE(i) TOKEN(i, generation[i])

byte lock = FREE;
byte lease;          /* ticks until the key expires */
bool queued[N];      /* in the queue */
byte ticket[N];      /* the clients that have a ticket, in its order; a client that comes back has its place again */
byte tickets;
#ifdef PROMPT
byte sign[N];        /* ticks until the waiter is taken for dead */
#endif

/* An inbox as the server sees it. While the break is not noticed the server counts a receiver, and the message is lost. */
mtype = { CLOSED, OPEN, BROKEN, GONE };
#ifdef INBOXES_OPEN
#define INBOXES true
mtype inbox[N] = OPEN;
#else
#define INBOXES false
mtype inbox[N] = CLOSED;
#endif

/* ---- between them ---- */

/* Each client has at most one request under way; the answer takes its place. An answer that gives the client nothing is
 * taken in at once: a client that has it and does nothing yet is like one that has not read it yet. */
mtype = { NONE, ACQUIRE, ACQUIRE_QUEUE, SUBSCRIBE, LEAVE, RELEASE, YES, NO, LOST };
mtype call[N] = NONE;

/* Beside it, over a connection of its own: the renewal; of a grant, too. */
mtype = { SENT };
mtype renewal[N] = NONE; /* NONE, SENT, YES, NO */
/* Requests that no client waits for any more, of each token: they may come any time later. */
#define EACH(i, gen) (2 * (i) + (gen))
bool late_renewal[2 * N];
#ifdef LATE_RELEASE
/* And the release of a token that was given back: on a connection given up since, it may come any time later. */
bool giving_back[N];
bit given_back[N]; /* the token's generation */
#define ALL_GIVEN_BACK(i) (!giving_back[i])
#define GIVING_BACK(i, gen) (giving_back[i] && given_back[i] == (gen))
#else
#define ALL_GIVEN_BACK(i) true
#define GIVING_BACK(i, gen) false
#endif
#ifdef STRAYS
bool stray[2 * N]; /* an acquire that was sent again is still on its way */
#define STRAY(i, gen) stray[EACH(i, gen)]
#else
#define STRAY(i, gen) false
#endif
#ifdef STRAYS
#define MAY_REPEAT(i) (i == 0 && !repeated[i] && !STRAY(i, generation[i])) /* the first client's, which makes the search smaller */
#else
#define MAY_REPEAT(i) (!repeated[i])
#endif
/* Is any request with this token still on its way, which no client waits for? */
#define UNDER_WAY(i, gen) (late_renewal[EACH(i, gen)] || (GIVING_BACK(i, gen)) || STRAY(i, gen))

/* A grant on its way to the inbox, or in it, not read. There is one at most that is younger than the last refusal: to be
 * granted again a waiter must have queued again. Those older than it are ignored, which is as if they were gone. */
bool grant[N];
#ifdef TAKE_ANY_GRANT
bool old_grant[N];
#endif

/* ---- the clients ---- */

mtype = { IDLE, ASKING, OPENING, WAITING, LEAVING, ASKING_LAST, ABANDONING, HOLDING, RELEASING, DEAD };
mtype state[N] = IDLE;
bit generation[N]; /* tells a claim's tokens apart */
bool listening[N] = INBOXES; /* the inbox is open, as far as the client knows */
byte age[N];       /* ticks since the last acquire was sent; while it holds: since the renewal under way was */
#ifdef REPEATS
bool repeated[N];  /* the request under way is there for the second time */
byte since[N];     /* ticks since it was sent, or sent again */
#endif
byte belief[N];    /* ticks for which the client still believes that it holds */
#ifdef PROMPT
byte look[N];      /* ticks until it looks again */
bool tired[N];     /* it has waited for a tick at least, and may give up */
bool rested[N];    /* a tick has passed since its last claim: no client acquires infinitely often in no time */
bool renewed[N];   /* once in a claim, for the same reason */
#endif
#ifdef LENGTHENS
bool lengthened[N];
#ifdef STRAYS
bool doubtful[N];  /* a request of this claim was sent twice */
#endif
#endif
#ifdef FOREIGN
byte foreign_belief;
#endif

#ifdef PROMPT
byte free_for; /* ticks for which the lock has been free while a client slept */
#endif

byte faults = FAULTS;
#define FAULTLESS (faults == FAULTS)

byte k, w, next; /* scratch of the scripts, 0 between them */
bool mine;

/* ---- handover.lua ---- */

inline forget(who)
{
	queued[who] = false;
#ifdef PROMPT
	sign[who] = 0;
#endif
}

#ifdef PROMPT
#define ALIVE(who) (sign[who] > 0)
#else
#define ALIVE(who) true /* a sign of life can be missing at any time; see Connection */
#endif
#define RECEIVERS(who) (inbox[who] == OPEN || inbox[who] == BROKEN)

/* serve(): the lock goes to the first live waiter, for GRACE, and a message to its inbox. `self` need not be told. */
inline serve(self)
{
	next = NOBODY;
	k = 0;
	do
	:: k < tickets && next == NOBODY ->
		w = ticket[k];
		if
		:: !queued[w]
		:: queued[w] && w == self -> next = w
		:: queued[w] && w != self && !(ALIVE(w) && RECEIVERS(w)) -> forget(w)
		:: queued[w] && w != self && ALIVE(w) && RECEIVERS(w) ->
			forget(w);
			lock = MINE(w);
			lease = GRACE;
			if
			:: inbox[w] == OPEN -> grant[w] = true
			:: else
			fi;
			next = w
		fi;
		k++
	:: else -> break
	od;
	k = 0; w = 0
}

/* The ticket is the claim's, and outlives its place in the queue. */
inline draw_ticket(who)
{
	k = 0;
	do
	:: k < tickets && ticket[k] != who -> k++
	:: else -> break
	od;
	if
	:: k == tickets -> ticket[tickets] = who; tickets++
	:: else
	fi;
	k = 0
}

inline drop_ticket(who)
{
	k = 0; w = 0;
	do
	:: k < tickets ->
		if
		:: ticket[k] != who -> ticket[w] = ticket[k]; w++
		:: else
		fi;
		k++
	:: else -> break
	od;
	if
	:: w < tickets -> tickets = w; ticket[w] = 0
	:: else
	fi;
	k = 0; w = 0
}

/* ---- redis/lock/acquire.c ---- */

#define OWNERS_EXCEPT(i) (OWNS_OTHER(i, 0) || OWNS_OTHER(i, 1) || OWNS_THIRD(i) || OWNS_FOREIGN)
#define OWNS_OTHER(i, j) (i != j && belief[j] > 0)
#if N > 2
#define OWNS_THIRD(i) OWNS_OTHER(i, 2)
#else
#define OWNS_THIRD(i) false
#endif
#ifdef FOREIGN
#define OWNS_FOREIGN (foreign_belief > 0)
#else
#define OWNS_FOREIGN false
#endif

inline believe(i, ticks)
{
	belief[i] = ticks;
	assert(belief[i] == 0 || !OWNERS_EXCEPT(i)) /* never two owners */
}

inline raise_belief(i, ticks)
{
	if
	:: belief[i] < ticks -> believe(i, ticks)
	:: else
	fi
}

inline send(i, request)
{
	call[i] = request;
#ifdef REPEATS
	repeated[i] = false;
	since[i] = 0;
#endif
	age[i] = 0
}

/* With an open inbox the request queues, without one it does not; see single_acquire(). */
/* They were for another token, or are lost with the connection. */
inline forget_grants(i)
{
#ifdef TAKE_ANY_GRANT
	old_grant[i] = false;
#endif
	grant[i] = false
}

inline attempt(i)
{
	if
#ifndef SUBSCRIBE_AFTER_ENQUEUE
	:: listening[i] -> send(i, ACQUIRE_QUEUE)
	:: else -> send(i, ACQUIRE)
#else
	:: true -> send(i, ACQUIRE_QUEUE)
#endif
	fi;
	state[i] = ASKING
}

inline open_inbox(i)
{
	listening[i] = false;
	state[i] = OPENING;
	call[i] = SUBSCRIBE
}

inline await_turn(i)
{
	call[i] = NONE;
	state[i] = WAITING;
	age[i] = (age[i] < GRACE -> age[i] : GRACE) /* older than that makes no difference to a grant */
}

/* The answer is no. */
inline refused(i)
{
	call[i] = NONE;
	if
	:: state[i] == ASKING_LAST -> end_claim(i)
	:: state[i] == ASKING && listening[i] -> await_turn(i)
	:: state[i] == ASKING && !listening[i] -> open_inbox(i)
	:: else /* given up, or dead */
	fi
}

inline hold(i)
{
	state[i] = HOLDING;
	call[i] = NONE;
	age[i] = 0;
	forget_grants(i);
	drop_ticket(i)
#ifdef PROMPT
	; look[i] = 0; tired[i] = false
#endif
}

/* No client waits for it any more. */
inline drop_renewal(i)
{
	late_renewal[EACH(i, generation[i])] = late_renewal[EACH(i, generation[i])] || (renewal[i] == SENT && i < LATE);
	renewal[i] = NONE;
	age[i] = 0
}

/* For the next claim: a token that nothing is under way with. */
inline choose_token(i)
{
	generation[i] = (UNDER_WAY(i, 0) -> 1 : 0)
}

/* The next claim has another token: what arrives for this one is not even looked at. */
inline end_claim(i)
{
	state[i] = IDLE;
	belief[i] = 0;
	drop_renewal(i);
#ifdef LENGTHENS
	lengthened[i] = false;
#ifdef STRAYS
	doubtful[i] = false;
#endif
#endif
#ifdef PROMPT
	look[i] = 0;
	tired[i] = false;
	rested[i] = false;
	renewed[i] = false;
#endif
	call[i] = NONE;
	forget_grants(i);
	drop_ticket(i);
	choose_token(i)
}

/* ---- the scripts, each atomic ---- */

/* A grant names the waiter's last request before it: what was granted before this one names an earlier one. Or this one,
 * where that was carried out before. */
inline outdate_grants(i)
{
	if
#ifdef REPEATS
	:: repeated[i] && !STRAY(i, generation[i])
	:: !repeated[i] || STRAY(i, generation[i]) ->
#else
	:: true ->
#endif
#ifdef TAKE_ANY_GRANT
		old_grant[i] = old_grant[i] || grant[i];
#endif
		grant[i] = false
	fi
}

/* acquire.lua */
inline execute(i, queueing)
{
	mine = false;
	if
	:: lock == FREE ->
		lock = MINE(i);
		lease = TTL;
#ifdef PROMPT
		free_for = 0;
#endif
		serve(i);
		mine = (next == NOBODY || next == i);
		if
		:: mine -> forget(i)
		:: else
		fi
	:: lock == MINE(i) ->
		lease = TTL;
		mine = true
	:: else
	fi;
	outdate_grants(i);
	if
	:: mine
	:: else ->
		if
		:: queueing ->
			draw_ticket(i);
			queued[i] = true;
#ifdef PROMPT
			sign[i] = STALE;
			look[i] = (lease < LOOK -> lease : LOOK) /* PTTL */
#endif
		:: else
		fi
	fi;
	next = 0
}

inline acquire(i, queueing)
{
	execute(i, queueing);
	if
	:: mine -> call[i] = YES
	:: else -> refused(i)
	fi;
	mine = false
}


/* release.lua */
inline release(token)
{
	if
#ifndef RELEASE_WITHOUT_COMPARE
	:: lock == token ->
#else
	:: lock != FREE ->
#endif
		serve(NOBODY);
		if
		:: next == NOBODY -> lock = FREE; lease = 0
		:: else
		fi
	:: else
	fi;
	next = 0
}

/* leave.lua */
inline leave(i)
{
	forget(i);
	if
	:: lock == FREE -> serve(NOBODY); end_claim(i)
	:: lock == MINE(i) -> call[i] = YES
	:: else -> end_claim(i)
	fi;
	next = 0
}

/* renew.lua */
inline renew(token)
{
	if
#ifndef RENEWAL_WITHOUT_COMPARE
	:: lock == token ->
#else
	:: lock != FREE ->
#endif
#ifdef RENEWAL_SHORTENS
		lease = TTL;
#else
		lease = (lease < TTL -> TTL : lease);
#endif
		mine = true
	:: else
	fi
}

#ifdef LENGTHENS
#if defined(STRAYS) && !defined(REPEAT_FORGOTTEN)
#define GUARANTEED(i) (doubtful[i] -> TTL : LONG)
#else
#define GUARANTEED(i) LONG
#endif

/* extend.lua, and its answer: that these may be late is known from acquire. */
inline lengthen(i)
{
	if
	:: lock == MINE(i) -> lease = LONG; believe(i, GUARANTEED(i)); lengthened[i] = true
	:: else -> end_claim(i)
	fi
}
#endif

#ifdef STRAYS
/* Before what was sent after it: that is as if its answer were lost. */
#define IS_FIRST(i, gen) (generation[i] == (gen) && (call[i] == LOST || (call[i] == ACQUIRE_QUEUE && repeated[i])))

/* acquire.lua once more, with no client to hear of it */
inline execute_stray(token)
{
	if
	:: lock == FREE || lock == token -> lock = token; lease = TTL
	:: else
	fi
}
#endif

/* ---- a client's way to the server ---- */

inline arrived(i, request)
{
	request = false;
	if
	:: state[i] == IDLE -> choose_token(i)
	:: else
	fi
}

proctype Connection(byte i)
{
	do
	:: d_step { call[i] == ACQUIRE -> acquire(i, false) }
	:: d_step { call[i] == ACQUIRE_QUEUE -> acquire(i, true) }
#ifdef REPEATS
	/* The answer is lost, with the connection. */
	:: d_step { call[i] == ACQUIRE_QUEUE && MAY_REPEAT(i) -> execute(i, true); mine = false; call[i] = LOST }
#endif
#ifdef STRAYS
	/* Or the request is still on its way. */
	:: d_step { call[i] == ACQUIRE_QUEUE && MAY_REPEAT(i) -> stray[EACH(i, generation[i])] = true; call[i] = LOST }
#endif
	:: d_step { call[i] == SUBSCRIBE -> inbox[i] = OPEN; call[i] = YES }
	:: d_step { call[i] == LEAVE -> leave(i) }
	:: d_step { call[i] == RELEASE -> release(MINE(i)); end_claim(i) }
	/* dlock_request_release() of a claim that is given up: sent behind its last request. */
	:: d_step { state[i] == ABANDONING && (call[i] == NONE || call[i] == YES) -> forget(i); release(MINE(i)); end_claim(i) }
	/* Over another one: the renewal thread's requests, */
	:: d_step { renewal[i] == SENT -> renew(MINE(i)); renewal[i] = (mine -> YES : NO); mine = false }
#ifdef PROMPT
	:: d_step { late_renewal[EACH(i, 0)] -> renew(TOKEN(i, 0)); mine = false; arrived(i, late_renewal[EACH(i, 0)]) }
#else
	:: d_step { renewal[i] == SENT -> drop_renewal(i) }
#if LATE > 0
	/* of which there may be several late ones. */
	:: d_step { late_renewal[EACH(i, 0)] -> renew(TOKEN(i, 0)); mine = false }
	:: d_step { late_renewal[EACH(i, 1)] -> renew(TOKEN(i, 1)); mine = false }
	:: d_step { late_renewal[EACH(i, 0)] -> arrived(i, late_renewal[EACH(i, 0)]) }
	:: d_step { late_renewal[EACH(i, 1)] -> arrived(i, late_renewal[EACH(i, 1)]) }
#endif
#endif
#ifdef STRAYS
	:: d_step { stray[EACH(i, 0)] && !IS_FIRST(i, 0) -> execute_stray(TOKEN(i, 0)); arrived(i, stray[EACH(i, 0)]) }
	:: d_step { stray[EACH(i, 1)] && !IS_FIRST(i, 1) -> execute_stray(TOKEN(i, 1)); arrived(i, stray[EACH(i, 1)]) }
#endif
#ifdef LATE_RELEASE
	:: d_step { giving_back[i] ->
			release(TOKEN(i, given_back[i]));
			giving_back[i] = false;
			given_back[i] = 0;
			if
			:: state[i] == IDLE -> choose_token(i)
			:: else
			fi }
#endif
#if FAULTS > 0
	/* Of what a dead client sent, everything or nothing may arrive. */
	:: d_step { state[i] == DEAD && call[i] != NONE -> call[i] = NONE }
	:: d_step { inbox[i] == BROKEN -> inbox[i] = GONE }
#endif
#ifndef PROMPT
	/* A slow waiter is taken for dead, and forgotten. The scripts do so when they come across it; no client can tell. */
	:: d_step { queued[i] -> forget(i) }
#endif
	od
}

/* ---- a client ---- */

#ifdef PROMPT
#define MAY_START(i) rested[i]
#define MAY_RENEW(i) (!renewed[i])
#define MAY_LOOK(i) (look[i] == 0)
#define MAY_GIVE_UP(i) (tired[i] && i != 0) /* the LTL property is about client 0 */
#else
#define MAY_START(i) true
#ifdef LENGTHENS
#define MAY_RENEW(i) (!lengthened[i]) /* later ones ask for the longer time */
#else
#define MAY_RENEW(i) true /* its deadline may have passed: if the lock is the token's, it has been all the time */
#endif
#define MAY_LOOK(i) true
#define MAY_GIVE_UP(i) true
#endif

#ifdef BELIEF_FROM_REPLY
#define ACQUIRED_FOR(i) TTL
#elif defined(REPEATS)
#define ACQUIRED_FOR(i) (since[i] < TTL -> TTL - since[i] : 0)
#else
#define ACQUIRED_FOR(i) (age[i] < TTL -> TTL - age[i] : 0)
#endif
#ifdef BELIEF_FROM_READING
#define GRANTED_FOR(i) GRACE
#else
#define GRANTED_FOR(i) (age[i] < GRACE -> GRACE - age[i] : 0)
#endif
#ifdef RENEWAL_FROM_ANSWER
#define RENEWED_FOR(i) TTL
#else
#define RENEWED_FOR(i) (age[i] < TTL -> TTL - age[i] : 0)
#endif

proctype Client(byte i)
{
	do
	:: d_step { state[i] == IDLE && MAY_START(i) && ALL_GIVEN_BACK(i) && !UNDER_WAY(i, generation[i]) -> attempt(i) }

#ifdef REPEATS
	/* end_connection() */
	:: d_step { call[i] == LOST ->
			call[i] = ACQUIRE_QUEUE; repeated[i] = true; since[i] = 0
#if defined(LENGTHENS) && defined(STRAYS) && !defined(REFUSAL_FORGOTTEN)
			; doubtful[i] = true
#endif
#ifdef COUNT_FROM_REPEAT
			; age[i] = 0
#endif
			}
#endif

	/* attempt(): the answer */
	:: d_step { state[i] == ASKING && call[i] == YES && ACQUIRED_FOR(i) > 0 ->
#ifdef REFUSAL_FORGOTTEN
			doubtful[i] = repeated[i];
#endif
			believe(i, ACQUIRED_FOR(i)); hold(i) }
#if !defined(PROMPT) && !defined(BELIEF_FROM_REPLY)
	/* It took longer than the lease lasts: the token is given back. The next attempt has another one. */
#ifdef LATE_RELEASE
	:: d_step { state[i] == ASKING && call[i] == YES && ACQUIRED_FOR(i) == 0 && ALL_GIVEN_BACK(i) &&
			!UNDER_WAY(i, 1 - generation[i]) ->
			giving_back[i] = true;
			given_back[i] = generation[i];
#ifndef TOKEN_REUSED
			generation[i] = 1 - generation[i];
#endif
			forget_grants(i);
			attempt(i) }
#else
	:: d_step { (state[i] == ASKING || state[i] == ASKING_LAST) && call[i] == YES && ACQUIRED_FOR(i) == 0 -> state[i] = ABANDONING; age[i] = 0 }
#endif
#endif
#ifndef SUBSCRIBE_AFTER_ENQUEUE
	:: d_step { state[i] == OPENING && call[i] == YES -> listening[i] = true; attempt(i) }
#else
	:: d_step { state[i] == OPENING && call[i] == YES -> listening[i] = true; await_turn(i) }
#endif

	/* wait_for_turn(): a grant is taken up, or, where little of it may be left, asked about. */
#if TTL >= GRACE || defined(SHORT_GRANT_TAKEN_UP)
	:: d_step { state[i] == WAITING && grant[i] && GRANTED_FOR(i) > 0 -> believe(i, GRANTED_FOR(i)); hold(i) }
#endif
	:: d_step { state[i] == WAITING && grant[i] -> grant[i] = false; attempt(i) }
#ifdef TAKE_ANY_GRANT
	:: d_step { state[i] == WAITING && old_grant[i] && GRANTED_FOR(i) > 0 -> old_grant[i] = false; believe(i, GRANTED_FOR(i)); hold(i) }
#endif
#ifndef NO_RECHECK
	:: d_step { state[i] == WAITING && MAY_LOOK(i) -> attempt(i) }
#endif
#if FAULTS > 0
	:: d_step { state[i] == WAITING && (inbox[i] == BROKEN || inbox[i] == GONE) -> open_inbox(i) }
#endif

	/* Out of time: leave() */
#ifndef LEAVE_WITHOUT_ASKING
	:: d_step { state[i] == WAITING && MAY_GIVE_UP(i) -> state[i] = LEAVING; call[i] = LEAVE; age[i] = 0; forget_grants(i) }
#else
	:: d_step { state[i] == WAITING && MAY_GIVE_UP(i) -> forget(i); end_claim(i) }
#endif
#ifndef LEAVE_WITHOUT_ASKING
	:: d_step { state[i] == LEAVING && call[i] == YES -> send(i, ACQUIRE); state[i] = ASKING_LAST }
	:: d_step { state[i] == ASKING_LAST && call[i] == YES && ACQUIRED_FOR(i) > 0 ->
			believe(i, ACQUIRED_FOR(i)); hold(i) }
#endif

	/* An interrupted wait that is given up, an answer that does not come: dlock_claim_abandon(), whatever became of it. */
#ifndef PROMPT
	:: d_step { state[i] == ASKING -> state[i] = ABANDONING; age[i] = 0 }
#endif
	:: d_step { state[i] == WAITING && MAY_GIVE_UP(i) -> state[i] = ABANDONING; age[i] = 0; forget_grants(i) }

	/* The renewal thread */
	:: d_step { state[i] == HOLDING && renewal[i] == NONE && MAY_RENEW(i) ->
#ifdef PROMPT
			renewed[i] = true;
#endif
			renewal[i] = SENT }
	:: d_step { state[i] == HOLDING && renewal[i] == YES -> raise_belief(i, RENEWED_FOR(i)); renewal[i] = NONE; age[i] = 0 }
#ifndef PROMPT
#ifdef RENEWAL_NOT_READ
	:: d_step { state[i] == HOLDING && renewal[i] == NO -> raise_belief(i, RENEWED_FOR(i)); renewal[i] = NONE; age[i] = 0 }
#else
	:: d_step { state[i] == HOLDING && renewal[i] == NO -> end_claim(i) }
#endif
#endif
#ifdef RENEWAL_BELIEVED
	:: d_step { state[i] == HOLDING && renewal[i] == SENT && belief[i] < RENEWED_FOR(i) -> raise_belief(i, RENEWED_FOR(i)) }
#endif
#ifdef LENGTHENS
	/* dlock_claim_extend() with a longer time */
	:: d_step { state[i] == HOLDING && !lengthened[i] -> lengthen(i) }
#endif

	/* single_release(); also when the lease time is over: something may be left on the server. */
	:: d_step { state[i] == HOLDING -> belief[i] = 0; state[i] = RELEASING; call[i] = RELEASE; drop_renewal(i) }

#if FAULTS > 0
	:: d_step { faults > 0 && inbox[i] == OPEN -> faults--; inbox[i] = BROKEN; forget_grants(i) }
	/* The process is killed, or its host is gone: then the server need not notice that its inbox is. */
	:: d_step { faults > 0 && state[i] != IDLE && state[i] != DEAD && i != 0 ->
			faults--;
			state[i] = DEAD;
			belief[i] = 0; listening[i] = false; forget_grants(i);
			drop_renewal(i);
#ifdef PROMPT
			renewed[i] = false;
			look[i] = 0; tired[i] = false; rested[i] = false;
#endif
			if
			:: inbox[i] == OPEN -> inbox[i] = BROKEN
			:: else
			fi }
#endif
	od
}

#ifdef FOREIGN
proctype Foreign()
{
	do
	:: d_step { lock == FREE && foreign_belief == 0 ->
			lock = OTHER; lease = TTL;
#ifdef PROMPT
			free_for = 0;
#endif
			foreign_belief = TTL;
			assert(belief[0] == 0 && belief[1] == 0) /* never two owners */ }
	/* It deletes the key and tells no client. */
	:: d_step { foreign_belief > 0 ->
			foreign_belief = 0;
			if
			:: lock == OTHER -> lock = FREE; lease = 0
			:: else
			fi }
	od
}
#endif

/* ---- time ---- */

#define QUIET(i) ((state[i] == IDLE || state[i] == DEAD) && call[i] == NONE && ALL_GIVEN_BACK(i))
#define ASLEEP(i) (state[i] == WAITING)
#define EACH_OF_TWO(what) (what(0) && what(1))
#if N > 2
#define ALL(what) (EACH_OF_TWO(what) && what(2))
#else
#define ALL(what) EACH_OF_TWO(what)
#endif
#define NOT_ASLEEP(i) (!ASLEEP(i))

#ifdef PROMPT
/* Is there nothing that a client, or its connection, would do at once? */
#define SETTLED(i) (call[i] == NONE && state[i] != ABANDONING && renewal[i] == NONE && !UNDER_WAY(i, 0) && !UNDER_WAY(i, 1) \
	&& !(state[i] == WAITING && (grant[i] || CAN_LOOK(i) || HEARS_OF_BREAK(i))) && !(state[i] == HOLDING && belief[i] <= 1))
/* A connection that one end has closed, the other hears of. -DSILENT_BREAK: it may not (a firewall that forgot it). */
#if FAULTS > 0 && !defined(SILENT_BREAK)
#define HEARS_OF_BREAK(i) (inbox[i] == GONE)
#else
#define HEARS_OF_BREAK(i) false
#endif
#ifdef NO_RECHECK
#define CAN_LOOK(i) false
#else
#define CAN_LOOK(i) (look[i] == 0)
#endif
#ifdef FOREIGN
#define MAY_PASS (ALL(SETTLED) && foreign_belief != 1)
#else
#define MAY_PASS ALL(SETTLED)
#endif
#else
#define MAY_PASS true
#endif

inline less(timer)
{
	timer = (timer > 0 -> timer - 1 : 0)
}

proctype Clock()
{
	byte c;
end:
	do
	:: d_step { MAY_PASS ->
#ifndef STRAYS
			/* No grant lost: when all are done the lock is free, without waiting for its expiry. */
			assert(!(FAULTLESS && ALL(QUIET) && lock != FREE && lock != OTHER));
#endif
#ifdef PROMPT
			/* No client is left asleep while the lock is free; where a fault has happened, or a foreign client does not hand
			 * over, not beyond the re-check. */
			free_for = (lock == FREE && !ALL(NOT_ASLEEP) -> free_for + 1 : 0);
#ifdef FOREIGN
			assert(free_for <= LOOK);
#else
			assert(free_for <= (FAULTLESS -> 0 : LOOK));
#endif
			/* Without a fault no lease runs out: who is granted the lock takes it up or passes it on. */
			assert(!(FAULTLESS && lease == 1));
#endif
			less(lease);
			lock = (lease == 0 -> FREE : lock);
#ifdef FOREIGN
			less(foreign_belief);
#endif
			c = 0;
			do
			:: c < N ->
				less(belief[c]);
				if
				:: state[c] == ASKING || state[c] == ASKING_LAST || renewal[c] != NONE ->
					age[c] = (age[c] < OLDEST -> age[c] + 1 : OLDEST)
				:: state[c] == WAITING -> age[c] = (age[c] < GRACE -> age[c] + 1 : GRACE)
				:: else
				fi;
#ifdef REPEATS
				if
				:: state[c] == ASKING || state[c] == ASKING_LAST -> since[c] = (since[c] < TTL -> since[c] + 1 : TTL)
				:: else
				fi;
#endif
#ifdef PROMPT
				less(sign[c]);
				less(look[c]);
				tired[c] = (tired[c] || state[c] == WAITING) && state[c] != HOLDING;
				rested[c] = (state[c] == IDLE);
#endif
				c++
			:: else -> break
			od;
			c = 0 }
	od
}

init {
	atomic {
		run Clock();
#ifdef FOREIGN
		run Foreign();
#endif
		byte n = 0;
		do
		:: n < N -> run Connection(n); run Client(n); n++
		:: else -> break
		od
	}
}

#ifdef SERVED
/* Who waits, and does not give up, gets the lock. */
ltl served { [] (state[0] == WAITING -> <> (state[0] == HOLDING)) }
#endif

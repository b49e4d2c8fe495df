/* Locks in a database (src/database/sql/postgresql.sql): the row that a grant writes, its handover to a waiter, the guard after a
 * crash or a promotion, and dlock.assert(), which the application calls in the transaction that writes. README.md
 * beside this file says what stands for what.
 *
 * Each function is one step, since it begins with the advisory lock of the name. Requests, answers and transactions
 * take any time; a client may be stopped at any point, and write long after its lease. The server's clock runs from 0
 * to END, so that fencing tokens can be compared with it. TTL, GRANT (a handover) and GUARD are in its ticks.
 *
 * Checked: never two owners; each fencing token is greater than all before it, whatever was lost; no write is committed
 * under a grant after one under a later grant was; no lock is granted within the guard, counted from the crash or the
 * promotion that lost something.
 *
 *   -DN=2 clients   -DGRANTS=3   -DLOSSES=1 crashes and promotions   -DEND=4
 *   -DKEPT          the tables are logged: a crash keeps them. A promoted standby has them, and the application's data,
 *                   as they were at some earlier point of the log. Otherwise both empty the tables of locks
 *   -DBREAKS        an operator breaks the lock, once: its holder can no longer renew it
 *   -DBREAKS_NOW    the same at once: the lock is the first waiter's, or free, though its holder still believes. So
 *                   there are two owners; writes stay in order
 *   -DCLEANS        an administrator deletes the row, once, when it is older than any lease
 *   -DATTACHES      a holder detaches, once: its token is a handle, and the lease goes on by its time. Any client may attach it
 *   -DCLOCK_SET     the server's clock is set forward, beyond the leases and the guard
 *   -DWRITES_ONLY   only the order of writes is checked; -DOWNERS_ONLY: only that there are never two owners
 *
 * The known mistakes:
 *
 *   -DNO_ASSERTION             the transaction commits without dlock.assert()
 *   -DASSERTION_NOT_LOCKING    the row is looked at, and not locked: no client waits for the commit
 *   -DHANDED_OVER_ASSERTED     a release does not wait for the transaction either: it hands the lock over at once
 *   -DGRANT_WITHOUT_EXPIRY     a grant does not compare the row's time
 *   -DFENCE_STARTS_AGAIN       the token is the last one and 1, without the time: after a crash it begins at 1
 *   -DNO_GUARD                 locks are granted at once after a loss
 *   -DGUARD_TOO_SHORT          the guard is shorter than a lease
 *   -DLINE_NOT_COMPARED        (with KEPT) the epoch is not compared with the timeline: a promotion is not noticed
 *   -DHANDED_OVER_UNSETTLED    (with KEPT) a release hands over before the guard is over
 *   -DBELIEF_FROM_ANSWER       a lease is counted from the answer
 *   -DRENEWAL_BELIEVED         a renewal passes for granted though it was refused
 *   -DRELEASE_WITHOUT_COMPARE  a release frees the lock, also another client's
 *   -DBREAK_FREES              (with BREAKS) a break does not wait for the end of the lease
 *   -DBREAK_OVER_ASSERTED      (with BREAKS_NOW) nor does one at once for the transaction: it hands the lock over
 *   -DEXCHANGED_UNCOMPARED     (with ATTACHES) a handle is exchanged, even if another client has the lock
 *   -DEXCHANGED_ASSERTED       (with ATTACHES) though a transaction relies on the one that detached
 *   -DEXCHANGED_UNSETTLED      (with ATTACHES, KEPT) before the guard is over
 *   -DFENCE_KEPT               (with ATTACHES) the exchange gives out no fencing token
 *   -DCLEANED_HELD             (with CLEANS) the row is deleted while it is held, and its transaction is not waited for
 *
 * No mistake of the code, but where the promise ends: CLOCK_SET and BREAKS_NOW (two owners, though writes are in
 * order); OLD_PRIMARY: the one that was replaced renews for its clients; BEHIND_ITS_TIME: the clock is set back, and the
 * tables are lost.
 */

#ifndef N
#define N 2
#endif
#ifndef GRANTS
#define GRANTS 3
#endif
#ifndef LOSSES
#define LOSSES 1
#endif
#ifndef END
#define END 4
#endif
#define TTL 2
#define GRANT 2
#define GUARD 2
#define NOBODY 255 /* the owner's claim is over, or there is no row */
#define HANDLE 254 /* the client that attaches it */
#define A_TICK 8   /* tokens in a tick: more than there are grants */

mtype = { IDLE, ASKING, HOLDING, RELEASING };
mtype = { NOTHING, ACQUIRE, RENEW, RELEASE, ATTACH, YES, NO, TOLD };
mtype = { NONE, BEGUN, ASSERTED };

typedef Client {
	mtype state = IDLE;
	mtype call = NOTHING; /* the request that is under way, then its answer, or the notification */
	byte age;             /* ticks since it was sent */
	byte belief;          /* ticks until the lease is over, as the client counts */
	mtype tx = NONE;      /* the application's transaction */
	byte fence;
#ifdef ATTACHES
	byte left;            /* of the lease, as the answer has it */
#endif
	byte grant            /* no part of the protocol: which one it has */
};
Client client[N];

typedef Locks {
	byte owner = NOBODY;
	byte left;    /* ticks until the row expires */
	byte fence;   /* 0: there is no row */
	byte grant;
	byte written  /* the latest grant of which a write was committed, in the application's table */
};
Locks now_has;
bool waits[N];
bool era = true;    /* there is one, of this timeline */
byte settles;       /* in this number of ticks */
byte time;

byte grants, owners, last, within_guard, losses = LOSSES;
#ifdef KEPT
Locks copy;         /* the standby's, when it is promoted */
bool copied;
#endif
#ifdef OLD_PRIMARY
bool stays[N];      /* is still connected to the one that was replaced */
#endif
#if defined(BREAKS) || defined(BREAKS_NOW) || defined(CLEANS)
bool meddled;       /* an operator has broken the lock, or deleted its row */
#endif
#ifdef ATTACHES
bool detached;      /* a client has detached */
#endif
hidden byte k, next, lasts;

#if defined(WRITES_ONLY) || defined(OWNERS_ONLY)
#define CHECKED(what) skip
#else
#define CHECKED(what) assert(what)
#endif
#ifdef WRITES_ONLY
#define CHECK_OWNERS skip
#else
#define CHECK_OWNERS assert(owners == 1)
#endif

#ifdef NO_GUARD
#define THE_GUARD 0
#elif defined(GUARD_TOO_SHORT)
#define THE_GUARD (GUARD - 1)
#else
#define THE_GUARD GUARD
#endif

#ifdef FENCE_STARTS_AGAIN
#define NEXT_FENCE (now_has.fence + 1)
#else
#define NEXT_FENCE (now_has.fence + 1 > time * A_TICK + 1 -> now_has.fence + 1 : time * A_TICK + 1)
#endif

#ifdef ASSERTION_NOT_LOCKING
#define LOCKED false
#elif N == 2
#define LOCKED (client[0].tx == ASSERTED || client[1].tx == ASSERTED)
#else
#define LOCKED (client[0].tx == ASSERTED || client[1].tx == ASSERTED || client[2].tx == ASSERTED)
#endif

#ifdef GRANT_WITHOUT_EXPIRY
#define IS_FREE true
#else
#define IS_FREE (now_has.left == 0)
#endif

#define IS_OF(c) (now_has.owner == c && now_has.left > 0)

/* dlock.unsettled_1() */
inline settle()
{
	settles = (era -> settles : THE_GUARD);
	era = true
}

/* dlock.put_1(), where no transaction relies on the row. The history ends with the last grant. */
inline put(c, ticks)
{
	now_has.fence = NEXT_FENCE;
	grants++;
	now_has.grant = grants;
	now_has.owner = c;
	now_has.left = ticks;
	CHECKED(within_guard == 0);
	CHECKED(now_has.fence > last);
	last = now_has.fence;
	waits[c] = false
}

/* The first in the queue: NOBODY, if no other than c waits. */
inline find_next(c)
{
	next = NOBODY;
	k = 0;
	do
	:: k < N && k != c && waits[k] && next == NOBODY -> next = k; k++
	:: k < N && !(k != c && waits[k] && next == NOBODY) -> k++
	:: else -> break
	od
}

/* dlock.serve_1(): a client that waits for an answer is told by it. */
inline hand_over()
{
	put(next, GRANT);
	client[next].fence = (client[next].call == NO -> now_has.fence : client[next].fence);
	client[next].grant = (client[next].call == NO -> now_has.grant : client[next].grant);
	client[next].call = (client[next].call == NO -> TOLD : client[next].call)
}

inline granted(c)
{
	client[c].fence = now_has.fence;
	client[c].grant = now_has.grant;
#ifdef ATTACHES
	client[c].left = now_has.left;
#endif
	client[c].call = YES
}

#ifdef ATTACHES
#define LEFT(c) client[c].left
#else
#define LEFT(c) TTL
#endif

#ifdef EXCHANGED_UNCOMPARED
#define IS_HANDLE (now_has.left > 0)
#else
#define IS_HANDLE IS_OF(HANDLE)
#endif

#ifdef EXCHANGED_ASSERTED
#define EXCHANGES IS_HANDLE
#else
#define EXCHANGES (IS_HANDLE && !LOCKED)
#endif

/* dlock.exchange_1() */
inline exchange(c)
{
	settle();
	if
#ifdef EXCHANGED_UNSETTLED
	:: EXCHANGES && grants < GRANTS ->
#else
	:: settles == 0 && EXCHANGES && grants < GRANTS ->
#endif
#ifdef FENCE_KEPT
		grants++;
		now_has.grant = grants;
		now_has.owner = c;
#else
		put(c, now_has.left);
#endif
		granted(c)
	:: else -> client[c].call = NO
	fi
}

/* dlock.acquire_1() */
inline acquire(c)
{
	settle();
	find_next(c);
	if
	:: settles == 0 && IS_OF(c) ->
		now_has.left = TTL; granted(c)
	:: settles == 0 && !IS_OF(c) && IS_FREE && !LOCKED && grants < GRANTS && next == NOBODY ->
		put(c, TTL); granted(c)
	:: settles == 0 && !IS_OF(c) && IS_FREE && !LOCKED && grants < GRANTS && next != NOBODY ->
		hand_over(); waits[c] = true; client[c].call = NO
	:: else -> waits[c] = true; client[c].call = NO
	fi
}

#define SOMEBODY_NEXT (grants < GRANTS && next != NOBODY)

#ifdef HANDED_OVER_ASSERTED
#define HANDS_OVER SOMEBODY_NEXT
#else
#define HANDS_OVER (SOMEBODY_NEXT && !LOCKED)
#endif

#ifdef BREAK_OVER_ASSERTED
#define BREAK_HANDS_OVER SOMEBODY_NEXT
#else
#define BREAK_HANDS_OVER HANDS_OVER
#endif

/* dlock.serve_1(), or the row is free from now on. */
inline serve_or_free(may_serve)
{
	if
	:: may_serve ->
		settle();
		if
#ifdef HANDED_OVER_UNSETTLED
		:: true -> hand_over()
#else
		:: settles == 0 -> hand_over()
		:: else -> now_has.left = 0
#endif
		fi
	:: else -> now_has.left = 0
	fi
}

/* dlock.release_1() */
inline release(c)
{
	waits[c] = false;
	find_next(c);
	if
#ifdef RELEASE_WITHOUT_COMPARE
	:: now_has.left > 0 ->
#else
	:: IS_OF(c) ->
#endif
		serve_or_free(HANDS_OVER)
	:: else
	fi
}

#ifdef OLD_PRIMARY
#define CAN_RENEW(c) (stays[c] || IS_OF(c))
#else
#define CAN_RENEW(c) IS_OF(c)
#endif

/* dlock.extend_1() */
inline renew(c)
{
	if
	:: CAN_RENEW(c) -> now_has.left = (now_has.owner == c -> TTL : now_has.left); client[c].call = YES
	:: else -> client[c].call = NO
	fi
}

#ifdef BELIEF_FROM_ANSWER
#define LASTS(c, ticks) ticks
#else
#define LASTS(c, ticks) (client[c].age < ticks -> ticks - client[c].age : 0)
#endif

inline believe(c, ticks)
{
	lasts = LASTS(c, ticks);
	if
	:: lasts > 0 ->
		owners++;
		CHECK_OWNERS;
		client[c].belief = lasts;
		client[c].call = NOTHING;
		client[c].age = 0;
		client[c].state = HOLDING
	:: else -> give_back(c)
	fi
}

inline no_longer(c)
{
	owners = owners - (client[c].belief > 0 -> 1 : 0);
	client[c].belief = 0
}

inline give_back(c)
{
	no_longer(c);
	client[c].call = RELEASE;
	client[c].age = 0;
	client[c].state = RELEASING
}

#ifdef RENEWAL_BELIEVED
#define RENEWED(c) (client[c].call == YES || client[c].call == NO)
#else
#define RENEWED(c) (client[c].call == YES)
#endif

/* The claim is over, and its token is no client's. */
inline end_claim(c)
{
	no_longer(c);
	now_has.owner = (now_has.owner == c -> NOBODY : now_has.owner);
#ifdef KEPT
	copy.owner = (copy.owner == c -> NOBODY : copy.owner);
#endif
#ifdef OLD_PRIMARY
	stays[c] = false;
#endif
	waits[c] = false;
	client[c].tx = NONE;
#ifdef ATTACHES
	client[c].left = 0;
#endif
	client[c].call = NOTHING;
	client[c].age = 0;
	client[c].fence = 0;
	client[c].grant = 0;
	client[c].state = IDLE
}

/* What its session carries out */
proctype Session(byte c)
{
end:
	do
	:: d_step { client[c].call == ACQUIRE -> acquire(c) }
	:: d_step { client[c].call == RENEW -> renew(c) }
#ifdef ATTACHES
	:: d_step { client[c].call == ATTACH -> exchange(c) }
#endif
	:: d_step { client[c].call == RELEASE && client[c].state == RELEASING -> release(c); client[c].call = NOTHING }
	od
}

proctype Process(byte c)
{
end:
	do
	:: d_step { client[c].state == IDLE && grants < GRANTS ->
			client[c].state = ASKING; client[c].call = ACQUIRE }
	:: d_step { client[c].state == ASKING && client[c].call == YES -> believe(c, LEFT(c)) }
	/* accept_grant(): counted from the request that was refused */
	:: d_step { client[c].state == ASKING && client[c].call == TOLD -> believe(c, GRANT) }
	/* It asks again, or leaves. */
	:: d_step { client[c].state == ASKING && (client[c].call == NO || client[c].call == TOLD) ->
			client[c].call = ACQUIRE; client[c].age = 0 }
	:: d_step { client[c].state == ASKING && client[c].call == NO -> give_back(c) }
	:: d_step { client[c].state == HOLDING && client[c].call == NOTHING && client[c].belief > 0 ->
			client[c].call = RENEW; client[c].age = 0 }
	:: d_step { client[c].state == HOLDING && RENEWED(c) && client[c].belief > 0 ->
			lasts = LASTS(c, TTL);
			client[c].belief = (lasts > client[c].belief -> lasts : client[c].belief);
			client[c].call = NOTHING; client[c].age = 0 }
	/* Released, or found lost. The transaction may be open still. */
	:: d_step { client[c].state == HOLDING &&
				(client[c].belief == 0 || client[c].call == NOTHING || client[c].call == NO) ->
			give_back(c) }
	:: d_step { client[c].state == RELEASING && client[c].call == NOTHING && client[c].tx == NONE -> end_claim(c) }
#ifdef ATTACHES
	/* Its transaction may be open still. */
	:: d_step { !detached && client[c].state == HOLDING && client[c].call == NOTHING && client[c].belief > 0 ->
			detached = true;
			no_longer(c);
			now_has.owner = (now_has.owner == c -> HANDLE : now_has.owner);
#ifdef KEPT
			copy.owner = (copy.owner == c -> HANDLE : copy.owner);
#endif
			client[c].state = RELEASING }
	:: d_step { client[c].state == IDLE && detached ->
			client[c].state = ASKING; client[c].call = ATTACH }
#endif
	/* Killed */
	:: d_step { client[c].state == ASKING || client[c].state == HOLDING -> end_claim(c) }

	/* The application's transaction. It is opened by a client that believes. */
	:: d_step { client[c].tx == NONE && client[c].belief > 0 -> client[c].tx = BEGUN }
#ifdef NO_ASSERTION
	:: d_step { client[c].tx == BEGUN ->
#else
	/* dlock.assert() */
	:: d_step { client[c].tx == BEGUN && now_has.fence == client[c].fence -> client[c].tx = ASSERTED }
	:: d_step { client[c].tx == BEGUN && now_has.fence != client[c].fence -> client[c].tx = NONE }
	:: d_step { client[c].tx == ASSERTED ->
#endif
#ifndef OWNERS_ONLY
			assert(client[c].grant >= now_has.written); /* writes in order */
#endif
			now_has.written = client[c].grant; client[c].tx = NONE }
	od
}

inline count_down(it)
{
	it = (it > 0 -> it - 1 : 0)
}

#define AGES(c) (client[c].call != NOTHING && client[c].call != RELEASE && client[c].age < TTL)

/* Leases, beliefs and the guard end together: no client is in time by less than a tick. */
proctype Clock()
{
end:
	do
	:: d_step { time < END ->
			time++;
			count_down(now_has.left);
#ifdef KEPT
			count_down(copy.left);
#endif
			count_down(settles);
			count_down(within_guard);
			k = 0;
			do
			:: k < N ->
				owners = owners - (client[k].belief == 1 -> 1 : 0);
				count_down(client[k].belief);
				client[k].age = (AGES(k) -> client[k].age + 1 : client[k].age);
				k++
			:: else -> break
			od }
#ifdef CLOCK_SET
	:: d_step { time < END -> time++; now_has.left = 0; settles = 0 }
#endif
	od
}

/* Transactions that were not committed are not. What was answered may still be on its way. */
inline roll_back()
{
	k = 0;
	do
	:: k < N -> client[k].tx = NONE; k++
	:: else -> break
	od
}

inline lose_rows()
{
	now_has.owner = NOBODY;
	now_has.left = 0;
	now_has.fence = 0;
	now_has.grant = 0;
	k = 0;
	do
	:: k < N -> waits[k] = false; k++
	:: else -> break
	od;
	era = false
}

proctype World()
{
end:
	do
#ifdef KEPT
	/* A crash, or a restart */
	:: d_step { losses > 0 && !copied -> roll_back(); losses-- }
	/* No more of the log will reach the standby that is promoted. */
	:: d_step { losses > 0 && !copied ->
			copied = true;
			copy.owner = now_has.owner; copy.left = now_has.left;
			copy.fence = now_has.fence; copy.grant = now_has.grant;
			copy.written = now_has.written }
	/* It is promoted. */
	:: d_step { copied ->
			losses--;
			roll_back();
#ifdef OLD_PRIMARY
			k = 0;
			do
			:: k < N -> stays[k] = (client[k].belief > 0); k++
			:: else -> break
			od;
#endif
			now_has.owner = copy.owner; now_has.left = copy.left;
			now_has.fence = copy.fence; now_has.grant = copy.grant;
			now_has.written = copy.written;
			copied = false;
			copy.owner = NOBODY; copy.left = 0; copy.fence = 0; copy.grant = 0; copy.written = 0;
#ifndef LINE_NOT_COMPARED
			era = false;
#endif
			within_guard = GUARD }
#else
	/* A crash, or a promotion */
	:: d_step { losses > 0 ->
			losses--;
			roll_back();
			lose_rows();
#ifdef BEHIND_ITS_TIME
			time = 0;
#endif
			within_guard = GUARD }
#endif
#ifdef BREAKS
	/* dlock.break_1(): the row has a token that is no client's, for as long as it lasts */
	:: d_step { !meddled && now_has.left > 0 && now_has.owner != NOBODY ->
			meddled = true;
#ifdef BREAK_FREES
			now_has.left = 0;
#endif
			now_has.owner = NOBODY }
#endif
#ifdef BREAKS_NOW
	:: d_step { !meddled && now_has.left > 0 ->
			meddled = true;
			find_next(NOBODY);
			serve_or_free(BREAK_HANDS_OVER) }
#endif
#ifdef CLEANS
	/* DELETE, which waits for a transaction that relies on the row; the time is beyond its token by then. */
#ifdef CLEANED_HELD
	:: d_step { !meddled && now_has.fence > 0 ->
#else
	:: d_step { !meddled && now_has.fence > 0 && now_has.left == 0 && time * A_TICK + 1 > now_has.fence && !LOCKED ->
#endif
			meddled = true;
			now_has.owner = NOBODY; now_has.left = 0; now_has.fence = 0; now_has.grant = 0 }
#endif
	od
}

init {
	atomic {
		byte n = 0;
		do
		:: n < N -> run Session(n); run Process(n); n++
		:: else -> break
		od;
		run Clock();
		run World()
	}
}

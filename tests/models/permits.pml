/* Permits on one Redis server: a semaphore, or a read/write lock. README.md beside this file says what stands for what.
 *
 * It is handover.pml with several holders, and shares its two readings of time and much of its client:
 *
 *   (default)   Anything may take any time. Checked: never more permits believed in than there are; the count of those taken is
 *               that of the holders; no client overtakes a live waiter; a claim that ends leaves no permits.
 *   -DPROMPT    Time passes only when no client has anything to do at once. Checked: no client sleeps while what it waits for is free,
 *               or, after a fault, not beyond STALE and the re-check; without a fault no lease runs out; every waiter that does
 *               not give up is served in the end (LTL, weak fairness).
 *
 *   (default)   a semaphore of two permits, of which the second client wants both
 *   -DRW        a read/write lock: the second client writes
 *   -DW0=1 ...  the number of permits for the first client, and so on; ALL: it writes
 *   -DBATCH=1   a script serves no more than this number of waiters; the next one is told to ask, and goes on
 *   -DN=3       clients; 2 to 4
 *   -DFAULTS=1  crashes and broken inboxes, all together
 *   -DREPEATS   the answer to the first client's request is lost with its connection, and the request sent again
 *   -DSTRAYS    (with REPEATS) what was sent first may be carried out at any time after it was sent again
 *   -DRENEWALS=3  the number of clients that renew, from the first on
 *
 * The known mistakes:
 *
 *   -DGIVEN_BACK_TWICE     a release gives permits back without looking whether they are still the holder's
 *   -DCOUNTED_TWICE        an acquire whose answer was lost is counted again (with REPEATS)
 *   -DOVERTAKING           a waiter that fits is granted permits though one ahead does not fit yet
 *   -DNEWCOMER_FIRST       a newcomer takes what is free, though others wait
 *   -DTICKET_ANEW          a waiter that looks again goes to the end of the queue
 *   -DRELEASE_TELLS_ONE    a release grants permits to one waiter, though there are enough for two
 *   -DLEAVE_TELLS_NOBODY   a waiter that gives up goes, and those that it kept out are not granted what is free
 *   -DLEAVE_WITHOUT_ASKING a waiter that gives up goes, and does not hear that it was granted permits in that instant
 *   -DNO_RECHECK           waiters rely on being told
 *   -DREADERS_FIRST        readers get in beside readers, though a writer waits (with RW)
 *   -DWRITERS_FIRST        after a writer the next writer (with RW)
 *   -DPHASE_FORGOTTEN      a readers' phase ends with the script (with RW, BATCH)
 *   -DBELIEF_FROM_REPLY    the lease is counted from the answer
 *   -DBELIEF_FROM_READING  a grant is counted from the reading of the message
 *   -DTAKE_ANY_GRANT       a grant that is older than the last refusal is taken for a new one
 *   -DRENEWAL_FROM_ANSWER  a renewed lease is counted from the answer
 *   -DRENEWAL_REVIVES      a renewal brings back permits that were taken back
 *   -DTAKEN_BACK_EARLY     a lease is taken back when it has one tick left
 */

#ifndef N
#define N 3
#endif
#define ALL N
#ifdef RW
#define CAPACITY ALL
#else
#define CAPACITY 2
#endif
#ifndef W0
#define W0 1
#endif
#ifndef W1
#define W1 CAPACITY
#endif
#ifndef W2
#define W2 1
#endif
#ifndef W3
#define W3 1
#endif
#define WANTS(i) ((i) == 0 -> W0 : ((i) == 1 -> W1 : ((i) == 2 -> W2 : W3)))
#define ALONE(i) (WANTS(i) == CAPACITY)
#ifdef STRAYS
#define HOLDERS (N + 1) /* and what no client knows to be its own */
#else
#define HOLDERS N
#endif
#if N > 3
#define SUM(what) (what(0) + what(1) + what(2) + what(3))
#define ANY(what) (what(0) || what(1) || what(2) || what(3))
#define EVERY(what) (what(0) && what(1) && what(2) && what(3))
#elif N < 3
#define SUM(what) (what(0) + what(1))
#define ANY(what) (what(0) || what(1))
#define EVERY(what) (what(0) && what(1))
#else
#define SUM(what) (what(0) + what(1) + what(2))
#define ANY(what) (what(0) || what(1) || what(2))
#define EVERY(what) (what(0) && what(1) && what(2))
#endif
#ifndef FAULTS
#define FAULTS 0
#endif
#ifndef BATCH
#define BATCH N
#endif
#ifndef RENEWALS
#define RENEWALS 0
#endif

/* Ticks, as in handover.pml */
#ifdef PROMPT
#define TTL 4
#define GRACE 3
#define STALE 3
#define LOOK 2
#else
#define TTL 2
#define GRACE 1
#endif
#define OLDEST TTL

#define NOBODY 255

/* ---- the server ---- */

/* Of each holder: 0: it has nothing. OVER: its lease is over, and no client has needed its room. OVER + n: it ends in n ticks. */
#define OVER 1
byte left[HOLDERS];
byte used;
bool queued[N];
#ifdef RW
byte phase;          /* bits for those whose tickets are older than the readers' phase that goes on */
#endif
byte ticket[N];      /* the clients that have a ticket, in its order */
byte tickets;
#ifdef PROMPT
byte sign[N];        /* ticks until the waiter is taken for dead */
#endif
#if FAULTS > 0
mtype = { OPEN, BROKEN, GONE };
mtype inbox[N] = OPEN; /* as in handover.pml */
#define IS_OPEN(i) (inbox[i] == OPEN)
#define RECEIVERS(i) (inbox[i] != GONE)
#else
#define IS_OPEN(i) true
#define RECEIVERS(i) true
#endif

/* ---- between them ---- */

mtype = { NONE, ACQUIRE, ACQUIRE_QUEUE, SUBSCRIBE, LEAVE, RELEASE, YES, LOST };
mtype call[N] = NONE;
mtype = { SENT, NO };
mtype renewal[N] = NONE;
bool grant[N];       /* on its way to the inbox, or in it */
#if BATCH < N
bool told[N];        /* the same: to ask */
#define IS_TOLD(i) told[i]
#else
#define IS_TOLD(i) false
#endif
#ifdef TAKE_ANY_GRANT
bool old_grant[N];
#endif
#ifdef STRAYS
bool stray;          /* the first client's acquire that was sent again is still on its way, */
bool stray_is_old;   /* and its claim is over */
#endif

/* ---- the clients ---- */

mtype = { IDLE, ASKING, OPENING, WAITING, LEAVING, ASKING_LAST, ABANDONING, HOLDING, RELEASING, DEAD };
mtype state[N] = IDLE;
byte age[N];         /* ticks since the last acquire was sent; while it holds: since the renewal under way was */
byte belief[N];      /* ticks for which the client still believes that it has its permits */
#ifdef REPEATS
bool repeated;       /* the first client's request is there for the second time */
byte since;          /* ticks since it was sent, or sent again */
#endif
#ifdef PROMPT
byte look[N];        /* ticks until it looks again */
bool tired[N];       /* it has waited for a tick at least, and may give up */
bool rested[N];      /* a tick has passed since its last claim */
bool renewed[N];     /* once in a claim */
byte in_vain[N];     /* ticks for which it has slept though what it waits for was free */
#endif

/* What is no part of the protocol: bits for the live waiters that asked before */
byte ahead[N];
bool asked[N];
#ifdef RW
bool waited[N];      /* the reader waits for a writer, or has waited for one */
byte owed;           /* bits for those that waited when a writer was out */
#endif

byte faults = FAULTS;
#define FAULTLESS (faults == FAULTS)

byte k, w, next, first, grants; /* scratch of the scripts, 0 between them */
bool mine, enough;

/* ---- what is checked ---- */

#define BELIEVED(i) (belief[i] > 0 -> WANTS(i) : 0)
#define TAKEN(i) (left[i] > 0 -> WANTS(i) : 0)
#ifdef STRAYS
#define TAKEN_IN_ALL (SUM(TAKEN) + W0 * (left[N] > 0))
#else
#define TAKEN_IN_ALL SUM(TAKEN)
#endif
#define BIT(i) (1 << (i))
#define QUEUED_BIT(i) (queued[i] -> BIT(i) : 0)
#define QUEUED_BITS SUM(QUEUED_BIT)

inline believe(i, ticks)
{
	belief[i] = ticks;
	assert(SUM(BELIEVED) <= CAPACITY) /* never more than there are */
}

inline raise_belief(i, ticks)
{
	if
	:: belief[i] < ticks -> believe(i, ticks)
	:: else
	fi
}

#define WRITER_QUEUED(other) (queued[other] && ALONE(other))
#define WRITER_AHEAD(other) ((ahead[i] & BIT(other)) && ALONE(other))
#define WRITER_IN(other) (left[other] > OVER && ALONE(other))

/* The client is being given permits. */
inline check_order(i)
{
#ifdef RW
	/* A reader gets in while a writer waits only where it has waited for one, and waits for one writer at most. */
	assert(ALONE(i) || (owed & BIT(i)) || !ANY(WRITER_QUEUED)); /* overtaken */
	if
	:: ALONE(i) ->
		assert(ahead[i] == 0 || !ANY(WRITER_AHEAD)); /* overtaken */
		first = 0;
		do
		:: first < N ->
			if
			:: queued[first] && !ALONE(first) ->
				assert(!waited[first]); /* overtaken twice */
				waited[first] = true
			:: else
			fi;
			first++
		:: else -> break
		od;
		first = 0
	:: else
	fi
#else
	assert(ahead[i] == 0) /* overtaken */
#endif
}

/* The first request of this claim: who is ahead? */
inline note_order(i)
{
	if
	:: !asked[i] ->
		asked[i] = true;
		ahead[i] = QUEUED_BITS;
#ifdef RW
		waited[i] = (!ALONE(i) && ANY(WRITER_IN))
#endif
	:: else
	fi
}

/* ---- permits_pool.lua, permits_queue.lua ---- */

#define IS_QUEUED(i) queued[i]
#define NOBODY_QUEUED (!ANY(IS_QUEUED))

inline forget(who)
{
	queued[who] = false;
#ifdef RW
	waited[who] = false;
#endif
	ahead[0] = ahead[0] & ~BIT(who);
	ahead[1] = ahead[1] & ~BIT(who);
#if N > 2
	ahead[2] = ahead[2] & ~BIT(who);
#endif
#if N > 3
	ahead[3] = ahead[3] & ~BIT(who);
#endif
#ifdef PROMPT
	sign[who] = 0
#endif
}

#ifdef PROMPT
#define ALIVE(who) (sign[who] > 0)
#else
#define ALIVE(who) true /* a sign of life can be missing at any time; see Connection */
#endif

#ifdef STRAYS
#define WANTED(who) (who == N -> W0 : WANTS(who))
#else
#define WANTED(who) WANTS(who)
#endif

#ifdef RW
/* A writer is out: the turn of all readers that have a ticket. */
inline begin_phase()
{
	k = 0;
	do
	:: k < tickets ->
		if
		:: !ALONE(ticket[k]) -> phase = phase | BIT(ticket[k])
		:: else
		fi;
		k++
	:: else -> break
	od;
	owed = owed | phase;
	k = 0
}
#endif

inline drop(who)
{
	used = used - WANTED(who);
	left[who] = 0;
#ifdef RW
	if
	:: who < N && ALONE(who) -> begin_phase()
	:: else
	fi
#endif
}

#ifdef TAKEN_BACK_EARLY
#define MAY_TAKE_BACK(who) (left[who] == OVER || left[who] == OVER + 1)
#else
#define MAY_TAKE_BACK(who) (left[who] == OVER)
#endif

/* Takes back what leases left that are over. */
inline reclaim()
{
	first = 0;
	do
	:: first < HOLDERS ->
		if
		:: MAY_TAKE_BACK(first) -> drop(first)
		:: else
		fi;
		first++
	:: else -> break
	od;
	first = 0
}

#define FITS(who) (used + WANTS(who) <= CAPACITY)
inline make_room(who)
{
	if
	:: !FITS(who) -> reclaim()
	:: else
	fi
}

inline take(who, ticks)
{
	check_order(who);
	left[who] = OVER + ticks;
	used = used + WANTS(who)
}

/* next_waiters(): after a writer all readers that wait, after readers the first writer; in a semaphore the first waiter. */
#ifdef OVERTAKING
#define MAY_BE_NEXT(who) FITS(who)
#else
#define MAY_BE_NEXT(who) true
#endif
#ifdef RW
#ifdef READERS_FIRST
#define COMES_FIRST(who) !ALONE(who)
#elif defined(WRITERS_FIRST)
#define COMES_FIRST(who) ALONE(who)
#else
#define COMES_FIRST(who) (phase == 0 -> ALONE(who) : (phase & BIT(who)))
#endif
#else
#define COMES_FIRST(who) MAY_BE_NEXT(who)
#endif
inline find(by_phase)
{
	k = 0;
	do
	:: k < tickets ->
		if
		:: next == NOBODY && queued[ticket[k]] && (by_phase -> COMES_FIRST(ticket[k]) : MAY_BE_NEXT(ticket[k])) -> next = ticket[k]
		:: else
		fi;
		k++
	:: else -> break
	od;
	k = 0
}

inline find_next()
{
	next = NOBODY;
	find(true);
#ifdef RW
	if
	:: next == NOBODY && phase != 0 -> phase = 0; find(true)
	:: else
	fi;
	find(false)
#endif
}

/* serve(): to all that are next and fit, for GRACE, and a message to each one's inbox. `self` need not be told: it has its permits
 * for TTL, and `mine` is true. */
inline serve(self)
{
	enough = false;
#ifdef RW
	if
	:: ANY(WRITER_QUEUED) -> reclaim()
	:: else
	fi;
#endif
	do
	:: !enough ->
		find_next();
		w = next;
		if
		:: w == NOBODY -> enough = true
		:: w != NOBODY && w != self && !ALIVE(w) -> forget(w)
		:: w != NOBODY && (w == self || ALIVE(w)) ->
			assert(left[w] == 0);
			make_room(w);
			if
			:: !FITS(w) ->
				enough = (w == self || used >= CAPACITY || RECEIVERS(w));
				if
				:: !enough -> forget(w)
				:: else
				fi
			:: FITS(w) && w != self && !RECEIVERS(w) -> forget(w)
#if BATCH < N
			:: FITS(w) && w != self && RECEIVERS(w) && grants >= BATCH -> enough = true; told[w] = IS_OPEN(w)
#endif
			:: FITS(w) && (w == self || (RECEIVERS(w) && grants < BATCH)) ->
				grants++;
				forget(w);
				take(w, (w == self -> TTL : GRACE));
				if
				:: w == self -> mine = true
				:: w != self && IS_OPEN(w) -> grant[w] = true
				:: else
				fi;
#ifdef RELEASE_TELLS_ONE
				enough = true
#endif
			fi
		fi
	:: else -> break
	od;
#ifdef RW
#ifdef PHASE_FORGOTTEN
	phase = 0;
#else
	phase = (NOBODY_QUEUED -> 0 : phase);
#endif
#endif
	w = 0; next = 0; grants = 0; enough = false
}

/* ---- tickets ---- */

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

/* The ticket is the claim's, and outlives its place in the queue. */
inline draw_ticket(who)
{
#ifdef TICKET_ANEW
	drop_ticket(who);
#endif
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

inline enqueue(i)
{
	draw_ticket(i);
	queued[i] = true;
#ifdef PROMPT
	sign[i] = STALE
#endif
}

/* ---- the scripts, each atomic ---- */

#ifdef STRAYS
#define OUTDATES(i) (i != 0 || !repeated || stray)
#elif defined(REPEATS)
#define OUTDATES(i) (i != 0 || !repeated)
#else
#define OUTDATES(i) true
#endif
inline outdate_grants(i)
{
	if
	:: OUTDATES(i) ->
#ifdef TAKE_ANY_GRANT
		old_grant[i] = old_grant[i] || grant[i];
#endif
		grant[i] = false
	:: else
	fi
}

#define IS_NEW(i) !asked[i]
#define IS_OVER(i) (left[i] == OVER)
#define LEASES_OVER (ANY(IS_OVER) || IS_OVER(HOLDERS - 1))
#ifdef PROMPT
#define ENDS_IN(i) (left[i] > OVER -> left[i] - OVER : LOOK)
#define MIN(a, b) ((a) < (b) -> (a) : (b))
#if N > 3
#define LOOK_IN MIN(MIN(MIN(LOOK, ENDS_IN(3)), ENDS_IN(0)), MIN(ENDS_IN(1), ENDS_IN(2)))
#elif N < 3
#define LOOK_IN MIN(LOOK, MIN(ENDS_IN(0), ENDS_IN(1)))
#else
#define LOOK_IN MIN(MIN(LOOK, ENDS_IN(0)), MIN(ENDS_IN(1), ENDS_IN(2)))
#endif
#endif

/* permits_acquire.lua */
inline execute(i, queueing)
{
	mine = false;
	if
	:: left[i] > 0 ->
		left[i] = OVER + TTL; /* less is left of it */
#ifdef COUNTED_TWICE
		used = used + WANTS(i);
#endif
		mine = true;
		forget(i);
		serve(NOBODY)
#ifdef NEWCOMER_FIRST
	:: left[i] == 0 && FITS(i) ->
#else
	:: left[i] == 0 && FITS(i) && NOBODY_QUEUED ->
#endif
		note_order(i);
		take(i, TTL);
		mine = true
	:: left[i] == 0 && !FITS(i) && IS_NEW(i) && !LEASES_OVER ->
		note_order(i);
		if
		:: queueing -> enqueue(i)
		:: else
		fi
	:: else ->
		note_order(i);
		if
		:: !NOBODY_QUEUED ->
			if
			:: queueing -> enqueue(i); serve(i)
			:: else -> serve(NOBODY)
			fi
		:: else
		fi;
		if
		:: !mine && NOBODY_QUEUED ->
			make_room(i);
			if
			:: FITS(i) -> take(i, TTL); mine = true
			:: !FITS(i) && queueing -> enqueue(i)
			:: else
			fi;
#ifdef RW
			phase = 0
#endif
		:: else
		fi
	fi;
	outdate_grants(i);
#ifdef PROMPT
	if
	:: !mine && queueing -> look[i] = LOOK_IN
	:: else
	fi
#endif
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

/* permits_release.lua */
inline release(i)
{
	if
#ifdef GIVEN_BACK_TWICE
	:: true -> used = (used > WANTS(i) -> used - WANTS(i) : 0); left[i] = 0
#else
	:: left[i] > 0 -> drop(i)
	:: else
#endif
	fi;
	forget(i);
	serve(NOBODY)
}

/* permits_leave.lua */
inline leave(i)
{
	forget(i);
#ifndef LEAVE_TELLS_NOBODY
	serve(NOBODY);
#endif
	if
	:: left[i] > 0 -> call[i] = YES
	:: else -> end_claim(i)
	fi
}

/* permits_renew.lua */
inline renew(i)
{
	if
	:: left[i] > 0 -> left[i] = OVER + TTL; renewal[i] = YES
#ifdef RENEWAL_REVIVES
	:: else -> left[i] = OVER + TTL; used = used + WANTS(i); renewal[i] = YES
#else
	:: else -> renewal[i] = NO
#endif
	fi
}

/* ---- redis/permits.c ---- */

inline send(i, request)
{
	call[i] = request;
#ifdef REPEATS
	if
	:: i == 0 -> repeated = false; since = 0
	:: else
	fi;
#endif
	age[i] = 0
}

inline forget_grants(i)
{
#ifdef TAKE_ANY_GRANT
	old_grant[i] = false;
#endif
#if BATCH < N
	told[i] = false;
#endif
	grant[i] = false
}

inline attempt(i)
{
#if BATCH < N
	told[i] = false;
#endif
	send(i, ACQUIRE_QUEUE);
	state[i] = ASKING
}

inline refused(i)
{
	call[i] = NONE;
	if
	:: state[i] == ASKING_LAST -> end_claim(i)
	:: state[i] == ASKING -> state[i] = WAITING; age[i] = (age[i] < GRACE -> age[i] : GRACE)
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
#ifdef RW
	; phase = phase & ~BIT(i); owed = owed & ~BIT(i)
#endif
#ifdef PROMPT
	; look[i] = 0; tired[i] = false; in_vain[i] = 0
#endif
}

/* The next claim has another token: what arrives for this one is not even looked at. */
inline end_claim(i)
{
#ifdef STRAYS
	left[N] = (left[i] > 0 -> left[i] : left[N]); /* they are no client's, until the lease ends */
	left[i] = 0;
#else
	assert(left[i] == 0); /* permits left */
#endif
	state[i] = IDLE;
	belief[i] = 0;
	age[i] = 0;
	renewal[i] = NONE;
	call[i] = NONE;
	asked[i] = false;
	ahead[i] = 0;
#ifdef RW
	waited[i] = false;
	phase = phase & ~BIT(i);
	owed = owed & ~BIT(i);
#endif
#ifdef STRAYS
	stray_is_old = stray_is_old || (i == 0 && stray);
#endif
#ifdef PROMPT
	look[i] = 0;
	tired[i] = false;
	rested[i] = false;
	renewed[i] = false;
	in_vain[i] = 0;
#endif
	forget_grants(i);
	drop_ticket(i)
}

proctype Connection(byte i)
{
	do
	:: d_step { call[i] == ACQUIRE -> acquire(i, false) }
	:: d_step { call[i] == ACQUIRE_QUEUE -> acquire(i, true) }
#ifdef REPEATS
	/* The answer is lost, with the connection. */
	:: d_step { i == 0 && call[i] == ACQUIRE_QUEUE && !repeated -> execute(i, true); mine = false; call[i] = LOST }
	:: d_step { i == 0 && (call[i] == RELEASE || state[i] == ABANDONING) && left[i] > 0 -> release(i) }
#endif
#ifdef STRAYS
	/* Or the request is still on its way. */
	:: d_step { i == 0 && call[i] == ACQUIRE_QUEUE && !repeated && !stray && left[N] == 0 -> stray = true; call[i] = LOST }
	/* It comes after the one that was sent again, */
	:: d_step { i == 0 && stray && !stray_is_old && !repeated && (state[i] == WAITING || state[i] == HOLDING || state[i] == RELEASING) ->
			stray = false;
			if
			:: left[i] > 0 -> left[i] = OVER + TTL
			:: left[i] == 0 && FITS(i) && NOBODY_QUEUED -> take(i, TTL)
			:: else
			fi }
	/* or when the claim is over, and takes permits for no client. */
	:: d_step { i == 0 && stray_is_old ->
			stray = false; stray_is_old = false;
			if
			:: FITS(i) && NOBODY_QUEUED -> left[N] = OVER + TTL; used = used + WANTS(i)
			:: else
			fi }
#endif
	:: d_step { call[i] == LEAVE -> leave(i) }
	:: d_step { call[i] == RELEASE -> release(i); end_claim(i) }
	/* A claim that is given up: sent after its last request. */
	:: d_step { state[i] == ABANDONING && (call[i] == NONE || call[i] == YES) -> release(i); end_claim(i) }
#if RENEWALS > 0
	/* Over another one: the renewal thread's requests */
	:: d_step { i < RENEWALS && renewal[i] == SENT -> renew(i) }
#endif
#if FAULTS > 0
	:: d_step { call[i] == SUBSCRIBE -> inbox[i] = OPEN; call[i] = YES }
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
#define MAY_RENEW(i) true
#define MAY_LOOK(i) true
#define MAY_GIVE_UP(i) true
#endif

#ifdef BELIEF_FROM_REPLY
#define ACQUIRED_FOR(i) TTL
#elif defined(REPEATS)
#define ACQUIRED_FOR(i) (i == 0 -> TTL - since : (age[i] < TTL -> TTL - age[i] : 0))
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
	:: d_step { state[i] == IDLE && MAY_START(i) -> attempt(i) }
#ifdef REPEATS
	:: d_step { i == 0 && call[i] == LOST -> call[i] = ACQUIRE_QUEUE; repeated = true; since = 0 }
#endif

	/* The answer */
	:: d_step { (state[i] == ASKING || state[i] == ASKING_LAST) && call[i] == YES && ACQUIRED_FOR(i) > 0 -> believe(i, ACQUIRED_FOR(i)); hold(i) }
#if !defined(PROMPT) && !defined(BELIEF_FROM_REPLY)
	/* It took longer than the lease lasts: the permits are given back. */
	:: d_step { (state[i] == ASKING || state[i] == ASKING_LAST) && call[i] == YES && ACQUIRED_FOR(i) == 0 -> state[i] = ABANDONING; age[i] = 0 }
#endif

	/* A grant is taken up, or, where little of it may be left, asked about. */
	:: d_step { state[i] == WAITING && grant[i] && GRANTED_FOR(i) > 0 -> believe(i, GRANTED_FOR(i)); hold(i) }
	:: d_step { state[i] == WAITING && grant[i] -> grant[i] = false; attempt(i) }
#if BATCH < N
	:: d_step { state[i] == WAITING && told[i] -> attempt(i) }
#endif
#ifdef TAKE_ANY_GRANT
	:: d_step { state[i] == WAITING && old_grant[i] && GRANTED_FOR(i) > 0 -> old_grant[i] = false; forget(i); believe(i, GRANTED_FOR(i)); hold(i) }
#endif
#ifndef NO_RECHECK
	:: d_step { state[i] == WAITING && MAY_LOOK(i) -> attempt(i) }
#endif
#if FAULTS > 0
	:: d_step { state[i] == WAITING && (inbox[i] == BROKEN || inbox[i] == GONE) -> state[i] = OPENING; call[i] = SUBSCRIBE }
	:: d_step { state[i] == OPENING && call[i] == YES -> attempt(i) }
#endif

	/* Out of time */
#ifdef LEAVE_WITHOUT_ASKING
	:: d_step { state[i] == WAITING && MAY_GIVE_UP(i) -> forget(i); end_claim(i) }
#else
	:: d_step { state[i] == WAITING && MAY_GIVE_UP(i) -> state[i] = LEAVING; call[i] = LEAVE; age[i] = 0; forget_grants(i) }
	:: d_step { state[i] == LEAVING && call[i] == YES -> send(i, ACQUIRE); state[i] = ASKING_LAST }
#endif
	/* A wait that is given up at once, an answer that does not come */
#ifndef PROMPT
	:: d_step { state[i] == ASKING -> state[i] = ABANDONING; age[i] = 0 }
#endif
	:: d_step { state[i] == WAITING && MAY_GIVE_UP(i) -> state[i] = ABANDONING; age[i] = 0; forget_grants(i) }

#if RENEWALS > 0
	/* The renewal thread */
	:: d_step { i < RENEWALS && state[i] == HOLDING && renewal[i] == NONE && MAY_RENEW(i) ->
#ifdef PROMPT
			renewed[i] = true;
#endif
			renewal[i] = SENT }
	:: d_step { i < RENEWALS && state[i] == HOLDING && renewal[i] == YES -> raise_belief(i, RENEWED_FOR(i)); renewal[i] = NONE; age[i] = 0 }
#ifndef PROMPT
	:: d_step { i < RENEWALS && state[i] == HOLDING && renewal[i] == NO -> end_claim(i) }
	/* It gives up, and asks again; what it asked for may still come, until the release. */
	:: d_step { i < RENEWALS && state[i] == HOLDING && renewal[i] == SENT -> age[i] = 0 }
#endif
#endif

	/* Also when the lease time is over: something may be left on the server. */
	:: d_step { state[i] == HOLDING -> belief[i] = 0; state[i] = RELEASING; call[i] = RELEASE; renewal[i] = NONE; age[i] = 0 }

#if FAULTS > 0
	:: d_step { faults > 0 && inbox[i] == OPEN -> faults--; inbox[i] = BROKEN; forget_grants(i) }
	/* The process is killed, or its host is gone: then the server need not notice that its inbox is. */
	:: d_step { faults > 0 && state[i] != IDLE && state[i] != DEAD && i != 0 ->
			faults--;
			state[i] = DEAD;
			belief[i] = 0; age[i] = 0; renewal[i] = NONE; forget_grants(i);
#ifdef PROMPT
			renewed[i] = false;
			look[i] = 0; tired[i] = false; rested[i] = false; in_vain[i] = 0;
#endif
			if
			:: inbox[i] == OPEN -> inbox[i] = BROKEN
			:: else
			fi }
#endif
	od
}

/* ---- time ---- */

#define ASLEEP(i) (state[i] == WAITING)

#ifdef PROMPT
/* Is what a client waits for free? What leases that are over still have is, too. */
#define HELD(i) (left[i] > OVER -> WANTS(i) : 0)
#define RUNS_OUT(i) (left[i] == OVER + 1)
#define HELD_IN_ALL SUM(HELD)
#define LONGEST (FAULTLESS -> 0 : STALE + LOOK) /* a dead waiter ahead, until it counts as dead and the next one looks */
#define HELD_BY_OTHERS(i) (HELD_IN_ALL - HELD(i))
#ifdef RW
#define WRITER_ASLEEP(i) (ASLEEP(i) && ALONE(i))
#define READER_ASLEEP(i) (ASLEEP(i) && !ALONE(i))
#else
#define WRITER_ASLEEP(i) ASLEEP(i)
#define READER_ASLEEP(i) false
#endif

/* In a semaphore the first, in a read/write lock the first writer, and readers where no writer sleeps. */
inline count_sleep()
{
	first = NOBODY;
	k = 0;
	do
	:: k < tickets ->
		w = ticket[k];
		if
		:: (WRITER_ASLEEP(w) && first == NOBODY) || (READER_ASLEEP(w) && !ANY(WRITER_ASLEEP)) ->
			in_vain[w] = (HELD_BY_OTHERS(w) + WANTS(w) <= CAPACITY -> in_vain[w] + 1 : 0);
			assert(in_vain[w] <= LONGEST); /* asleep in vain */
			first = w
		:: else -> in_vain[w] = 0
		fi;
		k++
	:: else -> break
	od;
	k = 0; w = 0; first = 0
}

#ifdef NO_RECHECK
#define CAN_LOOK(i) false
#else
#define CAN_LOOK(i) (look[i] == 0)
#endif
#if FAULTS > 0
#define HEARS_OF_BREAK(i) (inbox[i] == GONE)
#else
#define HEARS_OF_BREAK(i) false
#endif
#define SETTLED(i) (call[i] == NONE && state[i] != ABANDONING && renewal[i] == NONE \
	&& !(state[i] == WAITING && (grant[i] || IS_TOLD(i) || CAN_LOOK(i) || HEARS_OF_BREAK(i))) && !(state[i] == HOLDING && belief[i] <= 1))
#define MAY_PASS EVERY(SETTLED)
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
			assert(used == TAKEN_IN_ALL); /* the count is that of the holders */
#ifdef PROMPT
			count_sleep();
			/* Without a fault no lease runs out: a client that is granted permits takes them up or passes them on. */
			assert(!(FAULTLESS && ANY(RUNS_OUT)));
#endif
			c = 0;
			do
			:: c < HOLDERS -> left[c] = (left[c] > OVER -> left[c] - 1 : left[c]); c++
			:: else -> break
			od;
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
#ifdef PROMPT
				less(sign[c]);
				less(look[c]);
				tired[c] = (tired[c] || state[c] == WAITING) && state[c] != HOLDING;
				rested[c] = (state[c] == IDLE);
#endif
				c++
			:: else -> break
			od;
#ifdef REPEATS
			since = (since < TTL && (state[0] == ASKING || state[0] == ASKING_LAST) -> since + 1 : since);
#endif
			c = 0 }
	od
}

init {
	atomic {
		byte n = 0;
		run Clock();
		do
		:: n < N -> run Connection(n); run Client(n); n++
		:: else -> break
		od
	}
}

#ifdef SERVED
/* A waiter that does not give up is served. */
ltl served { [] (state[0] == WAITING -> <> (state[0] == HOLDING)) }
#endif

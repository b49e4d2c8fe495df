/* A stock on one Redis server: pieces are reserved for a time, then bought or given back. README.md beside this file says what
 * stands for what.
 *
 * Three requests to reserve, of two buyers, each with a process that reserves, confirms and cancels; the first one reserves again
 * and extends, too. Anything may take any time. Any answer may be lost, and the question asked again, any number of times.
 *
 * A reservation that has ended holds nothing: its pieces are free from that tick on, whichever script sweeps them, and when. Its order stays, and may still buy as
 * long as there are pieces.
 *
 * Checked: reserved + sold + available is what there is, after each script, and for each buyer; what processes believe to have,
 * and what is bought, is never more than the stock; what was said to be bought is, and what was said to be gone is not;
 * a purchase takes place once; no order overtakes a live waiter; no buyer has more than the limit.
 *
 *   -DREQUESTS=3
 *   -DPLAIN         none reserves again or extends, and only the first one dies or has its answers lost
 *   -DPIECES=2      of the article
 *   -DW2=2          that the third request wants
 *   -DTWO           two articles, of which the first request wants both; -DPIECES=1
 *   -DBASKETS=2     the second one does, too
 *   -DLIMIT=1       the most pieces of each buyer
 *   -DWAITS         a request that gets nothing waits in a queue, and is granted what comes free; with TWO, one of both articles waits in the
 *                   queue of the first that it lacks, and is told to ask
 *   -DTTL=1         ticks of a reservation
 *   -DRESTOCKS      a piece is put in by a change that has a name, and one is taken out by a change without
 *   -DSHORTER       the first one may be extended by less than is left
 *   -DSTRAYS        a question of the first one may also be carried out at any time after it was asked again, or given up
 *
 * Where the promise ends, both with STRAYS: a question that is late by the whole of a reservation
 *
 *   -DGONE_FOR_GOOD     what was said to be gone, or was cancelled, is never bought later: reserving and confirming come late
 *   -DREQUEST_REUSED    what was cancelled, or is gone, is reserved again under the same name: the first cancelling comes late
 *
 * The known mistakes:
 *
 *   -DGIVEN_BACK_TWICE    what is cancelled is given back without looking whether it is still reserved
 *   -DCOUNTED_TWICE       a request whose answer was lost reserves once more
 *   -DSOLD_TWICE          a confirmation whose answer was lost counts once more
 *   -DCANCELLED_AFTER     what was bought can be cancelled
 *   -DENDED_HOLDS         what has ended keeps its pieces
 *   -DLATE_CONFIRM        a confirmation after the end succeeds though no pieces are free
 *   -DPARTLY_RESERVED     of two articles, the one that is there is reserved (with TWO)
 *   -DPARTLY_BOUGHT       of two articles, the one that is free is bought late (with TWO)
 *   -DLIMIT_OF_SOLD       what is reserved does not count for the limit (with LIMIT)
 *   -DLIMIT_LEAKS         what is taken back still counts for the buyer (with LIMIT)
 *   -DRESTOCKED_TWICE     a change is made again when its answer was lost (with RESTOCKS)
 *   -DTAKEN_OUT_RESERVED  pieces that are reserved are taken out (with RESTOCKS)
 *   -DEXTEND_REVIVES      extending brings back what has ended
 *   -DEXTEND_SHORTENS     a lease is set to what is asked for, though it may be less (with SHORTER)
 *   -DBELIEF_FROM_REPLY   the lease is counted from the answer
 *   -DOVERTAKING          a newcomer takes what is free, though others wait (with WAITS)
 *   -DFORGOTTEN           what is given back is offered to none of those that wait (with WAITS)
 *
 * and with TWO and WAITS:
 *
 *   -DPARTLY_GRANTED      one that waits for both articles is granted the one that is free
 *   -DNOT_TOLD            one that waits for both articles is not told to ask
 *   -DNOT_KEPT            the pieces of one that was told to ask are given to those behind it
 *   -DFIRST_LACK_ONLY     one that waits gets both articles as soon as the one in whose queue it waits is free
 *   -DPLACE_LOST          one that goes on to the other queue is the last there
 *   -DLEFT_WITHOUT_ASKING one that goes on to the other queue leaves what is free here to nobody
 */

#define I 3
#ifndef REQUESTS
#define REQUESTS I
#endif
#ifdef TWO
#define A 2
#else
#define A 1
#endif
#ifndef PIECES
#define PIECES 2
#endif
#ifndef LIMIT
#define LIMIT 9
#endif
#ifndef BASKETS
#define BASKETS 1
#endif
#ifdef TWO
#define SEVERAL(i) ((i) < BASKETS)
#define WANTS(a, i) (SEVERAL(i) || (a) == (i) - 1 -> 1 : 0)
#else
#define SEVERAL(i) false
#ifndef W2
#define W2 2
#endif
#define WANTS(a, i) ((i) == 2 -> W2 : 1)
#endif
#define BUYER(i) ((i) == 2) /* the first two requests are of one buyer */

#ifndef TTL
#define TTL 2
#endif
#define SHORT 1
#define GRACE 1

/* ---- the server ---- */

/* 0: nothing. OVER: it has ended, and holds nothing. OVER + n: it ends in n ticks. SOLD: bought. */
#define OVER 1
#define SOLD 255
typedef Article {
	byte left[I];
	byte stock = PIECES;
	byte used;
	byte sold;
	byte had[2]    /* each buyer's, reserved or bought */
};
Article article[A];
#ifdef WAITS
byte queued[I];        /* in the queue of this article, from 1 */
byte ticket[I];        /* those that have a ticket, in its order */
byte tickets;
bool granted[I];       /* was granted its pieces in the queue, and has not asked since */
#ifdef TWO
bool notified[I];      /* was told to ask, and has not */
#define NOTIFIED(i) notified[i]
#define NOTIFY(i, it) notified[i] = it
#else
#define NOTIFIED(i) false
#define NOTIFY(i, it) skip
#endif
#endif
#ifdef RESTOCKS
bool put_in;           /* the change that has a name was made, */
byte times;            /* and so often */
byte taken_out;
#endif

/* ---- between them, and the processes ---- */

mtype = { IDLE, RESERVING, HAS, WAITING, EXTENDING, CONFIRMING, CANCELLING, CANCELLED, DONE };
mtype state[I] = IDLE;
mtype = { NONE, SENT, YES, BEFORE, GONE };
mtype call[I] = NONE;
byte answer[I];        /* the ticks that are left */
byte age[I];           /* ticks since it was asked first */
byte belief[I];        /* ticks for which the process still believes that no other order gets the pieces */
#ifdef SHORTER
bool shorter[I];       /* it asks for a shorter lease */
#endif
#ifdef STRAYS
/* Questions that may still be carried out, each as often as it likes */
#define STRAY_RESERVE 1
#define STRAY_EXTEND 2
#define STRAY_EXTEND_SHORT 4
#define STRAY_CONFIRM 8
#define STRAY_CANCEL 16
byte stray[I];
#endif

/* What is no part of the protocol */
bool sold_once[I];     /* "bought now" was said */
bool told_bought[I];
bool told_gone[I];
#ifdef WAITS
byte ahead[I];         /* bits for the live waiters that asked before */
#endif

byte k, w, next, reply, a, ttl;
bool may, changed;
#ifdef WAITS
byte kept, lacks;
#endif

/* ---- what is checked ---- */

#define BIT(i) (1 << (i))
#define OWNED(a, i) (told_bought[i] || (belief[i] > 0) -> WANTS(a, i) : 0)
#define OWNED_IN_ALL(a) (OWNED(a, 0) + OWNED(a, 1) + OWNED(a, 2))
#define HELD(a, i) (article[a].left[i] > OVER && article[a].left[i] != SOLD -> WANTS(a, i) : 0)
#define BOUGHT(a, i) (article[a].left[i] == SOLD -> WANTS(a, i) : 0)
#define HAS_IN_ALL(a, i) (HELD(a, i) + BOUGHT(a, i))

inline check_beliefs()
{
	assert(OWNED_IN_ALL(0) <= article[0].stock); /* never oversold */
#ifdef TWO
	assert(OWNED_IN_ALL(1) <= article[1].stock) /* never oversold */
#endif
}

inline check_article(b)
{
	assert(article[b].used == HELD(b, 0) + HELD(b, 1) + HELD(b, 2)); /* counts are exact */
	assert(article[b].sold == BOUGHT(b, 0) + BOUGHT(b, 1) + BOUGHT(b, 2)); /* counts are exact */
	assert(article[b].used + article[b].sold <= article[b].stock); /* counts are exact */
	assert(article[b].had[0] == HAS_IN_ALL(b, 0) + HAS_IN_ALL(b, 1)); /* counts of buyers are exact */
	assert(article[b].had[1] == HAS_IN_ALL(b, 2)); /* counts of buyers are exact */
	assert(HAS_IN_ALL(b, 0) + HAS_IN_ALL(b, 1) <= LIMIT && HAS_IN_ALL(b, 2) <= LIMIT) /* more than the limit */
}

#ifdef TWO
#define FIRST(i) ((i) == 2)
#else
#define FIRST(i) 0
#endif

/* After each script */
inline check_counts()
{
	check_article(0);
#ifdef TWO
	check_article(1);
	assert((article[0].left[0] == SOLD) == (article[1].left[0] == SOLD)); /* all of a purchase, or nothing */
#ifdef WAITS
	assert(article[0].left[0] == article[1].left[0]); /* all of an order, or nothing */
	assert(!SEVERAL(1) || article[0].left[1] == article[1].left[1]); /* all of an order, or nothing */
#endif
#endif
#ifdef RESTOCKS
	assert(article[0].stock == PIECES + put_in - taken_out); /* a change is made once */
#endif
	k = 0;
	do
	:: k < I ->
		assert(!told_bought[k] || article[FIRST(k)].left[k] == SOLD); /* bought is bought */
#if !defined(STRAYS) || defined(GONE_FOR_GOOD)
		assert(!told_gone[k] || article[FIRST(k)].left[k] != SOLD); /* gone is not bought */
#endif
		k++
	:: else -> break
	od;
	k = 0
}

/* ---- stock_pool.lua, stock_queue.lua ---- */

inline put_back(b, who)
{
	article[b].used = article[b].used - WANTS(b, who);
#ifndef LIMIT_LEAKS
	article[b].had[BUYER(who)] = article[b].had[BUYER(who)] - WANTS(b, who)
#endif
}

/* A tick. What ends is free at once: nothing that is seen depends on who sweeps it, and when. */
inline pass(b, who)
{
	if
	:: article[b].left[who] > OVER && article[b].left[who] != SOLD ->
		article[b].left[who]--;
		if
#ifdef ENDED_HOLDS
		:: else
#else
		:: article[b].left[who] == OVER -> put_back(b, who)
		:: else
#endif
		fi
	:: else
	fi
}

#define FITS_BESIDE(n, b, who) (article[b].used + article[b].sold + n + WANTS(b, who) <= article[b].stock)
#define FITS(b, who) FITS_BESIDE(0, b, who)
#ifdef LIMIT_OF_SOLD
#define ALLOWED(b, who) ((BUYER(who) -> BOUGHT(b, 2) : BOUGHT(b, 0) + BOUGHT(b, 1)) + WANTS(b, who) <= LIMIT)
#else
#define ALLOWED(b, who) (article[b].had[BUYER(who)] + WANTS(b, who) <= LIMIT)
#endif
inline take(b, who, ticks)
{
	article[b].left[who] = OVER + ticks;
	article[b].used = article[b].used + WANTS(b, who);
	article[b].had[BUYER(who)] = article[b].had[BUYER(who)] + WANTS(b, who)
}

#ifdef WAITS
#define HAS_TICKET(i) ((tickets > 0 && ticket[0] == i) || (tickets > 1 && ticket[1] == i) || (tickets > 2 && ticket[2] == i))
#define WAITS_IN(b, i) (queued[i] == (b) + 1)
#define NOBODY_IN(b) (!WAITS_IN(b, 0) && !WAITS_IN(b, 1) && !WAITS_IN(b, 2))
#define IS_AHEAD(j, b, i) ((ahead[i] & BIT(j)) && WAITS_IN(b, j))
#define NOBODY_AHEAD(b, i) (!IS_AHEAD(0, b, i) && !IS_AHEAD(1, b, i) && !IS_AHEAD(2, b, i))
inline forget(who)
{
	queued[who] = 0;
	NOTIFY(who, false);
	ahead[0] = ahead[0] & ~BIT(who);
	ahead[1] = ahead[1] & ~BIT(who);
	ahead[2] = ahead[2] & ~BIT(who)
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

#define NOBODY 255
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

#ifdef NOT_TOLD
#define TELLS false
#else
#define TELLS true
#endif
#ifdef NOT_KEPT
#define KEEPS 0
#else
#define KEEPS 1
#endif
#ifdef PARTLY_GRANTED
#define IS_ASKED(i) false
#else
#define IS_ASKED(i) SEVERAL(i)
#endif

/* To all that fit, in order, for GRACE; one that wants both articles is told to ask, and its piece kept. A waiter that may not have its pieces is
 * told so, and goes. Messages may be lost: each waiter asks again some time anyway. `self` asks now: `may` says that it is its turn. */
inline serve(b, self)
{
	k = 0; kept = 0;
	do
	:: k < tickets ->
		next = ticket[k];
		k++;
		if
		:: next == self && FITS_BESIDE(kept, b, next) -> kept = kept + WANTS(b, next); may = true
		:: next != self && WAITS_IN(b, next) ->
			if
			:: article[b].left[next] > OVER || !ALLOWED(b, next) -> forget(next)
			:: article[b].left[next] <= OVER && ALLOWED(b, next) && FITS_BESIDE(kept, b, next) ->
				if
				:: IS_ASKED(next) -> NOTIFY(next, TELLS); kept = kept + KEEPS
				:: else ->
					assert(NOBODY_AHEAD(b, next)); /* overtaken */
					forget(next);
					take(b, next, GRACE);
					granted[next] = true
				fi
			:: else /* it is passed, and stays where it is */
			fi
		:: else
		fi
	:: else -> break
	od;
	k = 0; next = 0; kept = 0
}

inline serve_all(i)
{
	if
	:: WANTS(0, i) > 0 -> serve(0, NOBODY)
	:: else
	fi;
#ifdef TWO
	if
	:: WANTS(1, i) > 0 -> serve(1, NOBODY)
	:: else
	fi
#endif
}

/* Behind a script that was on this article, the first one that waits has what it wants, or knows that it is its turn. */
inline check_served(b)
{
	k = 0;
	do
	:: k < tickets && !WAITS_IN(b, ticket[k]) -> k++
	:: else -> break
	od;
	assert(k == tickets || !FITS(b, ticket[k]) || NOTIFIED(ticket[k])); /* forgotten */
	k = 0
}

inline check_queues(i)
{
	if
	:: WANTS(0, i) > 0 -> check_served(0)
	:: else
	fi;
#ifdef TWO
	if
	:: WANTS(1, i) > 0 -> check_served(1)
	:: else
	fi
#endif
}
#endif

/* ---- the scripts, each atomic: `reply` is what is answered ---- */

#define YES_NOW 1
#define YES_BEFORE 2
#define NO 0

/* stock_reserve.lua, stock_basket.lua */
#ifndef WAITS
inline reserve(i)
{
	may = true; ttl = TTL; changed = false;
	a = 0;
	do
	:: a < A ->
		if
		:: WANTS(a, i) == 0
		:: WANTS(a, i) > 0 && article[a].left[i] <= OVER ->
#ifdef PARTLY_RESERVED
			if
			:: ALLOWED(a, i) && FITS(a, i) -> take(a, i, TTL); changed = true
			:: else
			fi
#else
			may = may && ALLOWED(a, i) && FITS(a, i);
			changed = true
#endif
		:: WANTS(a, i) > 0 && article[a].left[i] == SOLD -> may = false
		:: WANTS(a, i) > 0 && article[a].left[i] > OVER && article[a].left[i] != SOLD ->
			ttl = (ttl < article[a].left[i] - OVER -> ttl : article[a].left[i] - OVER)
#ifdef COUNTED_TWICE
			; article[a].used = article[a].used + WANTS(a, i)
#endif
		:: else
		fi;
		a++
	:: else -> break
	od;
	a = 0;
	reply = NO;
	if
	:: may ->
		do
		:: a < A ->
			if
			:: WANTS(a, i) > 0 && article[a].left[i] <= OVER -> take(a, i, ttl)
			:: else
			fi;
			a++
		:: else -> break
		od;
		reply = YES_NOW
	:: !may && article[FIRST(i)].left[i] == SOLD ->
		reply = YES_BEFORE
	:: else
	fi;
	a = 0;
	may = false; changed = false
}
#else
#ifdef OVERTAKING
#define PASSES(b) true
#else
#define PASSES(b) NOBODY_IN(b)
#endif
/* Of one article, whether its time has come: who waits there is before it. */
inline look(b, i)
{
	may = PASSES(b) && FITS(b, i);
	if
	:: !PASSES(b) -> draw_ticket(i); serve(b, i)
	:: else
	fi;
#ifdef FIRST_LACK_ONLY
	may = may || (queued[i] > 0 && !WAITS_IN(b, i));
#endif
	lacks = (lacks == 0 && !may -> (b) + 1 : lacks)
}

inline take_one(b, i)
{
	assert(NOBODY_AHEAD(b, i)); /* overtaken */
	take(b, i, TTL)
}

#define ALL_ALLOWED(i) ((WANTS(0, i) == 0 || ALLOWED(0, i)) && (A == 1 || WANTS(A - 1, i) == 0 || ALLOWED(A - 1, i)))
inline reserve(i)
{
	ahead[i] = (HAS_TICKET(i) -> ahead[i] : (queued[0] > 0) + 2 * (queued[1] > 0) + 4 * (queued[2] > 0));
	NOTIFY(i, false);
	lacks = 0;
	ttl = TTL;
	if
	:: article[FIRST(i)].left[i] == SOLD -> reply = YES_BEFORE
	:: article[FIRST(i)].left[i] != SOLD && article[FIRST(i)].left[i] > OVER ->
		article[FIRST(i)].left[i] = (granted[i] -> OVER + TTL : article[FIRST(i)].left[i]);
		ttl = article[FIRST(i)].left[i] - OVER;
		reply = YES_NOW
	:: article[FIRST(i)].left[i] <= OVER && !ALL_ALLOWED(i) -> reply = NO
	:: else ->
		if
		:: WANTS(0, i) > 0 -> look(0, i)
		:: else
		fi;
#ifdef TWO
		if
		:: WANTS(1, i) > 0 -> look(1, i)
		:: else
		fi;
#endif
		if
		:: lacks > 0 ->
#ifdef PLACE_LOST
			if
			:: queued[i] > 0 && queued[i] != lacks -> drop_ticket(i)
			:: else
			fi;
#endif
			draw_ticket(i);
			queued[i] = lacks;
			reply = NO
		:: else ->
			if
			:: WANTS(0, i) > 0 -> take_one(0, i)
			:: else
			fi;
#ifdef TWO
			if
			:: WANTS(1, i) > 0 -> take_one(1, i)
			:: else
			fi;
#endif
			reply = YES_NOW
		fi
	fi;
	if
	:: reply != YES_BEFORE ->
		if
		:: lacks == 0 -> granted[i] = false; forget(i)
		:: else
		fi;
#ifdef LEFT_WITHOUT_ASKING
		if
		:: lacks == 0 -> serve_all(i)
		:: else
		fi;
#else
		serve_all(i);
#endif
		check_queues(i)
	:: else
	fi;
	may = false; lacks = 0
}
#endif

/* stock_confirm.lua. All that an order is for has the same state. */
#define IS_LIVE(i) (article[FIRST(i)].left[i] > OVER && article[FIRST(i)].left[i] != SOLD)
#define IS_OVER(i) (article[FIRST(i)].left[i] == OVER)
#define IS_SOLD(i) (article[FIRST(i)].left[i] == SOLD)
#define IS_FREE(b, i) (FITS(b, i) && ALLOWED(b, i))
#ifdef TWO
#define HAS_ROOM(i) ((WANTS(0, i) == 0 || IS_FREE(0, i)) && (WANTS(1, i) == 0 || IS_FREE(1, i)))
#define HAS_SOME(i) ((WANTS(0, i) > 0 && IS_FREE(0, i)) || (WANTS(1, i) > 0 && IS_FREE(1, i)))
#else
#define HAS_ROOM(i) IS_FREE(0, i)
#define HAS_SOME(i) IS_FREE(0, i)
#endif
#ifdef PARTLY_BOUGHT
#define CAN_BUY(i) (IS_LIVE(i) || (IS_OVER(i) && HAS_SOME(i)))
#define BUYS(b, i) (IS_LIVE(i) || IS_FREE(b, i))
#elif defined(LATE_CONFIRM)
#define CAN_BUY(i) (IS_LIVE(i) || IS_OVER(i))
#define BUYS(b, i) true
#else
#define CAN_BUY(i) (IS_LIVE(i) || (IS_OVER(i) && HAS_ROOM(i)))
#define BUYS(b, i) true
#endif
inline confirm(i)
{
	reply = NO;
	if
	:: IS_SOLD(i) ->
		reply = YES_BEFORE;
#ifdef SOLD_TWICE
		article[0].sold = article[0].sold + WANTS(0, i)
#endif
	:: !IS_SOLD(i) && CAN_BUY(i) ->
		changed = IS_LIVE(i);
		a = 0;
		do
		:: a < A ->
			if
			:: WANTS(a, i) > 0 && (changed || BUYS(a, i)) ->
				article[a].used = article[a].used - (changed -> WANTS(a, i) : 0);
				article[a].had[BUYER(i)] = article[a].had[BUYER(i)] + (changed -> 0 : WANTS(a, i));
				article[a].sold = article[a].sold + WANTS(a, i);
				article[a].left[i] = SOLD
			:: else
			fi;
			a++
		:: else -> break
		od;
		a = 0;
		changed = false;
		assert(!sold_once[i]); /* bought once */
		sold_once[i] = true;
		reply = YES_NOW
	:: else
	fi
}

/* stock_cancel.lua */
inline cancel(i)
{
	reply = NO;
	a = 0;
	do
	:: a < A ->
		if
		:: WANTS(a, i) > 0 && article[a].left[i] > OVER && article[a].left[i] != SOLD -> put_back(a, i); article[a].left[i] = 0; reply = YES_NOW
		:: WANTS(a, i) > 0 && article[a].left[i] == OVER -> article[a].left[i] = 0 /* a late payment is refused */
#ifdef CANCELLED_AFTER
		:: WANTS(a, i) > 0 && article[a].left[i] == SOLD ->
			article[a].sold = article[a].sold - WANTS(a, i);
			article[a].had[BUYER(i)] = article[a].had[BUYER(i)] - WANTS(a, i);
			article[a].left[i] = 0
#endif
#ifdef GIVEN_BACK_TWICE
		:: WANTS(a, i) > 0 && article[a].left[i] == 0 && article[a].used >= WANTS(a, i) -> article[a].used = article[a].used - WANTS(a, i)
#endif
		:: else
		fi;
		a++
	:: else -> break
	od;
	a = 0
#ifdef WAITS
	;
	granted[i] = false;
	forget(i);
#ifndef FORGOTTEN
	serve_all(i);
#endif
	check_queues(i)
#endif
}

/* stock_extend.lua; both articles' time is the same */
inline extend(i, ticks)
{
	reply = YES_NOW;
	a = 0;
	do
	:: a < A ->
		if
		:: WANTS(a, i) == 0
		:: WANTS(a, i) > 0 && (article[a].left[i] <= OVER || article[a].left[i] == SOLD) ->
#ifdef EXTEND_REVIVES
			if
			:: article[a].left[i] <= OVER -> take(a, i, ticks)
			:: else -> reply = NO
			fi
#else
			reply = NO
#endif
		:: else ->
#ifndef EXTEND_SHORTENS
			if
			:: article[a].left[i] < OVER + (ticks) -> article[a].left[i] = OVER + (ticks)
			:: else
			fi
#else
			article[a].left[i] = OVER + (ticks)
#endif
		fi;
		a++
	:: else -> break
	od;
	a = 0
}

/* ---- a process's way to the server ---- */

#ifdef SHORTER
#define IS_SHORTER(i) shorter[i]
#else
#define IS_SHORTER(i) false
#endif
#define ASKED_TICKS(i) (IS_SHORTER(i) -> SHORT : TTL)
inline execute(i)
{
	if
	:: state[i] == RESERVING -> reserve(i)
	:: state[i] == EXTENDING -> extend(i, ASKED_TICKS(i)); ttl = ASKED_TICKS(i)
	:: state[i] == CONFIRMING -> confirm(i)
	:: state[i] == CANCELLING -> cancel(i)
	:: else
	fi;
	check_counts()
}

#ifdef STRAYS
#define KIND(i) (state[i] == RESERVING -> STRAY_RESERVE : (state[i] == EXTENDING -> (IS_SHORTER(i) -> STRAY_EXTEND_SHORT : STRAY_EXTEND) \
	: (state[i] == CONFIRMING -> STRAY_CONFIRM : STRAY_CANCEL)))
#define NOTHING_UNDER_WAY(i) (stray[i] == 0)
#else
#define NOTHING_UNDER_WAY(i) true
#endif

inline settle()
{
	reply = 0; ttl = 0
}

#ifdef PLAIN
#define MAY_FAIL(i) (i == 0)
#else
#define MAY_FAIL(i) true
#endif

proctype Connection(byte i)
{
	do
	:: d_step { call[i] == SENT -> execute(i);
			call[i] = (reply == YES_NOW -> YES : (reply == YES_BEFORE -> BEFORE : GONE));
			answer[i] = (reply == YES_NOW && (state[i] == RESERVING || state[i] == EXTENDING) -> ttl : 0);
			settle() }
	/* Its answer is lost: it will be asked again. */
	:: d_step { MAY_FAIL(i) && call[i] == SENT -> execute(i); settle() }
#ifdef STRAYS
	:: d_step { i == 0 && call[i] == SENT -> stray[i] = stray[i] | KIND(i) }
	:: d_step { i == 0 && stray[i] & STRAY_RESERVE -> reserve(i); check_counts(); settle() }
	:: d_step { i == 0 && stray[i] & STRAY_EXTEND -> extend(i, TTL); check_counts(); settle() }
#ifdef SHORTER
	:: d_step { i == 0 && stray[i] & STRAY_EXTEND_SHORT -> extend(i, SHORT); check_counts(); settle() }
#endif
	:: d_step { i == 0 && stray[i] & STRAY_CONFIRM -> confirm(i); check_counts(); settle() }
	:: d_step { i == 0 && stray[i] & STRAY_CANCEL -> cancel(i); check_counts(); settle() }
	:: d_step { i == 0 && stray[i] != 0 -> stray[i] = 0 }
#endif
#ifdef WAITS
	/* A slow waiter is taken for dead, and forgotten. */
	:: d_step { queued[i] > 0 -> forget(i) }
#endif
	od
}

/* ---- a process ---- */

#ifdef BELIEF_FROM_REPLY
#define BELIEF(i) answer[i]
#else
#define BELIEF(i) (answer[i] > age[i] -> answer[i] - age[i] : 0)
#endif

#define HAS_ANY_LEFT(i) (article[FIRST(i)].left[i] > OVER || article[A - 1].left[i] > OVER)
#ifdef WAITS
#define QUEUED(i) (queued[i] > 0)
#else
#define QUEUED(i) false
#endif

inline ask(i, what)
{
	state[i] = what; call[i] = SENT; age[i] = 0
}

inline answered(i, what)
{
	state[i] = what; call[i] = NONE; answer[i] = 0; age[i] = 0
#ifdef SHORTER
	; shorter[i] = false
#endif
}

#ifdef WAITS
/* What a process that died has left in the queue keeps its place. */
inline leave_order(i)
{
	if
	:: queued[i] == 0 -> drop_ticket(i)
	:: else
	fi
}
#endif

inline done(i)
{
	answered(i, DONE);
	belief[i] = 0
#ifdef WAITS
	; leave_order(i)
#endif
}

proctype Process(byte i)
{
	do
	:: d_step { state[i] == IDLE && i < REQUESTS -> ask(i, RESERVING) }
	:: d_step { state[i] == RESERVING && call[i] == YES ->
			belief[i] = (belief[i] < BELIEF(i) -> BELIEF(i) : belief[i]);
			told_gone[i] = false;
			check_beliefs();
#ifdef WAITS
			leave_order(i);
#endif
			answered(i, HAS) }
#ifdef WAITS
	:: d_step { state[i] == RESERVING && call[i] == GONE -> answered(i, WAITING) }
	:: d_step { state[i] == WAITING -> ask(i, RESERVING) }
	/* It gives up: what it may have been granted is cancelled. */
	:: d_step { state[i] == WAITING -> ask(i, CANCELLING) }
#else
	:: d_step { state[i] == RESERVING && call[i] == GONE -> done(i) }
#endif
#ifndef PLAIN
	:: d_step { state[i] == RESERVING && call[i] == BEFORE -> told_bought[i] = true; check_beliefs(); done(i); check_counts() }
#endif

	/* Again, which is the same reservation: a buyer that clicks twice */
#ifndef PLAIN
	:: d_step { i == 0 && state[i] == HAS -> ask(i, RESERVING) }
	:: d_step { i == 0 && state[i] == HAS -> ask(i, EXTENDING) }
#endif
#ifdef SHORTER
	:: d_step { i == 0 && state[i] == HAS -> shorter[i] = true; ask(i, EXTENDING) }
#endif
#ifndef PLAIN
	:: d_step { i == 0 && state[i] == EXTENDING && call[i] == YES ->
			belief[i] = (belief[i] < BELIEF(i) -> BELIEF(i) : belief[i]);
			check_beliefs();
			answered(i, HAS) }
	:: d_step { i == 0 && state[i] == EXTENDING && (call[i] == GONE || call[i] == BEFORE) -> done(i) }
#endif
	:: d_step { state[i] == HAS -> ask(i, CONFIRMING) }
	:: d_step { state[i] == CONFIRMING && (call[i] == YES || call[i] == BEFORE) ->
			told_bought[i] = true;
			check_beliefs();
			done(i);
			check_counts() }
	:: d_step { state[i] == CONFIRMING && call[i] == GONE -> told_gone[i] = true; done(i); check_counts() }
	:: d_step { state[i] == HAS -> belief[i] = 0; ask(i, CANCELLING) }
	:: d_step { state[i] == CANCELLING && call[i] == YES -> told_gone[i] = true; done(i); check_counts() }
	:: d_step { state[i] == CANCELLING && call[i] == GONE -> done(i) }

	/* It dies, or gives up; another one may go on from here, by the names of buyer and request. */
	:: d_step { MAY_FAIL(i) && (call[i] != NONE || state[i] == HAS) ->
#ifdef STRAYS
			stray[i] = (i == 0 && call[i] == SENT -> stray[i] | KIND(i) : stray[i]);
#endif
			belief[i] = 0;
#ifdef REQUEST_REUSED
			answered(i, HAS) }
#else
			answered(i, (state[i] == CANCELLING -> CANCELLED : HAS)) }
	:: d_step { MAY_FAIL(i) && state[i] == CANCELLED -> ask(i, CANCELLING) }
#endif
#ifdef WAITS
	:: d_step { MAY_FAIL(i) && state[i] == WAITING -> answered(i, HAS) }
	:: d_step { MAY_FAIL(i) && state[i] == HAS && HAS_TICKET(i) && queued[i] == 0 -> drop_ticket(i) }
#endif

	/* The name is used no more, and the process goes on with another one; or with the same. */
	:: d_step { state[i] == DONE && !HAS_ANY_LEFT(i) && !told_bought[i] && NOTHING_UNDER_WAY(i) && !QUEUED(i) ->
#ifdef WAITS
			drop_ticket(i);
			granted[i] = false;
			ahead[i] = 0;
#endif
			article[0].left[i] = 0;
			article[A - 1].left[i] = 0;
			state[i] = IDLE; told_gone[i] = false }
#ifdef REQUEST_REUSED
	:: d_step { state[i] == DONE && !told_bought[i] -> state[i] = IDLE; told_gone[i] = false }
#endif
	od
}
#ifdef RESTOCKS
/* stock_restock.lua */
proctype Keeper()
{
	do
	:: d_step { times < 2 ->
			times++;
#ifdef RESTOCKED_TWICE
			article[0].stock++;
#else
			article[0].stock = article[0].stock + !put_in;
#endif
			put_in = true;
#ifdef WAITS
			serve(0, NOBODY);
#endif
			check_counts() }
	:: d_step { taken_out == 0 ->
#ifdef TAKEN_OUT_RESERVED
			changed = (article[0].stock > article[0].sold);
#else
			changed = (article[0].stock > article[0].used + article[0].sold);
#endif
			article[0].stock = article[0].stock - changed;
			taken_out = changed;
			changed = false;
#ifdef WAITS
			serve(0, NOBODY);
#endif
			check_counts() }
	od
}
#endif

/* ---- time ---- */

inline less(timer)
{
	timer = (timer > 0 -> timer - 1 : 0)
}

proctype Clock()
{
	byte c;
	do
	:: d_step { true ->
			c = 0;
			do
			:: c < I ->
				less(belief[c]);
				age[c] = (call[c] != NONE && age[c] < TTL -> age[c] + 1 : age[c]);
				pass(0, c);
#ifdef TWO
				pass(1, c);
#endif
				c++
			:: else -> break
			od;
			c = 0 }
	od
}

init {
	atomic {
		byte n = 0;
		run Clock();
#ifdef RESTOCKS
		run Keeper();
#endif
		do
		:: n < I -> run Connection(n); run Process(n); n++
		:: else -> break
		od
	}
}

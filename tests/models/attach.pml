/* attach() on several servers (RedLock): a handle's token is exchanged for a new one on each server, and the lease goes on under the
 * new token once a quorum has it. README.md beside this file says what stands for what.
 *
 * There is no clock here, as in hints.pml and fencing.pml. The lease of a handle is not renewed: its keys may expire at any time, one
 * by one, also when they have been exchanged. What has expired does not count, since servers tell how long a key will last. Requests
 * and answers take any time, and a server need not answer at all. Who attaches may give up, or be killed, at any time.
 *
 * Clients 0 and 1 attach the same handle; client 2 takes the lock where it is free.
 *
 * Checked: never two owners; a handle is attached once at most; each holder's token is greater than that of every earlier holder, of
 * whom the one that detached is the first.
 *
 *   -DATTEMPTS=1 of the first to attach   -DOTHER_ATTEMPTS=1 of the second   -DACQUIRES=0 of the third client
 *   -DPROPOSALS     clocks that are ahead propose fencing tokens. Otherwise servers just count
 *   -DREPEATS       connections break before an answer, and a request is sent once more
 *   -DSTRAYS=1      the number of requests of the lease that was detached, a repair or an acquire, come late, and give its key to a server
 *                   that has none. Then a handle can be attached again when the lease that it was attached for is over
 *   -DONCE          (with STRAYS) that is checked even so, and fails
 *   -DGIVEN_UP      no key expires, no client is killed, no client believes. Checked: once all that was exchanged is exchanged back, a
 *                   quorum has the old token, so that the handle can be attached
 *
 * The known mistakes:
 *
 *   -DATTACH_BY_CHECK      the old token is looked for, and left as it is
 *   -DROLLBACK_UNCHECKED   what is exchanged back makes the lock the old token's, whosever it is
 *   -DROLLBACK_TOO_SOON    what was exchanged is exchanged back while its client may still come to believe
 *   -DTOKEN_REUSED         the next attempt exchanges the old token for the same new one
 *   -DFREE_IS_OLD          a server that has no key any more is given one by the exchange
 *   -DVALIDITY_NOT_READ    the lease is believed in for longer than a quorum of its keys last
 *   -DNO_RAISE             the largest of the servers' fencing tokens is taken as it is
 *   -DTOKEN_KEPT           the exchange gives out no fencing token
 *   -DNO_ROLLBACK          (with GIVEN_UP) nothing is exchanged back
 */

#ifndef ATTEMPTS
#define ATTEMPTS 1
#endif
#ifndef OTHER_ATTEMPTS
#define OTHER_ATTEMPTS 1
#endif
#ifndef ACQUIRES
#define ACQUIRES 0
#endif
#ifndef STRAYS
#define STRAYS 0
#endif
#if ACQUIRES > 0
#define W 3
#else
#define W 2
#endif
#define S 3
#define QUORUM 2
#define FREE 255
#define ENDED 254 /* the key of a lease that is over, or of an attempt of a client that was killed: until it is gone */
#define BACK 253  /* the key of an attempt to attach that is over: until it is exchanged back, or is gone */
#define OLD 252   /* the handle's */

/* What clients propose, as in fencing.pml. The lease that was detached has the token DETACHED. */
#define DETACHED 1
#define BEHIND 0
#define AHEAD 3

mtype = { IDLE, ASKING, RAISING, HOLDING };
mtype state[W] = IDLE;

typedef Server {
	byte lock = OLD;
	byte fence = DETACHED;
	byte late; /* exchanges under way of attempts that are over. What takes them back is sent behind them */
#ifdef ROLLBACK_UNCHECKED
	bool back
#endif
};
Server server[S];

#define SENT 2
#define REPEATED 1 /* carried out, but the connection broke before the answer: sent once more */
typedef Wait {
	byte ask[S];
	byte vote[S]; /* the server's fencing token, as long as the key is there; then whether it counts for the lease */
#ifdef TOKEN_REUSED
	bool back[S];
#endif
	bool raise[S]
};
Wait to[W];

byte proposal[W];
byte token[W];
byte raised[W];
byte attempts[W];
byte owners;
byte last = DETACHED; /* the last holder's fencing token */
bool attached;
byte strays = STRAYS;

#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define ATTACHES(c) (c < 2)
#define HAS(c) ((server[0].lock == c) + (server[1].lock == c) + (server[2].lock == c))
#define VOTES(c) ((to[c].vote[0] > 0) + (to[c].vote[1] > 0) + (to[c].vote[2] > 0))
#define OPEN(c) (to[c].ask[0] + to[c].ask[1] + to[c].ask[2])

/* fencing.lua */
inline next_token(s, least)
{
	server[s].fence = MAX(server[s].fence + 1, least)
}

inline begin(c, clock)
{
	attempts[c]--;
	proposal[c] = clock;
	to[c].ask[0] = SENT; to[c].ask[1] = SENT; to[c].ask[2] = SENT;
	state[c] = ASKING
}

/* What an attempt has of a server when it is over, or a lease */
inline end_at(c, s, key)
{
#ifdef ROLLBACK_UNCHECKED
	server[s].back = (key == BACK || server[s].back);
#endif
#ifdef TOKEN_REUSED
	to[c].back[s] = (key == BACK);
	server[s].lock = (server[s].lock == c && key != BACK -> key : server[s].lock);
#else
	server[s].lock = (server[s].lock == c -> key : server[s].lock);
#endif
	server[s].late = (key == BACK && to[c].ask[s] == SENT -> server[s].late + 1 : server[s].late);
	to[c].ask[s] = 0;
	to[c].vote[s] = 0;
	to[c].raise[s] = false
}

inline finish(c, key)
{
	end_at(c, 0, key); end_at(c, 1, key); end_at(c, 2, key);
	proposal[c] = 0;
	token[c] = 0;
	raised[c] = 0;
	state[c] = IDLE
}

#define COUNTS(c, s) (to[c].vote[s] > 0 -> 1 : 0)

inline keep_counts(c)
{
	to[c].vote[0] = COUNTS(c, 0); to[c].vote[1] = COUNTS(c, 1); to[c].vote[2] = COUNTS(c, 2)
}

inline believe(c)
{
	owners++;
	assert(owners == 1); /* never two owners */
	if
	:: ATTACHES(c) ->
#if STRAYS == 0 || defined(ONCE)
		assert(!attached); /* once at most */
		attached = true
#else
		skip
#endif
	:: else
	fi;
	assert(token[c] > last); /* rising */
	last = token[c];
	keep_counts(c);
	to[c].raise[0] = false; to[c].raise[1] = false; to[c].raise[2] = false;
	raised[c] = 0;
	proposal[c] = (OPEN(c) > 0 -> proposal[c] : 0);
	state[c] = HOLDING
}

#define AGREE(c, s) (to[c].vote[s] == token[c])

/* dlock_quorum_confirm() in quorum_votes.c */
inline settle(c)
{
	token[c] = MAX(to[c].vote[0], to[c].vote[1]);
	token[c] = MAX(token[c], to[c].vote[2]);
#ifdef NO_RAISE
	believe(c)
#else
	if
	:: AGREE(c, 0) + AGREE(c, 1) + AGREE(c, 2) >= QUORUM -> believe(c)
	:: else ->
		to[c].raise[0] = to[c].vote[0] > 0; to[c].raise[1] = to[c].vote[1] > 0; to[c].raise[2] = to[c].vote[2] > 0;
		keep_counts(c);
		state[c] = RAISING
	fi
#endif
}

#ifdef FREE_IS_OLD
#define TO_EXCHANGE(s) (server[s].lock == OLD || server[s].lock == FREE)
#else
#define TO_EXCHANGE(s) (server[s].lock == OLD)
#endif
#define FOR_ME(c, s) (server[s].lock == c || (ATTACHES(c) -> TO_EXCHANGE(s) : server[s].lock == FREE))

/* exchange.lua, acquire.lua: a request that is sent again finds the new token, and says yes again. */
inline give(c, s)
{
#ifdef ATTACH_BY_CHECK
	server[s].lock = (ATTACHES(c) -> OLD : c);
#else
	server[s].lock = c;
#endif
#ifdef TOKEN_KEPT
	if
	:: ATTACHES(c) -> server[s].fence = MAX(server[s].fence, DETACHED)
	:: else -> next_token(s, proposal[c])
	fi
#else
	next_token(s, proposal[c])
#endif
}

#ifdef ATTACH_BY_CHECK
#define MINE(c, s) (server[s].lock == (ATTACHES(c) -> OLD : c))
#else
#define MINE(c, s) (server[s].lock == c)
#endif

/* One client's requests at one server. One that is refused stays where it is: the client does not wait for it. */
proctype Connection(byte c; byte s)
{
end:
	do
	:: d_step { to[c].ask[s] > 0 && FOR_ME(c, s) ->
			give(c, s);
			to[c].vote[s] = (state[c] == ASKING -> server[s].fence : to[c].vote[s]);
			to[c].ask[s] = 0;
			proposal[c] = (state[c] == ASKING || OPEN(c) > 0 -> proposal[c] : 0) }
	/* The answer comes too late, or never. */
	:: d_step { to[c].ask[s] == SENT && state[c] == ASKING && FOR_ME(c, s) ->
#ifdef REPEATS
			to[c].ask[s] = REPEATED;
#else
			to[c].ask[s] = 0;
#endif
			give(c, s) }
#ifndef GIVEN_UP
	:: d_step { to[c].raise[s] && MINE(c, s) ->
			to[c].raise[s] = false;
			server[s].fence = MAX(server[s].fence, token[c]);
			raised[c]++ }
	/* A key expires, but of those that a belief is counted by not before a quorum. */
#ifdef VALIDITY_NOT_READ
	:: d_step { server[s].lock == c && state[c] == HOLDING -> server[s].lock = FREE }
	:: d_step { server[s].lock == c && state[c] != HOLDING -> server[s].lock = FREE; to[c].vote[s] = 0 }
#else
	:: d_step { server[s].lock == c && (state[c] != HOLDING || to[c].vote[s] == 0 || VOTES(c) > QUORUM) ->
			server[s].lock = FREE; to[c].vote[s] = 0 }
#endif
	/* Repair: a holder sets its key where it is missing, and raises the server's last token to its own. */
	:: d_step { state[c] == HOLDING && server[s].lock == FREE && HAS(c) >= QUORUM ->
			server[s].lock = c; server[s].fence = MAX(server[s].fence, token[c]) }
#endif
#ifdef ROLLBACK_TOO_SOON
	:: d_step { ATTACHES(c) && server[s].lock == c && state[c] == ASKING -> server[s].lock = OLD }
#endif
#ifdef TOKEN_REUSED
	:: d_step { to[c].back[s] ->
			to[c].back[s] = false;
			server[s].lock = (server[s].lock == c -> OLD : server[s].lock) }
#endif
	od
}

proctype Client(byte c)
{
end:
	do
	:: d_step { state[c] == IDLE && attempts[c] > 0 -> begin(c, BEHIND) }
#ifdef PROPOSALS
	:: d_step { state[c] == IDLE && attempts[c] > 0 -> begin(c, AHEAD) }
#endif
#ifndef GIVEN_UP
	:: d_step { state[c] == ASKING && VOTES(c) >= QUORUM -> settle(c) }
	:: d_step { state[c] == RAISING && raised[c] >= QUORUM && VOTES(c) >= QUORUM -> believe(c) }
	/* Renewal: its own key is still there on a quorum of servers. */
	:: d_step { state[c] == HOLDING && HAS(c) >= QUORUM && VOTES(c) < HAS(c) ->
			to[c].vote[0] = (server[0].lock == c -> 1 : 0); to[c].vote[1] = (server[1].lock == c -> 1 : 0);
			to[c].vote[2] = (server[2].lock == c -> 1 : 0) }
	/* Released, or not renewed in time */
	:: d_step { state[c] == HOLDING -> owners--; finish(c, ENDED) }
	/* Killed, or what is sent to take it back is lost */
	:: d_step { (state[c] == ASKING || state[c] == RAISING) -> finish(c, ENDED) }
#endif
	/* Too few votes, or too late */
	:: d_step { (state[c] == ASKING || state[c] == RAISING) && ATTACHES(c) -> finish(c, BACK) }
	od
}

/* What else happens at one server */
proctype World(byte s)
{
end:
	do
#ifndef NO_ROLLBACK
	/* Exchanged back */
	:: d_step { server[s].lock == BACK -> server[s].lock = OLD }
#endif
	/* An exchange comes late. It is taken back by what follows it. */
	:: d_step { server[s].late > 0 && server[s].lock == OLD -> server[s].late--; server[s].lock = BACK; next_token(s, BEHIND) }
#ifdef PROPOSALS
	:: d_step { server[s].late > 0 && server[s].lock == OLD -> server[s].late--; server[s].lock = BACK; next_token(s, AHEAD) }
#endif
	:: d_step { server[s].late > 0 && server[s].lock != OLD -> server[s].late-- }
#ifndef GIVEN_UP
	:: d_step { server[s].lock == OLD || server[s].lock == BACK || server[s].lock == ENDED -> server[s].lock = FREE }
#endif
#if STRAYS > 0
	:: d_step { strays > 0 && server[s].lock == FREE -> strays--; server[s].lock = OLD }
#endif
#ifdef ROLLBACK_UNCHECKED
	:: d_step { server[s].back -> server[s].back = false; server[s].lock = OLD }
#endif
	od
}

#ifdef GIVEN_UP
#define AT_REST(s) (server[s].lock != BACK && server[s].late == 0)
#ifdef NO_ROLLBACK
#undef AT_REST
#define AT_REST(s) (server[s].late == 0)
#endif
proctype Rest()
{
end:
	do
	:: d_step { state[0] == IDLE && state[1] == IDLE && AT_REST(0) && AT_REST(1) && AT_REST(2) ->
			assert(HAS(OLD) >= QUORUM) /* can be attached again */ }
	od
}
#endif

init {
	atomic {
		byte n = 0;
		do
		:: n < S -> run World(n); n++
		:: else -> break
		od;
		/* One server may have missed the lease, the last token, or both. */
		if
		:: true
		:: server[2].fence = 0
		:: server[2].lock = FREE
		:: server[2].lock = FREE; server[2].fence = 0
		fi;
#ifdef GIVEN_UP
		run Rest();
#endif
		n = 0;
		do
		:: n < W ->
			attempts[n] = (n == 0 -> ATTEMPTS : (n == 1 -> OTHER_ATTEMPTS : ACQUIRES));
			run Client(n);
			run Connection(n, 0); run Connection(n, 1); run Connection(n, 2);
			n++
		:: else -> break
		od
	}
}

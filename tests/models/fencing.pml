/* Fencing tokens by majority (RedLock): each server votes with a token of its own, the largest is the lease's, and it is held
 * only once a quorum of servers has no smaller one. README.md beside this file says what stands for what.
 *
 * There is no clock here, as in hints.pml. The keys of a client that is asking or holding do not expire; any other's may at any
 * time, by expiry, roll-back or release, whichever comes first; and a client may find at any time that it took too long.
 * Requests and answers take any time, and a server need not answer at all.
 *
 * Checked: never two owners; each holder's token is greater than that of every earlier holder.
 *
 *   -DW=2 clients   -DATTEMPTS=2 of the first   -DOTHER_ATTEMPTS=1 of each other
 *   -DREPEATS       connections break before an answer, and acquires are sent once more
 *   -DSLOW          attempts took so long that the voters are asked again, also where they agree: the raise asks that
 *   -DLATE          raises may come after their attempt or lease is over
 *   -DOTHERS=1      how often another client comes between: a third client, an acquire of long ago, a lock of another name
 *   -DNO_PROPOSAL   servers just count. That is not a mistake, as long as none loses its data
 *   -DVANISH=1      the number of keys that are lost, at any time (evicted, deleted by hand, a server's clock set): there can be two owners.
 *                   Checked instead: no token is given twice; each is greater than those that were held when its attempt began
 *   -DRESTARTS=1    a server restarts without its data. While it is young it does not vote. Holders renew their leases, and
 *                   set their key again where it is missing (two clients)
 *   -DMADE_GOOD     (with RESTARTS) only a server that a holder has loses its data, and the holder stays until it has its key
 *                   there again. Clocks need not agree then
 *
 * The known mistakes:
 *
 *   -DNO_RAISE           the largest of the servers' tokens is taken as it is
 *   -DPROPOSAL_ALONE     a server that has reached the proposal gives out the same token again
 *   -DWRITTEN_BACK       the token is written to the voters, even if another client has the lock there by then (with LATE)
 *   -DRAISED_ANYWHERE    all servers are raised, and counted, also where the lock is not the client's
 *   -DRAISED_UNCHECKED   the same among the voters only (with VANISH)
 *   -DREFUSAL_NOT_READ   a raise is counted though the server says that the lock is not the client's (with VANISH)
 *   -DYOUNG_VOTE         a restarted server votes at once
 *   -DYOUTH_JUDGED_LATE  a server that was young when the attempt began may vote in it
 *   -DCLOCKS_APART       clocks differ by more than a server's youth lasts
 *   -DREPAIR_ALONE       the key is set again, the server's last token is not (with MADE_GOOD)
 */

#ifndef W
#define W 2
#endif
#ifndef ATTEMPTS
#define ATTEMPTS 2
#endif
#ifndef OTHER_ATTEMPTS
#define OTHER_ATTEMPTS 1
#endif
#ifndef OTHERS
#define OTHERS 0
#endif
#ifndef VANISH
#define VANISH 0
#endif
#ifndef RESTARTS
#define RESTARTS 0
#endif
#ifdef MADE_GOOD
#define CLOCKS_APART
#endif
#define S 3
#define QUORUM 2
#define FREE 255
#if VANISH > 0
#define ENDED FREE /* any request may go unanswered: no difference, since no key is safe */
#else
#define ENDED 254 /* the key of an attempt or a lease that is over: it blocks others until it is gone, too */
#endif

/* Clocks: what clients propose. Only how they lie to each other, and to what a few votes add, matters. */
#define BEHIND 1
#define AHEAD 3
#ifdef CLOCKS_APART
#define YOUTH 0
#else
#define YOUTH 16 /* more than any token of before */
#endif

mtype = { IDLE, ASKING, RAISING, HOLDING };
mtype state[W] = IDLE;

typedef Server {
	byte lock = FREE;
	byte fence; /* the last token that it gave out */
	bool young;
	bool behind /* its holder has not raised it again since it lost its data */
};
Server server[S];

/* What is under way between a client and each server */
#define SENT 2
#define REPEATED 1 /* carried out, but the connection broke before the answer: sent once more */
#define UNCOUNTED 3 /* sent to a server that was young */
#if RESTARTS > 0 && !defined(YOUNG_VOTE) && !defined(YOUTH_JUDGED_LATE)
#define REQUEST(s) (server[s].young -> UNCOUNTED : SENT)
#else
#define REQUEST(s) SENT
#endif
typedef Wait {
	byte acquire[S];
	byte vote[S]; /* the server's token; 0: none */
	bool raise[S];
	byte late[S] /* a raise that is still on its way, of an attempt or lease that is over: its token */
};
Wait to[W];

byte proposal[W];
byte token[W];
byte highest[W]; /* the largest that the client has seen */
byte raised[W];
byte attempts[W];
byte owners;
byte last;       /* the last holder's token; the largest, where there can be two */
byte others = OTHERS, era; /* era: what clocks have gone on by */
byte nobody; /* heeds a late answer */
#if VANISH > 0
byte vanish = VANISH;
int given;       /* a bit for each token */
byte before[W];  /* the largest that was held when the attempt began */
#endif
#if RESTARTS > 0
byte restarts = RESTARTS;
bool dates_back[W]; /* its attempt, or the last renewal of its lease, is older than the restart */
#endif

#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define MY(array) (array[0] + array[1] + array[2])

/* fencing.lua */
inline next_token(s, least)
{
#ifdef PROPOSAL_ALONE
	server[s].fence = MAX(server[s].fence, least)
#else
	server[s].fence = MAX(server[s].fence + 1, least)
#endif
}

inline begin(c, clock)
{
	attempts[c]--;
#ifndef NO_PROPOSAL
	proposal[c] = MAX(era + clock, highest[c] + 1);
#endif
	to[c].acquire[0] = REQUEST(0); to[c].acquire[1] = REQUEST(1); to[c].acquire[2] = REQUEST(2);
#if VANISH > 0
	before[c] = last;
#endif
	state[c] = ASKING
}

inline forget_votes(c)
{
	to[c].vote[0] = 0; to[c].vote[1] = 0; to[c].vote[2] = 0
}

inline end_at(c, s)
{
	to[c].acquire[s] = 0;
#ifdef LATE
	to[c].late[s] = (to[c].raise[s] -> token[c] : to[c].late[s]);
#endif
	to[c].raise[s] = false;
	server[s].lock = (server[s].lock == c -> ENDED : server[s].lock)
}

/* An attempt or a lease is over. The release is on its way to all servers. */
inline finish(c)
{
	end_at(c, 0); end_at(c, 1); end_at(c, 2);
	forget_votes(c);
	proposal[c] = 0;
	token[c] = 0;
	raised[c] = 0;
	highest[c] = (attempts[c] > 0 -> highest[c] : 0);
#if VANISH > 0
	before[c] = 0;
#endif
#if RESTARTS > 0
	dates_back[c] = false;
#endif
	state[c] = IDLE
}

inline believe(c)
{
#if VANISH > 0
	assert(token[c] > before[c]); /* rising, after all that were held when it began */
	assert(!(given & (1 << token[c]))); /* given twice */
	given = given | (1 << token[c]);
	last = MAX(last, token[c]);
#else
	owners++;
	assert(owners == 1); /* never two owners */
	assert(token[c] > last); /* rising */
	last = token[c];
#endif
	forget_votes(c);
	proposal[c] = (MY(to[c].acquire) > 0 -> proposal[c] : 0);
	raised[c] = 0;
	state[c] = HOLDING
}

#define VOTED(c, s) (to[c].vote[s] > 0)
#define VOTES(c) (VOTED(c, 0) + VOTED(c, 1) + VOTED(c, 2))
#define AGREE(c, s) (to[c].vote[s] == token[c])

/* dlock_quorum_confirm() in quorum_votes.c */
inline settle(c)
{
	token[c] = MAX(to[c].vote[0], to[c].vote[1]);
	token[c] = MAX(token[c], to[c].vote[2]);
	highest[c] = (attempts[c] > 0 -> MAX(highest[c], token[c]) : 0);
#ifdef NO_RAISE
	believe(c)
#else
	if
#ifndef SLOW
	:: AGREE(c, 0) + AGREE(c, 1) + AGREE(c, 2) >= QUORUM -> believe(c)
#endif
	:: else ->
#ifdef RAISED_ANYWHERE
		to[c].raise[0] = true; to[c].raise[1] = true; to[c].raise[2] = true;
#else
		to[c].raise[0] = VOTED(c, 0); to[c].raise[1] = VOTED(c, 1); to[c].raise[2] = VOTED(c, 2);
#endif
		forget_votes(c);
		state[c] = RAISING
	fi
#endif
}

/* raise.lua, of a client whose key is `mine`; `yes` counts where it says so. */
inline raise_to(at, mine, least, yes)
{
	if
#ifdef WRITTEN_BACK
	:: true -> server[at].fence = least; yes++
#elif defined(RAISED_ANYWHERE) || defined(RAISED_UNCHECKED)
	:: true -> server[at].fence = MAX(server[at].fence, least); yes++
#else
	:: server[at].lock == mine -> server[at].fence = MAX(server[at].fence, least); yes++
	:: else ->
#ifdef REFUSAL_NOT_READ
		yes++
#else
		skip
#endif
#endif
	fi
}

#ifdef YOUNG_VOTE
#define VOTES_HERE(s) true
#else
#define VOTES_HERE(s) (!server[s].young)
#endif
#define FOR_ME(c, s) (server[s].lock == FREE || server[s].lock == c)

/* One client's requests at one server. One that is refused stays where it is: the client does not wait for it. */
proctype Connection(byte c; byte s)
{
end:
	do
	/* acquire.lua. A straggler that is carried out later is the lease's as well. */
	:: d_step { to[c].acquire[s] > 0 && FOR_ME(c, s) ->
			server[s].lock = c;
			next_token(s, proposal[c]);
			to[c].vote[s] = (state[c] == ASKING && to[c].acquire[s] != UNCOUNTED && VOTES_HERE(s) -> server[s].fence : 0);
			to[c].acquire[s] = 0;
			proposal[c] = (state[c] == ASKING || MY(to[c].acquire) > 0 -> proposal[c] : 0) }
	/* The answer comes too late, or never. */
	:: d_step { to[c].acquire[s] == SENT && state[c] == ASKING && FOR_ME(c, s) ->
#ifdef REPEATS
			to[c].acquire[s] = REPEATED;
#else
			to[c].acquire[s] = 0;
#endif
			server[s].lock = c;
			next_token(s, proposal[c]) }
	:: d_step { to[c].raise[s] -> to[c].raise[s] = false; raise_to(s, c, token[c], raised[c]);
			raised[c] = (state[c] == RAISING -> raised[c] : 0) }
#ifdef LATE
	:: d_step { to[c].late[s] > 0 -> raise_to(s, ENDED, to[c].late[s], nobody); to[c].late[s] = 0; nobody = 0 }
#endif
#if RESTARTS > 0
	/* Repair: a holder sets its key where it is missing, and raises the server's last token to its own. */
	:: d_step { state[c] == HOLDING && server[s].lock == FREE ->
			server[s].lock = c;
#ifndef REPAIR_ALONE
			server[s].fence = MAX(server[s].fence, token[c]);
#endif
			server[s].behind = false }
#endif
	od
}

#define HAS(c, s) (server[s].lock == c)

proctype Client(byte c)
{
end:
	do
	:: d_step { state[c] == IDLE && attempts[c] > 0 -> begin(c, BEHIND) }
#ifndef NO_PROPOSAL
	:: d_step { state[c] == IDLE && attempts[c] > 0 && era + AHEAD > highest[c] + 1 -> begin(c, AHEAD) }
#endif
	:: d_step { state[c] == ASKING && VOTES(c) >= QUORUM -> settle(c) }
	:: d_step { state[c] == RAISING && raised[c] >= QUORUM -> believe(c) }
	/* Too few votes, or too late */
	:: d_step { state[c] == ASKING || state[c] == RAISING -> finish(c) }
#if RESTARTS > 0
	/* Renewal: its own key is still there on a quorum of servers. */
	:: d_step { state[c] == HOLDING && dates_back[c] && HAS(c, 0) + HAS(c, 1) + HAS(c, 2) >= QUORUM -> dates_back[c] = false }
#endif
#ifdef MADE_GOOD
	:: d_step { state[c] == HOLDING && !server[0].behind && !server[1].behind && !server[2].behind ->
#else
	/* Released, or not renewed in time */
	:: d_step { state[c] == HOLDING ->
#endif
#if VANISH == 0
			owners--;
#endif
			finish(c) }
	od
}

/* What else happens at one server */
proctype World(byte s)
{
end:
	do
#if VANISH > 0
	:: d_step { vanish > 0 && server[s].lock < W -> vanish--; server[s].lock = FREE }
#else
	/* A roll-back or a release has come, or the key has expired. */
	:: d_step { server[s].lock == ENDED -> server[s].lock = FREE }
#endif
#if OTHERS > 0
	:: d_step { others > 0 -> others--; next_token(s, 0) }
	:: d_step { others > 0 && server[s].lock == FREE -> others--; next_token(s, AHEAD); server[s].lock = ENDED }
#endif
#if RESTARTS > 0
#ifdef MADE_GOOD
	:: d_step { restarts > 0 && server[s].lock < W && state[server[s].lock] == HOLDING ->
#else
	:: d_step { restarts > 0 ->
#endif
			restarts--;
			server[s].lock = FREE; server[s].fence = 0; server[s].young = true;
#ifdef MADE_GOOD
			server[s].behind = true;
#endif
			dates_back[0] = (state[0] != IDLE); dates_back[1] = (state[1] != IDLE) }
	/* It is older than the longest lease: whatever was promised before the restart is over. So is what clocks differ by. */
	:: d_step { server[s].young && !dates_back[0] && !dates_back[1] -> server[s].young = false; era = YOUTH }
#endif
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
			attempts[n] = (n == 0 -> ATTEMPTS : OTHER_ATTEMPTS);
			run Client(n);
			run Connection(n, 0); run Connection(n, 1); run Connection(n, 2);
			n++
		:: else -> break
		od
	}
}

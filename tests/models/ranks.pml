/* A semaphore, or a read/write lock, by the ranks of ZooKeeper's nodes: which nodes ahead a waiter watches. README.md beside this
 * file says what stands for what.
 *
 * Each client has one node at a time, with its permits in the name. It is in if the nodes ahead leave room for it; otherwise it
 * watches the one that keeps it out alone, or the nearest that do so together, and lists again when one of them goes. Answers,
 * watches and events take any time; a node may go at any time, since its client is done, gives up, or dies.
 *
 * Checked: never more permits out than there are; no client sleeps while it is its turn.
 *
 *   (default)   a semaphore of two permits; the third client wants both
 *   -DONES      each wants one
 *   -DRW        a read/write lock: the second and the fourth client write
 *   -DC=4       clients
 *
 * The known mistakes:
 *
 *   -DONE_WATCH          (with ONES) only the node is watched that is as many places ahead as there are permits
 *   -DNEIGHBOUR          only the node next ahead is watched, whatever it is
 *   -DMISSING_IGNORED    a node that went between the list and the watch is waited for
 *   -DEVENT_BELIEVED     an event is taken for the turn, without a new list
 *   -DLAST_UNCOUNTED     only those ahead are counted that are in, not those that wait
 */

#ifndef C
#define C 4
#endif

#ifdef RW
#define ROOM 4
#define WANTS(i) ((i) % 2 == 1 -> ROOM : 1)
#else
#define ROOM 2
#ifdef ONES
#define WANTS(i) 1
#else
#define WANTS(i) ((i) == 2 -> 2 : 1)
#endif
#endif

mtype = { IDLE, CREATING, LISTING, WAITING, HOLDING, DEAD };
mtype state[C] = IDLE;
byte node[C];      /* whose nodes there are, by their sequence numbers */
byte nodes;

/* Of each waiter: bits for the nodes that it is still about to watch, and for those that it watches. */
byte to_watch[C];
byte watched[C];
bool missing[C];   /* one of them has gone before it was watched: so the answer will say */
bool event[C];     /* on its way */

byte k, at, room, w; /* scratch */

#define BIT(i) (1 << (i))
#define IN(i) (state[i] == HOLDING -> WANTS(i) : 0)
#if C > 3
#define OUT (IN(0) + IN(1) + IN(2) + IN(3))
#else
#define OUT (IN(0) + IN(1) + IN(2))
#endif

/* `at`: where the client's node is. `room`: what those ahead leave, which may be less than it wants */
#define NO_ROOM(i) (room < WANTS(i))
inline look_ahead(i)
{
	at = 0; room = ROOM;
	do
	:: at < nodes && node[at] != i ->
		if
#ifdef LAST_UNCOUNTED
		:: state[node[at]] == HOLDING -> room = (room > WANTS(node[at]) -> room - WANTS(node[at]) : 0)
		:: else
#else
		:: true -> room = (room > WANTS(node[at]) -> room - WANTS(node[at]) : 0)
#endif
		fi;
		at++
	:: else -> break
	od
}

/* Those that keep it out by themselves, from the nearest on; or the one that does so alone. */
inline choose_watches(i)
{
	room = ROOM;
#ifdef ONE_WATCH
	w = ROOM;
#endif
	do
	:: at > 0 && !NO_ROOM(i) ->
		at--;
#ifdef NEIGHBOUR
		to_watch[i] = BIT(node[at]);
		room = 0
#elif defined(ONE_WATCH)
		w--;
		if
		:: w == 0 -> to_watch[i] = BIT(node[at])
		:: else
		fi;
		room = (w == 0 -> 0 : room)
#else
		if
		:: WANTS(node[at]) + WANTS(i) > ROOM -> to_watch[i] = BIT(node[at]); room = 0
		:: else ->
			to_watch[i] = to_watch[i] | BIT(node[at]);
			room = (room > WANTS(node[at]) -> room - WANTS(node[at]) : 0)
		fi
#endif
	:: else -> break
	od;
	w = 0
}

inline list(i)
{
	watched[i] = 0; to_watch[i] = 0;
	missing[i] = false; event[i] = false;
	look_ahead(i);
	if
	:: NO_ROOM(i) -> choose_watches(i); state[i] = WAITING
	:: else ->
		state[i] = HOLDING;
		assert(OUT <= ROOM) /* never more out than there are */
	fi;
	at = 0; room = 0
}

/* The node goes; those that watch it hear of that, some time. */
inline remove(i)
{
	at = 0; k = 0;
	do
	:: at < nodes ->
		if
		:: node[at] != i -> node[k] = node[at]; k++
		:: else
		fi;
		at++
	:: else -> break
	od;
	nodes = k; node[k] = 0; at = 0; k = 0;
	do
	:: k < C ->
		event[k] = event[k] || (watched[k] & BIT(i));
		missing[k] = missing[k] || (to_watch[k] & BIT(i));
		watched[k] = watched[k] & ~BIT(i);
		to_watch[k] = to_watch[k] & ~BIT(i);
		k++
	:: else -> break
	od;
	k = 0
}

inline end(i)
{
	watched[i] = 0; to_watch[i] = 0;
	missing[i] = false; event[i] = false;
	state[i] = IDLE
}

proctype Client(byte i)
{
	do
	:: d_step { state[i] == IDLE -> state[i] = CREATING }
	:: d_step { state[i] == CREATING -> node[nodes] = i; nodes++; state[i] = LISTING }
	:: d_step { state[i] == LISTING -> list(i) }

	:: d_step { state[i] == WAITING && to_watch[i] & 1 -> to_watch[i] = to_watch[i] - 1; watched[i] = watched[i] | 1 }
	:: d_step { state[i] == WAITING && to_watch[i] & 2 -> to_watch[i] = to_watch[i] - 2; watched[i] = watched[i] | 2 }
	:: d_step { state[i] == WAITING && to_watch[i] & 4 -> to_watch[i] = to_watch[i] - 4; watched[i] = watched[i] | 4 }
#if C > 3
	:: d_step { state[i] == WAITING && to_watch[i] & 8 -> to_watch[i] = to_watch[i] - 8; watched[i] = watched[i] | 8 }
#endif
#ifdef MISSING_IGNORED
	:: d_step { state[i] == WAITING && missing[i] -> missing[i] = false }
#else
	:: d_step { state[i] == WAITING && missing[i] -> state[i] = LISTING }
#endif
#ifdef EVENT_BELIEVED
	:: d_step { state[i] == WAITING && event[i] -> state[i] = HOLDING; event[i] = false; assert(OUT <= ROOM) }
#else
	:: d_step { state[i] == WAITING && event[i] -> state[i] = LISTING }
#endif

	/* It is done, or gives up. */
	:: d_step { state[i] == HOLDING || state[i] == WAITING -> remove(i); end(i) }
	/* It dies, and its node goes some time later, with the session. */
	:: d_step { state[i] == LISTING || state[i] == HOLDING || state[i] == WAITING -> end(i); state[i] = DEAD }
	:: d_step { state[i] == DEAD -> remove(i); end(i) }

	/* In its turn it has heard of that, or will. */
	:: d_step { state[i] == WAITING && to_watch[i] == 0 && !missing[i] && !event[i] ->
			look_ahead(i);
			assert(NO_ROOM(i)); /* no client is asleep in its turn */
			at = 0; room = 0 }
	od
}

init {
	atomic {
		byte n = 0;
		do
		:: n < C -> run Client(n); n++
		:: else -> break
		od
	}
}

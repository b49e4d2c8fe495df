/* The world of the random walks (walk.c): servers, clients, and what is under way between them. server.c has the
 * protocol. */
#ifndef FAILOVER_WORLD_H
#define FAILOVER_WORLD_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NODES 5
#define CLIENTS 4
#define MESSAGES 256
#define WAITS 32
#define LEASE 30 /* ticks; G, too */
#define NEVER 1000000
#define MARGIN 4   /* ticks that a key outlives its lease, and that clocks may differ by, with AT_ONCE */
#define BACKLOG 48 /* offsets */
#define UNKNOWN (-1)
#define UNHEARD 48 /* more than the tokens that a server may not have heard of */
#define NOBODY (-1)

/* What is left out, or added. The names are those of failover.pml; what only this one has comes at the end. */
enum {
	FIVE,
	STALE,
	NO_GUARD,
	SETTLED_FROM_OPENING,
	GUARD_TOO_SHORT,
	GRANT_WITHOUT_WAIT,
	RENEWAL_WITHOUT_WAIT,
	LEASE_FROM_ANSWER,
	RESURRECTED,
	TOKEN_REUSED,
	REPAIR_OVER_ANOTHER,
	HANDOVER_UNSETTLED,
	PUSH_BELIEVED,
	OWN_KEY_UNSETTLED,
	REPLID_AT_CONNECT,
	RUN_ID_ALONE,
	REPLID_NOTED,
	REPAIR_ANYWHERE,
	HANDOVER_ANYWHERE,
	MOVED_BACK,
	TOO_FEW,
	COUNTED_ALONE,
	CLOCKS_APART,
	RESYNCS_NOT_CONFIRMED,
	FIRST_AT_ONCE,
	SETTLED_UNCHECKED,
	ANCHORED,
	ANCHORED_AT_CONNECT,
	AT_ONCE,
	BACKLOG_IGNORED,
	YOUNG_COUNT,
	ANY_HISTORY,
	ANY_CLOCKS,
	FEWER_NODES,
	ATTACHED_IGNORED,
	GRANTS_NOT_DOUBTED,
	LATE_CHECKS,
	SETTINGS
};
extern bool set[SETTINGS];
#define IS(name) set[name]

/* ---- chance ---- */

extern uint64_t chance_state;

static inline uint32_t next_chance(void)
{
	chance_state ^= chance_state >> 12;
	chance_state ^= chance_state << 25;
	chance_state ^= chance_state >> 27;
	return (uint32_t)((chance_state * 2685821657736338717u) >> 32);
}

static inline void begin_chance(uint64_t seed, long episode)
{
	chance_state = (seed + 1) * 0x9e3779b97f4a7c15u ^ ((uint64_t)episode + 1) * 0xbf58476d1ce4e5b9u;
	chance_state += chance_state == 0;
	for (int i = 0; i < 20; i++) {
		next_chance();
	}
}

/* 0 to n - 1 */
static inline int below(int n)
{
	return n <= 1 ? 0 : (int)(((uint64_t)next_chance() * (uint32_t)n) >> 32);
}

/* Once in n times; 0: never */
static inline bool once_in(int n)
{
	return n > 0 && below(n) == 0;
}

static inline int one_of(int a, int b, int c)
{
	int which = below(3);

	return which == 0 ? a : which == 1 ? b : c;
}

/* ---- servers and clients ---- */

typedef struct {
	int client, token, sent; /* sent: its last request */
} waiter;

/* What a server keeps, and its replicas copy */
typedef struct {
	int owner, token,
		expires; /* the key: its client and token, or NOBODY; until when, by the clock of the server that wrote it */
	int run_id, replid, syncs, opening; /* the epoch: for whom it was opened, */
	int settles;               /* and when it settles; NEVER: its opening is not known to have been acknowledged */
	int attached, base, seen, skew; /* AT_ONCE: as in epoch.lua */
	bool settled;
	int fence;                 /* the last fencing token */
	int waiting;
	waiter queue[CLIENTS];
} data;

/* A client that waits for acknowledgements */
typedef struct {
	int kind, client, number, token, offset, result, fence, opening, run_id, replid;
} wait_for;

typedef struct {
	bool up, is_master;
	int up_since, back_at, stopped_until, clock;
	int master;          /* that it follows */
	int run_id, replid, replid2, offset2, offset;
	int replicas_until;  /* a replica has followed until then */
	int syncs;           /* full resyncs that it has served */
	int attached;        /* these, and partial ones */
	int first;           /* the first offset in its backlog */
	data now, saved;     /* saved: what is on its disk */
	int saved_history, saved_offset;
	int acked[NODES];    /* by each replica, in this reign */
	wait_for waits[WAITS];
	int waiting;
	/* a replica: */
	int linked, history; /* the replid of the master that it is linked to, or NOBODY; that of the data it has */
	int due, due_offset; /* what is on its way to it */
	bool full;           /* it is a full resynchronization */
	data next;
	struct {
		int offset, due, replid;
	} acks[NODES]; /* on their way to a master, or in its socket while it is stopped */
} server;

enum { ACQUIRE, RENEW, RELEASE, SETTLE, SETTLE_NOW, CHECK };
enum { GRANTED, OPENED, REFUSED, LOST, FAILED, PUSHED, DOUBTED };
/* What nodes have said: settle_now.lua. replid NOBODY: nothing */
typedef struct {
	int replid, attached, first, skew, named; /* named: by the master, as bits */
} survey;

/* Between a client and a server, until it is due or later */
typedef struct {
	bool is_answer, anchors;
	int kind, result, client, node, run_id, due, number, token, sent, fence, shown;
	int opening, opened_run_id, opened_replid;
	bool final; /* CHECK */
	survey found;
} message;

enum { IDLE, ASKING, HOLDING };
typedef struct {
	int state, group, token, until, fence;
	int node, run_id, shown;       /* its connection; NOBODY: none. What replid it showed */
	bool anchored;                 /* over this connection, a token that the server's time went into */
	int number, kind, sent, gives_up; /* the request under way; number 0: none */
	int numbers, asks_at, renews_at, ends_at;
	int settle_at, settle_node, settle_opening, settle_run_id,
		settle_replid;                 /* the opening that it made was acknowledged */
	int asks_nodes_at, asked_node, doubts; /* AT_ONCE. doubts: of a grant that is to be checked again; 0: none */
	bool asks_replicas;
	survey found;
	int release, releases, release_at; /* the release of the last claim may be sent several times */
} client;

extern server nodes[NODES];
extern client clients[CLIENTS];
extern message messages[MESSAGES];
extern int sent_messages;
extern int now, count, confirmations, newest, ids, tokens, highest;
extern int group_of[NODES], sentinels, parted_until; /* who reaches whom; the group in which the Sentinels are */
extern int unseen; /* ticks for which they have not seen the newest master */
extern bool telling;
extern const char *violation;

/* What an episode draws: times, and how rare things are (0: never) */
extern struct weather {
	int delay, lag, hold, pause, part, crash, stop, fail_over, move, demote, link, flush, stale, lose, late, kill,
		length, rogue, clear, hurry;
} weather;
extern struct total {
	long ticks, fail_overs, restarts, partitions, stops, grants, pushes, renewals, repairs, resyncs, at_once;
} total;

#define TELL(...) do { if (telling) { printf("%5d  ", now); printf(__VA_ARGS__); putchar('\n'); } } while (0)

static inline bool runs(const server *node)
{
	return node->up && node->stopped_until <= now;
}

static inline int clock_of(const server *node)
{
	return now + node->clock;
}

static inline int guard(void)
{
	return IS(GUARD_TOO_SHORT) ? LEASE / 3 : LEASE;
}

static inline int index_of(const server *node)
{
	return (int)(node - nodes);
}

static inline bool reaches(int a, int b)
{
	return group_of[a] == group_of[b];
}

/* ---- server.c ---- */

void forget(data *data);
void begin_reign(server *node);
void promote(server *node);
void follow(server *node, int master);
void start(server *node, int what);
void replicate(server *node);
void read_acks(server *master);
void execute(server *node, message *request);
void open_era(server *node, const message *request);
void anchor(server *node, int time);

/* ---- at_once.c: epochs that settle at once where the nodes show that the master knows all leases ---- */

bool look(server *node, const message *request, bool doubts);
void ask_master(survey *found, const server *node);
void ask_replicas(survey *found, const server *node, int group);
void settle_now(server *node, const survey *found);

/* ---- client.c ---- */

bool believes(const client *client);
void act(client *client);
void deliver(void);

#endif

#ifndef SIM_RUN_H
#define SIM_RUN_H

/* One run: its options, its clients, what must hold, its faults. */

#include "sim.h"

#include "lock/operations.h" /* the project's */
#include "lock/renewal.h"
#include "redis/wire/pool.h"

enum { CLIENTS = 24, RESOURCES = 8, REDIS = 8, FAULTS = 4096, PAUSES = 4096, DEPTH = 2 };
enum { STRANDS = 3 }; /* clients of one process, where there are several */
enum { CLIENT_HOST = 21 }; /* the first client's; servers are at hosts 1 …, Sentinels at 11 … */
enum { SINGLE, REPLICATED, QUORUM, CLUSTER, MEMCACHED, SETUPS };

typedef struct client client;

/* What the clients of a run do, and what must hold of it. */
typedef struct {
	const char *name;
	void (*begin)(void); /* may set after_fiber */
	void *(*client_main)(void *client);
	void (*killed)(client *client); /* its process has ended where it was */
	void (*end)(void);              /* nobody has been there for 70 s: what is left on the servers? */
	bool in_strands;                /* STRANDS clients in each process */
} workload;

extern const workload locks, several_locks, semaphores, read_write_locks, stocks;
extern const workload locks_of_strands, semaphores_of_strands, read_write_locks_of_strands, stocks_of_strands;

/* ---- what goes wrong ---- */

typedef enum {
	CUT,
	CUT_ONE_WAY,
	RESET,
	PAUSE_SERVER,
	CRASH_SERVER,
	KILL_CLIENT,
	VANISH_CLIENT,
	STOP_CLIENT,
	SLOW,
	HOLD_PACKETS,
	FLUSH_SCRIPTS,
	DELETE_KEY,
	FLUSH_ALL,
	CUT_SERVERS,
	NEW_SET,
	BACK_UP,
	ROLL_BACK,
	STALE_SENTINEL,
	MOVE_SLOT,
	GIVE_UP_MOVE,
	LOSE_SLOT,
	FORGET_NODE,
	TAKE_ADDRESS,
	FAIL_CALL,
	FAULT_KINDS
} fault_kind;

typedef struct {
	nanos time, length;
	fault_kind kind;
	int a, b;
} fault;

/* Of a client's process: it stands still at its so-and-so-many-th system call. */
typedef struct {
	int client;
	uint64_t call;
	nanos length;
} client_pause;

typedef struct {
	uint64_t seed;
	uint64_t variant; /* other random numbers for all but the plan and the faults; 0: the seed's */
	const workload *work; /* NULL: as the seed says */
	int setup;            /* -1: as the seed says */
	int clients, resources, servers; /* 0: drawn from the seed */
	double hours, pauses; /* pauses: how many, beside the usual number; less than 0: as many, if there are faults */
	int faults; /* seconds between two of them on the average; 0: none; -1: drawn from the seed */
	bool trace;
	double trace_from;
	int guard_ms, most_ttl_ms;
	int clocks_ms; /* how far times of day are apart at the most: less than the guard (docs/fail-over.md) */
	double shrink; /* a failing one, in so many seconds */
	nanos until; /* all that is after that is left out; 0: nothing */
	/* In addition to what is drawn; pauses: instead. */
	fault faults_given[FAULTS];
	int faults_given_count;
	client_pause pauses_given[PAUSES];
	int pauses_given_count;
} run_options;

extern run_options options;
extern bool quiet;

typedef struct {
	unsigned long acquired, attached, timeouts, errors, losses, unreleased, handed, deleted, failovers, broken;
	unsigned long upgraded; /* by waiting */
	nanos longest_overrun, longest_wait;
} run_counts;

extern run_counts sum;
uint64_t trace_sum(void);

/* ---- a run, and what it ended with (run.c) ---- */

typedef struct {
	bool ended, violated;
	char kind[160], message[500]; /* of the violation: the kind is its words without the values */
	nanos time;
	uint64_t trace;
	double hours, cpu; /* virtual ones, and seconds */
	int faults;
	uint64_t calls[CLIENTS]; /* system calls of each, where it is violated */
	uint64_t failable; /* calls of the first client that may fail, until all faults were over */
	run_counts counts;
	char words[500]; /* in short */
} outcome;

extern outcome *this_run;
void run(void);
uint64_t run_seed(const run_options *o); /* of all random numbers that the variant changes */

/* ---- what a seed is about (plan.c) ---- */

typedef struct {
	const workload *work;
	unsigned setup;
	int share;
	double hours; /* of one run */
} combination;

int plan_count(void);
const combination *plan_at(int number);
bool plan_choose(void); /* what the options leave to the seed; false: there is nothing such */
const workload *workload_named(const char *name); /* NULL: there is none */
int setup_named(const char *name);                /* -1: there is none */
nanos plan_end(void);                             /* of the faults */

/* ---- clients (clients.c) ---- */

/* A lock that a client may rely on: between the return of acquire and the call of release. */
typedef struct {
	bool relies, renews;
	dlock_claim *claim;
	int resource;      /* of several: the first */
	unsigned resources; /* a bit for each */
	nanos since;   /* its acquisition was begun */
	nanos robbed;  /* when its key was taken away by force; 0: never */
	nanos broken;  /* when it was taken from it in the way that has no two holders; 0: never */
	nanos checked; /* the deadline that was compared with the servers' */
} holding;

/* A call of acquire that has not returned. */
typedef struct {
	bool waits;
	bool broken; /* what it was granted, before it has heard of that */
	const dlock_claim *claim;
	unsigned resources; /* a bit for each */
	nanos begun, timeout, paused; /* paused: for how long the process had been stopped before */
	nanos behind; /* of several: when somebody who came earlier was last seen to wait for one of them */
} waiting;

struct client {
	process *process;
	struct connections *connections;
	holding holdings[DEPTH];
	int depth; /* of locks inside locks */
	waiting waiting;
	unsigned long calls; /* of acquire that have returned */
	bool asks_anew; /* the last one failed: before the next request it connects, and asks who is the master */
	stream random;
	int laps; /* of the last phase */
};

/* One for each process, or where each has STRANDS of them: behind these the second of each, then the third. */
extern client clients[CLIENTS];

static inline int clients_of_process(void)
{
	return options.work->in_strands ? STRANDS : 1;
}

/* What is added to the time that a call may take beyond its timeout. Where another strand has had no answer, the
 * connection that they share is replaced, and what this one has asked over it is asked once more: at most a server's
 * timeout to answer after it was asked first. So it is one such timeout (seed 107, work=strands setup=single hours=0.5:
 * 2.12 s in all). */
static inline nanos overrun_in_strands(void)
{
	return options.work->in_strands ? 1 * SECOND : 0;
}

static inline int client_count(void)
{
	return clients_of_process() * options.clients;
}

extern nanos end_of_faults, end_of_work;
void lock_name(int resource, char *name, size_t size); /* "seat:2" */
void lock_key(int resource, char *key, size_t size);   /* on the servers */
bool are_in_one_slot(unsigned resources); /* of a cluster; otherwise they are */

/* ---- set-ups (setups.c) ---- */

extern const char *const setups[SETUPS];
extern server *redis[REDIS], *sentinels[3];
enum { CLUSTER_SEEDS = 4 }; /* the first servers: clients know their addresses */
#define LOCK_PREFIX "Lock:" /* of the keys of locks */
void servers_begin(void);
/* What a server has for a lock, by its data. */
bool server_holder(int server, const char *key, char *token, size_t size, nanos *left);
int server_leftovers(int server, char *out, size_t size);
bool server_counts(int server); /* it is up, and no replica */
bool server_is_stopped(int server);
void server_delete_key(int server, const char *key);
void server_pause(int server, nanos until);
void sentinels_begin(void); /* sentinels.c */
server *sentinels_master(void);
/* In cluster.c, as an administrator does it; `choice` is one of the other masters. */
void cluster_move_slot(int slot, int choice, nanos gives_up); /* gives_up: after so long; NEVER: it does not */
void cluster_lose_slot(int slot);                 /* nobody has it any more */
void cluster_find_slot(int slot);                 /* its last master has it again */
bool cluster_forget(int node, int other);         /* true: some slots are not served meanwhile */
void cluster_remember(int node, int other);
/* At a server's address there is another Redis, of another cluster or of none (strangers.c). */
void stranger_begins(int server, bool in_cluster);
void stranger_ends(int server);
bool stranger_is_at(int server);
bool setup_fails_over(void); /* a replica takes over, and what it may do then shows in the holders */

/* A client's. */
typedef struct connections connections;
connections *connections_new(void);
void connections_drain(connections *connections); /* for a second, as at the end of a request */
void connections_end(connections *connections);   /* after that */
dlock_pool *redis_pool(connections *connections);
dlock_backend *lock_backend(connections *connections);
dlock_endpoint *service_of_setup(int replicas); /* where one server is the master; so many others confirm */

/* ---- rules (rules.c) ---- */

void rules_begin(void);
void check_holders(void); /* after each run of a fiber */
bool believes(const client *client, const holding *holding);

void note_acquired(client *client, holding *holding);
void note_waits(client *client, const dlock_claim *claim, unsigned resources, nanos timeout);
void note_killed(const client *client);
void note_waited(client *client); /* acquire has returned; it counts as waiting until note_acquired() */
/* it has released, given back, or failed to acquire */
void note_ended(const client *client, const char *token, unsigned resources);
void note_key_deleted(int resource); /* by somebody who may not */
void note_broken(int resource, const char *id, bool done); /* not `done`: perhaps, or about to be */
/* Beyond a third of its lease time, until a holder hears that it is none any more: a connection of its renewal, and a
 * batch that is under way. */
#define TOLD_LATE (500 * MS)
bool is_break_of(const char *value, const char *token);    /* what is left of a holder whose lock was broken */
void note_failed(const client *client, const char *why); /* acquire has, for another reason than its time */
void note_data_lost(int server);     /* it has restarted without */

/* What is under way, or has just been, excuses a client. Bytes are lost: what was sent may never be executed. */
void note_fault(nanos until, bool bytes_are_lost);
void note_stopped(nanos until); /* a server, or a client, that goes on after that */
bool was_calm_since(nanos time); /* no fault was in effect, nor has just been */

/* ---- faults (faults.c) ---- */

extern fault faults[FAULTS];
extern int fault_count;
void draw_plan(void); /* what this seed has, where the command line does not say */
void draw_faults(nanos end);
void begin_faults(void); /* each at its time */
void heal_all(void *context, uint64_t unused);
bool fault_read(const char *text, fault *fault); /* as the command line has it */
bool fault_is_of_server(fault_kind kind); /* otherwise a client's */
void fault_write(const fault *fault, char *text, size_t size);

/* ---- calls that fail (failures.c) ---- */

/* For a client: what cannot be made since a call was made to fail is made a little later. */
unsigned long failed_calls(void); /* of its process, until now */
void try_again(unsigned long failed_before, const char *what);

/* ---- pauses of clients' processes at system calls (pauses.c) ---- */

#define LONGEST_PAUSE (6 * SECOND) /* of those that are drawn */
void pauses_begin(process *process);
/* Those that are drawn up to such a call, at most so many; returns how many. */
int pauses_drawn(const run_options *o, int client, uint64_t call, client_pause *out, int most);

/* ---- several clients in a process (strands.c) ---- */

/* Runs the clients of a process until all are over: one, or several, each in a strand. */
void clients_run(client *first, void (*run)(client *client));
client *client_of_process(client *first, int number);
void strands_killed(const process *process);

/* How a wait of the process, or of the running strand, is suspended; NULL: it sleeps. */
dlock_suspend *strand_suspend(const process *process);
dlock_wait strand_wait(const process *process, dlock_nanos deadline); /* DLOCK_INTERRUPTED: it was cancelled */
bool strand_is_refused(void); /* it could not be suspended: its wait is to end */

/* Of a client that holds a lock, or has none to do: others of its process go on. */
void client_sleep(nanos length);

/* Between two sections: shortly, as in a sale; later also as at night, when connections are idle, leases end, and
 * servers are replaced while no client asks. */
#define BUSY_UNTIL (720 * SECOND)
void client_rest(stream *random, nanos most);

#endif

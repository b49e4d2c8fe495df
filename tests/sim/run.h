#ifndef SIM_RUN_H
#define SIM_RUN_H

/* One run: its options, its clients, its rules, its faults. */

#include "sim.h"

#include "lock/operations.h" /* the project's */
#include "lock/renewal.h"
#include "redis/wire/pool.h"

enum { CLIENTS = 24, RESOURCES = 8, REDIS = 8, FAULTS = 4096, PAUSES = 4096, DEPTH = 2 };
enum { STRANDS = 3 }; /* clients of one process, if it has several */
enum { CLIENT_HOST = 21 }; /* the first client's; servers are at hosts 1 …, Sentinels at 11 … */
enum { SINGLE, REPLICATED, QUORUM, CLUSTER, MEMCACHED, SETUPS };

typedef struct client client;

/* What the clients of a run do, and its rules. */
typedef struct {
	const char *name;
	void (*begin)(void); /* may set after_fiber */
	void *(*client_main)(void *client);
	void (*killed)(client *client); /* its process was killed */
	void (*end)(void);              /* 70 s after the last client has ended: what is left on the servers? */
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

/* A client's process is stopped at its system call number `call`. */
typedef struct {
	int client;
	uint64_t call;
	nanos length;
} client_pause;

typedef struct {
	uint64_t seed;
	uint64_t variant; /* other random numbers, except for the plan and the faults; 0: the seed's */
	const workload *work; /* NULL: as the seed says */
	int setup;            /* -1: as the seed says */
	int clients, resources, servers; /* 0: drawn from the seed */
	double hours, pauses; /* pauses: a factor of the usual number; less than 0: 1, or 0 without faults */
	int faults; /* mean seconds between two faults; 0: none; -1: drawn from the seed */
	bool trace;
	double trace_from;
	int guard_ms, most_ttl_ms;
	int clocks_ms; /* the largest difference of times of day: less than the guard (docs/fail-over.md) */
	double shrink; /* seconds for shrinking a failing run; 0: it is not shrunk */
	nanos until; /* the run stops after that; 0: at its end */
	/* Given faults are added to drawn faults. Given pauses count if none are drawn. */
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

/* ---- a run and its outcome (run.c) ---- */

typedef struct {
	bool ended, violated;
	char kind[160], message[500]; /* of the violation; kind: the words without the values */
	nanos time;
	uint64_t trace;
	double hours, cpu; /* virtual hours, and seconds of CPU time */
	int faults;
	uint64_t calls[CLIENTS]; /* each process's system calls until the violation */
	uint64_t failable; /* the first client's calls that may fail, until all faults have ended */
	run_counts counts;
	char words[500]; /* a summary */
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
bool plan_choose(void); /* fills in what the options leave to the seed; false: no combination fits */
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
	nanos since;   /* when its acquisition began */
	nanos robbed;  /* when its key was deleted by a fault; 0: never */
	nanos broken;  /* when it was broken, which does not cause two holders; 0: never */
	nanos checked; /* the deadline that was compared with the servers' */
} holding;

/* A call of acquire that has not returned. */
typedef struct {
	bool waits;
	bool broken; /* its grant, before the client knew of it */
	const dlock_claim *claim;
	unsigned resources; /* a bit for each */
	nanos begun, timeout, paused; /* paused: for how long the process had been stopped before */
	nanos behind; /* of several: when an earlier waiter for one of them was last seen */
} waiting;

struct client {
	process *process;
	struct connections *connections;
	holding holdings[DEPTH];
	int depth; /* of nested locks */
	waiting waiting;
	unsigned long calls; /* of acquire that have returned */
	bool asks_anew; /* the last call failed: before its next request the client connects, and asks for the master */
	stream random;
	int laps; /* of the last phase */
};

/* The first client of each process. If each has STRANDS clients, the second of each follows, then the third. */
extern client clients[CLIENTS];

static inline int clients_of_process(void)
{
	return options.work->in_strands ? STRANDS : 1;
}

/* Additional time that a call may take beyond its timeout. If another strand had no answer, their shared connection is
 * replaced. This strand's request is then sent again, at most one server's timeout after it was first sent. So one such
 * timeout is added (seed 107, work=strands setup=single hours=0.5: 2.12 s in all). */
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
bool are_in_one_slot(unsigned resources); /* of a cluster; true without one */

/* ---- set-ups (setups.c) ---- */

extern const char *const setups[SETUPS];
extern server *redis[REDIS], *sentinels[3];
enum { CLUSTER_SEEDS = 4 }; /* the first servers: clients know their addresses */
#define LOCK_PREFIX "Lock:" /* of the keys of locks */
void servers_begin(void);
/* The holder of a lock in a server's data. */
bool server_holder(int server, const char *key, char *token, size_t size, nanos *left);
int server_leftovers(int server, char *out, size_t size);
bool server_counts(int server); /* it is up, and no replica */
bool server_is_stopped(int server);
void server_delete_key(int server, const char *key);
void server_pause(int server, nanos until);
void sentinels_begin(void); /* sentinels.c */
server *sentinels_master(void);
/* An administrator's changes (cluster.c); `choice` selects one of the other masters. */
void cluster_move_slot(int slot, int choice, nanos gives_up); /* gives_up: after that time; NEVER: it does not */
void cluster_lose_slot(int slot);                 /* it has no owner any more */
void cluster_find_slot(int slot);                 /* its last master owns it again */
bool cluster_forget(int node, int other);         /* true: some slots are not served meanwhile */
void cluster_remember(int node, int other);
/* Another Redis at a server's address, of another cluster or of none (strangers.c). */
void stranger_begins(int server, bool in_cluster);
void stranger_ends(int server);
bool stranger_is_at(int server);
bool setup_fails_over(void); /* if so, servers may differ from what holders believe */

/* A client's connections. */
typedef struct connections connections;
connections *connections_new(void);
void connections_drain(connections *connections); /* for a second, as at the end of a request */
void connections_end(connections *connections);   /* drains them first */
dlock_pool *redis_pool(connections *connections);
dlock_backend *lock_backend(connections *connections);
dlock_endpoint *service_of_setup(int replicas); /* for set-ups with one master; `replicas` of its replicas confirm */

/* ---- rules (rules.c) ---- */

void rules_begin(void);
void check_holders(void); /* after each run of a fiber */
bool believes(const client *client, const holding *holding);

void note_acquired(client *client, holding *holding);
void note_waits(client *client, const dlock_claim *claim, unsigned resources, nanos timeout);
void note_killed(const client *client);
void note_waited(client *client); /* acquire has returned; the client counts as waiting until note_acquired() */
/* The client has released, abandoned, or failed to acquire. */
void note_ended(const client *client, const char *token, unsigned resources);
void note_key_deleted(int resource); /* by a fault */
void note_broken(int resource, const char *id, bool done); /* not `done`: about to be broken, or perhaps broken */
/* How long beyond a third of its lease time a holder may not know of the loss. Its renewal may have to connect, and
 * another batch may be under way. */
#define TOLD_LATE (500 * MS)
bool is_break_of(const char *value, const char *token);    /* what a break has left of the holder's key */
void note_failed(const client *client, const char *why); /* acquire has failed, and not by its timeout */
void note_data_lost(int server);     /* it has restarted without its data */

/* A fault that is in effect, or just was, excuses a client. If bytes are lost, sent requests may never be executed. */
void note_fault(nanos until, bool bytes_are_lost);
void note_stopped(nanos until); /* a server, or a client, that continues after that */
bool was_calm_since(nanos time); /* no fault was in effect, or shortly before */

/* ---- faults (faults.c) ---- */

extern fault faults[FAULTS];
extern int fault_count;
void draw_plan(void); /* draws what the command line does not say */
void draw_faults(nanos end);
void begin_faults(void); /* each at its time */
void heal_all(void *context, uint64_t unused);
bool fault_read(const char *text, fault *fault); /* as on the command line */
bool fault_is_of_server(fault_kind kind); /* otherwise a client's */
void fault_write(const fault *fault, char *text, size_t size);

/* ---- calls that fail (failures.c) ---- */

/* If a client cannot make an object because a call was made to fail, it tries again a little later. */
unsigned long failed_calls(void); /* of its process, until now */
void try_again(unsigned long failed_before, const char *what);

/* ---- pauses of clients' processes at system calls (pauses.c) ---- */

#define LONGEST_PAUSE (6 * SECOND) /* of drawn pauses */
void pauses_begin(process *process);
/* The pauses that are drawn up to that call, `most` of them at most; returns their number. */
int pauses_drawn(const run_options *o, int client, uint64_t call, client_pause *out, int most);

/* ---- several clients in a process (strands.c) ---- */

/* Runs the clients of a process until all have ended: one client, or several, each in a strand. */
void clients_run(client *first, void (*run)(client *client));
client *client_of_process(client *first, int number);
void strands_killed(const process *process);

/* How a wait of the process, or of the running strand, is suspended; NULL: it sleeps. */
dlock_suspend *strand_suspend(const process *process);
dlock_wait strand_wait(const process *process, dlock_nanos deadline); /* DLOCK_INTERRUPTED: it was cancelled */
bool strand_is_refused(void); /* it could not be suspended, so its wait must end */

/* For a client that holds a lock, or rests: other clients of its process continue. */
void client_sleep(nanos length);

/* A rest between two sections: short, as in a sale. Later it may be long, as at night: connections are idle, leases
 * expire, and servers are replaced while no client asks. */
#define BUSY_UNTIL (720 * SECOND)
void client_rest(stream *random, nanos most);

#endif

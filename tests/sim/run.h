#ifndef SIM_RUN_H
#define SIM_RUN_H

/* One run: its options, its clients, what must hold, its faults. */

#include "sim.h"

#include "lock/operations.h" /* the project's */
#include "lock/renewal.h"
#include "redis/pool.h"

enum { CLIENTS = 24, RESOURCES = 8, REDIS = 8, FAULTS = 4096 };
enum { CLIENT_HOST = 21 }; /* the first client's; servers are at hosts 1 …, Sentinels at 11 … */
enum { SINGLE, REPLICATED, QUORUM, SETUPS };

typedef struct client client;

/* What the clients of a run do, and what must hold of it. */
typedef struct {
	const char *name;
	void (*begin)(void); /* may set after_fiber */
	void *(*client_main)(void *client);
	void (*killed)(client *client); /* its process has ended where it was */
	void (*end)(void);              /* nobody has been there for 70 s: what is left on the servers? */
} workload;

extern const workload locks;

typedef struct {
	uint64_t seed;
	const workload *work;
	int setup, clients, resources, servers;
	double hours, pauses;
	int faults; /* seconds between two of them on the average; 0: none */
	bool trace;
	double trace_from;
	int guard_ms, most_ttl_ms;
	char skip[FAULTS]; /* faults that are left out: shrinking */
} run_options;

extern run_options options;
extern bool quiet;

typedef struct {
	unsigned long acquired, attached, timeouts, errors, losses, unreleased, handed;
	nanos longest_overrun, longest_wait;
} run_counts;

extern run_counts sum;
uint64_t trace_sum(void);

/* ---- clients (clients.c) ---- */

typedef struct {
	bool relies; /* between the return of acquire and the call of release */
	dlock_claim *claim;
	int resource;
} reliance;

struct client {
	process *process;
	reliance reliance;
	stream random;
	int laps; /* of the last phase */
};

extern client clients[CLIENTS];
extern nanos end_of_faults, end_of_work;

/* ---- set-ups (setups.c) ---- */

extern const char *const setups[SETUPS];
extern server *redis[REDIS], *sentinels[3];
void servers_begin(void);
void sentinels_begin(void); /* sentinels.c */

/* A client's. */
typedef struct connections connections;
connections *connections_new(void);
void connections_end(connections *connections); /* after what is under way, for a second */
dlock_pool *redis_pool(connections *connections);
dlock_backend *lock_backend(connections *connections);
dlock_server *service_of_setup(void); /* where one server is the master */

/* ---- rules (rules.c) ---- */

void check_holders(void); /* after each run of a fiber */
bool believes(const client *client);
void note_token(const client *client, int resource, int64_t token); /* of somebody who holds now */
void note_held(int resource);                                      /* by somebody, just now */
void note_released(int resource, bool surely);
void note_busy(int resource); /* somebody may have it, for the longest lease time */
void note_fault(nanos until);
bool was_free(int resource, nanos length); /* and no fault was in effect */

/* ---- faults (faults.c) ---- */

typedef struct {
	nanos time, length;
	enum { CUT, CUT_ONE_WAY, RESET, PAUSE_SERVER, CRASH_SERVER, KILL_CLIENT, VANISH_CLIENT, STOP_CLIENT, SLOW, CUT_SERVERS,
		FAULT_KINDS } kind;
	int a, b;
} fault;

extern fault faults[FAULTS];
extern int fault_count;
void make_faults(nanos end);
void heal_all(void *context, uint64_t unused);

#endif

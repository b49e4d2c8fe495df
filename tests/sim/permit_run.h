#ifndef SIM_PERMIT_RUN_H
#define SIM_PERMIT_RUN_H

#include "run.h"

/* Clients of semaphores and read/write locks, and what must hold of them. */

/* The pools of a run: semaphores of different capacities, or read/write locks with either order. */
typedef struct {
	int64_t capacity;
	bool fifo;
} permit_pool;

extern permit_pool permit_pools[RESOURCES];

/* Permits that a client may rely on: between the return of acquire and the call of release. */
typedef struct {
	bool relies;
	dlock_claim *claim;
	int resource;
	dlock_nanos checked; /* the deadline that was compared with the server's */
	bool renews;
	nanos broken;        /* when a client broke it; 0: never */
	bool may_write;      /* on the server, if a change was not answered or is executed late */
} permit_holding;

/* A call of acquire that has not returned. */
typedef struct {
	bool waits;
	dlock_claim *claim;
	int resource;
	nanos begun, timeout, paused; /* paused: for how long the process had been stopped before */
} permit_waiting;

typedef struct {
	connections *connections;
	dlock_backend *backends[RESOURCES];
	permit_holding holding;
	permit_waiting waiting;
} permit_client;

extern permit_client permit_clients[CLIENTS]; /* as clients[] */

static inline permit_client *permits_of(const client *client)
{
	return &permit_clients[client - clients];
}

static inline bool is_writer(const dlock_claim *claim)
{
	return claim->permits >= DLOCK_PERMITS_ALL;
}

#define PERMITS_PREFIX "Pool:"
void permits_name(int resource, char *name, size_t size); /* "hall:2" */
void permits_key(int resource, char *key, size_t size);   /* on the servers */

/* ---- rules (permit_rules.c) ---- */

void permit_rules_begin(void);
void permit_rules_end(void);
void check_permits(void); /* after each run of a fiber */
bool believes_in_permits(const client *client);
void note_permits_wanted(client *client, dlock_claim *claim, int resource, nanos timeout);
/* Acquire has returned. The client counts as waiting until one of the next two calls. */
void note_permits_waited(client *client);
void note_permits_acquired(client *client, int64_t earlier); /* earlier: the last token before */
/* The permits were released, the wait has ended, or the acquisition has failed. */
void note_permits_gone(const client *client, const dlock_claim *claim, int resource, bool answered);
/* Another client has broken a holder's permits (`done`), or is about to. */
void note_permits_broken(int resource, const char *id, bool done);
int64_t last_permit_token(int resource);

#endif

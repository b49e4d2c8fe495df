#ifndef DLOCK_REDIS_QUORUM_INTERNAL_H
#define DLOCK_REDIS_QUORUM_INTERNAL_H

#include "../../lock/renewer.h"
#include "../wire/inbox.h"
#include "ballot.h"
#include "quorum_requests.h"

/* What the files of the quorum back end share:
 *
 *   quorum.c          the back end itself, and what is done with a lease that is held
 *   quorum_acquire.c  to acquire a lock: attempts, the queues, waiting
 *   quorum_attach.c   to take up a lease by its token
 *   quorum_inspect.c  what is seen of a lock from outside
 *   quorum_requests.c what one of the servers is asked about a lock, or about several at once
 *   quorum_votes.c    what these have in common: asking all servers, agreeing on the fencing token, rolling back
 *   quorum_renewal.c  what the renewal thread says about a lease */

typedef struct {
	dlock_conn *conn; /* the pool's */
	dlock_outcome outcome;
} quorum_member;

typedef struct {
	dlock_backend base;
	dlock_loop *loop;
	dlock_key_builder *keys;
	dlock_inbox *inboxes[DLOCK_MOST_SERVERS]; /* the pool's; not connected before a claim waits */
	int64_t highest_token;                    /* the largest fencing token seen */
	dlock_nanos guard;                        /* the least uptime of a server that votes; 0: any */
	int count, quorum;
	quorum_member members[];
} quorum_backend;

/* A set of servers: one bit each. */
typedef uint64_t server_set;

#define ALL_SERVERS UINT64_MAX

typedef struct {
	dlock_claim base;
	unsigned attempts;
	server_set holders;  /* they may have the lock for this claim */
	server_set queued;   /* it may be in their queues */
	server_set placed;   /* those of them that said that it is */
	unsigned long placed_over[DLOCK_MOST_SERVERS]; /* the generation of the inbox's connection then */
	server_set listening; /* whose inboxes were open when they were asked last to queue it */
	server_set notified; /* they said that it is its turn */
	int needed;              /* how many servers had to say yes in the last attempt: a quorum, or all */
	/* The token changes with each attempt; in the queues the claim has one name and one ticket, the same everywhere,
	 * and of several locks in all their queues. */
	char waiter[DLOCK_TOKEN_MAX + 2];
	int64_t ticket;      /* 0: it is in no queue */
	int64_t next_ticket; /* the ticket with which it would queue; 0: not known */
	/* Acquires that were not answered when the quorum was reached. They may still be answered with yes, which makes the
	 * lock safer; before a release they are cancelled, so that none is sent again after it. */
	dlock_call *stragglers[DLOCK_MOST_SERVERS];
	struct dlock_quorum_acquiring *acquiring; /* the call under way; it may be suspended, and never go on */
	dlock_several_keys *several; /* of more than one resource; see dlock_quorum_prepare() */
} quorum_claim;

static inline quorum_backend *quorum_backend_of(const quorum_claim *claim)
{
	return (quorum_backend *) claim->base.backend;
}

static inline bool has_server(server_set servers, int server)
{
	return servers >> server & 1;
}

/* ---- quorum_votes.c ---- */

/* Before a claim asks for the first time. False when out of memory. */
bool dlock_quorum_prepare(quorum_claim *claim);
dlock_keys dlock_quorum_keys(const quorum_claim *claim);

/* A ballot among the back end's servers. */
void dlock_quorum_begin(quorum_backend *backend, dlock_ballot *votes, dlock_voter *voters, dlock_reader *read);

/* The same with the uptime rule: a call that is asked with then finds out how long its server has been up. */
void dlock_quorum_begin_voting(quorum_claim *claim, dlock_ballot *votes, dlock_voter *voters, dlock_reader *read);
void dlock_quorum_ask(const quorum_claim *claim, dlock_ballot *votes, int server, dlock_call *call);

/* Is the server not to be asked? Then it has no vote, and it is said why. */
bool dlock_quorum_leaves_out(dlock_ballot *votes, int server);

/* Is the host's clock one that a fencing token can be made of? One that is decades ahead would raise all servers'
 * tokens for good. */
dlock_status dlock_quorum_check_clock(dlock_error *error);

/* A fencing token for all servers, above what this process has seen. */
int64_t dlock_quorum_propose(const quorum_backend *backend);

/* A task: has a quorum agree on the lease's fencing token. DLOCK_OK: it does; otherwise DLOCK_QUORUM. */
typedef struct {
	dlock_task task;
	quorum_claim *claim;
	const dlock_ballot *votes;
	dlock_nanos asked, until; /* when the first vote was asked for; how long others are waited for */
	dlock_ballot raise;
	dlock_voter voters[DLOCK_MOST_SERVERS];
} quorum_agreement;

/* Has a majority voted for it? DLOCK_OK: then it begins; otherwise DLOCK_QUORUM. */
dlock_status dlock_quorum_begin_agreement(
	quorum_agreement *own, quorum_claim *claim, const dlock_ballot *votes, dlock_nanos asked, dlock_nanos until);
dlock_status dlock_quorum_agree(quorum_agreement *own, dlock_loop *loop, dlock_nanos now);

/* A lease lasts as long as a quorum of its keys do: the quorum-th largest of these ends. Sorts them. */
int64_t dlock_quorum_last(int64_t *ends, int count, int quorum);

/* Sends the call without waiting, and again over new connections as long as the lease time may last. */
void dlock_quorum_send_background(const quorum_claim *claim, int server, dlock_call *call, dlock_nanos now);

/* Servers that are about to be logged in to are given a moment, so that they get the lock, too: this long, unless there
 * are none (any more). */
#define DLOCK_LOGIN_TIME (10 * DLOCK_MS)
bool dlock_quorum_has_logged_in(const quorum_claim *claim, dlock_nanos now);

void dlock_quorum_cancel_stragglers(quorum_claim *claim);

/* A straggler must not be sent again, neither over a new connection nor since its script is unknown: something follows
 * it. */
void dlock_quorum_send_straggler_once(quorum_claim *claim, int server);

/* Releases on every server that may have it, without waiting. A waiter that stays in the queues is not notified of its
 * own release. */
void dlock_quorum_roll_back(quorum_claim *claim, dlock_nanos now);

/* Leaves the queues of the servers that are not in `except`, without waiting. */
void dlock_quorum_leave(quorum_claim *claim, server_set except, dlock_nanos now);

/* ---- operations of the back end ---- */

/* The call under way never goes on: what it has begun is over, and noted in the claim. */
void dlock_quorum_drop(quorum_claim *claim, dlock_nanos now);

dlock_status dlock_quorum_acquire(dlock_claim *claim, const dlock_wait *wait, dlock_error *error);
dlock_status dlock_quorum_attach(dlock_claim *claim, const char *token, dlock_error *error);
dlock_renewal_round *dlock_quorum_new_round(const dlock_claim *claim);

/* quorum_inspect.c */
dlock_status dlock_quorum_inspect(dlock_backend *backend, const char *resource, size_t len, int most,
	dlock_inspection *out, dlock_error *error);
dlock_status dlock_quorum_list(dlock_backend *backend, int most, dlock_listing *out, dlock_error *error);
dlock_status dlock_quorum_break(dlock_backend *backend, const char *resource, size_t len, const dlock_break *how,
	dlock_nanos *left, dlock_error *error);

#endif

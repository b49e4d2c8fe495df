#ifndef DLOCK_REDIS_QUORUM_INTERNAL_H
#define DLOCK_REDIS_QUORUM_INTERNAL_H

#include "../../lock/renewer.h"
#include "../wire/inbox.h"
#include "ballot.h"
#include "quorum_requests.h"

/* What the files of the quorum back end share:
 *
 *   quorum.c             the back end itself, and what a holder does with its lease
 *   quorum_acquire.c     acquires a lock: attempts, the queues, waiting
 *   quorum_attach.c      attaches a lease by its token
 *   quorum_inspect.c     what is seen of a lock from outside
 *   quorum_requests.c    what one of the servers is asked about a lock, or about several at once
 *   quorum_votes.c       for all of these: asks all servers, agrees on the fencing token, rolls back
 *   quorum_stragglers.c  what servers have not answered, and may execute late
 *   quorum_renewal.c     the rounds of the renewal thread */

typedef struct {
	dlock_conn *conn; /* belongs to the pool */
	dlock_outcome outcome;
} quorum_member;

typedef struct {
	dlock_backend base;
	dlock_loop *loop;
	dlock_key_builder *keys;
	dlock_inbox *inboxes[DLOCK_MOST_SERVERS]; /* belong to the pool; connected once a claim waits */
	int64_t highest_token;                    /* the largest fencing token seen */
	dlock_nanos guard;                        /* the least uptime of a server with a vote; 0: any */
	int count, quorum;
	quorum_member members[];
} quorum_backend;

/* A set of servers: one bit each. */
typedef uint64_t server_set;

#define ALL_SERVERS UINT64_MAX

typedef struct {
	dlock_claim base;
	unsigned attempts;
	server_set holders;  /* may have the lock for this claim */
	server_set queued;   /* may have the claim in their queues */
	server_set placed;   /* of `queued`: have said that the claim is in their queues */
	unsigned long placed_over[DLOCK_MOST_SERVERS]; /* the generation of the inbox's connection at that time */
	server_set listening; /* had an open inbox when the claim last asked to queue */
	server_set notified; /* have said that it is the claim's turn */
	int needed;              /* how many servers had to say yes in the last attempt: a quorum, or all */
	/* The token changes with each attempt. In the queues, the claim keeps one name and one ticket on all servers.
	 * Several locks have them in all their queues. */
	char waiter[DLOCK_TOKEN_MAX + 2];
	int64_t ticket;      /* 0: the claim is in no queue */
	int64_t next_ticket; /* with which the claim would queue; 0: not known */
	/* The last request for a lease time that the server has not answered, or that was sent twice: an acquire or an
	 * extension. A late yes to an acquire makes the lock safer. The claim cancels them before a release, so that none
	 * is sent again after it. */
	dlock_call *stragglers[DLOCK_MOST_SERVERS];
	/* The shortest lease time of the straggler and of the unanswered ones in front of it on its connection. */
	dlock_nanos straggler_ttls[DLOCK_MOST_SERVERS];
	/* The shortest lease time that the server may set after requests that it has answered since: the system or a proxy
	 * may hold the bytes of an earlier connection. 0: none. */
	dlock_nanos late_ttls[DLOCK_MOST_SERVERS];
	struct dlock_quorum_acquiring *acquiring; /* the call under way; its strand may be suspended for good */
	dlock_several_keys *several; /* the keys of more than one resource; see dlock_quorum_prepare() */
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

/* To be called before a claim first asks. False: out of memory. */
bool dlock_quorum_prepare(quorum_claim *claim);
dlock_keys dlock_quorum_keys(const quorum_claim *claim);

/* Begins a ballot among the back end's servers. */
void dlock_quorum_begin(quorum_backend *backend, dlock_ballot *votes, dlock_voter *voters, dlock_reader *read);

/* The same with the uptime rule. dlock_quorum_ask() then finds out how long the server of each call has been up. */
void dlock_quorum_begin_voting(quorum_claim *claim, dlock_ballot *votes, dlock_voter *voters, dlock_reader *read);
void dlock_quorum_ask(const quorum_claim *claim, dlock_ballot *votes, int server, dlock_call *call);

/* Is the server stuck, so that it is not to be asked? Then it has no vote, and its outcome says why. */
bool dlock_quorum_leaves_out(dlock_ballot *votes, int server);

/* Can the host's clock make fencing tokens? A clock that is decades ahead would raise all servers' tokens for good.
 * DLOCK_FAILED: it cannot. */
dlock_status dlock_quorum_check_clock(dlock_error *error);

/* A fencing token for all servers (µs since 1970), larger than any that this back end has seen. */
int64_t dlock_quorum_propose(const quorum_backend *backend);

/* A task: has a quorum agree on the lease's fencing token. DLOCK_OK: it has; otherwise DLOCK_QUORUM. */
typedef struct {
	dlock_task task;
	quorum_claim *claim;
	const dlock_ballot *votes;
	dlock_nanos asked, until; /* when the first vote was asked for; when the task stops waiting */
	dlock_ballot raise;
	dlock_voter voters[DLOCK_MOST_SERVERS];
} quorum_agreement;

/* Begins the task if a majority has voted for the lease. DLOCK_OK: it has; otherwise DLOCK_QUORUM. */
dlock_status dlock_quorum_begin_agreement(
	quorum_agreement *own, quorum_claim *claim, const dlock_ballot *votes, dlock_nanos asked, dlock_nanos until);
dlock_status dlock_quorum_agree(quorum_agreement *own, dlock_loop *loop, dlock_nanos now);

/* A lease lasts as long as a quorum of its keys. Returns the quorum-th largest of `ends`, which it sorts; `count` is at
 * least `quorum`. */
int64_t dlock_quorum_last(int64_t *ends, int count, int quorum);

/* Sends the call without waiting, and again over new connections for as long as the lease may last. */
void dlock_quorum_send_background(const quorum_claim *claim, int server, dlock_call *call, dlock_nanos now);

/* Releases the lock on every server that may have it, without waiting. If the claim stays in the queues, no server
 * notifies it of its own release. */
void dlock_quorum_roll_back(quorum_claim *claim, dlock_nanos now);

/* Leaves the queues of the servers that are not in `except`, without waiting. */
void dlock_quorum_leave(quorum_claim *claim, server_set except, dlock_nanos now);

/* ---- quorum_stragglers.c ---- */

/* Keeps the call until it is known that the server cannot execute it after later requests. `ttl`: the lease time that
 * it requests. */
void dlock_quorum_keep_straggler(quorum_claim *claim, int server, dlock_call *call, dlock_nanos ttl);

/* To be called after a question to the holders. Notes which stragglers may follow it. `ttl`: the lease time that it
 * requested, so that its unanswered calls become stragglers; 0: none. */
void dlock_quorum_review_stragglers(quorum_claim *claim, const dlock_ballot *votes, dlock_nanos ttl);

/* The part of the lease time `ttl` that is left if the server sets `late` after it; 0: it sets none. */
static inline dlock_nanos dlock_quorum_left_if(dlock_nanos late, dlock_nanos ttl)
{
	return late > 0 && late < ttl ? late : ttl;
}

/* The shortest lease time that the server may set after requests over other connections; 0: none. */
dlock_nanos dlock_quorum_late_ttl(const quorum_claim *claim, int server);

/* Cancels and forgets them: no later request has their token. */
void dlock_quorum_cancel_stragglers(quorum_claim *claim);

/* Keeps a straggler from being sent again, over a new connection or because its script is unknown: another request
 * follows it. */
void dlock_quorum_send_straggler_once(quorum_claim *claim, int server);

/* A server that is about to finish its login is given this time to grant the lock, too. True: no such server is
 * left. */
#define DLOCK_LOGIN_TIME (10 * DLOCK_MS)
bool dlock_quorum_has_logged_in(const quorum_claim *claim, dlock_nanos now);

/* ---- operations of the back end ---- */

/* The call under way never goes on: ends what it has begun, and notes that in the claim. */
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

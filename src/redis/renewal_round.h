#ifndef DLOCK_ROUND_H
#define DLOCK_ROUND_H

#include "pool.h"
#include "requests.h"

/* What the renewal thread says to the servers of one lease. A round asks all of them to extend it, or whether they have it; it is
 * decided when a quorum has, or when no quorum can any more. Servers without the key are given it again behind that. */

typedef struct {
	dlock_conn *conn;
	dlock_call *extension; /* of the round under way or last decided, or the question in its place; NULL: none */
	dlock_call *repair;
	bool unsettled;        /* a repair was sent, and has not been answered: it may yet set the key */
	bool counted;          /* the key was in place when last heard of: the lease may rest upon it */
} dlock_seat;

typedef struct {
	int quorum, count;
	bool refused;        /* somebody else has the key where it was to be repaired; for the owner to clear */
	dlock_nanos started; /* the round: just before it was sent */
	char *key;
	size_t key_len;
	char token[DLOCK_TOKEN_MAX + 1];
	int64_t fencing_token;
	dlock_server **servers;
	dlock_seat *seats;
} dlock_round;

typedef enum { DLOCK_ROUND_OPEN, DLOCK_ROUND_KEPT, DLOCK_ROUND_GONE, DLOCK_ROUND_FAILED } dlock_round_result;

/* Takes note of the claim's place. False when out of memory; to be disposed in either case. */
bool dlock_round_init(dlock_round *round, const dlock_claim *claim);
void dlock_round_dispose(dlock_round *round);

/* Sends the question to all servers, over connections for this lease time. */
void dlock_round_begin(dlock_round *round, dlock_pool *pool, dlock_nanos ttl, bool extends);
dlock_round_result dlock_round_look(const dlock_round *round);

/* Sets the key, and raises the fence, where a server answered that it has no key; once for each such answer, which may come
 * behind the decision. */
bool dlock_round_has_gaps(const dlock_round *round);
void dlock_round_repair(dlock_round *round, dlock_nanos ttl);

/* Lets go of the calls that are over. Is any still under way? Once the holder has begun to release the lease, no answer settles a
 * repair any more. */
bool dlock_round_is_busy(dlock_round *round, bool released);

/* The holder asks for another lease time himself, and waits: what is not sent yet is not to be, and nothing is sent again. */
void dlock_round_call_off(dlock_round *round);

/* What the servers have got of this lease time is answered, or has failed, by this time from now. */
dlock_nanos dlock_round_longest(const dlock_round *round, dlock_nanos ttl);

/* Has it calls that a connection may have as well, be it that their time is over? Then who uses that must dispose of it. */
bool dlock_round_has_calls(const dlock_round *round);

/* The holder has released the lease, over other connections: takes back a repair that may come behind that. Where it is not over, but goes
 * on elsewhere, this leaves alone what it may rest upon. */
bool dlock_round_has_unsettled(const dlock_round *round);
void dlock_round_take_back(dlock_round *round, dlock_nanos ttl, bool over);

#endif

#ifndef DLOCK_REDIS_HANDSHAKE_H
#define DLOCK_REDIS_HANDSHAKE_H

#include "../../net/channel.h"
#include "info.h"

/* What is said over a new connection before any call: AUTH, SELECT and, to a cluster's node, CLUSTER MYID, and,
 * for users of the connection that need it, INFO for the server's uptime. The connection is ready without the reply to
 * INFO, which comes before those of its calls: so that question takes no round trip of its own. It is also the only one
 * that can be asked again later. */

typedef struct {
	int logins;       /* replies to AUTH, SELECT and CLUSTER MYID still to come */
	bool asks_uptime; /* the reply to INFO is still to come */
	size_t ahead;     /* the number of replies to calls that come before that */
	dlock_uptime uptime;
} dlock_handshake;

/* Nothing has been said, and nothing is known of the server. */
void dlock_handshake_reset(dlock_handshake *handshake);

/* Appends what is said to what the channel sends. False when out of memory. */
bool dlock_handshake_begin(dlock_handshake *handshake, dlock_channel *channel, const dlock_endpoint *server);

/* Asks for the uptime, unless it is known or has been asked for; `ahead`: the number of replies that come first. False
 * when out of memory. */
bool dlock_handshake_ask_uptime(dlock_handshake *handshake, dlock_channel *channel, size_t ahead);

/* May calls be sent? */
bool dlock_handshake_is_over(const dlock_handshake *handshake);

/* Is the next reply the handshake's? If not, dlock_handshake_pass() notes that one of the others has come. */
bool dlock_handshake_is_next(const dlock_handshake *handshake);
void dlock_handshake_pass(dlock_handshake *handshake);

/* Takes the handshake's reply. A server that refuses the login makes an error, one that hides its uptime does not.
 * DLOCK_LOST: it is not the node of the cluster that was at its address before. */
dlock_status dlock_handshake_take(
	dlock_handshake *handshake, const redisReply *reply, const dlock_endpoint *server, dlock_error *error);

#endif

#ifndef DLOCK_REDIS_HANDSHAKE_H
#define DLOCK_REDIS_HANDSHAKE_H

#include "../../net/channel.h"
#include "info.h"

/* What a new connection sends before any call: AUTH, SELECT and, to a cluster's node, CLUSTER MYID. If a user of the
 * connection needs the server's uptime, INFO follows. The connection is ready without the reply to INFO, which comes
 * before those of its calls. So this question takes no round trip of its own. Only INFO can be sent again later. */

typedef struct {
	int logins;        /* replies to AUTH, SELECT and CLUSTER MYID that are still to come */
	bool asks_uptime;  /* the reply to INFO is still to come */
	bool late;         /* the last one was read so late that it says little */
	size_t ahead;      /* the number of replies to calls that come before INFO's */
	dlock_nanos asked; /* when INFO was appended */
	dlock_uptime uptime;
} dlock_handshake;

/* Nothing has been sent, and nothing is known of the server. */
void dlock_handshake_reset(dlock_handshake *handshake);

/* Appends AUTH, SELECT and CLUSTER MYID, as needed, to the channel's output. False when out of memory. */
bool dlock_handshake_begin(dlock_handshake *handshake, dlock_channel *channel, const dlock_endpoint *server);

/* Asks for the uptime, unless it is known or was already asked for. It asks again if the reply was read late: a process
 * that rests after a lock reads it with the next one. `ahead`: the number of replies that come first. False when out of
 * memory. */
bool dlock_handshake_ask_uptime(dlock_handshake *handshake, dlock_channel *channel, size_t ahead);

/* May calls be sent? */
bool dlock_handshake_is_over(const dlock_handshake *handshake);

/* Is the next reply the handshake's? If not, dlock_handshake_pass() notes that a call's reply has come. */
bool dlock_handshake_is_next(const dlock_handshake *handshake);
void dlock_handshake_pass(dlock_handshake *handshake);

/* Takes the handshake's reply. It is an error if the server refuses the login, but not if it hides its uptime.
 * DLOCK_LOST: the server is not the cluster node that was at its address before. */
dlock_status dlock_handshake_take(
	dlock_handshake *handshake, const redisReply *reply, const dlock_endpoint *server, dlock_error *error);

#endif

#ifndef QUORUM_SERVERS_H
#define QUORUM_SERVERS_H

#include "redis_client.h"
#include "relay.h"
#include "tap.h"

/* The five servers of the quorum back end's tests, and questions to all of them. */

enum { SERVERS = 5, MAJORITY = 3 };

extern test_server servers[SERVERS];
extern int nobody; /* a port on which no server listens */

extern const tap_setting quorum_servers;
void quorum_servers_reset(void);

/* How many servers have the lock for this claim? */
int holding(const dlock_claim *claim);

/* On how many servers is the resource locked? */
int taken(const char *resource);
bool eventually_nowhere(const char *resource);
bool is_everywhere(const char *resource); /* waits until it is so */

/* A client of `count` servers. Servers whose bit in `alive` is not set refuse connections. */
client client_of_some(int count, unsigned alive);

/* A warm client of all servers. It reaches the last one by the relay, which stops at this word. */
client client_by_relay(relay *relay, const char *word);

/* After it all servers know the scripts and are empty, and the client is connected to all. */
bool warm_all(client *client);

#endif

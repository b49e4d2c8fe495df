#ifndef QUORUM_SERVERS_H
#define QUORUM_SERVERS_H

#include "redis_client.h"
#include "relay.h"
#include "tap.h"

/* The five servers of the quorum back end's tests, and what is asked of all of them. */

enum { SERVERS = 5, MAJORITY = 3 };

extern test_server servers[SERVERS];
extern int nobody; /* a port where nobody listens */

extern const tap_setting quorum_servers;
void quorum_servers_reset(void);

/* How many have it for this claim? */
int holding(const dlock_claim *claim);

/* On how many servers does anybody have it? */
int taken(const char *resource);
bool eventually_nowhere(const char *resource);
bool is_everywhere(const char *resource); /* soon */

/* Of `count` servers, those whose bit is set in `alive`; the others refuse. */
client client_of_some(int count, unsigned alive);

/* Of all servers, warm, and the last one by that relay, which stops at this word. */
client client_by_relay(relay *relay, const char *word);

/* Has all servers know all scripts and the client its connections. Empties them. */
bool warm_all(client *client);

#endif

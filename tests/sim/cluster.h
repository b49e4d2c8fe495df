#ifndef CLUSTER_H
#define CLUSTER_H

/* What makes servers of redis.c the nodes of a cluster. */

#include "store.h"

typedef struct cluster_node cluster_node;

cluster_node *cluster_join(server *server);
cluster_node *cluster_alone(server *server); /* of another cluster, of which it has all slots */
void cluster_restarted(cluster_node *node);

/* For keys of one request. True: the node answers this instead of executing it. */
bool cluster_redirects(cluster_node *node, const word *keys, int count, bool asking, reply *out);

/* For keys of a command in a script that the node has begun to execute: its slot moves, and one is not there any more.
 * */
bool cluster_has_moved(cluster_node *node, const word *keys, int count);

/* CLUSTER; false: it knows no such subcommand. */
bool cluster_command(cluster_node *node, const word *words, int count, reply *out);

/* What is published on a node is published on all that it reaches. */
void cluster_publish(cluster_node *node, word channel, word message);

/* What redis.c does for it. */
nanos redis_last_contact(const server *replica); /* with its master */
bool redis_has_key(server *server, word key);
void redis_end_waits(server *server); /* as a master does that becomes a replica */
bool redis_move(server *from, server *to, word key); /* as MIGRATE does; false: it is not there */
void redis_move_key(server *from, server *to, int slot); /* one of the slot */
void redis_delete_slot(server *server, int slot);
int redis_keys_in_slot(server *server, int slot);
void redis_publish_here(server *server, word channel, word message);

#endif

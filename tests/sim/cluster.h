#ifndef CLUSTER_H
#define CLUSTER_H

/* Makes servers of redis.c the nodes of a cluster. */

#include "store.h"

typedef struct cluster_node cluster_node;

cluster_node *cluster_join(server *server);
cluster_node *cluster_alone(server *server); /* the only master of another cluster */
void cluster_restarted(cluster_node *node);

/* For the keys of one request. True: the node answers with `out` instead of executing it. */
bool cluster_redirects(cluster_node *node, const word *keys, int count, bool asking, reply *out);

/* For the keys of a command in a script that the node executes. True: their slot moves, and one of them is gone. */
bool cluster_has_moved(cluster_node *node, const word *keys, int count);

/* CLUSTER. False: the subcommand is unknown. */
bool cluster_command(cluster_node *node, const word *words, int count, reply *out);

/* A message that is published on a node is published on all nodes that it reaches. */
void cluster_publish(cluster_node *node, word channel, word message);

/* What redis.c does for cluster.c. */
nanos redis_last_contact(const server *replica); /* with its master */
bool redis_has_key(server *server, word key);
void redis_end_waits(server *server); /* as a master does when it becomes a replica */
bool redis_move(server *from, server *to, word key); /* as MIGRATE; false: there is no such key */
void redis_move_key(server *from, server *to, int slot); /* one key of the slot */
void redis_delete_slot(server *server, int slot);
int redis_keys_in_slot(server *server, int slot);
void redis_publish_here(server *server, word channel, word message);

#endif

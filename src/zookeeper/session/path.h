#ifndef DLOCK_ZK_PATH_H
#define DLOCK_ZK_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names of nodes: root/<resource, encoded>/_c_<guid>-<what it is>-<sequence>, as Curator lays them out. */

/* The path of the node under which all claims on `resource` queue. Whatever a node name may not contain is written
 * %XX; plain names stay as they are, so that other languages' clients can address them. To be freed; NULL when out of
 * memory. */
char *dlock_zk_parent_path(const char *root, const char *resource, size_t resource_len);

/* The resource of a node that is named like this below a root, into `out`, which has as many characters; its length.
 * Names that other clients have given are taken as they are. */
size_t dlock_zk_resource_of(const char *name, char *out);

/* parent/_c_<guid>-<label>, to which the server appends the sequence number; and parent/child. To be freed. */
char *dlock_zk_node_path(const char *parent, const char *guid, const char *label);
char *dlock_zk_child_path(const char *parent, const char *child);

/* The sequence number at the end of a node's name. False: the node has none and takes no part. */
bool dlock_zk_sequence(const char *name, int32_t *sequence);

/* Is this the node of the claim with that guid? */
bool dlock_zk_is_node_of(const char *name, const char *guid);

/* Is this what a server can have made of dlock_zk_node_path()? */
bool dlock_zk_is_made_of(const char *path, const char *parent, const char *guid, const char *label);

#endif

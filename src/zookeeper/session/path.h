#ifndef DLOCK_ZK_PATH_H
#define DLOCK_ZK_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names of nodes: root/<resource, encoded>/_c_<guid>-<label><number>, as Curator lays them out. */

/* Makes the path of the node under which all claims on `resource` queue. A byte that a node name may not contain is
 * written as %XX. Plain names stay unchanged, so that clients in other languages can address them. The caller frees the
 * path. Returns NULL if out of memory. */
char *dlock_zk_parent_path(const char *root, const char *resource, size_t resource_len);

/* Decodes the resource from the name of a node below a root. `out` has room for as many bytes as `name` has characters.
 * Returns the length. In a name that another client chose, a "%" that begins no escape stays. */
size_t dlock_zk_resource_of(const char *name, char *out);

/* Make parent/_c_<guid>-<label>, to which the server appends the sequence number, and parent/child. The caller frees
 * the path. Return NULL if out of memory. */
char *dlock_zk_node_path(const char *parent, const char *guid, const char *label);
char *dlock_zk_child_path(const char *parent, const char *child);

/* Reads the sequence number at the end of a node's name. False: the node has none and does not count. */
bool dlock_zk_sequence(const char *name, int32_t *sequence);

/* True if this is the node of the claim with that guid. */
bool dlock_zk_is_node_of(const char *name, const char *guid);

/* True if a server can have made this path from dlock_zk_node_path(). */
bool dlock_zk_is_made_of(const char *path, const char *parent, const char *guid, const char *label);

#endif

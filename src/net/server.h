#ifndef DLOCK_SERVER_H
#define DLOCK_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "../base/clock.h"
#include "../base/error.h"

/* What is spoken there. */
typedef enum { DLOCK_SERVER_REDIS, DLOCK_SERVER_MEMCACHED, DLOCK_SERVER_MEMORY } dlock_server_kind;

/* How the Redis server that has a key is found. */
typedef enum {
	DLOCK_SERVER_FIXED,    /* it is at `host` and `port`, or at `path` */
	DLOCK_SERVER_SENTINEL, /* it is the master of `service`, which Sentinels name */
	DLOCK_SERVER_CLUSTER   /* it is the master of the key's hash slot, which the nodes of a Redis Cluster name */
} dlock_server_discovery;

/* A Sentinel, or a node of a cluster, that may be asked. */
typedef struct {
	char *host;
	int port;
} dlock_seed;

/* The most servers that one lock uses, and the most replicas that can be asked to confirm. */
enum { DLOCK_MOST_SERVERS = 64, DLOCK_MOST_REPLICAS = 8 };

enum { DLOCK_REDIS_PORT = 6379, DLOCK_SENTINEL_PORT = 26379 };

#define DLOCK_SHORTEST_GUARD (DLOCK_SECOND / 10)
#define DLOCK_LONGEST_GUARD (3600 * DLOCK_SECOND)

/* Where a server is and how to connect to it. Filled field by field or from a DSN, then sealed; not changed after that.
 * Strings are owned, and NULL where not given. */
typedef struct {
	_Atomic unsigned references; /* the renewal thread has some */
	dlock_server_kind kind;
	char *host; /* NULL: unix socket at `path`. Of DLOCK_SERVER_MEMORY the name of the table, which may be empty */
	char *path;
	int port;
	int database;
	char *user; /* NULL: the default user */
	char *password;
	dlock_nanos connect_timeout; /* for TCP, TLS, AUTH and SELECT together */
	dlock_nanos read_timeout;    /* for each answer */

	bool tls;
	bool tls_verify_peer; /* both are on unless switched off */
	bool tls_verify_peer_name;
	char *tls_peer_name; /* NULL: the host */
	char *tls_cafile;    /* NULL: the system's */
	char *tls_capath;
	char *tls_cert;
	char *tls_key;
	char *tls_passphrase; /* of the key's file */

	/* Of Redis: */
	dlock_server_discovery discovery;
	dlock_seed *seeds; /* where it is not FIXED: then host and path are NULL, and port is 0 */
	int seed_count;
	char *service;
	bool has_sentinel_tls; /* sentinel_tls was given; otherwise it is as tls */
	bool sentinel_tls;     /* with the same tls_ options */
	char *sentinel_user, *sentinel_password;
	int replicas; /* the number that must confirm what is to be believed; 0: none, and a fail-over can make two holders.
					 -1: not given, until it is sealed */
	dlock_nanos guard; /* with replicas: no lease is longer, and no lock is granted for so long after a fail-over. 0:
						  not given, to be set before use */
	/* with replicas: nor for so long after a replica has taken a full copy. On unless switched off */
	bool resync_guard;
	bool has_resync_guard;

	char *node_id; /* of a cluster's node that was at this address, in hexadecimal digits; NULL: not known, and no
					  matter. Not in `key` */

	char *label; /* "host:port" or the socket's path, "mymaster at s1:26379,s2:26379", "h1:7000,h2:7000": in messages,
					without credentials */
	char *key;   /* all that makes two connections different; contains password and passphrase, so never shown */
} dlock_server;

/* Of kind Redis, port and database at their defaults, with one reference. NULL when out of memory. */
dlock_server *dlock_server_new(dlock_nanos connect_timeout, dlock_nanos read_timeout);
dlock_server *dlock_server_retain(dlock_server *server);
void dlock_server_release(dlock_server *server);

/* The same server and database, however one logs in there? */
bool dlock_server_is_same(const dlock_server *a, const dlock_server *b);

/* Replaces an owned string by a copy. */
bool dlock_server_set(char **field, const char *value, size_t len);

/* Wipes and frees what may be a secret. */
void dlock_free_secret(char *text);

/* Writes an error of the server's as it may be shown: without the part that repeats the command, and not at all where
 * it contains a password. */
void dlock_server_quote(const dlock_server *server, const char *text, char *out, size_t size);

/* Adds a Sentinel or a node of a cluster: by its parts, or from "host", "host:port" or "[::1]:port". */
bool dlock_server_add_seed(dlock_server *server, const char *host, size_t len, int port, dlock_error *error);
bool dlock_server_parse_seed(dlock_server *server, const char *text, size_t len, dlock_error *error);

/* Sets the kind, and what follows from it, by the name of a scheme: "redis", "rediss", "unix", "sentinel", "cluster",
 * "memcached" or "memory". */
bool dlock_server_set_scheme(dlock_server *server, const char *name, size_t len, dlock_error *error);

/* The scheme that a DSN of this server begins with. */
const char *dlock_server_scheme(const dlock_server *server);

/* Reads a DSN with one of these schemes. On failure the message goes on from the name of an argument: "must ...". */
bool dlock_server_parse(dlock_server *server, const char *dsn, size_t len, dlock_error *error);

/* Sets one of the options that DSN queries and arrays share ("connect_timeout", "cafile", ...). */
bool dlock_server_option(dlock_server *server, const char *name, const char *value, size_t len, dlock_error *error);

/* Checks the whole and makes label and key. To be called once, last. */
bool dlock_server_seal(dlock_server *server, dlock_error *error);

/* A server of that service, sealed and FIXED: with its credentials, TLS, timeouts and database, without replicas. NULL
 * when out of memory. */
dlock_server *dlock_server_member(const dlock_server *service, const char *host, int port);

/* One of its Sentinels, likewise. */
dlock_server *dlock_server_sentinel(const dlock_server *service, int seed);

#endif

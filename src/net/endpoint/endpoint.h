#ifndef DLOCK_ENDPOINT_H
#define DLOCK_ENDPOINT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "../../base/clock.h"
#include "../../base/error.h"

/* A server as the user describes it: its address, its options, and how its master is found. Parsed from a DSN or filled
 * field by field, sealed once, and shared read-only after that. */

/* What is spoken there. */
typedef enum {
	DLOCK_ENDPOINT_REDIS,
	DLOCK_ENDPOINT_MEMCACHED,
	DLOCK_ENDPOINT_MEMORY,
	DLOCK_ENDPOINT_PGSQL,
	DLOCK_ENDPOINT_MYSQL, /* or MariaDB */
	DLOCK_ENDPOINT_KINDS
} dlock_endpoint_kind;

/* What messages say of each kind of server, so that code which refuses one need not know them all. */
typedef struct {
	const char *name;       /* in handles and descriptions */
	const char *title;      /* as people write it */
	const char *noun;
	const char *locks_only; /* where there are neither permits nor stocks; NULL: there are */
	const char *no_option;  /* why it has not got an option of others */
} dlock_server_kind;

extern const dlock_server_kind dlock_server_kinds[DLOCK_ENDPOINT_KINDS];

/* How the server that has a key is found. */
typedef enum {
	DLOCK_ENDPOINT_FIXED,    /* it is at `host` and `port`, or at `path` */
	DLOCK_ENDPOINT_SENTINEL, /* it is the master of `service`, which Sentinels name */
	DLOCK_ENDPOINT_CLUSTER,  /* it is the master of the key's hash slot, which the nodes of a Redis Cluster name */
	DLOCK_ENDPOINT_HOSTS     /* it is the one of `seeds` that can be written to, a database; or at `path` */
} dlock_endpoint_discovery;

/* Both together, by the names in DSNs: redis (rediss, unix), sentinel, ... */
typedef enum {
	DLOCK_SCHEME_REDIS,
	DLOCK_SCHEME_SENTINEL,
	DLOCK_SCHEME_CLUSTER,
	DLOCK_SCHEME_MEMCACHED,
	DLOCK_SCHEME_MEMORY,
	DLOCK_SCHEME_PGSQL,
	DLOCK_SCHEME_MYSQL
} dlock_scheme;

/* A Sentinel, a node of a cluster, or a host of a database, that may be asked. */
typedef struct {
	char *host;
	int port;
} dlock_seed;

/* The most servers that one lock uses, and the most replicas that can be asked to confirm. */
enum { DLOCK_MOST_SERVERS = 64, DLOCK_MOST_REPLICAS = 8, DLOCK_MOST_NODES = 17 };

enum { DLOCK_REDIS_PORT = 6379, DLOCK_SENTINEL_PORT = 26379, DLOCK_PGSQL_PORT = 5432, DLOCK_MYSQL_PORT = 3306 };

#define DLOCK_SHORTEST_GUARD (DLOCK_SECOND / 10)
/* As long as a lock is handed over for. */
#define DLOCK_SHORTEST_GUARD_OF_DATABASES (3 * DLOCK_SECOND)
#define DLOCK_LONGEST_GUARD (3600 * DLOCK_SECOND)
#define DLOCK_LONGEST_TIMEOUT (3600 * DLOCK_SECOND)

/* Where a server is and how to connect to it. Filled field by field or from a DSN, then sealed; not changed after that.
 * Strings are owned, and NULL where not given. What is an option has its row in options.c. */
typedef struct {
	_Atomic unsigned references; /* the renewal thread has some */
	dlock_endpoint_kind kind;
	char *host; /* NULL: unix socket at `path`. Of DLOCK_ENDPOINT_MEMORY the name of the table, which may be empty */
	char *path;
	int port;
	unsigned given; /* options that were read: see dlock_option_is_given() */
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
	dlock_endpoint_discovery discovery;
	dlock_seed *seeds; /* where it is not FIXED: then host and path are NULL, and port is 0 */
	int seed_count;
	char *service;
	bool sentinel_tls; /* with the same tls_ options; as tls where it was not given */
	char *sentinel_user, *sentinel_password;
	int replicas; /* the number that must confirm what is to be believed; 0: none, and a fail-over can make two holders.
					 -1: not given, until it is sealed */
	int nodes; /* with replicas: the servers that may confirm or be promoted. 0: not given, 2 * replicas + 1 */
	dlock_nanos guard; /* with replicas, and of a database: no lease is longer, and no lock is granted for so long after
						  a fail-over. 0: not given, to be set before use */
	/* with replicas: nor for so long after a replica has taken a full copy. On unless switched off */
	bool resync_guard;

	/* Of a database: */
	char *dbname;
	char *socket; /* as given; then also `path` */
	char *schema; /* of PostgreSQL, in which its tables and functions are */
	bool create;  /* make these where they are missing */

	char *node_id; /* of a cluster's node that was at this address, in hexadecimal digits; NULL: not known, and no
					  matter. Not in `key` */

	char *label; /* "host:port" or the socket's path, "mymaster at s1:26379,s2:26379", "h1:7000,h2:7000": in messages,
					without credentials */
	char *key;   /* all that makes two connections different; contains password and passphrase, so never shown */
} dlock_endpoint;

/* Of kind Redis, port and database at their defaults, with one reference. NULL when out of memory. */
dlock_endpoint *dlock_endpoint_new(dlock_nanos connect_timeout, dlock_nanos read_timeout);
dlock_endpoint *dlock_endpoint_retain(dlock_endpoint *server);
void dlock_endpoint_release(dlock_endpoint *server);

/* Is it PostgreSQL, MySQL or MariaDB? */
static inline bool dlock_endpoint_is_database(const dlock_endpoint *server)
{
	return server->kind >= DLOCK_ENDPOINT_PGSQL;
}

/* Has it a guard: can another server come in its place, that lacks its last leases? */
static inline bool dlock_endpoint_has_guard(const dlock_endpoint *server)
{
	return server->replicas > 0 || dlock_endpoint_is_database(server);
}

/* The same server and database, however one logs in there? */
bool dlock_endpoint_is_same(const dlock_endpoint *a, const dlock_endpoint *b);

/* How many nodes must have a lease for any `replicas` + 1 nodes to include one of them. */
int dlock_endpoint_enough(const dlock_endpoint *server);

/* Replaces an owned string by a copy. */
bool dlock_endpoint_set(char **field, const char *value, size_t len);

/* Writes an error of the server's as it may be shown: without the part that repeats the command, and not at all where
 * it contains a password. */
void dlock_endpoint_quote(const dlock_endpoint *server, const char *text, char *out, size_t size);

/* Adds a Sentinel or a node of a cluster: by its parts, or from "host", "host:port" or "[::1]:port". */
bool dlock_endpoint_add_seed(dlock_endpoint *server, const char *host, size_t len, int port, dlock_error *error);
bool dlock_endpoint_parse_seed(dlock_endpoint *server, const char *text, size_t len, dlock_error *error);

/* The schemes for a message: of DSNs, or those that an array may name. Returns the text. */
enum { DLOCK_SCHEME_LIST = 160 };
const char *dlock_endpoint_list_schemes(char text[DLOCK_SCHEME_LIST], bool of_dsn);

/* Sets the kind, and what follows from it, by the name of a scheme. */
bool dlock_endpoint_set_scheme(dlock_endpoint *server, const char *name, size_t len, dlock_error *error);

/* The scheme that a DSN of this server begins with; and, as one, redis, rediss and unix. */
const char *dlock_endpoint_scheme(const dlock_endpoint *server);
dlock_scheme dlock_scheme_of(const dlock_endpoint *server);

/* Reads a DSN with one of these schemes. On failure the message goes on from the name of an argument: "must ...". */
bool dlock_endpoint_parse(dlock_endpoint *server, const char *dsn, size_t len, dlock_error *error);

/* Checks the whole and makes label and key. To be called once, last. */
bool dlock_endpoint_seal(dlock_endpoint *server, dlock_error *error);

/* A server of that service, sealed and FIXED: with its credentials, TLS, timeouts and database, without replicas. NULL
 * when out of memory. */
dlock_endpoint *dlock_endpoint_member(const dlock_endpoint *service, const char *host, int port);

/* One of its Sentinels, likewise. */
dlock_endpoint *dlock_endpoint_sentinel(const dlock_endpoint *service, int seed);

/* The part of the lease time that one attempt may take, so that there is time for another: from an eighth to a quarter,
 * in steps, so that leases of about the same length share a connection. A slow server that is in time for long ones
 * must not lose them because it is too slow for a short one. DLOCK_FOREVER where the server's timeouts are short
 * enough. */
dlock_nanos dlock_timeout_cap(const dlock_endpoint *server, dlock_nanos ttl);

/* The server's read timeout, or the cap where that is shorter; and that of what asks for this lease time. */
dlock_nanos dlock_read_timeout(const dlock_endpoint *server, dlock_nanos timeout_cap);
dlock_nanos dlock_answer_time(const dlock_endpoint *server, dlock_nanos ttl);

/* ---- options: what a specification says beside where the server is ----
 *
 * An option is a field of dlock_endpoint and a row in options.c. All that is done with options is a loop over the rows:
 * reading DSNs and arrays, what messages list, what dlock-doctor is told, the key that tells connections apart, the
 * copies for a service's members, freeing, and the table in docs/reference.md. */

typedef enum {
	DLOCK_OPTION_SECONDS, /* dlock_nanos */
	DLOCK_OPTION_WHOLE,   /* int */
	DLOCK_OPTION_SWITCH,  /* bool */
	DLOCK_OPTION_TEXT     /* char *, owned */
} dlock_option_type;

enum {
	DLOCK_OPTION_QUERY = 1,          /* in a DSN behind the question mark */
	DLOCK_OPTION_SERVICE_QUERY = 2,  /* likewise, where others name the masters */
	DLOCK_OPTION_SSL = 4,            /* in an array within `ssl` */
	DLOCK_OPTION_KEY = 8,            /* connections that differ by it are not shared */
	DLOCK_OPTION_SECRET = 16,        /* never shown */
	DLOCK_OPTION_MASTERS = 32,       /* the masters of a service have it from the service */
	DLOCK_OPTION_SENTINELS = 64,     /* so do the Sentinels */
	DLOCK_OPTION_REPLICAS = 128,     /* makes sense with replicas only */
	DLOCK_OPTION_ZERO_IS_UNSET = 256, /* 0 in an array is as if it were not there */
	DLOCK_OPTION_FILE = 512           /* the path of a file or folder */
};

typedef struct {
	const char *name;
	const char *key; /* its name in an array; NULL: it has none of its own */
	dlock_option_type type;
	size_t field; /* its offset in dlock_endpoint */
	dlock_nanos least, most; /* of a switch, `least` is how it stands where nothing is said */
	unsigned schemes; /* a bit for each dlock_scheme that has it */
	unsigned flags;
} dlock_option;

/* The last has no name. */
extern const dlock_option dlock_endpoint_options[];

#define DLOCK_EACH_OPTION(option) \
	const dlock_option *option = dlock_endpoint_options; option->name; option++

/* Where it stands decides under which names options are known. */
typedef enum { DLOCK_FORM_QUERY, DLOCK_FORM_ARRAY, DLOCK_FORM_SSL } dlock_option_form;

/* NULL: there is none of that name. */
const dlock_option *dlock_option_find(const dlock_endpoint *server, dlock_option_form form, const char *name);

/* "has an unknown option ...; known are ...": all that have a name in that form, of a DSN those of its scheme. */
void dlock_option_unknown(const dlock_endpoint *server, dlock_option_form form, const char *name, dlock_error *error);

/* Sets it from the text that a DSN has. `name` is how messages call it. */
bool dlock_option_read(dlock_endpoint *server, const dlock_option *option, const char *name, const char *text,
	size_t len, dlock_error *error);

/* The option's field; the type says what it is. */
static inline void *dlock_option_field(const dlock_endpoint *server, const dlock_option *option)
{
	return (char *) server + option->field;
}

/* The rest is for endpoint.c. */

/* Sets the switches as they stand where nothing is said. */
void dlock_options_begin(dlock_endpoint *server);

/* Was it read? */
bool dlock_option_is_given(const dlock_endpoint *server, const void *field);

/* Is each option that was given one of this scheme's, and does it make sense? `reason` why others are not. */
bool dlock_options_check(const dlock_endpoint *server, unsigned scheme, const char *reason, dlock_error *error);

/* Copies those with that flag; false: out of memory. */
bool dlock_options_copy(dlock_endpoint *server, const dlock_endpoint *from, unsigned flag);

/* Writes those that tell connections apart, each text with its length in front, so that no two that differ read the
 * same. As snprintf(): returns the length that it has, or would have. */
size_t dlock_options_write_key(const dlock_endpoint *server, char *out, size_t size);

void dlock_options_free(dlock_endpoint *server);

#endif

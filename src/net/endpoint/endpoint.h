#ifndef DLOCK_ENDPOINT_H
#define DLOCK_ENDPOINT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "../../base/clock.h"
#include "../../base/error.h"

/* A server as the user describes it: its address, its options, and how its master is found. */

/* The kind of a server. */
typedef enum {
	DLOCK_ENDPOINT_REDIS,
	DLOCK_ENDPOINT_MEMCACHED,
	DLOCK_ENDPOINT_MEMORY,
	DLOCK_ENDPOINT_PGSQL,
	DLOCK_ENDPOINT_MYSQL, /* or MariaDB */
	DLOCK_ENDPOINT_KINDS
} dlock_endpoint_kind;

/* What messages say of each kind of server, so that code that refuses one need not know all kinds. */
typedef struct {
	const char *name;       /* in handles and descriptions */
	const char *title;      /* as users write it */
	const char *noun;
	const char *locks_only; /* where dlock offers only locks; NULL: it offers more */
	const char *no_option;  /* why it lacks an option of another kind */
} dlock_server_kind;

extern const dlock_server_kind dlock_server_kinds[DLOCK_ENDPOINT_KINDS];

/* How a client finds the server that has a key. */
typedef enum {
	DLOCK_ENDPOINT_FIXED,    /* it is at `host` and `port`, or at `path` */
	DLOCK_ENDPOINT_SENTINEL, /* it is the master of `service`, which Sentinels name */
	DLOCK_ENDPOINT_CLUSTER,  /* it is the master of the key's hash slot, which the nodes of a Redis Cluster name */
	DLOCK_ENDPOINT_HOSTS     /* it is a database: the host of `seeds` that accepts writes, or at `path` */
} dlock_endpoint_discovery;

/* Kind and discovery together, by the names in DSNs: redis (rediss, unix), sentinel, ... */
typedef enum {
	DLOCK_SCHEME_REDIS,
	DLOCK_SCHEME_SENTINEL,
	DLOCK_SCHEME_CLUSTER,
	DLOCK_SCHEME_MEMCACHED,
	DLOCK_SCHEME_MEMORY,
	DLOCK_SCHEME_PGSQL,
	DLOCK_SCHEME_MYSQL
} dlock_scheme;

/* A Sentinel, a node of a cluster, or a host of a database, which a client may ask. */
typedef struct {
	char *host;
	int port;
} dlock_seed;

/* The most servers of one lock, the most replicas that can confirm it, and the most `nodes`, for that many replicas. */
enum { DLOCK_MOST_SERVERS = 64, DLOCK_MOST_REPLICAS = 8, DLOCK_MOST_NODES = 17 };

enum { DLOCK_REDIS_PORT = 6379, DLOCK_SENTINEL_PORT = 26379, DLOCK_PGSQL_PORT = 5432, DLOCK_MYSQL_PORT = 3306 };

#define DLOCK_SHORTEST_GUARD (DLOCK_SECOND / 10)
/* As long as a grant lasts. */
#define DLOCK_SHORTEST_GUARD_OF_DATABASES (3 * DLOCK_SECOND)
#define DLOCK_LONGEST_GUARD (3600 * DLOCK_SECOND)
#define DLOCK_LONGEST_TIMEOUT (3600 * DLOCK_SECOND)

/* Where a server is and how to connect to it. It is filled field by field or from a DSN, then sealed, then shared
 * read-only. Strings are owned, and NULL if not given. Each option has a row in options.c. */
typedef struct {
	_Atomic unsigned references; /* the renewal thread holds some */
	dlock_endpoint_kind kind;
	/* NULL: there are `seeds`, or a unix socket at `path`. Of DLOCK_ENDPOINT_MEMORY the table's name, which may be
	 * empty. */
	char *host;
	char *path;
	int port;
	unsigned given; /* a bit for each option that was read: see dlock_option_is_given() */
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

	/* Of Redis; discovery, seeds and guard also of a database: */
	dlock_endpoint_discovery discovery;
	dlock_seed *seeds; /* if it is not FIXED; then host is NULL, and port is 0 unless there is a path */
	int seed_count;
	char *service;
	bool sentinel_tls; /* with the same tls_ options; if not given, as `tls` */
	char *sentinel_user, *sentinel_password;
	/* How many replicas must confirm a lock; 0: none, and a failover can make two holders. -1: not given, until it is
	 * sealed. */
	int replicas;
	/* With replicas: how many servers, including the master, may confirm or be promoted. 0: not given, twice the
	 * replicas plus one. */
	int nodes;
	/* With replicas, and of a database: no lease is longer, and no lock is granted for this long after a failover. 0:
	 * not given, must be set before use. */
	dlock_nanos guard;
	/* With replicas: nor for this long after a full resynchronization of a replica. On unless switched off. */
	bool resync_guard;

	/* Of a database: */
	char *dbname;
	char *socket; /* as given; then also `path` */
	char *schema; /* of PostgreSQL: where dlock's tables and functions are */
	bool create;  /* create these if they are missing */

	/* The id of the cluster node that was at this address, in hexadecimal digits; NULL: unknown, any node will do. Not
	 * in `key`. */
	char *node_id;

	/* "host:port" or the socket's path, "mymaster at s1:26379,s2:26379", "h1:7000,h2:7000": for messages, without
	 * credentials. */
	char *label;
	/* Everything that makes two connections different. It contains password and passphrase, so messages never show
	 * it. */
	char *key;
} dlock_endpoint;

/* A Redis server with default port and database, and one reference. NULL: out of memory. */
dlock_endpoint *dlock_endpoint_new(dlock_nanos connect_timeout, dlock_nanos read_timeout);
dlock_endpoint *dlock_endpoint_retain(dlock_endpoint *server);
void dlock_endpoint_release(dlock_endpoint *server);

/* Is it PostgreSQL, MySQL or MariaDB? */
static inline bool dlock_endpoint_is_database(const dlock_endpoint *server)
{
	return server->kind >= DLOCK_ENDPOINT_PGSQL;
}

/* Does it need a guard, because a server that lacks its last leases can replace it? */
static inline bool dlock_endpoint_has_guard(const dlock_endpoint *server)
{
	return server->replicas > 0 || dlock_endpoint_is_database(server);
}

/* Are both the same server and database, with any login? */
bool dlock_endpoint_is_same(const dlock_endpoint *a, const dlock_endpoint *b);

/* How many nodes must have a lease so that any `replicas` + 1 nodes include one of them. */
int dlock_endpoint_enough(const dlock_endpoint *server);

/* Replaces an owned string by a copy. False: out of memory, and the string is as before. */
bool dlock_endpoint_set(char **field, const char *value, size_t len);

/* Writes an error of the server as messages may show it: without the part that repeats the command. If it contains a
 * password, it is replaced. */
void dlock_endpoint_quote(const dlock_endpoint *server, const char *text, char *out, size_t size);

/* Adds a Sentinel, a node of a cluster, or a host of a database: by its parts, or from "host", "host:port" or
 * "[::1]:port". */
bool dlock_endpoint_add_seed(dlock_endpoint *server, const char *host, size_t len, int port, dlock_error *error);
bool dlock_endpoint_parse_seed(dlock_endpoint *server, const char *text, size_t len, dlock_error *error);

/* Writes the schemes for a message: of DSNs, or only the schemes that an array may name. Returns `text`. */
enum { DLOCK_SCHEME_LIST = 160 };
const char *dlock_endpoint_list_schemes(char text[DLOCK_SCHEME_LIST], bool of_dsn);

/* Sets kind, discovery, port and TLS by the name of a scheme. */
bool dlock_endpoint_set_scheme(dlock_endpoint *server, const char *name, size_t len, dlock_error *error);

/* The scheme that a DSN of this server begins with. For dlock_scheme_of(), redis, rediss and unix are one scheme. */
const char *dlock_endpoint_scheme(const dlock_endpoint *server);
dlock_scheme dlock_scheme_of(const dlock_endpoint *server);

/* Reads a DSN with one of these schemes. On failure the message continues the name of an argument: "must ...". */
bool dlock_endpoint_parse(dlock_endpoint *server, const char *dsn, size_t len, dlock_error *error);

/* Checks the fields together, and makes label and key. The caller calls it once, last. */
bool dlock_endpoint_seal(dlock_endpoint *server, dlock_error *error);

/* A server of that service, sealed and FIXED: with its credentials, TLS, timeouts and database, without replicas. NULL:
 * out of memory, or the host or port is invalid. */
dlock_endpoint *dlock_endpoint_member(const dlock_endpoint *service, const char *host, int port);

/* A Sentinel of that service, likewise, with the credentials and TLS for Sentinels. */
dlock_endpoint *dlock_endpoint_sentinel(const dlock_endpoint *service, int seed);

/* The longest time of one attempt: an eighth to a quarter of the lease time, so that there is time for another. It has
 * steps, so that leases of about the same length share a connection. Other lengths have other connections: a server
 * that is too slow for a short lease must not lose long ones. DLOCK_FOREVER: the server's timeouts are short enough. */
dlock_nanos dlock_timeout_cap(const dlock_endpoint *server, dlock_nanos ttl);

/* The server's read timeout, or the cap if that is shorter; and the same with the cap of this lease time. */
dlock_nanos dlock_read_timeout(const dlock_endpoint *server, dlock_nanos timeout_cap);
dlock_nanos dlock_answer_time(const dlock_endpoint *server, dlock_nanos ttl);

/* ---- options: what a specification says besides where the server is ----
 *
 * An option is a field of dlock_endpoint and a row in options.c. All code for options loops over the rows. It reads
 * DSNs and arrays, lists options in messages, and informs dlock-doctor. It also makes the keys of connections, copies
 * options to a service's members, frees them, and writes the table in docs/reference.md. */

typedef enum {
	DLOCK_OPTION_SECONDS, /* dlock_nanos */
	DLOCK_OPTION_WHOLE,   /* int */
	DLOCK_OPTION_SWITCH,  /* bool */
	DLOCK_OPTION_TEXT     /* char *, owned */
} dlock_option_type;

enum {
	DLOCK_OPTION_QUERY = 1,          /* in a DSN after the question mark */
	DLOCK_OPTION_SERVICE_QUERY = 2,  /* likewise, if the server is not FIXED */
	DLOCK_OPTION_SSL = 4,            /* in an array within `ssl` */
	DLOCK_OPTION_KEY = 8,            /* connections that differ in it are not shared */
	DLOCK_OPTION_SECRET = 16,        /* never shown */
	DLOCK_OPTION_MASTERS = 32,       /* masters inherit it from their service */
	DLOCK_OPTION_SENTINELS = 64,     /* so do Sentinels */
	DLOCK_OPTION_REPLICAS = 128,     /* makes sense only with replicas or a database */
	DLOCK_OPTION_ZERO_IS_UNSET = 256, /* 0 in an array means that it is not given */
	DLOCK_OPTION_FILE = 512           /* the path of a file or folder */
};

typedef struct {
	const char *name;
	const char *key; /* its name in an array; NULL: it has none of its own */
	dlock_option_type type;
	size_t field; /* its offset in dlock_endpoint */
	dlock_nanos least, most; /* of a switch, `least` is the default */
	unsigned schemes; /* a bit for each dlock_scheme that has it */
	unsigned flags;
} dlock_option;

/* The last row has no name. */
extern const dlock_option dlock_endpoint_options[];

#define DLOCK_EACH_OPTION(option) \
	const dlock_option *option = dlock_endpoint_options; option->name; option++

/* The place of an option in a specification, which decides its name. */
typedef enum { DLOCK_FORM_QUERY, DLOCK_FORM_ARRAY, DLOCK_FORM_SSL } dlock_option_form;

/* NULL: no option has that name there. */
const dlock_option *dlock_option_find(const dlock_endpoint *server, dlock_option_form form, const char *name);

/* Writes "has an unknown option ...; known are ...", with all options of that form; in a DSN, only options of its
 * scheme. */
void dlock_option_unknown(const dlock_endpoint *server, dlock_option_form form, const char *name, dlock_error *error);

/* Sets the option from the text of a DSN. Messages call it `name`. False with a message. */
bool dlock_option_read(dlock_endpoint *server, const dlock_option *option, const char *name, const char *text,
	size_t len, dlock_error *error);

/* The option's field, of the C type that option->type stands for. */
static inline void *dlock_option_field(const dlock_endpoint *server, const dlock_option *option)
{
	return (char *) server + option->field;
}

/* The rest is for endpoint.c. */

/* Sets the switches to their defaults. */
void dlock_options_begin(dlock_endpoint *server);

/* Was the option with this field read? */
bool dlock_option_is_given(const dlock_endpoint *server, const void *field);

/* Does each option that was given belong to this scheme, and make sense? `reason` says why other options do not
 * belong. */
bool dlock_options_check(const dlock_endpoint *server, unsigned scheme, const char *reason, dlock_error *error);

/* Copies the options with that flag. False: out of memory. */
bool dlock_options_copy(dlock_endpoint *server, const dlock_endpoint *from, unsigned flag);

/* Writes the options that distinguish connections. The length of each text precedes it, so that different options never
 * read the same. Returns the full length, as snprintf() does. */
size_t dlock_options_write_key(const dlock_endpoint *server, char *out, size_t size);

void dlock_options_free(dlock_endpoint *server);

#endif

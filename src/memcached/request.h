#ifndef DLOCK_MEMCACHED_REQUEST_H
#define DLOCK_MEMCACHED_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/clock.h"
#include "../base/token.h"

/* Requests to memcached and its replies: the meta commands of memcached 1.6
 * (https://github.com/memcached/memcached/blob/master/doc/protocol.txt). */

/* The key of the fencing counter, which all resources share. */
#define DLOCK_MEMCACHED_FENCE "dlock:fence"

/* The key that tells the server's clock (server_clock.h). */
#define DLOCK_MEMCACHED_CLOCK "dlock:clock"

/* Writes a digest of 64 hexadecimal digits and a NUL. Finding two texts with the same digest is infeasible
 * (SHA-256). */
typedef void dlock_memcached_digest(const char *text, size_t len, char hex[64 + 1]);

/* A key as requests contain it: at most 250 bytes, without spaces and control characters. */
typedef struct {
	char text[250 + 1];
	bool encoded; /* in base64, which the server decodes */
} dlock_memcached_key;

/* Makes the key of prefix and resource: unchanged if a request can contain it, in base64 if that is short enough,
 * otherwise its digest. No two resources have the same key. The key is empty if out of memory. */
void dlock_memcached_make_key(dlock_memcached_key *key, const char *prefix, size_t prefix_len, const char *resource,
	size_t resource_len, dlock_memcached_digest *digest);

typedef enum {
	DLOCK_MEMCACHED_HD, /* done */
	DLOCK_MEMCACHED_NS, /* not stored: the key exists */
	DLOCK_MEMCACHED_EX, /* the key has another CAS: it was changed since */
	DLOCK_MEMCACHED_NF, /* a change found no key */
	DLOCK_MEMCACHED_EN, /* a read found no key */
	DLOCK_MEMCACHED_VA, /* a value */
	DLOCK_MEMCACHED_VERSION,
	DLOCK_MEMCACHED_ERROR
} dlock_memcached_code;

typedef struct {
	dlock_memcached_code code;
	uint64_t cas;  /* of the item; 0: not in the reply */
	int64_t left;  /* seconds until it expires; -1: never, or not in the reply */
	size_t len;    /* of the value */
	char value[128]; /* its beginning and a NUL; of an error or a version, the line */
} dlock_memcached_reply;

typedef enum { DLOCK_MEMCACHED_PENDING, DLOCK_MEMCACHED_ANSWERED, DLOCK_MEMCACHED_FAILED } dlock_memcached_state;

/* A request and its outcome. The caller and the connection that carries it share it. */
typedef struct dlock_memcached_request {
	unsigned references;
	dlock_memcached_state state;
	bool sent;           /* the server may execute it, now or later */
	unsigned long opened; /* the generation of the connection that carried it, if it was sent */
	dlock_nanos sent_at; /* just before it was sent */
	bool timed;          /* it sets or asks for a time: the connection reads the clock before it */
	bool reads_clock;
	dlock_nanos late;    /* the key that it set expires so much earlier; DLOCK_FOREVER: not known */
	dlock_memcached_reply reply;
	struct dlock_memcached_request *next; /* in the connection's queue */
	size_t len;
	char text[];
} dlock_memcached_request;

/* Each of these creates a request, or returns NULL if out of memory. `seconds` is the lease time of the key. The
 * comments name the reply codes. */
dlock_memcached_request *dlock_memcached_version(void);
/* Sets the key if it is not there: HD with its CAS, or NS. */
dlock_memcached_request *dlock_memcached_add(const dlock_memcached_key *key, const char *token, int64_t seconds);
/* Sets the key if its CAS is still this one: HD with the new CAS, EX or NF. */
dlock_memcached_request *dlock_memcached_replace(
	const dlock_memcached_key *key, uint64_t cas, const char *token, int64_t seconds);
/* Deletes the key if its CAS is still this one: HD, EX or NF. */
dlock_memcached_request *dlock_memcached_delete(const dlock_memcached_key *key, uint64_t cas);
/* Reads the key: VA with its CAS and the seconds left, or EN. */
dlock_memcached_request *dlock_memcached_get(const dlock_memcached_key *key);
/* The first reads the server's clock. The second creates the key for that. */
dlock_memcached_request *dlock_memcached_read_clock(void);
dlock_memcached_request *dlock_memcached_make_clock(void);
/* Adds 1 to the fencing counter: VA with the number. A missing counter begins with `first`. */
dlock_memcached_request *dlock_memcached_count(int64_t first);

dlock_memcached_request *dlock_memcached_retain(dlock_memcached_request *request);
void dlock_memcached_release(dlock_memcached_request *request); /* accepts NULL */

/* Is the value of the reply this token? */
bool dlock_memcached_is_token(const dlock_memcached_reply *reply, const char *token);

/* Parses the first line of a reply, without its line end. False: it is no such line. After VA, a value of reply->len
 * bytes follows. */
bool dlock_memcached_read(dlock_memcached_reply *reply, const char *line);

#endif

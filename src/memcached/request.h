#ifndef DLOCK_MEMCACHED_REQUEST_H
#define DLOCK_MEMCACHED_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/clock.h"
#include "../base/token.h"

/* What is said to memcached, and what it answers: the meta commands of memcached 1.6
 * (https://github.com/memcached/memcached/blob/master/doc/protocol.txt). */

/* The key of the fencing counter, of all resources. */
#define DLOCK_MEMCACHED_FENCE "dlock:fence"

/* The key by which the server's clock is read (server_clock.h). */
#define DLOCK_MEMCACHED_CLOCK "dlock:clock"

/* Computes a digest of 64 hexadecimal digits, under which no two texts are found to collide (SHA-256). */
typedef void dlock_memcached_digest(const char *text, size_t len, char hex[64 + 1]);

/* A key as it is written: at most 250 bytes, without spaces and control characters. */
typedef struct {
	char text[250 + 1];
	bool encoded; /* in base64, which the server decodes */
} dlock_memcached_key;

/* The key of prefix . resource: as it is where that can be written, in base64 where it is short enough, otherwise its
 * digest. Two resources never share one. */
void dlock_memcached_make_key(dlock_memcached_key *key, const char *prefix, size_t prefix_len, const char *resource,
	size_t resource_len, dlock_memcached_digest *digest);

typedef enum {
	DLOCK_MEMCACHED_HD, /* done */
	DLOCK_MEMCACHED_NS, /* not stored: the key is there */
	DLOCK_MEMCACHED_EX, /* another one has changed it since */
	DLOCK_MEMCACHED_NF, /* not found, where it was to be changed */
	DLOCK_MEMCACHED_EN, /* not found, where it was read */
	DLOCK_MEMCACHED_VA, /* a value */
	DLOCK_MEMCACHED_VERSION,
	DLOCK_MEMCACHED_ERROR
} dlock_memcached_code;

typedef struct {
	dlock_memcached_code code;
	uint64_t cas;  /* of the item; 0: not told */
	int64_t left;  /* seconds until it expires; -1: never, or not told */
	size_t len;    /* of the value */
	char value[128]; /* its beginning, NUL-terminated; of an error or a version the line */
} dlock_memcached_reply;

typedef enum { DLOCK_MEMCACHED_PENDING, DLOCK_MEMCACHED_ANSWERED, DLOCK_MEMCACHED_FAILED } dlock_memcached_state;

/* One request and what became of it; shared by the caller and by the connection that carries it. */
typedef struct dlock_memcached_request {
	unsigned references;
	dlock_memcached_state state;
	bool sent;           /* the server may execute it, now or later */
	unsigned long opened; /* if it was sent: the generation of the connection that carried it */
	dlock_nanos sent_at; /* just before it was sent */
	bool timed;          /* it sets or asks for a time: the clock is read before it */
	bool reads_clock;
	dlock_nanos late;    /* so much earlier than it was told ends what it has set; DLOCK_FOREVER: not known */
	dlock_memcached_reply reply;
	struct dlock_memcached_request *next; /* in the connection's queue */
	size_t len;
	char text[];
} dlock_memcached_request;

/* Each is NULL when out of memory. `seconds` is how long the key lasts: the server's clock ticks once a second. */
dlock_memcached_request *dlock_memcached_version(void);
/* Sets the key if it is not there: HD with its CAS, or NS. */
dlock_memcached_request *dlock_memcached_add(const dlock_memcached_key *key, const char *token, int64_t seconds);
/* Sets it if its CAS is still this one: HD with the new CAS, EX or NF. */
dlock_memcached_request *dlock_memcached_replace(
	const dlock_memcached_key *key, uint64_t cas, const char *token, int64_t seconds);
/* Deletes it if its CAS is still this one: HD, EX or NF. */
dlock_memcached_request *dlock_memcached_delete(const dlock_memcached_key *key, uint64_t cas);
/* Reads it: VA with CAS and the time left, or EN. */
dlock_memcached_request *dlock_memcached_get(const dlock_memcached_key *key);
/* Reads the server's clock, and makes the key by which that is done. */
dlock_memcached_request *dlock_memcached_read_clock(void);
dlock_memcached_request *dlock_memcached_make_clock(void);
/* Adds 1 to the fencing counter: VA with the number. Where it is not there, it begins with `first`. */
dlock_memcached_request *dlock_memcached_count(int64_t first);

dlock_memcached_request *dlock_memcached_retain(dlock_memcached_request *request);
void dlock_memcached_release(dlock_memcached_request *request); /* NULL is fine */

/* Does the reply carry this token? */
bool dlock_memcached_is_token(const dlock_memcached_reply *reply, const char *token);

/* Reads the first line of a reply, which has no line end any more. False: it is none. The value of a VA follows,
 * reply->len bytes. */
bool dlock_memcached_read(dlock_memcached_reply *reply, const char *line);

#endif

#ifndef DLOCK_OPTIONS_H
#define DLOCK_OPTIONS_H

#include "server.h"

/* What the specification of a server says beside where it is. An option is a field of dlock_server and a row in
 * options.c. All that is done with options is a loop over the rows: reading DSNs and arrays, what messages list, what
 * dlock-doctor is told, the key that tells connections apart, the copies for a service's members, freeing, and the table
 * in docs/reference.md. */

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
	DLOCK_OPTION_ZERO_IS_UNSET = 256 /* 0 in an array is as if it were not there */
};

typedef struct {
	const char *name;
	const char *key; /* its name in an array; NULL: it has none of its own */
	dlock_option_type type;
	size_t field; /* its offset in dlock_server */
	dlock_nanos least, most; /* of a switch, `least` is how it stands where nothing is said */
	unsigned schemes; /* a bit for each dlock_scheme that has it */
	unsigned flags;
} dlock_option;

/* The last has no name. */
extern const dlock_option dlock_options_of_servers[];

#define DLOCK_EACH_OPTION(option) \
	const dlock_option *option = dlock_options_of_servers; option->name; option++

/* Sets the switches as they stand where nothing is said. */
void dlock_options_begin(dlock_server *server);

/* Where it stands decides under which names options are known. */
typedef enum { DLOCK_FORM_QUERY, DLOCK_FORM_ARRAY, DLOCK_FORM_SSL } dlock_option_form;

/* NULL: there is none of that name. */
const dlock_option *dlock_option_find(const dlock_server *server, dlock_option_form form, const char *name);

/* "known are ... and ...": `others`, and the options that have a name in that form, of a DSN those of its scheme. */
void dlock_option_list(const dlock_server *server, dlock_option_form form, const char *others, dlock_error *out);

/* Sets it from the text that a DSN has. `name` is how messages call it. */
bool dlock_option_read(dlock_server *server, const dlock_option *option, const char *name, const char *text, size_t len,
	dlock_error *error);

/* The option's field; the type says what it is. */
static inline void *dlock_option_field(const dlock_server *server, const dlock_option *option)
{
	return (char *) server + option->field;
}

/* Was it read? */
bool dlock_option_is_given(const dlock_server *server, const void *field);

/* Is each option that was given one of this scheme's, and does it make sense? `reason` why others are not. */
bool dlock_options_check(const dlock_server *server, unsigned scheme, const char *reason, dlock_error *error);

/* Copies those with that flag; false: out of memory. */
bool dlock_options_copy(dlock_server *server, const dlock_server *from, unsigned flag);

/* Writes those that tell connections apart, each text with its length in front, so that no two that differ read the same.
 * As snprintf(): returns the length that it has, or would have. */
size_t dlock_options_write_key(const dlock_server *server, char *out, size_t size);

void dlock_options_free(dlock_server *server);

#endif

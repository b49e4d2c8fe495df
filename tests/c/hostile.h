#ifndef HOSTILE_H
#define HOSTILE_H

#include <sys/types.h>

#include "../../src/lock/operations.h"

/* Hostile servers, as a table of ways to do harm. Each way runs in a process of its own, several at a time, so that a
 * crash or a hang ends no other way. The process reports complaints to the test, which checks them. */

typedef struct {
	const char *data;
	size_t len;
} text;

#define TEXT(literal)                                                                                                  \
	{                                                                                                                  \
		literal, sizeof(literal) - 1                                                                                   \
	}

/* Reports what is wrong, in the process of a way. The process continues. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

/* Judges a call. It has ended by `since` + SOON, and succeeds only if it may. If it fails, it says why in a text that
 * is fit for a log. */
void judge(const char *call, dlock_status status, bool may_succeed, const dlock_error *error, dlock_nanos since);

/* Makes a claim look held, because calls ask no server about a claim that is not. */
void believe(dlock_claim *claim);

/* Lets the renewal thread renew the claim until it is lost, for `ms` at most. */
void keep(dlock_claim *claim, int ms);

/* ---- the server ---- */

enum {
	CLOSES = 1,    /* after its answer */
	RESETS = 2,    /* the same, by a reset */
	AT_ONCE = 4,   /* before any request */
	DRIPS = 8,     /* byte by byte */
	SAYS_YES = 16, /* its answer is a yes to some request */
	MANGLES = 32,  /* pseudo-random bytes follow the answer */
	ENDLESS = 64   /* it sends `flood` without end */
};

typedef struct {
	const char *name;
	text greeting; /* as soon as a client connects */
	text answer;   /* to each request; if `to` is set, to each that contains it */
	text flood;    /* sent `floods` times after the answer */
	int floods;
	unsigned how;
	const char *to;
} hostile;

/* The usual answer to the nth request of a connection, from 0. If its `data` is NULL, the way's own answer is due. */
typedef text usual_answer_of(const hostile *way, const char *request, size_t len, int nth);

/* Starts a child that serves connections in that way. It splits what it has read into requests at each `boundary`.
 * NULL: all that was read is one request. */
pid_t hostile_start(int *port, const hostile *way, usual_answer_of *usual, const char *boundary);

/* ---- the test ---- */

typedef struct {
	int count;
	const char *(*name)(int way);
	void (*attack)(int way);
} hostile_ways;

/* Tries the ways whose names contain `only` (NULL: all), with one check for each. */
void hostile_run(const hostile_ways *ways, const char *only);

#define SECRET_WORD "s3cr3t"

#endif

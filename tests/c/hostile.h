#ifndef HOSTILE_H
#define HOSTILE_H

#include <sys/types.h>

#include "../../src/lock/operations.h"

/* Servers that mean harm, as a table of ways: each way is tried in a process of its own, several at a time, so that one
 * that crashes or hangs takes nothing else with it. What it finds is told to the test, which checks. */

typedef struct {
	const char *data;
	size_t len;
} text;

#define TEXT(literal)                                                                                                  \
	{                                                                                                                  \
		literal, sizeof(literal) - 1                                                                                   \
	}

/* In a way's process: what is wrong. It goes on. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

/* After a call: it has ended by `since` + SOON, has not said yes unless it may, and says why in a text that is fit for
 * a log. */
void judge(const char *call, dlock_status status, bool may_succeed, const dlock_error *error, dlock_nanos since);

/* As if it were held, for calls that ask nobody about a lock that is not. */
void believe(dlock_claim *claim);

/* Has the renewal thread look after it until it is lost, or for that long. */
void keep(dlock_claim *claim, int ms);

/* ---- the server ---- */

enum {
	CLOSES = 1,    /* after its answer */
	RESETS = 2,    /* the same, by a reset */
	AT_ONCE = 4,   /* before anything is asked */
	DRIPS = 8,     /* byte by byte */
	SAYS_YES = 16, /* what it answers is a yes to some request */
	MANGLES = 32,  /* the answer is followed by pseudo-random bytes */
	ENDLESS = 64   /* `flood` again and again, without end */
};

typedef struct {
	const char *name;
	text greeting; /* as soon as there is a connection */
	text answer;   /* to each request; to those that have `to` in them, if there is one */
	text flood;    /* sent `floods` times after the answer */
	int floods;
	unsigned how;
	const char *to;
} hostile;

/* The usual answer to the nth request of a connection, from 0; where `data` is NULL, the way's own is due. */
typedef text usual_answer_of(const hostile *way, const char *request, size_t len, int nth);

/* A child that serves connections that way. A request ends where the next one begins with `boundary`; the last one, and
 * with NULL each, ends with what was read. */
pid_t hostile_start(int *port, const hostile *way, usual_answer_of *usual, const char *boundary);

/* ---- the test ---- */

typedef struct {
	int count;
	const char *(*name)(int way);
	void (*attack)(int way);
} hostile_ways;

/* Tries the ways whose names have `only` in them, NULL: all. A check for each. */
void hostile_run(const hostile_ways *ways, const char *only);

#define SECRET_WORD "s3cr3t"

#endif

#ifndef DLOCK_PHP_METRICS_H
#define DLOCK_PHP_METRICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../base/clock.h"

/* What all workers of a pool have counted, in memory that they share from before the first fork: totals in stripes, to
 * which each adds without a lock, and a slot for each worker, which says what it holds and waits for now. There is
 * nothing to repair when a worker is killed: readers leave its slot out, and another one takes it. */

/* ---- totals ---- */

typedef enum {
	DLOCK_METRIC_ACQUIRED,
	DLOCK_METRIC_TIMEOUT,
	DLOCK_METRIC_DEADLOCK,
	DLOCK_METRIC_CONNECTION,
	DLOCK_METRIC_QUORUM,
	DLOCK_METRIC_OTHER,
	DLOCK_METRIC_LOST,
	DLOCK_METRIC_HANDED_OVER,
	DLOCK_METRIC_COUNTS
} dlock_metric;

/* Of waits, and of how long locks are held. */
enum { DLOCK_METRIC_BUCKETS = 15 }; /* the last one has no end */
extern const double dlock_metric_bounds[DLOCK_METRIC_BUCKETS - 1]; /* seconds */

typedef struct {
	uint64_t buckets[DLOCK_METRIC_BUCKETS];
	uint64_t nanos;
} dlock_histogram;

/* Counted for each class and folded name. */
typedef struct {
	uint64_t counts[DLOCK_METRIC_COUNTS];
	dlock_histogram waited, held;
} dlock_totals;

/* Of one worker, read off its counters at the end of requests. */
typedef enum {
	DLOCK_METRIC_CONNECTIONS,
	DLOCK_METRIC_RENEWAL_FAILURES,
	DLOCK_METRIC_RESERVED,
	DLOCK_METRIC_REFUSED,
	DLOCK_METRIC_CONFIRMED,
	DLOCK_METRIC_EXPIRED,
	DLOCK_METRIC_CANCELLED,
	DLOCK_METRIC_REFUNDED,
	DLOCK_METRIC_WORKER_COUNTS
} dlock_worker_metric;

/* Before the first fork, once. Without the memory nothing is counted. `names`: how many names are told apart; the rest
 * is one. */
void dlock_metrics_begin(int names);

/* The place of a class and a resource, whose name is folded: what changes from order to order is left out. Any number
 * from here on is good for the next ones. */
int dlock_metrics_place(const char *class, const char *resource, size_t len);

void dlock_metrics_count(int place, dlock_metric metric);
void dlock_metrics_waited(int place, dlock_nanos length);
void dlock_metrics_held(int place, dlock_nanos length);
void dlock_metrics_add(dlock_worker_metric metric, uint64_t more);

/* ---- this worker ---- */

/* Its slot, under ZTS this thread's. */
typedef struct {
	_Atomic pid_t pid; /* 0: free */
	_Atomic uint64_t started; /* when that process was, as the system has it */
	_Atomic uint32_t held, waiting;
	_Atomic dlock_nanos held_since; /* the oldest; 0: nothing is held */
	char room[32]; /* no two in one line of the cache */
} dlock_worker;

/* The calling process' own, claimed when it is asked for first. `kept` is where the caller keeps it; NULL: there is
 * none free. */
dlock_worker *dlock_metrics_worker(dlock_worker **kept, uint64_t *process);
void dlock_metrics_leave(dlock_worker *worker);

/* ---- for readers ---- */

/* The next place that has a name, from 0 on; -1: there is none. "other" is the name of those beyond the last. */
int dlock_metrics_next(int place, const char **class, const char **name);
dlock_totals dlock_metrics_read(int place);
uint64_t dlock_metrics_sum(dlock_worker_metric metric);

typedef struct {
	uint64_t workers, held, waiting, uncounted;
	dlock_nanos oldest; /* 0: no worker holds a lock */
} dlock_gauges;

dlock_gauges dlock_metrics_gauges(void);

#endif

#ifndef DLOCK_PHP_METRICS_H
#define DLOCK_PHP_METRICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../base/clock.h"

/* What all workers of a pool have counted, in memory that they share from before the first fork. Totals are in stripes,
 * to which each worker adds without a lock. Each worker has a slot, with the numbers of locks that it holds and waits
 * for now. A killed worker leaves nothing to repair: readers skip its slot, and another worker claims it. */

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

/* Histograms of waits, and of how long locks were held. */
enum { DLOCK_METRIC_BUCKETS = 15 }; /* the last one has no upper bound */
extern const double dlock_metric_bounds[DLOCK_METRIC_BUCKETS - 1]; /* upper bounds, in seconds */

typedef struct {
	uint64_t buckets[DLOCK_METRIC_BUCKETS];
	uint64_t nanos;
} dlock_histogram;

/* The totals of one class and folded name. */
typedef struct {
	uint64_t counts[DLOCK_METRIC_COUNTS];
	dlock_histogram waited, held;
} dlock_totals;

/* Totals of all workers. dlock_stats_publish() adds the counters of each worker at the end of its requests. */
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

/* Call it once, before the first fork. If there is no memory, nothing is counted. `names`: how many names are told
 * apart; all other names share one place. */
void dlock_metrics_begin(int names);

/* The place of a class and a resource among the totals. The resource's name is folded: numbers in it become *. */
int dlock_metrics_place(const char *class, const char *resource, size_t len);

/* Each adds to the totals at a place; the last one, to a total of all workers. */
void dlock_metrics_count(int place, dlock_metric metric);
void dlock_metrics_waited(int place, dlock_nanos length);
void dlock_metrics_held(int place, dlock_nanos length);
void dlock_metrics_add(dlock_worker_metric metric, uint64_t more);

/* ---- this worker ---- */

/* The slot of a worker process, under ZTS of a thread. */
typedef struct {
	_Atomic uint64_t owner; /* which process (metrics.c); 0: free */
	_Atomic uint32_t held, waiting;
	_Atomic dlock_nanos held_since; /* since when the oldest lock is held; 0: no lock is held */
	char room[40]; /* so that no two workers write to the same cache line */
} dlock_worker;

/* The slot of the calling process, claimed at its first call. NULL: no slot is free. The caller keeps `kept` and
 * `process` for the next call; `process` is 0 at first. */
dlock_worker *dlock_metrics_worker(dlock_worker **kept, uint64_t *process);

/* Frees the slot, if it is the calling process's own. It may be NULL. */
void dlock_metrics_leave(dlock_worker *worker);

/* ---- for readers ---- */

/* The first place from `place` on that has a name; -1: there is none. The last place, "other", is that of all names
 * without a place of their own. */
int dlock_metrics_next(int place, const char **class, const char **name);

/* What is counted: at a place that dlock_metrics_next() returned, and by all workers. */
dlock_totals dlock_metrics_read(int place);
uint64_t dlock_metrics_sum(dlock_worker_metric metric);

/* What the living workers hold and wait for now. `uncounted`: how many workers found no free slot. */
typedef struct {
	uint64_t workers, held, waiting, uncounted;
	dlock_nanos oldest; /* for how long the oldest lock has been held; 0: no lock is held */
} dlock_gauges;

dlock_gauges dlock_metrics_gauges(void);

#endif

#include "stats.h"

#include "../lock/renewal.h"
#include "globals.h"

void dlock_collect_stats(zval *stats)
{
	const dlock_counters *counters = &DLOCK_G(counters);
	dlock_renewal_counts renewal = dlock_renewal_count();
	dlock_pools_counts pools = dlock_pools_count(&DLOCK_G(pools));

	array_init(stats);
	add_assoc_long(stats, "acquisitions", (zend_long) counters->acquisitions);
	add_assoc_long(stats, "waits", (zend_long) counters->waits);
	add_assoc_double(stats, "wait_time", (double) counters->wait_time / DLOCK_SECOND);
	add_assoc_long(stats, "timeouts", (zend_long) counters->timeouts);
	add_assoc_long(stats, "guard_waits", (zend_long) counters->guard_waits);
	add_assoc_long(stats, "releases", (zend_long) counters->releases);
	add_assoc_long(stats, "hand_overs_given", (zend_long) counters->hand_overs_given);
	add_assoc_long(stats, "hand_overs_received", (zend_long) counters->hand_overs_received);
	add_assoc_long(stats, "renewals", (zend_long) renewal.renewals);
	add_assoc_long(stats, "renewal_failures", (zend_long) renewal.failures);
	add_assoc_long(stats, "losses", (zend_long) counters->losses);
	add_assoc_long(stats, "connections", (zend_long) (pools.connections + renewal.connections));
	add_assoc_long(stats, "reconnections", (zend_long) (pools.reconnections + renewal.reconnections));
	add_assoc_long(stats, "sessions", (zend_long) pools.sessions);
	add_assoc_long(stats, "reservations", (zend_long) counters->reservations);
	add_assoc_long(stats, "reservations_refused", (zend_long) counters->reservations_refused);
	add_assoc_long(stats, "sales", (zend_long) counters->sales);
	add_assoc_long(stats, "late_sales", (zend_long) counters->late_sales);
	add_assoc_long(stats, "cancellations", (zend_long) counters->cancellations);
	add_assoc_long(stats, "refunds", (zend_long) counters->refunds);
	add_assoc_long(stats, "expired_refusals", (zend_long) counters->expired_refusals);
	add_assoc_long(stats, "stocks_uncertain", (zend_long) counters->stocks_uncertain);
}

ZEND_FUNCTION(Dlock_stats)
{
	ZEND_PARSE_PARAMETERS_NONE();
	dlock_collect_stats(return_value);
}

void dlock_stats_publish(void)
{
	const dlock_counters *counters = &DLOCK_G(counters);
	dlock_renewal_counts renewal = dlock_renewal_count();
	const uint64_t now[DLOCK_METRIC_WORKER_COUNTS] = {
		[DLOCK_METRIC_CONNECTIONS] = dlock_pools_count(&DLOCK_G(pools)).connections + renewal.connections,
		[DLOCK_METRIC_RENEWAL_FAILURES] = renewal.failures,
		[DLOCK_METRIC_RESERVED] = counters->reservations,
		[DLOCK_METRIC_REFUSED] = counters->reservations_refused,
		[DLOCK_METRIC_CONFIRMED] = counters->sales,
		[DLOCK_METRIC_EXPIRED] = counters->expired_refusals,
		[DLOCK_METRIC_CANCELLED] = counters->cancellations,
		[DLOCK_METRIC_REFUNDED] = counters->refunds,
	};

	for (int i = 0; i < DLOCK_METRIC_WORKER_COUNTS; i++) {
		uint64_t before = DLOCK_G(published)[i];
		dlock_metrics_add((dlock_worker_metric) i, now[i] > before ? now[i] - before : 0);
		DLOCK_G(published)[i] = now[i];
	}
}

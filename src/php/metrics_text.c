#include "metrics.h"

#include <inttypes.h>

#include "globals.h"
#include "stats.h"

#include "zend_smart_str.h"

/* Dlock\metrics(): the totals as OpenMetrics text
 * (https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md). */

/* Begins a family of metrics. */
static void begin(smart_str *text, const char *name, const char *type, const char *help)
{
	smart_str_append_printf(text, "# TYPE %s %s\n# HELP %s %s\n", name, type, name, help);
}

/* Quoted text needs escapes for a backslash, a quote and a newline. fold() leaves no newline in a name. */
static void append_quoted(smart_str *text, const char *value)
{
	for (; *value; value++) {
		if (*value == '\\' || *value == '"') {
			smart_str_appendc(text, '\\');
		}
		smart_str_appendc(text, *value);
	}
}

static void append_labels(smart_str *text, const char *class, const char *name, const char *key, const char *value)
{
	smart_str_appends(text, "{class=\"");
	append_quoted(text, class);
	smart_str_appends(text, "\",name=\"");
	append_quoted(text, name);
	if (key) {
		smart_str_append_printf(text, "\",%s=\"%s", key, value);
	}
	smart_str_appends(text, "\"}");
}

static void add_counts(smart_str *text, const char *family, dlock_metric first, int count, const char *key,
	const char *const *values)
{
	const char *class, *name;

	for (int place = 0; (place = dlock_metrics_next(place, &class, &name)) >= 0; place++) {
		dlock_totals totals = dlock_metrics_read(place);
		for (int i = 0; i < count; i++) {
			smart_str_append_printf(text, "%s_total", family);
			append_labels(text, class, name, key, key ? values[i] : NULL);
			smart_str_append_printf(text, " %" PRIu64 "\n", totals.counts[first + i]);
		}
	}
}

/* dlock_metric_bounds as text. The specification requires numbers with a point, where PHP's %f and %g have what the
 * program's locale has. */
static const char *const bounds[DLOCK_METRIC_BUCKETS] = { "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1",
	"0.25", "0.5", "1.0", "2.5", "5.0", "10.0", "60.0", "+Inf" };

static void add_histogram(smart_str *text, const char *family, const char *class, const char *name,
	const dlock_histogram *histogram)
{
	uint64_t count = 0;

	for (int i = 0; i < DLOCK_METRIC_BUCKETS; i++) {
		count += histogram->buckets[i];
		smart_str_append_printf(text, "%s_bucket", family);
		append_labels(text, class, name, "le", bounds[i]);
		smart_str_append_printf(text, " %" PRIu64 "\n", count);
	}
	smart_str_append_printf(text, "%s_count", family);
	append_labels(text, class, name, NULL, NULL);
	smart_str_append_printf(text, " %" PRIu64 "\n%s_sum", count, family);
	append_labels(text, class, name, NULL, NULL);
	smart_str_append_printf(text, " %.9F\n", (double) histogram->nanos / DLOCK_SECOND);
}

static void add_histograms(smart_str *text)
{
	const char *class, *name;

	begin(text, "dlock_wait_seconds", "histogram", "How long attempts took.");
	for (int place = 0; (place = dlock_metrics_next(place, &class, &name)) >= 0; place++) {
		dlock_totals totals = dlock_metrics_read(place);
		add_histogram(text, "dlock_wait_seconds", class, name, &totals.waited);
	}
	begin(text, "dlock_hold_seconds", "histogram", "How long locks were held.");
	for (int place = 0; (place = dlock_metrics_next(place, &class, &name)) >= 0; place++) {
		dlock_totals totals = dlock_metrics_read(place);
		add_histogram(text, "dlock_hold_seconds", class, name, &totals.held);
	}
}

static void add_worker_counts(smart_str *text)
{
	static const char *const outcomes[] = { "reserved", "refused", "confirmed", "expired", "cancelled", "refunded" };

	begin(text, "dlock_renewal_failures", "counter", "Renewals without an answer.");
	smart_str_append_printf(
		text, "dlock_renewal_failures_total %" PRIu64 "\n", dlock_metrics_sum(DLOCK_METRIC_RENEWAL_FAILURES));
	begin(text, "dlock_connections", "counter", "Connections that were opened.");
	smart_str_append_printf(text, "dlock_connections_total %" PRIu64 "\n", dlock_metrics_sum(DLOCK_METRIC_CONNECTIONS));
	begin(text, "dlock_reservations", "counter", "What became of orders.");
	for (int i = 0; i < (int) (sizeof outcomes / sizeof *outcomes); i++) {
		smart_str_append_printf(text, "dlock_reservations_total{outcome=\"%s\"} %" PRIu64 "\n", outcomes[i],
			dlock_metrics_sum(DLOCK_METRIC_RESERVED + i));
	}
}

static void add_gauge(smart_str *text, const char *name, const char *help, double value)
{
	begin(text, name, "gauge", help);
	smart_str_append_printf(text, "%s ", name);
	smart_str_append_double(text, value, 10, false);
	smart_str_appendc(text, '\n');
}

static void add_gauges(smart_str *text)
{
	dlock_gauges gauges = dlock_metrics_gauges();

	add_gauge(text, "dlock_held", "Locks that this host's workers hold.", (double) gauges.held);
	add_gauge(text, "dlock_waiting", "Workers that wait for a lock.", (double) gauges.waiting);
	add_gauge(text, "dlock_oldest_hold_seconds", "For how long the oldest of these has been held.",
		(double) gauges.oldest / DLOCK_SECOND);
	add_gauge(text, "dlock_workers", "Workers that have used locks.", (double) gauges.workers);
	add_gauge(
		text, "dlock_workers_uncounted", "Workers beyond 500, which gauges leave out.", (double) gauges.uncounted);
}

ZEND_FUNCTION(Dlock_metrics)
{
	static const char *const reasons[] = { "timeout", "deadlock", "connection", "quorum", "other" };
	smart_str text = { NULL, 0 };

	ZEND_PARSE_PARAMETERS_NONE();
	dlock_stats_publish();
	begin(&text, "dlock_acquisitions", "counter", "Locks that were acquired.");
	add_counts(&text, "dlock_acquisitions", DLOCK_METRIC_ACQUIRED, 1, NULL, NULL);
	begin(&text, "dlock_acquire_failures", "counter", "Attempts that have failed.");
	add_counts(&text, "dlock_acquire_failures", DLOCK_METRIC_TIMEOUT, 5, "reason", reasons);
	begin(&text, "dlock_losses", "counter", "Leases that were lost.");
	add_counts(&text, "dlock_losses", DLOCK_METRIC_LOST, 1, NULL, NULL);
	begin(&text, "dlock_handovers", "counter", "Locks that a release has handed to a waiter.");
	add_counts(&text, "dlock_handovers", DLOCK_METRIC_HANDED_OVER, 1, NULL, NULL);
	add_histograms(&text);
	add_worker_counts(&text);
	add_gauges(&text);
	smart_str_appends(&text, "# EOF\n");
	RETURN_STR(smart_str_extract(&text));
}

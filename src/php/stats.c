#include "stats.h"

#include "ext/standard/info.h"
#include <hiredis/hiredis.h>

#ifdef DLOCK_ZOOKEEPER
#include <zookeeper/zookeeper.h>
#endif
#ifdef DLOCK_MYSQL
#include <mysql.h>
#endif
#ifdef DLOCK_PGSQL
#include <libpq-fe.h>
#endif
#ifdef DLOCK_TLS
#include <openssl/crypto.h>
#include <openssl/opensslv.h>
#endif
#include <dlfcn.h>

#include "../lock/renewal.h"
#include "globals.h"

/* A process has one renewal thread: under ZTS, its counts are those of all threads. */
static void collect(zval *stats)
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
	collect(return_value);
}

static void read_counts(uint64_t now[DLOCK_METRIC_WORKER_COUNTS])
{
	const dlock_counters *counters = &DLOCK_G(counters);

	now[DLOCK_METRIC_RENEWAL_FAILURES] = 0; /* the renewal thread's, which are those of all threads */
	now[DLOCK_METRIC_CONNECTIONS] = dlock_pools_count(&DLOCK_G(pools)).connections;
	now[DLOCK_METRIC_RESERVED] = counters->reservations;
	now[DLOCK_METRIC_REFUSED] = counters->reservations_refused;
	now[DLOCK_METRIC_CONFIRMED] = counters->sales;
	now[DLOCK_METRIC_EXPIRED] = counters->expired_refusals;
	now[DLOCK_METRIC_CANCELLED] = counters->cancellations;
	now[DLOCK_METRIC_REFUNDED] = counters->refunds;
}

void dlock_stats_forked(void)
{
	read_counts(DLOCK_G(published));
}

void dlock_stats_publish(void)
{
	dlock_renewal_counts renewal = dlock_renewal_count_new();
	uint64_t now[DLOCK_METRIC_WORKER_COUNTS];

	read_counts(now);
	for (int i = 0; i < DLOCK_METRIC_WORKER_COUNTS; i++) {
		uint64_t before = DLOCK_G(published)[i];
		dlock_metrics_add((dlock_worker_metric) i, now[i] > before ? now[i] - before : 0);
		DLOCK_G(published)[i] = now[i];
	}
	dlock_metrics_add(DLOCK_METRIC_CONNECTIONS, renewal.connections);
	dlock_metrics_add(DLOCK_METRIC_RENEWAL_FAILURES, renewal.failures);
}

#define TEXT(macro) TEXT_(macro)
#define TEXT_(text) #text

/* Prints the file that a library was loaded from. If the library has no function for its version, the file tells it. */
static void print_library(const char *title, const char *built_with, void *symbol)
{
	char text[512];
	const char *loaded = "unknown";
	char path[MAXPATHLEN];
	Dl_info info;

	if (dladdr(symbol, &info) && info.dli_fname && VCWD_REALPATH(info.dli_fname, path)) {
		loaded = path;
	}
	snprintf(text, sizeof text, "built with %s, running %s", built_with, loaded);
	php_info_print_table_row(2, title, text);
}

static void print_stats(void)
{
	zval stats, *value;
	zend_string *name, *text;

	collect(&stats);
	php_info_print_table_start();
	php_info_print_table_header(2, "Since this process started", "");
	ZEND_HASH_FOREACH_STR_KEY_VAL(Z_ARRVAL(stats), name, value) {
		text = zval_get_string(value);
		php_info_print_table_row(2, ZSTR_VAL(name), ZSTR_VAL(text));
		zend_string_release(text);
	} ZEND_HASH_FOREACH_END();
	php_info_print_table_end();
	zval_ptr_dtor(&stats);
}

void dlock_print_info(zend_module_entry *module)
{
	php_info_print_table_start();
	php_info_print_table_row(2, "dlock support", "enabled");
	php_info_print_table_row(2, "dlock version", module->version);
	print_library("hiredis", TEXT(HIREDIS_MAJOR) "." TEXT(HIREDIS_MINOR) "." TEXT(HIREDIS_PATCH),
		(void *) (uintptr_t) redisReaderCreate);
#ifdef DLOCK_TLS
	php_info_print_table_row(2, "TLS (rediss://)", "built with " OPENSSL_VERSION_TEXT);
	php_info_print_table_row(2, "TLS library", OpenSSL_version(OPENSSL_VERSION));
#else
	php_info_print_table_row(2, "TLS (rediss://)", "not in this build");
#endif
#if defined(DLOCK_PGSQL) || defined(DLOCK_MYSQL)
	char version[64];
#endif
#ifdef DLOCK_MYSQL
	snprintf(version, sizeof version, "libmariadb %.40s", mysql_get_client_info());
	php_info_print_table_row(2, "MySQL client", version);
#else
	php_info_print_table_row(2, "MySQL client", "not in this build");
#endif
#ifdef DLOCK_PGSQL
	snprintf(version, sizeof version, "libpq %d.%d", PQlibVersion() / 10000, PQlibVersion() % 10000);
	php_info_print_table_row(2, "PostgreSQL client", version);
#else
	php_info_print_table_row(2, "PostgreSQL client", "not in this build");
#endif
#ifdef DLOCK_ZOOKEEPER
	print_library("ZooKeeper client", ZOO_VERSION, (void *) (uintptr_t) zookeeper_close);
#else
	php_info_print_table_row(2, "ZooKeeper client", "not in this build");
#endif
	php_info_print_table_end();
	print_stats();
	display_ini_entries(module);
}

#include "info.h"

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

#include "stats.h"

#define TEXT(macro) TEXT_(macro)
#define TEXT_(text) #text

/* The file that a library was loaded from, which tells its version where the library has no function for it. */
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

	dlock_collect_stats(&stats);
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

#include "php_dlock.h"

#include "SAPI.h"
#include "ext/standard/html.h"
#include "ext/standard/info.h"
#include "zend_attributes.h"
#include "zend_enum.h"
#include "zend_exceptions.h"
#include <hiredis/hiredis.h>

#ifdef DLOCK_ZOOKEEPER
#include <zookeeper/zookeeper.h>
#endif
#ifdef DLOCK_TLS
#include <openssl/crypto.h>
#include <openssl/opensslv.h>
#endif
#ifndef PHP_WIN32
#include <dlfcn.h>
#endif

#include "src/php/common.h"

#define DLOCK_TEXT(macro) DLOCK_TEXT_(macro)
#define DLOCK_TEXT_(text) #text

ZEND_DECLARE_MODULE_GLOBALS(dlock)

/* ---- classes ---- */

#if PHP_VERSION_ID < 80200
/* #[SensitiveParameter] came with PHP 8.2; before, backtraces show arguments. */
#define zend_add_parameter_attribute(functions, index, name, arguments) ((void) 0)
#endif

#include "stubs/dlock_arginfo.h"

zend_class_entry *dlock_ce_manager;
zend_class_entry *dlock_ce_distributed_lock;
zend_class_entry *dlock_ce_red_lock;
#ifdef DLOCK_ZOOKEEPER
zend_class_entry *dlock_ce_zk_lock;
#endif
zend_class_entry *dlock_ce_lease;
zend_class_entry *dlock_ce_lease_state;
zend_class_entry *dlock_ce_exception;
zend_class_entry *dlock_ce_timeout_exception;
zend_class_entry *dlock_ce_lost_exception;
zend_class_entry *dlock_ce_connection_exception;
zend_class_entry *dlock_ce_quorum_exception;
zend_class_entry *dlock_ce_deadlock_exception;

static void register_classes(int module_number)
{
	register_dlock_symbols(module_number);

	dlock_ce_exception = register_class_Dlock_DlockException(zend_ce_exception);
	dlock_ce_timeout_exception = register_class_Dlock_AcquireTimeoutException(dlock_ce_exception);
	dlock_ce_lost_exception = register_class_Dlock_LeaseLostException(dlock_ce_exception);
	dlock_ce_connection_exception = register_class_Dlock_ConnectionException(dlock_ce_exception);
	dlock_ce_quorum_exception = register_class_Dlock_QuorumException(dlock_ce_connection_exception);
	dlock_ce_deadlock_exception = register_class_Dlock_DeadlockException(dlock_ce_exception);

	dlock_ce_lease_state = register_class_Dlock_LeaseState();
	dlock_ce_lease = register_class_Dlock_Lease();
	dlock_lease_register(dlock_ce_lease);

	dlock_ce_manager = register_class_Dlock_LockManager();
	dlock_ce_distributed_lock = register_class_DistributedLock(dlock_ce_manager);
	dlock_manager_register(dlock_ce_distributed_lock);
	dlock_ce_red_lock = register_class_RedLock(dlock_ce_manager);
	dlock_manager_register(dlock_ce_red_lock);
#ifdef DLOCK_ZOOKEEPER
	dlock_ce_zk_lock = register_class_ZkLock(dlock_ce_manager);
	dlock_manager_register(dlock_ce_zk_lock);
#endif
}

/* ---- functions ---- */

/* What this process, under ZTS this thread, did so far; the renewal thread is the whole process'. */
static void collect_stats(zval *stats)
{
	const dlock_counters *counters = &DLOCK_G(counters);
	dlock_renewal_counts renewal = dlock_renewal_count();
	zend_long sessions = 0;

#ifdef DLOCK_ZOOKEEPER
	sessions = DLOCK_G(sessions) ? (zend_long) dlock_zk_pool_sessions_opened(DLOCK_G(sessions)) : 0;
#endif
	array_init(stats);
	add_assoc_long(stats, "acquisitions", (zend_long) counters->acquisitions);
	add_assoc_long(stats, "waits", (zend_long) counters->waits);
	add_assoc_double(stats, "wait_time", (double) counters->wait_time / DLOCK_SECOND);
	add_assoc_long(stats, "timeouts", (zend_long) counters->timeouts);
	add_assoc_long(stats, "releases", (zend_long) counters->releases);
	add_assoc_long(stats, "hand_overs_given", (zend_long) counters->hand_overs_given);
	add_assoc_long(stats, "hand_overs_received", (zend_long) counters->hand_overs_received);
	add_assoc_long(stats, "renewals", (zend_long) renewal.renewals);
	add_assoc_long(stats, "renewal_failures", (zend_long) renewal.failures);
	add_assoc_long(stats, "losses", (zend_long) counters->losses);
	add_assoc_long(stats, "connections", (zend_long) (dlock_pool_opened(&DLOCK_G(pool)) + renewal.connections));
	add_assoc_long(stats, "reconnections", (zend_long) (dlock_pool_reopened(&DLOCK_G(pool)) + renewal.reconnections));
	add_assoc_long(stats, "sessions", sessions);
}

ZEND_FUNCTION(Dlock_stats)
{
	ZEND_PARSE_PARAMETERS_NONE();
	collect_stats(return_value);
}

/* ---- INI ---- */

static bool is_startup(int stage)
{
	return stage == ZEND_INI_STAGE_STARTUP || stage == ZEND_INI_STAGE_ACTIVATE;
}

static void refuse(const zend_ini_entry *entry, int stage, const char *message)
{
	if (stage != ZEND_INI_STAGE_DEACTIVATE) { /* then it has been said before */
		zend_error(is_startup(stage) ? E_CORE_WARNING : E_WARNING, "%s %s", ZSTR_VAL(entry->name), message);
	}
}

/* For all but servers, which may have a password. */
static void refuse_value(const zend_ini_entry *entry, int stage, const char *message, const zend_string *value)
{
	char text[160];

	snprintf(text, sizeof text, "%s, \"%.40s\" given", message, ZSTR_VAL(value));
	refuse(entry, stage, text);
}

typedef struct {
	double least, most;
	const char *text;
} seconds_range;

static const seconds_range
	lease_time = { 0.003, 31536000, "must be a number of seconds between 0.003 and 31536000" },
	wait_time = { 0, 31536000, "must be a number of seconds between 0 and 31536000" },
	io_timeout = { 0.001, 3600, "must be a number of seconds between 0.001 and 3600" };

static bool read_seconds(const zend_string *text, const seconds_range *range, double *number)
{
	zend_long whole;

	switch (is_numeric_string(ZSTR_VAL(text), ZSTR_LEN(text), &whole, number, false)) {
	case IS_LONG:
		*number = (double) whole;
		break;
	case IS_DOUBLE:
		break;
	default:
		return false;
	}
	return *number >= range->least && *number <= range->most;
}

static int update_seconds(const zend_ini_entry *entry, const zend_string *text, const seconds_range *range, double *setting, int stage)
{
	double number;

	if (read_seconds(text, range, &number)) {
		*setting = number;
		return SUCCESS;
	}
	refuse_value(entry, stage, range->text, text);
	if (stage == ZEND_INI_STAGE_RUNTIME) {
		return FAILURE;
	}
	*setting = ZEND_NAN; /* who makes a lock object has an exception, by dlock_check_settings() */
	return SUCCESS;
}

static ZEND_INI_MH(on_update_lease_time)
{
	(void) mh_arg3;
	return update_seconds(entry, new_value, &lease_time, (double *) ZEND_INI_GET_ADDR(), stage);
}

static ZEND_INI_MH(on_update_wait)
{
	(void) mh_arg3;
	return update_seconds(entry, new_value, &wait_time, (double *) ZEND_INI_GET_ADDR(), stage);
}

static ZEND_INI_MH(on_update_io_timeout)
{
	(void) mh_arg3;
	return update_seconds(entry, new_value, &io_timeout, (double *) ZEND_INI_GET_ADDR(), stage);
}

static bool is_switch(const char *text)
{
	static const char *const known[] = { "", "0", "1", "on", "off", "yes", "no", "true", "false" };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (!strcasecmp(text, known[i])) {
			return true;
		}
	}
	return false;
}

bool dlock_check_settings(void)
{
	const struct {
		const char *name;
		double value;
		const seconds_range *range;
	} settings[] = {
		{ "dlock.ttl", DLOCK_G(ttl), &lease_time }, { "dlock.timeout", DLOCK_G(timeout), &wait_time },
		{ "dlock.max_hold", DLOCK_G(max_hold), &wait_time }, { "dlock.restart_guard", DLOCK_G(restart_guard), &wait_time },
		{ "dlock.shutdown_timeout", DLOCK_G(shutdown_timeout), &wait_time },
		{ "dlock.connect_timeout", DLOCK_G(connect_timeout), &io_timeout }, { "dlock.read_timeout", DLOCK_G(read_timeout), &io_timeout },
	};

	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		if (zend_isnan(settings[i].value)) {
			zend_value_error("%s %s, \"%.40s\" given", settings[i].name, settings[i].range->text,
				zend_ini_string((char *) settings[i].name, strlen(settings[i].name), 0));
			return false;
		}
	}
	const char *release = INI_STR("dlock.release_on_shutdown");
	if (!is_switch(release)) {
		zend_value_error("dlock.release_on_shutdown must be On or Off, \"%.40s\" given", release);
		return false;
	}
	return true;
}

static ZEND_INI_MH(on_update_switch)
{
	if (is_switch(ZSTR_VAL(new_value))) {
		return OnUpdateBool(entry, new_value, mh_arg1, mh_arg2, mh_arg3, stage);
	}
	refuse_value(entry, stage, "must be On or Off", new_value);
	return stage == ZEND_INI_STAGE_RUNTIME ? FAILURE : SUCCESS; /* as with the times */
}

static ZEND_INI_MH(on_update_server)
{
	dlock_server *server = dlock_server_new(DLOCK_SECOND, DLOCK_SECOND);
	dlock_error error;
	bool good = server && dlock_server_parse(server, ZSTR_VAL(new_value), ZSTR_LEN(new_value), &error)
		&& dlock_server_seal(server, &error);

	if (server) {
		dlock_server_release(server);
	}
	if (!good) {
		refuse(entry, stage, server ? error.message : "could not be read: out of memory");
		/* The warning of a php.ini or a pool's file may be seen by nobody. What is written there must not become the default, where
		 * others may lock something else: who uses it has an exception, by dlock_server_from_ini(). */
		if (stage == ZEND_INI_STAGE_RUNTIME) {
			return FAILURE;
		}
	}
	return OnUpdateString(entry, new_value, mh_arg1, mh_arg2, mh_arg3, stage);
}

/* Shows where the server is, not how to log in there. */
static ZEND_INI_DISP(display_server)
{
	zend_string *value = type == ZEND_INI_DISPLAY_ORIG && ini_entry->modified ? ini_entry->orig_value : ini_entry->value;
	dlock_server *server = value ? dlock_server_new(DLOCK_SECOND, DLOCK_SECOND) : NULL;
	dlock_error error;

	if (server && dlock_server_parse(server, ZSTR_VAL(value), ZSTR_LEN(value), &error) && dlock_server_seal(server, &error)) {
		zend_string *shown = sapi_module.phpinfo_as_text ? zend_string_init(server->label, strlen(server->label), 0)
			: php_escape_html_entities((unsigned char *) server->label, strlen(server->label), 0, ENT_QUOTES | ENT_SUBSTITUTE, NULL);
		php_printf("%s%s", server->path ? "unix://" : server->tls ? "rediss://" : "redis://", ZSTR_VAL(shown));
		if (server->database != 0) {
			php_printf(server->path ? "?db=%d" : "/%d", server->database);
		}
		PUTS(server->password ? " (with password)" : "");
		zend_string_release(shown);
	} else {
		PUTS("(not a server)");
	}
	if (server) {
		dlock_server_release(server);
	}
}

PHP_INI_BEGIN()
	STD_PHP_INI_ENTRY_EX("dlock.server", "redis://127.0.0.1:6379", PHP_INI_ALL, on_update_server, server, zend_dlock_globals, dlock_globals, display_server)
	STD_PHP_INI_ENTRY("dlock.ttl", "10", PHP_INI_ALL, on_update_lease_time, ttl, zend_dlock_globals, dlock_globals)
	STD_PHP_INI_ENTRY("dlock.timeout", "60", PHP_INI_ALL, on_update_wait, timeout, zend_dlock_globals, dlock_globals)
	STD_PHP_INI_ENTRY("dlock.connect_timeout", "1", PHP_INI_ALL, on_update_io_timeout, connect_timeout, zend_dlock_globals, dlock_globals)
	STD_PHP_INI_ENTRY("dlock.read_timeout", "1", PHP_INI_ALL, on_update_io_timeout, read_timeout, zend_dlock_globals, dlock_globals)
	STD_PHP_INI_ENTRY("dlock.shutdown_timeout", "0.1", PHP_INI_ALL, on_update_wait, shutdown_timeout, zend_dlock_globals, dlock_globals)
	STD_PHP_INI_ENTRY("dlock.max_hold", "0", PHP_INI_ALL, on_update_wait, max_hold, zend_dlock_globals, dlock_globals)
	STD_PHP_INI_ENTRY("dlock.restart_guard", "10", PHP_INI_ALL, on_update_wait, restart_guard, zend_dlock_globals, dlock_globals)
	STD_PHP_INI_BOOLEAN("dlock.release_on_shutdown", "1", PHP_INI_ALL, on_update_switch, release_on_shutdown, zend_dlock_globals, dlock_globals)
PHP_INI_END()

/* ---- the module ---- */

static PHP_GINIT_FUNCTION(dlock)
{
#if defined(COMPILE_DL_DLOCK) && defined(ZTS)
	ZEND_TSRMLS_CACHE_UPDATE();
#endif
	memset(dlock_globals, 0, sizeof *dlock_globals);
}

static PHP_GSHUTDOWN_FUNCTION(dlock)
{
	dlock_alarm_close(&dlock_globals->alarm);
	dlock_pool_clear(&dlock_globals->pool);
#ifdef DLOCK_ZOOKEEPER
	if (dlock_globals->sessions) {
		dlock_zk_pool_free(dlock_globals->sessions);
	}
#endif
}

static PHP_MINIT_FUNCTION(dlock)
{
	(void) type;
	dlock_process_init();
	REGISTER_INI_ENTRIES();
	register_classes(module_number);
	dlock_interrupts_init();
	return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(dlock)
{
	(void) type;
	dlock_renewal_shutdown();
	dlock_interrupts_end();
	UNREGISTER_INI_ENTRIES();
	return SUCCESS;
}

static PHP_RINIT_FUNCTION(dlock)
{
	(void) type, (void) module_number;
#if defined(COMPILE_DL_DLOCK) && defined(ZTS)
	ZEND_TSRMLS_CACHE_UPDATE();
#endif
	dlock_interrupts_begin();
	dlock_ending_begin();
	return SUCCESS;
}

static void give_all_back(void)
{
	double patience = zend_isnan(DLOCK_G(shutdown_timeout)) ? 0 : DLOCK_G(shutdown_timeout); /* nothing was locked then */
	dlock_nanos deadline = dlock_now() + (dlock_nanos) (patience * (double) DLOCK_SECOND);

	dlock_hold_clear();
	dlock_pool_drain(&DLOCK_G(pool), deadline);
#ifdef DLOCK_ZOOKEEPER
	if (DLOCK_G(sessions)) {
		dlock_zk_pool_drain(DLOCK_G(sessions), deadline);
	}
#endif
}

/* Comes after exit(), uncaught exceptions, fatal errors, the memory limit and the time limit alike. Objects may still
 * exist; they are freed later and find their claims released. */
static PHP_RSHUTDOWN_FUNCTION(dlock)
{
	(void) type, (void) module_number;
	give_all_back();
	return SUCCESS;
}

/* Other modules that end after this one may run the user's code yet, as sessions do to be written. What that took, and no object
 * has given back, must not live on in the next request. */
static ZEND_MODULE_POST_ZEND_DEACTIVATE_D(dlock)
{
	if (DLOCK_G(registry).first) {
		give_all_back();
	}
	return SUCCESS;
}

/* The file that a library was loaded from, which tells its version where the library has no function for it. */
static void print_library(const char *title, const char *built_with, void *symbol)
{
	char text[512];
	const char *loaded = "unknown";
#ifndef PHP_WIN32
	char path[MAXPATHLEN];
	Dl_info info;

	if (dladdr(symbol, &info) && info.dli_fname && VCWD_REALPATH(info.dli_fname, path)) {
		loaded = path;
	}
#else
	(void) symbol;
#endif
	snprintf(text, sizeof text, "built with %s, running %s", built_with, loaded);
	php_info_print_table_row(2, title, text);
}

static void print_stats(void)
{
	zval stats, *value;
	zend_string *name, *text;

	collect_stats(&stats);
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

static PHP_MINFO_FUNCTION(dlock)
{
	(void) zend_module;
	php_info_print_table_start();
	php_info_print_table_row(2, "dlock support", "enabled");
	php_info_print_table_row(2, "dlock version", PHP_DLOCK_VERSION);
	print_library("hiredis", DLOCK_TEXT(HIREDIS_MAJOR) "." DLOCK_TEXT(HIREDIS_MINOR) "." DLOCK_TEXT(HIREDIS_PATCH),
		(void *) (uintptr_t) redisReaderCreate);
#ifdef DLOCK_TLS
	php_info_print_table_row(2, "TLS (rediss://)", "built with " OPENSSL_VERSION_TEXT);
	php_info_print_table_row(2, "TLS library", OpenSSL_version(OPENSSL_VERSION));
#else
	php_info_print_table_row(2, "TLS (rediss://)", "not in this build");
#endif
#ifdef DLOCK_ZOOKEEPER
	print_library("ZooKeeper client", ZOO_VERSION, (void *) (uintptr_t) zookeeper_close);
#else
	php_info_print_table_row(2, "ZooKeeper client", "not in this build");
#endif
	php_info_print_table_end();
	print_stats();
	DISPLAY_INI_ENTRIES();
}

zend_module_entry dlock_module_entry = {
	STANDARD_MODULE_HEADER,
	"dlock",
	ext_functions,
	PHP_MINIT(dlock),
	PHP_MSHUTDOWN(dlock),
	PHP_RINIT(dlock),
	PHP_RSHUTDOWN(dlock),
	PHP_MINFO(dlock),
	PHP_DLOCK_VERSION,
	PHP_MODULE_GLOBALS(dlock),
	PHP_GINIT(dlock),
	PHP_GSHUTDOWN(dlock),
	ZEND_MODULE_POST_ZEND_DEACTIVATE_N(dlock),
	STANDARD_MODULE_PROPERTIES_EX
};

#ifdef COMPILE_DL_DLOCK
#ifdef ZTS
ZEND_TSRMLS_CACHE_DEFINE()
#endif
ZEND_GET_MODULE(dlock)
#endif

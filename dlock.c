#include "php_dlock.h"

#include "php_ini.h"
#include "zend_attributes.h"
#include "zend_enum.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

#include "src/lock/renewal.h"
#include "src/php/classes.h"
#include "src/php/globals.h"
#include "src/php/class/lease.h"
#include "src/php/request/loss_signal.h"
#include "src/php/class/manager.h"
#include "src/php/class/permits/read_write_lock.h"
#include "src/php/request/request.h"
#include "src/php/class/stock/reservation.h"
#include "src/php/settings.h"
#include "src/php/stats.h"
#include "src/php/class/stock/stock.h"
#include "src/php/wait/strand.h"

/* The module's entry: settings, classes, and the functions that PHP calls when a process, thread or request begins or
 * ends. */

ZEND_DECLARE_MODULE_GLOBALS(dlock)

#if PHP_VERSION_ID < 80200
/* PHP 8.2 introduced #[SensitiveParameter]. In earlier versions backtraces show arguments. */
#define zend_add_parameter_attribute(functions, index, name, arguments) ((void) 0)
#endif

#include "stubs/dlock_arginfo.h"

/* scripts/gen-reference.php copies each comment to docs/reference.md. */
#define SETTING(name, value, update, field) \
	STD_PHP_INI_ENTRY("dlock." name, value, PHP_INI_ALL, update, field, zend_dlock_globals, dlock_globals)

PHP_INI_BEGIN()
	/* the server of `new DistributedLock()` */
	STD_PHP_INI_ENTRY_EX("dlock.server", "redis://127.0.0.1:6379", PHP_INI_ALL, dlock_update_server, server,
		zend_dlock_globals, dlock_globals, dlock_display_server)
	/* default lease time */
	SETTING("ttl", "10", dlock_update_lease_time, ttl)
	/* default timeout of `acquire()` and `synchronized()` */
	SETTING("timeout", "60", dlock_update_wait, timeout)
	/* time limit for lookup, connection, TLS and login together (Redis, memcached, databases), if the server (DSN or
	 * array) sets none */
	SETTING("connect_timeout", "1", dlock_update_io_timeout, connect_timeout)
	/* time limit for each reply (Redis, memcached, databases), if the server (DSN or array) sets none */
	SETTING("read_timeout", "1", dlock_update_io_timeout, read_timeout)
	/* time limit at the end of a request for the replies to all its releases together; read at that time */
	SETTING("shutdown_timeout", "0.1", dlock_update_wait, shutdown_timeout)
	/* the longest time for which a lease is renewed, so that a hung request does not keep its lock; read when a lock is
	 * acquired. 0: no limit */
	SETTING("max_hold", "0", dlock_update_wait, max_hold)
	/* `RedLock`: how long a server must have been up to vote; at least the longest lease time in use. 0: off. With
	 * replicas or a database: the default of the server's option `guard`; 0: 10 s */
	SETTING("restart_guard", "10", dlock_update_wait, restart_guard)
	/* at the end of a request, release the locks that it still holds */
	STD_PHP_INI_BOOLEAN("dlock.release_on_shutdown", "1", PHP_INI_ALL, dlock_update_switch, release_on_shutdown,
		zend_dlock_globals, dlock_globals)
	/* label of a process in `inspect()`: `path` ("GET /cart" without the query, or the script's name), `script` or
	 * `none`; read at the first use in a request. `Dlock\setLabel()` replaces it */
	SETTING("label", "path", dlock_update_label, label)
	/* let other processes see which process holds a lock or waits for it (host, pid, label); cannot be changed by
	 * `ini_set()` */
	STD_PHP_INI_BOOLEAN("dlock.describe", "1", PHP_INI_SYSTEM, dlock_update_switch, describe, zend_dlock_globals,
		dlock_globals)
	/* how many names of resources, without the numbers in them, `Dlock\metrics()` counts separately; all others count
	 * as "other". 0: no names; cannot be changed by `ini_set()` */
	STD_PHP_INI_ENTRY("dlock.metrics_names", "64", PHP_INI_SYSTEM, dlock_update_names, metrics_names,
		zend_dlock_globals, dlock_globals)
PHP_INI_END()

static void register_exceptions(void)
{
	dlock_ce_exception = register_class_Dlock_DlockException(zend_ce_exception);
	dlock_ce_timeout_exception = register_class_Dlock_AcquireTimeoutException(dlock_ce_exception);
	dlock_ce_lost_exception = register_class_Dlock_LeaseLostException(dlock_ce_exception);
	dlock_ce_connection_exception = register_class_Dlock_ConnectionException(dlock_ce_exception);
	dlock_ce_quorum_exception = register_class_Dlock_QuorumException(dlock_ce_connection_exception);
	dlock_ce_deadlock_exception = register_class_Dlock_DeadlockException(dlock_ce_exception);
	dlock_ce_limit_exceeded_exception = register_class_Dlock_LimitExceededException(dlock_ce_exception);
	dlock_ce_reservation_expired_exception = register_class_Dlock_ReservationExpiredException(dlock_ce_exception);
	dlock_ce_order_conflict_exception = register_class_Dlock_OrderConflictException(dlock_ce_exception);
	dlock_ce_out_of_stock_exception = register_class_Dlock_OutOfStockException(dlock_ce_exception);
	dlock_ce_unknown_product_exception = register_class_Dlock_UnknownProductException(dlock_ce_exception);
	dlock_ce_sale_ended_exception = register_class_Dlock_SaleEndedException(dlock_ce_exception);
}

static void register_classes(void)
{
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

	dlock_ce_inspection = register_class_Dlock_Inspection();
	dlock_ce_party = register_class_Dlock_Party();
	dlock_ce_semaphore_interface = register_class_Dlock_SemaphoreInterface();
	dlock_ce_semaphore = register_class_Dlock_Semaphore(dlock_ce_semaphore_interface);
	dlock_manager_register(dlock_ce_semaphore);
	dlock_ce_read_write_lock_interface = register_class_Dlock_ReadWriteLockInterface();
	dlock_ce_read_write_lock = register_class_Dlock_ReadWriteLock(dlock_ce_read_write_lock_interface);
	dlock_read_write_lock_register(dlock_ce_read_write_lock);
	dlock_ce_read_write_lock_side = register_class_Dlock_ReadWriteLockSide(dlock_ce_manager);
	dlock_manager_register(dlock_ce_read_write_lock_side);

	dlock_ce_order_state = register_class_Dlock_OrderState();
	dlock_ce_order = register_class_Dlock_Order();
	dlock_ce_order_page = register_class_Dlock_OrderPage(zend_ce_aggregate);
	dlock_ce_inventory = register_class_Dlock_Inventory();
	dlock_ce_stock = register_class_Dlock_Stock(dlock_ce_inventory);
	dlock_stock_register(dlock_ce_stock);
	dlock_ce_reservation = register_class_Dlock_Reservation();
	dlock_reservation_register(dlock_ce_reservation);
	dlock_ce_testing = register_class_Dlock_Testing();
}

static PHP_GINIT_FUNCTION(dlock)
{
#if defined(COMPILE_DL_DLOCK) && defined(ZTS)
	ZEND_TSRMLS_CACHE_UPDATE();
#endif
	memset(dlock_globals, 0, sizeof *dlock_globals);
	dlock_pools_begin(&dlock_globals->pools);
}

static PHP_GSHUTDOWN_FUNCTION(dlock)
{
	dlock_loss_signal_close(&dlock_globals->loss_signal);
	dlock_metrics_leave(dlock_globals->worker);
	dlock_pools_clear(&dlock_globals->pools);
}

static PHP_MINIT_FUNCTION(dlock)
{
	(void) type;
	dlock_process_init();
	REGISTER_INI_ENTRIES();
	register_dlock_symbols(module_number);
	register_exceptions();
	register_classes();
	dlock_loss_signals_init();
	dlock_strands_init(dlock_loss_signal_strand_goes_on, dlock_hold_end_strand);
	dlock_worker_init();
	dlock_metrics_begin((int) DLOCK_G(metrics_names));
	return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(dlock)
{
	(void) type;
	dlock_renewal_shutdown();
	dlock_loss_signals_end();
	dlock_strands_unload();
	dlock_worker_unload();
	UNREGISTER_INI_ENTRIES();
	return SUCCESS;
}

static PHP_RINIT_FUNCTION(dlock)
{
	(void) type, (void) module_number;
#if defined(COMPILE_DL_DLOCK) && defined(ZTS)
	ZEND_TSRMLS_CACHE_UPDATE();
#endif
	dlock_request_begin();
	dlock_worker_begin();
	return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(dlock)
{
	(void) type, (void) module_number;
	dlock_request_end();
	return SUCCESS;
}

static ZEND_MODULE_POST_ZEND_DEACTIVATE_D(dlock)
{
	dlock_request_end_late();
	return SUCCESS;
}

static PHP_MINFO_FUNCTION(dlock)
{
	dlock_print_info(zend_module);
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

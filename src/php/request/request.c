#include "request.h"

#include "SAPI.h"

#include "../description.h"
#include "../globals.h"
#include "../stats.h"
#include "../wait/strand.h"
#include "ending.h"
#include "hold.h"
#include "loss_signal.h"
#include "turns.h"

void dlock_request_begin(void)
{
	dlock_loss_signals_begin();
	dlock_ending_begin();
	dlock_strands_begin();
}

/* Until when the request's end waits for the replies to its releases. */
static dlock_nanos drain_until(void)
{
	double limit = zend_isnan(DLOCK_G(shutdown_timeout)) ? 0 : DLOCK_G(shutdown_timeout); /* then no lock exists */

	return dlock_now() + dlock_from_seconds(limit);
}

void dlock_request_end(void)
{
	dlock_nanos deadline = drain_until();

	dlock_strands_end();
	dlock_turns_end();
	dlock_hold_clear();
	dlock_pools_drain(&DLOCK_G(pools), deadline);
	dlock_description_end();
	dlock_stats_publish();
}

void dlock_request_end_late(void)
{
	if (DLOCK_G(registry).first) {
		dlock_request_end();
	}
	dlock_description_end();
	dlock_pools_free_retired(&DLOCK_G(pools));
}

/* Ends a request of a worker, whose objects live on: of the running strand, or (`all`) of all strands. Returns how many
 * leases were held. The label is the process's: while one strand ends its request, others may use it. */
static unsigned long end_request_of_worker(bool all)
{
	dlock_nanos deadline = drain_until();
	unsigned long held = dlock_hold_end_requests(all);

	if (held > 0) {
		dlock_pools_drain(&DLOCK_G(pools), deadline);
	}
	if (all || dlock_strand() == 0) {
		dlock_description_end();
	}
	dlock_stats_publish();
	return held;
}

ZEND_FUNCTION(Dlock_beginRequest)
{
	(void) return_value;
	ZEND_PARSE_PARAMETERS_NONE();
	dlock_hold_mark_workers(false);
}

/* Swoole calls a deferred function with one argument, null. */
static bool has_arguments(zend_execute_data *execute_data)
{
	uint32_t count = ZEND_NUM_ARGS();

	return count > 1 || (count == 1 && Z_TYPE_P(ZEND_CALL_ARG(execute_data, 1)) != IS_NULL);
}

ZEND_FUNCTION(Dlock_endRequest)
{
	if (has_arguments(execute_data)) {
		zend_wrong_parameters_none_error();
		RETURN_THROWS();
	}
	RETURN_LONG((zend_long) end_request_of_worker(false));
}

/* The code stays loaded, as that of interrupts does (loss_signal.c), because another module may have wrapped
 * deactivate(). */
static int (*other_deactivate)(void);
static bool is_loaded, is_wrapped;

/* The first call ends the worker's boot: the worker keeps what it acquired there for all requests. The last one comes
 * after the end of the PHP request, which has left nothing to end. */
static int deactivate(void)
{
	if (is_loaded) {
		if (!DLOCK_G(is_worker)) {
			dlock_hold_mark_workers(true);
		}
		end_request_of_worker(true);
		DLOCK_G(is_worker) = true;
	}
	return other_deactivate ? other_deactivate() : SUCCESS;
}

void dlock_worker_init(void)
{
	is_loaded = true;
	if (!is_wrapped && sapi_module.name && !strcmp(sapi_module.name, "frankenphp")) {
		other_deactivate = sapi_module.deactivate;
		sapi_module.deactivate = deactivate;
		is_wrapped = true;
	}
}

void dlock_worker_unload(void)
{
	is_loaded = false;
	if (is_wrapped && sapi_module.deactivate == deactivate) {
		sapi_module.deactivate = other_deactivate;
		is_wrapped = false;
	}
}

void dlock_worker_begin(void)
{
	DLOCK_G(is_worker) = false;
}

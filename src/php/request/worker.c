#include "worker.h"

#include "../globals.h"
#include "hold.h"
#include "request.h"

#include "SAPI.h"

/* Its code stays loaded, as that of interrupts does (loss_signal.c): another module may call it that has wrapped it. */
static int (*other_deactivate)(void);
static bool is_loaded, is_wrapped;

/* With what the worker has acquired before the first one, it serves requests. After the end of the PHP request there is
 * nothing left to end. */
static int deactivate(void)
{
	if (is_loaded && DLOCK_G(registry).first) {
		if (DLOCK_G(is_worker)) {
			dlock_worker_request_end(true);
		} else {
			dlock_hold_mark_workers(true);
		}
	}
	if (is_loaded) {
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

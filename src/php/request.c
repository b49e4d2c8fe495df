#include "request.h"

#include "description.h"
#include "ending.h"
#include "globals.h"
#include "hold.h"
#include "loss_signal.h"

void dlock_request_begin(void)
{
	dlock_loss_signals_begin();
	dlock_ending_begin();
}

void dlock_request_end(void)
{
	double limit = zend_isnan(DLOCK_G(shutdown_timeout)) ? 0 : DLOCK_G(shutdown_timeout); /* nothing was locked then */
	dlock_nanos deadline = dlock_now() + dlock_from_seconds(limit);

	dlock_hold_clear();
	dlock_pools_drain(&DLOCK_G(pools), deadline);
	dlock_description_end();
}

void dlock_request_end_late(void)
{
	if (DLOCK_G(registry).first) {
		dlock_request_end();
	}
	dlock_pools_free_retired(&DLOCK_G(pools));
}

#include "php.h"

#include "../../base/clock.h"
#include "../../lock/renewal.h"

/* Dlock\Testing: for tests of applications. */

ZEND_METHOD(Dlock_Testing, travel)
{
	double seconds;

	(void) return_value;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_DOUBLE(seconds)
	ZEND_PARSE_PARAMETERS_END();

	if (!(seconds >= 0 && seconds <= 1e9)) {
		zend_argument_value_error(1, "must be between 0 and 1000000000 seconds");
		RETURN_THROWS();
	}
	dlock_clock_travel(dlock_from_seconds(seconds));
	dlock_renewal_wake();
}

#include "arguments.h"

#define LONGEST_SECONDS ((double) (DLOCK_TTL_MAX / DLOCK_SECOND)) /* and the longest timeout */

uint8_t dlock_number_of(const zval *value, zend_long *whole, double *number)
{
	switch (Z_TYPE_P(value)) {
	case IS_LONG:
		*whole = Z_LVAL_P(value);
		return IS_LONG;
	case IS_DOUBLE:
		*number = Z_DVAL_P(value);
		return IS_DOUBLE;
	case IS_STRING:
		return is_numeric_string(Z_STRVAL_P(value), Z_STRLEN_P(value), whole, number, false);
	default:
		return 0;
	}
}

bool dlock_check_ttl(double seconds, dlock_ttl_range range, uint32_t arg, dlock_nanos *ttl)
{
	double least = (double) range.least / (double) DLOCK_SECOND, most = (double) range.most / (double) DLOCK_SECOND;

	/* The comparison is false for NAN. */
	if (!(seconds >= least && seconds <= most)) {
		zend_argument_value_error(arg, "must be between %.3f and %.10g seconds%s", least, most,
			range.is_guarded ? ": no lease time may exceed the guard, which the option \"guard\" of the server sets"
							 : "");
		return false;
	}
	*ttl = dlock_from_seconds(seconds);
	return true;
}

bool dlock_check_timeout(double seconds, bool is_null, dlock_nanos otherwise, uint32_t arg, dlock_nanos *timeout)
{
	if (is_null) {
		*timeout = otherwise;
		return true;
	}
	if (!(seconds >= 0 && seconds <= LONGEST_SECONDS)) {
		zend_argument_value_error(arg, "must be between 0 and %.0f seconds", LONGEST_SECONDS);
		return false;
	}
	*timeout = dlock_from_seconds(seconds);
	return true;
}

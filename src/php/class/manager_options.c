#include "manager_options.h"

#include "../ending.h"
#include "../globals.h"
#include "../settings.h"
#include "arguments.h"

bool dlock_manager_begin(const dlock_manager *manager)
{
	if (manager->backend) {
		zend_throw_error(NULL, "%s::__construct() has been called already", ZSTR_VAL(manager->std.ce->name));
		return false;
	}
	return dlock_check_settings();
}

bool dlock_manager_configure(dlock_manager *manager, const dlock_options *options)
{
	dlock_nanos otherwise = dlock_from_seconds(DLOCK_G(timeout));
	manager->release_at_end = options->release_is_null ? DLOCK_G(release_on_shutdown) : options->release;
	if (!manager->release_at_end) {
		dlock_ending_watch();
	}
	if (options->ttl_arg) {
		double least = (double) options->ttls.least / (double) DLOCK_SECOND,
			   most = (double) options->ttls.most / (double) DLOCK_SECOND;
		if (options->ttl_is_null && (DLOCK_G(ttl) < least || DLOCK_G(ttl) > most)) { /* by its own limits it is good */
			zend_value_error("dlock.ttl must be between %.10g and %.10g seconds on this server%s; or give a $ttl",
				least, most,
				options->ttls.is_guarded ? ", since no lease time may exceed the guard, which its option \"guard\" sets"
										 : "");
			return false;
		}
		if (!dlock_check_ttl(
				options->ttl_is_null ? DLOCK_G(ttl) : options->ttl, options->ttls, options->ttl_arg, &manager->ttl)) {
			return false;
		}
	}
	if (!dlock_check_timeout(
			options->timeout, options->timeout_is_null, otherwise, options->timeout_arg, &manager->timeout)) {
		return false;
	}
	manager->renew = options->renew_is_null ? DLOCK_RENEW_WITHOUT_TTL
		: options->renew                    ? DLOCK_RENEW_ALWAYS
											: DLOCK_RENEW_NEVER;
	manager->throw_on_loss = options->on_loss && zend_string_equals_literal(options->on_loss, "throw");
	if (options->on_loss && !manager->throw_on_loss && !zend_string_equals_literal(options->on_loss, "flag")) {
		zend_argument_value_error(options->on_loss_arg, "must be either \"flag\" or \"throw\"");
		return false;
	}
	return true;
}

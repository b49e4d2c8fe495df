#ifndef DLOCK_PHP_SETTINGS_H
#define DLOCK_PHP_SETTINGS_H

#include "php.h"
#include "zend_ini.h"

#include "../net/endpoint/endpoint.h"

/* The handlers of the INI entries, which dlock.c lists. Times are in seconds. */
ZEND_INI_MH(dlock_update_lease_time);
ZEND_INI_MH(dlock_update_wait);
ZEND_INI_MH(dlock_update_io_timeout);
ZEND_INI_MH(dlock_update_switch);
ZEND_INI_MH(dlock_update_label);
ZEND_INI_MH(dlock_update_names);
ZEND_INI_MH(dlock_update_server);
ZEND_INI_DISP(dlock_display_server);

/* False after a ValueError: a php.ini or a pool's file has an invalid setting. */
bool dlock_check_settings(void);

/* The server of dlock.server, which the caller releases. NULL: a ValueError was thrown, or memory has run out. */
dlock_endpoint *dlock_endpoint_from_ini(void);

/* The name of an option whose file open_basedir forbids to scripts; NULL: there is none. As in PHP's own TLS streams, a
 * Unix socket is no file. */
const char *dlock_endpoint_forbidden_file(const dlock_endpoint *server);

#endif

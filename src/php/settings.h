#ifndef DLOCK_PHP_SETTINGS_H
#define DLOCK_PHP_SETTINGS_H

#include "php.h"
#include "zend_ini.h"

#include "../net/endpoint/endpoint.h"

/* The handlers of the INI entries, which dlock.c lists. */
ZEND_INI_MH(dlock_update_lease_time);
ZEND_INI_MH(dlock_update_wait);
ZEND_INI_MH(dlock_update_io_timeout);
ZEND_INI_MH(dlock_update_switch);
ZEND_INI_MH(dlock_update_label);
ZEND_INI_MH(dlock_update_names);
ZEND_INI_MH(dlock_update_server);
ZEND_INI_DISP(dlock_display_server);

/* False, and thrown, where a php.ini or a pool's file has a setting that makes no sense. */
bool dlock_check_settings(void);

/* The one of dlock.server; NULL: thrown. */
dlock_endpoint *dlock_endpoint_from_ini(void);

/* Which of its files open_basedir keeps scripts from, by the option's name; NULL: none. As PHP's own TLS streams have
 * it, for which a Unix socket is no file. */
const char *dlock_endpoint_forbidden_file(const dlock_endpoint *server);

#endif

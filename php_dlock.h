#ifndef PHP_DLOCK_H
#define PHP_DLOCK_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php.h"

#if SIZEOF_ZEND_LONG < 8
#error dlock needs a PHP with 64-bit integers: fencing tokens do not fit into 32 bits
#endif

#define PHP_DLOCK_VERSION "0.1.0"

extern zend_module_entry dlock_module_entry;
#define phpext_dlock_ptr &dlock_module_entry

#endif

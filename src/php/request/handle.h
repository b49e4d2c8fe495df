#ifndef DLOCK_PHP_HANDLE_H
#define DLOCK_PHP_HANDLE_H

#include "php.h"

#include "../../lock/claim.h"

/* Handles of detached leases. */

zend_string *dlock_handle_make(const dlock_claim *claim);

/* A claim that is to take up the lease of a handle, and the token that has it; NULL with what is wrong with the
 * handle. */
dlock_claim *dlock_handle_open(
	zend_string *handle, dlock_backend *backend, char token[DLOCK_TOKEN_MAX + 1], dlock_error *error);

#endif

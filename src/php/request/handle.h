#ifndef DLOCK_PHP_HANDLE_H
#define DLOCK_PHP_HANDLE_H

#include "php.h"

#include "../../lock/claim.h"

/* Handles of detached leases. */

/* The handle of a held claim, as a new string. */
zend_string *dlock_handle_make(const dlock_claim *claim);

/* A new claim for the lease of a handle, and the token in the handle, by which dlock_claim_attach() attaches it. NULL:
 * the error says what is wrong with the handle, or that memory has run out. */
dlock_claim *dlock_handle_open(
	zend_string *handle, dlock_backend *backend, char token[DLOCK_TOKEN_MAX + 1], dlock_error *error);

#endif

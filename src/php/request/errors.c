#include "errors.h"

#include "../../redis/redlock/quorum.h"
#include "../classes.h"
#include "../wait/interrupts.h"

#include "zend_exceptions.h"

static zend_class_entry *exception_for(dlock_status status)
{
	switch (status) {
	case DLOCK_TIMEOUT:
		return dlock_ce_timeout_exception;
	case DLOCK_CONNECTION:
		return dlock_ce_connection_exception;
	case DLOCK_QUORUM:
		return dlock_ce_quorum_exception;
	case DLOCK_LOST:
		return dlock_ce_lost_exception;
	case DLOCK_DEADLOCK:
		return dlock_ce_deadlock_exception;
	default:
		return dlock_ce_exception;
	}
}

static void collect_server_errors(zval *errors, const dlock_backend *backend)
{
	array_init(errors);
	for (int i = 0; i < dlock_quorum_servers(backend); i++) {
		const char *reason = dlock_quorum_server_error(backend, i);
		if (reason) {
			add_assoc_string(errors, dlock_quorum_server_label(backend, i), reason);
		}
	}
}

/* If an exception is pending, PHP counts a signal as handled without calling its handler. So handlers that are due run
 * before the throw. NULL: a handler has thrown instead. */
static zend_object *throw_now(zend_class_entry *class, const dlock_error *error)
{
	if (dlock_is_interrupted()) {
		dlock_run_interrupts();
		if (EG(exception)) {
			return NULL;
		}
	}
	return zend_throw_exception(class, error->message, 0);
}

void dlock_throw(dlock_status status, const dlock_error *error, const dlock_backend *backend)
{
	zval errors;

	/* Before a handler runs, because it may drop the last reference to the back end. */
	ZVAL_NULL(&errors);
	if (status == DLOCK_QUORUM) {
		collect_server_errors(&errors, backend);
	}
	zend_object *exception = throw_now(exception_for(status), error);
	if (exception && status == DLOCK_QUORUM) {
		zend_update_property(dlock_ce_quorum_exception, exception, ZEND_STRL("serverErrors"), &errors);
	}
	zval_ptr_dtor(&errors);
}

zend_object *dlock_throw_as(zend_class_entry *class, const dlock_error *error)
{
	return throw_now(class, error);
}

void dlock_throw_no_memory(void)
{
	zend_throw_exception(dlock_ce_exception, "Out of memory", 0);
}

zend_object *dlock_throw_lost(const char *resource, size_t resource_len, const char *what)
{
	dlock_error error;

	if (EG(exception)
		&& dlock_is_exit(EG(exception))) { /* no exception replaces exit(): PHP would free it at once */
		return NULL;
	}
	dlock_fail(&error, DLOCK_LOST, "The lock \"%s\" %s", dlock_show(resource, resource_len).text, what);
	return zend_throw_exception(dlock_ce_lost_exception, error.message, 0);
}

bool dlock_is_lost_exception(zend_object *exception, const char *resource, size_t resource_len, const char *what)
{
	dlock_error error;
	zval hold;

	if (exception->ce != dlock_ce_lost_exception) {
		return false;
	}
	dlock_fail(&error, DLOCK_LOST, "The lock \"%s\" %s", dlock_show(resource, resource_len).text, what);
	const zval *message = zend_read_property(zend_ce_exception, exception, ZEND_STRL("message"), true, &hold);
	return Z_TYPE_P(message) == IS_STRING && !strcmp(Z_STRVAL_P(message), error.message);
}

ZEND_METHOD(Dlock_QuorumException, getServerErrors)
{
	zval *errors, hold;

	ZEND_PARSE_PARAMETERS_NONE();
	errors = zend_read_property(dlock_ce_quorum_exception, Z_OBJ_P(ZEND_THIS), ZEND_STRL("serverErrors"), 0, &hold);
	RETURN_COPY_DEREF(errors);
}

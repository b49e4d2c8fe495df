#include "coroutine.h"

#include <dlfcn.h>

#include "../globals.h"

#include "zend_closures.h"
#include "zend_exceptions.h"

/* The functions that the C APIs of all versions have, and the namespaces of the classes. */
static const struct {
	const char *is_in, *id, *namespace;
} known[] = {
	{ "swoole_coroutine_is_in", "swoole_coroutine_get_id", "Swoole" },
	{ "openswoole_coroutine_is_in", "openswoole_coroutine_get_current_id", "OpenSwoole" },
};

static struct {
	bool is_looked_for; /* at the first use, because Swoole may be loaded later than this module */
	uint8_t (*is_in)(void);
	long (*id)(void);
	const char *namespace;
} swoole;

static void (*ends)(void);
static zend_internal_function end_function, resume_function;

static void look_for_swoole(void)
{
	for (size_t i = 0; !swoole.id && i < sizeof known / sizeof *known; i++) {
		swoole.is_in = (uint8_t (*)(void)) dlsym(RTLD_DEFAULT, known[i].is_in);
		swoole.id = swoole.is_in ? (long (*)(void)) dlsym(RTLD_DEFAULT, known[i].id) : NULL;
		swoole.namespace = known[i].namespace;
	}
	swoole.is_looked_for = true;
}

bool dlock_coroutine_runs(void)
{
	if (!swoole.is_looked_for) {
		look_for_swoole();
	}
	return swoole.id && swoole.is_in();
}

long dlock_coroutine_id(void)
{
	return swoole.id();
}

/* ---- calling it ---- */

static zend_string *full_name(const char *class)
{
	return zend_strpprintf(0, "%s\\%s", swoole.namespace, class);
}

/* Calls a static method, if there is one. If it throws, the exception goes to the program. */
static bool call(const char *class, const char *method, zval *result, uint32_t count, zval *arguments)
{
	zval function;

	ZVAL_UNDEF(result);
	array_init(&function);
	add_next_index_str(&function, full_name(class));
	add_next_index_string(&function, method);
	bool called = zend_is_callable(&function, 0, NULL)
		&& call_user_function(NULL, NULL, &function, result, count, arguments) == SUCCESS;
	zval_ptr_dtor(&function);
	return called;
}

/* True if the method returns something true. */
static bool tell(const char *class, const char *method, uint32_t count, zval *arguments)
{
	zval result;
	bool is_true = call(class, method, &result, count, arguments) && zend_is_true(&result);

	zval_ptr_dtor(&result);
	return is_true;
}

/* ---- being called by it ---- */

static void end(INTERNAL_FUNCTION_PARAMETERS)
{
	(void) execute_data, (void) return_value;
	zend_hash_index_del(&DLOCK_G(coroutines), (zend_ulong) swoole.id());
	ends();
}

/* The stream can be read, or the time has passed. In both cases the argument is the stream, which has the coroutine's
 * id. */
static void resume(INTERNAL_FUNCTION_PARAMETERS)
{
	zval id;

	(void) return_value;
	if (ZEND_NUM_ARGS() == 0 || Z_TYPE_P(ZEND_CALL_ARG(execute_data, 1)) != IS_RESOURCE
		|| Z_RES_TYPE_P(ZEND_CALL_ARG(execute_data, 1)) != php_file_le_stream()) {
		return;
	}
	php_stream *stream = Z_RES_VAL_P(ZEND_CALL_ARG(execute_data, 1));
	if (Z_TYPE(stream->wrapperdata) == IS_LONG) {
		ZVAL_COPY_VALUE(&id, &stream->wrapperdata);
		ZVAL_UNDEF(&stream->wrapperdata); /* so that it resumes once, even if both are due */
		tell("Coroutine", "resume", 1, &id);
	}
}

static void init_function(zend_internal_function *function, zif_handler handler)
{
	*function = (zend_internal_function) { .type = ZEND_INTERNAL_FUNCTION, .handler = handler };
	function->function_name = zend_string_init_interned(ZEND_STRL("dlock"), true);
}

void dlock_coroutines_init(void (*on_end)(void))
{
	ends = on_end;
	init_function(&end_function, end);
	init_function(&resume_function, resume);
}

void dlock_coroutines_begin(void)
{
	zend_hash_init(&DLOCK_G(coroutines), 0, NULL, NULL, 0);
}

void dlock_coroutines_end(void)
{
	zend_hash_destroy(&DLOCK_G(coroutines));
	dlock_coroutines_begin(); /* an empty table has no memory */
}

/* A deferred function tells when a coroutine ends. Each coroutine needs only one. */
void dlock_coroutine_watch_end(void)
{
	zval closure;

	if (!dlock_coroutine_runs() || !zend_hash_index_add_empty_element(&DLOCK_G(coroutines), (zend_ulong) swoole.id())) {
		return;
	}
	zend_create_fake_closure(&closure, (zend_function *) &end_function, NULL, NULL, NULL);
	tell("Coroutine", "defer", 1, &closure);
	zval_ptr_dtor(&closure);
}

/* ---- waiting ---- */

/* Throws what Swoole throws when it cancels a coroutine. */
static void throw_if_cancelled(void)
{
	if (tell("Coroutine", "isCanceled", 0, NULL) && !EG(exception)) {
		zend_string *name = full_name("Coroutine\\CanceledException"); /* OpenSwoole has no such class */
		zend_class_entry *class = zend_lookup_class(name);
		zend_string_release(name);
		zend_throw_exception(class ? class : zend_ce_exception, "The coroutine was cancelled", 0);
	}
}

/* Suspends the coroutine until it is resumed or cancelled. */
static void yield(php_stream *stream)
{
	zval result;

	ZVAL_LONG(&stream->wrapperdata, swoole.id());
	call("Coroutine", "yield", &result, 0, NULL);
	ZVAL_UNDEF(&stream->wrapperdata);
	if (Z_TYPE(result) == IS_FALSE && !EG(exception)) {
		throw_if_cancelled();
	}
	zval_ptr_dtor(&result);
}

/* A pending exception is set aside, because the calls need that. */
static void forget(zval *stream, zval *timer)
{
	zend_object *pending = EG(exception);

	EG(exception) = NULL;
	tell("Event", "del", 1, stream);
	tell("Timer", "clear", 1, timer);
	if (EG(exception)) {
		zend_exception_set_previous(EG(exception), pending);
	} else {
		EG(exception) = pending;
	}
}

/* Not by waitEvent(). Its timeout, or a cancellation, may come in the same turn of Swoole's loop in which the stream
 * can be read. Then it resumes a coroutine that may be gone, and the process crashes (seen in Swoole 6.2.1). */
bool dlock_coroutine_wait(zval *stream, double seconds)
{
	zval event[2], after[3], timer;

	ZVAL_COPY_VALUE(&event[0], stream);
	zend_create_fake_closure(&event[1], (zend_function *) &resume_function, NULL, NULL, NULL);
	bool waits = tell("Event", "add", 2, event);
	if (waits) {
		ZVAL_LONG(&after[0], (zend_long) (seconds * 1000) + 1);
		ZVAL_COPY_VALUE(&after[1], &event[1]);
		ZVAL_COPY_VALUE(&after[2], stream);
		call("Timer", "after", &timer, 3, after);
		yield(Z_RES_VAL_P(stream));
		forget(stream, &timer);
		zval_ptr_dtor(&timer);
	}
	zval_ptr_dtor(&event[1]);
	return waits;
}

#include "strand.h"

#include "coroutine.h"
#include "../globals.h"

#include "php_network.h"
#include "zend_exceptions.h"
#include "zend_extensions.h"
#include "zend_fibers.h"
#include "zend_observer.h"

/* A suspended strand; on its own stack. */
typedef struct dlock_sleeping {
	uint64_t strand;
	const dlock_wakeup *bell;
	struct dlock_sleeping *next;
} sleeping;

/* They outlive the module, as the handlers of interrupts do (loss_signal.c). */
static bool is_loaded;
static void (*goes_on)(void);
static void (*ends)(uint64_t strand);
static int slot = -1; /* where a fiber's context has its number; -1: other extensions use all slots */

/* ---- numbers ---- */

#define COROUTINE (UINT64_C(1) << 63)

uint64_t dlock_strand(void)
{
	if (dlock_coroutine_runs()) {
		return COROUTINE | (uint64_t) dlock_coroutine_id();
	}
	zend_fiber_context *context = EG(current_fiber_context);
	if (!DLOCK_G(has_strands) || slot < 0 || !context || context == EG(main_fiber_context)) {
		return 0;
	}
	if (!context->reserved[slot]) {
		context->reserved[slot] = (void *) (uintptr_t) ++DLOCK_G(strands);
	}
	return (uint64_t) (uintptr_t) context->reserved[slot];
}

/* ---- fibers ---- */

static void switched(zend_fiber_context *from, zend_fiber_context *to)
{
	(void) from;
	(void) to;
	if (is_loaded) {
		goes_on();
	}
}

static void destroyed(zend_fiber_context *context)
{
	uint64_t strand = is_loaded && slot >= 0 ? (uint64_t) (uintptr_t) context->reserved[slot] : 0;

	if (strand) {
		ends(strand);
		context->reserved[slot] = NULL;
	}
}

static void coroutine_ends(void)
{
	ends(dlock_strand());
}

void dlock_strands_init(void (*on_going_on)(void), void (*on_end)(uint64_t strand))
{
	static bool is_registered;

	goes_on = on_going_on;
	ends = on_end;
	if (!is_registered) {
		is_registered = true;
		slot = zend_get_resource_handle("dlock");
		zend_observer_fiber_switch_register(switched);
		zend_observer_fiber_destroy_register(destroyed);
	}
	dlock_coroutines_init(coroutine_ends);
	is_loaded = true;
}

void dlock_strands_unload(void)
{
	is_loaded = false;
}

void dlock_strands_begin(void)
{
	ZVAL_UNDEF(&DLOCK_G(waiter));
	dlock_coroutines_begin();
	DLOCK_G(sleeping) = NULL;
	DLOCK_G(has_strands) = DLOCK_G(has_bailed_out) = DLOCK_G(is_refused) = false;
	DLOCK_G(request)++;
}

void dlock_strands_end(void)
{
	zval waiter;

	DLOCK_G(request)++;
	DLOCK_G(sleeping) = NULL;
	dlock_pools_forget_waits(&DLOCK_G(pools));
	dlock_coroutines_end();
	ZVAL_COPY_VALUE(&waiter, &DLOCK_G(waiter));
	ZVAL_UNDEF(&DLOCK_G(waiter));
	zval_ptr_dtor(&waiter);
}

/* ---- the stream for the waiter ---- */

static ssize_t no_read(php_stream *stream, char *buffer, size_t size)
{
	(void) stream, (void) buffer, (void) size;
	return -1;
}

static ssize_t no_write(php_stream *stream, const char *bytes, size_t count)
{
	(void) stream, (void) bytes, (void) count;
	return -1;
}

/* The stream does not own the descriptor, so it does not close it. */
static int forget(php_stream *stream, int close_handle)
{
	(void) close_handle;
	stream->abstract = (void *) (intptr_t) -1;
	return 0;
}

static int no_flush(php_stream *stream)
{
	(void) stream;
	return 0;
}

/* For stream_select() and event loops. */
static int cast(php_stream *stream, int as, void **ret)
{
	int fd = (int) (intptr_t) stream->abstract;

	if (fd < 0 || (as != PHP_STREAM_AS_FD && as != PHP_STREAM_AS_FD_FOR_SELECT && as != PHP_STREAM_AS_SOCKETD)) {
		return FAILURE;
	}
	if (ret) {
		*(php_socket_t *) ret = fd;
	}
	return SUCCESS;
}

static const php_stream_ops stream_ops = { no_write, no_read, forget, no_flush, "dlock", NULL, cast, NULL, NULL };

/* False after an exception. */
static bool make_stream(zval *value, int fd)
{
	php_stream *stream = php_stream_alloc(&stream_ops, (void *) (intptr_t) fd, NULL, "r");

	if (!stream) {
		return false;
	}
	stream->flags |= PHP_STREAM_FLAG_NO_BUFFER | PHP_STREAM_FLAG_NO_SEEK | PHP_STREAM_FLAG_AVOID_BLOCKING;
	php_stream_to_zval(stream, value);
	return true;
}

/* The program may keep the stream. It leads nowhere from now on, because the descriptor's number will be reused. */
static void drop_stream(zval *value)
{
	php_stream *stream = Z_RES_P(value)->ptr;

	if (Z_RES_P(value)->type == php_file_le_stream() && stream) {
		stream->abstract = (void *) (intptr_t) -1;
	}
	zval_ptr_dtor(value);
}

/* ---- suspending ---- */

static bool may_switch(void)
{
	const zend_fiber *fiber = EG(active_fiber);

	return !EG(exception) && !DLOCK_G(has_bailed_out) && !zend_fiber_switch_blocked()
		&& !(fiber && fiber->flags & ZEND_FIBER_FLAG_DESTROYED);
}

/* False: the strand cannot wait here. */
static bool call_waiter(zval *arguments)
{
	zval waiter, result;

	if (Z_ISUNDEF(DLOCK_G(waiter))) {
		bool waits = dlock_coroutine_wait(&arguments[0], Z_DVAL(arguments[1]));
		goes_on(); /* no other call tells that the coroutine runs again */
		return waits;
	}
	ZVAL_UNDEF(&result);
	ZVAL_COPY(&waiter, &DLOCK_G(waiter));
	bool called = call_user_function(NULL, NULL, &waiter, &result, 2, arguments) == SUCCESS;
	bool refused = !called || Z_TYPE(result) == IS_FALSE;
	zval_ptr_dtor(&waiter);
	zval_ptr_dtor(&result);
	return !refused;
}

/* The longest wait for which the waiter is called, so that it needs no wait without limit. */
#define LONGEST (60 * DLOCK_SECOND)
#define SHORTEST DLOCK_US

static double seconds_until(dlock_nanos until)
{
	dlock_nanos left = until == DLOCK_FOREVER ? LONGEST : until - dlock_now();

	left = left > LONGEST ? LONGEST : left < SHORTEST ? SHORTEST : left;
	return (double) left / DLOCK_SECOND;
}

static void wake_up(sleeping *own)
{
	sleeping **at = &DLOCK_G(sleeping);

	while (*at && *at != own) {
		at = &(*at)->next;
	}
	if (*at) {
		*at = own->next;
	}
}

/* A fatal error would jump over the frames of the waiting strand, whose memory is freed with the fiber. So the error is
 * caught, the frames return, and then it continues. After the request's end it continues at once, because nothing that
 * the frames use exists any more. */
static dlock_suspension suspend(void *context, const dlock_wakeup *bell, int fd, dlock_nanos until)
{
	sleeping own = { .strand = dlock_strand(), .bell = bell, .next = DLOCK_G(sleeping) };
	zend_ulong request = DLOCK_G(request);
	volatile bool suspended = false;
	zval arguments[2];

	(void) context;
	if (!dlock_strand_suspend()) {
		return EG(exception) ? DLOCK_SUSPENSION_CANCELLED : DLOCK_CANNOT_SUSPEND;
	}
	ZVAL_UNDEF(&arguments[0]);
	ZVAL_DOUBLE(&arguments[1], seconds_until(until));
	DLOCK_G(sleeping) = &own;
	zend_try {
		suspended = make_stream(&arguments[0], fd) && call_waiter(arguments);
	} zend_catch {
		if (request == DLOCK_G(request)) {
			DLOCK_G(has_bailed_out) = true;
		}
	} zend_end_try();
	if (request != DLOCK_G(request)) {
		zend_bailout();
	}
	wake_up(&own);
	if (!DLOCK_G(has_bailed_out) && !Z_ISUNDEF(arguments[0])) {
		drop_stream(&arguments[0]);
	}
	if (dlock_strand_is_cancelled()) {
		return DLOCK_SUSPENSION_CANCELLED;
	}
	DLOCK_G(is_refused) = !suspended;
	return suspended ? DLOCK_SUSPENDED : DLOCK_CANNOT_SUSPEND;
}

dlock_suspend *dlock_strand_suspend(void)
{
	bool can = !Z_ISUNDEF(DLOCK_G(waiter)) || dlock_coroutine_runs();

	return can && may_switch() ? suspend : NULL;
}

bool dlock_strand_was_refused(void)
{
	bool refused = DLOCK_G(is_refused);

	DLOCK_G(is_refused) = false;
	return refused;
}

bool dlock_strand_is_cancelled(void)
{
	return EG(exception) || DLOCK_G(has_bailed_out);
}

void dlock_strand_go_on(void)
{
	if (DLOCK_G(has_bailed_out)) {
		DLOCK_G(has_bailed_out) = false;
		zend_bailout();
	}
}

void dlock_strand_ring(uint64_t strand)
{
	for (const sleeping *one = DLOCK_G(sleeping); one; one = one->next) {
		if (one->strand == strand) {
			dlock_wakeup_send(one->bell);
		}
	}
}

ZEND_FUNCTION(Dlock_setWaiter)
{
	zend_fcall_info info;
	zend_fcall_info_cache cache;
	zval before;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_FUNC_OR_NULL(info, cache)
	ZEND_PARSE_PARAMETERS_END();

	ZVAL_COPY_VALUE(&before, &DLOCK_G(waiter));
	if (ZEND_FCI_INITIALIZED(info)) {
		ZVAL_COPY(&DLOCK_G(waiter), &info.function_name);
		DLOCK_G(has_strands) = true;
	} else {
		ZVAL_UNDEF(&DLOCK_G(waiter));
	}
	if (!Z_ISUNDEF(before)) {
		RETURN_COPY_VALUE(&before);
	}
}

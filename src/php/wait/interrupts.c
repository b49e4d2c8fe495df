#include "interrupts.h"

#include "../globals.h"
#include "strand.h"

#include "zend_exceptions.h"

bool dlock_is_interrupted(void)
{
#if PHP_VERSION_ID >= 80200
	return zend_atomic_bool_load_ex(&EG(vm_interrupt));
#else
	return EG(vm_interrupt);
#endif
}

static bool is_interrupted(void *context)
{
	(void) context;
	return dlock_is_interrupted() || dlock_strand_is_cancelled() || DLOCK_G(is_refused);
}

dlock_wait dlock_interruptible(dlock_nanos deadline)
{
	dlock_strand_was_refused(); /* clears the refusal of an earlier wait */
	bool wakes = DLOCK_G(loss_signal).process == dlock_process_current();

	return (dlock_wait){ .deadline = deadline,
		.interrupted = is_interrupted,
		.suspend = dlock_strand_suspend(),
		.wakeup = wakes ? &DLOCK_G(loss_signal).wakeup : NULL };
}

void dlock_go_on_waiting(dlock_wait *wait)
{
	bool refused = dlock_strand_was_refused();
	dlock_wait now = dlock_interruptible(wait->deadline);

	wait->suspend = refused ? NULL : now.suspend;
	wait->wakeup = now.wakeup;
}

static void run_interrupts(void)
{
#if PHP_VERSION_ID >= 80200
	zend_atomic_bool_store_ex(&EG(vm_interrupt), false);
	if (zend_atomic_bool_load_ex(&EG(timed_out))) {
#else
	EG(vm_interrupt) = 0;
	if (EG(timed_out)) {
#endif
		zend_timeout();
	} else if (zend_interrupt_function) {
		zend_interrupt_function(EG(current_execute_data));
	}
}

/* Does what the VM does at its next safe point, because a wait has none. */
void dlock_run_interrupts(void)
{
	zend_object *pending = EG(exception);
	const zend_op *opline = EG(opline_before_exception);

	EG(exception) = NULL;
	/* Also handles signals that have come since: PHP holds signals back while a handler runs. */
	do {
		run_interrupts();
	} while (!EG(exception) && dlock_is_interrupted());
	if (!pending) {
		return;
	}
	EG(opline_before_exception) = opline;
	if (!EG(exception)) {
		EG(exception) = pending;
	} else if (dlock_is_exit(EG(exception))) { /* exit() in a handler */
		OBJ_RELEASE(pending);
	} else {
		zend_exception_set_previous(EG(exception), pending);
	}
}

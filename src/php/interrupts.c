#include "common.h"

static bool is_interrupted(void *context)
{
	(void) context;
#if PHP_VERSION_ID >= 80200
	return zend_atomic_bool_load_ex(&EG(vm_interrupt));
#else
	return EG(vm_interrupt);
#endif
}

dlock_wait dlock_interruptible(dlock_nanos deadline)
{
	return (dlock_wait) { .deadline = deadline, .interrupted = is_interrupted };
}

/* What the VM does at its next safe point, done here, since a wait has none. */
void dlock_run_interrupts(void)
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

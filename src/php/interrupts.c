#include "common.h"

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
	return dlock_is_interrupted();
}

dlock_wait dlock_interruptible(dlock_nanos deadline)
{
	bool rings = DLOCK_G(alarm).process == dlock_process_current();

	return (dlock_wait) { .deadline = deadline, .interrupted = is_interrupted, .wakeup = rings ? &DLOCK_G(alarm).wakeup : NULL };
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

/* What the VM does at its next safe point, done here, since a wait has none. */
void dlock_run_interrupts(void)
{
	zend_object *pending = EG(exception);
	const zend_op *opline = EG(opline_before_exception);

	EG(exception) = NULL;
	/* Those too that have come since: PHP keeps signals back while a handler runs. */
	do {
		run_interrupts();
	} while (!EG(exception) && dlock_is_interrupted());
	if (!pending) {
		return;
	}
	EG(opline_before_exception) = opline;
	if (!EG(exception)) {
		EG(exception) = pending;
	} else if (zend_is_unwind_exit(EG(exception))) { /* exit() in a handler */
		OBJ_RELEASE(pending);
	} else {
		zend_exception_set_previous(EG(exception), pending);
	}
}

/* ---- losses ---- */

typedef void (*interrupt_handler)(zend_execute_data *execute_data);

/* They outlive the module, since its code stays loaded: dl() may load it again for each request of a process. */
static interrupt_handler other_handlers, called_by; /* NULL: none */
static bool is_loaded;

/* Runs in the renewal thread, and touches nothing but atomic flags. */
void dlock_ring_alarm(void *context)
{
	dlock_alarm *alarm = context;

	/* The wakeup comes last: who it wakes finds the rest. */
	atomic_store(&alarm->rung, true);
#if PHP_VERSION_ID >= 80200
	zend_atomic_bool_store_ex(alarm->interrupt, true);
#else
	*alarm->interrupt = 1;
#endif
#ifndef PHP_WIN32
	dlock_wakeup_send(&alarm->wakeup);
#endif
}

/* A wakeup is shared with the children of a fork, so that each process has to have its own. */
dlock_alarm *dlock_alarm_here(void)
{
	dlock_alarm *alarm = &DLOCK_G(alarm);

#ifndef PHP_WIN32
	if (alarm->process != dlock_process_current()) {
		dlock_alarm_close(alarm);
		if (!dlock_wakeup_open(&alarm->wakeup)) {
			return NULL;
		}
		alarm->process = dlock_process_current();
	}
#endif
	return alarm;
}

void dlock_alarm_close(dlock_alarm *alarm)
{
#ifndef PHP_WIN32
	if (alarm->process != 0) {
		dlock_wakeup_close(&alarm->wakeup);
		alarm->process = 0;
	}
#else
	(void) alarm;
#endif
}

/* What came over a fork is the parent's to be told of. */
static dlock_hold *find_untold_loss(void)
{
	dlock_nanos remaining;

	for (dlock_registry_entry *entry = DLOCK_G(registry).first; entry; entry = entry->next) {
		dlock_hold *hold = dlock_hold_from(entry);
		if (hold->throws && dlock_claim_is_mine(entry->claim) && dlock_hold_look(hold, &remaining) == DLOCK_CLAIM_LOST) {
			return hold;
		}
	}
	return NULL;
}

/* The VM calls it between two opcodes of the running code. */
static void throw_losses(zend_execute_data *execute_data)
{
	if (other_handlers) {
		other_handlers(execute_data);
	}
	if (!is_loaded || !atomic_load(&DLOCK_G(alarm).rung)) {
		return;
	}
	/* All at once: the VM looks for interrupts again before it handles what was thrown, so an alarm that is left rung here
	 * would keep it here. Each becomes the previous of the next, and so does what another handler has thrown. */
	atomic_store(&DLOCK_G(alarm).rung, false);
#ifndef PHP_WIN32
	if (DLOCK_G(alarm).process == dlock_process_current()) { /* a parent's may be ringing for the parent */
		dlock_wakeup_clear(&DLOCK_G(alarm).wakeup);
	}
#endif
	for (dlock_hold *hold = find_untold_loss(); hold; hold = find_untold_loss()) {
		hold->throws = false;
		zend_object *exception = dlock_throw_lost(hold->entry.claim->resource, DLOCK_LOST_WHILE_HELD);
		hold->thrown = exception ? exception->handle : 0;
	}
}

void dlock_interrupts_init(void)
{
	is_loaded = true;
	if (called_by && called_by == zend_interrupt_function) {
		return;
	}
	other_handlers = zend_interrupt_function;
	zend_interrupt_function = throw_losses;
}

void dlock_interrupts_end(void)
{
	is_loaded = false;
	if (zend_interrupt_function == throw_losses) {
		zend_interrupt_function = other_handlers;
	} else { /* another module's has taken ours for the one to be called by it, and goes on calling it */
		called_by = zend_interrupt_function;
	}
}

void dlock_interrupts_begin(void)
{
	DLOCK_G(alarm).interrupt = &EG(vm_interrupt);
	atomic_store(&DLOCK_G(alarm).rung, false);
}

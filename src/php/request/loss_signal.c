#include "loss_signal.h"

#include "../stats.h"
#include "errors.h"
#include "hold.h"
#include "holder_watch.h"
#include "../wait/strand.h"

#include "zend_exceptions.h"

#include <pthread.h>

typedef void (*interrupt_handler)(zend_execute_data *execute_data);

/* They outlive the module, because its code stays loaded: dl() may load it again for each request of a process. */
static interrupt_handler other_handlers, called_by; /* NULL: none */
static bool is_loaded;

static void interrupt(const dlock_loss_signal *signal)
{
#if PHP_VERSION_ID >= 80200
	zend_atomic_bool_store_ex(signal->interrupt, true);
#else
	*signal->interrupt = 1;
#endif
}

/* May run in the renewal thread or the one that watches a holder, so it only sets atomic flags and sends the wakeup. */
void dlock_loss_signal_raise(void *context)
{
	dlock_loss_signal *signal = context;

	/* The wakeup comes last, because the thread that it wakes reads the flags. */
	atomic_store(&signal->raised, true);
	interrupt(signal);
	if (signal->process == dlock_process_current()) {
		dlock_wakeup_send(&signal->wakeup);
	}
}

void dlock_loss_signal_strand_goes_on(void)
{
	if (DLOCK_G(loss_signal).elsewhere) {
		atomic_store(&DLOCK_G(loss_signal).raised, true);
		interrupt(&DLOCK_G(loss_signal));
	}
}

/* fork() shares a wakeup with the child, so each process opens its own. */
dlock_loss_signal *dlock_loss_signal_here(void)
{
	dlock_loss_signal *signal = &DLOCK_G(loss_signal);

	if (signal->process != dlock_process_current()) {
		dlock_loss_signal_close(signal);
		if (!dlock_wakeup_open(&signal->wakeup)) {
			return NULL;
		}
		signal->process = dlock_process_current();
	}
	return signal;
}

void dlock_loss_signal_close(dlock_loss_signal *signal)
{
	if (signal->process != 0) {
		dlock_wakeup_close(&signal->wakeup);
		signal->process = 0;
	}
}

/* A claim from before a fork() is the parent's. The child has lost it when the parent has ended. */
static bool is_lost_with_holder(const dlock_claim *claim)
{
	if (dlock_holder_has_ended(claim)) {
		return true;
	}
	dlock_loss_signal *signal = dlock_loss_signal_here();
	if (signal) {
		dlock_holder_watch(claim, dlock_loss_signal_raise, signal);
	}
	return false;
}

static bool is_lost(dlock_hold *hold)
{
	const dlock_claim *claim = hold->entry.claim;
	dlock_nanos remaining;

	return dlock_claim_is_mine(claim) ? dlock_hold_refresh(hold, &remaining) == DLOCK_CLAIM_LOST
									  : is_lost_with_holder(claim);
}

/* A loss of the running strand. A loss of another strand is thrown when that strand runs, so it is woken. */
static dlock_hold *find_unreported_loss(void)
{
	uint64_t strand = dlock_strand();

	DLOCK_G(loss_signal).elsewhere = false;
	for (dlock_registry_entry *entry = DLOCK_G(registry).first; entry; entry = entry->next) {
		dlock_hold *hold = dlock_hold_from(entry);
		if (!hold->throws || !is_lost(hold)) {
			continue;
		}
		if (entry->strand == strand) {
			return hold;
		}
		DLOCK_G(loss_signal).elsewhere = true;
		dlock_strand_ring(entry->strand);
	}
	return NULL;
}

/* Runs in the child of a fork(). The child looks at the claims that it has inherited as soon as PHP code runs. */
static void forked(void)
{
#ifdef ZTS
	if (!tsrm_get_ls_cache()) { /* not a thread of PHP */
		return;
	}
#endif
	if (!is_loaded) {
		return;
	}
	dlock_stats_forked();
	for (dlock_registry_entry *entry = DLOCK_G(registry).first; entry; entry = entry->next) {
		if (dlock_hold_from(entry)->throws) {
			dlock_loss_signal_raise(&DLOCK_G(loss_signal));
			return;
		}
	}
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked);
}

/* The VM calls it between two opcodes of the running code. */
static void throw_losses(zend_execute_data *execute_data)
{
	if (other_handlers) {
		other_handlers(execute_data);
	}
	if (!is_loaded || !atomic_load(&DLOCK_G(loss_signal).raised)) {
		return;
	}
	/* Throws all losses at once. The VM looks for interrupts again before it handles an exception, so a signal that
	 * stays raised would keep it here. Each exception becomes the previous one of the next. So does what another
	 * handler has thrown. */
	atomic_store(&DLOCK_G(loss_signal).raised, false);
	if (DLOCK_G(loss_signal).process == dlock_process_current()) { /* a parent's wakeup may be meant for the parent */
		dlock_wakeup_clear(&DLOCK_G(loss_signal).wakeup);
	}
	for (dlock_hold *hold = find_unreported_loss(); hold; hold = find_unreported_loss()) {
		dlock_hold_loss_told(hold, 0);
		const dlock_claim *claim = hold->entry.claim;
		zend_object *exception = dlock_throw_lost(claim->resource, claim->resource_len,
			dlock_claim_is_mine(claim) ? DLOCK_LOST_WHILE_HELD : "was lost, since the process that held it has ended");
		dlock_hold_loss_told(hold, exception ? exception->handle : 0);
	}
}

void dlock_loss_signals_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, watch_forks);
	is_loaded = true;
	if (called_by && called_by == zend_interrupt_function) {
		return;
	}
	other_handlers = zend_interrupt_function;
	zend_interrupt_function = throw_losses;
}

void dlock_loss_signals_end(void)
{
	is_loaded = false;
	if (zend_interrupt_function == throw_losses) {
		zend_interrupt_function = other_handlers;
	} else { /* another module's handler calls this one, and continues to */
		called_by = zend_interrupt_function;
	}
}

void dlock_loss_signals_begin(void)
{
	DLOCK_G(loss_signal).interrupt = &EG(vm_interrupt);
	atomic_store(&DLOCK_G(loss_signal).raised, false);
	DLOCK_G(loss_signal).elsewhere = false;
}

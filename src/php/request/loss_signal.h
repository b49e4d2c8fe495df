#ifndef DLOCK_PHP_LOSS_SIGNAL_H
#define DLOCK_PHP_LOSS_SIGNAL_H

#include "../globals.h"

/* Losses that are thrown into running PHP code: the renewal thread raises a signal, and the VM throws between two
 * opcodes. */

/* When the module is loaded, before other threads run; when it is unloaded; and at each request's beginning. */
void dlock_loss_signals_init(void);
void dlock_loss_signals_end(void);
void dlock_loss_signals_begin(void);

/* This thread's signal, ready to be raised; NULL where there is no descriptor left for it. */
dlock_loss_signal *dlock_loss_signal_here(void);
void dlock_loss_signal_close(dlock_loss_signal *signal);

/* Another strand runs now: a loss may wait for it. */
void dlock_loss_signal_strand_goes_on(void);

/* What a renewal calls when a lease that throws is lost. */
void dlock_loss_signal_raise(void *signal);

#endif

#ifndef DLOCK_PHP_LOSS_SIGNAL_H
#define DLOCK_PHP_LOSS_SIGNAL_H

#include "../globals.h"

/* Losses that are thrown into running PHP code: the renewal thread raises a signal, and the VM throws between two
 * opcodes. */

/* init: when the module is loaded, before other threads run. end: when it is unloaded. begin: at the beginning of each
 * request. */
void dlock_loss_signals_init(void);
void dlock_loss_signals_end(void);
void dlock_loss_signals_begin(void);

/* This thread's signal, ready to be raised. NULL: there is no descriptor for it, and errno says why. */
dlock_loss_signal *dlock_loss_signal_here(void);

/* Closes its wakeup, if there is one. */
void dlock_loss_signal_close(dlock_loss_signal *signal);

/* Another strand runs now: its loss may be waiting for it. */
void dlock_loss_signal_strand_goes_on(void);

/* For dlock_upkeep.lost: reports that a lease is lost whose loss is to be thrown. `signal`: a dlock_loss_signal. */
void dlock_loss_signal_raise(void *signal);

#endif

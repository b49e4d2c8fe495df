#ifndef DLOCK_REDIS_PERMIT_ID_H
#define DLOCK_REDIS_PERMIT_ID_H

/* What names a waiter: a lease's token, or an order's "buyer/order", both percent-encoded. */

/* The longest: a buyer and an order of 255 bytes each, all of them encoded. */
#define DLOCK_PERMIT_ID_MAX (3 * 255 + 1 + 3 * 255)

#endif

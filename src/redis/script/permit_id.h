#ifndef DLOCK_REDIS_PERMIT_ID_H
#define DLOCK_REDIS_PERMIT_ID_H

/* The id of a waiter: a lease's token, or an order's "buyer/order" with both parts percent-encoded. */

/* The longest id: a buyer and an order of 255 bytes each, with every byte encoded. */
#define DLOCK_PERMIT_ID_MAX (3 * 255 + 1 + 3 * 255)

#endif

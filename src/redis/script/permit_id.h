#ifndef DLOCK_REDIS_PERMIT_ID_H
#define DLOCK_REDIS_PERMIT_ID_H

/* What names a holder of permits: its token, or a reservation's "buyer/request", both percent-encoded. */

/* The longest: a buyer and a request of 255 bytes each, all of them encoded. */
#define DLOCK_PERMIT_ID_MAX (3 * 255 + 1 + 3 * 255)

#endif

#ifndef DLOCK_ZK_RESULT_H
#define DLOCK_ZK_RESULT_H

#include <stdbool.h>

/* What the client library's result codes mean. */

/* Did the library respond for the server because the connection broke? Then the request may have been executed. */
bool dlock_zk_is_loss(int rc);

/* ... because the session is over? */
bool dlock_zk_is_dead(int rc);

#endif

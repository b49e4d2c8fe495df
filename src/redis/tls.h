#ifndef DLOCK_REDIS_TLS_H
#define DLOCK_REDIS_TLS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>

#include "../base/error.h"
#include "server.h"

struct ssl_st;

/* Begins TLS on a connected socket. The certificate must be signed by a known authority and be made out for the host,
 * unless the server's options say otherwise. NULL with a message on failure. */
struct ssl_st *dlock_tls_start(redisContext *redis, const dlock_server *server, dlock_error *error);

/* Has OpenSSL read more from the socket than was asked for? poll() does not see that. */
bool dlock_tls_pending(const struct ssl_st *tls);

/* Is the handshake still under way? Then the peer's answer is what to wait for, whatever is left to write. */
bool dlock_tls_handshaking(const struct ssl_st *tls);

/* What is wrong with the peer's certificate; NULL when nothing is, or it was not checked. */
const char *dlock_tls_distrust(const struct ssl_st *tls);

#endif

#ifndef DLOCK_REDIS_TLS_H
#define DLOCK_REDIS_TLS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>

#include "../../base/error.h"
#include "../../net/server.h"

struct ssl_st;

/* Begins TLS on a connected socket. The certificate must be signed by a known authority and be made out for the host,
 * unless the server's options say otherwise. NULL with a message on failure. */
struct ssl_st *dlock_tls_start(redisContext *redis, const dlock_server *server, dlock_error *error);

/* To be called before each read and write. OpenSSL reports failures in a queue of errors of the thread: what another
 * connection, or other code of the process, has left there would count as this connection's failure. */
void dlock_tls_prepare(const struct ssl_st *tls);

/* Is the TLS handshake still under way? Then the peer's next message is what to wait for, even if bytes are left to
 * write. */
bool dlock_tls_handshaking(const struct ssl_st *tls);

/* Why a read or write has just failed: what is wrong with the peer's certificate, or OpenSSL's reason; `otherwise`
 * where there is none, or no TLS. */
void dlock_tls_explain(const struct ssl_st *tls, const char *otherwise, char *out, size_t size);

#endif

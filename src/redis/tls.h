#ifndef DLOCK_REDIS_TLS_H
#define DLOCK_REDIS_TLS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>

#include "../base/error.h"
#include "../base/server.h"

struct ssl_st;

/* Begins TLS on a connected socket. The certificate must be signed by a known authority and be made out for the host,
 * unless the server's options say otherwise. NULL with a message on failure. */
struct ssl_st *dlock_tls_start(redisContext *redis, const dlock_server *server, dlock_error *error);

/* Before each read and write. OpenSSL tells by the thread's queue of errors how one of them went: what the end of another
 * connection has left there, or other code of this process, would count as this one's failure. */
void dlock_tls_prepare(const struct ssl_st *tls);

/* Is the handshake still under way? Then the peer's answer is what to wait for, whatever is left to write. */
bool dlock_tls_handshaking(const struct ssl_st *tls);

/* Why a read or write has just failed: what is wrong with the peer's certificate, or what OpenSSL says; or, where it says
 * nothing or there is no TLS, `otherwise`. */
void dlock_tls_explain(const struct ssl_st *tls, const char *otherwise, char *out, size_t size);

#endif

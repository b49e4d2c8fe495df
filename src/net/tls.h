#ifndef DLOCK_TLS_H
#define DLOCK_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "endpoint/endpoint.h"

/* TLS as a codec: it decrypts bytes of the peer and encrypts bytes for the peer. It knows no socket: its owner
 * (channel.h) receives and sends. So it never sleeps and raises no SIGPIPE. A child process that frees its copy sends
 * nothing to the peer. */

typedef struct {
	struct ssl_st *ssl;
	bool established;  /* the handshake has succeeded */
	char problem[200]; /* why it has failed, and what to do about it; then it is of no use. "": it has not */
} dlock_tls;

#ifdef DLOCK_TLS

/* A known authority must have signed the certificate, and the certificate must name the host, unless the server's
 * options say otherwise. NULL, with a problem, on failure. */
dlock_tls *dlock_tls_new(const dlock_endpoint *server, char *problem, size_t size);
void dlock_tls_free(dlock_tls *tls);

/* Adds what the peer has sent. False: it has failed. */
bool dlock_tls_feed(dlock_tls *tls, const char *bytes, size_t len);

/* Continues the handshake as far as the peer's bytes allow. False: it has failed, and an alert may have to be sent. */
bool dlock_tls_handshake(dlock_tls *tls);

/* Writes plain bytes to `out`, and returns their number. 0: none are complete; -1: it has failed, or the peer has said
 * that it ends. */
long dlock_tls_read(dlock_tls *tls, char *out, size_t size);

/* Adds plain bytes for the peer, after the handshake. False: it has failed. */
bool dlock_tls_write(dlock_tls *tls, const char *bytes, size_t len);

/* The number of bytes to send to the peer, which each of these functions may raise. dlock_tls_take() moves `len` of
 * them to `out`. */
size_t dlock_tls_unsent(const dlock_tls *tls);
void dlock_tls_take(dlock_tls *tls, char *out, size_t len);

/* Adds the message to the peer that nothing follows. */
void dlock_tls_end(dlock_tls *tls);

#else /* sealed servers do not use TLS */

#define dlock_tls_new(server, problem, size) ((void) (problem), (dlock_tls *) NULL)
#define dlock_tls_free(tls) ((void) (tls))
#define dlock_tls_feed(tls, bytes, len) ((void) (tls), false)
#define dlock_tls_handshake(tls) ((void) (tls), false)
#define dlock_tls_read(tls, out, size) ((void) (tls), -1L)
#define dlock_tls_write(tls, bytes, len) ((void) (tls), false)
#define dlock_tls_unsent(tls) ((void) (tls), (size_t) 0)
#define dlock_tls_take(tls, out, len) ((void) (tls))
#define dlock_tls_end(tls) ((void) (tls))

#endif

#endif

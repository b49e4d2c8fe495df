#ifndef DLOCK_TLS_H
#define DLOCK_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "endpoint/endpoint.h"

/* TLS as a codec: bytes of the peer's go in and plain ones come out, and the other way round. It knows no socket:
 * its owner (channel.h) receives and sends. So it never sleeps, raises no SIGPIPE, and a child process that frees
 * its copy says nothing to the peer. */

typedef struct {
	struct ssl_st *ssl;
	bool established;  /* the handshake is over */
	char problem[200]; /* why it has failed, and what to do about it; then it is of no further use. "": it has not */
} dlock_tls;

#ifdef DLOCK_TLS

/* The certificate must be signed by a known authority and be made out for the host, unless the server's options say
 * otherwise. NULL with a problem on failure. */
dlock_tls *dlock_tls_new(const dlock_endpoint *server, char *problem, size_t size);
void dlock_tls_free(dlock_tls *tls);

/* What the peer has sent. False: it has failed. */
bool dlock_tls_feed(dlock_tls *tls, const char *bytes, size_t len);

/* Takes the handshake as far as what was fed allows. False: it has failed; an alert may be there to be sent. */
bool dlock_tls_handshake(dlock_tls *tls);

/* The number of plain bytes; 0: none are complete; -1: it has failed, or the peer has said that it ends. */
long dlock_tls_read(dlock_tls *tls, char *out, size_t size);

/* After the handshake. False: it has failed. */
bool dlock_tls_write(dlock_tls *tls, const char *bytes, size_t len);

/* The number of bytes that are to be sent to the peer, to which each of the others may add; and takes them. */
size_t dlock_tls_unsent(const dlock_tls *tls);
void dlock_tls_take(dlock_tls *tls, char *out, size_t len);

/* Tells the peer that nothing follows. */
void dlock_tls_end(dlock_tls *tls);

#else /* sealed servers ask for none */

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

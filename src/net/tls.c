/* OpenSSL reports failures in an error queue of the thread. An error that another connection or other code has left
 * there would count as this connection's. So this file empties the queue before each call, and after each failure. */

#include "tls.h"

#ifdef DLOCK_TLS

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- trust and identity ---- */

/* The handshake contains the host name (SNI), and the certificate must contain it. An address is checked as an
 * address. */
static bool expect_name(SSL *tls, const dlock_endpoint *server)
{
	const char *name = server->tls_peer_name ? server->tls_peer_name : server->host;

	if (!name) {
		return !server->tls_verify_peer_name;
	}
	ASN1_OCTET_STRING *address = a2i_IPADDRESS(name);
	bool is_address = address != NULL;
	ASN1_OCTET_STRING_free(address);

	if (!is_address && SSL_set_tlsext_host_name(tls, name) != 1) {
		return false;
	}
	if (!server->tls_verify_peer || !server->tls_verify_peer_name) {
		return true;
	}
	X509_VERIFY_PARAM_set_hostflags(
		SSL_get0_param(tls), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS); /* *.test, not r*.test */
	return is_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), name) == 1 : SSL_set1_host(tls, name) == 1;
}

typedef struct {
	const dlock_endpoint *server;
	bool asked;
} key_reading;

/* Without this callback OpenSSL asks at the terminal, or reads PHP's standard input, and waits. */
static int give_passphrase(char *out, int size, int for_writing, void *context)
{
	key_reading *reading = context;
	const char *passphrase = reading ? reading->server->tls_passphrase : NULL;
	size_t len = passphrase ? strlen(passphrase) : 0;

	(void) for_writing;
	if (reading) {
		reading->asked = true;
	}
	if (!passphrase || len > (size_t) size) {
		return -1;
	}
	memcpy(out, passphrase, len);
	return (int) len;
}

static const char *read_certificate(SSL_CTX *context, const dlock_endpoint *server)
{
	const char *key = server->tls_key ? server->tls_key : server->tls_cert, *problem = NULL;
	key_reading reading = { server, false };

	SSL_CTX_set_default_passwd_cb(context, give_passphrase);
	SSL_CTX_set_default_passwd_cb_userdata(context, &reading);
	if (server->tls_cert && SSL_CTX_use_certificate_chain_file(context, server->tls_cert) != 1) {
		problem = "local_cert cannot be read";
	} else if (key && SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) {
		problem = !reading.asked ? "local_pk cannot be read or does not belong to local_cert"
			: !server->tls_passphrase ? "local_pk is encrypted: give its passphrase, or a key that is not encrypted"
			: "local_pk cannot be decrypted by the passphrase or does not belong to local_cert";
	}
	SSL_CTX_set_default_passwd_cb_userdata(context, NULL);
	return problem;
}

static const char *configure(SSL_CTX *context, const dlock_endpoint *server)
{
	SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION); /* so that writing never waits for reading */
	SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);   /* idle connections need no buffers */
	SSL_CTX_set_verify(context, server->tls_verify_peer ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
	if (server->tls_cafile || server->tls_capath) {
		if (SSL_CTX_load_verify_locations(context, server->tls_cafile, server->tls_capath) != 1) {
			return "cafile or capath cannot be read";
		}
	} else if (SSL_CTX_set_default_verify_paths(context) != 1) {
		return "the system's certificate authorities cannot be read";
	}
	return read_certificate(context, server);
}

/* Memory BIOs stand in for the socket. */
static SSL *new_ssl(SSL_CTX *context)
{
	SSL *ssl = SSL_new(context);
	BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());

	if (!ssl || !in || !out) {
		BIO_free(in);
		BIO_free(out);
		SSL_free(ssl);
		return NULL;
	}
	SSL_set_bio(ssl, in, out);
	SSL_set_connect_state(ssl);
	return ssl;
}

dlock_tls *dlock_tls_new(const dlock_endpoint *server, char *problem, size_t size)
{
	dlock_tls *tls = calloc(1, sizeof *tls);
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	const char *why = tls && context ? configure(context, server) : "out of memory";

	if (!why && !(tls->ssl = new_ssl(context))) {
		why = "out of memory";
	} else if (!why && !expect_name(tls->ssl, server)) {
		why = "the name to expect in the certificate cannot be used";
	}
	SSL_CTX_free(context); /* the SSL keeps a reference */
	if (why) {
		ERR_clear_error();
		dlock_tls_free(tls);
		snprintf(problem, size, "TLS: %s", why);
		return NULL;
	}
	return tls;
}

void dlock_tls_free(dlock_tls *tls)
{
	if (tls) {
		SSL_free(tls->ssl);
		free(tls);
	}
}

/* ---- failures ---- */

static const char *remedy_of_certificate(long verified)
{
	switch (verified) {
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		return "; peer_name is the name to expect in it, where that is not the host";
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
		return "; give the certificate of its authority as cafile";
	default:
		return "";
	}
}

static const char *remedy_of_error(unsigned long error)
{
	switch (ERR_GET_REASON(error)) {
	case SSL_R_WRONG_VERSION_NUMBER:
		return "; what answers there does not speak TLS";
	case SSL_R_UNSUPPORTED_PROTOCOL:
	case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
		return "; TLS 1.2 or later is needed";
	case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
		return "; give one of this client as local_cert and local_pk";
	default:
		return "";
	}
}

static void explain(dlock_tls *tls)
{
	long verified = SSL_get_verify_mode(tls->ssl) != SSL_VERIFY_NONE ? SSL_get_verify_result(tls->ssl) : X509_V_OK;
	unsigned long error = ERR_peek_last_error();
	const char *reason = ERR_reason_error_string(error);

	if (verified != X509_V_OK) {
		snprintf(tls->problem, sizeof tls->problem, "TLS: the certificate is refused: %s%s",
			X509_verify_cert_error_string(verified), remedy_of_certificate(verified));
	} else {
		snprintf(tls->problem, sizeof tls->problem, "TLS: %s%s", reason ? reason : "failed", remedy_of_error(error));
	}
}

/* Judges the result of an OpenSSL function. Returns it; 0: bytes of the peer are missing; -1: it has failed, with a
 * problem. */
static long outcome(dlock_tls *tls, int result)
{
	switch (SSL_get_error(tls->ssl, result)) {
	case SSL_ERROR_NONE:
		return result;
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return 0;
	case SSL_ERROR_ZERO_RETURN:
		snprintf(tls->problem, sizeof tls->problem, "the server closed the connection");
		return -1;
	default:
		explain(tls);
		ERR_clear_error();
		return -1;
	}
}

/* ---- bytes: at most INT_MAX at a time ---- */

bool dlock_tls_feed(dlock_tls *tls, const char *bytes, size_t len)
{
	if (len > 0 && BIO_write(SSL_get_rbio(tls->ssl), bytes, (int) len) != (int) len) {
		snprintf(tls->problem, sizeof tls->problem, "out of memory");
	}
	return !*tls->problem;
}

bool dlock_tls_handshake(dlock_tls *tls)
{
	ERR_clear_error();
	tls->established = outcome(tls, SSL_do_handshake(tls->ssl)) > 0;
	return !*tls->problem;
}

long dlock_tls_read(dlock_tls *tls, char *out, size_t size)
{
	ERR_clear_error();
	return outcome(tls, SSL_read(tls->ssl, out, (int) size));
}

bool dlock_tls_write(dlock_tls *tls, const char *bytes, size_t len)
{
	ERR_clear_error();
	return !*tls->problem && outcome(tls, SSL_write(tls->ssl, bytes, (int) len)) == (long) len;
}

size_t dlock_tls_unsent(const dlock_tls *tls)
{
	return BIO_ctrl_pending(SSL_get_wbio(tls->ssl));
}

void dlock_tls_take(dlock_tls *tls, char *out, size_t len)
{
	BIO_read(SSL_get_wbio(tls->ssl), out, (int) len);
}

void dlock_tls_end(dlock_tls *tls)
{
	if (tls->established && !*tls->problem) {
		ERR_clear_error();
		SSL_shutdown(tls->ssl);
		ERR_clear_error();
	}
}

#endif

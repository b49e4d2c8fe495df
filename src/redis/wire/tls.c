#include "tls.h"

#include <stdio.h>

#ifdef DLOCK_TLS

#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>

/* The host name goes into the handshake (SNI) and must be in the certificate; an address is checked as an address. */
static bool expect_name(SSL *tls, const dlock_server *server)
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
		SSL_get0_param(tls), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS); /* *.test, but no r*.test */
	return is_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), name) == 1 : SSL_set1_host(tls, name) == 1;
}

typedef struct {
	const dlock_server *server;
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

static const char *read_certificate(SSL_CTX *context, const dlock_server *server)
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

static const char *configure(SSL_CTX *context, const dlock_server *server)
{
	SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
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

struct ssl_st *dlock_tls_start(redisContext *redis, const dlock_server *server, dlock_error *error)
{
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	SSL *tls = NULL;
	const char *problem = context ? configure(context, server) : "out of memory";

	if (!problem && (!(tls = SSL_new(context)) || !expect_name(tls, server))) {
		problem = "the name to expect in the certificate cannot be used";
	}
	SSL_CTX_free(context); /* `tls` keeps it */
	ERR_clear_error();
	if (problem) {
		SSL_free(tls);
		dlock_fail(error, DLOCK_CONNECTION, "TLS: %s", problem);
		return NULL;
	}
	/* hiredis takes the SSL over only when this succeeds. */
	if (redisInitiateSSL(redis, tls) != REDIS_OK) {
		char reason[200];
		dlock_tls_explain(tls, redis->errstr, reason, sizeof reason);
		dlock_fail(error, DLOCK_CONNECTION, "%s", reason);
		SSL_free(tls);
		ERR_clear_error();
		return NULL;
	}
	return tls;
}

void dlock_tls_prepare(const struct ssl_st *tls)
{
	if (tls) {
		ERR_clear_error();
	}
}

bool dlock_tls_handshaking(const struct ssl_st *tls)
{
	return tls && !SSL_is_init_finished(tls);
}

void dlock_tls_explain(const struct ssl_st *tls, const char *otherwise, char *out, size_t size)
{
	long verified = tls && SSL_get_verify_mode(tls) != SSL_VERIFY_NONE ? SSL_get_verify_result(tls) : X509_V_OK;
	const char *reason = tls ? ERR_reason_error_string(ERR_peek_last_error()) : NULL;

	if (verified != X509_V_OK) {
		snprintf(out, size, "TLS: the certificate is refused: %s", X509_verify_cert_error_string(verified));
	} else {
		snprintf(out, size, "%s%s", reason ? "TLS: " : "", reason ? reason : otherwise);
	}
}

#else

struct ssl_st *dlock_tls_start(redisContext *redis, const dlock_server *server, dlock_error *error)
{
	(void) redis, (void) server;
	dlock_fail(error, DLOCK_CONNECTION, "This build has no TLS");
	return NULL;
}

void dlock_tls_prepare(const struct ssl_st *tls)
{
	(void) tls;
}

bool dlock_tls_handshaking(const struct ssl_st *tls)
{
	(void) tls;
	return false;
}

void dlock_tls_explain(const struct ssl_st *tls, const char *otherwise, char *out, size_t size)
{
	(void) tls;
	snprintf(out, size, "%s", otherwise);
}

#endif

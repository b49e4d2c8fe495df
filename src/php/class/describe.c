/* What the specification of a server says, as the lock classes read it. dlock-doctor looks at the servers over
 * connections of its own, and must not read specifications differently. */
#include "servers.h"

#include "../globals.h"
#include "../settings.h"

#ifdef DLOCK_ZOOKEEPER
#include "zend_exceptions.h"

#include "../../zookeeper/session/options.h"
#include "../classes.h"
#include "zk_lock.h"
#endif

static void add_text(zval *array, const char *name, const char *text)
{
	if (text) {
		add_assoc_string(array, name, text);
	} else {
		add_assoc_null(array, name);
	}
}

static const char *name_of(dlock_server_kind kind)
{
	switch (kind) {
	case DLOCK_SERVER_MEMCACHED:
		return "memcached";
	case DLOCK_SERVER_MEMORY:
		return "memory";
	default:
		return "redis";
	}
}

/* The ssl context options of PHP's streams that mean the same. */
static void add_tls(zval *array, const dlock_server *server, bool on)
{
	const struct {
		const char *name, *value;
	} texts[] = {
		{ "peer_name", server->tls_peer_name ? server->tls_peer_name : server->host },
		{ "cafile", server->tls_cafile }, { "capath", server->tls_capath }, { "local_cert", server->tls_cert },
		{ "local_pk", server->tls_key }, { "passphrase", server->tls_passphrase },
	};
	zval options;

	if (!on) {
		add_assoc_null(array, "tls");
		return;
	}
	array_init(&options);
	add_assoc_bool(&options, "verify_peer", server->tls_verify_peer);
	add_assoc_bool(&options, "verify_peer_name", server->tls_verify_peer_name);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		if (texts[i].value) {
			add_assoc_string(&options, texts[i].name, texts[i].value);
		}
	}
	add_assoc_zval(array, "tls", &options);
}

static const char *discovery_of(const dlock_server *server)
{
	switch (server->discovery) {
	case DLOCK_SERVER_SENTINEL:
		return "sentinel";
	case DLOCK_SERVER_CLUSTER:
		return "cluster";
	default:
		return "fixed";
	}
}

/* How the masters are found, and what is done about their fail-overs. */
static void add_discovery(zval *array, const dlock_server *server)
{
	zval seeds, seed, sentinel;

	add_assoc_string(array, "discovery", discovery_of(server));
	array_init(&seeds);
	for (int i = 0; i < server->seed_count; i++) {
		array_init(&seed);
		add_assoc_string(&seed, "host", server->seeds[i].host);
		add_assoc_long(&seed, "port", server->seeds[i].port);
		add_next_index_zval(&seeds, &seed);
	}
	add_assoc_zval(array, "seeds", &seeds);
	add_text(array, "service", server->service);
	if (server->discovery == DLOCK_SERVER_SENTINEL) {
		array_init(&sentinel);
		add_tls(&sentinel, server, server->sentinel_tls);
		add_text(&sentinel, "user", server->sentinel_user);
		add_text(&sentinel, "password", server->sentinel_password);
		add_assoc_zval(array, "sentinel", &sentinel);
	} else {
		add_assoc_null(array, "sentinel");
	}
	add_assoc_long(array, "replicas", server->replicas);
	if (server->replicas > 0) {
		add_assoc_double(array, "guard", (double) server->guard / (double) DLOCK_SECOND);
		add_assoc_bool(array, "resync_guard", server->resync_guard);
	} else {
		add_assoc_null(array, "guard");
		add_assoc_null(array, "resync_guard");
	}
}

ZEND_FUNCTION(Dlock_describe_server)
{
	zval *spec;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ZVAL(spec)
	ZEND_PARSE_PARAMETERS_END();

	dlock_server *server = dlock_check_settings() ? dlock_server_from_zval(spec, 1, -1) : NULL;
	if (!server) {
		RETURN_THROWS();
	}
	dlock_server_complete(server);
	array_init(return_value);
	add_assoc_string(return_value, "backend", name_of(server->kind));
	add_text(return_value, "label", server->label);
	add_text(return_value, "host", server->host);
	add_assoc_long(return_value, "port", server->port);
	add_text(return_value, "path", server->path);
	add_assoc_long(return_value, "database", server->database);
	add_text(return_value, "user", server->user);
	add_text(return_value, "password", server->password);
	add_assoc_double(return_value, "connect_timeout", (double) server->connect_timeout / (double) DLOCK_SECOND);
	add_assoc_double(return_value, "read_timeout", (double) server->read_timeout / (double) DLOCK_SECOND);
	add_tls(return_value, server, server->tls);
	add_discovery(return_value, server);
	dlock_server_release(server);
}

#ifdef DLOCK_ZOOKEEPER

/* Of "host:port", where an IPv6 address has no brackets. */
static void add_member(zval *list, const char *text, size_t len)
{
	const char *colon = zend_memrchr(text, ':', len);
	zend_string *host = zend_string_init(text, (size_t) (colon - text), 0);
	zend_long port = ZEND_STRTOL(colon + 1, NULL, 10);
	bool is_v6 = memchr(ZSTR_VAL(host), ':', ZSTR_LEN(host)) != NULL;
	zval member;

	array_init(&member);
	add_assoc_string(&member, "backend", "zookeeper");
	add_assoc_str(&member, "label",
		zend_strpprintf(0, is_v6 ? "[%s]:" ZEND_LONG_FMT : "%s:" ZEND_LONG_FMT, ZSTR_VAL(host), port));
	add_assoc_str(&member, "host", host);
	add_assoc_long(&member, "port", port);
	add_next_index_zval(list, &member);
}

ZEND_FUNCTION(Dlock_describe_ensemble)
{
	HashTable *array = NULL;
	zend_string *text = NULL;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ARRAY_HT_OR_STR(array, text)
	ZEND_PARSE_PARAMETERS_END();

	zend_string *hosts = dlock_zk_hosts_read(array, text);
	if (!hosts) {
		RETURN_THROWS();
	}
	char *expanded = dlock_zk_hosts_expand(ZSTR_VAL(hosts));
	zend_string_release(hosts);
	if (!expanded) {
		zend_throw_exception(dlock_ce_exception, "Out of memory", 0);
		RETURN_THROWS();
	}
	array_init(return_value);
	for (const char *host = expanded;; host++) {
		size_t len = strcspn(host, ",/");
		add_member(return_value, host, len);
		host += len;
		if (*host != ',') {
			break;
		}
	}
	free(expanded);
}

#endif

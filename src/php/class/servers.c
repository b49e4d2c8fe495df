#include "servers.h"

#include "../errors.h"
#include "../globals.h"
#include "../settings.h"
#include "arguments.h"

typedef struct {
	uint32_t arg;
	zend_long element; /* -1: the argument itself is the server */
	const char *list;  /* NULL, or "sentinels" or "cluster": the one with this index in it */
	zend_long index;
} position;

/* "element 2 ", "sentinels[1] ", or nothing */
static void name_position(char *out, size_t size, position at)
{
	*out = '\0';
	if (at.element >= 0) {
		snprintf(out, size, "element " ZEND_LONG_FMT " ", at.element);
	}
	if (at.list) {
		snprintf(out + strlen(out), size - strlen(out), "%s[" ZEND_LONG_FMT "] ", at.list, at.index);
	}
}

static void reject(position at, const char *message)
{
	char where[96];

	name_position(where, sizeof where, at);
	zend_argument_value_error(at.arg, "%s%s", where, message);
}

static void reject_type(position at, const char *expected, const zval *given)
{
	char where[96];

	name_position(where, sizeof where, at);
	zend_argument_type_error(at.arg, "%smust have %s, %s given", where, expected, zend_zval_type_name(given));
}

static bool set_scheme(dlock_server *server, const zval *value, position at)
{
	dlock_error error;

	if (Z_TYPE_P(value) != IS_STRING) {
		reject_type(at, "a string as scheme", value);
		return false;
	}
	/* Those of Sentinel and Cluster are for DSNs: an array has `sentinels` or `cluster`. */
	if (!dlock_server_set_scheme(server, Z_STRVAL_P(value), Z_STRLEN_P(value), &error)
		|| server->discovery != DLOCK_SERVER_FIXED) {
		reject(at, "must have a scheme that is redis, rediss, unix, memcached or memory");
		return false;
	}
	return true;
}

/* host, tls://host, unix:///path and /path, as phpredis takes them. */
static bool set_host(dlock_server *server, const zval *value, position at)
{
	const char *host, *scheme;

	if (Z_TYPE_P(value) != IS_STRING) {
		reject_type(at, "a string as host", value);
		return false;
	}
	host = Z_STRVAL_P(value);
	if (Z_STRLEN_P(value) == 0 || strlen(host) != Z_STRLEN_P(value)) {
		reject(at, "must have a host that is not empty and has no NUL bytes");
		return false;
	}
	scheme = strstr(host, "://");
	if (scheme) {
		size_t len = (size_t) (scheme - host);
		server->tls = (len == 3 && !strncasecmp(host, "tls", 3)) || (len == 3 && !strncasecmp(host, "ssl", 3));
		if (!server->tls && !(len == 3 && !strncasecmp(host, "tcp", 3))
			&& !(len == 4 && !strncasecmp(host, "unix", 4))) {
			reject(at,
				"must have a host without scheme, or with tcp://, tls:// or unix://; "
				"a DSN is a string, not in an array");
			return false;
		}
		host = scheme + 3;
	}
	return dlock_server_set(*host == '/' ? &server->path : &server->host, host, strlen(host));
}

static bool read_port(int *out, const zval *value, bool has_path, position at)
{
	zend_long port;
	double fraction;

	if (dlock_number_of(value, &port, &fraction) != IS_LONG) {
		reject_type(at, "an int as port", value);
		return false;
	}
	if (has_path && port <= 0) {
		return true; /* phpredis wants 0 or -1 with a socket's path */
	}
	if (port < 1 || port > 65535) {
		reject(at, "must have a port between 1 and 65535");
		return false;
	}
	*out = (int) port;
	return true;
}

static bool set_port(dlock_server *server, const zval *value, position at)
{
	if (server->discovery != DLOCK_SERVER_FIXED) {
		reject(at, "must have no port but those of its sentinels or cluster");
		return false;
	}
	return read_port(&server->port, value, server->path != NULL, at);
}

/* ["host" => ..., "port" => ...], [host, port] */
static bool add_seed_array(dlock_server *server, HashTable *seed, position at)
{
	bool is_list = zend_hash_index_exists(seed, 0);
	zval *host = is_list ? zend_hash_index_find_deref(seed, 0) : zend_hash_str_find_deref(seed, ZEND_STRL("host"));
	zval *port = is_list ? zend_hash_index_find_deref(seed, 1) : zend_hash_str_find_deref(seed, ZEND_STRL("port"));
	int number = server->discovery == DLOCK_SERVER_SENTINEL ? DLOCK_SENTINEL_PORT : DLOCK_REDIS_PORT;
	dlock_error error;

	if (!host || zend_hash_num_elements(seed) != 1 + (port != NULL)) {
		reject(at, "must be \"host:port\", [host, port] or [\"host\" => ..., \"port\" => ...]");
		return false;
	}
	if (Z_TYPE_P(host) != IS_STRING) {
		reject_type(at, "a string as host", host);
		return false;
	}
	if (Z_STRLEN_P(host) == 0 || strlen(Z_STRVAL_P(host)) != Z_STRLEN_P(host)) {
		reject(at, "must have a host that is not empty and has no NUL bytes");
		return false;
	}
	if (port && !read_port(&number, port, false, at)) {
		return false;
	}
	if (!dlock_server_add_seed(server, Z_STRVAL_P(host), Z_STRLEN_P(host), number, &error)) {
		reject(at, error.message);
		return false;
	}
	return true;
}

/* `sentinels`, `cluster` */
static bool set_seeds(dlock_server *server, const char *name, zval *value, position at)
{
	dlock_error error;
	zval *seed;

	server->discovery = *name == 's' ? DLOCK_SERVER_SENTINEL : DLOCK_SERVER_CLUSTER;
	if (Z_TYPE_P(value) != IS_ARRAY) {
		reject_type(at, *name == 's' ? "a list of servers as sentinels" : "a list of servers as cluster", value);
		return false;
	}
	at.list = name;
	ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(value), seed) {
		ZVAL_DEREF(seed);
		if (Z_TYPE_P(seed) == IS_ARRAY) {
			if (!add_seed_array(server, Z_ARRVAL_P(seed), at)) {
				return false;
			}
		} else if (Z_TYPE_P(seed) != IS_STRING) {
			reject_type(at, "\"host:port\" or an array", seed);
			return false;
		} else if (!dlock_server_parse_seed(server, Z_STRVAL_P(seed), Z_STRLEN_P(seed), &error)) {
			reject(at, error.message);
			return false;
		}
		at.index++;
	} ZEND_HASH_FOREACH_END();
	return true;
}

static bool set_seconds(dlock_nanos *field, const char *name, const zval *value, position at)
{
	char message[96];
	zend_long whole;
	double seconds;

	switch (dlock_number_of(value, &whole, &seconds)) {
	case IS_LONG:
		seconds = (double) whole;
		break;
	case IS_DOUBLE:
		break;
	default:
		snprintf(message, sizeof message, "seconds as %s", name);
		reject_type(at, message, value);
		return false;
	}
	if (seconds == 0) { /* phpredis' "no limit"; there is always one here */
		return true;
	}
	if (!(seconds >= 0.001 && seconds <= 3600)) {
		snprintf(message, sizeof message, "must have a %s between 0.001 and 3600 seconds", name);
		reject(at, message);
		return false;
	}
	*field = dlock_from_seconds(seconds);
	return true;
}

static bool set_secret(char **field, const zval *value, position at)
{
	ZVAL_DEREF(value);
	if (Z_TYPE_P(value) != IS_STRING) {
		reject_type(at, "strings in auth", value);
		return false;
	}
	if (Z_STRLEN_P(value) == 0 || strlen(Z_STRVAL_P(value)) != Z_STRLEN_P(value)) {
		reject(at, "must have users and passwords that are not empty and have no NUL bytes");
		return false;
	}
	return dlock_server_set(field, Z_STRVAL_P(value), Z_STRLEN_P(value));
}

/* "password", ["password"], ["user", "password"], ["user" => ..., "pass" => ...] */
static bool set_auth(char **user_field, char **password_field, const zval *value, position at)
{
	zval *user = NULL, *password = NULL;

	if (Z_TYPE_P(value) == IS_NULL) {
		return true;
	}
	if (Z_TYPE_P(value) != IS_ARRAY) {
		return set_secret(password_field, value, at);
	}
	HashTable *auth = Z_ARRVAL_P(value);
	if (zend_hash_index_exists(auth, 0)) {
		password = zend_hash_index_find(auth, 1);
		user = password ? zend_hash_index_find(auth, 0) : NULL;
		password = password ? password : zend_hash_index_find(auth, 0);
	} else {
		user = zend_hash_str_find(auth, ZEND_STRL("user"));
		password = zend_hash_str_find(auth, ZEND_STRL("pass"));
	}
	if (!password) {
		reject(at, "must have auth as a password, [user, password] or [\"user\" => ..., \"pass\" => ...]");
		return false;
	}
	if (user) {
		ZVAL_DEREF(user);
	}
	if (user && Z_TYPE_P(user) != IS_NULL && !set_secret(user_field, user, at)) {
		return false;
	}
	return set_secret(password_field, password, at);
}

static bool set_tls(dlock_server *server, zval *value, position at)
{
	zend_string *name;
	zval *option, *stream;
	dlock_error error;

	if (Z_TYPE_P(value) == IS_NULL || Z_TYPE_P(value) == IS_FALSE) {
		return true;
	}
	server->tls = true;
	if (Z_TYPE_P(value) == IS_TRUE) {
		return true;
	}
	if (Z_TYPE_P(value) != IS_ARRAY) {
		reject_type(at, "an array of TLS options as ssl", value);
		return false;
	}
	stream = zend_hash_str_find(Z_ARRVAL_P(value), ZEND_STRL("stream"));
	if (stream) {
		ZVAL_DEREF(stream);
	}
	if (stream && Z_TYPE_P(stream) == IS_ARRAY) {
		value = stream;
	}
	ZEND_HASH_FOREACH_STR_KEY_VAL(Z_ARRVAL_P(value), name, option) {
		ZVAL_DEREF(option);
		/* To make a string of anything else may run the user's code, which may change the very array. */
		if (Z_TYPE_P(option) != IS_STRING && Z_TYPE_P(option) != IS_LONG && Z_TYPE_P(option) != IS_FALSE
			&& Z_TYPE_P(option) != IS_TRUE) {
			reject_type(at, "strings or booleans in ssl", option);
			return false;
		}
		zend_string *text = Z_TYPE_P(option) == IS_FALSE ? zend_string_init(ZEND_STRL("0"), 0)
														 : zval_get_string(option);
		bool good = dlock_server_option(server, name ? ZSTR_VAL(name) : "", ZSTR_VAL(text), ZSTR_LEN(text), &error);
		zend_string_release(text);
		if (!good) {
			reject(at, error.message);
			return false;
		}
	} ZEND_HASH_FOREACH_END();
	return true;
}

static bool set_database(dlock_server *server, const zval *value, position at)
{
	zend_long database;
	double fraction;

	if (dlock_number_of(value, &database, &fraction) != IS_LONG) {
		reject_type(at, "an int as database", value);
		return false;
	}
	if (database < 0 || database > 1000000) {
		reject(at, "must have a database of 0 or greater");
		return false;
	}
	server->database = (int) database;
	return true;
}

static bool set_replicas(dlock_server *server, const zval *value, position at)
{
	char message[64];
	zend_long replicas;
	double fraction;

	if (dlock_number_of(value, &replicas, &fraction) != IS_LONG) {
		reject_type(at, "an int as replicas", value);
		return false;
	}
	if (replicas < 0 || replicas > DLOCK_MOST_REPLICAS) {
		snprintf(message, sizeof message, "must have replicas between 0 and %d", DLOCK_MOST_REPLICAS);
		reject(at, message);
		return false;
	}
	server->replicas = (int) replicas;
	return true;
}

static bool set_guard(dlock_server *server, const zval *value, position at)
{
	zend_long whole;
	double seconds;

	switch (dlock_number_of(value, &whole, &seconds)) {
	case IS_LONG:
		seconds = (double) whole;
		break;
	case IS_DOUBLE:
		break;
	default:
		reject_type(at, "seconds as guard", value);
		return false;
	}
	if (!(seconds >= (double) DLOCK_SHORTEST_GUARD / (double) DLOCK_SECOND
			&& seconds <= (double) (DLOCK_LONGEST_GUARD / DLOCK_SECOND))) {
		reject(at, "must have a guard between 0.1 and 3600 seconds");
		return false;
	}
	server->guard = dlock_from_seconds(seconds);
	return true;
}

static bool set_resync_guard(dlock_server *server, const zval *value, position at)
{
	if (Z_TYPE_P(value) != IS_FALSE && Z_TYPE_P(value) != IS_TRUE) {
		reject_type(at, "true or false as resyncGuard", value);
		return false;
	}
	server->has_resync_guard = true;
	server->resync_guard = Z_TYPE_P(value) == IS_TRUE;
	return true;
}

static bool set_service(dlock_server *server, const zval *value, position at)
{
	if (Z_TYPE_P(value) != IS_STRING) {
		reject_type(at, "a string as service", value);
		return false;
	}
	if (strlen(Z_STRVAL_P(value)) != Z_STRLEN_P(value)) {
		reject(at, "must have a service without NUL bytes");
		return false;
	}
	return dlock_server_set(&server->service, Z_STRVAL_P(value), Z_STRLEN_P(value));
}

static bool set_sentinel_tls(dlock_server *server, const zval *value, position at)
{
	if (Z_TYPE_P(value) != IS_FALSE && Z_TYPE_P(value) != IS_TRUE) {
		reject_type(at, "true or false as sentinelTls", value);
		return false;
	}
	server->has_sentinel_tls = true;
	server->sentinel_tls = Z_TYPE_P(value) == IS_TRUE;
	return true;
}

static bool reject_key(const char *name, position at)
{
	char message[256];

	snprintf(message, sizeof message,
		"has an unknown key \"%.40s\"; known are scheme, host, port, auth, database, ssl, connectTimeout, "
		"readTimeout, replicas, guard, resyncGuard, sentinels, service, sentinelAuth, sentinelTls and cluster",
		name);
	reject(at, message);
	return false;
}

static bool set_field(dlock_server *server, const char *name, zval *value, position at)
{
	if (!strcmp(name, "host") || !strcmp(name, "scheme") || !strcmp(name, "sentinels") || !strcmp(name, "cluster")) {
		return true; /* taken before the others */
	}
	if (!strcmp(name, "port")) {
		return set_port(server, value, at);
	}
	if (!strcmp(name, "auth")) {
		return set_auth(&server->user, &server->password, value, at);
	}
	if (!strcmp(name, "sentinelAuth")) {
		return set_auth(&server->sentinel_user, &server->sentinel_password, value, at);
	}
	if (!strcmp(name, "sentinelTls")) {
		return set_sentinel_tls(server, value, at);
	}
	if (!strcmp(name, "service")) {
		return set_service(server, value, at);
	}
	if (!strcmp(name, "replicas")) {
		return set_replicas(server, value, at);
	}
	if (!strcmp(name, "guard")) {
		return set_guard(server, value, at);
	}
	if (!strcmp(name, "resyncGuard")) {
		return set_resync_guard(server, value, at);
	}
	if (!strcmp(name, "database")) {
		return set_database(server, value, at);
	}
	if (!strcmp(name, "ssl")) {
		return set_tls(server, value, at);
	}
	if (!strcmp(name, "connectTimeout")) {
		return set_seconds(&server->connect_timeout, name, value, at);
	}
	if (!strcmp(name, "readTimeout")) {
		return set_seconds(&server->read_timeout, name, value, at);
	}
	if (!strcmp(name, "persistent") || !strcmp(name, "retryInterval") || !strcmp(name, "backoff")) {
		return true; /* phpredis' own; connections are persistent here, and made again as needed */
	}
	return reject_key(name, at);
}

/* Where it is: a host, sentinels or cluster. */
static bool set_place(dlock_server *server, HashTable *spec, position at)
{
	zval *sentinels = zend_hash_str_find_deref(spec, ZEND_STRL("sentinels")),
		 *cluster = zend_hash_str_find_deref(spec, ZEND_STRL("cluster"));
	zval *host = zend_hash_index_exists(spec, 0) ? zend_hash_index_find_deref(spec, 0)
		: zend_hash_str_find_deref(spec, ZEND_STRL("host"));

	if (!host && !sentinels && !cluster) {
		reject(
			at, "must be a DSN, the list [host, port, connect timeout] or an array with a host, sentinels or cluster");
		return false;
	}
	if (!!host + !!sentinels + !!cluster > 1) {
		reject(at, "must have only one of host, sentinels and cluster");
		return false;
	}
	return host ? set_host(server, host, at)
				: set_seeds(server, sentinels ? "sentinels" : "cluster", sentinels ? sentinels : cluster, at);
}

static bool read_array(dlock_server *server, HashTable *spec, position at)
{
	zend_string *name;
	zend_ulong index;
	zval *value;

	value = zend_hash_str_find_deref(spec, ZEND_STRL("scheme"));
	if ((value && !set_scheme(server, value, at)) || !set_place(server, spec, at)) {
		return false;
	}
	ZEND_HASH_FOREACH_KEY_VAL(spec, index, name, value) {
		ZVAL_DEREF(value);
		bool good = name ? set_field(server, ZSTR_VAL(name), value, at)
			: index == 0 || (index == 1 ? set_port(server, value, at)
				: index == 2 && set_seconds(&server->connect_timeout, "connect timeout", value, at));
		if (!good) {
			if (!EG(exception)) {
				reject(at, "must be a list of at most three: [host, port, connect timeout]");
			}
			return false;
		}
	} ZEND_HASH_FOREACH_END();
	return true;
}

static bool check_files(const dlock_server *server, position at)
{
	const char *name = dlock_server_forbidden_file(server);
	char message[64];

	if (name) {
		snprintf(message, sizeof message, "must have a %s that open_basedir allows", name);
		reject(at, message);
	}
	return !name;
}

dlock_server *dlock_server_from_zval(const zval *spec, uint32_t arg, zend_long element)
{
	position at = { arg, element, NULL, 0 };
	dlock_server *server = dlock_server_new(
		dlock_from_seconds(DLOCK_G(connect_timeout)), dlock_from_seconds(DLOCK_G(read_timeout)));
	dlock_error error;
	bool good;

	if (!server) {
		dlock_throw_no_memory();
		return NULL;
	}
	ZVAL_DEREF(spec);
	if (Z_TYPE_P(spec) == IS_STRING) {
		good = dlock_server_parse(server, Z_STRVAL_P(spec), Z_STRLEN_P(spec), &error);
		if (!good) {
			reject(at, error.message);
		}
	} else if (Z_TYPE_P(spec) == IS_ARRAY) {
		good = read_array(server, Z_ARRVAL_P(spec), at);
	} else {
		reject_type(at, "a DSN or an array", spec);
		good = false;
	}
	good = good && check_files(server, at);
	if (good && !dlock_server_seal(server, &error)) {
		reject(at, error.message);
		good = false;
	}
	if (!good) {
		dlock_server_release(server);
		return NULL;
	}
	return server;
}

void dlock_server_complete(dlock_server *server)
{
	double guard = DLOCK_G(restart_guard) > 0 ? DLOCK_G(restart_guard) : 10;

	if (server->replicas > 0 && server->guard == 0) {
		/* Not by an object's own lease time: all that use a service need the same guard. */
		guard = DLOCK_G(ttl) > guard ? DLOCK_G(ttl) : guard;
		server->guard = guard < (double) (DLOCK_LONGEST_GUARD / DLOCK_SECOND) ? dlock_from_seconds(guard)
																			  : DLOCK_LONGEST_GUARD;
		server->guard = server->guard > DLOCK_SHORTEST_GUARD ? server->guard : DLOCK_SHORTEST_GUARD;
	}
}

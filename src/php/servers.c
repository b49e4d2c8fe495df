#include "servers.h"

#include "arguments.h"
#include "globals.h"

typedef struct {
	uint32_t arg;
	zend_long element; /* -1: the argument itself is the server */
} position;

static void reject(position at, const char *message)
{
	if (at.element < 0) {
		zend_argument_value_error(at.arg, "%s", message);
	} else {
		zend_argument_value_error(at.arg, "element " ZEND_LONG_FMT " %s", at.element, message);
	}
}

static void reject_type(position at, const char *expected, const zval *given)
{
	if (at.element < 0) {
		zend_argument_type_error(at.arg, "must have %s, %s given", expected, zend_zval_type_name(given));
	} else {
		zend_argument_type_error(at.arg, "element " ZEND_LONG_FMT " must have %s, %s given", at.element, expected,
			zend_zval_type_name(given));
	}
}

static bool set_scheme(dlock_server *server, const zval *value, position at)
{
	dlock_error error;

	if (Z_TYPE_P(value) != IS_STRING) {
		reject_type(at, "a string as scheme", value);
		return false;
	}
	if (!dlock_server_set_scheme(server, Z_STRVAL_P(value), Z_STRLEN_P(value), &error)) {
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
		if (!server->tls && !(len == 3 && !strncasecmp(host, "tcp", 3)) && !(len == 4 && !strncasecmp(host, "unix", 4))) {
			reject(at, "must have a host without scheme, or with tcp://, tls:// or unix://; a DSN is a string, not in an array");
			return false;
		}
		host = scheme + 3;
	}
	return dlock_server_set(*host == '/' ? &server->path : &server->host, host, strlen(host));
}

static bool set_port(dlock_server *server, const zval *value, position at)
{
	zend_long port;
	double fraction;

	if (dlock_number_of(value, &port, &fraction) != IS_LONG) {
		reject_type(at, "an int as port", value);
		return false;
	}
	if (server->path && port <= 0) {
		return true; /* phpredis wants 0 or -1 with a socket's path */
	}
	if (port < 1 || port > 65535) {
		reject(at, "must have a port between 1 and 65535");
		return false;
	}
	server->port = (int) port;
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
static bool set_auth(dlock_server *server, const zval *value, position at)
{
	zval *user = NULL, *password = NULL;

	if (Z_TYPE_P(value) == IS_NULL) {
		return true;
	}
	if (Z_TYPE_P(value) != IS_ARRAY) {
		return set_secret(&server->password, value, at);
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
	if (user && Z_TYPE_P(user) != IS_NULL && !set_secret(&server->user, user, at)) {
		return false;
	}
	return set_secret(&server->password, password, at);
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
		if (Z_TYPE_P(option) != IS_STRING && Z_TYPE_P(option) != IS_LONG && Z_TYPE_P(option) != IS_FALSE && Z_TYPE_P(option) != IS_TRUE) {
			reject_type(at, "strings or booleans in ssl", option);
			return false;
		}
		zend_string *text = Z_TYPE_P(option) == IS_FALSE ? zend_string_init(ZEND_STRL("0"), 0) : zval_get_string(option);
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

static bool set_field(dlock_server *server, const char *name, zval *value, position at)
{
	char message[160];

	if (!strcmp(name, "host") || !strcmp(name, "scheme")) {
		return true; /* taken before the others */
	}
	if (!strcmp(name, "port")) {
		return set_port(server, value, at);
	}
	if (!strcmp(name, "auth")) {
		return set_auth(server, value, at);
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
	snprintf(message, sizeof message, "has an unknown key \"%.40s\"; known are scheme, host, port, auth, database, ssl, "
		"connectTimeout and readTimeout", name);
	reject(at, message);
	return false;
}

static bool read_array(dlock_server *server, HashTable *spec, position at)
{
	zend_string *name;
	zend_ulong index;
	zval *value, *host;

	value = zend_hash_str_find_deref(spec, ZEND_STRL("scheme"));
	if (value && !set_scheme(server, value, at)) {
		return false;
	}
	host = zend_hash_index_exists(spec, 0) ? zend_hash_index_find_deref(spec, 0)
		: zend_hash_str_find_deref(spec, ZEND_STRL("host"));
	if (!host) {
		reject(at, "must be a DSN, the list [host, port, connect timeout] or an array with a host");
		return false;
	}
	if (!set_host(server, host, at)) {
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

dlock_server *dlock_server_from_zval(const zval *spec, uint32_t arg, zend_long element)
{
	position at = { arg, element };
	dlock_server *server = dlock_server_new(dlock_from_seconds(DLOCK_G(connect_timeout)), dlock_from_seconds(DLOCK_G(read_timeout)));
	dlock_error error;
	bool good;

	if (!server) {
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

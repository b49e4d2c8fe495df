#include "servers.h"

#include "../request/errors.h"
#include "../globals.h"
#include "../settings.h"
#include "arguments.h"

typedef struct {
	uint32_t arg;
	zend_long element; /* -1: the argument itself is the server */
	const char *list;  /* "sentinels" or "cluster": its element with this index; NULL: neither */
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

static bool reject(position at, const char *message)
{
	char where[96];

	name_position(where, sizeof where, at);
	zend_argument_value_error(at.arg, "%s%s", where, message);
	return false;
}

static bool reject_type(position at, const char *expected, const zval *given)
{
	char where[96];

	name_position(where, sizeof where, at);
	zend_argument_type_error(at.arg, "%smust have %s, %s given", where, expected, zend_zval_type_name(given));
	return false;
}

static bool set_scheme(dlock_endpoint *server, const zval *value, position at)
{
	char list[DLOCK_SCHEME_LIST], message[DLOCK_SCHEME_LIST + 64];
	dlock_error error;

	if (Z_TYPE_P(value) != IS_STRING) {
		return reject_type(at, "a string as scheme", value);
	}
	if (!dlock_endpoint_set_scheme(server, Z_STRVAL_P(value), Z_STRLEN_P(value), &error)
		|| (server->discovery != DLOCK_ENDPOINT_FIXED && !dlock_endpoint_is_database(server))) {
		snprintf(message, sizeof message, "must have a scheme that is %s",
			dlock_endpoint_list_schemes(list, false));
		return reject(at, message);
	}
	return true;
}

/* host, tls://host, unix:///path and /path, as phpredis accepts them. */
static bool set_host(dlock_endpoint *server, const zval *value, position at)
{
	const char *host, *scheme;

	if (Z_TYPE_P(value) != IS_STRING) {
		return reject_type(at, "a string as host", value);
	}
	host = Z_STRVAL_P(value);
	if (Z_STRLEN_P(value) == 0 || strlen(host) != Z_STRLEN_P(value)) {
		return reject(at, "must have a host that is not empty and has no NUL bytes");
	}
	scheme = strstr(host, "://");
	if (scheme) {
		size_t len = (size_t) (scheme - host);
		server->tls = (len == 3 && !strncasecmp(host, "tls", 3)) || (len == 3 && !strncasecmp(host, "ssl", 3));
		if (!server->tls && !(len == 3 && !strncasecmp(host, "tcp", 3))
			&& !(len == 4 && !strncasecmp(host, "unix", 4))) {
			return reject(at,
				"must have a host without scheme, or with tcp://, tls:// or unix://; "
				"a DSN is a string, not in an array");
		}
		host = scheme + 3;
	}
	return dlock_endpoint_set(*host == '/' ? &server->path : &server->host, host, strlen(host));
}

static bool read_port(int *out, const zval *value, bool has_path, position at)
{
	zend_long port;
	double fraction;

	if (dlock_number_of(value, &port, &fraction) != IS_LONG) {
		return reject_type(at, "an int as port", value);
	}
	if (has_path && port <= 0) {
		return true; /* phpredis requires 0 or -1 with a socket's path */
	}
	if (port < 1 || port > 65535) {
		return reject(at, "must have a port between 1 and 65535");
	}
	*out = (int) port;
	return true;
}

static bool set_port(dlock_endpoint *server, const zval *value, position at)
{
	if (server->discovery == DLOCK_ENDPOINT_SENTINEL || server->discovery == DLOCK_ENDPOINT_CLUSTER) {
		return reject(at, "must have no port but those of its sentinels or cluster");
	}
	return read_port(&server->port, value, server->path != NULL, at);
}

/* ["host" => ..., "port" => ...], [host, port] */
static bool add_seed_array(dlock_endpoint *server, HashTable *seed, position at)
{
	bool is_list = zend_hash_index_exists(seed, 0);
	zval *host = is_list ? zend_hash_index_find_deref(seed, 0) : zend_hash_str_find_deref(seed, ZEND_STRL("host"));
	zval *port = is_list ? zend_hash_index_find_deref(seed, 1) : zend_hash_str_find_deref(seed, ZEND_STRL("port"));
	int number = server->discovery == DLOCK_ENDPOINT_SENTINEL ? DLOCK_SENTINEL_PORT : DLOCK_REDIS_PORT;
	dlock_error error;

	if (!host || zend_hash_num_elements(seed) != 1 + (port != NULL)) {
		return reject(at, "must be \"host:port\", [host, port] or [\"host\" => ..., \"port\" => ...]");
	}
	if (Z_TYPE_P(host) != IS_STRING) {
		return reject_type(at, "a string as host", host);
	}
	if (Z_STRLEN_P(host) == 0 || strlen(Z_STRVAL_P(host)) != Z_STRLEN_P(host)) {
		return reject(at, "must have a host that is not empty and has no NUL bytes");
	}
	if (port && !read_port(&number, port, false, at)) {
		return false;
	}
	if (!dlock_endpoint_add_seed(server, Z_STRVAL_P(host), Z_STRLEN_P(host), number, &error)) {
		return reject(at, error.message);
	}
	return true;
}

/* `sentinels`, `cluster` */
static bool set_seeds(dlock_endpoint *server, const char *name, zval *value, position at)
{
	dlock_error error;
	zval *seed;

	server->discovery = *name == 's' ? DLOCK_ENDPOINT_SENTINEL : DLOCK_ENDPOINT_CLUSTER;
	if (Z_TYPE_P(value) != IS_ARRAY) {
		return reject_type(at, *name == 's' ? "a list of servers as sentinels" : "a list of servers as cluster", value);
	}
	at.list = name;
	ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(value), seed) {
		ZVAL_DEREF(seed);
		if (Z_TYPE_P(seed) == IS_ARRAY) {
			if (!add_seed_array(server, Z_ARRVAL_P(seed), at)) {
				return false;
			}
		} else if (Z_TYPE_P(seed) != IS_STRING) {
			return reject_type(at, "\"host:port\" or an array", seed);
		} else if (!dlock_endpoint_parse_seed(server, Z_STRVAL_P(seed), Z_STRLEN_P(seed), &error)) {
			return reject(at, error.message);
		}
		at.index++;
	} ZEND_HASH_FOREACH_END();
	return true;
}

/* An option, as the text that a DSN would have. Values from the environment are strings, even numbers. */
static bool set_option(
	dlock_endpoint *server, const dlock_option *option, const char *name, const zval *value, position at)
{
	static const char *const expected[] = { "seconds", "an int", "true or false", "a string" };
	char message[96];
	zend_long whole = 0;
	double number = 0;
	uint8_t type = dlock_number_of(value, &whole, &number);
	dlock_error error;
	zend_string *text = NULL;

	if (option->type == DLOCK_OPTION_SECONDS && type) {
		number = type == IS_LONG ? (double) whole : number;
		if (number == 0 && option->flags & DLOCK_OPTION_ZERO_IS_UNSET) {
			return true; /* "no limit" in phpredis; here there is always a limit */
		}
		text = zend_strpprintf(0, "%.9F", number);
	} else if (option->type == DLOCK_OPTION_SWITCH && (Z_TYPE_P(value) == IS_FALSE || Z_TYPE_P(value) == IS_TRUE)) {
		text = zend_long_to_str(Z_TYPE_P(value) == IS_TRUE);
	} else if ((option->type == DLOCK_OPTION_WHOLE || option->type == DLOCK_OPTION_SWITCH) && type == IS_LONG) {
		text = zend_long_to_str(whole);
	} else if (Z_TYPE_P(value) == IS_STRING
		&& (option->type == DLOCK_OPTION_TEXT || option->type == DLOCK_OPTION_SWITCH)) {
		text = zend_string_copy(Z_STR_P(value));
	} else {
		snprintf(message, sizeof message, "%s as %s", expected[option->type], name);
		return reject_type(at, message, value);
	}
	bool good = dlock_option_read(server, option, name, ZSTR_VAL(text), ZSTR_LEN(text), &error);
	zend_string_release(text);
	return good || reject(at, error.message);
}

static bool set_known_option(
	dlock_endpoint *server, dlock_option_form form, const char *name, const zval *value, position at)
{
	const dlock_option *option = dlock_option_find(server, form, name);
	dlock_error error;

	if (!option) {
		dlock_option_unknown(server, form, name, &error);
		return reject(at, error.message);
	}
	return set_option(server, option, name, value, at);
}

static bool set_secret(char **field, const zval *value, position at)
{
	if (Z_TYPE_P(value) != IS_STRING) {
		return reject_type(at, "strings in auth", value);
	}
	if (Z_STRLEN_P(value) == 0 || strlen(Z_STRVAL_P(value)) != Z_STRLEN_P(value)) {
		return reject(at, "must have users and passwords that are not empty and have no NUL bytes");
	}
	return dlock_endpoint_set(field, Z_STRVAL_P(value), Z_STRLEN_P(value));
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
		bool both = zend_hash_index_exists(auth, 1);
		user = both ? zend_hash_index_find_deref(auth, 0) : NULL;
		password = zend_hash_index_find_deref(auth, both);
	} else {
		user = zend_hash_str_find_deref(auth, ZEND_STRL("user"));
		password = zend_hash_str_find_deref(auth, ZEND_STRL("pass"));
	}
	if (!password) {
		return reject(at, "must have auth as a password, [user, password] or [\"user\" => ..., \"pass\" => ...]");
	}
	if (user && Z_TYPE_P(user) != IS_NULL && !set_secret(user_field, user, at)) {
		return false;
	}
	return set_secret(password_field, password, at);
}

/* `ssl`: true, or options as in phpredis, also within "stream" */
static bool set_tls(dlock_endpoint *server, zval *value, position at)
{
	zend_string *name;
	zval *option, *stream;

	if (Z_TYPE_P(value) == IS_NULL || Z_TYPE_P(value) == IS_FALSE) {
		return true;
	}
	server->tls = true;
	if (Z_TYPE_P(value) == IS_TRUE) {
		return true;
	}
	if (Z_TYPE_P(value) != IS_ARRAY) {
		return reject_type(at, "an array of TLS options as ssl", value);
	}
	stream = zend_hash_str_find_deref(Z_ARRVAL_P(value), ZEND_STRL("stream"));
	if (stream && Z_TYPE_P(stream) == IS_ARRAY) {
		value = stream;
	}
	ZEND_HASH_FOREACH_STR_KEY_VAL(Z_ARRVAL_P(value), name, option) {
		ZVAL_DEREF(option);
		if (!set_known_option(server, DLOCK_FORM_SSL, name ? ZSTR_VAL(name) : "", option, at)) {
			return false;
		}
	} ZEND_HASH_FOREACH_END();
	return true;
}

static bool is_in(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names)) {
		names++;
	}
	return *names;
}

static bool set_field(dlock_endpoint *server, const char *name, zval *value, position at)
{
	/* The first four are read before the others. The rest are options of phpredis: here connections always persist, and
	 * open again as needed. */
	static const char *const passed[] = { "host", "scheme", "sentinels", "cluster", "persistent", "retryInterval",
		"backoff", NULL };

	if (is_in(name, passed)) {
		return true;
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
	if (!strcmp(name, "ssl")) {
		return set_tls(server, value, at);
	}
	return set_known_option(server, DLOCK_FORM_ARRAY, name, value, at);
}

static bool set_element(dlock_endpoint *server, zend_ulong index, const zval *value, position at)
{
	switch (index) {
	case 0: /* the host, read before the others */
		return true;
	case 1:
		return set_port(server, value, at);
	case 2:
		return set_option(
			server, dlock_option_find(server, DLOCK_FORM_ARRAY, "connectTimeout"), "connect timeout", value, at);
	default:
		return reject(at, "must be a list of at most three: [host, port, connect timeout]");
	}
}

/* Reads where the server is: a host, sentinels or a cluster. */
static bool set_place(dlock_endpoint *server, HashTable *spec, position at)
{
	zval *sentinels = zend_hash_str_find_deref(spec, ZEND_STRL("sentinels")),
		 *cluster = zend_hash_str_find_deref(spec, ZEND_STRL("cluster"));
	zval *host = zend_hash_index_exists(spec, 0) ? zend_hash_index_find_deref(spec, 0)
		: zend_hash_str_find_deref(spec, ZEND_STRL("host"));

	if (!host && !sentinels && !cluster) {
		return reject(
			at, "must be a DSN, the list [host, port, connect timeout] or an array with a host, sentinels or cluster");
	}
	if (!!host + !!sentinels + !!cluster > 1) {
		return reject(at, "must have only one of host, sentinels and cluster");
	}
	return host ? set_host(server, host, at)
				: set_seeds(server, sentinels ? "sentinels" : "cluster", sentinels ? sentinels : cluster, at);
}

static bool read_array(dlock_endpoint *server, HashTable *spec, position at)
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
		if (name ? !set_field(server, ZSTR_VAL(name), value, at) : !set_element(server, index, value, at)) {
			return false;
		}
	} ZEND_HASH_FOREACH_END();
	return true;
}

static bool check_files(const dlock_endpoint *server, position at)
{
	const char *name = dlock_endpoint_forbidden_file(server);
	char message[64];

	if (name) {
		snprintf(message, sizeof message, "must have a %s that open_basedir allows", name);
		reject(at, message);
	}
	return !name;
}

dlock_endpoint *dlock_endpoint_from_zval(const zval *spec, uint32_t arg, zend_long element)
{
	position at = { arg, element, NULL, 0 };
	dlock_endpoint *server = dlock_endpoint_new(
		dlock_from_seconds(DLOCK_G(connect_timeout)), dlock_from_seconds(DLOCK_G(read_timeout)));
	dlock_error error;
	bool good;

	if (!server) {
		dlock_throw_no_memory();
		return NULL;
	}
	ZVAL_DEREF(spec);
	if (Z_TYPE_P(spec) == IS_STRING) {
		good = dlock_endpoint_parse(server, Z_STRVAL_P(spec), Z_STRLEN_P(spec), &error) || reject(at, error.message);
	} else if (Z_TYPE_P(spec) == IS_ARRAY) {
		good = read_array(server, Z_ARRVAL_P(spec), at);
	} else {
		good = reject_type(at, "a DSN or an array", spec);
	}
	good = good && check_files(server, at);
	if (!good || (!dlock_endpoint_seal(server, &error) && !reject(at, error.message))) {
		dlock_endpoint_release(server);
		return NULL;
	}
	return server;
}

void dlock_endpoint_complete(dlock_endpoint *server)
{
	double guard = DLOCK_G(restart_guard) > 0 ? DLOCK_G(restart_guard) : 10;
	dlock_nanos least = dlock_endpoint_is_database(server) ? DLOCK_SHORTEST_GUARD_OF_DATABASES : DLOCK_SHORTEST_GUARD;

	if (dlock_endpoint_has_guard(server) && server->guard == 0) {
		/* Not an object's own lease time, because all clients of a service need the same guard. */
		guard = DLOCK_G(ttl) > guard ? DLOCK_G(ttl) : guard;
		server->guard = guard < (double) (DLOCK_LONGEST_GUARD / DLOCK_SECOND) ? dlock_from_seconds(guard)
																			  : DLOCK_LONGEST_GUARD;
		server->guard = server->guard > least ? server->guard : least;
	}
}

dlock_endpoint *dlock_endpoint_from_arguments(HashTable *array, zend_string *dsn, uint32_t arg)
{
	zval spec;

	if (array) {
		ZVAL_ARR(&spec, array);
	} else if (dsn) {
		ZVAL_STR(&spec, dsn);
	}
	dlock_endpoint *server = array || dsn ? dlock_endpoint_from_zval(&spec, arg, -1) : dlock_endpoint_from_ini();
	if (server) {
		dlock_endpoint_complete(server);
	} else if (!EG(exception)) {
		dlock_throw_no_memory();
	}
	return server;
}

/* The array of one server is [host, port, connect timeout], or a map. */
bool dlock_is_list_of_servers(HashTable *array)
{
	const zval *first = zend_hash_index_find_deref(array, 0), *second = zend_hash_index_find_deref(array, 1);
	zend_long whole;
	double number;

	return first
		&& (Z_TYPE_P(first) == IS_ARRAY || (second && Z_TYPE_P(second) == IS_ARRAY)
			|| (second && Z_TYPE_P(second) == IS_STRING && !dlock_number_of(second, &whole, &number)));
}

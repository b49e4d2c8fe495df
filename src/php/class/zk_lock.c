#include "../../net/endpoint/dsn.h"
#include "../../zookeeper/lock/backend.h"
#include "../../zookeeper/session/options.h"
#include "../request/errors.h"
#include "../globals.h"
#include "arguments.h"
#include "manager.h"

/* ZkLock: its constructor, with the forms in which PHP lock classes name an ensemble. */

/* ['host' => "h1" or "h1:2181,h2:2181/chroot", 'port' => 2181], as in userland classes; NULL after an exception. */
static zend_string *hosts_from_array(HashTable *array)
{
	zend_string *name;
	zval *value, *host = NULL, *port = NULL;

	ZEND_HASH_FOREACH_STR_KEY_VAL(array, name, value) {
		ZVAL_DEREF(value);
		if (name && zend_string_equals_literal(name, "host")) {
			host = value;
		} else if (name && zend_string_equals_literal(name, "port")) {
			port = value;
		} else {
			zend_argument_value_error(1, "must be \"h1:2181,h2:2181/chroot\" or an array with host and port");
			return NULL;
		}
	} ZEND_HASH_FOREACH_END();
	zend_long number = 0;
	double fraction;
	if (!host || Z_TYPE_P(host) != IS_STRING || (port && dlock_number_of(port, &number, &fraction) != IS_LONG)) {
		zend_argument_type_error(1, "must have a string as host and an int as port");
		return NULL;
	}
	if (port && (number < 1 || number > 65535)) {
		zend_argument_value_error(1, "must have a port between 1 and 65535");
		return NULL;
	}
	if (strlen(Z_STRVAL_P(host)) != Z_STRLEN_P(host)) {
		zend_argument_value_error(1, "must not contain NUL bytes");
		return NULL;
	}
	if (port && strpbrk(Z_STRVAL_P(host), ":,/")) {
		zend_argument_value_error(1, "must have a single host, without port or chroot, where the port is given apart");
		return NULL;
	}
	return port ? zend_strpprintf(0, "%s:" ZEND_LONG_FMT, Z_STRVAL_P(host), number) : zend_string_copy(Z_STR_P(host));
}

/* Does `text` pass its check, without a NUL byte that would hide the rest of it from C? False after an exception. */
static bool check_text(zend_string *text, uint32_t arg, bool (*check)(const char *, dlock_error *))
{
	dlock_error error;

	if (strlen(ZSTR_VAL(text)) != ZSTR_LEN(text)) {
		zend_argument_value_error(arg, "must not contain NUL bytes");
		return false;
	}
	if (!check(ZSTR_VAL(text), &error)) {
		zend_argument_value_error(arg, "%s", error.message);
		return false;
	}
	return true;
}

/* The first argument, in either form, as checked text; NULL after an exception. */
static zend_string *read_hosts(HashTable *array, zend_string *text)
{
	zend_string *hosts = array ? hosts_from_array(array) : zend_string_copy(text);

	if (hosts && !check_text(hosts, 1, dlock_zk_hosts_check)) {
		zend_string_release(hosts);
		return NULL;
	}
	return hosts;
}

static void construct(
	dlock_manager *manager, zend_string *hosts, zend_string *root, double session_timeout, zend_string *auth)
{
	if (!check_text(root, 2, dlock_zk_root_check) || (auth && !check_text(auth, 4, dlock_zk_auth_check))) {
		return;
	}
	if (!(session_timeout >= 0.1 && session_timeout <= 86400)) {
		zend_argument_value_error(3, "must be between 0.1 and 86400 seconds");
		return;
	}
	if (!dlock_pools_begin_zookeeper(&DLOCK_G(pools))) {
		dlock_throw_no_memory();
		return;
	}
	dlock_zk_options options = { ZSTR_VAL(hosts), ZSTR_VAL(root), dlock_from_seconds(session_timeout),
		auth ? ZSTR_VAL(auth) : NULL };
	manager->servers = zend_string_copy(hosts);
	manager->prefix = zend_string_copy(root);
	manager->backend = dlock_zookeeper_new(DLOCK_G(pools).zookeeper, &options, "", 0, 0);
	if (!manager->backend) {
		dlock_throw_no_memory();
	}
}

ZEND_METHOD(ZkLock, __construct)
{
	HashTable *array = NULL;
	zend_string *hosts = NULL, *root = NULL, *auth = NULL;
	double session_timeout = 10.0;
	dlock_options options = { .timeout_is_null = true, .release_is_null = true, .timeout_arg = 5, .on_loss_arg = 6 };

	ZEND_PARSE_PARAMETERS_START(0, 8)
		Z_PARAM_OPTIONAL
		Z_PARAM_ARRAY_HT_OR_STR(array, hosts)
		Z_PARAM_STR(root)
		Z_PARAM_DOUBLE(session_timeout)
		Z_PARAM_STR_OR_NULL(auth)
		Z_PARAM_DOUBLE_OR_NULL(options.timeout, options.timeout_is_null)
		Z_PARAM_STR(options.on_loss)
		Z_PARAM_BOOL_OR_NULL(options.release, options.release_is_null)
		Z_PARAM_BOOL(options.reentrant)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_from(Z_OBJ_P(ZEND_THIS));
	if (!dlock_manager_begin(manager) || !dlock_manager_configure(manager, &options)) {
		RETURN_THROWS();
	}
	hosts = array || hosts ? read_hosts(array, hosts) : zend_string_init(ZEND_STRL("127.0.0.1:2181"), 0);
	if (!hosts) {
		RETURN_THROWS();
	}
	root = root ? zend_string_copy(root) : zend_string_init(ZEND_STRL("/locks"), 0);
	construct(manager, hosts, root, session_timeout, auth);
	zend_string_release(hosts);
	zend_string_release(root);
}

ZEND_METHOD(ZkLock, lock)
{
	zend_string *resource;
	double timeout = 0;
	bool no_timeout = true;
	dlock_nanos wait;

	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_STR(resource)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE_OR_NULL(timeout, no_timeout)
	ZEND_PARSE_PARAMETERS_END();

	dlock_manager *manager = dlock_manager_this(ZEND_THIS);
	if (!manager || !dlock_check_resource(manager, resource, 1)
		|| !dlock_check_timeout(timeout, no_timeout, DLOCK_FOREVER, 2, &wait)) {
		RETURN_THROWS();
	}
	RETURN_BOOL(dlock_manager_lock(manager, resource, (dlock_terms) { 0 }, wait));
}

/* ---- for dlock-doctor ---- */

static void add_member(zval *list, const char *host, size_t len)
{
	const char *name;
	size_t name_len;
	int port = DLOCK_ZK_PORT;
	dlock_error error;
	zval member;

	dlock_dsn_host(host, host + len, &name, &name_len, &port, &error); /* checked before */
	array_init(&member);
	add_assoc_string(&member, "backend", "zookeeper");
	add_assoc_str(&member, "label",
		zend_strpprintf(0, *host == '[' ? "[%.*s]:%d" : "%.*s:%d", (int) name_len, name, port));
	add_assoc_stringl(&member, "host", name, name_len);
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

	zend_string *hosts = read_hosts(array, text);
	if (!hosts) {
		RETURN_THROWS();
	}
	array_init(return_value);
	for (const char *host = ZSTR_VAL(hosts);; host++) {
		size_t len = strcspn(host, ",/");
		add_member(return_value, host, len);
		host += len;
		if (*host != ',') {
			break;
		}
	}
	zend_string_release(hosts);
}

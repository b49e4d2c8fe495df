/* What the specification of a server says, as the lock classes read it. dlock-doctor opens connections of its own to
 * the servers, and must not read specifications differently. */
#include "servers.h"

#include "../globals.h"
#include "../settings.h"

static void add_text(zval *array, const char *name, const char *text)
{
	if (text) {
		add_assoc_string(array, name, text);
	} else {
		add_assoc_null(array, name);
	}
}

static void add_option(zval *array, const dlock_endpoint *server, const dlock_option *option, const char *name)
{
	void *field = dlock_option_field(server, option);

	if (option->flags & DLOCK_OPTION_REPLICAS && !dlock_endpoint_has_guard(server)) {
		add_assoc_null(array, name);
		return;
	}
	switch (option->type) {
	case DLOCK_OPTION_SECONDS:
		add_assoc_double(array, name, (double) *(dlock_nanos *) field / (double) DLOCK_SECOND);
		break;
	case DLOCK_OPTION_WHOLE:
		add_assoc_long(array, name, *(int *) field);
		break;
	case DLOCK_OPTION_SWITCH:
		add_assoc_bool(array, name, *(bool *) field);
		break;
	case DLOCK_OPTION_TEXT:
		add_text(array, name, *(char **) field);
	}
}

/* The equivalent ssl context options of PHP's streams; null without TLS. */
static void add_tls(zval *array, const dlock_endpoint *server, bool on)
{
	zval options;

	if (!on) {
		add_assoc_null(array, "tls");
		return;
	}
	array_init(&options);
	for (DLOCK_EACH_OPTION(option)) {
		if (option->flags & DLOCK_OPTION_SSL
			&& (option->type != DLOCK_OPTION_TEXT || *(char **) dlock_option_field(server, option))) {
			add_option(&options, server, option, option->name);
		}
	}
	if (!server->tls_peer_name && server->host) {
		add_assoc_string(&options, "peer_name", server->host);
	}
	add_assoc_zval(array, "tls", &options);
}

static bool is_of_sentinels(const dlock_option *option)
{
	return !strncmp(option->name, "sentinel_", 9);
}

/* The options of connections to the Sentinels. */
static void add_sentinel(zval *array, const dlock_endpoint *server)
{
	zval sentinel;

	if (server->discovery != DLOCK_ENDPOINT_SENTINEL) {
		add_assoc_null(array, "sentinel");
		return;
	}
	array_init(&sentinel);
	for (DLOCK_EACH_OPTION(option)) {
		if (is_of_sentinels(option)) {
			add_option(&sentinel, server, option, option->name + strlen("sentinel_"));
		}
	}
	add_tls(&sentinel, server, server->sentinel_tls);
	add_assoc_zval(array, "sentinel", &sentinel);
}

static void add_seeds(zval *array, const dlock_endpoint *server)
{
	zval seeds, seed;

	array_init(&seeds);
	for (int i = 0; i < server->seed_count; i++) {
		array_init(&seed);
		add_assoc_string(&seed, "host", server->seeds[i].host);
		add_assoc_long(&seed, "port", server->seeds[i].port);
		add_next_index_zval(&seeds, &seed);
	}
	add_assoc_zval(array, "seeds", &seeds);
}

/* Options of a database are shown for that database only. */
static bool is_shown(const dlock_endpoint *server, const dlock_option *option)
{
	return dlock_endpoint_is_database(server)
		? option->schemes & 1u << dlock_scheme_of(server) && strcmp(option->name, "socket")
		: option->schemes & 1u << DLOCK_SCHEME_REDIS || option->schemes & 1u << DLOCK_SCHEME_SENTINEL;
}

ZEND_FUNCTION(Dlock_describe_server)
{
	static const char *const discoveries[] = { "fixed", "sentinel", "cluster", "hosts" };
	zval *spec;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ZVAL(spec)
	ZEND_PARSE_PARAMETERS_END();

	dlock_endpoint *server = dlock_check_settings() ? dlock_endpoint_from_zval(spec, 1, -1) : NULL;
	if (!server) {
		RETURN_THROWS();
	}
	dlock_endpoint_complete(server);
	array_init(return_value);
	add_assoc_string(return_value, "backend", dlock_server_kinds[server->kind].name);
	add_text(return_value, "label", server->label);
	add_text(return_value, "host", server->host);
	add_assoc_long(return_value, "port", server->port);
	add_text(return_value, "path", server->path);
	add_assoc_string(return_value, "discovery", discoveries[server->discovery]);
	add_seeds(return_value, server);
	for (DLOCK_EACH_OPTION(option)) {
		if (!(option->flags & DLOCK_OPTION_SSL) && !is_of_sentinels(option) && is_shown(server, option)) {
			add_option(return_value, server, option, option->name);
		}
	}
	add_tls(return_value, server, server->tls);
	add_sentinel(return_value, server);
	dlock_endpoint_release(server);
}

#include "settings.h"

#include "description.h"
#include "globals.h"

#include "SAPI.h"
#include "fopen_wrappers.h"
#include "ext/standard/html.h"

/* An invalid value in a php.ini or a pool's file is kept, a time as NAN. Its warning may go unread, and the default may
 * be shorter, or no limit at all. So constructors refuse it (dlock_check_settings()). At runtime PHP keeps the old
 * value. */

static bool is_startup(int stage)
{
	return stage == ZEND_INI_STAGE_STARTUP || stage == ZEND_INI_STAGE_ACTIVATE;
}

static void refuse(const zend_ini_entry *entry, int stage, const char *message)
{
	if (stage != ZEND_INI_STAGE_DEACTIVATE) { /* the warning came before */
		zend_error(is_startup(stage) ? E_CORE_WARNING : E_WARNING, "%s %s", ZSTR_VAL(entry->name), message);
	}
}

/* For all settings except servers, which may contain a password. */
static void refuse_value(const zend_ini_entry *entry, int stage, const char *message, const zend_string *value)
{
	char text[160];

	snprintf(text, sizeof text, "%s, \"%.40s\" given", message, ZSTR_VAL(value));
	refuse(entry, stage, text);
}

typedef struct {
	double least, most;
	const char *text;
} seconds_range;

static const seconds_range
	lease_time = { 0.003, 31536000, "must be a number of seconds between 0.003 and 31536000" },
	wait_time = { 0, 31536000, "must be a number of seconds between 0 and 31536000" },
	io_timeout = { 0.001, 3600, "must be a number of seconds between 0.001 and 3600" };

static bool read_seconds(const zend_string *text, const seconds_range *range, double *number)
{
	zend_long whole;

	switch (is_numeric_string(ZSTR_VAL(text), ZSTR_LEN(text), &whole, number, false)) {
	case IS_LONG:
		*number = (double) whole;
		break;
	case IS_DOUBLE:
		break;
	default:
		return false;
	}
	return *number >= range->least && *number <= range->most;
}

static int update_seconds(
	const zend_ini_entry *entry, const zend_string *text, const seconds_range *range, double *setting, int stage)
{
	double number;

	if (read_seconds(text, range, &number)) {
		*setting = number;
		return SUCCESS;
	}
	refuse_value(entry, stage, range->text, text);
	if (stage == ZEND_INI_STAGE_RUNTIME) {
		return FAILURE;
	}
	*setting = ZEND_NAN; /* dlock_check_settings() throws */
	return SUCCESS;
}

ZEND_INI_MH(dlock_update_lease_time)
{
	(void) mh_arg3;
	return update_seconds(entry, new_value, &lease_time, (double *) ZEND_INI_GET_ADDR(), stage);
}

ZEND_INI_MH(dlock_update_wait)
{
	(void) mh_arg3;
	return update_seconds(entry, new_value, &wait_time, (double *) ZEND_INI_GET_ADDR(), stage);
}

ZEND_INI_MH(dlock_update_io_timeout)
{
	(void) mh_arg3;
	return update_seconds(entry, new_value, &io_timeout, (double *) ZEND_INI_GET_ADDR(), stage);
}

static bool is_switch(const char *text)
{
	static const char *const known[] = { "", "0", "1", "on", "off", "yes", "no", "true", "false" };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (!strcasecmp(text, known[i])) {
			return true;
		}
	}
	return false;
}

/* NULL: it is no kind of label. In a php.ini an unquoted `none` means the empty text. */
static const char *label_named(const char *text)
{
	static const char *const known[] = { "path", "script", "none" };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (!strcasecmp(text, known[i])) {
			return known[i];
		}
	}
	return *text ? NULL : "none";
}

bool dlock_check_settings(void)
{
	const struct {
		const char *name;
		double value;
		const seconds_range *range;
	} settings[] = {
		{ "dlock.ttl", DLOCK_G(ttl), &lease_time },
		{ "dlock.timeout", DLOCK_G(timeout), &wait_time },
		{ "dlock.max_hold", DLOCK_G(max_hold), &wait_time },
		{ "dlock.restart_guard", DLOCK_G(restart_guard), &wait_time },
		{ "dlock.shutdown_timeout", DLOCK_G(shutdown_timeout), &wait_time },
		{ "dlock.connect_timeout", DLOCK_G(connect_timeout), &io_timeout },
		{ "dlock.read_timeout", DLOCK_G(read_timeout), &io_timeout },
	};

	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		if (zend_isnan(settings[i].value)) {
			zend_value_error("%s %s, \"%.40s\" given", settings[i].name, settings[i].range->text,
				zend_ini_string((char *) settings[i].name, strlen(settings[i].name), 0));
			return false;
		}
	}
	const char *switches[] = { "dlock.release_on_shutdown", "dlock.describe" };
	for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
		const char *value = zend_ini_string((char *) switches[i], strlen(switches[i]), 0);
		if (!is_switch(value)) {
			zend_value_error("%s must be On or Off, \"%.40s\" given", switches[i], value);
			return false;
		}
	}
	if (!label_named(INI_STR("dlock.label"))) {
		zend_value_error("dlock.label must be path, script or none, \"%.40s\" given", INI_STR("dlock.label"));
		return false;
	}
	return true;
}

ZEND_INI_MH(dlock_update_switch)
{
	if (is_switch(ZSTR_VAL(new_value))) {
		return OnUpdateBool(entry, new_value, mh_arg1, mh_arg2, mh_arg3, stage);
	}
	refuse_value(entry, stage, "must be On or Off", new_value);
	return stage == ZEND_INI_STAGE_RUNTIME ? FAILURE : SUCCESS; /* an invalid value is kept, as with times */
}

const char *dlock_endpoint_forbidden_file(const dlock_endpoint *server)
{
	for (DLOCK_EACH_OPTION(option)) {
		const char *path = option->flags & DLOCK_OPTION_FILE ? *(char **) dlock_option_field(server, option) : NULL;
		if (path && php_check_open_basedir_ex(path, 0) != 0) {
			return option->name;
		}
	}
	return NULL;
}

ZEND_INI_MH(dlock_update_server)
{
	dlock_endpoint *server = dlock_endpoint_new(DLOCK_SECOND, DLOCK_SECOND);
	dlock_error error;
	bool parsed = server && dlock_endpoint_parse(server, ZSTR_VAL(new_value), ZSTR_LEN(new_value), &error);
	/* open_basedir restricts scripts, but not the administrator, who writes the php.ini. */
	bool from_script = stage == ZEND_INI_STAGE_RUNTIME || stage == ZEND_INI_STAGE_HTACCESS;
	const char *forbidden = parsed && from_script ? dlock_endpoint_forbidden_file(server) : NULL;
	bool good = parsed && !forbidden && dlock_endpoint_seal(server, &error);

	if (server) {
		dlock_endpoint_release(server);
	}
	if (forbidden) {
		dlock_fail(&error, DLOCK_FAILED, "must have a %s that open_basedir allows", forbidden);
		refuse(entry, stage, error.message);
		return FAILURE;
	}
	if (!good) {
		refuse(entry, stage, server ? error.message : "could not be read: out of memory");
		/* The warning about a php.ini or a pool's file may go unread. The default server must not replace the one meant
		 * there, because other applications may use the default. So dlock_endpoint_from_ini() throws. */
		if (stage == ZEND_INI_STAGE_RUNTIME) {
			return FAILURE;
		}
	}
	return OnUpdateString(entry, new_value, mh_arg1, mh_arg2, mh_arg3, stage);
}

/* The address as in a DSN. The label of a service is "NAME at SENTINELS". */
static zend_string *address_of(const dlock_endpoint *server)
{
	const char *label = server->label;

	if (server->kind == DLOCK_ENDPOINT_MEMORY) {
		return zend_string_init(label, strlen(label), 0); /* the label begins with the scheme */
	}
	if (server->service) {
		label += strlen(server->service) + strlen(" at ");
		return zend_strpprintf(0, "sentinel://%s/%s", label, server->service);
	}
	return zend_strpprintf(0, "%s://%s", dlock_endpoint_scheme(server), label);
}

static void print_text(const char *text)
{
	zend_string *escaped;

	if (sapi_module.phpinfo_as_text) {
		PUTS(text);
		return;
	}
	escaped = php_escape_html_entities(
		(const unsigned char *) text, strlen(text), 0, ENT_QUOTES | ENT_SUBSTITUTE, NULL);
	PHPWRITE(ZSTR_VAL(escaped), ZSTR_LEN(escaped));
	zend_string_release(escaped);
}

/* Prints the options that identify the database or service: database, TLS, replicas. */
static void print_options(const dlock_endpoint *server)
{
	const char *separator = "?";
	bool fixed = server->discovery == DLOCK_ENDPOINT_FIXED, has_services = !fixed && !server->dbname;

	if (server->dbname) {
		PUTS("/");
		print_text(server->dbname);
	}
	if (server->database != 0) {
		php_printf(server->path ? "?db=%d" : "/%d", server->database);
		separator = server->path ? "&" : "?";
	}
	if (server->tls && !fixed) {
		php_printf("%stls=1", separator);
		separator = "&";
	}
	if (server->replicas != has_services) {
		php_printf("%sreplicas=%d", separator, server->replicas);
	}
}

/* Shows the server's address, but not how to log in there. */
ZEND_INI_DISP(dlock_display_server)
{
	zend_string *value = type == ZEND_INI_DISPLAY_ORIG && ini_entry->modified ? ini_entry->orig_value
																			  : ini_entry->value;
	dlock_endpoint *server = value ? dlock_endpoint_new(DLOCK_SECOND, DLOCK_SECOND) : NULL;
	dlock_error error;

	if (server && dlock_endpoint_parse(server, ZSTR_VAL(value), ZSTR_LEN(value), &error)
		&& dlock_endpoint_seal(server, &error)) {
		zend_string *address = address_of(server);
		print_text(ZSTR_VAL(address));
		print_options(server);
		PUTS(server->password || server->sentinel_password ? " (with password)" : "");
		zend_string_release(address);
	} else {
		PUTS("(not a server)");
	}
	if (server) {
		dlock_endpoint_release(server);
	}
}

dlock_endpoint *dlock_endpoint_from_ini(void)
{
	const char *dsn = DLOCK_G(server) ? DLOCK_G(server) : "";
	dlock_endpoint *server = dlock_endpoint_new(
		dlock_from_seconds(DLOCK_G(connect_timeout)), dlock_from_seconds(DLOCK_G(read_timeout)));
	dlock_error error;

	if (server && (!dlock_endpoint_parse(server, dsn, strlen(dsn), &error) || !dlock_endpoint_seal(server, &error))) {
		zend_value_error("dlock.server %s", error.message);
		dlock_endpoint_release(server);
		return NULL;
	}
	return server;
}

ZEND_INI_MH(dlock_update_label)
{
	const char *label = label_named(ZSTR_VAL(new_value));

	(void) mh_arg3;
	if (!label) {
		refuse_value(entry, stage, "must be path, script or none", new_value);
		if (stage == ZEND_INI_STAGE_RUNTIME) {
			return FAILURE;
		}
	}
	*(const char **) ZEND_INI_GET_ADDR() = label ? label : "none";
	if (stage != ZEND_INI_STAGE_STARTUP) {
		dlock_description_forget();
	}
	return SUCCESS;
}

ZEND_INI_MH(dlock_update_names)
{
	const char *text = ZSTR_VAL(new_value);
	size_t len = strspn(text, "0123456789");
	zend_long number = len > 0 && len <= 2 && len == ZSTR_LEN(new_value) ? ZEND_STRTOL(text, NULL, 10) : -1;

	(void) mh_arg3;
	if (number < 0 || number > 64) {
		refuse_value(entry, stage, "must be a whole number from 0 to 64", new_value);
		if (stage == ZEND_INI_STAGE_RUNTIME) {
			return FAILURE;
		}
		number = 0;
	}
	*(zend_long *) ZEND_INI_GET_ADDR() = number;
	return SUCCESS;
}

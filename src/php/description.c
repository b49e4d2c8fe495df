#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "description.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include "globals.h"

#include "SAPI.h"
#include "ext/standard/html.h"

/* ---- the host ---- */

/* The IPv4 address, in host byte order, of the first interface that is up and not the loopback. 0: there is none. */
static uint32_t find_address(void)
{
	struct ifaddrs *first;
	uint32_t address = 0;

	if (getifaddrs(&first) != 0) {
		return 0;
	}
	for (const struct ifaddrs *one = first; one && address == 0; one = one->ifa_next) {
		if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && !(one->ifa_flags & IFF_LOOPBACK)
			&& one->ifa_flags & IFF_UP) {
			address = ntohl(((const struct sockaddr_in *) one->ifa_addr)->sin_addr.s_addr);
		}
	}
	freeifaddrs(first);
	return address;
}

/* Runs once in each process, at its first description. PHP-FPM's master would be too early: at boot it may start before
 * the network. */
static void begin_origin(void)
{
	static _Atomic dlock_process done;

	if (atomic_exchange(&done, dlock_process_current()) != dlock_process_current()) {
		dlock_token_set_origin(DLOCK_G(describe) ? find_address() : 0, !DLOCK_G(describe));
	}
}

static void read_host_name(char name[DLOCK_HOST_MAX + 1])
{
	if (gethostname(name, DLOCK_HOST_MAX) != 0) {
		*name = '\0';
	}
	name[DLOCK_HOST_MAX] = '\0';
}

/* ---- the label ---- */

/* The next character. -1: a label must not have it. */
static int next_character(const char *text, size_t len, size_t *cursor)
{
	zend_result status;
	unsigned c = php_next_utf8_char((const unsigned char *) text, len, cursor, &status);

	return status == FAILURE || c < 0x20 || (c >= 0x7f && c < 0xa0) ? -1 : (int) c;
}

/* Appends `text`, with a ? for each character that a label must not have. */
static size_t append(char *out, size_t room, const char *text, size_t len)
{
	size_t written = 0;

	for (size_t at = 0, begin = 0; at < len; begin = at) {
		bool good = next_character(text, len, &at) >= 0;
		if (at == begin) {
			at++;
		}
		size_t count = good ? at - begin : 1;
		if (written + count > room) {
			break;
		}
		memcpy(out + written, good ? text + begin : "?", count);
		written += count;
	}
	return written;
}

static const char *script_name(void)
{
	const char *path = SG(request_info).path_translated;
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "-";
}

/* "GET /cart". On the command line, or with dlock.label = script: "import.php". */
static size_t write_label(char label[DLOCK_LABEL_MAX])
{
	const char *method = SG(request_info).request_method, *uri = SG(request_info).request_uri;
	bool has_path = !strcasecmp(DLOCK_G(label), "path") && method && uri && strcmp(sapi_module.name, "cli");
	size_t len;

	if (!has_path) {
		return append(label, DLOCK_LABEL_MAX, script_name(), strlen(script_name()));
	}
	len = append(label, DLOCK_LABEL_MAX - 1, method, strlen(method));
	label[len++] = ' ';
	return len + append(label + len, DLOCK_LABEL_MAX - len, uri, strcspn(uri, "?"));
}

dlock_description *dlock_description_here(void)
{
	char host[DLOCK_HOST_MAX + 1], label[DLOCK_LABEL_MAX];

	if (DLOCK_G(description)) {
		return DLOCK_G(description);
	}
	begin_origin();
	if (!DLOCK_G(describe)) {
		return NULL;
	}
	read_host_name(host);
	if (DLOCK_G(own_label).is_set) {
		DLOCK_G(description) = dlock_description_new(host, DLOCK_G(own_label).text, DLOCK_G(own_label).len);
	} else if (!strcasecmp(DLOCK_G(label), "none")) {
		DLOCK_G(description) = dlock_description_new(host, NULL, 0);
	} else {
		size_t len = write_label(label);
		DLOCK_G(description) = dlock_description_new(host, label, len);
	}
	return DLOCK_G(description);
}

void dlock_description_forget(void)
{
	dlock_description_release(DLOCK_G(description));
	DLOCK_G(description) = NULL;
}

void dlock_description_end(void)
{
	dlock_description_forget();
	DLOCK_G(own_label).is_set = false;
}

static bool is_label(const zend_string *text)
{
	size_t at = 0;

	while (at < ZSTR_LEN(text)) {
		if (next_character(ZSTR_VAL(text), ZSTR_LEN(text), &at) < 0) {
			return false;
		}
	}
	return ZSTR_LEN(text) <= DLOCK_LABEL_MAX;
}

ZEND_FUNCTION(Dlock_setLabel)
{
	zend_string *label = NULL;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR_OR_NULL(label)
	ZEND_PARSE_PARAMETERS_END();

	if (label && !is_label(label)) {
		zend_argument_value_error(
			1, "must be at most %d bytes of UTF-8 without control characters", DLOCK_LABEL_MAX);
		RETURN_THROWS();
	}
	if (DLOCK_G(own_label).is_set) {
		RETVAL_STRINGL(DLOCK_G(own_label).text, DLOCK_G(own_label).len);
	}
	DLOCK_G(own_label).is_set = label != NULL;
	if (label) {
		DLOCK_G(own_label).len = ZSTR_LEN(label);
		memcpy(DLOCK_G(own_label).text, ZSTR_VAL(label), ZSTR_LEN(label));
	}
	dlock_description_forget();
}

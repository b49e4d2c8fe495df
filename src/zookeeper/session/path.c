#include "path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "_c_"

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '%' && c != '/';
}

/* These names mean something to the server as a whole. One encoded byte is enough to make them ordinary. */
static bool is_reserved(const char *root, const char *resource, size_t len)
{
	return (len == 1 && *resource == '.') || (len == 2 && memcmp(resource, "..", 2) == 0)
		|| (len == 9 && root[1] == '\0' && memcmp(resource, "zookeeper", 9) == 0);
}

char *dlock_zk_parent_path(const char *root, const char *resource, size_t resource_len)
{
	size_t root_len = root[1] ? strlen(root) : 0;
	char *path = malloc(root_len + 1 + 3 * resource_len + 2), *out = path;

	if (!path) {
		return NULL;
	}
	memcpy(out, root, root_len);
	out += root_len;
	*out++ = '/';
	bool reserved = is_reserved(root, resource, resource_len);
	for (size_t i = 0; i < resource_len; i++) {
		if (is_plain((unsigned char) resource[i]) && !(reserved && i == 0)) {
			*out++ = resource[i];
		} else {
			out += sprintf(out, "%%%02X", (unsigned char) resource[i]);
		}
	}
	if (resource_len == 0) {
		*out++ = '%'; /* no other name is encoded like this */
	}
	*out = '\0';
	return path;
}

static int digit(char c)
{
	const char *digits = "0123456789ABCDEF", *found = c ? strchr(digits, c) : NULL;

	return found ? (int) (found - digits) : -1;
}

size_t dlock_zk_resource_of(const char *name, char *out)
{
	size_t len = 0;

	if (strcmp(name, "%") == 0) {
		return 0;
	}
	while (*name) {
		bool encoded = *name == '%' && digit(name[1]) >= 0 && digit(name[2]) >= 0;
		out[len++] = encoded ? (char) (16 * digit(name[1]) + digit(name[2])) : *name;
		name += encoded ? 3 : 1;
	}
	return len;
}

char *dlock_zk_child_path(const char *parent, const char *child)
{
	size_t size = strlen(parent) + sizeof "/" + strlen(child);
	char *path = malloc(size);

	if (path) {
		snprintf(path, size, "%s/%s", parent, child);
	}
	return path;
}

static size_t trailing_digits(const char *name, size_t len)
{
	size_t digits = 0;

	while (digits < len && digits < 10 && name[len - digits - 1] >= '0' && name[len - digits - 1] <= '9') {
		digits++;
	}
	return digits;
}

/* The server writes the number with "%010d": ten digits, or a minus and at least nine. A minus before ten digits may
 * also be the end of the name's own part ("lock-"). Padding tells most of them apart, because a negative number of ten
 * digits begins with 1 or 2. In the other cases the character before the minus decides: if it is another separator, the
 * minus is the sign. */
bool dlock_zk_sequence(const char *name, int32_t *sequence)
{
	size_t len = strlen(name), digits = trailing_digits(name, len);

	if (digits < 9) {
		return false;
	}
	int64_t number = strtoll(name + len - digits, NULL, 10);
	const char *sign = len > digits && name[len - digits - 1] == '-' ? name + len - digits - 1 : NULL;

	if (digits == 9) {
		if (!sign || number == 0) {
			return false;
		}
		number = -number;
	} else if (sign && number >= 1000000000
		&& (number > INT32_MAX || sign == name || sign[-1] == '-' || sign[-1] == '_')) {
		number = -number;
	}
	if (number > INT32_MAX || number < INT32_MIN) {
		return false;
	}
	*sequence = (int32_t) number;
	return true;
}

bool dlock_zk_is_node_of(const char *name, const char *guid)
{
	size_t len = strlen(guid);

	return strncmp(name, PREFIX, sizeof PREFIX - 1) == 0 && strncmp(name + sizeof PREFIX - 1, guid, len) == 0
		&& name[sizeof PREFIX - 1 + len] == '-';
}

char *dlock_zk_node_path(const char *parent, const char *guid, const char *label)
{
	char name[sizeof PREFIX + 128];

	snprintf(name, sizeof name, PREFIX "%s-%s", guid, label);
	return dlock_zk_child_path(parent, name);
}

bool dlock_zk_is_made_of(const char *path, const char *parent, const char *guid, const char *label)
{
	size_t len = strlen(parent);
	int32_t sequence;

	if (strncmp(path, parent, len) != 0 || path[len] != '/') {
		return false;
	}
	const char *name = path + len + 1, *rest = name + sizeof PREFIX + strlen(guid);
	return dlock_zk_is_node_of(name, guid) && strncmp(rest, label, strlen(label)) == 0 && !strchr(name, '/')
		&& dlock_zk_sequence(name, &sequence);
}

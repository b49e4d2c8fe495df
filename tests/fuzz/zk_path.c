/* src/zookeeper/path.c. Lines: a root, a resource, our own node's name, then the names that a server lists beside it. */

#include "../../src/zookeeper/options.h"
#include "../../src/zookeeper/path.h"
#include "fuzz.h"

#define GUID "0123456789abcdef0123456789abcdef"

static int hex(char c)
{
	MUST((c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'));
	return c <= '9' ? c - '0' : c - 'A' + 10;
}

/* One component below the root that can be read back, so that no two resources share it. */
static void check_parent(const char *root, const char *resource, size_t len)
{
	char *path = dlock_zk_parent_path(root, resource, len);
	dlock_error error;

	MUST(path && dlock_zk_root_check(path, &error));
	size_t root_len = root[1] ? strlen(root) : 0;
	MUST(!strncmp(path, root, root_len) && path[root_len] == '/');
	const char *name = path + root_len + 1;
	MUST(*name && !strchr(name, '/'));
	if (len == 0) {
		MUST(!strcmp(name, "%"));
	} else {
		for (size_t i = 0; i < len; i++, name++) {
			unsigned char c = (unsigned char) *name;
			if (c == '%') {
				c = (unsigned char) (hex(name[1]) << 4);
				c |= (unsigned char) hex(name[2]);
				name += 2;
			}
			MUST(c == (unsigned char) resource[i]);
		}
		MUST(!*name);
	}
	free(path);
}

/* The number is the one that the server writes so. */
static void check_sequence(const char *name)
{
	char written[16];
	int32_t sequence;

	if (dlock_zk_sequence(name, &sequence)) {
		size_t written_len = (size_t) snprintf(written, sizeof written, "%010d", sequence), len = strlen(name);
		MUST(len >= written_len && !strcmp(name + len - written_len, written));
	}
}

static void check_position(char *const *children, int count, const char *mine)
{
	dlock_zk_position position = dlock_zk_find_position(children, count, mine);
	int32_t my_sequence, sequence, last = 0;
	bool present = false, found = false;

	if (!dlock_zk_sequence(mine, &my_sequence)) {
		MUST(!position.present && !position.predecessor);
		return;
	}
	if (position.predecessor) {
		MUST(strcmp(position.predecessor, mine));
		MUST(dlock_zk_sequence(position.predecessor, &last) && dlock_zk_before(last, my_sequence));
		MUST(!dlock_zk_before(my_sequence, last));
	}
	for (int i = 0; i < count; i++) {
		present |= !strcmp(children[i], mine);
		found |= children[i] == position.predecessor;
		if (strcmp(children[i], mine) && dlock_zk_sequence(children[i], &sequence) && dlock_zk_before(sequence, my_sequence)) {
			MUST(position.predecessor && !dlock_zk_before(last, sequence));
		}
	}
	MUST(present == position.present && found == (position.predecessor != NULL));
}

/* A path that a server says to have made: its name can be taken out of it. */
static void check_made(const char *path, const char *parent)
{
	int32_t sequence;

	if (dlock_zk_is_made_of(path, parent, GUID)) {
		const char *name = strrchr(path, '/') + 1;
		MUST((size_t) (name - path) == strlen(parent) + 1 && !strncmp(path, parent, strlen(parent)));
		MUST(dlock_zk_is_node_of(name, GUID) && dlock_zk_sequence(name, &sequence));
	}
}

/* What the server makes of our node's path is found again. */
static void check_own(const char *parent, int32_t number)
{
	char name[128];
	int32_t sequence;
	char *path = dlock_zk_node_path(parent, GUID);

	MUST(path && strlen(path) < sizeof name - 16 + strlen(parent));
	snprintf(name, sizeof name, "%s%010d", path + strlen(parent) + 1, number);
	MUST(dlock_zk_is_node_of(name, GUID));
	MUST(dlock_zk_sequence(name, &sequence) && sequence == number);
	char *child = dlock_zk_child_path(parent, name);
	MUST(child && !strncmp(child, path, strlen(path)));
	MUST(dlock_zk_is_made_of(child, parent, GUID));
	free(child);
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { MOST = 32 };
	char *names[MOST];
	size_t root_len, resource_len, len;
	int count = 0;
	uint32_t number = 0;
	dlock_error error;
	char *root = take_line(&data, &size, &root_len), *resource = take_line(&data, &size, &resource_len);
	char *mine = take_line(&data, &size, &len);

	if (!dlock_zk_root_check(root, &error)) {
		strcpy(root = realloc(root, sizeof "/locks"), "/locks");
	}
	check_parent(root, resource, resource_len);
	while (size > 0 && count < MOST) {
		names[count] = take_line(&data, &size, &len);
		check_sequence(names[count]);
		check_made(names[count], root);
		char *path = dlock_zk_child_path(root, names[count]);
		MUST(path);
		check_made(path, root);
		free(path);
		(void) dlock_zk_is_node_of(names[count], GUID);
		for (size_t i = 0; i < len; i++) {
			number = number * 31 + (unsigned char) names[count][i];
		}
		count++;
	}
	check_sequence(mine);
	check_position(names, count, mine);
	check_own(root, (int32_t) number);
	while (count > 0) {
		free(names[--count]);
	}
	free(mine);
	free(resource);
	free(root);
	return 0;
}

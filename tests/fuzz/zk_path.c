/* src/zookeeper/session/path.c and rank.c. Lines: a root, a resource, our own node's name, then the names that a server
 * lists beside it. */

#include "../../src/zookeeper/session/options.h"
#include "../../src/zookeeper/session/path.h"
#include "../../src/zookeeper/lock/rank.h"
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

/* The obstacles are nodes before our own, which is there and does not hold. */
static void check_rank(dlock_zk_kind kind, char *const *children, int count, const char *mine)
{
	dlock_zk_rank rank;
	int32_t my_sequence, sequence;
	bool present = false;

	MUST(dlock_zk_rank_find(&rank, kind, children, count, mine));
	for (int i = 0; i < count; i++) {
		present |= !strcmp(children[i], mine);
	}
	MUST(rank.present == (present && dlock_zk_sequence(mine, &my_sequence)));
	MUST(rank.granted ? rank.present && rank.count == 0 : rank.present == (rank.count > 0));
	for (int i = 0; i < rank.count; i++) {
		MUST(dlock_zk_sequence(rank.obstacles[i], &sequence) && strcmp(rank.obstacles[i], mine));
		MUST((int32_t) ((uint32_t) sequence - (uint32_t) my_sequence) <= 0);
	}
	dlock_zk_rank_free(&rank);
	int64_t held = dlock_zk_held_permits(kind, children, count);
	MUST(held >= 0 && held <= DLOCK_PERMITS_ALL);
}

/* A path that a server says to have made: its name can be taken out of it. */
static void check_made(const char *path, const char *parent)
{
	int32_t sequence;

	if (dlock_zk_is_made_of(path, parent, GUID, "lock-")) {
		const char *name = strrchr(path, '/') + 1;
		MUST((size_t) (name - path) == strlen(parent) + 1 && !strncmp(path, parent, strlen(parent)));
		MUST(dlock_zk_is_node_of(name, GUID) && dlock_zk_sequence(name, &sequence));
	}
}

/* What the server makes of our node's path is found again. */
static void check_own(const char *parent, const char *label, int32_t number)
{
	char name[128];
	int32_t sequence;
	char *path = dlock_zk_node_path(parent, GUID, label);

	MUST(path && strlen(path) < sizeof name - 16 + strlen(parent));
	snprintf(name, sizeof name, "%s%010d", path + strlen(parent) + 1, number);
	MUST(dlock_zk_is_node_of(name, GUID));
	MUST(dlock_zk_sequence(name, &sequence) && sequence == number);
	char *child = dlock_zk_child_path(parent, name);
	MUST(child && !strncmp(child, path, strlen(path)));
	MUST(dlock_zk_is_made_of(child, parent, GUID, label));
	free(child);
	free(path);
}

/* As each kind of resource names its nodes. */
static void check_labels(const char *root, uint32_t number)
{
	char label[DLOCK_ZK_LABEL_SIZE], name[128], *names[] = { name };
	int64_t capacity = 1 + number % (DLOCK_PERMITS_ALL - 1), permits = 1 + number / 7 % capacity;

	for (dlock_zk_kind kind = DLOCK_ZK_LOCK; kind <= DLOCK_ZK_READ_WRITE; kind++) {
		dlock_zk_label(kind, permits, capacity, label);
		check_own(root, label, (int32_t) number);
		snprintf(name, sizeof name, "_c_" GUID "-%s%010d", label, (int32_t) number);
		int64_t held = dlock_zk_held_permits(kind, names, 1);
		MUST(held
			== (kind == DLOCK_ZK_SEMAPHORE                              ? permits
					: kind == DLOCK_ZK_READ_WRITE && permits < capacity ? 1
																		: DLOCK_PERMITS_ALL));
	}
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
	for (dlock_zk_kind kind = DLOCK_ZK_LOCK; kind <= DLOCK_ZK_READ_WRITE; kind++) {
		check_rank(kind, names, count, mine);
	}
	check_labels(root, number);
	while (count > 0) {
		free(names[--count]);
	}
	free(mine);
	free(resource);
	free(root);
	return 0;
}

#include "rank.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../session/path.h"

typedef struct {
	const char *name;
	int64_t permits, capacity; /* as the name states them */
	int32_t distance;          /* of its number from a reference number: only that counts, because numbers overflow */
} contender;

void dlock_zk_label(dlock_zk_kind kind, int64_t permits, int64_t capacity, char label[DLOCK_ZK_LABEL_SIZE])
{
	if (kind == DLOCK_ZK_SEMAPHORE) {
		snprintf(label, DLOCK_ZK_LABEL_SIZE, "%" PRId64 "-of-%" PRId64 "-", permits, capacity);
	} else {
		strcpy(label, kind == DLOCK_ZK_LOCK ? "lock-" : permits < capacity ? "__READ__" : "__WRIT__");
	}
}

/* Reads a whole number from 1 to less than DLOCK_PERMITS_ALL at *text, and moves *text behind it. Returns 0 if there is
 * none. */
static int64_t read_number(const char **text)
{
	int64_t number = 0;

	if (**text == '0') {
		return 0;
	}
	for (; **text >= '0' && **text <= '9'; ++*text) {
		number = number * 10 + (**text - '0');
		if (number >= DLOCK_PERMITS_ALL) {
			return 0;
		}
	}
	return number;
}

/* True if the rest of a name is the server's number and nothing else. */
static bool is_number(const char *rest)
{
	rest += *rest == '-';
	return *rest && rest[strspn(rest, "0123456789")] == '\0';
}

static bool ends_with_label(const char *name, const char *label)
{
	const char *found = strstr(name, label);

	return found && is_number(found + strlen(label));
}

/* "_c_<guid>-3-of-10-<number>" */
static bool read_semaphore(const char *name, contender *out)
{
	const char *text = strncmp(name, "_c_", 3) == 0 ? strchr(name + 3, '-') : NULL;

	if (!text) {
		return false;
	}
	text++;
	out->permits = read_number(&text);
	if (out->permits == 0 || strncmp(text, "-of-", 4) != 0) {
		return false;
	}
	text += 4;
	out->capacity = read_number(&text);
	return out->permits <= out->capacity && *text == '-' && is_number(text + 1);
}

bool dlock_zk_is_lock(const char *name)
{
	contender unused;

	return !read_semaphore(name, &unused) && !ends_with_label(name, "__READ__") && !ends_with_label(name, "__WRIT__")
		&& !ends_with_label(name, "__rlock__");
}

/* Returns false if the node does not count. */
static bool read_contender(dlock_zk_kind kind, const char *name, int32_t from, contender *out)
{
	int32_t sequence;

	if (!dlock_zk_sequence(name, &sequence)) {
		return false;
	}
	out->name = name;
	out->distance = (int32_t) ((uint32_t) sequence - (uint32_t) from);
	if (kind == DLOCK_ZK_SEMAPHORE && read_semaphore(name, out)) {
		return true;
	}
	bool reads = kind == DLOCK_ZK_READ_WRITE
		&& (ends_with_label(name, "__READ__") || ends_with_label(name, "__rlock__"));
	out->permits = reads ? 1 : DLOCK_PERMITS_ALL;
	out->capacity = DLOCK_PERMITS_ALL;
	return true;
}

static int by_distance(const void *a, const void *b)
{
	int32_t left = ((const contender *) a)->distance, right = ((const contender *) b)->distance;

	return (left > right) - (left < right);
}

/* Makes the line of contenders in the order of their numbers, counted from the number `from`. Returns NULL if out of
 * memory. */
static contender *line_up(dlock_zk_kind kind, char *const *children, int count, int32_t from, int *length)
{
	contender *line = malloc(((size_t) count + 1) * sizeof *line);

	*length = 0;
	for (int i = 0; line && i < count; i++) {
		*length += read_contender(kind, children[i], from, &line[*length]);
	}
	if (line) {
		qsort(line, (size_t) *length, sizeof *line, by_distance);
	}
	return line;
}

/* Returns how many contenders, from the first on, hold what they ask for. *held is the sum of their permits. */
static int holders_of(const contender *line, int length, int64_t *held)
{
	int i = 0;

	for (*held = 0; i < length && *held + line[i].permits <= line[i].capacity; i++) {
		*held += line[i].permits;
	}
	return i;
}

/* Collects nodes before line[waiter] that leave it too few permits, from the back, until they are enough. If one node
 * alone is enough, it is the only one. */
static void find_obstacles(dlock_zk_rank *rank, const contender *line, int waiter)
{
	int64_t slack = line[waiter].capacity - line[waiter].permits, taken = 0;

	for (int i = waiter - 1; i >= 0 && taken <= slack; i--) {
		if (line[i].permits > slack) {
			rank->count = 0;
		}
		rank->obstacles[rank->count++] = line[i].name;
		taken = line[i].permits > slack ? line[i].permits : taken + line[i].permits;
	}
}

static int64_t permits_before(const contender *line, int at)
{
	int64_t sum = 0;

	while (at > 0) {
		sum += line[--at].permits;
	}
	return sum;
}

bool dlock_zk_rank_find(dlock_zk_rank *rank, dlock_zk_kind kind, char *const *children, int count, const char *mine)
{
	int32_t sequence;
	int64_t held;
	int length, me = 0;

	*rank = (dlock_zk_rank) { .present = false };
	if (!dlock_zk_sequence(mine, &sequence)) {
		return true;
	}
	contender *line = line_up(kind, children, count, sequence, &length);
	if (!line) {
		return false;
	}
	while (me < length && strcmp(line[me].name, mine) != 0) {
		me++;
	}
	rank->present = me < length;
	int first = holders_of(line, me + rank->present, &held);
	rank->granted = rank->present && first > me;
	if (rank->present && !rank->granted) {
		rank->obstacles = malloc((size_t) length * sizeof *rank->obstacles);
		if (!rank->obstacles) {
			free(line);
			return false;
		}
		/* If the waiter itself would fit, it waits for line[first], which states that there are fewer permits in
		 * all. */
		bool fits = permits_before(line, me) + line[me].permits <= line[me].capacity;
		find_obstacles(rank, line, fits ? first : me);
		if (fits) {
			rank->obstacles[rank->count++] = line[first].name;
		}
	}
	free(line);
	return true;
}

void dlock_zk_rank_free(dlock_zk_rank *rank)
{
	free(rank->obstacles);
	*rank = (dlock_zk_rank) { .present = false };
}

/* Makes the line, counted from the number of any child. */
static contender *line_of(dlock_zk_kind kind, char *const *children, int count, int *length)
{
	int32_t from = 0;
	int i = 0;

	while (i < count && !dlock_zk_sequence(children[i], &from)) {
		i++;
	}
	return line_up(kind, children, count, from, length);
}

int64_t dlock_zk_held_permits(dlock_zk_kind kind, char *const *children, int count)
{
	int64_t held;
	int length;
	contender *line = line_of(kind, children, count, &length);

	if (!line) {
		return -1;
	}
	holders_of(line, length, &held);
	free(line);
	return held;
}

dlock_zk_in_line *dlock_zk_line_up(dlock_zk_kind kind, char *const *children, int count, int *length)
{
	int64_t held;
	contender *line = line_of(kind, children, count, length);
	dlock_zk_in_line *out = line ? calloc((size_t) *length + 1, sizeof *out) : NULL;
	int holders = out ? holders_of(line, *length, &held) : 0;

	for (int i = 0; out && i < *length; i++) {
		out[i] = (dlock_zk_in_line) {
			.name = line[i].name, .permits = line[i].permits, .granted = i < holders
		};
	}
	free(line);
	return out;
}

#include "keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE "dlock:queue:"
#define WAITERS "dlock:waiters:"
#define HELD "dlock:held:"

dlock_arg dlock_slots_of(dlock_keys keys, dlock_slots_key *out)
{
	dlock_arg epoch = dlock_epoch_key(keys);
	int len = snprintf(out->text, sizeof out->text, "%.*s:slots", (int) epoch.len, epoch.text);

	return (dlock_arg) { out->text, (size_t) len };
}

dlock_arg dlock_lineage_of(int slot, dlock_lineage_key *out)
{
	char tag[DLOCK_SLOT_TAG_LEN + 1];

	if (slot < 0) {
		return DLOCK_ARG(strcpy(out->text, DLOCK_EPOCH_KEY ":stocks"));
	}
	dlock_slot_tag(slot, tag);
	int len = snprintf(out->text, sizeof out->text, DLOCK_EPOCH_KEY ":{%s}:stocks", tag);
	return (dlock_arg) { out->text, (size_t) len };
}

/* The fence's key, with DLOCK_SEEN_KEY in place of DLOCK_FENCE_KEY. */
dlock_arg dlock_seen_of(dlock_keys keys, dlock_seen_key *out)
{
	dlock_arg fence = dlock_fence_of(keys);
	int len = snprintf(out->text, sizeof out->text, DLOCK_SEEN_KEY "%.*s", (int) (fence.len - strlen(DLOCK_FENCE_KEY)),
		fence.text + strlen(DLOCK_FENCE_KEY));

	return (dlock_arg) { out->text, (size_t) len };
}

/* The builder remembers the tags of this many slots, each at its slot's number modulo TAGS. */
enum { TAGS = 64 };

struct dlock_key_builder {
	size_t prefix_len, room; /* `room`: the bytes for the lock's key; the other keys follow */
	bool slots;
	struct {
		int slot; /* -1: none */
		char tag[DLOCK_SLOT_TAG_LEN + 1];
	} known[TAGS]; /* finding a tag takes long */
	int slot;      /* the slot of the next three members */
	char fence[sizeof DLOCK_FENCE_KEY ":{}" + DLOCK_SLOT_TAG_LEN],
		epoch[sizeof DLOCK_EPOCH_KEY ":{}" + DLOCK_SLOT_TAG_LEN];
	char tag[DLOCK_SLOT_TAG_LEN + 1];
	char bytes[];
};

dlock_key_builder *dlock_key_builder_new(const char *prefix, size_t prefix_len, size_t longest)
{
	size_t room = prefix_len + longest;
	dlock_key_builder *builder = malloc(
		sizeof *builder + 4 * room + sizeof QUEUE + 2 * sizeof WAITERS + 3 * (sizeof "{}:" + DLOCK_SLOT_TAG_LEN));

	if (builder) {
		builder->prefix_len = prefix_len;
		builder->room = room;
		builder->slots = false;
		memcpy(builder->bytes, prefix, prefix_len);
	}
	return builder;
}

/* Redis Cluster hashes the part between the first { and the next }, if that part is not empty. */
static bool has_hash_tag(dlock_arg key)
{
	const char *open = memchr(key.text, '{', key.len);
	const char *close = open ? memchr(open, '}', key.len - (size_t) (open - key.text)) : NULL;

	return close && close > open + 1;
}

void dlock_key_builder_use_slots(dlock_key_builder *builder)
{
	builder->slots = true;
	builder->slot = -1;
	for (int i = 0; i < TAGS; i++) {
		builder->known[i].slot = -1;
	}
}

static dlock_arg companion_in_slot(char *out, const char *name, dlock_arg lock, const char *tag)
{
	size_t len = (size_t) sprintf(out, "%s{%s}:", name, tag);

	memcpy(out + len, lock.text, lock.len);
	return (dlock_arg) { out, len + lock.len };
}

int dlock_key_builder_slot_of(dlock_key_builder *builder, dlock_name resource)
{
	memcpy(builder->bytes + builder->prefix_len, resource.text, resource.len);
	return dlock_slot_of(builder->bytes, builder->prefix_len + resource.len);
}

dlock_keys dlock_key_builder_slot(dlock_key_builder *builder, int slot)
{
	if (!builder->slots) {
		return (dlock_keys) { 0 };
	}
	if (slot != builder->slot) {
		if (builder->known[slot % TAGS].slot != slot) {
			builder->known[slot % TAGS].slot = slot;
			dlock_slot_tag(slot, builder->known[slot % TAGS].tag);
		}
		memcpy(builder->tag, builder->known[slot % TAGS].tag, sizeof builder->tag);
		sprintf(builder->fence, DLOCK_FENCE_KEY ":{%s}", builder->tag);
		sprintf(builder->epoch, DLOCK_EPOCH_KEY ":{%s}", builder->tag);
		builder->slot = slot;
	}
	return (dlock_keys) { .fence = DLOCK_ARG(builder->fence), .epoch = DLOCK_ARG(builder->epoch), .slot = slot };
}

static dlock_keys keys_in_slot(dlock_key_builder *builder, dlock_arg lock)
{
	dlock_keys keys = dlock_key_builder_slot(builder, dlock_slot_of(lock.text, lock.len));

	keys.lock = lock;
	keys.queue = companion_in_slot(builder->bytes + builder->room, QUEUE, lock, builder->tag);
	keys.waiters = companion_in_slot((char *) keys.queue.text + keys.queue.len, WAITERS, lock, builder->tag);
	return keys;
}

/* No two locks share a queue. A key with a hash tag keeps it, and gets a colon instead of the braces, because "{x}" is
 * not "x". */
static dlock_arg companion(char *out, const char *name, dlock_arg lock, bool tagged)
{
	char *end = out;

	end = (char *) memcpy(end, name, strlen(name)) + strlen(name);
	*end++ = tagged ? ':' : '{';
	end = (char *) memcpy(end, lock.text, lock.len) + lock.len;
	if (!tagged) {
		*end++ = '}';
	}
	return (dlock_arg) { out, (size_t) (end - out) };
}

/* Do the prefix and the resource together begin with these bytes? */
static bool begins(dlock_arg prefix, dlock_arg resource, const char *with, size_t len)
{
	size_t first = prefix.len < len ? prefix.len : len;

	return prefix.len + resource.len >= len && !memcmp(prefix.text, with, first)
		&& !memcmp(resource.text, with + first, len - first);
}

const char *dlock_key_refuse(dlock_arg prefix, dlock_arg resource)
{
	static const struct {
		const char *text;
		bool whole;
	} reserved[] = { { QUEUE, false }, { WAITERS, false }, { HELD, false }, { DLOCK_FENCE_KEY, true },
		{ DLOCK_FENCE_KEY ":", false }, { DLOCK_EPOCH_KEY, true }, { DLOCK_EPOCH_KEY ":", false },
		{ DLOCK_SEEN_KEY, true }, { DLOCK_SEEN_KEY ":", false } };

	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
		size_t len = strlen(reserved[i].text);
		if (begins(prefix, resource, reserved[i].text, len)
			&& (!reserved[i].whole || prefix.len + resource.len == len)) {
			return "must not make the key \"dlock:fence\", \"dlock:era\" or \"dlock:seen\", or one that begins with "
				   "\"dlock:queue:\", \"dlock:waiters:\", \"dlock:held:\", \"dlock:fence:\", \"dlock:era:\" or "
				   "\"dlock:seen:\", which dlock keeps beside the locks";
		}
	}
	return NULL;
}

const char *dlock_key_builder_refuse(const dlock_key_builder *builder, const char *resource, size_t len)
{
	return dlock_key_refuse((dlock_arg) { builder->bytes, builder->prefix_len }, (dlock_arg) { resource, len });
}

dlock_keys dlock_key_builder_keys(dlock_key_builder *builder, const char *resource, size_t len)
{
	dlock_keys keys;
	bool tagged;

	memcpy(builder->bytes + builder->prefix_len, resource, len);
	keys = (dlock_keys) { .lock = { builder->bytes, builder->prefix_len + len } };
	if (builder->slots) {
		return keys_in_slot(builder, keys.lock);
	}
	tagged = has_hash_tag(keys.lock);
	keys.queue = companion(builder->bytes + builder->room, QUEUE, keys.lock, tagged);
	keys.waiters = companion((char *) keys.queue.text + keys.queue.len, WAITERS, keys.lock, tagged);
	return keys;
}

/* Copies the key of the waiters under a shorter name, into the room behind it. */
dlock_arg dlock_key_builder_held(dlock_key_builder *builder, dlock_keys keys)
{
	char *out = (char *) keys.waiters.text + keys.waiters.len;
	size_t rest = keys.waiters.len - strlen(WAITERS);

	(void) builder;
	memcpy(out, HELD, strlen(HELD));
	memcpy(out + strlen(HELD), keys.waiters.text + strlen(WAITERS), rest);
	return (dlock_arg) { out, strlen(HELD) + rest };
}

static dlock_arg copy_key(char **room, dlock_arg key)
{
	dlock_arg copy = { memcpy(*room, key.text, key.len), key.len };

	*room += key.len;
	return copy;
}

dlock_several_keys *dlock_key_builder_several(dlock_key_builder *builder, const dlock_name *names, int count)
{
	size_t keys = (size_t) (3 * count + 2), locks = (size_t) count;
	size_t size = sizeof DLOCK_FENCE_KEY ":{}" + sizeof DLOCK_EPOCH_KEY ":{}" + 2 * DLOCK_SLOT_TAG_LEN;

	for (int i = 0; i < count; i++) {
		size += 4 * (builder->prefix_len + names[i].len) + sizeof QUEUE + sizeof WAITERS + sizeof HELD
			+ 3 * (sizeof "{}:" + DLOCK_SLOT_TAG_LEN);
	}
	dlock_several_keys *several = malloc(sizeof *several + (keys + 2 * locks) * sizeof(dlock_arg) + size);
	if (!several) {
		return NULL;
	}
	char *room = (char *) (several->keys + keys + 2 * locks);
	several->locks = several->keys + keys;
	several->held = several->locks + locks;
	several->lock_count = count;
	several->count = 3 * count + 1;
	for (int i = 0; i < count; i++) {
		dlock_keys one = dlock_key_builder_keys(builder, names[i].text, names[i].len);
		several->keys[3 * i] = several->locks[i] = copy_key(&room, one.lock);
		several->keys[3 * i + 1] = copy_key(&room, one.queue);
		several->keys[3 * i + 2] = copy_key(&room, one.waiters);
		several->held[i] = copy_key(&room, dlock_key_builder_held(builder, one));
		if (i == count - 1) {
			several->keys[3 * count] = copy_key(&room, dlock_fence_of(one));
			several->keys[3 * count + 1] = copy_key(&room, dlock_epoch_key(one));
		}
	}
	return several;
}

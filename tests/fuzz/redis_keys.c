/* src/redis/request/keys.c. Lines: a prefix, a resource; the rest is another resource, without a prefix. */

#include "../../src/redis/request/keys.h"
#include "fuzz.h"

static bool is_same(dlock_arg a, dlock_arg b)
{
	return a.len == b.len && !memcmp(a.text, b.text, a.len);
}

static bool begins(dlock_arg key, const char *with)
{
	return key.len >= strlen(with) && !memcmp(key.text, with, strlen(with));
}

/* The part of a key that tells its slot, as Redis Cluster finds it. */
static dlock_arg tag_of(dlock_arg key)
{
	for (size_t i = 0; i < key.len; i++) {
		if (key.text[i] == '{') {
			for (size_t k = i + 1; k < key.len; k++) {
				if (key.text[k] == '}') {
					return k > i + 1 ? (dlock_arg) { key.text + i + 1, k - i - 1 } : key;
				}
			}
			return key;
		}
	}
	return key;
}

static void check_keys(const dlock_keys *keys)
{
	MUST(begins(keys->queue, "dlock:queue:") && begins(keys->waiters, "dlock:waiters:"));
	/* No resource is empty; and a brace that closes before any has opened cannot be put between braces. */
	if (keys->lock.len == 0) {
		return;
	}
	if (!memchr(keys->lock.text, '}', keys->lock.len) || tag_of(keys->lock).len != keys->lock.len) {
		MUST(is_same(tag_of(keys->lock), tag_of(keys->queue)) && is_same(tag_of(keys->lock), tag_of(keys->waiters)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t prefix_len, len;
	char *prefix = take_line(&data, &size, &prefix_len), *resource = take_line(&data, &size, &len);

	size_t other_len = size;
	char *other = malloc(other_len + 1); /* with no room behind it */
	MUST(other);
	if (other_len) {
		memcpy(other, data, other_len);
	}
	dlock_key_builder *ring = dlock_key_builder_new(prefix, prefix_len, len),
					  *bare = dlock_key_builder_new("", 0, other_len);
	MUST(ring && bare);
	dlock_keys a = dlock_key_builder_keys(ring, resource, len), b = dlock_key_builder_keys(bare, other, other_len);

	MUST(a.lock.len == prefix_len + len && !memcmp(a.lock.text, prefix, prefix_len)
		&& !memcmp(a.lock.text + prefix_len, resource, len));
	check_keys(&a);
	check_keys(&b);
	/* Two locks share nothing, and one that may be taken is nobody's queue. */
	MUST(is_same(a.lock, b.lock) == is_same(a.queue, b.queue)
		&& is_same(a.lock, b.lock) == is_same(a.waiters, b.waiters));
	MUST(!is_same(a.queue, b.waiters) && !is_same(a.waiters, b.queue));
	bool reserved = dlock_key_refuse((dlock_arg) { prefix, prefix_len }, (dlock_arg) { resource, len });
	bool ours = begins(a.lock, "dlock:queue:") || begins(a.lock, "dlock:waiters:") || begins(a.lock, "dlock:held:");
	static const char *const keys[] = { DLOCK_FENCE_KEY, DLOCK_EPOCH_KEY, DLOCK_SEEN_KEY };
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) { /* in a cluster with a colon and a hash tag behind it */
		size_t key_len = strlen(keys[i]);
		ours |= begins(a.lock, keys[i]) && (a.lock.len == key_len || a.lock.text[key_len] == ':');
	}
	MUST(reserved == ours);
	MUST(reserved || (!is_same(a.lock, b.queue) && !is_same(a.lock, b.waiters)));

	free(ring);
	free(bare);
	free(other);
	free(resource);
	free(prefix);
	return 0;
}

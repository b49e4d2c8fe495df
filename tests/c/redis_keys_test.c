/* The names of a lock's keys. Prints TAP.
 * redis_keys_test [word in the names of the tests to run] */

#include <stdlib.h>
#include <string.h>

#include "../../src/redis/request/keys.h"
#include "tap.h"

static void test_same(void)
{
	static const struct {
		const char *prefix, *resource, *other_prefix, *other;
		bool same;
	} cases[] = {
		{ "Lock:", "a", "Lock:", "a", true },
		{ "Lock:", "a", "Lock:", "b", false },
		{ "Lock:", "a", "Lock:", "aa", false },
		{ "Lock:", "a:b", "Lock:a:", "b", true },
		{ "Lock:", "ab", "Lock:a", "c", false },
		{ "", "Lock:a", "Lock:", "a", true },
		{ "", "Lock:a", "lock:", "a", false },
		{ "Lock:", "a", "Lock:a", "a", false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *resource = cases[i].resource, *other = cases[i].other;
		dlock_key_builder *a = dlock_key_builder_new(cases[i].prefix, strlen(cases[i].prefix), 8);
		dlock_key_builder *b = dlock_key_builder_new(cases[i].other_prefix, strlen(cases[i].other_prefix), 8);
		bool there = dlock_key_builder_is_same(a, resource, strlen(resource), b, other, strlen(other));
		bool back = dlock_key_builder_is_same(b, other, strlen(other), a, resource, strlen(resource));
		check(there == cases[i].same && back == there, "%s and %s, %s and %s: %s", cases[i].prefix, resource,
			cases[i].other_prefix, other, cases[i].same ? "one key" : "two keys");
		free(a);
		free(b);
	}
}

static void nothing(void)
{
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = { TEST(same) };
	static const tap_setting none = { nothing, nothing };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &none);
}

/* The hash slots of Redis Cluster, and the map of their servers. Prints TAP. */

#include <stdlib.h>

#include "../../src/redis/script/slot.h"
#include "../../src/redis/route/slot_map.h"
#include "tap.h"

static int slot_of(const char *key)
{
	return dlock_slot_of(key, strlen(key));
}

static void test_slots(void)
{
	/* CLUSTER KEYSLOT says the same. */
	check(slot_of("123456789") == 12739 && slot_of("foo") == 12182 && slot_of("") == 0, "known slots");
	check(slot_of("{foo}bar") == slot_of("foo") && slot_of("a{foo}{bar}") == slot_of("foo"), "a hash tag");
	check(slot_of("{}foo") != slot_of("foo") && slot_of("{}foo") == 9500, "an empty hash tag does not count (%d)",
		slot_of("{}foo"));
	check(slot_of("a}b{c") != slot_of("b") && slot_of("{{foo}}") == slot_of("x{{foo}y"), "braces in other places");
	check(slot_of("\xc3\xbc{\xc3\xbc}") == slot_of("\xc3\xbc"), "bytes above 127");
}

static void test_tags(void)
{
	int wrong = 0;
	char tag[DLOCK_SLOT_TAG_LEN + 1], key[32];

	for (int slot = 0; slot < DLOCK_SLOTS; slot++) {
		dlock_slot_tag(slot, tag);
		snprintf(key, sizeof key, "dlock:fence:{%s}", tag);
		wrong += strlen(tag) != DLOCK_SLOT_TAG_LEN || slot_of(key) != slot;
	}
	check(wrong == 0, "each slot has a tag (%d have none)", wrong);
	dlock_slot_tag(0, tag);
	check(!strcmp(tag, "fHh"), "every process and release has the same tag (%s)", tag);
}

static dlock_endpoint *server_at(int port)
{
	dlock_endpoint *server = dlock_endpoint_new(DLOCK_SECOND, DLOCK_SECOND);
	dlock_error error;

	dlock_endpoint_set(&server->host, "127.0.0.1", 9);
	server->port = port;
	return dlock_endpoint_seal(server, &error) ? server : NULL;
}

static void test_map(void)
{
	dlock_endpoint *servers[20], *again = server_at(1000);
	dlock_slot_map map, other;

	check(dlock_slot_map_begin(&map, DLOCK_SLOTS) && dlock_slot_map_begin(&other, DLOCK_SLOTS), "two maps");
	check(dlock_slot_map_is_same(&map, &other) && !dlock_slot_map_get(&map, 0), "both are empty");
	for (int i = 0; i < 20; i++) {
		servers[i] = server_at(1000 + i);
		dlock_slot_map_set(&map, 100 * i, 100 * i + 99, servers[i]);
		dlock_slot_map_set(&other, 100 * i, 100 * i + 99, servers[i]);
	}
	check(dlock_slot_map_get(&map, 0) == servers[0] && dlock_slot_map_get(&map, 1999) == servers[19]
			&& !dlock_slot_map_get(&map, 2000),
		"each slot has its server");
	check(dlock_slot_map_set(&other, 0, 0, again) && dlock_slot_map_get(&other, 0) == servers[0]
			&& dlock_slot_map_is_same(&map, &other),
		"the same server is not added twice");
	check(dlock_slot_map_find(&map, "127.0.0.1", 1007) == servers[7] && !dlock_slot_map_find(&map, "127.0.0.1", 1020),
		"a server is found by its address");
	dlock_slot_map_set(&other, 0, 99, servers[5]);
	dlock_slot_map_set(&other, 700, 799, NULL);
	check(!dlock_slot_map_is_same(&map, &other), "a changed map is not the same");
	dlock_slot_map_sweep(&other);
	check(other.count == 18 && !dlock_slot_map_find(&other, "127.0.0.1", 1000)
			&& !dlock_slot_map_find(&other, "127.0.0.1", 1007),
		"servers without slots are dropped (%d are left)", other.count);
	dlock_slot_map_set(&other, 5000, 5000, again);
	dlock_slot_map_set(&other, 5001, 5001, servers[7]);
	check(dlock_slot_map_get(&other, 0) == servers[5] && dlock_slot_map_get(&other, 1900) == servers[19]
			&& dlock_slot_map_get(&other, 1850) == servers[18] && !dlock_slot_map_get(&other, 750),
		"the other servers keep their slots");
	dlock_slot_map_end(&map);
	dlock_slot_map_end(&other);
	check(servers[0]->references == 1 && servers[19]->references == 1, "no reference is left");
	for (int i = 0; i < 20; i++) {
		dlock_endpoint_release(servers[i]);
	}
	dlock_endpoint_release(again);
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = { TEST(slots), TEST(tags), TEST(map) };
	static const tap_setting setting = { NULL };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

/* Plays a conversation on simulated servers: simulated FILE SETUP. */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "player.h"

run_options options = { .seed = 1, .guard_ms = 5000 };

const bool is_real = false;
static const char *path;
static bool is_over;

bool act(const char *what, const char *name)
{
	int number = atoi(name + 1);

	if (*name != 's' || number >= options.servers) {
		return false;
	}
	server *s = redis[number];
	if (!strcmp(what, "kill")) {
		redis_crash(s, false);
	} else if (!strcmp(what, "start")) {
		redis_restart(s, WITHOUT_DATA);
	} else if (!strcmp(what, "stop")) {
		redis_pause(s, NEVER);
	} else if (!strcmp(what, "go")) {
		redis_pause(s, now);
	} else {
		return false;
	}
	return true;
}

static void *player_main(void *addresses)
{
	play(path, addresses, stdout);
	is_over = true;
	return NULL;
}

int main(int argc, char **argv)
{
	char addresses[600];
	size_t used = 0;

	if (argc != 3 || (options.setup = setup_named(argv[2])) < 0) {
		return 2;
	}
	path = argv[1];
	options.servers = options.setup == SINGLE || options.setup == MEMCACHED ? 1 : options.setup == REPLICATED ? 3 : 6;
	options.work = &locks;
	for (int i = 0; i < HOSTS; i++) {
		hosts[i].rate = 1;
	}
	net_init(options.seed);
	servers_begin();
	if (options.setup == MEMCACHED) {
		strcpy(addresses, "m0=10.0.0.1:11211");
	}
	for (int i = 0; options.setup != MEMCACHED && i < options.servers; i++) {
		used += (size_t) snprintf(addresses + used, sizeof addresses - used, "s%d=10.0.0.%d:6379 ", i, i + 1);
	}
	for (int i = 0; options.setup == REPLICATED && i < 3; i++) {
		used += (size_t) snprintf(addresses + used, sizeof addresses - used, "sentinel%d=10.0.0.%d:26379 ", i, i + 11);
	}
	process_start(process_new(0, CLIENT_HOST, options.seed), player_main, addresses);
	while (!is_over && step()) {
	}
	return 0;
}

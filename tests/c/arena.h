#ifndef ARENA_H
#define ARENA_H

#include <stdint.h>

#include "redis_client.h"

/* Where processes fight for one lock: shows when two were inside at once, when a fencing token did not rise, and when a
 * holder did not know that it held. */
typedef struct {
	int inside;
	long counter; /* not atomic: two at once lose updates */
	int64_t token;
} arena;

/* One process' share; false as soon as anything of that happened. */
bool arena_fight(client *client, arena *arena, int sections);

/* Its processes, each with a client that `make` gives it. Returns how many went wrong. */
int arena_run(arena *arena, int processes, int sections, client (*make)(void));

#endif

#ifndef SIM_MEMCACHED_H
#define SIM_MEMCACHED_H

#include "sim.h"

typedef struct memcached memcached;

memcached *memcached_new(int host, int port, uint64_t seed);
void memcached_pause(memcached *m, nanos until);
bool memcached_holder(memcached *m, const char *key, char *token, size_t size, nanos *left); /* as redis_holder() */
void memcached_delete_key(memcached *m, const char *key);
int memcached_leftovers(memcached *m, char *out, size_t size);

#endif

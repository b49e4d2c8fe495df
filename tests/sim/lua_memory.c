/* Memory for Lua: lists of free blocks by size, in a part of the memory that Lua's pointers reach. Lua's objects are
 * small and short-lived, and Lua frees them with their size. Lua's own allocator serves everything else. */
#include "lua_memory.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { STEP = 16, SMALL = 512, CLASSES = SMALL / STEP + 1 };
#define REGION ((size_t) 32 << 20)
#ifndef MAP_32BIT
#define MAP_32BIT 0
#endif

typedef struct block {
	struct block *next;
} block;

static block *free_blocks[CLASSES];
static char *region, *unused;
static lua_Alloc others;

static bool is_ours(const void *memory)
{
	return (uintptr_t) memory - (uintptr_t) region < REGION;
}

static void *take(size_t size)
{
	size_t class = (size + STEP - 1) / STEP;
	block *found = free_blocks[class];

	if (found) {
		free_blocks[class] = found->next;
	} else if (class * STEP <= (size_t) (region + REGION - unused)) {
		found = (block *) unused;
		unused += class * STEP;
	}
	return found;
}

static void give_back(void *memory, size_t size)
{
	block *over = memory;
	size_t class = (size + STEP - 1) / STEP;

	over->next = free_blocks[class];
	free_blocks[class] = over;
}

static void *allocate(void *context, void *memory, size_t before, size_t size)
{
	void *new = size > 0 && size <= SMALL && (!memory || is_ours(memory)) ? take(size) : NULL;

	if (!memory) {
		return new ? new : others(context, NULL, before, size);
	}
	if (!is_ours(memory)) {
		return others(context, memory, before, size);
	}
	if (size > 0) {
		new = new ? new : others(context, NULL, 0, size);
		if (!new) {
			return NULL;
		}
		memcpy(new, memory, before < size ? before : size);
	}
	give_back(memory, before);
	return new;
}

void lua_use_own_memory(lua_State *lua)
{
	void *context;

	others = lua_getallocf(lua, &context);
	region = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
	if (region != MAP_FAILED) {
		unused = region;
		lua_setallocf(lua, allocate, context);
	}
}

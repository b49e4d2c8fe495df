/* malloc() for the simulator: lists of free blocks by size. There is one thread, runs are short, and no memory is
 * returned to the system. Sanitizers have an allocator of their own. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

enum { STEP = 16, SMALL = 1024, SMALL_CLASSES = SMALL / STEP + 1, CLASSES = SMALL_CLASSES + 50, NEVER_FREED = CLASSES };
#define SLAB ((size_t) 1 << 20)

/* Before each block. The caller's memory is aligned to 16 bytes. */
typedef struct {
	uint64_t unused, class;
} head;

typedef struct block {
	struct block *next;
} block;

static block *free_blocks[CLASSES];
static char *slab, *slab_end;

/* Up to 1 KiB in steps of 16 bytes, then powers of two. */
static inline unsigned class_of(size_t size)
{
	return size <= SMALL ? (unsigned) ((size + STEP - 1) / STEP)
						 : SMALL_CLASSES + (unsigned) (64 - __builtin_clzl(size - 1)) - 11;
}

static inline size_t size_of(unsigned class)
{
	return class < SMALL_CLASSES ? (size_t) (class ? class : 1) * STEP : (size_t) 2 * SMALL << (class - SMALL_CLASSES);
}

static void *new_block(unsigned class)
{
	size_t size = sizeof(head) + size_of(class);

	if (size > (size_t) (slab_end - slab)) {
		size_t room = size > SLAB / 4 ? size : SLAB;
		int how = MAP_PRIVATE | MAP_ANONYMOUS | (room == SLAB ? MAP_POPULATE : 0); /* all of it will be used */
		char *new = mmap(NULL, room, PROT_READ | PROT_WRITE, how, -1, 0);
		if (new == MAP_FAILED) {
			errno = ENOMEM;
			return NULL;
		}
		if (room == size) { /* a large block has a mapping of its own */
			((head *) new)->class = class;
			return new + sizeof(head);
		}
		slab = new;
		slab_end = new + room;
	}
	head *h = (head *) slab;
	slab += size;
	h->class = class;
	return h + 1;
}

/* Not malloc() itself: the compiler would turn malloc() and memset() in calloc() into a call of calloc(). */
static void *take(size_t size)
{
	if (size > (size_t) 1 << 40) {
		errno = ENOMEM;
		return NULL;
	}
	unsigned class = class_of(size);
	block *b = free_blocks[class];

	if (!b) {
		return new_block(class);
	}
	free_blocks[class] = b->next;
	return b;
}

void *malloc(size_t size)
{
	return take(size);
}

void free(void *memory)
{
	if (memory) {
		uint64_t class = ((head *) memory - 1)->class;
		if (class < CLASSES) {
			((block *) memory)->next = free_blocks[class];
			free_blocks[class] = memory;
		}
	}
}

void *calloc(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	void *memory = take(bytes);
	return memory ? memset(memory, 0, bytes) : NULL;
}

void *realloc(void *memory, size_t size)
{
	size_t room = memory && ((head *) memory - 1)->class < CLASSES ? size_of((unsigned) ((head *) memory - 1)->class)
																   : 0;

	if (memory && size <= room) {
		return memory;
	}
	void *new = take(size);
	if (new && memory) {
		memcpy(new, memory, room);
		free(memory);
	}
	return new;
}

/* For libc and its loader; never freed. */
void *aligned_alloc(size_t alignment, size_t size)
{
	char *memory = take(size + alignment + sizeof(head));

	if (!memory) {
		return NULL;
	}
	char *aligned = (char *) (((uintptr_t) memory + sizeof(head) + alignment - 1) / alignment * alignment);
	((head *) aligned - 1)->class = NEVER_FREED;
	return aligned;
}

void *memalign(size_t alignment, size_t size)
{
	return aligned_alloc(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	*out = aligned_alloc(alignment, size);
	return *out ? 0 : ENOMEM;
}

#endif

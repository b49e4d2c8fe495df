#include "renewer.h"

#include <stdlib.h>

#include "../wire/pool.h"

typedef struct {
	dlock_renewer base;
	dlock_pool pool;
} redis_renewer;

dlock_pool *dlock_redis_renewer_pool(dlock_renewer *renewer)
{
	return &((redis_renewer *) renewer)->pool;
}

static const dlock_pool *pool_of(const dlock_renewer *renewer)
{
	return &((const redis_renewer *) renewer)->pool;
}

static dlock_renewer *create(void)
{
	redis_renewer *renewer = calloc(1, sizeof *renewer);

	if (!renewer) {
		return NULL;
	}
	renewer->base.ops = &dlock_redis_renewer_ops;
	return &renewer->base;
}

static void destroy(dlock_renewer *renewer)
{
	dlock_pool_clear(dlock_redis_renewer_pool(renewer));
	free(renewer);
}

static void join(dlock_renewer *renewer, dlock_loop *loop)
{
	dlock_pool_join(dlock_redis_renewer_pool(renewer), loop);
}

static dlock_status finish(dlock_renewer *renewer)
{
	dlock_pool *pool = dlock_redis_renewer_pool(renewer);

	dlock_pool_end_questions(pool);
	return dlock_pool_is_busy(pool) ? DLOCK_PENDING : DLOCK_OK;
}

static dlock_renewer_counts count(const dlock_renewer *renewer)
{
	return (dlock_renewer_counts) { dlock_pool_opened(pool_of(renewer)), dlock_pool_reopened(pool_of(renewer)) };
}

const dlock_renewer_ops dlock_redis_renewer_ops = {
	.create = create,
	.join = join,
	.destroy = destroy,
	.finish = finish,
	.count = count,
};

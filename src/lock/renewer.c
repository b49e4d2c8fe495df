#include "renewer.h"

#include <stdlib.h>

typedef struct {
	dlock_renewer base;
	dlock_net_pool pool;
} pool_renewer;

dlock_net_pool *dlock_pool_renewer_pool(dlock_renewer *renewer)
{
	return &((pool_renewer *) renewer)->pool;
}

static dlock_renewer *create(void)
{
	pool_renewer *renewer = calloc(1, sizeof *renewer);

	if (!renewer) {
		return NULL;
	}
	renewer->base.ops = &dlock_pool_renewer_ops;
	return &renewer->base;
}

static void join(dlock_renewer *renewer, dlock_loop *loop)
{
	dlock_net_pool_join(dlock_pool_renewer_pool(renewer), loop);
}

static void destroy(dlock_renewer *renewer)
{
	dlock_net_pool_clear(dlock_pool_renewer_pool(renewer));
	free(renewer);
}

static dlock_renewer_counts count(const dlock_renewer *renewer)
{
	dlock_renewer_counts counts;

	dlock_net_pool_count(&((const pool_renewer *) renewer)->pool, &counts.connections, &counts.reconnections);
	return counts;
}

const dlock_renewer_ops dlock_pool_renewer_ops = {
	.create = create,
	.join = join,
	.destroy = destroy,
	.count = count,
};

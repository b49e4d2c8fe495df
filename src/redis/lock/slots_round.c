#include "service.h"

#include <stdlib.h>

#include "../../lock/renewer.h"
#include "renewer.h"

/* A round of the renewal thread that keeps locks in several slots: it begins the rounds of all parts (keep.c) together.
 * The lease is kept if all parts are. If one part is gone, the lease is gone. */

typedef struct {
	dlock_renewal_round base;
	int count;
	dlock_renewal_round *parts[];
} slots_round;

static slots_round *round_of(const dlock_renewal_round *base)
{
	return (slots_round *) base;
}

static void round_free(dlock_renewal_round *base)
{
	slots_round *round = round_of(base);

	for (int i = 0; i < round->count; i++) {
		round->parts[i]->ops->free(round->parts[i]);
	}
	free(round);
}

static void begin(dlock_renewal_round *base, dlock_renewer *renewer, dlock_nanos ttl, bool extends)
{
	slots_round *round = round_of(base);

	for (int i = 0; i < round->count; i++) {
		dlock_renewal_round *part = round->parts[i];
		part->since = base->since;
		part->permits = base->permits;
		part->fencing_token = base->fencing_token;
		part->started = base->started;
		part->within = base->within;
		part->ops->begin(part, renewer, ttl, extends);
	}
}

static dlock_round_result result(const dlock_renewal_round *base)
{
	const slots_round *round = round_of(base);
	dlock_round_result sum = DLOCK_ROUND_KEPT;

	for (int i = 0; i < round->count; i++) {
		dlock_round_result part = round->parts[i]->ops->result(round->parts[i]);
		if (part == DLOCK_ROUND_GONE) {
			return part;
		}
		sum = part == DLOCK_ROUND_OPEN || sum == DLOCK_ROUND_KEPT ? part : sum;
	}
	return sum;
}

static void cancel(dlock_renewal_round *base)
{
	slots_round *round = round_of(base);

	for (int i = 0; i < round->count; i++) {
		round->parts[i]->ops->cancel(round->parts[i]);
	}
}

static bool collect(dlock_renewal_round *base, bool released)
{
	slots_round *round = round_of(base);
	int under_way = 0;

	for (int i = 0; i < round->count; i++) {
		under_way += round->parts[i]->ops->collect(round->parts[i], released);
	}
	return under_way > 0;
}

static bool has_calls(const dlock_renewal_round *base)
{
	const slots_round *round = round_of(base);
	int calls = 0;

	for (int i = 0; i < round->count; i++) {
		calls += round->parts[i]->ops->has_calls(round->parts[i]);
	}
	return calls > 0;
}

/* The parts have one service, so their longest wait is the same. */
static dlock_nanos longest_wait(const dlock_renewal_round *base, dlock_nanos ttl)
{
	const dlock_renewal_round *part = round_of(base)->parts[0];

	return part->ops->longest_wait(part, ttl);
}

static bool may_yet_repair(const dlock_renewal_round *base)
{
	const slots_round *round = round_of(base);
	int repairs = 0;

	for (int i = 0; i < round->count; i++) {
		repairs += round->parts[i]->ops->may_yet_repair(round->parts[i]);
	}
	return repairs > 0;
}

static void roll_back(dlock_renewal_round *base, dlock_nanos ttl, bool over)
{
	slots_round *round = round_of(base);

	for (int i = 0; i < round->count; i++) {
		round->parts[i]->ops->roll_back(round->parts[i], ttl, over);
	}
}

/* Some servers may not have answered yet. The release follows what they were asked, over the same connections. */
static void give_back(dlock_renewal_round *base)
{
	slots_round *round = round_of(base);

	cancel(base);
	for (int i = 0; i < round->count; i++) {
		round->parts[i]->ops->give_back(round->parts[i]);
	}
}

static const dlock_renewal_round_ops ops = {
	.renewer = &dlock_redis_renewer_ops,
	.give_back = give_back,
	.begin = begin,
	.result = result,
	.collect = collect,
	.cancel = cancel,
	.has_calls = has_calls,
	.longest_wait = longest_wait,
	.may_yet_repair = may_yet_repair,
	.roll_back = roll_back,
	.free = round_free,
};

dlock_renewal_round *dlock_slots_new_round(const dlock_slots *slots)
{
	int count = dlock_slots_count(slots);
	slots_round *round = calloc(1, sizeof *round + (size_t) count * sizeof *round->parts);

	if (!round) {
		return NULL;
	}
	round->base.ops = &ops;
	for (; round->count < count; round->count++) {
		const dlock_claim *part = dlock_slots_part(slots, round->count);
		dlock_renewal_round *made = part->backend->ops->new_round(part);
		if (!made) {
			round_free(&round->base);
			return NULL;
		}
		round->base.late_proves_nothing = made->late_proves_nothing;
		round->parts[round->count] = made;
	}
	return &round->base;
}

/* Epochs that settle at once: check_epoch() of epoch.lua, settle_now.lua, and what survey.c makes of what the
 * nodes say. */
#include "world.h"

/* Is the epoch settled? Opens it, settles it when its time has come, and keeps `seen` near. With `doubts` it is opened
 * again if replicas have attached since its base. */
bool look(server *node, const message *request, bool doubts)
{
	data *data = &node->now;
	bool current = data->replid == node->replid;

	if (current && data->settled) {
		bool far = data->seen != UNKNOWN && node->offset - data->seen > BACKLOG / 4;
		if (far && data->attached == node->attached) {
			data->seen = node->offset++;
		}
		if (!doubts || data->attached == node->attached) {
			return true;
		}
	}
	bool continues = current || (data->run_id != NOBODY && data->replid == node->replid2);
	int seen = continues || IS(ANY_HISTORY) ? data->seen : UNKNOWN;
	if (!current || data->settled || (data->settles != NEVER && data->syncs != node->syncs)) {
		int skew = seen != UNKNOWN ? data->skew : UNKNOWN;
		open_era(node, request);
		data->settled = false;
		data->attached = node->attached;
		data->base = UNKNOWN;
		data->seen = seen;
		data->skew = skew;
	} else if (data->settles != NEVER && data->settles <= clock_of(node)) {
		data->settled = true;
		data->seen = data->base;
		node->offset++;
		return true;
	}
	return false;
}

void ask_master(survey *found, const server *node)
{
	*found = (survey) { .replid = node->is_master ? node->replid : NOBODY, .attached = node->attached };
	for (int i = 0; i < count; i++) {
		if (&nodes[i] == node || nodes[i].linked == node->replid) {
			found->named |= 1 << i;
		}
	}
}

static bool is_old(const server *node)
{
	return now - node->up_since > guard() || IS(YOUNG_COUNT);
}

void ask_replicas(survey *found, const server *node, int group)
{
	int firsts[NODES] = { 0 }, old = 0, least = node->clock, most = node->clock;
	int enough = count - confirmations - (IS(FEWER_NODES) ? 1 : 0);
	bool all = true;

	if (found->replid != node->replid || !node->is_master) {
		found->replid = NOBODY;
		return;
	}
	for (int i = 0; i < count; i++) {
		const server *one = &nodes[i];
		if (!(found->named >> i & 1)) {
			continue;
		}
		if (!runs(one) || group_of[i] != group) {
			all = false;
			continue;
		}
		least = one->clock < least ? one->clock : least;
		most = one->clock > most ? one->clock : most;
		if ((one->history != found->replid && !IS(ANY_HISTORY)) || !is_old(one)) {
			continue;
		}
		int at = old++;
		for (; at > 0 && firsts[at - 1] > one->first; at--) {
			firsts[at] = firsts[at - 1];
		}
		firsts[at] = one->first;
	}
	found->first = old >= enough ? IS(BACKLOG_IGNORED) ? 0 : firsts[enough - 1] : UNKNOWN;
	found->skew = all ? most - least : UNKNOWN;
}

void settle_now(server *node, const survey *found)
{
	data *data = &node->now;

	if (!node->is_master || data->replid != found->replid || node->replid != found->replid
		|| (node->attached != found->attached && !IS(ATTACHED_IGNORED))) {
		return;
	}
	int carried = data->settled && clock_of(node) - data->settles > guard() ? 0 : data->skew;
	int together = carried != UNKNOWN && found->skew != UNKNOWN ? carried + found->skew : UNKNOWN;
	bool clocks = IS(ANY_CLOCKS) || (data->skew != UNKNOWN && data->skew <= MARGIN);
	if (data->seen != UNKNOWN && found->first != UNKNOWN && found->first <= data->seen + 1
		&& (data->settled || clocks)) {
		data->attached = node->attached;
		data->syncs = node->syncs;
		data->base = data->seen = node->offset++;
		data->skew = together;
		if (!data->settled) {
			data->settled = true;
			data->settles = clock_of(node);
			data->fence += UNHEARD;
			anchor(node, data->settles);
			total.at_once++;
			TELL("server %d settles at once", index_of(node));
		}
	} else if (!data->settled && data->seen == UNKNOWN && data->skew != found->skew) {
		data->skew = found->skew;
		node->offset++;
	}
}

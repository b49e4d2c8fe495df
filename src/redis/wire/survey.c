#include "survey.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"

static const char *text_of(const dlock_call *call)
{
	return call && call->state == DLOCK_CALL_ANSWERED && call->reply->type == REDIS_REPLY_STRING ? call->reply->str
																								  : NULL;
}

/* In ms; -1: not known. */
static int64_t time_of(const dlock_call *call)
{
	const redisReply *reply = call && call->state == DLOCK_CALL_ANSWERED ? call->reply : NULL;

	if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements != 2
		|| reply->element[0]->type != REDIS_REPLY_STRING || reply->element[1]->type != REDIS_REPLY_STRING) {
		return -1;
	}
	int64_t seconds = strtoll(reply->element[0]->str, NULL, 10), us = strtoll(reply->element[1]->str, NULL, 10);
	return seconds < 0 || seconds > INT64_MAX / 10000 || us < 0 || us > 999999 ? -1 : seconds * 1000 + us / 1000;
}

bool dlock_node_read(dlock_node *node, const dlock_call *replication, const dlock_call *server, const dlock_call *time,
	dlock_nanos sent, dlock_nanos read)
{
	const char *where = text_of(replication), *what = text_of(server);
	int64_t clock = time_of(time);

	if (!where || !what || clock < 0) {
		return false;
	}
	*node = (dlock_node) { .first = -1, .uptime = dlock_info_number(what, "uptime_in_seconds") };
	dlock_info_text(what, "run_id", node->run_id, sizeof node->run_id);
	dlock_info_text(where, "master_replid", node->replid, sizeof node->replid);
	if (dlock_info_number(where, "repl_backlog_active") == 1) {
		node->first = dlock_info_number(where, "repl_backlog_first_byte_offset");
	}
	node->clock_least = clock - read / DLOCK_MS - 1;
	node->clock_most = clock - sent / DLOCK_MS + 1;
	return *node->run_id && *node->replid;
}

bool dlock_survey_begin(dlock_survey *survey, const dlock_call *stats)
{
	const char *text = text_of(stats);
	int64_t full = text ? dlock_info_number(text, "sync_full") : -1;
	int64_t partial = text ? dlock_info_number(text, "sync_partial_ok") : -1;

	*survey = (dlock_survey) { .at = survey->at, .first = -1, .skew = -1, .ready = -1 };
	snprintf(survey->attached, sizeof survey->attached, "%" PRId64 " %" PRId64, full, partial);
	return full >= 0 && partial >= 0;
}

/* Two addresses may lead to one node, and an address may lead to another master's node. */
static bool counts(const dlock_node *nodes, int at)
{
	for (int i = 0; i < at; i++) {
		if (!strcmp(nodes[i].run_id, nodes[at].run_id)) {
			return false;
		}
	}
	return !strcmp(nodes[at].replid, nodes[0].replid) && nodes[at].first >= 0 && nodes[at].uptime >= 0;
}

/* The uptime is the difference of two times in whole seconds, so one second is added. */
static int64_t too_young_for(const dlock_node *node, dlock_nanos guard)
{
	int64_t left = (guard + DLOCK_SECOND - 1) / DLOCK_SECOND + 1 - node->uptime;

	return left > 0 ? left * 1000 : 0;
}

static void insert(int64_t *sorted, int count, int64_t value)
{
	for (; count > 0 && sorted[count - 1] > value; count--) {
		sorted[count] = sorted[count - 1];
	}
	sorted[count] = value;
}

static int64_t skew_of(const dlock_node *nodes, int count)
{
	int64_t least = nodes[0].clock_least, most = nodes[0].clock_most;

	for (int i = 1; i < count; i++) {
		least = nodes[i].clock_least < least ? nodes[i].clock_least : least;
		most = nodes[i].clock_most > most ? nodes[i].clock_most : most;
	}
	return most - least;
}

void dlock_survey_end(
	dlock_survey *survey, const dlock_node *nodes, int count, bool all, int enough, dlock_nanos guard)
{
	int64_t firsts[DLOCK_NODES_MAX], waits[DLOCK_NODES_MAX];
	int old = 0, usable = 0;

	memcpy(survey->replid, nodes[0].replid, sizeof survey->replid);
	for (int i = 0; i < count; i++) {
		if (counts(nodes, i)) {
			int64_t wait = too_young_for(&nodes[i], guard);
			insert(waits, usable++, wait);
			if (wait == 0) {
				insert(firsts, old++, nodes[i].first);
			}
		}
	}
	survey->skew = all ? skew_of(nodes, count) : -1;
	survey->first = old >= enough ? firsts[enough - 1] : -1;
	survey->ready = old < enough && usable >= enough ? waits[enough - 1] : -1;
}

void dlock_survey_name(const dlock_node *nodes, int count, char *out, size_t size)
{
	size_t used = 0;

	*out = '\0';
	for (int i = 0; i < count; i++) {
		if (counts(nodes, i) && used < size) {
			used += (size_t) snprintf(out + used, size - used, "%.16s:%" PRId64 ",", nodes[i].run_id, nodes[i].first);
		}
	}
}

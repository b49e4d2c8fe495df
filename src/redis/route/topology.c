#include "topology.h"

#include <stdlib.h>
#include <string.h>

#include "../script/slot.h"
#include "cluster.h"
#include "sentinel.h"

/* If a source has not answered for this long, the next one is asked as well. */
#define HEDGE (200 * DLOCK_MS)

/* The pause between two questions, unless the first has changed something. A failover takes seconds. */
#define PAUSE (50 * DLOCK_MS)

/* A source that has failed is asked last for this long. */
#define AVOID (5 * DLOCK_SECOND)

/* The timeout keeps connections for questions apart from those for locks, on which a WAIT may be under way. */
#define QUESTION_TIMEOUT (10 * DLOCK_SECOND)

/* If its thread has not advanced a question for this long, for example after the end of a request, the question is
 * asked again. Until QUESTION_TIMEOUT, timers wake a thread, so this is longer. */
#define FORGOTTEN (15 * DLOCK_SECOND)

enum { MOST_SOURCES = DLOCK_MOST_SERVERS };

/* A Sentinel, or a node of a cluster. */
typedef struct {
	dlock_endpoint *server;
	bool is_seed;
	unsigned long asked; /* the number of the last question that it was asked; 0: none */
	unsigned long turn;  /* grows with each asking, so that sources take turns */
	dlock_nanos avoided; /* it has failed: until then other sources come first */
	dlock_conn *conn;    /* of `call` */
	dlock_call *call;    /* NULL: it is not being asked */
} source;

struct dlock_topology {
	dlock_pool *pool;
	dlock_endpoint *service;
	dlock_process process; /* a child of fork() asks by itself */
	dlock_slot_map map;
	source sources[MOST_SOURCES];
	int source_count;
	bool asking;
	unsigned long question; /* the number of this question, or of the last one */
	unsigned long turns;
	unsigned long answers;
	dlock_nanos next;  /* while asking: when to ask the next source; else: the earliest time of the next question */
	dlock_nanos seen;  /* when its thread advanced it last */
	bool hurried;      /* the last question had no pause before it, because the one before had changed something */
	bool begun;        /* while asking: the pause is over */
	dlock_nanos began; /* when the last question began */
	dlock_error error; /* of this question: which sources have failed, and why */
	dlock_adopted question_task;
	dlock_owned *owned;
	dlock_topology *successor;
};

/* ---- one for each service of a pool ---- */

static void drop_call(source *source)
{
	if (source->call) {
		dlock_call_cancel(source->call);
		dlock_call_release(source->call);
		source->call = NULL;
	}
}

static void free_one(dlock_topology *topology)
{
	while (topology->owned) {
		dlock_owned *owned = topology->owned;
		topology->owned = owned->next;
		owned->free(owned);
	}
	dlock_loop_forget(&topology->question_task);
	for (int i = 0; i < topology->source_count; i++) {
		drop_call(&topology->sources[i]);
		dlock_endpoint_release(topology->sources[i].server);
	}
	dlock_slot_map_end(&topology->map);
	dlock_endpoint_release(topology->service);
	free(topology);
}

static void free_all(dlock_topology *first)
{
	while (first) {
		dlock_topology *next = first->successor;
		free_one(first);
		first = next;
	}
}

static bool has_source(const dlock_topology *topology, const dlock_endpoint *server)
{
	for (int i = 0; i < topology->source_count; i++) {
		if (!strcmp(topology->sources[i].server->key, server->key)) {
			return true;
		}
	}
	return false;
}

/* Takes over the reference. */
static void add_source(dlock_topology *topology, dlock_endpoint *server, bool is_seed)
{
	if (topology->source_count == MOST_SOURCES || has_source(topology, server)) {
		dlock_endpoint_release(server);
	} else {
		topology->sources[topology->source_count++] = (source) { .server = server, .is_seed = is_seed };
	}
}

static bool add_seeds(dlock_topology *topology)
{
	dlock_endpoint *service = topology->service;

	for (int i = 0; i < service->seed_count; i++) {
		const dlock_seed *seed = &service->seeds[i];
		dlock_endpoint *server = service->discovery == DLOCK_ENDPOINT_SENTINEL ? dlock_endpoint_sentinel(service, i)
			: dlock_endpoint_member(service, seed->host, seed->port);
		if (!server) {
			return false;
		}
		add_source(topology, server, true);
	}
	return true;
}

static dlock_topology *topology_new(dlock_pool *pool, dlock_endpoint *service)
{
	dlock_topology *topology = calloc(1, sizeof *topology);

	if (!topology) {
		return NULL;
	}
	topology->pool = pool;
	topology->service = dlock_endpoint_retain(service);
	topology->process = dlock_process_current();
	if (!dlock_slot_map_begin(&topology->map, service->discovery == DLOCK_ENDPOINT_CLUSTER ? DLOCK_SLOTS : 1)
			|| (service->discovery == DLOCK_ENDPOINT_FIXED && !dlock_slot_map_set(&topology->map, 0, 0, service))
			|| (service->discovery != DLOCK_ENDPOINT_FIXED && !add_seeds(topology))) {
		free_one(topology);
		return NULL;
	}
	return topology;
}

static void end_questions(dlock_topology *first);

dlock_topology *dlock_pool_topology(dlock_pool *pool, dlock_endpoint *service)
{
	dlock_topology *topology;

	for (topology = pool->topologies; topology; topology = topology->successor) {
		if (topology->service == service || !strcmp(topology->service->key, service->key)) {
			return topology;
		}
	}
	topology = topology_new(pool, service);
	if (topology) {
		topology->successor = pool->topologies;
		pool->topologies = topology;
		pool->free_topologies = free_all;
		pool->end_questions = end_questions;
	}
	return topology;
}

void dlock_topology_own(dlock_topology *topology, dlock_owned *owned)
{
	owned->next = topology->owned;
	topology->owned = owned;
}

void dlock_topology_disown(dlock_topology *topology, dlock_owned *owned)
{
	dlock_owned **at = &topology->owned;

	while (*at && *at != owned) {
		at = &(*at)->next;
	}
	*at = *at ? owned->next : NULL;
}

/* ---- what is known ---- */

bool dlock_topology_has_slots(const dlock_topology *topology)
{
	return topology->service->discovery == DLOCK_ENDPOINT_CLUSTER;
}

bool dlock_topology_is_fixed(const dlock_topology *topology)
{
	return topology->service->discovery == DLOCK_ENDPOINT_FIXED;
}

dlock_endpoint *dlock_topology_master(const dlock_topology *topology, int slot)
{
	return dlock_slot_map_get(&topology->map, dlock_topology_has_slots(topology) ? slot : 0);
}

int dlock_topology_first_slot(const dlock_topology *topology, const dlock_endpoint *server)
{
	const dlock_endpoint *master = dlock_slot_map_find(&topology->map, server->host, server->port);

	for (int slot = 0; master && slot < (dlock_topology_has_slots(topology) ? DLOCK_SLOTS : 1); slot++) {
		if (dlock_slot_map_get(&topology->map, slot) == master) {
			return slot;
		}
	}
	return -1;
}

dlock_endpoint *dlock_topology_server_at(
	const dlock_topology *topology, const char *address, const dlock_endpoint *from)
{
	return dlock_cluster_server_at(address, topology->service, from, &topology->map);
}

/* Closes idle connections to the server. They stay in the pool, because their users may have noted their addresses. */
static void close_unless_master(const dlock_topology *topology, const dlock_endpoint *server)
{
	if (dlock_slot_map_find(&topology->map, server->host, server->port)) {
		return;
	}
	for (dlock_conn *conn = topology->pool->first; conn; conn = conn->next) {
		if (conn->calls.count == 0 && conn->channel.process == dlock_process_current()
			&& !strcmp(conn->server->key, server->key)) {
			dlock_conn_close(conn);
		}
	}
}

static void replace_map(dlock_topology *topology, const dlock_slot_map *map)
{
	dlock_slot_map old = topology->map;

	topology->map = *map;
	for (int i = 0; i < old.count; i++) {
		close_unless_master(topology, old.servers[i]);
	}
	dlock_slot_map_end(&old);
}

/* A cluster's masters are sources, too, because all seeds may be gone one day. */
static void update_sources(dlock_topology *topology)
{
	int kept = 0;

	if (!dlock_topology_has_slots(topology)) {
		return;
	}
	for (int i = 0; i < topology->source_count; i++) {
		source *source = &topology->sources[i];
		dlock_endpoint *master = source->is_seed
			? NULL
			: dlock_slot_map_find(&topology->map, source->server->host, source->server->port);
		if (master && master != source->server) { /* another node has its address now */
			dlock_endpoint_release(source->server);
			source->server = dlock_endpoint_retain(master);
		}
		if (source->is_seed || master) {
			topology->sources[kept++] = *source;
		} else {
			dlock_endpoint_release(source->server);
		}
	}
	topology->source_count = kept;
	for (int i = 0; i < topology->map.count; i++) {
		add_source(topology, dlock_endpoint_retain(topology->map.servers[i]), false);
	}
}

/* ---- asking ---- */

/* If another service with the same Sentinels has a question on this connection, the connection stays open. */
static void hang_up(source *source)
{
	const dlock_call_queue *calls = &source->conn->calls;

	if (calls->count == 0 || (calls->count == 1 && dlock_call_queue_at(calls, 0) == source->call)) {
		dlock_conn_close(source->conn);
	}
	drop_call(source);
}

/* In a child of fork(), a question under way is the parent's. If its thread has not advanced a question for long, an
 * answer tells what was true then. */
static void drop_outdated(dlock_topology *topology, dlock_nanos now)
{
	bool inherited = topology->process != dlock_process_current();

	if (inherited || (topology->asking && now > topology->seen + FORGOTTEN)) {
		for (int i = 0; i < topology->source_count; i++) {
			if (topology->sources[i].call && !inherited) {
				hang_up(&topology->sources[i]);
			}
			drop_call(&topology->sources[i]);
		}
		topology->asking = false;
		topology->next = 0;
		topology->process = dlock_process_current();
	}
}

static void end_question(dlock_topology *topology, bool changed)
{
	for (int i = 0; i < topology->source_count; i++) {
		if (topology->sources[i].call) {
			hang_up(&topology->sources[i]);
		}
	}
	topology->asking = topology->begun = false;
	topology->hurried = changed && !topology->hurried;
	topology->next = topology->hurried ? 0 : topology->began + PAUSE;
}

static void failed(dlock_topology *topology, source *source, const char *why, dlock_nanos now)
{
	static const char prefix[] = "Redis at ";

	dlock_append(&topology->error, "; %s", strncmp(why, prefix, strlen(prefix)) ? why : why + strlen(prefix));
	source->avoided = now + AVOID;
	hang_up(source);
}

static void answered(dlock_topology *topology, source *source, dlock_nanos now)
{
	const dlock_endpoint *service = topology->service;
	const redisReply *reply = source->call->reply;
	dlock_error error;
	dlock_slot_map map;
	dlock_status status = dlock_topology_has_slots(topology)
		? dlock_cluster_read(reply, service, source->server, &topology->map, &map, &error)
		: dlock_sentinel_read(reply, service, source->server, &topology->map, &map, &error);

	if (status != DLOCK_OK) {
		dlock_error text;
		dlock_fail(&text, status, "%s: %s", source->server->label, error.message);
		failed(topology, source, text.message, now);
		return;
	}
	bool changed = !dlock_slot_map_is_same(&topology->map, &map);
	topology->answers++;
	source->avoided = 0;
	end_question(topology, changed);
	replace_map(topology, &map);
	update_sources(topology);
}

/* A source that was not asked yet: sources that have not failed recently come first, then the one asked longest ago. */
static source *next_source(dlock_topology *topology, dlock_nanos now)
{
	source *best = NULL;

	for (int i = 0; i < topology->source_count; i++) {
		source *one = &topology->sources[i];
		if (one->asked == topology->question) {
			continue;
		}
		bool avoided = now < one->avoided, better = !best || avoided < (now < best->avoided)
			|| (avoided == (now < best->avoided) && one->turn < best->turn);
		best = better ? one : best;
	}
	return best;
}

static void ask_source(dlock_topology *topology, source *source, dlock_nanos now)
{
	source->asked = topology->question;
	source->turn = ++topology->turns;
	topology->next = now + HEDGE;
	source->conn = dlock_pool_capped_conn(topology->pool, source->server, QUESTION_TIMEOUT);
	source->call = dlock_topology_has_slots(topology) ? dlock_cluster_question()
													  : dlock_sentinel_question(topology->service);
	if (!source->conn || !source->call) {
		drop_call(source);
		dlock_append(&topology->error, "; %s: out of memory", source->server->label);
		return;
	}
	dlock_conn_send(source->conn, source->call);
}

static bool is_any_asked(const dlock_topology *topology)
{
	for (int i = 0; i < topology->source_count; i++) {
		if (topology->sources[i].call) {
			return true;
		}
	}
	return false;
}

static void collect(dlock_topology *topology, dlock_nanos now)
{
	for (int i = 0; topology->asking && i < topology->source_count; i++) {
		source *source = &topology->sources[i];
		if (source->call && source->call->state == DLOCK_CALL_ANSWERED) {
			answered(topology, source, now);
		} else if (source->call && source->call->state == DLOCK_CALL_FAILED) {
			failed(topology, source, source->conn->error.message, now);
		}
	}
}

static void begin_question(dlock_topology *topology, dlock_nanos now)
{
	const dlock_endpoint *service = topology->service;

	topology->begun = true;
	topology->began = now;
	topology->question++;
	topology->next = 0;
	if (dlock_topology_has_slots(topology)) {
		dlock_fail(&topology->error, DLOCK_CONNECTION, "No node of the cluster tells who has its slots");
	} else {
		dlock_fail(&topology->error, DLOCK_CONNECTION, "No Sentinel returned the address of the master of %s",
			service->service);
	}
}

/* Takes the answers that have come. If a source does not answer, answers late or does not know, the next one is asked;
 * each is asked once. The source asked longest ago comes first, because a source that is cut off continues to name the
 * old master. Connections to servers that are no longer masters are closed unless a call is under way there. */
static void advance(dlock_topology *topology, dlock_nanos now)
{
	drop_outdated(topology, now);
	topology->seen = now;
	if (!topology->asking || (!topology->begun && now < topology->next)) {
		return;
	}
	if (!topology->begun) {
		begin_question(topology, now);
	}
	for (;;) {
		collect(topology, now);
		if (!topology->asking || (is_any_asked(topology) && now < topology->next)) {
			return;
		}
		source *next = next_source(topology, now);
		if (next) {
			ask_source(topology, next, now);
		} else if (is_any_asked(topology)) {
			topology->next = DLOCK_FOREVER;
			return;
		} else {
			end_question(topology, false);
		}
	}
}

/* The question as a task. */
static dlock_status question_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	dlock_topology *topology = task;

	advance(topology, now);
	if (!topology->asking) {
		return DLOCK_OK;
	}
	dlock_loop_wake_by(loop, topology->next);
	return DLOCK_PENDING;
}

/* What is known may be out of date: the topology asks in the next turn of the loop. */
static void doubt(dlock_topology *topology, dlock_nanos now)
{
	drop_outdated(topology, now);
	if (!topology->asking && topology->service->discovery != DLOCK_ENDPOINT_FIXED) {
		topology->asking = true;
		topology->seen = now;
		topology->begun = false;
		dlock_loop_adopt(dlock_pool_loop(topology->pool), &topology->question_task, question_step, NULL, topology);
	}
}

void dlock_topology_ask(dlock_topology *topology, dlock_nanos now)
{
	bool asking = dlock_topology_is_asking(topology);

	doubt(topology, now);
	if (!asking && topology->asking) {
		advance(topology, now);
	}
}

void dlock_topology_move(
	dlock_topology *topology, int slot, const char *address, const dlock_endpoint *from, dlock_nanos now)
{
	dlock_endpoint *server = dlock_topology_server_at(topology, address, from);

	if (server && dlock_topology_has_slots(topology)) {
		dlock_endpoint *old = dlock_slot_map_get(&topology->map, slot);
		dlock_slot_map_set(&topology->map, slot, slot, server);
		if (old) {
			dlock_endpoint_retain(old);
			dlock_slot_map_sweep(&topology->map);
			close_unless_master(topology, old);
			dlock_endpoint_release(old);
		}
	}
	if (server) {
		dlock_endpoint_release(server);
	}
	doubt(topology, now);
}

bool dlock_topology_is_asking(const dlock_topology *topology)
{
	return topology->asking && topology->process == dlock_process_current();
}

unsigned long dlock_topology_answers(const dlock_topology *topology)
{
	return topology->answers;
}

/* ---- waiting for it ---- */

/* Takes the answers that have already come. */
static void take_answers(dlock_topology *topology, dlock_nanos now)
{
	drop_outdated(topology, now);
	for (int i = 0; topology->asking && i < topology->source_count; i++) {
		source *source = &topology->sources[i];
		if (source->call) {
			dlock_source_catch_up(&source->conn->source);
		}
	}
	advance(topology, now);
}

static void end_questions(dlock_topology *first)
{
	for (dlock_topology *topology = first; topology; topology = topology->successor) {
		take_answers(topology, dlock_now());
		if (topology->asking) {
			end_question(topology, false);
		}
	}
}

static dlock_status explain(const dlock_topology *topology, dlock_error *error)
{
	*error = topology->error;
	for (int i = 0; dlock_topology_is_asking(topology) && i < topology->source_count; i++) {
		if (topology->sources[i].call) {
			dlock_append(error, "; %s: no answer in time", topology->sources[i].server->label);
		}
	}
	return DLOCK_CONNECTION;
}

dlock_status dlock_discovery_step(dlock_discovery *own, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->task);
	take_answers(own->topology, now); /* the answer to an earlier question may have come long ago */
	own->before = own->topology->answers;
	dlock_topology_ask(own->topology, now);
	DLOCK_AWAIT(&own->task,
		!dlock_topology_is_asking(own->topology) || dlock_loop_is_time(loop, own->until, now));
	DLOCK_END(&own->task);
	bool answered = own->topology->answers != own->before || dlock_topology_is_fixed(own->topology);
	return answered ? DLOCK_OK : explain(own->topology, own->error);
}

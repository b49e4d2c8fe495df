#include "surveying.h"

#include <stdio.h>
#include <string.h>

#include "../wire/info.h"

/* No client waits longer than this for one round of answers. If the nodes cannot be reached, locks wait for the guard,
 * and the nodes are asked again later. The master, too, is asked over a separate connection, because a WAIT may be
 * under way on the one for locks. */
#define LIMIT (500 * DLOCK_MS)

/* Replicas and tools that copy the data, which are looked for in the master's answer. Each search reads all of it: that
 * of a hostile master may name 50,000. */
enum { MOST_NAMED = 4 * DLOCK_NODES_MAX };

static dlock_call *command(const char *first, const char *second)
{
	dlock_arg words[] = { DLOCK_ARG(first), DLOCK_ARG(second ? second : "") };

	return dlock_call_command(words, second ? 2 : 1);
}

static void discard(dlock_call **call)
{
	if (*call) {
		dlock_call_cancel(*call);
		dlock_call_release(*call);
		*call = NULL;
	}
}

/* The master counts its attached replicas first, so that the count shows if one attaches later. */
static void ask(dlock_surveying *own, dlock_conn *conn, dlock_nanos now)
{
	dlock_asked_node *node = &own->asked[own->count];

	if (!conn) {
		own->all = false;
		return;
	}
	*node = (dlock_asked_node) {
		command("INFO", "replication"), command("INFO", "server"), command("TIME", NULL), .sent = now
	};
	own->stats = own->count == 0 ? command("INFO", "stats") : own->stats;
	dlock_call *calls[] = { own->count == 0 ? own->stats : NULL, node->replication, node->server, node->time };
	dlock_conn_cork(conn);
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		if (calls[i]) {
			dlock_conn_send(conn, calls[i]);
		}
	}
	dlock_conn_uncork(conn);
	own->count++;
}

static bool is_over(const dlock_call *call)
{
	return !call || call->state != DLOCK_CALL_PENDING;
}

/* Notes when the answers of each node were read. True: all nodes have answered, or failed. */
static bool note_answers(dlock_surveying *own, dlock_nanos now)
{
	bool all = true;

	for (int i = 0; i < own->count; i++) {
		dlock_asked_node *node = &own->asked[i];
		bool over = is_over(node->replication) && is_over(node->server) && is_over(node->time);
		node->read = over && node->read == 0 ? now : node->read;
		all &= over;
	}
	return all;
}

/* "ip=10.0.0.2,port=6379,state=online,...". False: there is no replica of this number. A tool that copies the data has
 * no port. */
static bool find_replica(const char *info, int number, char *address, size_t size)
{
	char name[16];
	snprintf(name, sizeof name, "slave%d", number);
	const char *at = dlock_info_find(info, name), *port;

	*address = '\0';
	if (!at || strncmp(at, "ip=", 3)) {
		return false;
	}
	at += 3;
	int len = (int) strcspn(at, ",\r\n");
	port = !strncmp(at + len, ",port=", 6) ? at + len + 6 : "0";
	int digits = (int) strspn(port, "0123456789");
	if (len > 0 && digits > 0 && digits < 6 && strncmp(port, "0,", 2)) {
		snprintf(address, size, "%.*s:%.*s", len < 200 ? len : 0, at, digits, port);
	}
	return true;
}

static void ask_replicas(dlock_surveying *own, dlock_nanos now)
{
	const dlock_masters *masters = own->masters;
	const char *info = own->asked[0].replication->reply->str;
	char address[256];

	for (int i = 0; find_replica(info, i, address, sizeof address); i++) {
		if (i == MOST_NAMED || (*address && own->count == DLOCK_NODES_MAX)) {
			own->all = false;
			break;
		}
		dlock_endpoint *server = *address
			? dlock_topology_server_at(masters->topology, address, own->master) : NULL;
		own->all &= server || !*address;
		if (server) {
			ask(own, dlock_pool_capped_conn(masters->pool, server, LIMIT), now);
			dlock_endpoint_release(server);
		}
	}
}

static bool read_master(dlock_surveying *own)
{
	const dlock_asked_node *asked = &own->asked[0];

	return own->count > 0 && asked->read > 0 && dlock_survey_begin(&own->survey, own->stats)
		&& dlock_node_read(&own->nodes[0], asked->replication, asked->server, asked->time, asked->sent, asked->read);
}

static void judge(dlock_surveying *own)
{
	int count = 1;

	for (int i = 1; i < own->count; i++) {
		const dlock_asked_node *asked = &own->asked[i];
		bool answered = asked->read > 0
			&& dlock_node_read(
				&own->nodes[count], asked->replication, asked->server, asked->time, asked->sent, asked->read);
		count += answered;
		own->all &= answered;
	}
	dlock_survey_end(&own->survey, own->nodes, count, own->all, own->enough, own->guard);
	dlock_survey_name(own->nodes, count, own->named, sizeof own->named);
}

static void begin(dlock_surveying *own, dlock_nanos now)
{
	own->survey = (dlock_survey) { .at = now, .first = -1, .skew = -1, .ready = -1 };
	own->named[0] = '\0';
	own->count = 0;
	own->all = true;
	own->limit = dlock_after(now, LIMIT);
	own->limit = dlock_earlier(own->limit, own->until);
}

dlock_status dlock_surveying_step(dlock_surveying *own, dlock_loop *loop, dlock_nanos now)
{
	DLOCK_BEGIN(&own->task);
	begin(own, now);
	ask(own, dlock_pool_capped_conn(own->masters->pool, own->master, LIMIT), now);
	DLOCK_AWAIT(&own->task, note_answers(own, now) || dlock_loop_is_time(loop, own->limit, now));
	if (read_master(own)) {
		own->limit = dlock_after(now, LIMIT);
		own->limit = dlock_earlier(own->limit, own->until);
		ask_replicas(own, now);
		DLOCK_AWAIT(&own->task, note_answers(own, now) || dlock_loop_is_time(loop, own->limit, now));
		judge(own);
	}
	dlock_surveying_end(own);
	DLOCK_END(&own->task);
	return DLOCK_OK;
}

void dlock_surveying_end(dlock_surveying *own)
{
	discard(&own->stats);
	for (int i = 0; i < own->count; i++) {
		discard(&own->asked[i].replication);
		discard(&own->asked[i].server);
		discard(&own->asked[i].time);
	}
	own->count = 0;
	own->task.at = 0;
}

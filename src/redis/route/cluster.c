#include "cluster.h"

#include <stdlib.h>
#include <string.h>

#include "../script/slot.h"

enum { NODE_ID_LEN = 40 };

dlock_call *dlock_cluster_question(void)
{
	/* CLUSTER SHARDS, the successor of CLUSTER SLOTS, exists only from Redis 7.0 on. */
	dlock_arg words[] = { DLOCK_ARG("CLUSTER"), DLOCK_ARG("SLOTS") };

	return dlock_call_command(words, 2);
}

/* A node writes "?" if it should name its host by a hostname that it does not know. */
static bool is_unknown(const char *host)
{
	return host && !strcmp(host, "?");
}

/* A node writes no host if it does not know its own address, or is configured not to tell it. */
static dlock_endpoint *server_at(
	const char *host, long port, const dlock_endpoint *service, const dlock_endpoint *node, const dlock_slot_map *known)
{
	if (!host || !*host) {
		host = node->host;
	}
	if (!host || is_unknown(host) || port < 1 || port > 65535) {
		return NULL;
	}
	dlock_endpoint *found = dlock_slot_map_find(known, host, (int) port);
	return found ? dlock_endpoint_retain(found) : dlock_endpoint_member(service, host, (int) port);
}

dlock_endpoint *dlock_cluster_server_at(
	const char *address, const dlock_endpoint *service, const dlock_endpoint *node, const dlock_slot_map *known)
{
	const char *colon = strrchr(address, ':'); /* the last one: an IPv6 address has no brackets here */
	char host[256];
	char *end;

	if (!colon || (size_t) (colon - address) >= sizeof host) {
		return NULL;
	}
	memcpy(host, address, (size_t) (colon - address));
	host[colon - address] = '\0';
	long port = strtol(colon + 1, &end, 10);
	return *end ? NULL : server_at(host, port, service, node, known);
}

/* A range has its first slot, its last slot, its master and its replicas. */
static bool is_range(const redisReply *range)
{
	return range->type == REDIS_REPLY_ARRAY && range->elements >= 3
		&& range->element[0]->type == REDIS_REPLY_INTEGER && range->element[1]->type == REDIS_REPLY_INTEGER
		&& range->element[0]->integer >= 0 && range->element[0]->integer <= range->element[1]->integer
		&& range->element[1]->integer < DLOCK_SLOTS
		&& range->element[2]->type == REDIS_REPLY_ARRAY && range->element[2]->elements >= 2
		&& range->element[2]->element[1]->type == REDIS_REPLY_INTEGER;
}

/* A node keeps its id when its address changes, and its old address may get another node. NULL: there is no id. */
static const char *id_of(const redisReply *master)
{
	const redisReply *id = master->elements > 2 ? master->element[2] : NULL;

	return id && id->type == REDIS_REPLY_STRING && id->len == NODE_ID_LEN ? id->str : NULL;
}

/* Returns this server if it is the node with this id; otherwise another object for the node that is at its address now.
 * NULL when out of memory. */
static dlock_endpoint *identified(dlock_endpoint *server, const char *id, const dlock_endpoint *service)
{
	if (!server || !id || (server->node_id && !strcmp(server->node_id, id))) {
		return server;
	}
	dlock_endpoint *other = dlock_endpoint_member(service, server->host, server->port);
	if (other && !dlock_endpoint_set(&other->node_id, id, NODE_ID_LEN)) {
		dlock_endpoint_release(other);
		other = NULL;
	}
	dlock_endpoint_release(server);
	return other;
}

/* The IP address, if the host's name is not known. Redis 7 writes it behind the node's id. NULL: there is none. */
static const char *ip_of(const redisReply *master)
{
	const redisReply *more = master->elements > 3 ? master->element[3] : NULL;

	for (size_t i = 0; more && more->type == REDIS_REPLY_ARRAY && i + 1 < more->elements; i += 2) {
		const redisReply *name = more->element[i], *value = more->element[i + 1];
		if (name->type == REDIS_REPLY_STRING && value->type == REDIS_REPLY_STRING && !strcmp(name->str, "ip")) {
			return value->str;
		}
	}
	return NULL;
}

/* A master without a usable address counts as not known. */
static bool add_range(dlock_slot_map *map, const redisReply *range, const dlock_endpoint *service,
	const dlock_endpoint *node, const dlock_slot_map *known)
{
	const redisReply *host = range->element[2]->element[0];
	long long port = range->element[2]->element[1]->integer;
	const char *text = host->type == REDIS_REPLY_STRING ? host->str : NULL;
	const char *name = is_unknown(text) ? ip_of(range->element[2]) : text;
	dlock_endpoint *master = port < 1 || port > 65535 || (is_unknown(text) && !name) ? NULL
		: identified(server_at(name, (long) port, service, node, known), id_of(range->element[2]), service);
	bool good = dlock_slot_map_set(map, (int) range->element[0]->integer, (int) range->element[1]->integer, master);

	if (master) {
		dlock_endpoint_release(master);
	}
	return good;
}

static bool has_master(const dlock_slot_map *known, const char *id)
{
	for (int i = 0; id && i < known->count; i++) {
		if (known->servers[i]->node_id && !strcmp(known->servers[i]->node_id, id)) {
			return true;
		}
	}
	return false;
}

static bool has_ids(const dlock_slot_map *known)
{
	for (int i = 0; i < known->count; i++) {
		if (known->servers[i]->node_id) {
			return true;
		}
	}
	return false;
}

/* Does the reply name a known master, as a master or as a replica? Addresses are reused, so the node that was asked may
 * belong to another cluster. */
static bool is_same_cluster(const redisReply *reply, const dlock_slot_map *known)
{
	for (size_t i = 0; i < reply->elements; i++) {
		for (size_t node = 2; node < reply->element[i]->elements; node++) {
			const redisReply *one = reply->element[i]->element[node];
			if (one->type == REDIS_REPLY_ARRAY && has_master(known, id_of(one))) {
				return true;
			}
		}
	}
	return !has_ids(known);
}

dlock_status dlock_cluster_read(const redisReply *reply, const dlock_endpoint *service, const dlock_endpoint *node,
	const dlock_slot_map *known, dlock_slot_map *map, dlock_error *error)
{
	if (reply->type == REDIS_REPLY_ERROR) {
		char text[200];
		dlock_endpoint_quote(node, reply->str, text, sizeof text);
		return dlock_fail(error, DLOCK_CONNECTION, "%s", text);
	}
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements == 0) {
		return dlock_fail(
			error, DLOCK_CONNECTION, "knows of no slots: it is in no cluster, or the cluster is not complete");
	}
	if (!dlock_slot_map_begin(map, DLOCK_SLOTS)) {
		return dlock_fail(error, DLOCK_FAILED, "out of memory");
	}
	for (size_t i = 0; i < reply->elements; i++) {
		if (!is_range(reply->element[i]) || !add_range(map, reply->element[i], service, node, known)) {
			dlock_slot_map_end(map);
			return dlock_fail(error, DLOCK_CONNECTION, "sent slots that cannot be read");
		}
	}
	if (!is_same_cluster(reply, known)) {
		dlock_slot_map_end(map);
		return dlock_fail(error, DLOCK_CONNECTION,
			"is in another cluster than the nodes that are known; if the cluster was replaced, restart the process");
	}
	if (!dlock_slot_map_fill(map, known)) {
		dlock_slot_map_end(map);
		return dlock_fail(error, DLOCK_FAILED, "out of memory");
	}
	return DLOCK_OK;
}

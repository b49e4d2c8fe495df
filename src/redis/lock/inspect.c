#include "service.h"

#include <stdlib.h>
#include <string.h>

/* Nothing here disturbs holders and waiters: the scripts change nothing, except the one that breaks a lock. A reply may
 * be out of date when the client reads it. */

static dlock_keys keys_of(const dlock_service *service, const char *resource, size_t len)
{
	dlock_keys keys = dlock_key_builder_keys(service->keys, resource, len);

	keys.held = dlock_key_builder_held(service->keys, keys);
	return keys;
}

static void begin_route(dlock_route *route, const dlock_service *service, int slot, dlock_error *error)
{
	dlock_route_begin(route, &service->masters, slot, error);
	route->replicas = 0;
}

dlock_status dlock_service_inspect(dlock_backend *backend, const char *resource, size_t len, int most,
	dlock_inspection *out, dlock_error *error)
{
	const dlock_service *service = (const dlock_service *) backend;
	dlock_keys keys = keys_of(service, resource, len);
	dlock_route route;

	begin_route(&route, service, keys.slot, error);
	dlock_status status = dlock_route_ask(&route, service->kind->inspect(keys, most));
	if (status == DLOCK_OK) {
		status = service->kind->read_inspection(route.call, route.conn, out, error);
	}
	if (status == DLOCK_LOST) {
		status = dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: the key of \"%s\" is of another type, so no %s",
			route.conn->server->label, dlock_show(resource, len).text, service->kind->noun);
	}
	dlock_route_end(&route);
	return status;
}

dlock_status dlock_service_break(dlock_backend *backend, const char *resource, size_t len, const dlock_break *how,
	dlock_nanos *left, dlock_error *error)
{
	const dlock_service *service = (const dlock_service *) backend;
	dlock_keys keys = keys_of(service, resource, len);
	dlock_route route;
	int64_t ms = 0;

	begin_route(&route, service, keys.slot, error);
	dlock_status status = dlock_route_ask(&route, service->kind->break_claim(keys, how->id, how->by, how->now));
	if (status == DLOCK_OK) {
		status = dlock_read_break(route.call, route.conn, &ms, error);
	}
	*left = dlock_lease_left(ms);
	dlock_route_end(&route);
	return status;
}

/* ---- many requests at once ---- */

/* The most requests that go out in one turn. */
enum { BATCH = 512 };

/* A task: requests to the masters of several slots, in parallel. */
typedef struct {
	int count;
	dlock_route routes[BATCH];
	dlock_status said[BATCH];
	dlock_error error;
} batch;

static dlock_status batch_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	batch *own = task;
	bool pending = false;

	for (int i = 0; i < own->count; i++) {
		if (own->said[i] == DLOCK_PENDING) {
			own->said[i] = dlock_route_step(&own->routes[i], loop, now);
			pending = pending || own->said[i] == DLOCK_PENDING;
		}
	}
	return pending ? DLOCK_PENDING : DLOCK_OK;
}

static void batch_add(batch *own, const dlock_service *service, int slot, dlock_call *call)
{
	begin_route(&own->routes[own->count], service, slot, &own->error);
	dlock_route_send(&own->routes[own->count], call, NULL);
	own->said[own->count++] = DLOCK_PENDING;
}

static void batch_run(batch *own, const dlock_service *service)
{
	dlock_loop_run(dlock_pool_loop(service->masters.pool), batch_step, own, DLOCK_FOREVER, NULL);
}

static void batch_end(batch *own)
{
	for (int i = 0; i < own->count; i++) {
		dlock_route_end(&own->routes[i]);
	}
	own->count = 0;
}

/* ---- the list ---- */

/* A list that has found this many locks looks for no more. */
enum { MOST_SEEN = 1000 };

/* A server tells when a scan has ended. Each answer comes in time, but a hostile server could give them without end. */
#define LONGEST_SCAN (600 * DLOCK_SECOND)

static dlock_status read_seen(batch *own, const dlock_service *service, dlock_listing *out, dlock_error *error)
{
	dlock_status status = DLOCK_OK;

	for (int i = 0; status == DLOCK_OK && i < own->count; i++) {
		const dlock_route *route = &own->routes[i];
		*error = own->error;
		status = own->said[i] != DLOCK_OK ? own->said[i]
			: dlock_read_seen(route->call, route->conn, service->base.prefix, out, error);
	}
	batch_end(own);
	return status;
}

/* Finds the listed keys of all slots. */
static dlock_status find_seen(batch *own, const dlock_service *service, dlock_listing *out, dlock_error *error)
{
	bool has_slots = dlock_topology_has_slots(service->masters.topology);
	dlock_status status = DLOCK_OK;

	for (int slot = 0; status == DLOCK_OK && slot < (has_slots ? DLOCK_SLOTS : 1) && out->count < MOST_SEEN;) {
		for (; own->count < BATCH && slot < (has_slots ? DLOCK_SLOTS : 1); slot++) {
			dlock_keys keys = dlock_key_builder_slot(service->keys, slot);
			batch_add(own, service, slot, dlock_request_seen(DLOCK_SEEN(keys), MOST_SEEN));
		}
		batch_run(own, service);
		status = read_seen(own, service, out, error);
	}
	return status;
}

/* Reads the inspections of the entries from `first` on. A key of another kind under the same prefix is left out, like a
 * lock without a holder. */
static dlock_status read_inspected(
	batch *own, const dlock_service *service, dlock_listing *out, int first, dlock_error *error)
{
	dlock_status status = DLOCK_OK;

	for (int i = 0; status == DLOCK_OK && i < own->count; i++) {
		*error = own->error;
		status = own->said[i] != DLOCK_OK ? own->said[i]
			: service->kind->read_inspection(
				own->routes[i].call, own->routes[i].conn, &out->first[first + i].inspection, error);
		status = status == DLOCK_LOST ? DLOCK_OK : status;
	}
	batch_end(own);
	return status;
}

static dlock_status inspect_all(batch *own, const dlock_service *service, dlock_listing *out, dlock_error *error)
{
	dlock_status status = DLOCK_OK;

	for (int i = 0, first = 0; status == DLOCK_OK && i < out->count; first = i) {
		for (; own->count < BATCH && i < out->count; i++) {
			dlock_keys keys = keys_of(service, out->first[i].resource, out->first[i].resource_len);
			batch_add(own, service, keys.slot, service->kind->inspect(keys, 1));
		}
		batch_run(own, service);
		status = read_inspected(own, service, out, first, error);
	}
	return status;
}

/* Finds all keys of a slot's master, until the list is full. */
static dlock_status scan(
	const dlock_service *service, int slot, dlock_nanos until, dlock_listing *out, dlock_error *error)
{
	char cursor[DLOCK_CURSOR_SIZE] = "0";
	dlock_status status;

	do {
		dlock_route route;
		begin_route(&route, service, slot, error);
		status = dlock_route_ask(&route, dlock_request_scan(cursor, service->base.prefix));
		if (status == DLOCK_OK) {
			status = dlock_read_scan(route.call, route.conn, service->base.prefix, cursor, out, error);
		}
		if (status == DLOCK_OK && strcmp(cursor, "0") != 0 && dlock_now() >= until) {
			status = dlock_fail(error, DLOCK_CONNECTION,
				"Redis at %s: has not listed all keys within 10 minutes; list the locks without --all",
				route.conn->server->label);
		}
		dlock_route_end(&route);
	} while (status == DLOCK_OK && strcmp(cursor, "0") != 0 && out->count < MOST_SEEN);
	return status;
}

/* Finds all keys of each master that the topology knows, by the first of its slots. Before its first answer, the
 * topology knows no master, so slot 0 is scanned in any case. */
static dlock_status find_all(batch *own, const dlock_service *service, dlock_listing *out, dlock_error *error)
{
	const dlock_topology *topology = service->masters.topology;
	dlock_nanos until = dlock_after(dlock_now(), LONGEST_SCAN);
	dlock_status status = scan(service, 0, until, out, error);

	(void) own;
	for (int slot = 1; status == DLOCK_OK && dlock_topology_has_slots(topology) && slot < DLOCK_SLOTS; slot++) {
		const dlock_endpoint *master = dlock_topology_master(topology, slot);
		if (master && dlock_topology_first_slot(topology, master) == slot) {
			status = scan(service, slot, until, out, error);
		}
	}
	return status;
}

typedef dlock_status finder(batch *own, const dlock_service *service, dlock_listing *out, dlock_error *error);

static dlock_status list(dlock_backend *backend, finder *find, int most, dlock_listing *out, dlock_error *error)
{
	const dlock_service *service = (const dlock_service *) backend;
	batch *own = calloc(1, sizeof *own);

	if (!own) {
		return dlock_out_of_memory(error);
	}
	dlock_status status = find(own, service, out, error);
	if (status == DLOCK_OK) {
		status = inspect_all(own, service, out, error);
	}
	free(own);
	if (status == DLOCK_OK) {
		dlock_listing_sort(out, most);
	}
	return status;
}

dlock_status dlock_service_list(dlock_backend *backend, int most, dlock_listing *out, dlock_error *error)
{
	return list(backend, find_seen, most, out, error);
}

dlock_status dlock_service_list_all(dlock_backend *backend, int most, dlock_listing *out, dlock_error *error)
{
	return list(backend, find_all, most, out, error);
}

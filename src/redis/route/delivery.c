#include "delivery.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../wire/reply.h"

/* How often one request is redirected, or sent to another master. */
enum { MOST_HOPS = 5, MOST_MASTERS = 2 };

/* ---- steps ---- */

static dlock_nanos shorter(dlock_nanos a, dlock_nanos b)
{
	return a < b ? a : b;
}

/* It takes part of the time that the answer may take, so that "too few" is heard, too, also where it is asked once more
 * behind a script that was sent as text. */
dlock_call *dlock_delivery_wait(const dlock_conn *conn, int replicas)
{
	dlock_nanos time = shorter(conn->server->read_timeout, conn->timeout_cap) / 4;
	char count[16], ms[24];

	time = time > DLOCK_SECOND ? DLOCK_SECOND : time;
	snprintf(count, sizeof count, "%d", replicas);
	snprintf(ms, sizeof ms, "%" PRId64,
		time < 10 * DLOCK_MS ? (int64_t) 10 : (int64_t) (time / DLOCK_MS)); /* 0 is without limit */
	dlock_arg args[] = { DLOCK_ARG("WAIT"), DLOCK_ARG(count), DLOCK_ARG(ms) };
	dlock_call *call = dlock_call_command(args, 3);
	if (call) {
		call->once = true; /* over another connection it would be about other writes */
	}
	return call;
}

static void send_asking(dlock_conn *conn)
{
	dlock_arg args[] = { DLOCK_ARG("ASKING") };
	dlock_call *call = dlock_call_command(args, 1);

	if (call) {
		call->once = true;
		dlock_conn_send(conn, call);
		dlock_call_release(call);
	}
}

static bool send_one(dlock_conn *conn, dlock_call *call, bool asks)
{
	if (asks) {
		send_asking(conn);
		call->once = true; /* again it would go out alone, */
		if (call->script) {
			dlock_call_use_source(call); /* also where the server does not know it */
		}
	}
	return dlock_conn_send(conn, call);
}

dlock_call *dlock_delivery_send(dlock_conn *conn, dlock_call *call, int replicas, dlock_call *behind, bool asks)
{
	dlock_call *confirmation = NULL;
	bool corked = conn->corked;

	dlock_conn_cork(conn);
	if (send_one(conn, call, asks) && replicas > 0) {
		confirmation = dlock_delivery_wait(conn, replicas);
		if (confirmation && dlock_conn_send(conn, confirmation) && behind) {
			send_one(conn, behind, asks);
		}
	}
	if (!corked) {
		dlock_conn_uncork(conn);
	}
	return confirmation;
}

/* A script that the server did not know was sent once more, as text. */
bool dlock_delivery_is_behind(const dlock_call *call, const dlock_call *confirmation)
{
	return confirmation && confirmation->sent && confirmation->generation == call->generation
		&& confirmation->sequence > call->sequence;
}

bool dlock_delivery_is_confirmed(const dlock_call *call, const dlock_call *confirmation, int replicas)
{
	return replicas == 0 || (call && call->state == DLOCK_CALL_ANSWERED && dlock_delivery_is_behind(call, confirmation)
		&& confirmation->state == DLOCK_CALL_ANSWERED && confirmation->reply->type == REDIS_REPLY_INTEGER
		&& confirmation->reply->integer >= replicas);
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool has_any(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strstr(text, words[i])) {
			return true;
		}
	}
	return false;
}

dlock_answer dlock_delivery_answer(const dlock_call *call, const char **address)
{
	/* In a script, some versions put more around these. */
	static const char *const later[] = { "TRYAGAIN ", "NOREPLICAS " };
	static const char *const replica[] = { "READONLY ", "UNBLOCKED ", "LOADING ", "CLUSTERDOWN ", "MASTERDOWN ",
		"with replica instances" };
	static const char unserved[] = "Hash slot not served";
	const char *text = call->reply->str;

	*address = NULL;
	if (call->reply->type != REDIS_REPLY_ERROR) {
		return DLOCK_ANSWER_FINAL;
	}
	if (begins(text, "MOVED ") || begins(text, "ASK ")) {
		const char *slot = strchr(text, ' ') + 1, *end = strchr(slot, ' ');
		*address = end ? end + 1 : "";
		return *text == 'M' ? DLOCK_ANSWER_MOVED : DLOCK_ANSWER_ASK;
	}
	if (strstr(text, unserved)) {
		return DLOCK_ANSWER_UNSERVED;
	}
	return has_any(text, later, sizeof later / sizeof *later) ? DLOCK_ANSWER_LATER
		: has_any(text, replica, sizeof replica / sizeof *replica) ? DLOCK_ANSWER_REPLICA : DLOCK_ANSWER_FINAL;
}

/* ---- the whole way ---- */

static bool is_answered(void *call)
{
	return ((dlock_call *) call)->state != DLOCK_CALL_PENDING;
}

static void discard(dlock_call **call)
{
	if (*call) {
		dlock_call_cancel(*call);
		dlock_call_release(*call);
		*call = NULL;
	}
}

static dlock_status step_discovery(void *task, dlock_loop *loop, dlock_nanos now)
{
	return dlock_discovery_step(task, loop, now);
}

dlock_status dlock_route_discover(const dlock_route *route, dlock_error *error)
{
	dlock_discovery own = { .topology = route->topology, .until = route->until, .error = error };

	return dlock_loop_run(dlock_pool_loop(route->pool), step_discovery, &own, DLOCK_FOREVER, NULL);
}

/* One server. False: it has not answered. */
static bool ask(dlock_delivery *delivery, const dlock_route *route, dlock_server *server, bool asks)
{
	discard(&delivery->confirmation);
	delivery->conn = dlock_pool_conn(route->pool, server);
	if (!delivery->conn || !delivery->call) {
		return false;
	}
	delivery->confirmation = dlock_delivery_send(
		delivery->conn, delivery->call, route->replicas, delivery->behind, asks);
	dlock_loop_await(dlock_pool_loop(route->pool), is_answered, delivery->call, route->until);
	return delivery->call->state == DLOCK_CALL_ANSWERED;
}

/* `transient`: no node has said so far who has the slot, but another one may. */
static dlock_server *find_master(const dlock_route *route, int slot, bool *transient, dlock_error *error)
{
	dlock_server *master = dlock_topology_master(route->topology, slot);

	if (!master && dlock_route_discover(route, error) == DLOCK_OK) {
		master = dlock_topology_master(route->topology, slot);
		if (!master) {
			*transient = true;
			dlock_fail(error, DLOCK_CONNECTION, "Redis Cluster: no node has the hash slot %d", slot);
		}
	}
	return master ? dlock_server_retain(master) : NULL;
}

typedef enum { SAME_MASTER, OTHER_MASTER, UNKNOWN_MASTER } master_now;

/* Asks who is the master now. */
static master_now ask_master(const dlock_route *route, int slot, const dlock_server *from)
{
	dlock_error error;

	if (dlock_route_discover(route, &error) != DLOCK_OK) {
		return UNKNOWN_MASTER;
	}
	dlock_server *master = dlock_topology_master(route->topology, slot);
	return master && strcmp(master->key, from->key) ? OTHER_MASTER : SAME_MASTER;
}

/* NULL when out of memory. */
static bool renew_call(dlock_call **call)
{
	dlock_call *again = *call ? dlock_call_again(*call) : NULL;

	discard(call);
	*call = again;
	return again != NULL;
}

/* Once more, as it was made. What was sent before may be executed yet. */
static bool repeat(dlock_delivery *delivery, bool may_run)
{
	delivery->repeated |= may_run;
	return renew_call(&delivery->call) && (!delivery->behind || renew_call(&delivery->behind));
}

static dlock_status no_answer(const dlock_delivery *delivery, dlock_error *error)
{
	if (!delivery->conn || !delivery->call) {
		return dlock_fail(error, DLOCK_CONNECTION, "Out of memory");
	}
	if (delivery->call->state == DLOCK_CALL_PENDING) {
		return dlock_fail(
			error, DLOCK_CONNECTION, "Redis at %s: no answer in the time allowed", delivery->conn->server->label);
	}
	*error = delivery->conn->error;
	return DLOCK_CONNECTION;
}

static dlock_status not_now(dlock_delivery *delivery, bool is_fixed, dlock_error *error)
{
	char reason[200];

	delivery->transient = true;
	if (is_fixed) {
		return dlock_check_reply(delivery->call, delivery->conn, error);
	}
	dlock_server_quote(delivery->conn->server, delivery->call->reply->str, reason, sizeof reason);
	return dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: %s", delivery->conn->server->label, reason);
}

dlock_status dlock_deliver_with(dlock_delivery *delivery, const dlock_route *route, int slot, dlock_call *call,
	dlock_call *behind, dlock_error *error)
{
	int masters = 0;
	bool asks = false, is_fixed = dlock_topology_is_fixed(route->topology);

	*delivery = (dlock_delivery) { .call = call, .behind = behind };
	dlock_server *server = find_master(route, slot, &delivery->transient, error);
	if (!server) {
		return DLOCK_CONNECTION;
	}
	for (int hops = 0;; hops++) {
		const char *address = NULL;
		bool answered = ask(delivery, route, server, asks);
		dlock_answer answer = answered ? dlock_delivery_answer(delivery->call, &address) : DLOCK_ANSWER_REPLICA;
		dlock_server *next = NULL;
		asks = false;
		if ((answer == DLOCK_ANSWER_MOVED || answer == DLOCK_ANSWER_ASK)
			&& !dlock_topology_has_slots(route->topology)) {
			answer = DLOCK_ANSWER_FINAL;
		}
		if (answer == DLOCK_ANSWER_FINAL) {
			dlock_server_release(server);
			return DLOCK_OK;
		}
		dlock_status status = answered ? not_now(delivery, is_fixed, error) : no_answer(delivery, error);
		delivery->transient = answered || (delivery->conn && !delivery->conn->refused && !is_fixed);
		if (answered && answer == DLOCK_ANSWER_REPLICA) {
			dlock_conn_close(delivery->conn); /* behind its address, there may be another server by now */
		}
		if (answer == DLOCK_ANSWER_MOVED && hops < MOST_HOPS) {
			dlock_topology_move(route->topology, slot, address, server, dlock_now());
			next = dlock_topology_master(route->topology, slot);
			next = next ? dlock_server_retain(next) : NULL;
		} else if (answer == DLOCK_ANSWER_ASK && hops < MOST_HOPS) {
			next = dlock_topology_server_at(route->topology, address, server);
			asks = true;
		} else if ((answer == DLOCK_ANSWER_REPLICA || answer == DLOCK_ANSWER_UNSERVED) && delivery->transient
			&& ++masters <= MOST_MASTERS) {
			master_now now = ask_master(route, slot, server);
			next = now == OTHER_MASTER ? dlock_server_retain(dlock_topology_master(route->topology, slot)) : NULL;
			delivery->transient = answered || now != UNKNOWN_MASTER;
		}
		bool may_run = !answered && delivery->call && delivery->call->sent;
		dlock_server_release(server);
		if (!next || !repeat(delivery, may_run)) {
			if (next) {
				dlock_server_release(next);
			}
			return status;
		}
		server = next;
	}
}

dlock_status dlock_deliver(
	dlock_delivery *delivery, const dlock_route *route, int slot, dlock_call *call, dlock_error *error)
{
	return dlock_deliver_with(delivery, route, slot, call, NULL, error);
}

dlock_status dlock_delivery_confirm(dlock_delivery *delivery, const dlock_route *route, dlock_error *error)
{
	dlock_call *call = delivery->call;

	if (route->replicas == 0) {
		return DLOCK_OK;
	}
	if (!dlock_delivery_is_behind(call, delivery->confirmation) && call->generation == delivery->conn->generation) {
		discard(&delivery->confirmation);
		delivery->confirmation = dlock_delivery_wait(delivery->conn, route->replicas);
		if (delivery->confirmation) {
			dlock_conn_send(delivery->conn, delivery->confirmation);
		}
	}
	if (delivery->confirmation) {
		dlock_loop_await(dlock_pool_loop(route->pool), is_answered, delivery->confirmation, route->until);
	}
	if (dlock_delivery_is_confirmed(call, delivery->confirmation, route->replicas)) {
		return DLOCK_OK;
	}
	/* A master that was replaced may go on without replicas for a while. */
	dlock_route_discover(route, error);
	const dlock_call *said = delivery->confirmation;
	const char *label = delivery->conn->server->label;
	delivery->transient = true;
	if (said && said->state == DLOCK_CALL_ANSWERED && said->reply->type == REDIS_REPLY_ERROR) {
		char reason[200];
		dlock_server_quote(delivery->conn->server, said->reply->str, reason, sizeof reason);
		const char *address;
		delivery->transient = dlock_delivery_answer(said, &address) == DLOCK_ANSWER_REPLICA;
		return dlock_fail(
			error, DLOCK_CONNECTION, "Redis at %s: %s; without WAIT, replicas cannot confirm anything", label, reason);
	}
	if (said && said->state == DLOCK_CALL_ANSWERED && said->reply->type == REDIS_REPLY_INTEGER
		&& dlock_delivery_is_behind(call, said)) {
		return dlock_fail(error, DLOCK_CONNECTION,
			"Redis at %s: %lld of its replicas confirmed it in time, and %d must (replicas=%d)", label,
			said->reply->integer, route->replicas, route->replicas);
	}
	return dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: whether replicas have it is not known: %.200s", label,
		*delivery->conn->error.message ? delivery->conn->error.message : "the connection was replaced");
}

/* What was sent before the confirmation, or over another connection, says nothing: it is sent once more. */
dlock_status dlock_delivery_pass_on(dlock_delivery *delivery, const dlock_route *route, dlock_error *error)
{
	const char *address;

	if (!dlock_delivery_is_behind(delivery->confirmation, delivery->behind)
		&& delivery->confirmation->generation == delivery->conn->generation && renew_call(&delivery->behind)) {
		dlock_conn_send(delivery->conn, delivery->behind);
	}
	if (!delivery->behind) {
		return dlock_fail(error, DLOCK_CONNECTION, "Out of memory");
	}
	dlock_loop_await(dlock_pool_loop(route->pool), is_answered, delivery->behind, route->until);
	if (delivery->behind->state != DLOCK_CALL_ANSWERED
		|| !dlock_delivery_is_behind(delivery->confirmation, delivery->behind)) {
		delivery->transient = true;
		return dlock_fail(error, DLOCK_CONNECTION,
			"Redis at %s: whether replicas took full copies is not known: %.200s", delivery->conn->server->label,
			*delivery->conn->error.message ? delivery->conn->error.message : "no answer in the time allowed");
	}
	delivery->repeated |= delivery->call->repeated;
	discard(&delivery->call);
	discard(&delivery->confirmation);
	delivery->call = delivery->behind;
	delivery->behind = NULL;
	delivery->transient = dlock_delivery_answer(delivery->call, &address) != DLOCK_ANSWER_FINAL;
	return DLOCK_OK;
}

bool dlock_delivery_may_run_later(const dlock_delivery *delivery)
{
	const dlock_call *call = delivery->call;

	return call && (delivery->repeated || (call->sent && (call->state != DLOCK_CALL_ANSWERED || call->repeated)));
}

void dlock_delivery_end(dlock_delivery *delivery)
{
	discard(&delivery->behind);
	discard(&delivery->confirmation);
	discard(&delivery->call);
}

dlock_conn *dlock_route_conn(const dlock_route *route, int slot)
{
	dlock_server *master = dlock_topology_master(route->topology, slot);

	return master ? dlock_pool_conn(route->pool, master) : NULL;
}

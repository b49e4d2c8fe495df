#include "settling.h"

#include <string.h>

/* Tells the server that the era may settle. DLOCK_LOST: not so. */
static dlock_status tell_settled(const dlock_settler *settler, dlock_keys keys, dlock_era *era, const dlock_era *with,
	dlock_delivery *delivery, dlock_error *error)
{
	dlock_route once = *settler->route;
	dlock_delivery settling;
	dlock_response response;

	once.replicas = 0; /* where it is lost with the master, so is the era */
	dlock_status status = dlock_deliver(
		&settling, &once, keys.slot, dlock_request_settle(keys, era, settler->guard, with), error);
	if (status == DLOCK_OK) {
		status = dlock_read_integer(settling.call, settling.conn, &response, error);
	}
	if (status == DLOCK_OK) {
		era->left = response.value;
	}
	delivery->transient = settling.transient;
	dlock_delivery_end(&settling);
	return status;
}

static dlock_status confirm_and_settle(
	const dlock_settler *settler, dlock_delivery *delivery, dlock_keys keys, dlock_era *era, dlock_error *error)
{
	dlock_status status = dlock_delivery_confirm(delivery, settler->route, error);

	return status == DLOCK_OK ? tell_settled(settler, keys, era, NULL, delivery, error) : status;
}

/* In a cluster: with the first slot of the same master, so that all its slots settle together, and a lock whose slot
 * was never used waits for nobody. DLOCK_LOST: not so. */
static dlock_status settle_with_first(
	const dlock_settler *settler, dlock_delivery *delivery, int slot, dlock_era *era, dlock_error *error)
{
	int first = dlock_topology_first_slot(settler->route->topology, delivery->conn->server);
	dlock_delivery looking;

	if (first < 0 || first == slot) {
		return DLOCK_LOST;
	}
	dlock_server *master = dlock_server_retain(delivery->conn->server); /* the connection may come to know it by its id */
	dlock_call *look = dlock_request_look(dlock_key_builder_slot(settler->keys, first), settler->guard, slot, era);
	dlock_status status = dlock_deliver(&looking, settler->route, first, look, error);
	dlock_era with = dlock_read_era(looking.call);
	if (status == DLOCK_OK && with.unsettled && with.left < 0) {
		status = confirm_and_settle(settler, &looking, dlock_key_builder_slot(settler->keys, first), &with, error);
		with.waited = settler->guard.time / DLOCK_MS;
	}
	if (status == DLOCK_OK
		&& (!with.replid || strcmp(with.replid, era->replid) || strcmp(looking.conn->server->key, master->key))) {
		status = DLOCK_LOST;
	}
	if (status == DLOCK_OK) {
		status = tell_settled(settler, dlock_key_builder_slot(settler->keys, slot), era, &with, &looking, error);
	}
	delivery->transient = looking.transient;
	dlock_delivery_end(&looking);
	dlock_server_release(master);
	return status;
}

dlock_status dlock_settle(
	const dlock_settler *settler, dlock_delivery *delivery, int slot, dlock_era *era, dlock_error *error)
{
	dlock_status status = settle_with_first(settler, delivery, slot, era, error);

	if (status == DLOCK_LOST) {
		status = confirm_and_settle(settler, delivery, dlock_key_builder_slot(settler->keys, slot), era, error);
	}
	return status == DLOCK_LOST ? DLOCK_OK : status; /* somebody else has told it */
}

dlock_status dlock_settle_confirm(
	const dlock_settler *settler, dlock_delivery *delivery, int slot, dlock_era *era, dlock_error *error)
{
	dlock_response response;
	bool looks = settler->route->replicas > 0 && settler->guard.resyncs;
	dlock_status status = dlock_delivery_confirm(delivery, settler->route, error);

	*era = (dlock_era) { 0 };
	if (status == DLOCK_OK && looks) {
		status = dlock_delivery_pass_on(delivery, settler->route, error);
	}
	if (status != DLOCK_OK || !looks) {
		return status;
	}
	*era = dlock_read_era(delivery->call);
	if (!era->unsettled) {
		status = dlock_read_integer(delivery->call, delivery->conn, &response, error);
		delivery->transient |= status == DLOCK_LOST;
		return status != DLOCK_LOST
			? status
			: dlock_fail(error, DLOCK_CONNECTION, "Redis at %s: the lock was gone before it was confirmed",
				delivery->conn->server->label);
	}
	status = era->left < 0 ? dlock_settle(settler, delivery, slot, era, error) : DLOCK_OK;
	if (status != DLOCK_OK) {
		return status;
	}
	dlock_explain_era(delivery->conn, era->left, settler->guard.time, error);
	return DLOCK_LOST;
}

/* When the era was not confirmed, in ms. */
#define TRY_AGAIN 20

dlock_status dlock_settle_refused(const dlock_settler *settler, dlock_delivery *delivery, int slot,
	dlock_response *response, bool *at_once, bool *explained, dlock_error *error)
{
	dlock_era era = dlock_read_era(delivery->call);

	*at_once = false;
	if (era.unsettled && era.left < 0) {
		dlock_status status = dlock_settle(settler, delivery, slot, &era, error);
		if (status != DLOCK_OK) {
			return status;
		}
		response->pttl = era.left < 0 ? TRY_AGAIN : era.left;
		*at_once = era.left >= 0 && era.left <= DLOCK_AT_ONCE;
	}
	*explained = era.unsettled;
	if (era.unsettled) {
		dlock_explain_era(delivery->conn, era.left, settler->guard.time, error);
	}
	return DLOCK_TIMEOUT;
}

#include "renewal_round.h"

#include <stdlib.h>
#include <string.h>

bool dlock_round_init(dlock_round *round, const dlock_claim *claim)
{
	dlock_place place = claim->backend->ops->place(claim);

	round->quorum = place.quorum;
	memcpy(round->token, claim->token, sizeof round->token);
	round->fencing_token = claim->fencing_token;
	round->key = malloc(place.key.len);
	round->key_len = place.key.len;
	round->servers = calloc((size_t) place.count, sizeof *round->servers);
	round->seats = calloc((size_t) place.count, sizeof *round->seats);
	if (!round->key || !round->servers || !round->seats) {
		return false;
	}
	memcpy(round->key, place.key.text, place.key.len);
	for (round->count = 0; round->count < place.count; round->count++) {
		round->servers[round->count] = dlock_server_retain(place.servers[round->count]);
	}
	return true;
}

static void drop(dlock_call **call)
{
	dlock_call_release(*call);
	*call = NULL;
}

void dlock_round_dispose(dlock_round *round)
{
	for (int i = 0; i < round->count; i++) {
		drop(&round->seats[i].extension);
		drop(&round->seats[i].repair);
		dlock_server_release(round->servers[i]);
	}
	free(round->servers);
	free(round->seats);
	free(round->key);
}

static dlock_keys keys_of(const dlock_round *round)
{
	return (dlock_keys) { .lock = { round->key, round->key_len } };
}

/* So much of the lease time one attempt may take, so that there is time for another: from an eighth to a quarter, in steps,
 * so that leases of about the same length share a connection. A slow server that is in time for long ones must not lose
 * them because it is too slow for a short one. */
static dlock_nanos patience(const dlock_server *server, dlock_nanos ttl)
{
	dlock_nanos part = 20 * DLOCK_MS;

	while (part < server->connect_timeout || part < server->read_timeout) {
		if (2 * part > ttl / 4) {
			return part;
		}
		part *= 2;
	}
	return DLOCK_FOREVER;
}

/* The connection for this lease time; but what may have to be taken back stays where it was said. */
static void have_conn(dlock_seat *seat, dlock_pool *pool, dlock_server *server, dlock_nanos ttl)
{
	dlock_nanos limit = patience(server, ttl);

	if (!seat->conn || (seat->conn->timeout_cap != limit && !seat->unsettled)) {
		dlock_conn *conn = dlock_pool_capped_conn(pool, server, limit);
		seat->conn = conn ? conn : seat->conn;
	}
}

static bool is_pending(const dlock_call *call)
{
	return call && call->state == DLOCK_CALL_PENDING;
}

static void call_off(dlock_call *call)
{
	if (is_pending(call)) {
		dlock_call_cancel_sending(call);
	}
}

void dlock_round_begin(dlock_round *round, dlock_pool *pool, dlock_nanos ttl, bool extends)
{
	round->started = dlock_now();
	for (int i = 0; i < round->count; i++) {
		dlock_seat *seat = &round->seats[i];
		call_off(seat->extension);
		drop(&seat->extension);
		have_conn(seat, pool, round->servers[i], extends ? ttl : DLOCK_TTL_MAX); /* one connection for all that are only asked about */
		seat->extension = extends ? dlock_request_renew(keys_of(round), round->token, ttl) : dlock_request_check(keys_of(round), round->token);
		if (!seat->conn || !seat->extension) {
			drop(&seat->extension);
			continue;
		}
		dlock_conn_send(seat->conn, seat->extension);
	}
}

/* 1: it is in place, 0: not the token's, -1: no answer. */
static int opinion(const dlock_seat *seat)
{
	dlock_response response;
	dlock_error error;
	dlock_status status = seat->extension ? dlock_read_integer(seat->extension, seat->conn, &response, &error) : DLOCK_CONNECTION;

	return status == DLOCK_OK ? 1 : status == DLOCK_LOST ? 0 : -1;
}

dlock_round_result dlock_round_look(const dlock_round *round)
{
	int yes = 0, no = 0, pending = 0;

	for (int i = 0; i < round->count; i++) {
		if (is_pending(round->seats[i].extension)) {
			pending++;
		} else {
			yes += opinion(&round->seats[i]) > 0;
			no += opinion(&round->seats[i]) == 0;
		}
	}
	if (yes >= round->quorum) {
		return DLOCK_ROUND_KEPT;
	}
	if (no > round->count - round->quorum) {
		return DLOCK_ROUND_GONE;
	}
	return yes + pending < round->quorum ? DLOCK_ROUND_FAILED : DLOCK_ROUND_OPEN;
}

static bool is_gap(const dlock_seat *seat)
{
	return seat->extension && !is_pending(seat->extension) && !is_pending(seat->repair) && opinion(seat) == 0;
}

bool dlock_round_has_gaps(const dlock_round *round)
{
	for (int i = 0; i < round->count; i++) {
		if (is_gap(&round->seats[i])) {
			return true;
		}
	}
	return false;
}

void dlock_round_repair(dlock_round *round, dlock_nanos ttl)
{
	for (int i = 0; i < round->count; i++) {
		dlock_seat *seat = &round->seats[i];
		if (!is_gap(seat)) {
			continue;
		}
		drop(&seat->extension);
		drop(&seat->repair);
		seat->repair = dlock_request_repair(keys_of(round), round->token, ttl, round->fencing_token);
		if (seat->repair) {
			dlock_conn_send(seat->conn, seat->repair);
			seat->unsettled |= seat->repair->sent || is_pending(seat->repair);
		}
	}
}

/* What has been called off before it was sent is not. */
static bool is_under_way(const dlock_call *call)
{
	return is_pending(call) && (call->sent || call->wanted);
}

bool dlock_round_is_busy(dlock_round *round, bool released)
{
	bool busy = false;
	dlock_response response;
	dlock_error error;

	for (int i = 0; i < round->count; i++) {
		dlock_seat *seat = &round->seats[i];
		busy |= is_under_way(seat->extension) || is_under_way(seat->repair);
		if (seat->repair && seat->repair->state == DLOCK_CALL_ANSWERED) {
			round->refused |= dlock_read_integer(seat->repair, seat->conn, &response, &error) == DLOCK_LOST;
			/* It may have been executed behind the release, however early its answer is read. */
			seat->unsettled &= released;
			drop(&seat->repair);
		}
		if (!released && opinion(seat) >= 0) {
			seat->counted = opinion(seat) > 0;
		}
	}
	return busy;
}

void dlock_round_call_off(dlock_round *round)
{
	for (int i = 0; i < round->count; i++) {
		call_off(round->seats[i].extension);
		call_off(round->seats[i].repair);
	}
}

dlock_nanos dlock_round_longest(const dlock_round *round, dlock_nanos ttl)
{
	dlock_nanos longest = 0;

	for (int i = 0; i < round->count; i++) {
		dlock_nanos limit = patience(round->servers[i], ttl);
		limit = limit < round->servers[i]->read_timeout ? limit : round->servers[i]->read_timeout;
		longest = limit > longest ? limit : longest;
	}
	return longest;
}

bool dlock_round_has_calls(const dlock_round *round)
{
	for (int i = 0; i < round->count; i++) {
		if (round->seats[i].extension || round->seats[i].repair) {
			return true;
		}
	}
	return false;
}

bool dlock_round_has_unsettled(const dlock_round *round)
{
	for (int i = 0; i < round->count; i++) {
		if (round->seats[i].unsettled) {
			return true;
		}
	}
	return false;
}

/* On the same connection, so behind the repair, which is not sent again. A lease of a millisecond needs no more of the key's companions. */
void dlock_round_take_back(dlock_round *round, dlock_nanos ttl, bool over)
{
	for (int i = 0; i < round->count; i++) {
		dlock_seat *seat = &round->seats[i];
		if (seat->unsettled && (over || !seat->counted)) {
			call_off(seat->repair);
			dlock_conn_send_background(seat->conn, dlock_request_extend(keys_of(round), round->token, DLOCK_MS), dlock_after(dlock_now(), ttl));
		}
		seat->unsettled = false;
	}
}

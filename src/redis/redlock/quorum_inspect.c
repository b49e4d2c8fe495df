#include "quorum.h"
#include "quorum_internal.h"

#include <stdlib.h>
#include <string.h>

#include "../request/inspect_requests.h"
#include "../wire/reply.h"

/* What is seen of a lock on several servers. Each server is asked. The holder is the client that has the lock on a
 * majority. */

static dlock_keys keys_of(const quorum_backend *backend, const char *resource, size_t len)
{
	dlock_keys keys = dlock_key_builder_keys(backend->keys, resource, len);

	keys.held = dlock_key_builder_held(backend->keys, keys);
	return keys;
}

/* Yes: there is a reply, and it is no error. */
static dlock_status read_any(
	const dlock_call *call, const dlock_conn *conn, dlock_response *response, dlock_error *error)
{
	(void) response;
	return dlock_check_reply(call, conn, error);
}

/* A task that asks each server the same question. It ends when all have answered, or a moment after a quorum has. */
typedef struct {
	quorum_backend *backend;
	dlock_ballot votes;
	dlock_voter voters[DLOCK_MOST_SERVERS];
	dlock_task task;
	dlock_nanos until;
} asking;

static dlock_status ask_step(void *task, dlock_loop *loop, dlock_nanos now)
{
	asking *own = task;

	DLOCK_BEGIN(&own->task);
	DLOCK_AWAIT(&own->task, dlock_ballot_ends(&own->votes, DLOCK_FOREVER, loop, now));
	own->until = now + DLOCK_REST_OF_VOTES;
	DLOCK_AWAIT(&own->task, dlock_ballot_drains(&own->votes, own->votes.count, own->until, loop, now));
	DLOCK_END(&own->task);
	return DLOCK_OK;
}

static void ask_each(quorum_backend *backend, asking *own, dlock_reader *read,
	dlock_call *(*request)(dlock_keys keys, const void *context), dlock_keys keys, const void *context)
{
	*own = (asking) { .backend = backend };
	dlock_quorum_begin(backend, &own->votes, own->voters, read);
	for (int i = 0; i < backend->count; i++) {
		dlock_ballot_ask(&own->votes, i, request(keys, context));
	}
	dlock_loop_run(backend->loop, ask_step, own, DLOCK_FOREVER, NULL);
}

/* ---- one lock ---- */

static dlock_call *inspect_request(dlock_keys keys, const void *most)
{
	return dlock_request_inspect(keys, *(const int *) most);
}

/* Returns how many servers have the most frequent holder, and its id; "": there is none. */
static int most_frequent(const dlock_inspection *seen, int count, const char **id)
{
	int most = 0;

	*id = "";
	for (int i = 0; i < count; i++) {
		int same = 0;
		for (int k = 0; seen[i].holders > 0 && k < count; k++) {
			same += seen[k].holders > 0 && !strcmp(seen[i].parties[0].id, seen[k].parties[0].id);
		}
		if (same > most) {
			most = same;
			*id = seen[i].parties[0].id;
		}
	}
	return most;
}

static const char *state_of(const asking *own, const dlock_inspection *seen, int server, const char *holder)
{
	if (own->voters[server].vote != DLOCK_VOTE_YES) {
		const char *error = dlock_quorum_server_error(&own->backend->base, server);
		return error ? error : "no answer yet";
	}
	return seen->holders == 0 ? "free" : !strcmp(seen->parties[0].id, holder) ? "held" : "other";
}

/* The server whose report is used: it has the holder, and knows the most waiters. -1: none. */
static int best_of(const dlock_inspection *seen, int count, const char *holder)
{
	int best = -1;

	for (int i = 0; i < count; i++) {
		bool has = *holder ? seen[i].holders > 0 && !strcmp(seen[i].parties[0].id, holder) : seen[i].at > 0;
		if (has && (best < 0 || seen[i].waiting > seen[best].waiting)) {
			best = i;
		}
	}
	return best;
}

/* Without a majority, the lock has no holder. */
static void drop_holder(dlock_inspection *inspection)
{
	if (inspection->holders > 0) {
		memmove(
			inspection->parties, inspection->parties + 1, (size_t) inspection->waiters * sizeof *inspection->parties);
		inspection->holders = 0;
		inspection->holding = 0;
	}
}

static dlock_status take(const asking *own, dlock_inspection *seen, dlock_inspection *out, dlock_error *error)
{
	const quorum_backend *backend = own->backend;
	const char *holder;
	int count = backend->count, most = most_frequent(seen, count, &holder);
	bool held = most >= backend->quorum;
	int best = best_of(seen, count, held ? holder : "");

	if (best < 0) {
		return dlock_ballot_no_quorum(&own->votes, error);
	}
	for (int i = 0; i < count; i++) {
		const char *state = state_of(own, &seen[i], i, held ? holder : "-");
		if (!dlock_inspection_add_server(&seen[best], backend->members[i].conn->server->label, state)) {
			return dlock_out_of_memory(error);
		}
	}
	*out = seen[best];
	seen[best] = (dlock_inspection) { 0 };
	if (!held) {
		drop_holder(out);
	}
	return DLOCK_OK;
}

dlock_status dlock_quorum_inspect(dlock_backend *base, const char *resource, size_t len, int most,
	dlock_inspection *out, dlock_error *error)
{
	quorum_backend *backend = (quorum_backend *) base;
	dlock_inspection seen[DLOCK_MOST_SERVERS] = { { 0 } };
	asking own;
	dlock_status status = DLOCK_OK;
	int answered = 0;

	ask_each(backend, &own, read_any, inspect_request, keys_of(backend, resource, len), &most);
	for (int i = 0; status == DLOCK_OK && i < backend->count; i++) {
		if (own.voters[i].vote == DLOCK_VOTE_YES) {
			answered++;
			status = dlock_read_inspection(own.voters[i].call, backend->members[i].conn, &seen[i], error);
		}
	}
	if (status == DLOCK_OK) {
		status = answered >= backend->quorum ? take(&own, seen, out, error)
											 : dlock_ballot_no_quorum(&own.votes, error);
	}
	dlock_ballot_end(&own.votes);
	for (int i = 0; i < backend->count; i++) {
		dlock_inspection_end(&seen[i]);
	}
	return status;
}

/* ---- the list ---- */

enum { MOST_SEEN = 1000 };

static dlock_call *seen_request(dlock_keys keys, const void *context)
{
	(void) keys, (void) context;
	return dlock_request_seen(DLOCK_ARG(DLOCK_SEEN_KEY), MOST_SEEN);
}

/* Adds the resources that are not in `out` yet. */
static dlock_status merge(dlock_listing *out, const dlock_listing *more, dlock_error *error)
{
	for (int i = 0; i < more->count; i++) {
		const dlock_listed *one = &more->first[i];
		if (!dlock_listing_has(out, one->resource, one->resource_len)
			&& !dlock_listing_add(out, one->resource, one->resource_len)) {
			return dlock_out_of_memory(error);
		}
	}
	return DLOCK_OK;
}

static dlock_status find_seen(quorum_backend *backend, dlock_listing *out, dlock_error *error)
{
	asking own;
	dlock_status status = DLOCK_OK;

	ask_each(backend, &own, read_any, seen_request, (dlock_keys) { .slot = 0 }, NULL);
	for (int i = 0; status == DLOCK_OK && i < backend->count; i++) {
		dlock_listing one = { 0 };
		if (own.voters[i].vote == DLOCK_VOTE_YES) {
			status = dlock_read_seen(
				own.voters[i].call, backend->members[i].conn, backend->base.prefix, &one, error);
		}
		status = status == DLOCK_OK ? merge(out, &one, error) : status;
		dlock_listing_end(&one);
	}
	if (status == DLOCK_OK && own.votes.yes < backend->quorum) {
		status = dlock_ballot_no_quorum(&own.votes, error);
	}
	dlock_ballot_end(&own.votes);
	return status;
}

dlock_status dlock_quorum_list(dlock_backend *base, int most, dlock_listing *out, dlock_error *error)
{
	dlock_status status = find_seen((quorum_backend *) base, out, error);

	for (int i = 0; status == DLOCK_OK && i < out->count; i++) {
		dlock_listed *one = &out->first[i];
		status = dlock_quorum_inspect(base, one->resource, one->resource_len, 1, &one->inspection, error);
		status = status == DLOCK_LOST ? DLOCK_OK : status; /* the key has another type */
	}
	if (status == DLOCK_OK) {
		dlock_listing_sort(out, most);
	}
	return status;
}

/* ---- breaking ---- */

static dlock_call *break_request(dlock_keys keys, const void *context)
{
	const dlock_break *how = context;

	return dlock_request_break(keys, how->id, how->by, how->now, false);
}

static dlock_status read_broken(
	const dlock_call *call, const dlock_conn *conn, dlock_response *response, dlock_error *error)
{
	return dlock_read_break(call, conn, &response->pttl, error);
}

/* Breaks the lock on all servers. A holder with a majority stays the only one until enough of its keys have expired for
 * another client to reach a majority. By then its lease has ended, as after its death. */
dlock_status dlock_quorum_break(dlock_backend *base, const char *resource, size_t len, const dlock_break *how,
	dlock_nanos *left, dlock_error *error)
{
	quorum_backend *backend = (quorum_backend *) base;
	asking own;
	int64_t longest = 0;

	ask_each(backend, &own, read_broken, break_request, keys_of(backend, resource, len), how);
	for (int i = 0; i < backend->count; i++) {
		if (own.voters[i].vote == DLOCK_VOTE_YES && own.voters[i].response.pttl > longest) {
			longest = own.voters[i].response.pttl;
		}
	}
	*left = dlock_lease_left(longest);
	dlock_status status = own.votes.yes >= backend->quorum ? DLOCK_OK
		: own.votes.yes + own.votes.no >= backend->quorum ? DLOCK_LOST : dlock_ballot_no_quorum(&own.votes, error);
	dlock_ballot_end(&own.votes);
	return status;
}

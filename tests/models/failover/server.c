/* Servers: who they are, how they replicate, and the scripts, which are the protocol. */
#include "world.h"

/* ---- a server: identity, and acknowledgements ---- */

void forget(data *data)
{
	memset(data, 0, sizeof *data);
	data->owner = NOBODY;
	data->run_id = NOBODY;
	data->settles = NEVER;
}

void begin_reign(server *node)
{
	for (int i = 0; i < NODES; i++) {
		node->acked[i] = -1;
	}
	node->waiting = 0;
}

/* Clients that wait there for an acknowledgement receive no answer, which they treat as an error. */
static void end_reign(server *node)
{
	begin_reign(node);
	node->is_master = false;
}

void promote(server *node)
{
	begin_reign(node);
	node->is_master = true;
	node->replid2 = node->history;
	node->offset2 = node->offset;
	node->replid = node->history = ++ids;
	node->master = index_of(node);
	node->linked = NOBODY;
	node->due = NEVER;
	node->replicas_until = now;
	newest = index_of(node);
	total.fail_overs++;
	TELL("server %d is promoted: replid %d, owner %d", newest, node->replid, node->now.owner);
}

void follow(server *node, int master)
{
	if (node->is_master) {
		end_reign(node);
	}
	TELL("server %d is told to follow %d", index_of(node), master);
	node->master = master;
	node->linked = NOBODY;
	node->due = NEVER;
	for (int c = 0; c < CLIENTS; c++) {
		if (weather.kill && clients[c].node == index_of(node)) {
			clients[c].node = NOBODY;
		}
	}
}

void start(server *node, int what)
{
	node->up = true;
	node->up_since = now;
	node->run_id = ++ids;
	node->syncs = node->attached = 0;
	node->full = false;
	node->linked = NOBODY;
	node->due = NEVER;
	node->replicas_until = now;
	begin_reign(node);
	if (what == 0) {
		forget(&node->now);
		node->offset = 0;
	} else if (what == 1) {
		node->now = node->saved;
	}
	node->replid = node->history = ++ids;
	node->replid2 = NOBODY;
	if (what == 1 && IS(AT_ONCE) && once_in(2) && node->saved_history) { /* a snapshot, which has them */
		node->offset = node->offset2 = node->saved_offset;
		node->replid2 = node->saved_history;
		node->history = node->is_master ? node->replid : node->saved_history;
	}
	node->first = node->offset + 1;
	TELL("server %d starts %s: run_id %d", index_of(node),
		what == 0       ? "empty"
			: what == 1 ? "with old data"
						: "with its data",
		node->run_id);
}

static int acknowledgements(const server *node, int offset)
{
	int n = 0;

	for (int i = 0; i < count; i++) {
		n += node->acked[i] >= offset;
	}
	return n;
}

/* ---- replication ---- */

static void check_grant(server *node, message *request);

static void answer(const message *request, int result)
{
	if (sent_messages == MESSAGES) {
		return;
	}
	message *reply = &messages[sent_messages++];
	*reply = *request;
	reply->is_answer = true;
	reply->result = result;
	reply->due = now + below(weather.delay + 1);
}

/* WAIT of those whose writes enough replicas have by now. With STALE another script follows behind that of a grant. */
static void answer_waits(server *node)
{
	for (int i = 0; i < node->waiting; i++) {
		wait_for wait = node->waits[i];
		if (acknowledgements(node, wait.offset) < confirmations) {
			continue;
		}
		node->waits[i--] = node->waits[--node->waiting];
		message request = { .kind = wait.kind,
			.client = wait.client,
			.number = wait.number,
			.node = index_of(node),
			.token = wait.token,
			.fence = wait.fence,
			.opening = wait.opening,
			.opened_run_id = wait.run_id,
			.opened_replid = wait.replid };
		if (IS(STALE) && !IS(RESYNCS_NOT_CONFIRMED) && wait.kind == ACQUIRE && wait.result == GRANTED) {
			check_grant(node, &request);
		} else {
			answer(&request, wait.result);
		}
	}
}

static void copy_from(server *node, server *master)
{
	node->next = master->now;
	node->due_offset = master->offset;
	node->due = now + below(weather.lag + 1);
}

static void attach_to(server *node, server *master)
{
	bool partial = node->history == master->replid
		|| (node->history == master->replid2 && node->offset <= master->offset2);

	partial = partial && (!IS(AT_ONCE) || (node->offset + 1 >= master->first && node->offset <= master->offset));
	node->full = !partial;
	master->attached++;
	if (!partial) {
		master->syncs++;
		total.resyncs++;
	}
	node->linked = master->replid;
	copy_from(node, master);
	TELL("server %d is attached to %d, %s", index_of(node), node->master,
		partial ? "where it was" : "with a full resync");
}

void read_acks(server *master)
{
	for (int i = 0; i < count; i++) {
		server *node = &nodes[i];
		int m = index_of(master);
		if (node->acks[m].due <= now && reaches(i, m)) {
			node->acks[m].due = NEVER;
			if (node->acks[m].replid == master->replid && master->acked[i] < node->acks[m].offset) {
				master->acked[i] = node->acks[m].offset;
			}
		}
	}
	answer_waits(master);
}

void replicate(server *node)
{
	int m = node->master;
	server *master = &nodes[m];

	if (node->due <= now) {
		node->now = node->next;
		node->offset = node->due_offset;
		node->history = node->linked;
		node->due = NEVER;
		node->first = node->full ? node->offset + 1 : node->first;
		if (node->first < node->offset - BACKLOG) {
			node->first = node->offset - BACKLOG;
		}
		node->full = false;
	}
	if (master == node || !master->up || !master->is_master || !reaches(index_of(node), m)) {
		return;
	}
	if (node->linked != master->replid) {
		node->linked = NOBODY;
		node->due = NEVER;
		if (runs(master) && once_in(weather.link)) {
			attach_to(node, master);
		}
		return;
	}
	master->replicas_until = now;
	if (node->due == NEVER && node->offset < master->offset && runs(master)) {
		copy_from(node, master);
	}
	if (node->acks[m].due == NEVER && node->history == node->linked) {
		node->acks[m].offset = node->offset;
		node->acks[m].replid = node->linked;
		node->acks[m].due = now + below(weather.lag + 1);
	}
}

/* ---- scripts ---- */

static bool is_live(const server *node)
{
	return node->now.owner != NOBODY && clock_of(node) < node->now.expires;
}

/* Is the epoch in its data the one of this server? */
static bool is_current(const server *node, const message *request)
{
	const data *data = &node->now;

	if (IS(REPLID_AT_CONNECT)) {
		return data->run_id != NOBODY && data->replid == request->shown;
	}
	if (IS(AT_ONCE)) {
		return data->replid == node->replid;
	}
	if (IS(STALE) && IS(RESYNCS_NOT_CONFIRMED) && data->syncs != node->syncs) {
		return false;
	}
	if (data->run_id != node->run_id) {
		return false;
	}
	return data->replid == node->replid || IS(RUN_ID_ALONE) || (IS(REPLID_NOTED) && node->replid2 == NOBODY);
}

static bool is_settled(const server *node, const message *request)
{
	if (IS(AT_ONCE)) {
		return node->now.settled && node->now.replid == node->replid;
	}
	return IS(NO_GUARD) || (is_current(node, request) && node->now.settles <= clock_of(node));
}

static void wait_for_replicas(server *node, const message *request, int result)
{
	bool waits = confirmations > 0;

	waits = waits && !(request->kind == ACQUIRE && result == GRANTED && IS(GRANT_WITHOUT_WAIT));
	waits = waits && !(request->kind == RENEW && IS(RENEWAL_WITHOUT_WAIT));
	if (!waits) {
		answer(request, result);
	} else if (node->waiting < WAITS) {
		node->waits[node->waiting++] = (wait_for){ .kind = request->kind,
			.client = request->client,
			.number = request->number,
			.token = request->token,
			.offset = node->offset,
			.result = result,
			.fence = request->fence,
			.opening = node->now.opening,
			.run_id = node->run_id,
			.replid = node->replid };
	}
}

/* The unit is finer than a tick: no two scripts run in the same microsecond. */
void anchor(server *node, int time)
{
	if (node->now.fence < 16 * time) {
		node->now.fence = 16 * time;
	}
}

static int next_fence(server *node, bool first)
{
	bool counts = IS(COUNTED_ALONE) || IS(ANCHORED) || (IS(ANCHORED_AT_CONNECT) && !first);

	node->now.fence++;
	if (!counts) {
		anchor(node, clock_of(node));
	}
	return node->now.fence;
}

void open_era(server *node, const message *request)
{
	data *data = &node->now;

	data->replid = IS(REPLID_AT_CONNECT) ? request->shown : node->replid;
	data->syncs = node->syncs;
	data->opening = ++ids;
	data->settles = IS(SETTLED_FROM_OPENING) ? clock_of(node) + guard() : NEVER;
	if (IS(FIRST_AT_ONCE) && data->run_id == NOBODY && node->replid2 == NOBODY && now - node->up_since >= guard()) {
		data->settles = clock_of(node);
	}
	data->run_id = node->run_id;
	node->offset++;
	TELL("client %d opens an epoch at server %d", request->client, index_of(node));
}

static void set_key(server *node, int client, int token)
{
	node->now.owner = client;
	node->now.token = token;
	node->now.expires = clock_of(node) + LEASE + (IS(AT_ONCE) ? MARGIN : 0);
	node->offset++;
}

static void leave_queue(data *data, int client)
{
	int kept = 0;

	for (int i = 0; i < data->waiting; i++) {
		if (data->queue[i].client != client) {
			data->queue[kept++] = data->queue[i];
		}
	}
	data->waiting = kept;
}

static void refuse(server *node, const message *request)
{
	data *data = &node->now;

	leave_queue(data, request->client);
	data->queue[data->waiting++] = (waiter) {request->client, request->token, request->sent};
	node->offset++;
	message told = *request;
	told.opening = node->now.settles != NEVER; /* the nodes may be asked */
	answer(&told, REFUSED);
}

/* While it has not settled, scripts notice that a replica has taken a full resynchronization. */
static bool settles_in_vain(const server *node)
{
	return IS(STALE) && node->now.settles != NEVER && node->now.settles > clock_of(node)
		&& node->now.syncs != node->syncs;
}

static void acquire(server *node, message *request)
{
	bool own = is_live(node) && node->now.owner == request->client && node->now.token == request->token;
	bool own_suffices = own && (IS(OWN_KEY_UNSETTLED) || IS(HANDOVER_UNSETTLED));

	bool settled = IS(AT_ONCE) && look(node, request, false);
	if (IS(AT_ONCE) ? !settled && node->now.settles == NEVER
					: !IS(NO_GUARD) && (!is_current(node, request) || settles_in_vain(node))) {
		IS(AT_ONCE) ? (void) node->offset++ : open_era(node, request);
		wait_for_replicas(node, request, OPENED);
	} else if ((!is_settled(node, request) && !own_suffices) || (is_live(node) && !own)) {
		refuse(node, request);
	} else {
		set_key(node, request->client, request->token);
		leave_queue(&node->now, request->client);
		request->fence = next_fence(node, request->anchors);
		wait_for_replicas(node, request, GRANTED);
	}
}

/* After WAIT, for a grant: has no replica taken a full resynchronization since the epoch was opened? */
static void check_grant(server *node, message *request)
{
	if (node->now.owner != request->client || node->now.token != request->token) {
		answer(request, FAILED);
		return;
	}
	if (IS(AT_ONCE) && ((node->now.settled && node->now.attached == node->attached) || IS(GRANTS_NOT_DOUBTED))) {
		answer(request, GRANTED);
		return;
	}
	if (IS(AT_ONCE)) {
		if (look(node, request, request->final)) {
			answer(request, node->now.attached == node->attached ? GRANTED : DOUBTED);
			return;
		}
		node->now.owner = NOBODY;
		node->offset++;
		wait_for_replicas(node, request, node->now.settles == NEVER ? OPENED : REFUSED);
		return;
	}
	bool settled = is_settled(node, request);
	if (settled && node->now.syncs == node->syncs) {
		answer(request, GRANTED);
		return;
	}
	if (settled || !is_current(node, request) || settles_in_vain(node)) {
		open_era(node, request);
	}
	node->now.owner = NOBODY;
	node->offset++;
	wait_for_replicas(node, request, node->now.settles == NEVER ? OPENED : REFUSED);
}

static void renew(server *node, message *request)
{
	bool own = is_live(node) && node->now.owner == request->client && node->now.token == request->token;

	if (IS(AT_ONCE)) {
		look(node, request, false);
	} else if (!IS(NO_GUARD) && !is_current(node, request)) {
		open_era(node, request);
	}
	if (!own && ((is_live(node) && !(IS(REPAIR_OVER_ANOTHER) && !is_settled(node, request)))
			|| (is_settled(node, request) && !IS(REPAIR_ANYWHERE)))) {
		answer(request, LOST);
		return;
	}
	total.repairs += !own;
	set_key(node, request->client, request->token);
	if (node->now.fence < request->fence) {
		node->now.fence = request->fence;
	}
	wait_for_replicas(node, request, GRANTED);
}

static void hand_over(server *node, const message *release)
{
	waiter first = node->now.queue[0];
	message push = *release;

	leave_queue(&node->now, first.client);
	set_key(node, first.client, first.token);
	push.client = first.client;
	push.token = first.token;
	push.sent = first.sent;
	push.fence = next_fence(node, false);
	answer(&push, PUSHED);
	TELL("server %d hands over to client %d", index_of(node), first.client);
}

static void release(server *node, const message *request)
{
	bool own = node->now.owner == request->client && node->now.token == request->token;

	if (!own) {
		return;
	}
	bool settled = is_settled(node, request) || IS(HANDOVER_UNSETTLED) || IS(HANDOVER_ANYWHERE);
	if (settled && is_live(node) && node->now.waiting > 0) {
		hand_over(node, request);
		return;
	}
	node->now.owner = NOBODY;
	node->offset++;
}

/* The opening that this client made was acknowledged. */
static void settle(server *node, const message *request)
{
	data *data = &node->now;
	bool same = request->opened_run_id == node->run_id && request->opened_replid == node->replid
		&& request->opening == data->opening;

	if ((same || IS(SETTLED_UNCHECKED)) && is_current(node, request) && data->settles == NEVER) {
		data->settles = clock_of(node) + guard();
		data->syncs = node->syncs;
		data->attached = node->attached;
		data->base = node->offset;
		if (IS(ANCHORED)) {
			data->fence += IS(AT_ONCE) ? UNHEARD : 0;
			anchor(node, data->settles);
		}
		node->offset++;
		TELL("server %d settles in %d", index_of(node), guard());
	}
}

void execute(server *node, message *request)
{
	if (node->first < node->offset - BACKLOG) {
		node->first = node->offset - BACKLOG;
	}
	if (!node->is_master) {
		answer(request, FAILED);
		return;
	}
	switch (request->kind) {
	case ACQUIRE:
		acquire(node, request);
		break;
	case RENEW:
		renew(node, request);
		break;
	case RELEASE:
		release(node, request);
		break;
	case SETTLE_NOW:
		settle_now(node, &request->found);
		break;
	case CHECK:
		check_grant(node, request);
		break;
	default:
		settle(node, request);
	}
}

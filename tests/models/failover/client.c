/* Clients: claims, connections, and what they believe. */
#include "world.h"

static void end_request(client *client)
{
	client->number = 0;
	client->doubts = 0;
}

bool believes(const client *client)
{
	return client->state == HOLDING && now < client->until;
}

static void connect_to_some(client *client)
{
	int n = once_in(4) ? below(count) : newest;

	if (nodes[n].up && group_of[n] == client->group) {
		client->node = n;
		client->anchored = false;
		client->run_id = nodes[n].run_id;
		client->shown = nodes[n].is_master ? nodes[n].replid : nodes[n].history;
	}
}

static void send_to(client *client, int kind, int token)
{
	if (once_in(weather.lose) || sent_messages == MESSAGES) {
		return;
	}
	messages[sent_messages++] = (message){ .kind = kind,
		.client = (int) (client - clients),
		.node = client->node,
		.run_id = client->run_id,
		.shown = client->shown,
		.anchors = !client->anchored,
		.due = now + below(once_in(weather.late) ? 3 * LEASE : weather.delay + 1),
		.number = client->number,
		.token = token,
		.sent = now,
		.fence = client->fence,
		.opening = client->settle_opening,
		.opened_run_id = client->settle_run_id,
		.opened_replid = client->settle_replid,
		.final = client->doubts > 3,
		.found = client->found };
}

static void request(client *client, int kind)
{
	client->number = ++client->numbers;
	client->kind = kind;
	client->sent = now;
	client->gives_up = now + 2 + 2 * weather.delay + below(LEASE);
	send_to(client, kind, client->token);
}

static void end_claim(client *client, const char *why)
{
	TELL("client %d: %s", (int)(client - clients), why);
	client->state = IDLE;
	client->until = now;
	client->asks_at = now + below(weather.pause);
	client->release = client->token;
	client->releases = 1 + below(3);
	client->release_at = now + below(4);
	end_request(client);
}

static void begin_claim(client *client)
{
	client->state = ASKING;
	client->token = IS(TOKEN_REUSED) ? 1 : ++tokens;
	client->until = now;
	client->asks_at = now;
	client->ends_at = now + 3 * LEASE + below(10 * LEASE);
}

static void believe(client *client, int sent, int fence)
{
	int until = (IS(LEASE_FROM_ANSWER) ? now : sent) + LEASE;

	if (until <= now) {
		return;
	}
	if (client->state == ASKING) {
		client->state = HOLDING;
		client->ends_at = now + 1 + below(2 * weather.hold);
		client->fence = fence;
		if (fence <= highest) {
			violation = "a fencing token fell";
		}
		highest = fence;
		total.grants++;
	} else {
		total.renewals++;
	}
	client->until = until > client->until ? until : client->until;
	client->renews_at = now + 1 + below(LEASE / 2);
	TELL("client %d holds until %d, token %d, fence %d", (int) (client - clients), client->until, client->token,
		client->fence);
}

static void take_push(client *client, const message *push)
{
	if (client->state != ASKING || client->token != push->token) {
		return;
	}
	total.pushes++;
	client->asks_at = now;
	if (IS(PUSH_BELIEVED)) {
		believe(client, push->sent, push->fence);
	}
}

static void begin_asking_nodes(client *client, int node)
{
	if (IS(AT_ONCE)) {
		client->asks_nodes_at = now + below(weather.delay + 1);
		client->asked_node = node;
		client->asks_replicas = false;
	}
}

/* The master first, its replicas then; what they say goes to the master, and the grant that was doubted is asked about
 * behind it. */
static void ask_nodes(client *client)
{
	const server *node = &nodes[client->asked_node];

	if (client->asks_nodes_at > now) {
		return;
	}
	if (!runs(node) || group_of[client->asked_node] != client->group) {
		client->asks_nodes_at = now + 1 + below(weather.delay + 1);
		return;
	}
	client->asks_nodes_at = now + below(weather.delay + 1);
	client->asks_replicas = !client->asks_replicas;
	if (client->asks_replicas) {
		ask_master(&client->found, node);
		return;
	}
	ask_replicas(&client->found, node, client->group);
	client->asks_nodes_at = NEVER;
	if (client->node == client->asked_node && client->found.replid != NOBODY) {
		send_to(client, SETTLE_NOW, client->token);
	}
	if (client->node == client->asked_node && client->doubts && client->number) {
		client->doubts += client->found.replid == NOBODY ? 3 : 0;
		send_to(client, CHECK, client->token);
	}
}

static void take_answer(client *client, const message *reply)
{
	if (reply->result == PUSHED) {
		take_push(client, reply);
		return;
	}
	if (client->number == 0 || reply->number != client->number) {
		return;
	}
	if (reply->result == DOUBTED) {
		client->doubts++;
		client->fence = reply->fence;
		begin_asking_nodes(client, reply->node);
		return;
	}
	end_request(client);
	switch (reply->result) {
	case GRANTED:
		client->anchored = true;
		if (client->state == ASKING || now < client->until || IS(RESURRECTED)) {
			believe(client, client->sent, reply->fence);
		}
		break;
	case OPENED:
		client->settle_at = now + below(once_in(5) ? 4 * LEASE : weather.delay + 1);
		client->settle_node = reply->node;
		client->settle_opening = reply->opening;
		client->settle_run_id = reply->opened_run_id;
		client->settle_replid = reply->opened_replid;
		begin_asking_nodes(client, reply->node);
		break;
	case REFUSED:
		if (reply->opening) {
			begin_asking_nodes(client, reply->node);
		}
		client->asks_at = now + 1 + below(LEASE / 2);
		break;
	case LOST:
		if (client->state == HOLDING) {
			end_claim(client, "lost");
		}
		break;
	default:
		client->node = NOBODY;
	}
}

/* It may do this at any time, because it does not wait for the answer. */
static void send_others(client *client)
{
	if (client->releases > 0 && client->release_at <= now) {
		client->releases--;
		client->release_at = now + below(LEASE);
		send_to(client, RELEASE, client->release);
	}
	if (client->settle_at <= now && client->settle_node == client->node) {
		client->settle_at = NEVER;
		send_to(client, SETTLE, client->token);
	}
}

void act(client *client)
{
	if (client->state == HOLDING && now >= client->until && !(IS(RESURRECTED) && client->number != 0)) {
		end_claim(client, "its lease has ended");
	} else if (client->state != IDLE && now >= client->ends_at) {
		end_claim(client, client->state == HOLDING ? "releases" : "gives up");
	} else if (client->state == IDLE && now >= client->asks_at) {
		begin_claim(client);
	}
	if (client->number != 0 && now >= client->gives_up) {
		if (client->doubts > 0 && client->state == ASKING && !IS(LATE_CHECKS)) {
			client->release = client->token;
			client->releases = 1 + below(3);
			client->release_at = now;
			client->token = ++tokens;
		}
		end_request(client);
		client->node = NOBODY;
	}
	if (client->node == NOBODY || once_in(200)) {
		connect_to_some(client);
	}
	if (client->node == NOBODY) {
		return;
	}
	send_others(client);
	ask_nodes(client);
	if (client->number == 0 && client->state == HOLDING && now >= client->renews_at) {
		request(client, RENEW);
	} else if (client->number == 0 && client->state == ASKING && now >= client->asks_at) {
		request(client, ACQUIRE);
		client->asks_at = now + 1 + below(weather.hurry);
	}
}

void deliver(void)
{
	for (int i = 0; i < sent_messages; i++) {
		message message = messages[i];
		server *node = &nodes[message.node];
		if (message.due > now || (!message.is_answer && node->up && !runs(node))) {
			continue;
		}
		if (clients[message.client].group != group_of[message.node] && !once_in(20)) {
			messages[i].due = now + 1 + below(3);
			continue;
		}
		messages[i--] = messages[--sent_messages];
		if (clients[message.client].group != group_of[message.node]) {
			continue; /* lost */
		}
		if (message.is_answer) {
			take_answer(&clients[message.client], &message);
		} else if (node->up && node->run_id == message.run_id) {
			execute(node, &message);
		}
	}
}

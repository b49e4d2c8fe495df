/* Faults are drawn before the run, so that leaving one out changes little else. Each seed has only some kinds of
 * faults: a run without cuts shows what cuts would excuse. Faults that can cause two holders (docs/reliability.md,
 * fail-over.md) are not drawn. */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stock_run.h"

#include "redis/script/slot.h" /* the project's */

fault faults[FAULTS];
int fault_count;
static bool has_kind[FAULT_KINDS];
static bool all_die; /* after the faults all clients are killed, so that no client tidies up */

/* ---- what a seed has ---- */

static int pick(stream *random, const int *choices, int count)
{
	return choices[draw_below(random, count)];
}

static bool sells_stocks(void)
{
	return options.work == &stocks || options.work == &stocks_of_strands;
}

void draw_plan(void)
{
	static const int clients[] = { 2, 4, 6, 8, 8, 8, 8, 12, 20 }, resources[] = { 1, 2, 3, 3, 4 },
					 intervals[] = { 4, 8, 8, 8, 20, 60 };
	static const int ttls[] = { 1000, 4000, 4000 };
	stream random = stream_of(options.seed, "plan", options.setup);
	int drawn_clients = pick(&random, clients, 9), drawn_resources = pick(&random, resources, 5),
		drawn_faults = pick(&random, intervals, 6);
	int drawn_ttl = pick(&random, ttls, 3);

	options.clients = options.clients ? options.clients : drawn_clients;
	if (options.clients > CLIENTS / clients_of_process()) {
		options.clients = CLIENTS / clients_of_process();
	}
	options.resources = options.resources ? options.resources : drawn_resources;
	options.faults = options.faults >= 0 ? options.faults : drawn_faults;
	options.pauses = options.pauses >= 0 ? options.pauses : options.faults > 0;
	options.most_ttl_ms = options.most_ttl_ms ? options.most_ttl_ms : drawn_ttl;
	options.servers = options.setup == SINGLE || options.setup == MEMCACHED ? 1
		: options.setup == REPLICATED                                       ? 3
		: options.setup == CLUSTER                                          ? 6
		: draw_chance(&random, 0.5)                                         ? 3
																			: 5;
	bool all = draw_chance(&random, 0.2);
	all_die = !sells_stocks() && draw_chance(&random, 0.25);
	for (int kind = 0; kind < FAULT_KINDS; kind++) {
		has_kind[kind] = all || draw_chance(&random, kind == DELETE_KEY || kind == FLUSH_ALL ? 0.3 : 0.5);
	}
	has_kind[CUT_SERVERS] &= options.setup != SINGLE && options.setup != MEMCACHED;
	has_kind[CRASH_SERVER] &= options.setup != MEMCACHED; /* a killed memcached loses its data */
	has_kind[FLUSH_SCRIPTS] &= options.setup != MEMCACHED;
	has_kind[NEW_SET] &= options.setup == QUORUM;
	has_kind[BACK_UP] &= setup_fails_over();
	has_kind[ROLL_BACK] &= options.setup == REPLICATED && !sells_stocks();
	has_kind[STALE_SENTINEL] &= options.setup == REPLICATED;
	bool is_changed = false; /* an administrator changes the cluster */
	for (int kind = MOVE_SLOT; kind <= FORGET_NODE; kind++) {
		/* otherwise servers would rarely fail */
		has_kind[kind] &= options.setup == CLUSTER && draw_chance(&random, 0.6);
		is_changed |= has_kind[kind];
	}
	has_kind[TAKE_ADDRESS] &= options.setup == CLUSTER;
	has_kind[GIVE_UP_MOVE] &= !sells_stocks(); /* a stock that stays there would be opened again */
	if (is_changed) { /* if a server fails meanwhile, redis-cli gives up, and an administrator must repair that */
		has_kind[PAUSE_SERVER] = has_kind[CRASH_SERVER] = has_kind[CUT_SERVERS] = has_kind[TAKE_ADDRESS] = false;
	}
	has_kind[DELETE_KEY] &= options.work == &locks;
	has_kind[FLUSH_ALL] &= options.work == &locks && options.setup == SINGLE;
	/* a late request can cause two holders if another server fails: docs/reliability.md */
	if (options.setup == QUORUM && has_kind[HOLD_PACKETS]) {
		has_kind[CRASH_SERVER] = has_kind[NEW_SET] = false;
	}
}

/* ---- how faults begin and end ---- */

bool fault_is_of_server(fault_kind kind)
{
	return kind == BACK_UP || kind == ROLL_BACK || kind == STALE_SENTINEL || kind == PAUSE_SERVER
		|| kind == CRASH_SERVER || kind == CUT_SERVERS || kind == FLUSH_SCRIPTS || kind == FORGET_NODE
		|| kind == TAKE_ADDRESS;
}

static void server_is_back(int number, restart how)
{
	if (options.setup != MEMCACHED && !redis_is_alive(redis[number]) && !stranger_is_at(number)) {
		say("s", "s%d is back%s", number,
			how == WITHOUT_DATA        ? " without its data"
				: how == WITH_SNAPSHOT ? " with older data"
									   : "");
		if (how != WITH_DATA) {
			note_data_lost(number);
		}
		redis_restart(redis[number], how);
	}
}

/* Makes a replica follow a master that was replaced, as soon as there is one. */
static void mislead(void *context, uint64_t until)
{
	const fault *f = context;
	server *replica = redis[f->a];

	for (int i = 0; i < options.servers; i++) {
		server *old = redis[(i + f->b) % options.servers];
		if (old != replica && old != sentinels_master() && redis_is_alive(old) && !redis_master_of(old)
			&& redis_is_alive(replica) && redis_master_of(replica) && redis_master_of(replica) != old) {
			say("sent", "a stale one has s%d follow s%d", f->a, redis_number(old));
			redis_close_clients(replica);
			redis_replicate(replica, old);
			return;
		}
	}
	if (now < (nanos) until) {
		at(now + 50 * MS, mislead, (void *) f, until);
	}
}

static void start_client(client *client)
{
	if (!client->process->alive) {
		say(client->process->name, "starts again");
		process_start(client->process, options.work->client_main, client);
	}
}

static int slot_of(const fault *f)
{
	char key[40];

	if (sells_stocks()) {
		stock_name(0, f->a % options.resources, key, sizeof key);
	} else {
		lock_key(f->a % options.resources, key, sizeof key);
	}
	return dlock_slot_of(key, strlen(key));
}

static void end_fault(void *context, uint64_t which)
{
	const fault *f = context;

	switch (f->kind) {
	case CUT:
	case CUT_ONE_WAY:
		say("net", "c%d and s%d: healed", f->a, f->b);
		net_heal(CLIENT_HOST + f->a, f->b + 1);
		break;
	case CUT_SERVERS:
		say("net", "s%d: healed", f->a);
		for (int h = 1; h < HOSTS; h++) {
			net_heal(f->a + 1, h);
		}
		break;
	case CRASH_SERVER:
		server_is_back(f->a, (restart) f->b);
		break;
	case ROLL_BACK:
		server_is_back(f->a, WITH_SNAPSHOT);
		break;
	case NEW_SET:
		server_is_back((int) which, WITHOUT_DATA);
		break;
	case KILL_CLIENT:
	case VANISH_CLIENT:
		start_client(&clients[f->a]);
		break;
	case SLOW:
		net_set_delay(50 * US, 500 * US, 0, 0);
		break;
	case LOSE_SLOT:
		cluster_find_slot(slot_of(f));
		break;
	case FORGET_NODE:
		cluster_remember(f->a, f->b);
		break;
	case TAKE_ADDRESS:
		stranger_ends(f->a);
		server_is_back(f->a, WITH_DATA);
		break;
	default:
		break;
	}
}

static void cut_off(const fault *f)
{
	for (int h = 1; h < HOSTS; h++) {
		if (h != f->a + 1 && (h * 7 + f->b) % 4 != 0) {
			net_cut(f->a + 1, h, false);
		}
	}
}

static void kill_client(client *client, bool with_host)
{
	if (client->process->alive) {
		net_process_died(client->process, with_host);
		process_kill(client->process);
		for (int i = 0; i < clients_of_process(); i++) {
			options.work->killed(client_of_process(client, i));
		}
		strands_killed(client->process);
	}
}

/* All servers are killed for longer than a lease lasts, and are back within a second: they vote as one new set. */
static void begin_new_set(fault *f)
{
	for (int i = 0; i < options.servers; i++) {
		if (redis_is_alive(redis[i])) {
			redis_crash(redis[i], false);
		}
		at(now + f->length + (f->b + i * 37) % 100 * 10 * MS, end_fault, f, (uint64_t) i);
	}
}

static void delete_key(int resource)
{
	char key[40];

	lock_key(resource, key, sizeof key);
	for (int i = 0; i < options.servers; i++) {
		server_delete_key(i, key);
	}
	sum.deleted++;
	note_key_deleted(resource);
}

static void note(const fault *f)
{
	nanos until = now + f->length;

	switch (f->kind) {
	case KILL_CLIENT: /* this excuses no other client */
	case VANISH_CLIENT:
	case FORGET_NODE: /* cluster_forget() decides whether it is one */
	case DELETE_KEY:
	case FLUSH_ALL:
	case FAIL_CALL: /* noted when the call fails */
		break;
	case FLUSH_SCRIPTS: /* a release without a waiting caller is sent in full with the connection's next call */
		if (options.setup == QUORUM) {
			note_fault(until, true);
		}
		break;
	case PAUSE_SERVER:
		note_stopped(until);
		break;
	case STOP_CLIENT:
		note_fault(until, false);
		break;
	case NEW_SET: /* after that no server has a vote of its own yet */
		note_fault(until + 10 * SECOND, true);
		break;
	default:
		note_fault(until, true);
	}
}

/* For the command line. */
static const char *const kinds[FAULT_KINDS] = { [CUT] = "cut",
	[CUT_ONE_WAY] = "cut-one-way",
	[RESET] = "reset",
	[PAUSE_SERVER] = "pause-server",
	[CRASH_SERVER] = "kill-server",
	[KILL_CLIENT] = "kill-client",
	[VANISH_CLIENT] = "vanish-client",
	[STOP_CLIENT] = "stop-client",
	[SLOW] = "slow",
	[HOLD_PACKETS] = "hold-packets",
	[FLUSH_SCRIPTS] = "flush-scripts",
	[DELETE_KEY] = "delete-key",
	[FLUSH_ALL] = "flush-all",
	[CUT_SERVERS] = "cut-servers",
	[NEW_SET] = "new-set",
	[BACK_UP] = "back-up",
	[ROLL_BACK] = "roll-back",
	[STALE_SENTINEL] = "stale-sentinel",
	[MOVE_SLOT] = "move-slot",
	[GIVE_UP_MOVE] = "give-up-move",
	[LOSE_SLOT] = "lose-slot",
	[FORGET_NODE] = "forget-node",
	[TAKE_ADDRESS] = "take-address",
	[FAIL_CALL] = "fail-call" };

bool fault_read(const char *text, fault *f)
{
	double time, length;
	char kind[24];

	if (sscanf(text, "%23[^,],%d,%d,%lf,%lf", kind, &f->a, &f->b, &time, &length) != 5 || f->a < 0 || f->b < 0
		|| time < 0 || length < 0) {
		return false;
	}
	f->time = llround(time * SECOND);
	f->length = llround(length * SECOND);
	for (int i = 0; i < FAULT_KINDS; i++) {
		if (!strcmp(kinds[i], kind)) {
			f->kind = (fault_kind) i;
			return true;
		}
	}
	return false;
}

void fault_write(const fault *f, char *text, size_t size)
{
	snprintf(text, size, "%s,%d,%d,%.13g,%.11g", kinds[f->kind], f->a, f->b, (double) f->time / SECOND,
		(double) f->length / SECOND);
}

static const char *const names[] = { [CUT] = "cut off from the server",
	[CUT_ONE_WAY] = "cut off one way",
	[RESET] = "connections are reset",
	[PAUSE_SERVER] = "server is stopped",
	[CRASH_SERVER] = "server is killed",
	[KILL_CLIENT] = "client is killed",
	[VANISH_CLIENT] = "client vanishes without a word",
	[STOP_CLIENT] = "client is stopped",
	[SLOW] = "net is slow",
	[HOLD_PACKETS] = "what the client sends is held up",
	[FLUSH_SCRIPTS] = "scripts are flushed",
	[DELETE_KEY] = "key is deleted",
	[FLUSH_ALL] = "all data are deleted",
	[BACK_UP] = "a tool takes a copy of a server's data",
	[ROLL_BACK] = "the master is started again at once, with older data",
	[STALE_SENTINEL] = "a stale Sentinel has a server follow an old master",
	[CUT_SERVERS] = "server is cut off from most",
	[NEW_SET] = "all servers are killed, and lose their data",
	[MOVE_SLOT] = "a slot moves",
	[GIVE_UP_MOVE] = "a slot moves, and that is given up",
	[LOSE_SLOT] = "a slot is nobody's",
	[FORGET_NODE] = "a node forgets another",
	[TAKE_ADDRESS] = "another Redis has the address of",
	[FAIL_CALL] = "a call of libc fails" };

/* Faults of connections and of the network. */
static void disturb_net(fault *f)
{
	switch (f->kind) {
	case CUT:
	case CUT_ONE_WAY:
		net_cut(CLIENT_HOST + f->a, f->b + 1, f->kind == CUT_ONE_WAY);
		break;
	case CUT_SERVERS:
		cut_off(f);
		break;
	case RESET:
		net_reset_some(CLIENT_HOST + f->a, f->b + 1, 0.7);
		break;
	case HOLD_PACKETS:
		net_hold(CLIENT_HOST + f->a, f->b + 1, now + f->length);
		break;
	case SLOW:
		net_set_delay(200 * US, 20 * MS, 0.05, SECOND);
		break;
	case TAKE_ADDRESS:
		stranger_begins(f->a, f->b % 2);
		break;
	default:
		break;
	}
}

/* Faults of clients' processes. */
static void disturb_client(fault *f)
{
	client *client = &clients[f->a % options.clients];

	switch (f->kind) {
	case KILL_CLIENT:
	case VANISH_CLIENT:
		kill_client(client, f->kind == VANISH_CLIENT);
		break;
	case STOP_CLIENT:
		client->process->paused_until = now + f->length;
		client->process->paused_total += f->length;
		break;
	case FAIL_CALL:
		fail_calls(client->process, (uint64_t) f->b, f->length);
		break;
	default:
		break;
	}
}

/* Faults of servers and of their data. */
static void disturb_server(fault *f)
{
	switch (f->kind) {
	case PAUSE_SERVER:
		server_pause(f->a, now + f->length);
		break;
	case CRASH_SERVER:
		if (redis_is_alive(redis[f->a])) {
			redis_crash(redis[f->a], false);
		}
		break;
	case FLUSH_SCRIPTS:
		redis_flush_scripts(redis[f->a]);
		break;
	case DELETE_KEY:
		delete_key(f->a % options.resources);
		break;
	case BACK_UP:
		redis_back_up(redis[f->a]);
		break;
	case ROLL_BACK: /* before a replica is promoted */
		f->a = redis_number(sentinels_master());
		if (redis_is_alive(redis[f->a])) {
			redis_crash(redis[f->a], false);
		}
		break;
	case STALE_SENTINEL:
		mislead(f, (uint64_t) (now + f->length));
		break;
	case FLUSH_ALL:
		redis_flush_all(redis[0]);
		for (int r = 0; r < options.resources; r++) {
			note_key_deleted(r);
		}
		break;
	default:
		break;
	}
}

/* Faults of a cluster's slots and nodes. */
static void disturb_cluster(fault *f)
{
	switch (f->kind) {
	case MOVE_SLOT:
		cluster_move_slot(slot_of(f), f->b, NEVER);
		break;
	case GIVE_UP_MOVE: /* all keys are moved, and stay there */
		cluster_move_slot(slot_of(f), f->b, f->length % SECOND);
		break;
	case LOSE_SLOT:
		cluster_lose_slot(slot_of(f));
		break;
	case FORGET_NODE:
		if (cluster_forget(f->a, f->b)) {
			note_fault(now + f->length, true);
		}
		break;
	default:
		break;
	}
}

static void begin_fault(void *context, uint64_t unused)
{
	fault *f = context;

	(void) unused;
	say("", "FAULT %d: %s (%d, %d) for %.3f s", (int) (f - faults), names[f->kind], f->a, f->b,
		(double) f->length / SECOND);
	note(f);
	if (f->kind == NEW_SET) {
		begin_new_set(f);
		return;
	}
	disturb_net(f);
	disturb_client(f);
	disturb_server(f);
	disturb_cluster(f);
	at(now + f->length, end_fault, f, 0);
}

/* ---- how faults are drawn ---- */

/* Only a minority of servers may lose its data within the time in which a client may rely on them. */
static bool may_forget(int server, nanos time)
{
	int others = 0;

	for (int i = fault_count - 1; i >= 0 && faults[i].time + faults[i].length > time - 12 * SECOND; i--) {
		if (faults[i].kind == NEW_SET) {
			break; /* no client held a lock then */
		}
		others += faults[i].kind == CRASH_SERVER && faults[i].b && faults[i].a != server;
	}
	return others < options.servers / 2;
}

/* If replicas confirm, a lock survives the loss of data. */
static bool may_come_back_with(const fault *f, nanos time)
{
	return setup_fails_over() ? !sells_stocks() : options.setup == QUORUM && may_forget(f->a, time);
}

static fault draw_fault(stream *random, nanos time)
{
	fault f = { .time = time };

	do {
		f.kind = (fault_kind) draw_below(random, FAULT_KINDS);
	} while (!has_kind[f.kind]);
	f.a = (int) draw_below(random, fault_is_of_server(f.kind) ? options.servers : options.clients);
	f.b = (int) draw_below(random,
		f.kind == CRASH_SERVER  ? setup_fails_over() ? 3 : 2
			: f.kind == NEW_SET ? 1000
								: options.servers);
	f.length = draw_chance(random, 0.7) ? draw_below(random, 3 * SECOND) : draw_below(random, 15 * SECOND);
	if (f.kind == CRASH_SERVER && !may_come_back_with(&f, time)) {
		f.b = WITH_DATA;
	}
	/* A client that has just started believes the server at a seed's address: docs/fail-over.md. */
	if (f.kind == TAKE_ADDRESS && (time < 20 * SECOND || has_kind[KILL_CLIENT] || has_kind[VANISH_CLIENT])) {
		f.a = CLUSTER_SEEDS + f.a % (options.servers - CLUSTER_SEEDS);
	}
	if (f.kind == ROLL_BACK) {
		f.length = draw_below(random, SECOND);
	}
	if (f.kind == FAIL_CALL) {
		f.b = 1 + (int) draw_below(random, 200);
		f.length = draw_chance(random, 0.5) ? 0 : draw_below(random, 300 * MS);
	}
	if (f.kind == NEW_SET) {
		f.length = 6 * SECOND + draw_below(random, SECOND);
	}
	return f;
}

static void add_fault(fault f)
{
	if (fault_count < FAULTS) {
		faults[fault_count++] = f;
	}
}

/* In the first seconds of a new set one server forgets its votes, while a client does not reach another server. */
static nanos disturb_new_set(stream *random, nanos back)
{
	nanos time = back + SECOND + draw_below(random, SECOND);

	add_fault((fault){ .time = time - draw_below(random, SECOND),
		.kind = CUT,
		.a = (int) draw_below(random, options.clients),
		.b = (int) draw_below(random, options.servers),
		.length = draw_below(random, 3 * SECOND) });
	add_fault((fault) { .time = time, .kind = CRASH_SERVER, .a = (int) draw_below(random, options.servers), .b = 1,
		.length = draw_below(random, 300 * MS) });
	return time;
}

void draw_faults(nanos end)
{
	stream random = stream_of(options.seed, "faults", 0);
	nanos time = 2 * SECOND;
	bool any = false;

	fault_count = 0;
	for (int kind = 0; kind < FAULT_KINDS; kind++) {
		any |= has_kind[kind];
	}
	while (any && options.faults > 0 && fault_count < FAULTS) {
		time += draw_below(&random, 2 * options.faults * SECOND);
		if (time > end - 40 * SECOND) {
			break;
		}
		add_fault(draw_fault(&random, time));
		if (faults[fault_count - 1].kind == NEW_SET) {
			time = disturb_new_set(&random, time + faults[fault_count - 1].length);
		}
	}
	for (int i = 0; i < options.faults_given_count; i++) {
		add_fault(options.faults_given[i]);
	}
}

void begin_faults(void)
{
	for (int i = 0; i < fault_count; i++) {
		at(faults[i].time, begin_fault, &faults[i], 0);
	}
}

void heal_all(void *context, uint64_t unused)
{
	(void) context;
	(void) unused;
	say("net", "all faults are over");
	end_of_faults = now;
	for (int a = 0; a < HOSTS; a++) {
		for (int b = 0; b < HOSTS; b++) {
			net_heal(a, b);
		}
	}
	net_set_delay(50 * US, 500 * US, 0, 0);
	for (int i = 0; i < options.servers; i++) {
		stranger_ends(i);
		server_is_back(i, WITH_DATA);
	}
	this_run->failable = clients[0].process->failable;
	for (int i = 0; i < options.clients; i++) {
		fail_no_calls(clients[i].process);
		if (all_die) {
			kill_client(&clients[i], false);
		} else {
			start_client(&clients[i]);
		}
	}
}

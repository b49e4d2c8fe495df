#include "quorum_servers.h"

#include <stdio.h>

#include "helpers.h"

test_server servers[SERVERS];
int nobody;

static void begin(void)
{
	servers_start(servers, SERVERS);
	nobody = closed_port();
}

void quorum_servers_reset(void)
{
	for (int i = 0; i < SERVERS; i++) {
		server_reset(&servers[i]);
	}
}

const tap_setting quorum_servers = { begin, quorum_servers_reset };

int holding(const dlock_claim *claim)
{
	int count = 0;

	for (int i = 0; i < SERVERS; i++) {
		count += has(&servers[i], claim);
	}
	return count;
}

int taken(const char *resource)
{
	int count = 0;

	for (int i = 0; i < SERVERS; i++) {
		count += !has_nobody(&servers[i], resource);
	}
	return count;
}

static bool is_taken_nowhere(void *resource)
{
	return taken(resource) == 0;
}

bool eventually_nowhere(const char *resource)
{
	return eventually(is_taken_nowhere, (void *) resource);
}

static bool is_taken_everywhere(void *resource)
{
	return taken(resource) == SERVERS;
}

bool is_everywhere(const char *resource)
{
	return eventually(is_taken_everywhere, (void *) resource);
}

client client_of_some(int count, unsigned alive)
{
	char text[SERVERS][64];
	const char *dsns[SERVERS];

	for (int i = 0; i < count; i++) {
		snprintf(text[i], sizeof text[i], "redis://127.0.0.1:%d/%d", alive >> i & 1 ? servers[i].port : nobody,
			alive >> i & 1 ? 0 : i); /* the database tells the servers on one port apart */
		dsns[i] = text[i];
	}
	return client_quorum_at(dsns, count);
}

bool warm_all(client *c)
{
	dlock_claim *claim = claim_on(c, "warm", 60000);
	bool good = acquire(c, claim, 0) == DLOCK_OK;

	client_settle(c); /* after an extension, a late server without the script would not be sent it */
	good = good && extend(c, claim, 60000) == DLOCK_OK && dlock_claim_check(claim, &c->error) == DLOCK_OK;
	client_settle(c);
	good = let_go(c, claim) && good;
	client_settle(c);
	for (int i = 0; i < SERVERS; i++) {
		if (servers[i].pid) {
			server_do(&servers[i], "FLUSHALL");
		}
	}
	return good;
}

client client_by_relay(relay *relay, const char *word)
{
	client c = client_by_relays(servers, SERVERS, relay, SERVERS - 1, 1, "");

	check(warm_all(&c), "warm");
	atomic_store(&relay->stop, word);
	return c;
}

#include "arena.h"

#include <stdio.h>
#include <unistd.h>

#include "helpers.h"

static bool section(client *client, arena *arena, bool slow)
{
	dlock_claim *claim = claim_on(client, "arena", 60000);

	if (acquire(client, claim, 120000) != DLOCK_OK) {
		printf("# not acquired: %s\n", client->error.message);
		return false;
	}
	bool alone = __atomic_exchange_n(&arena->inside, 1, __ATOMIC_SEQ_CST) == 0;
	long before = __atomic_load_n(&arena->counter, __ATOMIC_RELAXED);
	bool rises = claim->fencing_token > __atomic_load_n(&arena->token, __ATOMIC_RELAXED);
	__atomic_store_n(&arena->token, claim->fencing_token, __ATOMIC_RELAXED);
	if (slow) {
		sleep_ms(1);
	}
	__atomic_store_n(&arena->counter, before + 1, __ATOMIC_RELAXED);
	bool held = look(claim) == DLOCK_CLAIM_HELD;
	__atomic_store_n(&arena->inside, 0, __ATOMIC_SEQ_CST);
	bool released = let_go(client, claim);
	if (!alone || !rises || !held || !released) {
		printf("# alone %d, token rises %d, held %d, released %d %s\n", alone, rises, held, released,
			client->error.message);
	}
	return alone && rises && held && released;
}

bool arena_fight(client *client, arena *arena, int sections)
{
	for (int i = 0; i < sections; i++) {
		if (!section(client, arena, i % 10 == 0)) {
			fflush(stdout);
			return false;
		}
	}
	return true;
}

int arena_run(arena *arena, int processes, int sections, client (*make)(void))
{
	pid_t pids[processes];
	int bad = 0;

	for (int p = 0; p < processes; p++) {
		pids[p] = fork_child();
		if (pids[p] == 0) {
			client client = make();
			_exit(!arena_fight(&client, arena, sections));
		}
	}
	for (int p = 0; p < processes; p++) {
		bad += exit_of(pids[p]) != 0;
	}
	return bad;
}

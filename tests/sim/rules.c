/* What must hold: looked at after each run of a fiber, and where clients say so. */
#include "run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t last_fence[RESOURCES];
static nanos busy_until[RESOURCES]; /* somebody has it, or may have it, until then */
static nanos calm_since;            /* no fault has been in effect since then */

bool believes(const client *client)
{
	const dlock_claim *claim = client->reliance.claim;

	return client->reliance.relies && client->process->alive && (claim->state == DLOCK_CLAIM_HELD || claim->state == DLOCK_CLAIM_UNCERTAIN)
		&& claim->deadline > host_clock(client->process->host);
}

void check_holders(void)
{
	int holder[RESOURCES];

	memset(holder, -1, sizeof holder);
	for (int i = 0; i < options.clients; i++) {
		if (clients[i].reliance.relies && believes(&clients[i])) {
			int r = clients[i].reliance.resource;
			if (holder[r] >= 0) {
				violation("two holders of seat:%d: c%d (token %" PRId64 ", for another %.3f s) and c%d (token %" PRId64 ", for another %.3f s)", r, holder[r],
					clients[holder[r]].reliance.claim->fencing_token,
					(double) (clients[holder[r]].reliance.claim->deadline - host_clock(clients[holder[r]].process->host)) / SECOND,
					i, clients[i].reliance.claim->fencing_token,
					(double) (clients[i].reliance.claim->deadline - host_clock(clients[i].process->host)) / SECOND);
			}
			holder[r] = i;
			busy_until[r] = now > busy_until[r] ? now : busy_until[r];
		}
	}
}


void note_busy(int resource)
{
	nanos until = now + options.most_ttl_ms * MS + SECOND;

	busy_until[resource] = until > busy_until[resource] ? until : busy_until[resource];
}

void note_fault(nanos until)
{
	until += options.setup == REPLICATED ? 30 * SECOND : 10 * SECOND;
	calm_since = until > calm_since ? until : calm_since;
}

void note_token(const client *client, int resource, int64_t token)
{
	if (token <= last_fence[resource]) {
		violation("fencing token %" PRId64 " of c%d for seat:%d does not rise: the last was %" PRId64, token,
			client->process->number, resource, last_fence[resource]);
	}
	last_fence[resource] = token;
}

void note_released(int resource, bool surely)
{
	busy_until[resource] = now + (surely ? 0 : options.most_ttl_ms * MS);
}

bool was_free(int resource, nanos length)
{
	return now - length > busy_until[resource] && now - length > calm_since;
}

/* Pauses of clients' processes at system calls, so also between a look at the clock and its consequences. They are
 * drawn by the number of the call, so that leaving one out changes no other pause. */
#include "run.h"

enum { USUAL_GAP = 50000 }; /* system calls, on average */

static stream of_client[CLIENTS];

static void draw_next(const run_options *o, stream *random, client_pause *pause)
{
	pause->call += 1 + (uint64_t) draw_below(random, (int64_t) (2 * USUAL_GAP / o->pauses));
	pause->length = draw_below(random, LONGEST_PAUSE);
}

/* The first given pause after that call; if there is none, its `call` is 0. */
static client_pause given_after(int client, uint64_t call)
{
	client_pause first = { client, 0, 0 };

	for (int i = 0; i < options.pauses_given_count; i++) {
		const client_pause *p = &options.pauses_given[i];
		if (p->client == client && p->call > call && (first.call == 0 || p->call < first.call)) {
			first = *p;
		}
	}
	return first;
}

static void set_next(process *p)
{
	client_pause next = { p->number, p->pause_at, 0 };

	if (options.pauses > 0) {
		draw_next(&options, &of_client[p->number], &next);
	} else {
		next = given_after(p->number, p->calls);
	}
	p->pause_at = next.call;
	p->pause_length = next.length;
}

void pauses_begin(process *p)
{
	of_client[p->number] = stream_of(run_seed(&options), "pauses", p->number);
	next_pause = set_next;
	set_next(p);
}

int pauses_drawn(const run_options *o, int client, uint64_t call, client_pause *out, int most)
{
	stream random = stream_of(run_seed(o), "pauses", client);
	client_pause next = { client, 0, 0 };
	int count = 0;

	while (count < most) {
		draw_next(o, &random, &next);
		if (next.call > call) {
			break;
		}
		out[count++] = next;
	}
	return count;
}

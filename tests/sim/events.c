/* Virtual time: events in their order, the clocks of hosts, and random numbers. */
#include "sim.h"

#include <stdlib.h>

/* ---- random numbers ---- */

uint64_t draw(stream *s) /* splitmix64 */
{
	uint64_t z = (s->state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

stream stream_of(uint64_t seed, const char *subject, int number)
{
	stream s = { seed * 0x9e3779b97f4a7c15u + (uint64_t) number * 0xd1342543de82ef95u };

	for (; *subject; subject++) {
		s.state = (s.state ^ (unsigned char) *subject) * 0x100000001b3u;
	}
	draw(&s);
	return s;
}

int64_t draw_below(stream *s, int64_t bound)
{
	return bound <= 0 ? 0 : (int64_t) (draw(s) % (uint64_t) bound);
}

bool draw_chance(stream *s, double chance)
{
	return (double) (draw(s) >> 11) / 9007199254740992.0 < chance;
}

/* ---- events: a heap by time, then by order; each event has four children ---- */

typedef struct {
	nanos time;
	uint64_t order, number;
	event_fn *run;
	void *context;
} event;

nanos now;
static event *heap;
static size_t events, room;
static uint64_t order;
static nanos last_time, unseen, *shown = &unseen;

static bool sooner(const event *a, const event *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

uint64_t take_turn(void)
{
	return order++;
}

void at(nanos time, event_fn *run, void *context, uint64_t number)
{
	at_turn(time, order++, run, context, number);
}

void at_turn(nanos time, uint64_t turn, event_fn *run, void *context, uint64_t number)
{
	event new = { time < now ? now : time, turn, number, run, context };
	size_t i = events++;

	if (events > room) {
		room = room ? 2 * room : 1024;
		heap = realloc(heap, room * sizeof *heap);
	}
	for (; i > 0 && sooner(&new, &heap[(i - 1) / 4]); i = (i - 1) / 4) {
		heap[i] = heap[(i - 1) / 4];
	}
	heap[i] = new;
}

static size_t soonest_below(size_t i)
{
	size_t first = 4 * i + 1, end = first + 4 < events ? first + 4 : events, found = first;

	for (size_t child = first + 1; child < end; child++) {
		found = sooner(&heap[child], &heap[found]) ? child : found;
	}
	return found; /* `events` or more: there is none */
}

bool step(void)
{
	if (events == 0) {
		return false;
	}
	event first = heap[0], last = heap[--events];
	size_t i = 0;

	for (size_t child; (child = soonest_below(i)) < events && sooner(&heap[child], &last); i = child) {
		heap[i] = heap[child];
	}
	heap[i] = last;
	*shown = now = first.time;
	first.run(first.context, first.number);
	return true;
}

void run_until(nanos time, nanos *seen)
{
	last_time = time;
	shown = seen;
}

bool is_next(nanos time)
{
	return time <= last_time && (events == 0 || heap[0].time > time);
}

void go_on_to(nanos time)
{
	take_turn(); /* as an event would have */
	*shown = now = time;
}

/* ---- hosts ---- */

host hosts[HOSTS];

nanos host_clock(int h)
{
	return 1000 * SECOND + (nanos) ((double) now * hosts[h].rate);
}

nanos host_time_of_day(int h)
{
	return INT64_C(1700000000) * SECOND + hosts[h].offset + now; /* the clock is kept right without steps */
}

nanos host_duration(int h, nanos length)
{
	return length > 1000000 * SECOND ? length : (nanos) ((double) length / hosts[h].rate) + 1;
}

/* Checks what docs/permits.md promises of semaphores and read/write locks, against what holders believe and the
 * server's books. It does so after each run of a fiber and each script, twenty times a second, and when clients ask for
 * it. */
#include "permit_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"

#define SAMPLE (50 * MS)
/* The time of a request that is answered at once, and of its consequences. */
#define SOON (50 * MS)
/* Requests of two waiters within this time count as simultaneous, because the first connects, is refused and opens an
 * inbox. */
#define TOGETHER (30 * MS)
/* How long permits may be free while every waiter would fit: a waiter looks again after 2.3 s. */
#define LONGEST_GAP (2600 * MS)
/* How long a call may take beyond its timeout: the server's timeouts (docs/operations.md). */
#define LONGEST_OVERRUN (2100 * MS)
/* The time in which a client finds the master after its last call has failed, or has led to a replica. */
#define TOGETHER_ANEW (250 * MS)
/* How long an unused pool lasts (permits_pool.lua). */
#define FORGOTTEN (130 * SECOND)

static int64_t last_told[RESOURCES];   /* the highest token that a client was told */
static nanos fits_since[RESOURCES];    /* since when every waiter would fit; NEVER: not now */
static nanos wanted;                   /* when a client last began to acquire permits */
static nanos settles;                  /* by when the master's epoch has settled, which is the same for all pools */
static nanos writer_out[RESOURCES];    /* when a writer last left, by the server's data */
static bool writer_in[RESOURCES];
static nanos broken[RESOURCES];        /* when a client last broke a holder, or was about to */
static books look;

static server *master(void)
{
	return options.setup == REPLICATED ? sentinels_master() : redis[0];
}

/* With failovers, the books of one server may have more permits than holders believe in (docs/fail-over.md). */
static bool is_single(void)
{
	return options.setup == SINGLE;
}

static bool read_books(int resource)
{
	char key[40];

	permits_key(resource, key, sizeof key);
	return books_read(&look, master(), key);
}

static double seconds(nanos length)
{
	return (double) length / SECOND;
}

static bool has_run_since(const client *client, nanos time)
{
	return client->process->alive && client->process->paused_until <= time;
}

int64_t last_permit_token(int resource)
{
	return last_told[resource];
}

/* ---- holders ---- */

bool believes_in_permits(const client *client)
{
	const permit_holding *h = &permits_of(client)->holding;

	return h->relies && client->process->alive && dlock_claim_is_held(h->claim)
		&& h->claim->deadline > host_clock(client->process->host);
}

/* The holder by its own name, or by the name that a break has given its permits. */
static const book_holder *holder_of(const char *token)
{
	char left[64];
	const book_holder *kept = books_holder(&look, token);

	if (!kept) {
		snprintf(left, sizeof left, "broken:%.24s:somebody", token);
		kept = books_holder(&look, left);
	}
	return kept;
}

/* The server keeps the permits for as long as their holder believes in them. */
static void check_kept(const client *client, permit_holding *h)
{
	nanos left = host_duration(client->process->host, h->claim->deadline - host_clock(client->process->host));
	const book_holder *kept = read_books(h->resource) ? holder_of(h->claim->token) : NULL;
	/* If both its grant and the permits of its next request were broken, the server has the sum of both. */
	bool may_be_more = h->may_write || !books_holder(&look, h->claim->token);

	if (!kept || kept->permits < h->claim->permits || (kept->permits > h->claim->permits && !may_be_more)
		|| (kept->ends - look.now) * MS < left - MS) {
		violation("%s believes for another %.3f s in %" PRId64 " permits of hall:%d, and the server keeps %" PRId64
				  " for it, for %.3f s",
			client->process->name, seconds(left), h->claim->permits, h->resource, kept ? kept->permits : 0,
			kept ? (double) (kept->ends - look.now) / 1000 : 0.0);
	}
	h->checked = h->claim->deadline;
}

static void say_holders(int resource)
{
	for (int i = 0; i < client_count(); i++) {
		const permit_holding *h = &permit_clients[i].holding;
		if (h->resource == resource && believes_in_permits(&clients[i])) {
			say("", "c%d believes in %" PRId64 " of hall:%d, for another %.3f s", i, h->claim->permits, resource,
				seconds(h->claim->deadline - host_clock(clients[i].process->host)));
		}
	}
}

static void check_believed(void)
{
	int64_t believed[RESOURCES] = { 0 };

	for (int i = 0; i < client_count(); i++) {
		permit_holding *h = &permit_clients[i].holding;
		if (h->relies && believes_in_permits(&clients[i])) {
			believed[h->resource] += h->claim->permits;
			if (believed[h->resource] > permit_pools[h->resource].capacity) {
				say_holders(h->resource);
				violation("%" PRId64 " of %" PRId64 " permits of hall:%d are believed in", believed[h->resource],
					permit_pools[h->resource].capacity, h->resource);
			}
			if (is_single() && h->checked != h->claim->deadline) {
				check_kept(&clients[i], h);
			}
		}
	}
}

static void note_writers(int resource)
{
	bool in = false;

	for (int i = 0; i < look.holder_count; i++) {
		in |= look.holders[i].permits >= DLOCK_PERMITS_ALL;
	}
	writer_out[resource] = writer_in[resource] && !in ? now : writer_out[resource];
	writer_in[resource] = in;
}

static void check_books(void)
{
	static books_version seen[RESOURCES];
	char key[40];

	for (int r = 0; r < options.resources; r++) {
		permits_key(r, key, sizeof key);
		if (!books_have_changed(&seen[r], master(), key)) {
			continue;
		}
		bool there = books_read(&look, master(), key);
		note_writers(r);
		const char *error = there ? books_error(&look) : NULL;
		if (error) {
			violation("the books of hall:%d are wrong: %s", r, error);
		}
		if (is_single() && look.used > permit_pools[r].capacity) {
			violation("%" PRId64 " of %" PRId64 " permits of hall:%d are out, says the server", look.used,
				permit_pools[r].capacity, r);
		}
	}
}

void check_permits(void)
{
	check_believed();
}

/* ---- order ---- */

/* Must the other waiter have been served before this one, which came later? Writers are served in their order. A reader
 * passes a waiting writer only if a writer left after the reader came. If a writer left while a reader waited, that
 * reader is next. Waiters of a semaphore, or with "fifo", are served as they came. */
static bool goes_before(const permit_waiting *other, const permit_waiting *mine)
{
	int r = mine->resource;

	if (permit_pools[r].capacity < DLOCK_PERMITS_ALL || permit_pools[r].fifo
		|| (is_writer(other->claim) && is_writer(mine->claim))) {
		return other->begun + TOGETHER < mine->begun;
	}
	if (is_writer(other->claim)) {
		return other->begun + TOGETHER < mine->begun && writer_out[r] < mine->begun;
	}
	return is_writer(mine->claim) && other->begun + TOGETHER < writer_out[r];
}

static bool is_about_to_leave(const permit_waiting *w)
{
	return now > w->begun + w->timeout - w->timeout / 100 - SOON;
}

/* A waiter counts as served if it has been granted its permits, even if it does not know yet. */
static void check_order(const client *client)
{
	const permit_waiting *mine = &permits_of(client)->waiting;

	for (int i = 0; i < client_count(); i++) {
		const permit_waiting *other = &permit_clients[i].waiting;
		if (&clients[i] == client || !other->waits || other->resource != mine->resource || !goes_before(other, mine)
			|| is_about_to_leave(other) || broken[mine->resource] >= other->begun || !was_calm_since(other->begun)
			|| !has_run_since(&clients[i], other->begun) || !has_run_since(client, other->begun)) {
			continue;
		}
		if (read_books(mine->resource) && !holder_of(other->claim->token)) {
			violation("%s has %" PRId64 " of hall:%d before c%d, which has waited for %" PRId64 " for %.3f s longer",
				client->process->name, mine->claim->permits, mine->resource, i, other->claim->permits,
				seconds(mine->begun - other->begun));
		}
	}
}

/* A grant may be broken before its waiter knows of it. */
void note_permits_broken(int resource, const char *id, bool done)
{
	broken[resource] = now;
	for (int i = 0; done && i < client_count(); i++) {
		permit_holding *h = &permit_clients[i].holding;
		if (h->relies && h->resource == resource && !h->broken
			&& !strncmp(h->claim->token, id, DLOCK_TOKEN_ID_LEN)) {
			h->broken = now;
		}
	}
}

/* A holder that renews learns of a break with its next renewal. */
static void check_told(const client *client, const permit_holding *h)
{
	if (h->broken && h->renews && now > h->broken + h->claim->ttl / 3 + TOLD_LATE && was_calm_since(h->broken)
		&& has_run_since(client, h->broken)) {
		violation("%s believes in permits of hall:%d %.3f s after they were broken, with a lease time of %.3f s",
			client->process->name, h->resource, seconds(now - h->broken), seconds(h->claim->ttl));
	}
}

void note_permits_acquired(client *client, int64_t earlier)
{
	permit_client *own = permits_of(client);
	int64_t token = own->holding.claim->fencing_token;
	int r = own->holding.resource;

	if (believes_in_permits(client) && token <= earlier) {
		violation("fencing token %" PRId64 " of %s for hall:%d does not rise: %" PRId64
				  " had been told before it asked",
			token, client->process->name, r, earlier);
	}
	last_told[r] = token > last_told[r] ? token : last_told[r];
	if (own->waiting.waits) {
		check_order(client);
	}
	own->waiting.waits = false;
}

/* ---- waiting ---- */

/* After a fault the first request opens the epoch, and the guard follows (docs/fail-over.md). The process may be
 * stopped in between. */
static void note_wanted(void)
{
	if (!is_single() && !was_calm_since(wanted)) {
		settles = now + TOGETHER_ANEW + LONGEST_PAUSE + options.guard_ms * MS;
	}
	wanted = now;
}

void note_permits_wanted(client *client, dlock_claim *claim, int resource, nanos timeout)
{
	note_wanted();
	permits_of(client)->waiting = (permit_waiting){ .waits = true,
		.claim = claim,
		.resource = resource,
		.begun = now,
		.timeout = timeout,
		.paused = client->process->paused_total };
}

void note_permits_waited(client *client)
{
	const permit_waiting *w = &permits_of(client)->waiting;
	nanos took = now - w->begun - (client->process->paused_total - w->paused), over = took - w->timeout;

	sum.longest_wait = took > sum.longest_wait ? took : sum.longest_wait;
	sum.longest_overrun = over > sum.longest_overrun ? over : sum.longest_overrun;
	if (over > LONGEST_OVERRUN + overrun_in_strands()) {
		violation("%s waited for %.3f s, %.3f s beyond its time", client->process->name, seconds(took), seconds(over));
	}
}

/* Is there room for each client that waits, and for each waiter in the server's queue? */
static bool all_fit(int resource)
{
	int64_t most;

	read_books(resource);
	most = look.most_wanted;
	for (int i = 0; i < client_count(); i++) {
		const permit_waiting *w = &permit_clients[i].waiting;
		if (w->waits && w->resource == resource && w->claim->permits > most) {
			most = w->claim->permits;
		}
	}
	return books_held(&look) + most <= permit_pools[resource].capacity;
}

static nanos latest(nanos a, nanos b)
{
	return a > b ? a : b;
}

static void check_waiters(int resource)
{
	for (int i = 0; i < client_count(); i++) {
		const permit_waiting *w = &permit_clients[i].waiting;
		nanos since = latest(fits_since[resource], latest(w->begun, clients[i].process->paused_until));
		since = latest(since, settles);
		if (w->waits && w->resource == resource && clients[i].process->alive && now - since > LONGEST_GAP
			&& was_calm_since(since)) {
			violation("c%d has waited for %" PRId64 " of hall:%d for %.3f s, while these were free", i,
				w->claim->permits, resource, seconds(now - since));
		}
	}
}

static void sample(void *context, uint64_t unused)
{
	(void) context;
	(void) unused;
	for (int r = 0; r < options.resources; r++) {
		fits_since[r] = !all_fit(r) ? NEVER : fits_since[r] == NEVER ? now : fits_since[r];
		if (fits_since[r] != NEVER) {
			check_waiters(r);
		}
	}
	for (int i = 0; i < client_count(); i++) {
		permit_holding *h = &permit_clients[i].holding;
		if (h->relies && believes_in_permits(&clients[i])) {
			check_told(&clients[i], h);
			if (is_single()) {
				check_kept(&clients[i], h);
			}
		}
	}
	if (now < end_of_work) {
		at(now + SAMPLE, sample, NULL, 0);
	}
}

/* ---- released permits are not held any more ---- */

typedef struct {
	const client *client;
	int pid, resource;
	nanos ended;
	char token[DLOCK_TOKEN_MAX + 1];
} gone;

/* Expired permits are removed only when their room is needed. So a client that is told of the loss need not release
 * them. */
static bool is_kept(const char *token)
{
	const book_holder *kept = books_holder(&look, token);

	return kept && kept->ends > look.now;
}

static void check_gone(void *context, uint64_t unused)
{
	gone *g = context;

	(void) unused;
	if (was_calm_since(g->ended) && g->client->process->pid == g->pid && has_run_since(g->client, g->ended)
		&& read_books(g->resource) && is_kept(g->token)) {
		violation("the server keeps permits of hall:%d for %s, which has given them back %.3f s ago", g->resource,
			g->client->process->name, seconds(now - g->ended));
	}
	free(g);
}

void note_permits_gone(const client *client, const dlock_claim *claim, int resource, bool answered)
{
	permits_of(client)->waiting.waits = false;
	if (answered && is_single() && read_books(resource) && books_holder(&look, claim->token)) {
		violation("the server keeps permits of hall:%d for %s, which it has told that they were given back", resource,
			client->process->name);
	}
	gone *g = calloc(1, sizeof *g);
	*g = (gone) { .client = client, .pid = client->process->pid, .resource = resource, .ended = now };
	strcpy(g->token, claim->token);
	at(now + SOON, check_gone, g, 0);
}

/* ---- begin and end ---- */

void permit_rules_begin(void)
{
	for (int r = 0; r < RESOURCES; r++) {
		fits_since[r] = NEVER;
	}
	wanted = settles = 0;
	note_fault(now, false); /* the first epoch has yet to settle */
	after_fiber = check_permits;
	after_script = check_books; /* a writer may come and leave again before a client runs */
	at(now + SAMPLE, sample, NULL, 0);
}

void permit_rules_end(void)
{
	char left[1000];

	for (nanos until = now + FORGOTTEN; now < until && step();) {
	}
	for (int i = 0; i < options.servers; i++) {
		if (redis_leftovers(redis[i], left, sizeof left) > 0) {
			violation("s%d has left over:%s", i, left);
		}
	}
}

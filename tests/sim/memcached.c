/* A memcached server: the meta commands that dlock sends, and expiry by a clock that ticks once a second, except while
 * the process is stopped. The server never loses its data: no lock survives that (docs/reliability.md). */
#include "memcached.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 64, KEY = 251, VALUE = 128, LINE = 1024, WORDS = 12 };

typedef struct {
	bool used;
	char key[KEY], value[VALUE];
	size_t len;
	uint64_t cas;
	int64_t expires; /* by the clock that ticks; 0: never */
} item;

typedef struct session {
	conn *conn; /* NULL: closed; a stopped server has yet to execute what had arrived */
	char in[4096];
	size_t len;
	struct session *next;
} session;

struct memcached {
	listener listener;
	nanos paused_until, next_tick;
	int64_t clock; /* whole seconds, as of the last tick */
	uint64_t cas;
	item items[ITEMS];
	session *sessions;
	stream random;
};

/* ---- the clock ---- */

static nanos own_clock(const memcached *m)
{
	return host_clock(m->listener.host);
}

static void tick(void *context, uint64_t unused)
{
	memcached *m = context;

	/* Requests that have arrived may be executed before the timer is checked. But the thread that checks the timer also
	 * accepts connections, so a new connection cannot do much before that. */
	m->next_tick = m->paused_until > now ? m->paused_until + draw_below(&m->random, 100 * US) : now + SECOND;
	at(m->next_tick, tick, m, unused);
	if (m->paused_until <= now) {
		m->clock = own_clock(m) / SECOND;
	}
}

/* ---- items ---- */

static item *find(memcached *m, const char *key)
{
	for (int i = 0; i < ITEMS; i++) {
		item *one = &m->items[i];
		if (one->used && !strcmp(one->key, key)) {
			one->used = one->expires == 0 || one->expires > m->clock;
			return one->used ? one : NULL;
		}
	}
	return NULL;
}

static void store(memcached *m, item *one, const char *key, const char *value, size_t len, int64_t seconds)
{
	for (int i = 0; !one && i < ITEMS; i++) {
		one = m->items[i].used ? NULL : &m->items[i];
	}
	if (!one || len >= VALUE) {
		violation("memcached has no room for %s", key);
	}
	one->used = true;
	snprintf(one->key, sizeof one->key, "%s", key);
	memcpy(one->value, value, len);
	one->value[len] = '\0';
	one->len = len;
	one->cas = ++m->cas;
	one->expires = seconds ? m->clock + seconds : 0;
}

/* ---- requests ---- */

typedef struct {
	char *word[WORDS]; /* the command, the key, flags; `ms` has the length before the flags */
	int count;
} request;

/* The value of a flag; NULL: the request lacks it. */
static const char *flag(const request *r, char name)
{
	for (int i = 2; i < r->count; i++) {
		if (*r->word[i] == name) {
			return r->word[i] + 1;
		}
	}
	return NULL;
}

static int64_t number_of(const char *text)
{
	return text ? strtoll(text, NULL, 10) : 0;
}

/* The flags that were asked for, in their order. */
static void write_flags(char *out, size_t size, const memcached *m, const request *r, const item *one)
{
	for (int i = 2; i < r->count; i++) {
		size_t used = strlen(out);
		if (!strcmp(r->word[i], "c")) {
			snprintf(out + used, size - used, " c%" PRIu64, one->cas);
		} else if (!strcmp(r->word[i], "t")) {
			snprintf(out + used, size - used, " t%" PRId64, one->expires ? one->expires - m->clock : -1);
		}
	}
}

static void write_item(char *out, size_t size, const memcached *m, const request *r, const item *one)
{
	bool with_value = flag(r, 'v') != NULL;

	if (with_value) {
		snprintf(out, size, "VA %zu", one->len);
	} else {
		snprintf(out, size, "HD");
	}
	write_flags(out, size, m, r, one);
	if (with_value) {
		size_t used = strlen(out);
		snprintf(out + used, size - used, "\r\n%.*s", (int) one->len, one->value);
	}
}

/* If nothing is stored, the CAS in the reply is 0. */
static void not_stored(char *out, size_t size, const request *r, const char *code)
{
	const char *cas = flag(r, 'c');

	snprintf(out, size, "%s%s", code, cas ? " c0" : "");
}

static void set(char *out, size_t size, memcached *m, const request *r, const char *value, size_t len)
{
	item *one = find(m, r->word[1]);
	const char *mode = flag(r, 'M'), *cas = flag(r, 'C');

	if (mode && *mode == 'E' && one) {
		not_stored(out, size, r, "NS");
	} else if (cas && !one) {
		not_stored(out, size, r, "NF");
	} else if (cas && one->cas != strtoull(cas, NULL, 10)) {
		not_stored(out, size, r, "EX");
	} else {
		store(m, one, r->word[1], value, len, number_of(flag(r, 'T')));
		snprintf(out, size, "HD");
		write_flags(out, size, m, r, find(m, r->word[1]));
	}
}

static void delete(char *out, size_t size, memcached *m, const request *r)
{
	item *one = find(m, r->word[1]);
	const char *cas = flag(r, 'C');

	snprintf(out, size, !one ? "NF" : cas && one->cas != strtoull(cas, NULL, 10) ? "EX" : "HD");
	if (*out == 'H') {
		one->used = false;
	}
}

static void count(char *out, size_t size, memcached *m, const request *r)
{
	item *one = find(m, r->word[1]);
	char text[32];

	snprintf(
		text, sizeof text, "%" PRId64, one ? number_of(one->value) + number_of(flag(r, 'D')) : number_of(flag(r, 'J')));
	store(m, one, r->word[1], text, strlen(text), 0);
	write_item(out, size, m, r, find(m, r->word[1]));
}

static void execute(memcached *m, session *s, char *line, const char *value, size_t len)
{
	request r = { .count = 0 };
	char out[LINE] = "ERROR", *rest = line;

	for (char *word; r.count < WORDS && (word = strtok_r(rest, " ", &rest));) {
		r.word[r.count++] = word;
	}
	if (r.count == 0) {
		return;
	} else if (!strcmp(r.word[0], "version")) {
		snprintf(out, sizeof out, "VERSION 1.6.18");
	} else if (!strcmp(r.word[0], "ms")) {
		set(out, sizeof out, m, &r, value, len);
	} else if (!strcmp(r.word[0], "md")) {
		delete(out, sizeof out, m, &r);
	} else if (!strcmp(r.word[0], "ma")) {
		count(out, sizeof out, m, &r);
	} else if (!strcmp(r.word[0], "mg")) {
		item *one = find(m, r.word[1]);
		snprintf(out, sizeof out, "EN");
		if (one) {
			write_item(out, sizeof out, m, &r, one);
		}
	}
	say("m0", "%s %s %s: %.*s", r.word[0], r.count > 1 ? r.word[1] : "", r.count > 2 ? r.word[r.count - 2] : "",
		(int) strcspn(out, "\r"), out);
	if (s->conn) {
		strcat(out, "\r\n");
		net_answer(s->conn, out, strlen(out));
	}
}

/* The length of the value that follows this line; -1: none follows. */
static int64_t value_behind(const char *line)
{
	const char *key = strncmp(line, "ms ", 3) ? NULL : strchr(line + 3, ' ');

	return key ? strtoll(key, NULL, 10) : -1;
}

/* ---- connections ---- */

static void take_input(memcached *m, session *s)
{
	char *end;

	while (m->paused_until <= now && (end = memchr(s->in, '\n', s->len))) {
		char line[LINE];
		size_t used = (size_t) (end - s->in) + 1;
		snprintf(line, sizeof line, "%.*s", (int) used - 2, s->in);
		int64_t len = value_behind(line);
		if (len >= 0 && s->len < used + (size_t) len + 2) {
			return;
		}
		const char *value = s->in + used;
		execute(m, s, line, value, len < 0 ? 0 : (size_t) len);
		used += len < 0 ? 0 : (size_t) len + 2;
		s->len -= used;
		memmove(s->in, s->in + used, s->len);
	}
}

static void input(listener *l, conn *c, const char *bytes, size_t len)
{
	memcached *m = (memcached *) l;
	session *s = net_session(c);

	if (!s) {
		s = calloc(1, sizeof *s);
		s->conn = c;
		s->next = m->sessions;
		m->sessions = s;
		net_set_session(c, s);
	}
	if (s->len + len > sizeof s->in) {
		violation("memcached has no room for what a client sends");
	}
	memcpy(s->in + s->len, bytes, len);
	s->len += len;
	take_input(m, s);
}

static void end_session(memcached *m, session *gone)
{
	session **at = &m->sessions;

	while (*at != gone) {
		at = &(*at)->next;
	}
	*at = gone->next;
	free(gone);
}

static void gone_from(listener *l, conn *c)
{
	memcached *m = (memcached *) l;
	session *s = net_session(c);

	net_set_session(c, NULL);
	if (s && m->paused_until > now) {
		s->conn = NULL;
	} else if (s) {
		end_session(m, s);
	}
}

static bool accepts(const listener *l)
{
	(void) l;
	return true;
}

static void after_pause(void *context, uint64_t unused)
{
	memcached *m = context;

	(void) unused;
	for (session *s = m->sessions, *next; s && m->paused_until <= now; s = next) {
		next = s->next;
		take_input(m, s);
		if (!s->conn) {
			end_session(m, s);
		}
	}
}

void memcached_pause(memcached *m, nanos until)
{
	if (until < m->paused_until) {
		return;
	}
	m->paused_until = until;
	at(until, after_pause, m, 0);
}

memcached *memcached_new(int host, int port, uint64_t seed)
{
	memcached *m = calloc(1, sizeof *m);

	m->listener = (listener) { host, port, accepts, input, gone_from, NULL };
	m->random = stream_of(seed, "memcached", host);
	m->clock = own_clock(m) / SECOND;
	m->next_tick = draw_below(&m->random, SECOND);
	net_listen(&m->listener);
	at(m->next_tick, tick, m, 0);
	return m;
}

/* ---- for rules and faults ---- */

bool memcached_holder(memcached *m, const char *key, char *token, size_t size, nanos *left)
{
	const item *one = find(m, key);

	if (!one || one->len >= size) {
		return false;
	}
	memcpy(token, one->value, one->len);
	token[one->len] = '\0';
	*left = NEVER;
	if (one->expires > 0) { /* it exists until the first tick after its time */
		nanos over = host_duration(m->listener.host, one->expires * SECOND - own_clock(m)),
			  ticks = over - (m->next_tick - now);
		*left = m->next_tick - now + (ticks > 0 ? (ticks + SECOND - 1) / SECOND * SECOND : 0);
	}
	return true;
}

void memcached_delete_key(memcached *m, const char *key)
{
	item *one = find(m, key);

	if (one) {
		one->used = false;
	}
}

int memcached_leftovers(memcached *m, char *out, size_t size)
{
	int count = 0;

	*out = '\0';
	for (int i = 0; i < ITEMS; i++) {
		size_t used = strlen(out);
		if (m->items[i].used && strncmp(m->items[i].key, "dlock:", 6) && find(m, m->items[i].key)) {
			snprintf(out + used, size - used, " %s", m->items[i].key);
			count++;
		}
	}
	return count;
}

/* Plays a conversation: sends its commands to servers, and prints each with the reply. It is built twice: for real
 * servers, and with its calls to libc led to the simulator. */
#include "player.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "redis/script/scripts.h" /* the project's */

enum { CONNS = 96, WORDS = 64, VARIABLES = 96, SCALARS = 64, LIMIT_MS = 60000, LOOK_MS = 10, TEXT = 65536 };

typedef struct {
	char name[16];
	int fd;
	char in[TEXT];
	size_t len;
} connection;

typedef struct {
	char name[16], address[32];
} place;

static connection conns[CONNS];
static int conn_count;
static place places[CONNS];
static int place_count;
static struct { char name[32], value[200]; } variables[VARIABLES];
static int variable_count;
static char scalars[SCALARS][200]; /* of the last reply */
static int scalar_count;
static FILE *out;

static void give_up(const char *what, const char *which)
{
	fprintf(out, "GIVEN UP: %s: %s\n", what, which);
	fflush(out);
	exit(2);
}

/* ---- connections ---- */

static long now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000L + time.tv_nsec / 1000000;
}

static int wait_for(int fd, short events)
{
	struct pollfd p = { fd, events, 0 };

	return poll(&p, 1, LIMIT_MS);
}

static int connect_to(const char *address)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	char host[32];

	snprintf(host, sizeof host, "%.*s", (int) strcspn(address, ":"), address);
	to.sin_port = htons((uint16_t) atoi(strchr(address, ':') + 1));
	inet_pton(AF_INET, host, &to.sin_addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connect(fd, (struct sockaddr *) &to, sizeof to) != 0 && (errno != EINPROGRESS || wait_for(fd, POLLOUT) < 1)) {
		give_up("no connection", address);
	}
	return fd;
}

/* "s1" is a connection to that server, "s1.b" another connection. */
static connection *conn_named(const char *name)
{
	for (int i = 0; i < conn_count; i++) {
		if (!strcmp(conns[i].name, name)) {
			return &conns[i];
		}
	}
	for (int i = 0; i < place_count; i++) {
		size_t len = strlen(places[i].name);
		if (!strncmp(places[i].name, name, len) && (!name[len] || name[len] == '.') && conn_count < CONNS) {
			connection *c = &conns[conn_count++];
			snprintf(c->name, sizeof c->name, "%s", name);
			c->fd = connect_to(places[i].address);
			return c;
		}
	}
	give_up("no such server", name);
	return NULL;
}

/* The connection's name is free afterwards. */
static void drop(connection *c)
{
	close(c->fd);
	*c = conns[--conn_count];
}

/* A server that is killed or started again has no connections left. */
static void drop_conns(const char *server)
{
	size_t len = strlen(server);

	for (int i = conn_count - 1; i >= 0; i--) {
		if (!strncmp(conns[i].name, server, len) && strchr(".", conns[i].name[len])) {
			drop(&conns[i]);
		}
	}
}

/* If sending fails, the read that follows reports it. */
static void send_all(connection *c, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t sent = send(c->fd, bytes, len, MSG_NOSIGNAL);
		if (sent < 0 && errno == EAGAIN && wait_for(c->fd, POLLOUT) > 0) {
			continue;
		}
		if (sent < 0) {
			return;
		}
		bytes += sent;
		len -= (size_t) sent;
	}
}

/* ---- replies ---- */

typedef struct {
	char text[TEXT];
	size_t len;
} printed;

static void put(printed *p, const char *text, size_t len)
{
	if (p->len + len < sizeof p->text) {
		memcpy(p->text + p->len, text, len);
		p->len += len;
		p->text[p->len] = '\0';
	}
}

static void note_scalar(const char *text, size_t len)
{
	if (scalar_count < SCALARS) {
		snprintf(scalars[scalar_count++], sizeof scalars[0], "%.*s", (int) len, text);
	}
}

/* Prints one reply, which begins at `at`. Returns where it ends; 0: it is incomplete. */
static size_t read_reply(const connection *c, size_t at, printed *p)
{
	const char *line = c->in + at, *end = memchr(line, '\n', c->len - at);

	if (!end) {
		return 0;
	}
	size_t len = (size_t) (end - line) - 2, next = (size_t) (end - c->in) + 1;
	long count = atol(line + 1);
	if (*line == '$' && count >= 0) {
		if (next + (size_t) count + 2 > c->len) {
			return 0;
		}
		put(p, "\"", 1);
		put(p, c->in + next, (size_t) count);
		put(p, "\"", 1);
		note_scalar(c->in + next, (size_t) count);
		return next + (size_t) count + 2;
	}
	if (*line == '*' && count >= 0) {
		put(p, "[", 1);
		for (long i = 0; i < count && next > 0; i++) {
			put(p, " ", i > 0);
			next = read_reply(c, next, p);
		}
		put(p, "]", 1);
		return next;
	}
	if (*line == '$' || *line == '*') {
		put(p, "nil", 3);
		note_scalar("", 0);
	} else {
		put(p, line, *line == ':' ? 0 : 1);
		put(p, line + 1, len);
		note_scalar(line + 1, len);
	}
	return next;
}

/* Prints one reply of memcached, with its value. */
static size_t read_text(const connection *c, size_t at, printed *p)
{
	const char *end = memchr(c->in + at, '\n', c->len - at);
	size_t next = end ? (size_t) (end - c->in) + 1 : 0;

	if (next > 0 && !strncmp(c->in + at, "VA ", 3)) {
		next += strtoul(c->in + at + 3, NULL, 10) + 2;
	}
	if (next == 0 || next > c->len) {
		return 0;
	}
	for (size_t i = at; i + 2 < next; i++) {
		put(p, c->in[i] == '\r' ? " |" : c->in[i] == '\n' ? " " : c->in + i, c->in[i] == '\r' ? 2 : 1);
	}
	return next;
}

static void next_reply(connection *c, printed *p, size_t (*read)(const connection *c, size_t at, printed *p))
{
	for (;;) {
		*p = (printed) { .len = 0 };
		scalar_count = 0;
		size_t end = c->len > 0 ? read(c, 0, p) : 0;
		if (end > 0) {
			memmove(c->in, c->in + end, c->len - end);
			c->len -= end;
			return;
		}
		ssize_t got = recv(c->fd, c->in + c->len, sizeof c->in - c->len, 0);
		if (got == 0 || (got < 0 && errno != EAGAIN)) {
			strcpy(p->text, "closed");
			return;
		}
		if (got > 0) {
			c->len += (size_t) got;
		} else if (wait_for(c->fd, POLLIN) < 1) {
			give_up("no reply in time", c->name);
		}
	}
}

/* ---- what differs from run to run ---- */

static size_t run_of(const char *text, const char *of)
{
	return strspn(text, of);
}

/* Finds a server's address in any of the forms in which replies have it; `name` is then the server's name. */
static size_t match_place(const char *text, const char **name)
{
	for (int i = 0; i < place_count; i++) {
		char forms[3][64];
		int host = (int) strcspn(places[i].address, ":");
		const char *port = places[i].address + host + 1;
		snprintf(forms[0], sizeof forms[0], "%s", places[i].address);
		snprintf(forms[1], sizeof forms[1], "\"%.*s\" \"%s\"", host, places[i].address, port);
		snprintf(forms[2], sizeof forms[2], "\"%.*s\" %s", host, places[i].address, port);
		for (int f = 0; f < 3; f++) {
			size_t len = strlen(forms[f]);
			if (!strncmp(text, forms[f], len) && !isdigit((unsigned char) text[len])) {
				*name = places[i].name;
				return len;
			}
		}
	}
	return 0;
}

/* Prints an id as the name of the first variable that has it. */
static void print_id(const char *text)
{
	const char *name = "id";

	for (int i = variable_count - 1; i >= 0; i--) {
		name = strncmp(variables[i].value, text, 40) ? name : variables[i].name;
	}
	fprintf(out, "<%s>", name);
}

/* Replaces times, ids and addresses by their kind or name, and a number just below `about` by that. */
static void print_plain(const char *text, long about)
{
	const char *where = strstr(text, " script: "), *name; /* the line at which the script failed is not compared */
	char before = ' ';

	for (const char *t = text; *t && (t != where || *text != '-');) {
		size_t digits = isdigit((unsigned char) *t) && !isalnum((unsigned char) before) ? run_of(t, "0123456789") : 0;
		size_t place = match_place(t, &name), skip;
		long long number = digits > 0 && digits < 19 ? atoll(t) : -1;
		if (place > 0) {
			skip = place;
			fputs(name, out);
		} else if (run_of(t, "0123456789abcdef") == 40) {
			skip = 40;
			print_id(t);
		} else if (digits == 17 && *t == '0') { /* of an epoch that does not settle yet */
			skip = digits;
			fputs("0<us>", out);
		} else if (digits == 16 || digits == 13 || digits == 10) {
			skip = digits;
			fputs(digits == 16 ? "<us>" : digits == 13 ? "<ms>" : "<s>", out);
		} else if (about > 0 && number > about - 20000 && number <= about) {
			skip = digits;
			fprintf(out, "about %ld", about);
		} else {
			skip = digits > 0 ? digits : 1;
			fwrite(t, 1, skip, out);
		}
		before = t[skip - 1];
		t += skip;
	}
	fputc('\n', out);
}

/* ---- commands ---- */

static const char *find_variable(const char *name)
{
	for (int i = variable_count - 1; i >= 0; i--) {
		if (!strcmp(variables[i].name, name)) {
			return variables[i].value;
		}
	}
	return NULL;
}

static const char *value_of(const char *name)
{
	const char *value = find_variable(name);

	if (!value) {
		give_up("no such variable", name);
	}
	return value;
}

static void set_variable(const char *name, const char *value)
{
	if (variable_count == VARIABLES) {
		give_up("too many variables", name);
	}
	snprintf(variables[variable_count].name, sizeof variables[0].name, "%s", name);
	snprintf(variables[variable_count++].value, sizeof variables[0].value, "%s", value);
}

/* '' is empty, $x a variable, @acquire a script's text, #acquire its hash. */
static const char *meaning(const char *word)
{
	if (!strcmp(word, "''")) {
		return "";
	}
	if (*word == '$') {
		return value_of(word + 1);
	}
	for (int i = 0; (*word == '@' || *word == '#') && i < DLOCK_SCRIPTS; i++) {
		if (!strcmp(dlock_scripts[i].name, word + 1)) {
			return *word == '@' ? dlock_scripts[i].source : dlock_scripts[i].sha1;
		}
	}
	return word;
}

static void send_words(connection *c, char **words, int count)
{
	char head[64];

	send_all(c, head, (size_t) snprintf(head, sizeof head, "*%d\r\n", count));
	for (int i = 0; i < count; i++) {
		const char *text = meaning(words[i]);
		send_all(c, head, (size_t) snprintf(head, sizeof head, "$%zu\r\n", strlen(text)));
		send_all(c, text, strlen(text));
		send_all(c, "\r\n", 2);
	}
}

static int split(char *line, char **words)
{
	int count = 0;

	for (char *save, *w = strtok_r(line, " ", &save); w && count < WORDS; w = strtok_r(NULL, " ", &save)) {
		words[count++] = w;
	}
	return count;
}

/* Prints the part of CLUSTER NODES that a script reads: the node's own slots. */
static void print_own_slots(const printed *p)
{
	static const char before[] = " connected";
	const char *at = strstr(p->text, "myself");
	char value[300] = "are missing";

	at = at ? strstr(at, before) : NULL;
	if (at) {
		at += strlen(before);
		snprintf(value, sizeof value, "%.*s", (int) strcspn(at, "\n"), at);
	}
	fputs("  slots:", out);
	print_plain(value, 0);
}

/* Prints a number as its name: its value differs between runs, but must stay the same within a run. */
static bool print_by_name(const char *value, const char *name)
{
	if (!*value || value[strspn(value, "0123456789")]) {
		return false;
	}
	if (!find_variable(name)) {
		set_variable(name, value);
	}
	if (strcmp(find_variable(name), value) != 0) {
		return false;
	}
	fprintf(out, "<%s>\n", name);
	return true;
}

/* Prints the named field of INFO and the like. Nothing else of such a reply is used. */
static void print_field(const printed *p, const char *field, const char *name, long about)
{
	char search[64];
	const char *at = p->text;
	size_t len = (size_t) snprintf(search, sizeof search, "%s:", field);

	while ((at = strstr(at, search)) && at > p->text && at[-1] != '\n' && at[-1] != '"') {
		at += len;
	}
	char value[200] = "is missing";
	if (at) {
		snprintf(value, sizeof value, "%.*s", (int) strcspn(at + len, "\r\n\""), at + len);
	}
	fprintf(out, "  %s: ", field);
	if (!name || !print_by_name(value, name)) {
		print_plain(value, about);
	}
	scalar_count = 0;
	note_scalar(value, strlen(value));
}

/* True: all parts of `wanted` are in the text. "&" separates the parts, "+" stands for a blank. */
static bool has_all(const char *text, const char *wanted)
{
	char one[200];

	for (const char *w = wanted; *w; w += *w == '&') {
		size_t len = strcspn(w, "&");
		snprintf(one, sizeof one, "%.*s", (int) len, w);
		for (char *blank = one; (blank = strchr(blank, '+'));) {
			*blank = ' ';
		}
		if (!strstr(text, one)) {
			return false;
		}
		w += len;
	}
	return true;
}

/* True: the reply as it would be printed has all parts of `wanted`. */
static bool says(const printed *p, const char *wanted)
{
	FILE *to = out;
	char *text;
	size_t size;

	out = open_memstream(&text, &size);
	print_plain(p->text, 0);
	fclose(out);
	out = to;
	bool good = has_all(text, wanted);
	free(text);
	return good;
}

/* Repeats a command until its reply has `wanted`. If the server closes the connection, the next attempt opens
 * another. */
static void await(const char *name, char **words, int count, const char *wanted)
{
	printed *p = malloc(sizeof *p);

	for (long end = now_ms() + LIMIT_MS; now_ms() < end;) {
		connection *c = conn_named(name);
		send_words(c, words, count);
		next_reply(c, p, read_reply);
		if (says(p, wanted)) {
			free(p);
			return;
		}
		if (!strcmp(p->text, "closed")) {
			drop(c);
		}
		poll(NULL, 0, LOOK_MS);
	}
	fprintf(out, "last: %s\n", p->text);
	give_up("never came", wanted);
}

/* memcached's version numbers (CAS), in the order in which they were met, because each release has its own. 0: none. */
static unsigned long long versions[SCALARS];
static int version_count;

static int order_of(unsigned long long version)
{
	int i = 0;

	while (i < version_count && versions[i] != version) {
		i++;
	}
	if (i == version_count && i < SCALARS) {
		versions[version_count++] = version;
	}
	return i + 1;
}

/* Translates the numbers after `flag`. With `by_order`, a position becomes the version that was met there, or one that
 * no item has. Otherwise a version becomes its position. */
static void translate_versions(char *text, size_t size, char flag, bool by_order)
{
	char search[] = { ' ', flag, '\0' }, rest[1000];

	for (char *at = text; (at = strstr(at, search)); at += 2) {
		char *end;
		unsigned long long number = strtoull(at + 2, &end, 10);
		if (end > at + 2 && number > 0) {
			snprintf(rest, sizeof rest, "%s", end);
			number = !by_order ? (unsigned) order_of(number)
				: number <= (unsigned) version_count ? versions[number - 1] : 1000000 + number;
			snprintf(at + 2, size - (size_t) (at + 2 - text), "%llu%s", number, rest);
		}
	}
}

/* The text after "text SERVER " is sent to memcached unchanged, except that each " | " becomes an end of line. */
static void play_text(const char *original)
{
	static const char release[] = "VERSION 1.6.";
	char name[16] = "", *bar, line[1000];
	int begin = 0;
	printed *p = malloc(sizeof *p);

	sscanf(original, "text %15s %n", name, &begin);
	connection *c = conn_named(name);
	snprintf(line, sizeof line, "%s\r\n", original + begin);
	while ((bar = strstr(line, " | "))) {
		memmove(bar, "\r\n", 2);
		memmove(bar + 2, bar + 3, strlen(bar + 3) + 1);
	}
	fprintf(out, "%s\n  ", original);
	translate_versions(line, sizeof line, 'C', true);
	send_all(c, line, strlen(line));
	next_reply(c, p, read_text);
	translate_versions(p->text, sizeof p->text, 'c', false);
	if (!strncmp(p->text, release, strlen(release))) {
		p->text[strlen(release)] = '\0';
	}
	print_plain(p->text, 0);
	free(p);
}

/* The words before the server's name: how a command is played. */
typedef struct {
	long about;
	const char *field, *name, *wanted;
	bool reads, sends, own_slots;
} manner;

static int read_manner(char **words, manner *m)
{
	int first = 0;

	*m = (manner) { .reads = true, .sends = true };
	for (;; first++) {
		if (*words[first] == '~') {
			m->about = atol(words[first] + 1);
		} else if (!strcmp(words[first], "field")) {
			m->field = words[++first];
		} else if (!strcmp(words[first], "called")) {
			m->name = words[++first];
		} else if (!strcmp(words[first], "await")) {
			m->wanted = words[++first];
		} else if (!strcmp(words[first], "read")) {
			m->sends = false;
		} else if (!strcmp(words[first], "send")) {
			m->reads = false;
		} else if (!strcmp(words[first], "slots")) {
			m->own_slots = true;
		} else {
			return first;
		}
	}
}

static void play_command(char **words, int count)
{
	manner m;
	int first = read_manner(words, &m);
	const char *server = words[first];

	words += first + 1;
	count -= first + 1;
	if (m.wanted) {
		await(server, words, count, m.wanted);
		return;
	}
	connection *c = conn_named(server);
	printed *p = malloc(sizeof *p);
	if (m.sends) {
		send_words(c, words, count);
	}
	if (m.reads) {
		next_reply(c, p, read_reply);
	}
	if (m.reads && m.field) {
		print_field(p, m.field, m.name, m.about);
	} else if (m.reads && m.own_slots) {
		print_own_slots(p);
	} else if (m.reads) {
		fputs("  ", out);
		print_plain(p->text, m.about);
	}
	if (!strcmp(p->text, "closed")) {
		drop(c);
	}
	free(p);
}

static void play_quietly(const char *original)
{
	char line[1000], *words[WORDS];
	printed *p = malloc(sizeof *p);

	snprintf(line, sizeof line, "%s", original);
	int count = split(line, words);
	connection *c = conn_named(words[0]);
	send_words(c, words + 1, count - 1);
	next_reply(c, p, read_reply);
	if (*p->text == '-') {
		give_up(original, p->text);
	}
	free(p);
}

/* A line is SERVER COMMAND …, after any of these words:
 * "~N": numbers just below N are printed as about N.
 * "field F": only that field of the reply is printed.
 * "called NAME": the field's number has that name from here on.
 * "slots": only the node's own slots are printed.
 * "await TEXT": the command is repeated until the printed reply would have TEXT; no reply is printed.
 * "read": nothing is sent.
 * "send": no reply is read.
 *
 * Other lines:
 * "set NAME N": the variable is the last reply's N-th part, from 0 on.
 * "do kill|start|stop|go SERVER".
 * "real …": only real servers are told this, and it is not compared. */
static void play_line(const char *original)
{
	char line[1000], *words[WORDS];
	static const char real[] = "real ";

	if (!strncmp(original, real, strlen(real))) {
		if (is_real) {
			play_quietly(original + strlen(real));
		}
		return;
	}

	snprintf(line, sizeof line, "%s", original);
	int count = split(line, words);
	if (!strcmp(words[0], "set")) {
		int part = atoi(words[2]);
		if (part >= scalar_count) {
			give_up("cannot set", original);
		}
		set_variable(words[1], scalars[part]);
		return;
	}
	fprintf(out, "%s\n", original);
	if (!strcmp(words[0], "do")) {
		if (!strcmp(words[1], "kill") || !strcmp(words[1], "start")) {
			drop_conns(words[2]);
		}
		if (!act(words[1], words[2])) {
			give_up("cannot be done", original);
		}
		return;
	}
	play_command(words, count);
}

/* "s0=127.0.0.1:7000 s1=…"; the parts become variables, too: $s0.host, $s0.port. */
static void note_places(const char *addresses)
{
	for (const char *a = addresses; *a; a += strspn(a, " ")) {
		char one[64], name[32];
		snprintf(one, sizeof one, "%.*s", (int) strcspn(a, " "), a);
		a += strcspn(a, " ");
		char *equals = strchr(one, '='), *colon = strchr(one, ':');
		*equals = '\0';
		snprintf(places[place_count].name, sizeof places[0].name, "%.15s", one);
		snprintf(places[place_count++].address, sizeof places[0].address, "%.31s", equals + 1);
		set_variable(one, equals + 1);
		*colon = '\0';
		snprintf(name, sizeof name, "%.15s.host", one);
		set_variable(name, equals + 1);
		snprintf(name, sizeof name, "%.15s.port", one);
		set_variable(name, colon + 1);
	}
}

void play(const char *path, const char *addresses, FILE *to)
{
	char line[1000];
	FILE *in = fopen(path, "r");

	out = to;
	if (!in) {
		give_up("cannot open", path);
	}
	note_places(addresses);
	while (fgets(line, sizeof line, in)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line && *line != '/') {
			(strncmp(line, "text ", 5) ? play_line : play_text)(line);
			fflush(out);
		}
	}
	fclose(in);
}

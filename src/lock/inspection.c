#include "inspection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool may_be_in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-'
		|| c == '_' || c == ':';
}

static bool continues_character(char c)
{
	return ((unsigned char) c & 0xc0) == 0x80;
}

dlock_description *dlock_description_new(const char *host, const char *label, size_t label_len)
{
	dlock_description *description = calloc(1, sizeof *description);
	size_t len = 0;

	if (!description) {
		return NULL;
	}
	atomic_init(&description->references, 1);
	for (; host[len] && len < DLOCK_HOST_MAX; len++) {
		description->text[len] = may_be_in_name(host[len]) ? host[len] : '?';
	}
	if (len == 0) {
		description->text[len++] = '?';
	}
	if (label) {
		size_t cut = label_len < DLOCK_LABEL_MAX ? label_len : DLOCK_LABEL_MAX;
		while (cut < label_len && cut > 0 && continues_character(label[cut])) {
			cut--;
		}
		description->text[len++] = ' ';
		memcpy(description->text + len, label, cut);
	}
	return description;
}

dlock_description *dlock_description_retain(dlock_description *description)
{
	if (description) {
		atomic_fetch_add_explicit(&description->references, 1, memory_order_relaxed);
	}
	return description;
}

void dlock_description_release(dlock_description *description)
{
	if (description && atomic_fetch_sub_explicit(&description->references, 1, memory_order_acq_rel) == 1) {
		free(description);
	}
}

void dlock_inspection_end(dlock_inspection *inspection)
{
	for (int i = 0; i < inspection->server_count; i++) {
		free(inspection->servers[i].name);
		free(inspection->servers[i].state);
	}
	free(inspection->servers);
	free(inspection->parties);
	*inspection = (dlock_inspection) { 0 };
}

static void read_origin(dlock_party *party, int64_t at)
{
	dlock_origin origin;

	if (!dlock_token_read_origin(party->id, at, &origin)) {
		return;
	}
	party->pid = origin.pid;
	party->asked_at = origin.made_at;
	if (origin.address != 0) {
		snprintf(party->host, sizeof party->host, "%u.%u.%u.%u", origin.address >> 24, origin.address >> 16 & 255,
			origin.address >> 8 & 255, origin.address & 255);
	}
}

dlock_party *dlock_inspection_add(dlock_inspection *inspection, bool holds, const char *id, size_t id_len)
{
	int count = inspection->holders + inspection->waiters;

	if (count == inspection->room) {
		int room = count ? 2 * count : 4;
		dlock_party *parties = realloc(inspection->parties, (size_t) room * sizeof *parties);
		if (!parties) {
			return NULL;
		}
		inspection->parties = parties;
		inspection->room = room;
	}
	dlock_party *party = &inspection->parties[count];
	*party = (dlock_party) { .permits = 1, .remaining = -1 };
	if (id_len == DLOCK_TOKEN_ID_LEN) {
		memcpy(party->id, id, id_len);
		read_origin(party, inspection->at ? inspection->at : dlock_time_of_day());
	}
	*(holds ? &inspection->holders : &inspection->waiters) += 1;
	return party;
}

bool dlock_inspection_add_server(dlock_inspection *inspection, const char *name, const char *state)
{
	size_t size = (size_t) (inspection->server_count + 1) * sizeof *inspection->servers;
	dlock_seen_server *servers = realloc(inspection->servers, size);

	if (!servers) {
		return false;
	}
	inspection->servers = servers;
	dlock_seen_server *server = &servers[inspection->server_count];
	*server = (dlock_seen_server) { strdup(name), strdup(state) };
	inspection->server_count++;
	return server->name && server->state;
}

/* ---- descriptions ---- */

static void copy(char *out, size_t most, const char *text, size_t len)
{
	len = len < most ? len : most;
	memcpy(out, text, len);
	out[len] = '\0';
}

void dlock_party_describe(dlock_party *party, const char *text, size_t len)
{
	const char *space = len > 0 ? memchr(text, ' ', len) : NULL;
	size_t host = space ? (size_t) (space - text) : len;

	if (host > 0 && !(host == 1 && *text == '?')) {
		copy(party->host, DLOCK_HOST_MAX, text, host);
	}
	if (space) {
		copy(party->label, DLOCK_LABEL_MAX, space + 1, len - host - 1);
		party->has_label = true;
	}
}

/* Reads the number at the beginning of *text, and moves *text behind it and a space. 0: there is no number. */
static int64_t read_number(const char **text, size_t *len)
{
	int64_t number = 0;
	size_t i = 0;

	while (i < *len && i < 18 && (*text)[i] >= '0' && (*text)[i] <= '9') {
		number = number * 10 + ((*text)[i++] - '0');
	}
	i += i < *len && (*text)[i] == ' ';
	*text += i;
	*len -= i;
	return number;
}

void dlock_party_describe_holder(dlock_party *party, const char *text, size_t len)
{
	if (len > 0) {
		party->held_since = read_number(&text, &len);
		party->fencing_token = read_number(&text, &len);
		dlock_party_describe(party, text, len);
	}
}

void dlock_party_break(dlock_party *party, const char *by, size_t len)
{
	party->host[0] = '\0';
	party->pid = 0;
	party->asked_at = 0;
	snprintf(party->label, sizeof party->label, "broken by %.*s", (int) (len < 100 ? len : 100), by);
	party->has_label = true;
}

/* ---- lists ---- */

static void listed_end(dlock_listed *listed)
{
	free(listed->resource);
	dlock_inspection_end(&listed->inspection);
}

void dlock_listing_end(dlock_listing *listing)
{
	for (int i = 0; i < listing->count; i++) {
		listed_end(&listing->first[i]);
	}
	free(listing->first);
	*listing = (dlock_listing) { 0 };
}

bool dlock_listing_has(const dlock_listing *listing, const char *resource, size_t len)
{
	for (int i = 0; i < listing->count; i++) {
		const dlock_listed *one = &listing->first[i];
		if (one->resource_len == len && memcmp(one->resource, resource, len) == 0) {
			return true;
		}
	}
	return false;
}

dlock_listed *dlock_listing_add(dlock_listing *listing, const char *resource, size_t len)
{
	if (listing->count == listing->room) {
		int room = listing->room ? 2 * listing->room : 16;
		dlock_listed *all = realloc(listing->first, (size_t) room * sizeof *all);
		if (!all) {
			return NULL;
		}
		listing->first = all;
		listing->room = room;
	}
	dlock_listed *listed = &listing->first[listing->count];
	*listed = (dlock_listed) { .resource = malloc(len + 1), .resource_len = len };
	if (!listed->resource) {
		return NULL;
	}
	memcpy(listed->resource, resource, len);
	listed->resource[len] = '\0';
	listing->count++;
	return listed;
}

/* µs since 1970, when its first holder acquired or requested it; 0: not known; INT64_MAX: no holder. */
static int64_t since(const dlock_listed *listed)
{
	const dlock_party *holder = listed->inspection.holders > 0 ? listed->inspection.parties : NULL;

	return !holder ? INT64_MAX : holder->held_since ? holder->held_since : holder->asked_at;
}

static int by_age(const void *a, const void *b)
{
	int64_t first = since(a), second = since(b);

	return (first > second) - (first < second);
}

void dlock_listing_sort(dlock_listing *listing, int most)
{
	int count = 0;

	for (int i = 0; i < listing->count; i++) {
		const dlock_inspection *inspection = &listing->first[i].inspection;
		if (inspection->holding > 0 || inspection->waiting > 0) {
			listing->first[count++] = listing->first[i];
		} else {
			listed_end(&listing->first[i]);
		}
	}
	listing->count = count;
	if (count > 0) {
		qsort(listing->first, (size_t) count, sizeof *listing->first, by_age);
	}
	while (listing->count > most) {
		listed_end(&listing->first[--listing->count]);
	}
}

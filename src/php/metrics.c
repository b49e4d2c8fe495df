#include "metrics.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/process.h"

enum { MOST_NAMES = 64, STRIPES = 8, WORKERS = 500, NAME_SIZE = 112 };

/* `text` is a class, a zero byte and a folded name. */
typedef struct {
	_Atomic uint64_t hash; /* 0: free; once set, it never changes */
	_Atomic bool is_written;
	char text[NAME_SIZE];
} name;

typedef struct {
	_Atomic uint64_t counts[DLOCK_METRIC_COUNTS];
	_Atomic uint64_t waited[DLOCK_METRIC_BUCKETS + 1], held[DLOCK_METRIC_BUCKETS + 1]; /* the last: the sum in ns */
} stripe;

static struct shared {
	name names[MOST_NAMES];
	stripe stripes[STRIPES][MOST_NAMES + 1]; /* the last element: all other names */
	_Atomic uint64_t workers_counts[DLOCK_METRIC_WORKER_COUNTS];
	_Atomic uint64_t uncounted; /* workers that found no free slot */
	dlock_worker workers[WORKERS];
} *shared;

static int name_count;

const double dlock_metric_bounds[DLOCK_METRIC_BUCKETS - 1] = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
	1, 2.5, 5, 10, 60 };

/* Pages take memory only once they are written to. */
void dlock_metrics_begin(int names)
{
	void *memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	shared = memory == MAP_FAILED ? NULL : memory;
	name_count = names < MOST_NAMES ? names : MOST_NAMES;
}

/* ---- names ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter_or_digit(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Is the word a hexadecimal number? It needs a digit, and 8 characters or another number and a dash before it, as in a
 * UUID. */
static bool is_number(const char *word, size_t len, bool follows)
{
	bool has_digit = false;

	for (size_t i = 0; i < len; i++) {
		if (!is_hex(word[i])) {
			return false;
		}
		has_digit = has_digit || is_digit(word[i]);
	}
	return has_digit && (len >= 8 || follows);
}

/* A ULID has 26 digits and letters (no I, L, O and U), and does not exceed 128 bits. */
static bool is_ulid(const char *word, size_t len)
{
	bool is_one = len == 26 && *word >= '0' && *word <= '7';

	for (size_t i = 0; i < len && is_one; i++) {
		is_one = !strchr("ILOUilou", word[i]);
	}
	return is_one;
}

static size_t put(char *out, size_t used, size_t room, char c)
{
	bool again = c == '*' && used > 0 && out[used - 1] == '*';
	bool in_uuid = c == '*' && used > 1 && out[used - 1] == '-' && out[used - 2] == '*';

	if (in_uuid) {
		return used - 1;
	}
	if (!again && used < room) {
		out[used++] = c;
	}
	return used;
}

/* "stock:42" becomes stock:*, "cart-6f1c2ab09d" becomes cart-*. A byte that is no visible ASCII character becomes ?. */
static size_t fold(char *out, size_t room, const char *text, size_t len)
{
	size_t used = 0;

	for (size_t at = 0; at < len && used < room;) {
		size_t end = at;
		while (end < len && is_letter_or_digit(text[end])) {
			end++;
		}
		if (end == at) {
			used = put(out, used, room, text[at] > ' ' && text[at] < 0x7f ? text[at] : '?');
			at++;
		} else if (is_ulid(text + at, end - at)
			|| is_number(text + at, end - at, used > 1 && out[used - 1] == '-' && out[used - 2] == '*')) {
			used = put(out, used, room, '*');
			at = end;
		} else {
			for (; at < end; at++) {
				used = put(out, used, room, is_digit(text[at]) ? '*' : text[at]);
			}
		}
	}
	return used;
}

static uint64_t hash_of(const char *text, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

	for (size_t i = 0; i < len; i++) {
		hash = (hash ^ (unsigned char) text[i]) * 0x100000001b3;
	}
	return hash ? hash : 1;
}

int dlock_metrics_place(const char *class, const char *resource, size_t len)
{
	char text[NAME_SIZE] = "";
	size_t begin = strlen(class) + 1;

	if (!shared || name_count == 0) {
		return MOST_NAMES;
	}
	memcpy(text, class, begin);
	size_t used = begin + fold(text + begin, NAME_SIZE - begin - 1, resource, len);
	uint64_t hash = hash_of(text, used);
	for (int i = 0; i < name_count; i++) {
		name *it = &shared->names[i];
		uint64_t found = 0;
		if (atomic_load_explicit(&it->hash, memory_order_relaxed) == 0
			&& atomic_compare_exchange_strong(&it->hash, &found, hash)) {
			memcpy(it->text, text, NAME_SIZE);
			atomic_store(&it->is_written, true);
			return i;
		}
		if (atomic_load_explicit(&it->hash, memory_order_relaxed) == hash) { /* 64 bits tell 64 names apart */
			return i;
		}
	}
	return MOST_NAMES;
}

/* ---- counting ---- */

static stripe *stripe_at(int place)
{
	return &shared->stripes[(uint32_t) dlock_process_current() % STRIPES][place];
}

static void add(_Atomic uint64_t *to, uint64_t more)
{
	atomic_fetch_add_explicit(to, more, memory_order_relaxed);
}

void dlock_metrics_count(int place, dlock_metric metric)
{
	if (shared) {
		add(&stripe_at(place)->counts[metric], 1);
	}
}

static void add_length(_Atomic uint64_t *histogram, dlock_nanos length)
{
	int bucket = 0;

	while (bucket < DLOCK_METRIC_BUCKETS - 1
		&& length > dlock_from_seconds(dlock_metric_bounds[bucket])) {
		bucket++;
	}
	add(&histogram[bucket], 1);
	if (length > 0) {
		add(&histogram[DLOCK_METRIC_BUCKETS], (uint64_t) length);
	}
}

void dlock_metrics_waited(int place, dlock_nanos length)
{
	if (shared) {
		add_length(stripe_at(place)->waited, length);
	}
}

void dlock_metrics_held(int place, dlock_nanos length)
{
	if (shared) {
		add_length(stripe_at(place)->held, length);
	}
}

void dlock_metrics_add(dlock_worker_metric metric, uint64_t more)
{
	if (shared && more > 0) {
		add(&shared->workers_counts[metric], more);
	}
}

/* ---- workers ---- */

/* When a process started, in clock ticks since boot; 0: not known. It is word 22 of /proc/PID/stat, whose word 2, the
 * name in parentheses, may contain spaces. */
static uint64_t start_of(pid_t pid)
{
	char path[40], text[512];
	uint64_t started = 0;

	snprintf(path, sizeof path, "/proc/%ld/stat", (long) pid);
	FILE *file = fopen(path, "re");
	size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
	if (file) {
		fclose(file);
	}
	text[len] = '\0';
	char *word = strrchr(text, ')');
	for (int i = 2; word && i < 22; i++) {
		word = strchr(word + 1, ' ');
	}
	if (word) {
		started = strtoull(word, NULL, 10);
	}
	return started;
}

/* Names a process by its pid and, in the upper half, its start, because the system reuses pids. It is one word, so that
 * no process sees the one without the other and takes the owner of a slot for another, dead process. */
static uint64_t owner_of(pid_t pid)
{
	return start_of(pid) << 32 | (uint32_t) pid;
}

/* A process whose start cannot be read counts as the owner: the reader may be of another user (a /proc mounted with
 * hidepid), or may have no descriptor left. */
static bool lives(uint64_t owner)
{
	pid_t pid = (pid_t) (uint32_t) owner;

	if (kill(pid, 0) != 0 && errno == ESRCH) {
		return false;
	}
	uint64_t now = owner_of(pid);
	return owner >> 32 == 0 || now >> 32 == 0 || now == owner;
}

static bool claim(dlock_worker *worker, uint64_t me)
{
	uint64_t owner = atomic_load(&worker->owner);

	if ((owner != 0 && lives(owner)) || !atomic_compare_exchange_strong(&worker->owner, &owner, me)) {
		return false;
	}
	atomic_store(&worker->held, 0);
	atomic_store(&worker->waiting, 0);
	atomic_store(&worker->held_since, 0);
	return true;
}

static dlock_worker *claim_any(void)
{
	uint64_t me = owner_of(getpid());

	for (int i = 0; i < WORKERS; i++) {
		if (atomic_load(&shared->workers[i].owner) == 0 && claim(&shared->workers[i], me)) {
			return &shared->workers[i];
		}
	}
	for (int i = 0; i < WORKERS; i++) { /* a killed worker has not freed its slot */
		if (claim(&shared->workers[i], me)) {
			return &shared->workers[i];
		}
	}
	add(&shared->uncounted, 1);
	return NULL;
}

dlock_worker *dlock_metrics_worker(dlock_worker **kept, uint64_t *process)
{
	if (*process != dlock_process_current()) {
		*process = dlock_process_current();
		*kept = shared ? claim_any() : NULL;
	}
	return *kept;
}

void dlock_metrics_leave(dlock_worker *worker)
{
	if (worker && (pid_t) (uint32_t) atomic_load(&worker->owner) == getpid()) {
		atomic_store(&worker->owner, 0);
	}
}

/* ---- for readers ---- */

int dlock_metrics_next(int place, const char **class, const char **name)
{
	while (shared && place < name_count && !atomic_load(&shared->names[place].is_written)) {
		place++;
	}
	if (!shared || place > MOST_NAMES) {
		return -1;
	}
	if (place >= name_count) {
		*class = "";
		*name = "other";
		return MOST_NAMES;
	}
	*class = shared->names[place].text;
	*name = *class + strlen(*class) + 1;
	return place;
}

static void read_histogram(dlock_histogram *out, _Atomic uint64_t *from)
{
	for (int i = 0; i < DLOCK_METRIC_BUCKETS; i++) {
		out->buckets[i] += atomic_load(&from[i]);
	}
	out->nanos += atomic_load(&from[DLOCK_METRIC_BUCKETS]);
}

dlock_totals dlock_metrics_read(int place)
{
	dlock_totals totals = { .counts = { 0 } };

	for (int i = 0; i < STRIPES; i++) {
		stripe *from = &shared->stripes[i][place];
		for (int k = 0; k < DLOCK_METRIC_COUNTS; k++) {
			totals.counts[k] += atomic_load(&from->counts[k]);
		}
		read_histogram(&totals.waited, from->waited);
		read_histogram(&totals.held, from->held);
	}
	return totals;
}

uint64_t dlock_metrics_sum(dlock_worker_metric metric)
{
	return shared ? atomic_load(&shared->workers_counts[metric]) : 0;
}

dlock_gauges dlock_metrics_gauges(void)
{
	dlock_gauges gauges = { .uncounted = shared ? atomic_load(&shared->uncounted) : 0 };
	dlock_nanos now = dlock_now();

	for (int i = 0; shared && i < WORKERS; i++) {
		dlock_worker *worker = &shared->workers[i];
		uint64_t owner = atomic_load(&worker->owner);
		if (owner == 0 || !lives(owner)) {
			continue;
		}
		dlock_nanos since = atomic_load(&worker->held_since);
		gauges.workers++;
		gauges.held += atomic_load(&worker->held);
		gauges.waiting += atomic_load(&worker->waiting);
		gauges.oldest = since > 0 && now - since > gauges.oldest ? now - since : gauges.oldest;
	}
	return gauges;
}

#include "table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/process.h"

typedef struct lock {
	struct lock *next; /* in its bucket */
	uint64_t hash;
	char *table;
	char *key;
	size_t key_len;
	char token[DLOCK_TOKEN_MAX + 1];
	dlock_nanos deadline;         /* of the lease; what has passed is free */
	dlock_memory_waiter *waiters; /* the first is next */
} lock;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Those of this process that are held or waited for; what is over stays until there is one for each bucket. */
static lock *first_buckets[16], **buckets = first_buckets;
static size_t bucket_count = 16, count; /* the first is a power of two */
static int64_t fence;

/* ---- fork ---- */

/* Waiters are the parent's threads, and leases its own. The table is left as it is, not freed: another thread may have
 * been at it. The mutex is not taken before a fork, since the renewal thread takes it under one that is taken then: the
 * order would be that of the first uses. */
static void in_child(void)
{
	pthread_mutex_init(&mutex, NULL);
	memset(first_buckets, 0, sizeof first_buckets);
	buckets = first_buckets;
	bucket_count = 16;
	count = 0;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

static void enter(void)
{
	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&mutex);
}

static void leave(void)
{
	pthread_mutex_unlock(&mutex);
}

/* ---- locks ---- */

static bool is_held(const lock *lock)
{
	return *lock->token && dlock_now() < lock->deadline;
}

static uint64_t hash_of(dlock_memory_name name)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a; names of two tables may meet */

	for (size_t i = 0; i < name.key_len; i++) {
		hash = (hash ^ (unsigned char) name.key[i]) * 0x100000001b3;
	}
	return hash;
}

static lock *find(dlock_memory_name name)
{
	for (lock *it = buckets[hash_of(name) & (bucket_count - 1)]; it; it = it->next) {
		if (it->key_len == name.key_len && !memcmp(it->key, name.key, name.key_len) && !strcmp(it->table, name.table)) {
			return it;
		}
	}
	return NULL;
}

/* Frees what nobody holds or waits for. */
static void sweep(void)
{
	for (size_t i = 0; i < bucket_count; i++) {
		for (lock **at = &buckets[i], *it = *at; it; it = *at) {
			if (it->waiters || is_held(it)) {
				at = &it->next;
				continue;
			}
			*at = it->next;
			free(it->table);
			free(it->key);
			free(it);
			count--;
		}
	}
}

static void put(lock **to, size_t to_count, lock *it)
{
	it->next = to[it->hash & (to_count - 1)];
	to[it->hash & (to_count - 1)] = it;
}

/* Doubles the buckets. Without memory all goes on, but slower. */
static void grow(void)
{
	size_t more_count = 2 * bucket_count;
	lock **more = calloc(more_count, sizeof *more);

	if (!more) {
		return;
	}
	for (size_t i = 0; i < bucket_count; i++) {
		for (lock *it = buckets[i], *next; it; it = next) {
			next = it->next;
			put(more, more_count, it);
		}
	}
	if (buckets != first_buckets) {
		free(buckets);
	}
	buckets = more;
	bucket_count = more_count;
}

static lock *find_or_make(dlock_memory_name name)
{
	lock *it = find(name);

	if (it || !(it = calloc(1, sizeof *it))) {
		return it;
	}
	it->table = strdup(name.table);
	it->key = malloc(name.key_len ? name.key_len : 1);
	if (!it->table || !it->key) {
		free(it->table);
		free(it->key);
		free(it);
		return NULL;
	}
	memcpy(it->key, name.key, name.key_len);
	it->key_len = name.key_len;
	it->hash = hash_of(name);
	if (count >= bucket_count) {
		sweep();
		if (count >= bucket_count / 2) { /* so that there are calls enough to pay for the next sweep */
			grow();
		}
	}
	count++;
	put(buckets, bucket_count, it);
	return it;
}

/* The lock, where it is held by this token. */
static lock *find_held(dlock_memory_name name, const char *token)
{
	lock *it = find(name);

	return it && is_held(it) && !strcmp(it->token, token) ? it : NULL;
}

/* The clock, as on the servers, so that an application's tests see numbers of the usual size. */
static int64_t next_fencing_token(void)
{
	struct timespec now;

	timespec_get(&now, TIME_UTC);
	int64_t micros = (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000;
	fence = micros > fence ? micros : fence + 1;
	return fence;
}

/* The first of those that can take the lock now. */
static dlock_memory_waiter *first_waiter(const lock *lock)
{
	dlock_memory_waiter *waiter = lock->waiters;

	while (waiter && waiter->away) {
		waiter = waiter->next;
	}
	return waiter;
}

static void wake_first(const lock *lock)
{
	const dlock_memory_waiter *first = first_waiter(lock);

	if (first) {
		dlock_wakeup_send(&first->wakeup);
	}
}

dlock_memory_result dlock_memory_take(dlock_memory_name name, const char *token, dlock_nanos ttl,
	const dlock_memory_waiter *waiter, int64_t *fencing_token, dlock_nanos *deadline, dlock_nanos *next_try)
{
	dlock_memory_result result = DLOCK_MEMORY_REFUSED;

	enter();
	lock *it = find_or_make(name);
	if (!it) {
		result = DLOCK_MEMORY_NO_MEMORY;
	} else if (is_held(it)) {
		*next_try = it->deadline;
	} else if (first_waiter(it) && first_waiter(it) != waiter) {
		*next_try = DLOCK_FOREVER; /* the first is about to take it, and this one hears of it */
	} else {
		strcpy(it->token, token);
		*deadline = it->deadline = dlock_after(dlock_now(), ttl);
		*fencing_token = next_fencing_token();
		result = DLOCK_MEMORY_TAKEN;
	}
	leave();
	return result;
}

bool dlock_memory_queue(dlock_memory_name name, dlock_memory_waiter *waiter)
{
	enter();
	lock *it = find_or_make(name);
	if (it) {
		dlock_memory_waiter **end = &it->waiters;
		while (*end) {
			end = &(*end)->next;
		}
		waiter->next = NULL;
		waiter->away = false;
		*end = waiter;
	}
	leave();
	return it != NULL;
}

void dlock_memory_step_aside(dlock_memory_name name, dlock_memory_waiter *waiter, bool away)
{
	enter();
	lock *it = find(name);
	waiter->away = away;
	if (it) {
		wake_first(it); /* what has woken this one may be for the next */
	}
	leave();
}

void dlock_memory_leave(dlock_memory_name name, dlock_memory_waiter *waiter)
{
	enter();
	lock *it = find(name);
	if (it) {
		dlock_memory_waiter **at = &it->waiters;
		while (*at && *at != waiter) {
			at = &(*at)->next;
		}
		if (*at) {
			*at = waiter->next;
			wake_first(it); /* it may be its turn, or its time to watch the lease's end */
		}
	}
	leave();
}

bool dlock_memory_extend(
	dlock_memory_name name, const char *token, dlock_nanos ttl, bool may_shorten, dlock_nanos *deadline)
{
	enter();
	lock *it = find_held(name, token);
	if (it) {
		dlock_nanos end = dlock_after(dlock_now(), ttl);
		it->deadline = may_shorten || end > it->deadline ? end : it->deadline;
		*deadline = it->deadline;
		wake_first(it);
	}
	leave();
	return it != NULL;
}

bool dlock_memory_find(dlock_memory_name name, const char *token, dlock_nanos *deadline)
{
	enter();
	lock *it = find_held(name, token);
	if (it) {
		*deadline = it->deadline;
	}
	leave();
	return it != NULL;
}

bool dlock_memory_exchange(
	dlock_memory_name name, const char *token, const char *other, int64_t *fencing_token, dlock_nanos *deadline)
{
	enter();
	lock *it = find_held(name, token);
	if (it) {
		strcpy(it->token, other);
		*fencing_token = next_fencing_token();
		*deadline = it->deadline;
	}
	leave();
	return it != NULL;
}

bool dlock_memory_release(dlock_memory_name name, const char *token, bool *handed_over)
{
	enter();
	lock *it = find_held(name, token);
	if (it) {
		*it->token = '\0';
		*handed_over = first_waiter(it) != NULL;
		wake_first(it);
	}
	leave();
	return it != NULL;
}

bool dlock_memory_is_locked(dlock_memory_name name)
{
	enter();
	lock *it = find(name);
	bool locked = it && is_held(it);
	leave();
	return locked;
}

static bool has_id(const lock *lock, const char *id)
{
	char own[DLOCK_TOKEN_ID_LEN + 1];

	return is_held(lock) && dlock_token_id(lock->token, own) && !strcmp(own, id);
}

static bool add(dlock_inspection *out, bool holds, const char *token, dlock_nanos remaining)
{
	char id[DLOCK_TOKEN_ID_LEN + 1];
	size_t len = dlock_token_id(token, id) ? strlen(id) : 0;
	dlock_party *party = dlock_inspection_add(out, holds, id, len);

	if (party) {
		party->remaining = remaining;
	}
	return party != NULL;
}

bool dlock_memory_inspect(dlock_memory_name name, int most, dlock_inspection *out)
{
	bool good = true;

	out->at = dlock_time_of_day();
	enter();
	const lock *it = find(name);
	if (it && is_held(it)) {
		out->holding = 1;
		good = add(out, true, it->token, it->deadline - dlock_now());
	}
	for (const dlock_memory_waiter *waiter = it ? it->waiters : NULL; good && waiter; waiter = waiter->next) {
		good = out->waiting++ >= most || add(out, false, waiter->token, -1);
	}
	leave();
	return good;
}

/* What no claim has for its token. */
#define BROKEN "broken"

bool dlock_memory_break(dlock_memory_name name, const dlock_break *how, dlock_nanos *left)
{
	enter();
	lock *it = find(name);
	bool is_holder = it && has_id(it, how->id);
	if (is_holder) {
		*left = how->now ? 0 : it->deadline - dlock_now();
		strcpy(it->token, how->now ? "" : BROKEN);
		wake_first(it);
	}
	leave();
	return is_holder;
}

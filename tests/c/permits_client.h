#ifndef PERMITS_CLIENT_H
#define PERMITS_CLIENT_H

#include "../../src/redis/lock/service.h"
#include "../../src/redis/request/permits_requests.h"
#include "redis_client.h"

/* Clients for tests of semaphores and read/write locks, and processes that wait for permits. */

#define POOL "Pool:"

client permits_client_at(const char *dsn, int64_t capacity, bool fifo);
client permits_client_on(dlock_endpoint *service, int64_t capacity, bool fifo);
client permits_client(const test_server *server, int64_t capacity);

/* Claims on that number of permits. permits_held() acquires its claim, or ends the test. */
dlock_claim *permits_on(client *client, const char *resource, int64_t permits, int ttl_ms);
dlock_claim *permits_held(client *client, const char *resource, int64_t permits, int ttl_ms);

/* How many permits of a pool are held and how many claims wait, as the server says. */
long long held_permits(test_server *server, const char *resource);
long long waiters(test_server *server, const char *resource);
bool eventually_waiting(test_server *server, const char *resource, int count);

/* Tells the only waiter that it was granted its permits, in reply to the request that is `more` after its last one.
 * Returns how many clients received it. */
long long tell_granted(test_server *server, const char *resource, int more, long long fencing_token);

/* Processes that wait for permits, and hold them until the test lets them release. */
enum { MOST_TAKERS = 64 };

typedef struct {
	_Atomic int served, go;    /* how many takers hold or held their permits; takers with a number below `go` release */
	_Atomic int64_t out, most; /* permits held now, and at most */
	int place[MOST_TAKERS];    /* each taker's place in the order of service, from 1; 0: not yet */
	int received[MOST_TAKERS];
	int64_t token[MOST_TAKERS];
	dlock_nanos at[MOST_TAKERS];
	pid_t pid[MOST_TAKERS];
	int count;
} takers;

takers *takers_new(void);

/* Starts a taker, and returns when it waits or holds its permits. It holds them for hold_ms; negative: until `go` is
 * above its number. */
void taker_start(takers *takers, test_server *server, client (*connect)(void), const char *resource, int64_t permits,
	int ttl_ms, int hold_ms);

bool takers_served(takers *takers, int count);

/* Lets all takers end. Returns how many of them failed. */
int takers_end(takers *takers);

#endif

/* A crowd of buyers: each connection makes one request after the other, all connections at once, until all requests are
 * made.
 *
 *   crowd HOST:PORT CONNECTIONS REQUESTS KEY ASK            runs the script ASK (its SHA1) with KEY alone
 *   crowd HOST:PORT CONNECTIONS REQUESTS KEY ASK BUY TTL N  reserves one unit of the stock KEY by ASK for TTL ms
 *
 * In the second form, the buyer confirms its reservation by BUY; N of 100 buyers do not. Prints how many seconds it
 * took, and how many units were reserved. */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 1000, WITHOUT_ANSWER_MS = 60000 };

typedef struct {
	redisContext *redis;
	long buyer; /* whose reply is due; -1: the connection has no more requests */
	bool buys;
} connection;

static const char *key, *ask, *buy, *ttl;
static long made, requests, given;
static int abandoned;

static void fail(const char *what)
{
	fprintf(stderr, "crowd: %s\n", what);
	exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

static void flush_out(connection *one)
{
	int done = 0;

	while (!done) { /* the socket's buffer has room for a request */
		if (redisBufferWrite(one->redis, &done) != REDIS_OK) {
			fail(one->redis->errstr);
		}
	}
}

static void next(connection *one)
{
	one->buys = false;
	one->buyer = made < requests ? made++ : -1;
	if (one->buyer < 0) {
		return;
	}
	if (buy) {
		redisAppendCommand(one->redis, "EVALSHA %s 1 %s buyer%ld/order 1 %s", ask, key, one->buyer, ttl);
	} else {
		redisAppendCommand(one->redis, "EVALSHA %s 1 %s", ask, key);
	}
	flush_out(one);
}

static bool is_given(const redisReply *reply)
{
	return buy && reply->type == REDIS_REPLY_ARRAY && reply->elements > 0 && reply->element[0]->integer == 1;
}

static void answered(connection *one, const redisReply *reply)
{
	if (reply->type == REDIS_REPLY_ERROR) {
		fail(reply->str);
	}
	if (!one->buys && is_given(reply)) {
		given++;
		if (one->buyer % 100 >= abandoned) {
			one->buys = true;
			redisAppendCommand(one->redis, "EVALSHA %s 1 %s buyer%ld/order 0 %s %s", buy, key, one->buyer, "", "");
			flush_out(one);
			return;
		}
	}
	next(one);
}

static void receive(connection *one)
{
	void *reply;

	if (redisBufferRead(one->redis) != REDIS_OK) {
		fail(one->redis->errstr);
	}
	while (redisGetReplyFromReader(one->redis, &reply) == REDIS_OK && reply) {
		answered(one, reply);
		freeReplyObject(reply);
	}
	if (one->redis->err) {
		fail(one->redis->errstr);
	}
}

static void serve(connection *all, int count)
{
	struct pollfd fds[CONNECTIONS_MAX];
	int busy = count;

	for (int i = 0; i < count; i++) {
		fds[i] = (struct pollfd) { .fd = all[i].redis->fd, .events = POLLIN };
		next(&all[i]);
	}
	while (busy > 0) {
		int ready = poll(fds, (nfds_t) count, WITHOUT_ANSWER_MS);
		if (ready <= 0 && errno != EINTR) {
			fail("no answer");
		}
		for (int i = 0; i < count; i++) {
			if (fds[i].fd >= 0 && fds[i].revents) {
				receive(&all[i]);
				if (all[i].buyer < 0) {
					fds[i].fd = -1;
					busy--;
				}
			}
		}
	}
}

int main(int argc, char **argv)
{
	static connection all[CONNECTIONS_MAX];
	char *port = argc == 6 || argc == 9 ? strchr(argv[1], ':') : NULL;
	int count = port ? atoi(argv[2]) : 0;

	if (count < 1 || count > CONNECTIONS_MAX) {
		fail("see the head of bench/crowd.c");
	}
	*port++ = '\0';
	requests = atol(argv[3]);
	key = argv[4];
	ask = argv[5];
	if (argc == 9) {
		buy = argv[6];
		ttl = argv[7];
		abandoned = atoi(argv[8]);
	}
	for (int i = 0; i < count; i++) {
		all[i].redis = redisConnect(argv[1], atoi(port));
		if (!all[i].redis || all[i].redis->err) {
			fail(all[i].redis ? all[i].redis->errstr : "out of memory");
		}
	}
	double began = now();
	serve(all, count);
	printf("%.6f %ld\n", now() - began, given);
	for (int i = 0; i < count; i++) {
		redisFree(all[i].redis);
	}
	return 0;
}

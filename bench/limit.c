/* The machine's limit: locks in bare C on hiredis and the ZooKeeper client, with nothing between them and the servers.
 * bench/contend.php does the same with PHP's locks. Both print the same lines, one per critical section.
 *
 *   limit WAY together|apart PROCESSES SECTIONS US SERVER...
 *
 * SECTIONS critical sections of US microseconds run under one lock, or under one lock for each process. The processes
 * connect, start together, and share the sections evenly. The program prints "ready" before and "done" after them.
 * After each it waits for a line, so that the caller can ask the servers what they have used. Then it prints a line for
 * each section: the number of the process, and four times in ns, on the monotonic clock: it starts to acquire the lock,
 * has acquired it, starts to release it, has released it.
 *
 * cc -O2 -DTHREADED limit.c -o limit -lhiredis -lzookeeper_mt
 */
#define _GNU_SOURCE
#include <hiredis/hiredis.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#define MOST_SERVERS 16
#define TIME_LIMIT 60  /* s, after which a process is ended */
#define LEASE "20000"  /* ms */

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "limit: %s: %s\n", what, why);
	exit(1);
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* ---- Redis ---- */

/* A server, and how many of its replies have not been read. */
typedef struct {
	redisContext *redis;
	int owed;
	char release[41];
	char acquire[41];
} server;

static server servers[MOST_SERVERS];
static int server_count;
static redisContext *inbox;
static char me[32];
static char lock[48] = "limit:lock";

static redisContext *dial(const char *address)
{
	const char *colon = strrchr(address, ':');
	char host[128];

	if (!colon) {
		fail(address, "is not HOST:PORT");
	}
	snprintf(host, sizeof host, "%.*s", (int) (colon - address), address);
	redisContext *redis = redisConnect(host, atoi(colon + 1));
	if (!redis || redis->err) {
		fail(address, redis ? redis->errstr : "out of memory");
	}
	return redis;
}

/* Returns the reply. The process ends if there is none, or if it is an error. */
static redisReply *must(redisReply *reply)
{
	if (!reply || reply->type == REDIS_REPLY_ERROR) {
		fail("Redis", reply ? reply->str : "connection lost");
	}
	return reply;
}

static long long number(redisReply *reply)
{
	long long value = must(reply)->type == REDIS_REPLY_INTEGER ? reply->integer : reply->type == REDIS_REPLY_STATUS;

	freeReplyObject(reply);
	return value;
}

static void load(redisContext *redis, const char *lua, char sha[41])
{
	redisReply *reply = must(redisCommand(redis, "SCRIPT LOAD %s", lua));

	snprintf(sha, 41, "%s", reply->str);
	freeReplyObject(reply);
}

static void listen_on(const char *address, const char *channel)
{
	inbox = dial(address);
	freeReplyObject(must(redisCommand(inbox, "SUBSCRIBE %s", channel)));
}

static void hear(void)
{
	void *message;

	if (redisGetReply(inbox, &message) != REDIS_OK) {
		fail("inbox", inbox->errstr);
	}
	freeReplyObject(message);
}

/* ---- SET NX PX, and a script that deletes the key only with its own token ---- */

static const char DELETE_OWN[] =
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
	"return redis.call('DEL', KEYS[1])";

static int set_nx(server *s) { return (int) number(redisCommand(s->redis, "SET %s %s NX PX " LEASE, lock, me)); }
static void delete_own(server *s) { number(redisCommand(s->redis, "EVALSHA %s 1 %s %s", s->release, lock, me)); }

static void open_with(char **addresses, const char *release)
{
	for (int i = 0; i < server_count; i++) {
		servers[i].redis = dial(addresses[i]);
		load(servers[i].redis, release, servers[i].release);
	}
}

static void one_open(char **addresses) { open_with(addresses, DELETE_OWN); }

static void one_take(void)
{
	if (!set_nx(&servers[0])) {
		fail(lock, "is somebody else's");
	}
}

static void one_give(void) { delete_own(&servers[0]); }

/* ---- the same on several servers, one after the other ---- */

static void turn_take(void)
{
	int votes = 0;

	for (int i = 0; i < server_count; i++) {
		votes += set_nx(&servers[i]);
	}
	if (votes <= server_count / 2) {
		fail(lock, "is somebody else's");
	}
}

static void turn_give(void)
{
	for (int i = 0; i < server_count; i++) {
		delete_own(&servers[i]);
	}
}

/* ---- the same on several servers, all at once; a majority's replies are enough ---- */

static void settle(server *s)
{
	void *reply = NULL;

	if (redisBufferRead(s->redis) != REDIS_OK) {
		fail("Redis", s->redis->errstr);
	}
	while (redisGetReplyFromReader(s->redis, &reply) == REDIS_OK && reply) {
		freeReplyObject(must(reply));
		s->owed--;
	}
}

/* Sends the appended requests. A server that still owes an earlier reply counts as silent. */
static void ask_all(void)
{
	struct pollfd fds[MOST_SERVERS];
	int settled = 0;

	for (int i = 0; i < server_count; i++) {
		int done = 0;
		while (!done) {
			if (redisBufferWrite(servers[i].redis, &done) != REDIS_OK) {
				fail("Redis", servers[i].redis->errstr);
			}
		}
		servers[i].owed++;
		fds[i] = (struct pollfd) { servers[i].redis->fd, POLLIN, 0 };
	}
	while (settled <= server_count / 2) {
		poll(fds, server_count, -1);
		settled = 0;
		for (int i = 0; i < server_count; i++) {
			if (fds[i].revents) {
				settle(&servers[i]);
			}
			settled += servers[i].owed == 0;
		}
	}
}

static void quorum_take(void)
{
	for (int i = 0; i < server_count; i++) {
		redisAppendCommand(servers[i].redis, "SET %s %s NX PX " LEASE, lock, me);
	}
	ask_all();
}

static void quorum_give(void)
{
	for (int i = 0; i < server_count; i++) {
		redisAppendCommand(servers[i].redis, "EVALSHA %s 1 %s %s", servers[i].release, lock, me);
	}
	ask_all();
}

/* ---- a queue on the server: a release hands the lock to the first waiter, and notifies it ---- */

static const char TAKE_OR_QUEUE[] =
	"if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('INCR', KEYS[3]) end "
	"redis.call('RPUSH', KEYS[2], ARGV[1]) "
	"return -math.max(redis.call('PTTL', KEYS[1]), 1)";
static const char GIVE_TO_NEXT[] =
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
	"local next = redis.call('LPOP', KEYS[2]) "
	"while next do "
	"  if redis.call('PUBLISH', 'limit:inbox:' .. next, redis.call('INCR', KEYS[3])) == 1 then "
	"    redis.call('SET', KEYS[1], next, 'PX', ARGV[2]) return 2 end "
	"  next = redis.call('LPOP', KEYS[2]) "
	"end "
	"return redis.call('DEL', KEYS[1])";

static void direct_open(char **addresses)
{
	char channel[64];

	open_with(addresses, GIVE_TO_NEXT);
	load(servers[0].redis, TAKE_OR_QUEUE, servers[0].acquire);
	snprintf(channel, sizeof channel, "limit:inbox:%s", me);
	listen_on(addresses[0], channel);
}

static long long direct_run(const char *sha)
{
	return number(redisCommand(servers[0].redis, "EVALSHA %s 3 %s limit:queue limit:fence %s " LEASE, sha, lock, me));
}

static void direct_take(void)
{
	if (direct_run(servers[0].acquire) < 0) {
		hear();
	}
}

static void direct_give(void) { direct_run(servers[0].release); }

/* ---- no queue: a release notifies all waiters, and all of them try ---- */

static const char DELETE_AND_TELL[] =
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
	"redis.call('DEL', KEYS[1]) "
	"return redis.call('PUBLISH', 'limit:free', '')";

static void race_open(char **addresses)
{
	open_with(addresses, DELETE_AND_TELL);
	listen_on(addresses[0], "limit:free");
}

static void race_take(void)
{
	while (!set_nx(&servers[0])) {
		struct pollfd fd = { inbox->fd, POLLIN, 0 };
		if (poll(&fd, 1, 1000) > 0) {
			hear();
		}
	}
}

/* ---- ZooKeeper: creates a node and lists all nodes in one go; deletes the node ---- */

static zhandle_t *zookeeper;
static char node[256];
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int due; /* answers of the server, its greeting included */

static void expect(int answers)
{
	pthread_mutex_lock(&guard);
	due += answers;
	pthread_mutex_unlock(&guard);
}

static void answered(int code)
{
	if (code != ZOK) {
		fail("ZooKeeper", zerror(code));
	}
	pthread_mutex_lock(&guard);
	due--;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&guard);
}

static void await_answers(void)
{
	pthread_mutex_lock(&guard);
	while (due > 0) {
		pthread_cond_wait(&changed, &guard);
	}
	pthread_mutex_unlock(&guard);
}

static void on_event(zhandle_t *handle, int type, int state, const char *path, void *context)
{
	(void) handle, (void) path, (void) context;
	if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE) {
		answered(ZOK);
	}
}

static void on_created(int code, const char *path, const void *context)
{
	(void) context;
	if (path) {
		snprintf(node, sizeof node, "%s", path);
	}
	answered(code);
}

static void on_list(int code, const struct String_vector *names, const void *context)
{
	(void) names, (void) context;
	answered(code);
}

static void on_deleted(int code, const void *context)
{
	(void) context;
	answered(code);
}

static void zk_open(char **addresses)
{
	zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
	expect(1);
	zookeeper = zookeeper_init(addresses[0], on_event, 10000, NULL, NULL, 0);
	if (!zookeeper) {
		fail(addresses[0], "no handle");
	}
	await_answers();
	int code = zoo_create(zookeeper, "/limit", "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
	if (code != ZOK && code != ZNODEEXISTS) {
		fail("/limit", zerror(code));
	}
}

static void zk_take(void)
{
	expect(2);
	zoo_acreate(zookeeper, "/limit/lock-", me, (int) strlen(me), &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL | ZOO_SEQUENCE,
		on_created, NULL);
	zoo_aget_children(zookeeper, "/limit", 0, on_list, NULL);
	await_answers();
}

static void zk_give(void)
{
	expect(1);
	zoo_adelete(zookeeper, node, -1, on_deleted, NULL);
	await_answers();
}

static void zk_close(void) { zookeeper_close(zookeeper); }

/* ---- processes ---- */

typedef struct {
	const char *name;
	void (*open)(char **addresses);
	void (*take)(void);
	void (*give)(void);
	void (*close)(void);
	int contended; /* several processes can share a lock */
} way;

static const way ways[] = {
	{ "pair", one_open, one_take, one_give, NULL, 0 },
	{ "in-turn", one_open, turn_take, turn_give, NULL, 0 },
	{ "quorum", one_open, quorum_take, quorum_give, NULL, 0 },
	{ "direct", direct_open, direct_take, direct_give, NULL, 1 },
	{ "race", race_open, race_take, one_give, NULL, 1 },
	{ "zookeeper", zk_open, zk_take, zk_give, zk_close, 0 },
};

typedef struct {
	int64_t began, had, giving, gave;
} section;

typedef struct {
	pthread_barrier_t everyone;
	int processes, apart;
	long count; /* for each process */
	section sections[];
} board;

static void run_sections(const way *way, long count, long us, section *log)
{
	for (long i = 0; i < count; i++) {
		log[i].began = now();
		way->take();
		log[i].had = now();
		if (us > 0) {
			usleep((useconds_t) us);
		}
		log[i].giving = now();
		way->give();
		log[i].gave = now();
	}
}

/* When all processes have come this far, the first one prints the step. All continue after a line, or after the end of
 * the input. */
static void report(board *board, int number, const char *step)
{
	pthread_barrier_wait(&board->everyone);
	if (number == 0) {
		dprintf(STDOUT_FILENO, "%s\n", step);
		for (int c = 0; c != '\n' && c != EOF; ) {
			c = getchar();
		}
	}
	pthread_barrier_wait(&board->everyone);
}

static void run_process(const way *way, char **addresses, board *board, int number, long us)
{
	/* So that caches and the servers are warm, as in bench/contend.php. */
	long warm_up = board->processes < 100 ? 100 / board->processes : 1;
	section *log = board->sections + number * board->count;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(TIME_LIMIT);
	snprintf(me, sizeof me, "%d", (int) getpid());
	if (board->apart) {
		snprintf(lock, sizeof lock, "limit:lock:%s", me);
	}
	way->open(addresses);
	pthread_barrier_wait(&board->everyone); /* by now all inboxes are open, so no message is lost */
	run_sections(way, warm_up < board->count ? warm_up : board->count, 0, log);
	report(board, number, "ready");
	run_sections(way, board->count, us, log);
	report(board, number, "done"); /* a process that ends costs time, which must not be measured */
	if (way->close) {
		way->close();
	}
}

static const way *way_named(const char *name)
{
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		if (strcmp(ways[i].name, name) == 0) {
			return &ways[i];
		}
	}
	return NULL;
}

static board *new_board(int processes, int apart, long count)
{
	size_t size = sizeof(board) + (size_t) processes * count * sizeof(section);
	board *new = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t shared;

	if (new == MAP_FAILED) {
		fail("board", "out of memory");
	}
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&new->everyone, &shared, processes);
	new->processes = processes;
	new->apart = apart;
	new->count = count;
	return new;
}

/* Deletes what an earlier run left. */
static void clear(const way *way, char **addresses)
{
	for (int i = 0; strcmp(way->name, "zookeeper") != 0 && i < server_count; i++) {
		redisContext *redis = dial(addresses[i]);
		freeReplyObject(must(redisCommand(redis, "DEL %s limit:queue limit:fence", lock)));
		redisFree(redis);
	}
}

static void print_sections(const board *board)
{
	for (long i = 0; i < board->processes * board->count; i++) {
		const section *s = &board->sections[i];
		printf("%ld %lld %lld %lld %lld\n", i / board->count, (long long) s->began, (long long) s->had,
			(long long) s->giving, (long long) s->gave);
	}
}

int main(int argc, char **argv)
{
	const way *way = argc > 6 ? way_named(argv[1]) : NULL;
	int apart = way && strcmp(argv[2], "apart") == 0, processes = way ? atoi(argv[3]) : 0;
	long count = processes > 0 ? atol(argv[4]) / processes : 0, us = way ? atol(argv[5]) : 0;

	server_count = argc - 6;
	if (count < 1 || server_count > MOST_SERVERS || (processes > 1 && !apart && !way->contended)) {
		fputs("usage: limit pair|in-turn|quorum|zookeeper together 1 SECTIONS US SERVER...\n"
		      "       limit pair apart PROCESSES SECTIONS US SERVER\n"
		      "       limit direct|race together PROCESSES SECTIONS US SERVER\n", stderr);
		return 2;
	}
	clear(way, argv + 6);
	board *board = new_board(processes, apart, count);
	for (int i = 0; i < processes; i++) {
		pid_t pid = fork();
		if (pid < 0) {
			fail("fork", "no more processes");
		}
		if (pid == 0) {
			run_process(way, argv + 6, board, i, us);
			_exit(0);
		}
	}
	for (int i = 0, status; i < processes; i++) {
		if (wait(&status) < 0 || status != 0) {
			fail("a process", "failed, or came to no end"); /* all other processes end with this one */
		}
	}
	print_sections(board);
	return 0;
}

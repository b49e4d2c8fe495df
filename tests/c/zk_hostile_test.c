/* Hostile ZooKeeper servers, with each call of ZkLock. Prints TAP. The usual tests do not run it: tests/c/run.sh
 * hostile. If a way does not spoil an answer, it is that of a server with one client and one lock, for which another
 * library's client waits.
 *
 * Some ways are missing, because they crash libzookeeper 3.8 in its own threads: an event whose path is NULL; the
 * answer to a login that no client sent; a successful answer that ends before the path of a new node or before a
 * list. The library does not check whether it could read these. It passes on and frees what lay on its stack

 * (deserialize_response(); `valgrind --track-origins=yes` shows it in deallocate_Create2Response()). Usually that is
 * zero, but sometimes it ends the process. */

#include <arpa/inet.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helpers.h"
#include "hostile.h"
#include "tap.h"
#include "zk_client.h"

enum {
	CONNECT = -100,
	ANY = -101,
	CREATE = 1,
	DELETE = 2,
	EXISTS = 3,
	GET_DATA = 4,
	GET_CHILDREN = 8,
	SYNC = 9,
	PING = 11,
	GET_CHILDREN_2 = 12,
	CREATE_2 = 15,
	CREATE_CONTAINER = 19,
	SET_WATCHES = 101
};
enum { LIES_LENGTH = 128, LIES_NUMBER = 256, IS_RAW = 512, IS_TRUE = 1024 };

typedef struct {
	const char *name;
	int op; /* the requests whose answers are spoiled */
	unsigned how;
	int32_t lie;  /* the length or the request's number that the answer claims; otherwise the error code */
	text payload; /* after the head; IS_RAW: instead of all; IS_TRUE: the usual one */
	int times;    /* of the payload; 0: once */
} way;

#define INT(n) (char) ((uint32_t) (n) >> 24), (char) ((uint32_t) (n) >> 16), (char) ((uint32_t) (n) >> 8), (char) (n)
#define BYTES(...)                                                                                                     \
	{                                                                                                                  \
		(const char[]){ __VA_ARGS__ }, sizeof((const char[]){ __VA_ARGS__ })                                           \
	}
#define PASSWORD 's', 'i', 'x', 't', 'e', 'e', 'n', ' ', 'b', 'y', 't', 'e', 's', ' ', 'h', '.'
/* An answer without data, whose ctime has these two halves. */
#define MADE_AT(upper, lower)                                                                                          \
	INT(0), INT(0), INT(1), INT(0), INT(1), INT(upper), INT(lower), INT(0), INT(0), INT(0), INT(0), INT(0), INT(0),    \
		INT(7), INT(0), INT(0), INT(0), INT(1)
#define HANDSHAKE(name, ...)                                                                                           \
	{                                                                                                                  \
		name, CONNECT, 0, 0, BYTES(__VA_ARGS__), 0                                                                     \
	}
#define WORD_8 "abcdefgh"

static const way ways[] = {
	{ "closes at once", CONNECT, CLOSES | AT_ONCE, 0, TEXT(""), 0 },
	{ "resets at once", CONNECT, RESETS | AT_ONCE, 0, TEXT(""), 0 },
	{ "silence", CONNECT, IS_RAW, 0, TEXT(""), 0 },
	{ "closes when it is asked", CONNECT, CLOSES | IS_RAW, 0, TEXT(""), 0 },
	{ "HTTP", CONNECT, IS_RAW, 0, TEXT("HTTP/1.1 400 Bad Request\r\n\r\n"), 0 },
	{ "Redis", CONNECT, IS_RAW, 0, TEXT("-ERR unknown command\r\n"), 0 },
	{ "zero bytes", CONNECT, IS_RAW, 0, TEXT("\0\0\0\0\0\0\0\0"), 512 },
	{ "bytes 0xff", CONNECT, IS_RAW, 0, TEXT("\xff\xff\xff\xff\xff\xff\xff\xff"), 512 },
	{ "a greeting without end", CONNECT, IS_RAW | ENDLESS, 0, TEXT(WORD_8), 0 },
	{ "a greeting byte by byte", CONNECT, IS_RAW | DRIPS, 0,
		BYTES(INT(36), INT(0), INT(1000), INT(0), INT(7), INT(16), PASSWORD), 0 },
	{ "a greeting of length -1", CONNECT, LIES_LENGTH, -1, TEXT(WORD_8), 0 },
	{ "a greeting of length 0", CONNECT, LIES_LENGTH, 0, TEXT(WORD_8), 0 },
	{ "a greeting of 2 GiB", CONNECT, LIES_LENGTH, INT32_MAX, TEXT(WORD_8), 0 },
	HANDSHAKE("a greeting that is too short", INT(0), INT(1000), INT(0)),
	HANDSHAKE("a session of no time", INT(0), INT(0), INT(0), INT(7), INT(16), PASSWORD),
	HANDSHAKE("a session of less than no time", INT(0), INT(-1), INT(0), INT(7), INT(16), PASSWORD),
	HANDSHAKE("a session of 24 days", INT(0), INT(INT32_MAX), INT(0), INT(7), INT(16), PASSWORD),
	HANDSHAKE("a session that is over", INT(0), INT(1000), INT(0), INT(0), INT(16), PASSWORD),
	HANDSHAKE("a password of length -1", INT(0), INT(1000), INT(0), INT(7), INT(-1), PASSWORD),
	HANDSHAKE("a password of 2 GiB", INT(0), INT(1000), INT(0), INT(7), INT(INT32_MAX), PASSWORD),

	{ "an answer of length -1", ANY, LIES_LENGTH, -1, TEXT(""), 0 },
	{ "an answer of length 0", ANY, LIES_LENGTH, 0, TEXT(""), 0 },
	{ "an answer of length 3", ANY, LIES_LENGTH, 3, TEXT("abc"), 0 },
	{ "an answer of 2 GiB", ANY, LIES_LENGTH, INT32_MAX, TEXT(WORD_8), 0 },
	{ "an answer to request 99", ANY, LIES_NUMBER, 99, TEXT(""), 0 },
	{ "an answer to request -5", ANY, LIES_NUMBER, -5, TEXT(""), 0 },
	{ "an event in place of an answer", ANY, LIES_NUMBER, -1, BYTES(INT(3), INT(3), INT(2), '/', 'x'), 0 },
	{ "an answer, then the end", ANY, CLOSES | IS_TRUE, 0, TEXT(""), 0 },
	{ "answers without end", ANY, ENDLESS | IS_RAW, 0, BYTES(INT(16), INT(-2), INT(0), INT(1), INT(0)), 0 },
	{ "events without end", GET_CHILDREN, ENDLESS | IS_RAW, 0,
		BYTES(INT(30), INT(-1), INT(0), INT(0), INT(0), INT(4), INT(3), INT(2), '/', 'h'), 0 },
	{ "an unknown error", ANY, 0, -9999, TEXT(""), 0 },
	{ "an error above zero", ANY, 0, 7, TEXT(""), 0 },
	{ "no node", ANY, 0, -101, TEXT(""), 0 },
	{ "no right", ANY, 0, -102, TEXT(""), 0 },
	{ "there already", ANY, 0, -110, TEXT(""), 0 },
	{ "session expired", ANY, 0, -112, TEXT(""), 0 },
	{ "session moved", ANY, 0, -118, TEXT(""), 0 },
	{ "not read-only", ANY, 0, -119, TEXT(""), 0 },

	{ "a node of another parent", CREATE_2, 0, 0, TEXT("\0\0\0\5/else\0\0\0\0\0\0\0\7"), 0 },
	{ "a node without properties", CREATE_2, 0, 0, TEXT("\0\0\0\5/h/x0"), 0 },
	{ "a node of 3 MB", CREATE_2, 0, 0, TEXT(WORD_8), 393216 },
	{ "a container without a name", CREATE_CONTAINER, 0, 0, TEXT(""), 0 },
	{ "a container whose name is NULL", CREATE_CONTAINER, 0, 0, BYTES(INT(-1)), 0 },
	{ "an empty list", GET_CHILDREN, 0, 0, BYTES(INT(0)), 0 },
	{ "a list of -1", GET_CHILDREN, 0, 0, BYTES(INT(-1)), 0 },
	{ "a list of 2^31 - 1", GET_CHILDREN, 0, 0, BYTES(INT(INT32_MAX)), 0 },
	{ "a list of a million", GET_CHILDREN, 0, 0, BYTES(INT(1000000), INT(1), 'x'), 0 },
	{ "a list with NULL in it", GET_CHILDREN, 0, 0, BYTES(INT(2), INT(1), 'x', INT(-1)), 0 },
	{ "a list of empty names", GET_CHILDREN, 0, 0, BYTES(INT(2), INT(0), INT(0)), 0 },
	{ "a list of names with zero bytes", GET_CHILDREN, 0, 0, BYTES(INT(1), INT(3), 0, 'x', 0), 0 },
	{ "a list of names without numbers", GET_CHILDREN, 0, 0,
		BYTES(INT(2), INT(6), '-', 'l', 'o', 'c', 'k', '-', INT(3), '_', 'c', '_'), 0 },
	{ "a list of a number above 64 bits", GET_CHILDREN, 0, 0, TEXT("\0\0\0\1\0\0\0\x1e_c_x-lock-99999999999999999999"),
		0 },
	{ "a node that is gone", EXISTS, 0, -101, TEXT(""), 0 },
	{ "a node without a status", EXISTS, 0, 0, TEXT(""), 0 },
	{ "a status that is too short", EXISTS, 0, 0, TEXT(WORD_8), 0 },
	{ "data of length -1", GET_DATA, 0, 0, BYTES(INT(-1)), 0 },
	{ "data of 2 GiB", GET_DATA, 0, 0, BYTES(INT(INT32_MAX), 'x'), 0 },
	{ "a node of the far future", GET_DATA, 0, 0, BYTES(MADE_AT(INT32_MAX, -1)), 0 },
	{ "a node of the far past", GET_DATA, 0, 0, BYTES(MADE_AT(INT32_MIN, 0)), 0 },
	{ "a delete that fails", DELETE, 0, -5, TEXT(""), 0 },
	{ "a delete without an answer", DELETE, IS_RAW, 0, TEXT(""), 0 },
	{ "a sync whose path is NULL", SYNC, 0, 0, BYTES(INT(-1)), 0 },
	{ "a sync without a path", SYNC, 0, 0, TEXT(""), 0 },
	{ "pings without an answer", PING, IS_RAW, 0, TEXT(""), 0 },
};

/* The library allocates whatever length it is told. More than this fails, as on a machine without free memory. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1:max_allocation_size_mb=256"; }

/* ---- the server ---- */

/* The last created node, whichever connection asked for it. */
static struct {
	char name[512];
	_Atomic int zxid;
} * tree;

typedef struct {
	char bytes[8192];
	size_t len;
} packet;

static void put(packet *packet, const void *bytes, size_t len)
{
	memcpy(packet->bytes + packet->len, bytes, len);
	packet->len += len;
}

static void put_int(packet *packet, int32_t n)
{
	uint32_t wire = htonl((uint32_t) n);

	put(packet, &wire, sizeof wire);
}

static void put_text(packet *packet, const char *text)
{
	put_int(packet, (int32_t) strlen(text));
	put(packet, text, strlen(text));
}

static void put_status(packet *packet)
{
	static const char zeros[44];
	int zxid = tree->zxid;

	put_int(packet, 0);
	put_int(packet, zxid);
	put(packet, zeros, 36);
	put_int(packet, 0); /* the session */
	put_int(packet, 7);
	put(packet, zeros, 16);
}

static int32_t int_at(const char *bytes)
{
	uint32_t wire;

	memcpy(&wire, bytes, sizeof wire);
	return (int32_t) ntohl(wire);
}

static void answer_create(packet *reply, const char *request, size_t len)
{
	char path[512];
	size_t size = len >= 12 ? (size_t) int_at(request + 8) : 0;

	size = size > len - 12 || size > 400 ? 0 : size;
	bool is_claim = memmem(request + 12, size, "_c_", 3) != NULL;
	snprintf(path, sizeof path, "%.*s%s", (int) size, request + 12, is_claim ? "0000000001" : "");
	if (is_claim) {
		snprintf(tree->name, sizeof tree->name, "%s", strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	}
	tree->zxid++;
	put_text(reply, path);
	put_status(reply);
}

/* Appends what a normal server answers after the head. */
static void answer(packet *reply, int op, const char *request, size_t len)
{
	switch (op) {
	case CREATE:
	case CREATE_2:
	case CREATE_CONTAINER:
		answer_create(reply, request, len);
		break;
	case DELETE:
		*tree->name = '\0';
		break;
	case EXISTS:
		put_status(reply);
		break;
	case GET_DATA:
		put_int(reply, 0);
		put_status(reply);
		break;
	case GET_CHILDREN:
	case GET_CHILDREN_2:
		put_int(reply, 1 + (*tree->name != '\0'));
		put_text(reply, "x-lock-0000000002");
		if (*tree->name) {
			put_text(reply, tree->name);
		}
		if (op == GET_CHILDREN_2) {
			put_status(reply);
		}
		break;
	case SYNC:
		put_text(reply, "/");
		break;
	default:
		break;
	}
}

static void say(int fd, const void *bytes, size_t len, unsigned how)
{
	size_t piece = how & DRIPS ? 1 : len;

	for (size_t sent = 0; sent < len; sent += piece) {
		if (send(fd, (const char *) bytes + sent, piece, MSG_NOSIGNAL) < 0) {
			_exit(0);
		}
		if (how & DRIPS) {
			sleep_ms(2);
		}
	}
}

static void hang_up(int fd, const way *way)
{
	if (way->how & RESETS) {
		struct linger at_once = { 1, 0 };
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	}
	if (way->how & (CLOSES | RESETS)) {
		close(fd);
		_exit(0);
	}
}

static void say_spoilt(int fd, const way *way, const packet *head)
{
	size_t times = way->times ? (size_t) way->times : 1, payload = way->payload.len * times;
	uint32_t size = htonl(way->how & LIES_LENGTH ? (uint32_t) way->lie : (uint32_t) (head->len + payload));

	if (!(way->how & IS_RAW)) {
		say(fd, &size, sizeof size, way->how);
		say(fd, head->bytes, head->len, way->how);
	}
	for (size_t i = 0; i < times || way->how & ENDLESS; i++) {
		say(fd, way->payload.data, way->payload.len, way->how);
	}
	hang_up(fd, way);
}

static void read_all(int fd, char *bytes, size_t len)
{
	for (size_t got = 0; got < len;) {
		ssize_t more = read(fd, bytes + got, len - got);
		if (more <= 0) {
			_exit(0);
		}
		got += (size_t) more;
	}
}

static void serve(int fd, const way *way)
{
	static const char greeting[] = { INT(36), INT(0), INT(1000), INT(0), INT(7), INT(16), PASSWORD };
	static char request[1 << 16];
	char size[4];

	if (way->how & AT_ONCE) {
		hang_up(fd, way);
	}
	for (bool greeted = false;; greeted = true) {
		read_all(fd, size, sizeof size);
		size_t len = (uint32_t) int_at(size) < sizeof request ? (size_t) int_at(size) : 0;
		read_all(fd, request, len);
		packet head = { .len = 0 };
		if (!greeted) {
			if (way->op == CONNECT) {
				say_spoilt(fd, way, &head);
			} else {
				say(fd, greeting, sizeof greeting, 0);
			}
			continue;
		}
		int number = int_at(request), op = int_at(request + 4);
		bool spoilt = way->op == op || (way->op == ANY && op != PING);
		put_int(&head, spoilt && way->how & LIES_NUMBER ? way->lie : number);
		put_int(&head, 0);
		put_int(&head, tree->zxid);
		put_int(&head, spoilt && !(way->how & (LIES_NUMBER | LIES_LENGTH)) ? way->lie : 0);
		if (spoilt && !(way->how & IS_TRUE)) {
			say_spoilt(fd, way, &head);
			continue;
		}
		answer(&head, op, request, len);
		packet whole = { .len = 0 };
		put_int(&whole, (int32_t) head.len);
		put(&whole, head.bytes, head.len);
		say(fd, whole.bytes, whole.len, 0);
		if (spoilt) {
			hang_up(fd, way);
		}
	}
}

static pid_t start(int *port, const way *way)
{
	int listener = listen_anywhere(port, 64);
	pid_t pid = fork_child();

	if (pid == 0) {
		signal(SIGCHLD, SIG_IGN); /* no process waits for these children */
		for (;;) {
			int fd = accept(listener, NULL, NULL);
			if (fd >= 0 && fork_child() == 0) {
				serve(fd, way);
			}
			close(fd);
		}
	}
	close(listener);
	return pid;
}

/* ---- the calls ---- */

static const char *name_of(int way) { return ways[way].name; }

static void attack(int number)
{
	char hosts[32];
	int port;
	bool locked;

	tree = shared_memory(sizeof *tree);
	pid_t pid = start(&port, &ways[number]);
	snprintf(hosts, sizeof hosts, "127.0.0.1:%d", port);
	client c = client_at(hosts, "/h", NULL);
	dlock_nanos since = dlock_now();
	for (int ms = 0; ms <= 300; ms += 300) {
		dlock_claim *claim = claim_on(&c, "name");
		dlock_wait wait = { .deadline = dlock_now() + ms * DLOCK_MS };
		c.error.message[0] = '\0';
		since = dlock_now();
		dlock_status status = dlock_claim_acquire(claim, &wait, &c.error);
		judge("acquire()", status, true, &c.error, since);
		for (int i = 0; status == DLOCK_OK && i < 50; i++) { /* meanwhile the session's thread checks its node */
			look(claim);
			sleep_ms(10);
		}
		since = dlock_now();
		judge("release()", dlock_claim_release(claim, &c.error), true, &c.error, since);
		dlock_claim_abandon(claim);
		dlock_claim_free(claim);
	}
	since = dlock_now();
	judge("locked()", c.backend->ops->locked(c.backend, "name", 4, &locked, &c.error), true, &c.error, since);
	dlock_inspection seen = { 0 };
	dlock_listing listing = { 0 };
	since = dlock_now();
	judge("inspect()", c.backend->ops->inspect(c.backend, "name", 4, 10, &seen, &c.error), true, &c.error, since);
	since = dlock_now();
	judge("list()", c.backend->ops->list(c.backend, 10, &listing, &c.error), true, &c.error, since);
	dlock_inspection_end(&seen);
	dlock_listing_end(&listing);
	dlock_zk_pool_drain(c.pool, dlock_now() + DLOCK_SECOND / 4);
	client_free(&c);
	end_child(pid);
}

int main(int argc, char **argv)
{
	static const hostile_ways all = { sizeof ways / sizeof *ways, name_of, attack };

	signal(SIGPIPE, SIG_IGN); /* as in PHP */
	dlock_process_init();
	zk_session_timeout = 2 * DLOCK_SECOND; /* several waits of a call for that long end before SOON */
	hostile_run(&all, argc > 1 ? argv[1] : NULL);
	return tap_end();
}

/* src/redis/wire/conn.c, handshake.c, info.c, call.c, inbox.c, requests.c and wait.c: what a server says, over a
 * real socket. The first byte tells what was asked and how one logs in, the second in pieces of which size the answer
 * comes; a byte 0xff in the rest ends the connection, and what is behind it is said on the next one. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../src/redis/lock/wait.h"
#include "fuzz.h"

enum {
	LOGIN_PASSWORD = 1,
	LOGIN_USER = 2,
	OTHER_DATABASE = 4,
	SUBSCRIBES = 8,
	ASKS_UPTIME = 16,
	ENDS = 32,
	MANY = 64,
	LATE = 128
};
enum { MOST_CALLS = 12 };

static const char *path;
static int listener = -1;

static void remove_socket(void)
{
	unlink(path);
}

static void start_server(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	static char own[sizeof address.sun_path];
	const char *dir = getenv("DLOCK_FUZZ_DIR");

	if (snprintf(own, sizeof own, "%s/redis-%ld.sock", dir ? dir : "/tmp", (long) getpid()) > 100) {
		snprintf(own, sizeof own, "/tmp/dlock-fuzz-%ld.sock", (long) getpid());
	}
	path = own;
	strcpy(address.sun_path, path);
	unlink(path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	MUST(listener >= 0 && bind(listener, (struct sockaddr *) &address, sizeof address) == 0
		&& listen(listener, 16) == 0);
	atexit(remove_socket);
}

static dlock_endpoint *new_server(unsigned how)
{
	dlock_endpoint *server = dlock_endpoint_new(
		3600 * DLOCK_SECOND, 3600 * DLOCK_SECOND); /* time is not what this is about */
	dlock_error error;

	MUST(server && dlock_endpoint_set(&server->path, path, strlen(path)));
	if (how & LOGIN_PASSWORD) {
		MUST(dlock_endpoint_set(&server->password, SECRET, strlen(SECRET)));
	}
	if ((how & LOGIN_PASSWORD) && (how & LOGIN_USER)) {
		MUST(dlock_endpoint_set(&server->user, "ann", 3));
	}
	server->database = how & OTHER_DATABASE ? 3 : 0;
	MUST(dlock_endpoint_seal(server, &error));
	return server;
}

/* ---- what is asked ---- */

static dlock_call *new_call(int kind, dlock_inbox *inbox)
{
	static const char token[] = "0123456789abcdef0123456789abcdef";
	static dlock_key_builder *ring;
	ring = ring ? ring : dlock_key_builder_new("", 0, 8);
	dlock_keys keys = dlock_key_builder_keys(ring, "r", 1);
	dlock_attempt request = { .token = token, .ttl = DLOCK_SECOND, .waiter = token, .inbox = inbox, .number = 1 };
	dlock_call *call;

	switch (kind % 4) {
	case 0:
		return dlock_request_acquire(keys, &request);
	case 1:
		return dlock_request_check(keys, token);
	case 2:
		return dlock_request_holder(keys);
	default:
		call = dlock_request_release(keys, token, true, token, true);
		dlock_call_to_background(call, dlock_now() + 3600 * DLOCK_SECOND);
		return call;
	}
}

static void subscribe(dlock_inbox *inbox)
{
	static const char channel[] = "dlock:inbox:0123456789abcdef0123456789abcdef";
	dlock_arg args[] = { DLOCK_ARG("SUBSCRIBE"), { channel, sizeof channel - 1 } };

	inbox->process = dlock_process_current();
	memcpy(inbox->channel, channel, sizeof channel);
	inbox->subscribing = dlock_call_command(args, 2);
	MUST(inbox->subscribing);
	dlock_conn_send(inbox->conn, inbox->subscribing);
}

/* ---- what must hold ---- */

/* Whatever the server says, and when: the password is in no message. */
static void check_secret(const dlock_conn *conn, const char *text)
{
	MUST(!conn->server->password || strstr(conn->server->label, SECRET) || !strstr(text, SECRET));
}

static void check_message(const dlock_conn *conn, const dlock_error *error)
{
	MUST(memchr(error->message, '\0', sizeof error->message) && *error->message);
	MUST(strstr(error->message, conn->server->label) || !strcmp(error->message, "Out of memory"));
	check_secret(conn, error->message);
	for (const char *c = error->message; *c; c++) {
		MUST((unsigned char) *c >= ' ' && *c != 0x7f);
	}
}

static void check_conn(const dlock_conn *conn, size_t most)
{
	MUST((conn->state >= DLOCK_CONN_HANDSHAKE) == (conn->resp.reader != NULL));
	MUST(!conn->cannot_write); /* only while it is ended */
	MUST(conn->calls.count <= most && conn->calls.count <= conn->calls.capacity);
	const dlock_handshake *handshake = &conn->handshake;
	MUST(handshake->logins >= 0 && handshake->logins <= 2);
	MUST((conn->state == DLOCK_CONN_HANDSHAKE) == (handshake->logins > 0));
	MUST(handshake->ahead <= (handshake->asks_uptime ? conn->calls.count : 0));
	MUST(memchr(handshake->uptime.problem, '\0', sizeof handshake->uptime.problem));
	check_secret(conn, handshake->uptime.problem);
	check_secret(conn, conn->error.message);
	MUST(handshake->uptime.started == DLOCK_START_UNKNOWN || handshake->uptime.started <= dlock_now());
	(void) dlock_conn_poll(conn);
	(void) dlock_conn_timer(conn);
}

/* A waiter looks again in a moment, whatever the server said of the holder and of the queue. */
static void check_look(const dlock_response *refusal)
{
	dlock_nanos before = dlock_now(), look = dlock_next_look(refusal, DLOCK_SECOND, before),
				legacy = dlock_next_look_legacy(refusal, DLOCK_TTL_MAX, before);

	MUST(look >= before && look <= dlock_now() + 3 * DLOCK_SECOND);
	MUST(legacy >= before && legacy <= dlock_now() + 3 * DLOCK_SECOND);
}

static void check_call(const dlock_call *call, const dlock_conn *conn)
{
	dlock_error error = { "" };
	dlock_response response = { 0 };

	dlock_status status = dlock_read_integer(call, conn, &response, &error);
	MUST(status == DLOCK_OK || status == DLOCK_LOST || status == DLOCK_CONNECTION);
	if (status == DLOCK_CONNECTION) {
		check_message(conn, &error);
	} else {
		MUST(call->state == DLOCK_CALL_ANSWERED && call->reply->type == REDIS_REPLY_INTEGER);
		MUST(response.value >= 0 && (response.value > 0) == (status == DLOCK_OK));
		MUST(dlock_lease_left(response.value) >= 0 && dlock_lease_left(response.value) <= DLOCK_TTL_MAX);
	}
	error.message[0] = '\0';
	status = dlock_read_acquire(call, conn, &response, &error);
	MUST(status == DLOCK_OK || status == DLOCK_LOST || status == DLOCK_CONNECTION);
	if (status == DLOCK_CONNECTION) {
		check_message(conn, &error);
	} else {
		MUST(call->state == DLOCK_CALL_ANSWERED
			&& call->reply->type == (status == DLOCK_OK ? REDIS_REPLY_INTEGER : REDIS_REPLY_ARRAY));
	}
	MUST(status != DLOCK_OK || dlock_is_fencing_token(response.fencing_token));
	if (status == DLOCK_LOST) {
		check_look(&response);
	}
	error.message[0] = '\0';
	status = dlock_read_exchange(call, conn, &response, &error);
	MUST(status == DLOCK_OK || status == DLOCK_LOST || status == DLOCK_CONNECTION);
	if (status == DLOCK_CONNECTION) {
		check_message(conn, &error);
	}
	MUST(status != DLOCK_OK || (dlock_is_fencing_token(response.fencing_token) && dlock_lease_left(response.pttl) > 0
		&& dlock_lease_left(response.pttl) <= DLOCK_TTL_MAX));
	error.message[0] = '\0';
	status = dlock_read_holder(call, conn, &response, &error);
	MUST(status == DLOCK_OK || status == DLOCK_LOST || status == DLOCK_CONNECTION);
	if (status == DLOCK_CONNECTION) {
		check_message(conn, &error);
	}
	(void) dlock_request_may_take_effect(call);
	MUST((call->state == DLOCK_CALL_ANSWERED) == (call->reply != NULL));
}

static void check_inbox(dlock_inbox *inbox)
{
	char waiter[DLOCK_PERMIT_ID_MAX + 1];
	dlock_grant grant;

	dlock_inbox_update(inbox);
	while (inbox->notices) {
		size_t len = strnlen(inbox->notices->waiter, sizeof waiter);
		MUST(len > 0 && len <= DLOCK_PERMIT_ID_MAX && !memchr(inbox->notices->waiter, ' ', len));
		memcpy(waiter, inbox->notices->waiter, len + 1);
		MUST(dlock_inbox_take(inbox, waiter, &grant) && !dlock_inbox_take(inbox, waiter, &grant));
	}
}

/* ---- the server ---- */

static void advance(dlock_conn *conn)
{
	if (conn->state == DLOCK_CONN_CLOSED) {
		return;
	}
	struct pollfd fd = dlock_conn_poll(conn);
	if (poll(&fd, 1, 0) > 0) {
		dlock_conn_advance(conn);
	}
}

static int accept_one(void)
{
	return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

typedef struct {
	dlock_conn *conn;
	dlock_inbox *inbox;
	int peer; /* our end of the connection; -1: it is to be accepted */
	size_t most;
} talk;

static void go_on(talk *talk)
{
	advance(talk->conn);
	if (talk->inbox) {
		check_inbox(talk->inbox);
	}
	check_conn(talk->conn, talk->most);
}

static void hang_up(talk *talk)
{
	if (talk->peer >= 0) {
		close(talk->peer);
	}
	talk->peer = -1;
	go_on(talk); /* finds the end of file, and may connect again */
	go_on(talk);
}

static void say(talk *talk, const uint8_t *data, size_t size, size_t piece)
{
	char heard[4096];

	while (size > 0 && talk->conn->state != DLOCK_CONN_CLOSED) {
		const uint8_t *end = memchr(data, 0xff, size < piece ? size : piece);
		size_t len = end ? (size_t) (end - data) : size < piece ? size : piece;

		talk->peer = talk->peer < 0 ? accept_one() : talk->peer;
		if (talk->peer < 0) {
			return;
		}
		while (read(talk->peer, heard, sizeof heard) > 0) {
		}
		if (len > 0
			&& send(talk->peer, data, len, MSG_NOSIGNAL) < 0) { /* replaced meanwhile: the next is to be accepted */
			hang_up(talk);
			continue;
		}
		go_on(talk);
		data += len + (end != NULL);
		size -= len + (end != NULL);
		if (end) {
			hang_up(talk);
		}
	}
}

static void check_and_release(dlock_call **calls, int count, dlock_conn *conn)
{
	for (int i = 0; i < count; i++) {
		check_call(calls[i], conn);
	}
	dlock_conn_close(conn);
	for (int i = 0; i < count; i++) {
		MUST(calls[i]->state != DLOCK_CALL_PENDING && calls[i]->references == 1);
		dlock_call_release(calls[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	dlock_call *calls[MOST_CALLS];

	if (size < 2) {
		return 0;
	}
	if (listener < 0) {
		start_server();
	}
	unsigned how = data[0];
	size_t piece = data[1] == 0 ? 65536 : data[1];
	data += 2;
	size -= 2;

	dlock_endpoint *server = new_server(how);
	dlock_inbox *inbox = how & SUBSCRIBES ? dlock_inbox_new(server) : NULL;
	dlock_conn *conn = inbox ? inbox->conn : dlock_conn_new(server);
	int count = inbox ? 0 : how & MANY ? MOST_CALLS - 1 : 2;
	talk talk = { conn, inbox, -1, MOST_CALLS + 2 };

	MUST(conn);
	if (inbox) {
		subscribe(inbox);
	}
	dlock_conn_cork(conn);
	for (int i = 0; i < count; i++) {
		calls[i] = new_call(i, inbox);
		MUST(calls[i]);
		calls[i]->needs_uptime = (how & ASKS_UPTIME) && i == 0;
		dlock_conn_send(conn, calls[i]);
	}
	dlock_conn_uncork(conn);
	go_on(&talk); /* connected */
	say(&talk, data, size, piece);
	dlock_conn_peek(conn);
	if ((how & LATE) && !inbox) { /* asked for over what has become of the connection */
		calls[count] = new_call(1, inbox);
		dlock_conn_send(conn, calls[count++]);
		go_on(&talk);
	}
	if (how & ENDS) {
		hang_up(&talk);
	}
	check_and_release(calls, count, conn);
	if (inbox) {
		dlock_inbox_free(inbox);
	} else {
		dlock_conn_free(conn);
	}
	MUST(server->references == 1);
	dlock_endpoint_release(server);
	if (talk.peer >= 0) {
		close(talk.peer);
	}
	for (int peer; (peer = accept_one()) >= 0;) {
		close(peer);
	}
	return 0;
}

/* src/memcached/conn.c: what a server sends over a connection. The first byte: how many requests wait for it, and
 * whether the version is one of these; the second: in pieces of what size it comes. */

#include <sys/socket.h>
#include <unistd.h>

#include "../../src/memcached/conn.h"
#include "fuzz.h"

enum { MOST = 4, HANDSHAKE = 4 };

static dlock_net_pool pool;

static dlock_memcached_conn *connection(dlock_endpoint *server, int *peer)
{
	int fds[2];
	dlock_memcached_conn *conn = dlock_memcached_conn_of(&pool, server, DLOCK_FOREVER);

	MUST(conn && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
	conn->state = DLOCK_MEMCACHED_READY;
	conn->channel.stage = DLOCK_CHANNEL_OPEN;
	conn->channel.fd = fds[0];
	conn->base.opened = 1;
	*peer = fds[1];
	return conn;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static dlock_endpoint server = { .references = 1,
		.host = (char *) "h",
		.label = (char *) "h:1",
		.key = (char *) "k",
		.connect_timeout = DLOCK_SECOND,
		.read_timeout = 3600 * DLOCK_SECOND };
	dlock_memcached_request *requests[MOST];
	dlock_memcached_key key = { .text = "k" };
	int peer, count;

	if (size < 2) {
		return 0;
	}
	count = data[0] % MOST;
	size_t piece = data[1] ? data[1] : 1;
	dlock_memcached_conn *conn = connection(&server, &peer);
	if (data[0] & HANDSHAKE) { /* and the others wait for its end */
		dlock_memcached_request *version = dlock_memcached_version();
		dlock_memcached_send(conn, version);
		dlock_memcached_release(version);
		conn->state = DLOCK_MEMCACHED_HANDSHAKE;
	}
	for (int i = 0; i < count; i++) {
		requests[i] = dlock_memcached_get(&key);
		MUST(requests[i]);
		if (conn->state == DLOCK_MEMCACHED_READY) {
			dlock_memcached_send_over(conn, requests[i], 1);
		} else {
			dlock_memcached_send(conn, requests[i]);
		}
	}
	for (size_t at = 2; at < size && conn->state != DLOCK_MEMCACHED_CLOSED; at += piece) {
		size_t len = size - at < piece ? size - at : piece;
		MUST(send(peer, data + at, len, MSG_NOSIGNAL) == (ssize_t) len);
		conn->base.source.ops->advance(&conn->base.source);
	}
	close(peer);
	conn->base.source.ops->advance(&conn->base.source);
	MUST(conn->state == DLOCK_MEMCACHED_CLOSED && !conn->first && !conn->unsent);
	MUST(memchr(conn->error.message, '\0', sizeof conn->error.message) && *conn->error.message);
	bool failed = false;
	for (int i = 0; i < count; i++) { /* each has an end, and after one without an answer none has one */
		MUST(requests[i]->state != DLOCK_MEMCACHED_PENDING && requests[i]->references == 1);
		MUST(!failed || requests[i]->state == DLOCK_MEMCACHED_FAILED);
		failed = requests[i]->state == DLOCK_MEMCACHED_FAILED;
		dlock_memcached_release(requests[i]);
	}
	dlock_net_pool_clear(&pool);
	return 0;
}

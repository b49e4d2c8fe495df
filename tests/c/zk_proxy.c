#include "zk_proxy.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helpers.h"

static void proxy_close(proxy *p, int pair)
{
	close(p->fds[pair][0]);
	close(p->fds[pair][1]);
	p->fds[pair][0] = p->fds[pair][1] = -1;
	p->cuts++;
}

static void proxy_accept(proxy *p)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t) p->upstream) };
	int fd = accept(p->listener, NULL, NULL), server;

	for (int i = 0; i < PROXY_PAIRS && p->mode != PROXY_CUT; i++) {
		if (p->fds[i][0] < 0) {
			server = socket(AF_INET, SOCK_STREAM, 0);
			if (connect(server, (struct sockaddr *) &address, sizeof address) < 0) {
				close(server);
				break;
			}
			memset(p->parsers[i], 0, sizeof p->parsers[i]);
			p->unheard[i] = 0;
			p->fds[i][0] = fd;
			p->fds[i][1] = server;
			return;
		}
	}
	close(fd);
	p->refused++;
}

static int32_t number_at(const unsigned char *bytes)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof number);
	return (int32_t) ntohl(number);
}

/* Follows the messages of one direction, which arrive in parts, by one byte. Does it complete a head? */
static bool proxy_follow(proxy_parser *parser, unsigned char byte)
{
	if (parser->at < 12) {
		parser->head[parser->at] = byte;
	}
	parser->at++;
	bool headed = parser->at == 12 && parser->greeted;
	if (parser->at >= 4 && parser->at == 4 + (size_t) number_at(parser->head)) {
		parser->at = 0;
		parser->greeted = true;
	}
	return headed;
}

/* Does this part complete the head of a request of type `op`? Then *number is its number. Puts the proxy's session
 * timeout into the handshake. */
static bool proxy_has(proxy *p, int pair, unsigned char *data, ssize_t len, int32_t *number)
{
	proxy_parser *parser = &p->parsers[pair][0];
	bool found = false;

	for (ssize_t i = 0; i < len; i++) {
		if (p->session_ms && !parser->greeted && parser->at >= 16 && parser->at < 20) {
			data[i] = (unsigned char) (p->session_ms >> 8 * (19 - parser->at));
		}
		bool headed = proxy_follow(parser, data[i]);
		p->requests += headed;
		if (headed && number_at(parser->head + 8) == p->op && !found) {
			found = true;
			*number = number_at(parser->head + 4);
		}
	}
	return found;
}

/* Is the reply to this request among these bytes of the server? */
static bool proxy_answers(proxy *p, int pair, const unsigned char *data, ssize_t len, int32_t number)
{
	proxy_parser *parser = &p->parsers[pair][1];
	bool found = false;

	for (ssize_t i = 0; i < len; i++) {
		found |= proxy_follow(parser, data[i]) && number != 0 && number_at(parser->head + 4) == number;
	}
	return found;
}

static void proxy_move_request(proxy *p, int pair, unsigned char *data, ssize_t len)
{
	int32_t number;
	bool hit = proxy_has(p, pair, data, len, &number);

	if (hit && (p->mode == PROXY_LOSE || p->mode == PROXY_LOSE_EACH)) {
		proxy_close(p, pair);
		if (p->mode == PROXY_LOSE) {
			p->mode = PROXY_PASS;
		}
		return;
	}
	if (write(p->fds[pair][1], data, (size_t) len) != len) {
		proxy_close(p, pair);
		return;
	}
	if (hit && p->mode == PROXY_HOLD_AFTER) {
		p->mode = PROXY_HOLD;
	}
	if (hit && p->mode == PROXY_LOSE_REPLY && !p->unheard[pair]) {
		p->unheard[pair] = number;
	}
}

static void proxy_move_response(proxy *p, int pair, unsigned char *data, ssize_t len)
{
	if (proxy_answers(p, pair, data, len, p->unheard[pair])) {
		proxy_close(p, pair);
		p->mode = PROXY_PASS;
		return;
	}
	unsigned char *word = p->mode == PROXY_ALTER ? memmem(data, (size_t) len, p->word, strlen(p->word)) : NULL;
	if (word && word + p->offset < data + len) {
		word[p->offset] = p->byte;
		p->mode = PROXY_PASS;
	}
	if (write(p->fds[pair][0], data, (size_t) len) != len) {
		proxy_close(p, pair);
	}
}

static void proxy_move(proxy *p, int pair, int side)
{
	unsigned char data[65536];
	ssize_t len = read(p->fds[pair][side], data, sizeof data);

	if (len <= 0) {
		proxy_close(p, pair);
	} else if (side == 0) {
		proxy_move_request(p, pair, data, len);
	} else {
		proxy_move_response(p, pair, data, len);
	}
}

static void *proxy_run(void *context)
{
	proxy *p = context;

	while (!p->stop) {
		struct pollfd fds[1 + 2 * PROXY_PAIRS];
		bool hold = p->mode == PROXY_HOLD;
		fds[0] = (struct pollfd) { .fd = hold ? -1 : p->listener, .events = POLLIN };
		for (int i = 0; i < 2 * PROXY_PAIRS; i++) {
			if (p->mode == PROXY_CUT && p->fds[i / 2][0] >= 0) {
				proxy_close(p, i / 2);
			}
			fds[1 + i] = (struct pollfd) { .fd = hold ? -1 : p->fds[i / 2][i % 2], .events = POLLIN };
		}
		if (poll(fds, 1 + 2 * PROXY_PAIRS, 5) <= 0 || p->mode == PROXY_HOLD || p->mode == PROXY_CUT) {
			if (p->mode == PROXY_CUT && fds[0].revents) {
				proxy_accept(p);
			}
			continue;
		}
		for (int i = 0; i < 2 * PROXY_PAIRS; i++) {
			if (fds[1 + i].revents && p->fds[i / 2][i % 2] == fds[1 + i].fd && p->mode != PROXY_HOLD) {
				proxy_move(p, i / 2, i % 2);
			}
		}
		if (fds[0].revents) {
			proxy_accept(p);
		}
	}
	return NULL;
}

void proxy_start(proxy *p, int upstream)
{
	sigset_t all, before;

	memset(p, 0, sizeof *p);
	memset(p->fds, 0xff, sizeof p->fds);
	p->upstream = upstream;
	p->listener = listen_anywhere(&p->port, 16);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_create(&p->thread, NULL, proxy_run, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void proxy_stop(proxy *p)
{
	p->stop = true;
	pthread_join(p->thread, NULL);
	for (int i = 0; i < PROXY_PAIRS; i++) {
		if (p->fds[i][0] >= 0) {
			proxy_close(p, i);
		}
	}
	close(p->listener);
}

#include "diagnosis.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../net/endpoint/dsn.h"
#include "options.h"

/* A server that has too many connections of this client accepts another one and closes it before anything was said. */
static const char closes[] =
	"closes connections as soon as they are made, perhaps because there are too many from this address: "
	"see maxClientCnxns, 60 by default, in the server's configuration";

static bool poll_channel(const dlock_source *source, struct pollfd *fd)
{
	const dlock_channel *channel = &((const dlock_zk_diagnosis *) source)->channel;

	*fd = (struct pollfd) { .fd = dlock_channel_fd(channel), .events = dlock_channel_events(channel) };
	return true;
}

static bool begin(dlock_zk_diagnosis *own, const char *hosts, dlock_nanos budget, dlock_loop *loop, dlock_nanos now)
{
	static const dlock_source_ops ops = { .poll = poll_channel };
	const char *host;
	size_t len;
	int port = DLOCK_ZK_PORT;
	dlock_error error;

	own->until = now + budget;
	own->server = dlock_endpoint_new(budget, budget);
	if (!own->server || !dlock_dsn_host(hosts, hosts + strcspn(hosts, ",/"), &host, &len, &port, &error)
		|| !dlock_endpoint_set(&own->server->host, host, len)) {
		snprintf(own->channel.problem, sizeof own->channel.problem, "%s", strerror(ENOMEM));
		return false;
	}
	own->server->port = port;
	own->source.ops = &ops;
	own->loop = loop;
	dlock_loop_add_source(loop, &own->source);
	return dlock_channel_open(&own->channel, own->server, DLOCK_FOREVER);
}

/* It may be closed before its result is looked at; a connection that was never made has other problems. */
static bool is_closed(const dlock_channel *channel)
{
	return !strcmp(channel->problem, strerror(ECONNRESET)) || !strcmp(channel->problem, strerror(EPIPE));
}

/* NULL: not known yet. */
static const char *find_fault(dlock_zk_diagnosis *own, dlock_loop *loop, dlock_nanos now)
{
	dlock_channel *channel = &own->channel;
	bool more = false;
	char byte;

	if (channel->stage != DLOCK_CHANNEL_OPEN) {
		dlock_dial_result result = dlock_channel_connect(channel);
		if (result == DLOCK_DIAL_FAILED) {
			return is_closed(channel) ? closes : channel->problem;
		}
		dlock_loop_wake_by(loop, dlock_channel_timer(channel));
	}
	if (channel->stage == DLOCK_CHANNEL_OPEN && dlock_channel_read(channel, &byte, 1, &more) < 0) {
		return closes;
	}
	if (channel->stage == DLOCK_CHANNEL_OPEN && dlock_loop_is_time(loop, own->until, now)) {
		return "accepts connections but opens no session";
	}
	return NULL;
}

bool dlock_zk_diagnose(dlock_zk_diagnosis *own, const char *hosts, dlock_nanos budget, dlock_loop *loop,
	dlock_nanos now, char *reason, size_t size)
{
	bool begun = own->server || begin(own, hosts, budget, loop, now);
	const char *fault = begun ? find_fault(own, loop, now) : own->channel.problem;

	if (fault) {
		snprintf(reason, size, "%.*s: %s", (int) strcspn(hosts, ",/"), hosts, fault);
		dlock_zk_diagnosis_end(own);
	}
	return fault;
}

void dlock_zk_diagnosis_end(dlock_zk_diagnosis *own)
{
	if (own->loop) {
		dlock_loop_remove_source(own->loop, &own->source);
	}
	if (own->server) {
		dlock_channel_close(&own->channel);
		dlock_endpoint_release(own->server);
	}
	*own = (dlock_zk_diagnosis) { .server = NULL };
}

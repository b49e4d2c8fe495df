#include "zk_client.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../src/zookeeper/lock/claim.h"
#include "helpers.h"
#include "tap.h"

const char *zk_hosts;
int zk_port;
char zk_root[64];
zhandle_t *zk_observer;
dlock_nanos zk_session_timeout = 30 * DLOCK_SECOND; /* a session survives that long on a busy machine */
dlock_loop zk_loop;

#if defined(__SANITIZE_ADDRESS__)
/* In a child of fork(), no thread owns the buffers of the library's threads. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libzookeeper_mt";
}
#endif

static void ignore_log(const char *message)
{
	(void) message;
}

void zk_observe(void)
{
	zk_observer = zookeeper_init2(zk_hosts, NULL, 30000, NULL, NULL, 0, ignore_log);
}

void zk_unobserve(void)
{
	zookeeper_close(zk_observer);
	zk_observer = NULL;
}

void zk_begin(int argc, char **argv)
{
	if (argc < 2 || strncmp(argv[1], "127.0.0.1:", 10) != 0) {
		fprintf(stderr, "usage: %s 127.0.0.1:PORT [test]\n", argv[0]);
		exit(2);
	}
	zk_hosts = argv[1];
	zk_port = atoi(argv[1] + 10);
	snprintf(zk_root, sizeof zk_root, "/dlock-test-%d", (int) getpid());
	signal(SIGPIPE, SIG_IGN); /* as in PHP */
	dlock_process_init();
	zk_observe();
}

void zk_reset(void)
{
	zk_unobserve();
	zk_observe();
}

void zk_end(void)
{
	zk_unobserve();
	dlock_loop_end(&zk_loop);
}

client client_at(const char *hosts, const char *under, const char *auth)
{
	dlock_zk_options options = { hosts, under, zk_session_timeout, auth };
	client c = { dlock_zk_pool_new(&zk_loop), NULL, { "" } };

	c.backend = dlock_zookeeper_new(c.pool, &options, "", 0, 0);
	return c;
}

client client_new(void)
{
	return client_at(zk_hosts, zk_root, NULL);
}

void client_free(client *c)
{
	dlock_backend_release(c->backend);
	dlock_zk_pool_free(c->pool);
}

dlock_claim *claim_on(client *c, const char *name)
{
	return dlock_claim_new(c->backend, name, strlen(name), 0, NULL, &c->error);
}

dlock_claim *claim_on_several(client *c, const char *letters)
{
	dlock_name names[DLOCK_SEVERAL_MAX];
	int count = 0;

	for (; letters[count]; count++) {
		names[count] = (dlock_name) { &letters[count], 1 };
	}
	return dlock_claim_new_of(c->backend, names, count, 0, NULL, &c->error);
}

dlock_status acquire(client *c, dlock_claim *claim, int ms)
{
	dlock_wait wait = { .deadline = ms < 0 ? DLOCK_FOREVER : dlock_now() + ms * DLOCK_MS };
	dlock_status status = dlock_claim_acquire(claim, &wait, &c->error);

	if (status == DLOCK_CONNECTION || status == DLOCK_FAILED) {
		note("%s", c->error.message);
	}
	return status;
}

bool passes(client *c, const char *name, int ms)
{
	for (dlock_nanos end = dlock_now() + 60 * DLOCK_SECOND; dlock_now() < end;) {
		dlock_claim *claim = claim_on(c, name);
		bool passed = acquire(c, claim, ms) == DLOCK_OK && dlock_claim_release(claim, &c->error) == DLOCK_OK;
		dlock_claim_free(claim);
		if (passed) {
			return true;
		}
	}
	return false;
}

dlock_status release(client *c, dlock_claim *claim)
{
	dlock_status status = dlock_claim_release(claim, &c->error);

	dlock_claim_free(claim);
	return status;
}

int children(const char *name)
{
	struct String_vector names;
	char path[256];

	snprintf(path, sizeof path, "%s/%s", zk_root, name);
	if (zoo_get_children(zk_observer, path, 0, &names) != ZOK) {
		return -1;
	}
	int number = names.count;
	deallocate_String_vector(&names);
	return number;
}

int64_t made_at(const char *name)
{
	struct Stat stat;
	char path[256];

	snprintf(path, sizeof path, "%s/%s", zk_root, name);
	return zoo_exists(zk_observer, path, 0, &stat) == ZOK ? stat.czxid : 0;
}

typedef struct {
	const char *name;
	int number;
} settlement;

static bool has_settled(void *context)
{
	const settlement *expected = context;
	int now = children(expected->name);

	return now == expected->number || (expected->number == 0 && now == -1);
}

bool settles_at(const char *name, int number)
{
	return eventually(has_settled, &(settlement) { name, number });
}

void probe_now(const dlock_claim *claim)
{
	dlock_zk_session *session = ((const dlock_zk_claim *) claim)->session;

	pthread_mutex_lock(&session->mutex);
	session->probe_due = dlock_now();
	dlock_wakeup_send(&session->thread_wakeup);
	pthread_mutex_unlock(&session->mutex);
}

pid_t fork_calmly(void)
{
	dlock_nanos start;

	do { /* a machine that stood still leaves the threads with something to do */
		start = dlock_now();
		sleep_ms(50);
	} while (dlock_now() - start > 200 * DLOCK_MS);
	return fork_child();
}

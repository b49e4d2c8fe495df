/* Which nodes prove that they have followed no other master (src/redis/wire/survey.c), and which are asked. */
#include <stdio.h>
#include <string.h>

#include "../../src/redis/route/surveying.h"
#include "../../src/redis/wire/info.h"
#include "helpers.h"
#include "hostile.h"
#include "redis_client.h"
#include "tap.h"

#define GUARD (10 * DLOCK_SECOND)

/* A node of the same master, up for `uptime` seconds, whose backlog begins at `first`. */
static dlock_node node(const char *run_id, int64_t uptime, int64_t first)
{
	dlock_node node = { .replid = "m", .first = first, .uptime = uptime, .clock_least = 100, .clock_most = 101 };

	memcpy(node.run_id, run_id, strlen(run_id));
	return node;
}

static dlock_survey survey_of(const dlock_node *nodes, int count, bool all, int enough)
{
	dlock_survey survey = { .first = -2, .skew = -2, .ready = -2 };

	dlock_survey_end(&survey, nodes, count, all, enough, GUARD);
	return survey;
}

static void test_info(void)
{
	const char *info = "# A\r\nxname:1\r\nname:23\r\nbig:1234567890123456789\r\nneg:-4\r\ntext:ab c\r\nlast:7";
	char text[8];

	check(dlock_info_number(info, "name") == 23 && dlock_info_number(info, "last") == 7, "numbers");
	check(dlock_info_number(info, "big") == -1 && dlock_info_number(info, "neg") == -1
			&& dlock_info_number(info, "text") == -1 && dlock_info_number(info, "ame") == -1,
		"values that are not numbers");
	dlock_info_text(info, "text", text, sizeof text);
	check(!strcmp(text, "ab c"), "a text");
	dlock_info_text(info, "big", text, sizeof text);
	check(!*text, "a text that does not fit");
}

static void test_enough(void)
{
	dlock_node nodes[] = { node("a", 100, 1), node("b", 100, 50), node("c", 100, 7) };

	check(survey_of(nodes, 3, true, 2).first == 7, "with two nodes enough: the second of three");
	check(survey_of(nodes, 3, true, 1).first == 1, "with one node enough: the first");
	check(survey_of(nodes, 1, true, 2).first == -1, "too few nodes");
	check(survey_of(nodes, 3, true, 2).skew == 1 && survey_of(nodes, 3, false, 2).skew == -1,
		"if all have answered, how far the clocks are apart");
}

static void test_who_counts(void)
{
	dlock_node twice[] = { node("a", 100, 1), node("a", 100, 2) }, other[] = { node("a", 100, 1), node("b", 100, 2) },
			   none[] = { node("a", 100, 1), node("b", 100, -1) };

	check(survey_of(twice, 2, true, 2).first == -1, "one node at two addresses counts once");
	other[1].replid[0] = 'x';
	check(survey_of(other, 2, true, 2).first == -1, "a node of another master does not count");
	check(survey_of(none, 2, true, 2).first == -1, "a node without a backlog does not count");
}

static void test_young(void)
{
	dlock_node nodes[] = { node("a", 100, 1), node("b", 10, 2), node("c", 4, 3) };

	dlock_survey survey = survey_of(nodes, 3, true, 2);
	check(survey.first == -1 && survey.ready == 1000, "a node that started a guard ago may be a second younger");
	nodes[1].uptime = 11;
	check(survey_of(nodes, 3, true, 2).first == 2, "a node that is old enough counts");
	nodes[1].uptime = -1;
	survey = survey_of(nodes, 3, true, 2);
	check(survey.first == -1 && survey.ready == 7000, "a node that does not report its uptime does not count");
}

/* ---- which replicas are asked ---- */

/* What a master says of its replicas, which are all at its own address, and of tools that copy its data. */
static struct {
	int port, tools, replicas, last_port; /* of the last replica; 0: the master's */
} said;

static text bulk(const char *text_of_reply)
{
	static char reply[8192];

	return (text) { reply,
		(size_t) snprintf(reply, sizeof reply, "$%zu\r\n%s\r\n", strlen(text_of_reply), text_of_reply) };
}

static text say_replicas(void)
{
	char info[6000] = "master_replid:m\r\n";
	size_t used = strlen(info);
	int count = said.tools + said.replicas;

	for (int i = 0; i < count; i++) {
		int port = i < said.tools ? 0 : i == count - 1 && said.last_port ? said.last_port : said.port;
		used += (size_t) snprintf(info + used, sizeof info - used, "slave%d:ip=127.0.0.1,port=%d,state=online\r\n", i,
			port);
	}
	return bulk(info);
}

static text say(const hostile *way, const char *request, size_t len, int nth)
{
	(void) way;
	(void) nth;
	return memmem(request, len, "replication", 11) ? say_replicas()
		: memmem(request, len, "server", 6)        ? bulk("run_id:m\r\nuptime_in_seconds:100\r\n")
		: memmem(request, len, "stats", 5)         ? bulk("sync_full:1\r\nsync_partial_ok:1\r\n")
												   : (text) TEXT("*2\r\n$1\r\n1\r\n$1\r\n1\r\n");
}

static dlock_status step(void *task, dlock_loop *loop, dlock_nanos now)
{
	return dlock_surveying_step(task, loop, now);
}

static dlock_survey survey_said(void)
{
	static const hostile any;
	char dsn[64];
	pid_t pid = hostile_start(&said.port, &any, say, "\r\n*");

	snprintf(dsn, sizeof dsn, "redis://127.0.0.1:%d", said.port);
	client c = client_at(dsn);
	dlock_endpoint *master = test_server_at(dsn);
	dlock_masters masters = { c.pool, dlock_pool_topology(c.pool, master), 0, NULL };
	dlock_surveying own = {
		.masters = &masters, .master = master, .enough = 1, .guard = GUARD, .until = DLOCK_FOREVER
	};
	dlock_loop_run(dlock_pool_loop(c.pool), step, &own, DLOCK_FOREVER, NULL);
	dlock_endpoint_release(master);
	client_free(&c);
	end_child(pid);
	return own.survey;
}

/* The clock of a replica that is not asked may be wrong. */
static void test_all(void)
{
	static const struct {
		const char *text;
		int tools, replicas, last_port;
		bool known;
	} cases[] = {
		{ "as many replicas as are asked", 0, DLOCK_NODES_MAX - 1, 0, true },
		{ "one more", 0, DLOCK_NODES_MAX, 0, false },
		{ "a replica behind many tools", 4 * DLOCK_NODES_MAX - 1, 1, 0, true },
		{ "a replica behind more tools than are looked at", 4 * DLOCK_NODES_MAX, 1, 0, false },
		{ "a replica at no address", 0, 2, 70000, false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		said.tools = cases[i].tools;
		said.replicas = cases[i].replicas;
		said.last_port = cases[i].last_port;
		dlock_survey survey;
		bool has_answered;
		int more = 20; /* the nodes may have been too slow */
		do {
			survey = survey_said();
			has_answered = !strcmp(survey.replid, "m");
		} while ((!has_answered || (survey.skew < 0 && cases[i].known)) && more-- > 0);
		check(has_answered && (survey.skew >= 0) == cases[i].known, "%s: the clocks of all are%s known (%lld)",
			cases[i].text, cases[i].known ? "" : " not", (long long) survey.skew);
	}
}

int main(int argc, char **argv)
{
	static const tap_test tests[] = { TEST(info), TEST(enough), TEST(who_counts), TEST(young), TEST(all) };
	static const tap_setting setting = { NULL };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

/* Which nodes prove that they have followed no other master (src/redis/wire/survey.c). */
#include <string.h>

#include "../../src/redis/wire/info.h"
#include "../../src/redis/wire/survey.h"
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

int main(int argc, char **argv)
{
	static const tap_test tests[] = { TEST(info), TEST(enough), TEST(who_counts), TEST(young) };

	static const tap_setting setting = { NULL };

	return tap_main(argc, argv, tests, sizeof tests / sizeof *tests, &setting);
}

/* Another Redis at the address that a node of the cluster had, because addresses are used again. It has a replica that
 * confirms its writes, and keeps its data from one time to the next. */
#include "run.h"

enum { FIRST_NUMBER = 24, REPLICA_HOST = 9 };

static server *strangers[REDIS][2]; /* in no cluster, and in one */

static server *make(int number, bool in_cluster)
{
	int id = FIRST_NUMBER + 4 * number + 2 * in_cluster;
	server *master = redis_new(id, number + 1, 6379, run_seed(&options));
	server *replica = redis_new(id + 1, REPLICA_HOST, 7000 + id, run_seed(&options));

	if (in_cluster) {
		redis_join_another_cluster(master);
	}
	redis_replicate(replica, master);
	return master;
}

bool stranger_is_at(int number)
{
	return (strangers[number][0] && redis_is_alive(strangers[number][0]))
		|| (strangers[number][1] && redis_is_alive(strangers[number][1]));
}

void stranger_begins(int number, bool in_cluster)
{
	server **stranger = &strangers[number][in_cluster];

	if (stranger_is_at(number)) {
		return;
	}
	if (redis_is_alive(redis[number])) {
		redis_crash(redis[number], false);
	}
	say("s", "at the address of s%d there is another Redis now, %s", number,
		in_cluster ? "of another cluster" : "of no cluster");
	if (*stranger) {
		redis_restart(*stranger, WITH_DATA);
	} else {
		*stranger = make(number, in_cluster);
	}
}

void stranger_ends(int number)
{
	for (int i = 0; i < 2; i++) {
		if (strangers[number][i] && redis_is_alive(strangers[number][i])) {
			redis_crash(strangers[number][i], false);
		}
	}
}

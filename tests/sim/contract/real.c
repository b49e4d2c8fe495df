/* Plays a conversation on real servers: real FILE ADDRESSES. $CONTRACT_SERVERS is their directory. */
#include "player.h"

#include <stdlib.h>

const bool is_real = true;

bool act(const char *what, const char *server)
{
	char command[600];
	const char *script = getenv("CONTRACT_ACT"), *dir = getenv("CONTRACT_SERVERS");

	snprintf(command, sizeof command, "'%s' '%s' %s %s", script ? script : "", dir ? dir : "", what, server);
	return system(command) == 0;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		return 2;
	}
	play(argv[1], argv[2], stdout);
	return 0;
}

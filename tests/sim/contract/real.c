/* Plays a conversation on real servers: real FILE ADDRESSES. */
#include "player.h"

int main(int argc, char **argv)
{
	if (argc != 3) {
		return 2;
	}
	play(argv[1], argv[2], stdout);
	return 0;
}

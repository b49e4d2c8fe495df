#ifndef PLAYER_H
#define PLAYER_H

#include <stdio.h>

/* Plays the conversation in the file `path`. `addresses`: "s0=127.0.0.1:7000 s1=…". */
void play(const char *path, const char *addresses, FILE *to);

#endif

#ifndef PLAYER_H
#define PLAYER_H

#include <stdbool.h>
#include <stdio.h>

/* Plays the conversation in the file `path`. `addresses`: "s0=127.0.0.1:7000 s1=…". */
void play(const char *path, const char *addresses, FILE *to);

extern const bool is_real;

/* Each program has its own: "kill", "start" (again, without its data), "stop", "go". False: it cannot be done. */
bool act(const char *what, const char *server);

#endif

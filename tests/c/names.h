#ifndef NAMES_H
#define NAMES_H

/* Host names as a test wants them: lines as for ../setup/resolver.c, at once in place of those before. */
void names_are(const char *format, ...);

/* How often the name was looked up since the program began. */
int names_asked(const char *name);

#endif

#ifndef NAMES_H
#define NAMES_H

/* Sets all host names, by lines as for ../setup/resolver.c. They replace the former lines at once. */
void names_are(const char *format, ...);

/* How often the name was looked up since the program began. */
int names_asked(const char *name);

#endif

#ifndef SIM_SHA1_H
#define SIM_SHA1_H

#include <stddef.h>

void sha1_hex(const char *text, size_t len, char hex[41]);

#endif

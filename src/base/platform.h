#ifndef DLOCK_PLATFORM_H
#define DLOCK_PLATFORM_H

/* What differs between POSIX and Windows below the PHP layer, and nothing else. */

#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#define poll(fds, count, ms) WSAPoll((fds), (ULONG) (count), (ms))
#define strcasecmp _stricmp
#define strncasecmp _strnicmp
#else
#include <poll.h>
#include <strings.h>
#endif

#endif

#ifndef DLOCK_PLATFORM_H
#define DLOCK_PLATFORM_H

/* What differs between POSIX and Windows below the PHP layer, and nothing else. */

#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#define poll(fds, count, ms) WSAPoll((fds), (ULONG) (count), (ms))
#define strcasecmp _stricmp
#define strncasecmp _strnicmp
typedef SOCKET dlock_socket;
#define DLOCK_NO_SOCKET INVALID_SOCKET
#define dlock_socket_close closesocket
#else
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
typedef int dlock_socket;
#define DLOCK_NO_SOCKET (-1)
#define dlock_socket_close close
#endif

#endif

#!/usr/bin/env bash
# Compiles the layers below PHP with musl, the C library of Alpine, and runs their C tests, without TLS and ZooKeeper,
# whose libraries are glibc's here. Needs the Debian packages musl-tools and libhiredis-dev. The last line is the
# result: "N passed, N failed".
#
#   scripts/test-musl.sh [TEST]    as tests/c/run.sh; default: all
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

scripts/install-deps.sh musl-tools
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/include"
ln -s /usr/include/hiredis "$work/include/hiredis"

# Debian's libhiredis.a is compiled for glibc, with checks of buffers that musl lacks. Nothing else in it needs glibc.
cat > "$work/checks.c" <<'C'
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int __vsnprintf_chk(char *out, size_t len, int flag, size_t room, const char *format, va_list arguments)
{
	(void) flag, (void) room;
	return vsnprintf(out, len, format, arguments);
}

int __snprintf_chk(char *out, size_t len, int flag, size_t room, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int written = __vsnprintf_chk(out, len, flag, room, format, arguments);
	va_end(arguments);
	return written;
}

int __sprintf_chk(char *out, int flag, size_t room, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int written = vsprintf(out, format, arguments);
	va_end(arguments);
	(void) flag, (void) room;
	return written;
}

void *__memcpy_chk(void *to, const void *from, size_t len, size_t room)
{
	(void) room;
	return memcpy(to, from, len);
}
C
mkdir "$work/lib"
# Shared, because tests replace its functions.
musl-gcc -O1 -fPIC -shared "$work/checks.c" -Wl,--whole-archive "$(gcc -print-file-name=libhiredis.a)" -Wl,--no-whole-archive \
	-o "$work/lib/libhiredis.so"

# In an empty directory, pkg-config finds no OpenSSL.
CC=musl-gcc SANITIZE=none PKG_CONFIG_LIBDIR=$work FLAGS="-isystem $work/include -L$work/lib -Wl,-rpath,$work/lib" tests/c/run.sh "$@"

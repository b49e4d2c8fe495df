#!/bin/sh
# build.sh TREE PROGRAM [BASE FILE …]   builds the simulation of the src/ in TREE; with BASE, an earlier PROGRAM, only these files have changed
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$1" && pwd)
mkdir -p "$2.d"
program=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
base=${3-}
[ $# -lt 3 ] || shift 3
flags="-std=gnu11 -D_GNU_SOURCE -DTHREADED= -O2 -g -fno-pie -fno-common -Wall -Wextra ${CFLAGS-}"
wraps="clock_gettime timespec_get getentropy getpid poll ppoll socket connect fcntl setsockopt getsockopt read recv write send close eventfd
pthread_mutex_init pthread_mutex_lock pthread_mutex_unlock pthread_cond_init pthread_cond_timedwait pthread_cond_signal pthread_cond_broadcast
pthread_once pthread_create pthread_join pthread_detach pthread_sigmask pthread_atfork"
cd "$program.d"
rm -rf src sim
mkdir src sim
if [ -n "$base" ]; then
	cp "$base".d/src/*.o src/
	cp "$base".d/sim/*.o sim/
	files=$(for file; do case $file in *.lua) echo "$tree/src/redis/scripts.c" ;; *.c) echo "$tree/$file" ;; *) ls "$tree"/src/redis/*.c ;; esac; done | sort -u)
else
	files=$(ls "$tree"/src/base/*.c "$tree"/src/lock/*.c "$tree"/src/redis/*.c)
	cd sim
	gcc $flags -I/usr/include/lua5.1 -I"$tree/src" -I"$tree/src/redis" -c "$here"/*.c
	cd ..
fi
# The code under test and its client library become one object. Its calls to the outside are led to the simulation, and its static data get sections
# with names, so that they can be swapped: each simulated process has its own.
cd src
echo "$files" | xargs -P 2 -n 8 gcc $flags -c
ld -r -o ../all *.o --whole-archive "$(gcc -print-file-name=libhiredis.a)" --no-whole-archive
cd ..
objcopy $(printf ' --redefine-sym %s' $(for w in $wraps; do echo "$w=__wrap_$w"; done)) \
	--rename-section .data=dlock_data --rename-section .bss=dlock_bss,alloc,load,data,contents all dlock.o
gcc sim/*.o dlock.o -no-pie -pthread "$(gcc -print-file-name=liblua5.1.a)" -lm -ldl -o "$program"

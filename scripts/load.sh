#!/usr/bin/env bash
# Many php-fpm workers at a time, on its own servers. Measures what a worker uses with and without locks (connections,
# memory, descriptors, threads), and requests per second. Checks that no worker connects again after the first requests,
# that nothing is left, and what happens at maxclients, maxClientCnxns and RLIMIT_NOFILE. Prints the figures; the last
# line is the result: "N passed, N failed". Its speed cannot make it fail.
#
#   scripts/load.sh [--workers N]       about three minutes with 500 workers, the default; 150 or more
#
#   DLOCK_MODULE=/path/dlock.so         test that build instead of making one
set -euo pipefail
export LC_ALL=C DLOCK_SANITIZE=0
cd "$(dirname "$0")/.."
. scripts/php.inc.sh
time_limit=400

usage() { echo "usage: scripts/load.sh [--workers N], N from 150 to 900" >&2; exit 2; }

workers=500
if [ $# -gt 0 ]; then
	[ "$#" -eq 2 ] && [ "$1" = --workers ] && [[ $2 =~ ^[0-9]+$ ]] && [ "$2" -ge 150 ] && [ "$2" -le 900 ] || usage
	workers=$2
fi

begin_run load
status=0
run_php 'posix pcntl' bench/load/load.php "$workers" 6 "$run/dlock.so" || status=$?
[ "$status" -le 1 ] || { echo "load: ended with status $status (124: took more than $time_limit s)"; echo "0 passed, 1 failed"; exit 1; }
exit "$status"

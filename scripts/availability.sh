#!/usr/bin/env bash
# For how long is a lock not to be had after each kind of trouble that a Redis with replicas has? Starts servers of its own, and processes that take one lock
# in turns, and says the median and the longest time, counted from the moment at which there was a master again. Installs what is missing, and builds.
#
#   scripts/availability.sh [TIMES [EVENT …]]     how often each (3): nothing kill stop planned failover cluster replica crash-loop backup
#                                                 upgrade often; without any, all, which takes half an hour
#
#   DLOCK_MODULE=/path/dlock.so                   that build instead of making one
set -euo pipefail
export LC_ALL=C DLOCK_SANITIZE=0
cd "$(dirname "$0")/.."
. scripts/php.inc.sh

[[ ${1-3} =~ ^[1-9][0-9]?$ ]] || { echo "usage: scripts/availability.sh [TIMES [EVENT …]]" >&2; exit 2; }
[ $# -gt 0 ] || set -- 3

begin_run availability
TEST_PHP_EXTRA_ARGS="-n $(module_options posix pcntl | tr '\n' ' ')-d extension=$run/dlock.so"
export TEST_PHP_EXTRA_ARGS # for the command that the program starts
run_php 'posix pcntl' bench/availability.php "$@"

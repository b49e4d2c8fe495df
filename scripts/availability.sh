#!/usr/bin/env bash
# How long clients cannot acquire a lock after each kind of trouble of a Redis with replicas. Starts its own servers,
# and processes that acquire one lock in turns. Prints the median and the longest time without the lock, counted from
# the switch to another master, or from the beginning. Installs what is missing, and builds.
#
#   scripts/availability.sh [TIMES [EVENT …]]     how often each (3), and which; default: all, which takes half an hour
#
#   Events: nothing kill stop planned failover cluster replica crash-loop backup upgrade often
#
#   DLOCK_MODULE=/path/dlock.so                   use that build instead of making one
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

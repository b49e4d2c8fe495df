#!/usr/bin/env bash
# What a failover costs. Kills the master of its own Redis behind three Sentinels, while some processes hold locks and
# other processes acquire them. Prints after how long there is a new lock, and how many held locks were kept. Installs
# what is missing, and builds. Fails if it cannot measure, not if locks are lost.
#
#   scripts/fail-over.sh [LEASE:TIMES[:DOWN-AFTER] …]     lease times in s, how often, and the Sentinels'
#                                                         down-after-milliseconds (1000); default: 10:5 30:3
#                                                         10:5:2000 30:3:2000, which takes a quarter of an hour
#
#   DLOCK_MODULE=/path/dlock.so                           use that build instead of making one
set -euo pipefail
export LC_ALL=C DLOCK_SANITIZE=0
cd "$(dirname "$0")/.."
. scripts/php.inc.sh

for words; do
	[[ $words =~ ^[1-9][0-9]{0,2}:[1-9][0-9]{0,2}(:[1-9][0-9]{2,4})?$ ]] || { echo "usage: scripts/fail-over.sh [LEASE:TIMES[:DOWN-AFTER] …]" >&2; exit 2; }
done
[ $# -gt 0 ] || set -- 10:5 30:3 10:5:2000 30:3:2000

begin_run fail-over
run_php 'posix pcntl' bench/fail-over.php "$@"

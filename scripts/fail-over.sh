#!/usr/bin/env bash
# What a fail-over costs: kills the master of a Redis behind three Sentinels of its own while processes hold locks and others ask
# for some, and says after how long there is a new lock, and how many of those that were held were kept. Installs what is missing, and
# builds. Fails when it cannot measure, not when locks are lost.
#
#   scripts/fail-over.sh [LEASE:TIMES[:DOWN-AFTER] …]     lease times in s, how often, and down-after-milliseconds of the Sentinels (1000);
#                                                         without any 10:5 30:3 10:5:2000 30:3:2000, which take a quarter of an hour
#
#   DLOCK_MODULE=/path/dlock.so                           that build instead of making one
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

#!/usr/bin/env bash
# What locks cost that replicas confirm: 1,000 names over all slots of a cluster after its masters were replaced, and
# one lock compared with a plain one. With --before, a plain one is compared with that of another build. Starts its own
# servers, installs what is missing, and builds. Fails if it cannot measure, not if a bar is missed.
#
#   scripts/replicated-costs.sh [--rounds N] [--before MODULE]     5 rounds, a minute and a half
#
#   DLOCK_MODULE=/path/dlock.so                                    measure that build instead of making one
set -euo pipefail
export LC_ALL=C DLOCK_SANITIZE=0
cd "$(dirname "$0")/.."
. scripts/php.inc.sh

rounds=5 before=""
while [ $# -gt 0 ]; do
	case $1 in
		--rounds) rounds=${2-} ;;
		--before) before=${2-} ;;
		*) rounds="" ;;
	esac
	shift $(($# > 1 ? 2 : 1))
done
[[ $rounds =~ ^[1-9][0-9]?$ ]] || { echo "usage: scripts/replicated-costs.sh [--rounds N] [--before MODULE]" >&2; exit 2; }

begin_run replicated-costs
run_php 'posix pcntl' bench/replicated-costs.php "$rounds" "$run/dlock.so" ${before:+"$before"}

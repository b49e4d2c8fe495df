#!/usr/bin/env bash
# What a sale of a stock costs the server beside a script that only decrements a counter, and beside the scripts of an earlier
# commit: server CPU for each request, all ways in turn, against a Redis of its own. Prints medians and their ratios. Fails when
# it cannot measure, not when a target is missed.
#
#   scripts/stock-costs.sh [--rounds N] [--before COMMIT]     9 rounds, some five seconds each
#
#   DLOCK_MODULE=/path/dlock.so                               that build instead of making one
set -euo pipefail
export LC_ALL=C DLOCK_SANITIZE=0
cd "$(dirname "$0")/.."
. scripts/php.inc.sh

rounds=9 before=""
while [ $# -gt 0 ]; do
	case $1 in
		--rounds) rounds=${2-} ;;
		--before) before=${2-} ;;
		*) echo "usage: scripts/stock-costs.sh [--rounds N] [--before COMMIT]" >&2; exit 2 ;;
	esac
	shift $(($# > 1 ? 2 : 1))
done
[[ $rounds =~ ^[1-9][0-9]{0,2}$ ]] || { echo "stock-costs: --rounds takes a number" >&2; exit 2; }

begin_run stock-costs
compile() { "${CC:-cc}" -O2 -Wall -Wextra -Werror "$1" -o "$2" -lhiredis; }
compile bench/crowd.c "$run/crowd"
if [ -n "$before" ]; then
	mkdir "$run/before"
	git show "$before:bench/crowd.c" > "$run/before/crowd.c"
	compile "$run/before/crowd.c" "$run/before/crowd"
	header=$(git ls-tree -r --name-only "$before" src | grep '/scripts_lua\.h$')
	git show "$before:$header" > "$run/before/scripts_lua.h"
fi
run_php posix bench/stock-costs.php "$rounds" "$run/crowd" ${before:+"$run/before"}

#!/usr/bin/env bash
# What a sale of a stock costs the server, compared with a script that only decrements a counter, and with the scripts
# of an earlier commit: server CPU for each request, all ways in turn, on its own Redis. Prints medians and their
# ratios. Fails if it cannot measure, not if a target is missed.
#
#   scripts/stock-costs.sh [--rounds N] [--before COMMIT] [--document]     9 rounds, a few minutes
#
#   --document                      writes the table into docs/performance/details.md; needs --before
#   DLOCK_MODULE=/path/dlock.so     measure that build instead of making one
set -euo pipefail
export LC_ALL=C DLOCK_SANITIZE=0
cd "$(dirname "$0")/.."
. scripts/php.inc.sh

rounds=9 before="" document=""
usage() { echo "usage: scripts/stock-costs.sh [--rounds N] [--before COMMIT] [--document]" >&2; exit 2; }
while [ $# -gt 0 ]; do
	case $1 in
		--rounds) rounds=${2-}; shift ;;
		--before) before=${2-}; shift ;;
		--document) document=1 ;;
		*) usage ;;
	esac
	shift $(($# > 0))
done
[ -z "$document" ] || [ -n "$before" ] || usage
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
	git rev-parse --short "$before" > "$run/before/commit"
fi
run_php posix bench/stock-costs.php "$rounds" "$run/crowd" "$run/costs.json" ${before:+"$run/before"}
[ -z "$document" ] || bench/document.php --stock "$run/costs.json"

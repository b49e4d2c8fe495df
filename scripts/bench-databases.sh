#!/usr/bin/env bash
# Measures locks in PostgreSQL and MariaDB beside advisory locks, SELECT … FOR UPDATE and Symfony's stores, on servers of its own,
# and writes the data to build/bench/databases.json. Ratios are what counts; times are this machine's. Fails when it cannot
# measure, not when a bar is missed.
#
#   scripts/bench-databases.sh [--short] [--document]      some twelve minutes; --short: two
#
#   --document                      writes the section on databases of docs/performance/details.md, and its plot, from this run
#   DLOCK_MODULE=/path/dlock.so     measure that build instead of making one
set -euo pipefail
export LC_ALL=C DLOCK_SANITIZE=0
cd "$(dirname "$0")/.."
. scripts/php.inc.sh

rounds=3 seconds=5 document=""
for option; do
	case $option in
		--short) rounds=1 seconds=1 ;;
		--document) document=1 ;;
		*) echo "usage: scripts/bench-databases.sh [--short] [--document]" >&2; exit 2 ;;
	esac
done

begin_run bench-databases
mkdir -p build/bench
run_php "posix pcntl ctype pdo mysqlnd pdo_mysql pdo_pgsql" -d display_errors=stderr bench/databases.php "$rounds" "$seconds" build/bench/databases.json
[ -z "$document" ] || bench/document.php --databases build/bench/databases.json

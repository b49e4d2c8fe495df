#!/usr/bin/env bash
# Measures locks in PostgreSQL and MariaDB, compared with advisory locks, SELECT … FOR UPDATE and Symfony's stores, on
# its own servers. Writes the data to build/bench/databases.json. Ratios count; times are this machine's. Fails if it
# cannot measure, not if a bar is missed.
#
#   scripts/bench-databases.sh [--short] [--document]      about twelve minutes; --short: two
#
#   --document                      writes the section on databases of docs/performance/details.md, and its plot
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

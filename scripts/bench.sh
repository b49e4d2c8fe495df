#!/usr/bin/env bash
# Measures the locks, compared with bare C, hand-written phpredis and predis, Symfony Lock and userland classes, on its
# own servers. Installs what is missing, builds, prints tables, and writes data and plots to build/bench/. Ratios count;
# times are this machine's. Fails if a run fails or two processes held one lock, not if a bar is missed.
#
#   scripts/bench.sh [--short] [--document] [--permits]      about 10 minutes; --short: three
#
#   --permits                       only the sale, the semaphore, readers and writers: two minutes
#   --document                      writes docs/performance.md, and what belongs to it, from this run
#   DLOCK_MODULE=/path/dlock.so     measure that build instead of making one
set -euo pipefail
export LC_ALL=C DLOCK_SANITIZE=0
cd "$(dirname "$0")/.."
. scripts/php.inc.sh
results=$PWD/build/bench

clean_up() {
	trap '' INT TERM HUP
	tests/setup/servers.sh kill-clients "$run"
	tests/setup/servers.sh stop "$run" || true
	rm -rf "$run"
}

size=full document=""
for option; do
	case $option in
		--short) size=short ;;
		--document) document=1 ;;
		--permits) export DLOCK_BENCH_PERMITS=1 ;;
		*) echo "usage: scripts/bench.sh [--short] [--document] [--permits]" >&2; exit 2 ;;
	esac
done

begin_run bench
# Some releases of Debian lack it; then those rows are missing.
if apt-cache show php-predis > /dev/null 2>&1; then
	scripts/install-deps.sh php-predis
else
	echo "bench: there is no package php-predis here; predis is left out"
fi
for dir in build/bench.*; do # left by runs that were killed
	[ ! -d "$dir" ] || kill -0 "${dir##*.}" 2> /dev/null || rm -rf "$dir"
done
mkdir -p "$results"
"${CC:-cc}" -O2 -Wall -Wextra -Werror -DTHREADED bench/limit.c -o "$results/limit" -lhiredis -lzookeeper_mt
"${CC:-cc}" -O2 -Wall -Wextra -Werror bench/delay.c -o "$results/delay"
"${CC:-cc}" -O2 -Wall -Wextra -Werror bench/crowd.c -o "$results/crowd" -lhiredis
export DLOCK_BENCH_CROWD=$results/crowd

echo "bench: starting five Redis servers and more, and a ZooKeeper"
tests/setup/servers.sh start "$run" $$
# shellcheck disable=SC1091
. "$run/env"
# shellcheck disable=SC2206,SC2207 # words
options=(-n -d display_errors=stderr $(module_options posix pcntl ctype igbinary redis) -d "extension=$run/dlock.so" ${DLOCK_TEST_PHP_ARGS-})
rm -f "$results/results.json"
# In the background, because a signal ends a wait, but not a command in the foreground.
{ "$php" "${options[@]}" bench/bench.php "$size" "$results/limit" "$results/delay" "$results" "${options[@]}" | tee "$results/tables.txt"; } &
status=0
wait $! || status=$?
if [ -n "$document" ] && [ -n "${DLOCK_BENCH_PERMITS-}" ] && [ "$status" -eq 0 ]; then
	bench/document.php --permits "$results/permits.json"
elif [ -n "$document" ] && [ -e "$results/results.json" ]; then
	bench/document.php "$results/results.json"
fi
exit "$status"

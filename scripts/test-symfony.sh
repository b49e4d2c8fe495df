#!/usr/bin/env bash
# Runs Symfony's own tests of lock stores (AbstractStoreTestCase, and those for stores that block, expire, have readers,
# or whose keys cannot be serialized). It tests packages/symfony/DlockStore.php with each of the three classes, and
# ReadWriteStore.php, on its own servers. The last line is the result: "N passed, N failed".
#
#   scripts/test-symfony.sh DIRECTORY [PHPUnit's arguments …]
#
# DIRECTORY is a checkout of Symfony Lock with its tests, which packages lack (5.4 and later):
#   git clone --branch 7.1 https://github.com/symfony/lock DIRECTORY
#
#   DLOCK_MODULE=/path/dlock.so   test that build instead of making one
set -euo pipefail
export LC_ALL=C DLOCK_SANITIZE=0
cd "$(dirname "$0")/.."
. scripts/php.inc.sh

usage() { echo "usage: scripts/test-symfony.sh DIRECTORY, a checkout of https://github.com/symfony/lock with its Tests/" >&2; exit 2; }

[ $# -gt 0 ] && [ -d "$1/Tests/Store" ] && [ -e "$1/Lock.php" ] || usage
DLOCK_SYMFONY_LOCK=$(realpath "$1")
export DLOCK_SYMFONY_LOCK
shift

clean_up() {
	trap '' INT TERM HUP
	tests/setup/servers.sh stop "$run" || true
	rm -rf "$run"
}

# Reads the first suite of PHPUnit's report, which has the numbers of all suites. A skipped test has not passed.
result() {
	local name
	for name in tests errors failures skipped; do
		sed -nE "s/^.*<testsuite name=.* $name=\"([0-9]+)\".*\$/\1/p" "$run/report.xml" | head -n 1
	done | { mapfile -t n; bad=$((n[1] + n[2] + n[3])); echo "$((n[0] - bad)) passed, $bad failed"; }
}

begin_run symfony phpunit
tests/setup/servers.sh start "$run" $$
# shellcheck disable=SC1091
. "$run/env"
status=0
# shellcheck disable=SC2046 # words
timeout --kill-after=20 300 "$php" -n $(module_options posix pcntl ctype tokenizer mbstring dom xml xmlwriter) -d "extension=$run/dlock.so" \
	"$(command -v phpunit)" --no-configuration --do-not-cache-result --bootstrap tests/integrations/symfony/bootstrap.php \
	--log-junit "$run/report.xml" "$@" tests/integrations/symfony || status=$?
[ -s "$run/report.xml" ] || { echo "test-symfony: PHPUnit ended with status $status"; echo "0 passed, 1 failed"; exit 1; }
result=$(result)
echo "$result"
[ "$status" -eq 0 ] && [[ $result = *", 0 failed" ]]

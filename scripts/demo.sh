#!/usr/bin/env bash
# Shows what the locks are for: a sale with too many buyers, without a lock and under each kind of lock. Installs what
# is missing, builds, and starts its own servers, which it stops again. Fails if a sale under a lock goes wrong.
set -euo pipefail
cd "$(dirname "$0")/.."
run=$PWD/build/demo.$$
export DLOCK_SANITIZE=0

clean_up() {
	trap '' INT TERM HUP
	tests/setup/servers.sh stop "$run" || true
	rm -rf "$run"
}

scripts/install-deps.sh --demo
[ -n "${DLOCK_MODULE-}" ] || scripts/build.sh
php=$("${PHP_CONFIG:-php-config}" --php-binary)
module=$(realpath "${DLOCK_MODULE:-${DLOCK_BUILD_DIR:-build/ext}/modules/dlock.so}")

trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
echo "demo: starting five Redis servers and more, a memcached, and a ZooKeeper"
tests/setup/servers.sh start "$run" $$
DLOCK_TEST_MEMCACHED=$(tests/setup/servers.sh memcached-start "$run")
export DLOCK_TEST_MEMCACHED
# shellcheck disable=SC1091
. "$run/env"
# shellcheck disable=SC2206 # words
options=(-n -d "extension=$module" ${DLOCK_TEST_PHP_ARGS-})
"$php" "${options[@]}" examples/demo/sale.php "${options[@]}"
echo "demo: to use this build without installing it: php -d extension=$module script.php"

#!/usr/bin/env bash
# Measures the locks beside bare C, phpredis by hand, Symfony Lock and userland classes, against servers of its own: installs
# what is missing, builds, prints tables, and writes data and plots to build/bench/. Ratios are what counts; times are this
# machine's. Fails when a run fails or two processes were under one lock, not when a bar is missed.
#
#   scripts/bench.sh [--short]      some minutes; --short: less than one
#
#   DLOCK_MODULE=/path/dlock.so     measure that build instead of making one
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive DLOCK_SANITIZE=0
cd "$(dirname "$0")/.."
run=$PWD/build/bench.$$ results=$PWD/build/bench

# What only this needs.
install_competitors() {
	local name missing=() sudo=()
	for name in php-redis php-symfony-lock; do
		dpkg-query -W -f '${db:Status-Status}\n' "$name" 2> /dev/null | grep -qx installed || missing+=("$name")
	done
	[ "${#missing[@]}" -gt 0 ] || return 0
	echo "bench: installing ${missing[*]}"
	[ "$(id -u)" -eq 0 ] || sudo=(sudo)
	"${sudo[@]}" apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends "${missing[@]}" ||
		{ "${sudo[@]}" apt-get -qq update && "${sudo[@]}" apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends "${missing[@]}"; }
}

# Shared modules that are needed, where this PHP has them not built in. php.ini is ignored: what it loads would be measured too.
module_options() {
	local name builtin
	builtin=$("$php" -n -m)
	for name in posix ctype igbinary redis; do
		if ! grep -qix "$name" <<< "$builtin" && [ -e "$("${PHP_CONFIG:-php-config}" --extension-dir)/$name.so" ]; then
			echo "-d extension=$name"
		fi
	done
}

clean_up() {
	trap '' INT TERM HUP
	tests/setup/servers.sh stop "$run" || true
	rm -rf "$run"
}

size=full
case "${1-} $#" in
	' 0') ;;
	'--short 1') size=short ;;
	*) echo "usage: scripts/bench.sh [--short]" >&2; exit 2 ;;
esac

scripts/install-deps.sh
install_competitors
[ -n "${DLOCK_MODULE-}" ] || scripts/build.sh
php=$("${PHP_CONFIG:-php-config}" --php-binary)
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
mkdir -p "$run" "$results"
# A copy: a build meanwhile must not change what is measured.
cp "${DLOCK_MODULE:-${DLOCK_BUILD_DIR:-build/ext}/modules/dlock.so}" "$run/dlock.so"
"${CC:-cc}" -O2 -Wall -Wextra -Werror -DTHREADED bench/limit.c -o "$results/limit" -lhiredis -lzookeeper_mt

echo "bench: starting five Redis servers and more, and a ZooKeeper"
tests/setup/servers.sh start "$run" $$
# shellcheck disable=SC1091
. "$run/env"
# shellcheck disable=SC2206,SC2207 # words
options=(-n -d display_errors=stderr $(module_options) -d "extension=$run/dlock.so" ${DLOCK_TEST_PHP_ARGS-})
"$php" "${options[@]}" bench/bench.php "$size" "$results/limit" "$results" "${options[@]}" | tee "$results/tables.txt"

#!/usr/bin/env bash
# Tests the flash sale in a real browser. Headless Chromium opens the page, chooses each lock, presses the button and
# reads the page. The test compares that with the orders. Installs missing packages. The last line is the result:
# "N passed, N failed".
#
#   examples/seckill/test.sh                   screenshots go to build/seckill-test/
#   examples/seckill/test.sh --screenshots     replaces the screenshots in the repository
#   examples/seckill/test.sh --no-browser      tests only the shop, over HTTP; installs no browser
#
#   DLOCK_MODULE=/path/dlock.so                uses that build instead of making one
set -euo pipefail
export LC_ALL=C DLOCK_SANITIZE=0
cd "$(dirname "$0")/../.."
here=$PWD/examples/seckill results=$PWD/build/seckill-test

packages=(nginx php-curl) options=()
case "${1-} $#" in
	' 0') packages+=(chromium-headless-shell) ;;
	'--screenshots 1') packages+=(chromium-headless-shell fonts-inter pngquant) ;;
	'--no-browser 1') options=(--no-browser) ;;
	*) echo "usage: examples/seckill/test.sh [--screenshots | --no-browser]" >&2; exit 2 ;;
esac
scripts/install-deps.sh "${packages[@]}"
[ -n "${DLOCK_MODULE-}" ] || scripts/build.sh
DLOCK_MODULE=$(realpath "${DLOCK_MODULE:-${DLOCK_BUILD_DIR:-build/ext}/modules/dlock.so}")
export DLOCK_MODULE

rm -rf "$results"
mkdir -p "$results"
php=$("${PHP_CONFIG:-php-config}" --php-binary)
modules=()
builtin=$("$php" -n -m)
for name in posix curl; do
	grep -qix "$name" <<< "$builtin" || modules+=(-d "extension=$name")
done
status=0
setpriv --pdeathsig TERM "$php" -n "${modules[@]}" "$here/test/sale.php" "$results" "${options[@]}" || status=$?
rm -rf "$results/profile"

if [ "${1-}" = --screenshots ]; then
	# A palette is enough, and needs a third of the size.
	for name in selling no-lock distributed-lock stock four-ways setnx-payments-hang distributed-lock-payments-hang; do
		pngquant --force --strip --quality 80-100 --output "$here/screenshots/$name.png" "$results/$name.png"
	done
fi
exit "$status"

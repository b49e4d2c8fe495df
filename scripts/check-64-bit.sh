#!/usr/bin/env bash
# Fencing tokens do not fit into 32 bits. This script runs the configure that scripts/build.sh has made, and tells it
# that PHP's integers have 32 bits: it must fail. Also checks the architectures of the Debian package. Prints what is
# wrong.
#
#   scripts/check-64-bit.sh [BUILD_DIR]    default: build/ext
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build/ext}")

mkdir -p build
dir=$(mktemp -d build/configure.XXXXXX)
trap 'rm -rf "$dir"' EXIT
if [ -x "$build/configure" ]; then # a module that was built elsewhere comes without it
	if (cd "$dir" && "$build/configure" ${PHP_CONFIG:+--with-php-config="$PHP_CONFIG"} dlock_cv_long64=no) > "$dir/output" 2>&1; then
		echo "configure takes a PHP with 32-bit integers" >&2
		exit 1
	fi
	grep -q 'error: dlock needs a PHP with 64-bit integers' "$dir/output" || { tail -n 5 "$dir/output" >&2; exit 1; }
fi
if [ -e packages/debian/control ]; then
	for architecture in $(sed -n 's/^Architecture: //p' packages/debian/control); do
		case $architecture in
		any | all | linux-any | i386 | armel | armhf | hppa | m68k | mipsel | powerpc | sh4)
			echo "packages/debian/control: the architecture $architecture has a PHP with 32-bit integers" >&2
			exit 1 ;;
		esac
	done
fi

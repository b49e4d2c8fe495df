#!/usr/bin/env bash
# Writes stubs/dlock_arginfo.h from stubs/dlock.stub.php with php-src's gen_stub.php, which comes with php-dev. It needs
# PHP-Parser, which is Debian's package php-parser. With --check it writes nothing and fails if they differ.
set -euo pipefail
cd "$(dirname "$0")/.."

header=stubs/dlock_arginfo.h
recorded=$(sed -n 's/.*Stub hash: \([0-9a-f]*\).*/\1/p' "$header" 2>/dev/null || true)
actual=$(tr -d '\r' < stubs/dlock.stub.php | sha1sum | cut -d' ' -f1)

if [ "${1-}" = --check ]; then
	[ "$recorded" = "$actual" ] || { echo "$header is older than its stub: run scripts/gen-arginfo.sh" >&2; exit 1; }
	exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
generator=$(find "$(php-config --extension-dir)/build" "$(php-config --prefix)/lib/php/build" -name gen_stub.php 2>/dev/null | head -n 1 || true)
[ -n "$generator" ] || { echo "gen_stub.php was not found: install php-dev" >&2; exit 1; }
[ -d /usr/share/php/PhpParser ] || { echo "PHP-Parser was not found: install php-parser" >&2; exit 1; }
cp "$generator" "$work/gen_stub.php"
version=$(sed -n 's/.*\$version = "\([0-9.]*\)".*/\1/p' "$generator" | head -n 1)
mkdir -p "$work/PHP-Parser-$version/lib"
ln -s /usr/share/php/PhpParser "$work/PHP-Parser-$version/lib/PhpParser"
cp stubs/dlock.stub.php "$work/dlock.stub.php"
php "$work/gen_stub.php" -f "$work/dlock.stub.php"
# gen_stub.php does not escape the namespace of a function in the names that it looks up at run time.
sed -E '/function_table/s/"dlock\\([a-z])/"dlock\\\\\1/g' "$work/dlock_arginfo.h" > "$header"

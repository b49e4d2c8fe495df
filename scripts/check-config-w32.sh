#!/usr/bin/env bash
# Runs config.w32, which is JavaScript, as PHP's build on Windows would (tests/setup/config_w32.js): nothing is built. Fails with
# what is wrong.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p build
program=$(mktemp build/config_w32.XXXXXX)
trap 'rm -f "$program"' EXIT
# shellcheck disable=SC2016 # PHP's variables
php -n -r '
	$files = array_merge(glob("*.c"), glob("src/*/*.c"));
	printf("var source = %s, files = %s;\n", json_encode(file_get_contents("config.w32")), json_encode($files, JSON_UNESCAPED_SLASHES));
' > "$program"
cat tests/setup/config_w32.js >> "$program"
output=$(duk "$program" 2>&1) || output+=$'\nduk failed'
[ -z "$output" ] || { echo "$output" >&2; exit 1; }

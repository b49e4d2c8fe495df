#!/usr/bin/env bash
# Writes src/redis/scripts_lua.h from src/redis/lua/*.lua: the text of each script as it is sent, and its SHA-1.
# With --check it writes nothing and fails when the header is not what it would write.
set -euo pipefail
cd "$(dirname "$0")/.."

# Comments and blank lines are for readers of the repository; the server need not keep them.
minified() {
	while IFS= read -r line; do
		case $line in
			'--#include '*) minified "$(dirname "$1")/${line#--#include }" ;;
			*) printf '%s\n' "$line" ;;
		esac
	done < "$1" | sed -e '/^[[:space:]]*--/d' -e '/^[[:space:]]*$/d' -e 's/^[[:space:]]*//' -e 's/[[:space:]]*--[^'\''"]*$//'
}

generate() {
	printf '/* Made from src/redis/lua by scripts/gen-lua.sh: change the scripts there. */\n'
	for script in src/redis/lua/*.lua; do
		! grep -q '^-- Included ' "$script" || continue
		name=$(basename "$script" .lua | tr '[:lower:]' '[:upper:]')
		printf '\n#define DLOCK_LUA_%s_SHA1 "%s"\n' "$name" "$(minified "$script" | sha1sum | cut -d' ' -f1)"
		printf '#define DLOCK_LUA_%s \\\n' "$name"
		minified "$script" | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/\t"&\\n" \\/' | sed '$ s/ \\$//'
	done
}

target=src/redis/scripts_lua.h
if [ "${1-}" = --check ]; then
	generate | cmp -s - "$target" || { echo "$target is not what the Lua scripts give: run scripts/gen-lua.sh" >&2; exit 1; }
else
	generate > "$target"
fi

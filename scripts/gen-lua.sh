#!/usr/bin/env bash
# Writes src/redis/scripts_lua.h from src/redis/lua/*.lua: a table of all scripts with their names, numbers of keys ("-- keys: N" in
# their heads), texts as they are sent, and SHA-1s. With --check it writes nothing and fails when the header is not what it would write.
set -euo pipefail
export LC_ALL=C # the order of the files
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

# A script must use the keys that it declares: EVAL takes the rest for arguments, without a word.
keys_of() {
	local declared used
	declared=$(sed -n 's/^-- keys: \([0-9]*\)$/\1/p' "$1")
	used=$(minified "$1" | grep -o 'KEYS\[[0-9]*\]' | tr -dc '0-9\n' | sort -n | tail -n 1)
	[ -n "$declared" ] && [ "$declared" = "${used:-0}" ] ||
		{ echo "gen-lua: $1 says \"-- keys: $declared\" and uses ${used:-0}" >&2; return 1; }
	echo "$declared"
}

scripts=()
for script in src/redis/lua/*.lua; do
	grep -q '^-- Included ' "$script" || scripts+=("$script")
done

generate() {
	local script name keys
	printf '/* Made from src/redis/lua by scripts/gen-lua.sh: change the scripts there. */\n\n'
	printf '#define DLOCK_LUA_SCRIPTS(script)'
	for script in "${scripts[@]}"; do
		name=$(basename "$script" .lua)
		keys=$(keys_of "$script") || return
		printf ' \\\n\tscript(%s, "%s", %s, DLOCK_LUA_%s_SHA1, DLOCK_LUA_%s)' "${name^^}" "$name" "$keys" "${name^^}" "${name^^}"
	done
	printf '\n'
	for script in "${scripts[@]}"; do
		name=$(basename "$script" .lua)
		printf '\n#define DLOCK_LUA_%s_SHA1 "%s"\n' "${name^^}" "$(minified "$script" | sha1sum | cut -d' ' -f1)"
		printf '#define DLOCK_LUA_%s \\\n' "${name^^}"
		minified "$script" | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/\t"&\\n" \\/' | sed '$ s/ \\$//'
	done
}

target=src/redis/scripts_lua.h
header=$(generate)
if [ "${1-}" = --check ]; then
	printf '%s\n' "$header" | cmp -s - "$target" || { echo "$target is not what the Lua scripts give: run scripts/gen-lua.sh" >&2; exit 1; }
else
	printf '%s\n' "$header" > "$target"
fi

#!/usr/bin/env bash
# Writes src/redis/script/scripts_lua.h from src/redis/script/lua/*.lua: a table of all scripts with their names, numbers of keys ("-- keys: N" in
# their heads; -1 for "-- keys: 1 or more"), texts as they are sent, and SHA-1s. What scripts include stands there once. With --check
# it writes nothing and fails when the header is not what it would write. With --texts FROM TO it writes the texts that the scripts
# of the directory FROM have, each to a file in TO: tests send some that they have changed.
set -euo pipefail
shopt -s extglob
export LC_ALL=C # the order of the files
cd "$(dirname "$0")/.."

# Comments and blank lines are for readers of the repository; the server need not keep them. "--#include FILE" stays.
stripped() {
	sed -e 's/^[[:space:]]*//' -e '/^--#include /b' -e '/^--/d' -e '/^$/d' -e 's/[[:space:]]*--[^'\''"]*$//' "$1"
}

# A script as it is sent.
minified() {
	stripped "$1" | while IFS= read -r line; do
		case $line in
			'--#include '*) minified "$(dirname "$1")/${line#--#include }" ;;
			*) printf '%s\n' "$line" ;;
		esac
	done
}

macro() {
	local name=${1##*/}
	name=${name%.lua}
	echo "DLOCK_LUA_${name^^}"
}

# The text as a macro, in which what it includes stands by name.
define_text() {
	printf '#define %s \\\n' "$(macro "$1")"
	stripped "$1" | while IFS= read -r line; do
		case $line in
			'--#include '*) printf '\t%s \\\n' "$(macro "${line#--#include }")" ;;
			*) line=${line//\\/\\\\}; printf '\t"%s\\n" \\\n' "${line//\"/\\\"}" ;;
		esac
	done | sed '$ s/ \\$//'
}

# A script must use the keys that it declares: EVAL takes the rest for arguments, without a word.
keys_of() {
	local declared used
	if grep -qx -e '-- keys: 1 or more' "$1"; then
		minified "$1" | grep 'ipairs(KEYS)' > /dev/null || { echo "gen-lua: $1 uses no more than one key" >&2; return 1; }
		echo -1
		return
	fi
	declared=$(sed -n 's/^-- keys: \([0-9]*\)$/\1/p' "$1")
	used=$(minified "$1" | grep -o 'KEYS\[[0-9]*\]' | tr -dc '0-9\n' | sort -n | tail -n 1)
	[ -n "$declared" ] && [ "$declared" = "${used:-0}" ] ||
		{ echo "gen-lua: $1 says \"-- keys: $declared\" and uses ${used:-0}" >&2; return 1; }
	echo "$declared"
}

source=src/redis/script/lua
if [ "${1-}" = --texts ]; then
	source=$2
fi
scripts=() pieces=()
for script in "$source"/*.lua; do
	if grep -q '^-- Included ' "$script"; then pieces+=("$script"); else scripts+=("$script"); fi
done

generate() {
	local script name keys
	printf '/* Made from src/redis/script/lua by scripts/gen-lua.sh: change the scripts there. */\n\n'
	printf '#define DLOCK_LUA_SCRIPTS(script)'
	for script in "${scripts[@]}"; do
		name=$(basename "$script" .lua)
		keys=$(keys_of "$script") || return
		printf ' \\\n\tscript(%s, "%s", %s, DLOCK_LUA_%s_SHA1, DLOCK_LUA_%s)' "${name^^}" "$name" "$keys" "${name^^}" "${name^^}"
	done
	printf '\n'
	for script in "${pieces[@]}"; do
		printf '\n'
		define_text "$script"
	done
	for script in "${scripts[@]}"; do
		printf '\n#define %s_SHA1 "%s"\n' "$(macro "$script")" "$(minified "$script" | sha1sum | cut -d' ' -f1)"
		define_text "$script"
	done
}

if [ "${1-}" = --texts ]; then
	for script in "${scripts[@]}"; do
		minified "$script" > "$3/$(basename "$script")"
	done
	exit
fi

target=src/redis/script/scripts_lua.h
header=$(generate)
if [ "${1-}" = --check ]; then
	printf '%s\n' "$header" | cmp -s - "$target" || { echo "$target is not what the Lua scripts give: run scripts/gen-lua.sh" >&2; exit 1; }
else
	printf '%s\n' "$header" > "$target"
fi

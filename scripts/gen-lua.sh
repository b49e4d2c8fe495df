#!/usr/bin/env bash
# Makes what C needs of the scripts in src/redis/script/lua. src/redis/script/scripts_lua.h is a table of all scripts
# with their names, SHA-1s and texts as they are sent; an included text is stored once. requests_lua.h in
# src/redis/request has a function dlock_request_NAME() for each script, which makes its call. With --check it writes
# nothing. It then fails if a header is out of date, or if a script declares an argument that it does not use (a mutant
# may). With --texts FROM TO it writes the text of each script of the directory FROM to a file in TO, because tests send
# scripts that they have changed.
#
# The head of a script is the prototype of its function:
#
#   -- keys: lock fence queue waiters epoch slots held seen    of `dlock_keys keys`, in this order
#   -- keys: pool epoch                              the same: the pool is keys.lock
#   -- keys: pool                                  only one key, of another name: `dlock_arg pool`
#   -- keys: stocks...                             one or more: `const dlock_arg *stocks, int count`
#   -- args: token:text ttl:lease                  words after the keys, each with its type; may be several lines
#   -- args: dlock_epoch_rule guard { time:ms }         members of a struct, whose type precedes its first use;
#                                                  `dlock_epoch_state *epoch { ... }`: of a pointer to a struct
#
#   text     const char *     NULL: ''                       int     int64_t, DLOCK_NO_NUMBER: ''
#   inbox    const dlock_inbox *, its channel; NULL: ''      count   int64_t, 0 or less: ''
#            followed by the member `description` of the same struct
#   ms       dlock_nanos, in ms: at least 1, except 0        lease   dlock_nanos, in ms: at least 1
#   'a'|'b'  bool: what is sent for true, and for false      int...  const int64_t *, one for each key; the last one
#
#   TYPE?      omitted if it is '' and all words after it are omitted
#   TYPE?name  also '' if that member of the same struct, or that struct itself, is NULL
#
# A script without args has no function. A file that begins with "-- Included" is a part of scripts and has none,
# either.
set -euo pipefail
shopt -s extglob
export LC_ALL=C # the order of the files
cd "$(dirname "$0")/.."

# Removes comments and blank lines, which the server need not store. "--#include FILE" stays.
stripped() {
	sed -e 's/^[[:space:]]*//' -e '/^--#include /b' -e '/^--/d' -e '/^$/d' -e 's/[[:space:]]*--[^'\''"]*$//' "$1"
}

# By the path of a file: its own text, and the text to send, with its includes. Each file is read only once.
declare -A own=() sent=()

read_script() {
	local line text=
	[ -z "${sent[$1]+read}" ] || return 0
	own[$1]=$(stripped "$1")$'\n'
	while IFS= read -r line; do
		if [[ $line == '--#include '* ]]; then
			line=${path_of[${line#--#include }]}
			read_script "$line"
			text+=${sent[$line]}
		else
			text+=$line$'\n'
		fi
	done <<< "${own[$1]%$'\n'}"
	sent[$1]=$text
}

macro() {
	local name=${1##*/}
	name=${name%.lua}
	echo "DLOCK_LUA_${name^^}"
}

# The text as a macro, in which included texts are named. A line that only ends a block is joined to the line before.
define_text() {
	printf '\n#define %s \\\n' "$(macro "$1")"
	printf '%s' "${own[$1]}" | awk '
		{ gsub(/[\\"]/, "\\\\&"); $0 = $0 "\\n" }
		/^--#include / { sub(/^--#include /, ""); sub(/\.lua\\n$/, ""); text[++lines] = "DLOCK_LUA_" toupper($0); next }
		$0 == "end\\n" && text[lines] ~ /"$/ { sub(/"$/, "", text[lines]); text[lines] = text[lines] $0 "\""; next }
		{ text[++lines] = "\"" $0 "\"" }
		function show(line, more,   at) { # in 120 columns
			while (length(line) > 112 && match(substr(line, 1, 110), /.* /)) {
				at = RLENGTH
				print "\t" substr(line, 1, at) "\" \\"
				line = "\"" substr(line, at + 1)
			}
			print "\t" line (more ? " \\" : "")
		}
		END { for (i = 1; i <= lines; i++) { show(text[i], i < lines) } }'
}

source=src/redis/script/lua
if [ "${1-}" = --texts ]; then
	source=$2
fi
scripts=() pieces=()
declare -A path_of=() # by name; no two folders share a name
for script in "$source"/{,*/}*.lua; do
	[ ! -e "$script" ] || path_of[${script##*/}]=$script
done
mapfile -t names < <(printf '%s\n' "${!path_of[@]}" | sort)
for name in "${names[@]}"; do
	script=${path_of[$name]}
	if grep -q '^-- Included ' "$script"; then pieces+=("$script"); else scripts+=("$script"); fi
	read_script "$script"
done

if [ "${1-}" = --texts ]; then
	for script in "${scripts[@]}"; do
		printf '%s' "${sent[$script]}" > "$3/${script##*/}"
	done
	exit
fi

texts() {
	local script name sha1
	printf '/* Made from src/redis/script/lua by scripts/gen-lua.sh: change the scripts there. */\n\n'
	printf '#define DLOCK_LUA_SCRIPTS(script)'
	for script in "${scripts[@]}"; do
		name=${script##*/} sha1=$(printf '%s' "${sent[$script]}" | sha1sum)
		name=${name%.lua}
		printf ' \\\n\tscript(%s, "%s", \\\n\t\t"%s", %s)' "${name^^}" "$name" "${sha1%% *}" "$(macro "$script")"
	done
	printf '\n'
	for script in "${pieces[@]}" "${scripts[@]}"; do
		define_text "$script"
	done
}

# Head and text of each script, for `functions`.
prototypes() {
	local script name
	for script in "${scripts[@]}"; do
		name=${script##*/}
		printf '@script %s\n' "${name%.lua}"
		grep -E '^-- (keys|args): ' "$script" || true
		printf '@text\n%s@own\n%s' "${sent[$script]}" "${own[$script]}"
	done
	echo '@end'
}

# A script must use the keys and arguments that it declares: EVAL silently passes further keys as arguments.
functions() {
	cat <<'HEAD'
/* Made from the heads of src/redis/script/lua by scripts/gen-lua.sh, which says how: change the scripts there. */

#ifndef DLOCK_REDIS_REQUESTS_LUA_H
#define DLOCK_REDIS_REQUESTS_LUA_H

#include "arguments.h"

/* Each script as a call that is not sent yet; NULL when out of memory. See its file for what it takes, does and
 * replies. */
HEAD
	prototypes | awk -v mode="$1" '
		function fail(what) {
			printf "gen-lua: %s.lua: %s\n", script, what > "/dev/stderr"
			failed = 1
			exit 1
		}
		function last(numbers, of,   n, i) {
			n = 0
			for (i = 1; i < 100; i++) { if ((of, i) in numbers) { n = i } }
			return n
		}
		function parameter(type, name) {
			parameters = parameters (parameters == "" ? "" : ", ") type (type ~ /\*$/ ? "" : " ") name
		}
		function word(expression) {
			words = words (words == "" ? "" : ", ") expression
			return ++n
		}
		function read_keys(list,   i, name) {
			keys = split(list, name)
			each = keys == 1 && sub(/\.\.\.$/, "", name[1])
			if (each) {
				parameter("const dlock_arg *", name[1])
				parameter("int", "count")
				on = name[1] ", count"
			} else if (keys == 1 && name[1] != "lock") {
				parameter("dlock_arg", name[1])
				word(name[1])
			} else {
				parameter("dlock_keys", "keys")
				for (i = 1; i <= keys; i++) {
					if (!(name[i] in key)) { fail("no key \"" name[i] "\" among others") }
					word(key[name[i]])
				}
			}
			least = n
		}
		function access(name) {
			return struct == "" ? name : struct (pointer[struct] ? "->" : ".") name
		}
		function read_arg(arg,   name, type, condition, optional, value, bool) {
			name = substr(arg, 1, index(arg, ":") - 1)
			type = substr(arg, index(arg, ":") + 1)
			optional = match(type, /\?[a-z_]*$/)
			if (optional) {
				condition = substr(type, RSTART + 1)
				type = substr(type, 1, RSTART - 1)
			}
			if (name == "") { fail("no name for \"" arg "\"") }
			value = access(name)
			if (type == "inbox") {
				expression = "DLOCK_AS_INBOX(" value ", " access("description") ")"
			} else if (type in c_type) {
				expression = "DLOCK_AS_" toupper(type) "(" value ")"
			} else if (type ~ /^\047[^\047]*\047\|\047[^\047]*\047$/) {
				split(type, bool, "\047")
				expression = "DLOCK_AS_TEXT(" value " ? \"" bool[2] "\" : \"" bool[4] "\")"
				type = "bool"
			} else if (type == "int..." && each && struct == "") {
				parameter("const int64_t *", name)
				numbers = name
				return
			} else {
				fail("no type for \"" arg "\"")
			}
			if (struct == "") { parameter(c_type[type], name) }
			if (condition != "") {
				expression = (condition == struct ? condition : access(condition)) " ? " expression " : DLOCK_NOTHING"
			}
			word(expression)
			args++
			if (!optional) { least = n }
		}
		function read_args(text,   i, count, token, type, name) {
			count = split(text, token)
			for (i = 1; i <= count; i++) {
				name = token[i]
				if (name ~ /^dlock_/) {
					type = name
				} else if (name == "}") {
					struct = ""
				} else if (token[i + 1] == "{") {
					struct = name
					sub(/^\*/, "", struct)
					if (!(struct in pointer)) {
						if (type == "") { fail("no type for \"" name "\"") }
						pointer[struct] = name != struct
						parameter(pointer[struct] ? "const " type " *" : type, struct)
						type = ""
					}
					i++
				} else {
					read_arg(name)
				}
			}
		}
		function show(line,   at) { # in 120 columns
			while (length(line) + 3 * gsub(/\t/, "\t", line) > 120) {
				for (at = 120 - 3 * gsub(/\t/, "\t", line); at && substr(line, at, 2) != ", "; at--) {}
				if (!at) { break }
				print substr(line, 1, at)
				line = "\t\t" substr(line, at + 2)
			}
			print line
		}
		function check(   i) {
			if (struct != "") { fail("no } behind " struct) }
			if (each && !loops) { fail("uses no more than one key") }
			if (!each && last(used, "KEYS") != keys) { fail("declares " keys " keys and uses " last(used, "KEYS")) }
			for (i = 1; i <= args && mode == "--check"; i++) {
				if (!(("ARGV", i) in used)) { fail("does not use ARGV[" i "]") }
			}
			if (numbers == "" && last(own, "ARGV") > args) { fail("does not declare ARGV[" last(own, "ARGV") "]") }
		}
		function finish(   call) {
			if (args_text == "") { return }
			check()
			print ""
			show("static inline dlock_call *dlock_request_" script "(" parameters ")")
			print "{"
			call = "\treturn dlock_call_script" (each ? "_on" : "") "(DLOCK_SCRIPT_" toupper(script) ", "
			call = call (each ? on : keys) ", "
			if (numbers != "") {
				print "\tdlock_number room[DLOCK_CALL_WORDS];"
				show("\tdlock_arg words[DLOCK_CALL_WORDS] = { " words " };\n")
				show(call "words, dlock_add_ints(words, " n ", room, " numbers ", count), " least ");")
			} else {
				show(call "(dlock_arg[]) { " words " }, " n ", " least ");")
			}
			print "}"
		}
		BEGIN {
			key["lock"] = key["pool"] = "keys.lock"
			key["queue"] = "keys.queue"
			key["waiters"] = "keys.waiters"
			key["fence"] = "dlock_fence_of(keys)"
			key["epoch"] = "dlock_epoch_key(keys)"
			key["slots"] = "DLOCK_SLOTS(keys)"
			key["seen"] = "DLOCK_SEEN(keys)"
			key["held"] = "keys.held"
			c_type["text"] = "const char *"
			c_type["inbox"] = "const dlock_inbox *"
			c_type["int"] = c_type["count"] = "int64_t"
			c_type["ms"] = c_type["lease"] = "dlock_nanos"
			c_type["bool"] = "bool"
		}
		/^@(script|end)/ {
			if (script != "") { finish() }
			script = $2
			section = parameters = words = numbers = on = struct = args_text = ""
			n = args = least = keys = each = loops = 0
			split("", pointer); split("", used); split("", own)
			next
		}
		/^@/ { section = $1; next }
		section == "" && /^-- keys:/ { read_keys(substr($0, 10)); next }
		section == "" { args_text = args_text substr($0, 9); read_args(substr($0, 10)); next }
		{
			loops = loops || /ipairs\(KEYS\)|#KEYS/
			for (line = $0; match(line, /(KEYS|ARGV)\[[0-9]+\]/); line = substr(line, RSTART + RLENGTH)) {
				of = substr(line, RSTART, 4)
				number = substr(line, RSTART + 5, RLENGTH - 6) + 0
				if (section == "@own") { own[of, number] = 1 } else { used[of, number] = 1 }
			}
		}
		END { exit failed }' || return
	printf '\n#endif\n'
}

for target in 'src/redis/script/scripts_lua.h texts' 'src/redis/request/requests_lua.h functions'; do
	header=$(${target#* } "${1-}")
	target=${target% *}
	if ! printf '%s\n' "$header" | cmp -s - "$target"; then
		[ "${1-}" != --check ] || { echo "$target is not what the Lua scripts give: run scripts/gen-lua.sh" >&2; exit 1; }
		printf '%s\n' "$header" > "$target"
	fi
done

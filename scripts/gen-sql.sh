#!/usr/bin/env bash
# Makes src/database/sql/sql_generated.h from the files in sql/, which create=1 in an address runs. --check: fails if it
# is out of date.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
out=src/database/sql/sql_generated.h

# Removes comments and indentation, which only readers need. DELIMITER belongs to MySQL's client; all statements end
# with //.
text_of() {
	sed -E -e '/^[[:space:]]*--/d' -e 's/[[:space:]]+-- [^'"'"']*$//' -e 's/^[[:space:]]+//' -e '/^$/d' "$1" |
		awk -v mysql="$2" '/^DELIMITER/ { on = 1; next } mysql && !on { sub(/;$/, " //") } { print }' |
		sed -E -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/$/\\n/' |
		awk '{ # a line of C has 120 columns at most
			while (length($0) > 112 && match(substr($0, 1, 110), /.* /)) {
				print "\t\"" substr($0, 1, RLENGTH) "\""
				$0 = substr($0, RLENGTH + 1)
			}
			print "\t\"" $0 "\""
		}'
}

generate() {
	echo "/* Generated from the SQL files beside it by scripts/gen-sql.sh. */"
	local name
	for name in postgresql mysql; do
		printf 'const char dlock_sql_%s[] =\n' "$name"
		text_of "src/database/sql/$name.sql" "${name#postgresql}" | sed '$s/$/;/'
	done
}

if [ "${1-}" = --check ]; then
	generate | diff - "$out" > /dev/null || { echo "gen-sql: $out is not what the SQL files give: run scripts/gen-sql.sh" >&2; exit 1; }
else
	generate > "$out"
fi

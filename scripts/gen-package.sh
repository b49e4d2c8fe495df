#!/usr/bin/env bash
# Writes the list of files in package.xml from git's files, the version from php_dlock.h, and packages/debian/changelog
# with that version. With --check it writes nothing. It then fails if they differ, or if the changelog does not begin
# with that version. It also fails if composer.json does not offer PIE the options of config.m4, or requires what PIE
# does not know.
set -euo pipefail
cd "$(dirname "$0")/.."

role_of() {
	case $1 in
		bench/*) echo src ;; # not installed
		tests/*) echo test ;;
		console/*.php | *.sql) echo data ;;
		*.c | *.h | *.lua | config.m4 | config.w32 | *.stub.php) echo src ;;
		*) echo doc ;;
	esac
}

# The files of a source package, without files that only a checkout needs (CI, scripts).
contents() {
	{ git ls-files; git ls-files --others --exclude-standard; } | sort -u |
		grep -vE '^(\.ci/|\.git|package\.xml$|composer\.json$|scripts/|packages/debian/|examples/demo/|tests/faults/|RELEASING\.md$)' | while IFS= read -r file; do
		[ -e "$file" ] || continue
		case $file in
			# pecl writes the PHP for which it installs into the first line, and the place of its data into another.
			bin/*) printf '   <file name="%s" role="script">\n    %s\n    %s\n   </file>\n' "$file" \
				'<tasks:replace from="/usr/bin/env php" to="php_bin" type="pear-config"/>' \
				'<tasks:replace from="@data_dir@" to="data_dir" type="pear-config"/>' ;;
			*) printf '   <file name="%s" role="%s"/>\n' "$file" "$(role_of "$file")" ;;
		esac
	done
}

# php_dlock.h is the only place of the version.
version() {
	sed -nE 's/^#define PHP_DLOCK_VERSION "([^"]+)"$/\1/p' php_dlock.h
}

generate() {
	sed -E "/<version>/,/<\/version>/ s/>[^<]+<\/(release|api)>/>$(version)<\/\1>/; /<dir name=\"\/\">/q" package.xml
	contents
	sed -n '/<\/dir>/,$p' package.xml
}

# Debian sorts 1.0.0~RC1 before 1.0.0, but 1.0.0RC1 after it.
generate_debian() {
	printf 'php-dlock (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' \
		"$(version | sed -E 's/-?([A-Za-z])/~\1/')" "$(sed -n 's/^Maintainer: //p' packages/debian/control)" \
		"$(date -Rud "$(sed -nE 's/^ *<date>(.*)<\/date>$/\1/p' package.xml)")"
}

# The changelog begins with this version, whether it is released or not.
changelog_has_version() {
	[ "$(grep -m 1 '^## ' CHANGELOG.md | sed -E 's/^## ([^ ,]+).*/\1/')" = "$(version)" ] ||
		{ echo "CHANGELOG.md does not begin with version $(version), which php_dlock.h has" >&2; return 1; }
}

# pecl does not write the version into the commands.
commands_have_version() {
	local command
	for command in bin/dlock bin/dlock-doctor; do
		grep -qxF "const VERSION = '$(version)';" "$command" ||
			{ echo "$command does not have version $(version), which php_dlock.h has" >&2; return 1; }
	done
}

# Compares the options by their names: with-zookeeper, enable-dlock-tls. PIE itself enables the extension.
composer_has_options() {
	diff <(sed -nE 's/^PHP_ARG_(WITH|ENABLE)\(\[([a-z-]+)\],$/\L\1\E-\2/p' config.m4 | grep -vx enable-dlock | sort) \
		<(sed -nE 's/^ *"name": "((with|enable)-[a-z-]+)",$/\1/p' composer.json | sort) ||
		{ echo "composer.json does not have the options of config.m4" >&2; return 1; }
}

# PIE finds only PHP and extensions: with "php-64bit" it refuses to install. configure checks that instead.
composer_requires_little() {
	! sed -n '/^    "require"/,/^    }/p' composer.json | sed -nE 's/^        ("[^"]*").*/\1/p' | grep -vE '^"(php|ext-[a-z_]+)"$' ||
		{ echo "composer.json requires what PIE does not know" >&2; return 1; }
}

if [ "${1-}" = --check ]; then
	generate | diff -u package.xml - || { echo "package.xml does not have the version and the files there are: run scripts/gen-package.sh" >&2; exit 1; }
	generate_debian | diff -u packages/debian/changelog - || { echo "packages/debian/changelog does not have the version and the date there are: run scripts/gen-package.sh" >&2; exit 1; }
	changelog_has_version
	commands_have_version
	composer_has_options
	composer_requires_little
else
	new=$(generate)
	printf '%s\n' "$new" > package.xml
	generate_debian > packages/debian/changelog
fi

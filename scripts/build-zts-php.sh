#!/usr/bin/env bash
# Builds a PHP from Debian's source package, for scripts/test-zts.sh: thread-safe (ZTS), with debug checks and
# AddressSanitizer, and with few extensions. Everything is below build/zts. The machine's apt does not change, except
# for the packages that a compiler needs. Does nothing if that PHP exists. The last line is the directory where it is
# installed.
#
#   DLOCK_ZTS_REBUILD=1   build it again, for example after a newer source package
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

zts=$PWD/build/zts
prefix=$zts/php
# ASAN is also for PHP itself, so that a read beyond a zval is found everywhere. UBSAN is for the extension alone,
# because PHP has findings of its own. --enable-embed builds libphp.a, with which tests/zts/threads.c is linked.
options=(--disable-all --enable-zts --enable-debug --enable-address-sanitizer --enable-embed=static --enable-cli
	--enable-fpm --enable-ctype --enable-pdo --with-pdo-sqlite --enable-pcntl --enable-posix --enable-session --enable-tokenizer --enable-opcache --disable-phpdbg --disable-cgi --without-pear)
cflags="-O1 -g -fno-omit-frame-pointer"

say() { echo "build-zts-php: $*" >&2; }

# The source package that the installed PHP was built from, and its version.
wanted() {
	local cli
	cli=php$(php-config --version | cut -d. -f1,2)-cli
	# shellcheck disable=SC2016 # dpkg-query's
	dpkg-query -W -f '${source:Package} ${source:Version}\n' "$cli"
}

# ---- the source package ----------------------------------------------------------------------------------------------

# apt with its own sources, lists and cache.
own_apt() {
	local command=$1
	shift
	"$command" -o "Dir::Etc::sourcelist=$zts/apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State=$zts/apt" \
		-o Dir::State::status=/var/lib/dpkg/status -o "Dir::Cache=$zts/apt/cache" -o APT::Sandbox::User=root "$@"
}

# The archives of Debian that apt knows, in whichever format, as archives of sources. Other archives rarely have
# sources.
write_sources_list() {
	local keyring=/usr/share/keyrings/debian-archive-keyring.gpg signed=''
	[ ! -e "$keyring" ] || signed="[signed-by=$keyring] "
	mkdir -p "$zts"/apt/lists/partial "$zts"/apt/cache/archives/partial
	# shellcheck disable=SC2016 # apt-get's
	apt-get indextargets --format "deb-src $signed"'$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
		sort -u > "$zts/apt/sources.list"
	[ -s "$zts/apt/sources.list" ] || { say "apt knows no archive of Debian; run apt-get update first"; return 1; }
}

# Archives keep only the newest versions, so this may be another version than the installed one. To an extension,
# versions of one PHP 8.x differ little. Debian's patches are left out, because they make phpize find what other
# packages install. apt has checked what it fetched.
fetch_source() {
	local package version=$2 candidate
	package=$1
	write_sources_list
	own_apt apt-get -qq update || say "not all lists could be fetched; trying with those there are"
	rm -rf "$zts/source"
	mkdir -p "$zts/source"
	cd "$zts/source"
	for candidate in "$version" $(own_apt apt-cache --only-source showsrc "$package" | sed -n 's/^Version: //p' | sort -rV); do
		own_apt apt-get -qq --only-source --download-only source "$package=$candidate" > "$zts/fetch.log" 2>&1 || continue
		[ "$candidate" = "$version" ] || say "the archive has no source of $package $version; taking $candidate"
		dpkg-source --no-check --skip-patches -x ./*.dsc php >> "$zts/fetch.log" 2>&1
		cd php
		return 0
	done
	cat "$zts/fetch.log" >&2
	say "no source package of $package could be fetched"
	return 1
}

# ---- building --------------------------------------------------------------------------------------------------------

# One line every 40 files, because it takes minutes.
progress() {
	awk '/ --mode=compile / { if (++n % 40 == 0) { printf "build-zts-php: %d files compiled\n", n; fflush() } }' >&2
}

compile() {
	say "configure"
	CFLAGS=$cflags nice ./configure --prefix="$prefix" "${options[@]}" > "$zts/configure.log" 2>&1 ||
		{ tail -n 20 "$zts/configure.log" >&2; say "configure failed"; return 1; }
	say "make (some minutes)"
	# Programs that make builds and runs do not free their memory.
	ASAN_OPTIONS=detect_leaks=0 nice make -j"$(nproc)" 2>&1 | tee "$zts/make.log" | progress ||
		{ grep -E 'error|\*\*\*' "$zts/make.log" >&2; say "make failed, see $zts/make.log"; return 1; }
	rm -rf "$prefix"
	ASAN_OPTIONS=detect_leaks=0 make install > "$zts/install.log" 2>&1 || { tail "$zts/install.log" >&2; return 1; }
}

main() {
	local made package version
	scripts/install-deps.sh libsqlite3-dev >&2
	mkdir -p "$zts"
	exec 9> "$zts/lock"
	flock 9
	read -r package version <<< "$(wanted)"
	made="$package $version ${options[*]} $cflags $(${CC:-cc} -dumpfullversion)"
	if [ "${DLOCK_ZTS_REBUILD:-0}" = 1 ] || [ "$(cat "$zts/made" 2> /dev/null)" != "$made" ]; then
		rm -f "$zts/made"
		say "fetching the source of $package $version"
		fetch_source "$package" "$version"
		compile
		cd "$zts"
		rm -rf "$zts/source" # half a gigabyte
		echo "$made" > "$zts/made"
	fi
	echo "$prefix"
}

main "$@"

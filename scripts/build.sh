#!/usr/bin/env bash
# Builds the extension in build/ext, so that the checkout itself stays clean. Incremental. Fails on any compiler
# warning. Result: build/ext/modules/dlock.so
#
#   DLOCK_SANITIZE=1     with ASAN and UBSAN, in build/ext-sanitize
#   DLOCK_BUILD_DIR=…    build there (use one for each PHP)
#   PHPIZE, PHP_CONFIG   those of another PHP
#   CFLAGS, DLOCK_CONFIGURE  added to the arguments of the compiler and of configure
set -euo pipefail
export LC_ALL=C # the compiler's messages are read below
cd "$(dirname "$0")/.."
root=$PWD

sanitize=${DLOCK_SANITIZE:-0}
phpize=$(command -v "${PHPIZE:-phpize}") || { echo "build: no ${PHPIZE:-phpize}: run scripts/install-deps.sh" >&2; exit 1; }
php_config=$(command -v "${PHP_CONFIG:-php-config}") || { echo "build: no ${PHP_CONFIG:-php-config}" >&2; exit 1; }

flags="-O2 -g1" # lines, for traces; with CFLAGS=-g variables, too, which takes a quarter longer
dir=build/ext
if [ "$sanitize" = 1 ]; then
	flags="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"
	dir=build/ext-sanitize
fi
flags="$flags -Wall -Wextra ${CFLAGS-}"
dir=$(realpath -m "${DLOCK_BUILD_DIR:-$dir}")

# What phpize, make and the tests need of the checkout.
sources() {
	local top=(config.m4)
	for name in *.c *.h *.stub.php config.w32 src stubs tests bin console sql LICENSE CREDITS README.md README.zh-CN.md CONTRIBUTING.md RELEASING.md docs examples packages scripts; do [ -e "$name" ] && top+=("$name"); done
	find "${top[@]}" -type f ! -name '*.o' ! -name '*.lo' ! -name '*.dep' ! -path '*/.libs/*' \
		! -name '*.diff' ! -name '*.exp' ! -name '*.log' ! -name '*.out' | sort
}

# Copies changed files with a new time stamp, so that make sees them. Removes files that the checkout no longer has.
synchronise() {
	local file
	sources > "$dir/.sources.new"
	[ -e "$dir/.sources" ] || : > "$dir/.sources"
	comm -23 "$dir/.sources" "$dir/.sources.new" | while IFS= read -r file; do rm -f -- "$dir/$file"; done
	comm -23 <(sums "$PWD") <(sums "$dir") | cut -c 35- | xargs -r -d '\n' cp --parents -t "$dir" --
	mv "$dir/.sources.new" "$dir/.sources"
}

# Of all files at once, because a process for each file takes ten seconds.
sums() {
	(cd "$1" && { xargs -d '\n' md5sum -- < "$dir/.sources.new" 2> /dev/null || true; } | sort)
}

# All that decides what configure finds. If it changes, everything is built again.
configuration() {
	echo "$phpize $php_config $flags ${DLOCK_CONFIGURE-} ${CC-}"
	"$php_config" --version --extension-dir
	cat config.m4
	find src -name '*.c' -o -type d | sort
}

configure() {
	(
		cd "$dir"
		"$phpize"
		# shellcheck disable=SC2086 # several arguments
		CFLAGS="$flags" ./configure --with-php-config="$php_config" ${DLOCK_CONFIGURE-}
	) > "$dir/configure.out" 2>&1 || { tail -n 40 "$dir/configure.out" >&2; echo "build: configure failed, see $dir/configure.out" >&2; exit 1; }
}

main() {
	local configured warnings
	[ -f config.m4 ] || { echo "build: $root has no config.m4" >&2; exit 1; }
	mkdir -p "$dir"
	exec 9> "$dir.lock"
	flock 9 # two builds at once would spoil each other

	configured=$(configuration | sha256sum)
	if [ "$(cat "$dir/.configured" 2> /dev/null)" != "$configured" ]; then
		if [ ! -e "$dir/.sources" ] && [ -n "$(ls -A "$dir")" ]; then
			echo "build: $dir is not empty, and no build directory" >&2
			exit 1
		fi
		rm -rf "$dir"
		mkdir -p "$dir"
		synchronise
		echo "build: configure"
		configure
		printf '%s\n' "$configured" > "$dir/.configured"
	else
		synchronise
	fi

	echo "build: make"
	if ! make -C "$dir" -j"$(nproc)" > "$dir/make.out" 2>&1; then
		grep -E 'error|undefined reference|\*\*\*' "$dir/make.out" >&2 || tail -n 40 "$dir/make.out" >&2
		echo "build: make failed, see $dir/make.out" >&2
		exit 1
	fi
	warnings=$(grep 'warning: ' "$dir/make.out" || true)
	if [ -n "$warnings" ]; then
		make -C "$dir" clean > /dev/null 2>&1 || true # otherwise the next run compiles nothing, and sees no warning
		printf '%s\nbuild: warnings count as errors\n' "$warnings" >&2
		exit 1
	fi
	[ -f "$dir/modules/dlock.so" ] || { echo "build: made no $dir/modules/dlock.so" >&2; exit 1; }
	echo "build: ${dir#"$root"/}/modules/dlock.so"
}

main "$@"

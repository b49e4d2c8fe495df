#!/usr/bin/env bash
# Tests the extension with a PHP that is thread-safe and has debug checks and AddressSanitizer: first many threads of
# one process (tests/zts), then .phpt tests. That PHP is built once, from Debian's source package, in some minutes;
# later runs take less than ten. Therefore it is not a part of scripts/test.sh. The last line is the result: "N passed,
# N failed".
#
#   scripts/test-zts.sh [file or directory below tests/ …]   default: all .phpt tests
#
#   DLOCK_ZTS_SECONDS=30     how long each round of threads lasts
#   DLOCK_ZTS_PARTS=threads  only the threads; or "phpt"
#   DLOCK_ZTS_REBUILD, DLOCK_TEST_JOBS, …   see scripts/build-zts-php.sh and scripts/test.sh
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

zts=$PWD/build/zts run=$PWD/build/zts/run.$$
seconds=${DLOCK_ZTS_SECONDS:-30}
readonly part=${DLOCK_ZTS_PARTS:-threads phpt} limit=600 # seconds for one round
passed=0 failed=0

step() { printf '\n== %s\n' "$*"; }

# Any finding of a sanitizer ends the process. The module is not unloaded, because stacks need it.
export UBSAN_OPTIONS=print_stacktrace=1 ZEND_DONT_UNLOAD_MODULES=1
export ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1"

clean_up() {
	tests/setup/servers.sh stop "$run" || true
	rm -rf "$run"
}

clean_up_earlier() {
	local dir
	for dir in "$zts"/run.*; do
		if [ -d "$dir" ] && ! kill -0 "${dir##*.}" 2> /dev/null; then
			tests/setup/servers.sh stop "$dir" || true
			rm -rf "$dir"
		fi
	done
}

# ---- threads ---------------------------------------------------------------------------------------------------------

build_threads() {
	local includes libs
	includes=$("$PHP_CONFIG" --includes | sed 's/-I/-isystem /g') # ignores warnings of PHP's headers
	libs=$("$PHP_CONFIG" --libs)
	# All of libphp.a, exported, because the module uses functions of it that the program itself may not use.
	# shellcheck disable=SC2086 # several words
	"${CC:-cc}" -std=gnu17 -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined -Wall -Wextra \
		-Werror -Wno-unused-parameter $includes tests/zts/threads.c -o "$zts/threads" -rdynamic \
		-Wl,--whole-archive "$prefix/lib/libphp.a" -Wl,--no-whole-archive $libs -lresolv
}

# One round, and its counts. Zend's own leak reports count, too, although they do not end the process.
threads_round() {
	local name=$1 code=0 counts
	shift
	step "Threads: $name"
	timeout -k 10 "$limit" env "$@" 2>&1 | tee "$run/threads.log" || code=$?
	counts=$(tail -n 200 "$run/threads.log" | grep -E '^[0-9]+ passed, [0-9]+ failed$' | tail -n 1) || true
	if [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		passed=$((passed + BASH_REMATCH[1]))
		failed=$((failed + BASH_REMATCH[2]))
		[ "$code" -eq 0 ] || [ "${BASH_REMATCH[2]}" -gt 0 ] || { echo "not ok - it ended with status $code"; failed=$((failed + 1)); }
	else
		echo "not ok - it did not come to its end (status $code)"
		failed=$((failed + 1))
	fi
	if grep -qE 'memory leaks? detected|Freeing 0x|Sanitizer|runtime error:' "$run/threads.log"; then
		echo "not ok - memory is in order"
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
}

run_threads() {
	local program=("$zts/threads" --seconds "$seconds" -d "extension=$DLOCK_BUILD_DIR/modules/dlock.so") script=tests/zts/requests.php
	step "Servers"
	tests/setup/servers.sh start "$run" $$
	# shellcheck disable=SC1091
	. "$run/env"
	# malloc() replaces Zend's heap, so that ASAN sees each block. A fatal error leaves its request's memory to that
	# heap, which would be a leak here. The second round has fatal errors, and the heap's own debug checks.
	threads_round "each block by itself" USE_ZEND_ALLOC=0 "${program[@]}" "$script"
	threads_round "Zend's heap, fatal errors" "${program[@]}" --fatal "$script"
	threads_round "opcache, many threads" "${program[@]}" --threads 24 -d "zend_extension=opcache" -d opcache.enable_cli=1 "$script"
	tests/setup/servers.sh stop "$run"
}

# ---- .phpt tests -----------------------------------------------------------------------------------------------------

# The given tests, or all: with "threads" tests that use ZooKeeper or fork, otherwise the rest. Paths have no blanks.
phpt_files() {
	local kind=$1 option=-L
	shift
	[ "$kind" != threads ] || option=-l
	[ $# -gt 0 ] || set -- tests
	find "$@" -name '*.phpt' | sort -u | xargs -r grep "$option" -E 'ZkLock|zk\.inc|DLOCK_TEST_ZK|fork' || true
}

# USE_TRACKED_ALLOC: each block is allocated by itself, as in the first round, but what a fatal error leaves is freed at
# the end of the request. Modules of Debian's own PHP cannot be loaded, so tests that need other PHP clients are
# skipped.
phpt_round() {
	local name=$1 leaks=$2 code=0 counts
	shift 2
	[ $# -gt 0 ] || return 0
	step "$name"
	USE_TRACKED_ALLOC=1 ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=$leaks" TEST_TIMEOUT=${TEST_TIMEOUT:-300} DLOCK_TEST_JOBS=${DLOCK_TEST_JOBS:-2} \
		DLOCK_ALLOW_SKIP="needs the Debian package php-(redis|memcached)${DLOCK_ALLOW_SKIP:+|$DLOCK_ALLOW_SKIP}" scripts/test.sh "$@" 2>&1 |
		tee "$run/phpt.log" || code=$?
	counts=$(tail -n 1 "$run/phpt.log")
	if [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
		passed=$((passed + BASH_REMATCH[1]))
		failed=$((failed + BASH_REMATCH[2]))
		[ "$code" -eq 0 ] || [ "${BASH_REMATCH[2]}" -gt 0 ] || failed=$((failed + 1))
	else
		failed=$((failed + 1))
	fi
}

# A forked child does not touch its parent's ZooKeeper sessions, so it cannot free them. The leak checker also reports
# that it could not stop their threads, or the renewal thread, which a child does not have. The rounds of threads find
# such leaks.
run_phpt() {
	# shellcheck disable=SC2046 # several paths
	phpt_round ".phpt tests without ZooKeeper and children, with the leak checker" 1 $(phpt_files others "$@")
	# shellcheck disable=SC2046
	phpt_round ".phpt tests with ZooKeeper or children" 0 $(phpt_files threads "$@")
}

main() {
	step "PHP"
	prefix=$(scripts/build-zts-php.sh | tail -n 1)
	export PHPIZE=$prefix/bin/phpize PHP_CONFIG=$prefix/bin/php-config DLOCK_BUILD_DIR=$zts/ext DLOCK_SANITIZE=1
	"$prefix/bin/php" -n -v | head -n 1
	step "Build"
	ASAN_OPTIONS=detect_leaks=0 scripts/build.sh
	clean_up_earlier
	mkdir -p "$run"
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
	if [[ " $part " == *" threads "* ]] && [ $# -eq 0 ]; then
		build_threads
		run_threads
	fi
	[[ " $part " != *" phpt "* ]] || run_phpt "$@"
	printf '\nTook %d s in all.\n' "$SECONDS"
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}

main "$@"

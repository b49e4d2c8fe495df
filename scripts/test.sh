#!/usr/bin/env bash
# Tests all that a change may break, in five to eight minutes on two processors. Installs what is missing, builds,
# starts private servers, and runs the simulator (tests/sim), the C unit tests and the .phpt tests at the same time. The
# last line is the result: "N passed, N failed". Passed tests are counted, not listed. For failed tests it shows at the
# end how their output differs from what was expected. All other output is in build/last-logs. scripts/test-all.sh has
# what takes longer.
#
#   scripts/test.sh [file or directory below tests/ …]    only these .phpt tests
#
#   DLOCK_TEST_JOBS=4           .phpt tests that run at a time (default: 16; they wait more than they compute)
#   DLOCK_TEST_SEED=7           the first seed of the simulator (default: 1), from which it runs 100 virtual hours
#   DLOCK_ALLOW_SKIP='a|b'      reasons for skipping that do not fail the run, besides tests/setup/allowed-skips
#   DLOCK_TEST_REDIS_SERVER=valkey-server   the Redis servers are this one, from the Debian package of that name
#   DLOCK_TEST_JIT=1            .phpt tests with opcache and its JIT, without tests that stop or kill processes which
#                               share its memory
#   DLOCK_TEST_FREEZE=2.5       processes of the tests stand still by chance, for up to 2.5 s: no test may depend on time
#                               (needs root and cgroups)
#   DLOCK_TEST_PHP_ARGS='-d …'  more options for PHP
#   DLOCK_TEST_RUN_ARGS='-m'    more options for run-tests.php
#   DLOCK_MODULE=/path/dlock.so test that build instead of making one
#   DLOCK_SANITIZE, PHPIZE, PHP_CONFIG, DLOCK_BUILD_DIR   see scripts/build.sh
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
. scripts/php.inc.sh
root=$PWD

build=build/ext
[ "${DLOCK_SANITIZE:-0}" != 1 ] || build=build/ext-sanitize
build=$(realpath -m "${DLOCK_BUILD_DIR:-$build}")
run=$root/build/run.$$
passed=0 failed=0 skipped=0
not_passed=() # their names

step() { printf '\n== %s\n' "$*"; }

# One check with a name, which counts as one test.
check() {
	local name=$1
	shift
	if "$@"; then
		echo "PASS $name"
		passed=$((passed + 1))
	else
		echo "FAIL $name"
		failed=$((failed + 1))
		not_passed+=("$name")
	fi
}

# Shows lines with any result except success, and now and then the progress.
progress() {
	local every=$1 things=$2 line n=0 bad=0 start=$SECONDS
	while IFS= read -r line; do
		if [[ $line =~ ^(PASS|SKIP)\  || $line =~ ^(FAIL|WARN|LEAK|BORK|XFAIL|XLEAK)[\ \&] ]]; then
			n=$((n + 1))
			case ${BASH_REMATCH[1]} in
			PASS) ;;
			SKIP) echo "$line" ;;
			*) echo "$line"; bad=$((bad + 1)) ;;
			esac
			[ $((n % every)) -ne 0 ] || echo "$n $things, $bad failed, $((SECONDS - start)) s"
		fi
	done
}

# ---- what is left of this run or of earlier ones ---------------------------------------------------------------------

freezes_pid=
begin_freezes() {
	tests/setup/freezes.sh "$run" "$1" > "$run/freezes.log" 2>&1 &
	freezes_pid=$!
}

end_freezes() {
	[ -z "$freezes_pid" ] || { kill "$freezes_pid" && wait "$freezes_pid"; } 2> /dev/null || true
	freezes_pid=
}

# Processes which tests have started and not ended.
leftovers() { env -u DLOCK_TEST_DIR tests/setup/servers.sh clients "$run"; }

clean_up() {
	local code=$? pids
	trap '' INT TERM HUP
	end_freezes
	pids=$(leftovers)
	if [ "$code" -lt 128 ] && [ -d "$run" ]; then # keeps logs, except after a signal
		rm -rf build/last-logs
		mkdir -p build/last-logs
		(cd "$run" && find . -maxdepth 2 \( -name '*log' -o -name results -o -name '*.out' -o -name '*.diff' \) \
			-exec cp --parents -t "$root/build/last-logs" {} +) || true
	fi
	# shellcheck disable=SC2086 # several pids
	[ -z "$pids" ] || kill -KILL $pids 2> /dev/null || true
	tests/setup/servers.sh stop "$run" || true
	rm -rf "$run"
}

# Cleans up after runs that were killed.
clean_up_earlier() {
	local dir
	for dir in build/run.*; do
		if [ -d "$dir" ] && ! kill -0 "${dir##*.}" 2> /dev/null; then
			tests/setup/servers.sh stop "$dir" || true
			rm -rf "$dir"
		fi
	done
}

# ---- steps -----------------------------------------------------------------------------------------------------------

# If a test contains one of these words, run-tests.php assumes that it may fail by chance: it runs the test again, and
# hides why it failed (with `make test`; not in this script). The functions of tests/inc/process.inc do the same as
# these calls.
no_test_is_flaky() {
	! grep -rnE --include='*.phpt' 'hrtime|microtime|sleep|disk_free_space|SKIP_PERF_SENSITIVE|^--FLAKY--' tests
}

# Checks what developers keep up to date manually, and might forget.
run_checks() {
	passed=0 failed=0
	[ ! -x scripts/gen-arginfo.sh ] || check "arginfo is what the stubs give" scripts/gen-arginfo.sh --check
	[ ! -x scripts/gen-reference.php ] || check "docs/reference.md is what the stub, dlock.c, settings.c and options.c give" scripts/gen-reference.php --check
	[ ! -x scripts/gen-stubs.php ] || check "packages/stubs is what the stub gives" scripts/gen-stubs.php --check
	[ ! -x bench/document.php ] || check "docs/performance.md and its plots are what the measured data give" bench/document.php --check
	[ ! -x scripts/gen-lua.sh ] || check "the header of scripts is what the Lua files give" scripts/gen-lua.sh --check
	[ ! -x scripts/gen-sql.sh ] || check "the header of SQL is what the SQL files give" scripts/gen-sql.sh --check
	if [ -x scripts/gen-package.sh ] && git ls-files > /dev/null 2>&1; then # a release has no git repository
		check "package.xml names every file; it and both changelogs have the version" scripts/gen-package.sh --check
	fi
	check "configure refuses a PHP with 32-bit integers, and packages/debian/control names no architecture with them" scripts/check-64-bit.sh "$build"
	check "no .phpt test is one that run-tests.php would run twice" no_test_is_flaky
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}

# Programs with their own checks, which run beside the .phpt tests.
parts=() part_logs=() part_pids=()

# The last line of a part, "N passed, N failed", is added to the result. A part without that line counts as one test.
begin_part() {
	local name=$1 log=$run/$2.log
	shift 2
	echo "$name …"
	"$@" > "$log" 2>&1 &
	parts+=("$name") part_logs+=("$log") part_pids+=($!)
}

end_part() {
	local name=${parts[$1]} log=${part_logs[$1]} code=0 counts
	wait "${part_pids[$1]}" || code=$?
	# The shell forgets how a child ended if another child gets its pid.
	if [ "$code" -eq 127 ] && tail -n 1 "$log" | grep -qE '^[0-9]+ passed, 0 failed$'; then code=0; fi
	step "$name"
	counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1) || true
	if [ "$code" -eq 0 ]; then tail -n 20 "$log" | grep -v '^PASS '; else grep -v '^PASS ' "$log" | tail -n 300; fi || true
	if [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
		passed=$((passed + BASH_REMATCH[1]))
		failed=$((failed + BASH_REMATCH[2]))
		[ "$code" -eq 0 ] || [ "${BASH_REMATCH[2]}" -gt 0 ] || failed=$((failed + 1))
		[ "$code" -eq 0 ] || not_passed+=("$name: $counts, status $code")
	else
		check "$name" test "$code" -eq 0
	fi
}

# Parts that need no build of the extension run during the build, too, so that no processor is idle before the .phpt
# tests. The .phpt tests go first, then the C tests.
begin_parts() {
	begin_part "C unit tests" c env JOBS=6 DLOCK_C_BUILD=build/c nice -n 5 tests/c/run.sh
	begin_part "Simulated servers answer as real ones do" contract tests/sim/contract/run.sh
	begin_part "Models" models nice scripts/check-models.sh --if-changed
	# The simulator can wait while other parts need the processors: its time is virtual.
	begin_part "A failing seed of the simulator is shrunk" shrink nice tests/sim/shrink_test.sh
	begin_part "Simulator" sim nice tests/sim/run.sh --hours 100 "first=${DLOCK_TEST_SEED:-1}"
}

# No other part is left that the nice ones could delay. Only root may change that; new trials inherit it.
end_parts() {
	local i
	renice -n 0 -p "${part_pids[@]}" > /dev/null 2>&1 || true
	for i in "${!parts[@]}"; do
		end_part "$i"
	done
}

# PHP's JIT compiles into memory that forked processes and the workers of a php-fpm share, under a lock. A process that
# is stopped there delays all of them. A process that is killed there leaves the memory torn, so that other processes
# crash. PHP does that, whatever the extension does.
without_torn_memory() {
	local file
	while read -r file; do
		[ -n "${DLOCK_TEST_JIT-}" ] && grep -qE 'SIGSTOP|SIGKILL' "$file" && grep -qE 'fork_child|pcntl_fork|fpm_start' "$file" || echo "$file"
	done
}

# The .phpt files to run, as paths in the build directory, to which scripts/build.sh copied them. Tests that wait for
# long come first, so that other tests compute meanwhile. scripts/test-all.sh runs tests/long.
# shellcheck disable=SC2046 # the paths have no blanks
test_files() {
	[ $# -gt 0 ] || set -- tests/permits/everywhere.phpt tests/{lease,runtimes,database,permits,replicated,zk,memcached,handover} \
		$(printf '%s\n' tests/*/ | grep -v '^tests/long/$')
	local path
	for path; do
		path=$(realpath --relative-to="$root" "$path")
		[ -e "$build/$path" ] || { echo "test: no such test: $path" >&2; return 1; }
		find "$build/$path" -name '*.phpt' | sort
	done | awk '!seen[$0]++' | without_torn_memory
}

# A PHP with sanitizers only needs an allocator that they see. A PHP without them can load a module that has them if
# their runtime is loaded first. LD_PRELOAD is for PHP alone, because the servers and tools that tests start are not
# meant to run with it.
sanitized_php() {
	local cc=${CC:-gcc}
	export USE_ZEND_ALLOC=0 UBSAN_OPTIONS=print_stacktrace=1
	! ldd "$php" | grep -q libasan || return 0
	"$cc" -shared -fPIC -O1 -o "$run/no_deepbind.so" tests/setup/no_deepbind.c
	export DLOCK_TEST_PRELOAD
	DLOCK_TEST_PRELOAD="$run/no_deepbind.so $("$cc" -print-file-name=libasan.so)"
	export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0:${ASAN_OPTIONS-}
	printf '#!/bin/sh\nLD_PRELOAD="%s" exec %s "$@"\n' "$DLOCK_TEST_PRELOAD" "$php" > "$run/php"
	chmod +x "$run/php"
	php=$run/php
}

run_phpt() {
	local files options=()
	test_files "$@" > "$run/files"
	files=$(wc -l < "$run/files")
	[ "$files" -gt 0 ] || { echo "test: there are no .phpt tests" >&2; return 1; }
	# shellcheck disable=SC2207 # words
	options=($(module_options posix pcntl) -d "extension=${DLOCK_MODULE:-$build/modules/dlock.so}")
	if [ -n "${DLOCK_TEST_JIT-}" ]; then
		# shellcheck disable=SC2207 # words
		options+=($(module_options opcache) -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing
			# These are PHP's own defaults.
			-d opcache.jit_hot_loop=64 -d opcache.jit_hot_func=127 -d opcache.jit_hot_return=8 -d opcache.jit_hot_side_exit=8)
	fi
	# A busy machine may stand still for a second; an answer that is then late is not an error.
	options+=(-d dlock.connect_timeout=10 -d dlock.read_timeout=10)
	# shellcheck disable=SC2206 # words
	options+=(${DLOCK_TEST_PHP_ARGS-} ${DLOCK_TEST_RUN_ARGS-})

	step "$files .phpt tests"
	: > "$run/results"
	# run-tests.php would also repeat tests whose output has certain words, such as "timed out". It sorts tests by name,
	# and hands them out in batches, so that at the end one worker would have all the long ones.
	sed -e 's/error_may_be_retried(\$test, \$output)/false/' -e 's/usort(\$test_files, .*//' -e 's/\$maxBatchSize = .*/$maxBatchSize = 0;/' \
		"$build/run-tests.php" > "$run/run-tests.php"
	# shellcheck disable=SC2046 # the paths have no blanks: phpize refuses such directories
	NO_COLOR=1 TEST_TIMEOUT=${TEST_TIMEOUT:-600} TEST_PHP_EXECUTABLE=$php TEST_PHP_SRCDIR=$build "$php" -n "$run/run-tests.php" -n -q --show-diff --no-progress \
		-j"${DLOCK_TEST_JOBS:-16}" -W "$run/results" "${options[@]}" $(cat "$run/files") 2>&1 < /dev/null |
		tee "$run/phpt.log" | progress 20 "of $files .phpt tests" || true
	count_phpt "$files"
}

# run-tests.php writes "RESULT<tab>file" for each test. Leaks, warnings and expected failures are not successes here.
count_phpt() {
	local files=$1 n allowed reasons
	[ "$(grep -c . "$run/results")" -eq "$files" ] || { echo "run-tests.php did not run them all. It ended with:"; tail -n 40 "$run/phpt.log"; }
	n=$(grep -c '^PASSED' "$run/results" || true)
	passed=$((passed + n))
	skipped=$(grep -c '^SKIPPED' "$run/results" || true)
	failed=$((failed + files - n - skipped))
	mapfile -t -O "${#not_passed[@]}" not_passed < <(grep -vE '^(PASSED|SKIPPED)' "$run/results" | sed "s|\t$build/| |")

	allowed=$( (sed -E '/^#|^$/d' tests/setup/allowed-skips; [ -z "${DLOCK_ALLOW_SKIP-}" ] || echo "$DLOCK_ALLOW_SKIP") | paste -sd'|')
	reasons=$(grep -E '^SKIP ' "$run/phpt.log" | grep -vE "reason: ($allowed)\$") || true
	if [ "$skipped" -gt 0 ] && { [ -n "$reasons" ] || ! grep -qE '^SKIP ' "$run/phpt.log"; }; then
		n=$(grep -c . <<< "$reasons")
		[ "$n" -gt 0 ] || n=$skipped
		failed=$((failed + n))
		skipped=$((skipped - n))
		not_passed+=("$n skipped for a reason that is not allowed:" "$reasons")
	fi
}

# Shows how the output of failed tests differs from what was expected.
show_diffs() {
	local test diff lines
	sed -nE "/^(PASSED|SKIPPED)/d; s|^.*\t($build/)?(.*)\.phpt\$|\2|p" "$run/results" | while IFS= read -r test; do
		diff=$build/$test.diff
		[ -s "$diff" ] || continue
		cp "$diff" "$run/${test//\//-}.diff"
		step "$test.phpt"
		head -n 100 "$diff" | cut -c 1-1000
		lines=$(wc -l < "$diff")
		[ "$lines" -le 100 ] || echo "($((lines - 100)) more lines in build/last-logs)"
	done
}

report_leftovers() {
	local pids
	pids=$(leftovers)
	[ -z "$pids" ] || ps -o pid,ppid,stat,args -p "$(paste -sd, <<< "$pids")" || true
	check "no test left a process behind" test -z "$pids"
}

summary() {
	if [ "$failed" -gt 0 ]; then
		printf '\nNot passed:\n'
		printf '%s\n' "${not_passed[@]}"
	fi
	printf '\nTook %d s. All output: build/last-logs\n' "$SECONDS"
	if [ "$skipped" -gt 0 ]; then
		echo "$passed passed, $failed failed, $skipped skipped"
	else
		echo "$passed passed, $failed failed"
	fi
	[ "$failed" -eq 0 ]
}

main() {
	step "Dependencies"
	scripts/install-deps.sh
	mkdir -p build
	clean_up_earlier
	php=$("${PHP_CONFIG:-php-config}" --php-binary)
	mkdir -p "$run"
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP

	step "Servers"
	tests/setup/servers.sh start "$run" $$
	# shellcheck disable=SC1091
	. "$run/env"
	"${DLOCK_TEST_REDIS_SERVER:-redis-server}" --version
	echo "Redis $DLOCK_TEST_REDIS $DLOCK_TEST_REDIS_AUTH, ZooKeeper $DLOCK_TEST_ZK"
	step "Beside each other"
	[ $# -gt 0 ] || begin_parts
	echo "Build …"
	[ -n "${DLOCK_MODULE-}" ] || scripts/build.sh
	[ "${DLOCK_SANITIZE:-0}" != 1 ] || sanitized_php
	begin_part "Checks" checks run_checks
	[ -z "${DLOCK_TEST_FREEZE-}" ] || begin_freezes "$DLOCK_TEST_FREEZE"
	run_phpt "$@"
	show_diffs
	end_parts
	end_freezes
	step "Result"
	report_leftovers
	summary
}

main "$@"

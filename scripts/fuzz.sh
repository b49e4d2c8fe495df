#!/usr/bin/env bash
# Feeds parsers of outside data with inputs from a fuzzer (clang's libFuzzer, with address and undefined-behavior
# sanitizers), and prints the results. The last line is "N passed, N failed", one for each target.
#
#   scripts/fuzz.sh [--seconds N] [TARGET …]      N seconds each (default: 60); default: all targets
#
# Targets are tests/fuzz/TARGET.c, and handle: handles of detached leases, through the extension. The fuzzer's finds
# stay in build/fuzz/TARGET, where the next run begins. Crashing inputs are kept in build/fuzz/crashes, and the output
# tells how to repeat them.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

seconds=60
targets=()
while [ $# -gt 0 ]; do
	case $1 in
		--seconds) seconds=${2:?fuzz: --seconds needs a number}; shift ;;
		-*) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit 2 ;;
		*) targets+=("$1") ;;
	esac
	shift
done
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "fuzz: --seconds needs a whole number" >&2; exit 2; }

all() {
	local file
	for file in tests/fuzz/*.c; do basename "${file%.c}"; done
	echo handle
}
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(all)
for target in "${targets[@]}"; do
	[[ $'\n'$(all)$'\n' == *$'\n'"$target"$'\n'* ]] || { echo "fuzz: no target $target; there are:" $(all) >&2; exit 2; }
done

build=build/fuzz
mkdir -p "$build/bin" "$build/crashes"

# Installs Debian's clang, and the separate package with the runtime of its fuzzer and sanitizers.
install_clang() {
	local sudo='' runtime
	has_fuzzer && return 0
	[ "$(id -u)" -eq 0 ] || sudo=sudo
	export DEBIAN_FRONTEND=noninteractive
	echo "fuzz: installing clang"
	apt-cache show clang > /dev/null 2>&1 || $sudo apt-get -qq update
	$sudo apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends clang
	runtime=libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev
	$sudo apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends "$runtime" llvm
	has_fuzzer || { echo "fuzz: clang has no fuzzer, although $runtime is installed" >&2; exit 1; }
}

has_fuzzer() {
	command -v clang > /dev/null && command -v llvm-symbolizer > /dev/null &&
		echo 'int LLVMFuzzerTestOneInput(const void *d, unsigned long n) { return d && n ? 0 : 0; }' |
		clang -x c - -fsanitize=fuzzer,address,undefined -o "$build/bin/.probe" 2> /dev/null
}

sources_of() {
	case $1 in
		zk_*) ls src/{base,net,net/endpoint}/*.c src/zookeeper/session/{options,path}.c src/zookeeper/lock/rank.c ;;
		memcached_*) ls src/{base,net,net/endpoint}/*.c src/memcached/{conn,request,server_clock}.c ;;
		*) ls src/{base,net,net/endpoint,lock,stock}/*.c src/redis/*/*.c ;;
	esac
}

compile() {
	# shellcheck disable=SC2046 # several files
	clang -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -g -O1 -fno-omit-frame-pointer -pthread \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
		"tests/fuzz/$1.c" $(sources_of "$1") -lhiredis -o "$build/bin/$1"
}

# hiredis allocates as many elements as a server announces. Above a limit that fails, as on a machine without free
# memory.
sanitizers() {
	env ASAN_OPTIONS="allocator_may_return_null=1:max_allocation_size_mb=256:detect_leaks=1" \
		UBSAN_OPTIONS=print_stacktrace=1 DLOCK_FUZZ_DIR="$PWD/$build" "$@"
}

run_compiled() {
	local target=$1 log=$build/$1.log dictionary=() found
	compile "$target" || return 1
	mkdir -p "$build/$target"
	[ ! -e "tests/fuzz/$target.dict" ] || dictionary=("-dict=tests/fuzz/$target.dict")
	if sanitizers timeout -k 10 $((seconds + 120)) "$build/bin/$target" -max_total_time="$seconds" -timeout=10 -max_len=4096 \
		-rss_limit_mb=2048 -print_final_stats=1 "${dictionary[@]}" -artifact_prefix="$build/crashes/$target-" \
		"$build/$target" "tests/fuzz/corpus/$target" > "$log" 2>&1; then
		awk -v target="$target" '/stat::number_of_executed_units/ { units = $2 } / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") cov = $(i + 1) }
			END { printf "%s: %d inputs, %d edges covered\n", target, units, cov }' "$log"
		return 0
	fi
	grep -E 'does not hold|ERROR: |runtime error|SUMMARY' "$log" || tail -n 20 "$log"
	found=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
	[ -z "$found" ] || echo "$target: repeat with" \
		"ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=256 $build/bin/$target $found"
	return 1
}

run_handle() {
	local input=$build/handle-last log=$build/handle.log php=${PHP:-php} kept
	scripts/build.sh > "$build/handle-build.log" 2>&1 || { tail -n 20 "$build/handle-build.log"; return 1; }
	if timeout -k 10 $((seconds + 60)) "$php" -n -d extension="$PWD/${DLOCK_BUILD_DIR:-build/ext}/modules/dlock.so" \
		tests/fuzz/handle.php "$seconds" "$input" > "$log" 2>&1; then
		echo "handle: $(tail -n 1 "$log")"
		return 0
	fi
	tail -n 5 "$log"
	[ -e "$input" ] || return 1
	kept=$build/crashes/handle-crash-$(sha1sum < "$input" | cut -d' ' -f1) # because the next run writes its own
	mv "$input" "$kept"
	echo "handle: repeat with" \
		"$php -n -d extension=$PWD/${DLOCK_BUILD_DIR:-build/ext}/modules/dlock.so tests/fuzz/handle.php --repeat $kept"
	return 1
}

install_clang
passed=0 failed=0
for target in "${targets[@]}"; do
	run=run_compiled
	[ "$target" != handle ] || run=run_handle
	if $run "$target"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$target: failed, see $build/$target.log"
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# Builds and runs the C tests of the layers below PHP, and prints their results; the last line is "N passed, N failed".
#
#   run.sh [TEST [WORD]]   all tests, or one ("base", "redis_single", ...), or its parts with that word in their names;
#                          more words go to the program, too. "hostile": those of servers that mean harm, which are left out otherwise
#
#   SANITIZE=address       address and undefined-behaviour sanitizers, the default; or "thread", or "none"
#   WRAP="valgrind ..."    a command to run the programs with
#   DLOCK_TEST_ZK=H:P      a ZooKeeper; without it its tests are left out
#   DLOCK_TEST_DIR=DIR     for what is built and for the servers' data; otherwise a temporary directory
#   DLOCK_C_BUILD=DIR      what is built stays there, so that only what changes is built again
#   JOBS=2                 programs at a time (default: 3; under valgrind better 1)
#   VERBOSE=1              shows all checks
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
sanitize=${SANITIZE:-address}
only=${1:-}
words=("${@:2}")
jobs=${JOBS:-3}
limit=600 # seconds for one program; the longest takes one or two minutes
[ "$only" = "${only#*hostile}" ] || limit=1800

case $sanitize in
	address) flags='-O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover' ;; # compiling is half of what they cost
	thread) flags='-fsanitize=thread' ;;
	none) flags=${FLAGS-} ;; # "--coverage"
	*) echo "run.sh: SANITIZE is address, thread or none" >&2; exit 2 ;;
esac

if [ -n "${DLOCK_TEST_DIR:-}" ]; then
	mkdir -p "$DLOCK_TEST_DIR"
	dir=$(cd "$DLOCK_TEST_DIR" && pwd)
else
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
fi
export DLOCK_TEST_DIR=$dir
build=${DLOCK_C_BUILD:-$dir/c-$sanitize}
outputs=$dir/c-$sanitize
mkdir -p "$build" "$outputs"

# ---- building ------------------------------------------------------------------------------------------------------------

# musl has none.
has_contexts() {
	printf '#include <ucontext.h>\nint main(void) { ucontext_t c; return getcontext(&c); }\n' | ${CC:-cc} -x c - -o /dev/null 2> /dev/null
}

has_zookeeper() { echo '#include <zookeeper/zookeeper.h>' | ${CC:-cc} -E - > /dev/null 2>&1; }

tests=()
shopt -s extglob
longest='uptime_rule|zk_permits|renewal_process|redis_failover|replicated_cluster|zk_faults|redis_replicated|zk_names' # begun first
for file in "$here"/@($longest)_test.c "$here"/!($longest)_test.c; do
	name=$(basename "${file%.c}")
	case $only in
		'') [[ $name != *hostile* ]] || continue ;;
		hostile) [[ $name = *hostile* ]] || continue ;;
		*) [ "$only" = "${name%_test}" ] || [ "$only" = "$name" ] || continue ;;
	esac
	case $name in
		zk_*)
			has_zookeeper || { echo "$name: left out, the ZooKeeper C client is not installed"; continue; } ;;
		sleepers_test)
			has_contexts || { echo "$name: left out, the C library has no getcontext()"; continue; } ;;
	esac
	tests+=("$name")
done
[ ${#tests[@]} -gt 0 ] || { echo "run.sh: no test named $only" >&2; exit 2; }

flock "$build" make -s -j"$(nproc)" -C "$here" BUILD="$(realpath "$build")" CC="${CC:-cc}" FLAGS="$flags" "${tests[@]}"

# ---- running -------------------------------------------------------------------------------------------------------------

passed=0 failed=0

# A program's servers and children end with it, so it is enough to end the program.
stop() {
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2> /dev/null || true
	exit 1
}
trap stop INT TERM HUP

# Counts the checks in the output. A program that crashed or did not come to its plan has failed once more.
report() {
	local name=$1 status=$2 seconds=$3 out=$4 good bad todo
	todo=$(grep -c '^not ok .* # TODO ' "$out" || true)
	good=$(grep -c '^ok ' "$out" || true)
	bad=$(grep -c '^not ok ' "$out" || true)
	bad=$((bad - todo))
	if ! grep -qx "1\.\.$((good + bad + todo))" "$out" || [ "$status" -ne $((bad > 0)) ]; then
		bad=$((bad + 1))
		echo "$name did not end well (status $status):"
		{ grep -v '^ok ' "$out" || true; } | tail -n 60 # it may have said nothing
	elif [ $((good + bad + todo)) -eq 0 ]; then
		bad=1
		echo "$name has no part named ${words[*]}"
	elif [ -n "${VERBOSE:-}" ]; then
		cat "$out"
	else
		grep '^not ok ' "$out" || true
	fi
	passed=$((passed + good))
	failed=$((failed + bad))
	echo "$name: $good passed, $bad failed$([ "$todo" -eq 0 ] || echo ", $todo to do") ($seconds s)"
}

# They wait more than they compute, so several run at a time.
declare -A pids=() started=()
start() {
	local name=$1 arguments=()
	case $name in
		zk_backend_test | zk_faults_test | zk_names_test | zk_permits_test)
			[ -n "${DLOCK_TEST_ZK:-}" ] || { echo "$name: left out, DLOCK_TEST_ZK names no ZooKeeper"; return; }
			arguments=("$DLOCK_TEST_ZK") ;;
	esac
	arguments+=("${words[@]}")
	timeout -k 5 "$limit" ${WRAP:-} "$build/$name" "${arguments[@]}" > "$outputs/$name.out" 2>&1 &
	pids[$name]=$!
	started[$name]=$SECONDS
}

finish() {
	local name=$1 status=0
	[ -n "${pids[$name]:-}" ] || return 0
	wait "${pids[$name]}" || status=$?
	unset "pids[$name]"
	report "$name" "$status" $((SECONDS - started[$name])) "$outputs/$name.out"
}

queue=("${tests[@]}")
while [ ${#queue[@]} -gt 0 ] || [ ${#pids[@]} -gt 0 ]; do
	while [ ${#queue[@]} -gt 0 ] && [ ${#pids[@]} -lt "$jobs" ]; do
		start "${queue[0]}"
		queue=("${queue[@]:1}")
	done
	[ ${#pids[@]} -eq 0 ] || wait -n "${pids[@]}" || true
	for name in "${!pids[@]}"; do
		kill -0 "${pids[$name]}" 2> /dev/null || finish "$name"
	done
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# Runs scripts/test.sh and all that takes too long for it: hours of faults in virtual and in real time, deliberate bugs,
# other checkers of memory and threads, other systems, load. Needs root, and most of a day. Continues after a failure.
# Logs are in build/all. The last line is the result: "N passed, N failed", in parts.
#
#   scripts/test-all.sh [PART …]    only these parts; --list names all
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
logs=build/all

# PART | COMMAND
parts=(
	"test            | scripts/test.sh"
	"freezes         | DLOCK_TEST_FREEZE=2.5 scripts/test.sh"
	"long            | DLOCK_ALL_ENGINES=1 DLOCK_MOVING_LOCKS=10000 DLOCK_SEVERAL_KILLS=600 DLOCK_PERMITS_OPERATIONS=20000 DLOCK_STOCK_OPERATIONS=4000 DLOCK_STORM_SECONDS=600 TEST_TIMEOUT=3600 scripts/test.sh tests/permits/random.phpt tests/permits/stock_random.phpt tests/replicated/moving_slots.phpt tests/handover/several_killed.phpt tests/runtimes/storm.phpt tests/lease/loss_thrown.phpt tests/long"
	"simulator       | tests/sim/run.sh --hours 10000"
	"sim-sweep       | tests/sim/run.sh --sweep 1 hours=0.01"
	"sim-mutants     | tests/sim/mutants.sh"
	"models          | scripts/check-models.sh -l"
	"faults          | scripts/faults.sh --class all --seconds 1800"
	"counterexamples | scripts/faults.sh --counter-examples"
	"faults-mutants  | scripts/faults.sh --mutants"
	"sanitizers      | DLOCK_SANITIZE=1 scripts/test.sh"
	"threads         | scripts/test-tsan.sh"
	"zts             | scripts/test-zts.sh"
	"valgrind        | scripts/test-valgrind.sh"
	"jit             | DLOCK_TEST_JIT=1 scripts/test.sh tests"
	"fuzz            | scripts/fuzz.sh"
	"hostile         | tests/c/run.sh hostile"
	"musl            | scripts/test-musl.sh"
	"portable        | SANITIZE=none FLAGS=-DDLOCK_PORTABLE tests/c/run.sh"
	"debian13        | scripts/test-debian13.sh"
	"valkey          | DLOCK_TEST_REDIS_SERVER=valkey-server scripts/test-debian13.sh"
	"package         | scripts/test-package.sh"
	"load            | scripts/load.sh"
	"sale            | scripts/sale.sh"
	"seckill         | examples/seckill/test.sh"
)

name_of() { local name=${1%%|*}; echo "${name%% *}"; }

if [ "${1-}" = --list ]; then
	printf '%s\n' "${parts[@]}"
	exit
fi
for wanted; do
	printf '%s\n' "${parts[@]}" | grep -q "^$wanted " || { echo "test-all: there is no part $wanted; --list names all" >&2; exit 2; }
done

mkdir -p "$logs"
passed=0 failed=0
for part in "${parts[@]}"; do
	name=$(name_of "$part")
	[[ $# -eq 0 || " $* " == *" $name "* ]] || continue
	start=$SECONDS result=passed
	bash -c "${part#*|}" > "$logs/$name.log" 2>&1 < /dev/null || result=failed
	echo "$name $result: $(grep -E '^[0-9]+ passed, [0-9]+ failed' "$logs/$name.log" | tail -n 1) ($((SECONDS - start)) s, $logs/$name.log)"
	declare "$result=$((${!result} + 1))"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

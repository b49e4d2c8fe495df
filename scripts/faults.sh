#!/usr/bin/env bash
# Tries to break the locks: clients under faults, by seed, on its own servers, and a checker that reads what they did.
# See tests/faults/README.md. The last line is the result: "N passed, N failed", one check per class and property.
#
#   scripts/faults.sh [--class CLASS|all] [--seconds N] [--seed S]
#                    CLASS                DistributedLock, RedLock, ZkLock, Memcached, Semaphore, ReadWriteLock, Stock,
#                                         ZkSemaphore, ZkReadWriteLock, Sentinel, Cluster, SentinelSemaphore,
#                                         SentinelReadWriteLock, SentinelStock, ClusterStock, PostgreSQL, MySQL (on
#                                         MariaDB; both by tests/database/faults.phpt); several in quotes run at a time
#                    --short              about two minutes (the default): the first four and Sentinel; at the same time
#                                         the next three, one after the other; and the checker's own tests
#                    --seconds N          N seconds of faults for each class; RedLock: a sixth more, for sets of servers
#                                         that have just started
#                    --strands            each process has eight clients, each in a fiber (not for stocks)
#                    --forget             servers also lose their data when they restart
#                    --keep DIR           keep the histories there
#   scripts/faults.sh [--class …] --counter-examples   faults outside the guarantees: violations must be found
#   scripts/faults.sh --mutants [NAME …]   builds of the extension with one bug each: it must be found
#
#   DLOCK_MODULE=/path/dlock.so           test that build instead of making one
set -euo pipefail
export LC_ALL=C DLOCK_SANITIZE=0
cd "$(dirname "$0")/.."
# shellcheck disable=SC2034 # for mutants.sh
root=$PWD
. scripts/php.inc.sh
. tests/faults/mutants.sh

usage() { sed -n '2,/^set/p' "$0" | sed '/^set/d; s/^# \{0,1\}//' >&2; exit 2; }

known="DistributedLock RedLock ZkLock Memcached Semaphore ReadWriteLock Stock ZkSemaphore ZkReadWriteLock Sentinel Cluster SentinelSemaphore SentinelReadWriteLock SentinelStock ClusterStock PostgreSQL MySQL" classes="" row="" seconds=60 seed=$((RANDOM << 15 | RANDOM)) mode=faults flags="" keep="" mutants=()
while [ $# -gt 0 ]; do
	case $1 in
		--class) classes=${2-}; shift ;;
		--seconds) seconds=${2-}; shift ;;
		--seed) seed=${2-}; shift ;;
		--keep) keep=$(realpath -m "${2-}"); shift ;;
		--short) seconds=60 ;;
		--forget) flags=forget ;;
		--strands) flags=strands ;;
		--counter-examples) mode=counter-examples ;;
		--mutants) mode=mutants ;;
		-*) usage ;;
		*) [ "$mode" = mutants ] || usage; mutants+=("$1") ;;
	esac
	shift
done
[[ $seconds =~ ^[0-9]+$ && $seed =~ ^[0-9]+$ ]] || usage
if [ -z "$classes" ] && [ "$mode" = faults ]; then
	classes="DistributedLock RedLock ZkLock Memcached Sentinel" row="Semaphore ReadWriteLock Stock"
fi
[[ $classes && $classes != all ]] || classes=$known
for class in $classes; do [[ " $known " == *" $class "* ]] || usage; done

clean_up() {
	trap '' INT TERM HUP
	local dir
	for dir in "$run"/*/; do
		# The processes of a class end with the process that runs it; only ZooKeeper servers are left to this script.
		[ ! -e "$dir/watcher" ] || tests/setup/servers.sh stop "$dir" || true
	done
	if [ -n "$keep" ]; then
		mkdir -p "$keep"
		rm -rf "$run"/{src,tree,mutant-build}
		cp -r "$run"/. "$keep" || true
	fi
	rm -rf "$run"
}

# The options with which PHP loads the extension.
options_for() {
	local words
	# shellcheck disable=SC2207
	words=(-n -d display_errors=stderr $(module_options posix pcntl) -d "extension=$1")
	echo "${words[*]}"
}

# faults CLASS SEED SECONDS FLAGS DIR: prints its report.
faults() {
	local status=0
	# shellcheck disable=SC2086 # options are words
	timeout --kill-after=10 $(($3 + $3 / 2 + 600)) "${network[@]}" "$php" $DLOCK_FAULTS_PHP "$run/src/tests/faults/run.php" "$1" "$3" "$2" "$5" "$4" 2>&1 || status=$?
	[ "$status" -le 1 ] || echo "0 passed, 1 failed"
	return "$status"
}

# Adds up the counts of all given reports, as a last line.
add_up() {
	awk '/^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3 } END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || passed == 0 }' "$@"
}

# Runs the test of databases. Prints the counts; if it fails, also why.
run_database() {
	local kind=mysql
	[ "$1" = MySQL ] || kind=pgsql
	DLOCK_TEST_DATABASE=$kind DLOCK_TEST_FAULT_SECONDS=$seconds DLOCK_TEST_FAULT_REPORT=$run/$1.counts DLOCK_MODULE=$run/dlock.so \
		TEST_TIMEOUT=$((2 * seconds + 600)) scripts/test.sh tests/database/faults.phpt > "$run/$1.out" 2>&1 || sed "\$d" "$run/$1.out"
	cat "$run/$1.counts" || true
	tail -n 1 "$run/$1.out"
}

# Servers that have just started are a separate run, for RedLock alone, which has a sixth more time for it.
run_class() {
	local class=$1
	if [ "$class" = PostgreSQL ] || [ "$class" = MySQL ]; then
		run_database "$class"
		return
	fi
	if [ "$class" = RedLock ] && [ -z "$flags" ]; then
		faults RedLock "$seed" $((seconds / 6)) young "$run/RedLock.young" || true
		echo
	fi
	faults "$class" "$seed" "$seconds" "$flags" "$run/$class"
}

# One class after the other, in the time of one class.
run_row() {
	local class seconds=$((seconds / $(wc -w <<< "$row")))
	for class in $row; do run_class "$class" > "$run/$class.log" || true; done
}

run_classes() {
	local class pids=()
	"$php" -n "$run/src/tests/faults/check-test.php" > "$run/checker.log" 2>&1 || true
	for class in $classes; do
		run_class "$class" > "$run/$class.log" &
		pids+=($!)
	done
	[ -z "$row" ] || { run_row & pids+=($!); }
	for class in "${pids[@]}"; do wait "$class" || true; done
	grep -qE '^[0-9]+ passed' "$run/checker.log" || echo "0 passed, 1 failed" >> "$run/checker.log"
	if check_mutants; then echo "1 passed, 0 failed"; else echo "0 passed, 1 failed"; fi > "$run/mutants.log" 2>&1
	echo "The checker's own tests, and whether the mutants can be made"
	grep -v '^PASS' "$run/checker.log" || true
	cat "$run/mutants.log"
	for class in $classes $row; do
		echo
		cat "$run/$class.log"
	done
	echo
	add_up "$run"/*.log
}

# Runs with one fault only, which the class does not survive.
run_counter_example() {
	local class=$1 flag=$2 what=$3 file=$run/$1.$2
	[[ " $classes " == *" $class "* ]] || return 0
	faults "$class" "$seed" 60 "$flag,until" "$file" > "$file.report" || true
	cat "$file.report"
	echo
	if grep -qE '^FAIL (one holder at a time|never more permits out than there are)' "$file.report"; then
		echo "PASS the checker finds two holders where $what"
		echo "1 passed, 0 failed" > "$file.log"
	else
		echo "FAIL the checker does not find two holders where $what"
		echo "0 passed, 1 failed" > "$file.log"
	fi
}

# Runs without dlock.assert().
run_counter_example_of_database() {
	local class=$1
	[[ " $classes " == *" $class "* ]] || return 0
	DLOCK_TEST_FAULT_ASSERT=0 run_database "$class" > "$run/$class.report"
	cat "$run/$class.report"
	echo
	if grep -q 'late writes that were committed: expected 0' "$run/$class.report"; then
		echo "PASS the checker finds late writes where no assertion is made"
		echo "1 passed, 0 failed" > "$run/$class.log"
	else
		echo "FAIL the checker does not find late writes where no assertion is made"
		echo "0 passed, 1 failed" > "$run/$class.log"
	fi
}

run_counter_examples() {
	run_counter_example DistributedLock restart "a server lost its data"
	run_counter_example RedLock needed-key "one server forgot a key where no more than a quorum was had"
	run_counter_example DistributedLock fail-over "a replica took over that lacked the lock"
	run_counter_example Semaphore restart "a server lost its data"
	run_counter_example Memcached restart "a memcached was restarted"
	run_counter_example Sentinel unconfirmed "a replica that Sentinels promoted lacked the lock, which it had not to confirm"
	run_counter_example Cluster unconfirmed "a replica of a cluster that was promoted lacked the lock, which it had not to confirm"
	run_counter_example_of_database PostgreSQL
	run_counter_example_of_database MySQL
	add_up "$run"/*.log
}

main() {
	begin_run faults
	local library
	for library in clock resolver; do
		"${CC:-cc}" -O2 -Wall -Wextra -Werror -shared -fPIC -o "$run/$library.so" "tests/setup/$library.c"
	done
	# A copy of the tests, too.
	mkdir "$run/src"
	cp -r tests "$run/src"
	# If possible, each class has its own network: packets can be lost there, and no other program uses the port of a
	# server that is down.
	network=()
	if unshare --net true 2> /dev/null; then
		network=(unshare --net sh -c 'PATH="$PATH:/usr/sbin"; ip link set lo up && exec "$@"' sh)
		export DLOCK_FAULTS_NETWORK=1
	else
		echo "faults: no network namespaces here: no packets are lost"
	fi
	DLOCK_FAULTS_PHP=$(options_for "$run/dlock.so")
	export DLOCK_FAULTS_PHP DLOCK_FAULTS_CLOCK=$run/clock.so DLOCK_FAULTS_RESOLVER=$run/resolver.so
	case $mode in
		faults) run_classes ;;
		counter-examples) run_counter_examples ;;
		mutants) run_mutants "${mutants[@]}" ;;
	esac
}

main

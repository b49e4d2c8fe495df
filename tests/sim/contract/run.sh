#!/usr/bin/env bash
# Plays the same conversation with simulated servers and with real ones, and compares the replies; the last line is "N passed, N failed".
#
#   DLOCK_TEST_REDIS_SERVER=valkey-server   the real servers are this one
#   DLOCK_SIM_DIR=DIR                       for what is built; otherwise build/sim of the checkout
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
build=${DLOCK_SIM_DIR:-$root/build/sim}
mkdir -p "$build"
build=$(cd "$build" && pwd)
make -s -j"$(nproc)" -C "$root" -f tests/sim/Makefile BUILD="$build" contract >&2

dir=$(mktemp -d)
server=
stop() {
	[ -z "$server" ] || { kill "$server" && wait "$server"; } 2> /dev/null || true
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' INT TERM HUP

# A port that nobody has: a server that finds it taken ends, and the next one is tried.
start_server() {
	for _ in $(seq 20); do
		port=$((20000 + RANDOM % 10000))
		"${DLOCK_TEST_REDIS_SERVER:-redis-server}" --port "$port" --bind 127.0.0.1 --dir "$dir" --save '' > "$dir/log" 2>&1 &
		server=$!
		for _ in $(seq 200); do
			! grep -q 'Ready to accept' "$dir/log" || return 0
			kill -0 "$server" 2> /dev/null || break
			sleep 0.05
		done
		kill "$server" 2> /dev/null || true
	done
	echo "run.sh: no server started: $(tail -1 "$dir/log")" >&2
	exit 1
}

passed=0 failed=0
compare() {
	local file=$1 steps
	if ! diff "$dir/real" "$dir/simulated" > "$dir/diff"; then
		echo "$file: < real, > simulated"
		cat "$dir/diff"
		failed=$((failed + $(grep -c '^[<]' "$dir/diff" || echo 1)))
	fi
	steps=$(grep -c '^  ' "$dir/real")
	passed=$((passed + steps - failed))
	[ "$steps" -gt 0 ] || failed=$((failed + 1))
}

start_server
timeout 60 "$build/contract-real" "$here/lone.txt" "s0=127.0.0.1:$port" > "$dir/real" || echo 'ended early' >> "$dir/real"
timeout 60 "$build/contract-simulated" "$here/lone.txt" single > "$dir/simulated" || echo 'ended early too' >> "$dir/simulated"
compare lone.txt
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

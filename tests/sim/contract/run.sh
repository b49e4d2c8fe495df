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
flock "$build" make -s -j"$(nproc)" -C "$root" -f tests/sim/Makefile BUILD="$build" contract >&2

dir=$(mktemp -d)
servers=()
stop() {
	[ ${#servers[@]} -eq 0 ] || { kill "${servers[@]}" && wait "${servers[@]}"; } 2> /dev/null || true
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' INT TERM HUP

# A port that nobody has: a server that finds it taken ends, and the next one is tried.
start_server() { # OPTION …
	local server
	for _ in $(seq 20); do
		port=$((20000 + RANDOM % 10000))
		"${DLOCK_TEST_REDIS_SERVER:-redis-server}" --port "$port" --bind 127.0.0.1 --dir "$dir" --save '' "$@" > "$dir/log" 2>&1 &
		server=$!
		for _ in $(seq 200); do
			! grep -q 'Ready to accept' "$dir/log" || { servers+=("$server"); return 0; }
			kill -0 "$server" 2> /dev/null || break
			sleep 0.05
		done
		kill "$server" 2> /dev/null || true
	done
	echo "run.sh: no server started: $(tail -1 "$dir/log")" >&2
	exit 1
}

start_memcached() {
	local server
	for _ in $(seq 20); do
		port=$((20000 + RANDOM % 10000))
		memcached -l 127.0.0.1 -p "$port" -U 0 -m 8 -u nobody > /dev/null 2>&1 &
		server=$!
		for _ in $(seq 200); do
			! (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null || break
			kill -0 "$server" 2> /dev/null || continue 2
			sleep 0.05
		done
		! kill -0 "$server" 2> /dev/null || { servers+=("$server"); return 0; }
	done
	echo "run.sh: no memcached started" >&2
	exit 1
}

passed=0 failed=0
compare() {
	local file=$1 steps bad=0
	if ! diff "$dir/real" "$dir/simulated" > "$dir/diff"; then
		echo "$file: < real, > simulated"
		cat "$dir/diff"
		bad=$(grep -c '^[<>]' "$dir/diff")
	fi
	steps=$(grep -c '^  ' "$dir/real")
	[ "$bad" -le "$steps" ] && [ "$steps" -gt 0 ] || bad=$((steps + 1))
	failed=$((failed + bad)) passed=$((passed + (bad > steps ? 0 : steps - bad)))
}

play() { # FILE SETUP ADDRESSES
	timeout 60 "$build/contract-real" "$here/$1" "$3" > "$dir/real" || echo 'ended early' >> "$dir/real"
	timeout 60 "$build/contract-simulated" "$here/$1" "$2" > "$dir/simulated" || echo 'ended early too' >> "$dir/simulated"
	compare "$1"
}

start_server
play lone.txt single "s0=127.0.0.1:$port"

start_server --repl-diskless-sync-delay 0
master=$port addresses="s0=127.0.0.1:$port"
for i in 1 2; do
	start_server --replicaof 127.0.0.1 "$master" --repl-diskless-sync-delay 0
	addresses+=" s$i=127.0.0.1:$port"
done
play replicas.txt replicated "$addresses"

start_memcached
play memcached.txt memcached "m0=127.0.0.1:$port"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

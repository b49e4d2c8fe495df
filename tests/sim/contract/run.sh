#!/usr/bin/env bash
# Plays the same conversation with simulated servers and with real ones, and compares the replies; the last line is "N passed, N failed".
#
#   DLOCK_TEST_REDIS_SERVER=valkey-server   the real servers are this one
#   DLOCK_SIM_DIR=DIR                       for what is built; otherwise build/sim of the checkout
#   DLOCK_TEST_DIR=DIR                      for the servers' data; otherwise a temporary directory
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
build=${DLOCK_SIM_DIR:-$root/build/sim}
mkdir -p "$build"
build=$(cd "$build" && pwd)
flock "$build" make -s -j"$(nproc)" -C "$root" -f tests/sim/Makefile BUILD="$build" contract >&2

dir=$(mktemp -d "${DLOCK_TEST_DIR:-${TMPDIR:-/tmp}}/contract.XXXXXX")
export CONTRACT_ACT=$here/servers.sh CONTRACT_SERVERS # one directory for each conversation's servers
jobs=()
stop() {
	local of
	[ ${#jobs[@]} -eq 0 ] || kill "${jobs[@]}" 2> /dev/null || true
	for of in "$dir"/*/; do
		"$here/servers.sh" "$of" end
	done
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' INT TERM HUP

# Its address is added to $addresses.
start() { # NAME PROGRAM OPTION …
	local port
	port=$("$here/servers.sh" "$CONTRACT_SERVERS" new "$@")
	addresses+="${addresses:+ }$1=127.0.0.1:$port"
}

redis=${DLOCK_TEST_REDIS_SERVER:-redis-server}
start_redis() { # NAME OPTION …
	start "$1" "$redis" --port PORT --bind 127.0.0.1 --save '' --repl-diskless-sync-delay 0 --repl-ping-replica-period 1 "${@:2}"
}

start_sentinel() { # NAME PORT-OF-MASTER
	mkdir "$CONTRACT_SERVERS/$1"
	cat > "$CONTRACT_SERVERS/$1/template" <<-END
		port PORT
		bind 127.0.0.1
		sentinel monitor mymaster 127.0.0.1 $2 2
		sentinel down-after-milliseconds mymaster 15000
		sentinel failover-timeout mymaster 3000
	END
	start "$1" "$redis" sentinel.conf --sentinel
}

real() { # CONVERSATION
	timeout 200 "$build/contract-real" "$here/$1.txt" "$addresses" > "$dir/$1.real" || echo 'ended early' >> "$dir/$1.real"
}

# What only real servers need before: it is not compared.
prepare() { # CONVERSATION
	timeout 200 "$build/contract-real" "$here/$1.txt" "$addresses" > "$dir/$1.out" || { echo "$1:" && tail -n 3 "$dir/$1.out"; }
}

begin() { # CONVERSATION
	CONTRACT_SERVERS=$dir/$1 addresses=
	mkdir "$CONTRACT_SERVERS"
}

lone() {
	begin lone
	start_redis s0
	real lone
	begin memcached
	start m0 memcached -l 127.0.0.1 -p PORT -U 0 -m 8 -u nobody -vv
	real memcached
}

replicated() {
	local i master
	begin replicas
	start_redis s0
	master=${addresses##*:}
	for i in 1 2; do # the first is the one to be promoted
		start_redis "s$i" --replicaof 127.0.0.1 "$master" --replica-priority "$i"
	done
	real replicas
	prepare sentinels-before
	for i in 0 1 2; do
		start_sentinel "sentinel$i" "$master"
	done
	prepare sentinels-ready
	real sentinels
}

cluster() {
	local i
	begin cluster
	for i in 0 1 2 3 4 5; do
		start_redis "s$i" --cluster-enabled yes --cluster-node-timeout 15000
	done
	prepare cluster-before
	real cluster
}

# Valkey says the same of two errors in other words. dlock reads no more of them than the first.
without_texts() { sed -E 's/^(  -NOSCRIPT|  -ERR WAIT) .*/\1/' "$1"; }

passed=0 failed=0
compare() { # CONVERSATION SETUP
	local real=$dir/$1.real steps bad=0
	timeout 60 "$build/contract-simulated" "$here/$1.txt" "$2" > "$dir/simulated" || echo 'ended early too' >> "$dir/simulated"
	if ! diff <(without_texts "$real") <(without_texts "$dir/simulated") > "$dir/diff"; then
		echo "$1: < real, > simulated"
		cat "$dir/diff"
		bad=$(grep -c '^[<>]' "$dir/diff")
	fi
	steps=$(grep -c '^  ' "$real" || true)
	[ "$bad" -le "$steps" ] && [ "$steps" -gt 0 ] || bad=$((steps + 1))
	failed=$((failed + bad)) passed=$((passed + (bad > steps ? 0 : steps - bad)))
}

lone & jobs+=($!)
replicated & jobs+=($!)
cluster & jobs+=($!)
wait "${jobs[@]}"
compare lone single
compare replicas replicated
compare sentinels replicated
compare cluster cluster
compare memcached memcached
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

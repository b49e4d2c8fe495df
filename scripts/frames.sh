#!/usr/bin/env bash
# How many functions of the extension are between dlock_claim_acquire() and the queue of a connection, in an unoptimized
# build: the deepest stack of each case, by gdb. The PHP method and its manager come on top of that. Needs gdb.
#
#   scripts/frames.sh [-v]    -v: the stacks
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# depth_of WHAT PROGRAM TEST
depth_of() {
	DLOCK_TEST_DIR=$dir SANITIZE=none FLAGS='-O0 -g -UDLOCK_RESTLESS' tests/c/run.sh "$2" "$3" > "$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }
	printf '%s\n' 'set pagination off' 'break dlock_conn_send' commands silent bt 'echo ====\n' continue end "run $3" > "$dir/gdb"
	DLOCK_TEST_DIR=$dir gdb -q -batch -x "$dir/gdb" "$dir/c-none/${2}_test" 2>&1 |
		awk -v what="$1" -v verbose="${verbose-}" '
			/^#[0-9]/ && !over { if (/ dlock_claim_acquire /) { over = 1 } stack = stack $0 "\n"; depth++ }
			/^====/ { if (over && depth > most) { most = depth; deepest = stack } stack = ""; depth = over = 0 }
			END { printf "%-40s %d\n", what, most; if (verbose) { print deepest } }'
}

[ "${1-}" != -v ] || verbose=1
depth_of 'one server, uncontended' redis_single life
depth_of 'replicas=1, with a new epoch that settles' redis_replicated new_set

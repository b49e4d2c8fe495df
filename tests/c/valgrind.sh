#!/usr/bin/env bash
# The C tests under valgrind: a selection, since they run some thirty times slower. Prints as run.sh does.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${DLOCK_TEST_DIR:-}" ]; then
	own=$(mktemp -d)
	DLOCK_TEST_DIR=$own
	trap 'rm -rf "$own"' EXIT
fi
export DLOCK_TEST_DIR SANITIZE=none
# What a child of fork() leaves behind by _exit() is no leak.
export WRAP="valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite
	--child-silent-after-fork=yes --error-exitcode=99"

passed=0 failed=0
while read -r test word; do
	line=$("$here/run.sh" "$test" $word | tee /dev/stderr | tail -n 1) || true
	[[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || { echo "$test $word: $line"; line='0 passed, 1 failed'; }
	set -- $line
	passed=$((passed + $1)) failed=$((failed + $3))
done << 'END' 2>&1
server 1 5000
registry
zk_path
zk_rank
redis_single life
redis_single script
redis_connection killed
redis_peers odd
redis_peers refusals
redis_quorum life
redis_quorum majorities
redis_quorum fork
quorum_stragglers unconnected
END
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# Runs a selection of the .phpt tests under valgrind; a leak or an invalid access fails. It is slow, so it is not a part
# of scripts/test.sh.
#
#   scripts/test-valgrind.sh [file or directory below tests/ …]     default: $DLOCK_VALGRIND_TESTS, or the list in
#                                                                   tests/setup/valgrind-tests
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -eq 0 ]; then
	# shellcheck disable=SC2046 # words
	set -- ${DLOCK_VALGRIND_TESTS:-$(grep -v '^#' tests/setup/valgrind-tests)}
fi
# PHP's own allocator would hide bugs from valgrind. zlib and the libraries it dlopens stay mapped, so that stacks are
# complete.
export USE_ZEND_ALLOC=0 ZEND_DONT_UNLOAD_MODULES=1 TEST_TIMEOUT=${TEST_TIMEOUT:-600}
export DLOCK_TEST_JOBS=${DLOCK_TEST_JOBS:-2} DLOCK_TEST_RUN_ARGS="-m ${DLOCK_TEST_RUN_ARGS-}"
exec scripts/test.sh "$@"

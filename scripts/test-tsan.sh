#!/usr/bin/env bash
# Builds the layers below PHP and their tests (tests/c) with ThreadSanitizer, and runs them on their own servers. Takes
# a minute. Not a part of scripts/test.sh. The last line is the result: "N passed, N failed".
#
#   scripts/test-tsan.sh [TEST [WORD]]    see tests/c/run.sh; tests/c/thread_sanitizer.c has what is not reported,
#                                         because it is not the project's
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
run=$PWD/build/tsan.$$

clean_up() {
	tests/setup/servers.sh stop "$run" || true
	rm -rf "$run"
}

scripts/install-deps.sh
mkdir -p "$run"
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
tests/setup/servers.sh start "$run" $$
# shellcheck disable=SC1091
. "$run/env"
SANITIZE=thread tests/c/run.sh "$@"

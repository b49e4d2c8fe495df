#!/usr/bin/env bash
# Which lines and branches of src/ are reached by the C unit tests, ten virtual hours of the simulator, and the .phpt
# tests, by gcov. Prints a line for each file, least covered first, and the sum. build/coverage/index.html shows each
# line. Takes ten minutes.
#
#   scripts/coverage.sh
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
root=$PWD dir=$PWD/build/coverage
ignored=(--gcov-ignore-parse-errors --exclude '.*tests/.*')

scripts/install-deps.sh gcovr
rm -rf "$dir"
mkdir -p "$dir"
run=$dir/run
trap 'tests/setup/servers.sh stop "$run" || true' EXIT
mkdir -p "$run"
tests/setup/servers.sh start "$run" $$
# shellcheck disable=SC1091
(. "$run/env"; DLOCK_TEST_DIR=$dir SANITIZE=none FLAGS=--coverage JOBS=6 tests/c/run.sh) | tail -n 1
gcovr -r "$root" --object-directory "$dir/c-none" "${ignored[@]}" --filter src/ --json "$dir/c.json" "$dir/c-none"

COVERAGE=1 DLOCK_SIM_DIR=$dir/sim tests/sim/run.sh --hours 10 | tail -n 1
gcovr -r "$root" --object-directory "$dir/sim" "${ignored[@]}" --filter src/ --json "$dir/sim.json" "$dir/sim"

CFLAGS='--coverage -O0' DLOCK_BUILD_DIR=$dir/ext scripts/test.sh tests | tail -n 1 || true
gcovr -r "$dir/ext" "${ignored[@]}" --filter "$dir/ext/src/" --json "$dir/phpt.json" "$dir/ext"

sum=(-a "$dir/c.json" -a "$dir/sim.json" -a "$dir/phpt.json")
gcovr -r "$root" "${sum[@]}" --html-details "$dir/index.html" --txt "$dir/lines.txt" --sort-percentage
gcovr -r "$root" "${sum[@]}" --branches --txt "$dir/branches.txt" --sort-percentage
cat "$dir/lines.txt"
echo "lines:    $(grep '^TOTAL' "$dir/lines.txt")"
echo "branches: $(grep '^TOTAL' "$dir/branches.txt")"

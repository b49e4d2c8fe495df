#!/usr/bin/env bash
# Builds the simulator and runs it; its last line is "N passed, N failed".
#
#   run.sh SEED [OPTION ...]            one seed; a failing one is shrunk to what still fails
#   run.sh --check SECONDS [OPTION ...] the list of failing seeds, the scenarios, then new seeds; first=N is the first of them
#   run.sh --hours N [OPTION ...]       new seeds for as many virtual hours
#   run.sh --sweep N [OPTION ...]       short runs: in each, another call of libc fails; each N-th of all calls
#
#   JOBS=2              runs at a time; otherwise as many as there are processors
#   SANITIZE=undefined  or "address"
#   DLOCK_SIM_DIR=DIR   for what is built; otherwise build/sim of the checkout
#
# README.md has the options.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${DLOCK_SIM_DIR:-$root/build/sim${SANITIZE:+-$SANITIZE}}
mkdir -p "$build"
build=$(cd "$build" && pwd)

flock "$build" make -s -j"${JOBS:-$(nproc)}" -C "$root" -f tests/sim/Makefile BUILD="$build" SANITIZE="${SANITIZE:-}" >&2
cd "$root"
exec "$build/sim" "$@"
